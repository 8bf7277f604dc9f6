"""Whoever adds a decoder touches its files, the registry and the pages: no code outside `decoders/` names one. Examples in comments and help may.

Usage: decoder_names_test.py PROGRAM
"""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("src", "datasets", "metrics")
# Keys of files that training writes and reads, which happen to be a decoder's name.
KEYS = {"src/training/extra_heads.cpp": {'"medusa"'}, "src/checkpoint/checkpoint.cpp": {'"medusa"'}}
COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)
INCLUDE = re.compile(r'^\s*#include\s+"decoders/([\w/]+)\.hpp"', re.M)


def class_names():
    """Types of the decoders' own headers and sources."""
    text = "".join(file.read_text(encoding="utf-8") for file in sorted((ROOT / "decoders").rglob("*.[ch]pp")))
    return set(re.findall(r"\bclass (\w+) final : public (?:FreeRunning)?Decoder\b", text))


def stems_of(header):
    """Its folder and its file."""
    return set(header.split("/"))


def mentions(text, names, classes):
    """What names a decoder in this code: a whole text, with an option or without, a type, or a header of its own."""
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


def main():
    listed = subprocess.run([sys.argv[1], "list", "decoders", "--format", "jsonl"], capture_output=True, text=True, check=True).stdout
    decoders = [json.loads(line) for line in listed.splitlines()]
    names, classes = [d["name"] for d in decoders], class_names()
    failed = [] if len(classes) == len(names) else [f"{len(names)} decoders, {len(classes)} classes: {classes}"]
    # The test sees what it is to see.
    for code, found in (('find("hpd");', 1), ('set("hpd.k_max");', 1), ("HpdOptions x;", 1), ('#include "decoders/hpd/format.hpp"\n', 1), ('help("of hpd, e.g. hpd.k_max");', 0),
                        ("f(); // Hpd", 0), ('#include "decoders/decoder.hpp"\n', 0), ("Spaces s;", 0)):
        if len(list(mentions(code, names, classes))) != found:
            failed.append(f"{code} should have {found}")
    files = 0
    for folder in FOLDERS:
        for file in sorted((ROOT / folder).rglob("*")):
            if file.suffix not in (".cpp", ".hpp", ".cu", ".inl"):
                continue
            files += 1
            name = file.relative_to(ROOT).as_posix()
            found = sorted(set(mentions(file.read_text(encoding="utf-8"), names, classes)) - KEYS.get(name, set()))
            if found:
                failed.append(f"{name} names decoders: {', '.join(found)}; what it asks belongs into their rows (decoders/decoder.hpp)")
    for line in failed:
        print(line)
    print(f"{files} files, {len(failed)} failed")
    return 1 if failed or files < 200 else 0


if __name__ == "__main__":
    sys.exit(main())
