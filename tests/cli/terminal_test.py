"""What a terminal shows fits it: no line of a table, a note or a warning is wider than 80 columns,
also with long names, and the quality is never lost; colours on a terminal alone.
"""

import fcntl
import functools
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import termios
import threading
import unicodedata

import pytest

from harness import ROOT, change, clean_environment

QUICKSTART = ROOT / "experiments" / "quickstart" / "model"
LONG = "hyper-parallel-decoding-of-products-in-stacks-of-two"  # a label that somebody might give
COLOUR = re.compile(r"\x1b\[\d*m")


def width(line):
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in line
    )


def on_terminal(pardec, *args, columns=80, **environment):
    """What a command writes on a terminal of so many columns; stderr goes elsewhere."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    env = {**clean_environment(), "TERM": "xterm-256color", **environment}
    del env["COLUMNS"]  # the terminal knows
    said = []

    def read():
        try:
            while piece := os.read(ours, 65536):
                said.append(piece)
        except OSError:  # Linux says so at the end
            pass

    reader = threading.Thread(target=read)
    reader.start()
    arguments = pardec.arguments(args)
    ran = pardec.forked(arguments, env, 300, os.ttyname(theirs)) or subprocess.run(
        arguments, cwd=pardec.folder, stdout=theirs, stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL, env=env,
    )
    os.close(theirs)
    reader.join()
    os.close(ours)
    return ran.returncode, b"".join(said).decode().replace("\r\n", "\n")


def check_fits(text, columns):
    assert text.strip()
    lines = COLOUR.sub("", text).splitlines()
    assert [line for line in lines if width(line) > columns] == []


@pytest.fixture(scope="module")
def run(pardec):
    """The words of a run with long and wide names, up to its database."""
    folder = pardec.folder / "データの名前-of-a-network-with-a-long-name"
    os.symlink(QUICKSTART, folder)
    return [
        "run", "--model", folder, "--arm", "ar=ar,batch_size=2", "--arm",
        f"{LONG}=hpd,stack=2,batch_size=2", "--arm", "日本語=prompt-lookup", "--dataset",
        "oa-mine,mt-bench,ae-110k", "--limit", 2, "--block", 2, "--max-new-tokens", 24,
        "--progress", "none", "--db",
    ]


@pytest.fixture(scope="module")
def sweep(run):
    """The words of a sweep, up to its database."""
    return [
        "sweep", "--model", run[2], "--decoder", "ar,hpd", "--grid", "hpd.k_max=8,16", "--grid",
        "batch_size=1,2", "--dataset", "oa-mine", "--limit", 2, "--block", 2, "--max-new-tokens", 8,
        "--progress", "none", "--db",
    ]


@pytest.fixture(scope="module")
def shown(pardec, run, sweep):
    """(exit code, text) of a run or a sweep on a terminal of some width, once."""

    @functools.cache
    def of(verb, columns):
        if verb == "run":
            command = [*run, "r.sqlite", "--seed", columns]
        else:
            command = [*sweep, f"sweep-{columns}.sqlite"]
        return on_terminal(pardec, *command, columns=columns)

    return of


@pytest.fixture(scope="module")
def invocations(pardec, shown):
    """Makes a database of two runs, the first with a long name and note; the ids of both."""
    for columns in (80, 160):
        assert shown("run", columns)[0] == 0
    rows = json.loads(pardec.good("runs", "--db", "r.sqlite", "--format", "json"))["rows"]
    ids = [row["invocation"][:8] for row in rows]
    name = "a name that somebody gave it so that it is found again"
    pardec.good("runs", "name", ids[0], name, "--db", "r.sqlite")
    note = "a note of some length, which says why this was run again on another evening"
    pardec.good("runs", "note", ids[0], note, "--db", "r.sqlite")
    return ids


@pytest.fixture
def db(invocations):
    return "r.sqlite"


@pytest.fixture(scope="module")
def swept(shown):
    """The database of a sweep."""
    assert shown("sweep", 80)[0] == 0
    return "sweep-80.sqlite"


TABLES = {
    "compare": ["compare"],
    "compare --wide": ["compare", "--wide"],
    "compare --matrix": ["compare", "--matrix"],
    "compare --differences": ["compare", "--differences", 4],
    "compare --accounting": ["compare", "--accounting"],
    "compare --columns": [
        "compare",
        "--columns",
        "dataset,arm,examples_per_second,f1_micro_difference,latency_p95_s",
    ],
    "runs": ["runs"],
    "runs --wide": ["runs", "--wide"],
    "judge": ["judge"],
    "score": ["score"],
}
OTHERS = {
    "list": ["list"],
    "doctor": ["doctor"],
    "data list": ["data", "list"],
    "data stats": ["data", "stats", "oa-mine"],
}

at_both_widths = pytest.mark.parametrize("columns", [80, 160])


@pytest.fixture(scope="module")
def compared(pardec, invocations):
    """What `compare` shows on 80 columns."""
    return on_terminal(pardec, "compare", "--db", "r.sqlite")[1]


@pytest.mark.parametrize("verb", ["run", "sweep"])
@at_both_widths
def test_the_table_after_a_run_fits(shown, verb, columns):
    code, text = shown(verb, columns)
    assert code == 0, text[-300:]
    check_fits(text, columns)


@pytest.mark.parametrize("verb", ["run", "sweep"])
@at_both_widths
def test_a_plan_fits(pardec, run, sweep, verb, columns):
    command = run if verb == "run" else sweep
    code, text = on_terminal(pardec, *command, "no.sqlite", "--dry-run", columns=columns)
    assert code == 0, text[-300:]
    check_fits(text, columns)


@pytest.mark.parametrize("command", TABLES.values(), ids=TABLES)
@at_both_widths
def test_a_table_of_a_database_fits(pardec, db, command, columns):
    code, text = on_terminal(pardec, *command, "--db", db, columns=columns)
    assert code == 0, text[-300:]
    check_fits(text, columns)


@at_both_widths
def test_a_comparison_of_a_sweep_fits(pardec, swept, columns):
    code, text = on_terminal(pardec, "compare", "--db", swept, columns=columns)
    assert code == 0, text[-300:]
    check_fits(text, columns)


@at_both_widths
def test_a_comparison_of_runs_fits(pardec, db, invocations, columns):
    words = ["runs", "compare", *invocations, "--db", db]
    code, text = on_terminal(pardec, *words, columns=columns)
    assert code == 0, text[-300:]
    check_fits(text, columns)


@pytest.mark.parametrize("command", OTHERS.values(), ids=OTHERS)
@at_both_widths
def test_a_table_without_a_database_fits(pardec, command, columns):
    code, text = on_terminal(pardec, *command, columns=columns)
    assert code == 0, text[-300:]
    check_fits(text, columns)


def test_a_pipe_has_80_columns(pardec, db):
    env = {key: value for key, value in clean_environment().items() if key != "COLUMNS"}
    words = pardec.arguments(["compare", "--db", db])
    ran = subprocess.run(words, cwd=pardec.folder, capture_output=True, text=True, env=env)
    check_fits(ran.stdout, 80)


@pytest.mark.parametrize("verb", ["run", "compare"])
def test_the_quality_stands_beside_the_speed(shown, compared, verb):
    """Whatever the names: each arm's difference, verdict and score."""
    plain = COLOUR.sub("", shown("run", 80)[1] if verb == "run" else compared)
    header = plain.split("---")[0]
    for word in ("arm", "speedup", "difference", "verdict", "score", "pass"):
        assert word in header
    assert LONG.split("-")[0] in plain
    assert "日本語" in plain
    assert "Of these, on this machine, for oa-mine: " in plain


def test_the_score_of_every_arm_and_its_difference_are_shown(pardec, db, compared):
    plain = COLOUR.sub("", compared)
    rows = json.loads(pardec.good("compare", "--db", db, "--format", "json"))["rows"]
    rows = [row for row in rows if row["score_difference"]]
    assert rows
    for row in rows:
        assert f"{row['score']:.3f}" in plain, row["arm"]
        assert f"{row['score_difference']['estimate']:+.3f}" in plain, row["arm"]


def test_a_terminal_has_colours(compared):
    assert COLOUR.search(compared)


@pytest.mark.parametrize("how", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=["NO_COLOR", "dumb"])
def test_there_are_no_colours_with(pardec, db, how):
    assert "\x1b" not in on_terminal(pardec, "compare", "--db", db, **how)[1]


def test_there_are_no_colours_in_a_pipe(pardec, db):
    assert "\x1b" not in pardec.good("compare", "--db", db)


def test_there_are_no_colours_in_markdown(pardec, db):
    assert "\x1b" not in on_terminal(pardec, "compare", "--db", db, "--format", "md")[1]


def test_escape_codes_in_a_name_are_shown_not_obeyed(pardec, db):
    """Also where colours are."""
    copy = shutil.copy(pardec.folder / db, pardec.folder / "escape.sqlite")
    label = "'a' || char(27) || '[2Jb'"
    assert change(copy, f"UPDATE run SET label = {label} WHERE label = '日本語'")
    code, text = on_terminal(pardec, "compare", "--db", copy)
    assert code == 0
    assert "\x1b[2J" not in text


@pytest.mark.parametrize(
    "name, near",
    [("speedupp", "'speedup'"), ("f1_mikro", "'f1_micro'"), ("nothing-like-it", "--help")],
)
def test_an_unknown_column_is_an_error_that_names_near_ones(pardec, db, name, near):
    ran = pardec("compare", "--db", db, "--columns", f"arm,{name}")
    assert ran.returncode == 2
    assert name in ran.stderr
    assert near in ran.stderr
    assert not ran.stdout


def test_an_unknown_column_is_refused_before_a_run(pardec):
    ran = pardec(
        "run", "--columns", "arm,speedupp", "--decoder", "ar", "--dataset", "oa-mine", "--model",
        "nowhere",
    )
    assert ran.returncode == 2
    assert "speedupp" in ran.stderr


@pytest.fixture(scope="module")
def every(pardec, invocations):
    """The columns of json."""
    return json.loads(pardec.good("compare", "--db", "r.sqlite", "--format", "json"))["columns"]


def test_every_key_of_json_is_a_column_that_can_be_named(pardec, db, every):
    words = ["--columns", ",".join(every), "--format", "json"]
    assert json.loads(pardec.good("compare", "--db", db, *words))["columns"] == every


def test_help_lists_the_columns(pardec, every):
    listed = pardec.good("compare", "--help")
    exempt = re.compile(r"(f1|score|degenerate)_|degenerate|threads|parallel")
    assert [key for key in every if not exempt.match(key) and key not in listed] == []


def test_all_columns_and_some_columns_exclude_each_other(pardec, db):
    ran = pardec("compare", "--db", db, "--wide", "--columns", "arm")
    assert ran.returncode == 2
    assert "--wide" in ran.stderr
