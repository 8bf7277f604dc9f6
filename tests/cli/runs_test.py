"""`pardec runs`: what a database holds, invocations beside each other, their names and notes,
and their removal.
"""

import csv
import datetime
import io
import json
import os
import pty
import re
import shutil
import subprocess

import pytest
from harness import change, clean_environment, query

TABLES = (
    "run", "block", "job", "step_histogram", "generation", "score", "sample", "dataset", "model",
    "environment", "experiment", "invocation",
)


class Runs:
    """A database of three invocations, its ids from the oldest on, and the program called on it."""

    def __init__(self, pardec, db):
        self.pardec, self.db = pardec, db
        found = query(
            db, "SELECT invocation, min(id) AS first FROM run GROUP BY invocation ORDER BY first"
        )
        self.ids = [row["invocation"] for row in found]

    def __call__(self, *args):
        return self.pardec("runs", *args, "--db", self.db)

    def good(self, *args):
        return self.pardec.good("runs", *args, "--db", self.db)

    def json(self, *args):
        return json.loads(self.good(*args, "--format", "json"))

    def rows(self, *args):
        return self.json(*args)["rows"]

    def typed(self, answer, *args):
        """The call with a terminal as its input, on which somebody types."""
        mine, theirs = pty.openpty()
        os.write(mine, answer)
        ran = subprocess.run(
            self.pardec.arguments(["runs", *args, "--db", self.db]),
            cwd=self.pardec.folder,
            stdin=theirs,
            capture_output=True,
            text=True,
            timeout=60,
            env=clean_environment(),
        )
        os.close(mine)
        os.close(theirs)
        return ran


@pytest.fixture(scope="module")
def first(pardec):
    return pardec.synthesise("first")


ARGUMENTS = ["--limit", 6, "--block", 1, "--max-new-tokens", 12, "--progress", "none"]


@pytest.fixture(scope="module")
def stored(pardec, first):
    """The database; tests that change it take a copy. The second invocation has another seed and
    option, the third another network.
    """
    second = pardec.synthesise("second", seed=2)
    arguments = [*ARGUMENTS, "--db", "r.sqlite"]
    pardec.good(
        "run", "--model", first, "--decoder", "ar,prompt-lookup", "--dataset", "oa-mine", *arguments
    )
    pardec.good(
        "run", "--model", first, "--decoder", "ar,prompt-lookup", "--dataset", "oa-mine", "--set",
        "prompt-lookup.draft=3", "--runs", 2, *arguments,
    )
    pardec.good("run", "--model", second, "--decoder", "ar", "--dataset", "mt-bench", *arguments)
    return Runs(pardec, pardec.folder / "r.sqlite")


@pytest.fixture
def copied(stored, tmp_path):
    """A copy of the database."""
    return Runs(stored.pardec, shutil.copy(stored.db, tmp_path / "r.sqlite"))


@pytest.fixture
def named(copied):
    """A copy in which the first two invocations have notes, and the first a name."""
    copied.good("name", copied.ids[0][:10], "plain")
    copied.good("note", "plain", "machine was idle")
    copied.good("note", copied.ids[1][:10], "draft of three")
    return copied


def counts(db):
    return {table: query(db, f"SELECT count(*) AS n FROM {table}")[0]["n"] for table in TABLES}


def sums(db, invocation):
    """What the list says of an invocation, from the database by other means."""
    return query(
        db,
        "SELECT (SELECT count(DISTINCT sample_id) FROM generation JOIN run ON run.id = run_id WHERE"
        " invocation = ?1) AS n, (SELECT count(*) FROM generation JOIN run ON run.id = run_id WHERE"
        " invocation = ?1 AND error IS NOT NULL) AS failed, (SELECT max(speedup) FROM (SELECT 1.0 *"
        " sum(baseline_ns) / sum(method_ns) AS speedup FROM speedup_pairs"
        " WHERE invocation = ?1 GROUP BY run_id)) AS speedup",
        invocation,
    )[0]


def test_the_list_has_the_newest_first(stored):
    listed = stored.rows()
    assert [row["invocation"] for row in listed] == stored.ids[::-1]
    assert listed[0]["arms"] == ["ar"]
    assert listed[0]["model"].endswith("/second")
    assert listed[2]["arms"] == ["ar", "prompt-lookup"]


def test_the_list_counts_answers_as_sql_does(stored):
    for row in stored.rows():
        other = sums(stored.db, row["invocation"])
        assert row["n"] == other["n"]
        assert row["failed"] == other["failed"]
        assert row["status"] == "done"
        assert row["name"] is None
        assert row["note"] is None


def test_the_list_has_the_score_of_compare(pardec, stored):
    listed = stored.rows()
    compared = json.loads(
        pardec.good("compare", "--db", stored.db, "--run", stored.ids[0], "--format", "json")
    )["rows"]
    of_arm = next(row for row in compared if row["arm"] == listed[2]["arm"])
    assert listed[2]["score_name"] == "f1_micro"
    assert listed[2]["score"] == of_arm["f1_micro"]


@pytest.mark.parametrize(
    ("args", "which"),
    [
        (["--dataset", "mt-bench"], [2]),
        (["--model", "first"], [1, 0]),
        (["--decoder", "prompt-lookup"], [1, 0]),
        (["--limit", "1"], [2]),
        (["--since", "2999"], []),
        (["--since", "STARTED"], [2]),
    ],
    ids=lambda value: " ".join(value) if value and isinstance(value[0], str) else None,
)
def test_the_list_is_filtered(stored, args, which):
    started = stored.rows()[0]["started_utc"]
    found = stored.rows(*(arg.replace("STARTED", started) for arg in args))
    assert [row["invocation"] for row in found] == [stored.ids[i] for i in which]


def test_a_shortened_list_says_so(stored):
    shown = stored.good("list", "--limit", 2)
    assert stored.ids[2][:8] in shown
    assert stored.ids[0][:8] not in shown
    assert "newest 2 of 3" in shown


def test_cut_answers_have_no_best_speedup(stored):
    for row in stored.rows()[1:]:
        assert row["speedup"] is None
        assert "broken" in row["warnings"]


def test_the_best_speedup_is_of_the_arm_with_the_baselines_answers(copied):
    """Where most answers ended, and the interval is above 1."""
    change(copied.db, "UPDATE generation SET stop = 'eos'")
    change(
        copied.db,
        "UPDATE generation SET fields = replace(fields, '\"limit\"', '\"eos\"'), text = 'x'",
    )
    change(copied.db, "UPDATE score SET value = 1 WHERE metric = 'parsed'")
    # The clock's times are what they are; these are twice as fast, a little unevenly.
    change(
        copied.db,
        "UPDATE block SET wall_ns = CASE label WHEN 'ar' THEN 2000000 ELSE 1000000 END + 1000 *"
        " position FROM run WHERE run.id = run_id",
    )
    listed = copied.rows()
    for row in listed[1:]:
        assert row["speedup"]
        assert abs(row["speedup"] - sums(copied.db, row["invocation"])["speedup"]) < 1e-9
        assert row["arm"] == "prompt-lookup"
        assert "untrained" in row["warnings"]
        assert "broken" not in row["warnings"]
    table = list(csv.DictReader(io.StringIO(copied.good("--format", "csv"))))
    assert len(table) == 3
    assert float(table[2]["speedup"]) == listed[2]["speedup"]


def test_invocations_have_names_and_notes(named):
    listed = {row["invocation"]: (row["name"], row["note"]) for row in named.rows()}
    assert listed == {
        named.ids[0]: ("plain", "machine was idle"), named.ids[1]: (None, "draft of three"),
        named.ids[2]: (None, None),
    }


def test_an_empty_name_takes_the_name_away_and_leaves_the_note(named):
    named.good("name", "plain", "")
    row = named.rows()[2]
    assert row["name"] is None
    assert row["note"] == "machine was idle"


@pytest.mark.parametrize("verb", [["score"], ["report", "-o", "r.html"]], ids=lambda verb: verb[0])
def test_verbs_take_a_name(pardec, named, verb):
    pardec.good(*verb, "--run", "plain", "--db", named.db)


def test_compare_takes_a_name(pardec, named):
    by_name, by_id = (
        pardec.good("compare", "--db", named.db, "--run", run) for run in ("plain", named.ids[0])
    )
    assert by_name == by_id


def test_an_oracle_takes_a_name(pardec, first, named):
    pardec.good(
        "run", "--model", first, "--decoder", "ar", "--dataset", "oa-mine", *ARGUMENTS, "--oracle",
        "recorded:plain", "--db", named.db,
    )


def test_merge_takes_names_and_notes_along(pardec, named, tmp_path):
    pardec.good("merge", tmp_path / "into.sqlite", named.db)
    assert query(tmp_path / "into.sqlite", "SELECT * FROM invocation ORDER BY uuid") == query(
        named.db, "SELECT * FROM invocation ORDER BY uuid"
    )


def test_compared_invocations_have_the_numbers_of_compare(pardec, named):
    told = named.json("compare", "plain", named.ids[1][:10])
    second = named.ids[1][:8]
    assert [(row["arm"], row["run"]) for row in told["rows"]] == [
        ("ar", "plain"),
        ("ar", second),
        ("prompt-lookup", "plain"),
        ("prompt-lookup", second),
    ]
    alone = {
        run: json.loads(pardec.good("compare", "--db", named.db, "--run", run, "--format", "json"))[
            "rows"
        ]
        for run in named.ids[:2]
    }
    for row in told["rows"]:
        same = next(other for other in alone[row["invocation"]] if other["arm"] == row["arm"])
        for key in ("n", "failed", "examples_per_second", "speedup", "tokens_per_forward"):
            assert row[key] == same[key], key
        assert row["score"] == same["f1_micro"]
    assert told["rows"][3]["identical"] == 1
    assert told["rows"][3]["score_difference"]["estimate"] == 0


def test_compared_invocations_say_what_differs(named):
    notes = "\n".join(named.json("compare", "plain", named.ids[1])["notes"])
    assert "not measured side by side" in notes
    assert "prompt-lookup.draft: " in notes
    assert "now 3" in notes
    assert "runs: 1, now 2" in notes
    assert "threads" not in notes
    assert "model" not in notes


def test_invocations_with_nothing_in_common_have_no_difference(stored):
    rows = stored.rows("compare", stored.ids[0], stored.ids[2])
    assert len(rows) == 3
    assert all(row["score_difference"] is None for row in rows)


def test_another_program_or_machine_is_named(copied):
    second = copied.ids[1]
    change(
        copied.db, "UPDATE run SET commit_hash = 'other', threads = 7 WHERE invocation = ?", second
    )
    change(
        copied.db,
        "INSERT INTO environment (hash, json) VALUES ('x', '{\"processor\": \"another\"}')",
    )
    change(
        copied.db,
        "UPDATE run SET environment_id = (SELECT id FROM environment WHERE hash = 'x') WHERE"
        " invocation = ?",
        second,
    )
    notes = copied.good("compare", copied.ids[0], second)
    assert "now other." in notes
    assert "threads: 1, now 7" in notes
    assert "now another" in notes


def test_a_plot_over_dates_has_every_invocation_that_has_the_value(pardec, named):
    """Each with its name, and on a line of its settings."""
    script = pardec.good(
        "plot", "--db", named.db, "--x", "date", "--y", "tokens_per_forward", "--script"
    )
    dates = [
        row["date"]
        for row in query(
            named.db, "SELECT min(started_utc) AS date FROM run GROUP BY invocation ORDER BY date"
        )
    ]
    begin = datetime.datetime.fromisoformat(dates[0][:16] + ":00+00:00")
    assert f"minutes since {dates[0][:10]} {dates[0][11:16]} UTC" in script
    for part in ("plain", "oa-mine", "mt-bench", "first", "second", "draft"):
        assert part in script
    for date in dates:
        minutes = (
            datetime.datetime.fromisoformat(date.replace("Z", "+00:00")) - begin
        ) / datetime.timedelta(minutes=1)
        points = re.findall(r"^ *(\d+(?:\.\d+)?) \d", script, re.M)
        assert any(abs(float(found) - minutes) < 0.02 for found in points), (
            f"no point at minute {minutes}"
        )


def test_an_unknown_axis_of_a_plot_is_refused(pardec, stored):
    ran = pardec("plot", "--db", stored.db, "--x", "dates", "--y", "speedup", "--script")
    assert ran.returncode == 2, ran.stderr
    assert "date" in ran.stderr


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["compare", "plain"], "two or more"),
        (["compare", "plain", "FIRST"], "named before"),
        (["compare", "zz", "plain"], "begins the ids of 3"),
        (["compare", "plain", "nothing"], "'nothing'"),
        (["name", "SECOND", "plain"], "already"),
        (["name", "SECOND"], "ID and TEXT"),
        (["rm"], "expected ID"),
        (["rm", ""], "ID is empty"),
        (["rm", "plain"], "--yes"),
        (["remove", "plain"], "known: list"),
        (["list", "x"], "unexpected"),
        (["--since", "yesterday"], "expected a date"),
        (["--dataset", "oa-min"], "oa-mine"),
        (["--limit", "-1"], "--limit"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_what_is_wrong_in_a_call_is_said_in_a_line_and_changes_nothing(named, args, says):
    change(
        named.db, "UPDATE run SET uuid = 'zz-' || uuid"
    )  # ids whose beginning several invocations share
    before = counts(named.db)
    ran = named(*({"FIRST": named.ids[0], "SECOND": named.ids[1]}.get(arg, arg) for arg in args))
    assert ran.returncode == 2, ran.stderr
    assert says in ran.stderr
    assert len(ran.stderr.splitlines()) == 1
    assert counts(named.db) == before


def test_a_name_makes_no_database(pardec, tmp_path):
    ran = pardec("runs", "name", "a", "b", "--db", tmp_path / "none.sqlite")
    assert ran.returncode == 2, ran.stderr
    assert not (tmp_path / "none.sqlite").exists()


def test_a_removal_that_is_not_confirmed_keeps_the_invocation(copied):
    before = counts(copied.db)
    ran = copied.typed(b"n\n", "rm", copied.ids[2])
    assert ran.returncode == 0, ran.stderr
    assert "[y/N]" in ran.stderr
    assert counts(copied.db) == before


def test_an_invocation_that_runs_is_kept(copied):
    before = counts(copied.db)
    change(copied.db, "UPDATE run SET status = 'running' WHERE invocation = ?", copied.ids[2])
    ran = copied.typed(b"y\n", "rm", copied.ids[2])
    assert ran.returncode == 2, ran.stderr
    assert "running" in ran.stderr
    assert counts(copied.db) == before


def test_a_removed_invocation_takes_with_it_what_nothing_else_refers_to(named):
    before = counts(named.db)
    named.good("rm", named.ids[2], "--yes")
    after = counts(named.db)
    assert after["run"] == before["run"] - 1
    assert after["generation"] == before["generation"] - 6
    assert after["model"] == before["model"] - 1
    assert after["dataset"] == before["dataset"] - 1
    assert after["sample"] == before["sample"] - 6
    ran = named.typed(b"y\n", "rm", "plain")
    assert ran.returncode == 0, ran.stderr
    assert "removed" in ran.stdout
    assert [row["invocation"] for row in named.rows()] == [named.ids[1]]
    # A sound database, with what the other invocation refers to as well.
    assert not query(named.db, "PRAGMA foreign_key_check")
    assert query(named.db, "PRAGMA integrity_check") == [{"integrity_check": "ok"}]
    shared = counts(named.db)
    assert shared["sample"] == 6
    assert shared["dataset"] == 1
    assert shared["invocation"] == 1
    named.good("rm", named.ids[1], "--yes")
    assert all(n == 0 for n in counts(named.db).values())
    assert "No run matches" in named.good()
