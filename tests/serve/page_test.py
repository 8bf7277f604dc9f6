"""The page at `/` in headless Chromium: typed into, in both colours, narrow and wide.

`--keep DIR` keeps screenshots.
"""

import http.server
import json
import threading

import pytest
from chromium import Browser
from harness import ROOT, whole_except
from server import serving

QUICKSTART = ROOT / "experiments" / "quickstart"
READY = "document.documentElement?.dataset.ready === 'true'"
SIZES = {"narrow": (390, 844), "wide": (1280, 900)}
HOSTILE = [
    "<img src=x onerror=\"document.title='hit'\">", "</script><script>document.title='hit'</script>",
    "<b>bold</b>", "javascript:document.title='hit'", "\u202e\u0000&lt;i&gt;", "<iframe src=//x.test>",
]

# Boxes beyond the window, texts that are cut, and contrast, in the state that the page is in.
MEASURE = """(() => {
  const faults = [];
  const scrolls = e => { for (; e && e !== document.body; e = e.parentElement) if (/auto|scroll/.test(getComputedStyle(e).overflowX)) return true; return false; };
  for (const e of document.body.querySelectorAll("*")) {
    const b = e.getBoundingClientRect();
    if (b.width > 0 && (b.right > innerWidth + 1 || b.left < -1) && !scrolls(e.parentElement)) faults.push("beyond the window: " + e.tagName + "." + e.className);
    const style = getComputedStyle(e);
    if (/auto|scroll/.test(style.overflowY) && e.scrollHeight > e.clientHeight + 1 && e.clientHeight && e.tabIndex < 0) faults.push("no key scrolls " + e.tagName + "." + e.className);
  }
  if (document.documentElement.scrollWidth > innerWidth) faults.push("the page is wider than the window");
  const bright = text => { const [r, g, b] = text.match(/[\\d.]+/g).map(Number).map(v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const ground = e => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (c !== "rgba(0, 0, 0, 0)") return c; } return "rgb(255, 255, 255)"; };
  for (const e of document.querySelectorAll("h1, label, dt, dd, .token:not(.rejected), .asked, .before, button:not(:disabled), .hint, #status, th, td")) {
    if (!e.textContent.trim() || !e.getClientRects().length) continue;
    const a = bright(getComputedStyle(e).color), b = bright(ground(e));
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) faults.push("contrast " + contrast.toFixed(1) + ": " + e.tagName + "." + e.className);
  }
  return faults;
})()"""


@pytest.fixture(scope="module")
def server(pardec):
    with serving(
        pardec, "--model", QUICKSTART / "model", "--draft-model", QUICKSTART / "draft", "--decoder",
        "ar,speculative,prompt-lookup,skeleton-of-thought,hpd",
    ) as server:
        yield server


@pytest.fixture(scope="module")
def chromium(browser, tmp_path_factory):
    running = Browser(browser, tmp_path_factory.mktemp("profile"))
    yield running
    running.close()


@pytest.fixture(params=whole_except([("wide", False), ("narrow", True)], [(size, dark) for size in SIZES for dark in (False, True)]),
                ids=lambda p: f"{p[0]}-{'dark' if p[1] else 'light'}")
def page(request, chromium, server):
    """The open page, in one size and colour; afterwards nothing was reported or asked elsewhere."""
    size, dark = request.param
    chromium.show(*SIZES[size], dark)
    address = f"http://127.0.0.1:{server.port}/"
    chromium.open(address)
    chromium.wait_for(READY)
    chromium.kept = request.config.getoption("--keep")
    chromium.name = f"{size}-{'dark' if dark else 'light'}"
    yield chromium
    assert chromium.faults() == []
    assert all(url.startswith((address, "data:")) for url in chromium.asked())


def keep(page, what):
    if page.kept:
        page.screenshot(page.kept / f"{what}-{page.name}.png")


def choose(page, lane, model):
    page.js(
        f"(() => {{ const s = document.getElementById('model-{lane}'); s.value ="
        f" {json.dumps(model)}; s.dispatchEvent(new Event('change')); }})()"
    )


def number(page, name, lane=0):
    return float(page.js(
        f"[...[...document.querySelectorAll('.lane')][{lane}].querySelectorAll('.numbers div')]"
        f".find(d => d.firstChild.textContent === {json.dumps(name)}).lastChild.textContent"
    ))


def wait_done(page):
    page.wait_for("/Done|First/.test(document.getElementById('status').textContent)", 120)


def test_a_person_chats_by_keyboard_and_sees_the_guesses(server, page):
    choose(page, 0, "model:speculative")
    page.js("document.getElementById('prompt').focus()")
    page.type("Blue shoes for men")
    page.press("Enter")
    wait_done(page)
    reply = server.post("/v1/chat/completions", {
        "model": "model:speculative", "temperature": 0, "max_tokens": 128,
        "messages": [{"role": "user", "content": "Blue shoes for men"}],
    })[1]
    shown = page.js("[...document.querySelectorAll('.talk .token:not(.rejected)')].map(e => e.textContent).join('')")
    assert shown == reply["choices"][0]["message"]["content"]
    assert number(page, "passes") == reply["pardec"]["passes"]
    assert number(page, "accepted") == reply["pardec"]["accepted_guesses"] > 0
    assert number(page, "tokens") == reply["usage"]["completion_tokens"]
    assert page.js("document.querySelectorAll('.talk .guessed').length") == number(page, "accepted")
    assert page.js("document.querySelectorAll('.talk .rejected').length") > 0
    assert number(page, "rejected") == reply["pardec"]["guesses"] - reply["pardec"]["accepted_guesses"]
    assert page.js(MEASURE) == []
    keep(page, "chat")


def test_two_decoders_race_on_one_prompt(page):
    page.click("[value=race]")
    choose(page, 0, "model:ar")
    choose(page, 1, "model:prompt-lookup")
    page.js("document.getElementById('prompt').focus()")
    page.type("Blue shoes for men")
    page.press("Enter")
    wait_done(page)
    texts = page.js("[...document.querySelectorAll('.talk')].map(t => [...t.querySelectorAll('.token:not(.rejected)')].map(e => e.textContent).join(''))")
    assert len(texts) == 2
    assert texts[0] == texts[1] != ""  # both give the greedy text
    assert number(page, "passes", 0) > number(page, "passes", 1)
    assert page.js("document.getElementById('status').textContent").startswith("First: model:")
    assert page.js(MEASURE) == []
    keep(page, "race")


def test_the_values_of_titles_fill_at_the_same_time(server, page):
    job = json.loads((QUICKSTART / "job.json").read_text())["contexts"][0]
    names = [field["name"] for field in job["fields"]]
    page.click("[value=job]")
    assert page.js("document.getElementById('model-0').value") == "model:hpd"
    page.js("document.getElementById('titles').focus()")
    page.type(job["text"] + "\n" + job["text"].replace("Pinafell", "Orm"))
    page.js("document.getElementById('category').focus()")
    page.type(job["category"])
    page.js("document.getElementById('fields').focus()")
    page.type(", ".join(names))
    page.js("""window.filled = [];
      new MutationObserver(() => filled.push([...document.querySelectorAll('td')].filter(c => c.textContent).length))
        .observe(document.getElementById('lanes'), {childList: true, subtree: true});""")
    page.press("Enter")
    wait_done(page)
    rows = page.js("[...document.querySelectorAll('table')].map(t => Object.fromEntries([...t.rows].map(r => [r.cells[0].textContent, r.cells[1].textContent])))")
    reply = server.post("/v1/chat/completions", {
        "model": "model:hpd", "temperature": 0, "messages": [],
        "pardec": {"job": {"id": "title-1", "contexts": [{**job, "id": "text"}]}},
    })[1]
    values = json.loads(reply["choices"][0]["message"]["content"])
    assert rows[0] == {name: value or "none" for name, value in values.items()}
    assert rows[0]["Brand"] == "Pinafell"
    assert len(rows) == 2
    # After the first pass all values of a title have begun, long before the last one is whole.
    assert max(page.js("filled")[: len(page.js("filled")) // 4 + 1]) >= len(names)
    assert page.js(MEASURE) == []
    keep(page, "job")


def test_branches_have_their_own_colours(page):
    choose(page, 0, "model:skeleton-of-thought")
    page.js("document.getElementById('prompt').focus()")
    page.type("Name three uses of a mug.")
    page.press("Enter")
    wait_done(page)
    colours = page.js("[...document.querySelectorAll('.stream')].map(s => s.style.borderLeftColor)")
    assert len(colours) >= 1
    assert len(set(colours)) == min(len(colours), 8)
    keep(page, "branches")


def test_options_and_stop_and_theme(server, page):
    choose(page, 0, "model:prompt-lookup")
    page.click(".options summary")
    page.js("(() => { const i = document.querySelector('[data-name=draft]'); i.value = 0; })()")
    page.js("document.getElementById('prompt').focus()")
    page.type("Blue")
    page.press("Enter")
    page.wait_for("!document.getElementById('fault').hidden")
    assert "draft" in page.js("document.getElementById('fault').textContent")
    page.js("(() => { document.querySelector('[data-name=draft]').value = 2; document.getElementById('most').value = 8000; })()")
    page.press("Enter")
    page.wait_for("document.querySelectorAll('.talk .token').length > 20")
    page.press("Escape")
    page.wait_for("document.getElementById('status').textContent === 'Stopped.'")
    before = page.js("document.documentElement.dataset.theme")
    page.click("#theme")
    assert page.js("document.documentElement.dataset.theme") != before
    page.click("#theme")
    assert [e for e in page.faults() if "400" not in e] == []
    page.events.clear()


@pytest.fixture
def hostile(server):
    """A server with the page of the real one, whose models and answers are hostile."""
    text = server.request("GET", "/")[2]
    models = {"data": [{"id": f"m{HOSTILE[0]}", "pardec": {
        "decoder": "ar", "open": True, "options": {HOSTILE[2]: HOSTILE[1]},
    }}]}

    class Handler(http.server.BaseHTTPRequestHandler):
        def answer(self, kind, body):
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self):
            if self.path == "/":
                self.answer("text/html; charset=utf-8", text)
            else:
                self.answer("application/json", json.dumps(models).encode())

        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            streams = [{"stream": i, "before": words} for i, words in enumerate(HOSTILE)]
            tokens = [
                {"stream": i, "id": 1, "text": words, "kind": kind}
                for i, words in enumerate(HOSTILE)
                for kind in ("chosen", "guessed", "rejected")
            ]
            chunks = [
                {"choices": [], "pardec": {"passes": 1, "streams": streams, "tokens": tokens}},
                {"choices": [{"index": 0, "delta": {"content": "".join(HOSTILE)}}]},
            ]
            self.answer("text/event-stream", b"".join(
                b"data: %s\n\n" % json.dumps(c).encode() for c in chunks
            ) + b"data: [DONE]\n\n")

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as fake:
        threading.Thread(target=fake.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{fake.server_port}/"
        fake.shutdown()


def test_what_a_model_writes_is_text(chromium, hostile):
    chromium.show(*SIZES["wide"], False)
    chromium.open(hostile)
    chromium.wait_for(READY)
    elements = chromium.js("document.querySelectorAll('script, img, iframe, b:not(.legend b), i').length")
    chromium.js("document.getElementById('prompt').focus()")
    chromium.type("".join(HOSTILE))
    chromium.press("Enter")
    wait_done(chromium)
    said = chromium.js("document.querySelector('.whole').textContent")
    assert said == "".join(HOSTILE).replace("\u0000", "\ufffd") or said == "".join(HOSTILE)
    assert chromium.js("document.querySelectorAll('.talk .token').length") == 3 * len(HOSTILE)
    assert chromium.js("document.querySelectorAll('script, img, iframe, b:not(.legend b), i').length") == elements == 1
    assert chromium.js("document.title") == "pardec: watch a decoder"
    assert chromium.faults() == []
    # Markup is refused even if a script of the page made some.
    with pytest.raises(RuntimeError, match="TrustedHTML"):
        chromium.js("document.body.innerHTML = '<b>x</b>'")


def test_the_page_asks_for_the_key(pardec, chromium):
    with serving(
        pardec, "--model", QUICKSTART / "model", "--key-env", "SERVE_KEY",
        env={"SERVE_KEY": "sesame-sesame"},
    ) as server:
        chromium.show(*SIZES["wide"], False)
        chromium.open(f"http://127.0.0.1:{server.port}/")
        chromium.wait_for("document.getElementById('key-row')?.hidden === false")
        chromium.js("document.getElementById('key').focus()")
        chromium.type("sesame-sesame")
        chromium.press("Enter")
        chromium.wait_for(READY)
        assert "sesame" not in chromium.js("JSON.stringify({...localStorage, ...sessionStorage})")
