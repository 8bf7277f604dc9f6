"""Decoders that guess ahead, from outside: the answers of ar in `run` and `generate`, what the database and the trace say of guesses, --oracle accept:A.

Usage: drafts_test.py PROGRAM
"""
import json
import sys

from harness import Checks, answers, query, scratch

ARMS = ("speculative", "prompt-lookup", "self-speculative", "lookahead")


def arms():
    return [x for name in ARMS for x in ("--arm", f"{name}={name}")]


def lists(rows):
    return [{**r, "acceptance": json.loads(r["acceptance"])} for r in rows]


def run(check, pardec, model, draft):
    db = pardec.folder / "run.sqlite"
    made = pardec("run", "--model", model, "--draft-model", draft, "--arm", "ar=ar", *arms(), "--arm", "apart=speculative,ask=separately,gamma=2",
                  "--arm", "ones=ar,ask=separately", "--dataset", "oa-mine", "--limit", 8, "--max-new-tokens", 24, "--per-field", 6, "--batch-size", 3,
                  "--db", db, "--progress", "none")
    if not check(made.returncode == 0, f"run: exit {made.returncode}: {made.stderr}"):
        return
    given = answers(db)
    for name in (*ARMS, "apart"):
        base = "ones" if name == "apart" else "ar"
        same = [key for key, value in given.items() if key[0] == name and value == given[(base, *key[1:])]]
        check(len(same) == 8, f"{name}: {len(same)} of 8 answers are those of {base}")
    drafts = {r["label"]: r["draft_model_id"] for r in query(db, "SELECT label, draft_model_id FROM run")}
    check(all((drafts[name] is not None) == (name in ("speculative", "apart")) for name in drafts), f"draft networks of the runs: {drafts}")
    paths = query(db, "SELECT DISTINCT model.path FROM run JOIN model ON model.id = draft_model_id")
    check([r["path"] for r in paths] == [str(draft)], f"path of the draft network: {paths}")
    baselines = {r["label"]: r["baseline"] for r in query(db, "SELECT label, baseline FROM run")}
    check(baselines["speculative"] == "ar" and baselines["apart"] == "ones", f"compared with who asks alike: {baselines}")
    check(query(db, "SELECT count(*) AS n FROM job JOIN run ON run.id = run_id WHERE decoder = 'ar' AND acceptance IS NOT NULL")[0]["n"] == 0,
          "ar guesses nothing")
    for job in lists(query(db, "SELECT label, job.* FROM job JOIN run ON run.id = run_id WHERE acceptance IS NOT NULL")):
        a = job["acceptance"]
        histogram = query(db, "SELECT sum(emitted * forwards) AS n FROM step_histogram WHERE job_id = ?", job["id"])[0]["n"]
        check(histogram == job["chosen"], f"{job['label']} {job['key']}: {histogram} emitted, {job['chosen']} chosen")
        check(len(a["drafted"]) == len(a["accepted"]) and all(x >= y for x, y in zip(a["drafted"], a["accepted"])), f"{job['label']}: {a}")
        check((a["draft_forwards"] > 0) == (job["label"] not in ("prompt-lookup", "lookahead")), f"{job['label']}: {a}")
        refused = sum(a["drafted"]) - sum(a["accepted"])
        check(job["scratch"] > refused if job["label"] == "lookahead" else job["scratch"] == refused,  # which also drops its window
              f"{job['label']}: {job['scratch']} dropped, {a}")
    refused = pardec("run", "--model", model, "--draft-model", model, "--arm", "ar=ar", *arms(), "--arm", "apart=speculative,ask=separately,gamma=2",
                     "--arm", "ones=ar,ask=separately", "--dataset", "oa-mine", "--limit", 8, "--max-new-tokens", 24, "--per-field", 6, "--batch-size", 3,
                     "--db", db, "--progress", "none", "--resume")
    check(refused.returncode == 2 and "draft model hash" in refused.stderr, f"--resume with another draft: exit {refused.returncode}: {refused.stderr}")


def generate(check, pardec, model, draft):
    base = ["generate", "--model", model, "--prompt-tokens", "5,6,7,8,5,6,7", "--max-new-tokens", 20, "--format", "json", "--ignore-eos"]
    want = json.loads(pardec.good(*base))
    for name in ARMS:
        extra = ["--draft-model", draft] if name == "speculative" else []
        got = json.loads(pardec.good(*base, "--decoder", name, *extra, "--trace", "t.jsonl"))
        check(got["tokens"] == want["tokens"] and got["text"] == want["text"], f"generate {name}: the ids of ar")
        traces = [json.loads(line) for line in (pardec.folder / "t.jsonl").read_text().splitlines()]
        of = [t.get("model") for t in traces]
        check(of == (["draft", None] if name == "speculative" else [None]), f"generate {name}: traces of {of}")
        trace = traces[-1]
        check(len(trace["tokens"]) == got["counters"]["fed"] and len(trace["emitted"]) == 20, f"generate {name}: rows of the trace")
        check([trace["predicts"][i] for i in trace["emitted"]] == want["tokens"], f"generate {name}: the emitting rows chose the ids")


def oracle(check, pardec, model, draft):
    tables = {}
    for rate in (0, 0.5, 1):
        db = pardec.folder / f"accept{rate}.sqlite"
        ran = pardec("run", "--model", model, "--draft-model", draft, *arms(), "--dataset", "oa-mine", "--limit", 4, "--max-new-tokens", 31, "--ignore-eos",
                     "--oracle", f"accept:{rate}", "--set", "speculative.gamma=4", "--set", "self-speculative.gamma=4", "--set",
                     "self-speculative.threshold=0", "--db", db, "--progress", "none")
        if not check(ran.returncode == 0, f"accept:{rate}: exit {ran.returncode}: {ran.stderr}"):
            continue
        check(f"oracle accept:{rate}" in ran.stdout and "no score" in ran.stdout, f"accept:{rate}: the table says so: {ran.stdout}")
        check({r["oracle"] for r in query(db, "SELECT oracle FROM run")} == {f"accept:{rate}"}, "run.oracle")
        check(query(db, "SELECT count(*) AS n FROM score")[0]["n"] == 0, "no score under an oracle")
        jobs = lists(query(db, "SELECT label, job.* FROM job JOIN run ON run.id = run_id WHERE acceptance IS NOT NULL"))
        check(all(len(json.loads(j["unforced"])["stream"]) == j["chosen"] for j in jobs), "what the network itself chose is kept")
        for job in jobs:
            if job["label"] == "speculative" and job["chosen"] == 31 and rate != 0.5:
                want = 31 if rate == 0 else 7  # ceil(31 / (gamma + 1))
                check(job["forwards"] == want, f"accept:{rate}: {job['forwards']} forwards, expected {want}")
        tables[rate] = sum(j["forwards"] for j in jobs if j["label"] == "speculative")
        check(jobs, f"accept:{rate}: jobs")
    check(tables[1] < tables[0.5] < tables[0], f"forwards by rate: {tables}")


def lengths(check, pardec, model, draft):
    """Speculative decoding at a mean length of a pass, next to ar: by --oracle, by an arm's own, and as published."""
    db = pardec.folder / "length.sqlite"
    (pardec.folder / "curve.json").write_text(json.dumps({"measure": "accept_length", "draft_lengths": [2, 4], "networks": {"P": [1.75, 3]}}))
    text = pardec.good("run", "--model", model, "--draft-model", draft, "--decoder", "ar,space", "--arm", "g=speculative,gamma=4", "--arm",
                       f"c=speculative,gamma=4,oracle=accept-curve:{pardec.folder / 'curve.json'}:P", "--arm", "p=speculative,gamma=3,oracle=accept:1,0",
                       "--dataset", "mt-bench", "--limit", 8, "--max-new-tokens", 80, "--ignore-eos", "--oracle", "accept-length:2.4", "--db", db,
                       "--set", "space.mask_token=5", "--wide")
    rows = {r["label"]: r["oracle"] for r in query(db, "SELECT label, oracle FROM run")}
    want = {"ar": None, "space": "accept-length:2.4", "g": "accept-length:2.4", "c": "accept-length:3.0 (P, curve.json)", "p": "accept:1,0"}
    check(rows == want, f"oracle by arm: {rows}")
    check("accepted length" in " ".join(text.split()) and "oracle of space, g, accept-length:2.4" in " ".join(text.split()), f"the table says so: {text}")
    passes = {}
    for job in query(db, "SELECT label, acceptance, chosen, forwards FROM job JOIN run ON run.id = run_id WHERE acceptance IS NOT NULL"):
        of = json.loads(job["acceptance"])
        sums = passes.setdefault(job["label"], [0, 0])
        sums[0] += of["drafted"][0]
        sums[1] += sum(of["accepted"])
        if job["label"] == "p":  # the first guess of each pass, and no other
            check(of["accepted"][0] >= of["drafted"][0] - 1 and sum(of["accepted"][1:]) == 0, f"by place: {of}")
        if job["label"] == "c":  # 3 tokens a pass, the last one cut
            check(job["forwards"] == -(-job["chosen"] // 3), f"3 tokens a pass: {job['forwards']} passes, {job['chosen']} tokens")
    means = {label: 1 + accepted / count for label, (count, accepted) in passes.items()}
    # A pass gives 2 or 3: the mean of some 250 has a standard error of .03; the last pass of an answer is cut.
    check(abs(means["space"] - 2.4) < 0.15 and abs(means["g"] - 2.4) < 0.15, f"mean lengths: {means}")
    check(len(query(db, "SELECT DISTINCT sample_id FROM generation JOIN run ON run.id = run_id WHERE label = 'ar'")) == 8, "ar answers, too")


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        model, draft = pardec.synthesise("model", seed=2), pardec.synthesise("draft", seed=3, num_hidden_layers=1)
        run(check, pardec, model, draft)
        generate(check, pardec, model, draft)
        oracle(check, pardec, model, draft)
        lengths(check, pardec, model, draft)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
