"""A report opens without a network, and says what `pardec compare` says.

A run on the project's samples with a small random network; the page is then opened in headless Chromium.
Usage: page_test.py PROGRAM [FOLDER]     FOLDER: keep pages and screenshots there
"""
import html.parser
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

CONFIG = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_act": "silu", "hidden_size": 64, "intermediate_size": 128,
          "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "max_position_embeddings": 8192}
WIDTHS = (400, 900, 1400)  # of the richer page; of the other the last

# Run in the page: sorts, filters, changes colours, measures; leaves what it saw as JSON in the title.
PROBE = """
<script>
const seen = { errors: window.errors, ready: document.documentElement.dataset.ready };
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
const theme = () => document.documentElement.dataset.theme;
seen.theme = [theme()];
document.getElementById("theme").click();
seen.theme.push(theme());
document.getElementById("theme").click();
seen.theme.push(theme());
const shown = () => [...document.querySelectorAll(".example")].filter(e => !e.hidden).map(e => e.dataset.kind);
seen.all = shown();
const filter = document.querySelector('[data-filter="differing"]');
if (filter) { filter.click(); seen.differing = shown(); document.querySelector('[data-filter="all"]').click(); }
seen.wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
seen.unreachable = [...document.querySelectorAll("th button, a, #theme")].filter(e => e.tabIndex < 0).length;
seen.figures = document.querySelectorAll("figure svg[role=img][aria-label]").length;
seen.resources = performance.getEntriesByType("resource").map(e => e.name).filter(n => !n.startsWith("data:"));
document.body.innerHTML = "";
document.body.append(Object.assign(document.createElement("pre"), { id: "seen", textContent: JSON.stringify(seen) }));
</script>
"""
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
    hidden = [key for key in table["columns"] if key not in shown_keys]  # intervals and differences of single scores
    check(shown_keys == [key for key in table["columns"] if key in shown_keys] and all(key.endswith(("_interval", "_difference")) for key in hidden),
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


def check_opened(check, program, folder, page, name, untouched_kinds, widths):
    text = page.read_text(encoding="utf-8")
    probe = folder / f"{name}-probe.html"
    probe.write_text(text.replace("<head>", "<head>" + LISTENER, 1).replace("</body>", PROBE + "</body>", 1), encoding="utf-8")
    for width in widths:
        ran = chromium(program, folder / "profile", f"--window-size={width},1600", "--dump-dom", probe.as_uri())
        console = [line for line in ran.stderr.splitlines() if "CONSOLE" in line]
        check(not console, f"{name} at {width}: console says {console}")
        found = re.search(r'<pre id="seen">(.*?)</pre>', ran.stdout, re.S)
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
        check(set(seen["all"]) == untouched_kinds, f"{name}: examples {set(seen['all'])}")
        check(set(seen.get("differing", ["differing"])) == {"differing"}, f"{name}: filter {seen.get('differing')}")
        check(seen["wide"] <= 0, f"{name} at {width}: the page scrolls sideways by {seen['wide']}")
        check(seen["unreachable"] == 0, f"{name}: {seen['unreachable']} controls out of the keyboard's reach")
        check(seen["figures"] == text.count("<figure>"), f"{name}: {seen['figures']} figures")
        shot = folder / f"{name}-{width}.png"
        ran = chromium(program, folder / "profile", f"--window-size={width},3600", f"--screenshot={shot}", page.as_uri())
        check(shot.exists() and shot.stat().st_size > 20000, f"{name} at {width}: screenshot")
        console = [line for line in ran.stderr.splitlines() if "CONSOLE" in line]
        check(not console, f"{name} at {width}, untouched: console says {console}")


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
        common = ["run", "--threads", "1", "--model", f"{folder}/model", "--dataset", "oa-mine,ae-110k", "--progress", "none"]
        drawn = shutil.which("gnuplot") is not None
        browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        for name, flags, kinds in (
                ("oracle", ["--decoder", "ar,hpd", "--oracle", "references"], {"identical"}),
                ("free", ["--arm", "ar=ar,batch_size=4", "--arm", "again=ar", "--arm", "hpd=hpd,stack=2", "--limit", "12", "--per-field", "6",
                          "--max-new-tokens", "40"], {"identical", "differing"})):
            db, out = f"{folder}/{name}.sqlite", folder / f"{name}.html"
            pathlib.Path(db).unlink(missing_ok=True)
            ran = pardec(*common, *flags, "--db", db)
            check(ran.returncode == 0, f"{name}: run: {ran.stderr}")
            ran = pardec("report", "--db", db, "-o", str(out))
            check(ran.returncode == 0 and ran.stdout.strip() == str(out), f"{name}: report: {ran.stderr}")
            text = out.read_text(encoding="utf-8")
            page = Page(text)
            check_numbers(check, page, pardec("compare", "--db", db, "--format", "json").stdout, name, "comparison")
            check_numbers(check, page, pardec("compare", "--db", db, "--accounting", "--format", "json").stdout, name, "accounting")
            check_offline(check, page, text, name)
            check("Untrained (" in text and ("Oracle (references)" in text) == (name == "oracle"), f"{name}: marks")
            check(str(pathlib.Path(db)) in text and "--progress none" in text, f"{name}: the command is recorded")
            check((text.count("<figure>") >= 5) == drawn, f"{name}: {text.count('<figure>')} figures")
            check(pardec("report", "--db", db, "-o", f"{out}.2").returncode == 0 and
                  pathlib.Path(f"{out}.2").read_bytes() == out.read_bytes(), f"{name}: made twice, it is the same page")
            if browser:
                check_opened(check, browser, folder, out, name, kinds, WIDTHS if name == "free" else WIDTHS[-1:])

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
        rows = {(row["dataset"].split()[0], row["split"]): row for row in json.loads(ran.stdout)["rows"]}
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
