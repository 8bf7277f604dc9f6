"""`generate` prints a text as it is generated, and at Ctrl-C what is there.

What a terminal gets piece by piece is, put together, what a pipe gets whole. An answer that was
stopped is the beginning of the whole one. The picture of `--watch` slows a decoder down, so that
the signal arrives while it works.
"""

import contextlib
import fcntl
import json
import os
import pty
import select
import signal
import struct
import termios
import time

import jsonschema
import pytest
from harness import ROOT, write_lines
from watch_test import PROMPT, decoders

QUICKSTART = ROOT / "experiments/quickstart"
WORDS = "Blue shoes for men"
SCHEMA = jsonschema.Draft202012Validator(
    json.loads((ROOT / "decoders/answers.schema.json").read_text())
)


@contextlib.contextmanager
def terminal():
    """Both ends of a terminal of 200 columns: a descriptor to read from, and the path of the
    other.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
    try:
        yield ours, os.ttyname(theirs)
    finally:
        os.close(ours)
        os.close(theirs)


def reads(process, ours):
    """What a terminal gets at each read, until the program has ended."""
    while True:
        ended = process.poll() is not None
        if select.select([ours], [], [], 0 if ended else 0.005)[0]:
            yield os.read(ours, 65536).replace(b"\r\n", b"\n")
        elif ended:
            return


def pieces(pardec, *args):
    """Exit code, and what a terminal on stdout got at each read."""
    with terminal() as (ours, path):
        process = pardec.start(*args, stdout=path, stderr=os.devnull, env={"TERM": "xterm"})
        got = list(reads(process, ours))
    return process.wait(60), got


def check_on_terminal(pardec, args, least):
    """What comes in pieces is the whole, and no piece ends within a character."""
    whole = pardec.good("generate", *args)
    code, got = pieces(pardec, "generate", *args)
    assert code == 0
    assert b"".join(got).decode() == visible(whole)
    for piece in got:
        piece.decode()
    assert len(got) >= least


def visible(text):
    """What a terminal gets: control characters are dots."""
    return "".join(
        (
            "·"
            if (ord(c) < 32 and c not in "\n\t")
            or 127 <= ord(c) < 160
            or 0x202A <= ord(c) <= 0x202E
            or 0x2066 <= ord(c) <= 0x2069
            else c
        )
        for c in text
    )


def stopped(pardec, *args, passes=3, number=signal.SIGINT):
    """Runs with a slow picture and sends a signal when so many passes were drawn; exit code,
    stdout, stderr.
    """
    with terminal() as (ours, path):
        process = pardec.start(
            "generate", "--watch", "--pace", 150, *args, stderr=path, env={"TERM": "xterm"}
        )
        said, sent = b"", False
        for piece in reads(process, ours):
            said += piece
            if not sent and said.count(b"\x1b[J") >= passes:
                process.send_signal(number)
                sent = True
    out, _ = process.communicate(60)
    return process.returncode, out, said.decode()


def check_beginning(pardec, args, passes=3, number=signal.SIGINT, in_order=True):
    """An answer that was stopped is valid JSON, says so, and is the beginning of the whole one."""
    whole = json.loads(pardec.good("generate", *args, "--format", "json"))
    code, out, said = stopped(pardec, *args, "--format", "json", passes=passes, number=number)
    assert code == 128 + number, said[-300:]
    answer = json.loads(out)
    assert not [e.message for e in SCHEMA.iter_errors(answer)]
    assert "interrupted" in {field["stop"] for field in answer["answers"]}
    assert "stopped: 1 answer was cut" in said
    for cut, field in zip(answer["answers"], whole["answers"]):
        if in_order:
            assert cut["tokens"] == field["tokens"][: len(cut["tokens"])]
    assert 0 < answer["counters"]["chosen"] < whole["counters"]["chosen"]


# Arguments of `generate` with the quickstart's network.
TRAINED = {
    "ar": ("--prompt", WORDS),
    "ar of a job": ("--decoder", "ar", "--job", QUICKSTART / "job.json"),
    "prompt-lookup": ("--decoder", "prompt-lookup", "--prompt", WORDS),
    "lookahead": ("--decoder", "lookahead", "--prompt", WORDS),
    "speculative": (
        "--decoder", "speculative", "--draft-model", QUICKSTART / "draft", "--prompt", WORDS,
    ),
    "medusa": ("--decoder", "medusa", "--prompt", WORDS),
}
# With random weights: bytes that are no characters; several prompts; ids.
RANDOM = {
    "bytes": ("--prompt", "a"),
    "several": (
        "--decoder", "ar", "--set", "ar.ask=separately", "--job", "prompts.jsonl", "--batch-size",
        3,
    ),
    "ids": ("--prompt-tokens", PROMPT),
}
DECODERS = (
    "ar", "hpd", "ippd", "ar separately", "apar", "speculative, good", "speculative, bad",
    "prompt-lookup", "self-speculative", "lookahead", "space",
)


@pytest.fixture(scope="module")
def model(pardec):
    """A network of random weights; another one drafts."""
    pardec.synthesise("other", seed=9)
    return pardec.synthesise("model")


@pytest.fixture(scope="module")
def job(pardec):
    fields = [{"name": "Brand"}, {"name": "Color"}]
    job = {
        "id": "one",
        "contexts": [
            {"id": "c1", "category": "Shoes", "text": "Alpina runner, blue", "fields": fields},
            {"id": "c2", "category": "Shoes", "text": "Nordak boot", "fields": fields},
        ],
        "limits": {"max_new_tokens": 24, "per_field": 16},
    }
    return write_lines(pardec.folder / "job.json", [job])


@pytest.mark.parametrize("name", list(TRAINED))
def test_a_terminal_gets_an_answer_in_pieces(pardec, name):
    # Long enough to be read in pieces.
    check_on_terminal(
        pardec,
        ("--model", QUICKSTART / "model", "--ignore-eos", "--max-new-tokens", 60, *TRAINED[name]),
        5,
    )


@pytest.mark.parametrize("name", list(RANDOM))
def test_a_terminal_gets_whole_characters(pardec, model, name):
    """It is so fast that one read may have it all."""
    write_lines(
        pardec.folder / "prompts.jsonl",
        [
            {
                "id": f"p{i}",
                "contexts": [{"text": "x", "fields": [{"name": "q", "question": f"Count {i}"}]}],
            }
            for i in range(4)
        ],
    )
    check_on_terminal(
        pardec, ("--model", model, "--max-new-tokens", 60, "--ignore-eos", *RANDOM[name]), 1
    )


@pytest.fixture(scope="module")
def asked(pardec, model, job):
    """Arguments of `generate` by decoder."""
    found = dict(decoders(pardec, model, job.name))
    found["hpd"] = (*found["hpd"][:-1], "hpd.k_max=12")
    assert set(found) == set(DECODERS)
    return found


@pytest.mark.parametrize("name", DECODERS)
def test_a_stopped_answer_is_the_beginning_of_the_whole_one(pardec, model, asked, name):
    args = asked[name]
    passes = 1 if name == "speculative, good" else 3  # it has four in all
    # The parts of apar come in another order.
    check_beginning(
        pardec,
        ("--model", model, *args, *(() if "--job" in args else ("--ignore-eos",))),
        passes,
        in_order=name != "apar",
    )


def test_sigterm_stops_an_answer_as_ctrl_c_does(pardec, model):
    check_beginning(
        pardec,
        ("--model", model, "--prompt-tokens", PROMPT, "--ignore-eos", "--max-new-tokens", 30),
        number=signal.SIGTERM,
    )


def test_prompts_that_were_not_begun_are_counted(pardec, model):
    (pardec.folder / "ids.txt").write_text(f"{PROMPT}\n{PROMPT}\n1,2,3\n")
    code, out, said = stopped(
        pardec, "--model", model, "--prompt-tokens", "@ids.txt", "--ignore-eos", "--max-new-tokens",
        20,
    )
    assert code == 130
    assert out.count("\n") == 1
    assert 1 < out.count(",") < 19
    assert said.rstrip().endswith("stopped: 1 answer was cut, 2 prompts not begun")


@pytest.mark.parametrize(
    "pace, least", [((), 1.1), (("--pace", 0), 0)], ids=["150 ms a pass", "without a pause"]
)
def test_the_speed_is_without_the_pauses_of_the_picture(pardec, job, pace, least):
    few = json.loads(job.read_text())
    few["limits"]["max_new_tokens"] = 8
    write_lines(pardec.folder / "few.json", [few])
    begin = time.monotonic()
    with terminal() as (ours, path):
        process = pardec.start(
            "generate", "--model", QUICKSTART / "model", "--decoder", "ar", "--job", "few.json",
            "--watch", *pace, stdout=os.devnull, stderr=path, env={"TERM": "xterm"},
        )
        said = b"".join(reads(process, ours)).decode()
    took = time.monotonic() - begin
    assert process.wait(60) == 0
    assert least <= took  # eight passes
    speed = [line for line in said.splitlines() if line.startswith("speed: 8 tokens in ")]
    assert len(speed) == 1
    assert " ms, " in speed[0]
