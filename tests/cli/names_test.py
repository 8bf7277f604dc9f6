"""A metric has one name, its key, in every table, export, experiment file and figure, and one title
that follows from it; a dataset has one name in every export.
"""

import csv
import json
import re
import shutil

import pytest

from harness import ROOT

FIELDS = {
    "f1_micro": "F1 micro",
    "f1_macro": "F1 macro",
    "f1_strict": "F1 strict",
    "degenerate": "degenerate",
    "rouge_l": "ROUGE L",
    "token_f1": "token F1",
}
DATASETS = {"oa-mine", "mt-bench"}
METRICS = ["--metric", "token_f1,rouge,value_f1"]


def as_json(pardec, *args):
    return json.loads(pardec.good(*args, "--format", "json"))


@pytest.fixture(scope="module")
def run(pardec):
    """The words of a run, up to its database."""
    return [
        "run", "--model", pardec.synthesise("model"), "--decoder", "ar,prompt-lookup,hpd",
        "--dataset", "oa-mine,mt-bench", "--limit", 4, "--max-new-tokens", 8, "--progress", "none",
        "--db",
    ]


@pytest.fixture(scope="module")
def db(pardec, run):
    """A database of two runs."""
    for seed in (0, 1):
        pardec.good(*run, "r.sqlite", "--seed", seed)
    return pardec.folder / "r.sqlite"


# Metrics: one key in json, csv, score, runs and what a figure asks for; one title in tables -------


@pytest.fixture(scope="module")
def scored(pardec, db):
    """A copy with scores of three metrics."""
    copy = shutil.copy(db, pardec.folder / "scored.sqlite")
    pardec.good("score", "--db", copy, *METRICS)
    return copy


@pytest.fixture(scope="module")
def metrics(pardec, scored):
    """The metrics in the table of `score`."""
    return {row["metric"] for row in as_json(pardec, "score", "--db", scored, *METRICS)["rows"]}


@pytest.fixture(scope="module")
def compared(pardec, scored):
    return as_json(pardec, "compare", "--db", scored)


def test_score_names_metrics_by_their_keys(metrics):
    assert {"f1_micro", "f1_macro", "f1_strict", "token_f1", "rouge_l"} <= metrics


def test_every_metric_of_score_is_a_column_of_compare(metrics, compared):
    for key in metrics - {"f1_strict_macro"}:  # of the four of value F1, tables have three
        assert key in compared["columns"]
        assert f"{key}_difference" in compared["columns"]


@pytest.fixture(scope="module")
def wide(pardec, scored):
    """The table for people."""
    return pardec.good("compare", "--db", scored, "--wide", "--format", "md")


@pytest.mark.parametrize("key, title", FIELDS.items())
def test_a_title_follows_from_the_key(compared, wide, key, title):
    assert key in compared["columns"]
    assert re.search(rf"\| +{title} +\|", wide), wide.splitlines()[2]


def test_the_score_is_that_of_its_name(compared):
    for row in compared["rows"]:
        if row["score"] is not None:
            assert row["score_name"] in compared["columns"]
            assert row["score"] == row[row["score_name"]]


def test_csv_has_the_keys(pardec, scored):
    printed = pardec.good("compare", "--db", scored, "--format", "csv")
    header = next(csv.reader([printed.splitlines()[0]]))
    keys = {"f1_micro", "f1_micro_low", "f1_micro_difference", "token_f1", "rouge_l"}
    assert keys <= set(header)


def test_the_matrix_has_the_keys(pardec, scored, compared):
    rows = as_json(pardec, "compare", "--db", scored, "--matrix")["rows"]
    cells = [cell for row in rows for cell in row.values() if isinstance(cell, dict)]
    named = {cell["metric"] for cell in cells if "metric" in cell}
    assert named <= set(compared["columns"])


def test_runs_has_the_keys(pardec, scored):
    rows = as_json(pardec, "runs", "--db", scored)["rows"]
    assert {row["score_name"] for row in rows} == {"f1_micro"}


def test_a_figure_has_the_title(pardec, scored):
    words = ["--x", "seed", "--y", "f1_micro", "--script"]
    assert "F1 micro" in pardec.good("plot", "--db", scored, *words)


def test_the_page_has_no_other_name_of_f1(pardec, scored):
    pardec.good("report", "--db", scored, "-o", "page.html")
    page = (pardec.folder / "page.html").read_text()
    assert "extractgpt" not in re.sub(r"<script.*?</script>", "", page, flags=re.S)


@pytest.mark.parametrize("folder", ["experiments", "results", "datasets", "decoders", "metrics"])
def test_files_name_metrics_by_their_keys(folder):
    old = re.compile(
        r"extractgpt_f1_m|strict_f1_m|score_(token_f1|judge_|rouge|accuracy|degenerate)"
    )
    files = [
        file
        for file in sorted((ROOT / folder).rglob("*"))
        if file.suffix in (".json", ".md", ".hpp", ".cpp")
        and file.name != "tokenizer.json"
        and "build" not in file.parts
    ]
    assert files
    for file in files:
        assert not old.search(file.read_text(encoding="utf-8")), file


# Datasets: the name alone, and columns that say what the data is ---------------------------------


@pytest.fixture(scope="module")
def ids(pardec, db):
    """The ids of both runs."""
    return [row["invocation"] for row in as_json(pardec, "runs", "--db", db)["rows"]]


COMMANDS = {
    "compare": ["compare"],
    "accounting": ["compare", "--accounting"],
    "differences": ["compare", "--differences", 3],
    "score": ["score"],
    "runs compare": ["runs", "compare"],
    "data stats": ["data", "stats", "oa-mine", "mt-bench"],
    "data check": ["data", "check", "oa-mine"],
    "run --dry-run": ["run"],
}


@pytest.mark.parametrize("verb", COMMANDS)
def test_every_table_names_the_dataset_and_says_what_it_is(pardec, db, run, ids, verb):
    command = COMMANDS[verb]
    if verb == "run --dry-run":
        command = [*run, "no.sqlite", "--dry-run"]
    elif command[0] != "data":
        command = [*command, *(ids if verb == "runs compare" else []), "--db", db]
    printed = pardec.good(*command, "--format", "jsonl")
    rows = [json.loads(line) for line in printed.splitlines()]
    assert rows
    for row in rows:
        assert row["dataset"] in DATASETS
        assert row["dataset_is_sample"] is True
        assert row["dataset_is_standin"] is False


def test_runs_says_which_datasets_are_samples(pardec, db):
    listed = as_json(pardec, "runs", "--db", db)["rows"][0]
    assert listed["datasets"] == listed["sample_datasets"] == ["oa-mine", "mt-bench"]


@pytest.fixture(scope="module")
def exported(pardec, db):
    """The folder of an export."""
    pardec.good("export", "--db", db, "--format", "csv", "--out", "tables")
    return pardec.folder / "tables"


@pytest.mark.parametrize("table", ["comparison", "runs", "blocks", "jobs", "generations"])
def test_every_table_of_an_export_names_the_dataset(exported, table):
    with open(exported / f"{table}.csv", encoding="utf-8") as file:
        assert {row["dataset"] for row in csv.DictReader(file)} == DATASETS


def test_people_read_what_a_dataset_is_beside_its_name(pardec, db):
    assert "oa-mine (own sample)" in pardec.good("compare", "--db", db)
