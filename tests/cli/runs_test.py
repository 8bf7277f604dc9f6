"""`pardec runs`: what a database holds, invocations beside each other, their names and notes, and their removal.

Usage: runs_test.py PROGRAM
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
import sys

from harness import Checks, change, clean_environment, query, scratch

TABLES = ("run", "block", "job", "step_histogram", "generation", "score", "sample", "dataset", "model", "environment", "experiment", "invocation")


def rows(pardec, *args):
    return json.loads(pardec.good("runs", *args, "--db", "r.sqlite", "--format", "json"))["rows"]


def counts(db):
    return {table: query(db, f"SELECT count(*) AS n FROM {table}")[0]["n"] for table in TABLES}


def sums(db, invocation):
    """What the list says of an invocation, from the database by other means."""
    return query(db, """SELECT (SELECT count(DISTINCT sample_id) FROM generation JOIN run ON run.id = run_id WHERE invocation = ?1) AS n,
                               (SELECT count(*) FROM generation JOIN run ON run.id = run_id WHERE invocation = ?1 AND error IS NOT NULL) AS failed,
                               (SELECT max(speedup) FROM (SELECT 1.0 * sum(baseline_ns) / sum(method_ns) AS speedup FROM speedup_pairs
                                 WHERE invocation = ?1 GROUP BY run_id)) AS speedup""", invocation)[0]


def headline(check, pardec, ids):
    """A best speedup is one that is shown: cut answers have none; where most ended, the arm with the baseline's answers and an interval above 1 has it."""
    db = pardec.folder / "r.sqlite"
    check(all(row["speedup"] is None and "broken" in row["warnings"] for row in rows(pardec)[1:]), f"cut answers have no best speedup: {rows(pardec)}")
    shutil.copy(db, pardec.folder / "ended.sqlite")
    change(pardec.folder / "ended.sqlite", "UPDATE generation SET stop = 'eos'")
    change(pardec.folder / "ended.sqlite", "UPDATE generation SET fields = replace(fields, '\"limit\"', '\"eos\"'), text = 'x'")
    change(pardec.folder / "ended.sqlite", "UPDATE score SET value = 1 WHERE metric = 'parsed'")
    # The clock's times are what they are; these are twice as fast, a little unevenly.
    change(pardec.folder / "ended.sqlite", "UPDATE block SET wall_ns = CASE label WHEN 'ar' THEN 2000000 ELSE 1000000 END + 1000 * position FROM run WHERE run.id = run_id")
    listed = json.loads(pardec.good("runs", "--db", "ended.sqlite", "--format", "json"))["rows"]
    for row in listed[1:]:
        speedup = sums(pardec.folder / "ended.sqlite", row["invocation"])["speedup"]
        check(row["speedup"] and abs(row["speedup"] - speedup) < 1e-9 and row["arm"] == "prompt-lookup", f"speedup: {row}, by SQL {speedup}")
        check("untrained" in row["warnings"] and "broken" not in row["warnings"], f"the warnings of its arm: {row}")
    table = list(csv.DictReader(io.StringIO(pardec.good("runs", "--db", "ended.sqlite", "--format", "csv"))))
    check(len(table) == 3 and float(table[2]["speedup"]) == listed[2]["speedup"], f"csv: {table}")


def make(pardec):
    """Three invocations: two networks, the second with another seed and option."""
    first, second = pardec.synthesise("first"), pardec.synthesise("second", seed=2)
    common = ["--limit", 6, "--block", 1, "--max-new-tokens", 12, "--progress", "none", "--db", "r.sqlite"]
    pardec.good("run", "--model", first, "--decoder", "ar,prompt-lookup", "--dataset", "oa-mine", *common)
    pardec.good("run", "--model", first, "--decoder", "ar,prompt-lookup", "--dataset", "oa-mine", "--set", "prompt-lookup.draft=3", "--runs", 2, *common)
    pardec.good("run", "--model", second, "--decoder", "ar", "--dataset", "mt-bench", *common)
    return [row["invocation"] for row in query(pardec.folder / "r.sqlite", "SELECT invocation, min(id) AS first FROM run GROUP BY invocation ORDER BY first")]


def listing(check, pardec, ids):
    db = pardec.folder / "r.sqlite"
    listed = rows(pardec)
    check([row["invocation"] for row in listed] == ids[::-1], f"newest first: {listed}")
    for row in listed:
        other = sums(db, row["invocation"])
        check(row["n"] == other["n"] and row["failed"] == other["failed"], f"answers: {row}, by SQL {other}")
        check(row["status"] == "done" and row["name"] is None and row["note"] is None, f"{row}")
    check(listed[0]["arms"] == ["ar"] and listed[0]["model"].endswith("/second") and listed[2]["arms"] == ["ar", "prompt-lookup"], f"{listed}")
    compared = json.loads(pardec.good("compare", "--db", db, "--run", ids[0], "--format", "json"))["rows"]
    of_arm = next(row for row in compared if row["arm"] == listed[2]["arm"])
    check(listed[2]["score_name"] == "f1_micro" and listed[2]["score"] == of_arm["f1_micro"], f"score as compare has it: {listed[2]}, {of_arm}")
    for args, expected in ((["--dataset", "mt-bench"], ids[2:]), (["--model", "first"], ids[1::-1]), (["--decoder", "prompt-lookup"], ids[1::-1]),
                           (["--limit", "1"], ids[2:]), (["--since", "2999"], []), (["--since", listed[0]["started_utc"]], ids[2:])):
        check([row["invocation"] for row in rows(pardec, *args)] == expected, f"{args}: {rows(pardec, *args)}, expected {expected}")
    shown = pardec.good("runs", "list", "--db", db, "--limit", 2)
    check(ids[2][:8] in shown and ids[0][:8] not in shown and "newest 2 of 3" in shown, shown)


def naming(check, pardec, ids):
    db = pardec.folder / "r.sqlite"
    pardec.good("runs", "name", ids[0][:10], "plain", "--db", db)
    pardec.good("runs", "note", "plain", "machine was idle", "--db", db)
    pardec.good("runs", "note", ids[1][:10], "draft of three", "--db", db)
    listed = {row["invocation"]: (row["name"], row["note"]) for row in rows(pardec)}
    check(listed == {ids[0]: ("plain", "machine was idle"), ids[1]: (None, "draft of three"), ids[2]: (None, None)}, f"{listed}")
    check(pardec.good("compare", "--db", db, "--run", "plain") == pardec.good("compare", "--db", db, "--run", ids[0]), "compare takes a name")
    for verb in (["score", "--run", "plain"], ["report", "--run", "plain", "-o", "r.html"]):
        ran = pardec(*verb, "--db", db)
        check(ran.returncode == 0, f"{verb}: {ran.stderr}")
    recorded = pardec("run", "--model", pardec.folder / "first", "--decoder", "ar", "--dataset", "oa-mine", "--limit", 6, "--block", 1, "--max-new-tokens", 12, "--oracle",
                      "recorded:plain", "--db", db, "--progress", "none")
    check(recorded.returncode == 0, f"an oracle takes a name: {recorded.stderr}")
    pardec.good("runs", "rm", json.loads(pardec.good("runs", "--db", db, "--format", "json"))["rows"][0]["invocation"], "--yes", "--db", db)
    pardec.good("runs", "name", "plain", "", "--db", db)
    check(rows(pardec)[2]["name"] is None and rows(pardec)[2]["note"] == "machine was idle", "an empty name takes it away, and leaves the note")
    pardec.good("runs", "name", ids[0], "plain", "--db", db)
    shutil.copy(db, pardec.folder / "copy.sqlite")
    pardec.good("merge", "into.sqlite", "copy.sqlite")
    check(query(pardec.folder / "into.sqlite", "SELECT * FROM invocation ORDER BY uuid") == query(db, "SELECT * FROM invocation ORDER BY uuid"), "merge takes names and notes along")


def comparing(check, pardec, ids):
    told = json.loads(pardec.good("runs", "compare", "plain", ids[1][:10], "--db", "r.sqlite", "--format", "json"))
    check([(row["arm"], row["run"]) for row in told["rows"]] ==
          [("ar", "plain"), ("ar", ids[1][:8]), ("prompt-lookup", "plain"), ("prompt-lookup", ids[1][:8])], f"{told['rows']}")
    for row in told["rows"]:
        alone = json.loads(pardec.good("compare", "--db", "r.sqlite", "--run", row["invocation"], "--format", "json"))["rows"]
        same = next(other for other in alone if other["arm"] == row["arm"])
        for key in ("n", "failed", "examples_per_second", "speedup", "tokens_per_forward"):
            check(row[key] == same[key], f"{key} as compare has it: {row}, {same}")
        check(row["score"] == same["f1_micro"], f"score as compare has it: {row}, {same}")
    second = told["rows"][3]
    check(second["identical"] == 1 and second["score_difference"]["estimate"] == 0, f"the same greedy answers: {second}")
    notes = "\n".join(told["notes"])
    check("not measured side by side" in notes, notes)
    check("prompt-lookup.draft: " in notes and "now 3" in notes and "runs: 1, now 2" in notes and "threads" not in notes and "model" not in notes, notes)
    third = json.loads(pardec.good("runs", "compare", ids[0], ids[2], "--db", "r.sqlite", "--format", "json"))
    check(len(third["rows"]) == 3 and all(row["score_difference"] is None for row in third["rows"]), f"nothing in common: {third['rows']}")
    change(pardec.folder / "r.sqlite", "UPDATE run SET commit_hash = 'other', threads = 7 WHERE invocation = ?", ids[1])
    change(pardec.folder / "r.sqlite", "INSERT INTO environment (hash, json) VALUES ('x', '{\"processor\": \"another\"}')")
    change(pardec.folder / "r.sqlite", "UPDATE run SET environment_id = (SELECT id FROM environment WHERE hash = 'x') WHERE invocation = ?", ids[1])
    notes = pardec.good("runs", "compare", "plain", ids[1], "--db", "r.sqlite")
    check("now other." in notes and "threads: 1, now 7" in notes and "now another" in notes, notes)


def plotting(check, pardec, ids):
    """Over the dates of all invocations: every one that has the value, its name beside it, lines apart where settings differ."""
    script = pardec.good("plot", "--db", "r.sqlite", "--x", "date", "--y", "tokens_per_forward", "--script")
    dates = [row["date"] for row in query(pardec.folder / "r.sqlite", "SELECT min(started_utc) AS date FROM run GROUP BY invocation ORDER BY date")]
    first = datetime.datetime.fromisoformat(dates[0][:16] + ":00+00:00")
    check(f"minutes since {dates[0][:10]} {dates[0][11:16]} UTC" in script and "plain" in script, script)
    check("oa-mine" in script and "mt-bench" in script and "first" in script and "second" in script and "draft" in script, f"lines are told apart: {script}")
    for date in dates:
        minutes = (datetime.datetime.fromisoformat(date.replace("Z", "+00:00")) - first) / datetime.timedelta(minutes=1)
        check(any(abs(float(found) - minutes) < 0.02 for found in re.findall(r"^ *(\d+(?:\.\d+)?) \d", script, re.M)), f"a point at minute {minutes}: {script}")
    ran = pardec("plot", "--db", "r.sqlite", "--x", "dates", "--y", "speedup", "--script")
    check(ran.returncode == 2 and "date" in ran.stderr, f"{ran.stderr}")


def refused(check, pardec, ids):
    change(pardec.folder / "r.sqlite", "UPDATE run SET uuid = 'zz-' || uuid")  # ids that two invocations share the beginning of
    for args, says in ((["compare", "plain"], "two or more"), (["compare", "plain", ids[0]], "named before"), (["compare", "zz", "plain"], "begins the ids of 3"),
                       (["compare", "plain", "nothing"], "'nothing'"), (["name", ids[1], "plain"], "already"), (["name", ids[1]], "ID and TEXT"), (["rm"], "expected ID"),
                       (["rm", ""], "ID is empty"), (["rm", "plain"], "--yes"), (["remove", "plain"], "known: list"), (["list", "x"], "unexpected"),
                       (["--since", "yesterday"], "expected a date"), (["--dataset", "oa-min"], "oa-mine"), (["--limit", "-1"], "--limit")):
        before = counts(pardec.folder / "r.sqlite")
        ran = pardec("runs", *args, "--db", "r.sqlite")
        check(ran.returncode == 2 and says in ran.stderr and len(ran.stderr.splitlines()) == 1, f"{args}: exit {ran.returncode}: {ran.stderr}")
        check(counts(pardec.folder / "r.sqlite") == before, f"{args}: changed the database")
    ran = pardec("runs", "name", "a", "b", "--db", "none.sqlite")
    check(ran.returncode == 2 and not (pardec.folder / "none.sqlite").exists(), f"no database is made: {ran.stderr}")


def on_terminal(pardec, answer, *args):
    """The call with a terminal as its input, on which somebody types."""
    mine, theirs = pty.openpty()
    os.write(mine, answer)
    ran = subprocess.run(pardec.arguments(args), cwd=pardec.folder, stdin=theirs, capture_output=True, text=True, timeout=60, env=clean_environment())
    os.close(mine)
    os.close(theirs)
    return ran


def removing(check, pardec, ids):
    db = pardec.folder / "r.sqlite"
    before = counts(db)
    ran = on_terminal(pardec, b"n\n", "runs", "rm", ids[2], "--db", "r.sqlite")
    check(ran.returncode == 0 and "[y/N]" in ran.stderr and counts(db) == before, f"'n' keeps it: {ran}")
    change(db, "UPDATE run SET status = 'running' WHERE invocation = ?", ids[2])
    ran = on_terminal(pardec, b"y\n", "runs", "rm", ids[2], "--db", "r.sqlite")
    check(ran.returncode == 2 and "running" in ran.stderr and counts(db) == before, f"what runs is kept: {ran}")
    pardec.good("runs", "rm", ids[2], "--yes", "--db", "r.sqlite")
    after = counts(db)
    check(after["run"] == before["run"] - 1 and after["generation"] == before["generation"] - 6, f"{before}, {after}")
    check(after["model"] == before["model"] - 1 and after["dataset"] == before["dataset"] - 1 and after["sample"] == before["sample"] - 6, f"what it alone refers to: {before}, {after}")
    ran = on_terminal(pardec, b"y\n", "runs", "rm", "plain", "--db", "r.sqlite")
    check(ran.returncode == 0 and "removed" in ran.stdout, f"'y' removes it: {ran}")
    check([row["invocation"] for row in rows(pardec)] == [ids[1]], "the other stays")
    check(not query(db, "PRAGMA foreign_key_check") and query(db, "PRAGMA integrity_check") == [{"integrity_check": "ok"}], "a sound database")
    shared = counts(db)
    check(shared["sample"] == 6 and shared["dataset"] == 1 and shared["invocation"] == 1, f"what the other refers to as well stays: {shared}")
    pardec.good("runs", "rm", ids[1], "--yes", "--db", "r.sqlite")
    check(all(n == 0 for n in counts(db).values()), f"all gone: {counts(db)}")
    check("No run matches" in pardec.good("runs", "--db", "r.sqlite"), "an empty list says so")


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        ids = make(pardec)
        listing(check, pardec, ids)
        headline(check, pardec, ids)
        naming(check, pardec, ids)
        comparing(check, pardec, ids)
        plotting(check, pardec, ids)
        refused(check, pardec, ids)
        removing(check, pardec, ids)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
