"""What the tests of pages share: a page's tables and JSON, and Chromium without a network."""

import html
import html.parser
import json
import re
import shutil
import subprocess

import pytest
from harness import FOR_PROGRAMS, ROOT, with_script

WIDTHS = (
    390, 900, 1280, 1500,
)  # of the page of many arms and of open answers; of the others the last
QUICKSTART = ROOT / "experiments" / "quickstart"
GNUPLOT = shutil.which("gnuplot")

# Run in a page: measures what may be cut, hidden or out of reach, in both colours, into `seen`.
BOXES = """
// Boxes: in both colours.
const box = e => e.getBoundingClientRect();
const meets = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
  Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
const fault = (what, ...elements) => {
  const words = elements.map(e => (e.textContent || e.tagName).trim().slice(0, 40));
  if (seen.faults.length < 12) seen.faults.push(what + ": " + words.join(" / "));
};
const apart = (elements, what) => {
  const boxes = elements.map(e => [e, box(e)]).filter(([, b]) => b.width > 0 && b.height > 0);
  for (let i = 0; i < boxes.length; ++i)
    for (let j = 0; j < i; ++j)
      if (meets(boxes[i][1], boxes[j][1])) fault(what, boxes[i][0], boxes[j][0]);
  return boxes.length;
};
const theme = () => document.documentElement.dataset.theme;
seen.theme = [theme()];
seen.measured = [];
for (let colours = 0; colours < 2; ++colours) {
  let count = 0;
  for (const svg of document.querySelectorAll("figure svg")) {
    const texts = [...svg.querySelectorAll("text")].filter(e => e.textContent.trim()),
      marks = [...svg.querySelectorAll("use")];
    count += apart(texts, "labels of a figure meet");
    for (const text of texts) {
      const t = box(text), s = box(svg);
      if (t.left < s.left - 1 || t.right > s.right + 1 || t.top < s.top - 1 ||
          t.bottom > s.bottom + 1)
        fault("a label is cut", text);
      for (const mark of marks) if (meets(t, box(mark))) fault("a mark lies on a label", text);
    }
  }
  const grid = document.querySelector(".figures"),
    figures = [...grid.children].map(e => [e, box(e)]);
  // a row ends where the grid does, and its figures are equally high
  for (const [figure, b] of figures) {
    const row = figures.filter(([, other]) => Math.abs(other.top - b.top) < 1);
    if (Math.abs(Math.max(...row.map(([, other]) => other.right)) - box(grid).right) > 1)
      fault("a hole beside a figure", figure);
    if (row.some(([, other]) => Math.abs(other.bottom - b.bottom) > 1))
      fault("a hole below a figure", figure);
  }
  const in_row = ([, b]) => figures.filter(([, other]) => Math.abs(other.top - b.top) < 1).length;
  seen.columns = Math.max(0, ...figures.map(in_row));
  for (const row of document.querySelectorAll("tr")) count += apart([...row.cells], "cells meet");
  for (const cell of document.querySelectorAll("td, th"))
    if (cell.clientWidth && cell.scrollWidth > cell.clientWidth + 1) fault("a cell is cut", cell);
  count += apart([...document.querySelectorAll(
    "button, select, .badge, .stop, .score, h1, h2, h3, h4, nav a, .highlight")]
    .filter(e => !e.closest("table")), "words meet");
  const scrolls = e => {
    for (; e && e !== document.body; e = e.parentElement)
      if (/auto|scroll/.test(getComputedStyle(e).overflowX)) return true;
    return false;
  };
  for (const e of document.body.querySelectorAll("*"))
    if (!e.classList.contains("out") && box(e).width > 0 &&
        (box(e).right > innerWidth + 1 || box(e).left < -1) && !scrolls(e.parentElement))
      fault("beyond the page", e);
  for (const e of document.querySelectorAll(
      ".raw, .prompt, .tokens, .example, .arm, #chosen, .notes, .warnings, .highlight"))
    if (e.clientWidth && e.scrollWidth > e.clientWidth + 1) fault("wider than its box", e);
  for (const e of document.body.querySelectorAll("*")) {
    const style = getComputedStyle(e);
    if (/auto|scroll/.test(style.overflowX + style.overflowY) && e.clientWidth &&
        (e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 1) &&
        e.tabIndex < 0)
      fault("it scrolls, and no key reaches it", e);
  }
  seen.measured.push(count);
  const ink = getComputedStyle(document.body);
  if (ink.color === ink.backgroundColor) fault("text in the page's colour", document.body);
  document.getElementById("theme").click();
  seen.theme.push(theme());
}
seen.wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
seen.unreachable = [...document.querySelectorAll(
  "th button, a, #theme, select, .filter button, .steps button, #chosen")]
  .filter(e => e.tabIndex < 0).length;
seen.figures = document.querySelectorAll("figure svg[role=img][aria-label]").length;
// The quality of a row is on the screen, however narrow it is; all columns come by a switch.
const columns = [...document.querySelectorAll("#comparison-table thead th")]
  .map(e => e.dataset.key);
const inSight = (row, key) => {
  const cell = row.cells[columns.indexOf(key)], b = cell.getBoundingClientRect();
  return b.width > 0 && b.left >= 0 && b.right <= innerWidth + 1 &&
    cell.scrollWidth <= cell.clientWidth + 1;
};
const rowsOf = [...document.querySelectorAll("#comparison-table tbody tr")];
const short = ["arm", "speedup", "score_difference", "verdict", "score", "tokens_per_forward"];
seen.cut = rowsOf.flatMap(row => short.filter(key => !inSight(row, key)));
const all = document.getElementById("comparison-all");
const widths = () => columns.map((key, c) => rowsOf[0].cells[c].getBoundingClientRect().width);
const visible = () => widths().filter(width => width > 0).length;
if (all) {
  seen.switched = [visible()];
  all.click();
  seen.switched.push(visible());
  all.click();
}
seen.resources = performance.getEntriesByType("resource").map(e => e.name)
  .filter(n => !n.startsWith("data:"));
"""

# A window is not made narrower than some width, a frame is. All frames lie in the window, one on
# another.
FRAME = """<iframe src="{page}"
  style="position: absolute; width: {width}px; height: 1600px; border: 0"></iframe>"""
COLLECTOR = """<pre id="seen"></pre>
<script>const found = []; addEventListener("message", event => {
  found.push(event.data);
  document.getElementById("seen").textContent = "[" + found + "]";
});</script>"""
LISTENER = (
    "<script>window.errors = []; addEventListener('error', e =>"
    " errors.push(String(e.message)));addEventListener('securitypolicyviolation', e =>"
    " errors.push('blocked: ' + e.blockedURI));</script>"
)


class Page(html.parser.HTMLParser):
    """Tables by id (rows of (text, value)), JSON blocks by id, attributes that name something to
    load.
    """

    def __init__(self, text):
        super().__init__()
        self.tables, self.blocks, self.loads, self.keys = {}, {}, [], {}
        self.table = self.block = self.cell = None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.loads += [
            (tag, attributes[a])
            for a in ("src", "srcset", "href", "xlink:href", "action", "data")
            if a in attributes
        ]
        if tag == "table" and "id" in attributes:
            self.table = attributes["id"].removesuffix("-table")
            self.tables[self.table], self.keys[self.table] = [], []
        if self.table and tag == "th" and "data-key" in attributes:
            self.keys[self.table].append(attributes["data-key"])
        if self.table and tag == "tr":
            self.tables[self.table].append([])
        if self.table and tag == "td":
            self.cell = ["", attributes.get("data-value")]
            self.tables[self.table][-1].append(self.cell)
        if tag == "script" and attributes.get("type") == "application/json":
            self.block = attributes["id"].removesuffix("-json")
            self.blocks[self.block] = ""

    def handle_endtag(self, tag):
        if tag == "table":
            self.table = None
        if tag == "td":
            self.cell = None
        if tag == "script":
            self.block = None

    def handle_data(self, text):
        if self.cell:
            self.cell[0] += text
        if self.block:
            self.blocks[self.block] += text


needs_gnuplot = pytest.mark.skipif(not GNUPLOT, reason="gnuplot is missing: no figure was drawn")


def check_numbers(page, compared, block):
    """The page's table is compare's, to the digit: as JSON text, and cell by cell."""
    assert page.blocks[block].replace("\\u003c", "<") == compared.rstrip("\n"), (
        f"the JSON of {block}"
    )
    table = json.loads(compared)
    rows = [row for row in page.tables[block] if row]
    shown_keys = page.keys[block]
    hidden = [key for key in table["columns"] if key not in shown_keys]
    assert shown_keys == [key for key in table["columns"] if key in shown_keys], (
        f"columns of {block}"
    )
    assert all(map(FOR_PROGRAMS.match, hidden))
    assert len(rows) == len(table["rows"]), f"rows of {block}"
    for shown, row in zip(rows, table["rows"]):
        for (text, value), key in zip(shown, shown_keys):
            # repr of what was read back: equal doubles, and the same digits
            same = (
                repr(json.loads(value)) == repr(row[key]) if value is not None else text == row[key]
            )
            assert same, f"{block} {key}: {text!r} {value!r} against {row[key]!r}"


def check_offline(page, text):
    """A page names nothing that it would load."""
    for tag, target in page.loads:
        assert target.startswith(("#", "data:")), f"<{tag}> loads {target}"
    assert not re.search(r"https?://", text), "names an address"
    assert "@import" not in text, "style loads something"
    assert "url(http" not in text


def chromium(program, profile, *arguments):
    """Runs Chromium without a window and without a network."""
    return subprocess.run(
        [
            program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
            "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
            "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND",
            "--proxy-server=127.0.0.1:9", "--enable-logging=stderr", f"--user-data-dir={profile}",
            *arguments,
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )


def seen_by(browser, folder, page, probe, widths=WIDTHS):
    """What a script sees in a page, by the width of its frame: it leaves it as JSON. The page's
    console stays empty.
    """
    file = folder / f"{page.stem}-probe.html"
    text = page.read_text(encoding="utf-8").replace("<head>", "<head>" + LISTENER, 1)
    file.write_text(with_script(text, probe), encoding="utf-8")
    frames = folder / f"{page.stem}-frames.html"
    frames.write_text(
        "<!doctype html>"
        + COLLECTOR
        + "".join(FRAME.format(page=file.name, width=width) for width in widths),
        encoding="utf-8",
    )
    ran = chromium(
        browser, folder / "profile", "--window-size=1700,1600", "--dump-dom", frames.as_uri()
    )
    assert not [line for line in ran.stderr.splitlines() if "CONSOLE" in line]
    found = re.search(r'<pre id="seen">(.+?)</pre>', ran.stdout, re.S)
    assert found, f"the probe did not end: {ran.stderr[-400:]}"
    seen = {one["width"]: one for one in json.loads(html.unescape(found[1]))}
    assert set(seen) == set(widths), f"the probe ended in frames of widths {set(seen)}"
    return seen
