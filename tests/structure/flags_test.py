"""No layer below the command line knows a flag: their messages name settings in backquotes
(`batch_size`), which src/cli turns into flags.
"""

import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("src", "decoders", "datasets", "metrics", "judges")
# What is no flag of pardec's, by file: a pattern that takes it away, and what it is.
OTHERS = {
    "src/sandbox/python_sandbox.cpp": (r"--[a-z-]+", "bubblewrap's command line"),
    "src/support/hub_cache.cpp": (r"--", "a separator in the names of the Hub's cache"),
    "src/reproduction/recipe.cpp": (r" --$", "a recipe's own flags, whose names are in its file"),
    "src/report/figure.cpp": (r"var\(--", "CSS: properties of the page's own"),
    "src/jinja/text_filters.cpp": (r"<!--", "a comment of HTML"),
}
# Comments, raw texts, texts, characters: in this order, a literal is none of what stands in another
# one.
TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\((.*?)\)\1"|"((?:\\.|[^"\\\n])*)"|\'(?:\\.|[^\'\\\n])+\'', re.S
)
FLAG = re.compile(r"(?<!-)--(?:[a-z][\w-]*|$)")  # also what a name is put after
SETTING = re.compile(r"`([a-z][a-z0-9_]*)(?:=[^`]*)?`")


def texts(code):
    """Its literals, neighbours joined as the compiler joins them, with the line that each begins
    in.
    """
    joined, end = [], None
    for match in TOKEN.finditer(code):
        text = match[2] if match[2] is not None else match[3]
        if text is None:
            continue
        if joined and end is not None and not code[end : match.start()].strip():
            joined[-1][1] += text
        else:
            joined.append([code.count("\n", 0, match.start()) + 1, text])
        end = match.end()
    return joined


def flags_in(name, text):
    pattern, _ = OTHERS.get(name, ("(?!)", ""))
    return FLAG.findall(re.sub(pattern, "", text))


def known_names(program):
    """The flags and the verbs."""
    page = subprocess.run(
        [program, "completion", "man"], capture_output=True, text=True, check=True
    ).stdout.replace("\\-", "-")
    return set(re.findall(r"\\fB--([a-z0-9-]+)\\fR", page)), set(
        re.findall(r"^\.SS (\S+)", page, re.M)
    )


@pytest.fixture(scope="module")
def names(program):
    """Flags and verbs of the program."""
    return known_names(program("pardec"))


@pytest.fixture(scope="module")
def literals():
    """The literals of each file, with their lines."""
    return {
        file.relative_to(ROOT).as_posix(): list(texts(file.read_text(encoding="utf-8")))
        for folder in FOLDERS
        for file in sorted((ROOT / folder).rglob("*"))
        if file.suffix in (".cpp", ".hpp", ".cu", ".inl")
        and not file.relative_to(ROOT).as_posix().startswith("src/cli/")
    }


@pytest.mark.parametrize(
    "code, found",
    [
        ('f("give --db");', 1),
        ('f("give " /* --db */ "`db`"); // --db', 0),
        ('f("a" "--" "b", R"js(x --limit)js");', 2),
        ("f('\"'); --n;", 0),
    ],
    ids=["a flag", "a comment", "joined", "a character"],
)
def test_flags_are_seen_in_texts_alone(code, found):
    assert sum(len(flags_in("", text)) for _, text in texts(code)) == found


def test_no_message_has_a_flag(literals):
    """The name of a setting belongs there, in backquotes."""
    assert len(literals) >= 200
    for name, found in literals.items():
        for line, text in found:
            assert list(flags_in(name, text)) == [], f"{name}:{line}"


def test_every_setting_in_a_message_has_a_flag(names, literals):
    known, verbs = names
    assert len(known) >= 100
    assert len(verbs) >= 15
    settings = 0
    for name, found in literals.items():
        for line, text in found:
            for setting in SETTING.findall(text):
                settings += 1
                assert setting.replace("_", "-") in known | verbs, f"{name}:{line}"
    assert settings >= 100


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_let_pass_is_still_there(literals, name):
    assert any(re.search(OTHERS[name][0], text) for _, text in literals[name]), OTHERS[name][1]
