"""Odd situations that were said badly, or not at all: runs removed under a process, two trainings in one folder, variables of the environment, numbers, files.

Usage: edges_test.py PROGRAM
"""
import contextlib
import json
import os
import shutil
import signal
import socket
import struct
import sys
import threading
import time

from harness import Checks, change, job_count, query, scratch
from scripted_service import Judge

RUN = ["run", "--dataset", "oa-mine", "--max-new-tokens", 8, "--progress", "none"]


def refused(check, ran, *words, code=2):
    check(ran.returncode == code and all(w in ran.stderr for w in words) and len(ran.stderr.strip().splitlines()) == 1 and "internal error" not in ran.stderr,
          f"{' '.join(map(str, ran.args[1:] if ran.args else []))}: exit {ran.returncode}, expected {words}: {ran.stderr}")


def live_run(check, pardec, model):
    """A run that goes on is not taken away under its process, also with --yes."""
    db = pardec.folder / "live.sqlite"
    process = pardec.start(*RUN, "--model", model, "--decoder", "ar,hpd", "--runs", 20, "--db", db)
    while process.poll() is None and (not db.exists() or job_count(db) < 2):
        time.sleep(0.01)
    process.send_signal(signal.SIGSTOP)
    invocation = query(db, "SELECT invocation FROM run")[0]["invocation"][:8]
    refused(check, pardec("runs", "rm", invocation, "--db", db, "--yes"), "may go on in process", str(process.pid))
    process.send_signal(signal.SIGCONT)
    process.kill()
    process.communicate()
    check(pardec("runs", "rm", invocation, "--db", db, "--yes").returncode == 0 and not query(db, "SELECT * FROM run"), "one that was killed is")


def two_trainings(check, pardec, model):
    command = ["train", "--model", model, "--dataset", "oa-mine", "--format", "ar", "--steps", 400, "--context-length", 1024, "--progress", "none"]
    os.symlink("tuned", pardec.folder / "other-name")
    first = pardec.start(*command, "--out", "tuned")
    until = time.monotonic() + 60
    while not (pardec.folder / "tuned" / "training.json").exists() and first.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    before = {p.name for p in (pardec.folder / "tuned").iterdir()}
    for out in ("tuned", "other-name"):
        for more in ([], ["--resume"]):
            ran = pardec(*command, "--out", out, *more)
            check(ran.returncode in (1, 2) and ("another process trains into" if more else "holds a training run") in ran.stderr, f"{out} {more}: exit {ran.returncode}: {ran.stderr[-300:]}")
    first.kill()
    first.communicate()
    check({p.name for p in (pardec.folder / "tuned").iterdir()} >= before, "the folder is the first one's")
    check(pardec(*command[:-2], "--steps", 1, "--progress", "none", "--out", "free").returncode in (0, 2), "another folder is free")


def variables(check, pardec, model, db):
    """A variable means the same to all verbs, and confirms nothing."""
    shutil.copy(db, pardec.folder / "kept.sqlite")
    invocation = query(db, "SELECT invocation FROM run")[0]["invocation"][:8]
    ran = pardec("runs", "rm", invocation, "--db", "kept.sqlite", env={"PARDEC_YES": "true"})
    check(ran.returncode == 2 and "--yes" in ran.stderr and query(pardec.folder / "kept.sqlite", "SELECT * FROM run"), f"PARDEC_YES: exit {ran.returncode}: {ran.stderr}")
    settings = {"PARDEC_MODEL": model, "PARDEC_DATASET": "rotten", "PARDEC_DECODER": "hpd", "PARDEC_LIMIT": "1"}
    plain = pardec.good("runs", "--db", db)
    check(pardec("runs", "--db", db, env=settings).stdout == plain and invocation in plain, "runs lists the same, whichever network is set")
    for verb in (["score", "--db", db], ["reproduce", "list", "--db", db], ["compare", "--db", db], ["report", "--db", db]):
        ran = pardec(*verb, env={"PARDEC_MODEL": model, "PARDEC_TRACE": "t.jsonl"})
        check(ran.returncode == 0, f"{verb[0]} beside PARDEC_MODEL and PARDEC_TRACE: exit {ran.returncode}: {ran.stderr}")
    ran = pardec(*RUN, "--decoder", "ar", "--limit", 1, "--db", "by-variable.sqlite", env={"PARDEC_MODEL": model})
    check(ran.returncode == 0, f"run takes PARDEC_MODEL: {ran.stderr}")


def numbers(check, pardec, model):
    for size in ("0x10G", "0x1p40", "1e999", "nan", "inf", "-1G", "1e999G", ""):
        if size:
            refused(check, pardec(*RUN, "--model", model, "--decoder", "ar", "--db", "n.sqlite", "--memory-limit", size), "--memory-limit", "expected a size")
    for rate in ("0x1", "1e999", "nan", "0x0.8p0", "1e-999"):
        refused(check, pardec(*RUN, "--model", model, "--decoder", "ar", "--db", "n.sqlite", "--oracle", f"accept:{rate}"), "--oracle", "expected")
    for flag, value in (("--temperature", "1e999"), ("--top-p", "1e999"), ("--limit", "0x10"), ("--cache-watermark", "1e999"), ("--fail-on-error", "1e999"), ("--seed", "1e999"),
                        ("--max-new-tokens", "1e999")):
        refused(check, pardec(*RUN, "--model", model, "--decoder", "ar", "--db", "n.sqlite", flag, value), flag, "expected")
    for setting in ("hpd.k_max=1e999", "hpd.k_max=0x10"):
        refused(check, pardec(*RUN, "--model", model, "--decoder", "hpd", "--db", "n.sqlite", "--set", setting), "k_max", "expected")
    (pardec.folder / "big.json").write_text('{"datasets": ["oa-mine"], "decoders": [{"label": "ar", "name": "ar"}], "temperature": 1e999}')
    refused(check, pardec("run", "-c", "big.json", "--model", model, "--db", "n.sqlite"), "big.json", "number")
    # What CLI11 says of a flag without a kind.
    for verb in ("runs", "compare", "judge", "model", "data"):
        ran = pardec(verb, "--db")
        check("kind  " not in ran.stderr and not ran.stderr.rstrip().endswith("kind") and "of kind \n" not in ran.stderr, f"{verb}: {ran.stderr}")
    ran = pardec("runs", "--arguments=", "--db", "x")
    check("of kind  " not in ran.stderr and "of kind (" not in ran.stderr, ran.stderr)


def documents(check, pardec, db):
    """What json is printed is one document."""
    judge = Judge(lambda *_: '{"explanation": "", "score": 5}')
    pairs = Judge(lambda *_: '{"explanation": "", "winner": "A"}')
    change(db, "UPDATE generation SET fields = json_set(fields, '$[0].text', 'another answer') WHERE run_id = (SELECT id FROM run WHERE label <> 'ar')")
    for name, service, protocol in (("single", judge, "single"), ("again", judge, "single"), ("pairs", pairs, "pairwise")):
        ran = pardec("judge", "--db", db, "--service", service.file(pardec.folder, name), "--protocol", protocol, "--progress", "none", "--format", "json")
        check(ran.returncode == 0, f"judge: {ran.stderr}")
    tables = json.loads(pardec.good("judge", "--db", db, "--format", "json"))
    check(isinstance(tables, list) and len(tables) > 1 and all("rows" in table for table in tables), f"judge: {str(tables)[:200]}")
    listed = json.loads(pardec.good("list", "--format", "json"))
    check(len(listed) == 2 and isinstance(json.loads(pardec.good("list", "datasets", "--format", "json")), dict), "list")


def files(check, pardec, model, db):
    (pardec.folder / "empty.jsonl").write_text("")
    for verb in (["compare"], ["report"], ["export", "--out", "tables"]):
        refused(check, pardec(*verb, "--db", db, "--hardware", "here", "--trace", "empty.jsonl"), "--trace", "empty.jsonl", "holds no trace")
    for header in (2**60, 2**40, 2**30, 99_000_000):
        folder = pardec.folder / f"long-{header}"
        shutil.copytree(model, folder)
        with (folder / "model.safetensors").open("wb") as file:
            file.write(struct.pack("<Q", header))
            file.truncate(8 + min(header, 99_000_000))
        ran = pardec("generate", "--model", folder, "--prompt", "x", "--max-new-tokens", 1)
        check(ran.returncode == 2 and "header" in ran.stderr and "memory" not in ran.stderr.lower(), f"a header of {header}: exit {ran.returncode}: {ran.stderr[:300]}")
        shutil.rmtree(folder)
    for table, column, value in (("run", "options", "[1]"), ("run", "config", "7"), ("run", "argv", "{}"), ("job", "tokens", '"x"'), ("generation", "fields", "{}"), ("generation", "fields", "[1]"),
                                 ("score", "details", "[]"), ("model", "shape", "[]"), ("sample", "fields", "5"), ("job", "branch_lengths", '["x"]')):
        broken = pardec.folder / "broken.sqlite"
        shutil.copy(db, broken)
        change(broken, f"UPDATE {table} SET {column} = ?", value)
        for verb in (["compare"], ["score"], ["report"], ["export", "--out", "broken-tables"], ["runs"], ["compare", "--accounting"]):
            ran = pardec(*verb, "--db", broken)
            check("internal error" not in ran.stderr and (ran.returncode == 0 or "broken.sqlite" in ran.stderr or "in the database" in ran.stderr), f"{table}.{column} = {value}: {verb}: exit {ran.returncode}: {ran.stderr}")
    shutil.copytree(model, pardec.folder / "adapted")
    pardec.good("train", "--model", model, "--dataset", "oa-mine", "--format", "ar", "--steps", 1, "--lora-rank", 2, "--context-length", 1024, "--progress", "none", "--out", "adapter")
    config = pardec.folder / "adapter" / "adapter_config.json"
    config.write_text(config.read_text().rstrip().removesuffix("}") + ', "r": 4}')
    refused(check, pardec("generate", "--model", model, "--adapter", "adapter", "--prompt", "x", "--max-new-tokens", 1), "adapter_config.json", 'has "r" twice')
    pardec.good("judge", "export", "--db", db, "--protocol", "single", "--out", "sheet.csv")
    item = (pardec.folder / "sheet.csv").read_text().splitlines()[1].split(",")[0]
    (pardec.folder / "labels.json").write_text(f'{{"protocol": "single", "labels": [{{"item": "{item}", "verdict": "3", "verdict": "9"}}]}}')
    refused(check, pardec("judge", "import", "--db", db, "--protocol", "single", "--labels", "labels.json", "--name", "A"), "labels.json", "'verdict' occurs twice")
    (pardec.folder / "labels.csv").write_text(f"item,verdict,verdict\n{item},3,9\n")
    refused(check, pardec("judge", "import", "--db", db, "--protocol", "single", "--labels", "labels.csv", "--name", "A"), "labels.csv", "verdict", "twice")


def unknown_use(check, pardec, db):
    """What the system did not tell is none, not 0."""
    old = pardec.folder / "old.sqlite"
    shutil.copy(db, old)
    disturbed = lambda: {row["arm"]: (row["disturbed_measurements"], row["repaired_measurements"]) for row in json.loads(pardec.good("compare", "--db", old, "--format", "json"))["rows"]}
    told = disturbed()
    check(told["ar"] == (None, None) and all(isinstance(n, int) for n in told["prompt-lookup"]), f"told: {told}")
    change(old, "UPDATE block SET cpu_ns = NULL, waited_ns = NULL, stolen_ns = NULL, mhz = NULL")
    check(set(disturbed().values()) == {(None, None)}, f"not told: {disturbed()}")


def long_header(check, pardec, db):
    """An answer whose head has an endless line is said to have one."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve():
        while True:
            connection, _ = server.accept()
            connection.recv(1 << 20)
            with contextlib.suppress(OSError):
                connection.sendall(b"HTTP/1.1 200 OK\r\nX-Long: " + b"a" * 300_000 + b"\r\nContent-Length: 2\r\n\r\n{}")
            connection.close()

    threading.Thread(target=serve, daemon=True).start()
    file = pardec.folder / "long.json"
    file.write_text(json.dumps({"interface": "openai-chat", "base_url": f"http://127.0.0.1:{server.getsockname()[1]}/v1", "model": "long", "retries": 0}))
    ran = pardec("judge", "--db", db, "--service", file, "--protocol", "single", "--limit", 1, "--progress", "none")
    said = ran.stdout + ran.stderr
    check(ran.returncode in (1, 3) and "a line of the answer's head" in said and "Out of memory" not in said, f"a long header: exit {ran.returncode}: {said[-400:]}")


def advice(check, pardec, db):
    """--resume is advised to verbs that have it."""
    judge = Judge(lambda *_: '{"explanation": "", "score": 5}', delay=0.3)
    own = pardec.folder / "own.sqlite"
    shutil.copy(db, own)
    process = pardec.start("judge", "--db", own, "--service", judge.file(pardec.folder, "advice", concurrency=1), "--protocol", "single", "--progress", "none")
    while not judge.asked and process.poll() is None:
        time.sleep(0.01)
    own.unlink()
    out, err = process.communicate(timeout=60)
    check(process.returncode == 1 and "--resume" not in err and "go on with --db" in err and "own.sqlite.recovered-1" in err, f"judge: exit {process.returncode}: {err}")


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        model = pardec.synthesise("model")
        db = pardec.folder / "r.sqlite"
        pardec.good("run", "--model", model, "--decoder", "ar,prompt-lookup", "--dataset", "mt-bench", "--limit", 3, "--max-new-tokens", 4, "--db", db, "--progress", "none")
        live_run(check, pardec, model)
        two_trainings(check, pardec, model)
        variables(check, pardec, model, db)
        numbers(check, pardec, model)
        documents(check, pardec, db)
        files(check, pardec, model, db)
        unknown_use(check, pardec, db)
        long_header(check, pardec, db)
        advice(check, pardec, db)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
