"""The table of options in decoders/README.md is the program's own: names, order and all that `pardec list decoders` says of them.

Usage: options_test.py PROGRAM
"""
import json
import re
import subprocess
import sys

from pages import ROOT, cells
from harness import Checks


def page_tables():
    """The rows of the page's tables, by the header of their first column."""
    tables, header = {}, None
    for line in (ROOT / "decoders" / "README.md").read_text(encoding="utf-8").splitlines():
        if not line.startswith("|"):
            header = None
        elif header is None:
            header = cells(line)[0]
            tables[header] = []
        elif not re.fullmatch(r"\|[-:| ]+\|", line):
            tables[header].append(cells(line))
    return tables


def main():
    check = Checks()
    listed = json.loads(subprocess.run([sys.argv[1], "list", "decoders", "--format", "json"], capture_output=True, text=True, check=True).stdout)["rows"]
    tables = page_tables()
    names = [re.fullmatch(r"\[`([\w-]+)`\]\(pages/([\w-]+)\.md\)", row[0]) for row in tables["name"]]
    check(all(names) and all(name[1] == name[2] for name in names), "each name links to its page")
    check(sorted(name[1] for name in names) == sorted(row["name"] for row in listed), f"decoders: {[name[1] for name in names]}")

    options = {}
    for decoder, option, *_ in tables["decoder"]:
        options.setdefault(decoder.strip("`"), []).extend(re.findall(r"`([\w-]+)`", option))
    for row in listed:
        listed_options = row["options"].split(", ")
        check(sorted(options.get(row["name"], [])) == sorted(listed_options), f"options of {row['name']}: the page has {options.get(row['name'])}, the program {listed_options}")
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
