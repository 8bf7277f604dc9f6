"""`generate` prints a text as it is chosen, and at Ctrl-C what is there.

Usage: streaming_test.py PROGRAM

What a terminal gets piece by piece is, put together, what a pipe gets whole. An answer that was stopped is the beginning of the whole one. The
picture of `--watch` slows a decoder down, so that the signal meets it at work.
"""
import fcntl
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import threading
import time

import jsonschema

from harness import ROOT, Checks, clean_environment, scratch
from watch_test import PROMPT, decoders

QUICKSTART = ROOT / "experiments/quickstart"
SCHEMA = jsonschema.Draft202012Validator(json.loads((ROOT / "decoders/answers.schema.json").read_text()))


def pieces(pardec, *args):
    """Exit code, and what a terminal on stdout got at each read."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
    process = subprocess.Popen(pardec.arguments(args), cwd=pardec.folder, stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.DEVNULL, env=clean_environment(TERM="xterm"))
    os.close(theirs)
    got = []
    while True:
        try:
            more = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not more:
            break
        got.append(more.replace(b"\r\n", b"\n"))
    os.close(ours)
    return process.wait(60), got


def on_terminal(check, pardec, name, args, least):
    """What comes in pieces is the whole, and no piece ends within a character."""
    whole = pardec.good("generate", *args)
    code, got = pieces(pardec, "generate", *args)
    text = b"".join(got).decode()
    check(code == 0 and text == visible(whole), f"{name}: a terminal gets {text[-300:]!r}, a pipe {whole[-300:]!r}")
    for piece in got:
        try:
            piece.decode()
        except UnicodeDecodeError:
            check(False, f"{name}: half a character: {piece!r}")
    check(len(got) >= least, f"{name}: {len(got)} pieces, at least {least} expected")


def visible(text):
    """As a terminal gets it: control characters are dots."""
    return "".join("·" if (ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160 or 0x202A <= ord(c) <= 0x202E or 0x2066 <= ord(c) <= 0x2069 else c for c in text)


def stopped(pardec, *args, passes=3, number=signal.SIGINT):
    """Runs under a slow picture and sends a signal when so many passes were drawn; exit code, stdout, stderr."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(pardec.arguments(["generate", "--watch", "--pace", 150, *args]), cwd=pardec.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=theirs, env=clean_environment(TERM="xterm"))
    os.close(theirs)
    said, sent = b"", False
    out = []
    reader = threading.Thread(target=lambda: out.append(process.stdout.read().decode()))
    reader.start()
    while True:
        try:
            more = os.read(ours, 65536)
        except OSError:
            break
        if not more:
            break
        said += more
        if not sent and said.count(b"\x1b[J") >= passes:
            process.send_signal(number)
            sent = True
    os.close(ours)
    reader.join()
    return process.wait(60), out[0], said.decode().replace("\r\n", "\n")


def beginning(check, pardec, name, args, number=signal.SIGINT):
    """Text and JSON of an answer that was stopped."""
    whole = json.loads(pardec.good("generate", *args, "--format", "json"))
    passes = 1 if name == "speculative, good" else 3  # it has four in all
    code, out, said = stopped(pardec, *args, "--format", "json", passes=passes, number=number)
    if not check(code == 128 + number, f"{name}: exit {code}: {said[-300:]}"):
        return
    answer = json.loads(out)
    errors = [e.message for e in SCHEMA.iter_errors(answer)]
    check(not errors, f"{name}: {errors}")
    stops = {field["stop"] for field in answer["answers"]}
    check("interrupted" in stops, f"{name}: stopped by {stops}")
    check("stopped: 1 answer ends where it was" in said, f"{name}: stderr ends {said[-200:]!r}")
    for cut, field in zip(answer["answers"], whole["answers"]):
        if name not in ("apar", "aspd", "skeleton-of-thought"):  # their parts come in another order
            check(cut["tokens"] == field["tokens"][:len(cut["tokens"])], f"{name}: {cut['tokens']} is no beginning of {field['tokens']}")
    check(0 < answer["counters"]["chosen"] < whole["counters"]["chosen"], f"{name}: {answer['counters']['chosen']} of {whole['counters']['chosen']} chosen")


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        # Long enough to be read in pieces.
        quick = ("--model", QUICKSTART / "model", "--ignore-eos", "--max-new-tokens", 120)
        job = ("--job", QUICKSTART / "job.json")
        for name, args in (("ar", ()), ("ar of a job", ("--decoder", "ar", *job)), ("prompt-lookup", ("--decoder", "prompt-lookup")), ("lookahead", ("--decoder", "lookahead")),
                           ("speculative", ("--decoder", "speculative", "--draft-model", QUICKSTART / "draft")), ("medusa", ("--decoder", "medusa"))):
            on_terminal(check, pardec, name, (*quick, *args, *(() if "--job" in args else ("--prompt", "Blue shoes for men"))), 5)
        # Bytes that are no characters, from random weights; several prompts; JSON; ids.
        model = pardec.synthesise("model")
        pardec.synthesise("other", seed=9)
        tiny = ("--model", model, "--max-new-tokens", 60, "--ignore-eos")
        on_terminal(check, pardec, "random", (*tiny, "--prompt", "a"), 1)  # so fast that one read may have it all
        (pardec.folder / "prompts.jsonl").write_text("".join(json.dumps({"id": f"p{i}", "contexts": [{"text": "x", "fields": [{"name": "q", "question": f"Count {i}"}]}]}) + "\n"
                                                             for i in range(4)))
        on_terminal(check, pardec, "several", (*tiny, "--decoder", "ar", "--set", "ar.ask=separately", "--job", "prompts.jsonl", "--batch-size", 3), 1)
        on_terminal(check, pardec, "ids", (*tiny, "--prompt-tokens", PROMPT), 1)

        job = {"id": "one", "contexts": [{"id": "c1", "category": "Shoes", "text": "Alpina runner, blue", "fields": [{"name": "Brand"}, {"name": "Color"}]},
                                         {"id": "c2", "category": "Shoes", "text": "Nordak boot", "fields": [{"name": "Brand"}, {"name": "Color"}]}],
               "limits": {"max_new_tokens": 24, "per_field": 16}}
        (pardec.folder / "job.json").write_text(json.dumps(job))
        for name, args in decoders(pardec, model, "job.json"):
            if name == "hpd":
                args = (*args[:-1], "hpd.k_max=12")
            beginning(check, pardec, name, ("--model", model, *args, *(() if "--job" in args else ("--ignore-eos",))))
        beginning(check, pardec, "SIGTERM", ("--model", model, "--prompt-tokens", PROMPT, "--ignore-eos", "--max-new-tokens", 30), signal.SIGTERM)
        # Those that were not begun.
        (pardec.folder / "ids.txt").write_text(f"{PROMPT}\n{PROMPT}\n1,2,3\n")
        code, out, said = stopped(pardec, "--model", model, "--prompt-tokens", "@ids.txt", "--ignore-eos", "--max-new-tokens", 20)
        check(code == 130 and out.count("\n") == 1 and 1 < out.count(",") < 19, f"three prompts: exit {code}: {out!r}")
        check(said.rstrip().endswith("stopped: 1 answer ends where it was, 2 prompts not begun"), f"three prompts: stderr ends {said[-200:]!r}")

        # The picture stands, and what is said of speed is without that.
        args = ("--model", QUICKSTART / "model", "--decoder", "ar", "--job", "job.json", "--watch")
        for pace, least in (((), 3.4), (("--pace", 0), 0)):  # 24 passes
            begin = time.monotonic()
            ours, theirs = pty.openpty()
            process = subprocess.Popen(pardec.arguments(["generate", *args, *pace]), cwd=pardec.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs,
                                       env=clean_environment(TERM="xterm"))
            os.close(theirs)
            said = b""
            try:
                while more := os.read(ours, 65536):
                    said += more
            except OSError:
                pass
            os.close(ours)
            took = time.monotonic() - begin
            check(process.wait(60) == 0 and least <= took, f"pace {pace}: {took} s, at least {least} expected")
            speed = [line for line in said.decode().splitlines() if line.startswith("speed: 24 tokens in ")]
            check(len(speed) == 1 and " ms, " in speed[0], f"pace {pace}: {said.decode()[-300:]!r}")
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
