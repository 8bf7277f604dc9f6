"""A report opens without a network, and says what `pardec compare` says.

A run on the project's samples with a small random network; the page is then opened in headless Chromium.
Usage: page_test.py PROGRAM [FOLDER]     FOLDER: keep pages and screenshots there
"""
import contextlib
import html.parser
import json
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from harness import FOR_PROGRAMS, with_script

CONFIG = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_act": "silu", "hidden_size": 64, "intermediate_size": 128,
          "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "max_position_embeddings": 8192}
WIDTHS = (390, 900, 1280, 1500)  # of the page of many arms and of open answers; of the others the last
QUICKSTART = pathlib.Path(__file__).resolve().parents[2] / "experiments" / "quickstart"

# Run in a page: measures what may be cut, hidden or out of reach, in both colours, into `seen`.
BOXES = """
// Boxes: in both colours.
const box = e => e.getBoundingClientRect();
const meets = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
const fault = (what, ...elements) => { if (seen.faults.length < 12) seen.faults.push(what + ": " + elements.map(e => (e.textContent || e.tagName).trim().slice(0, 40)).join(" / ")); };
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
    const texts = [...svg.querySelectorAll("text")].filter(e => e.textContent.trim()), marks = [...svg.querySelectorAll("use")];
    count += apart(texts, "labels of a figure meet");
    for (const text of texts) {
      const t = box(text), s = box(svg);
      if (t.left < s.left - 1 || t.right > s.right + 1 || t.top < s.top - 1 || t.bottom > s.bottom + 1) fault("a label is cut", text);
      for (const mark of marks) if (meets(t, box(mark))) fault("a mark lies on a label", text);
    }
  }
  const grid = document.querySelector(".figures"), figures = [...grid.children].map(e => [e, box(e)]);
  for (const [figure, b] of figures) {  // a row ends where the grid does, and its figures are as high
    const row = figures.filter(([, other]) => Math.abs(other.top - b.top) < 1);
    if (Math.abs(Math.max(...row.map(([, other]) => other.right)) - box(grid).right) > 1) fault("a hole beside a figure", figure);
    if (row.some(([, other]) => Math.abs(other.bottom - b.bottom) > 1)) fault("a hole below a figure", figure);
  }
  seen.columns = Math.max(0, ...figures.map(([, b]) => figures.filter(([, other]) => Math.abs(other.top - b.top) < 1).length));
  for (const row of document.querySelectorAll("tr")) count += apart([...row.cells], "cells meet");
  for (const cell of document.querySelectorAll("td, th"))
    if (cell.clientWidth && cell.scrollWidth > cell.clientWidth + 1) fault("a cell is cut", cell);
  count += apart([...document.querySelectorAll("button, select, .badge, .stop, .score, h1, h2, h3, h4, nav a, .highlight")].filter(e => !e.closest("table")), "words meet");
  const scrolls = e => { for (; e && e !== document.body; e = e.parentElement) if (/auto|scroll/.test(getComputedStyle(e).overflowX)) return true; return false; };
  for (const e of document.body.querySelectorAll("*"))
    if (!e.classList.contains("out") && box(e).width > 0 && (box(e).right > innerWidth + 1 || box(e).left < -1) && !scrolls(e.parentElement)) fault("beyond the page", e);
  for (const e of document.querySelectorAll(".raw, .prompt, .tokens, .example, .arm, #chosen, .notes, .warnings, .highlight"))
    if (e.clientWidth && e.scrollWidth > e.clientWidth + 1) fault("wider than its box", e);
  for (const e of document.body.querySelectorAll("*")) {
    const style = getComputedStyle(e);
    if (/auto|scroll/.test(style.overflowX + style.overflowY) && e.clientWidth && (e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 1) && e.tabIndex < 0)
      fault("it scrolls, and no key reaches it", e);
  }
  seen.measured.push(count);
  const ink = getComputedStyle(document.body);
  if (ink.color === ink.backgroundColor) fault("text in the page's colour", document.body);
  document.getElementById("theme").click();
  seen.theme.push(theme());
}
seen.wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
seen.unreachable = [...document.querySelectorAll("th button, a, #theme, select, .filter button, .steps button, #chosen")].filter(e => e.tabIndex < 0).length;
seen.figures = document.querySelectorAll("figure svg[role=img][aria-label]").length;
// The quality of a row is on the screen, however narrow it is; all columns come by a switch.
const columns = [...document.querySelectorAll("#comparison-table thead th")].map(e => e.dataset.key);
const inSight = (row, key) => {
  const cell = row.cells[columns.indexOf(key)], b = cell.getBoundingClientRect();
  return b.width > 0 && b.left >= 0 && b.right <= innerWidth + 1 && cell.scrollWidth <= cell.clientWidth + 1;
};
const rowsOf = [...document.querySelectorAll("#comparison-table tbody tr")];
seen.cut = rowsOf.flatMap(row => ["arm", "speedup", "score_difference", "verdict", "score", "tokens_per_forward"].filter(key => !inSight(row, key)));
const all = document.getElementById("comparison-all"), visible = () => columns.filter((key, c) => rowsOf[0].cells[c].getBoundingClientRect().width > 0).length;
if (all) {
  seen.switched = [visible()];
  all.click();
  seen.switched.push(visible());
  all.click();
}
seen.resources = performance.getEntriesByType("resource").map(e => e.name).filter(n => !n.startsWith("data:"));
"""

# Run in the page: sorts, chooses, filters, changes colours, measures; leaves what it saw as JSON.
PROBE = """
<script>
const seen = { errors: window.errors, ready: document.documentElement.dataset.ready, width: innerWidth, faults: [] };
const table = document.getElementById("comparison-table");
const head = table.querySelector('[data-key="examples_per_second"]');
const column = [...head.parentNode.cells].indexOf(head);
const values = () => [...table.tBodies[0].rows].map(row => JSON.parse(row.cells[column].dataset.value));
const arms = table.querySelector('[data-key="arm"]');
seen.before = values();
head.querySelector("button").click();
seen.down = [head.getAttribute("aria-sort"), values()];
head.querySelector("button").click();
seen.up = [head.getAttribute("aria-sort"), values()];
arms.querySelector("button").click();
seen.arms = [arms.getAttribute("aria-sort"), head.getAttribute("aria-sort"), [...table.tBodies[0].rows].map(row => row.cells[1].textContent)];

// The browser of examples.
const list = document.getElementById("chosen"), options = [...list.children].map(e => [e, e.id.replace("choice", "example")]);
const key = id => document.getElementById(id).querySelector(".key").textContent;
const listed = () => options.filter(([e]) => !e.hidden).map(([, id]) => key(id));
const shown = () => [...document.querySelectorAll(".example")].filter(e => e.getClientRects().length).map(e => key(e.id));
seen.all = [listed(), shown()];
list.focus();
seen.focused = [document.activeElement === list, getComputedStyle(list).outlineStyle !== "none" && parseFloat(getComputedStyle(list).outlineWidth) > 0];
seen.keys = ["ArrowDown", "ArrowRight", "ArrowUp", "End", "Home"].map(name => {
  list.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true }));
  const chosen = list.querySelector('[aria-selected="true"]');
  return [name, shown(), chosen.id === list.getAttribute("aria-activedescendant")];
});
// From elsewhere: [what, key, it was taken, the place in the list that is shown].
const press = (what, element, name, scrolled) => {
  list.dispatchEvent(new KeyboardEvent("keydown", { key: "Home", bubbles: true, cancelable: true }));
  window.scrollTo({ top: scrolled ? document.getElementById("browser").offsetTop : 0, behavior: "instant" });
  const kept = element.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true }));
  return [what, name, !kept, seen.all[0].indexOf(shown()[0])];
};
const inside = document.querySelector(".example:not(.away)"), small = document.createElement("div");
small.style.cssText = "width: 40px; height: 20px; overflow: auto; white-space: pre";
small.textContent = "a box that scrolls\\nboth\\nways\\nand more";
inside.append(small);
seen.elsewhere = [press("a button", document.getElementById("next"), "ArrowDown"), press("a button", document.getElementById("next"), "ArrowLeft"),
  press("a heading", inside.querySelector(".key"), "ArrowRight"), press("a heading", inside.querySelector(".key"), "PageDown"),
  press("nothing, in sight", document.body, "ArrowRight", true), press("nothing, in sight", document.body, "ArrowDown", true),
  press("nothing, out of sight", document.body, "ArrowRight"), press("a field", document.getElementById("of-arm"), "ArrowDown"),
  press("a field", document.getElementById("pass"), "ArrowRight"), press("a box", small, "ArrowRight"), press("a box", small, "ArrowDown")];
small.remove();
list.dispatchEvent(new KeyboardEvent("keydown", { key: "Home", bubbles: true, cancelable: true }));
seen.filters = {};
for (const button of document.querySelectorAll("[data-filter]")) {
  if (button.disabled) continue;
  button.click();
  seen.filters[button.dataset.filter] = [button.getAttribute("aria-pressed"), listed(), shown()];
}
const arm = document.getElementById("of-arm");
document.querySelector('[data-filter="limit"]').click();
seen.of = {};
for (const option of arm.options) {
  arm.value = option.value;
  arm.dispatchEvent(new Event("change"));
  seen.of[option.value] = listed();
}
arm.value = "";
document.querySelector('[data-filter="all"]').click();
list.dispatchEvent(new KeyboardEvent("keydown", { key: "Home" }));
document.getElementById("show-tokens").click();
seen.tokens = [...document.querySelectorAll(".example:not(.away) .arm")].map(e => [e.dataset.arm, [...e.querySelectorAll(".tokens:not([hidden]) p")].map(p =>
  [...p.querySelectorAll("span:not(.rejected)")].map(token => [token.firstChild ? token.firstChild.data : "", token.querySelector("sub") && Number(token.querySelector("sub").textContent)]))]);
const range = document.getElementById("pass");
const at = value => {
  range.value = value;
  range.dispatchEvent(new Event("input"));
  return [...document.querySelectorAll(".example:not(.away) .arm")].map(e => [e.dataset.arm, e.querySelectorAll(".later").length,
    (e.querySelector(".progress") || e).textContent, e.querySelectorAll(".rejected:not([hidden])").length]);
};
seen.scrubbed = range.closest("[hidden]") ? [] : [Number(range.max), at(1), at(range.max)];

""" + BOXES + """
parent.postMessage(JSON.stringify(seen), "*");
</script>
"""
# A window is not made narrower than some width, a frame is.
FRAME = """<!doctype html><iframe src="{page}" style="width: {width}px; height: 1600px; border: 0"></iframe><pre id="seen"></pre>
<script>addEventListener("message", event => {{ document.getElementById("seen").textContent = event.data; }});</script>"""
LISTENER = "<script>window.errors = []; addEventListener('error', e => errors.push(String(e.message)));" \
           "addEventListener('securitypolicyviolation', e => errors.push('blocked: ' + e.blockedURI));</script>"


class Page(html.parser.HTMLParser):
    """Tables by id (rows of (text, value)), JSON blocks by id, attributes that name something to load."""

    def __init__(self, text):
        super().__init__()
        self.tables, self.blocks, self.loads, self.keys = {}, {}, [], {}
        self.table = self.block = self.cell = None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.loads += [(tag, attributes[a]) for a in ("src", "srcset", "href", "xlink:href", "action", "data") if a in attributes]
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


class Checks:
    def __init__(self):
        self.passed = self.failed = 0

    def __call__(self, good, what):
        self.passed, self.failed = self.passed + bool(good), self.failed + (not good)
        if not good:
            print("FAILED:", what)


def check_numbers(check, page, compared, name, block):
    """The page's table is compare's, to the digit: as JSON text, and cell by cell."""
    check(page.blocks[block].replace("\\u003c", "<") == compared.rstrip("\n"), f"{name}: the JSON of {block} is compare's")
    table = json.loads(compared)
    rows = [row for row in page.tables[block] if row]
    shown_keys = page.keys[block]
    hidden = [key for key in table["columns"] if key not in shown_keys]
    check(shown_keys == [key for key in table["columns"] if key in shown_keys] and all(map(FOR_PROGRAMS.match, hidden)),
          f"{name}: columns of {block}")
    check(len(rows) == len(table["rows"]), f"{name}: rows of {block}")
    for shown, row in zip(rows, table["rows"]):
        for (text, value), key in zip(shown, shown_keys):
            # repr of what was read back: equal doubles, and the same digits
            same = repr(json.loads(value)) == repr(row[key]) if value is not None else text == row[key]
            check(same, f"{name}: {block} {key}: {text!r} {value!r} against {row[key]!r}")


def check_offline(check, page, text, name):
    for tag, target in page.loads:
        check(target.startswith(("#", "data:")), f"{name}: <{tag}> loads {target}")
    check(not re.search(r"https?://", text), f"{name}: names an address")
    check("@import" not in text and "url(http" not in text, f"{name}: style loads something")


def chromium(program, profile, *arguments):
    return subprocess.run([program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage",
                           "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
                           "--host-resolver-rules=MAP * ~NOTFOUND", "--proxy-server=127.0.0.1:9", "--enable-logging=stderr",
                           f"--user-data-dir={profile}", *arguments], capture_output=True, text=True, timeout=120)


def stored(db):
    """Of each kind of the filters the examples that have it, by arm, straight from the database; and what was asked."""
    with contextlib.closing(sqlite3.connect(db)) as connection:
        kinds = {kind: {} for kind in ("differs", "failed", "limit", "wrong")}
        rows = connection.execute("SELECT generation.id, sample.key, run.label, generation.error, identical, generation.stop, generation.fields FROM generation "
                                  "JOIN run ON run.id = run_id JOIN sample ON sample.id = sample_id WHERE generation.repeat = 0").fetchall()
        for generation, key, label, error, identical, stop, fields in rows:
            wrong = connection.execute("SELECT count(*) FROM score WHERE generation_id = ? AND metric = 'value_correct' AND value = 0 "
                                       "AND json_extract(details, '$.annotated')", (generation,)).fetchone()[0]
            stops = {stop, *(field["stop"] for field in json.loads(fields))}
            for kind, has in (("differs", error is None and identical == 0), ("failed", error is not None),
                              ("limit", error is None and bool(stops & {"limit", "context"})), ("wrong", error is None and wrong > 0)):
                if has:
                    kinds[kind].setdefault(label, set()).add(key)
        samples = connection.execute("SELECT text, fields FROM sample").fetchall()
    asked = [text for text, _ in samples if text] + [field["question"] for _, fields in samples for field in json.loads(fields) if "question" in field]
    return kinds, asked


def slow_front(points):
    """Names of the points that no other beats."""
    return {name for name, (x, y) in points.items() if not any(a >= x and b >= y and (a, b) != (x, y) for a, b in points.values())}


def check_front(check, text, table, name):
    rows = {row["arm"]: row for row in table["rows"]}
    captions = re.findall(r"<figcaption>[^<]*Pareto front in both: ([^.]*)\. Bars", text)
    check(len(captions) == 1, f"{name}: {len(captions)} Pareto fronts")
    points = {arm: (row["speedup"], row["f1_micro"]) for arm, row in rows.items() if row["speedup"] is not None}
    check(captions and set(captions[0].split(", ")) == slow_front(points), f"{name}: the front is {captions}, expected {slow_front(points)} of {points}")


def check_headline(check, text, table, name):
    """What stands largest is the table's, of the fastest arm whose interval lies above 1 and whose answers are shown to be as good; what to take is said at the head, in words."""
    found = re.findall(r'<div class="label">\S+ (\S+) against \S+</div>\n<div class="value">(\S+)×', text)
    good = [row for row in table["rows"] if (row["speedup_interval"] or [0])[0] > 1 and row["verdict"] in ("same answers", "not worse")]
    best = max(good, key=lambda row: row["speedup"], default=None)
    check(found == ([(best["arm"], f"{best['speedup']:.2f}")] if best else []), f"{name}: headlines {found}, expected {best and best['arm']}")
    head = text.split("<main>")[0]
    check((f"take {best['arm']}: " if best else "stay with ar: no arm is shown faster") in head, f"{name}: the recommendation")
    for row in table["rows"]:
        if row["verdict"] == "open" and (row["speedup_interval"] or [0, 2])[1] >= 1:
            check(re.search(rf"Not decided: [^<]*{re.escape(row['arm'])} \(|more\.", head), f"{name}: {row['arm']} is not named as open")


def check_unscripted(check, text, db, name):
    """Without scripts the page is a list of all examples, with every prompt, question and answer in full."""
    plain = html.unescape(re.sub(r"<[^>]*>", "", re.sub(r"<(script|style).*?</\1>", "", text, flags=re.S)))
    for asked in stored(db)[1]:
        check(asked in plain, f"{name}: {asked[:60]!r} is not in the page in full")
    with contextlib.closing(sqlite3.connect(db)) as connection:
        for (answer,) in connection.execute("SELECT text FROM generation WHERE repeat = 0 AND error IS NULL"):
            check(re.sub("[\x00-\x08\x0b-\x1f\x7f]", "\ufffd", answer) in plain, f"{name}: {answer[:60]!r} is not in the page in full")
    check(not re.search(r'<article[^>]*(hidden|away)', text), f"{name}: an example is hidden without scripts")
    for controls in ("filter", "chooser"):
        check(re.search(rf'<div class="{controls}"[^>]* hidden>', text), f"{name}: controls that need scripts are there without: {controls}")


def check_browser(check, seen, db, name):
    kinds = stored(db)[0]
    everything, first = seen["all"]
    check(len(everything) == len(set(everything)) > 1 and first == everything[:1], f"{name}: {first} shown of {everything}")
    check(seen["focused"] == [True, True], f"{name}: focus {seen['focused']}")
    expected = [1, 2, 1, -1, 0]
    for (key, shown, marked), at in zip(seen["keys"], expected):
        check(shown == [everything[min(at, len(everything) - 1)]] and marked, f"{name}: {key} shows {shown}")
    taken = [("a button", "ArrowDown", True, 1), ("a button", "ArrowLeft", True, 0), ("a heading", "ArrowRight", True, 1), ("a heading", "PageDown", False, 0),
             ("nothing, in sight", "ArrowRight", True, 1), ("nothing, in sight", "ArrowDown", False, 0), ("nothing, out of sight", "ArrowRight", False, 0),
             ("a field", "ArrowDown", False, 0), ("a field", "ArrowRight", False, 0), ("a box", "ArrowRight", False, 0), ("a box", "ArrowDown", False, 0)]
    for found, wanted in zip(seen["elsewhere"], taken, strict=True):
        check(tuple(found) == wanted, f"{name}: a key elsewhere: {found}, expected {wanted}")
    for kind, of_arms in kinds.items():
        some = set().union(*of_arms.values()) if of_arms else set()
        check((kind in seen["filters"]) == bool(some), f"{name}: filter {kind} can be chosen: {kind in seen['filters']}, {some}")
        if some:
            pressed, listed, shown = seen["filters"][kind]
            check(pressed == "true" and set(listed) == some and shown == listed[:1] or shown[0] in listed, f"{name}: filter {kind}: {listed}, expected {some}")
            check(set(listed) == some, f"{name}: filter {kind}: {listed}, expected {some}")
    for arm, listed in seen["of"].items():
        limit = kinds["limit"].get(arm, set()) if arm else set().union(*kinds["limit"].values()) if kinds["limit"] else set()
        if kinds["limit"]:
            check(set(listed) == limit, f"{name}: limit of {arm or 'any'}: {listed}, expected {limit}")


def check_passes(check, seen, db, name):
    """The tokens of the first example's baseline came one a pass; those of all arms are as many as stored."""
    with contextlib.closing(sqlite3.connect(db)) as connection:
        tokens = {label: json.loads(tokens) for label, tokens in connection.execute(
            "SELECT run.label, generation.tokens FROM generation JOIN run ON run.id = run_id JOIN sample ON sample.id = sample_id "
            "WHERE sample.key = ? AND generation.repeat = 0 AND generation.error IS NULL", (seen["all"][1][0],))}
    written = dict(seen["tokens"])
    check(set(written) >= set(tokens), f"{name}: tokens of {set(written)}, expected {set(tokens)}")
    for label, ids in tokens.items():
        check(sum(len(line) for line in written[label]) == len(ids), f"{name}: {label} shows {written[label]}, stored {ids}")
    passes = [token[1] for line in written["ar"] for token in line]
    check(passes == list(range(1, len(tokens["ar"]) + 1)), f"{name}: passes of ar: {passes}")
    last, first, whole = seen["scrubbed"]
    known = {label: [token[1] for line in lines for token in line if token[1]] for label, lines in written.items()}
    check(last == max(max(passes, default=0) for passes in known.values()), f"{name}: {last} passes to go through")
    for (label, later, said, _), (_, held, all_, struck) in zip(first, whole, strict=True):
        count = len(known[label])
        behind = sum(p > 1 for p in known[label])
        check(later == behind and (not count or said.startswith(f"{count - behind} of {count} tokens")), f"{name}: {label} at pass 1: {later} held back, {said}")
        check(held == 0 and struck == 0 and (not count or all_.startswith(f"{count} of {count} tokens")), f"{name}: {label} at the end: {held}, {struck}, {all_}")


def check_departures(check, pardec, folder):
    """An example that is answered twice departs from the baseline once, with the number of its answers that do."""
    db, out = f"{folder}/twice.sqlite", folder / "twice.html"
    pathlib.Path(db).unlink(missing_ok=True)
    ran = pardec("run", "--model", str(QUICKSTART / "model"), "--arm", "ar=ar", "--arm", "hpd=hpd,stack=2", "--dataset", "oa-mine", "--limit", "6", "--runs", "2", "--threads", "1",
                 "--progress", "none", "--db", db)
    check(ran.returncode == 0, f"twice: run: {ran.stderr}")
    pardec("report", "--db", db, "-o", str(out)).check_returncode()
    table = json.loads(Page(out.read_text(encoding="utf-8")).blocks["differences"])
    with contextlib.closing(sqlite3.connect(db)) as connection:
        departed = dict(connection.execute("SELECT sample.key, count(*) FROM generation JOIN sample ON sample.id = sample_id WHERE identical = 0 GROUP BY 1"))
    check(departed and {row["sample"]: row["repeats"] for row in table["rows"]} == departed and len(table["rows"]) == len(departed),
          f"twice: {[(row['sample'], row.get('repeats')) for row in table['rows']]} depart, stored {departed}")
    check(table["notes"][0].startswith(f"{sum(departed.values())} answers to {len(departed)} examples"), f"twice: {table['notes']}")


def check_broken(check, pardec, folder):
    """An arm most of whose answers are none is on no Pareto front, and none is drawn beside a baseline like that."""
    for name, arms, fronts in (("cut", ["ar=ar", "hpd=hpd,stack=2", "cut=hpd,stack=2"], 1), ("all-cut", ["ar=ar", "hpd=hpd,stack=2"], 0)):
        db, out = f"{folder}/{name}.sqlite", folder / f"{name}.html"
        pathlib.Path(db).unlink(missing_ok=True)
        arms = [word for arm in arms for word in ("--arm", arm)]
        pardec("run", "--model", str(QUICKSTART / "model"), *arms, "--dataset", "oa-mine", "--limit", "6", "--threads", "1", "--progress", "none",
               *(["--max-new-tokens", "8"] if name == "all-cut" else []), "--db", db).check_returncode()
        if name == "cut":
            with contextlib.closing(sqlite3.connect(db)) as connection, connection:
                connection.execute("UPDATE generation SET error = 'made to fail' WHERE run_id = (SELECT id FROM run WHERE label = 'cut')")
        pardec("report", "--db", db, "-o", str(out)).check_returncode()
        captions = re.findall(r"<figcaption>[^<]*Pareto front in both: ([^.]*)\. Bars", out.read_text(encoding="utf-8"))
        check(len(captions) == fronts, f"{name}: {captions}")
        check(not captions or ("cut" not in captions[0].split("; broken: ")[0].split(", ") and captions[0].endswith("; broken: cut")), f"{name}: {captions}")


def check_opened(check, program, folder, page, name, db, widths, keep):
    text = page.read_text(encoding="utf-8")
    probe = folder / f"{name}-probe.html"
    probe.write_text(with_script(text.replace("<head>", "<head>" + LISTENER, 1), PROBE), encoding="utf-8")
    for width in widths:
        frame = folder / f"{name}-{width}.html"
        frame.write_text(FRAME.format(page=probe.name, width=width), encoding="utf-8")
        ran = chromium(program, folder / "profile", "--window-size=1700,1600", "--dump-dom", frame.as_uri())
        console = [line for line in ran.stderr.splitlines() if "CONSOLE" in line]
        check(not console, f"{name} at {width}: console says {console}")
        found = re.search(r'<pre id="seen">(.+?)</pre>', ran.stdout, re.S)
        if not found:
            check(False, f"{name} at {width}: the probe did not end: {ran.stderr[-400:]}")
            continue
        seen = json.loads(html.unescape(found.group(1)))
        check(seen["errors"] == [] and seen["ready"] == "yes", f"{name} at {width}: errors {seen['errors']}")
        check(seen["resources"] == [], f"{name} at {width}: loaded {seen['resources']}")
        check(seen["down"] == ["descending", sorted(seen["before"], reverse=True)], f"{name}: sorted down {seen['down']}")
        check(seen["up"] == ["ascending", sorted(seen["before"])], f"{name}: sorted up {seen['up']}")
        check(seen["arms"] == ["ascending", "none", sorted(seen["arms"][2])], f"{name}: sorted by arm {seen['arms']}")
        check(seen["theme"][0] == seen["theme"][2] != seen["theme"][1], f"{name}: colours {seen['theme']}")
        check(seen["width"] == width, f"{name}: opened at {seen['width']}, expected {width}")
        check_browser(check, seen, db, f"{name} at {width}")
        check_passes(check, seen, db, f"{name} at {width}")
        check(seen["faults"] == [] and min(seen["measured"]) > 100, f"{name} at {width}: {seen['faults']}, {seen['measured']} boxes")
        check(seen["wide"] <= 0, f"{name} at {width}: the page scrolls sideways by {seen['wide']}")
        check(seen["cut"] == [] and seen["switched"][0] <= 7 < seen["switched"][1], f"{name} at {width}: out of sight {seen['cut']}, columns {seen['switched']}")
        check(seen["unreachable"] == 0, f"{name}: {seen['unreachable']} controls out of the keyboard's reach")
        check(seen["figures"] == text.count("<figure>"), f"{name}: {seen['figures']} figures")
        check(not seen["figures"] or seen["columns"] == (1 if width < 1112 else 2), f"{name} at {width}: {seen['columns']} figures in a row")
        for scheme, flag in (("light", 1), ("dark", 0)) if keep else ():
            chromium(program, folder / "profile", f"--window-size={width},3600", f"--blink-settings=preferredColorScheme={flag}",
                     f"--screenshot={folder / f'{name}-{width}-{scheme}.png'}", page.as_uri())
    foreign = folder / f"{name}-foreign.html"
    foreign.write_text(text.replace("</h1>", '</h1><img src=x onerror="document.title = 1"><script>document.title = "another script ran";</script>', 1), encoding="utf-8")
    title = re.search("<title>.*?</title>", text)[0]
    check(title in chromium(program, folder / "profile", "--dump-dom", foreign.as_uri()).stdout, f"{name}: a script that got into the page is run")
    shot = folder / f"{name}.png"
    ran = chromium(program, folder / "profile", f"--window-size={widths[-1]},3600", f"--screenshot={shot}", page.as_uri())
    check(shot.exists() and shot.stat().st_size > 20000, f"{name}: screenshot")
    console = [line for line in ran.stderr.splitlines() if "CONSOLE" in line]
    check(not console, f"{name}, untouched: console says {console}")


def main():
    program = sys.argv[1]
    check = Checks()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else temporary).resolve()
        folder.mkdir(parents=True, exist_ok=True)

        def pardec(*arguments, path=None):
            environment = None if path is None else {"PATH": path}
            return subprocess.run([program, *arguments], capture_output=True, text=True, env=environment)

        (folder / "config.json").write_text(json.dumps(CONFIG))
        pardec("model", "synth", f"{folder}/model", "--config", f"{folder}/config.json").check_returncode()
        drawn = shutil.which("gnuplot") is not None
        browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        tiny = ["--model", f"{folder}/model"]
        eight = ["--arm", "ar=ar,batch_size=4", "--arm", "again=ar,batch_size=4", "--arm", "lookup=prompt-lookup,batch_size=4"]
        for option in ("stack=2", "stack=2,k_max=8", "stack=2,k_max=4", "stack=1", "stack=2,isolated=values"):
            eight += ["--arm", f"hpd-{re.sub('[^a-z0-9]', '', option)}=hpd,batch_size=2,{option}"]
        for name, flags, widths in (
                ("oracle", [*tiny, "--dataset", "oa-mine,ae-110k", "--decoder", "ar,hpd", "--oracle", "references"], ()),
                ("sweep", ["--model", str(QUICKSTART / "model"), "--dataset", "oa-mine", *eight, "--limit", "8", "--block", "1"], WIDTHS),
                ("open", [*tiny, "--dataset", "mt-bench", "--decoder", "ar,prompt-lookup,lookahead", "--max-new-tokens", "40"], WIDTHS)):
            db, out = f"{folder}/{name}.sqlite", folder / f"{name}.html"
            pathlib.Path(db).unlink(missing_ok=True)
            ran = pardec("run", "--threads", "1", "--progress", "none", *flags, "--db", db)
            check(ran.returncode == 0, f"{name}: run: {ran.stderr}")
            if name == "sweep":  # one answer that failed
                with contextlib.closing(sqlite3.connect(db)) as connection, connection:
                    connection.execute("UPDATE generation SET error = 'made to <fail>' WHERE id = (SELECT max(id) FROM generation)")
            ran = pardec("report", "--db", db, "-o", str(out), *(["--examples", "100"] if name == "oracle" else []))
            check(ran.returncode == 0 and ran.stdout.strip() == str(out), f"{name}: report: {ran.stderr}")
            text = out.read_text(encoding="utf-8")
            page = Page(text)
            compared = pardec("compare", "--db", db, "--format", "json").stdout
            check_numbers(check, page, compared, name, "comparison")
            check_numbers(check, page, pardec("compare", "--db", db, "--accounting", "--format", "json").stdout, name, "accounting")
            codes = list(dict.fromkeys(warning["code"].replace("_", " ") for warning in json.loads(compared)["warnings"]))
            warned = re.findall(r'<li id="warning-\d+"><strong>([^<]*)', text)
            check(warned == codes and "broken" not in codes[1:], f"{name}: warned of {warned}, compare of {codes}")
            check_offline(check, page, text, name)
            check_unscripted(check, text, db, name)
            check(("Untrained (" in text) == (name != "sweep") and ("Oracle, references: " in text) == (name == "oracle"), f"{name}: marks")
            check(str(pathlib.Path(db)) in text and "--progress none" in text, f"{name}: the command is recorded")
            check((text.count("<figure>") >= 4) == drawn, f"{name}: {text.count('<figure>')} figures")
            check(re.search(r'<p class="subtitle">.* n \d+(?: to \d+)?, 1 thread, 1 repeat', text), f"{name}: the title says how much was measured")
            if name == "sweep":
                check_headline(check, text, json.loads(compared), name)
                check("made to &lt;fail&gt;" in text, f"{name}: the error of the one that failed")
                if drawn:
                    check_front(check, text, json.loads(compared), name)
            if name == "open":
                check('class="right"' not in text and 'class="wrong"' not in text, f"{name}: marks of right and wrong on open answers")
            if name == "oracle":
                check(pardec("report", "--db", db, "-o", f"{out}.2", "--examples", "100").returncode == 0 and
                      pathlib.Path(f"{out}.2").read_bytes() == out.read_bytes(), f"{name}: made twice, it is the same page")
                few = folder / "few.html"
                pardec("report", "--db", db, "-o", str(few), "--examples", "3").check_returncode()
                few = few.read_text(encoding="utf-8")
                check(few.count("<article") == 6 and "--examples 38 shows all" in few and text.count("<article") == 74, f"{name}: {few.count('<article')} examples")
                small = folder / "small.html"
                pardec("report", "--db", db, "-o", str(small), "--examples", "100", "--examples-mb", "0.1").check_returncode()
                small = small.read_text(encoding="utf-8")
                check(1 < small.count("<article") < 74 and "--examples-mb" in small, f"{name}: {small.count('<article')} examples in 0.1 MB")
            if browser and widths:
                check_opened(check, browser, folder, out, name, db, widths, keep=len(sys.argv) > 2)

        check_departures(check, pardec, folder)
        if drawn:
            check_broken(check, pardec, folder)
        # Without gnuplot the page comes with its tables, and says so; a plot says what to install.
        db = f"{folder}/oracle.sqlite"
        ran = pardec("report", "--db", db, "-o", f"{folder}/plain.html", path="/nonexistent")
        plain = pathlib.Path(f"{folder}/plain.html").read_text(encoding="utf-8")
        check(ran.returncode == 0 and "gnuplot-nox" in plain and "<figure>" not in plain and "comparison-table" in plain, f"no gnuplot: {ran.stderr}")
        ran = pardec("plot", "--db", db, "--x", "hpd.k_max", "-o", f"{folder}/no.svg", path="/nonexistent")
        check(ran.returncode == 2 and "apt-get install gnuplot-nox" in ran.stderr and not pathlib.Path(f"{folder}/no.svg").exists(),
              f"plot without gnuplot: {ran.stderr}")
        for flags, said in ((["--x", "hpd.k_maz"], "hpd.k_max"), (["--y", "spedup"], "speedup"), (["-o", "x.jpg"], ".svg, .pdf or .png"),
                            (["--run", "nothing"], "no run")):
            ran = pardec("plot", "--db", db, *flags)
            check(ran.returncode == 2 and said in ran.stderr and ran.stderr.count("\n") == 1, f"plot {flags}: {ran.stderr}")
        if drawn:
            for x, y, ending in (("hpd.k_max", "speedup", "svg"), ("hpd.stack", "examples_per_second", "png"), ("batch_size", "speedup", "pdf")):
                out = pathlib.Path(f"{folder}/{x}.{ending}")
                ran = pardec("plot", "--db", db, "--x", x, "--y", y, "-o", str(out))
                check(ran.returncode == 0 and out.stat().st_size > 2000, f"plot {x} {y}: {ran.stderr}")
        ran = pardec("data", "stats", "--format", "json")
        rows = {(row["dataset"], row["split"]): row for row in json.loads(ran.stdout)["rows"]}
        check(rows["oa-mine", "test"]["examples_published"] == 491 and rows["ae-110k", "train"]["attributes_per_category_published"] == 10.1 and
              rows["oa-mine", "test"]["examples"] == 38, f"data stats: {ran.stdout}")
    print(f"{check.passed} passed, {check.failed} failed")
    if not browser:
        print("[skipped] chromium is missing: the page was not opened")
    if not drawn:
        print("[skipped] gnuplot is missing: no figure was drawn")
    return 1 if check.failed or not check.passed else 0


if __name__ == "__main__":
    sys.exit(main())
