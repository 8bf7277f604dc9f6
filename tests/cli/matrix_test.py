"""Every decoder runs on data of every shape: `run --matrix` on the quickstart model and the
project's own samples, one command, one table.

"n/a", with its reason, is for hpd and ippd's baseline on open prompts alone; every other cell has
an answer that is not empty, a finite score and its counters; arms whose control tokens the model
was never trained on are marked untrained. `compare` makes the same table from the database.
"""

import json
import math
import re

import pytest
from harness import ROOT, answers, query

QUICKSTART = ROOT / "experiments" / "quickstart"
DATASETS = ("oa-mine", "ae-110k", "squad", "race", "narrativeqa", "mt-bench")
UNTRAINED = {"space", "apar", "aspd"}
UNFIT = {("mt-bench", "hpd"), ("mt-bench", "ar-separately")}


@pytest.fixture(scope="module")
def decoders(pardec):
    """The decoders that this network can run."""
    rows = json.loads(pardec.good("list", "decoders", "--format", "json"))["rows"]
    known = [row["name"] for row in rows]
    if not (QUICKSTART / "model" / "medusa_heads.safetensors").exists():
        known.remove("medusa")
    return known


@pytest.fixture(scope="module")
def arms(decoders):
    """The labels of all arms: ippd has a baseline of its own."""
    return [
        arm
        for decoder in decoders
        for arm in ([decoder, "ar-separately"] if decoder == "ar" else [decoder])
    ]


@pytest.fixture(scope="module")
def run(decoders):
    """The words of the run."""
    return [
        "run", "--model", QUICKSTART / "model", "--draft-model", QUICKSTART / "draft", "--decoder",
        ",".join(decoders), "--dataset", ",".join(DATASETS), "--limit", 1, "--shots", 0,
        "--max-new-tokens", 24, "--warmup", 0, "--progress", "none", "--matrix", "--format", "json",
    ]


@pytest.fixture(scope="module")
def plan(pardec, run):
    """The rows of --dry-run."""
    return json.loads(pardec.good(*run, "--dry-run"))["rows"]


@pytest.fixture(scope="module")
def matrix(pardec, run):
    """The table that the run prints."""
    return json.loads(pardec.good(*run, "--db", "m.sqlite", timeout=1500))


def test_the_plan_marks_the_arms_that_do_not_apply(plan):
    assert {(r["dataset"].split()[0], r["arm"]) for r in plan if r["form"] == "n/a"} == UNFIT


def test_the_plan_lacks_nothing(plan):
    assert [row for row in plan if row["needs"] == "lacking"] == []


def test_the_table_has_a_row_for_each_arm_and_a_column_for_each_dataset(matrix, arms):
    assert matrix["columns"] == ["arm", *DATASETS]
    assert [row["arm"] for row in matrix["rows"]] == arms


@pytest.mark.parametrize("dataset", DATASETS)
def test_every_cell_that_applies_has_answers_scores_and_counters(matrix, dataset):
    for row in matrix["rows"]:
        cell, arm = row[dataset], row["arm"]
        if (dataset, arm) in UNFIT:
            continue
        assert cell["n"] > 0, arm
        assert cell["failed"] == 0, arm
        # The network was trained to answer all fields together. Alone, a question of race is
        # asked as ippd's baseline asks it.
        alone = arm == "ar-separately" or (dataset, arm) == ("race", "ippd")
        assert cell["answered"] > 0 or alone, arm
        assert isinstance(cell["score"], (int, float)), arm
        assert math.isfinite(cell["score"]), arm
        assert cell["tokens_per_forward"] > 0, arm
        assert cell["untrained"] == (arm in UNTRAINED), arm


def test_ippd_answers_stacked_questions_of_race(pardec):
    ran = pardec.good(
        "run", "--model", QUICKSTART / "model", "--decoder", "ar,ippd", "--dataset", "race",
        "--limit", 2, "--max-new-tokens", 24, "--warmup", 0, "--progress", "none", "--matrix",
        "--format", "json", "--db", "race.sqlite",
    )
    cells = {row["arm"]: row["race"] for row in json.loads(ran)["rows"]}
    assert cells["ippd"]["answered"] > 0


def test_a_cell_that_does_not_apply_says_why(matrix):
    cells = {
        (dataset, row["arm"]): row[dataset]
        for row in matrix["rows"]
        for dataset in DATASETS
        if (dataset, row["arm"]) in UNFIT
    }
    assert cells.keys() == UNFIT
    for cell in cells.values():
        assert set(cell) == {"not_applicable"}
        assert "open prompt" in cell["not_applicable"]


def test_a_note_says_once_why_hpd_does_not_apply(matrix):
    assert sum("n/a: mt-bench, hpd" in note for note in matrix["notes"]) == 1, matrix["notes"]


def test_every_arm_that_applies_has_forwards(pardec, matrix, arms):
    rows = query(
        pardec.folder / "m.sqlite",
        "SELECT label, dataset.name, sum(job.forwards) AS forwards FROM job JOIN run ON run.id ="
        " run_id JOIN dataset ON dataset.id = dataset_id WHERE job.error IS NULL GROUP BY run_id",
    )
    ran = {(row["name"], row["label"]) for row in rows if row["forwards"] > 0}
    assert ran == {(dataset, arm) for dataset in DATASETS for arm in arms} - UNFIT


@pytest.mark.parametrize(
    "label", ["speculative", "prompt-lookup", "lookahead", "self-speculative", "space"]
)
def test_a_decoder_that_guesses_answers_as_ar_does(pardec, matrix, label):
    texts = answers(pardec.folder / "m.sqlite")
    of_ar = [key for key in texts if key[0] == "ar"]
    assert of_ar
    for key in of_ar:
        assert texts[(label, *key[1:])][:1] == texts[key][:1], key


def test_compare_makes_the_same_table(pardec, matrix):
    again = pardec.good("compare", "--db", "m.sqlite", "--matrix", "--format", "json")
    assert json.loads(again) == matrix


def test_the_table_for_people_marks_untrained_arms_and_what_does_not_apply(pardec, matrix):
    shown = pardec.good("compare", "--db", "m.sqlite", "--matrix", "--format", "md")
    for arm in UNTRAINED:
        assert f"| {arm} (untrained) " in shown
    assert "| ar " in shown
    hpd = next(line for line in shown.splitlines() if line.startswith("| hpd "))
    assert re.search(r"\| +n/a \|$", hpd)
