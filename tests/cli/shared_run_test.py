"""One run by several processes that mpirun starts: the answers of one process; a rank that is
killed loses its block in flight alone, and --resume goes on with another number of ranks.
"""

import contextlib
import json
import os
import re
import shutil
import signal
import sqlite3
import time

import pytest
from harness import SAMPLES, answers, job_count, query, records, write_lines
from ranks import ended, need_mpi, process_of, start

ARMS = [
    "--decoder", "ar,hpd", "--dataset", "oa-mine,ae-110k", "--set", "hpd.stack=2", "--set",
    "hpd.k_max=6", "--max-new-tokens", "12", "--limit", "28", "--batch-size", "2", "--block", "2",
    "--runs", "6", "--threads", "1", "--progress", "none",
]
GRID = ["--grid", "seed=1,2"]


@pytest.fixture(scope="module", autouse=True)
def with_mpi(pardec):
    need_mpi(pardec.path)


@pytest.fixture(scope="module")
def shared(pardec, model):
    """Starts a run by some ranks."""

    def started(db, ranks, *flags, verb="run"):
        line = [pardec.path, verb, "--model", model, *ARMS, "--db", db, *flags]
        return start([line] * ranks, pardec.folder)

    return started


@pytest.fixture(scope="module")
def whole(pardec, model):
    """The database of one process, and its table."""
    db = pardec.folder / "whole.sqlite"
    pardec.good("run", "--model", model, *ARMS, "--db", db)
    return db


def good(mpirun):
    code, out, said = ended(mpirun)
    assert code == 0, said
    return out, said


def left(db):
    """Files that ranks have beside the database."""
    return [*db.parent.glob(f"{db.name}.*rank-*")]


def check_complete(db, whole):
    """The answers of one process, each once; each block measured whole by one process, and all arms
    of a block by the same one; nothing left of the ranks.
    """
    assert answers(db) == answers(whole)
    blocks = query(db, "SELECT run_id, position, process FROM block")
    assert len(blocks) == len(query(whole, "SELECT 1 FROM block"))
    assert all(block["process"] for block in blocks)
    by_block = query(
        db,
        """SELECT count(DISTINCT block.process) AS n FROM block JOIN run ON run.id = run_id
           GROUP BY dataset_id, position, repeat""",
    )
    assert {row["n"] for row in by_block} == {1}
    assert {row["status"] for row in query(db, "SELECT status FROM run")} == {"done"}
    assert len(query(db, "SELECT DISTINCT invocation FROM run")) == 1
    assert not left(db)


@pytest.mark.parametrize("ranks", [pytest.param(2, marks=pytest.mark.whole), 4])
def test_ranks_have_the_answers_of_one_process(pardec, shared, whole, ranks):
    db = pardec.folder / f"ranks{ranks}.sqlite"
    out, said = good(shared(db, ranks))
    check_complete(db, whole)
    assert len(query(db, "SELECT DISTINCT process FROM block")) > 1, "the work was shared"
    assert len(re.findall("database: ", said)) == 1
    assert out.count("all columns: --wide") == 1


def jobs(db):
    """Each stored job, with the process that ran it."""
    rows = query(
        db,
        """SELECT label, name, job.repeat, job.key, job.process FROM job
           JOIN run ON run.id = run_id JOIN dataset ON dataset.id = dataset_id""",
    )
    return {tuple(row.values()) for row in rows}


def kill(mpirun, db, victim):
    """Kills a rank when it has stored some jobs."""
    before = None
    while mpirun.poll() is None:
        time.sleep(0.002)
        own = [db] if victim == 0 else [*db.parent.glob(f"{db.name}.????????.rank-{victim}")]
        if not own or not own[0].exists():
            continue
        count = job_count(own[0])
        before = count if before is None else before
        if count > before:
            break
    os.kill(process_of(mpirun, victim), signal.SIGKILL)
    code, _, said = ended(mpirun)
    assert code != 0 and f"rank {victim} " in said, said


def test_a_run_whose_ranks_were_killed_is_resumed_by_other_numbers_of_ranks(pardec, shared, whole):
    db = pardec.folder / "killed.sqlite"
    for time_of_kill, (ranks, victim) in enumerate([(3, 1), (2, 0), (4, 3)]):
        kill(shared(db, ranks, *["--resume"] * bool(time_of_kill)), db, victim)
    stored = set().union(*(jobs(file) for file in [db, *left(db)] if not file.name.endswith(("-wal", "-shm"))))
    assert stored
    good(shared(db, 2, "--resume"))
    check_complete(db, whole)
    assert stored <= jobs(db), "no job that a killed rank stored was stored again"


@pytest.mark.whole
def test_one_process_goes_on_with_what_killed_ranks_left(pardec, shared, model, whole):
    db = pardec.folder / "alone.sqlite"
    kill(shared(db, 3), db, 2)
    assert left(db)
    pardec.good("run", "--model", model, *ARMS, "--db", db, "--resume")
    check_complete(db, whole)


@pytest.mark.parametrize("whom", ["mpirun", "the ranks"])
def test_a_signal_stops_all_ranks(pardec, shared, whole, whom):
    """mpirun kills the ranks a second after Ctrl-C. Ranks that are asked themselves have the time to
    end their jobs and to merge.
    """
    db = pardec.folder / f"stopped-{whom[:1]}.sqlite"
    mpirun = shared(db, 2)
    while mpirun.poll() is None and not (db.exists() and job_count(db)):
        time.sleep(0.002)
    if whom == "mpirun":
        os.kill(mpirun.pid, signal.SIGINT)
    else:
        for rank in range(2):
            os.kill(process_of(mpirun, rank), signal.SIGTERM)
    code, out, said = ended(mpirun)
    assert code == (1 if whom == "mpirun" else 128 + signal.SIGTERM), said
    assert out == "" and said.count("and the same command with --resume continues") == 1, said
    if whom == "the ranks":
        assert not left(db) and f"all results so far are in {db}" in said
    good(shared(db, 2, "--resume"))
    check_complete(db, whole)


def test_databases_of_another_runs_ranks_stay(pardec, shared, whole):
    db = pardec.folder / "others.sqlite"
    other = db.with_name(f"{db.name}.0123abcd.rank-1")
    other.write_text("of another run")
    good(shared(db, 2))
    assert other.read_text() == "of another run"
    other.unlink()
    check_complete(db, whole)


def test_the_machine_of_each_process_is_kept_and_said(pardec, model, whole):
    """Rank 1 believes to be on another machine."""
    if os.geteuid() != 0:
        pytest.skip("not done here: only root may name a machine")
    db = pardec.folder / "machines.sqlite"
    line = [pardec.path, "run", "--model", model, *ARMS, "--db", db]
    elsewhere = ["unshare", "--uts", "sh", "-c", 'hostname far-away && exec "$@"', "sh", *line]
    out, said = good(start([line, elsewhere], pardec.folder))
    check_complete(db, whole)
    here = os.uname().nodename
    hosts = query(db, "SELECT host, count(*) AS n FROM process JOIN block ON process = uuid GROUP BY 1")
    assert {row["host"] for row in hosts} == {here, "far-away"}
    named = [f"{row['host']} ({row['n']} blocks)" for row in hosts]
    assert "WARNING (machines) all arms: times of several machines: " in out + said
    assert all(name in out + said for name in named)


@pytest.fixture
def edited(pardec, whole):
    """A copy of the whole run, changed by SQL."""

    def made(name, *changes):
        db = pardec.folder / name
        shutil.copy(whole, db)
        with contextlib.closing(sqlite3.connect(db)) as opened, opened:
            for change in changes:
                opened.execute(change)
        return db

    return made


def test_ranks_compare_repeated_answers_with_the_stored_ones(shared, edited):
    """Blocks without a time are run again; other answers give no time."""
    db = edited(
        "changed.sqlite",
        "UPDATE block SET process = NULL, wall_ns = NULL",
        "UPDATE generation SET tokens = '[1]'",
    )
    before = answers(db)
    _, said = good(shared(db, 2, "--resume"))
    assert answers(db) == before
    assert not query(db, "SELECT 1 FROM block WHERE wall_ns IS NOT NULL")
    count = job_count(db)
    assert f"{count} jobs gave other tokens than those stored" in said


@pytest.mark.whole
def test_ranks_leave_failed_jobs_as_they_are_unless_asked(shared, edited, whole):
    failed = "WHERE id IN (SELECT id FROM job WHERE id % 3 = 0)"
    db = edited(
        "failed.sqlite",
        f"UPDATE job SET error = 'power cut' {failed}",
        "UPDATE generation SET error = 'power cut' WHERE job_id % 3 = 0",
        "UPDATE block SET process = NULL, wall_ns = NULL",
    )
    errors = "SELECT key, attempts FROM job WHERE error = 'power cut' ORDER BY id"
    before = query(db, errors)
    good_or_failed = ended(shared(db, 2, "--resume"))
    assert good_or_failed[0] in (0, 3), good_or_failed
    assert query(db, errors) == before
    good(shared(db, 2, "--resume", "--retry-errors"))
    check_complete(db, whole)


def test_ranks_count_jobs_that_fail_again(pardec, model):
    root = pardec.folder / "long"
    shutil.copytree(SAMPLES, root)
    products = records("oa-mine")[:4]
    write_lines(
        root / "oa-mine" / "test.jsonl",
        [{**products[0], "input": "Tolvane " * 4000}, *products[1:]],
    )
    line = [
        pardec.path, "run", "--model", model, "--decoder", "ar", "--dataset", "oa-mine", "--data-root",
        root, "--max-new-tokens", "8", "--block", "1", "--progress", "none", "--db", "long.sqlite",
    ]
    for more in ([], ["--resume"], ["--resume", "--retry-errors"]):
        code, out, said = ended(start([[*line, *more]] * 2, pardec.folder))
        assert code == 3, f"{more}: {out} {said}"


@pytest.mark.parametrize(
    "flags",
    [["--shard", "0/2"], ["--order", "blocked"], ["--repair", "1"], ["--trace", "t.jsonl"]],
    ids=lambda flags: flags[0][2:],
)
def test_what_ranks_cannot_share_is_refused(pardec, shared, flags):
    db = pardec.folder / "refused.sqlite"
    code, _, said = ended(shared(db, 2, *flags))
    assert code == 2
    assert f"{flags[0]}" in said
    assert said.count("cannot be shared by several processes") == 1, "rank 0 alone says it"
    assert not db.exists()


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (["compare"], "'pardec compare' is the work of one process"),
        (["generate", "--model", "MODEL", "--prompt", "Hi"], "only with --parallel tensor"),
        (
            ["sweep", "--model", "MODEL", *ARMS, *GRID, "--slurm", "a.sbatch"],
            "--slurm only writes scripts",
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_what_is_not_divided_is_refused(pardec, model, line, why):
    called = [pardec.path, *(model if word == "MODEL" else word for word in line)]
    code, out, said = ended(start([called] * 2, pardec.folder))
    assert (code, out) == (2, "")
    assert said.count(why) == 1, said


@pytest.mark.parametrize("verb", ["run", "sweep", "reproduce"])
def test_a_dry_run_is_printed_once(pardec, shared, model, verb):
    flags = {
        "run": ["--model", model, *ARMS],
        "sweep": ["--model", model, *ARMS, *GRID],
        "reproduce": ["hpd", "table3"],
    }
    called = [pardec.path, verb, *flags[verb], "--dry-run", "--db", "dry.sqlite"]
    out, _ = good(start([called] * 2, pardec.folder))
    titles = [line for line in out.splitlines() if line and line[0].isupper()]
    assert len(titles) == len(set(titles)) > 0, out


REPRODUCE = [
    "reproduce", "hpd", "table3", "--limit", "6", "--threads", "1", "--progress", "none", "--format",
    "json",
]


@pytest.mark.whole
def test_ranks_share_the_runs_of_reproduce(pardec):
    """The answers of one process, and one page of verdicts."""
    alone = pardec.folder / "reproduced.sqlite"
    pardec.good(*REPRODUCE, "--db", alone)
    together = pardec.folder / "reproduced_together.sqlite"
    line = [pardec.path, *REPRODUCE, "--db", together]
    out, said = good(start([line] * 2, pardec.folder))
    check_complete(together, alone)
    assert len(query(together, "SELECT DISTINCT process FROM block")) == 2, "the work was shared"
    assert json.loads(out)[-1]["rows"], said


def test_ranks_end_a_reproduction_at_its_budget(pardec):
    """What they stored is whole, and the same line goes on."""
    db = pardec.folder / "budget.sqlite"
    line = [pardec.path, *REPRODUCE, "--db", db]
    good(start([[*line, "--budget", "3s"]] * 2, pardec.folder))
    before = jobs(db)
    good(start([line] * 2, pardec.folder))
    assert before <= jobs(db)
    assert {row["status"] for row in query(db, "SELECT status FROM run")} == {"done"}
