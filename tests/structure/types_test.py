"""One definition a type: no two files define a class, struct, union or enumeration of one full
name, which the linker would not notice.
"""

import collections
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("src", "decoders", "datasets", "judges", "metrics")
# What holds braces that are none; quotes between digits (1'000) are no characters.
TEXT = re.compile(
    r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*.*?\*/',
    re.S,
)
BLOCK = re.compile(r"[{}]|[;()]")
OPENS = re.compile(
    r"\bnamespace\b\s*([\w:]*)\s*$|\b(?:struct|class|union|enum(?:\s+(?:class|struct))?)\s+(?:alignas\s+)?(\w+)\s*(?:final\s*)?(?::[^:].*)?$",
    re.S,
)


def types(text):
    """Full names of the types that the text defines with linkage beyond its file."""
    text = TEXT.sub("", text)
    spaces, begin = (
        [],
        0,
    )  # of each open brace: a namespace's name, "" without one, None for another block
    for mark in BLOCK.finditer(text):
        if mark[0] == "{":
            opened = OPENS.search(text, begin, mark.start())
            if opened and opened[2] and all(spaces):
                yield "::".join([*spaces, opened[2]])
            spaces.append(opened[1] if opened and opened[2] is None else None)
        elif mark[0] == "}":
            spaces.pop()
        begin = mark.end()
    assert not spaces, "a brace without its end"


def test_no_two_files_define_a_type_of_one_name():
    found = collections.defaultdict(list)
    for folder in FOLDERS:
        for file in sorted((ROOT / folder).rglob("*")):
            if file.suffix in (".hpp", ".cpp", ".cu", ".inl"):
                for name in types(file.read_text(encoding="utf-8")):
                    found[name].append(str(file.relative_to(ROOT)))
    assert len(found) >= 300
    for name, places in found.items():
        assert len(places) == 1, name
