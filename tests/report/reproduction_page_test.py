"""The page of `reproduce --report`, and the report of a run that `reproduce` made: verdicts first, the numbers of `--format json` to the digit.

Usage: reproduction_page_test.py PROGRAM [FOLDER]     FOLDER: keep pages and screenshots there
"""
import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from page_test import BOXES, FRAME, LISTENER, QUICKSTART, WIDTHS, Checks, Page, check_numbers, check_offline, chromium, with_script

ROOT = pathlib.Path(__file__).resolve().parents[2]
HOSTILE = "<img src=x onerror=\"parent.postMessage('hacked', '*')\"></script><b>'\"&"
PROBE = """
<script>
const seen = { errors: window.errors, ready: document.documentElement.dataset.ready, width: innerWidth, faults: [] };
const rows = id => [...document.getElementById(id + "-table").tBodies[0].rows];
seen.first = document.querySelector("main h2").id;
seen.filters = [...document.querySelectorAll("[data-rows-of] button")].map(button => {
  button.click();
  return [button.value, rows("verdicts").filter(row => row.getClientRects().length).map(row => row.cells[0].textContent)];
});
document.querySelector("[data-rows-of] button").click();
const head = document.querySelector('#published-hpd-table3-table [data-key="measured"]');
head.querySelector("button").click();
seen.sorted = rows("published-hpd-table3").map(row => row.cells[3].textContent);
""" + BOXES + """
parent.postMessage(JSON.stringify(seen), "*");
</script>
"""


def share_with(folder):
    """The project's files with claims of each verdict, one of them hostile."""
    share = folder / "share"
    for entry in ("datasets", "experiments", "judges"):
        shutil.copytree(ROOT / entry, share / entry, ignore=shutil.ignore_patterns("*.cpp", "*.hpp", "smollm2", "model", "draft"))
    file = share / "experiments" / "papers" / "hpd" / "table3.json"
    item = json.loads(file.read_text())
    def claim(name, of, over, **test):
        return {"id": name, "says": f"of {name}: {HOSTILE}", "scales": ["small"], "expect": "confirmed", "published": HOSTILE,
                "test": {"kind": "ratio", "metric": "tokens_per_forward", "of": of, "over": over, "op": ">", "than": 1, **test}}
    item["claims"] = [claim("C", "hpd", "ar"), claim("W" + HOSTILE, "ar", "hpd"), claim("O", "hpd", "ar", metric="speed"), claim("N", "hpd", "ar", metric="judge_score")]
    for name in ("model", "draft"):
        item["scales"]["small"]["models"]["main" if name == "model" else name] = str(QUICKSTART / name)
    file.write_text(json.dumps(item))
    return share


def main():
    program = sys.argv[1]
    check = Checks()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else temporary).resolve()
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        share = share_with(folder)

        def pardec(*arguments, code=0):
            ran = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, cwd=folder, env={"PATH": "/usr/bin:/bin", "PARDEC_SHARE": str(share)})
            check(ran.returncode == code, f"{arguments}: exit {ran.returncode}: {ran.stderr}")
            return ran.stdout

        item = ("hpd", "t3", "--limit", 10, "--threads", 1, "--progress", "none", "--db", "r.sqlite")
        printed = json.loads(pardec("reproduce", *item, "--format", "json", "--report", "reproduced.html", code=4))
        pardec("report", "--db", "r.sqlite", "-o", "report.html")
        verdicts = {row["claim"][0]: row for row in printed[1]["rows"]}
        check([verdicts[c]["verdict"] for c in "CWON"] == ["confirmed", "refuted", "open", "not testable"], f"{verdicts}")
        check(verdicts["C"]["qualified"] == "stand-in, scaled" and verdicts["C"]["why"] == "above 1: oa-mine" and verdicts["W"]["why"] == "not above 1: oa-mine" and
              verdicts["O"]["why"].startswith("fewer than 10 blocks") and verdicts["N"]["why"].startswith("lacks a judge"), f"{verdicts}")
        for name in ("reproduced", "report"):
            text = (folder / f"{name}.html").read_text(encoding="utf-8")
            page = Page(text)
            check_offline(check, page, text, name)
            for block, table in zip(("published-hpd-table3", "verdicts"), printed):
                check(json.loads(page.blocks[block]) == table, f"{name}: {block} is not what `reproduce --format json` says")
                check_numbers(check, page, page.blocks[block].replace("\\u003c", "<"), name, block)
            check(html.escape(HOSTILE, quote=False).split("'")[0].split('"')[0] in text and not re.search(r"<img|<b>", text), f"{name}: hostile text does not stay text")
            check(text.index('id="verdicts"') < text.index('id="published"') < text.index('id="figures"'), f"{name}: verdicts do not come first")
        text = (folder / "reproduced.html").read_text(encoding="utf-8")
        drawn = shutil.which("gnuplot") is not None
        check(("hpd-table3: speedup" in text) == drawn and ("papers-one-product: Speedup" in text) == drawn, "figures of the item and of its run")
        check("pardec report --db r.sqlite --run " in text, "the run's own page is named")

        browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        probe = folder / "probe.html"
        probe.write_text(with_script(text.replace("<head>", "<head>" + LISTENER, 1), PROBE), encoding="utf-8")
        for width in WIDTHS if browser else ():
            frame = folder / f"frame-{width}.html"
            frame.write_text(FRAME.format(page=probe.name, width=width), encoding="utf-8")
            ran = chromium(browser, folder / "profile", "--window-size=1700,1600", "--dump-dom", frame.as_uri())
            check("CONSOLE" not in ran.stderr, f"{width}: console says {ran.stderr[-600:]}")
            found = re.search(r'<pre id="seen">(.+?)</pre>', ran.stdout, re.S)
            check(found, f"{width}: the probe did not end: {ran.stderr[-400:]}")
            if not found:
                continue
            seen = json.loads(html.unescape(found[1]))
            check(seen["errors"] == [] and seen["resources"] == [] and seen["ready"] == "yes" and seen["width"] == width, f"{width}: {seen}")
            check(seen["first"] == "verdicts", f"{width}: {seen['first']} comes first")
            shown = {value: {claim[0] for claim in claims} for value, claims in seen["filters"]}
            check(shown == {"": set("CWON"), "confirmed": {"C"}, "refuted": {"W"}, "open": {"O"}, "not testable": {"N"}}, f"{width}: filters show {shown}")
            numbers = [float(n) for n in seen["sorted"] if n != "-"]
            check(numbers == sorted(numbers, reverse=True) and len(numbers) > 4, f"{width}: sorted {seen['sorted']}")
            check(seen["faults"] == [] and min(seen["measured"]) > 60 and seen["wide"] <= 0, f"{width}: {seen['faults']}, {seen['measured']} boxes, {seen['wide']} too wide")
            check(seen["unreachable"] == 0 and seen["theme"][0] == seen["theme"][2] != seen["theme"][1], f"{width}: keys and colours: {seen['unreachable']}, {seen['theme']}")
    print(f"{check.passed} passed, {check.failed} failed")
    if not browser:
        print("[skipped] chromium is missing: the page was not opened")
    return 1 if check.failed or not check.passed else 0


if __name__ == "__main__":
    sys.exit(main())
