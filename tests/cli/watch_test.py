"""`generate --watch` shows what a decoder does, as its trace has it: plain lines off a terminal, a picture in colour on one.

Usage: watch_test.py PROGRAM

What is shown is held against the traces and the answers of the same decoders, run without it. The terminal is a pseudo-terminal, and a small
emulator here says what stands on its screen.
"""
import collections
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios

from harness import TOKENIZER, Checks, clean_environment, scratch

IDS = {k: v for k, v in json.loads(TOKENIZER.read_text())["model"]["vocab"].items()}
PROMPT = "3,14,15,92,65,35,89,79,32,38,46,26,43,38"
LINE = re.compile(r"^(\S+ \S+)(?: pass (\d+):(.*)|: (\d+) tokens? in (\d+) pass(?:es)?, \d+\.\d\d a pass)$")


def plain_lines(text):
    """Of each sequence: [pass, thread, rejected, text] of every token shown, and what its last line counts."""
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
        for head, tilde, token in re.findall(r' (?:\[(\d+)(?: "(?:[^"\\]|\\.)*")?\]|(~?)"((?:[^"\\]|\\.)*)")', rest):
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
    """Lines that stand on a terminal in the end, and the longest line ever; knows what the picture uses and nothing else."""
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
    process = subprocess.Popen(pardec.arguments(args), cwd=pardec.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=theirs,
                               env=clean_environment(TERM="xterm", **(env or {})))
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


def decoders(pardec, model, job):
    """(name, arguments of generate) of every kind of decoder; what steers APAR is a token that this network does choose."""
    tokens = ("--prompt-tokens", PROMPT, "--max-new-tokens", 20)
    plain = json.loads(pardec.good("generate", "--model", model, *tokens, "--format", "json"))["tokens"]
    fork = next(t for t in plain[2:] if plain.count(t) == 1)
    yield "ar", ("--decoder", "ar", *tokens)
    yield "hpd", ("--decoder", "hpd", "--job", job, "--set", "hpd.k_max=6")
    yield "ippd", ("--decoder", "ippd", "--job", job, "--set", "ippd.prefix_cache=true")
    yield "ar separately", ("--decoder", "ar", "--job", job, "--set", "ar.ask=separately")
    yield "apar", ("--decoder", "apar", *tokens, "--set", f"apar.fork_token={fork}", "--set", "apar.child_token=11")
    yield "speculative, good", ("--decoder", "speculative", "--draft-model", model, *tokens)
    yield "speculative, bad", ("--decoder", "speculative", "--draft-model", "other", *tokens)
    for name in ("prompt-lookup", "self-speculative", "lookahead"):
        yield name, ("--decoder", name, *tokens)
    yield "space", ("--decoder", "space", *tokens, "--set", "space.mask_token=7", "--set", "space.k=3")


def plainly(check, pardec, model, name, args):
    """Off a terminal. Returns the file with the traces."""
    file = pardec.folder / "trace.jsonl"
    args = ("generate", "--model", model, *args)
    without = pardec(*args, "--trace", file)
    watched = pardec(*args, "--watch", "--batch-size", 2)
    check(watched.returncode == 0 and watched.stdout == without.stdout, f"{name}: watched, it answers something else: {watched.stderr[-300:]}")
    check("\x1b" not in watched.stderr, f"{name}: escape codes off a terminal")
    traces = [t for t in map(json.loads, file.read_text().splitlines()) if "model" not in t and t["emitted"]]
    *lines, speed = watched.stderr.splitlines()
    check(speed.startswith("speed: "), f"{name}: how fast it was, without the drawing, is not said: {speed}")
    drawn = "".join(f"{line}\n" for line in lines)
    shown, ends = plain_lines(drawn)
    if not check(shown is not None, f"{name}: a line that is none: {ends!r}"):
        return None
    check(len(shown) == len(ends) == len(traces), f"{name}: {len(shown)} sequences shown, {len(ends)} ended, {len(traces)} traced")
    for trace in traces:
        tokens = shown[f"{trace['decoder']} {trace['request']}"]
        count = sum(not rejected for _, _, rejected, _ in tokens)
        check(ends[f"{trace['decoder']} {trace['request']}"] == (len(trace["emitted"]), max(trace["step"]) + 1) and count == len(trace["emitted"]),
              f"{name}: {count} tokens shown, {len(trace['emitted'])} chosen")
        if "--prompt-tokens" in args:
            check(sorted(numbers(tokens)) == sorted(choices(trace)), f"{name}: {numbers(tokens)} shown, {choices(trace)} chosen")
    replayed = pardec("generate", "--model", model, "--watch", "--from-trace", file)
    # With a tokenizer even where ids were given: the trace does not tell.
    if "--prompt-tokens" not in args:
        check(replayed.returncode == 0 and sorted(replayed.stderr.splitlines()) == sorted(lines) and not replayed.stdout,
              f"{name}: drawn from the trace it is something else: {replayed.stderr[:300]}")
    else:
        bare = pardec("generate", "--watch", "--from-trace", file)
        check(bare.returncode == 0 and bare.stderr == drawn, f"{name}: drawn from the trace it is something else: {bare.stderr[:300]}")
    return shown


def in_colour(check, pardec, model, name, args, shown):
    code, out, got = on_terminal(pardec, "generate", "--model", model, *args, "--watch", "--pace", 0, "--batch-size", 2, columns=60, rows=12)
    if not check(code == 0, f"{name}: on a terminal: exit {code}: {got[-300:]}"):
        return
    lines, widest = screen(got[:got.rindex("speed: ")])
    check(widest < 60, f"{name}: a line of {widest} columns on a terminal of 60")
    text = "".join(lines).replace(" ", "")
    for of, tokens in shown.items():
        check(of.replace(" ", "") in text, f"{name}: {of} does not stand on the screen in the end")
        threads = {thread for _, thread, _, _ in tokens}
        for thread in threads:
            check(re.search(rf"\x1b\[3[1-6];1m\[{thread}\]", got) or thread > 6, f"{name}: thread {thread} has no colour")
            if not any(rejected for _, of_thread, rejected, _ in tokens if of_thread == thread):
                whole = "".join(t for _, of_thread, _, t in tokens if of_thread == thread).replace(" ", "")
                # Part of a character, which a line a pass shows as an ellipsis, joins what comes behind it on the screen.
                check("…" in whole or whole in text, f"{name}: thread {thread} does not stand on the screen in the end: {whole!r}")
    rejected = any(r for tokens in shown.values() for _, _, r, _ in tokens)
    check(("\x1b[2;9m" in got) == rejected, f"{name}: rejected guesses are struck through, and nothing else is")
    return got


def odd_texts(check, pardec, model):
    """A character of two tokens, and bytes that a terminal must not get."""
    wide = [IDS["Ã"], IDS["©"], IDS["ě"], IDS["Ċ"], IDS["Ã"]]  # e with an acute accent, ESC, a line break, half a character
    n = len(wide)
    trace = {"request": "odd", "decoder": "ar", "tokens": [IDS["A"], *wide[:-1]], "position": list(range(n)), "step": list(range(n)),
             "visible": [[[0, i + 1]] for i in range(n)], "predicts": wide, "from": [None, *range(n - 1)], "banned": [None] * n,
             "dropped_at": [None] * n, "emitted": list(range(n))}
    (pardec.folder / "odd.jsonl").write_text(json.dumps(trace) + "\n")
    said = pardec("generate", "--model", model, "--watch", "--from-trace", "odd.jsonl").stderr.splitlines()
    check(said == ['ar odd pass 1: [1 "A"] "…"', 'ar odd pass 2: [1] "é"', 'ar odd pass 3: [1] "·"', 'ar odd pass 4: [1] "↵"', 'ar odd pass 5: [1] "…"',
                   "ar odd: 5 tokens in 5 passes, 1.00 a pass"], f"odd texts: {said}")
    _, _, got = on_terminal(pardec, "generate", "--model", model, "--watch", "--from-trace", "odd.jsonl", "--pace", 1)
    lines, _ = screen(got)
    check(lines[:2] == ["ar odd · 5 tokens in 5 passes, 1.00 a pass", "[1] A é·↵…"], f"odd texts on a terminal: {lines}")


def refusals(check, pardec, model):
    for args, said in ((("--pace", 5, "--prompt", "x"), "expected --watch with it"), (("--from-trace", "trace.jsonl"), "expected --watch with it"),
                       (("--watch", "--from-trace", "trace.jsonl", "--prompt", "x"), "expected none of --job"),
                       (("--watch", "--pace", -1, "--prompt", "x"), "--pace is -1"), (("--watch", "--from-trace", "none.jsonl"), "none.jsonl"),
                       (("--watch", "--from-trace", "bad.jsonl"), "bad.jsonl:1: is no trace")):
        (pardec.folder / "bad.jsonl").write_text('{"request": "a", "decoder": "ar"}\n')
        ran = pardec("generate", "--model", model, *args)
        check(ran.returncode == 2 and said in ran.stderr, f"{args}: exit {ran.returncode}: {ran.stderr}")


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        model = pardec.synthesise("model")
        pardec.synthesise("other", seed=9)
        job = {"id": "one", "contexts": [{"id": "c1", "category": "Shoes", "text": "Alpina runner, blue", "fields": [{"name": "Brand"}, {"name": "Color"}]},
                                         {"id": "c2", "category": "Shoes", "text": "Nordak boot", "fields": [{"name": "Brand"}, {"name": "Color"}]}],
               "limits": {"max_new_tokens": 12, "per_field": 5}}
        (pardec.folder / "job.json").write_text(json.dumps(job))
        for name, args in decoders(pardec, model, "job.json"):
            shown = plainly(check, pardec, model, name, args)
            if shown is None:
                continue
            passes = [(at, rejected) for tokens in shown.values() for at, _, rejected, _ in tokens]
            threads = {thread for tokens in shown.values() for _, thread, _, _ in tokens}
            check(len(threads) == {"hpd": 4, "ippd": 4, "apar": 2}.get(name, 1), f"{name}: threads {threads}")
            if name == "speculative, bad":
                check(any(rejected for _, rejected in passes), f"{name}: no rejected guess is shown")
            got = in_colour(check, pardec, model, name, args, shown)
            if name == "speculative, good" and got:
                check(";4m" in got and max(at for at, _ in passes) < 20, f"{name}: guesses that were right are underlined")
        code, _, got = on_terminal(pardec, "generate", "--model", model, "--prompt-tokens", PROMPT, "--max-new-tokens", 5, "--watch", env={"NO_COLOR": "1"})
        check(code == 0 and "\x1b" not in got and "pass 5:" in got, f"NO_COLOR: {got!r}")
        sampled = pardec("generate", "--model", model, "--prompt-tokens", PROMPT, "--max-new-tokens", 8, "--watch", "--temperature", 5, "--seed", 3)
        ids, shown = [int(t) for t in sampled.stdout.split(",")], plain_lines(sampled.stderr[:sampled.stderr.rindex("speed: ")])[0]
        check(numbers(next(iter(shown.values()))) == ids, f"sampled: {shown} shown, {ids} chosen")
        odd_texts(check, pardec, model)
        refusals(check, pardec, model)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
