"""The tour of the pages, line by line: every command of their `sh` blocks runs as it stands
there, in order, and what they show is what comes.

Each page has its own scratch folder with the project's files in it, so that commands run as at the
project's top. Blocks after `<!-- not run: reason -->` are left to claims_test.py, those after `<!--
slow -->` to `-m whole`, which also runs the demo as it is.

Tutorials (folder tutorials) run from the first line to the last. Those that fetch SmolLM2 are
skipped where scripts/fetch-smollm2 has not made it.
"""

import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import time

import pytest
from pages import PAGES, ROOT, blocks, commands

from harness import SMOLLM2, clean_environment, skip  # isort: skip: pages knows where it is

if shutil.which("gnuplot") is None:
    skip("figures are drawn by gnuplot (Debian package gnuplot-nox)")

SECONDS = 600  # for one command, on a machine that is busy with other tests


def scratch_copy(folder, program):
    """The project's files as links, a folder for results, and the program where a build puts it."""
    for entry in ROOT.iterdir():
        if entry.name not in (".git", "build", "results"):
            (folder / entry.name).symlink_to(entry)
    (folder / "results").mkdir()
    for entry in ("README.md", "schema.sql"):
        (folder / "results" / entry).symlink_to(ROOT / "results" / entry)
    (folder / "build").mkdir()
    (folder / "build" / "release").symlink_to(program.parent)
    if SMOLLM2.is_dir():
        (folder / "build" / "models").symlink_to(SMOLLM2.parent)


def shell(folder, command, seconds=SECONDS):
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=seconds,
        env=clean_environment(PARDEC_THREADS=1),
        stdin=subprocess.DEVNULL,
    )


@pytest.fixture
def project(program):
    """A folder with the project's files, as a page's reader has them."""
    with tempfile.TemporaryDirectory(prefix="pardec-tour-") as folder:
        scratch_copy(pathlib.Path(folder), program("pardec"))
        yield pathlib.Path(folder)


def runnable(page, long):
    """The blocks of a page that are run."""
    return [
        block
        for block in blocks(page)
        if block.language == "sh" and not block.not_run and (block.mark != "slow" or long)
    ]


def check_tour(folder, page, long):
    """Runs a page."""
    settings = ""
    for block in runnable(page, long):
        for command in commands(block):
            if re.fullmatch(r"\w+=\S*", command):
                settings += command + "\n"
                continue
            begin = time.monotonic()
            ran = shell(folder, settings + command)
            assert ran.returncode == 0, f"{block.where}: {command}\n{ran.stderr}"
            assert ran.stdout or ran.stderr, f"{block.where} says nothing: {command}"
            for file in re.findall(r"(?:-o|--trace|--db|--report) (\S+)", command):
                assert "--dry-run" in command or (folder / file).exists(), (
                    f"{block.where}: {command}"
                )
            print(f"{time.monotonic() - begin:5.1f} s  {block.where}  {command}", flush=True)


TUTORIALS = [page for page in PAGES if page.parent.name == "tutorials" and runnable(page, True)]
OTHERS = [page for page in PAGES if page.parent.name != "tutorials"]


def named(pages):
    return {"argvalues": pages, "ids": [str(page.relative_to(ROOT)) for page in pages]}


every_length = pytest.mark.parametrize(
    "long",
    [pytest.param(False, id="short"), pytest.param(True, id="long", marks=pytest.mark.whole)],
)


@pytest.mark.parametrize("page", **named(PAGES))
def test_blocks_are_marked_as_slow_or_with_a_reason(page):
    marks = {block.mark for block in blocks(page) if block.language == "sh"}
    assert all(mark in ("", "slow") or re.fullmatch(r"not run: .+", mark) for mark in marks), marks
    assert page not in TUTORIALS or marks == {""}, "a tutorial runs from the first line to the last"


@every_length
@pytest.mark.parametrize("page", **named([page for page in OTHERS if runnable(page, True)]))
def test_the_commands_of_a_page_run(project, page, long):
    check_tour(project, page, long)


@pytest.mark.parametrize("page", TUTORIALS, ids=[page.stem for page in TUTORIALS])
def test_tutorial(project, page):
    if "scripts/fetch-smollm2" in page.read_text(encoding="utf-8") and not SMOLLM2.is_dir():
        pytest.skip("scripts/fetch-smollm2 has not made SmolLM2")
    check_tour(project, page, True)


def table(text):
    """The words of the header, however many lines it has, and what each row or group begins
    with.
    """
    lines = text.splitlines()
    rule = next(i for i, line in enumerate(lines) if line.startswith("---"))
    begin, end = lines.index("") + 1, lines.index("", rule)
    return sorted(" ".join(lines[begin:rule]).split()), [
        line.split()[0] for line in lines[rule + 1 : end] if not line.startswith(" ")
    ]


@every_length
def test_the_demo_prints_the_table_of_the_readme(program, project, long):
    """On a few titles or as it is: the columns and rows are those that the README shows."""
    lines = (
        (ROOT / "scripts" / "demo").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    )
    calls = [i for i, line in enumerate(lines) if line.startswith('"$pardec" ')]
    assert len(calls) == 3, "run, report and generate"
    few = "set --\n" if long else "set -- --limit 6\n"
    run = (
        f"pardec={shlex.quote(str(program('pardec')))}\nfolder=.\ndb=demo.sqlite\n{few}"
        + "\n".join(lines[calls[0] : calls[-1] + 1])
    )
    ran = shell(project, run)
    assert ran.returncode == 0, ran.stderr
    assert (project / "report.html").exists()
    assert '"Flavor": "Chai"' in ran.stdout
    assert "Pinafell Organic" in ran.stdout
    shown = next(block.text for block in blocks(ROOT / "README.md") if not block.language)
    assert table(shown) == table(ran.stdout)
    assert len(table(shown)[1]) == 6
    assert shown.splitlines()[0].split(",")[:3] == ran.stdout.splitlines()[0].split(",")[:3]
