"""`pardec merge`: shards come together in one file; and the queries of results/*.md answer on it.

Usage: merge_test.py PROGRAM
"""
import contextlib
import re
import sqlite3
import sys

from harness import ROOT, Checks, query, scratch

TABLES = ("run", "block", "job", "generation", "score", "sample", "step_histogram")


def counts(db):
    return {table: query(db, f"SELECT count(*) AS n FROM {table}")[0]["n"] for table in TABLES}


def dump(db):
    with contextlib.closing(sqlite3.connect(f"file:{db}?mode=ro", uri=True)) as connection:
        return list(connection.iterdump())


def merging(check, pardec, shards):
    together = pardec.folder / "all.sqlite"
    before = [dump(shard) for shard in shards]
    said = pardec.good("merge", together, *shards, "--format", "md")
    check([dump(shard) for shard in shards] == before, "what is merged stays as it is")
    sums = {table: sum(counts(shard)[table] for shard in shards) for table in TABLES}
    check(counts(together) == {**sums, "sample": counts(together)["sample"]}, f"every row of both: {counts(together)}, expected {sums}")
    keys = lambda db: {(r["label"], r["key"], r["text"]) for r in query(db, "SELECT label, key, generation.text FROM generation JOIN run ON run.id = run_id JOIN sample ON sample.id = sample_id")}
    check(keys(together) == keys(shards[0]) | keys(shards[1]) and len(keys(together)) == 24, "the same answers")
    check(f"| {sums['run']} | " in re.sub(" +", " ", said.splitlines()[-3]), f"the table's last row has them all: {said}")
    once = dump(together)
    pardec.good("merge", together, *shards, shards[0])
    check(dump(together) == once, "a second time changes nothing")
    compared = pardec("compare", "--db", together, "--format", "json")
    check(compared.returncode == 0, f"compare reads it: {compared.stderr}")
    return together


def refused(check, pardec, shards):
    (pardec.folder / "words.sqlite").write_text("no database")
    for what, args, says in (("no source", ["new.sqlite"], "from"), ("a source that is not there", ["new.sqlite", shards[0], "none.sqlite"], "none.sqlite"),
                             ("a source that is none", ["new.sqlite", shards[0], "words.sqlite"], "words.sqlite")):
        ran = pardec("merge", *args)
        check(ran.returncode == 2 and says in ran.stderr and len(ran.stderr.splitlines()) == 1, f"{what}: exit {ran.returncode}: {ran.stderr}")
        check(not (pardec.folder / "new.sqlite").exists(), f"{what}: no database is made")
    ran = pardec("merge", shards[0], shards[0])
    check(ran.returncode == 2 and "merged into" in ran.stderr, f"into itself: exit {ran.returncode}: {ran.stderr}")


def queries(check, db):
    pages = "".join(page.read_text() for page in sorted((ROOT / "results").glob("*.md")))
    asked = [q.strip() for block in re.findall(r"```sql\n(.*?)```", pages, re.S) for q in block.split(";") if q.strip()]
    check(len(asked) >= 6, f"queries: {len(asked)}")
    for sql in asked:
        rows = query(db, sql)
        check(rows or "What failed" in sql, f"comes out empty: {sql}")


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        shards = [pardec.folder / f"shard-{i}.sqlite" for i in (0, 1)]
        for i, shard in enumerate(shards):
            pardec.good("run", "--model", ROOT / "experiments" / "quickstart" / "model", "--decoder", "ar,hpd", "--dataset", "oa-mine", "--limit", 12, "--block", 3,
                        "--shard", f"{i}/2", "--db", shard, "--progress", "none")
        queries(check, merging(check, pardec, shards))
        refused(check, pardec, shards)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
