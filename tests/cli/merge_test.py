"""`pardec merge`: shards come together in one file; and the queries of results/*.md answer on
it.
"""

import contextlib
import re
import shutil
import sqlite3

import pytest

from harness import ROOT, query

TABLES = ("run", "block", "job", "generation", "score", "sample", "step_histogram")


def counts(db):
    return {table: query(db, f"SELECT count(*) AS n FROM {table}")[0]["n"] for table in TABLES}


def dump(db):
    with contextlib.closing(sqlite3.connect(f"file:{db}?mode=ro", uri=True)) as connection:
        return list(connection.iterdump())


def keys(db):
    rows = query(
        db,
        "SELECT label, key, generation.text FROM generation JOIN run ON run.id = run_id JOIN sample"
        " ON sample.id = sample_id",
    )
    return {(row["label"], row["key"], row["text"]) for row in rows}


@pytest.fixture(scope="module")
def shards(pardec):
    """The databases of two shards."""
    found = [pardec.folder / f"shard-{i}.sqlite" for i in (0, 1)]
    for i, shard in enumerate(found):
        pardec.good(
            "run",
            "--model",
            ROOT / "experiments" / "quickstart" / "model",
            "--decoder",
            "ar,hpd",
            "--dataset",
            "oa-mine",
            "--limit",
            12,
            "--block",
            3,
            "--shard",
            f"{i}/2",
            "--db",
            shard,
            "--progress",
            "none",
        )
    return found


@pytest.fixture(scope="module")
def merged(pardec, shards):
    """What `merge` prints, the database, and whether its sources stayed as they were."""
    before = [dump(shard) for shard in shards]
    together = pardec.folder / "all.sqlite"
    said = pardec.good("merge", together, *shards, "--format", "md")
    return said, together, [dump(shard) for shard in shards] == before


@pytest.fixture
def together(merged):
    return merged[1]


def test_what_is_merged_stays_as_it_is(merged):
    assert merged[2]


def test_every_row_of_both_is_there(merged, shards):
    said, together, _ = merged
    sums = {table: sum(counts(shard)[table] for shard in shards) for table in TABLES}
    assert counts(together) == {**sums, "sample": counts(together)["sample"]}
    assert f"| {sums['run']} | " in re.sub(" +", " ", said.splitlines()[-3]), "the last row"


def test_the_answers_are_those_of_both(together, shards):
    assert keys(together) == keys(shards[0]) | keys(shards[1])
    assert len(keys(together)) == 24


def test_a_second_time_changes_nothing(pardec, together, shards):
    copy = shutil.copy(together, pardec.folder / "twice.sqlite")
    once = dump(copy)
    pardec.good("merge", copy, *shards, shards[0])
    assert dump(copy) == once


def test_compare_reads_a_merged_database(pardec, together):
    ran = pardec("compare", "--db", together, "--format", "json")
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(
    "sources, said",
    [
        ([], "from"),
        (["shard-0.sqlite", "none.sqlite"], "none.sqlite"),
        (["shard-0.sqlite", "words.sqlite"], "words.sqlite"),
    ],
    ids=["no source", "a source that is not there", "a source that is none"],
)
def test_what_cannot_be_merged_is_refused_and_makes_no_database(pardec, shards, sources, said):
    (pardec.folder / "words.sqlite").write_text("no database")
    ran = pardec("merge", "new.sqlite", *sources)
    assert ran.returncode == 2
    assert said in ran.stderr
    assert len(ran.stderr.splitlines()) == 1
    assert not (pardec.folder / "new.sqlite").exists()


def test_a_database_is_not_merged_into_itself(pardec, shards):
    ran = pardec("merge", shards[0], shards[0])
    assert ran.returncode == 2
    assert "merged into" in ran.stderr


def test_the_queries_of_the_pages_answer(together):
    pages = "".join(page.read_text() for page in sorted((ROOT / "results").glob("*.md")))
    blocks = re.findall(r"```sql\n(.*?)```", pages, re.S)
    asked = [sql.strip() for block in blocks for sql in block.split(";") if sql.strip()]
    assert len(asked) >= 6
    for sql in asked:
        assert query(together, sql) or "What failed" in sql, sql
