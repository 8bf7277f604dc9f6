"""Golden pages: what a user reads is what tests/golden holds. Every help, also of the actions of a
verb, the tables of one small run in all formats, and its report.

The run is greedy, by the quickstart model on the project's samples. What is not the same everywhere
is replaced before it is shown:

- in the database: times, by made-up ones that follow from what was counted (see TIMES), so that
  speeds and intervals are whole numbers of a made-up machine; who measured where and when (uuids,
  dates, commit, machine, command, paths); gaps are rounded to two digits;
- in what is shown: numbers are cut after six digits;
- in the report: style, script and drawings are left out, but the drawings' words for screen readers
  stay.

`golden_test.py PROGRAM --approve` shows what differs and accepts it (scripts/approve). It does not
need pytest.
"""

import contextlib
import difflib
import functools
import json
import re
import shutil
import sqlite3
import sys

import experiment_schema
import flags_page
import papers_page
from pages import ROOT, help_of, verbs_of

from harness import scratch, skip  # isort: skip: pages knows where it is

GOLDEN = ROOT / "tests" / "golden"
QUICKSTART = ROOT / "experiments" / "quickstart" / "model"
RUN = [
    "run", "--model", QUICKSTART, "--arm", "ar=ar,batch_size=2", "--arm",
    "hpd=hpd,stack=2,batch_size=2", "--arm", "lookup=prompt-lookup,batch_size=2", "--dataset",
    "oa-mine,mt-bench", "--limit", "12", "--block", "2", "--max-new-tokens", "120", "--progress",
    "none", "--db", "golden.sqlite",
]
TIMES = """
UPDATE job SET process = 'made-up', prefill_ns = 1000000 * prompt_tokens,
  decode_ns = 5000000 * forwards, first_token_ns = 1000000 * prompt_tokens,
  total_ns = 1000000 * prompt_tokens + 5000000 * forwards;
UPDATE block SET cpu_ns = NULL, waited_ns = 0, stolen_ns = 0, mhz = NULL, process = 'made-up',
  wall_ns = (SELECT sum(total_ns) FROM job WHERE block_id = block.id) WHERE wall_ns IS NOT NULL;
UPDATE generation SET gap_at_difference = round(gap_at_difference, 2);
UPDATE run SET uuid = printf('0000000%d-0000-4000-8000-000000000000', id),
  invocation = '00000000-0000-4000-8000-000000000000', threads = 1, commit_hash = '000000000000',
  build_type = 'Release', argv = '["pardec","run"]', started_utc = '2026-01-01T00:00:00.000Z',
  ended_utc = '2026-01-01T00:01:00.000Z';
UPDATE environment SET json = '{"cores":1,"processor":"made-up"}';
UPDATE model SET path = '/made-up/model';
"""
TABLES = {
    "compare.txt": ["compare"],
    "compare-160.txt": ["compare"],
    "compare-wide.txt": ["compare", "--wide"],
    "runs.txt": ["runs"],
    "compare.md": ["compare", "--format", "md"],
    "compare.csv": ["compare", "--format", "csv"],
    "compare.json": ["compare", "--format", "json"],
    "compare.jsonl": ["compare", "--format", "jsonl"],
    "compare.tex": ["compare", "--format", "latex"],
    "matrix.md": ["compare", "--matrix", "--format", "md"],
    "accounting.md": ["compare", "--accounting", "--usd-per-hour", "3.6", "--format", "md"],
    "differences.md": ["compare", "--differences", "4", "--format", "md"],
    "score.md": ["score", "--metric", "token_f1,rouge", "--format", "md"],
}


def rounded(value):
    return (
        [rounded(v) for v in value]
        if isinstance(value, list)
        else (
            {k: rounded(v) for k, v in value.items()}
            if isinstance(value, dict)
            else round(value, 2)
        )
    )


def make_up(db):
    """Replaces in the database what is not the same everywhere."""
    with contextlib.closing(sqlite3.connect(db)) as connection, connection:
        connection.executescript(TIMES)
        for job, gaps in connection.execute(
            "SELECT id, top2 FROM job WHERE top2 IS NOT NULL"
        ).fetchall():
            connection.execute(
                "UPDATE job SET top2 = ? WHERE id = ?", (json.dumps(rounded(json.loads(gaps))), job)
            )


def shortened(text):
    return re.sub(r"(\d+\.\d{6})\d+(e[-+]?\d+)?", r"\1\2", text)


def words_of(html):
    """A report without style, script and drawings."""
    html = re.sub(r"(<style>).*?(</style>)", r"\1\2", html, flags=re.S)
    html = re.sub(r"(<script>).*?(</script>)", r"\1\2", html, flags=re.S)
    return re.sub(
        r"<svg [^>]*?(aria-label=\"[^\"]*\")[^>]*>.*?</svg>", r"<svg \1></svg>", html, flags=re.S
    )


def pages(pardec):
    """(name, what the program says) of each golden page."""
    for verb in ["", *verbs_of(pardec)]:
        said = help_of(pardec, *([verb] if verb else []))
        yield f"help/{verb or 'pardec'}.txt", said
        for action in sorted(
            {
                a
                for actions in re.findall(r"^Flags of (.*):$", said, re.M)
                for a in actions.split(", ")
            }
        ):
            yield f"help/{verb}-{action}.txt", help_of(pardec, verb, action)
    yield "../../experiments/experiment.schema.json", experiment_schema.written(pardec.path)
    yield "../../src/cli/flags.md", flags_page.written(pardec)
    yield "../../experiments/papers/ITEMS.md", papers_page.written()
    pardec.good(*RUN)
    db = pardec.folder / "golden.sqlite"
    make_up(db)
    for name, arguments in TABLES.items():
        yield (
            f"tables/{name}",
            shortened(
                pardec.good(*arguments, "--db", db, env={"COLUMNS": 160 if "160" in name else 80})
            ),
        )
    pardec.good("report", "--db", db, "--examples", "4", "-o", "report.html")
    yield (
        "report.html",
        shortened(words_of((pardec.folder / "report.html").read_text(encoding="utf-8"))),
    )


@functools.cache
def said(pardec):
    """What the program says, by the name of the page."""
    if shutil.which("gnuplot") is None:
        skip("figures are drawn by gnuplot (Debian package gnuplot-nox)")
    return dict(pages(pardec))


def stored(name):
    """The golden page."""
    file = GOLDEN / name
    return file.read_text(encoding="utf-8") if file.exists() else ""


def unknown(names):
    """Golden pages that are of no name."""
    return [
        file
        for file in (*GOLDEN.glob("help/*"), *GOLDEN.glob("tables/*"))
        if file not in {GOLDEN / name for name in names}
    ]


def test_each_page_is_what_the_program_says(pardec, subtests):
    for name, says in said(pardec).items():
        with subtests.test(name):
            assert says == stored(name), "where the difference is meant, scripts/approve accepts it"


def test_no_page_is_of_nothing(pardec):
    assert not unknown(said(pardec)), "scripts/approve removes them"


def approve(pardec):
    """Shows what differs, and takes it over."""
    for name, says in said(pardec).items():
        if says != stored(name):
            print(
                "".join(
                    difflib.unified_diff(
                        stored(name).splitlines(True), says.splitlines(True),
                        f"tests/golden/{name}", "what the program says", n=1,
                    )
                )
            )
            (GOLDEN / name).parent.mkdir(parents=True, exist_ok=True)
            (GOLDEN / name).write_text(says, encoding="utf-8")
            print(f"taken over: tests/golden/{name}")
    for file in unknown(said(pardec)):
        file.unlink()


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[2] != "--approve":
        sys.exit("usage: golden_test.py PROGRAM --approve")
    with scratch(sys.argv[1]) as program:
        approve(program)
