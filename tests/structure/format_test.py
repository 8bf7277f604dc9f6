"""Every C++ file is as Debian 12's clang-format leaves it, by .clang-format. Other versions lay
out otherwise, and are not asked.

Usage: format_test.py --fix writes the files that differ; without --fix it is a test of pytest
"""

import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("src", "decoders", "datasets", "metrics", "judges", "tests")
VERSION = "14"


def formatter():
    """A clang-format of that version, or None."""
    for name in (f"clang-format-{VERSION}", "clang-format"):
        program = shutil.which(name)
        if program and re.search(
            rf"version {VERSION}\.",
            subprocess.run([program, "--version"], capture_output=True, text=True).stdout,
        ):
            return program
    return None


def files():
    return sorted(file for folder in FOLDERS for file in (ROOT / folder).rglob("*.[ch]pp"))


def test_every_file_is_laid_out_by_clang_format():
    if not formatter():
        pytest.skip(f"clang-format {VERSION} is missing (Debian package clang-format)")
    ran = subprocess.run(
        [formatter(), "--dry-run", "--Werror", "--ferror-limit=1", *files()],
        capture_output=True,
        text=True,
    )
    wrong = sorted(set(re.findall(r"^(\S+?):\d+:\d+: error", ran.stderr, re.M)))
    assert len(files()) > 300
    assert not wrong, "tests/structure/format_test.py --fix"
    assert ran.returncode == 0, ran.stderr


if __name__ == "__main__":
    if sys.argv[1:] != ["--fix"]:
        sys.exit(pytest.main([__file__]))
    if not formatter():
        sys.exit(f"clang-format {VERSION} is missing (Debian package clang-format)")
    subprocess.run([formatter(), "-i", *files()], check=True)
