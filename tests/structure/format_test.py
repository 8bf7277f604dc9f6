"""Every C++ file is as Debian 12's clang-format leaves it, by .clang-format. Other versions lay out otherwise, and are not asked.

Usage: format_test.py [--fix]     --fix: writes the files that differ
"""
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("src", "decoders", "datasets", "metrics", "judges", "tests")
VERSION = "14"


def formatter():
    """A clang-format of that version, or None."""
    for name in (f"clang-format-{VERSION}", "clang-format"):
        program = shutil.which(name)
        if program and re.search(rf"version {VERSION}\.", subprocess.run([program, "--version"], capture_output=True, text=True).stdout):
            return program
    return None


def main():
    program = formatter()
    if not program:
        print(f"[skipped] clang-format {VERSION} is missing (Debian package clang-format)")
        return 77
    files = sorted(file for folder in FOLDERS for file in (ROOT / folder).rglob("*.[ch]pp"))
    if "--fix" in sys.argv[1:]:
        subprocess.run([program, "-i", *files], check=True)
        return 0
    ran = subprocess.run([program, "--dry-run", "--Werror", "--ferror-limit=1", *files], capture_output=True, text=True)
    wrong = sorted(set(re.findall(r"^(\S+?):\d+:\d+: error", ran.stderr, re.M)))
    for file in wrong:
        print(f"{pathlib.Path(file).relative_to(ROOT)} is laid out otherwise; tests/structure/format_test.py --fix")
    print(f"{len(files) - len(wrong)} passed, {len(wrong)} failed")
    return 1 if wrong or ran.returncode or not files else 0


if __name__ == "__main__":
    sys.exit(main())
