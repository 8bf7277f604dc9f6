"""`roofline`: bounds of traced passes, compared with another count over the same trace; and what
is asked wrongly.
"""

import collections
import itertools
import json
import math

import pytest
from harness import ROOT, change, query

QUICKSTART = ROOT / "experiments" / "quickstart"
NETWORKS = ["--model", QUICKSTART / "model", "--draft-model", QUICKSTART / "draft"]
MACHINE = {"name": "a machine", "bandwidth_gb_s": 30, "tflop_s": {"bf16": 0.05, "fp32": 0.02}}
CONFIGS = {
    part: json.loads((QUICKSTART / part / "config.json").read_text()) for part in ("model", "draft")
}


def write_machine(folder, file, **changes):
    (folder / file).write_text(json.dumps({**MACHINE, **changes}))
    return file


def read_traces(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


def unfolded(items):
    return {row for item in items for row in (range(*item) if isinstance(item, list) else (item,))}


def passes(trace, first=0):
    """[(rows, rows with logits, cached rows that are seen, pairs)] of each pass, of the rows
    from the first on.
    """
    work = collections.defaultdict(lambda: [0, 0, set(), 0])
    for row, step in enumerate(trace["step"]):
        seen = unfolded(trace["visible"][row])
        one = work[step]
        if row < first:
            continue
        one[0] += 1
        one[1] += trace["predicts"][row] is not None
        one[2] |= {key for key in seen if trace["step"][key] < step}
        one[3] += len(seen)
    return [
        (rows, logits, len(cached), pairs)
        for _, (rows, logits, cached, pairs) in sorted(work.items())
    ]


def side_by_side(traces):
    """The passes of traces that all begin at once; what forks of one sequence have of it was computed
    once.
    """
    own = [passes(traces[0]), *(passes(trace, trace.get("inherited", 0)) for trace in traces[1:])]
    return [
        tuple(map(sum, zip(*together)))
        for together in itertools.zip_longest(*own, fillvalue=(0, 0, 0, 0))
    ]


def seconds(work, config, bandwidth, speed, size, devices=1, link=math.inf):
    rows, logits, cached, pairs = work
    hidden, layers, inner = (
        config["hidden_size"], config["num_hidden_layers"], config["intermediate_size"],
    )
    heads, kv, dim = (
        config["num_attention_heads"], config["num_key_value_heads"], config["head_dim"],
    )
    layer = hidden * dim * (2 * heads + 2 * kv) + 3 * hidden * inner + 2 * hidden
    weights, head = layers * layer + hidden, hidden * config["vocab_size"]
    memory = (
        size
        * (
            weights
            + (head if logits else 0)
            + hidden * rows
            + 2 * layers * kv * dim * (cached + rows)
        )
        / bandwidth
    )
    compute = (2 * weights * rows + 2 * head * logits + 4 * layers * heads * dim * pairs) / speed
    round_ = 2 * (devices - 1) / devices * 2 * layers * hidden * rows * size / link
    return max(memory / devices, compute / devices, round_), memory / devices >= max(
        compute / devices, round_
    )


class Traced:
    """A run with a trace, and the arguments of `roofline` on it up to the machine."""

    call = ["roofline", "--trace", "t.jsonl", *NETWORKS, "--baseline", "one", "--hardware"]

    def __init__(self, pardec):
        self.pardec = pardec
        pardec.good(
            "run",
            *NETWORKS,
            "--arm",
            "one=ar",
            "--arm",
            "many=hpd,stack=2",
            "--arm",
            "draft=speculative",
            "--arm",
            "again=hpd,stack=3",
            "--arm",
            "apart=ar,ask=separately",
            "--arm",
            "forks=ar,ask=separately,prefix_cache=context",
            "--dataset",
            "oa-mine",
            "--limit",
            3,
            "--max-new-tokens",
            48,
            "--trace",
            "t.jsonl",
            "--db",
            "t.sqlite",
            "--warmup",
            1,
            "--progress",
            "none",
            "--baseline",
            "one",
        )
        self.traces = read_traces(pardec.folder / "t.jsonl")
        self.by_arm = collections.defaultdict(list)
        for trace in self.traces:
            self.by_arm[trace["arm"]].append(trace)

    def rows(self, *args):
        return self.table(*args)["rows"]

    def table(self, *args):
        return json.loads(self.pardec.good(*self.call, *args, "--format", "json"))


@pytest.fixture(scope="module")
def traced(pardec):
    write_machine(pardec.folder, "machine.json")
    return Traced(pardec)


def test_a_trace_names_arms(traced):
    assert set(traced.by_arm) == {"one", "many", "draft", "again", "apart", "forks"}
    assert len(traced.by_arm["one"]) == 3


def test_attributes_that_are_asked_apart_have_a_trace_each(traced):
    assert len(traced.by_arm["apart"]) > 5
    assert sum("inherited" in trace for trace in traced.by_arm["forks"]) > 5


def counted(traces, batch, bandwidth, speed, size):
    """(seconds, the share of them that memory bounds, passes) of an arm's traces, in batches; a
    draft network's passes count for the seconds alone.
    """
    total = bound_by_memory = count = 0
    for part in ("model", "draft"):
        jobs = collections.defaultdict(list)  # attributes that are asked apart go side by side
        for trace in traces:
            if trace.get("model", "") == ("draft" if part == "draft" else ""):
                jobs[tuple(trace["examples"])].append(trace)
        own = [side_by_side(job) for job in jobs.values()]
        for begin in range(0, len(own), batch):
            group = own[begin : begin + batch]
            for step in range(max(map(len, group))):
                work = [
                    sum(values) for values in zip(*(one[step] for one in group if step < len(one)))
                ]
                least, memory = seconds(work, CONFIGS[part], bandwidth, speed, size)
                total += least
                bound_by_memory += least if memory else 0
                count += part == "model"
    return total, bound_by_memory / total, count


@pytest.mark.parametrize(
    ("dtype", "size", "batch"), [("bf16", 2, 1), ("fp32", 4, 1), ("bf16", 2, 2)]
)
def test_bounds_are_those_of_a_count_over_the_trace(traced, dtype, size, batch):
    rows = {
        row["arm"]: row
        for row in traced.rows("machine.json", "--dtype", dtype, "--batch-size", batch)
    }
    total = {}
    for arm, traces in traced.by_arm.items():
        total[arm], by_memory, count = counted(
            traces, batch, 30e9, MACHINE["tflop_s"][dtype] * 1e12, size
        )
        row = rows[arm]
        assert math.isclose(row["seconds"], total[arm], rel_tol=1e-9), (
            f"{arm}: counted {total[arm]}"
        )
        assert math.isclose(row["memory_bound"], by_memory, rel_tol=1e-9, abs_tol=1e-12), arm
        assert row["passes"] == count, arm
        assert row["chosen"] == sum(len(t["emitted"]) for t in traces if not t.get("model")), arm
    for arm in traced.by_arm:
        assert math.isclose(rows[arm]["speedup"], total["one"] / total[arm], rel_tol=1e-9), arm


def test_the_passes_of_a_request_are_listed(traced):
    request = traced.by_arm["one"][0]["request"]
    wanted = [
        (t["arm"], *work[:3])
        for t in traced.traces
        if t["request"] == request and not t.get("model")
        for work in passes(t)
    ]
    assert [
        (r["arm"], r["rows"], r["logits"], r["cached"])
        for r in traced.rows("machine.json", "--passes", request)
    ] == wanted


def test_published_machines_and_this_one_are_known(pardec, traced):
    known = json.loads(
        pardec.good(
            *traced.call[:4], QUICKSTART / "model.json", *traced.call[5:],
            "here,a100,a800,h100,h200,h800,l40s", "--format", "json",
        )
    )
    assert len(known["rows"]) == 7 * len(traced.by_arm)
    assert all(r["seconds"] > 0 for r in known["rows"])


def test_eight_devices_share_the_weights_and_wait_for_their_links(traced):
    eight = traced.table("a800x8", "--dtype", "bf16")
    machine = json.loads((ROOT / "experiments" / "hardware" / "a800.json").read_text())
    for arm in ("one", "many"):
        least = sum(
            seconds(
                work, CONFIGS["model"], 1e9 * machine["bandwidth_gb_s"],
                1e12 * machine["tflop_s"]["bf16"], 2, 8, 1e9 * machine["link_gb_s"],
            )[0]
            for trace in traced.by_arm[arm]
            for work in passes(trace)
        )
        row = next(r for r in eight["rows"] if r["arm"] == arm)
        assert math.isclose(row["seconds"], least, rel_tol=1e-9), f"{arm}: counted {least}"
        assert row["hardware"] == "8 x NVIDIA A800 80GB SXM4"
    assert any("tensor parallel" in n for n in eight["notes"])
    assert any("GB/s from one to the next" in n for n in eight["notes"])


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (["l40"], "did you mean 'l40s'"),
        (["l40x2"], "did you mean 'l40s'"),
        (["a800x0"], "0 devices"),
        (["a800x99999"], "99999 devices"),
        (["machine.json", "--dtype", "fp64"], "has no 'fp64'"),
        (["machine.json", "--passes", "nobody"], "no request 'nobody'"),
        (["none.json"], "none.json"),
        (["machine.json", "--batch-size", 0], "--batch-size is 0"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else None,
)
def test_what_is_wrong_in_a_call_is_said(pardec, traced, wrong, said):
    ran = pardec(*traced.call, *wrong)
    assert ran.returncode == 2, ran.stderr
    assert said in ran.stderr


@pytest.mark.usefixtures("traced")
def test_traces_with_drafts_need_the_draft_network(pardec):
    ran = pardec(
        "roofline", "--trace", "t.jsonl", "--model", QUICKSTART / "model", "--hardware", "h100"
    )
    assert ran.returncode == 2, ran.stderr
    assert "--draft-model" in ran.stderr


def test_a_key_of_a_hardware_file_that_nobody_asks_for_is_said(pardec, traced):
    write_machine(pardec.folder, "odd.json", bandwidth=1)
    assert "unknown" in pardec(*traced.call, "odd.json").stderr


def test_without_the_baseline_in_the_trace_there_is_no_speedup(pardec, traced):
    lonely = json.loads(pardec.good(*traced.call[:-3], "--hardware", "h100", "--format", "json"))
    assert all(r["speedup"] is None for r in lonely["rows"])
    assert any("no arm of the trace is 'ar'" in n for n in lonely["notes"])


class Shares:
    """A run at batch size 1, and the share of the roofline that `compare` states without a
    trace.
    """

    def __init__(self, pardec):
        self.pardec = pardec
        pardec.good(
            "run", *NETWORKS, "--arm", "one=ar,batch_size=1", "--arm",
            "many=hpd,stack=2,batch_size=1", "--arm", "draft=speculative", "--dataset", "oa-mine",
            "--limit", 5, "--max-new-tokens", 24, "--trace", "s.jsonl", "--db", "s.sqlite",
            "--progress", "none", "--baseline", "one",
        )
        self.db = pardec.folder / "s.sqlite"

    def compared(self, *args, db=None):
        return json.loads(
            self.pardec.good("compare", "--db", db or self.db, "--format", "json", *args)
        )


@pytest.fixture(scope="module")
def shares(pardec):
    return Shares(pardec)


def test_without_a_machine_there_is_no_share_of_its_roofline(pardec, shares):
    assert all(row["roofline_share"] is None for row in shares.compared()["rows"])
    assert "of roofline" not in pardec.good("compare", "--wide", "--db", shares.db)


@pytest.mark.parametrize(
    ("name", "bandwidth", "speed"),
    [("memory", 30, 1e9), ("computing", 1e12, 0.02), ("both", 30, 0.02)],
    ids=["memory", "computing", "both"],
)
def test_the_share_without_a_trace_is_that_of_the_trace(pardec, shares, name, bandwidth, speed):
    """Exactly where one limit holds throughout, else below it."""
    file = write_machine(
        pardec.folder, f"{name}.json", bandwidth_gb_s=bandwidth, tflop_s={"fp32": speed}
    )
    traced = json.loads(
        pardec.good(
            "roofline", "--trace", "s.jsonl", *NETWORKS, "--baseline", "one", "--dtype", "fp32",
            "--hardware", file, "--format", "json",
        )
    )["rows"]
    least = {row["arm"]: row["seconds"] for row in traced}
    wall = {
        row["label"]: row["wall"] * 1e-9
        for row in query(
            shares.db,
            "SELECT label, sum(wall_ns) AS wall FROM block JOIN run ON run.id = run_id GROUP BY"
            " label",
        )
    }
    table = shares.compared("--hardware", file)
    share = {row["arm"]: row["roofline_share"] for row in table["rows"]}
    assert share["draft"] is None, "a draft network's passes are not counted"
    for arm in ("one", "many"):
        found = share[arm] * wall[arm]
        # Of hpd's passes some read no logits, and rows of logits are counted by what was chosen.
        exact = arm == "one" and name != "both"
        assert (
            math.isclose(found, least[arm], rel_tol=1e-9)
            if exact
            else 0.5 * least[arm] < found < 1.05 * least[arm]
        ), f"{arm}: at least {found} s, traced {least[arm]} s"
    cell = (
        f"{next(row for row in table['rows'] if row['arm'] == 'one')['forwards_per_second']:.1f}"
        f" ({100 * share['one']:.0f} %)"
    )
    pardec.good("report", "--db", shares.db, "--hardware", file, "-o", "s.html", "--examples", 0)
    for shown in (
        pardec.good("compare", "--db", shares.db, "--wide", "--hardware", file),
        (pardec.folder / "s.html").read_text(),
    ):
        assert cell in shown
        assert "forwards/s (of roofline)" in shown
        assert "a machine, " in shown


def test_the_machine_of_the_run_is_measured(shares):
    here = shares.compared("--hardware", "here")
    assert 0 < here["rows"][0]["roofline_share"]
    assert any("here, 1 thread" in note for note in here["notes"])


@pytest.fixture
def elsewhere(shares, tmp_path):
    """A copy of the database, to be changed."""
    db = tmp_path / "s.sqlite"
    db.write_bytes(shares.db.read_bytes())
    return db


def test_here_is_refused_where_it_was_not_measured(pardec, elsewhere):
    change(elsewhere, "UPDATE environment SET json = json_set(json, '$.processor', 'Another One')")
    ran = pardec("compare", "--db", elsewhere, "--hardware", "here")
    assert ran.returncode == 2, ran.stderr
    assert "'Another One'" in ran.stderr


def test_a_network_that_is_gone_has_no_share(pardec, shares, elsewhere):
    change(elsewhere, "UPDATE model SET path = '/nonexistent'")
    file = write_machine(pardec.folder, "gone.json", tflop_s={"fp32": 1e9})
    assert all(
        row["roofline_share"] is None
        for row in shares.compared("--hardware", file, db=elsewhere)["rows"]
    )


@pytest.mark.parametrize("verb", ["compare", "run"])
def test_an_unknown_machine_is_refused_before_anything_is_stored(pardec, shares, verb):
    args = (
        ["--db", shares.db]
        if verb == "compare"
        else [
            "--model", QUICKSTART / "model", "--decoder", "ar", "--dataset", "oa-mine", "--db",
            "none.sqlite",
        ]
    )
    ran = pardec(verb, *args, "--hardware", "l40")
    assert ran.returncode == 2, ran.stderr
    assert "did you mean 'l40s'" in ran.stderr
    assert not (pardec.folder / "none.sqlite").exists()


SPEEDS = {"slow.json": (30, 0.001), "fast.json": (1, 10)}
SIZES = {"one": 3, "many": 2, "draft": 3}


class Allowed:
    """A run on two machines and two datasets, its table, its traces, and the speedups that
    `roofline` computes of the same traces at the batch size of each arm.
    """

    compare = [
        "compare", "--db", "a.sqlite", "--hardware", ",".join(SPEEDS), "--format", "json",
        "--trace",
    ]

    def __init__(self, pardec):
        for name, (bandwidth, speed) in SPEEDS.items():
            write_machine(
                pardec.folder, name, name=name, bandwidth_gb_s=bandwidth, tflop_s={"fp32": speed}
            )
        self.printed = pardec.good(
            "run", *NETWORKS, "--arm", "one=ar,batch_size=3", "--arm",
            "many=hpd,stack=2,batch_size=2", "--arm", "draft=speculative,batch_size=3", "--arm",
            "self=self-speculative,batch_size=3", "--dataset", "oa-mine,ae-110k", "--limit", 5,
            "--max-new-tokens", 24, "--trace", "a.jsonl", "--db", "a.sqlite", "--progress", "none",
            "--baseline", "one", "--hardware", ",".join(SPEEDS), "--format", "json",
        )
        self.traces = read_traces(pardec.folder / "a.jsonl")
        self.wanted = {}
        for dataset in ("oa-mine", "ae-110k"):
            (pardec.folder / "part.jsonl").write_text(
                "".join(json.dumps(t) + "\n" for t in self.traces if t["dataset"] == dataset)
            )
            seconds_of = {}
            for size in set(SIZES.values()):
                rows = json.loads(
                    pardec.good(
                        "roofline", "--trace", "part.jsonl", *NETWORKS, "--dtype", "fp32",
                        "--batch-size", size, "--hardware", ",".join(SPEEDS), "--format", "json",
                    )
                )["rows"]
                seconds_of |= {
                    (row["arm"], row["hardware"]): row["seconds"]
                    for row in rows
                    if SIZES.get(row["arm"]) == size
                }
            self.wanted |= {
                (dataset, arm, name): seconds_of["one", name] / seconds_of[arm, name]
                for arm in ("many", "draft")
                for name in SPEEDS
            }


@pytest.fixture(scope="module")
def allowed(pardec):
    return Allowed(pardec)


@pytest.mark.whole
def test_machines_datasets_and_arms_allow_different_speedups(allowed):
    assert len({round(value, 6) for value in allowed.wanted.values()}) == 8


def check_allowed(text, wanted):
    """A table has the speedup that each machine allows, dataset by dataset."""
    table = json.loads(text)
    for row in table["rows"]:
        for name in SPEEDS:
            found, least = (
                row[f"speedup_at_most_{name}"],
                wanted.get((row["dataset"].split()[0], row["arm"], name)),
            )
            said = f"{row['dataset']} {row['arm']} {name}: {found}, wanted {least}"
            assert (
                found is None
                if least is None
                else found is not None and math.isclose(found, least, rel_tol=1e-9)
            ), said
    assert any("oa-mine 5 of 5" in note and "fast.json" in note for note in table["notes"]), table[
        "notes"
    ]


def test_the_table_of_a_run_has_the_speedup_that_each_machine_allows(allowed):
    check_allowed(allowed.printed, allowed.wanted)


def test_compare_has_the_speedup_that_each_machine_allows(pardec, allowed):
    check_allowed(pardec.good(*allowed.compare, "a.jsonl"), allowed.wanted)


def test_ids_that_both_datasets_have_do_not_mix_them_up(pardec, allowed):
    ids = {
        dataset: sorted(
            {i for t in allowed.traces if t["dataset"] == dataset for i in t.get("examples", [])}
        )
        for dataset in ("oa-mine", "ae-110k")
    }
    alike = [
        {**t, "examples": [str(ids[t["dataset"]].index(i)) for i in t.get("examples", [])]}
        for t in allowed.traces
    ]
    (pardec.folder / "alike.jsonl").write_text("".join(json.dumps(t) + "\n" for t in alike))
    check_allowed(pardec.good(*allowed.compare, "alike.jsonl"), allowed.wanted)


def test_an_arm_with_examples_other_than_the_baselines_has_no_allowed_speedup(pardec, allowed):
    first = next(
        t["examples"] for t in allowed.traces if t["arm"] == "many" and t["dataset"] == "oa-mine"
    )
    fewer = [
        t
        for t in allowed.traces
        if t["arm"] != "many" or t["dataset"] != "oa-mine" or t["examples"] != first
    ]
    (pardec.folder / "fewer.jsonl").write_text("".join(json.dumps(t) + "\n" for t in fewer))
    rows = {
        (r["dataset"].split()[0], r["arm"]): r["speedup_at_most_fast.json"]
        for r in json.loads(pardec.good(*allowed.compare, "fewer.jsonl"))["rows"]
    }
    assert rows["oa-mine", "many"] is None
    assert rows["oa-mine", "draft"]
    assert rows["ae-110k", "many"]


def test_the_report_and_the_export_have_the_allowed_speedups(pardec, allowed):
    pardec.good(
        "report", "--db", "a.sqlite", "--hardware", ",".join(SPEEDS), "--trace", "a.jsonl", "-o",
        "a.html", "--examples", 0,
    )
    page = (pardec.folder / "a.html").read_text()
    for name in SPEEDS:
        assert f"speedup at most ({name})" in page
    assert f"{allowed.wanted['oa-mine', 'many', 'fast.json']:.2f}" in page
    pardec.good(
        "export", "--db", "a.sqlite", "--hardware", ",".join(SPEEDS), "--trace", "a.jsonl", "--out",
        "tables",
    )
    assert any(
        "speedup_at_most_fast.json" in file.read_text()
        for file in (pardec.folder / "tables").iterdir()
    )


@pytest.mark.usefixtures("allowed")
@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--hardware", "slow.json,fast.json"], "give --trace FILE"),
        (["--trace", "a.jsonl"], "give both, or neither"),
        (["--hardware", "slow.json", "--trace", "none.jsonl"], "none.jsonl"),
    ],
    ids=["machines", "trace", "no-such-trace"],
)
def test_compare_needs_machines_and_a_trace_together(pardec, flags, said):
    ran = pardec("compare", "--db", "a.sqlite", *flags)
    assert ran.returncode == 2, ran.stderr
    assert said in ran.stderr
