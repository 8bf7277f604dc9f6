"""A run of a million generations: `compare` and `report` of it within 10 s of processor time and 1 GB, and of a small run beside it within 2 s.

A real run is copied within its database: first to examples of its own, then as further runs.
Usage: large_store_test.py PROGRAM [INVOCATIONS GENERATIONS [FOLDER]]     GENERATIONS of each; FOLDER: keep the database there
"""
import contextlib
import json
import multiprocessing
import os
import pathlib
import sqlite3
import sys

from harness import ROOT, Checks, query, scratch

QUICKSTART = ROOT / "experiments" / "quickstart" / "model"
SECONDS, SECONDS_OF_SMALL, BYTES = 10, 2, 1e9

# One copy of all rows up to the given ids, with new ids behind them: as other examples (:apart 0), or as another invocation over the same ones (:apart 1).
COPY = """
INSERT INTO run SELECT id + :run, uuid || :name, invocation || :name, label, decoder, options, form, baseline, experiment_id, environment_id, dataset_id, model_id, draft_model_id,
  config, config_hash, oracle, untrained, seed, device, dtype, threads, batch_size, repeats, arm_order, shard, commit_hash, build_type, prompt_hash, argv, status, started_utc, ended_utc
  FROM run WHERE :apart;
INSERT INTO sample SELECT id + :sample, dataset_id, key || :name, cluster || :name, category, text, fields FROM sample WHERE id <= :sample AND NOT :apart;
INSERT INTO block SELECT id + :block, run_id + :apart * :run, repeat, position + (1 - :apart) * :block, block_key || :name, samples, example_count, arms, process, wall_ns, passes, job_passes,
  stream_passes, cpu_ns, waited_ns, stolen_ns, mhz, traced FROM block WHERE id <= :block;
INSERT INTO job SELECT {job} FROM job WHERE id <= :job;
INSERT INTO step_histogram SELECT job_id + :job, emitted, forwards FROM step_histogram WHERE job_id <= :job;
INSERT INTO generation SELECT id + :generation, run_id + :apart * :run, sample_id + (1 - :apart) * :sample, repeat, job_id + :job, text, error, tokens, fields, field_count, stop, identical,
  first_difference, gap_at_difference FROM generation WHERE id <= :generation;
INSERT INTO score SELECT id + :score, generation_id + :generation, metric, version, field, value, is_nan, details FROM score WHERE id <= :score;
"""
# Of a job; its other columns are as they were.
NEW = {"id": "id + :job", "run_id": "run_id + :apart * :run", "block_id": "block_id + :block",
       "key": "CASE :apart WHEN 1 THEN key ELSE (SELECT json_group_array(value || :name) FROM json_each(job.key)) END"}


def copy(connection, name, apart):
    """Doubles the examples of the runs, or the invocations."""
    top = {table: connection.execute(f"SELECT max(id) FROM {table}").fetchone()[0] for table in ("run", "sample", "block", "job", "generation", "score")}
    job = ", ".join(NEW.get(column, column) for _, column, *_ in connection.execute("PRAGMA table_info(job)"))
    for statement in COPY.strip().replace("{job}", job).split(";\n"):
        connection.execute(statement.rstrip(";"), {**top, "name": name, "apart": apart})


def grow(db, invocations, generations):
    """So many invocations of so many generations, each a power of two times what the database holds."""
    with contextlib.closing(sqlite3.connect(db, isolation_level=None)) as connection:
        connection.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -200000; PRAGMA temp_store = MEMORY; DROP TRIGGER score_not_under_oracle; BEGIN;")
        held = connection.execute("SELECT count(*) FROM generation").fetchone()[0]
        for i in range((generations // held).bit_length() - 1):
            copy(connection, f"-{i}", 0)
        for i in range(invocations.bit_length() - 1):
            copy(connection, f"-run{i}", 1)
        connection.execute("COMMIT")


def template(pardec, db):
    """A run of 32 products of two values by two arms."""
    data = pardec.folder / "data" / "jsonl"
    data.mkdir(parents=True, exist_ok=True)
    with (data / "test.jsonl").open("w") as out:
        for i in range(32):
            out.write(json.dumps({"id": f"p{i}", "category": "Coffee" if i % 2 else "Tea", "text": f"Green Mountain {i} dark roast whole bean coffee, 12 oz bag",
                                  "fields": [{"name": "Brand", "references": ["Green Mountain"]}, {"name": "Roast", "references": ["dark"]}]}) + "\n")
    pardec.good("run", "--model", QUICKSTART, "--decoder", "ar,hpd", "--data-root", pardec.folder / "data", "--dataset", "jsonl", "--per-field", 4, "--block", 4, "--db", db, "--progress", "none")


def cost(pardec, *args):
    """Seconds of processor time and bytes of a call, in a process of its own."""
    process = pardec.start(*args, start_new_session=True)  # no fork: wait4 wants a child of this process
    complaint = (process.stdout.read(), process.stderr.read())[1]
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{args[0]}: exit {process.returncode}: {complaint}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def main():
    check = Checks()
    invocations, generations = (int(sys.argv[2]), int(sys.argv[3])) if len(sys.argv) > 3 else (1, 1048576)
    with scratch(sys.argv[1]) as pardec:
        db = (pathlib.Path(sys.argv[4]) if len(sys.argv) > 4 else pardec.folder) / "large.sqlite"
        if not db.exists():
            template(pardec, db)
            # Apart: what this process has held counts as its children's most.
            growing = multiprocessing.Process(target=grow, args=(db, invocations, generations))
            growing.start()
            growing.join()
            check(growing.exitcode == 0, f"growing: exit {growing.exitcode}")
            template(pardec, db)
        held = query(db, "SELECT count(*) AS n FROM generation")[0]["n"] - 64
        check(held == invocations * generations, f"{held} generations")
        print(f"{held} generations in {invocations} runs, {db.stat().st_size / 1e9:.2f} GB", flush=True)
        ids = [row["invocation"] for row in query(db, "SELECT DISTINCT invocation FROM run ORDER BY id DESC")]
        for run, seconds_allowed in ((ids[1], SECONDS), (ids[0], SECONDS_OF_SMALL)):
            for verb, *flags in (("compare", "--format", "json"), ("report", "-o", pardec.folder / "page.html")):
                seconds, size = cost(pardec, verb, "--db", db, "--run", run, *flags)
                print(f"{verb}: {seconds:.2f} s of processor time, {size / 1e9:.2f} GB", flush=True)
                check(0 < seconds <= seconds_allowed and size <= BYTES, f"{verb}: {seconds} s, {size} bytes")
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
