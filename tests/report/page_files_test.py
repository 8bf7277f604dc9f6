"""The page's style and script as a browser reads them: each declaration, selector and rule is
one that it knows, variables are defined, classes and ids are those of the pages, and the script
has no error of syntax. In headless Chromium; no page is loaded.
"""

import html
import json
import pathlib
import re
import subprocess
import tempfile

import pytest
from harness import ROOT

REPORT = ROOT / "src" / "report"

# Of each text its faults, into the page.
LINT = """
const style = text => {
  const faults = [], source = text.replace(/\\/\\*[^]*?\\*\\//g, ""),
    defined = new Set(source.match(/--[\\w-]+(?=\\s*:)/g));
  let blocks = 0;
  for (const [, selector, body] of source.matchAll(/([^{}]*)\\{([^{}]*)\\}/g)) {
    ++blocks;
    if (!selector.trim().startsWith("@"))
      try { document.querySelector(selector); }
      catch { faults.push("selector " + selector.trim()); }
    for (const part of body.split(";").map(part => part.trim()).filter(Boolean)) {
      const declaration = /^([\\w-]+)\\s*:\\s*([^]+?)(\\s*!important)?$/.exec(part);
      if (!declaration ||
          (!part.startsWith("--") && !CSS.supports(declaration[1], declaration[2])))
        faults.push("declaration " + part);
    }
  }
  for (const [, name] of source.matchAll(/var\\((--[\\w-]+)/g))
    if (!defined.has(name)) faults.push("undefined " + name);
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  const count = rules => [...rules]
    .reduce((sum, rule) => sum + (rule instanceof CSSMediaRule ? count(rule.cssRules) : 1), 0);
  if (count(sheet.cssRules) !== blocks)
    faults.push(count(sheet.cssRules) + " rules of " + blocks + " are read");
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
BROKEN = [
    ("css", "a { colour: red; }"),
    ("css", "a { color: redd; }"),
    ("css", "a { color: var(--none); }"),
    ("css", "a:hovr { color: red; }"),
    ("css", "a { color: red; } } b { color: red; }"),
    ("css", "@media print { a { margin: 1; } }"),
    ("js", "(() => { const a = 1; const a = 2; })();"),
    ("js", "(() => { return })("),
    ("js", "'use strict'; with (a) b();"),
]


def seen_in(browser, texts):
    page = (
        '<!doctype html><meta charset="utf-8"><script type="application/json"'
        ' id="texts">%s</script><pre id="seen"></pre><script>%s</script>'
        % (json.dumps(texts).replace("<", "\\u003c"), LINT)
    )
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "lint.html"
        file.write_text(page, encoding="utf-8")
        ran = subprocess.run(
            [
                browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                "--no-first-run", f"--user-data-dir={folder}/profile", "--dump-dom", file.as_uri(),
            ],
            capture_output=True,
            text=True,
            timeout=120,
        )
    found = re.search(r'<pre id="seen">(.+?)</pre>', ran.stdout, re.S)
    return json.loads(html.unescape(found[1])) if found else ran.stderr[-400:]


def unused(style, others):
    """Classes and ids of the style that stand in no text which writes pages."""
    selectors = " ".join(
        re.findall(r"([^{}]*)\{", re.sub(r"/\*.*?\*/|\"[^\"]*\"", "", style, flags=re.S))
    )
    return [
        name
        for name in sorted(set(re.findall(r"[.#]([a-z][\w-]*)", selectors)))
        if not re.search(rf"\b{re.escape(name)}\b", others)
    ]


TEXTS = {name: (REPORT / name).read_text(encoding="utf-8") for name in ("page.css", "page.js")}


@pytest.fixture(scope="module")
def faults(browser):
    """The faults that are seen in a text of the project or in a broken one."""
    texts = [["css", TEXTS["page.css"]], ["js", TEXTS["page.js"]], *map(list, BROKEN)]
    seen = seen_in(browser, texts)
    assert isinstance(seen, list), seen
    return dict(zip([*TEXTS, *(text for _, text in BROKEN)], seen, strict=True))


@pytest.mark.parametrize("name", TEXTS)
def test_a_file_has_no_fault(faults, name):
    assert faults[name] == []


@pytest.mark.parametrize("text", [text for _, text in BROKEN])
def test_a_fault_is_seen(faults, text):
    assert len(faults[text]) >= 1


def test_the_style_has_rules_only_for_what_pages_have():
    others = TEXTS["page.js"] + "".join(
        file.read_text(encoding="utf-8") for file in sorted(REPORT.glob("*.cpp"))
    )
    assert unused(TEXTS["page.css"], others) == []
    assert unused(TEXTS["page.css"] + ".in-no-page { color: red; }", others) == ["in-no-page"]
