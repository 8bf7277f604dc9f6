"""`--trace` tells what really happened: transformers, shown the recorded rows, masks and
positions, chooses the same tokens.

AR, HPD (stacks, all three kinds of isolation) and IPPD on a Llama and a Qwen3 checkpoint with the
quickstart's tokenizer, in `run` and `generate`. Then the traces are corrupted, one kind of entry
at a time, and the replay must notice: a replay that cannot fail proves nothing. Where
tools/replay_trace.py lies beside the test data, that program is asked too.
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

import pytest
from harness import DATA, TOKENIZER, VOCABULARY, query, records
from reference import (  # first: it skips where there is no transformers
    masked_logits,
    sharpen,
    torch,
)
from transformers import (
    AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM, Qwen3Config, Qwen3ForCausalLM,
)

# Short prompts: among few rows each counts, so that one wrong entry shows.
PROMPT = """[context]
{text}

[field]
{name}:
"""
TOOL = pathlib.Path(DATA).resolve().parent / "tools" / "replay_trace.py"


FAMILIES = {"llama": (LlamaConfig, LlamaForCausalLM), "qwen3": (Qwen3Config, Qwen3ForCausalLM)}
SHAPE = {
    "vocab_size": VOCABULARY,
    "hidden_size": 64,
    "intermediate_size": 160,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "max_position_embeddings": 4096,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "tie_word_embeddings": False,
}


def rows_seen(items):
    return [k for item in items for k in (range(*item) if isinstance(item, list) else (item,))]


def structure(trace):
    """What is wrong with a trace by itself, without a network."""
    wrong = []
    n = len(trace["tokens"])
    for key in ("position", "step", "visible", "predicts", "from", "banned", "dropped_at"):
        if len(trace[key]) != n:
            return [f"{key} has {len(trace[key])} rows, tokens has {n}"]
    for i in range(n):
        seen = rows_seen(trace["visible"][i])
        if (
            i not in seen
            or len(set(seen)) != len(seen)
            or not all(0 <= k < n and trace["step"][k] <= trace["step"][i] for k in seen)
        ):
            wrong.append(f"row {i} sees {trace['visible'][i]}")
        if i and trace["step"][i] < trace["step"][i - 1]:
            wrong.append(
                f"row {i} arrives in step {trace['step'][i]}, after a row of step"
                f" {trace['step'][i - 1]}"
            )
        source = trace["from"][i]
        if source is not None and (
            trace["step"][source] >= trace["step"][i]
            or trace["predicts"][source] != trace["tokens"][i]
        ):
            wrong.append(
                f"row {i} feeds {trace['tokens'][i]}, row {source} chose"
                f" {trace['predicts'][source]}"
            )
        if source is None and trace["step"][i] > 0 and trace["decoder"] in ("ar", "hpd"):
            wrong.append(f"row {i} of step {trace['step'][i]} is no choice of a row")
    if sorted(trace["emitted"]) != [i for i in range(n) if trace["predicts"][i] is not None]:
        wrong.append("emitted rows are not the rows that chose")
    return wrong


class Replay:
    """One full forward over all rows of a trace, in fp64 and in fp32."""

    def __init__(self, folder):
        self.folder = folder
        self.choices = self.ties = 0

    def load(self, dtype):
        return AutoModelForCausalLM.from_pretrained(
            self.folder, dtype=dtype, attn_implementation="eager"
        ).eval()

    exact = functools.cached_property(lambda self: self.load(torch.float64))
    single = functools.cached_property(lambda self: self.load(torch.float32))

    def logits(self, model, trace):
        n = len(trace["tokens"])
        sees = torch.zeros((n, n), dtype=torch.bool)
        for i, items in enumerate(trace["visible"]):
            sees[i, rows_seen(items)] = True
        return masked_logits(model, trace["tokens"], trace["position"], sees)

    def differs(self, where, chosen, expected, exact, single):
        """What is wrong with a choice that is not the expected one, or None; `exact`, `single`: the
        row's logits in fp64 and fp32. The two may differ where both are within fp32's error of the
        best: the network's logits are held to three times the reference's own |fp32 - fp64|
        (tests/model/model_oracle_test.py), and each of the two logits may be off.
        """
        gap, bound = (
            float(exact.max() - min(exact[chosen], exact[expected])),
            6 * float((single - exact).abs().max()),
        )
        said = (
            f"{where}: {chosen} chosen, {expected} expected, {int(exact.argmax())} best in fp64,"
            f" gap {gap:.2e}, bound {bound:.2e}"
        )
        if gap > bound:
            return said
        self.ties += 1
        print(f"tie: {said}", flush=True)
        return None

    def __call__(self, trace):
        """What is wrong with a trace."""
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
            wrong += filter(
                None,
                [self.differs(f"{trace['request']} row {i}", chosen, best, exact[i], single[i])],
            )
        return wrong


def flip_visible(trace, rng):
    """Each row that chose sees one row less, or one more: a single row seldom moves a choice."""
    for i in [k for k in trace["emitted"] if k > 4]:
        seen = set(rows_seen(trace["visible"][i]))
        unseen = [k for k in range(i) if k not in seen]
        row = (
            rng.choice(unseen) if unseen and rng.random() < 0.5 else rng.choice(sorted(seen - {i}))
        )
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
    """Exit code of the shared replay tool, and what it printed. It runs in this process, which has
    the libraries already.
    """
    file.write_text("".join(json.dumps(t) + "\n" for t in traces))
    said, code = io.StringIO(), 0
    with (
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(said),
        mock.patch.object(sys, "argv", [str(TOOL), str(folder), str(file)]),
    ):
        try:
            runpy.run_path(str(TOOL), run_name="__main__")
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
    return code, said.getvalue()


def check_against_database(name, db, traces):
    """Every stored job has one trace, with the ids that were stored."""
    by_request = {}
    for trace in traces:
        by_request.setdefault((trace["decoder"], trace["request"]), []).append(trace)
    jobs = query(
        db, "SELECT run.label, run.decoder, job.* FROM job JOIN run ON run.id = job.run_id"
    )
    assert len(jobs) == len(traces), f"{name}: {len(traces)} traces for {len(jobs)} jobs"
    for job in jobs:
        keys = json.loads(job["key"])
        found = by_request.get((job["decoder"], keys[0] if len(keys) == 1 else job["key"]), [])
        assert len(found) == 1, (
            f"{name}: job {job['key']} of {job['label']} has {len(found)} traces"
        )
        trace = found[0]
        n = len(trace["tokens"])
        assert n == job["fed"], (
            f"{name}: {job['key']}: {n} rows, {max(trace['step']) + 1} steps,"
            f" {len(trace['emitted'])} choices; stored are {job['fed']}, {job['forwards']},"
            f" {job['chosen']}"
        )
        assert max(trace["step"]) + 1 == job["forwards"], name
        assert len(trace["emitted"]) == job["chosen"], name
        assert sum(len(rows_seen(items)) for items in trace["visible"]) == job["attended"], (
            f"{name}: {job['key']}: rows seen are not what was counted"
        )
        chosen = [trace["predicts"][i] for i in trace["emitted"]]
        if job["decoder"] == "ar":
            assert chosen == json.loads(job["tokens"]), (
                f"{name}: {job['key']}: the trace's choices are not the stored ids"
            )
            assert trace["position"] == list(range(n)), (
                f"{name}: {job['key']}: AR rows see all before them, at their own positions"
            )
            assert all(
                rows_seen(v) == list(range(i + 1)) for i, v in enumerate(trace["visible"])
            ), name
        else:
            fields = [
                f
                for g in query(
                    db, "SELECT fields FROM generation WHERE job_id = ? ORDER BY id", job["id"]
                )
                for f in json.loads(g["fields"])
            ]
            assert sorted(chosen) == sorted(t for f in fields for t in f["tokens"]), (
                f"{name}: {job['key']}: the trace's choices are not the stored ids"
            )
            # Values lie in gaps of K_max positions after their segments; no position is used twice.
            assert len(set(trace["position"])) == n, (
                f"{name}: {job['key']}: a position is used twice"
            )
            fed = [i for i in range(n) if trace["step"][i] > 0]
            assert all(
                trace["position"][i] == trace["position"][trace["from"][i]] + 1 for i in fed
            ), f"{name}: {job['key']}: a value's token does not follow the one before it"


def traces_in(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


class Case:
    """A network of one family, the replay of its traces, and the traces that it has so far."""

    def __init__(self, pardec, family, folder):
        self.pardec, self.family, self.folder, self.replay = pardec, family, folder, Replay(folder)
        (pardec.folder / "short.txt").write_text(PROMPT)
        self.short = ("--prompt-file", pardec.folder / "short.txt")

    @functools.cached_property
    def stored(self):
        """Database and traces of a run, by what HPD isolates."""
        return {
            isolated: self.run(isolated, "ar,hpd" if isolated == "none" else "hpd")
            for isolated in ("none", "values", "products")
        }

    def run(self, isolated, arms):
        file, db = (
            self.pardec.folder / f"{self.family}-{isolated}.{end}" for end in ("jsonl", "sqlite")
        )
        self.pardec.good(
            "run", "--model", self.folder, "--decoder", arms, "--dataset", "oa-mine", "--limit", 4,
            "--set", "hpd.stack=2", "--set", "hpd.k_max=5", "--set", f"hpd.isolated={isolated}",
            "--max-new-tokens", 12, "--batch-size", 3, "--warmup", 0, "--trace", file, "--db", db,
            *self.short,
        )
        return db, traces_in(file)

    @functools.cached_property
    def generated(self):
        """Traces of `generate` on one product, by decoder and setting."""
        title = records("oa-mine")[0]
        job = {
            "id": "one",
            "contexts": [
                {
                    "category": title["category"],
                    "text": title["input"],
                    "fields": [{"name": n} for n in title["target_scores"]],
                }
            ],
            "limits": {"max_new_tokens": 10, "per_field": 4},
        }
        (self.pardec.folder / "job.json").write_text(json.dumps(job))
        found = {}
        for decoder, sets in GENERATED:
            file = self.pardec.folder / "generate.jsonl"
            self.pardec.good(
                "generate", "--model", self.folder, "--decoder", decoder, "--set", sets, "--job",
                "job.json", "--trace", file, "--format", "json", *self.short,
            )
            found[sets] = traces_in(file)
        return found

    @functools.cached_property
    def traces(self):
        """All traces whose later rows are choices."""
        return [t for _, traces in self.stored.values() for t in traces] + [
            t for sets, traces in self.generated.items() if sets not in GIVEN for t in traces
        ]


GENERATED = (
    ("hpd", "hpd.k_max=4"),
    ("ar", "ar.ask=separately"),
    ("ar", "ar.forced_keys=true"),
    ("ippd", "ippd.contexts=1"),
    ("ippd", "ippd.prefix_cache=true"),
)
# Keys, and what follows a shared instruction, are computed in later steps and are no row's choice.
GIVEN = ("ar.forced_keys=true", "ippd.prefix_cache=true")


@pytest.fixture(scope="module", params=list(FAMILIES))
def case(pardec, request):
    config, network = FAMILIES[request.param]
    torch.manual_seed(5)
    model = network(config(**SHAPE))
    sharpen(model)
    folder = pardec.folder / request.param
    model.to(torch.float32).save_pretrained(folder)
    shutil.copy(TOKENIZER, folder / "tokenizer.json")
    return Case(pardec, request.param, folder)


@pytest.mark.parametrize("isolated", ["none", "values", "products"])
def test_each_stored_job_has_one_trace_with_its_ids(case, isolated):
    check_against_database(isolated, *case.stored[isolated])


@pytest.mark.parametrize("sets", [sets for _, sets in GENERATED])
def test_generate_writes_a_trace_for_each_request(case, sets):
    wanted = len(records("oa-mine")[0]["target_scores"]) if sets == "ar.ask=separately" else 1
    assert len(case.generated[sets]) == wanted


def test_transformers_chooses_the_traced_tokens(case):
    for trace in case.traces:
        wrong = case.replay(trace)
        assert not wrong, f"{trace['decoder']} {trace['request']}: {wrong[:3]}"
    assert case.replay.ties * 1000 <= case.replay.choices


@pytest.mark.parametrize("sets", GIVEN)
def test_transformers_chooses_the_traced_tokens_after_given_rows(case, sets):
    wrong = [
        w for t in case.generated[sets] for w in case.replay(t) if "no choice of a row" not in w
    ]
    assert not wrong, wrong[:3]


def test_the_shared_tool_finds_no_fault(case):
    if not TOOL.is_file():
        pytest.skip(f"not done here: {TOOL} is missing")
    code, said = tool(case.folder, case.traces, case.pardec.folder / "all.jsonl")
    assert code == 0


CORRUPTIONS = {
    flip_visible: 0.5,
    change_position: 0.5,
    change_token: 0.9,
    change_choice: 1.0,
}  # and the share that must be noticed
corruptions = pytest.mark.parametrize(
    "corrupt", list(CORRUPTIONS), ids=lambda corrupt: corrupt.__name__
)


@corruptions
@pytest.mark.parametrize("decoder", ["ar", "hpd"])
def test_the_replay_notices_a_corrupted_trace(case, decoder, corrupt):
    of_decoder = [t for t in case.traces if t["decoder"] == decoder][:4]
    bad = corrupted(of_decoder, corrupt, random.Random(6), 2)
    noticed = sum(bool(case.replay(trace)) for trace in bad)
    assert noticed >= CORRUPTIONS[corrupt] * len(bad)


@corruptions
@pytest.mark.parametrize("case", ["llama"], indirect=True)
def test_the_shared_tool_notices_a_corrupted_trace(case, corrupt):
    if not TOOL.is_file():
        pytest.skip(f"not done here: {TOOL} is missing")
    code, said = tool(
        case.folder,
        corrupted(case.traces[:4], corrupt, random.Random(6), 2),
        case.pardec.folder / "bad.jsonl",
    )
    assert code == 1
    assert "WRONG" in said
