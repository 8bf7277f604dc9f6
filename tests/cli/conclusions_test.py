"""What is concluded of scores: pairs, failures, empty answers, and several sittings."""

import json
import shutil

import pytest

from harness import ROOT, change, query, records, write_lines

QUICKSTART = ROOT / "experiments" / "quickstart" / "model"
EXAMPLES = 24
ANSWERS = (
    "SELECT generation.id, sample.key, generation.error, generation.fields, score.value AS f1 FROM"
    " generation JOIN run ON run.id = run_id JOIN sample ON sample.id = sample_id LEFT JOIN score"
    " ON score.generation_id = generation.id AND metric = 'extractgpt_f1' AND score.field = ''"
    " WHERE label = ? ORDER BY sample.key"
)
SCORES = "SELECT generation_id, metric, field, value FROM score ORDER BY 1, 2, 3"


def compared(pardec, db, arm):
    """An arm's row, the difference of its first score, and the arm's warnings."""
    shown = json.loads(pardec.good("compare", "--db", db, "--format", "json"))
    row = next(r for r in shown["rows"] if r["arm"] == arm)
    difference = next(
        value
        for key, value in row.items()
        if key.endswith("micro_difference") and isinstance(value, dict)
    )
    return row, difference, [w for w in shown["warnings"] if w["arm"] == arm]


# Pairs -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def equal_arms(pardec):
    """A run of `prompt-lookup`, which gives ar's ids: an arm of equal answers."""
    db = pardec.folder / "equal.sqlite"
    pardec.good(
        "run", "--model", QUICKSTART, "--arm", "ar=ar", "--arm", "lookup=prompt-lookup",
        "--dataset", "oa-mine", "--limit", EXAMPLES, "--block", 4, "--batch-size", 4, "--db", db,
        "--progress", "none",
    )
    return db


@pytest.fixture
def as_hpd(pardec, equal_arms):
    """A copy, where a decoder gave equal answers that only happened to be equal."""
    db = shutil.copy(equal_arms, pardec.folder / "happened.sqlite")
    change(db, "UPDATE run SET decoder = 'hpd', options = '{}' WHERE label = 'lookup'")
    return db


def test_answers_that_are_equal_by_design_leave_no_doubt(pardec, equal_arms):
    row, difference, _ = compared(pardec, equal_arms, "lookup")
    assert row["identical"] == 1
    assert difference["estimate"] == 0
    assert difference["interval"] == [0, 0]


def test_answers_that_happen_to_be_equal_leave_more_than_a_tenth_open(pardec, as_hpd):
    row, difference, _ = compared(pardec, as_hpd, "lookup")
    low, high = difference["interval"]
    assert low < -0.1
    assert high > 0.1
    assert row["verdict"].startswith("open")


def test_what_one_arm_was_not_asked_counts_for_neither(pardec, as_hpd):
    """Whichever answers these are: here half of them, those that are half wrong or worse."""
    lost = [one for one in query(as_hpd, ANSWERS, "lookup") if one["f1"] < 0.5][: EXAMPLES // 3]
    assert len(lost) >= 4
    for one in lost:
        change(as_hpd, "DELETE FROM score WHERE generation_id = ?", one["id"])
        change(as_hpd, "DELETE FROM generation WHERE id = ?", one["id"])
    _, difference, warnings = compared(pardec, as_hpd, "lookup")
    assert difference["estimate"] == 0
    assert difference["interval"][0] < 0 < difference["interval"][1]
    told = [w for w in warnings if w["code"] == "unpaired"]
    assert len(told) == 1
    assert "left out" in told[0]["text"]


# Failures ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def failed(pardec):
    """A run with two titles that overflow the context; what the program said, and the database."""
    root, db = pardec.folder / "data", pardec.folder / "failed.sqlite"
    lines = records("oa-mine")[:4]
    for line in lines[:2]:
        line["input"] = " ".join(["word"] * 9000)
    write_lines(root / "oa-mine" / "test.jsonl", lines)
    write_lines(root / "oa-mine" / "train.jsonl", records("oa-mine", "train"))
    ran = pardec(
        "run", "--model", QUICKSTART, "--arm", "ar=ar", "--arm", "lookup=prompt-lookup",
        "--dataset", "oa-mine", "--data-root", root, "--db", db, "--progress", "none",
    )
    return ran, db


def test_failed_answers_have_the_score_of_wrong_ones(failed):
    """Also where an annotator says that there is no value."""
    ran, db = failed
    assert ran.returncode == 3, ran.stderr[-300:]
    wrong = [one for one in query(db, ANSWERS, "ar") if one["error"]]
    assert [one["f1"] for one in wrong] == [0, 0]


def test_score_gives_failed_answers_what_run_gave_them(pardec, failed):
    db = shutil.copy(failed[1], pardec.folder / "rescored.sqlite")
    before = query(db, SCORES)
    gone = change(
        db,
        "DELETE FROM score WHERE generation_id IN (SELECT id FROM generation WHERE error IS NOT"
        " NULL) AND metric <> 'parsed'",
    )
    assert gone > 0
    pardec.good("score", "--db", db)
    assert query(db, SCORES) == before


# Empty answers: on SQuAD null is an answer; nothing, or what cannot be read, is none --------------


@pytest.fixture(scope="module")
def squad(pardec):
    """A run of questions, of which one has no answer: the database, its row, and its place."""
    db = pardec.folder / "squad.sqlite"
    pardec(
        "run", "--model", QUICKSTART, "--arm", "ar=ar,ask=separately", "--dataset", "squad",
        "--limit", 8, "--per-field", 4, "--max-new-tokens", 40, "--db", db, "--progress", "none",
    )
    rows = query(
        db,
        "SELECT generation.id, generation.fields, sample.fields AS asked FROM generation JOIN"
        " sample ON sample.id = sample_id WHERE sample.fields LIKE '%\"references\":[]%' LIMIT 1",
    )
    assert rows, "a question without an answer is in the sample"
    return db, rows[0]


@pytest.mark.parametrize(
    "answer, f1",
    [({"text": "", "no_value": True}, 0), ({"text": ""}, 1), ({"text": "Paris"}, 0)],
    ids=["an empty answer", "null, which is stored as no text", "an answer"],
)
def test_a_question_without_an_answer_gives_its_score_to_null_alone(pardec, squad, answer, f1):
    original, row = squad
    db = shutil.copy(original, pardec.folder / "answered.sqlite")
    fields, asked = json.loads(row["fields"]), json.loads(row["asked"])
    at = next(i for i, field in enumerate(asked) if not field["references"])
    fields[at].pop("no_value", None)
    fields[at].update(answer)
    change(db, "UPDATE generation SET fields = ? WHERE id = ?", json.dumps(fields), row["id"])
    pardec.good("score", "--db", db)
    scored = query(
        db,
        "SELECT value FROM score WHERE generation_id = ? AND metric = 'token_f1' AND field = ?"
        " ORDER BY version DESC LIMIT 1",
        row["id"],
        asked[at]["name"],
    )
    assert scored[0]["value"] == f1


def test_an_answer_that_cannot_be_read_earns_nothing(pardec):
    """Whatever is asked for. Random weights write such answers."""
    db = pardec.folder / "noise.sqlite"
    pardec(
        "run", "--model", pardec.synthesise("noise"), "--arm", "ar=ar,ask=together", "--dataset",
        "squad", "--limit", 8, "--max-new-tokens", 20, "--db", db, "--progress", "none",
    )
    unread = query(
        db,
        "SELECT sum(score.value) AS earned, count(*) AS n FROM score JOIN generation ON"
        " generation.id = generation_id WHERE metric = 'token_f1' AND generation_id IN (SELECT"
        " generation_id FROM score WHERE metric = 'parsed' AND value = 0)",
    )[0]
    assert unread["n"] > 0
    assert unread["earned"] == 0


# Sittings ----------------------------------------------------------------------------------------


def sit(pardec, db, hpd):
    """One sitting: a run of two arms."""
    pardec.good(
        "run", "--model", QUICKSTART, "--arm", "ar=ar", "--arm", f"hpd={hpd}", "--dataset",
        "oa-mine", "--limit", 12, "--block", 2, "--batch-size", 2, "--max-new-tokens", 24, "--db",
        db, "--progress", "none",
    )


@pytest.fixture(scope="module")
def sittings(pardec):
    """Three runs of one command, and one of another."""
    db = pardec.folder / "sittings.sqlite"
    for hpd in ("hpd", "hpd", "hpd", "hpd,k_max=16"):
        sit(pardec, db, hpd)
    return db, [
        row["invocation"] for row in query(db, "SELECT DISTINCT invocation FROM run ORDER BY id")
    ]


@pytest.fixture(scope="module")
def pooled(pardec, sittings):
    """What `runs compare` says of the three."""
    db, ids = sittings
    return json.loads(pardec.good("runs", "compare", *ids[:3], "--db", db, "--format", "json"))


@pytest.mark.whole
def test_the_speedup_of_several_sittings_has_an_interval_over_sittings(pooled):
    rows = [row for row in pooled["rows"] if row["arm"] == "hpd"]
    together = [row for row in rows if row["run"] == "all 3"]
    assert len(rows) == 4
    assert len(together) == 1
    each = [row["speedup"] for row in rows if row["run"] != "all 3"]
    low, high = together[0]["speedup_interval"]
    assert min(each) <= together[0]["speedup"] <= max(each)
    assert low < together[0]["speedup"] < high


def test_the_notes_say_how_sittings_are_pooled(pooled):
    assert any("random effects" in note for note in pooled["notes"]), pooled["notes"]


def test_compare_of_several_runs_says_the_same(pardec, sittings, pooled):
    db, ids = sittings
    several = ["--run", ",".join(ids[:3])]
    again = json.loads(pardec.good("compare", *several, "--db", db, "--format", "json"))
    assert again == pooled


def test_other_settings_are_not_pooled(pardec, sittings):
    db, ids = sittings
    words = ["runs", "compare", ids[0], ids[3], "--db", db, "--format", "json"]
    shown = json.loads(pardec.good(*words))
    assert not any(row["run"].startswith("all") for row in shown["rows"])
