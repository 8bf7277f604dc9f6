"""The page's style and script as a browser reads them: each declaration, selector and rule is one that it knows, variables are defined, classes and
ids are those of the pages, and the script has no error of syntax. In headless Chromium; no page is loaded.

Usage: page_files_test.py
"""
import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from harness import Checks

REPORT = pathlib.Path(__file__).resolve().parents[2] / "src" / "report"

# Of each text its faults, into the page.
LINT = """
const style = text => {
  const faults = [], source = text.replace(/\\/\\*[^]*?\\*\\//g, ""), defined = new Set(source.match(/--[\\w-]+(?=\\s*:)/g));
  let blocks = 0;
  for (const [, selector, body] of source.matchAll(/([^{}]*)\\{([^{}]*)\\}/g)) {
    ++blocks;
    if (!selector.trim().startsWith("@"))
      try { document.querySelector(selector); } catch { faults.push("selector " + selector.trim()); }
    for (const part of body.split(";").map(part => part.trim()).filter(Boolean)) {
      const declaration = /^([\\w-]+)\\s*:\\s*([^]+?)(\\s*!important)?$/.exec(part);
      if (!declaration || (!part.startsWith("--") && !CSS.supports(declaration[1], declaration[2]))) faults.push("declaration " + part);
    }
  }
  for (const [, name] of source.matchAll(/var\\((--[\\w-]+)/g)) if (!defined.has(name)) faults.push("undefined " + name);
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  const count = rules => [...rules].reduce((sum, rule) => sum + (rule instanceof CSSMediaRule ? count(rule.cssRules) : 1), 0);
  if (count(sheet.cssRules) !== blocks) faults.push(count(sheet.cssRules) + " rules of " + blocks + " are read");
  return faults;
};
const script = text => {
  try { new Function(text); } catch (error) { return [error.message]; }
  return [];
};
const texts = JSON.parse(document.getElementById("texts").textContent);
const seen = texts.map(([kind, text]) => kind === "css" ? style(text) : script(text));
document.getElementById("seen").textContent = JSON.stringify(seen);
"""
BROKEN = [("css", "a { colour: red; }"), ("css", "a { color: redd; }"), ("css", "a { color: var(--none); }"), ("css", "a:hovr { color: red; }"),
          ("css", "a { color: red; } } b { color: red; }"), ("css", "@media print { a { margin: 1; } }"), ("js", "(() => { const a = 1; const a = 2; })();"),
          ("js", "(() => { return })("), ("js", "'use strict'; with (a) b();")]


def seen_in(browser, texts):
    page = ('<!doctype html><meta charset="utf-8"><script type="application/json" id="texts">%s</script><pre id="seen"></pre><script>%s</script>'
            % (json.dumps(texts).replace("<", "\\u003c"), LINT))
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "lint.html"
        file.write_text(page, encoding="utf-8")
        ran = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                              f"--user-data-dir={folder}/profile", "--dump-dom", file.as_uri()], capture_output=True, text=True, timeout=120)
    found = re.search(r'<pre id="seen">(.+?)</pre>', ran.stdout, re.S)
    return json.loads(html.unescape(found[1])) if found else ran.stderr[-400:]


def unused(style, others):
    """Classes and ids of the style that stand in no text which writes pages."""
    selectors = " ".join(re.findall(r"([^{}]*)\{", re.sub(r"/\*.*?\*/|\"[^\"]*\"", "", style, flags=re.S)))
    return [name for name in sorted(set(re.findall(r"[.#]([a-z][\w-]*)", selectors))) if not re.search(rf"\b{re.escape(name)}\b", others)]


def main():
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not browser:
        print("[skipped] chromium is missing: the page's style and script were not read")
        return 77
    check = Checks()
    style, script = ((REPORT / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    seen = seen_in(browser, [["css", style], ["js", script], *map(list, BROKEN)])
    if check(isinstance(seen, list) and len(seen) == 2 + len(BROKEN), f"the texts were read: {seen}"):
        check(seen[0] == [], f"page.css: {seen[0]}")
        check(seen[1] == [], f"page.js: {seen[1]}")
        for (kind, text), faults in zip(BROKEN, seen[2:]):
            check(len(faults) >= 1, f"{text} has a fault")
    others = script + "".join(file.read_text(encoding="utf-8") for file in sorted(REPORT.glob("*.cpp")))
    check(unused(style, others) == [], f"page.css has rules for what no page has: {unused(style, others)}")
    check(unused(style + ".in-no-page { color: red; }", others) == ["in-no-page"], "a class of no page is found")
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
