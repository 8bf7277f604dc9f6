"""Whoever adds a decoder touches its files, the registry and the pages: no code outside `decoders/` names one, and no message. Comments and the
help of the command line may, as an example; papers' methods (HPD) are no decoders.

Usage: decoder_names_test.py PROGRAM
"""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HELP = ("src/cli/", "src/settings/")  # what people read in help is written there
FOLDERS = ("src", "datasets", "metrics", "judges")
# Keys of files that training writes and reads, which happen to be a decoder's name.
KEYS = {"src/training/extra_heads.cpp": {'"medusa"'}, "src/checkpoint/checkpoint.cpp": {'"medusa"'}}
COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)
# Names that are words as well: they are meant beside other names, an option or the word "decoder".
WORDS = {"space", "lookahead"}
# A text, or several with nothing but white space or a value between them, as the arguments of str() are.
THROWN = re.compile(r"\bthrow\b[^;]*;", re.S)
INCLUDE = re.compile(r'^\s*#include\s+"decoders/([\w/]+)\.hpp"', re.M)


def class_names():
    """Types of the decoders' own headers and sources."""
    text = "".join(file.read_text(encoding="utf-8") for file in sorted((ROOT / "decoders").rglob("*.[ch]pp")))
    return set(re.findall(r"\bclass (\w+) final : public (?:FreeRunning)?Decoder\b", text))


def formats():
    """Training formats by name."""
    text = "".join(file.read_text(encoding="utf-8") for file in sorted((ROOT / "decoders").rglob("*.cpp")))
    return re.findall(r'\.name = "([\w-]+)",\s*\.meaning = ', text)


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


def named_in(message, names):
    """Decoders and formats that a message names: as words, not as parts of flags, paths or longer names."""
    for name in names:
        for match in re.finditer(rf"(?<![\w/.-]){re.escape(name)}(?![\w/-])", message):
            before, behind = message[:match.start()], message[match.end():]
            if name not in WORDS or re.match(r"\.\w|,\S|=", behind) or re.search(r"(\w,|\b(decoder|format) )$", before):
                yield name


def messages(text, help_may):
    """What people are told by this code; `help_may`: only what is thrown, as the rest may be help."""
    # Comments go first: an apostrophe or a semicolon in them is none of the code.
    code = COMMENT_OR_TEXT.sub(lambda match: match[0] if match[0].startswith('"') else " ", text)
    if not help_may:
        return [match[0] for match in COMMENT_OR_TEXT.finditer(code)]
    quiet = COMMENT_OR_TEXT.sub(lambda match: re.sub("[;]", ",", match[0]), code)  # a message may hold the end of a statement
    return [text[0] for thrown in THROWN.finditer(quiet) for text in COMMENT_OR_TEXT.finditer(thrown[0])]


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
    spoken = sorted({*names, *formats()})
    if len(spoken) < len(names) + 3:
        failed.append("no formats were found")
    for code, help_may, found in (('throw E("expected ar, ar-value or hpd");', True, 3), ('add("a decoder, e.g. hpd");', True, 0), ('add("a decoder, e.g. hpd");', False, 1),
                                  ('throw E(str("a; ", x, "decoder space"));', True, 1), ('throw E("white space, or a space");', True, 0), ("f(); // throw hpd;", False, 0),
                                  ('throw E("give --medusa-heads, decoders/hpd or hpdx");', False, 0), ('throw E("e.g. hpd.k_max=8");', True, 1), ('throw E("as HPD\'s Table 2");', False, 0)):
        if sum(len(list(named_in(message, spoken))) for message in messages(code, help_may)) != found:
            failed.append(f"{code} should have {found} in its messages")
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
            for message in messages(file.read_text(encoding="utf-8"), help_may=name.startswith(HELP)):
                if message not in KEYS.get(name, set()) and (found := sorted(set(named_in(message, spoken)))):
                    failed.append(f"{name} tells of {', '.join(found)} in {message}; names come from the registry (decoders_that, formats_that)")
    for line in failed:
        print(line)
    print(f"{files} files, {len(failed)} failed")
    return 1 if failed or files < 200 else 0


if __name__ == "__main__":
    sys.exit(main())
