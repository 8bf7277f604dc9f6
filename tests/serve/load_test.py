"""Many clients for minutes, a third of which go at random: none lost, none wrong, memory flat."""

import collections
import json
import pathlib
import random
import socket
import threading
import time

import pytest
from harness import ROOT
from server import serving

QUICKSTART = ROOT / "experiments" / "quickstart"
CLIENTS = 64
SECONDS = 600
DECODERS = ["ar", "prompt-lookup", "lookahead", "speculative", "ippd"]
PROMPTS = ["Blue shoes for men", "Orm Mug, 300 ml", "Größe: 42, \u20ac 5 " * 20]


def bodies():
    for decoder in DECODERS:
        for prompt in PROMPTS:
            for most in (4, 40, 120):
                for stream in (False, True):
                    yield {
                        "model": f"model:{decoder}",
                        "prompt": prompt,
                        "max_tokens": most,
                        "ignore_eos": True,
                        "temperature": 0,
                        "seed": 1,
                        "stream": stream,
                    }


def answer(server, body):
    """The text of an answer, whole or streamed."""
    if not body["stream"]:
        status, reply = server.post("/v1/completions", body)
        return reply["choices"][0]["text"] if status == 200 else f"{status}: {reply}"
    events = server.stream("/v1/completions", body)
    return (
        "".join(c["text"] for e in events if e for c in e["choices"])
        if events[-1] is None
        else f"no end: {events}"
    )


def cut(server, body, wait):
    """Asks, and goes after a moment."""
    text = json.dumps(body).encode()
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(
            b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Type:"
            b" application/json\r\nContent-Length: %d\r\n\r\n" % len(text) + text
        )
        time.sleep(wait)


def memory(pid):
    """Resident bytes."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return (
        int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:")))
        * 1024
    )


def numbers(server):
    lines = server.request("GET", "/metrics")[2].decode().splitlines()
    return {
        line.split("{")[0]: float(line.rsplit(" ", 1)[1])
        for line in lines
        if not line.startswith("#")
    }


def client(number, server, cases, until, outcome):
    choose = random.Random(number)
    while time.monotonic() < until:
        body, want = choose.choice(cases)
        try:
            if choose.random() < 1 / 3:
                cut(server, body, choose.random() * 0.5)
                outcome["cut"] += 1
            else:
                got = answer(server, body)
                outcome["right" if got == want else f"wrong: {body} {got!r}, alone {want!r}"] += 1
        except Exception as error:
            outcome[f"lost: {body} {error!r}"] += 1


@pytest.mark.whole
def test_no_answer_is_lost_or_wrong_and_memory_does_not_grow(pardec):
    decoders = ("--decoder", ",".join(DECODERS), "--draft-model", QUICKSTART / "draft")
    with serving(pardec, "--model", QUICKSTART / "model", *decoders, "--batch-size", 32) as server:
        cases = [(body, answer(server, body)) for body in bodies()]
        begin = time.monotonic()
        outcomes = [collections.Counter() for _ in range(CLIENTS)]
        threads = [
            threading.Thread(target=client, args=(i, server, cases, begin + SECONDS, outcome))
            for i, outcome in enumerate(outcomes)
        ]
        for thread in threads:
            thread.start()
        time.sleep(min(60, SECONDS / 3))
        early = memory(server.process.pid)
        for thread in threads:
            thread.join()
        taken, late = time.monotonic() - begin, memory(server.process.pid)
        total = sum(outcomes, collections.Counter())
        for what, count in total.items():
            assert what in ("right", "cut"), f"{count} times {what[:600]}"
        assert total["right"] > CLIENTS
        assert total["cut"] > CLIENTS / 4
        after = numbers(server)
        assert after["pardec:num_requests_running"] == after["pardec:num_requests_waiting"] == 0
        assert after["pardec:kv_cache_rows"] == 0
        assert late < early * 1.02
        print(
            f"{total['right']} answers, {total['cut']} cut in {taken:.0f} s;"
            f" {after['pardec:generation_tokens_total'] / taken:.0f} tokens a second answered;"
            f" {after['pardec:pass_answers_total'] / after['pardec:passes_total']:.1f} answers a"
            f" pass; memory {early / 1e6:.1f} MB, then {late / 1e6:.1f} MB"
        )
        code, said = server.end()
        assert code == 0
