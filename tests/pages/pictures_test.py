"""The pictures of the decoders' pages are what decoders/draw.py draws now, each page shows its
own, and an SVG has a title and nothing that runs.
"""

import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest
from pages import ROOT

DECODERS = ROOT / "decoders"
MOST = 150_000  # bytes of a picture
PAGES = [page for page in DECODERS.rglob("*.md") if page.parent != DECODERS]
PICTURES = [
    file
    for folder in ("decoders", "experiments", "results")
    for kind in ("*.svg", "*.png")
    for file in (ROOT / folder).rglob(kind)
    if file.name != "loss.svg"
]


def names(files):
    return [str(file.relative_to(ROOT)) for file in files]


def test_the_pictures_are_what_is_drawn_now(program):
    ran = subprocess.run(
        [sys.executable, DECODERS / "draw.py", program("pardec")], capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_there_are_pages_and_pictures():
    assert len(PAGES) == 12
    assert len(PICTURES) >= 12


@pytest.mark.parametrize("page", PAGES, ids=names(PAGES))
def test_a_page_shows_its_picture(page):
    name = "mask.svg" if page.name == "README.md" else f"{page.stem}.svg"
    assert f"]({name})" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("file", PICTURES, ids=names(PICTURES))
def test_a_picture_is_small(file):
    assert file.stat().st_size <= MOST


DRAWINGS = list(DECODERS.rglob("*.svg"))


@pytest.mark.parametrize("file", DRAWINGS, ids=names(DRAWINGS))
def test_a_drawing_has_a_title_and_nothing_that_runs(file):
    text = file.read_text(encoding="utf-8")
    title = ElementTree.fromstring(text).find("{http://www.w3.org/2000/svg}title")
    assert title is not None
    assert title.text
    assert not re.search(r"<script|href=|onload=", text)
