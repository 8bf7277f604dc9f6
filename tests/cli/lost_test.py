"""A run whose database goes away says so, and its answers are saved beside; names that hold nothing are refused; shards are read together.

Usage: lost_test.py PROGRAM
"""
import json
import os
import shutil
import sys

from harness import Checks, answers, job_count, query, scratch

ARMS = ["--decoder", "ar,hpd", "--dataset", "oa-mine", "--set", "hpd.stack=6", "--set", "hpd.k_max=6", "--max-new-tokens", 24, "--batch-size", 2, "--block", 12]


def command(model, db, *more):
    return ["run", "--model", model, *ARMS, "--db", db, "--progress", "none", *more]


def names(check, pardec, model):
    """A name that SQLite takes for something else than a file; nothing is run into nothing."""
    before = sorted(pardec.folder.iterdir())
    for name in ("", ":memory:", ":", "file:x.sqlite", "file:x?mode=memory", "file:///tmp/x", "/dev/null", "/dev/full", "."):
        others = [[verb, "--db", name] for verb in ("compare", "score", "report", "plot")] if name in ("", "file:x?mode=memory", "/dev/null") else []
        for verb in (command(model, name), *others):
            ran = pardec(*verb)
            check(ran.returncode == 2 and "expected" in ran.stderr and not ran.stdout,
                  f"{verb[0]} --db '{name}': exit {ran.returncode}: {ran.stderr}")
    check(sorted(pardec.folder.iterdir()) == before, "nothing is made")


def gone(check, pardec, model, wanted):
    """The file is removed, replaced, or its folder removed in mid-run: exit 1, and the answers so far go on elsewhere."""
    def replace(db):
        db.with_name("new").write_bytes(b"another")
        os.replace(db.with_name("new"), db)

    for way, happens in (("removed", lambda db: [p.unlink() for p in db.parent.glob(db.name + "*")]), ("replaced", replace), ("folder", lambda db: shutil.rmtree(db.parent))):
        folder = pardec.folder / way
        folder.mkdir()
        db = folder / "r.sqlite"
        process = pardec.start(*command(model, db))
        while process.poll() is None and job_count(db) < 5:
            pass
        os.kill(process.pid, 19)  # SIGSTOP, so that it has not ended
        running = process.poll() is None
        happens(db)
        os.kill(process.pid, 18)
        out, err = process.communicate(timeout=120)
        saved = folder / "r.sqlite.recovered-1"
        check(running and process.returncode == 1 and not out and f"--resume --db {saved}" in err.splitlines()[-1], f"{way}: exit {process.returncode}: {err}")
        if not check(saved.exists() and job_count(saved) >= 5, f"{way}: {saved} holds what was stored"):
            continue
        ran = pardec(*command(model, saved, "--resume"))
        check(ran.returncode == 0 and answers(saved) == wanted, f"{way}: what was saved goes on: exit {ran.returncode}: {ran.stderr}")


def failing(check, pardec, model):
    """A run that cannot begin leaves no new database, and an old one as it is."""
    for more in (["--trace", "nowhere/t.jsonl"], ["--chat-template", "nowhere.jinja"], ["--resume"], ["--oracle", "recorded:abc"], ["--model", "nowhere"]):
        ran = pardec(*command(model, "none.sqlite", *more))
        check(ran.returncode == 2 and not list(pardec.folder.glob("none.sqlite*")), f"{more}: exit {ran.returncode}: {ran.stderr}")


def shards(check, pardec, model, wanted):
    """compare, report, plot and score take all shards, whichever is the newest; each goes on with its own runs."""
    db = pardec.folder / "shards.sqlite"
    pardec.good(*command(model, db, "--shard", "0/3"))
    rows = lambda: json.loads(pardec.good("compare", "--db", db, "--format", "json"))
    table = rows()
    check(any(n.startswith("shards: 0/3 alone") for n in table["notes"]), f"one shard of three is said to be alone: {table['notes']}")
    for shard in ("2/3", "1/3"):
        pardec.good(*command(model, db, "--shard", shard))
    table = rows()
    each = len(wanted) // 2
    check([r["n"] for r in table["rows"]] == [each] * 2 and "shards: 0/3, 1/3, 2/3." in table["notes"], f"all shards: {table}")
    for run in query(db, "SELECT uuid, invocation FROM run"):
        for prefix in (run["uuid"][:8], run["invocation"][:8]):
            told = json.loads(pardec.good("compare", "--db", db, "--run", prefix, "--format", "json"))
            check([r["n"] for r in told["rows"]] == [each] * 2, f"--run {prefix}: {told['rows']}")
    whole = {r["arm"]: r for r in json.loads(pardec.good("compare", "--db", "whole.sqlite", "--format", "json"))["rows"]}
    for row in table["rows"]:
        same = {k: row[k] for k in ("failed", "tokens_per_forward", "identical", "f1_micro", "f1_macro", "blocks")}
        check(same == {k: whole[row["arm"]][k] for k in same}, f"{row['arm']}: shards {same}, whole {whole[row['arm']]}")
    score = json.loads(pardec.good("score", "--db", db, "--format", "json"))
    alone = json.loads(pardec.good("score", "--db", "whole.sqlite", "--format", "json"))
    check([(r["arm"], r["metric"], r["score"], r["n"]) for r in score["rows"]] == [(r["arm"], r["metric"], r["score"], r["n"]) for r in alone["rows"]],
          f"score takes all shards: {score['rows']}")
    pardec.good("report", "--db", db, "-o", "shards.html")
    check("0/3, 1/3, 2/3" in (pardec.folder / "shards.html").read_text(), "the report says which shards it is of")
    check(answers(db) == wanted, "the database itself is as it was")
    # Every shard finds its own runs, although another's are newer.
    before = query(db, "SELECT * FROM job ORDER BY id")
    for shard in ("0/3", "1/3", "2/3"):
        ran = pardec(*command(model, db, "--shard", shard, "--resume"))
        check(ran.returncode == 0, f"--resume of shard {shard}: exit {ran.returncode}: {ran.stderr}")
    check(query(db, "SELECT * FROM job ORDER BY id") == before, "--resume on finished shards does nothing")
    ran = pardec(*command(model, db, "--resume"))
    check(ran.returncode == 2 and "shard: 1/3, now none" in ran.stderr, f"--resume without a shard: exit {ran.returncode}: {ran.stderr}")


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        model = pardec.synthesise("model")
        pardec.good(*command(model, pardec.folder / "whole.sqlite"))
        wanted = answers(pardec.folder / "whole.sqlite")
        names(check, pardec, model)
        failing(check, pardec, model)
        gone(check, pardec, model, wanted)
        shards(check, pardec, model, wanted)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
