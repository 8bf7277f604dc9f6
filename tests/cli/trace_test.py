"""`--trace` tells what really happened: transformers, shown the recorded rows, masks and positions, chooses the same tokens.

Usage: trace_test.py PROGRAM

AR, HPD (stacks, all three kinds of isolation) and IPPD on a Llama and a Qwen3 checkpoint with the quickstart's tokenizer, in `run` and `generate`. Then
the traces are corrupted, one kind of entry at a time, and the replay must notice: a replay that cannot fail proves nothing. Where a program
of that name lies beside the test data, tools/replay_trace.py is asked too.
"""
import contextlib
import copy
import functools
import io
import json
import pathlib
import random
import runpy
import shutil
import sys
from unittest import mock

from harness import DATA, TOKENIZER, VOCABULARY, Checks, query, records, scratch
from reference import masked_logits, sharpen, torch  # first: it skips where there is no transformers
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM, Qwen3Config, Qwen3ForCausalLM

# Short prompts: among few rows each counts, so that one wrong entry shows.
PROMPT = """[context]
{text}

[field]
{name}:
"""
TOOL = pathlib.Path(DATA).resolve().parent / "tools" / "replay_trace.py"


def networks():
    shape = dict(vocab_size=VOCABULARY, hidden_size=64, intermediate_size=160, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2,
                 head_dim=32, max_position_embeddings=4096, bos_token_id=1, eos_token_id=2, tie_word_embeddings=False)
    yield "llama", LlamaForCausalLM(LlamaConfig(**shape))
    yield "qwen3", Qwen3ForCausalLM(Qwen3Config(**shape))


def rows_seen(items):
    return [k for item in items for k in (range(*item) if isinstance(item, list) else (item,))]


def structure(trace):
    """Complaints about a trace that need no network."""
    wrong = []
    n = len(trace["tokens"])
    for key in ("position", "step", "visible", "predicts", "from", "banned", "dropped_at"):
        if len(trace[key]) != n:
            return [f"{key} has {len(trace[key])} rows, tokens has {n}"]
    for i in range(n):
        seen = rows_seen(trace["visible"][i])
        if i not in seen or len(set(seen)) != len(seen) or not all(0 <= k < n and trace["step"][k] <= trace["step"][i] for k in seen):
            wrong.append(f"row {i} sees {trace['visible'][i]}")
        if i and trace["step"][i] < trace["step"][i - 1]:
            wrong.append(f"row {i} arrives in step {trace['step'][i]}, after a row of step {trace['step'][i - 1]}")
        source = trace["from"][i]
        if source is not None and (trace["step"][source] >= trace["step"][i] or trace["predicts"][source] != trace["tokens"][i]):
            wrong.append(f"row {i} feeds {trace['tokens'][i]}, row {source} chose {trace['predicts'][source]}")
        if source is None and trace["step"][i] > 0 and trace["decoder"] in ("ar", "hpd"):
            wrong.append(f"row {i} of step {trace['step'][i]} is nobody's choice")
    if sorted(trace["emitted"]) != [i for i in range(n) if trace["predicts"][i] is not None]:
        wrong.append("emitted rows are not the rows that chose")
    return wrong


class Replay:
    """One full forward over all rows of a trace, in fp64 and in fp32."""

    def __init__(self, folder):
        self.folder = folder
        self.choices = self.ties = 0

    def load(self, dtype):
        return AutoModelForCausalLM.from_pretrained(self.folder, dtype=dtype, attn_implementation="eager").eval()

    exact = functools.cached_property(lambda self: self.load(torch.float64))
    single = functools.cached_property(lambda self: self.load(torch.float32))

    def logits(self, model, trace):
        n = len(trace["tokens"])
        sees = torch.zeros((n, n), dtype=torch.bool)
        for i, items in enumerate(trace["visible"]):
            sees[i, rows_seen(items)] = True
        return masked_logits(model, trace["tokens"], trace["position"], sees)

    def differs(self, where, chosen, expected, exact, single):
        """A complaint, or nothing, about a choice that is not the expected one; `exact`, `single`: the row's logits in fp64 and fp32. The two may differ where
        both are within fp32's error of the best: the network's logits are held to three times the reference's own |fp32 - fp64|
        (tests/model/model_oracle_test.py), and each of the two logits may be off."""
        gap, bound = float(exact.max() - min(exact[chosen], exact[expected])), 6 * float((single - exact).abs().max())
        said = f"{where}: {chosen} chosen, {expected} expected, {int(exact.argmax())} best in fp64, gap {gap:.2e}, bound {bound:.2e}"
        if gap > bound:
            return said
        self.ties += 1
        print(f"tie: {said}", flush=True)
        return None

    def __call__(self, trace):
        """Complaints."""
        wrong = structure(trace)
        exact = self.logits(self.exact, trace)
        single = None
        for i, chosen in enumerate(trace["predicts"]):
            if chosen is None:
                continue
            self.choices += 1
            best = int(exact[i].argmax())
            if best == chosen:
                continue
            single = self.logits(self.single, trace) if single is None else single
            wrong += filter(None, [self.differs(f"{trace['request']} row {i}", chosen, best, exact[i], single[i])])
        return wrong


def flip_visible(trace, rng):
    """Each row that chose sees one row less, or one more: one of so many rows alone seldom moves a choice."""
    for i in [k for k in trace["emitted"] if k > 4]:
        seen = set(rows_seen(trace["visible"][i]))
        unseen = [k for k in range(i) if k not in seen]
        row = rng.choice(unseen) if unseen and rng.random() < 0.5 else rng.choice(sorted(seen - {i}))
        trace["visible"][i] = sorted(seen ^ {row})


def change_position(trace, rng):
    i = rng.choice(trace["emitted"])
    trace["position"][i] += rng.choice([-2, -1, 1, 2, 5])


def change_token(trace, rng):
    i = rng.choice(trace["emitted"])
    trace["tokens"][i] = (trace["tokens"][i] + rng.randrange(1, 100)) % VOCABULARY


def change_choice(trace, rng):
    i = rng.choice(trace["emitted"])
    trace["predicts"][i] = (trace["predicts"][i] + 1) % VOCABULARY


def corrupted(traces, corrupt, rng, times):
    bad = [copy.deepcopy(t) for t in traces for _ in range(times)]
    for trace in bad:
        corrupt(trace, rng)
    return bad


def tool(folder, traces, file):
    """Exit code of the shared replay tool, and what it printed. It runs in this process, which has the libraries already."""
    file.write_text("".join(json.dumps(t) + "\n" for t in traces))
    said, code = io.StringIO(), 0
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said), mock.patch.object(sys, "argv", [str(TOOL), str(folder), str(file)]):
        try:
            runpy.run_path(str(TOOL), run_name="__main__")
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
    return code, said.getvalue()


def check_against_database(check, name, db, traces):
    """Every stored job has one trace, with the ids that were stored."""
    by_request = {}
    for trace in traces:
        by_request.setdefault((trace["decoder"], trace["request"]), []).append(trace)
    jobs = query(db, "SELECT run.label, run.decoder, job.* FROM job JOIN run ON run.id = job.run_id")
    check(len(jobs) == len(traces), f"{name}: {len(traces)} traces for {len(jobs)} jobs")
    for job in jobs:
        keys = json.loads(job["key"])
        found = by_request.get((job["decoder"], keys[0] if len(keys) == 1 else job["key"]), [])
        if not check(len(found) == 1, f"{name}: job {job['key']} of {job['label']} has {len(found)} traces"):
            continue
        trace = found[0]
        n = len(trace["tokens"])
        check(n == job["fed"] and max(trace["step"]) + 1 == job["forwards"] and len(trace["emitted"]) == job["chosen"],
              f"{name}: {job['key']}: {n} rows, {max(trace['step']) + 1} steps, {len(trace['emitted'])} choices; stored are {job['fed']}, "
              f"{job['forwards']}, {job['chosen']}")
        check(sum(len(rows_seen(items)) for items in trace["visible"]) == job["attended"], f"{name}: {job['key']}: rows seen are not what was counted")
        chosen = [trace["predicts"][i] for i in trace["emitted"]]
        if job["decoder"] == "ar":
            check(chosen == json.loads(job["tokens"]), f"{name}: {job['key']}: the trace's choices are not the stored ids")
            check(trace["position"] == list(range(n)) and all(rows_seen(v) == list(range(i + 1)) for i, v in enumerate(trace["visible"])),
                  f"{name}: {job['key']}: AR rows see all before them, at their own positions")
        else:
            fields = [f for g in query(db, "SELECT fields FROM generation WHERE job_id = ? ORDER BY id", job["id"]) for f in json.loads(g["fields"])]
            check(sorted(chosen) == sorted(t for f in fields for t in f["tokens"]), f"{name}: {job['key']}: the trace's choices are not the stored ids")
            # Values lie in gaps of K_max positions behind their segments; nobody's position is used twice.
            check(len(set(trace["position"])) == n, f"{name}: {job['key']}: a position is used twice")
            fed = [i for i in range(n) if trace["step"][i] > 0]
            check(all(trace["position"][i] == trace["position"][trace["from"][i]] + 1 for i in fed),
                  f"{name}: {job['key']}: a value's token does not stand behind the one before it")


def main():
    check = Checks()
    torch.manual_seed(5)
    rng = random.Random(6)
    with_tool = TOOL.is_file()
    if not with_tool:
        print(f"{TOOL} is not there: replayed here alone")
    with scratch(sys.argv[1]) as pardec:
        for name, model in networks():
            sharpen(model)
            folder = pardec.folder / name
            model.to(torch.float32).save_pretrained(folder)
            shutil.copy(TOKENIZER, folder / "tokenizer.json")
            (pardec.folder / "short.txt").write_text(PROMPT)
            short = ("--prompt-file", pardec.folder / "short.txt")
            replay = Replay(folder)
            traces = []
            for isolated in ("none", "values", "products"):
                file, db = pardec.folder / f"{name}-{isolated}.jsonl", pardec.folder / f"{name}-{isolated}.sqlite"
                ran = pardec("run", "--model", folder, "--decoder", "ar,hpd", "--dataset", "oa-mine", "--limit", 6, "--set", "hpd.stack=2", "--set",
                             "hpd.k_max=5", "--set", f"hpd.isolated={isolated}", "--max-new-tokens", 12, "--batch-size", 3, "--trace", file, "--db", db, *short)
                if not check(ran.returncode == 0, f"{name}, {isolated}: exit {ran.returncode}: {ran.stderr}"):
                    continue
                these = [json.loads(line) for line in file.read_text().splitlines()]
                check_against_database(check, f"{name}, {isolated}", db, these)
                traces += [t for t in these if isolated == "none" or t["decoder"] == "hpd"]
            title = records("oa-mine")[0]
            job = {"id": "one", "contexts": [{"category": title["category"], "text": title["input"], "fields": [{"name": n} for n in title["target_scores"]]}],
                   "limits": {"max_new_tokens": 10, "per_field": 4}}
            (pardec.folder / "job.json").write_text(json.dumps(job))
            for decoder, *sets in (("hpd", "hpd.k_max=4"), ("ar", "ar.ask=separately"), ("ar", "ar.forced_keys=true"), ("ippd", "ippd.contexts=1"),
                                   ("ippd", "ippd.prefix_cache=true")):
                file = pardec.folder / "generate.jsonl"
                ran = pardec("generate", "--model", folder, "--decoder", decoder, "--set", *sets, "--job", "job.json", "--trace", file, "--format",
                             "json", *short)
                these = [json.loads(line) for line in file.read_text().splitlines()] if ran.returncode == 0 else []
                wanted = len(title["target_scores"]) if sets == ["ar.ask=separately"] else 1
                check(len(these) == wanted, f"{name}: generate {decoder} {sets}: {len(these)} traces, expected {wanted}; {ran.stderr}")
                # Keys, and what follows a shared instruction, are fed in later steps and are nobody's choice.
                if sets not in (["ar.forced_keys=true"], ["ippd.prefix_cache=true"]):
                    traces += these
                else:
                    wrong = [w for t in these for w in Replay.__call__(replay, t) if "nobody's choice" not in w]
                    check(not wrong, f"{name}: {sets}: {wrong[:3]}")

            for trace in traces:
                wrong = replay(trace)
                check(not wrong, f"{name}: {trace['decoder']} {trace['request']}: {wrong[:3]}")
            check(replay.ties * 1000 <= replay.choices, f"{name}: {replay.ties} ties in {replay.choices} choices")
            print(f"{name}: {len(traces)} traces, {replay.choices} choices, {replay.ties} ties")
            if with_tool:
                code, said = tool(folder, traces, pardec.folder / "all.jsonl")
                check(code == 0, f"{name}: replay_trace.py: exit {code}: {said[-500:]}")

            # Corrupted traces must not pass.
            for corrupt, share in ((flip_visible, 0.5), (change_position, 0.5), (change_token, 0.9), (change_choice, 1.0)):
                for decoder in ("ar", "hpd"):
                    of_decoder = [t for t in traces if t["decoder"] == decoder][:8]
                    bad = corrupted(of_decoder, corrupt, rng, 2)
                    noticed = sum(bool(replay(trace)) for trace in bad)
                    check(noticed >= share * len(bad), f"{name}: {corrupt.__name__}: {noticed} of {len(bad)} corrupted traces of {decoder} are noticed, "
                          f"expected a share of {share}")
                    print(f"{name}: {corrupt.__name__}: {noticed} of {len(bad)} corrupted traces of {decoder} are noticed")
                if with_tool and name == "llama":
                    code, said = tool(folder, corrupted(traces[:12], corrupt, rng, 3), pardec.folder / "bad.jsonl")
                    check(code == 1 and "WRONG" in said, f"{name}: {corrupt.__name__}: replay_trace.py: exit {code}: {said[-500:]}")
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
