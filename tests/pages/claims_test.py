"""What the pages and the help say is there: files, verbs, flags, exit codes. Tables have as many cells in each row. And comments give reasons, not pointers to documents that readers have not.

Usage: claims_test.py PROGRAM
"""
import pathlib
import re
import sys

from pages import FOLDERS, PAGES, ROOT, blocks, cells, commands, help_of, pardec_arguments, verbs_of
from layers_test import ALLOWED

# Documents that are no part of the project, as comments would name them.
OUTSIDE = re.compile(r"\bdesign, section|\b[Ss]pecs? of\b|\b[Ss]pecs, [A-Z0-9]|\b[Tt]he specification|\bits specs\b")
# A path of the project: one of its folders, then names. Patterns and places of one's own aside.
PATH = re.compile(r"(?<![\w/.-])(?:%s)/[\w./-]*\w" % "|".join(re.escape(f) for f in FOLDERS))
MADE = ("results/pardec.sqlite", "experiments/quickstart/data")  # by a run
README_LINES = 130  # at most


class Failures:
    def __init__(self):
        self.checks, self.said = 0, []

    def __call__(self, good, what):
        self.checks += 1
        if not good:
            self.said.append(what)


def comments(check):
    for folder in ("src", "decoders", "datasets", "metrics", "tests", "scripts"):
        for file in sorted((ROOT / folder).rglob("*")):
            if file.suffix not in (".cpp", ".hpp", ".cu", ".inl", ".py", ".txt", ".cmake", ".md") or file == pathlib.Path(__file__).resolve():
                continue
            for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
                check(not OUTSIDE.search(line), f"{file.relative_to(ROOT)}:{number}: points outside the project: {line.strip()}")


def paths(check, where, text):
    for path in PATH.findall(text):
        if "NAME" not in path and "PROMPT" not in path and not path.startswith(MADE):
            check((ROOT / path).exists(), f"{where}: there is no {path}")


def anchors(page):
    """What a link may name behind #: the headings as GitHub writes them."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links(check, page):
    for target, anchor in re.findall(r"\]\(([^)#]*)#?([^)]*)\)", page.read_text(encoding="utf-8")):
        if "://" in target:
            continue
        there = page.parent / target if target else page
        check(there.exists(), f"{page.relative_to(ROOT)}: link to {target}, which is not there")
        check(not anchor or (there.is_file() and anchor in anchors(there)), f"{page.relative_to(ROOT)}: link to {target}#{anchor}, a heading that is not there")


def tables(check, page):
    """Each table has a header, a rule below it, and as many cells in each row; a renderer cuts or shows raw what has not."""
    text = re.sub(r"^```.*?^```", lambda block: "\n" * block[0].count("\n"), page.read_text(encoding="utf-8"), flags=re.M | re.S)
    lines, width, found = text.splitlines(), 0, 0
    for number, line in enumerate(lines, 1):
        where = f"{page.relative_to(ROOT)}:{number}"
        if not line.lstrip().startswith("|"):
            width = 0
            continue
        here = len(re.split(r"(?<!\\)\|", line.strip().removeprefix("|").removesuffix("|")))
        if not width:
            width, found = here, found + 1
            check(re.fullmatch(r"\|(\s*:?-+:?\s*\|)+", lines[number].strip() if number < len(lines) else ""), f"{where}: a table without a rule below its header: {line}")
            check(number == 1 or not lines[number - 2].strip() or lines[number - 2].startswith("<!--"), f"{where}: no empty line above the table")
        check(here == width, f"{where}: {here} cells in a table of {width}: {line}")
    return found


def folders(check):
    """The table of folders in src/README.md is the one that the layers are held to."""
    rows = [cells(line) for line in (ROOT / "src" / "README.md").read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    for folder, _, may in rows:
        allowed = {layer.removeprefix("src/") for layer in ALLOWED.get(folder.strip("`"), {"no such folder"})}
        said = set() if may == "-" else set(may.split(", "))
        check(said == allowed or may == "all", f"src/README.md: {folder} may include {may}, the layers say {', '.join(sorted(allowed))}")
    check([row[0].strip("`") for row in rows] == list(ALLOWED), f"src/README.md: folders {[row[0] for row in rows]}, the layers have {list(ALLOWED)}")


def scripts(check, command, where):
    """A script of the project that a page names takes the flags that stand behind it."""
    for script, arguments in re.findall(r"\b((?:scripts|tests)/[\w./-]+)((?: +\S+)*)", command):
        if not (ROOT / script).is_file():
            continue  # said by `paths`
        text = (ROOT / script).read_text(encoding="utf-8")
        for flag in re.findall(r"(?<=\s)--[A-Za-z][\w-]*", arguments):
            check(flag in text, f"{where}: {script} has no {flag}: {command}")


def main():
    check = Failures()
    help_text = help_of(sys.argv[1])
    verbs = verbs_of(sys.argv[1])
    helps = {verb: help_of(sys.argv[1], verb) for verb in verbs}
    flags = {verb: set(re.findall(r"(?<![\w-])(--?[A-Za-z][\w-]*)", text)) for verb, text in helps.items()}

    comments(check)
    folders(check)
    found = 0
    for page in PAGES:
        name, text = str(page.relative_to(ROOT)), page.read_text(encoding="utf-8")
        links(check, page)
        found += tables(check, page)
        paths(check, name, text)
        for block in blocks(page):
            for command in commands(block) if block.language == "sh" else ():
                scripts(check, command, block.where)
                arguments = pardec_arguments(command)
                if arguments is None:
                    continue
                verb = arguments.split()[0]
                check(verb in verbs, f"{block.where}: there is no verb {verb}: {command}")
                for flag in re.findall(r"(?<=\s)(--?[A-Za-z][\w-]*)", arguments):
                    check(flag in flags.get(verb, ()), f"{block.where}: pardec {verb} has no {flag}: {command}")
                for file in re.findall(r"--job (\S+)", arguments):
                    check((ROOT / file).exists(), f"{block.where}: there is no {file}: {command}")
        for verb in re.findall(r"`pardec ([a-z]+)\b", text):
            check(verb in verbs, f"{name}: there is no verb {verb}")
    for verb, text in helps.items():
        paths(check, f"pardec {verb} --help", text)
        for other in re.findall(r"(?:'|^ *)pardec ([a-z]+)", text, re.M):
            check(other in verbs, f"pardec {verb} --help: there is no verb {other}")

    check(found > 100, f"{found} tables in the pages")

    def codes(text):
        return re.findall(r"\b\d+\b", re.search(r"Exit codes: ([^.]*)", text)[1])

    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    check(len(readme.splitlines()) <= README_LINES, f"README.md has {len(readme.splitlines())} lines, expected at most {README_LINES}")
    wide = [line for block in blocks(ROOT / "README.md") if not block.language for line in block.text.splitlines() if len(line) > 80]
    check(not wide, f"README.md shows a table wider than 80 columns: {wide}")
    licensed = any(ROOT.glob("LICEN[CS]E*"))
    check(licensed != ("No licence has been chosen yet" in readme), f"README.md says whether there is a licence; a file LICENSE: {licensed}")
    check(codes(help_text) == codes(readme) == ["0", "1", "2", "3", "4", "130"], f"exit codes: {codes(help_text)}")
    for line in check.said:
        print(line)
    print(f"{check.checks - len(check.said)} passed, {len(check.said)} failed")
    return 1 if check.said or check.checks < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
