"""No layer below the command line knows a flag: their messages name settings in backquotes (`batch_size`), which src/cli turns into flags.

Usage: flags_test.py PROGRAM
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("src", "decoders", "datasets", "metrics", "judges")
# What is no flag of pardec's, by file: a pattern that takes it away, and what it is.
OTHERS = {
    "src/sandbox/python_sandbox.cpp": (r"--[a-z-]+", "bubblewrap's command line"),
    "src/model/files/checkpoint_advice.cpp": (r"--local-dir", "of the Hub's own program, in an advice to call it"),
    "src/report/figure.cpp": (r"var\(--", "CSS: properties of the page's own"),
    "src/jinja/text_filters.cpp": (r"<!--", "a comment of HTML"),
}
# Comments, raw texts, texts, characters: in this order, a literal is none of what stands in another one.
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\((.*?)\)\1"|"((?:\\.|[^"\\\n])*)"|\'(?:\\.|[^\'\\\n])+\'', re.S)
FLAG = re.compile(r"(?<!-)--(?:[a-z][\w-]*|$)")  # also what a name is put after
SETTING = re.compile(r"`([a-z][a-z0-9_]*)(?:=[^`]*)?`")


def texts(code):
    """Its literals, neighbours joined as the compiler joins them, with the line that each begins in."""
    joined, end = [], None
    for match in TOKEN.finditer(code):
        text = match[2] if match[2] is not None else match[3]
        if text is None:
            continue
        if joined and end is not None and not code[end:match.start()].strip():
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
    page = subprocess.run([program, "completion", "man"], capture_output=True, text=True, check=True).stdout.replace("\\-", "-")
    return set(re.findall(r"\\fB--([a-z0-9-]+)\\fR", page)), set(re.findall(r"^\.SS (\S+)", page, re.M))


def main():
    failed, used, settings = [], set(), 0
    known, verbs = known_names(sys.argv[1])
    # The test sees what it is to see.
    for code, found in (('f("give --db");', 1), ('f("give " /* --db */ "`db`"); // --db', 0), ('f("a" "--" "b", R"js(x --limit)js");', 2), ("f('\"'); --n;", 0)):
        if sum(len(flags_in("", text)) for _, text in texts(code)) != found:
            failed.append(f"{code} should have {found}")
    if len(known) < 100 or len(verbs) < 15:
        failed.append(f"completion man has {len(known)} flags, {len(verbs)} verbs")
    files = 0
    for folder in FOLDERS:
        for file in sorted((ROOT / folder).rglob("*")):
            name = file.relative_to(ROOT).as_posix()
            if file.suffix not in (".cpp", ".hpp", ".cu", ".inl") or name.startswith("src/cli/"):
                continue
            files += 1
            for line, text in texts(file.read_text(encoding="utf-8")):
                if name in OTHERS and re.search(OTHERS[name][0], text):
                    used.add(name)
                failed += [f"{name}:{line} has the flag {flag}; a setting's name belongs there, in backquotes" for flag in flags_in(name, text)]
                for setting in SETTING.findall(text):
                    settings += 1
                    if setting.replace("_", "-") not in known | verbs:
                        failed.append(f"{name}:{line} names the setting `{setting}`, and no verb has a flag for it")
    failed += [f"{name} has nothing of what is let pass there: {OTHERS[name][1]}" for name in sorted(set(OTHERS) - used)]
    for line in failed:
        print(line)
    print(f"{files} files, {settings} settings, {len(failed)} failed")
    return 1 if failed or files < 200 or settings < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
