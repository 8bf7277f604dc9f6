"""`roofline`: bounds of traced passes, against a count of one's own over the same trace; and what is asked wrongly.

Usage: roofline_test.py PROGRAM
"""
import collections
import itertools
import json
import math
import sys

from harness import ROOT, Checks, change, query, scratch

QUICKSTART = ROOT / "experiments" / "quickstart"


def unfolded(items):
    return {row for item in items for row in (range(*item) if isinstance(item, list) else (item,))}


def passes(trace, first=0):
    """[(rows, rows with logits, cached rows that are seen, pairs)] of each pass, of the rows from the first on."""
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
    return [(rows, logits, len(cached), pairs) for _, (rows, logits, cached, pairs) in sorted(work.items())]


def side_by_side(traces):
    """The passes of traces that all begin at once; what forks of one sequence have of it was fed once."""
    own = [passes(traces[0]), *(passes(trace, trace.get("inherited", 0)) for trace in traces[1:])]
    return [tuple(map(sum, zip(*together))) for together in itertools.zip_longest(*own, fillvalue=(0, 0, 0, 0))]


def seconds(work, config, bandwidth, speed, size, devices=1, link=math.inf):
    rows, logits, cached, pairs = work
    hidden, layers, inner = config["hidden_size"], config["num_hidden_layers"], config["intermediate_size"]
    heads, kv, dim = config["num_attention_heads"], config["num_key_value_heads"], config["head_dim"]
    layer = hidden * dim * (2 * heads + 2 * kv) + 3 * hidden * inner + 2 * hidden
    weights, head = layers * layer + hidden, hidden * config["vocab_size"]
    memory = size * (weights + (head if logits else 0) + hidden * rows + 2 * layers * kv * dim * (cached + rows)) / bandwidth
    compute = (2 * weights * rows + 2 * head * logits + 4 * layers * heads * dim * pairs) / speed
    round_ = 2 * (devices - 1) / devices * 2 * layers * hidden * rows * size / link
    return max(memory / devices, compute / devices, round_), memory / devices >= max(compute / devices, round_)


def shares(check, pardec, machine):
    """The share of the roofline that compare has without a trace: exactly a trace's where one limit holds throughout, else below it."""
    pardec.good("run", "--model", QUICKSTART / "model", "--draft-model", QUICKSTART / "draft", "--arm", "one=ar,batch_size=1", "--arm", "many=hpd,stack=2,batch_size=1", "--arm",
                "draft=speculative", "--dataset", "oa-mine", "--limit", 5, "--trace", "s.jsonl", "--db", "s.sqlite", "--progress", "none", "--baseline", "one")
    compared = lambda *args: json.loads(pardec.good("compare", "--db", "s.sqlite", "--format", "json", *args))
    check(all(row["roofline_share"] is None for row in compared()["rows"]) and "of roofline" not in pardec.good("compare", "--wide", "--db", "s.sqlite"), "none unasked")
    wall = {row["label"]: row["wall"] * 1e-9 for row in query(pardec.folder / "s.sqlite", "SELECT label, sum(wall_ns) AS wall FROM block JOIN run ON run.id = run_id GROUP BY label")}
    for name, bandwidth, speed in (("memory", 30, 1e9), ("computing", 1e12, 0.02), ("both", 30, 0.02)):
        (pardec.folder / f"{name}.json").write_text(json.dumps({**machine, "bandwidth_gb_s": bandwidth, "tflop_s": {"fp32": speed}}))
        traced = json.loads(pardec.good("roofline", "--trace", "s.jsonl", "--model", QUICKSTART / "model", "--draft-model", QUICKSTART / "draft", "--baseline", "one",
                                        "--dtype", "fp32", "--hardware", f"{name}.json", "--format", "json"))["rows"]
        least = {row["arm"]: row["seconds"] for row in traced}
        table = compared("--hardware", f"{name}.json")
        share = {row["arm"]: row["roofline_share"] for row in table["rows"]}
        check(share["draft"] is None, f"{name}: a draft network's passes are not counted: {share}")
        for arm in ("one", "many"):
            found = share[arm] * wall[arm]
            # Of hpd's passes some read no logits, and rows of logits are counted by what was chosen.
            exact = arm == "one" and name != "both"
            check(math.isclose(found, least[arm], rel_tol=1e-9) if exact else 0.5 * least[arm] < found < 1.05 * least[arm], f"{name} {arm}: at least {found} s, traced {least[arm]} s")
        cell = f"{next(row for row in table['rows'] if row['arm'] == 'one')['forwards_per_second']:.1f} ({100 * share['one']:.0f} %)"
        pardec.good("report", "--db", "s.sqlite", "--hardware", f"{name}.json", "-o", "s.html", "--examples", 0)
        for shown in (pardec.good("compare", "--db", "s.sqlite", "--wide", "--hardware", f"{name}.json"), (pardec.folder / "s.html").read_text()):
            check(cell in shown and "forwards/s (of roofline)" in shown and "a machine, " in shown, f"{name}: {cell} in one column, and of which machine")
    here = compared("--hardware", "here")
    check(0 < here["rows"][0]["roofline_share"] and any("here, 1 thread" in note for note in here["notes"]), f"measured here: {here['notes']}")
    change(pardec.folder / "s.sqlite", "UPDATE environment SET json = json_set(json, '$.processor', 'Another One')")
    ran = pardec("compare", "--db", "s.sqlite", "--hardware", "here")
    check(ran.returncode == 2 and "'Another One'" in ran.stderr, f"here is not where it was measured: {ran.stderr}")
    change(pardec.folder / "s.sqlite", "UPDATE model SET path = '/nonexistent'")
    check(all(row["roofline_share"] is None for row in compared("--hardware", "memory.json")["rows"]), "a network that is gone")
    for verb in (["compare", "--db", "s.sqlite"], ["run", "--model", QUICKSTART / "model", "--decoder", "ar", "--dataset", "oa-mine", "--db", "none.sqlite"]):
        ran = pardec(*verb, "--hardware", "l40")
        check(ran.returncode == 2 and "did you mean 'l40s'" in ran.stderr and not (pardec.folder / "none.sqlite").exists(), f"{verb[0]}: {ran.stderr}")


def allowed(check, pardec, machine):
    """The speedup that each machine allows, in the table of the run: `roofline`'s of the same traces, dataset by dataset, at the batch size of each arm."""
    files = {"slow.json": (30, 0.001), "fast.json": (1, 10)}
    for name, (bandwidth, speed) in files.items():
        (pardec.folder / name).write_text(json.dumps({**machine, "name": name, "bandwidth_gb_s": bandwidth, "tflop_s": {"fp32": speed}}))
    ran = pardec.good("run", "--model", QUICKSTART / "model", "--draft-model", QUICKSTART / "draft", "--arm", "one=ar,batch_size=3", "--arm", "many=hpd,stack=2,batch_size=2",
                      "--arm", "draft=speculative,batch_size=3", "--arm", "self=self-speculative,batch_size=3", "--dataset", "oa-mine,ae-110k", "--limit", 5, "--trace", "a.jsonl",
                      "--db", "a.sqlite", "--progress", "none", "--baseline", "one", "--hardware", ",".join(files), "--format", "json")
    traces = [json.loads(line) for line in (pardec.folder / "a.jsonl").read_text().splitlines()]
    sizes = {"one": 3, "many": 2, "draft": 3}
    wanted = {}
    for dataset in ("oa-mine", "ae-110k"):
        (pardec.folder / "part.jsonl").write_text("".join(json.dumps(t) + "\n" for t in traces if t["dataset"] == dataset))
        for name in files:
            seconds_of = {}
            for size in set(sizes.values()):
                rows = json.loads(pardec.good("roofline", "--trace", "part.jsonl", "--model", QUICKSTART / "model", "--draft-model", QUICKSTART / "draft", "--dtype", "fp32",
                                              "--batch-size", size, "--hardware", name, "--format", "json"))["rows"]
                seconds_of |= {row["arm"]: row["seconds"] for row in rows if sizes.get(row["arm"]) == size}
            wanted |= {(dataset, arm, name): seconds_of["one"] / seconds_of[arm] for arm in ("many", "draft")}
    compare = ["compare", "--db", "a.sqlite", "--hardware", ",".join(files), "--format", "json", "--trace"]
    # Ids that both datasets have do not mix them up.
    ids = {dataset: sorted({i for t in traces if t["dataset"] == dataset for i in t.get("examples", [])}) for dataset in ("oa-mine", "ae-110k")}
    (pardec.folder / "alike.jsonl").write_text("".join(
        json.dumps({**t, "examples": [str(ids[t["dataset"]].index(i)) for i in t.get("examples", [])]}) + "\n" for t in traces))
    for what, text in (("run", ran), ("compare", pardec.good(*compare, "a.jsonl")), ("equal ids", pardec.good(*compare, "alike.jsonl"))):
        table = json.loads(text)
        for row in table["rows"]:
            for name in files:
                found, least = row[f"speedup_at_most_{name}"], wanted.get((row["dataset"].split()[0], row["arm"], name))
                check(found is None if least is None else found is not None and math.isclose(found, least, rel_tol=1e-9), f"{what}: {row['dataset']} {row['arm']} {name}: {found}, wanted {least}")
        check(any("oa-mine 5 of 5" in note and "fast.json" in note for note in table["notes"]), f"{what}: of which examples, on what machines: {table['notes']}")
    check(len({round(value, 6) for value in wanted.values()}) == 8, f"the machines, datasets and arms differ: {wanted}")
    fewer = [t for t in traces if t["arm"] != "many" or t["dataset"] != "oa-mine" or t["examples"] != by_first(traces)]
    (pardec.folder / "fewer.jsonl").write_text("".join(json.dumps(t) + "\n" for t in fewer))
    rows = {(r["dataset"].split()[0], r["arm"]): r["speedup_at_most_fast.json"] for r in json.loads(pardec.good(*compare, "fewer.jsonl"))["rows"]}
    check(rows["oa-mine", "many"] is None and rows["oa-mine", "draft"] and rows["ae-110k", "many"], f"examples other than the baseline's: {rows}")
    pardec.good("report", "--db", "a.sqlite", "--hardware", ",".join(files), "--trace", "a.jsonl", "-o", "a.html")
    page = (pardec.folder / "a.html").read_text()
    check(all(f"speedup at most ({name})" in page for name in files) and f"{wanted['oa-mine', 'many', 'fast.json']:.2f}" in page, "the report has them")
    check("speedup_at_most_fast.json" in export_of(pardec, files), "export has them")
    for flags, said in ((["--hardware", "slow.json,fast.json"], "give --trace FILE"), (["--trace", "a.jsonl"], "give both, or neither"),
                        (["--hardware", "slow.json", "--trace", "none.jsonl"], "none.jsonl")):
        ran = pardec("compare", "--db", "a.sqlite", *flags)
        check(ran.returncode == 2 and said in ran.stderr, f"{flags}: exit {ran.returncode}: {ran.stderr}")


def by_first(traces):
    """The examples of arm 'many's first trace."""
    return next(t["examples"] for t in traces if t["arm"] == "many" and t["dataset"] == "oa-mine")


def export_of(pardec, files):
    pardec.good("export", "--db", "a.sqlite", "--hardware", ",".join(files), "--trace", "a.jsonl", "--out", "tables")
    return "".join(file.read_text() for file in sorted((pardec.folder / "tables").iterdir()))


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        pardec.good("run", "--model", QUICKSTART / "model", "--draft-model", QUICKSTART / "draft", "--arm", "one=ar", "--arm", "many=hpd,stack=2", "--arm",
                    "draft=speculative", "--arm", "again=hpd,stack=3", "--arm", "apart=ar,ask=separately", "--arm", "forks=ar,ask=separately,prefix_cache=context", "--dataset", "oa-mine", "--limit", 5, "--trace", "t.jsonl", "--db", "t.sqlite", "--warmup", 1,
                    "--progress", "none", "--baseline", "one")
        traces = [json.loads(line) for line in (pardec.folder / "t.jsonl").read_text().splitlines()]
        by_arm = collections.defaultdict(list)
        for trace in traces:
            by_arm[trace["arm"]].append(trace)
        check(len(by_arm["apart"]) > 5 < sum("inherited" in trace for trace in by_arm["forks"]), "attributes that are asked apart have a trace each")
        check(set(by_arm) == {"one", "many", "draft", "again", "apart", "forks"} and len(by_arm["one"]) == 5, f"the trace names arms: { {k: len(v) for k, v in by_arm.items()} }")
        machine = {"name": "a machine", "bandwidth_gb_s": 30, "tflop_s": {"bf16": 0.05, "fp32": 0.02}}
        (pardec.folder / "machine.json").write_text(json.dumps(machine))
        call = ["roofline", "--trace", "t.jsonl", "--model", QUICKSTART / "model", "--draft-model", QUICKSTART / "draft", "--baseline", "one", "--hardware"]
        configs = {part: json.loads((QUICKSTART / part / "config.json").read_text()) for part in ("model", "draft")}
        for dtype, size, batch in (("bf16", 2, 1), ("fp32", 4, 1), ("bf16", 2, 3)):
            table = json.loads(pardec.good(*call, "machine.json", "--dtype", dtype, "--batch-size", batch, "--format", "json"))
            rows = {row["arm"]: row for row in table["rows"]}
            total = {}
            for arm, of_arm in by_arm.items():
                total[arm] = bound_by_memory = count = 0
                for part in ("model", "draft"):
                    jobs = collections.defaultdict(list)  # attributes that are asked apart go side by side
                    for trace in of_arm:
                        if trace.get("model", "") == ("draft" if part == "draft" else ""):
                            jobs[tuple(trace["examples"])].append(trace)
                    own = [side_by_side(job) for job in jobs.values()]
                    for begin in range(0, len(own), batch):
                        group = own[begin:begin + batch]
                        for step in range(max(map(len, group))):
                            work = [sum(values) for values in zip(*(one[step] for one in group if step < len(one)))]
                            least, memory = seconds(work, configs[part], 30e9, machine["tflop_s"][dtype] * 1e12, size)
                            total[arm] += least
                            bound_by_memory += least if memory else 0
                            count += part == "model"
                row = rows[arm]
                check(math.isclose(row["seconds"], total[arm], rel_tol=1e-9), f"{dtype} {batch} {arm}: {row['seconds']} s, counted {total[arm]}")
                check(math.isclose(row["memory_bound"], bound_by_memory / total[arm], rel_tol=1e-9, abs_tol=1e-12), f"{dtype} {batch} {arm}: {row}")
                chosen = sum(len(t["emitted"]) for t in of_arm if not t.get("model"))
                check(row["passes"] == count and row["chosen"] == chosen, f"{dtype} {batch} {arm}: {count} passes, {chosen} chosen: {row}")
            for arm in by_arm:
                check(math.isclose(rows[arm]["speedup"], total["one"] / total[arm], rel_tol=1e-9), f"{dtype} {batch} {arm}: speedup {rows[arm]['speedup']}")

        shares(check, pardec, machine)
        allowed(check, pardec, machine)

        request = by_arm["one"][0]["request"]
        listed = json.loads(pardec.good(*call, "machine.json", "--passes", request, "--format", "json"))["rows"]
        wanted = [(t["arm"], *work[:3]) for t in traces if t["request"] == request and not t.get("model") for work in passes(t)]
        check([(r["arm"], r["rows"], r["logits"], r["cached"]) for r in listed] == wanted, f"passes: {listed[:3]} ... {wanted[:3]}")

        known = json.loads(pardec.good(*call[:4], QUICKSTART / "model.json", *call[5:], "here,a100,a800,h100,h200,h800,l40s", "--format", "json"))
        check(len(known["rows"]) == 7 * len(by_arm) and all(r["seconds"] > 0 for r in known["rows"]), "all machines that are known, and this one")

        eight = json.loads(pardec.good(*call, "a800x8", "--dtype", "bf16", "--format", "json"))
        file = json.loads((ROOT / "experiments" / "hardware" / "a800.json").read_text())
        for arm in ("one", "many"):
            least = sum(seconds(work, configs["model"], 1e9 * file["bandwidth_gb_s"], 1e12 * file["tflop_s"]["bf16"], 2, 8, 1e9 * file["link_gb_s"])[0]
                        for trace in by_arm[arm] for work in passes(trace))
            row = next(r for r in eight["rows"] if r["arm"] == arm)
            check(math.isclose(row["seconds"], least, rel_tol=1e-9) and row["hardware"] == "8 x NVIDIA A800 80GB SXM4", f"eight devices, {arm}: {row}, counted {least}")
        check(any("tensor parallel" in n for n in eight["notes"]) and any("GB/s from one to the next" in n for n in eight["notes"]), f"{eight['notes']}")

        for wrong, said in ((["l40"], "did you mean 'l40s'"), (["l40x2"], "did you mean 'l40s'"), (["a800x0"], "0 devices"), (["a800x99999"], "99999 devices"), (["machine.json", "--dtype", "fp64"], "has no 'fp64'"), (["machine.json", "--passes", "nobody"], "no request 'nobody'"),
                            (["none.json"], "none.json"), (["machine.json", "--batch-size", 0], "--batch-size is 0")):
            ran = pardec(*call, *wrong)
            check(ran.returncode == 2 and said in ran.stderr, f"{wrong}: exit {ran.returncode}: {ran.stderr}")
        ran = pardec("roofline", "--trace", "t.jsonl", "--model", QUICKSTART / "model", "--hardware", "h100")
        check(ran.returncode == 2 and "--draft-model" in ran.stderr, f"drafts without their network: {ran.stderr}")
        (pardec.folder / "machine.json").write_text(json.dumps({**machine, "bandwidth": 1}))
        check("unknown" in pardec(*call, "machine.json").stderr, "a key of the hardware file that nobody asks for")
        lonely = json.loads(pardec.good(*call[:-3], "--hardware", "h100", "--format", "json"))
        check(all(r["speedup"] is None for r in lonely["rows"]) and any("no arm of the trace is 'ar'" in n for n in lonely["notes"]), "no baseline in the trace")
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
