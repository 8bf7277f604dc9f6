"""What a terminal shows fits it: no line of a table, a note or a warning is wider than 80 columns, also with long names, and the quality is never lost; colours on a terminal alone.

Usage: terminal_test.py PROGRAM
"""
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import unicodedata

from harness import ROOT, Checks, change, clean_environment, scratch

QUICKSTART = ROOT / "experiments" / "quickstart" / "model"
LONG = "hyper-parallel-decoding-of-products-in-stacks-of-two"  # a label that somebody might give
COLOUR = re.compile(r"\x1b\[\d*m")


def width(line):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def on_terminal(pardec, *args, columns=80, **environment):
    """What a command writes on a terminal of so many columns; stderr goes elsewhere."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    env = {**clean_environment(), "TERM": "xterm-256color", **environment}
    del env["COLUMNS"]  # the terminal knows
    process = subprocess.Popen(pardec.arguments(args), cwd=pardec.folder, stdout=theirs, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, env=env)
    os.close(theirs)
    said = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:  # Linux says so at the end
            break
        if not piece:
            break
        said += piece
    os.close(ours)
    process.wait(60)
    return process.returncode, said.decode().replace("\r\n", "\n")


def fits(check, what, text, columns):
    wide = [line for line in COLOUR.sub("", text).splitlines() if width(line) > columns]
    check(text.strip() and not wide, f"{what}: wider than {columns}: {wide[:3]}")


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        folder = pardec.folder / "データの名前-of-a-network-with-a-long-name"
        os.symlink(QUICKSTART, folder)
        arms = ["--arm", "ar=ar,batch_size=2", "--arm", f"{LONG}=hpd,stack=2,batch_size=2", "--arm", "日本語=prompt-lookup"]
        run = ["run", "--model", folder, *arms, "--dataset", "oa-mine,mt-bench,ae-110k", "--limit", 6, "--block", 2, "--max-new-tokens", 40, "--progress", "none", "--db"]
        code, first = on_terminal(pardec, *run, "r.sqlite")
        check(code == 0, f"run: exit {code}")
        pardec.good(*run, "r.sqlite", "--seed", 7)
        rows = json.loads(pardec.good("runs", "--db", "r.sqlite", "--format", "json"))["rows"]
        ids = [row["invocation"][:8] for row in rows]
        pardec.good("runs", "name", ids[0], "a name that somebody gave it so that it is found again", "--db", "r.sqlite")
        pardec.good("runs", "note", ids[0], "a note of some length, which says why this was run again on another evening", "--db", "r.sqlite")
        sweep = ["sweep", "--model", folder, "--decoder", "ar,hpd", "--grid", "hpd.k_max=8,16", "--grid", "batch_size=1,2", "--dataset", "oa-mine", "--limit", 4, "--block", 2,
                 "--max-new-tokens", 20, "--progress", "none", "--db", "s.sqlite"]
        shown = {"run": first}
        for name, command in {
                "sweep": sweep, "sweep --dry-run": [*sweep, "--dry-run"], "run --dry-run": [*run, "r.sqlite", "--dry-run"],
                "compare": ["compare", "--db", "r.sqlite"], "compare --wide": ["compare", "--wide", "--db", "r.sqlite"], "compare --matrix": ["compare", "--matrix", "--db", "r.sqlite"],
                "compare --differences": ["compare", "--differences", 4, "--db", "r.sqlite"], "compare --accounting": ["compare", "--accounting", "--db", "r.sqlite"],
                "compare --columns": ["compare", "--columns", "dataset,arm,examples_per_second,f1_micro_difference,latency_p95_s", "--db", "r.sqlite"],
                "compare of a sweep": ["compare", "--db", "s.sqlite"], "runs": ["runs", "--db", "r.sqlite"], "runs --wide": ["runs", "--wide", "--db", "r.sqlite"],
                "runs compare": ["runs", "compare", *ids, "--db", "r.sqlite"], "judge": ["judge", "--db", "r.sqlite"], "score": ["score", "--db", "r.sqlite"],
                "list": ["list"], "doctor": ["doctor"], "data list": ["data", "list"], "data stats": ["data", "stats", "oa-mine"]}.items():
            for columns in (80, 160):
                code, text = on_terminal(pardec, *command, columns=columns)
                check(code == 0, f"{name}: exit {code}: {text[-300:]}")
                fits(check, f"{name} at {columns}", text, columns)
                if columns == 80:
                    shown[name] = text
        fits(check, "run at 80", first, 80)
        # The quality stands beside the speed, whatever the names: each arm's difference, verdict and score.
        for name in ("run", "compare"):
            plain = COLOUR.sub("", shown[name])
            header = next(line for line in plain.splitlines() if "verdict" in line)
            check(all(word in plain.split("---")[0] for word in ("arm", "speedup", "difference", "verdict", "score", "pass")), f"{name}: {header}")
            check(LONG.split("-")[0] in plain and "日本語" in plain and "Of these, on this machine, for oa-mine: " in plain, f"{name}: {plain[:900]}")
            rows = json.loads(pardec.good("compare", "--db", "r.sqlite", "--format", "json"))["rows"] if name == "compare" else []
            for row in rows:
                if row["score_difference"]:
                    check(all(text in plain for text in (f"{row['score']:.3f}", f"{row['score_difference']['estimate']:+.3f}")), f"{row['arm']}: its quality is not shown")
        # Colours on a terminal alone, and none with NO_COLOR.
        check(COLOUR.search(shown["compare"]), "a terminal has colours")
        for how in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            check("\x1b" not in on_terminal(pardec, "compare", "--db", "r.sqlite", **how)[1], f"no colours with {how}")
        check("\x1b" not in pardec.good("compare", "--db", "r.sqlite"), "no colours in a pipe")
        check("\x1b" not in on_terminal(pardec, "compare", "--db", "r.sqlite", "--format", "md")[1], "no colours in md")
        # A pipe takes 80 columns where nothing says otherwise.
        piped = subprocess.run(pardec.arguments(["compare", "--db", "r.sqlite"]), cwd=pardec.folder, capture_output=True, text=True,
                               env={k: v for k, v in clean_environment().items() if k != "COLUMNS"})
        fits(check, "a pipe", piped.stdout, 80)
        # Names that hold escape codes are shown, not obeyed, also where colours are.
        change(pardec.folder / "r.sqlite", "UPDATE run SET label = 'a' || char(27) || '[2Jb' WHERE label = '日本語'")
        check("\x1b[2J" not in on_terminal(pardec, "compare", "--db", "r.sqlite")[1], "an escape code in a name reaches the terminal")
        # Unknown columns are errors with near names; those of all kinds are known.
        for name, near in (("speedupp", "'speedup'"), ("f1_mikro", "'f1_micro'"), ("nothing-like-it", "--help")):
            ran = pardec("compare", "--db", "r.sqlite", "--columns", f"arm,{name}")
            check(ran.returncode == 2 and name in ran.stderr and near in ran.stderr and not ran.stdout, f"--columns {name}: exit {ran.returncode}: {ran.stderr}")
        ran = pardec("run", "--columns", "arm,speedupp", "--decoder", "ar", "--dataset", "oa-mine", "--model", "nowhere")
        check(ran.returncode == 2 and "speedupp" in ran.stderr, f"run says it before it runs: {ran.stderr}")
        every = json.loads(pardec.good("compare", "--db", "r.sqlite", "--format", "json"))["columns"]
        some = json.loads(pardec.good("compare", "--db", "r.sqlite", "--columns", ",".join(every), "--format", "json"))
        check(some["columns"] == every, f"every key of json is a column that can be named: {some['columns']}")
        listed = pardec.good("compare", "--help")
        check(all(key in listed for key in every if not re.match(r"(f1|score|degenerate)_|degenerate|threads|parallel", key)), "help lists them")
        ran = pardec("compare", "--db", "r.sqlite", "--wide", "--columns", "arm")
        check(ran.returncode == 2 and "--wide" in ran.stderr, f"both flags: {ran.stderr}")
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
