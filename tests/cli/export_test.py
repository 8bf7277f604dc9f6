"""`pardec export`: flat tables that say what `compare --format json` and the database say, to the digit; every column is explained in results/export.md.

Usage: export_test.py PROGRAM [parquet]
"""
import csv
import io
import json
import re
import sys

from harness import ROOT, Checks, query, scratch

QUICKSTART = ROOT / "experiments" / "quickstart" / "model"
TABLES = ("comparison", "warnings", "runs", "blocks", "jobs", "generations", "score_parts", "answer_pairs", "speedup_pairs")
SAME_AS_VIEWS = TABLES[-4:]
OF_RUNS = TABLES[2:]


def flattened(row):
    """A row of `compare --format json` with the columns of csv."""
    flat = {}
    for key, value in row.items():
        if key.endswith("_interval"):
            low, high = value or (None, None)
            flat[key.removesuffix("_interval") + "_low"], flat[key.removesuffix("_interval") + "_high"] = low, high
        elif key.endswith("_difference"):
            low, high = (value or {}).get("interval") or (None, None)
            flat.update({key: (value or {}).get("estimate"), key + "_low": low, key + "_high": high, key + "_p_mcnemar_holm": (value or {}).get("p_mcnemar_holm")})
        elif isinstance(value, list) and len(value) == 2 and key in ("in_flight", "stack"):
            flat[key], flat[key + "_asked"] = value
        elif isinstance(value, list):
            flat.update({f"{key}_{i + 1}": v for i, v in enumerate(value)})
        else:
            flat[key] = value
    return flat


def documented():
    """Columns that results/export.md explains, by table."""
    text = (ROOT / "results" / "export.md").read_text(encoding="utf-8")
    section = re.search(r"^## Tables and columns\n(.*)", text, re.M | re.S)[1]
    found = {}
    for line in section.splitlines():
        if line.startswith("| `"):
            table, columns = [cell.strip() for cell in line.strip("|").split("|")][:2]
            found.setdefault(table.strip("`"), set()).update(re.findall(r"`([a-z0-9_]+)`", columns))
    found["jobs"] |= counters()
    return found


def counters():
    """Columns of a job that results/schema.sql explains and the page does not: its counters."""
    job = re.search(r"^CREATE TABLE job \((.*?)^\) STRICT", (ROOT / "results" / "schema.sql").read_text(encoding="utf-8"), re.M | re.S)[1]
    return set(re.findall(r"^  ([a-z_]+) [^\n]*-- (?:ns|JSON: |[a-z]+s )", job[job.index("prompt_tokens"):], re.M)) - {"parallel_ratio", "top2"}


def as_set(rows, columns=None):
    return {tuple(row[c] for c in columns or row) for row in rows}


def check_tables(check, read, db, compared, kind):
    """What each format holds; `read` gives the rows of a table as dictionaries."""
    wanted = [flattened(row) for row in compared["rows"]]
    rows = read("comparison")
    check(len(rows) == len(wanted), f"{kind}: {len(rows)} rows of the comparison, expected {len(wanted)}")
    for row, other in zip(rows, wanted):
        for key, value in row.items():
            check(value == other.get(key), f"{kind}: comparison {other['arm']}: {key} is {value!r}, compare says {other.get(key)!r}")
        check({k for k, v in other.items() if v is not None} <= row.keys(), f"{kind}: the comparison lacks {[k for k, v in other.items() if v is not None and k not in row]}")
    for table, single in (("runs", "run"), ("blocks", "block"), ("jobs", "job"), ("generations", "generation")):
        rows, stored = read(table), query(db, f"SELECT {single}.*, run.uuid AS of_run, run.label AS arm FROM {single} {'' if single == 'run' else 'JOIN run ON run.id = run_id'} ORDER BY run.id, {single}.id")
        check(len(rows) == len(stored) > 0, f"{kind}: {len(rows)} {table}, the database has {len(stored)}")
        common = sorted((rows[0].keys() & stored[0].keys()) - {"run", "dataset", "model", "samples" if table == "jobs" else "", "job", "block"})
        check(len(common) > 8, f"{kind}: {table} has {common} of the database")
        for row, other in zip(rows, stored):
            differs = {c: (row[c], other[c]) for c in common if row[c] != other[c]}
            check(not differs and row["run"] == other["of_run"], f"{kind}: {table}: {differs}")
    for view in SAME_AS_VIEWS:
        rows, stored = as_set(read(view)), query(db, f"SELECT * FROM {view}")
        columns = [c for c in read(view)[0] if c in stored[0]]
        check(len(columns) >= 16 and as_set(read(view), columns) == as_set(stored, columns) and len(rows) > 2, f"{kind}: {view} has the rows of the view, in {columns}")
    scores = {(r["arm"], r["dataset"], r["sample"], r["repeat"], r["metric"]): r["score"] for r in query(db, "SELECT * FROM scores_by_example WHERE score IS NOT NULL")}
    metrics = {r["metric"] for r in query(db, "SELECT metric FROM score_parts")}
    found = {(r["arm"], r["dataset"], r["sample"], r["repeat"], name): r[name] for r in read("generations") for name in metrics if r[name] is not None}
    check(found == scores and len(scores) > 20, f"{kind}: {len(found)} scores of generations, the database has {len(scores)}")
    said = [(w["dataset"], w["arm"], w["code"], w["text"]) for w in compared["warnings"]]
    check([tuple(w.values()) for w in read("warnings")] == said and said, f"{kind}: warnings {read('warnings')}, compare has {said}")
    jobs = {r["job"]: r for r in read("jobs")}
    check(all(r["sample"] in json.loads(jobs[r["job"]]["samples"]) and jobs[r["job"]]["arm"] == r["arm"] for r in read("generations")), f"{kind}: a generation's job has its sample")


def typed(text):
    """A cell of csv as json has it. Texts that look like numbers are told apart by the caller's columns."""
    if text == "":
        return None
    try:
        return json.loads(text) if re.fullmatch(r"-?\d+(\.\d+)?([eE][-+]?\d+)?|true|false", text) else text
    except ValueError:
        return text


def used(check, pardec, db):
    """A used folder holds the tables of the run that was exported last, and none of another run."""
    out = pardec.folder / "used"
    pardec.good("export", "--db", db, "--out", out)
    pardec.good("export", "--db", db, "--format", "jsonl", "--out", out)
    for left in ("judgments.csv", "pairs.csv", "attempts.csv", "judges.csv", "judges.jsonl", "notes.csv"):  # of another run, which was judged; and what is not ours
        (out / left).write_text("of another run")
    (out / ".pardec-export").mkdir()
    (out / ".pardec-export" / "jobs.csv").write_text("of a killed one")
    pardec.good("export", "--db", db, "--out", out)
    found = sorted(f.name for f in out.iterdir())
    wanted = sorted([t + e for t in TABLES for e in (".csv", ".jsonl")] + ["judges.jsonl", "notes.csv"])
    check(found == wanted, f"a used folder holds {found}, expected {wanted}")


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        db = pardec.folder / "r.sqlite"
        pardec.good("run", "--model", QUICKSTART, "--decoder", "ar,hpd", "--dataset", "oa-mine,mt-bench", "--limit", 6, "--block", 1, "--runs", 2, "--max-new-tokens", 60, "--db", db,
                    "--progress", "none")
        compared = json.loads(pardec.good("compare", "--db", db, "--format", "json"))
        check(len(compared["rows"]) == 4 and any(r["cannot_run"] for r in compared["rows"]), f"rows of the comparison: {compared}")
        if "parquet" in sys.argv:
            try:
                import pyarrow.parquet
            except ImportError:
                print("[skipped] pyarrow is not there (.venv/bin/pip install pyarrow)")
                return 77
            pardec.good("export", "--db", db, "--format", "parquet", "--out", pardec.folder / "p")
            check(sorted(f.name for f in (pardec.folder / "p").iterdir()) == sorted(t + ".parquet" for t in TABLES), "the folder holds parquet files alone")
            check_tables(check, lambda table: pyarrow.parquet.read_table(pardec.folder / "p" / f"{table}.parquet").to_pylist(), db, compared, "parquet")
            kinds = {f.name: str(f.type) for f in pyarrow.parquet.read_schema(pardec.folder / "p" / "comparison.parquet")}
            check(kinds["arm"] == "string" and kinds["n"] == "int64" and kinds["speedup_low"] == "double", f"types of columns: {kinds}")
            return check.finish()
        said = pardec.good("export", "--db", db, "--format", "jsonl", "--out", pardec.folder / "deep" / "j")
        counts = dict(line.split("/")[-1].split(".jsonl ") for line in said.splitlines())
        check(list(counts) == list(TABLES) and [counts[t] for t in ("comparison", *OF_RUNS[:4])] == ["4", "3", "24", "30", "36"] and counts["speedup_pairs"] == "6",
              f"files and their rows: {said}")
        pardec.good("export", "--db", db, "--out", pardec.folder / "c", "--run", query(db, "SELECT invocation FROM run")[0]["invocation"][:8])
        lines = {table: [json.loads(line) for line in (pardec.folder / "deep" / "j" / f"{table}.jsonl").read_text(encoding="utf-8").splitlines()] for table in TABLES}
        check_tables(check, lines.get, db, compared, "jsonl")
        told = documented()
        for table in TABLES:
            text = (pardec.folder / "c" / f"{table}.csv").read_text(encoding="utf-8")
            rows = list(csv.DictReader(io.StringIO(text)))
            check(list(rows[0]) == list(lines[table][0]) and len(rows) == len(lines[table]), f"csv: {table} has the columns and rows of jsonl")
            for row, other in zip(rows, lines[table]):
                differs = {k: (row[k], v) for k, v in other.items() if row[k] != (v or "" if not isinstance(v, (int, float)) else row[k]) or (isinstance(v, (int, float)) and typed(row[k]) != v)}
                check(not differs, f"csv: {table}: {differs}")
            if table != "comparison":
                metrics = {line["metric"] for line in lines["score_parts"]} if table == "generations" else set()
                missing = set(rows[0]) - metrics - (told["all"] if table in OF_RUNS else set()) - told[table]
                check(not missing, f"results/export.md does not explain {missing} of {table}")
                check(told[table] <= set(rows[0]), f"results/export.md explains {told[table] - set(rows[0])}, which {table} has not")
        check((pardec.folder / "c" / "comparison.csv").read_text(encoding="utf-8") == pardec.good("compare", "--db", db, "--format", "csv"), "the comparison is compare's csv, byte by byte")
        used(check, pardec, db)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
