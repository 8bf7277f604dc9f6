"""A run that is killed, stopped or split goes on, and its answers are those of an uninterrupted run.

Usage: resume_test.py PROGRAM

Real processes on the project's samples with a network of random weights: SIGKILL three times at random moments, SIGINT, shards, refusals of
--resume under other settings, --retry-errors.
"""
import random
import re
import shutil
import signal
import sys

from harness import SAMPLES, Checks, answers, change, job_count, kill_after, query, records, scratch, signal_after, write_lines

ARMS = ["--decoder", "ar,hpd", "--dataset", "oa-mine,ae-110k", "--set", "hpd.stack=6", "--set", "hpd.k_max=6", "--max-new-tokens", 24, "--batch-size", 2]


def command(model, db, *more):
    return ["run", "--model", model, *ARMS, "--db", db, "--progress", "none", *more]


def contents(db):
    """Everything in the tables that a finished run must not touch again."""
    return {table: query(db, f"SELECT * FROM {table} ORDER BY 1, 2") for table in ("job", "generation", "score", "step_histogram", "block", "sample")}


def check_whole(check, what, db, wanted):
    """The database holds one finished run with the answers wanted, once each."""
    check(answers(db) == wanted, f"{what}: the answers are not those of the uninterrupted run")
    runs = query(db, "SELECT label, status, invocation, ended_utc FROM run")
    check(len(runs) == 4 and len({r["invocation"] for r in runs}) == 1, f"{what}: {len(runs)} runs, expected 4 of one invocation")
    check(all(r["status"] == "done" and r["ended_utc"] for r in runs), f"{what}: status {[r['status'] for r in runs]}")
    twice = query(db, "SELECT run_id, repeat, sample_id, count(*) FROM generation GROUP BY 1, 2, 3 HAVING count(*) > 1")
    check(not twice, f"{what}: {twice} stand twice")
    orphans = query(db, "SELECT count(*) AS n FROM job WHERE NOT EXISTS (SELECT 1 FROM generation WHERE job_id = job.id)")[0]["n"]
    check(orphans == 0, f"{what}: {orphans} jobs without generations")
    histogram = query(db, "SELECT count(*) AS n FROM job WHERE forwards <> (SELECT sum(forwards) FROM step_histogram WHERE job_id = job.id)")[0]["n"]
    check(histogram == 0, f"{what}: {histogram} jobs without their whole histogram")
    per_generation = query(db, "SELECT count(*) AS n FROM generation WHERE NOT EXISTS (SELECT 1 FROM score WHERE generation_id = generation.id)")[0]["n"]
    check(per_generation == 0, f"{what}: {per_generation} generations without scores")
    check(query(db, "PRAGMA integrity_check")[0]["integrity_check"] == "ok" and not query(db, "PRAGMA foreign_key_check"), f"{what}: the file is damaged")


def kills(check, pardec, model, wanted, rng):
    """Three SIGKILLs in mid-run, each time --resume."""
    total = job_count(pardec.folder / "whole.sqlite")
    db = pardec.folder / "killed.sqlite"
    committed = 0
    for attempt in range(3):
        more = ["--resume"] if attempt else []
        process = pardec.start(*command(model, db, *more))
        target = committed + rng.randint(3, total // 5)
        died = kill_after(process, db, target, rng.uniform(0, 0.02))
        committed = job_count(db)
        check(died and committed < total, f"kill {attempt + 1}: the run died with {committed} of {total} jobs")
        statuses = {r["status"] for r in query(db, "SELECT status FROM run")}
        check(statuses == {"running"}, f"kill {attempt + 1}: status {statuses}")
        part = answers(db)
        check(all(wanted.get(key) == value for key, value in part.items()), f"kill {attempt + 1}: an answer so far is not that of the uninterrupted run")
        print(f"kill {attempt + 1}: {committed} of {total} jobs are there")
    ran = pardec(*command(model, db, "--resume"))
    check(ran.returncode == 0, f"resumed after three kills: exit {ran.returncode}: {ran.stderr}")
    check_whole(check, "killed three times", db, wanted)
    processes = query(db, "SELECT count(DISTINCT process) AS n FROM job")[0]["n"]
    check(processes == 4, f"jobs come from {processes} processes, expected 4")
    check(paired(db) == paired(pardec.folder / "whole.sqlite"), f"as many pairs as undisturbed: {paired(db)}")
    return db


def paired(db):
    """Blocks that count for a speedup, by arm, and how many blocks each arm has no time of."""
    pairs = {(r["dataset"], r["arm"]): r["n"] for r in query(db, "SELECT dataset, arm, count(*) AS n FROM speedup_pairs GROUP BY 1, 2")}
    return pairs, query(db, "SELECT count(*) AS n FROM block WHERE wall_ns IS NULL")[0]["n"]


def torn(check, pardec, model, rng):
    """Blocks whose time was lost to a stop are measured again by all arms in one process; their answers stay as they were."""
    small = ["--limit", 16, "--block", 2]
    for order, arms in (("interleaved", []), ("blocked", []), ("interleaved", ["--runs", 2])):
        args = lambda db: command(model, db, *small, *arms, "--order", order)
        args = lambda db, args=args: [("hpd.stack=2" if a == "hpd.stack=6" else a) for a in args(db)]
        whole = pardec.folder / f"torn-{order}-{len(arms)}.sqlite"
        pardec.good(*args(whole))
        wanted, total = answers(whole), job_count(whole)
        pairs, unmeasured = paired(whole)
        check(unmeasured == 0 and min(pairs.values()) >= 8 and len(pairs) == 2, f"undisturbed, {order}: {pairs}, {unmeasured} blocks without a time")
        for trial, number in enumerate((signal.SIGKILL, signal.SIGINT, signal.SIGKILL)):
            db = pardec.folder / f"torn-{order}-{len(arms)}-{trial}.sqlite"
            stops, said = 0, ""
            for attempt in range(1 + 3 * (trial == 2)):  # the last one is stopped several times
                process = pardec.start(*args(db), *(["--resume"] if attempt else []))
                stops += signal_after(process, db, job_count(db) + rng.randint(1, max(1, total // 4)), number, rng.uniform(0, 0.01))
                process.communicate(timeout=120)
            before, jobs = paired(db), query(db, "SELECT run_id, key, repeat, process, text, tokens FROM job ORDER BY id")
            ran = pardec(*args(db), "--resume")
            what = f"{order}, {' '.join(map(str, arms))} stopped {stops} times by {number.name}"
            check(ran.returncode == 0, f"{what}: exit {ran.returncode}: {ran.stderr}")
            check(answers(db) == wanted and paired(db) == (pairs, 0), f"{what}: {paired(db)}, before {before}, undisturbed {pairs}")
            check(query(db, "SELECT run_id, key, repeat, process, text, tokens FROM job ORDER BY id")[:len(jobs)] == jobs, f"{what}: what was stored stays")
            alone = query(db, """SELECT count(*) AS n FROM (SELECT 1 FROM block JOIN run ON run.id = run_id GROUP BY dataset_id, repeat, position
                                 HAVING count(DISTINCT process) > 1)""")[0]["n"]
            check(alone == 0, f"{what}: {alone} blocks have times of several processes")
            if order == "blocked" and stops and job_count(db) < total:
                check("measured again by all arms" in ran.stderr, f"{what}: {ran.stderr}")
            contained = contents(db)
            again = pardec(*args(db), "--resume")
            check(again.returncode == 0 and contents(db) == contained and "measured again" not in again.stderr, f"{what}: once more does nothing: {again.stderr}")


def other_ids(check, pardec, model):
    """A time is not stored beside answers that it is not of."""
    db = pardec.folder / "other-ids.sqlite"
    shutil.copy(pardec.folder / "torn-interleaved-0.sqlite", db)
    args = [("hpd.stack=2" if a == "hpd.stack=6" else a) for a in command(model, db, "--limit", 16, "--block", 2, "--order", "interleaved", "--resume")]
    change(db, "UPDATE block SET wall_ns = NULL, process = NULL WHERE id IN (SELECT block_id FROM job ORDER BY id LIMIT 1)")
    shutil.copy(db, pardec.folder / "same-ids.sqlite")
    change(db, "UPDATE generation SET tokens = '[1]' WHERE job_id = (SELECT id FROM job ORDER BY id LIMIT 1)")
    kept = answers(db)
    ran = pardec(*args)
    check(ran.returncode == 0 and "1 job gave other tokens than those stored" in ran.stderr and "1 block" in ran.stderr and "1 of them are still not measured" in ran.stderr,
          f"other ids: {ran.returncode}: {ran.stderr}")
    check(answers(db) == kept and query(db, "SELECT count(*) AS n FROM block WHERE wall_ns IS NULL")[0]["n"] == 1, "other ids: no time, and the answers stay")
    ran = pardec(*["same-ids.sqlite" if a == db else a for a in args])
    check(ran.returncode == 0 and "measured again by all arms" in ran.stderr and "other ids" not in ran.stderr and paired(pardec.folder / "same-ids.sqlite")[1] == 0,
          f"the same ids: {ran.stderr}")


def repairs(check, pardec, model):
    """--resume --repair N measures up to N disturbed blocks of a finished run again, and says what came of it, or that there is nothing to do."""
    db = pardec.folder / "repaired.sqlite"
    shutil.copy(pardec.folder / "torn-interleaved-0.sqlite", db)
    args = [("hpd.stack=2" if a == "hpd.stack=6" else a) for a in command(model, db, "--limit", 16, "--block", 2, "--order", "interleaved", "--resume")]
    change(db, "UPDATE block SET waited_ns = 0, stolen_ns = 0")
    kept = contents(db)

    def repair(number):
        ran = pardec(*args, "--repair", number)
        check(ran.returncode == 0 and contents(db) == kept, f"--repair {number} leaves answers and first times: {ran.returncode}: {ran.stderr}")
        return [line for line in ran.stderr.splitlines() if line.startswith("repair: ")] or ["nothing is said"]

    nothing = "no block is disturbed; nothing was measured again"
    check(repair(3) == [f"repair: {name}: {nothing}" for name in ("oa-mine", "ae-110k")], f"nothing is disturbed: {repair(3)}")
    change(db, """UPDATE block SET waited_ns = wall_ns * (2 + position) / 8 WHERE position < 3 AND run_id IN
                  (SELECT run.id FROM run JOIN dataset ON dataset.id = dataset_id WHERE name = 'oa-mine' AND label = 'hpd')""")
    kept = contents(db)
    said = repair(2)
    check(re.fullmatch(r"repair: oa-mine: 2 of 3 disturbed blocks measured again: \d quiet now(, \d disturbed again)?; 1 left, a larger --repair takes more", said[0]), f"two of three: {said}")
    found = query(db, "SELECT position, count(*) AS arms, count(DISTINCT block_repair.process) AS processes FROM block_repair JOIN block ON block.id = block_id GROUP BY 1 ORDER BY 1")
    check([tuple(row.values()) for row in found] == [(1, 2, 1), (2, 2, 1)], f"the worst, by both arms in one process: {found}")
    change(db, "UPDATE block_repair SET waited_ns = 0, stolen_ns = 0")
    said = repair(9)
    check(said[0].startswith("repair: oa-mine: 1 of 1 disturbed block measured again: ") and "left" not in said[0], f"the one that is left: {said}")
    change(db, "UPDATE block_repair SET waited_ns = 0, stolen_ns = 0")
    said = repair(9)
    check(said == ["repair: oa-mine: nothing was measured again; 3 of the blocks had been disturbed, and were quiet when measured again", f"repair: ae-110k: {nothing}"], f"all are: {said}")
    change(db, "UPDATE block_repair SET waited_ns = wall_ns WHERE block_id = (SELECT min(block_id) FROM block_repair)")
    check(repair(9)[0].startswith("repair: oa-mine: 1 of 1 disturbed block measured again"), "disturbed twice: measured a third time")


def finished(check, pardec, model, db):
    """--resume on a finished run does nothing."""
    before = contents(db)
    ran = pardec(*command(model, db, "--resume"))
    check(ran.returncode == 0 and "hpd " in ran.stdout, f"--resume on a finished run: exit {ran.returncode}: {ran.stderr}")
    check(contents(db) == before, "--resume on a finished run changed what is stored")
    check({r["status"] for r in query(db, "SELECT status FROM run")} == {"done"}, "--resume on a finished run: it stays done")


def refusals(check, pardec, model, db):
    """--resume under other settings: exit 2, one line that names what differs, nothing changed."""
    other = pardec.synthesise("other", seed=9)
    before = contents(db)

    def refused(what, names, *args, prepare=None, restore=None):
        if prepare:
            change(db, prepare)
        ran = pardec(*args)
        if restore:
            change(db, restore)
        check(ran.returncode == 2 and not ran.stdout and ran.stderr.splitlines()[-1:] and all(n in ran.stderr.splitlines()[-1] for n in names),
              f"--resume under another {what}: exit {ran.returncode}, expected 2 and a line with {names}: {ran.stderr}")

    base = command(model, db, "--resume")
    refused("K_max", ["hpd.k_max: 6, now 7"], *["hpd.k_max=7" if a == "hpd.k_max=6" else a for a in base])
    refused("stack", ["hpd.stack: 6, now 5"], *["hpd.stack=5" if a == "hpd.stack=6" else a for a in base])
    refused("seed", ["seed: 1, now 2"], *base, "--seed", 2)
    refused("limit", ["limit: 0, now 5"], *base, "--limit", 5)
    refused("length", ["max_new_tokens: 24, now 25"], *["25" if a == 24 else a for a in base])
    refused("batch size", ["batch_size: 2, now 3"], *["3" if a == 2 else a for a in base])
    refused("temperature", ["temperature: 0.0, now 0.5"], *base, "--temperature", 0.5)
    refused("order", ["order: interleaved, now blocked"], *base, "--order", "blocked")
    refused("dtype", ["dtype: fp32, now bf16"], *base, "--dtype", "bf16")
    refused("oracle", ["oracle: none, now references"], *base, "--oracle", "references")
    refused("model", ["model hash: "], *command(other, db, "--resume"))
    refused("wording", ["prompt hash: "], *base, "--prompt-file", write_lines(pardec.folder / "wording.txt", ["[context]", "{text}", "[field]", "{name}"]))
    refused("set of arms", ["arms: "], *["ar" if a == "ar,hpd" else a for a in base if a not in ("--set", "hpd.stack=6", "hpd.k_max=6")])
    commit = query(db, "SELECT commit_hash FROM run")[0]["commit_hash"]
    refused("commit", [f"commit: 0123456789ab, now {commit}"], *base, prepare="UPDATE run SET commit_hash = '0123456789ab'",
            restore=f"UPDATE run SET commit_hash = '{commit}'")
    samples = pardec.folder / "changed"
    shutil.copytree(SAMPLES, samples)
    write_lines(samples / "oa-mine" / "test.jsonl", records("oa-mine")[:-1])
    refused("data", ["dataset hash: "], *base, "--data-root", samples)
    check(contents(db) == before, "a refused --resume changed what is stored")
    nowhere = pardec(*command(model, pardec.folder / "nothing.sqlite", "--resume"))
    check(nowhere.returncode == 2 and "does not exist" in nowhere.stderr and not (pardec.folder / "nothing.sqlite").exists(),
          f"--resume without a database: exit {nowhere.returncode}: {nowhere.stderr}")
    unknown = pardec(*["oa-mine" if a == "oa-mine,ae-110k" else a for a in base], "--split", "train")
    check(unknown.returncode == 2 and "no run" in unknown.stderr, f"--resume of what never ran: exit {unknown.returncode}: {unknown.stderr}")


def retries(check, pardec, model, wanted):
    """--retry-errors repeats failed jobs and nothing else."""
    db = pardec.folder / "retried.sqlite"
    shutil.copy(pardec.folder / "whole.sqlite", db)
    failed = query(db, "SELECT id, run_id, key FROM job ORDER BY random() LIMIT 3")
    for job in failed:  # as a run would have stored them that ran out of memory
        change(db, "UPDATE job SET error = 'out of memory', text = '', tokens = '[]' WHERE id = ?", job["id"])
        change(db, "UPDATE generation SET error = 'out of memory', text = '', fields = '[]', tokens = '[]', field_count = 0 WHERE job_id = ?", job["id"])
    before = {(j["run_id"], j["repeat"], j["key"]): j for j in query(db, "SELECT * FROM job")}
    ran = pardec(*command(model, db, "--resume"))
    check(ran.returncode == 3, f"--resume with failed jobs in the database: exit {ran.returncode}, expected 3: {ran.stderr}")
    check({(j["run_id"], j["repeat"], j["key"]): j for j in query(db, "SELECT * FROM job")} == before, "--resume alone leaves failed jobs as they are")
    ran = pardec(*command(model, db, "--resume", "--retry-errors"))
    check(ran.returncode == 0, f"--retry-errors: exit {ran.returncode}: {ran.stderr}")
    check(answers(db) == wanted, "--retry-errors: the answers are not those of a run without failures")
    after = {(j["run_id"], j["repeat"], j["key"]): j for j in query(db, "SELECT * FROM job")}
    redone = {key for key, job in after.items() if before[key] != job}
    check(redone == {(j["run_id"], 0, j["key"]) for j in failed}, f"--retry-errors did {sorted(redone)} again, failed were {failed}")
    check(all(after[key]["error"] is None and after[key]["process"] != before[key]["process"] for key in redone), "--retry-errors: the errors are gone")

    # A job that fails again stays, with one attempt more.
    root = pardec.folder / "long"
    shutil.copytree(SAMPLES, root)
    products = records("oa-mine")[:4]
    write_lines(root / "oa-mine" / "test.jsonl", [{**products[0], "input": "Tolvane " * 4000}, *products[1:]])
    db = pardec.folder / "long.sqlite"
    args = ["run", "--model", model, "--decoder", "ar", "--dataset", "oa-mine", "--data-root", root, "--max-new-tokens", 8, "--db", db]
    check(pardec(*args).returncode == 3, "a title that is too long makes exit 3")
    check(pardec(*args, "--resume").returncode == 3, "it still does when there is nothing left to do")
    ran = pardec(*args, "--resume", "--retry-errors")
    jobs = query(db, "SELECT key, attempts, error FROM job ORDER BY key")
    check(ran.returncode == 3 and [j["attempts"] for j in jobs] == [2, 1, 1, 1] and "context overflow" in jobs[0]["error"],
          f"--retry-errors of a job that fails again: exit {ran.returncode}, {jobs}")


def interrupts(check, pardec, model, wanted):
    """Ctrl-C and SIGTERM: what is in flight ends and is stored; the exit code says which it was; --resume goes on."""
    for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        db = pardec.folder / f"stopped-{number.name}.sqlite"
        process = pardec.start(*command(model, db))
        check(signal_after(process, db, 5, number), f"{number.name} came in mid-run")
        out, err = process.communicate(timeout=120)
        done, total = job_count(db), job_count(pardec.folder / "whole.sqlite")
        check(process.returncode == code, f"{number.name}: exit {process.returncode}, expected {code}: {err}")
        check(not out and "--resume" in err.splitlines()[-1], f"{number.name}: {err}")
        check(5 <= done < total, f"{number.name}: {done} of {total} jobs are stored")
        failures = query(db, "SELECT count(*) AS n FROM generation WHERE error IS NOT NULL")[0]["n"]
        check(failures == 0, f"{number.name}: {failures} failures are stored, expected none")
        pairs = query(db, """SELECT mine.identical FROM generation AS mine JOIN run_pair USING (run_id) JOIN generation AS other
                             ON other.run_id = baseline_run AND other.sample_id = mine.sample_id AND other.repeat = mine.repeat""")
        check(all(p["identical"] is not None for p in pairs), f"{number.name}: what is there is compared with its baseline: {pairs}")
        ran = pardec(*command(model, db, "--resume"))
        check(ran.returncode == 0, f"resumed after {number.name}: exit {ran.returncode}: {ran.stderr}")
        check_whole(check, number.name, db, wanted)


def turns(check, pardec, model):
    """Datasets take turns, block by block; in each of them arms go there and back again."""
    db = pardec.folder / "turns.sqlite"
    pardec.good(*command(model, db, "--block", 6, "--limit", 24))
    blocks = query(db, """SELECT name, arms FROM block JOIN run ON run.id = run_id JOIN dataset ON dataset.id = dataset_id
                          WHERE label = 'ar' ORDER BY block.id""")
    names = [b["name"] for b in blocks]
    check(len(names) >= 6 and sum(a != b for a, b in zip(names, names[1:])) >= len(names) - 3, f"datasets take turns: {names}")
    for name in set(names):
        orders = [b["arms"] for b in blocks if b["name"] == name]
        check(all(a != b for a, b in zip(orders, orders[1:])), f"{name}: arms alternate: {orders}")


def shards(check, pardec, model, wanted):
    """Two shards in two databases cover everything once, with the same answers."""
    found, keys = {}, []
    for index in (0, 1):
        db = pardec.folder / f"shard{index}.sqlite"
        ran = pardec(*command(model, db, "--shard", f"{index}/2"))
        check(ran.returncode == 0, f"shard {index}/2: exit {ran.returncode}: {ran.stderr}")
        part = answers(db)
        check(part and not set(part) & set(found), f"shard {index}/2: {len(part)} answers, {len(set(part) & set(found))} of them in the other shard too")
        found.update(part)
        keys.append({(j["label"], j["name"], j["key"]) for j in query(db, """SELECT label, name, job.key FROM job JOIN run ON run.id = job.run_id
                                                                            JOIN dataset ON dataset.id = run.dataset_id""")})
    check(found == wanted, "the shards' answers are not those of the whole run")
    whole = {(j["label"], j["name"], j["key"]) for j in query(pardec.folder / "whole.sqlite", """SELECT label, name, job.key FROM job
             JOIN run ON run.id = job.run_id JOIN dataset ON dataset.id = run.dataset_id""")}
    check(keys[0] | keys[1] == whole and not keys[0] & keys[1], "the shards' jobs are the whole run's, each once")


def main():
    check = Checks()
    rng = random.Random()
    seed = rng.randrange(10**6)
    rng.seed(seed)
    print(f"moments of the kills: seed {seed}")
    with scratch(sys.argv[1]) as pardec:
        model = pardec.synthesise("model")
        pardec.good(*command(model, pardec.folder / "whole.sqlite"))
        wanted = answers(pardec.folder / "whole.sqlite")
        check_whole(check, "uninterrupted", pardec.folder / "whole.sqlite", wanted)
        check(len(wanted) == 2 * sum(len(records(d)) for d in ("oa-mine", "ae-110k")), f"{len(wanted)} answers")
        check(len({value[0] for value in wanted.values()}) > 0.9 * len(wanted), "answers differ from one another, else a mixed-up run would not show")
        turns(check, pardec, model)
        torn(check, pardec, model, rng)
        other_ids(check, pardec, model)
        repairs(check, pardec, model)
        db = kills(check, pardec, model, wanted, rng)
        finished(check, pardec, model, db)
        refusals(check, pardec, model, db)
        retries(check, pardec, model, wanted)
        interrupts(check, pardec, model, wanted)
        shards(check, pardec, model, wanted)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
