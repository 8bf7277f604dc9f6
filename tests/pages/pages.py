"""What the tests of the pages share: the project's pages, their code blocks, and what the
program's helps name.
"""

import dataclasses
import functools
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [
    str(ROOT / "tests" / "cli"),
    str(ROOT / "tests" / "structure"),
]  # harness.py, layers_test.py
FOLDERS = (
    "src", "decoders", "datasets", "metrics", "experiments", "results", "scripts", "tests",
    ".github",
)
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *(p for folder in FOLDERS for p in sorted((ROOT / folder).rglob("*.md"))),
]


@dataclasses.dataclass
class Block:
    """A code block. `mark` is the comment right above it: `not run: reason`, `slow`, or nothing."""

    page: pathlib.Path
    line: int  # of its first line of code
    language: str
    mark: str
    text: str

    @property
    def where(self):
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def not_run(self):
        return self.mark.startswith("not run:")


def blocks(page):
    found, mark, block = [], "", None
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if block is not None:
            if line == "```":
                found.append(block)
                block = None
            else:
                block.text += line + "\n"
        elif line.startswith("```"):
            block, mark = Block(page, number + 1, line[3:], mark, ""), ""
        else:
            comment = re.fullmatch(r"<!-- (.*) -->", line)
            mark = comment[1] if comment else mark if not line else ""
    return found


def commands(block):
    """The command lines of an `sh` block, continued ones joined, without comments."""
    for line in re.sub(r"\\\n\s*", "", block.text).splitlines():
        line = re.sub(r"(^|\s)#.*", "", line).strip()
        if line:
            yield line


def pardec_arguments(command):
    """What follows the program in a command line of pardec; None: it is another one."""
    found = re.match(r"(?:\$pardec|(?:build/release/)?pardec)\s+(.*)", command)
    return found and found[1]


@functools.cache
def help_of(pardec, *verb):
    """What `pardec VERB --help` prints; `pardec` is a `harness.Program`, or a path."""
    if hasattr(pardec, "good"):
        return pardec.good(*verb, "--help", env={"COLUMNS": 80})
    ran = subprocess.run([pardec, *verb, "--help"], capture_output=True, text=True, check=True)
    return ran.stdout


def verbs_of(pardec):
    return re.findall(
        r"^  ([a-z]+)  +\S", help_of(pardec).split("Verbs:\n")[1].split("\n\n")[0], re.M
    )


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]
