"""A run whose database goes away says so, and its answers are saved beside; names that hold nothing
are refused; shards are read together.
"""

import json
import os
import shutil
import signal

import pytest
from harness import answers, job_count, query

ARMS = [
    "--decoder", "ar,hpd", "--dataset", "oa-mine", "--set", "hpd.stack=6", "--set", "hpd.k_max=6",
    "--max-new-tokens", 24, "--batch-size", 2, "--block", 12,
]


def command(db, *more):
    return ["run", "--model", "model", *ARMS, "--db", db, "--progress", "none", *more]


@pytest.fixture(scope="module", autouse=True)
def model(pardec):
    """The network of all runs, in the scratch folder."""
    return pardec.synthesise("model")


@pytest.fixture(scope="module")
def whole(pardec, model):
    """The database of a run that nothing happened to."""
    pardec.good(*command("whole.sqlite"))
    return pardec.folder / "whole.sqlite"


# Names that SQLite takes for something else than a file ------------------------------------------


@pytest.mark.parametrize(
    "name, verbs",
    [
        ("", ["compare", "score", "report", "plot"]),
        (":memory:", []),
        (":", []),
        ("file:x.sqlite", []),
        ("file:x?mode=memory", ["compare", "score", "report", "plot"]),
        ("file:///tmp/x", []),
        ("/dev/null", ["compare", "score", "report", "plot"]),
        ("/dev/full", []),
        (".", []),
    ],
    ids=lambda given: repr(given) if isinstance(given, str) else "",
)
def test_a_name_that_is_no_file_is_refused(pardec, name, verbs):
    before = sorted(pardec.folder.iterdir())
    for words in (command(name), *([verb, "--db", name] for verb in verbs)):
        ran = pardec(*words)
        assert ran.returncode == 2, words[0]
        assert "expected" in ran.stderr
        assert not ran.stdout
    assert sorted(pardec.folder.iterdir()) == before


# A database that goes away in mid-run: exit 1, and the answers so far go on elsewhere ------------


def replaced(db):
    db.with_name("new").write_bytes(b"another")
    os.replace(db.with_name("new"), db)


WAYS = {
    "removed": lambda db: [path.unlink() for path in db.parent.glob(db.name + "*")],
    "replaced": replaced,
    "without its folder": lambda db: shutil.rmtree(db.parent),
}


@pytest.mark.parametrize("happens", WAYS.values(), ids=WAYS)
def test_answers_of_a_lost_database_are_saved_and_go_on(pardec, whole, tmp_path, happens):
    folder = tmp_path / "lost"
    folder.mkdir()
    db, saved = folder / "r.sqlite", folder / "r.sqlite.recovered-1"
    process = pardec.start(*command(db))
    while process.poll() is None and job_count(db) < 5:
        pass
    os.kill(process.pid, signal.SIGSTOP)  # so that it has not ended
    running = process.poll() is None
    happens(db)
    os.kill(process.pid, signal.SIGCONT)
    out, err = process.communicate(timeout=120)
    assert running
    assert process.returncode == 1, err
    assert not out
    assert f"--resume --db {saved}" in err.splitlines()[-1]
    assert saved.exists()
    assert job_count(saved) >= 5
    ran = pardec(*command(saved, "--resume"))
    assert ran.returncode == 0, ran.stderr
    assert answers(saved) == answers(whole)


# Runs that cannot begin --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "more",
    [
        ["--trace", "nowhere/t.jsonl"],
        ["--chat-template", "nowhere.jinja"],
        ["--resume"],
        ["--oracle", "recorded:abc"],
        ["--model", "nowhere"],
    ],
    ids=lambda more: more[0],
)
def test_a_run_that_cannot_begin_leaves_no_database(pardec, more):
    ran = pardec(*command("none.sqlite", *more))
    assert ran.returncode == 2, ran.stderr
    assert not list(pardec.folder.glob("none.sqlite*"))


# Shards: tables take all, whichever is the newest; each shard goes on with its own runs ----------


def table(pardec, verb, *args):
    return json.loads(pardec.good(verb, *args, "--format", "json"))


@pytest.fixture(scope="module")
def sharded(pardec, model):
    """The table of one shard of three, and the database of all three."""
    db = pardec.folder / "shards.sqlite"
    pardec.good(*command(db, "--shard", "0/3"))
    alone = table(pardec, "compare", "--db", db)
    for shard in ("2/3", "1/3"):
        pardec.good(*command(db, "--shard", shard))
    return alone, db


@pytest.fixture
def shards(sharded):
    return sharded[1]


@pytest.fixture(scope="module")
def each(whole):
    """The answers of an arm."""
    return len(answers(whole)) // 2


def test_one_shard_of_three_is_said_to_be_alone(sharded):
    notes = sharded[0]["notes"]
    assert any(note.startswith("shards: 0/3 alone") for note in notes), notes


def test_compare_takes_all_shards(pardec, shards, whole, each):
    shown = table(pardec, "compare", "--db", shards)
    assert [row["n"] for row in shown["rows"]] == [each] * 2
    assert "shards: 0/3, 1/3, 2/3." in shown["notes"]
    of_whole = {row["arm"]: row for row in table(pardec, "compare", "--db", whole)["rows"]}
    for row in shown["rows"]:
        for key in ("failed", "tokens_per_forward", "identical", "f1_micro", "f1_macro", "blocks"):
            assert row[key] == of_whole[row["arm"]][key], key


def test_a_shard_is_named_for_all(pardec, shards, each):
    for run in query(shards, "SELECT uuid, invocation FROM run"):
        for prefix in (run["uuid"][:8], run["invocation"][:8]):
            told = table(pardec, "compare", "--db", shards, "--run", prefix)
            assert [row["n"] for row in told["rows"]] == [each] * 2


def test_score_takes_all_shards(pardec, shards, whole):
    def scores(db):
        copy = shutil.copy(db, pardec.folder / "scored.sqlite")
        rows = table(pardec, "score", "--db", copy)["rows"]
        return [(row["arm"], row["metric"], row["score"], row["n"]) for row in rows]

    assert scores(shards) == scores(whole)


def test_the_report_says_which_shards_it_is_of(pardec, shards):
    pardec.good("report", "--db", shards, "-o", "shards.html")
    assert "0/3, 1/3, 2/3" in (pardec.folder / "shards.html").read_text()


def test_shards_have_the_answers_of_the_whole(shards, whole):
    assert answers(shards) == answers(whole)


def test_a_finished_shard_finds_its_own_runs(pardec, shards):
    """Although another's are newer."""
    before = query(shards, "SELECT * FROM job ORDER BY id")
    for shard in ("0/3", "1/3", "2/3"):
        ran = pardec(*command(shards, "--shard", shard, "--resume"))
        assert ran.returncode == 0, ran.stderr
    assert query(shards, "SELECT * FROM job ORDER BY id") == before


def test_shards_are_not_resumed_as_a_whole(pardec, shards):
    ran = pardec(*command(shards, "--resume"))
    assert ran.returncode == 2, ran.stderr
    assert "shard: 1/3, now none" in ran.stderr
