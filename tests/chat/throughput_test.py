"""1,000 calls at 32 in flight to a server that answers after 50 ms: at least 90 % of what it can
do, in memory that does not grow.

Truth: asyncio's client with as many connections and the same requests, taking turns with the probe.
"""

import asyncio
import contextlib
import json
import pathlib
import subprocess
import sys
import time

import pytest

CALLS, AT_A_TIME, PROMPT = 1000, 32, "x " * 2000
HERE = pathlib.Path(__file__).parent


def lines(calls):
    return "".join(
        json.dumps(
            {"key": f"call-{i}", "messages": [["user", f"call-{i} {PROMPT}"]], "max_tokens": 50}
        )
        + "\n"
        for i in range(calls)
    )


def probe(program, address, folder, calls):
    """Calls a second, and the peak of memory in bytes."""
    spec = pathlib.Path(folder) / "service.json"
    spec.write_text(
        json.dumps(
            {
                "interface": "openai-chat",
                "base_url": f"{address}/fifty-ms/v1",
                "model": "m",
                "concurrency": AT_A_TIME,
            }
        )
    )
    asked = pathlib.Path(folder) / "calls.jsonl"
    asked.write_text(lines(calls))
    answers = pathlib.Path(folder) / "events.jsonl"
    with open(asked) as stdin, open(answers, "w") as stdout:
        begin = time.monotonic()
        status = subprocess.run(
            [program, json.dumps({"service": str(spec)})], stdin=stdin, stdout=stdout
        ).returncode
        seconds = time.monotonic() - begin
    events = [json.loads(line) for line in answers.read_text().splitlines()]
    answered = sum(e["event"] == "replied" and e["state"] == "answered" for e in events)
    assert status == 0, events[-1:]
    assert answered == calls
    assert sum(e["event"] == "settled" for e in events) == calls
    return calls / seconds, int(events[-1]["peak"].split()[0]) * 1024


async def reference(address, calls, kind="fifty-ms"):
    """What the server can do: calls a second."""
    host, port = address.removeprefix("http://").split(":")
    todo = iter(range(calls))

    async def worker():
        reader, writer = await asyncio.open_connection(host, port)
        for i in todo:
            body = json.dumps(
                {
                    "model": "m",
                    "messages": [{"role": "user", "content": f"call-{i} {PROMPT}"}],
                    "max_completion_tokens": 50,
                }
            ).encode()
            writer.write(
                f"POST /{kind}/v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type:"
                f" application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
                + body
            )
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(
                int(line.split(b":")[1])
                for line in head.lower().split(b"\r\n")
                if line.startswith(b"content-length:")
            )
            json.loads(await reader.readexactly(length))
        writer.close()

    begin = time.monotonic()
    await asyncio.gather(*(worker() for _ in range(AT_A_TIME)))
    return calls / (time.monotonic() - begin)


@contextlib.contextmanager
def fault_server():
    """The address of a server of fault_server.py in a process of its own."""
    command = [sys.executable, HERE / "fault_server.py"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


@pytest.fixture(scope="module")
def address():
    with fault_server() as address:
        yield address


@pytest.mark.whole
def test_calls_get_what_the_server_can_do_in_constant_memory(program, address, tmp_path):
    client = program("chat_probe")
    rates, memory = [], []
    for _ in range(3):
        best = asyncio.run(reference(address, CALLS))
        rate, peak = probe(client, address, tmp_path, CALLS)
        rates.append(rate / best)
        memory.append(peak)
        print(f"{rate:.0f} calls/s of {best:.0f}: {rate / best:.1%}; peak {peak / 1e6:.1f} MB")
    _, peak = probe(client, address, tmp_path, 4 * CALLS)
    print(f"peak of {4 * CALLS} calls: {peak / 1e6:.1f} MB")
    assert max(rates) >= 0.9
    assert peak <= max(memory) + 2e6
