"""Tables of pages are the program's own: the decoders, and their options as `pardec list decoders` prints them (decoders/README.md); the keys of --columns (results/table.md).

Usage: options_test.py PROGRAM
"""
import json
import re
import subprocess
import sys

from pages import ROOT, cells, help_of
from harness import Checks


def tables(text):
    """The rows of the tables in a text, by the header of their first column."""
    found, header = {}, None
    for line in text.splitlines():
        if not line.startswith("|"):
            header = None
        elif header is None:
            header = cells(line)[0]
            found[header] = [cells(line)]
        elif not re.fullmatch(r"\|[-:| ]+\|", line):
            found[header].append(cells(line))
    return found


def main():
    def said(*flags):
        return subprocess.run([sys.argv[1], "list", "decoders", "--format", *(flags or ["md"])], capture_output=True, text=True, check=True).stdout

    check = Checks()
    page, program = tables((ROOT / "decoders" / "README.md").read_text(encoding="utf-8")), tables(said())
    names = [re.fullmatch(r"\[`([\w-]+)`\]\((?:speculation/([\w-]+)|(\w+)/README)\.md\)", row[0]) for row in page["name"][1:]]
    check(all(names) and all(name[1] == (name[2] or name[3].replace("_", "-")) for name in names), "each name links to its page")
    check(sorted(name[1] for name in names) == sorted(row["name"] for row in json.loads(said("json"))["rows"]), f"decoders: {[name[1] for name in names]}")
    check(len(program["option"]) > 20, f"{len(program['option'])} options")
    for row in program["option"]:
        check(row in page["option"], f"decoders/README.md lacks the row {row}")
    for row in page["option"]:
        check(row in program["option"], f"decoders/README.md has the row {row}, `pardec list decoders` has not")
    check(page["option"] == program["option"], "decoders/README.md has the options as `pardec list decoders` prints them, in its order")
    keys = re.search(r"by their keys in json: (.*?);", " ".join(help_of(sys.argv[1], "compare").split()))[1].split(", ")
    told = [row[0].strip("`") for row in tables((ROOT / "results" / "table.md").read_text(encoding="utf-8"))["key"][1:]]
    check(len(keys) > 40 and told == keys, f"results/table.md explains other columns than --columns takes: {sorted(set(told) ^ set(keys))}")
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
