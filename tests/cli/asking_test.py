"""What asking a judge may cost, tell and take away: budgets over processes, one asker a database, keys, sheets of another wording, a judge that nobody reaches.

Usage: asking_test.py PROGRAM
"""
import csv
import json
import os
import pathlib
import re
import socket
import sys
import time

from harness import Checks, query, scratch
from scripted_service import Judge

ASK = ["judge", "--protocol", "single", "--progress", "none"]
GOOD = '{"explanation": "fine", "score": 7}'


def sheets(check, pardec, db):
    """Labels go to the protocol of their sheet, whichever references it showed."""
    items = {}
    for when in ("auto", "always", "never"):
        out = f"{when}.csv"
        said = pardec.good("judge", "export", "--db", db, "--protocol", "single", "--references", when, "--out", out)
        check(("--references" in said) == (when != "auto") and (when == "auto" or f"--references {when}" in said), f"the command that imports it: {said}")
        rows = list(csv.DictReader((pardec.folder / out).open()))
        items[when] = {row["item"] for row in rows}
        for row in rows:
            row["verdict"] = "7"
        with (pardec.folder / out).open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    check(not items["auto"] & items["always"] and not items["always"] & items["never"] and len(items["auto"]) == len(items["always"]) > 0, "ids of items tell the wording")
    ran = pardec("judge", "import", "--db", db, "--protocol", "single", "--labels", "always.csv", "--name", "ANNA")
    check(ran.returncode == 2 and "--references" in ran.stderr and not query(db, "SELECT * FROM judgment"), f"another wording: exit {ran.returncode}: {ran.stderr}")
    pardec.good("judge", "import", "--db", db, "--protocol", "single", "--references", "always", "--labels", "always.csv", "--name", "ANNA")
    check(len(query(db, "SELECT DISTINCT protocol_id FROM judgment")) == 1 and len(query(db, "SELECT * FROM judgment")) == len(items["always"]), "they are stored under their own")


def budgets(check, pardec, db):
    """A service that counts no tokens is charged what a reply may have taken, by later processes too."""
    def uncounted(*_):
        return {"id": "1", "model": "m", "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": GOOD}}]}

    judge = Judge(uncounted)
    for name, flags in (("tokens", {"prices": None}), ("money", {})):
        file = judge.file(pardec.folder, f"uncounted-{name}", concurrency=1)
        text = {**json.loads(file.read_text()), **flags}
        file.write_text(json.dumps({k: v for k, v in text.items() if v is not None}))
        limit = ["--token-budget", 9000] if name == "tokens" else ["--budget", 0.015]
        before = sum(judge.asked.values())
        ran = pardec(*ASK, "--db", db, "--service", file, *limit)
        asked = sum(judge.asked.values()) - before
        check(ran.returncode == 1 and "budget is reached" in ran.stderr and 1 <= asked <= 4, f"{name}: {asked} were asked, exit {ran.returncode}: {ran.stderr}")
        for _ in range(2):
            again = pardec(*ASK, "--db", db, "--service", file, *limit)
            check(again.returncode == 1 and "budget is reached" in again.stderr and sum(judge.asked.values()) - before == asked,
                  f"{name}: a later process asked {sum(judge.asked.values()) - before - asked} more: {again.stderr}")
    rows = query(db, "SELECT prompt_tokens, completion_tokens FROM judge_reply")
    check(rows and all(r["prompt_tokens"] is None and r["completion_tokens"] is None for r in rows), f"a reply says what the service said: {rows}")
    for number in (9223372036854775807, 2**62, 10**12):
        ran = pardec(*ASK, "--db", db, "--service", file, "--token-budget", 10, "--max-tokens", number)
        check(ran.returncode == 2 and "--max-tokens" in ran.stderr and "at most" in ran.stderr, f"--max-tokens {number}: exit {ran.returncode}: {ran.stderr}")
    before = sum(judge.asked.values())
    ran = pardec(*ASK, "--db", db, "--service", file, "--token-budget", 10, "--max-tokens", 10**9)
    check(ran.returncode == 1 and sum(judge.asked.values()) == before, f"the largest one: exit {ran.returncode}: {ran.stderr}")


def one_asker(check, pardec, db):
    """Another name of the database is no way around the one who asks."""
    slow = Judge(lambda *_: GOOD, delay=0.5)
    service = slow.file(pardec.folder, "slow", concurrency=2)
    folder = pardec.folder / "elsewhere"
    folder.mkdir()
    os.symlink(db, folder / "link.sqlite")
    os.link(db, folder / "hard.sqlite")
    os.symlink(pardec.folder, folder / "folder")
    first = pardec.start(*ASK, "--db", db, "--service", service)
    until = time.monotonic() + 60
    while not slow.asked and time.monotonic() < until:
        time.sleep(0.01)
    for name, code, words in ((folder / "link.sqlite", 1, "another process asks"), (folder / "folder" / db.name, 1, "another process asks"), (folder / "hard.sqlite", 2, "another name")):
        second = pardec(*ASK, "--db", name, "--service", service)
        check(second.returncode == code and words in second.stderr, f"{name.name}: exit {second.returncode}: {second.stderr}")
    out, err = first.communicate(timeout=120)
    check(first.returncode == 0 and set(slow.asked.values()) == {1}, f"each was asked once: {slow.asked.values()}, exit {first.returncode}: {err}")
    os.unlink(folder / "hard.sqlite")
    check(pardec("compare", "--db", db).returncode == 0 and not list(pardec.folder.glob("**/*-judge-*")), "the database is sound, and no lock is left")


def unreachable(check, pardec, model):
    """A run is shown whatever its judge does."""
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        port = nobody.getsockname()[1]
        file = pardec.folder / "nobody.json"
        file.write_text(json.dumps({"interface": "openai-chat", "base_url": f"http://127.0.0.1:{port}/v1", "model": "nobody", "retries": 0}))
        db = pardec.folder / "unjudged.sqlite"
        command = ["run", "--model", model, "--decoder", "ar", "--dataset", "mt-bench", "--limit", 2, "--max-new-tokens", 4, "--db", db, "--progress", "none", "--judge", file]
        for form in ("text", "json", "csv"):
            ran = pardec(*command, "--format", form)
            check(ran.returncode == 1 and "tokens" in ran.stdout and "mt-bench" in ran.stdout and "cannot be reached" in ran.stderr and "the run is done and stored" in ran.stderr,
                  f"{form}: exit {ran.returncode}: {ran.stdout[:300]} {ran.stderr}")
        check("sent in clear" not in ran.stderr, "to this machine nothing is sent over a network")


def told(check, pardec, db):
    """A key with what JSON escapes, said back as JSON, is stored nowhere; one that goes over a network in clear is warned of."""
    key = 'sk/"ab\\cd/ef"gh\\ij-0123456789'
    pieces = [b"cd/ef", b"cd\\/ef", b"gh", b"ij-0123", b"sk/", b"sk\\/"]
    judge = Judge(lambda *_: {"error": {"message": f"what is {key} and {json.dumps(key)}? " + json.dumps({"error": json.dumps({"key": key})}), "type": "server_error"}, "key": key})
    file = judge.file(pardec.folder, "echo", key_env="ECHO_KEY", retries=1, concurrency=1)
    own = pardec.folder / "own.sqlite"
    own.write_bytes(pathlib.Path(db).read_bytes())
    before = {piece: own.read_bytes().count(piece) for piece in pieces}
    ran = pardec(*ASK, "--db", own, "--service", file, "--limit", 1, env={"ECHO_KEY": key})
    rows = query(own, "SELECT error, body FROM judge_attempt WHERE judge_id = (SELECT id FROM judge WHERE name = 'echo')")
    check(rows and any(r["body"] and "[key]" in r["body"] for r in rows), f"what came is kept, without the key: {rows} {ran.stderr}")
    said = {piece: count for piece in pieces if (count := own.read_bytes().count(piece)) > before[piece]}
    check(not said and "gh" not in re.sub(r"\[key\]|right|light|might|high", "", ran.stderr + ran.stdout), f"pieces of the key in the database: {said}; {ran.stderr}")
    pardec.good("export", "--db", own, "--out", "told")
    check(not any(p in f.read_bytes() for f in (pardec.folder / "told").iterdir() for p in (b"ij-0123", b"cd/ef", b"cd\\/ef")), "nor in what is exported")

    for url, warned in (("http://192.0.2.1:9/v1", True), ("http://127.0.0.1:9/v1", False), ("http://[::1]:9/v1", False), ("http://localhost:9/v1", False), ("https://192.0.2.1:9/v1", False)):
        file.write_text(json.dumps({"interface": "openai-chat", "base_url": url, "model": "far", "retries": 0, "key_env": "ECHO_KEY", "deadlines": {"connect": 0.2}}))
        ran = pardec(*ASK, "--db", own, "--service", file, "--limit", 1, env={"ECHO_KEY": "sk-1234567890"})
        check(("sent in clear" in ran.stderr and "the key and all texts" in ran.stderr) == warned, f"{url}: {ran.stderr}")


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        model = pardec.synthesise("model")
        db = pardec.folder / "r.sqlite"
        pardec.good("run", "--model", model, "--decoder", "ar,prompt-lookup", "--dataset", "mt-bench", "--limit", 4, "--max-new-tokens", 4, "--db", db, "--progress", "none")
        sheets(check, pardec, db)
        budgets(check, pardec, db)
        one_asker(check, pardec, db)
        unreachable(check, pardec, model)
        told(check, pardec, db)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
