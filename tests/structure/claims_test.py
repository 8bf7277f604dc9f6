"""What the pages and the help say is there: files, verbs, flags, exit codes. And comments give reasons, not pointers to documents that readers have not.

Usage: claims_test.py PROGRAM
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("src", "decoders", "datasets", "metrics", "experiments", "hardware", "results", "scripts", "tests", ".github")
PAGES = [ROOT / "README.md", *(p for folder in FOLDERS for p in sorted((ROOT / folder).rglob("*.md")))]
# Documents that are no part of the project, as comments would name them.
OUTSIDE = re.compile(r"\bdesign, section|\b[Ss]pecs? of\b|\b[Ss]pecs, [A-Z0-9]|\b[Tt]he specification|\bits specs\b|\bthe spec\b")
# A path of the project: one of its folders, then names. Patterns and places of one's own aside.
PATH = re.compile(r"(?<![\w/.-])(?:%s)/[\w./-]*\w" % "|".join(re.escape(f) for f in FOLDERS))
MADE = ("results/pardec.sqlite", "experiments/quickstart/data")  # by a run


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


def links(check, page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        if "://" not in target:
            check((page.parent / target).exists(), f"{page.relative_to(ROOT)}: link to {target}, which is not there")


def commands(text):
    """Command lines of pardec in a page's code blocks, continued lines joined."""
    for block in re.findall(r"```sh\n(.*?)```", text, re.S):
        for line in block.replace("\\\n", " ").splitlines():
            match = re.match(r"\s*(?:\$pardec|(?:build/release/)?pardec)\s+(.*)", line)
            if match:
                yield match[1].split(" #")[0]


def main():
    def said(*args):
        return subprocess.run([sys.argv[1], *args], capture_output=True, text=True, check=True).stdout

    check = Failures()
    help_text = said("--help")
    verbs = re.findall(r"^  ([a-z]+)  +\S", help_text.split("Verbs:\n")[1].split("\n\n")[0], re.M)
    helps = {verb: said(verb, "--help") for verb in verbs}
    flags = {verb: set(re.findall(r"(?<![\w-])(--?[A-Za-z][\w-]*)", text)) for verb, text in helps.items()}

    comments(check)
    for page in PAGES:
        name, text = str(page.relative_to(ROOT)), page.read_text(encoding="utf-8")
        links(check, page)
        paths(check, name, text)
        for command in commands(text):
            verb = command.split()[0]
            check(verb in verbs, f"{name}: there is no verb {verb}: {command}")
            for flag in re.findall(r"(?<=\s)(--?[A-Za-z][\w-]*)", command):
                check(flag in flags.get(verb, ()), f"{name}: pardec {verb} has no {flag}: {command}")
            for file in re.findall(r"--job (\S+)", command):
                check((ROOT / file).exists(), f"{name}: there is no {file}: {command}")
        for verb in re.findall(r"`pardec ([a-z]+)\b", text):
            check(verb in verbs, f"{name}: there is no verb {verb}")
    for verb, text in helps.items():
        paths(check, f"pardec {verb} --help", text)
        for other in re.findall(r"(?:'|^ *)pardec ([a-z]+)", text, re.M):
            check(other in verbs, f"pardec {verb} --help: there is no verb {other}")

    def codes(text):
        return re.findall(r"\b\d+\b", re.search(r"Exit codes: ([^.]*)", text)[1])

    check(codes(help_text) == codes((ROOT / "README.md").read_text(encoding="utf-8")) == ["0", "1", "2", "3", "130"], f"exit codes: {codes(help_text)}")
    for line in check.said:
        print(line)
    print(f"{check.checks - len(check.said)} passed, {len(check.said)} failed")
    return 1 if check.said or check.checks < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
