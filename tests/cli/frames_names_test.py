"""A metric and a dataset stand under one name in every table: csv and json of compare, run, score
and runs, export, and the views of the database. So do arms, examples and repeats.
"""

import collections
import csv
import io
import json
import math
import re

import pytest
from harness import query
from scripted_service import Judge

DATASETS = ["oa-mine", "race", "squad", "mt-bench"]
OF_ARM = ["invocation", "run", "dataset", "split", "arm", "decoder"]
OF_ANSWER = [*OF_ARM, "sample", "repeat"]
# What stands once for everything, by table of export.
WITHOUT_ARM = {"comparison", "warnings", "attempts", "judges"}
ANSWERS = {"generations", "score_parts", "answer_pairs", "judgments", "pairs"}
# Names that no table may have, since another one says the same.
OTHER_NAMES = re.compile(
    r"label|uuid|example|key|position|(score_)?extractgpt.*|(score_)?strict_f1|"
    r"score_(f1|rouge|accuracy|token|judge|squad|passed|parsed).*|chosen_per_forward|.*_per_s|"
    r"is_(sample|standin)|failed_generations|identical_share"
)


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


VIEWS = (
    "run_summary", "generations", "score_parts", "scores_by_example", "speedup_pairs",
    "answer_pairs", "quality_pairs", "paper_table",
)
Made = collections.namedtuple("Made", "db ran scored compared read views")


@pytest.fixture(scope="module")
def made(pardec, quickstart):
    """Four datasets, two arms, each example twice; a judge's grades of the open answers; further
    metrics. `ran`, `scored` and `compared` are what the verbs print, `read` and `views` the tables
    of `export` and of the database.
    """
    db = pardec.folder / "r.sqlite"
    ran = pardec.good(
        "run", "--model", quickstart, "--arm", "first=ar", "--arm", "second=prompt-lookup",
        "--dataset", ",".join(DATASETS), "--limit", 2, "--runs", 2, "--max-new-tokens", 12, "--db",
        db, "--progress", "none", "--format", "json",
    )
    grade = Judge(
        lambda prompt, times, again: json.dumps({"explanation": "", "score": 1 + len(prompt) % 10})
    )
    pardec.good(
        "judge", "--db", db, "--service", grade.file(pardec.folder, "grade"), "--protocol",
        "single", "--progress", "none",
    )
    scored = rows_of(
        pardec.good(
            "score", "--db", db, "--metric", "rouge,token_f1,exact_match,repetition", "--format",
            "csv",
        )
    )
    compared = json.loads(pardec.good("compare", "--db", db, "--format", "json"))["rows"]
    pardec.good("export", "--db", db, "--out", "tables")
    files = sorted((pardec.folder / "tables").iterdir())
    read = {file.stem: rows_of(file.read_text(encoding="utf-8")) for file in files}
    views = {view: query(db, f"SELECT * FROM {view}") for view in VIEWS}
    return Made(db, json.loads(ran)["rows"], scored, compared, read, views)


@pytest.fixture(scope="module")
def listed(pardec, made):
    """What `runs` says of the run."""
    return json.loads(pardec.good("runs", "--db", made.db, "--format", "json"))["rows"][0]


def arms_of(rows):
    return [(row["dataset"], row["arm"]) for row in rows]


def test_compare_has_the_datasets_in_their_order(made):
    assert [row["dataset"] for row in made.compared] == [d for d in DATASETS for _ in range(2)]


def test_run_has_the_rows_of_compare(made):
    assert arms_of(made.ran) == arms_of(made.compared)


def test_csv_has_the_rows_of_json(pardec, made):
    rows = rows_of(pardec.good("compare", "--db", made.db, "--format", "csv"))
    assert arms_of(rows) == arms_of(made.compared)


def test_the_accounting_has_the_same_rows(pardec, made):
    ran = pardec.good("compare", "--db", made.db, "--accounting", "--format", "json")
    assert arms_of(json.loads(ran)["rows"]) == arms_of(made.compared)


def test_runs_names_the_same_datasets_and_arms(listed):
    assert sorted(listed["datasets"]) == sorted(DATASETS)
    assert listed["arms"] == ["first", "second"]


def test_a_run_has_one_id_in_all_tables(made, listed):
    ids = {
        row["invocation"] for table in made.read.keys() - WITHOUT_ARM for row in made.read[table]
    }
    assert ids == {listed["invocation"]}


def test_export_has_the_tables_of_judges_and_speeds(made):
    assert {"judgments", "attempts", "judges", "speedup_pairs"} <= made.read.keys()


def test_tables_and_views_name_a_row_by_the_same_columns(made):
    for table, rows in {
        **{name: rows for name, rows in made.read.items() if rows},
        **made.views,
    }.items():
        assert rows, table
        here = list(rows[0])
        assert [c for c in here if OTHER_NAMES.fullmatch(c)] == [], table
        if table not in ("attempts", "judges"):
            of_answer = table in ANSWERS | {"scores_by_example", "quality_pairs"}
            wanted = (
                OF_ANSWER if of_answer else ["dataset", "arm"] if table in WITHOUT_ARM else OF_ARM
            )
            assert set(wanted) <= set(here), table


def test_tables_and_views_have_the_arms_of_compare(made):
    arms = set(arms_of(made.compared))
    for table, rows in {
        **{name: rows for name, rows in made.read.items() if rows},
        **made.views,
    }.items():
        if table not in ("attempts", "judges"):
            found = set(arms_of(rows))
            assert found <= arms, table
            assert (
                found == arms or table in ("warnings", "pairs", "judgments") or "pairs" in table
            ), table
            assert "pairs" not in table or {row["baseline"] for row in rows} == {"first"}, table


def test_tables_have_the_samples_and_repeats_of_the_database(made):
    rows = query(
        made.db,
        "SELECT dataset.name AS dataset, key FROM sample JOIN dataset ON dataset.id = dataset_id",
    )
    samples = {(row["dataset"], row["key"]) for row in rows}
    for table in ANSWERS & {name for name, rows in made.read.items() if rows}:
        assert {(row["dataset"], row["sample"]) for row in made.read[table]} <= samples, table
        assert {row["repeat"] for row in made.read[table]} <= {"0", "1"}, table


@pytest.fixture(scope="module")
def parts(made):
    """The metrics of export."""
    return {row["metric"] for row in made.read["score_parts"]}


@pytest.fixture(scope="module")
def told(made):
    """The metrics of compare."""
    return {key for row in made.compared for key in row if f"{key}_difference" in row} - {"score"}


def test_compare_has_the_metrics_of_all_datasets_under_the_names_of_export(told, parts):
    assert {
        "f1_micro", "f1_macro", "f1_strict", "accuracy", "token_f1", "squad_exact", "degenerate",
        "judge_score", "rouge_l", "exact_match",
    } <= told
    assert told <= parts


def test_score_and_tables_of_export_name_the_same_metrics(made, parts):
    assert {row["metric"] for row in made.scored} <= parts
    assert {row["metric"] for row in made.read["answer_pairs"]} <= parts
    assert parts <= set(made.read["generations"][0])


@pytest.mark.parametrize(
    "view", ["scores_by_example", "paper_table", "quality_pairs", "score_parts"]
)
def test_a_view_has_the_metrics_of_export(made, parts, view):
    assert {row["metric"] for row in made.views[view]} == parts


@pytest.fixture(scope="module")
def of_view(made):
    """The rows of the view paper_table."""
    return {(row["dataset"], row["arm"], row["metric"]): row for row in made.views["paper_table"]}


def test_a_metric_has_one_number_in_compare_score_and_the_view(made, told, of_view):
    of_score = {
        (row["dataset"], row["arm"], row["metric"]): float(row["score"]) for row in made.scored
    }
    for row in made.compared:
        for metric in told:
            of = row["dataset"], row["arm"], metric
            if row.get(metric) is None:
                assert of not in of_view or of_view[of]["score"] is None, of
                continue
            close = {"rel_tol": 1e-12, "abs_tol": 1e-12}
            assert math.isclose(of_view[of]["score"], row[metric], **close), of
            assert math.isclose(of_score.get(of, row[metric]), row[metric], **close), of


def test_counts_and_speeds_of_the_view_are_those_of_compare(made, of_view):
    for row in made.compared:
        of = of_view[row["dataset"], row["arm"], row["score_name"]]
        for key in (
            "n", "failed", "hit_limit", "broken", "tokens_per_forward", "dataset_is_sample",
        ):
            assert of[key] == row[key], f"{row['dataset']} {row['arm']}: {key}"
        if row["baseline"]:
            assert math.isclose(of["speedup"], row["speedup"], rel_tol=1e-12)
            assert of["blocks"] == row["blocks"]
            assert of["identical"] == row["identical"]


def test_the_open_answers_have_a_judges_scores(made):
    judged = [row for row in made.compared if row["dataset"] == "mt-bench"]
    assert len(judged) == 2
    assert [row["score_name"] for row in judged] == ["judge_score"] * 2
    assert all(1 <= row["judge_score"] <= 10 for row in judged)
