"""`pardec judge` over 1,000 answers, 32 at a time, by a service that takes 50 ms for each: memory does not grow with the calls, and (whole) it gets at least 90 %
of what the service can do.

usage: many_calls_test.py PROGRAM [whole]

Truth: a client of asyncio's with as many connections, asking the same server.
"""
import asyncio
import datetime
import json
import pathlib
import subprocess
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / folder) for folder in ("cli", "chat")]
from harness import Checks, change, query, scratch, write_lines  # noqa: E402
from memory_test import held_by  # noqa: E402
from throughput_test import reference  # noqa: E402

EXAMPLES, AT_A_TIME, KIND = 500, 32, "fifty-ms-grade"
HERE = pathlib.Path(__file__).parent


def answered(pardec):
    """A database with two arms' answers of some 2 kB to 500 prompts."""
    write_lines(pardec.folder / "data" / "jsonl" / "test.jsonl", [{"id": f"e{i}", "prompt": f"What is to be said of number {i}?"} for i in range(EXAMPLES)])
    pardec.good("run", "--model", pardec.synthesise("m"), "--data-root", "data", "--dataset", "jsonl", "--arm", "one=ar", "--arm", "two=ar,seed=2", "--max-new-tokens", 1,
                "--batch-size", 32, "--progress", "none", "--db", "many.sqlite")
    db = pardec.folder / "many.sqlite"
    change(db, "UPDATE generation SET error = NULL, fields = json_set(fields, '$[0].text', ? || id)", "Much can be said of it, and this is one of the things. " * 40)
    return db


def judged(check, pardec, db, address, name, examples):
    """Bytes held at most, and calls a second from the first request to the last answer, of a judging by a judge of its own."""
    service = pardec.folder / f"{name}.json"
    service.write_text(json.dumps({"interface": "openai-chat", "base_url": f"{address}/{KIND}/v1", "model": name, "concurrency": AT_A_TIME}))
    peak, _ = held_by(pardec, "judge", "--db", db, "--service", service, "--protocol", "single", "--limit", examples, "--progress", "none")
    rows = query(db, "SELECT started_utc, judge_attempt.seconds FROM judge_attempt JOIN judge ON judge.id = judge_id WHERE judge.name = ?", name)
    scored = query(db, "SELECT count(*) AS n FROM judgment JOIN judge ON judge.id = judge_id WHERE judge.name = ? AND state = 'scored' AND value = 7", name)[0]["n"]
    check(len(rows) == scored == 2 * examples, f"{examples} examples: {len(rows)} requests, {scored} verdicts")
    begun = [datetime.datetime.fromisoformat(row["started_utc"].replace("Z", "+00:00")).timestamp() for row in rows]
    return peak, len(rows) / (max(b + row["seconds"] for b, row in zip(begun, rows)) - min(begun))


def main():
    check = Checks()
    whole = sys.argv[2:] == ["whole"]
    with scratch(sys.argv[1]) as pardec:
        db = answered(pardec)
        server = subprocess.Popen([sys.executable, HERE.parent / "chat" / "fault_server.py"], stdout=subprocess.PIPE, text=True)
        try:
            address = server.stdout.readline().strip()
            few, _ = judged(check, pardec, db, address, "few", EXAMPLES // 5)
            many, shares = 0, []
            for turn in range(3 if whole else 1):  # others may have the machine for a moment
                held, rate = judged(check, pardec, db, address, f"many-{turn}", EXAMPLES)
                many = max(many, held)
                if whole:
                    best = asyncio.run(reference(address, 2 * EXAMPLES, KIND))
                    shares.append(rate / best)
                    print(f"{rate:.0f} calls/s of {best:.0f}: {rate / best:.1%}")
        finally:
            server.terminate()
        print(f"200 answers {few / 1e6:.1f} MB, 1,000 answers {many / 1e6:.1f} MB")
        check(many < few + 16e6, f"{few / 1e6:.1f} MB for 200 answers, {many / 1e6:.1f} MB for 1,000")
        check(not whole or max(shares) >= 0.9, f"shares of what the service can do: {shares}")
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
