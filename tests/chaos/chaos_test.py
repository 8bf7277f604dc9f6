"""Runs are killed at random moments while others read and score, and starters race for one new
file: nothing is lost, nothing is there twice.

Six arms; two shards in one database at a time, each resumed whenever it was killed; compare, report
and score go on beside them, and are killed too. Every database that is done must hold the answers
of a run that nobody disturbed.

A failure shows its seed; CHAOS_SEED=N repeats it. `-m whole`: 300 kills and 50 races.
"""

import itertools
import os
import random
import signal
import time

import pytest
from harness import answers, query

ARMS = [
    "--decoder", "ar,hpd,ippd", "--arm", "alone=ar,ask=separately,batch_size=3", "--arm",
    "look=lookahead,window=3,ngram=3", "--arm", "pairs=hpd,stack=2",
]
ARM_COUNT = 6
SHARDS = 2


def command(model, db, *more):
    return [
        "run", "--model", model, *ARMS, "--set", "hpd.k_max=4", "--dataset", "oa-mine",
        "--max-new-tokens", 12, "--per-field", 4, "--batch-size", 2, "--block", 6, "--warmup", 0,
        "--db", db, "--progress", "none", *more,
    ]


def check_sound(what, db):
    """The file is sound, and holds whole jobs alone, once each."""
    assert query(db, "PRAGMA integrity_check")[0]["integrity_check"] == "ok", (
        f"{what}: the file is damaged"
    )
    assert not query(db, "PRAGMA foreign_key_check")
    for told, sql in (
        (
            "jobs lack answers",
            (
                "SELECT job.id FROM job WHERE json_array_length(job.key) <> (SELECT count(*) FROM"
                " generation WHERE job_id = job.id)"
            ),
        ),
        (
            "jobs lack their histogram",
            (
                "SELECT id FROM job WHERE forwards <> (SELECT sum(forwards) FROM step_histogram"
                " WHERE job_id = job.id)"
            ),
        ),
        (
            "answers lack scores",
            (
                "SELECT id FROM generation WHERE NOT EXISTS (SELECT 1 FROM score WHERE"
                " generation_id = generation.id)"
            ),
        ),
        (
            "answers stand twice",
            (
                "SELECT 1 FROM generation JOIN run ON run.id = run_id GROUP BY invocation, label,"
                " repeat, sample_id HAVING count(*) > 1"
            ),
        ),
        (
            "blocks have no time of all arms in one process",
            (
                "SELECT 1 FROM block JOIN run ON run.id = run_id WHERE status = 'done' GROUP BY"
                " invocation, dataset_id, repeat, position HAVING count(wall_ns) < count(*) OR"
                " count(DISTINCT process) > 1"
            ),
        ),
    ):
        found = query(db, sql)
        assert not found, f"{what}: {len(found)} {told}"


class Beside:
    """What goes on beside the runs: one reader or scorer at a time, started again when it has
    ended.
    """

    def __init__(self, pardec, db, rng):
        self.pardec, self.db, self.rng = pardec, db, rng
        self.process, self.verb = None, None

    def go_on(self):
        if self.process and self.process.poll() is None:
            return
        self.end()
        verb = self.rng.choice(
            (["compare"], ["compare", "--accounting"], ["score"], ["report", "-o", "chaos.html"])
        )
        self.verb, self.process = verb, self.pardec.start(*verb, "--db", self.db)

    def end(self, kill=False):
        if not self.process:
            return
        if kill:
            self.process.kill()
        out, err = self.process.communicate(timeout=600)
        code = self.process.returncode
        # Nothing is there yet, or the whole of something.
        early = code == 2 and any(
            said in err
            for said in ("no such file", "holds no run yet", "empty database", "has no ")
        )
        killed = kill and code == -signal.SIGKILL
        assert killed or (code == 0 and out) or early, f"{self.verb}: exit {code}: {err}"
        self.process = None


def begun(db, shard):
    try:
        return bool(query(db, "SELECT 1 FROM run WHERE shard = ?", shard))
    except Exception:  # no database yet, or no table
        return False


def check_one_database(pardec, model, db, wanted, rng, kills):
    """Two shards to their end, killed up to `kills` times; returns how often."""
    shards = {f"{index}/{SHARDS}": None for index in range(SHARDS)}
    done, killed = set(), 0
    beside = Beside(pardec, db, rng)

    def start(shard):
        shards[shard] = pardec.start(
            *command(model, db, "--shard", shard, *(["--resume"] if begun(db, shard) else []))
        )

    for shard in shards:
        start(shard)
    until = time.monotonic() + 1200
    pause = 0.1
    while len(done) < SHARDS and time.monotonic() < until:
        time.sleep(rng.uniform(0, pause))
        beside.go_on()
        if killed < kills:
            victims = [p for s, p in shards.items() if s not in done and p.poll() is None]
            if rng.random() < 0.15 and beside.process.poll() is None:
                beside.end(kill=True)
                killed += 1
            elif victims:
                rng.choice(victims).send_signal(signal.SIGKILL)
                killed += 1
                # Sometimes soon after the start, and sometimes late enough that work gets done.
                pause = rng.choice((0.05, 0.3, 0.6, 1.2))
        for shard, process in shards.items():
            if shard in done or process.poll() is None:
                continue
            out, err = process.communicate()
            if process.returncode == 0:
                done.add(shard)
            else:
                assert process.returncode == -signal.SIGKILL, (
                    f"shard {shard}: exit {process.returncode}: {err}"
                )
                start(shard)
    beside.end()
    for shard in shards.keys() - done:
        shards[shard].kill()
        shards[shard].communicate()
    assert len(done) == SHARDS, f"{db.name}: shards {sorted(done)} came to an end"
    check_sound(db.name, db)
    found = answers(db)
    assert found == wanted, (
        f"{db.name}: {len(found)} answers of {len(wanted)},"
        f" {sum(found.get(k) != v for k, v in wanted.items())} lost or others"
    )
    runs = query(db, "SELECT shard, invocation, status FROM run")
    assert len(runs) == ARM_COUNT * SHARDS, f"{db.name}: runs {runs}"
    assert len({r["invocation"] for r in runs}) == SHARDS
    assert all(r["status"] == "done" for r in runs)
    table = pardec.good("compare", "--db", db, "--format", "jsonl")
    assert table.count(f'"n":{len(wanted) // ARM_COUNT},') == ARM_COUNT, (
        f"{db.name}: compare takes all shards: {table}"
    )
    return killed


def check_race(pardec, model, db, wanted, rng, trial):
    """Two starters on one new file: one of them fails or is killed, the other's answers are all
    there.
    """
    good = command(model, db, "--limit", 6)
    bad = [*good, "--trace", "nowhere/trace.jsonl"]
    how = trial % 3
    starts = [lambda: pardec.start(*bad if how < 2 else good), lambda: pardec.start(*good)]
    order = rng.choice(((0, 1), (1, 0)))
    processes = {}
    for index in order:
        processes[index] = starts[index]()
        time.sleep(rng.uniform(0, 0.15))
    if how == 2:
        time.sleep(rng.uniform(0, 0.6))
        processes[0].kill()
    ends = {index: process.communicate(timeout=300) for index, process in processes.items()}
    assert processes[0].returncode in ((2,) if how < 2 else (0, -signal.SIGKILL)), (
        f"the starter that fails: {ends[0][1]}"
    )
    assert how == 2 or "nowhere/trace.jsonl" in ends[0][1]
    assert processes[1].returncode == 0, (
        f"race {trial}: the other: exit {processes[1].returncode}: {ends[1][1]}"
    )
    assert db.exists()
    check_sound(f"race {trial}", db)
    found = {}
    for run in query(db, "SELECT DISTINCT invocation FROM run WHERE status = 'done'"):
        found = answers(db, f"run.invocation = '{run['invocation']}'")
        assert found == wanted, f"race {trial}: {len(found)} answers of {len(wanted)}"
    assert found, f"race {trial}: a run is done"


@pytest.fixture
def rng():
    """Random choices of a seed that a failure shows."""
    seed = int(os.environ.get("CHAOS_SEED") or random.SystemRandom().randrange(10**6))
    print(f"CHAOS_SEED={seed}")
    return random.Random(seed)


@pytest.fixture(scope="module")
def model(pardec):
    return pardec.synthesise("model")


@pytest.fixture(scope="module")
def undisturbed(pardec, model):
    """The answers of a run that nobody disturbed."""
    db = pardec.folder / "whole.sqlite"
    pardec.good(*command(model, db))
    return answers(db)


def test_six_arms_answer_without_failures(undisturbed):
    assert len({key[0] for key in undisturbed}) == ARM_COUNT
    assert all(value[3] is None for value in undisturbed.values())


@pytest.mark.parametrize("kills", [8, pytest.param(300, marks=pytest.mark.whole)])
def test_killed_runs_that_are_resumed_have_all_answers_once(pardec, model, undisturbed, rng, kills):
    killed = 0
    for number in itertools.count():
        if killed >= kills:
            break
        db = pardec.folder / f"chaos-{kills}-{number}.sqlite"
        killed += check_one_database(pardec, model, db, undisturbed, rng, min(kills - killed, 30))


@pytest.fixture(scope="module")
def few(pardec, model):
    """The answers to six examples."""
    db = pardec.folder / "few.sqlite"
    pardec.good(*command(model, db, "--limit", 6))
    return answers(db)


# Which starter fails, or is killed, has three cases.
@pytest.mark.parametrize(
    "trial", [*range(3), *(pytest.param(i, marks=pytest.mark.whole) for i in range(3, 50))]
)
def test_two_starters_on_one_new_file_leave_the_answers_of_one(pardec, model, few, rng, trial):
    check_race(pardec, model, pardec.folder / f"race-{trial}.sqlite", few, rng, trial)
