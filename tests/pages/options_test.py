"""Tables of pages are the program's own: the decoders, and their options as `pardec list
decoders` prints them (decoders/README.md); the keys of --columns (results/table.md).
"""

import json
import re

import pytest
from pages import ROOT, cells, help_of


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


@pytest.fixture(scope="module")
def page():
    """The tables of the decoders' page."""
    return tables((ROOT / "decoders" / "README.md").read_text(encoding="utf-8"))


def test_each_decoder_of_the_program_links_to_its_page(pardec, page):
    names = [
        re.fullmatch(r"\[`([\w-]+)`\]\((?:speculation/([\w-]+)|(\w+)/README)\.md\)", row[0])
        for row in page["name"][1:]
    ]
    assert all(names)
    for name in names:
        assert name[1] == (name[2] or name[3].replace("_", "-"))
    listed = json.loads(pardec.good("list", "decoders", "--format", "json"))["rows"]
    assert sorted(name[1] for name in names) == sorted(row["name"] for row in listed)


def test_the_page_has_the_options_as_the_program_prints_them(pardec, page):
    options = tables(pardec.good("list", "decoders", "--format", "md"))["decoder"]
    assert len(options) > 20
    assert page["decoder"] == options


def test_the_page_of_tables_explains_the_columns_that_the_program_takes(pardec):
    keys = re.search(
        r"by their keys in json: (.*?);", " ".join(help_of(pardec, "compare").split())
    )[1].split(", ")
    told = [
        row[0].strip("`")
        for row in tables((ROOT / "results" / "table.md").read_text(encoding="utf-8"))["key"][1:]
    ]
    assert len(keys) > 40
    assert told == keys
