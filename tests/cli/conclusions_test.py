"""What is concluded of scores: pairs, failures, empty answers, and several sittings.

Usage: conclusions_test.py PROGRAM
"""
import json
import pathlib
import sys

from harness import ROOT, Checks, change, query, records, scratch, write_lines

QUICKSTART = ROOT / "experiments" / "quickstart" / "model"
ANSWERS = """SELECT generation.id, sample.key, generation.error, generation.fields, score.value AS f1 FROM generation
             JOIN run ON run.id = run_id JOIN sample ON sample.id = sample_id
             LEFT JOIN score ON score.generation_id = generation.id AND metric = 'extractgpt_f1' AND score.field = '' WHERE label = ? ORDER BY sample.key"""


def compared(pardec, db, arm):
    """An arm's row, the difference of its first score, and the warnings of it."""
    shown = json.loads(pardec.good("compare", "--db", db, "--format", "json"))
    row = next(r for r in shown["rows"] if r["arm"] == arm)
    difference = next(value for key, value in row.items() if key.endswith("micro_difference") and isinstance(value, dict))
    return row, difference, [w for w in shown["warnings"] if w["arm"] == arm]


def equal_arms(check, pardec):
    """`prompt-lookup` gives ar's ids: an arm of equal answers, whose losses are then made by hand."""
    db = pardec.folder / "equal.sqlite"
    pardec.good("run", "--model", QUICKSTART, "--arm", "ar=ar", "--arm", "lookup=prompt-lookup", "--dataset", "oa-mine", "--limit", 24, "--block", 4,
                "--batch-size", 2, "--db", db, "--progress", "none")
    row, difference, warnings = compared(pardec, db, "lookup")
    check(row["identical"] == 1 and difference["estimate"] == 0, f"equal answers: {row['identical']}, {difference}")
    low, high = difference["interval"]
    check(low == high == 0, f"its answers are ar's by design, so there is no doubt: {difference}")
    # Of a decoder that only happened to give them, more than a tenth is open.
    change(db, "UPDATE run SET decoder = 'hpd', options = '{}' WHERE label = 'lookup'")
    row, difference, warnings = compared(pardec, db, "lookup")
    low, high = difference["interval"]
    check(low < -0.1 and high > 0.1 and row["verdict"].startswith("open"), f"24 equal answers: {difference}, {row['verdict']}")
    return db


def not_run(check, pardec, db):
    """What one arm was never asked counts for neither, whichever answers these are."""
    lost = [one for one in query(db, ANSWERS, "lookup") if one["f1"] < 0.5][:8]
    check(len(lost) >= 4, f"{len(lost)} answers of 24 that are half wrong or worse")
    for one in lost:
        change(db, "DELETE FROM score WHERE generation_id = ?", one["id"])
        change(db, "DELETE FROM generation WHERE id = ?", one["id"])
    row, difference, warnings = compared(pardec, db, "lookup")
    check(difference["estimate"] == 0 and difference["interval"][0] < 0 < difference["interval"][1], f"on what both answered there is no difference: {difference}")
    told = [w for w in warnings if w["code"] == "unpaired"]
    check(len(told) == 1 and "left out" in told[0]["text"], f"the table says what is left out: {warnings}")


def failures(check, pardec):
    """Titles that overflow the context fail: wrong answers, also where an annotator says that there is no value."""
    root = pardec.folder / "data"
    lines = records("oa-mine")[:10]
    for line in lines[:2]:
        line["input"] = " ".join(["word"] * 9000)
    write_lines(root / "oa-mine" / "test.jsonl", lines)
    for extra in ("train.jsonl",):
        write_lines(root / "oa-mine" / extra, records("oa-mine", "train") if (ROOT / "datasets/samples/oa-mine" / extra).exists() else lines)
    db = pardec.folder / "failed.sqlite"
    ran = pardec("run", "--model", QUICKSTART, "--arm", "ar=ar", "--arm", "lookup=prompt-lookup", "--dataset", "oa-mine", "--data-root", root,
                 "--db", db, "--progress", "none")
    check(ran.returncode == 3, f"failed samples: exit {ran.returncode}: {ran.stderr[-300:]}")
    failed = [one for one in query(db, ANSWERS, "ar") if one["error"]]
    check(len(failed) == 2 and all(one["f1"] == 0 for one in failed), f"failed answers have the score of wrong ones: {failed}")
    before = query(db, "SELECT generation_id, metric, field, value FROM score ORDER BY 1, 2, 3")
    gone = change(db, "DELETE FROM score WHERE generation_id IN (SELECT id FROM generation WHERE error IS NOT NULL) AND metric <> 'parsed'")
    check(gone > 0, "there were scores of failed answers")
    pardec.good("score", "--db", db)
    check(query(db, "SELECT generation_id, metric, field, value FROM score ORDER BY 1, 2, 3") == before, "score gives failed answers what run gave them")


def empty_answers(check, pardec):
    """On SQuAD null is an answer; nothing, or what cannot be read, is none."""
    db = pardec.folder / "squad.sqlite"
    pardec("run", "--model", QUICKSTART, "--arm", "ar=ar,ask=separately", "--dataset", "squad", "--limit", 8, "--per-field", 8, "--max-new-tokens", 40,
           "--db", db, "--progress", "none")
    row = query(db, """SELECT generation.id, generation.fields, sample.fields AS asked FROM generation JOIN sample ON sample.id = sample_id
                       WHERE sample.fields LIKE '%"references":[]%' LIMIT 1""")
    if not check(row, "a question without an answer in the sample"):
        return
    fields, asked = json.loads(row[0]["fields"]), json.loads(row[0]["asked"])
    at = next(i for i, field in enumerate(asked) if not field["references"])

    def scored(**answer):
        fields[at].pop("no_value", None)
        fields[at].update(answer)
        change(db, "UPDATE generation SET fields = ? WHERE id = ?", json.dumps(fields), row[0]["id"])
        pardec.good("score", "--db", db)
        return query(db, "SELECT value FROM score WHERE generation_id = ? AND metric = 'token_f1' AND field = ? ORDER BY version DESC LIMIT 1", row[0]["id"], asked[at]["name"])[0]["value"]

    check(scored(text="", no_value=True) == 0, "an empty answer is not null")
    check(scored(text="") == 1, "null, which is stored as no text, is right")
    check(scored(text="Paris") == 0, "an answer to what has none is wrong")
    # Random weights write what cannot be read: it earns nothing, whatever is asked for.
    db = pardec.folder / "noise.sqlite"
    model = pardec.synthesise("noise")
    pardec("run", "--model", model, "--arm", "ar=ar,ask=together", "--dataset", "squad", "--limit", 8, "--max-new-tokens", 20, "--db", db, "--progress", "none")
    unread = query(db, """SELECT sum(score.value) AS earned, count(*) AS n FROM score JOIN generation ON generation.id = generation_id
                          WHERE metric = 'token_f1' AND generation_id IN (SELECT generation_id FROM score WHERE metric = 'parsed' AND value = 0)""")[0]
    check(unread["n"] > 0 and unread["earned"] == 0, f"what could not be read earns nothing: {unread}")


def sittings(check, pardec):
    """Two runs of one command are two sittings: their speedup has an interval over sittings, wider than each one's."""
    db = pardec.folder / "sittings.sqlite"
    for _ in range(3):
        pardec.good("run", "--model", QUICKSTART, "--arm", "ar=ar", "--arm", "hpd=hpd", "--dataset", "oa-mine", "--limit", 12, "--block", 2,
                    "--db", db, "--progress", "none")
    ids = [row["invocation"] for row in query(db, "SELECT DISTINCT invocation FROM run ORDER BY id")]
    shown = json.loads(pardec.good("runs", "compare", *ids, "--db", db, "--format", "json"))
    rows = [row for row in shown["rows"] if row["arm"] == "hpd"]
    together = [row for row in rows if row["run"] == "all 3"]
    if check(len(rows) == 4 and len(together) == 1, f"three sittings and one row of all: {rows}"):
        each = [row["speedup"] for row in rows if row["run"] != "all 3"]
        low, high = together[0]["speedup_interval"]
        check(min(each) <= together[0]["speedup"] <= max(each) and low < together[0]["speedup"] < high, f"{together[0]} of {each}")
    check(any("random effects" in note for note in shown["notes"]), f"notes say what it is: {shown['notes']}")
    again = json.loads(pardec.good("compare", "--run", ",".join(ids), "--db", db, "--format", "json"))
    check(again == shown, "compare of several runs says the same")
    # Another command is no sitting of this one.
    pardec.good("run", "--model", QUICKSTART, "--arm", "ar=ar", "--arm", "hpd=hpd,k_max=16", "--dataset", "oa-mine", "--limit", 12, "--block", 2,
                "--db", db, "--progress", "none")
    other = query(db, "SELECT invocation FROM run ORDER BY id DESC LIMIT 1")[0]["invocation"]
    shown = json.loads(pardec.good("runs", "compare", ids[0], other, "--db", db, "--format", "json"))
    check(not any(row["run"].startswith("all") for row in shown["rows"]), f"other settings are not pooled: {shown['rows']}")


def main(program):
    check = Checks()
    with scratch(program) as pardec:
        not_run(check, pardec, equal_arms(check, pardec))
        failures(check, pardec)
        empty_answers(check, pardec)
        sittings(check, pardec)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
