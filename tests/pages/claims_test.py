"""What the pages and the help say is there: files, verbs, flags, exit codes. Tables have as many
cells in each row. And comments give reasons, not pointers to documents that readers do not have.
"""

import pathlib
import re

import pytest
from pages import FOLDERS, PAGES, ROOT, blocks, cells, commands, help_of, pardec_arguments, verbs_of

from layers_test import ALLOWED  # isort: skip: pages knows where it is

# Documents that are no part of the project, as comments would name them.
OUTSIDE = re.compile(
    r"\bdesign, section|\b[Ss]pecs? of\b|\b[Ss]pecs, [A-Z0-9]|\b[Tt]he specification|\bits specs\b"
)
# A path of the project: one of its folders, then names. Patterns and places of one's own aside.
PATH = re.compile(r"(?<![\w/.-])(?:%s)/[\w./-]*\w" % "|".join(re.escape(f) for f in FOLDERS))
MADE = ("results/pardec.sqlite", "experiments/quickstart/data")  # by a run
README_LINES = 130  # at most


every_page = pytest.mark.parametrize(
    "page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES]
)


def shell_commands(page):
    """(where, command) of each command line of a page."""
    return [
        (block.where, command)
        for block in blocks(page)
        if block.language == "sh"
        for command in commands(block)
    ]


def pardec_commands(page):
    """(what a failure names, arguments) of each command line of pardec."""
    found = [
        (f"{where}: {command}", pardec_arguments(command))
        for where, command in shell_commands(page)
    ]
    return [(what, arguments) for what, arguments in found if arguments is not None]


@pytest.mark.parametrize("folder", ["src", "decoders", "datasets", "metrics", "tests", "scripts"])
def test_comments_point_to_nothing_outside_the_project(folder):
    for file in sorted((ROOT / folder).rglob("*")):
        if (
            file.suffix not in (".cpp", ".hpp", ".cu", ".inl", ".py", ".txt", ".cmake", ".md")
            or file == pathlib.Path(__file__).resolve()
        ):
            continue
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            assert not OUTSIDE.search(line), f"{file.relative_to(ROOT)}:{number}"


def check_paths(text):
    for path in PATH.findall(text):
        if "NAME" not in path and "PROMPT" not in path and not path.startswith(MADE):
            assert (ROOT / path).exists(), path


def check_verbs(text, pattern, verbs):
    for verb in re.findall(pattern, text, re.M):
        assert verb in verbs


def anchors(page):
    """What a link may name after #: the headings as GitHub writes them."""
    headings = re.findall(
        r"^#+ (.*)$", re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S), re.M
    )
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@every_page
def test_links_lead_somewhere(page):
    for target, anchor in re.findall(r"\]\(([^)#]*)#?([^)]*)\)", page.read_text(encoding="utf-8")):
        if "://" in target:
            continue
        there = page.parent / target if target else page
        assert there.exists(), target
        assert not anchor or there.is_file(), f"{target}#{anchor}"
        assert not anchor or anchor in anchors(there), f"{target}#{anchor}"


def table_lines(page):
    """Lines of tables, [(number, line)], and all lines; without what code blocks hold."""
    text = page.read_text(encoding="utf-8")
    code = re.compile(r"^```.*?^```", re.M | re.S)
    lines = code.sub(lambda block: "\n" * block[0].count("\n"), text).splitlines()
    return [(i, line) for i, line in enumerate(lines) if line.lstrip().startswith("|")], lines


@every_page
def test_tables_have_a_rule_and_as_many_cells_in_each_row(page):
    """A renderer cuts what is too much, and shows the rest as it is."""
    found, lines = table_lines(page)
    before, width = -2, 0
    for i, line in found:
        here = len(re.split(r"(?<!\\)\|", line.strip().removeprefix("|").removesuffix("|")))
        if i != before + 1:
            width = here
            rule = lines[i + 1].strip() if i + 1 < len(lines) else ""
            assert re.fullmatch(r"\|(\s*:?-+:?\s*\|)+", rule), f"below {line}"
            assert i == 0 or not lines[i - 1].strip() or lines[i - 1].startswith("<!--"), line
        assert here == width, line
        before = i


def test_the_pages_have_tables():
    heads = 0
    for page in PAGES:
        numbers = [i for i, _ in table_lines(page)[0]]
        heads += len([i for i in numbers if i - 1 not in numbers])
    assert heads > 100


@every_page
def test_paths_are_there(page):
    text = page.read_text(encoding="utf-8")
    # RESULTS.md also names networks that its run lacked, each with the recipe that makes it.
    check_paths(re.sub(r"network '[^']*' \([^,)]*, recipe", "recipe", text))


@every_page
def test_scripts_take_their_flags(page):
    for where, command in shell_commands(page):
        for script, arguments in re.findall(r"\b((?:scripts|tests)/[\w./-]+)((?: +\S+)*)", command):
            if not (ROOT / script).is_file():
                continue  # said by the test of paths
            text = (ROOT / script).read_text(encoding="utf-8")
            for flag in re.findall(r"(?<=\s)--[A-Za-z][\w-]*", arguments):
                assert flag in text, f"{where}: {command}"


@every_page
def test_verbs_flags_and_jobs_of_commands_exist(pardec, page):
    verbs = verbs_of(pardec)
    for what, arguments in pardec_commands(page):
        verb = arguments.split()[0]
        assert verb in verbs, what
        known = re.findall(r"(?<![\w-])(--?[A-Za-z][\w-]*)", help_of(pardec, verb))
        for flag in re.findall(r"(?<=\s)(--?[A-Za-z][\w-]*)", arguments):
            assert flag in known, what
        for file in re.findall(r"--job (\S+)", arguments):
            assert (ROOT / file).exists(), what
    check_verbs(page.read_text(encoding="utf-8"), r"`pardec ([a-z]+)\b", verbs)


def test_the_pages_have_commands():
    assert sum(len(pardec_commands(page)) for page in PAGES) > 100


def test_the_page_of_flags_explains_each_flag():
    text = (ROOT / "src" / "cli" / "flags.md").read_text(encoding="utf-8")
    rows = [cells(line) for line in text.splitlines() if line.startswith("| `")]
    assert len(rows) > 300
    assert [row[0] for row in rows if not row[-1]] == []


def test_helps_name_paths_and_verbs_that_exist(pardec):
    verbs = verbs_of(pardec)
    assert len(verbs) >= 15
    for verb in verbs:
        check_paths(help_of(pardec, verb))
        check_verbs(help_of(pardec, verb), r"(?:'|^ *)pardec ([a-z]+)", verbs)


def test_the_table_of_folders_is_the_one_that_the_layers_follow():
    rows = [
        cells(line)
        for line in (ROOT / "src" / "README.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("| `")
    ]
    assert [row[0].strip("`") for row in rows] == list(ALLOWED)
    for folder, _, may in rows:
        allowed = {layer.removeprefix("src/") for layer in ALLOWED[folder.strip("`")]}
        assert may == "all" or (set() if may == "-" else set(may.split(", "))) == allowed, folder


@pytest.fixture(scope="module")
def readme():
    return (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_readme_is_short_and_narrow(readme):
    assert len(readme.splitlines()) <= README_LINES
    assert not [
        line
        for block in blocks(ROOT / "README.md")
        if not block.language
        for line in block.text.splitlines()
        if len(line) > 80
    ]


def test_the_readme_says_whether_there_is_a_licence(readme):
    assert any(ROOT.glob("LICEN[CS]E*")) != ("No licence has been chosen yet" in readme)


def test_exit_codes_are_those_of_the_help(pardec, readme):
    for text in (help_of(pardec), readme):
        codes = re.findall(r"\b\d+\b", re.search(r"Exit codes: ([^.]*)", text)[1])
        assert codes == ["0", "1", "2", "3", "4", "130"]
