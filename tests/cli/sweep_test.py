"""`pardec sweep`: a grid's cells are arms of one run, which is killed and goes on, split and merged, and gives the same.

Usage: sweep_test.py PROGRAM [whole]     whole: 4 K_max x 3 stacks x 3 batches of the quickstart model, five kills, four shards
"""
import csv
import io
import json
import pathlib
import random
import re
import sys

from harness import ROOT, Checks, answers, job_count, kill_after, query, records, scratch

QUICKSTART = ROOT / "experiments" / "quickstart" / "model"
# What a comparison says of speed and of who measured: not the same in two runs.
MEASURED = ("_per_second", "speedup", "latency", "first_token", "disturbed", "repaired", "in_flight", "streams", "blocks")


def cells_of(db):
    """The cells as the database has them."""
    return sorted((r["label"], r["decoder"], r["options"], r["batch_size"], r["baseline"], r["seed"], r["config_hash"]) for r in query(db, "SELECT * FROM run"))


def rounded(value):
    """Numbers to twelve digits: where rows were merged, sums run in another order."""
    return ([rounded(v) for v in value] if isinstance(value, list) else {k: rounded(v) for k, v in value.items()} if isinstance(value, dict)
            else round(value, 12) if isinstance(value, float) else value)


def rows_of(pardec, db):
    """The comparison's rows without what was measured by the clock."""
    rows = json.loads(pardec.good("compare", "--db", db, "--format", "json"))["rows"]
    return {(r["dataset"], r["arm"]): {k: rounded(v) for k, v in r.items() if not any(m in k for m in MEASURED)} for r in rows}


def check_same(check, pardec, what, db, whole, cells=True):
    check(answers(db) == answers(whole), f"{what}: the answers are not those of the uninterrupted sweep")
    if cells:
        check(cells_of(db) == cells_of(whole), f"{what}: the cells are not those of the uninterrupted sweep")
    mine, wanted = rows_of(pardec, db), rows_of(pardec, whole)
    check(mine.keys() == wanted.keys(), f"{what}: rows {sorted(mine)}, expected {sorted(wanted)}")
    for key, row in wanted.items():
        check(mine.get(key) == row, f"{what}: row {key} is {mine.get(key)}, expected {row}")
    check({r["status"] for r in query(db, "SELECT status FROM run")} == {"done"}, f"{what}: not all cells are done")


def kills(check, pardec, command, whole, times, rng):
    """Killed, and started again with the same command."""
    db, committed, total = pardec.folder / "killed.sqlite", 0, job_count(whole)
    for _ in range(times):
        process = pardec.start(*command, "--db", db)
        died = kill_after(process, db, committed + rng.randint(1, max(1, total // (times + 2))), rng.uniform(0, 0.02))
        committed = job_count(db)
        check(died and committed < total, f"killed with {committed} of {total} jobs")
    ran = pardec(*command, "--db", db, timeout=3000)
    check(ran.returncode == 0 and "goes on with invocation" in ran.stderr, f"after {times} kills: exit {ran.returncode}: {ran.stderr}")
    check(len({r["invocation"] for r in query(db, "SELECT invocation FROM run")}) == 1, "a killed sweep goes on in its own invocation")
    counts = [query(file, "SELECT arm, count(*) AS blocks FROM speedup_pairs GROUP BY 1 ORDER BY 1") for file in (db, whole)]
    check(counts[0] == counts[1], f"every cell has its blocks after {times} kills: {counts[0]}, of an uninterrupted sweep {counts[1]}")
    check_same(check, pardec, f"killed {times} times", db, whole)
    before = query(db, "SELECT * FROM job ORDER BY id")
    ran = pardec(*command, "--db", db, timeout=3000)
    check(ran.returncode == 0 and query(db, "SELECT * FROM job ORDER BY id") == before, f"the same command once more does nothing: exit {ran.returncode}: {ran.stderr}")


def shards(check, pardec, command, whole, count):
    """Shards in databases of their own, merged, are the whole; merged twice, too."""
    parts = [pardec.folder / f"shard-{i}.sqlite" for i in range(count)]
    for index, db in enumerate(parts):
        ran = pardec(*command, "--shard", f"{index}/{count}", "--db", db, timeout=3000)
        check(ran.returncode == 0, f"shard {index}: exit {ran.returncode}: {ran.stderr}")
        check(0 < job_count(db) < job_count(whole), f"shard {index} has {job_count(db)} jobs")
    together = pardec.folder / "together.sqlite"
    pardec.good("merge", together, *parts)
    check_same(check, pardec, f"{count} shards merged", together, whole, cells=False)
    content = {table: query(together, f"SELECT * FROM {table} ORDER BY 1, 2") for table in ("run", "block", "job", "generation", "score", "sample")}
    pardec.good("merge", together, *reversed(parts))
    check({table: query(together, f"SELECT * FROM {table} ORDER BY 1, 2") for table in content} == content, "merging twice changes nothing")


def plots(check, pardec, db):
    """Every cell is a point, told apart by the other settings."""
    script = pardec.good("plot", "--db", db, "--x", "hpd.k_max", "--y", "tokens_per_forward", "--script")
    lines = {(json.loads(r["options"])["stack"], r["batch_size"]) for r in query(db, "SELECT options, batch_size FROM run WHERE decoder = 'hpd'")}
    for stack, batch in lines:
        check(f"batch_size {batch}" in script and f"stack {stack}" in script, f"plot: no line of stack {stack} and batch_size {batch}: {script[:2000]}")


def baselines(check, pardec, db, own):
    """Every row says which arm it is compared with, in every format; a table of one baseline alone need not."""
    wanted = {label: baseline for label, baseline in own.items()}
    rows = {r["arm"]: r["baseline"] for r in json.loads(pardec.good("compare", "--db", db, "--format", "json"))["rows"]}
    check(rows == wanted, f"json: {rows}, expected {wanted}")
    rows = {r["arm"]: r["baseline"] or None for r in csv.DictReader(io.StringIO(pardec.good("compare", "--db", db, "--format", "csv")))}
    check(rows == wanted, f"csv: {rows}")
    for form in ("text", "md", "latex"):
        for flags in ([], ["--wide"]):
            table = pardec.good("compare", "--db", db, "--format", form, *flags).replace("\\_", "_")
            lines = [line for line in table.splitlines() if re.search(r"\bhpd,k_max=4,stack=1,batch_size=2\b", line) and "speedup" not in line]
            check(lines and re.search(r"\bar,batch_size=2\b", lines[0]), f"{form} {flags}: the row of a cell names no baseline: {table[:3000]}")
    check("hpd,k_max=4,stack=1,batch_size=2: ar,batch_size=2;" in pardec.good("compare", "--db", db, "--matrix"), "the matrix says so below")
    one = pardec.folder / "one.sqlite"
    pardec.good("run", "--model", QUICKSTART, "--decoder", "ar,hpd", "--dataset", "oa-mine", "--limit", 2, "--max-new-tokens", 4, "--db", one, "--progress", "none")
    check("baseline  " not in pardec.good("compare", "--db", one).splitlines()[1], "one baseline needs no column for people")
    check([r["baseline"] for r in json.loads(pardec.good("compare", "--db", one, "--format", "json"))["rows"]] == [None, "ar"], "programs get it always")


def refused(check, pardec, model):
    """Cells that cannot be run are rows with their reason, and the others run."""
    db = pardec.folder / "refused.sqlite"
    small = ["--dataset", "oa-mine", "--limit", 4, "--max-new-tokens", 8, "--progress", "none"]
    command = ["sweep", "--model", model, "--decoder", "ar,medusa,speculative,hpd", "--grid", "hpd.k_max=4,0,x", "--grid", "batch_size=1,2", *small, "--db", db]
    wanted = {f"{arm},batch_size={batch}" for arm in ("hpd,k_max=0", "hpd,k_max=x", "medusa", "speculative") for batch in (1, 2)}
    for more in (["--dry-run"], []):
        ran = pardec(*command, *more, "--format", "json")
        check(ran.returncode == 3, f"cells that cannot be run: exit {ran.returncode}, expected 3: {ran.stderr}")
        rows = json.loads(ran.stdout)["rows"]
        name = "cell" if more else "arm"
        reasons = {r[name]: r["cannot_run"] for r in rows if r["cannot_run"]}
        check(reasons.keys() == wanted, f"cannot run: {reasons}, expected {wanted}")
        check("k_max" in reasons["hpd,k_max=0,batch_size=1"] and "expected" in reasons["hpd,k_max=x,batch_size=2"] and "--draft-model" in reasons["speculative,batch_size=1"]
              and "heads" in reasons["medusa,batch_size=2"], f"reasons: {reasons}")
        check({r[name] for r in rows} - wanted == {"ar,batch_size=1", "ar,batch_size=2", "hpd,k_max=4,batch_size=1", "hpd,k_max=4,batch_size=2"}, f"the others: {rows}")
        check(db.exists() == (not more), "a dry run stores nothing")
    again = json.loads(pardec.good("compare", "--db", db, "--format", "json"))["rows"]
    check({r["arm"] for r in again if r["cannot_run"]} == wanted, "compare shows them, too")
    check("n/a: oa-mine, medusa,batch_size=1: " in pardec.good("compare", "--db", db), "and says why")
    none = pardec("sweep", "--model", model, "--decoder", "hpd", "--grid", "hpd.k_max=0,x", *small, "--db", pardec.folder / "none.sqlite")
    check(none.returncode == 2 and "no cell of the grid can be run" in none.stderr and not (pardec.folder / "none.sqlite").exists(), f"no cell at all: {none.returncode}: {none.stderr}")
    ran = pardec("sweep", "--decoder", "ar", "--grid", f"model={model},{pardec.folder / 'no-such-model'}", *small, "--db", pardec.folder / "models.sqlite", "--format", "json")
    rows = {r["arm"].rsplit("/", 1)[1]: r["cannot_run"] for r in json.loads(ran.stdout)["rows"]} if ran.returncode == 3 else {}
    check(rows.get("model", 1) is None and "no-such-model" in (rows.get("no-such-model") or ""), f"a checkpoint that is not there: exit {ran.returncode}: {rows} {ran.stderr}")


def memory(check, pardec, base):
    """--memory-limit: cells that do not fit are refused; the best one under it is named."""
    big = pardec.synthesise("big", hidden_size=1024, intermediate_size=4096, num_hidden_layers=12)  # 0.7 GB
    ran = pardec("sweep", "--arm", f"big=ar,model={big}", "--decoder", "ar,hpd", "--model", QUICKSTART, "--grid", "hpd.stack=1,2", "--memory-limit", "400M", *base,
                 "--db", pardec.folder / "memory.sqlite")
    check(ran.returncode == 3 and "--memory-limit is 0.40 GB, and the weights take" in ran.stdout, f"a cell that does not fit: exit {ran.returncode}: {ran.stdout} {ran.stderr}")
    check("best cell of oa-mine under 400M: ar, at most 0.2" in ran.stdout and "Not decided, answers open: hpd,stack=" in ran.stdout, f"the best cell under the limit: {ran.stdout}")


def estimates(check, pardec, command, db):
    """--dry-run takes times from stored cells, else measures a batch; it stores nothing."""
    stored = json.loads(pardec.good(*command, "--db", db, "--dry-run", "--format", "json"))
    check({r["from"] for r in stored["rows"]} == {"database"}, f"--dry-run on stored cells: {stored['rows']}")
    wall = {r["label"]: r["s"] for r in query(db, """SELECT label, sum(wall_ns) * 1e-9 AS s FROM run JOIN block ON run_id = run.id GROUP BY run.id""")}
    for row in stored["rows"]:
        check(abs(row["seconds"] - wall[row["cell"]]) < 1e-6 + 1e-6 * wall[row["cell"]], f"{row['cell']}: estimated {row['seconds']}, measured {wall[row['cell']]}")
    jobs = job_count(db)
    fresh = json.loads(pardec.good(*command, "--db", pardec.folder / "nothing.sqlite", "--dry-run", "--format", "json", timeout=3000))
    check({r["from"] for r in fresh["rows"]} == {"a batch"} and all(r["seconds"] > 0 and r["bytes"] > 160e6 for r in fresh["rows"]), f"--dry-run without any: {fresh['rows']}")
    check("in all about" in fresh["notes"][0] and not (pardec.folder / "nothing.sqlite").exists() and job_count(db) == jobs, "a dry run says how long in all, and stores nothing")


def targets(check, pardec, model):
    """--target-ci stops a cell after six blocks or more, its baseline with it, and the table says so."""
    db = pardec.folder / "target.sqlite"
    base = ["sweep", "--model", model, "--decoder", "ar,hpd", "--grid", "hpd.stack=1,2", "--dataset", "oa-mine", "--max-new-tokens", 8, "--block", 2, "--batch-size", 2,
            "--progress", "none"]
    ran = pardec(*base, "--target-ci", "90%", "--db", db)
    blocks = {r["label"]: r["n"] for r in query(db, "SELECT label, count(*) AS n FROM run JOIN block ON run_id = run.id WHERE wall_ns IS NOT NULL GROUP BY 1")}
    planned = (len(records("oa-mine")) + 1) // 2
    check(ran.returncode == 0 and all(6 <= n < planned for n in blocks.values()), f"--target-ci 90%: {blocks} of about {planned} blocks, exit {ran.returncode}: {ran.stderr}")
    check(f"stopped (--target-ci): oa-mine hpd,stack=1 after {blocks['hpd,stack=1']} of " in ran.stdout and "at most 90.0 % of it" in ran.stdout, f"the table says so: {ran.stdout}")
    jobs = job_count(db)
    check(pardec(*base, "--target-ci", "90%", "--db", db).returncode == 0 and job_count(db) == jobs, "what has enough is not gone on with")
    narrow = pardec(*base, "--limit", 14, "--target-ci", "0.0001", "--db", pardec.folder / "narrow.sqlite")
    check(narrow.returncode == 0 and "not stopped (--target-ci 0.0 %): oa-mine hpd,stack=1, oa-mine hpd,stack=2: " in narrow.stdout, f"a target that is not reached: {narrow.stdout} {narrow.stderr}")


def files(check, pardec, model):
    """`grid` of an experiment file; networks by their names; run refuses it."""
    file = pardec.folder / "grid.json"
    file.write_text(json.dumps({"name": "grid", "model": "one", "models": {"one": str(model), "two": str(model)}, "datasets": ["oa-mine"], "limit": 4, "max_new_tokens": 8,
                                "batch_size": 2, "decoders": [{"name": "ar"}, {"label": "h", "name": "hpd", "set": {"k_max": 4}}],
                                "grid": {"h.stack": [1, 2], "h.seed": [1, 2], "h.model": ["one"]}, "baseline": "ar"}))
    db = pardec.folder / "file.sqlite"
    ran = pardec("sweep", "-c", file, "--db", db, "--progress", "none")
    check(ran.returncode == 0, f"sweep -c: exit {ran.returncode}: {ran.stderr}")
    found = {(r["label"], r["seed"], r["baseline"]) for r in query(db, "SELECT * FROM run")}
    check(found == {("ar", 1, None)} | {(f"h,model={model},seed={seed},stack={stack}", seed, "ar") for seed in (1, 2) for stack in (1, 2)}, f"cells of the file: {found}")
    refused = pardec("run", "-c", file, "--db", db)
    check(refused.returncode == 2 and "'grid' is run by `pardec sweep`" in refused.stderr, f"run -c with a grid: {refused.returncode}: {refused.stderr}")


def main():
    check, whole_grid = Checks(), "whole" in sys.argv
    rng = random.Random()
    seed = rng.randrange(10**6)
    rng.seed(seed)
    print(f"moments of the kills: seed {seed}")
    with scratch(sys.argv[1]) as pardec:
        model = QUICKSTART if whole_grid else pardec.synthesise("model")
        base = ["--model", model, "--decoder", "ar,hpd", "--dataset", "oa-mine", "--progress", "none"]
        if whole_grid:
            grid, size, kill, split = ["hpd.k_max=4,8,16,30", "hpd.stack=1,2,6", "batch_size=1,2,4"], ["--block", 6], 5, 4
        else:
            grid, size, kill, split = ["hpd.k_max=4,6", "hpd.stack=1,2", "batch_size=1,2"], ["--limit", 12, "--block", 2, "--max-new-tokens", 16], 2, 2
        command = ["sweep", *base, *(word for axis in grid for word in ("--grid", axis)), *size]
        whole = pardec.folder / "whole.sqlite"
        ran = pardec(*command, "--db", whole, timeout=3000)
        check(ran.returncode == 0 and "best cell of oa-mine: " in ran.stdout, f"exit {ran.returncode}: {ran.stdout} {ran.stderr}")
        check(len(cells_of(whole)) == (39 if whole_grid else 10), f"{len(cells_of(whole))} cells")
        own = {r["label"]: r["baseline"] for r in query(whole, "SELECT label, baseline FROM run")}
        check(all(baseline == "ar," + label.rsplit(",", 1)[1] for label, baseline in own.items() if label.startswith("hpd")), f"a cell is compared with the ar of its batch: {own}")
        baselines(check, pardec, whole, own)
        kills(check, pardec, command, whole, kill, rng)
        shards(check, pardec, command, whole, split)
        plots(check, pardec, whole)
        estimates(check, pardec, command, whole)
        if not whole_grid:
            refused(check, pardec, model)
            memory(check, pardec, ["--dataset", "oa-mine", "--limit", 4, "--progress", "none"])
            targets(check, pardec, model)
            files(check, pardec, model)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
