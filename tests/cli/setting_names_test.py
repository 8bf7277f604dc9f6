"""Messages of the layers below name settings in backquotes: who reads the command line's output
sees flags, and texts of datasets and networks as they are.
"""

import html
import json

import pytest

from harness import SAMPLES, query, write_lines
from not_finite_test import spoil

NAMED = "`limit=3` and `batch_size`"  # as a message would name settings
RUN = ("--dataset", "oa-mine", "--max-new-tokens", 100, "--warmup", 0, "--progress", "none")


@pytest.fixture(scope="module")
def model(pardec):
    return pardec.synthesise("m")


# Texts of a dataset and of answers: in the database, on the page, in exports ---------------------


@pytest.fixture(scope="module")
def db(pardec, model):
    """A run whose titles and answers hold such words."""
    lines = (SAMPLES / "oa-mine" / "test.jsonl").read_text().splitlines()[:2]
    products = [json.loads(line) for line in lines]
    for product in products:
        first = next(iter(product["target_scores"]))
        product["input"] += " " + NAMED
        product["target_scores"][first] = {NAMED: 1}
    for split in ("train", "test"):
        write_lines(pardec.folder / "data" / "oa-mine" / f"{split}.jsonl", products)
    pardec.good(
        "run", "--model", model, "--decoder", "ar,hpd", "--data-root", "data", "--oracle",
        "references", *RUN, "--db", "t.sqlite",
    )
    return pardec.folder / "t.sqlite"


def test_answers_are_stored_as_they_are(db):
    stored = [row["text"] for row in query(db, "SELECT text FROM generation")]
    assert len(stored) == 4
    assert all(NAMED in text for text in stored), stored


def test_texts_stand_on_the_page_as_they_are(pardec, db):
    pardec.good("report", "--db", db, "-o", "t.html")
    page = html.unescape((pardec.folder / "t.html").read_text())
    assert page.count(NAMED) >= 2 + 2 + 4  # of titles, references and answers
    assert "--limit 3" not in page
    assert "--batch-size and" not in page


def test_answers_are_exported_as_they_are(pardec, db):
    pardec.good("export", "--db", db, "--format", "jsonl", "--out", "t")
    lines = (pardec.folder / "t" / "generations.jsonl").read_text().splitlines()
    exported = [json.loads(line)["text"] for line in lines]
    assert len(exported) == 4
    assert all(NAMED in text for text in exported), exported


def test_what_was_given_is_said_as_it_is(pardec, model):
    words = ["--decoder", "ar", "--dataset", "`nope`", "--db", "no.sqlite"]
    ran = pardec("run", "--model", model, *words)
    assert ran.returncode == 2
    assert "`nope`" in ran.stderr


# Errors: stored as a setting, shown as a flag ----------------------------------------------------


@pytest.fixture(scope="module")
def sick(pardec):
    """A network whose answers fail."""
    folder = pardec.synthesise("sick")
    spoil(folder, "model.layers.1.mlp.down_proj.weight", 5, 0x7FC0)
    return folder


@pytest.fixture(scope="module")
def failed(pardec, sick):
    """The database of a run of it."""
    words = ["--decoder", "ar", "--limit", 2, *RUN, "--db", "e.sqlite"]
    pardec("run", "--model", sick, *words)
    return pardec.folder / "e.sqlite"


def test_an_error_is_stored_with_the_setting(failed):
    stored = [row["error"] for row in query(failed, "SELECT error FROM generation")]
    assert len(stored) == 2
    assert all("'pardec doctor `model=DIR`' looks" in error for error in stored), stored


def test_a_stored_error_is_shown_with_the_flag(pardec, failed):
    pardec.good("report", "--db", failed, "-o", "e.html")
    page = html.unescape((pardec.folder / "e.html").read_text())
    assert "'pardec doctor --model DIR' looks" in page
    assert "`model=DIR`" not in page


def test_an_error_of_generate_is_said_with_the_flag(pardec, sick):
    ran = pardec("generate", "--model", sick, "--prompt", "Orm", "--max-new-tokens", 4)
    assert "'pardec doctor --model DIR' looks" in ran.stderr


# Of every layer that names a setting: errors, notes, cells of tables for programs -----------------


OF_DATA = ("--model", "m", "--dataset", "oa-mine")


@pytest.mark.parametrize(
    "command, said",
    [
        (("run", *OF_DATA, "--decoder", "ar", "--runs", 0), "--runs is 0, expected at least 1"),
        (("run", *OF_DATA[2:], "--decoder", "ar", "--model", "nowhere"), "nowhere"),
        (("generate", "--model", "m", "--prompt", "a", "--temperature", -1), "--temperature is -1"),
        (("train", *OF_DATA, "--out", "o", "--stack", 0), "--stack is 0"),
        (
            ("train", *OF_DATA, "--out", "o", "--format", "apar", "--fork-token", 99999),
            "--fork-token is id 99999",
        ),
        (("compare", "--db", "t.sqlite", "--baseline", "x"), "--baseline: no arm is labelled 'x'"),
        (("compare", "--db", ""), "--db: is empty"),
    ],
    ids=["runs", "model", "temperature", "stack", "fork token", "baseline", "database"],
)
def test_an_error_names_the_flag(pardec, db, command, said):
    ran = pardec(*command)
    assert ran.returncode == 2
    assert said in ran.stderr
    assert "`" not in ran.stderr


def test_a_cell_of_a_plan_names_the_flag(pardec, model):
    ran = pardec(
        "sweep", *OF_DATA, "--decoder", "ar,speculative", "--grid", "batch_size=1,2", "--limit", 4,
        "--max-new-tokens", 8, "--dry-run", "--db", "s.sqlite", "--progress", "none", "--format",
        "json",
    )
    rows = json.loads(ran.stdout)["rows"]
    refused = [row["cannot_run"] for row in rows if row["cannot_run"]]
    assert refused
    for reason in refused:
        assert "--draft-model DIR" in reason
        assert "`" not in reason
