"""`pardec export`: flat tables that say what `compare --format json` and the database say, to the
digit; every column is explained in results/export.md.
"""

import csv
import functools
import io
import json
import re

import pytest
from harness import ROOT, query

QUICKSTART = ROOT / "experiments" / "quickstart" / "model"
TABLES = (
    "comparison", "warnings", "runs", "blocks", "jobs", "generations", "score_parts",
    "answer_pairs", "speedup_pairs",
)
SAME_AS_VIEWS = TABLES[-4:]
OF_RUNS = TABLES[2:]


def flattened(row):
    """A row of `compare --format json` with the columns of csv."""
    flat = {}
    for key, value in row.items():
        if key.endswith("_interval"):
            low, high = value or (None, None)
            (
                flat[key.removesuffix("_interval") + "_low"],
                flat[key.removesuffix("_interval") + "_high"],
            ) = (low, high)
        elif key.endswith("_difference"):
            low, high = (value or {}).get("interval") or (None, None)
            flat.update(
                {
                    key: (value or {}).get("estimate"),
                    key + "_low": low,
                    key + "_high": high,
                    key + "_p_mcnemar_holm": (value or {}).get("p_mcnemar_holm"),
                }
            )
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
    job = re.search(
        r"^CREATE TABLE job \((.*?)^\) STRICT",
        (ROOT / "results" / "schema.sql").read_text(encoding="utf-8"),
        re.M | re.S,
    )[1]
    return set(
        re.findall(
            r"^  ([a-z_]+) [^\n]*-- (?:ns|JSON: |[a-z]+s )", job[job.index("prompt_tokens") :], re.M
        )
    ) - {"parallel_ratio", "top2"}


def typed(text):
    """A cell of csv as json has it. Texts that look like numbers are told apart by the caller's
    columns.
    """
    if text == "":
        return None
    try:
        return (
            json.loads(text)
            if re.fullmatch(r"-?\d+(\.\d+)?([eE][-+]?\d+)?|true|false", text)
            else text
        )
    except ValueError:
        return text


@pytest.fixture(scope="module")
def db(pardec):
    """A run of two arms, one of which cannot run on one of two datasets."""
    pardec.good(
        "run", "--model", QUICKSTART, "--decoder", "ar,hpd", "--dataset", "oa-mine,mt-bench",
        "--limit", 6, "--block", 1, "--runs", 2, "--max-new-tokens", 16, "--db", "r.sqlite",
        "--progress", "none",
    )
    return pardec.folder / "r.sqlite"


@pytest.fixture(scope="module")
def compared(pardec, db):
    """What `compare` says."""
    return json.loads(pardec.good("compare", "--db", db, "--format", "json"))


def as_set(rows, columns=None):
    return {tuple(row[c] for c in columns or row) for row in rows}


@pytest.fixture(scope="module")
def jsonl(pardec, db):
    """What an export as jsonl prints, and its folder."""
    out = pardec.folder / "deep" / "j"
    return pardec.good("export", "--db", db, "--format", "jsonl", "--out", out), out


@pytest.fixture(scope="module")
def lines(jsonl):
    """The rows of each table as jsonl."""
    return {
        table: [
            json.loads(line)
            for line in (jsonl[1] / f"{table}.jsonl").read_text(encoding="utf-8").splitlines()
        ]
        for table in TABLES
    }


@pytest.fixture(scope="module")
def parquet(pardec, db):
    """The folder of an export as parquet."""
    pytest.importorskip("pyarrow", reason="pyarrow is not there (.venv/bin/pip install pyarrow)")
    pardec.good("export", "--db", db, "--format", "parquet", "--out", pardec.folder / "p")
    return pardec.folder / "p"


@pytest.fixture(params=["jsonl", "parquet"])
def read(request):
    """Gives the rows of a table, in a format, as dictionaries."""
    if request.param == "jsonl":
        return request.getfixturevalue("lines").get
    folder = request.getfixturevalue("parquet")
    import pyarrow.parquet

    return functools.cache(
        lambda table: pyarrow.parquet.read_table(folder / f"{table}.parquet").to_pylist()
    )


def test_an_arm_that_cannot_run_is_a_row_of_the_comparison(compared):
    assert len(compared["rows"]) == 4
    assert any(row["cannot_run"] for row in compared["rows"])


def test_the_comparison_says_what_compare_says(read, compared):
    for row, wanted in zip(read("comparison"), map(flattened, compared["rows"]), strict=True):
        assert row == {key: wanted.get(key) for key in row}, wanted["arm"]
        assert {key for key, value in wanted.items() if value is not None} <= row.keys()


@pytest.mark.parametrize("table", OF_RUNS[:4])
def test_a_table_says_what_the_database_says(read, db, table):
    single = table.removesuffix("s")
    joined = "" if single == "run" else "JOIN run ON run.id = run_id"
    stored = query(
        db,
        f"SELECT {single}.*, run.uuid AS of_run, run.label AS arm FROM {single} {joined} ORDER BY"
        f" run.id, {single}.id",
    )
    rows = read(table)
    assert len(rows) == len(stored) > 0
    other = {"run", "dataset", "model", "job", "block", *(["samples"] if table == "jobs" else [])}
    common = sorted((rows[0].keys() & stored[0].keys()) - other)
    assert len(common) > 8
    for row, told in zip(rows, stored):
        assert {key: row[key] for key in common} == {key: told[key] for key in common}
        assert row["run"] == told["of_run"]


@pytest.mark.parametrize("view", SAME_AS_VIEWS)
def test_a_table_has_the_rows_of_the_view(read, db, view):
    rows, stored = read(view), query(db, f"SELECT * FROM {view}")
    columns = [c for c in rows[0] if c in stored[0]]
    assert len(columns) >= 16
    assert as_set(rows, columns) == as_set(stored, columns)
    assert len(as_set(rows)) > 2


def test_generations_have_the_scores_of_the_database(read, db):
    stored = query(db, "SELECT * FROM scores_by_example WHERE score IS NOT NULL")
    scores = {
        (r["arm"], r["dataset"], r["sample"], r["repeat"], r["metric"]): r["score"] for r in stored
    }
    metrics = {r["metric"] for r in query(db, "SELECT metric FROM score_parts")}
    found = {
        (r["arm"], r["dataset"], r["sample"], r["repeat"], name): r[name]
        for r in read("generations")
        for name in metrics
        if r[name] is not None
    }
    assert found == scores
    assert len(scores) > 20


def test_warnings_are_those_of_compare(read, compared):
    said = [(w["dataset"], w["arm"], w["code"], w["text"]) for w in compared["warnings"]]
    assert said
    assert [tuple(row.values()) for row in read("warnings")] == said


def test_the_job_of_a_generation_has_its_sample(read):
    jobs = {row["job"]: row for row in read("jobs")}
    for row in read("generations"):
        assert row["sample"] in json.loads(jobs[row["job"]]["samples"])
        assert jobs[row["job"]]["arm"] == row["arm"]


def test_parquet_stands_alone_in_its_folder(parquet):
    assert sorted(f.name for f in parquet.iterdir()) == sorted(f"{t}.parquet" for t in TABLES)


def test_columns_of_parquet_have_types(parquet):
    import pyarrow.parquet

    schema = pyarrow.parquet.read_schema(parquet / "comparison.parquet")
    types = {field.name: str(field.type) for field in schema}
    assert types["arm"] == "string"
    assert types["n"] == "int64"
    assert types["speedup_low"] == "double"


def test_export_prints_its_files_and_their_rows(jsonl):
    counts = dict(line.split("/")[-1].split(".jsonl ") for line in jsonl[0].splitlines())
    assert list(counts) == list(TABLES)
    assert [counts[t] for t in ("comparison", *OF_RUNS[:4])] == ["4", "3", "24", "30", "36"]
    assert counts["speedup_pairs"] == "6"


@pytest.fixture(scope="module")
def texts(pardec, db):
    """Each table of an export of one run as csv."""
    run = query(db, "SELECT invocation FROM run")[0]["invocation"][:8]
    pardec.good("export", "--db", db, "--out", pardec.folder / "c", "--run", run)
    return {
        table: (pardec.folder / "c" / f"{table}.csv").read_text(encoding="utf-8")
        for table in TABLES
    }


def same_cell(text, value):
    """Whether a cell of csv is this value of json."""
    return typed(text) == value if isinstance(value, (int, float)) else text == (value or "")


@pytest.mark.parametrize("table", TABLES)
def test_csv_has_the_columns_and_rows_of_jsonl(texts, lines, table):
    rows = list(csv.DictReader(io.StringIO(texts[table])))
    assert list(rows[0]) == list(lines[table][0])
    for row, other in zip(rows, lines[table], strict=True):
        differs = {k: (row[k], v) for k, v in other.items() if not same_cell(row[k], v)}
        assert not differs


@pytest.mark.parametrize("table", TABLES[1:])
def test_the_page_explains_the_columns_of(texts, lines, table):
    told = documented()
    columns = set(next(csv.reader(io.StringIO(texts[table]))))
    metrics = {row["metric"] for row in lines["score_parts"]} if table == "generations" else set()
    everywhere = told["all"] if table in OF_RUNS else set()
    assert columns - metrics - everywhere - told[table] == set()
    assert told[table] - columns == set()


def test_the_comparison_is_compares_csv_byte_by_byte(pardec, db, texts):
    assert texts["comparison"] == pardec.good("compare", "--db", db, "--format", "csv")


def test_a_used_folder_holds_the_tables_of_the_last_export_alone(pardec, db):
    out = pardec.folder / "used"
    pardec.good("export", "--db", db, "--out", out)
    pardec.good("export", "--db", db, "--format", "jsonl", "--out", out)
    # Of another run, which was judged; and what is not ours.
    for left in (
        "judgments.csv", "pairs.csv", "attempts.csv", "judges.csv", "judges.jsonl", "notes.csv",
    ):
        (out / left).write_text("of another run")
    (out / ".pardec-export").mkdir()
    (out / ".pardec-export" / "jobs.csv").write_text("of a killed one")
    pardec.good("export", "--db", db, "--out", out)
    ours = [table + end for table in TABLES for end in (".csv", ".jsonl")]
    assert sorted(f.name for f in out.iterdir()) == sorted([*ours, "judges.jsonl", "notes.csv"])
