"""Whoever adds a decoder touches its files, the registry and the pages: no code outside
`decoders/` names one, and no message. Comments and the help of the command line may, as an
example; papers' methods (HPD) are no decoders.
"""

import json
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HELP = ("src/cli/", "src/settings/")  # what people read in help is written there
FOLDERS = ("src", "datasets", "metrics", "judges")
# Keys of files that training writes and reads, which happen to be a decoder's name.
KEYS = {"src/training/extra_heads.cpp": {'"medusa"'}, "src/checkpoint/checkpoint.cpp": {'"medusa"'}}
COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)
# Names that are words as well: they are meant beside other names, an option or the word "decoder".
WORDS = {"space", "lookahead"}
# A text, or several with nothing but white space or a value between them, as the arguments of str()
# are.
THROWN = re.compile(r"\bthrow\b[^;]*;", re.S)
INCLUDE = re.compile(r'^\s*#include\s+"decoders/([\w/]+)\.hpp"', re.M)


def class_names():
    """Types of the decoders' own headers and sources. A service is none: nothing is decoded here."""
    text = "".join(
        file.read_text(encoding="utf-8")
        for file in sorted((ROOT / "decoders").rglob("*.[ch]pp"))
        if file.parent.name != "service"
    )
    return set(re.findall(r"\bclass (\w+) final : public (?:FreeRunning)?Decoder\b", text))


def formats():
    """Training formats by name."""
    text = "".join(
        file.read_text(encoding="utf-8") for file in sorted((ROOT / "decoders").rglob("*.cpp"))
    )
    return re.findall(r'\.name = "([\w-]+)",\s*\.meaning = ', text)


def stems_of(header):
    """Its folder and its file."""
    return set(header.split("/"))


def mentions(text, names, classes):
    """What names a decoder in this code: a whole text, with an option or without, a type, or a
    header of its own.
    """
    stems = tuple(name.replace("-", "_") for name in names)
    for match in INCLUDE.finditer(text):
        if not stems_of(match[1]).isdisjoint(stems):
            yield match[0].strip()
    whole = re.compile(r'"(?:%s)(?:\.\w+)?"' % "|".join(map(re.escape, names)))
    for match in COMMENT_OR_TEXT.finditer(text):
        if whole.fullmatch(match[0]):
            yield match[0]
    types = re.compile(r"\b(?:%s)(?:[A-Z]\w*)?\b" % "|".join(sorted(classes)))
    for match in types.finditer(COMMENT_OR_TEXT.sub("", text)):
        yield match[0]


def named_in(message, names):
    """Decoders and formats that a message names: as words, not as parts of flags, paths or
    longer names.
    """
    for name in names:
        for match in re.finditer(rf"(?<![\w/.-]){re.escape(name)}(?![\w/-])", message):
            before, behind = message[: match.start()], message[match.end() :]
            if (
                name not in WORDS
                or re.match(r"\.\w|,\S|=", behind)
                or re.search(r"(\w,|\b(decoder|format) )$", before)
            ):
                yield name


def messages(text, help_may):
    """What people are told by this code; `help_may`: only what is thrown, as the rest may be
    help.
    """
    # Comments go first: an apostrophe or a semicolon in them is none of the code.
    code = COMMENT_OR_TEXT.sub(lambda match: match[0] if match[0].startswith('"') else " ", text)
    if not help_may:
        return [match[0] for match in COMMENT_OR_TEXT.finditer(code)]
    quiet = COMMENT_OR_TEXT.sub(
        lambda match: re.sub("[;]", ",", match[0]), code
    )  # a message may hold the end of a statement
    return [
        text[0] for thrown in THROWN.finditer(quiet) for text in COMMENT_OR_TEXT.finditer(thrown[0])
    ]


@pytest.fixture(scope="module")
def names(pardec):
    """The names of the decoders."""
    return [
        json.loads(line)["name"]
        for line in pardec.good("list", "decoders", "--format", "jsonl").splitlines()
    ]


@pytest.fixture(scope="module")
def spoken(names):
    """The names of decoders and training formats."""
    return sorted({*names, *formats()})


@pytest.fixture(scope="module")
def code():
    """The text of each file, by its path."""
    found = {
        file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8")
        for folder in FOLDERS
        for file in sorted((ROOT / folder).rglob("*"))
        if file.suffix in (".cpp", ".hpp", ".cu", ".inl")
    }
    assert len(found) >= 200
    return found


def test_each_decoder_has_a_class(names):
    assert len(class_names()) == len(names)


def test_formats_are_found(names, spoken):
    assert len(spoken) >= len(names) + 3


@pytest.mark.parametrize(
    "text, found",
    [
        ('find("hpd");', 1),
        ('set("hpd.k_max");', 1),
        ("HpdOptions x;", 1),
        ('#include "decoders/hpd/format.hpp"\n', 1),
        ('help("of hpd, e.g. hpd.k_max");', 0),
        ("f(); // Hpd", 0),
        ('#include "decoders/decoder.hpp"\n', 0),
        ("Spaces s;", 0),
    ],
)
def test_names_in_code_are_seen(names, text, found):
    assert len(list(mentions(text, names, class_names()))) == found


@pytest.mark.parametrize(
    "text, help_may, found",
    [
        ('throw E("expected ar, ar-value or hpd");', True, 3),
        ('add("a decoder, e.g. hpd");', True, 0),
        ('add("a decoder, e.g. hpd");', False, 1),
        ('throw E(str("a; ", x, "decoder space"));', True, 1),
        ('throw E("white space, or a space");', True, 0),
        ("f(); // throw hpd;", False, 0),
        ('throw E("give --medusa-heads, decoders/hpd or hpdx");', False, 0),
        ('throw E("e.g. hpd.k_max=8");', True, 1),
        ('throw E("as HPD\'s Table 2");', False, 0),
    ],
)
def test_names_in_messages_are_seen(spoken, text, help_may, found):
    assert (
        sum(len(list(named_in(message, spoken))) for message in messages(text, help_may)) == found
    )


def test_no_code_names_a_decoder(names, code):
    """What it asks belongs into the decoders' rows (decoders/decoder.hpp)."""
    classes = class_names()
    for name, text in code.items():
        assert set(mentions(text, names, classes)) - KEYS.get(name, set()) == set(), name


def test_no_message_names_a_decoder(spoken, code):
    """Names come from the registry (decoders_that, formats_that)."""
    for name, text in code.items():
        for message in messages(text, help_may=name.startswith(HELP)):
            assert message in KEYS.get(name, set()) or not set(named_in(message, spoken)), (
                f"{name}: {message}"
            )
