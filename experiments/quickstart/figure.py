"""Takes a figure out of a report (`pardec report`), as an SVG file of its own in the report's light colours.

Usage: figure.py REPORT.html FIGURE.svg [NUMBER]     NUMBER: of the figure, 1 (speedup) where none is given
"""
import pathlib
import re
import sys


def main():
    page = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    figures = re.findall(r"<svg .*?</svg>", page, re.S)
    number = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    if not 1 <= number <= len(figures):
        sys.exit(f"{sys.argv[1]} has {len(figures)} figures, expected one of number {number}; were they drawn (gnuplot)?")
    svg = figures[number - 1]
    colours = dict(re.findall(r"(--[\w-]+): ([^;]+);", re.search(r":root \{(.*?)\}", page, re.S)[1]))
    svg = re.sub(r"var\((--[\w-]+)\)", lambda found: colours[found[1]], svg)
    width, height = re.search(r'viewBox="0 0 (\S+) (\S+)"', svg).groups()
    svg = svg.replace("<svg ", f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" ', 1)
    svg = re.sub(r"(<svg [^>]*>)", rf'\1\n<rect width="100%" height="100%" fill="{colours["--page"]}"/>', svg, count=1)
    svg = svg.replace('font-family="inherit"', 'font-family="sans-serif"')
    svg = re.sub(r"\n\s*\n+", "\n", svg)
    pathlib.Path(sys.argv[2]).write_text(svg + "\n", encoding="utf-8")


main()
