"""`pardec data`, and `run` on every shape of dataset, from outside.

Usage: data_test.py PROGRAM

Truth: counts of the samples' and the publishers' files by Python's own json and csv; a conversation's second turn against `generate` on the ids that
it must have been asked with.
"""
import csv
import json
import pathlib
import shutil
import sys

import jsonschema

from harness import DATA, ROOT, SAMPLES, Checks, query, records, scratch, write_lines

OPEN = ("mt-bench", "vicuna-bench", "humaneval-x", "xsum", "cip", "math500")


def rows(text):
    return json.loads(text)["rows"]


def squad_counts(file):
    paragraphs = [p for a in json.loads(file.read_text(encoding="utf-8"))["data"] for p in a["paragraphs"]]
    return len(paragraphs), sum(len(p["qas"]) for p in paragraphs)


def race_counts(folder):
    questions = [len(json.loads(f.read_text(encoding="utf-8"))["questions"]) for f in folder.glob("*/*.txt")]
    return len(questions), sum(questions)


def narrativeqa_counts(file):
    with open(file, encoding="utf-8", newline="") as lines:
        asked = [r["document_id"] for r in csv.DictReader(lines) if r["set"] == "test"]
    return len(set(asked)), len(asked)


def listing(check, pardec):
    """data list: what is there."""
    listed = {r["dataset"]: r for r in rows(pardec.good("data", "list", "--format", "json"))}
    check(len(listed) == 14 and all(r["folder"] and r["files"] > 0 for r in listed.values()), f"data list: {listed}")
    squad = [f for f in (SAMPLES / "squad").rglob("*") if f.is_file()]
    check(listed["squad"]["files"] == len(squad) and listed["squad"]["bytes"] == sum(f.stat().st_size for f in squad), f"data list: {listed['squad']}")
    (pardec.folder / "root" / "RACE").mkdir(parents=True)
    some = {r["dataset"]: r for r in rows(pardec.good("data", "list", "--data-root", "root", "--format", "json"))}
    check(some["race"]["folder"] == "RACE" and some["race"]["files"] == 0 and some["squad"]["folder"] is None, f"data list of a folder: {some}")
    ran = pardec("data", "list", "--data-root", "nowhere")
    check(ran.returncode == 2 and "nowhere" in ran.stderr, f"data list of nothing: {ran.stderr}")


def statistics(check, pardec):
    """data stats: counts by Python, and the papers' beside them."""
    stats = {(r["dataset"], r["split"]): r for r in rows(pardec.good("data", "stats", "--format", "json"))}
    own = {(d, s): r for (d, s), r in stats.items()}
    check(len(own) == len(stats) and {d for d, _ in own} == {f.name for f in SAMPLES.iterdir()}, f"data stats: {list(own)}")
    for dataset, split, counts in (("squad", "dev", squad_counts(SAMPLES / "squad/dev-v2.0.json")), ("race", "test", race_counts(SAMPLES / "race/test")),
                                   ("narrativeqa", "test", narrativeqa_counts(SAMPLES / "narrativeqa/qaps.csv"))):
        row = own[dataset, split]
        check((row["examples"], row["fields"]) == counts, f"data stats {dataset}: {row}, expected {counts}")
        check(abs(row["parallelism"] - counts[1] / counts[0]) < 1e-9 and row["prompt_tokens"] > row["text_tokens"] > row["question_tokens"] > 0,
              f"data stats {dataset}: lengths {row}")
    check(own["race", "test"]["examples_published"] == 1407 and own["race", "dev"]["examples_published"] is None, "the paper's count is that of its split")
    check(own["squad", "dev"]["absent"] == 3, f"data stats squad: {own['squad', 'dev']}")
    if not (DATA / "race").is_dir():
        print(f"[skipped] {DATA / 'race'} is missing")
        return
    real = {(r["dataset"], r["split"]): r for r in rows(pardec.good("data", "stats", "--data-root", DATA, "--format", "json", "--dataset",
                                                                   "race,squad,oa-mine,ae-110k"))}
    found = {key: (r["examples"], r["fields"]) for key, r in real.items()}
    check(found["race", "test"] == race_counts(DATA / "race/test") == (1407, 4934), f"RACE: {found}")
    check(found["squad", "dev"] == squad_counts(DATA / "squad/dev-v2.0.json") == (646, 6078), f"SQuAD: {found}")
    check([found[d, s][0] for d in ("oa-mine", "ae-110k") for s in ("train", "test")] == [1452, 491, 1568, 524], f"OA-Mine, AE-110k: {found}")
    if (DATA / "tokenizers/qwen").is_dir():  # the tokenizer of the IPPD paper
        real = {r["dataset"]: r for r in rows(pardec.good("data", "stats", "race", "squad", "--split", "", "--data-root", DATA, "--tokenizer", DATA / "tokenizers/qwen",
                                                           "--published", "--format", "json"))}
        for dataset, mean, tolerance in (("race", "text_tokens", 0.001), ("race", "answer_tokens", 1e-9), ("squad", "answer_tokens", 0.01),
                                         ("squad", "question_tokens", 0.01), ("squad", "text_tokens", 0.02)):  # of squad a part is here
            check(abs(real[dataset][mean] / real[dataset][f"{mean}_published"] - 1) < tolerance, f"{dataset} {mean}: {real[dataset]}")
        check(real["paper: lima"]["answer_tokens_published"] == 639.1 and real["paper: lima"]["prompt_tokens_published"] == 74.2, "SPACE's Table 5")
        real = {(r["dataset"], r["split"]): r for r in rows(pardec.good("data", "stats", "--data-root", DATA, "--format", "json", "race"))}
    check(round(real["race", "test"]["parallelism"], 2) == real["race", "test"]["parallelism_published"] == 3.51, "RACE: questions a passage")


def check_lengths(check, dataset, row, means=("parallelism", "text_tokens", "question_tokens", "answer_tokens")):
    """Of a stand-in: the published means."""
    for mean in means:
        published = row.get(f"{mean}_published")
        check(published is None or abs(row[mean] / published - 1) < 0.02, f"{dataset} {mean}: {row[mean]}, published {published}")


def standins(check, pardec):
    """data standin: files of the published form and lengths, which every table calls so."""
    if not (DATA / "tokenizers/qwen").is_dir():
        print(f"[skipped] {DATA / 'tokenizers/qwen'} is missing")
        return
    qwen = ["--tokenizer", DATA / "tokenizers/qwen"]  # the papers' lengths are in its ids
    pardec.good("data", "standin", "narrativeqa", "longhealth", "--data-root", "standin", *qwen)
    pardec.good("data", "standin", "squad", "race", "--data-root", "standin", "--examples", 150, *qwen)
    pardec.good("data", "standin", "amazon-reviews", "--data-root", "standin", "--examples", 40, *qwen)
    stats = {r["dataset"]: r for r in rows(pardec.good("data", "stats", "--data-root", "standin", "--format", "json", *qwen)) if r["split"] != "train"}
    check(set(stats) == {"narrativeqa", "longhealth", "squad", "race", "amazon-reviews"} and all(r["dataset_is_standin"] for r in stats.values()), f"stand-ins: {list(stats)}")
    for dataset, row in stats.items():
        check_lengths(check, dataset, row)
        check("amazon" in dataset or row["text_tokens_published"] > 0, f"{dataset}: a published row stands beside it")
    check(stats["narrativeqa"]["examples"] == 355 and stats["longhealth"]["examples"] == 20, "as many as published")
    check(stats["amazon-reviews"]["parallelism"] == 16, f"attributes: {stats['amazon-reviews']}")
    check(0.4 < stats["squad"]["absent"] / stats["squad"]["fields"] < 0.6, "half of SQuAD's questions have no answer")
    check(pardec("data", "check", "--data-root", "standin").returncode == 0, "stand-ins have no fault")
    shown = stats["narrativeqa"]
    check(abs(shown["instruction_tokens"] / shown["instruction_tokens_published"] - 1) < 0.02, f"five worked examples of the published length: {shown}")
    pardec.good("data", "standin", "narrativeqa", "squad", "race", "longhealth", "--data-root", "quickstart", "--examples", 60)  # several ids a word
    for row in rows(pardec.good("data", "stats", "--data-root", "quickstart", "--format", "json")):
        if row["split"] != "train":
            letters = row["answer_tokens_published"] == 1  # it has two ids for a letter behind a space
            check_lengths(check, row["dataset"], row, ("parallelism", "text_tokens", "question_tokens", *([] if letters else ["answer_tokens"])))
    said = {r["check"]: r["detail"] for r in rows(pardec.good("doctor", "--data-root", "standin", "--format", "json"))}
    check("stand-in" in said["dataset race"] and "sample" not in said["dataset race"], f"doctor says stand-in: {said}")
    again = pardec.good("data", "standin", "narrativeqa", "--data-root", "again", "--seed", 1, *qwen) and (pardec.folder / "again/narrativeqa/qaps.csv").read_bytes()
    check(again == (pardec.folder / "standin/narrativeqa/qaps.csv").read_bytes(), "the same seed gives the same words")
    pardec.good("data", "standin", "narrativeqa", "--data-root", "other", "--seed", 2, *qwen)
    check(again != (pardec.folder / "other/narrativeqa/qaps.csv").read_bytes(), "another seed gives others")
    for arguments, pieces in ((["race", "--data-root", "standin"], ["is there"]), (["mt-bench", "--data-root", "x"], ["published lengths"]),
                              (["--data-root", "x"], ["no dataset"]), (["race"], ["--data-root"])):
        ran = pardec("data", "standin", *arguments)
        check(ran.returncode == 2 and all(p in ran.stderr for p in pieces), f"data standin {arguments}: exit {ran.returncode}: {ran.stderr}")
    ran = pardec("data", "fetch", "narrativeqa", "--data-root", "standin", "--mirror", "http://127.0.0.1:9")
    check(ran.returncode == 1 and "stand-in" in ran.stderr, f"fetch leaves a stand-in alone: {ran.stderr}")
    model = pardec.synthesise("standin-model")
    run = ["run", "--model", model, "--decoder", "ar", "--dataset", "race", "--data-root", "standin", "--limit", 2, "--max-new-tokens", 4, "--warmup", 0,
           "--progress", "none", "--db", "standin.sqlite"]
    for what, printed in (("run", pardec.good(*run)), ("compare", pardec.good("compare", "--db", "standin.sqlite")),
                          ("score", pardec.good("score", "--db", "standin.sqlite")), ("run --dry-run", pardec.good(*run, "--dry-run")),
                          ("data stats --attention", pardec.good("data", "stats", "race", "--attention", "--data-root", "standin"))):
        check("race (stand-in)" in printed, f"{what} says stand-in: {printed}")
    pardec.good("report", "--db", "standin.sqlite", "-o", "standin.html")
    check("Stand-in: race" in (pardec.folder / "standin.html").read_text(), "report says stand-in")


def checking(check, pardec):
    """data check: every bad record, and why."""
    ran = pardec("data", "check", "--format", "jsonl")
    check(ran.returncode == 0 and '"fault"' not in ran.stdout, f"data check of the samples: exit {ran.returncode}: {ran.stdout[-500:]}")
    root = pardec.folder / "bad"
    for name in ("squad", "race", "cip"):
        shutil.copytree(SAMPLES / name, root / name)
    squad = json.loads((root / "squad/dev-v2.0.json").read_text(encoding="utf-8"))
    questions = [q for a in squad["data"] for p in a["paragraphs"] for q in p["qas"]]
    questions[0]["answers"][0]["answer_start"] += 1
    questions[1]["answers"] = []
    questions[4]["id"] = questions[5]["id"]
    (root / "squad/dev-v2.0.json").write_text(json.dumps(squad))
    (root / "race/test/high/1.txt").write_text((root / "race/test/high/1.txt").read_text()[:-40])
    lines = (root / "cip/test.jsonl").read_text().splitlines()
    (root / "cip/test.jsonl").write_text("\ufeff" + "\r\n".join([lines[0], "7", *lines[1:]]) + "\r\n", newline="")
    ran = pardec("data", "check", "--data-root", "bad", "--format", "jsonl")
    found = [json.loads(line) for line in ran.stdout.splitlines() if line]
    states = {(r["dataset"], r["split"]): r for r in found if "state" in r}
    findings = [(r["dataset"], r["kind"], r["finding"]) for r in found if "finding" in r]
    check(ran.returncode == 2, f"data check: exit {ran.returncode}: {ran.stderr}")
    check({k: r["faults"] for k, r in states.items()} == {("squad", "dev"): 3, ("squad", "train"): 0, ("race", "test"): 1, ("race", "dev"): 0, ("cip", "test"): 1},
          f"data check: {states}")
    for dataset, kind, pieces in (("squad", "fault", ("data[0].paragraphs[0].qas[0]", "does not occur")), ("squad", "fault", ("qas[1]", "'answers' is empty")),
                                  ("squad", "fault", (questions[5]["id"], "twice")), ("race", "fault", ("high/1.txt:1", "not valid JSON")),
                                  ("cip", "fault", ("test.jsonl:2", "is number")), ("cip", "note", ("byte order mark",)), ("cip", "note", ("CRLF",))):
        check(any(d == dataset and k == kind and all(p in f for p in pieces) for d, k, f in findings), f"data check finds {pieces}: {findings}")
    check(states["cip", "test"]["examples"] == len(lines) and states["squad", "dev"]["fields"] == len(questions) - 2, "the other records are read")
    ran = pardec("run", "--dataset", "cip", "--decoder", "ar", "--data-root", "bad", "--dry-run")
    check(ran.returncode == 2 and "test.jsonl:2" in ran.stderr, f"run refuses the first fault: {ran.stderr}")


def own_records(check, pardec):
    """The schema of records of one's own says what the loader takes."""
    schema = jsonschema.Draft202012Validator(json.loads((ROOT / "datasets/jsonl.schema.json").read_text()))
    field = {"question": "Q", "references": ["r"]}
    for record, good in [*((r, True) for r in records("jsonl")), ({"prompt": "p"}, True), ({"turns": ["a", "b"]}, True),
                         ({"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}, True),
                         ({"messages": [{"role": "system", "content": "a"}]}, False), ({"messages": [{"role": "system", "content": "a"}, {"role": "user", "content": "b"}]}, True), ({"messages": [{"role": "tool", "content": "a"}]}, False), ({"messages": []}, False), ({"text": "t"}, False),
                         ({"text": "t", "fields": [{"name": "n"}]}, True), ({"text": "t", "fields": []}, False), ({"text": " ", "fields": [field]}, False),
                         ({"prompt": "p", "text": "t"}, True), ({"messages": [{"role": "user", "content": "b"}], "references": ["r"]}, False), ({"prompt": "p", "id": 3}, True), ({"prompt": "p", "id": 3.5}, False), ({"prompt": "p", "source": "x"}, True), ({"turns": []}, False), ({"text": "t", "fields": [{}]}, False),
                         ({"text": "t", "fields": [field], "references": ["r"]}, False), ({"text": "t", "fields": [{**field, "answer": "r"}]}, True), ({"conversations": [{"from": "human", "value": "a"}]}, True),
                         ({"conversations": [{"role": "user", "content": "a"}]}, True), ({"messages": [{"from": "gpt", "value": "a"}]}, False), ({"prompt": [{"role": "user", "content": "a"}]}, True), ({"prompt": []}, False),
                         ({"messages": [{"role": "system", "content": ""}, {"role": "user", "content": "b"}]}, True), ({"prompt": "p", "system": ""}, True), ({"prompt": "p", "references": "r"}, True),
                         ({"prompt": "p", "references": [3, 2.5]}, True), ({"prompt": "p", "references": [""]}, False), ({"prompt": "p", "references": [True]}, False),
                         ({"text": "t", "fields": [{"question": "Q", "choices": {"A": "x", "B": "y"}, "references": ["B"]}]}, True), ({"text": "t", "fields": [{"question": "Q", "choices": {"A": ["x"]}}]}, False),
                         ({"text": "t", "fields": [{"question": "Q", "choices": {"label": ["1", "2"], "text": ["x", "y"]}, "references": "2"}]}, True), ({"text": "t", "fields": [{"question": "Q", "choices": [1, 2], "references": 2}]}, True)]:
        write_lines(pardec.folder / "own/jsonl/test.jsonl", [record])
        ran = pardec("data", "check", "--data-root", "own")
        check(schema.is_valid(record) == good == (ran.returncode == 0), f"{record}: schema {schema.is_valid(record)}, data check exit {ran.returncode}")


def running(check, pardec):
    """run: every dataset in the form that its shape has; n/a with a reason where a decoder cannot."""
    model = pardec.synthesise("shapes", max_position_embeddings=4096)
    every = ["squad", "race", "narrativeqa", "longhealth", "amazon-reviews", *OPEN, "jsonl"]
    run = ["run", "--model", model, "--decoder", "ar,hpd,ippd", "--dataset", ",".join(every), "--limit", 2, "--max-new-tokens", 6, "--per-field", 4,
           "--set", "hpd.k_max=3", "--progress", "none", "--warmup", 0]
    plan = json.loads(pardec.good(*run[:1], *run[3:], "--dry-run", "--format", "json"))
    jobs = {(r["dataset"].split()[0], r["arm"]): r["jobs"] for r in plan["rows"]}
    check({d for (d, arm), n in jobs.items() if arm == "hpd" and n is None} == {*OPEN}, f"the plan says n/a: {jobs}")
    check(all(n for (_, arm), n in jobs.items() if arm in ("ar", "ippd")), f"ar and ippd run on all: {jobs}")
    check({d for (d, arm), n in jobs.items() if arm == "ar-separately" and n is None} == {*OPEN}, f"ippd's baseline is added where ar asks otherwise: {jobs}")
    against = {(r["dataset"].split()[0], r["arm"]): r["compared with"] for r in plan["rows"]}
    check(all(against[d, "ippd"] == ("ar" if d in OPEN else "ar-separately") and against[d, "ar-separately"] == "ar" and against[d, "hpd"] == "ar" for d in every),
          f"each arm has its baseline: {against}")
    check(sum(n.startswith("ar-separately: added automatically, since ippd is compared with an AR that asks in the same way") for n in plan["notes"]) == 1, f"the plan says so: {plan['notes']}")
    check(sum("mt-bench, hpd" in n and "open prompt" in n for n in plan["notes"]) == 1, f"the reasons: {plan['notes']}")
    check(jobs["squad", "hpd"] == jobs["squad", "ar"] == 2, f"texts with questions of their own are asked one a job: {jobs}")
    ran = pardec(*run, "--db", "shapes.sqlite", "--trace", "shapes.jsonl", timeout=900)
    if not check(ran.returncode == 0 and "n/a" in ran.stderr, f"run: exit {ran.returncode}: {ran.stderr[-1500:]}"):
        return
    check("- ar-separately: added automatically, since ippd is compared with" in ran.stdout and "not compared, since" not in ran.stdout, f"the table says so: {ran.stdout}")
    db = pardec.folder / "shapes.sqlite"
    wide = pardec.good("compare", "--wide", "--db", db)
    check("examples/s" in wide and "products/s" not in wide, "products and prompts in one table are counted in examples")
    runs = query(db, """SELECT label, dataset.name, dataset.split, form, status, (SELECT count(*) FROM generation WHERE run_id = run.id AND error IS NULL) AS good
                        FROM run JOIN dataset ON dataset.id = dataset_id""")
    check({(r["label"], r["name"]) for r in runs} == {(arm, d) for (d, arm), n in jobs.items() if n} and all(r["status"] == "done" for r in runs), f"runs: {runs}")
    check(all(r["good"] == 2 for r in runs), f"answers: {runs}")
    check(all((r["form"] == "free") == (r["name"] in OPEN) for r in runs), f"forms: {runs}")
    check({r["split"] for r in runs if r["name"] == "squad"} == {"dev"}, "squad is evaluated on dev")
    asked = json.loads(query(db, "SELECT fields FROM sample JOIN dataset ON dataset.id = dataset_id WHERE name = 'race'")[0]["fields"])
    check(all(len(f["choices"]) == 4 and f["question"] for f in asked), f"a sample says what was asked: {asked}")
    again = pardec(*run, "--db", "shapes.sqlite", "--resume", timeout=900)
    check(again.returncode == 0, f"resume: {again.stderr[-500:]}")
    nothing = pardec("run", "--model", model, "--decoder", "hpd", "--dataset", "cip", "--db", "new.sqlite")
    check(nothing.returncode == 2 and "open prompt" in nothing.stderr and not (pardec.folder / "new.sqlite").exists(), f"nothing to run: {nothing.stderr}")
    one = pardec("run", "--model", model, "--decoder", "hpd", "--dataset", "squad", "--limit", 1, "--set", "hpd.stack=1", "--set", "hpd.k_max=3", "--db", "one.sqlite",
                 "--progress", "none", "--warmup", 0)
    check(one.returncode == 0, f"hpd stack=1 on squad: {one.stderr}")
    conversation(check, pardec, model)


def conversation(check, pardec, model):
    """A second turn is asked behind the first and its answer; its answer is what the network says to these ids."""
    pardec.good("run", "--model", model, "--decoder", "ar", "--dataset", "mt-bench", "--limit", 1, "--max-new-tokens", 6, "--db", "turns.sqlite", "--trace",
                "turns.jsonl", "--progress", "none", "--warmup", 0, "--chat-template", "chatml")
    traces = [json.loads(line) for line in (pardec.folder / "turns.jsonl").read_text().splitlines()]
    fields = json.loads(query(pardec.folder / "turns.sqlite", "SELECT fields FROM generation")[0]["fields"])
    check([f["name"] for f in fields] == ["turn 1", "turn 2"] and len(traces) == 2, f"two turns: {[t['request'] for t in traces]}")
    first, second = traces
    check("turn-1" in first["request"] and "turn-2" in second["request"], f"names: {first['request']}, {second['request']}")
    check(second["tokens"][:len(first["tokens"])] == first["tokens"], "the second prompt begins with the first prompt and its answer")
    prompts = [[t for t, step in zip(trace["tokens"], trace["step"]) if step == 0] for trace in traces]
    check(len(prompts[1]) > len(first["tokens"]) + 5, "and goes on with the second turn")
    for prompt, field in zip(prompts, fields):
        ids = pardec.good("generate", "--model", model, "--prompt-tokens", ",".join(map(str, prompt)), "--max-new-tokens", 6).strip()
        check([int(i) for i in ids.split(",")] == field["tokens"], f"{field['name']}: {field['tokens']}, generate says {ids}")
    job = {"conversation": True, "contexts": [{"text": "", "fields": [{"name": "1", "question": "one"}, {"name": "2", "question": "two"}]}],
           "limits": {"max_new_tokens": 5}}
    (pardec.folder / "turns.json").write_text(json.dumps(job))
    answer = json.loads(pardec.good("generate", "--model", model, "--job", "turns.json", "--prompt-file", "open", "--format", "json"))
    check([a["field"] for a in answer["answers"]] == ["1", "2"] and all(len(a["tokens"]) == 5 for a in answer["answers"]), f"generate: {answer}")
    check(answer["counters"]["chosen"] == 10 and answer["counters"]["forwards"] == 10, f"counters of both turns: {answer['counters']}")
    ran = pardec("generate", "--model", model, "--job", "turns.json", "--decoder", "hpd")
    check(ran.returncode == 2 and "conversation" in ran.stderr, f"hpd takes no conversation: {ran.stderr}")
    for decoder in ("prompt-lookup", "lookahead", "ippd", "skeleton-of-thought"):
        ran = pardec("generate", "--model", model, "--job", "turns.json", "--prompt-file", "open", "--decoder", decoder, "--format", "json")
        if check(ran.returncode == 0, f"{decoder} takes a conversation: {ran.stderr}") and decoder != "skeleton-of-thought":
            check([a["tokens"] for a in json.loads(ran.stdout)["answers"]] == [a["tokens"] for a in answer["answers"]], f"{decoder} answers as ar does")


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        listing(check, pardec)
        statistics(check, pardec)
        standins(check, pardec)
        checking(check, pardec)
        own_records(check, pardec)
        running(check, pardec)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
