"""Whoever stores is killed at random moments while others read, and databases are replaced under every verb: no reader sees a part, and what was put in
a database's place is as it was.

Usage: verbs_test.py PROGRAM [--kills N] [--replaced N] [--seed N]
"""
import argparse
import csv
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import sys
import threading
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from harness import Checks, answers, change, query, scratch  # noqa: E402
from scripted_service import Judge  # noqa: E402

SHORT = ["--dataset", "mt-bench", "--limit", 8, "--max-new-tokens", 6, "--progress", "none"]
QUIET = ["--progress", "none"]


class Reader:
    """Reads one thing again and again while it lives; each look is of one moment, and has to be among those that are whole."""

    def __init__(self, check, what, look, whole):
        self.check, self.what, self.look, self.whole = check, what, look, whole
        self.seen, self.ended = set(), False
        self.thread = threading.Thread(target=self.go, daemon=True)
        self.thread.start()

    def go(self):
        while not self.ended:
            self.seen.add(self.look())
            time.sleep(0.001)

    def end(self):
        self.ended = True
        self.thread.join()
        part = self.seen - self.whole
        self.check(not part, f"{self.what}: a reader saw {sorted(map(str, part))[:5]}, expected one of {sorted(map(str, self.whole))[:5]}")


def one_row(db, sql):
    connection = sqlite3.connect(f"file:{db}?mode=ro", uri=True, timeout=60)
    try:
        return tuple(connection.execute(sql).fetchone())
    finally:
        connection.close()


def log_state(db):
    try:
        found = os.stat(f"{db}-wal")
        return (found.st_size, found.st_mtime_ns) if found.st_size else None  # opened, and nothing is stored yet
    except OSError:
        return None


def killed(check, start, rng, longest, db):
    """Ends a process at a random moment, mostly soon after it began to store; whether that came in time."""
    before = log_state(db)
    process = start()
    until = time.monotonic() + longest
    if rng.random() < 0.3:
        time.sleep(rng.uniform(0, longest))
    else:
        while log_state(db) in (before, None) and process.poll() is None and time.monotonic() < until:
            time.sleep(0.0002)
        time.sleep(rng.choice((0, 0.001, 0.003, 0.01, 0.03)))
    in_time = process.poll() is None
    process.kill()
    out, err = process.communicate(timeout=300)
    check(process.returncode in (0, -signal.SIGKILL), f"{process.args[1]}: exit {process.returncode}: {err}")
    return in_time


def how_long(start):
    """Seconds that a command takes when nobody ends it."""
    begun = time.monotonic()
    process = start()
    process.communicate(timeout=300)
    return time.monotonic() - begun


def kills(check, pardec, rng, db, services, number):
    """judge, score, merge and export, killed `number` times each."""
    done = {}

    def rounds(verb, starts, look, whole, settle, into=db):
        longest = max(how_long(start) for start in starts)
        settle()
        reader = Reader(check, verb, look, whole)
        beside = pardec.start("compare", "--db", db)
        done[verb] = 0
        for _ in range(number):
            done[verb] += killed(check, rng.choice(starts), rng, 1.1 * longest, into)
            settle()
            if beside.poll() is not None:
                out, err = beside.communicate()
                check(beside.returncode == 0 and out, f"compare beside {verb}: exit {beside.returncode}: {err}")
                beside = pardec.start("compare", "--db", db)
        beside.communicate(timeout=300)
        reader.end()
        check(len(reader.seen) > 0, f"{verb}: nobody read")

    count = query(db, "SELECT sum(field_count) AS n FROM generation JOIN run ON run.id = run_id JOIN dataset ON dataset.id = dataset_id WHERE dataset.name = 'mt-bench'")[0]["n"]
    judging = lambda service: lambda: pardec.start("judge", "--db", db, "--service", service, "--protocol", "single", *QUIET)
    of_judges = "SELECT count(*), count(DISTINCT json_extract(details, '$.judge')) FROM score WHERE metric = 'judge_score'"
    # Two judges by turns: the scores are always one's, and all of them.
    rounds("judge", [judging(s) for s in services], lambda: one_row(db, of_judges), {(count, 1)}, lambda: None)

    metric = query(db, "SELECT metric, count(*) AS n FROM score WHERE metric = 'value_correct'")[0]
    marked = f"SELECT count(*), sum(value = -7) IN (0, count(*)) FROM score WHERE metric = '{metric['metric']}'"
    values = query(db, "SELECT invocation FROM run JOIN dataset ON dataset.id = dataset_id WHERE dataset.name = 'oa-mine'")[0]["invocation"]
    rounds("score", [lambda: pardec.start("score", "--db", db, "--run", values)], lambda: one_row(db, marked), {(metric["n"], 1)},
           lambda: change(db, "UPDATE score SET value = -7, is_nan = 0 WHERE metric = ?", metric["metric"]))

    together, other = pardec.folder / "together.sqlite", pardec.folder / "other.sqlite"
    pardec.good("merge", together, db)
    sums = "SELECT (SELECT count(*) FROM run), (SELECT count(*) FROM generation), (SELECT count(*) FROM score)"
    before = one_row(together, sums)
    pardec.good("merge", together, other)
    after = one_row(together, sums)
    invocation = query(other, "SELECT invocation FROM run")[0]["invocation"]

    def apart():
        if one_row(together, sums) != before:
            pardec.good("runs", "rm", invocation, "--db", together, "--yes")

    apart()
    rounds("merge", [lambda: pardec.start("merge", together, other)], lambda: one_row(together, sums), {before, after}, apart, together)

    out = pardec.folder / "tables"
    runs = [query(db, "SELECT invocation FROM run")[0]["invocation"]]
    pardec.good("export", "--db", db, "--out", out, "--run", runs[0])

    def read_tables():
        found = []
        for table in ("runs", "blocks", "jobs", "generations"):
            with (out / f"{table}.csv").open(newline="") as file:
                rows = list(csv.reader(file))
            found.append((len(rows), len({len(row) for row in rows})))
        return tuple(found)

    of_run = lambda table: query(db, f"SELECT count(*) AS n FROM run {'' if table == 'run' else f'JOIN {table} ON run_id = run.id'} WHERE invocation = ?", runs[0])[0]["n"]
    whole = {tuple((of_run(table) + 1, 1) for table in ("run", "block", "job", "generation"))}
    rounds("export", [lambda: pardec.start("export", "--db", db, "--out", out, "--run", runs[0])], read_tables, whole, lambda: None)
    pardec.good("export", "--db", db, "--out", out, "--run", runs[0])
    check(not [p.name for p in out.iterdir() if p.suffix != ".csv"], f"nothing is left of killed exports: {list(out.iterdir())}")
    for file in (db, together):
        check(query(file, "PRAGMA integrity_check")[0]["integrity_check"] == "ok" and not query(file, "PRAGMA foreign_key_check"), f"{file.name} is damaged")
    print(", ".join(f"{verb}: {n} of {number} kills came in time" for verb, n in done.items()), flush=True)


def content(db):
    connection = sqlite3.connect(f"file:{db}?mode=ro", uri=True)
    try:
        return list(connection.iterdump())
    finally:
        connection.close()


def replaced(check, pardec, rng, model, good, old, service, rounds):
    """A database is replaced by another one at a random moment under each verb, which then ends, or is killed."""
    wanted = answers(good)
    invocation = query(old, "SELECT invocation FROM run")[0]["invocation"]
    sheet = pardec.folder / "sheet.csv"
    pardec.good("judge", "export", "--db", old, "--protocol", "single", "--out", sheet)
    rows = list(csv.DictReader(sheet.open()))
    with sheet.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows({**row, "verdict": 5} for row in rows)
    verbs = {
        "run": lambda db: ["run", "--model", model, "--decoder", "ar", *SHORT, "--db", db],
        "sweep": lambda db: ["sweep", "--model", model, "--decoder", "ar", "--grid", "batch_size=1,2", *SHORT, "--db", db],
        "judge": lambda db: ["judge", "--db", db, "--service", service, "--protocol", "single", "--votes", 2, *QUIET],
        "judge import": lambda db: ["judge", "import", "--db", db, "--protocol", "single", "--labels", sheet, "--name", "A"],
        "score": lambda db: ["score", "--db", db],
        "merge": lambda db: ["merge", db, pardec.folder / "other.sqlite"],
        "runs note": lambda db: ["runs", "note", invocation, "noted", "--db", db],
        "runs rm": lambda db: ["runs", "rm", invocation, "--db", db, "--yes"],
        "compare": lambda db: ["compare", "--db", db],
        "report": lambda db: ["report", "--db", db, "-o", "r.html"],
        "export": lambda db: ["export", "--db", db, "--out", "tables-of-it"],
        "plot": lambda db: ["plot", "--db", db, "--x", "batch_size", "-o", "p.svg"],
        "runs": lambda db: ["runs", "--db", db],
    }
    lost = refusals = 0
    for trial in range(rounds):
        for verb, command in verbs.items():
            how = rng.choice(("goes on", "killed", "removed first"))
            folder = pardec.folder / f"replaced-{trial}-{verb.replace(' ', '-')}"
            folder.mkdir()
            db, fresh = folder / "r.sqlite", folder / "good.sqlite"
            shutil.copy(old, db)
            shutil.copy(good, fresh)
            process = pardec.start(*command(db))
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
                refusals += ran.returncode == 2
                check(ran.returncode in (0, 2) and (ran.returncode == 0 or "-wal" in ran.stderr), f"{verb}, {how}: a reader in between: exit {ran.returncode}: {ran.stderr}")
                process.send_signal(signal.SIGCONT)
            out, err = process.communicate(timeout=120)
            lost += "was removed or replaced" in err
            ran = pardec("compare", "--db", db)
            if ran.returncode == 2 and "-wal" in ran.stderr:
                refusals += 1
                check(how == "killed", f"{verb}, {how}: a log is left: {ran.stderr}")
                for end in ("-wal", "-shm"):
                    pathlib.Path(f"{db}{end}").unlink(missing_ok=True)
                ran = pardec("compare", "--db", db)
            check(ran.returncode == 0, f"{verb}, {how}: exit {ran.returncode}: {ran.stderr}; it said {err}")
            found = answers(db)
            # A verb that had not opened it yet worked on what it found: what was there is there.
            check(all(found.get(k) == v for k, v in wanted.items()) or verb == "runs rm", f"{verb}, {how}: {len(found)} answers of {len(wanted)}: {err}")
            if "was removed or replaced" in err:
                check(content(db) == before, f"{verb}, {how}: what took its place is as it was")
            shutil.rmtree(folder)
    print(f"{rounds * len(verbs)} replaced: {lost} noticed, {refusals} logs refused", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--kills", type=int, default=6)
    parser.add_argument("--replaced", type=int, default=1)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    options = parser.parse_args()
    check, rng = Checks(), random.Random(options.seed)
    print(f"seed {options.seed}", flush=True)
    with scratch(options.program) as pardec:
        model = pardec.synthesise("model")
        db, other, good = (pardec.folder / f"{name}.sqlite" for name in ("r", "other", "good"))
        pardec.good("run", "--model", model, "--decoder", "ar,hpd", "--dataset", "oa-mine", "--max-new-tokens", 6, *QUIET, "--db", db)
        pardec.good("run", "--model", model, "--decoder", "ar,prompt-lookup", *SHORT, "--db", db)
        pardec.good("run", "--model", model, "--decoder", "ar", *SHORT, "--seed", 5, "--temperature", 1, "--db", other)
        pardec.good("run", "--model", model, "--decoder", "ar,prompt-lookup", *SHORT, "--seed", 7, "--temperature", 1, "--db", good)
        judge = Judge(lambda prompt, *_: '{"explanation": "", "score": %d}' % (1 + len(prompt) % 9))
        services = [judge.file(pardec.folder, name) for name in ("one", "two")]
        for service in services:
            pardec.good("judge", "--db", db, "--service", service, "--protocol", "single", *QUIET)
        kills(check, pardec, rng, db, services, options.kills)
        replaced(check, pardec, rng, model, good, db, services[0], options.replaced)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
