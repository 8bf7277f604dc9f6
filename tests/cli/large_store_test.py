"""A run of a million generations: `compare` and `report` of it within 10 s of processor time and
1 GB, and of a small run beside it within 2 s. Databases of 64 processes, 20,480 generations each:
`merge` within 5 minutes, and then `report` within 20 s.

A real run is copied within its database: first to examples of its own, then as further runs.
"""

import contextlib
import multiprocessing
import os
import shutil
import sqlite3

import pytest
from harness import ROOT, query, write_lines

QUICKSTART = ROOT / "experiments" / "quickstart" / "model"
SECONDS, SECONDS_OF_SMALL, BYTES = 10, 2, 1e9
INVOCATIONS, GENERATIONS = 1, 1048576  # generations of each invocation
PARTS, OF_PART = 64, 20480  # databases of one run, generations of each
SECONDS_OF_MERGE, SECONDS_AFTER_IT, BYTES_AFTER_IT = 300, 20, 2e9

# One copy of all rows up to the given ids, with new ids after them: as other examples (:apart 0),
# or as another invocation over the same ones (:apart 1).
COPY = """
INSERT INTO run SELECT id + :run, uuid || :name, invocation || :name, label, decoder, options,
    form, baseline, experiment_id, environment_id, dataset_id, model_id, draft_model_id,
    config, config_hash, oracle, untrained, seed, device, dtype, threads, batch_size, repeats,
  arm_order, shard, commit_hash, build_type, prompt_hash, argv, status, started_utc, ended_utc
    FROM run WHERE :apart;
INSERT INTO sample SELECT id + :sample, dataset_id, key || :name, cluster || :name, category,
    text, fields FROM sample WHERE id <= :sample AND NOT :apart;
INSERT INTO block SELECT id + :block, run_id + :apart * :run, repeat, position + (1 - :apart) *
    :block, block_key || :name, samples, example_count, arms, process, wall_ns, passes,
    job_passes,
    stream_passes, experts_read, cpu_ns, waited_ns, stolen_ns, mhz, traced, load FROM block WHERE id <= :block;
INSERT INTO job SELECT {job} FROM job WHERE id <= :job;
INSERT INTO step_histogram SELECT job_id + :job, emitted, forwards FROM step_histogram WHERE
    job_id <= :job;
INSERT INTO generation SELECT id + :generation, run_id + :apart * :run, sample_id + (1 - :apart) *
    :sample, repeat, job_id + :job, text, error, tokens, fields, field_count, stop, identical,
    first_difference, gap_at_difference FROM generation WHERE id <= :generation;
INSERT INTO score SELECT id + :score, generation_id + :generation, metric, version, field, value,
    is_nan, details FROM score WHERE id <= :score;
"""
# Of a job; its other columns are as they were.
NEW = {
    "id": "id + :job",
    "run_id": "run_id + :apart * :run",
    "block_id": "block_id + :block",
    "key": (
        "CASE :apart WHEN 1 THEN key ELSE (SELECT json_group_array(value || :name) FROM"
        " json_each(job.key)) END"
    ),
}


def copy(connection, name, apart):
    """Doubles the examples of the runs, or the invocations."""
    top = {
        table: connection.execute(f"SELECT max(id) FROM {table}").fetchone()[0]
        for table in ("run", "sample", "block", "job", "generation", "score")
    }
    job = ", ".join(
        NEW.get(column, column) for _, column, *_ in connection.execute("PRAGMA table_info(job)")
    )
    for statement in COPY.strip().replace("{job}", job).split(";\n"):
        connection.execute(statement.rstrip(";"), {**top, "name": name, "apart": apart})


def grow(db, invocations, generations):
    """So many invocations of so many generations, each a power of two times what the database
    holds.
    """
    with contextlib.closing(sqlite3.connect(db, isolation_level=None)) as connection:
        connection.executescript(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -200000;"
            " PRAGMA temp_store = MEMORY; DROP TRIGGER score_not_under_oracle; BEGIN;"
        )
        held = connection.execute("SELECT count(*) FROM generation").fetchone()[0]
        for i in range((generations // held).bit_length() - 1):
            copy(connection, f"-{i}", 0)
        for i in range(invocations.bit_length() - 1):
            copy(connection, f"-run{i}", 1)
        connection.execute("COMMIT")


def template(pardec, db, count=32):
    """A run of some products of two values by two arms."""
    fields = [
        {"name": "Brand", "references": ["Green Mountain"]},
        {"name": "Roast", "references": ["dark"]},
    ]
    products = [
        {
            "id": f"p{i}",
            "category": "Coffee" if i % 2 else "Tea",
            "text": f"Green Mountain {i} dark roast whole bean coffee, 12 oz bag",
            "fields": fields,
        }
        for i in range(count)
    ]
    write_lines(pardec.folder / "data" / "jsonl" / "test.jsonl", products)
    pardec.good(
        "run", "--model", QUICKSTART, "--decoder", "ar,hpd", "--data-root", "data", "--dataset",
        "jsonl", "--per-field", 4, "--block", 4, "--db", db, "--progress", "none",
    )


@pytest.fixture(scope="module")
def db(pardec):
    """A database of the large run, and of a small one after it."""
    db = pardec.folder / "large.sqlite"
    template(pardec, db)
    # Apart: what this process has held counts as its children's most.
    growing = multiprocessing.Process(target=grow, args=(db, INVOCATIONS, GENERATIONS))
    growing.start()
    growing.join()
    assert growing.exitcode == 0
    template(pardec, db)
    return db


def cost(pardec, *args):
    """Seconds of processor time and bytes of a call, in a process of its own."""
    process = pardec.start(*args, start_new_session=True)  # no fork: wait4 wants a child of this process
    complaint = (process.stdout.read(), process.stderr.read())[1]
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, complaint
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def test_the_database_is_large(db):
    held = query(db, "SELECT count(*) AS n FROM generation")[0]["n"] - 64
    assert held == INVOCATIONS * GENERATIONS


@pytest.mark.parametrize(
    "age, allowed", [(1, SECONDS), (0, SECONDS_OF_SMALL)], ids=["large", "small"]
)
@pytest.mark.parametrize(
    "verb, flags",
    [("compare", ["--format", "json"]), ("report", ["-o", "page.html"])],
    ids=["compare", "report"],
)
def test_a_verb_takes_few_seconds_and_little_memory(pardec, db, age, allowed, verb, flags):
    ids = [
        row["invocation"]
        for row in query(db, "SELECT DISTINCT invocation FROM run ORDER BY id DESC")
    ]
    seconds, size = cost(pardec, verb, "--db", db, "--run", ids[age], *flags)
    print(f"{verb}: {seconds:.2f} s of processor time, {size / 1e9:.2f} GB")
    assert 0 < seconds <= allowed
    assert size <= BYTES


# The rows of another process: other examples of the same runs.
OTHERS = """
UPDATE sample SET key = key || :name, cluster = cluster || :name;
UPDATE job SET key = (SELECT json_group_array(value || :name) FROM json_each(job.key)), process =
    process || :name;
UPDATE block SET block_key = block_key || :name, samples = (SELECT json_group_array(value || :name)
    FROM json_each(block.samples)), process = process || :name, position = position + :first;
"""


def part(whole, db, number):
    """A copy of a database, as the process of another rank has it."""
    shutil.copy(whole, db)
    with contextlib.closing(sqlite3.connect(db, isolation_level=None)) as connection:
        connection.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;")
        blocks = connection.execute("SELECT max(position) + 1 FROM block").fetchone()[0]
        for statement in OTHERS.strip().split(";\n"):
            connection.execute(
                statement.rstrip(";"), {"name": f"-part{number}", "first": number * blocks}
            )
        connection.execute("COMMIT")


@pytest.fixture(scope="module")
def merged(pardec):
    """The merged database, and the cost of merging."""
    whole = pardec.folder / "part.sqlite"
    template(pardec, whole, 40)
    growing = multiprocessing.Process(target=grow, args=(whole, 1, OF_PART))
    growing.start()
    growing.join()
    assert growing.exitcode == 0
    parts = [pardec.folder / f"part-{i}.sqlite" for i in range(PARTS)]
    for i, db in enumerate(parts):
        part(whole, db, i)
    spent = cost(pardec, "merge", "merged.sqlite", *parts)
    for db in parts:
        db.unlink()
    return pardec.folder / "merged.sqlite", spent


def test_the_databases_of_many_processes_are_merged_in_minutes(merged):
    db, (seconds, size) = merged
    print(f"merge: {seconds:.1f} s of processor time, {size / 1e9:.2f} GB")
    held = query(db, "SELECT count(*) AS n, count(DISTINCT sample_id) AS samples FROM generation")[0]
    assert held == {"n": PARTS * OF_PART, "samples": PARTS * OF_PART // 2}
    assert 0 < seconds <= SECONDS_OF_MERGE
    assert size <= BYTES


@pytest.mark.parametrize(
    "verb, flags",
    [("compare", ["--format", "json"]), ("report", ["-o", "merged.html"])],
    ids=["compare", "report"],
)
def test_a_merged_run_is_shown_in_seconds(pardec, merged, verb, flags):
    seconds, size = cost(pardec, verb, "--db", merged[0], *flags)
    print(f"{verb}: {seconds:.2f} s of processor time, {size / 1e9:.2f} GB")
    assert 0 < seconds <= SECONDS_AFTER_IT
    assert size <= BYTES_AFTER_IT
