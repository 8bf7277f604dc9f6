"""The tour of the pages, line by line: every command of their `sh` blocks runs as it stands there, in order, and what they show is what comes.

Each page has a scratch folder of its own with the project's files in it, so that commands run as at the project's top. Blocks behind
`<!-- not run: reason -->` are left to claims_test.py, those behind `<!-- slow -->` to --long, which also runs the demo as it is.

Tutorials (folder tutorials) run from the first line to the last; each has a test of its own, which names it. Those that fetch SmolLM2 are skipped where
scripts/fetch-smollm2 has not made it.

Usage: tour_test.py PROGRAM [--long] [PAGE ...]     PAGE: only pages whose path holds it
"""
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

from pages import PAGES, ROOT, blocks, commands
from harness import Checks, SMOLLM2, clean_environment

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
    return subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=folder, capture_output=True, text=True, timeout=seconds,
                          env=clean_environment(PARDEC_THREADS=1), stdin=subprocess.DEVNULL)


def tour(check, page, program, long):
    """Runs a page; returns what its commands printed."""
    printed, settings = "", ""
    with tempfile.TemporaryDirectory(prefix="pardec-tour-") as folder:
        folder = pathlib.Path(folder)
        scratch_copy(folder, program)
        for block in blocks(page):
            if block.language != "sh" or block.not_run or (block.mark == "slow" and not long):
                continue
            for command in commands(block):
                if re.fullmatch(r"\w+=\S*", command):
                    settings += command + "\n"
                    continue
                begin = time.monotonic()
                ran = shell(folder, settings + command)
                good = check(ran.returncode == 0, f"{block.where}: exit {ran.returncode}: {command}\n{ran.stderr[-1500:]}")
                check(not good or ran.stdout or ran.stderr, f"{block.where}: says nothing: {command}")
                for file in re.findall(r"(?:-o|--trace|--db|--report) (\S+)", command):
                    check("--dry-run" in command or (folder / file).exists(), f"{block.where}: no {file} came of it: {command}")
                printed += ran.stdout
                print(f"{time.monotonic() - begin:5.1f} s  {block.where}  {command}", flush=True)
    return printed


def demo(check, program, long):
    """The demo's run, on a few titles or as it is: its table has the columns and rows that the README shows."""
    lines = (ROOT / "scripts" / "demo").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    calls = [i for i, line in enumerate(lines) if line.startswith('"$pardec" ')]
    check(len(calls) == 3, f"scripts/demo calls the program {len(calls)} times, expected run, report and generate")
    run = lines[calls[0]:calls[-1] + 1]
    with tempfile.TemporaryDirectory(prefix="pardec-demo-") as folder:
        folder = pathlib.Path(folder)
        scratch_copy(folder, program)
        few = "set --\n" if long else "set -- --limit 6\n"
        begin = time.monotonic()
        ran = shell(folder, f"pardec={shlex.quote(str(program))}\nfolder=.\ndb=demo.sqlite\n{few}" + "\n".join(run))
        print(f"{time.monotonic() - begin:5.1f} s  scripts/demo", flush=True)
        check(ran.returncode == 0 and (folder / "report.html").exists(), f"scripts/demo: exit {ran.returncode}: {ran.stderr[-1500:]}")
        check('"Flavor": "Chai"' in ran.stdout and "Pinafell Organic" in ran.stdout, f"scripts/demo: no answer with its title: {ran.stdout[-800:]}")

    shown = next(block.text for block in blocks(ROOT / "README.md") if not block.language)

    def table(text):
        """The words of the header, however many lines it has, and what each row or group begins with."""
        lines = text.splitlines()
        rule = next(i for i, line in enumerate(lines) if line.startswith("---"))
        begin, end = lines.index("") + 1, lines.index("", rule)
        return sorted(" ".join(lines[begin:rule]).split()), [line.split()[0] for line in lines[rule + 1:end] if not line.startswith(" ")]

    check(table(shown) == table(ran.stdout) and len(table(shown)[1]) == 6, f"README.md shows {table(shown)}, the demo {table(ran.stdout)}")
    check(shown.splitlines()[0].split(",")[:3] == ran.stdout.splitlines()[0].split(",")[:3], f"README.md's title: {shown.splitlines()[0]}, the demo's: {ran.stdout.splitlines()[0]}")


def main():
    if shutil.which("gnuplot") is None:
        print("[skipped] figures are drawn by gnuplot (Debian package gnuplot-nox)")
        return 77
    long, wanted = "--long" in sys.argv, [a for a in sys.argv[2:] if a != "--long"]
    program = pathlib.Path(sys.argv[1]).resolve()
    check, ran = Checks(), 0
    for page in PAGES:
        name = str(page.relative_to(ROOT))
        tutorial = "/tutorials/" in name
        if not any(w in name for w in wanted) if wanted else tutorial:
            continue
        ran += 1
        marks = {block.mark for block in blocks(page) if block.language == "sh"}
        check(not tutorial or marks == {""}, f"{name}: a tutorial runs from the first line to the last, and has blocks marked {marks}")
        if tutorial and "scripts/fetch-smollm2" in page.read_text(encoding="utf-8") and not SMOLLM2.is_dir():
            print("[skipped] scripts/fetch-smollm2 has not made SmolLM2")
            return 77
        check(all(mark in ("", "slow") or re.fullmatch(r"not run: .+", mark) for mark in marks), f"{name}: blocks are marked {marks}")
        tour(check, page, program, long)
    check(ran > 0, f"no page is named like {wanted}")
    if not wanted or any(w in "README.md" for w in wanted):
        demo(check, program, long)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
