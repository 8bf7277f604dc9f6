"""`generate --watch` shows what a decoder does, as its trace has it: plain lines off a terminal,
a picture in colour on one.

What is shown is compared with the traces and the answers of the same decoders, run without it. The
terminal is a pseudo-terminal, and a small emulator here says what stands on its screen.
"""

import collections
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios

import pytest
from harness import TOKENIZER, clean_environment

IDS = {k: v for k, v in json.loads(TOKENIZER.read_text())["model"]["vocab"].items()}
PROMPT = "3,14,15,92,65,35,89,79,32,38,46,26,43,38"
LINE = re.compile(
    r"^(\S+ \S+)(?: pass (\d+):(.*)|: (\d+) tokens? in (\d+) pass(?:es)?, \d+\.\d\d a pass)$"
)


def plain_lines(text):
    """Of each sequence: [pass, thread, rejected, text] of every token shown, and what its last
    line counts.
    """
    shown, ends = collections.defaultdict(list), {}
    for line in text.splitlines():
        found = LINE.match(line)
        if not found:
            return None, line
        name, at, rest, tokens, passes = found.groups()
        if at is None:
            ends[name] = (int(tokens), int(passes))
            continue
        thread = None
        for head, tilde, token in re.findall(
            r' (?:\[(\d+)(?: "(?:[^"\\]|\\.)*")?\]|(~?)"((?:[^"\\]|\\.)*)")', rest
        ):
            if head:
                thread = int(head)
            else:
                shown[name].append((int(at), thread, bool(tilde), re.sub(r"\\(.)", r"\1", token)))
    return shown, ends


def numbers(tokens, thread=None):
    return [int(t) for _, of, rejected, t in tokens if not rejected and thread in (None, of)]


def choices(trace):
    """Ids of the answer, by the network's greedy choice."""
    return [trace["predicts"][row] for row in trace["emitted"]]


def screen(output):
    """Lines that stand on a terminal in the end, and the longest line ever; knows what the
    picture uses and nothing else.
    """
    lines, row, widest = [""], 0, 0
    for part in re.findall(r"\x1b\[[0-9;]*[A-Za-z]|[\r\n]|[^\x1b\r\n]+", output):
        if part == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif part == "\r" or part.endswith("m") and part[0] == "\x1b":
            continue
        elif part[0] == "\x1b" and part.endswith("A"):
            row -= int(part[2:-1])
            assert row >= 0, "the cursor leaves the screen"
        elif part == "\x1b[J":
            lines[row:] = [""]
        elif part[0] == "\x1b":
            raise AssertionError(f"unknown escape {part!r}")
        else:
            lines[row] += part
            widest = max(widest, len(lines[row]))
    return lines, widest


def on_terminal(pardec, *args, columns=80, rows=24, env=None):
    """Runs with a terminal for stderr; returns exit code, stdout and what the terminal got."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    process = subprocess.Popen(
        pardec.arguments(args),
        cwd=pardec.folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env=clean_environment(TERM="xterm", **(env or {})),
    )
    os.close(theirs)
    got = b""
    while True:
        try:
            more = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not more:
            break
        got += more
    os.close(ours)
    out = process.stdout.read()
    return process.wait(60), out.decode(), got.decode().replace("\r\n", "\n")


JOB = {
    "id": "one",
    "contexts": [
        {
            "id": "c1",
            "category": "Shoes",
            "text": "Alpina runner, blue",
            "fields": [{"name": "Brand"}, {"name": "Color"}],
        },
        {
            "id": "c2",
            "category": "Shoes",
            "text": "Nordak boot",
            "fields": [{"name": "Brand"}, {"name": "Color"}],
        },
    ],
    "limits": {"max_new_tokens": 12, "per_field": 5},
}
TOKENS = ("--prompt-tokens", PROMPT, "--max-new-tokens", 20)
OF_JOB = ("--job", "JOB")
# Arguments of generate, of every kind of decoder; `decoders` fills in the words in capitals.
DECODERS = {
    "ar": ("--decoder", "ar", *TOKENS),
    "hpd": ("--decoder", "hpd", *OF_JOB, "--set", "hpd.k_max=6"),
    "ippd": ("--decoder", "ippd", *OF_JOB, "--set", "ippd.prefix_cache=true"),
    "ar separately": ("--decoder", "ar", *OF_JOB, "--set", "ar.ask=separately"),
    "apar": (
        "--decoder", "apar", *TOKENS, "--set", "apar.fork_token=FORK", "--set",
        "apar.child_token=11",
    ),
    "speculative, good": ("--decoder", "speculative", "--draft-model", "MODEL", *TOKENS),
    "speculative, bad": ("--decoder", "speculative", "--draft-model", "other", *TOKENS),
    **{
        name: ("--decoder", name, *TOKENS)
        for name in ("prompt-lookup", "self-speculative", "lookahead")
    },
    "space": ("--decoder", "space", *TOKENS, "--set", "space.mask_token=7", "--set", "space.k=3"),
}


@pytest.fixture(scope="module")
def model(pardec):
    (pardec.folder / "job.json").write_text(json.dumps(JOB))
    pardec.synthesise("other", seed=9)
    return pardec.synthesise("model")


def decoders(pardec, model, job):
    """(name, arguments of generate) of every kind of decoder. What steers APAR is a token that
    this network does choose.
    """
    asked = ("generate", "--model", model, *TOKENS, "--format", "json")
    plain = json.loads(pardec.good(*asked))["tokens"]
    fork = next(t for t in plain[2:] if plain.count(t) == 1)
    filled = {"MODEL": model, "JOB": job, "apar.fork_token=FORK": f"apar.fork_token={fork}"}
    for name, args in DECODERS.items():
        yield name, tuple(filled.get(part, part) for part in args)


@pytest.fixture(scope="module")
def arguments(pardec, model):
    """Arguments of generate, by decoder."""
    return dict(decoders(pardec, model, "job.json"))


class Watched:
    """A decoder with --watch, off a terminal: its arguments, what ran, the lines without that of
    speed, and what they show.
    """

    def __init__(self, pardec, name, args):
        self.name = name
        self.args = args
        self.by_ids = "--prompt-tokens" in self.args
        self.ran = pardec(*self.args, "--watch", "--batch-size", 2)
        *self.lines, self.speed = self.ran.stderr.splitlines()
        self.drawn = "".join(f"{line}\n" for line in self.lines)
        self.shown, self.ends = plain_lines(self.drawn)
        assert self.shown is not None, f"a line that is none: {self.ends!r}"

    def rejected(self):
        return any(rejected for tokens in self.shown.values() for _, _, rejected, _ in tokens)


@pytest.fixture(scope="module", params=DECODERS)
def watched(request, pardec, model, arguments):
    args = ("generate", "--model", model, *arguments[request.param])
    return Watched(pardec, request.param, args)


@pytest.fixture(scope="module")
def traced(pardec, watched):
    """The same without --watch: what ran, the traces with an answer, and their file."""
    file = pardec.folder / f"{watched.name}.jsonl"
    ran = pardec(*watched.args, "--trace", file)
    traces = [json.loads(line) for line in file.read_text().splitlines()]
    return ran, [t for t in traces if "model" not in t and t["emitted"]], file


def test_watching_changes_no_answer(watched, traced):
    assert watched.ran.returncode == 0, watched.ran.stderr
    assert watched.ran.stdout == traced[0].stdout


def test_off_a_terminal_lines_have_no_escape_codes_and_the_last_is_the_speed(watched):
    assert "\x1b" not in watched.ran.stderr
    assert watched.speed.startswith("speed: ")


def test_each_traced_token_is_shown(watched, traced):
    traces = traced[1]
    assert len(watched.shown) == len(watched.ends) == len(traces)
    for trace in traces:
        name = f"{trace['decoder']} {trace['request']}"
        tokens = watched.shown[name]
        assert watched.ends[name] == (len(trace["emitted"]), max(trace["step"]) + 1)
        assert sum(not rejected for _, _, rejected, _ in tokens) == len(trace["emitted"])
        if watched.by_ids:
            assert sorted(numbers(tokens)) == sorted(choices(trace))


def test_a_stored_trace_is_drawn_as_the_decoder_was(pardec, model, watched, traced):
    """With a tokenizer only where texts were given: a trace does not tell."""
    file = traced[2]
    if watched.by_ids:
        bare = pardec("generate", "--watch", "--from-trace", file)
        assert bare.returncode == 0, bare.stderr
        assert bare.stderr == watched.drawn
    else:
        replayed = pardec("generate", "--model", model, "--watch", "--from-trace", file)
        assert replayed.returncode == 0, replayed.stderr
        assert sorted(replayed.stderr.splitlines()) == sorted(watched.lines)
        assert not replayed.stdout


def test_each_branch_is_a_thread(watched):
    threads = {thread for tokens in watched.shown.values() for _, thread, _, _ in tokens}
    assert len(threads) == {"hpd": 4, "ippd": 4, "apar": 2}.get(watched.name, 1)
    if watched.name == "speculative, bad":
        assert watched.rejected()


def test_a_terminal_gets_a_picture_in_colour(pardec, watched):
    code, _, got = on_terminal(
        pardec, *watched.args, "--watch", "--pace", 0, "--batch-size", 2, columns=60, rows=12
    )
    assert code == 0, got[-300:]
    lines, widest = screen(got[: got.rindex("speed: ")])
    assert widest < 60
    text = "".join(lines).replace(" ", "")
    for of, tokens in watched.shown.items():
        assert of.replace(" ", "") in text, f"{of} does not stand on the screen in the end"
        for thread in {thread for _, thread, _, _ in tokens}:
            assert re.search(rf"\x1b\[3[1-6];1m\[{thread}\]", got) or thread > 6, (
                f"thread {thread} has no colour"
            )
            if not any(rejected for _, of_thread, rejected, _ in tokens if of_thread == thread):
                whole = "".join(t for _, of_thread, _, t in tokens if of_thread == thread).replace(
                    " ", ""
                )
                # Part of a character, which a line a pass shows as an ellipsis, joins what follows
                # it on the screen.
                assert "…" in whole or whole in text, (
                    f"thread {thread} does not stand on the screen in the end"
                )
    # Rejected guesses are struck through, and nothing else is.
    assert ("\x1b[2;9m" in got) == watched.rejected()
    if watched.name == "speculative, good":
        assert ";4m" in got, "guesses that were right are underlined"
        assert max(at for tokens in watched.shown.values() for at, *_ in tokens) < 20


def test_without_colours_a_terminal_gets_plain_lines(pardec, model):
    code, _, got = on_terminal(
        pardec, "generate", "--model", model, "--prompt-tokens", PROMPT, "--max-new-tokens", 5,
        "--watch", env={"NO_COLOR": "1"},
    )
    assert code == 0, got
    assert "\x1b" not in got
    assert "pass 5:" in got


def test_sampled_ids_are_shown(pardec, model):
    ran = pardec(
        "generate", "--model", model, "--prompt-tokens", PROMPT, "--max-new-tokens", 8, "--watch",
        "--temperature", 5, "--seed", 3,
    )
    shown = plain_lines(ran.stderr[: ran.stderr.rindex("speed: ")])[0]
    assert numbers(next(iter(shown.values()))) == [int(t) for t in ran.stdout.split(",")]


@pytest.fixture(scope="module")
def odd_trace(pardec):
    """A trace with a character of two tokens, and with bytes that a terminal must not get."""
    wide = [
        IDS["Ã"], IDS["©"], IDS["ě"], IDS["Ċ"], IDS["Ã"],
    ]  # e with an acute accent, ESC, a line break, half a character
    n = len(wide)
    trace = {
        "request": "odd",
        "decoder": "ar",
        "tokens": [IDS["A"], *wide[:-1]],
        "position": list(range(n)),
        "step": list(range(n)),
        "visible": [[[0, i + 1]] for i in range(n)],
        "predicts": wide,
        "from": [None, *range(n - 1)],
        "banned": [None] * n,
        "dropped_at": [None] * n,
        "emitted": list(range(n)),
    }
    file = pardec.folder / "odd.jsonl"
    file.write_text(json.dumps(trace) + "\n")
    return file


def test_lines_show_a_character_once_it_is_whole_and_signs_for_controls(pardec, model, odd_trace):
    said = pardec(
        "generate", "--model", model, "--watch", "--from-trace", odd_trace
    ).stderr.splitlines()
    assert said == [
        'ar odd pass 1: [1 "A"] "…"', 'ar odd pass 2: [1] "é"', 'ar odd pass 3: [1] "·"',
        'ar odd pass 4: [1] "↵"', 'ar odd pass 5: [1] "…"',
        "ar odd: 5 tokens in 5 passes, 1.00 a pass",
    ]


def test_a_picture_shows_whole_characters_and_signs_for_controls(pardec, model, odd_trace):
    _, _, got = on_terminal(
        pardec, "generate", "--model", model, "--watch", "--from-trace", odd_trace, "--pace", 1
    )
    assert screen(got)[0][:2] == ["ar odd · 5 tokens in 5 passes, 1.00 a pass", "[1] A é·↵…"]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--pace", 5, "--prompt", "x"), "expected --watch with it"),
        (("--from-trace", "bad.jsonl"), "expected --watch with it"),
        (("--watch", "--from-trace", "bad.jsonl", "--prompt", "x"), "expected none of --job"),
        (("--watch", "--pace", -1, "--prompt", "x"), "--pace is -1"),
        (("--watch", "--from-trace", "none.jsonl"), "none.jsonl"),
        (("--watch", "--from-trace", "bad.jsonl"), "bad.jsonl:1: is no trace"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else None,
)
def test_what_is_wrong_in_a_call_is_said(pardec, model, args, said):
    (pardec.folder / "bad.jsonl").write_text('{"request": "a", "decoder": "ar"}\n')
    ran = pardec("generate", "--model", model, *args)
    assert ran.returncode == 2, ran.stderr
    assert said in ran.stderr
