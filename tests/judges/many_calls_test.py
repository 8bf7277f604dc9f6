"""`pardec judge` over 1,000 answers, 32 at a time, by a service that takes 50 ms for each: memory
does not grow with the calls, and (whole) it gets at least 90 % of what the service can do.

Truth: asyncio's client with as many connections, asking the same server.
"""

import asyncio
import datetime
import json
import pathlib
import sys

import pytest
from harness import change, query, write_lines
from memory_test import held_by

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "chat"))
from throughput_test import fault_server, reference  # noqa: E402

EXAMPLES, AT_A_TIME, KIND = 500, 32, "fifty-ms-grade"


@pytest.fixture(scope="module")
def address():
    """A server that answers after 50 ms."""
    with fault_server() as address:
        yield address


@pytest.fixture(scope="module")
def db(pardec):
    """A database with two arms' answers of some 2 kB to 500 prompts."""
    write_lines(
        pardec.folder / "data" / "jsonl" / "test.jsonl",
        [{"id": f"e{i}", "prompt": f"What is to be said of number {i}?"} for i in range(EXAMPLES)],
    )
    pardec.good(
        "run", "--model", pardec.synthesise("m"), "--data-root", "data", "--dataset", "jsonl",
        "--arm", "one=ar", "--arm", "two=ar,seed=2", "--max-new-tokens", 1, "--batch-size", 32,
        "--progress", "none", "--db", "many.sqlite",
    )
    db = pardec.folder / "many.sqlite"
    change(
        db,
        "UPDATE generation SET error = NULL, fields = json_set(fields, '$[0].text', ? || id)",
        "Much can be said of it, and this is one of the things. " * 40,
    )
    return db


def judged(pardec, db, address, name, examples):
    """Bytes held at most, and calls a second from the first request to the last answer, of a
    judging by a judge of its own.
    """
    service = pardec.folder / f"{name}.json"
    service.write_text(
        json.dumps(
            {
                "interface": "openai-chat",
                "base_url": f"{address}/{KIND}/v1",
                "model": name,
                "concurrency": AT_A_TIME,
            }
        )
    )
    peak, _ = held_by(
        pardec, "judge", "--db", db, "--service", service, "--protocol", "single", "--limit",
        examples, "--progress", "none",
    )
    rows = query(
        db,
        "SELECT started_utc, judge_attempt.seconds FROM judge_attempt JOIN judge ON judge.id ="
        " judge_id WHERE judge.name = ?",
        name,
    )
    scored = query(
        db,
        "SELECT count(*) AS n FROM judgment JOIN judge ON judge.id = judge_id WHERE judge.name = ?"
        " AND state = 'scored' AND value = 7",
        name,
    )[0]["n"]
    assert len(rows) == scored == 2 * examples
    begun = [
        datetime.datetime.fromisoformat(row["started_utc"].replace("Z", "+00:00")).timestamp()
        for row in rows
    ]
    return peak, len(rows) / (max(b + row["seconds"] for b, row in zip(begun, rows)) - min(begun))


def test_memory_does_not_grow_with_the_calls(pardec, db, address):
    few, _ = judged(pardec, db, address, "few", EXAMPLES // 5)
    many, _ = judged(pardec, db, address, "many", EXAMPLES)
    print(f"200 answers {few / 1e6:.1f} MB, 1,000 answers {many / 1e6:.1f} MB")
    assert many < few + 16e6


@pytest.mark.whole
def test_calls_get_what_the_service_can_do(pardec, db, address):
    few, _ = judged(pardec, db, address, "some", EXAMPLES // 5)
    shares = []
    for turn in range(3):  # others may have the machine for a moment
        held, rate = judged(pardec, db, address, f"many-{turn}", EXAMPLES)
        best = asyncio.run(reference(address, 2 * EXAMPLES, KIND))
        shares.append(rate / best)
        print(f"{rate:.0f} calls/s of {best:.0f}: {rate / best:.1%}")
        assert held < few + 16e6
    assert max(shares) >= 0.9
