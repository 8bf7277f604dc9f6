"""Whoever stores is killed at random moments while others read, and databases are replaced under
every verb: no reader sees a part, and what was put in a database's place is as it was.

A failure shows its seed; CHAOS_SEED=N repeats it. `-m whole`: 60 kills of a verb, 20 replacements.
"""

import csv
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import threading
import time
import types

import pytest
from harness import answers, change, query
from scripted_service import Judge

SHORT = ["--dataset", "mt-bench", "--limit", 8, "--max-new-tokens", 6, "--progress", "none"]
QUIET = ["--progress", "none"]


class Reader:
    """Reads one thing again and again while it lives; each look is of one moment, and has to be
    among those that are whole.
    """

    def __init__(self, look, whole):
        self.look, self.whole = look, whole
        self.seen, self.ended = set(), False
        self.thread = threading.Thread(target=self.go, daemon=True)
        self.thread.start()

    def go(self):
        while not self.ended:
            self.seen.add(self.look())
            time.sleep(0.001)

    def check_end(self):
        self.ended = True
        self.thread.join()
        assert self.seen, "nobody read"
        assert self.seen <= self.whole, "a reader saw a part"


def one_row(db, sql):
    connection = sqlite3.connect(f"file:{db}?mode=ro", uri=True, timeout=60)
    try:
        return tuple(connection.execute(sql).fetchone())
    finally:
        connection.close()


def log_state(db):
    try:
        found = os.stat(f"{db}-wal")
        return (
            (found.st_size, found.st_mtime_ns) if found.st_size else None
        )  # opened, and nothing is stored yet
    except OSError:
        return None


def check_killed(start, rng, longest, db):
    """Ends a process at a random moment, mostly soon after it began to store; whether that came
    in time.
    """
    before = log_state(db)
    process = start()
    until = time.monotonic() + longest
    if rng.random() < 0.3:
        time.sleep(rng.uniform(0, longest))
    else:
        while (
            log_state(db) in (before, None) and process.poll() is None and time.monotonic() < until
        ):
            time.sleep(0.0002)
        time.sleep(rng.choice((0, 0.001, 0.003, 0.01, 0.03)))
    in_time = process.poll() is None
    process.kill()
    out, err = process.communicate(timeout=300)
    assert process.returncode in (0, -signal.SIGKILL), (
        f"{process.args[1]}: exit {process.returncode}: {err}"
    )
    return in_time


def how_long(start):
    """Seconds that a command takes when nobody ends it."""
    begun = time.monotonic()
    process = start()
    process.communicate(timeout=300)
    return time.monotonic() - begun


@pytest.fixture
def rng():
    """Random choices of a seed that a failure shows."""
    seed = int(os.environ.get("CHAOS_SEED") or random.SystemRandom().randrange(10**6))
    print(f"CHAOS_SEED={seed}")
    return random.Random(seed)


@pytest.fixture(scope="module")
def stored(pardec):
    """Databases: `db` with two runs, judged by two services; `other` with one run; `good` with
    two.
    """
    model = pardec.synthesise("model")
    db, other, good = (pardec.folder / f"{name}.sqlite" for name in ("r", "other", "good"))
    pardec.good(
        "run", "--model", model, "--decoder", "ar,hpd", "--dataset", "oa-mine", "--max-new-tokens",
        6, *QUIET, "--db", db,
    )
    pardec.good("run", "--model", model, "--decoder", "ar,prompt-lookup", *SHORT, "--db", db)
    pardec.good(
        "run", "--model", model, "--decoder", "ar", *SHORT, "--seed", 5, "--temperature", 1, "--db",
        other,
    )
    pardec.good(
        "run", "--model", model, "--decoder", "ar,prompt-lookup", *SHORT, "--seed", 7,
        "--temperature", 1, "--db", good,
    )
    judge = Judge(lambda prompt, *_: '{"explanation": "", "score": %d}' % (1 + len(prompt) % 9))
    services = [judge.file(pardec.folder, name) for name in ("one", "two")]
    for service in services:
        pardec.good("judge", "--db", db, "--service", service, "--protocol", "single", *QUIET)
    return types.SimpleNamespace(
        model=model, db=db, other=other, good=good, judge=judge, services=services
    )


@pytest.fixture
def copied(stored, tmp_path):
    """The same, with a copy of `db` for one test."""
    return types.SimpleNamespace(
        **{**vars(stored), "db": pathlib.Path(shutil.copy(stored.db, tmp_path / "r.sqlite"))}
    )


@pytest.fixture
def check_kills(pardec, rng):
    """Kills one of the commands again and again, while a reader looks at `look` and compare
    reads the database.
    """

    def check(db, number, starts, look, whole, settle=lambda: None, into=None):
        longest = max(how_long(start) for start in starts)
        settle()
        reader = Reader(look, whole)
        beside = pardec.start("compare", "--db", db)
        try:
            for _ in range(number):
                check_killed(rng.choice(starts), rng, 1.1 * longest, into or db)
                settle()
                if beside.poll() is not None:
                    out, err = beside.communicate()
                    assert beside.returncode == 0, f"compare beside: {err}"
                    assert out, f"compare beside: {err}"
                    beside = pardec.start("compare", "--db", db)
        finally:
            beside.communicate(timeout=300)
            reader.ended = True
        reader.check_end()
        for file in {db, into or db}:
            assert query(file, "PRAGMA integrity_check")[0]["integrity_check"] == "ok", file
            assert not query(file, "PRAGMA foreign_key_check"), file

    return check


every_number = pytest.mark.parametrize("number", [4, pytest.param(60, marks=pytest.mark.whole)])


@every_number
def test_a_reader_sees_the_scores_of_one_judge_all_of_them(pardec, copied, check_kills, number):
    count = query(
        copied.db,
        "SELECT sum(field_count) AS n FROM generation JOIN run ON run.id = run_id JOIN dataset ON"
        " dataset.id = dataset_id WHERE dataset.name = 'mt-bench'",
    )[0]["n"]
    judging = lambda service: (
        lambda: pardec.start(
            "judge", "--db", copied.db, "--service", service, "--protocol", "single", *QUIET
        )
    )
    of_judges = (
        "SELECT count(*), count(DISTINCT json_extract(details, '$.judge')) FROM score WHERE metric"
        " = 'judge_score'"
    )
    # Two judges by turns.
    check_kills(
        copied.db,
        number,
        [judging(service) for service in copied.services],
        lambda: one_row(copied.db, of_judges),
        {(count, 1)},
    )


@every_number
def test_a_reader_sees_old_scores_or_new_ones(pardec, copied, check_kills, number):
    db = copied.db
    metric = query(db, "SELECT metric, count(*) AS n FROM score WHERE metric = 'value_correct'")[0]
    marked = (
        "SELECT count(*), sum(value = -7) IN (0, count(*)) FROM score WHERE metric ="
        f" '{metric['metric']}'"
    )
    values = query(
        db,
        "SELECT invocation FROM run JOIN dataset ON dataset.id = dataset_id WHERE dataset.name ="
        " 'oa-mine'",
    )[0]["invocation"]
    check_kills(
        db,
        number,
        [lambda: pardec.start("score", "--db", db, "--run", values)],
        lambda: one_row(db, marked),
        {(metric["n"], 1)},
        lambda: change(
            db, "UPDATE score SET value = -7, is_nan = 0 WHERE metric = ?", metric["metric"]
        ),
    )


@every_number
def test_a_reader_sees_a_merged_run_or_none(pardec, copied, check_kills, number, tmp_path):
    db, other, together = copied.db, copied.other, tmp_path / "together.sqlite"
    pardec.good("merge", together, db)
    sums = (
        "SELECT (SELECT count(*) FROM run), (SELECT count(*) FROM generation), (SELECT count(*)"
        " FROM score)"
    )
    before = one_row(together, sums)
    pardec.good("merge", together, other)
    after = one_row(together, sums)
    invocation = query(other, "SELECT invocation FROM run")[0]["invocation"]

    def apart():
        if one_row(together, sums) != before:
            pardec.good("runs", "rm", invocation, "--db", together, "--yes")

    apart()
    check_kills(
        db,
        number,
        [lambda: pardec.start("merge", together, other)],
        lambda: one_row(together, sums),
        {before, after},
        apart,
        together,
    )


@every_number
def test_a_reader_sees_whole_tables_of_an_export(pardec, copied, check_kills, number, tmp_path):
    db, out = copied.db, tmp_path / "tables"
    run = query(db, "SELECT invocation FROM run")[0]["invocation"]
    pardec.good("export", "--db", db, "--out", out, "--run", run)

    def read_tables():
        found = []
        for table in ("runs", "blocks", "jobs", "generations"):
            with (out / f"{table}.csv").open(newline="") as file:
                rows = list(csv.reader(file))
            found.append((len(rows), len({len(row) for row in rows})))
        return tuple(found)

    of_run = lambda table: query(
        db,
        "SELECT count(*) AS n FROM run"
        f" {'' if table == 'run' else f'JOIN {table} ON run_id = run.id'} WHERE invocation = ?",
        run,
    )[0]["n"]
    whole = {tuple((of_run(table) + 1, 1) for table in ("run", "block", "job", "generation"))}
    check_kills(
        db,
        number,
        [lambda: pardec.start("export", "--db", db, "--out", out, "--run", run)],
        read_tables,
        whole,
    )
    pardec.good("export", "--db", db, "--out", out, "--run", run)
    assert not [file.name for file in out.iterdir() if file.suffix != ".csv"], (
        "a killed export left a file"
    )


def content(db):
    connection = sqlite3.connect(f"file:{db}?mode=ro", uri=True)
    try:
        return list(connection.iterdump())
    finally:
        connection.close()


@pytest.fixture(scope="module")
def sheet(pardec, stored):
    """A sheet that a person filled."""
    file = pardec.folder / "sheet.csv"
    pardec.good("judge", "export", "--db", stored.db, "--protocol", "single", "--out", file)
    rows = list(csv.DictReader(file.open()))
    with file.open("w", newline="") as out:
        writer = csv.DictWriter(out, rows[0])
        writer.writeheader()
        writer.writerows({**row, "verdict": 5} for row in rows)
    return file


# The arguments of a verb on a database.
VERBS = {
    "run": lambda db, had: ["run", "--model", had.model, "--decoder", "ar", *SHORT, "--db", db],
    "sweep": lambda db, had: [
        "sweep", "--model", had.model, "--decoder", "ar", "--grid", "batch_size=1,2", *SHORT,
        "--db", db,
    ],
    "judge": lambda db, had: [
        "judge", "--db", db, "--service", had.services[0], "--protocol", "single", "--votes", 2,
        *QUIET,
    ],
    "judge import": lambda db, had: [
        "judge", "import", "--db", db, "--protocol", "single", "--labels", had.sheet, "--name", "A",
    ],
    "score": lambda db, had: ["score", "--db", db],
    "merge": lambda db, had: ["merge", db, had.other],
    "runs note": lambda db, had: ["runs", "note", had.invocation, "noted", "--db", db],
    "runs rm": lambda db, had: ["runs", "rm", had.invocation, "--db", db, "--yes"],
    "compare": lambda db, had: ["compare", "--db", db],
    "report": lambda db, had: ["report", "--db", db, "-o", "r.html"],
    "export": lambda db, had: ["export", "--db", db, "--out", "tables-of-it"],
    "plot": lambda db, had: ["plot", "--db", db, "--x", "batch_size", "-o", "p.svg"],
    "runs": lambda db, had: ["runs", "--db", db],
}


@pytest.mark.parametrize(
    "trial", [0, *(pytest.param(i, marks=pytest.mark.whole) for i in range(1, 20))]
)
@pytest.mark.parametrize("verb", VERBS)
def test_a_database_that_replaces_another_under_a_verb_stays_as_it_is(
    pardec, stored, sheet, rng, tmp_path, request, verb, trial
):
    """At a random moment; the verb then ends, or is killed."""
    wanted, how = answers(stored.good), rng.choice(("goes on", "killed", "removed first"))
    invocation = query(stored.db, "SELECT invocation FROM run")[0]["invocation"]
    db, fresh = tmp_path / "r.sqlite", tmp_path / "good.sqlite"
    shutil.copy(stored.db, db)
    shutil.copy(stored.good, fresh)
    process = pardec.start(
        *VERBS[verb](db, types.SimpleNamespace(**vars(stored), sheet=sheet, invocation=invocation))
    )
    request.addfinalizer(process.kill)
    opened = lambda: any(os.path.exists(f"{db}{end}") for end in ("-wal", "-shm"))
    until = time.monotonic() + 20
    while not opened() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.0005)
    time.sleep(rng.choice((0, 0.002, 0.02, 0.1, 0.3)))
    process.send_signal(signal.SIGSTOP)
    before = content(fresh)
    if how == "removed first":
        db.unlink()
    os.replace(fresh, db)
    if how == "killed":
        process.kill()
    else:
        # Whoever comes now, before the old process has noticed, does no harm.
        ran = pardec("compare", "--db", db)
        assert ran.returncode in (0, 2), (
            f"{how}: a reader in between: exit {ran.returncode}: {ran.stderr}"
        )
        assert ran.returncode == 0 or "-wal" in ran.stderr
        process.send_signal(signal.SIGCONT)
    out, err = process.communicate(timeout=120)
    ran = pardec("compare", "--db", db)
    if ran.returncode == 2 and "-wal" in ran.stderr:
        assert how == "killed", f"{how}: a log is left: {ran.stderr}"
        for end in ("-wal", "-shm"):
            pathlib.Path(f"{db}{end}").unlink(missing_ok=True)
        ran = pardec("compare", "--db", db)
    assert ran.returncode == 0, f"{how}: exit {ran.returncode}: {ran.stderr}; it said {err}"
    found = answers(db)
    # A verb that had not opened it yet worked on what it found: what was there is there.
    assert all(found.get(k) == v for k, v in wanted.items()) or verb == "runs rm", (
        f"{how}: {len(found)} answers of {len(wanted)}: {err}"
    )
    if "was removed or replaced" in err:
        assert content(db) == before, f"{how}: what took its place is as it was"
