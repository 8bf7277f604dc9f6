"""The pictures of the decoders' pages are what decoders/draw.py draws now, each page shows its own, and an SVG has a title and nothing that runs.

Usage: pictures_test.py PROGRAM
"""
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

from pages import ROOT
from harness import Checks

DECODERS = ROOT / "decoders"
MOST = 150_000  # bytes of a picture


def main():
    check = Checks()
    ran = subprocess.run([sys.executable, DECODERS / "draw.py", sys.argv[1]], capture_output=True, text=True)
    check(ran.returncode == 0, f"decoders/draw.py: {ran.stdout}{ran.stderr}")
    pages = [page for page in DECODERS.rglob("*.md") if page.parent != DECODERS]
    for page in pages:
        name = "mask.svg" if page.name == "README.md" else f"{page.stem}.svg"
        check(f"]({name})" in page.read_text(encoding="utf-8"), f"{page.relative_to(ROOT)} does not show {name}")
    pictures = [file for folder in ("decoders", "experiments", "results") for kind in ("*.svg", "*.png")
                for file in (ROOT / folder).rglob(kind) if file.name != "loss.svg"]
    for file in pictures:
        check(file.stat().st_size <= MOST, f"{file.relative_to(ROOT)} has {file.stat().st_size} bytes, expected at most {MOST}")
    for file in DECODERS.rglob("*.svg"):
        text = file.read_text(encoding="utf-8")
        title = ElementTree.fromstring(text).find("{http://www.w3.org/2000/svg}title")
        check(title is not None and title.text, f"{file.relative_to(ROOT)} has no title")
        check(not re.search(r"<script|href=|onload=", text), f"{file.relative_to(ROOT)} holds more than a drawing")
    check(len(pages) == 12 and len(pictures) >= 12, f"{len(pages)} pages, {len(pictures)} pictures")
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
