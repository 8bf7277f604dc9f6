"""A run that is killed, stopped or split goes on, and its answers are those of an uninterrupted
run.

Real processes on the project's samples with a network of random weights: SIGKILL three times at
random moments, SIGINT, shards, refusals of --resume under other settings, --retry-errors.
"""

import random
import re
import shutil
import signal

import pytest
from harness import (
    SAMPLES, answers, change, job_count, kill_after, query, records, signal_after, write_lines,
)

ARMS = [
    "--decoder", "ar,hpd", "--dataset", "oa-mine,ae-110k", "--set", "hpd.stack=6", "--set",
    "hpd.k_max=6", "--max-new-tokens", 12, "--limit", 28, "--batch-size", 2,
]


JOB_KEYS = (
    "SELECT label, name, job.key FROM job JOIN run ON run.id = job.run_id JOIN dataset ON"
    " dataset.id = run.dataset_id"
)


def command(model, db, *more):
    return ["run", "--model", model, *ARMS, "--db", db, "--progress", "none", *more]


@pytest.fixture(scope="module")
def whole(pardec, model):
    """The database of an uninterrupted run."""
    db = pardec.folder / "whole.sqlite"
    pardec.good(*command(model, db))
    return db


@pytest.fixture(scope="module")
def wanted(whole):
    """The answers of an uninterrupted run."""
    return answers(whole)


@pytest.fixture
def rng():
    """Random moments; a failure shows the seed."""
    seed = random.randrange(10**6)
    print(f"moments of the kills: seed {seed}")
    return random.Random(seed)


def contents(db):
    """Everything in the tables that a finished run must not touch again."""
    return {
        table: query(db, f"SELECT * FROM {table} ORDER BY 1, 2")
        for table in ("job", "generation", "score", "step_histogram", "block", "sample")
    }


def test_an_uninterrupted_run_is_whole(whole, wanted):
    check_whole("uninterrupted", whole, wanted)
    assert len(wanted) == 2 * sum(min(28, len(records(d))) for d in ("oa-mine", "ae-110k"))
    # Answers differ from one another; otherwise a mixed-up run would not show.
    assert len({value[0] for value in wanted.values()}) > 0.9 * len(wanted)


def check_whole(what, db, wanted):
    """The database holds one finished run with the answers wanted, once each."""
    assert answers(db) == wanted, f"{what}: the answers are not those of the uninterrupted run"
    runs = query(db, "SELECT label, status, invocation, ended_utc FROM run")
    assert len(runs) == 4, f"{what}: {len(runs)} runs, expected 4 of one invocation"
    assert len({r["invocation"] for r in runs}) == 1
    assert all(r["status"] == "done" and r["ended_utc"] for r in runs), (
        f"{what}: status {[r['status'] for r in runs]}"
    )
    twice = query(
        db,
        "SELECT run_id, repeat, sample_id, count(*) FROM generation GROUP BY 1, 2, 3 HAVING"
        " count(*) > 1",
    )
    assert not twice, f"{what}: {twice} stand twice"
    orphans = query(
        db,
        "SELECT count(*) AS n FROM job WHERE NOT EXISTS (SELECT 1 FROM generation WHERE job_id ="
        " job.id)",
    )[0]["n"]
    assert orphans == 0, f"{what}: {orphans} jobs without generations"
    histogram = query(
        db,
        "SELECT count(*) AS n FROM job WHERE forwards <> (SELECT sum(forwards) FROM step_histogram"
        " WHERE job_id = job.id)",
    )[0]["n"]
    assert histogram == 0, f"{what}: {histogram} jobs without their whole histogram"
    per_generation = query(
        db,
        "SELECT count(*) AS n FROM generation WHERE NOT EXISTS (SELECT 1 FROM score WHERE"
        " generation_id = generation.id)",
    )[0]["n"]
    assert per_generation == 0, f"{what}: {per_generation} generations without scores"
    assert query(db, "PRAGMA integrity_check")[0]["integrity_check"] == "ok", (
        f"{what}: the file is damaged"
    )
    assert not query(db, "PRAGMA foreign_key_check")


def test_a_run_that_is_killed_three_times_goes_on(pardec, model, whole, wanted, rng):
    total = job_count(whole)
    db = pardec.folder / "killed.sqlite"
    committed = 0
    for attempt in range(3):
        more = ["--resume"] if attempt else []
        process = pardec.start(*command(model, db, *more))
        target = committed + rng.randint(3, total // 8)
        died = kill_after(process, db, target, rng.uniform(0, 0.01))
        committed = job_count(db)
        assert died, f"kill {attempt + 1}: the run died with {committed} of {total} jobs"
        assert committed < total, (
            f"kill {attempt + 1}: the run died with {committed} of {total} jobs"
        )
        statuses = {r["status"] for r in query(db, "SELECT status FROM run")}
        assert statuses == {"running"}, f"kill {attempt + 1}: status {statuses}"
        part = answers(db)
        assert all(wanted.get(key) == value for key, value in part.items()), (
            f"kill {attempt + 1}: an answer so far is not that of the uninterrupted run"
        )
    ran = pardec(*command(model, db, "--resume"))
    assert ran.returncode == 0, ran.stderr
    check_whole("killed three times", db, wanted)
    # Jobs come from as many processes, and as many blocks count for a speedup as without kills.
    processes = query(db, "SELECT count(DISTINCT process) AS n FROM job")[0]["n"]
    assert processes == 4
    assert paired(db) == paired(whole)


def paired(db):
    """Blocks that count for a speedup, by arm, and how many blocks have no time."""
    pairs = {
        (r["dataset"], r["arm"]): r["n"]
        for r in query(db, "SELECT dataset, arm, count(*) AS n FROM speedup_pairs GROUP BY 1, 2")
    }
    return pairs, query(db, "SELECT count(*) AS n FROM block WHERE wall_ns IS NULL")[0]["n"]


def torn_command(model, db, *more):
    """A run with small blocks."""
    args = [16 if a == 28 else a for a in command(model, db, "--block", 2, *more)]
    return ["hpd.stack=2" if a == "hpd.stack=6" else a for a in args]


ORDERS = {
    "interleaved": ["--order", "interleaved"],
    "blocked": ["--order", "blocked"],
    "two runs": ["--order", "interleaved", "--runs", 2],
}


@pytest.fixture(scope="module")
def undisturbed(pardec, model):
    """Makes the database of a run with small blocks that nothing stops, by order; once each."""
    made = {}

    def find(order):
        if order not in made:
            made[order] = pardec.folder / f"undisturbed-{order.replace(' ', '-')}.sqlite"
            pardec.good(*torn_command(model, made[order], *ORDERS[order]))
        return made[order]

    return find


@pytest.mark.parametrize("order", list(ORDERS))
def test_a_run_that_nothing_stops_has_every_time(undisturbed, order):
    pairs, unmeasured = paired(undisturbed(order))
    assert unmeasured == 0
    assert min(pairs.values()) >= 8
    assert len(pairs) == 2


@pytest.mark.parametrize(
    "order, number, stops",
    [
        pytest.param("interleaved", signal.SIGKILL, 1, marks=pytest.mark.whole),
        ("interleaved", signal.SIGINT, 1),
        pytest.param("interleaved", signal.SIGKILL, 4, marks=pytest.mark.whole),
        ("blocked", signal.SIGKILL, 2),
        ("two runs", signal.SIGINT, 2),
    ],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_blocks_without_a_time_are_measured_again(
    pardec, model, undisturbed, rng, order, number, stops
):
    """All arms of such a block are measured in one process; their answers stay as they were."""
    whole = undisturbed(order)
    wanted, total, pairs = answers(whole), job_count(whole), paired(whole)[0]
    db = pardec.folder / f"torn-{order.replace(' ', '-')}-{number.name}-{stops}.sqlite"
    args = torn_command(model, db, *ORDERS[order])
    stopped = 0
    for attempt in range(stops):
        process = pardec.start(*args, *(["--resume"] if attempt else []))
        stopped += signal_after(
            process,
            db,
            job_count(db) + rng.randint(1, max(1, total // 4)),
            number,
            rng.uniform(0, 0.01),
        )
        process.communicate(timeout=120)
    left = total - job_count(db)
    jobs = query(db, "SELECT run_id, key, repeat, process, text, tokens FROM job ORDER BY id")
    ran = pardec(*args, "--resume")
    assert ran.returncode == 0, ran.stderr
    assert answers(db) == wanted
    assert paired(db) == (pairs, 0)
    # What was stored stays.
    assert (
        query(db, "SELECT run_id, key, repeat, process, text, tokens FROM job ORDER BY id")[
            : len(jobs)
        ]
        == jobs
    )
    alone = query(
        db,
        "SELECT count(*) AS n FROM (SELECT 1 FROM block JOIN run ON run.id = run_id GROUP BY"
        " dataset_id, repeat, position HAVING count(DISTINCT process) > 1)",
    )[0]["n"]
    assert alone == 0
    if order == "blocked" and stopped and left:
        assert "measured again by all arms" in ran.stderr
    # Once more does nothing.
    contained = contents(db)
    again = pardec(*args, "--resume")
    assert again.returncode == 0, again.stderr
    assert contents(db) == contained
    assert "measured again" not in again.stderr


@pytest.fixture
def lost_time(tmp_path, undisturbed):
    """A copy of an undisturbed run whose first block has no time."""
    db = tmp_path / "lost-time.sqlite"
    shutil.copy(undisturbed("interleaved"), db)
    change(
        db,
        "UPDATE block SET wall_ns = NULL, process = NULL WHERE id IN (SELECT block_id FROM job"
        " ORDER BY id LIMIT 1)",
    )
    return db


def test_a_time_is_not_stored_with_other_answers(pardec, model, lost_time):
    db = lost_time
    change(
        db,
        "UPDATE generation SET tokens = '[1]' WHERE job_id = (SELECT id FROM job ORDER BY id"
        " LIMIT 1)",
    )
    kept = answers(db)
    ran = pardec(*torn_command(model, db, *ORDERS["interleaved"], "--resume"))
    assert ran.returncode == 0, ran.stderr
    assert "1 job gave other tokens than those stored" in ran.stderr
    assert "1 block" in ran.stderr
    assert "1 of them are still not measured" in ran.stderr
    # There is no time, and the answers stay.
    assert answers(db) == kept
    assert query(db, "SELECT count(*) AS n FROM block WHERE wall_ns IS NULL")[0]["n"] == 1


def test_a_lost_time_is_measured_again_by_all_arms(pardec, model, lost_time):
    ran = pardec(*torn_command(model, lost_time, *ORDERS["interleaved"], "--resume"))
    assert ran.returncode == 0, ran.stderr
    assert "measured again by all arms" in ran.stderr
    assert "other ids" not in ran.stderr
    assert paired(lost_time)[1] == 0


def test_repair_measures_disturbed_blocks_again(pardec, model, undisturbed):
    """--resume --repair N measures up to N disturbed blocks of a finished run again, and says what
    came of it, or that there is nothing to do.
    """
    db = pardec.folder / "repaired.sqlite"
    shutil.copy(undisturbed("interleaved"), db)
    args = torn_command(model, db, *ORDERS["interleaved"], "--resume")
    change(db, "UPDATE block SET waited_ns = 0, stolen_ns = 0")
    kept = contents(db)

    def repair(number):
        ran = pardec(*args, "--repair", number)
        assert ran.returncode == 0, ran.stderr
        assert contents(db) == kept
        return [line for line in ran.stderr.splitlines() if line.startswith("repair: ")] or [
            "nothing is said"
        ]

    nothing = "no block is disturbed; nothing was measured again"
    assert repair(3) == [f"repair: {name}: {nothing}" for name in ("oa-mine", "ae-110k")]
    change(
        db,
        "UPDATE block SET waited_ns = wall_ns * (2 + position) / 8 WHERE position < 3 AND run_id IN"
        " (SELECT run.id FROM run JOIN dataset ON dataset.id = dataset_id WHERE name = 'oa-mine'"
        " AND label = 'hpd')",
    )
    kept = contents(db)
    said = repair(2)
    assert re.fullmatch(
        r"repair: oa-mine: 2 of 3 disturbed blocks measured again: \d quiet now(, \d disturbed"
        r" again)?; 1 left, a larger --repair takes more",
        said[0],
    ), f"two of three: {said}"
    found = query(
        db,
        "SELECT position, count(*) AS arms, count(DISTINCT block_repair.process) AS processes FROM"
        " block_repair JOIN block ON block.id = block_id GROUP BY 1 ORDER BY 1",
    )
    assert [tuple(row.values()) for row in found] == [(1, 2, 1), (2, 2, 1)]
    change(db, "UPDATE block_repair SET waited_ns = 0, stolen_ns = 0")
    said = repair(9)
    assert said[0].startswith("repair: oa-mine: 1 of 1 disturbed block measured again: "), (
        f"the one that is left: {said}"
    )
    assert "left" not in said[0]
    change(db, "UPDATE block_repair SET waited_ns = 0, stolen_ns = 0")
    said = repair(9)
    assert said == [
        (
            "repair: oa-mine: nothing was measured again; 3 of the blocks had been disturbed, and"
            " were quiet when measured again"
        ),
        f"repair: ae-110k: {nothing}",
    ]
    change(
        db,
        "UPDATE block_repair SET waited_ns = wall_ns WHERE block_id = (SELECT min(block_id) FROM"
        " block_repair)",
    )
    assert repair(9)[0].startswith("repair: oa-mine: 1 of 1 disturbed block measured again"), (
        "disturbed twice: measured a third time"
    )


@pytest.fixture
def finished(tmp_path, whole):
    """A copy of the uninterrupted run."""
    return shutil.copy(whole, tmp_path / "finished.sqlite")


def test_resume_of_a_finished_run_does_nothing(pardec, model, finished):
    db = finished
    before = contents(db)
    ran = pardec(*command(model, db, "--resume"))
    assert ran.returncode == 0, ran.stderr
    assert "hpd " in ran.stdout
    assert contents(db) == before
    assert {r["status"] for r in query(db, "SELECT status FROM run")} == {"done"}


def check_refused(pardec, names, *args):
    """--resume ends with code 2 and one line that names what differs."""
    ran = pardec(*args)
    assert ran.returncode == 2, ran.stderr
    assert not ran.stdout
    for name in names:
        assert name in ran.stderr.splitlines()[-1]


# What is asked otherwise: an argument of the run and what it becomes, or further flags; what the
# refusal names.
OTHERWISE = {
    "K_max": ({"hpd.k_max=6": "hpd.k_max=7"}, [], "hpd.k_max: 6, now 7"),
    "stack": ({"hpd.stack=6": "hpd.stack=5"}, [], "hpd.stack: 6, now 5"),
    "seed": ({}, ["--seed", 2], "seed: 1, now 2"),
    "limit": ({28: 5}, [], "limit: 28, now 5"),
    "length": ({12: 13}, [], "max_new_tokens: 12, now 13"),
    "batch size": ({2: 3}, [], "batch_size: 2, now 3"),
    "temperature": ({}, ["--temperature", 0.5], "temperature: 0.0, now 0.5"),
    "order": ({}, ["--order", "blocked"], "order: interleaved, now blocked"),
    "dtype": ({}, ["--dtype", "bf16"], "dtype: fp32, now bf16"),
    "oracle": ({}, ["--oracle", "references"], "oracle: none, now references"),
    "wording": ({}, ["--prompt-file", "wording.txt"], "prompt hash: "),
    "data": ({}, ["--data-root", "changed"], "dataset hash: "),
}


@pytest.mark.parametrize("what", list(OTHERWISE))
def test_resume_refuses_another(pardec, model, finished, what):
    instead, more, named = OTHERWISE[what]
    if what == "wording":
        write_lines(pardec.folder / "wording.txt", ["[context]", "{text}", "[field]", "{name}"])
    if what == "data":
        shutil.copytree(SAMPLES, pardec.folder / "changed")
        write_lines(pardec.folder / "changed" / "oa-mine" / "test.jsonl", records("oa-mine")[1:])
    before = contents(finished)
    check_refused(
        pardec, [named], *[instead.get(a, a) for a in command(model, finished, "--resume")], *more
    )
    assert contents(finished) == before


def test_resume_refuses_another_model(pardec, finished):
    before = contents(finished)
    check_refused(
        pardec, ["model hash: "], *command(pardec.synthesise("other", seed=9), finished, "--resume")
    )
    assert contents(finished) == before


def test_resume_refuses_other_arms(pardec, model, finished):
    before = contents(finished)
    args = command(model, finished, "--resume")
    check_refused(
        pardec,
        ["arms: "],
        *[
            "ar" if a == "ar,hpd" else a
            for a in args
            if a not in ("--set", "hpd.stack=6", "hpd.k_max=6")
        ],
    )
    assert contents(finished) == before


def test_resume_refuses_another_commit(pardec, model, finished):
    db = finished
    commit = query(db, "SELECT commit_hash FROM run")[0]["commit_hash"]
    change(db, "UPDATE run SET commit_hash = '0123456789ab'")
    before = contents(db)
    check_refused(pardec, [f"commit: 0123456789ab, now {commit}"], *command(model, db, "--resume"))
    assert contents(db) == before


def test_resume_needs_a_database(pardec, model):
    nowhere = pardec(*command(model, pardec.folder / "nothing.sqlite", "--resume"))
    assert nowhere.returncode == 2, nowhere.stderr
    assert "does not exist" in nowhere.stderr
    assert not (pardec.folder / "nothing.sqlite").exists()


def test_resume_needs_a_run(pardec, model, finished):
    args = command(model, finished, "--resume", "--split", "train")
    unknown = pardec(*["oa-mine" if a == "oa-mine,ae-110k" else a for a in args])
    assert unknown.returncode == 2, unknown.stderr
    assert "no run" in unknown.stderr


def test_retry_errors_repeats_failed_jobs_and_nothing_else(pardec, model, finished, wanted):
    db = finished
    failed = query(db, "SELECT id, run_id, key FROM job ORDER BY random() LIMIT 3")
    for job in failed:  # as a run would have stored them that ran out of memory
        change(
            db,
            "UPDATE job SET error = 'out of memory', text = '', tokens = '[]' WHERE id = ?",
            job["id"],
        )
        change(
            db,
            "UPDATE generation SET error = 'out of memory', text = '', fields = '[]', tokens ="
            " '[]', field_count = 0 WHERE job_id = ?",
            job["id"],
        )
    before = {(j["run_id"], j["repeat"], j["key"]): j for j in query(db, "SELECT * FROM job")}
    ran = pardec(*command(model, db, "--resume"))
    assert ran.returncode == 3, ran.stderr
    assert {
        (j["run_id"], j["repeat"], j["key"]): j for j in query(db, "SELECT * FROM job")
    } == before
    ran = pardec(*command(model, db, "--resume", "--retry-errors"))
    assert ran.returncode == 0, ran.stderr
    assert answers(db) == wanted
    after = {(j["run_id"], j["repeat"], j["key"]): j for j in query(db, "SELECT * FROM job")}
    redone = {key for key, job in after.items() if before[key] != job}
    assert redone == {(j["run_id"], 0, j["key"]) for j in failed}
    assert all(
        after[key]["error"] is None and after[key]["process"] != before[key]["process"]
        for key in redone
    ), "--retry-errors: the errors are gone"


def test_a_job_that_fails_again_stays_with_one_attempt_more(pardec, model):
    root = pardec.folder / "long"
    shutil.copytree(SAMPLES, root)
    products = records("oa-mine")[:4]
    write_lines(
        root / "oa-mine" / "test.jsonl",
        [{**products[0], "input": "Tolvane " * 4000}, *products[1:]],
    )
    db = pardec.folder / "long.sqlite"
    args = [
        "run", "--model", model, "--decoder", "ar", "--dataset", "oa-mine", "--data-root", root,
        "--max-new-tokens", 8, "--db", db,
    ]
    assert pardec(*args).returncode == 3
    assert pardec(*args, "--resume").returncode == 3
    ran = pardec(*args, "--resume", "--retry-errors")
    jobs = query(db, "SELECT key, attempts, error FROM job ORDER BY key")
    assert ran.returncode == 3, (
        f"--retry-errors of a job that fails again: exit {ran.returncode}, {jobs}"
    )
    assert [j["attempts"] for j in jobs] == [2, 1, 1, 1]
    assert "context overflow" in jobs[0]["error"]


@pytest.mark.parametrize(
    "number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["SIGINT", "SIGTERM"]
)
def test_a_signal_ends_and_stores_the_jobs_that_run(pardec, model, whole, wanted, number, code):
    """The exit code says which signal it was; --resume goes on."""
    db = pardec.folder / f"stopped-{number.name}.sqlite"
    process = pardec.start(*command(model, db))
    assert signal_after(process, db, 5, number), f"{number.name} came in mid-run"
    out, err = process.communicate(timeout=120)
    done, total = job_count(db), job_count(whole)
    assert process.returncode == code, (
        f"{number.name}: exit {process.returncode}, expected {code}: {err}"
    )
    assert not out, f"{number.name}: {err}"
    assert "--resume" in err.splitlines()[-1]
    assert 5 <= done < total
    failures = query(db, "SELECT count(*) AS n FROM generation WHERE error IS NOT NULL")[0]["n"]
    assert failures == 0
    pairs = query(
        db,
        "SELECT mine.identical FROM generation AS mine JOIN run_pair USING (run_id) JOIN generation"
        " AS other ON other.run_id = baseline_run AND other.sample_id = mine.sample_id AND"
        " other.repeat = mine.repeat",
    )
    assert all(p["identical"] is not None for p in pairs), (
        f"{number.name}: what is there is compared with its baseline: {pairs}"
    )
    ran = pardec(*command(model, db, "--resume"))
    assert ran.returncode == 0, ran.stderr
    check_whole(number.name, db, wanted)


def test_datasets_and_arms_take_turns(pardec, model):
    """Datasets take turns, block by block; within a dataset the order of the arms alternates."""
    db = pardec.folder / "turns.sqlite"
    pardec.good(*command(model, db, "--block", 6))
    blocks = query(
        db,
        "SELECT name, arms FROM block JOIN run ON run.id = run_id JOIN dataset ON dataset.id ="
        " dataset_id WHERE label = 'ar' ORDER BY block.id",
    )
    names = [b["name"] for b in blocks]
    assert len(names) >= 6
    assert sum(a != b for a, b in zip(names, names[1:])) >= len(names) - 3
    for name in set(names):
        orders = [b["arms"] for b in blocks if b["name"] == name]
        assert all(a != b for a, b in zip(orders, orders[1:])), f"{name}: arms alternate: {orders}"


def test_two_shards_cover_everything_once_with_the_same_answers(pardec, model, whole, wanted):
    found, keys = {}, []
    for index in (0, 1):
        db = pardec.folder / f"shard{index}.sqlite"
        ran = pardec(*command(model, db, "--shard", f"{index}/2"))
        assert ran.returncode == 0, f"shard {index}/2: exit {ran.returncode}: {ran.stderr}"
        part = answers(db)
        assert part, (
            f"shard {index}/2: {len(part)} answers, {len(set(part) & set(found))} of them in the"
            " other shard too"
        )
        assert not set(part) & set(found), (
            f"shard {index}/2: {len(part)} answers, {len(set(part) & set(found))} of them in the"
            " other shard too"
        )
        found.update(part)
        keys.append({(j["label"], j["name"], j["key"]) for j in query(db, JOB_KEYS)})
    assert found == wanted
    keys_of_whole = {(j["label"], j["name"], j["key"]) for j in query(whole, JOB_KEYS)}
    assert keys[0] | keys[1] == keys_of_whole
    assert not keys[0] & keys[1]
