"""A report opens without a network, and says what `pardec compare` says.

A run on the project's samples with a small random network; the page is then opened in headless
Chromium. `--keep DIR` keeps pages and screenshots.
"""

import contextlib
import functools
import html
import json
import pathlib
import re
import sqlite3

import pytest
from browser import (
    BOXES, GNUPLOT, QUICKSTART, WIDTHS, Page, check_numbers, check_offline, chromium, needs_gnuplot,
    seen_by,
)

# The names of the arms on a Pareto front.
FRONT = re.compile(r"<figcaption>[^<]*than one of these: ([^.]*)\. Bars")
CONFIG = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_act": "silu",
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "max_position_embeddings": 8192,
}

# Run in the page: sorts, chooses, filters, changes colours, measures; leaves what it saw as JSON.
PROBE = (
    """
<script>
const seen = { errors: window.errors, ready: document.documentElement.dataset.ready,
  width: innerWidth, faults: [] };
const table = document.getElementById("comparison-table");
const head = table.querySelector('[data-key="examples_per_second"]');
const column = [...head.parentNode.cells].indexOf(head);
const values = () => [...table.tBodies[0].rows]
  .map(row => JSON.parse(row.cells[column].dataset.value));
const arms = table.querySelector('[data-key="arm"]');
seen.before = values();
head.querySelector("button").click();
seen.down = [head.getAttribute("aria-sort"), values()];
head.querySelector("button").click();
seen.up = [head.getAttribute("aria-sort"), values()];
arms.querySelector("button").click();
seen.arms = [arms.getAttribute("aria-sort"), head.getAttribute("aria-sort"),
  [...table.tBodies[0].rows].map(row => row.cells[1].textContent)];

// The browser of examples.
const list = document.getElementById("chosen"),
  options = [...list.children].map(e => [e, e.id.replace("choice", "example")]);
const key = id => document.getElementById(id).querySelector(".key").textContent;
const listed = () => options.filter(([e]) => !e.hidden).map(([, id]) => key(id));
const shown = () => [...document.querySelectorAll(".example")]
  .filter(e => e.getClientRects().length).map(e => key(e.id));
seen.all = [listed(), shown()];
list.focus();
seen.focused = [document.activeElement === list, getComputedStyle(list).outlineStyle !== "none" &&
  parseFloat(getComputedStyle(list).outlineWidth) > 0];
seen.keys = ["ArrowDown", "ArrowRight", "ArrowUp", "End", "Home"].map(name => {
  list.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true }));
  const chosen = list.querySelector('[aria-selected="true"]');
  return [name, shown(), chosen.id === list.getAttribute("aria-activedescendant")];
});
// From elsewhere: [what, key, it was taken, the place in the list that is shown].
const press = (what, element, name, scrolled) => {
  list.dispatchEvent(new KeyboardEvent("keydown",
    { key: "Home", bubbles: true, cancelable: true }));
  window.scrollTo({ top: scrolled ? document.getElementById("browser").offsetTop : 0,
    behavior: "instant" });
  const kept = element.dispatchEvent(new KeyboardEvent("keydown",
    { key: name, bubbles: true, cancelable: true }));
  return [what, name, !kept, seen.all[0].indexOf(shown()[0])];
};
const inside = document.querySelector(".example:not(.away)"), small = document.createElement("div");
small.style.cssText = "width: 40px; height: 20px; overflow: auto; white-space: pre";
small.textContent = "a box that scrolls\\nboth\\nways\\nand more";
inside.append(small);
seen.elsewhere = [press("a button", document.getElementById("next"), "ArrowDown"),
  press("a button", document.getElementById("next"), "ArrowLeft"),
  press("a heading", inside.querySelector(".key"), "ArrowRight"),
  press("a heading", inside.querySelector(".key"), "PageDown"),
  press("nothing, in sight", document.body, "ArrowRight", true),
  press("nothing, in sight", document.body, "ArrowDown", true),
  press("nothing, out of sight", document.body, "ArrowRight"),
  press("a field", document.getElementById("of-arm"), "ArrowDown"),
  press("a field", document.getElementById("pass"), "ArrowRight"),
  press("a box", small, "ArrowRight"), press("a box", small, "ArrowDown")];
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
const tokens = p => [...p.querySelectorAll("span:not(.rejected)")].map(token => [
  token.firstChild ? token.firstChild.data : "",
  token.querySelector("sub") && Number(token.querySelector("sub").textContent)]);
seen.tokens = [...document.querySelectorAll(".example:not(.away) .arm")].map(e =>
  [e.dataset.arm, [...e.querySelectorAll(".tokens:not([hidden]) p")].map(tokens)]);
const range = document.getElementById("pass");
const at = value => {
  range.value = value;
  range.dispatchEvent(new Event("input"));
  return [...document.querySelectorAll(".example:not(.away) .arm")].map(e => [
    e.dataset.arm, e.querySelectorAll(".later").length,
    (e.querySelector(".progress") || e).textContent,
    e.querySelectorAll(".rejected:not([hidden])").length]);
};
seen.scrubbed = range.closest("[hidden]") ? [] : [Number(range.max), at(1), at(range.max)];

"""
    + BOXES
    + """
parent.postMessage(JSON.stringify(seen), "*");
</script>
"""
)


def stored(db):
    """Of each kind of the filters the examples that have it, by arm, straight from the database;
    and what was asked.
    """
    with contextlib.closing(sqlite3.connect(db)) as connection:
        kinds = {kind: {} for kind in ("differs", "failed", "limit", "wrong")}
        rows = connection.execute(
            "SELECT generation.id, sample.key, run.label, generation.error, identical,"
            " generation.stop, generation.fields FROM generation JOIN run ON run.id = run_id JOIN"
            " sample ON sample.id = sample_id WHERE generation.repeat = 0"
        ).fetchall()
        for generation, key, label, error, identical, stop, fields in rows:
            wrong = connection.execute(
                "SELECT count(*) FROM score WHERE generation_id = ? AND metric = 'value_correct'"
                " AND value = 0 AND json_extract(details, '$.annotated')",
                (generation,),
            ).fetchone()[0]
            stops = {stop, *(field["stop"] for field in json.loads(fields))}
            for kind, has in (
                ("differs", error is None and identical == 0),
                ("failed", error is not None),
                ("limit", error is None and bool(stops & {"limit", "context"})),
                ("wrong", error is None and wrong > 0),
            ):
                if has:
                    kinds[kind].setdefault(label, set()).add(key)
        samples = connection.execute("SELECT text, fields FROM sample").fetchall()
    asked = [text for text, _ in samples if text] + [
        field["question"]
        for _, fields in samples
        for field in json.loads(fields)
        if "question" in field
    ]
    return kinds, asked


def slow_front(points):
    """Names of the points that no other beats."""
    return {
        name
        for name, (x, y) in points.items()
        if not any(a >= x and b >= y and (a, b) != (x, y) for a, b in points.values())
    }


EIGHT = [
    "--arm", "ar=ar,batch_size=4", "--arm", "again=ar,batch_size=4", "--arm",
    "lookup=prompt-lookup,batch_size=4",
]
for option in (
    "stack=2", "stack=2,k_max=8", "stack=2,k_max=4", "stack=1", "stack=2,isolated=values",
):
    EIGHT += ["--arm", f"hpd-{re.sub('[^a-z0-9]', '', option)}=hpd,batch_size=2,{option}"]
TINY = object()  # the random network
RUNS = {
    "oracle": [
        "--model", TINY, "--dataset", "oa-mine,ae-110k", "--decoder", "ar,hpd", "--oracle",
        "references",
    ],
    "sweep": [
        "--model", QUICKSTART / "model", "--dataset", "oa-mine", *EIGHT, "--limit", 8, "--block", 1,
    ],
    "open": [
        "--model", TINY, "--dataset", "mt-bench", "--decoder", "ar,prompt-lookup,lookahead",
        "--max-new-tokens", 40,
    ],
}
every_run = pytest.mark.parametrize("name", RUNS)
# In all widths the page of many arms and that of open answers.
every_width = pytest.mark.parametrize("width", WIDTHS)
opened_runs = pytest.mark.parametrize("name", ["sweep", "open"])


@pytest.fixture(scope="module")
def folder(pardec, request):
    """Where databases and pages are."""
    kept = request.config.getoption("--keep")
    if kept:
        kept.mkdir(parents=True, exist_ok=True)
    return kept.resolve() if kept else pardec.folder


@pytest.fixture(scope="module")
def tiny(pardec):
    """A network of random weights."""
    config = pardec.folder / "config.json"
    config.write_text(json.dumps(CONFIG))
    pardec.good("model", "synth", "model", "--config", config)
    return pardec.folder / "model"


class Report:
    """A run, its page, and what `compare` says of it."""

    def __init__(self, pardec, folder, tiny, name):
        self.db, self.file = folder / f"{name}.sqlite", folder / f"{name}.html"
        self.db.unlink(missing_ok=True)
        flags = [tiny if flag is TINY else flag for flag in RUNS[name]]
        pardec.good("run", "--threads", 1, "--progress", "none", *flags, "--db", self.db)
        if name == "sweep":  # one answer that failed
            with contextlib.closing(sqlite3.connect(self.db)) as connection, connection:
                connection.execute(
                    "UPDATE generation SET error = 'made to <fail>' WHERE id = (SELECT max(id) FROM"
                    " generation)"
                )
        more = ["--examples", 100] if name == "oracle" else []
        self.said = pardec.good("report", "--db", self.db, "-o", self.file, *more)
        self.text = self.file.read_text(encoding="utf-8")
        self.page = Page(self.text)
        self.compared = pardec.good("compare", "--db", self.db, "--format", "json")
        self.table = json.loads(self.compared)


@pytest.fixture(scope="module")
def report(pardec, folder, tiny):
    """The report of a run, which is made once."""
    return functools.cache(lambda name: Report(pardec, folder, tiny, name))


@every_run
def test_report_says_where_the_page_is(report, name):
    assert report(name).said.strip() == str(report(name).file)


@every_run
def test_the_tables_of_a_page_are_compares(pardec, report, name):
    made = report(name)
    check_numbers(made.page, made.compared, "comparison")
    check_numbers(
        made.page,
        pardec.good("compare", "--db", made.db, "--accounting", "--format", "json"),
        "accounting",
    )


@every_run
def test_the_warnings_of_a_page_are_compares(report, name):
    codes = list(
        dict.fromkeys(
            warning["code"].replace("_", " ") for warning in report(name).table["warnings"]
        )
    )
    assert re.findall(r'<li id="warning-\d+"><strong>([^<]*)', report(name).text) == codes
    assert "broken" not in codes[1:]


@every_run
def test_a_page_loads_nothing(report, name):
    check_offline(report(name).page, report(name).text)


@every_run
def test_without_scripts_a_page_lists_all_examples_in_full(report, name):
    """With every prompt, question and answer."""
    text, db = report(name).text, report(name).db
    plain = html.unescape(
        re.sub(r"<[^>]*>", "", re.sub(r"<(script|style).*?</\1>", "", text, flags=re.S))
    )
    for asked in stored(db)[1]:
        assert asked in plain, f"{asked[:60]!r} is not in the page in full"
    with contextlib.closing(sqlite3.connect(db)) as connection:
        for (answer,) in connection.execute(
            "SELECT text FROM generation WHERE repeat = 0 AND error IS NULL"
        ):
            assert re.sub("[\x00-\x08\x0b-\x1f\x7f]", "\ufffd", answer) in plain, (
                f"{answer[:60]!r} is not in the page in full"
            )
    assert not re.search(r"<article[^>]*(hidden|away)", text), (
        "an example is hidden without scripts"
    )
    for controls in ("filter", "chooser"):
        assert re.search(rf'<div class="{controls}"[^>]* hidden>', text), (
            f"controls that need scripts are there without: {controls}"
        )


@every_run
def test_a_page_marks_untrained_networks_and_oracles(report, name):
    assert ("Untrained (" in report(name).text) == (name != "sweep")
    assert ("Oracle, references: " in report(name).text) == (name == "oracle")


@every_run
def test_a_page_records_the_command(report, name):
    assert str(report(name).db) in report(name).text
    assert "--progress none" in report(name).text


@every_run
def test_a_page_has_figures_where_gnuplot_is_there(report, name):
    assert (report(name).text.count("<figure>") >= 4) == bool(GNUPLOT)


@every_run
def test_the_title_says_how_much_was_measured(report, name):
    assert re.search(
        r'<p class="subtitle">.* n \d+(?: to \d+)?, 1 thread, 1 repeat', report(name).text
    )


def test_the_headline_is_the_fastest_arm_that_is_as_good(report):
    """Its interval lies above 1 and its answers are shown to be as good; what to take is said at
    the head, in words.
    """
    text, table = report("sweep").text, report("sweep").table
    found = re.findall(
        r'<div class="label">\S+ (\S+) against \S+</div>\n<div class="value">(\S+)×', text
    )
    good = [
        row
        for row in table["rows"]
        if (row["speedup_interval"] or [0])[0] > 1
        and row["verdict"] in ("same answers", "not worse")
    ]
    best = max(good, key=lambda row: row["speedup"], default=None)
    assert found == ([(best["arm"], f"{best['speedup']:.2f}")] if best else [])
    head = text.split("<main>")[0]
    assert (f"take {best['arm']}: " if best else "stay with ar: no arm is shown faster") in head, (
        "the recommendation"
    )
    for row in table["rows"]:
        if row["verdict"] == "open" and (row["speedup_interval"] or [0, 2])[1] >= 1:
            assert re.search(rf"Not decided: [^<]*{re.escape(row['arm'])} \(|more\.", head), (
                f"{row['arm']} is not named as open"
            )


def test_a_failed_answer_is_shown_with_its_error(report):
    assert "made to &lt;fail&gt;" in report("sweep").text


@needs_gnuplot
def test_the_pareto_front_is_that_of_a_slow_search(report):
    text, table = report("sweep").text, report("sweep").table
    rows = {row["arm"]: row for row in table["rows"]}
    captions = FRONT.findall(text)
    assert len(captions) == 1
    points = {
        arm: (row["speedup"], row["f1_micro"])
        for arm, row in rows.items()
        if row["speedup"] is not None
    }
    assert set(captions[0].split(", ")) == slow_front(points)


def test_open_answers_are_not_marked_right_or_wrong(report):
    assert 'class="right"' not in report("open").text
    assert 'class="wrong"' not in report("open").text


def test_a_report_made_twice_is_the_same_page(pardec, folder, report):
    pardec.good(
        "report", "--db", report("oracle").db, "-o", folder / "again.html", "--examples", 100
    )
    assert (folder / "again.html").read_bytes() == report("oracle").file.read_bytes()


def test_examples_limits_the_examples_of_a_page(pardec, folder, report):
    pardec.good("report", "--db", report("oracle").db, "-o", folder / "few.html", "--examples", 3)
    few = (folder / "few.html").read_text(encoding="utf-8")
    assert few.count("<article") == 6
    assert "--examples 38 shows all" in few
    assert report("oracle").text.count("<article") == 74


def test_examples_mb_limits_the_size_of_a_page(pardec, folder, report):
    pardec.good(
        "report", "--db", report("oracle").db, "-o", folder / "small.html", "--examples", 100,
        "--examples-mb", 0.1,
    )
    small = (folder / "small.html").read_text(encoding="utf-8")
    assert 1 < small.count("<article") < 74
    assert "--examples-mb" in small


# In a browser ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def seen(browser, folder, report):
    """What a script sees in the page of a run at some width; Chromium opens each page once."""
    opened = functools.cache(lambda name: seen_by(browser, folder, report(name).file, PROBE))
    return lambda name, width: opened(name)[width]


@opened_runs
@every_width
def test_a_page_opens_without_errors_and_loads_nothing(seen, name, width):
    found = seen(name, width)
    assert found["errors"] == []
    assert found["ready"] == "yes"
    assert found["resources"] == []
    assert found["width"] == width


@opened_runs
@every_width
def test_a_table_is_sorted_by_its_headers(seen, name, width):
    found = seen(name, width)
    assert found["down"] == ["descending", sorted(found["before"], reverse=True)]
    assert found["up"] == ["ascending", sorted(found["before"])]
    assert found["arms"] == ["ascending", "none", sorted(found["arms"][2])]


@opened_runs
@every_width
def test_a_button_changes_the_colours(seen, name, width):
    theme = seen(name, width)["theme"]
    assert theme[0] == theme[2] != theme[1]


@opened_runs
@every_width
def test_keys_go_through_the_examples(seen, name, width):
    found = seen(name, width)
    everything, first = found["all"]
    assert len(everything) == len(set(everything)) > 1
    assert first == everything[:1]
    assert found["focused"] == [True, True]
    for (key, shown, marked), at in zip(found["keys"], [1, 2, 1, -1, 0]):
        assert shown == [everything[min(at, len(everything) - 1)]], f"{key} shows {shown}"
        assert marked


# From elsewhere: what has the focus, the key, whether it is taken, and the place in the list that
# is shown then.
ELSEWHERE = [
    ("a button", "ArrowDown", True, 1),
    ("a button", "ArrowLeft", True, 0),
    ("a heading", "ArrowRight", True, 1),
    ("a heading", "PageDown", False, 0),
    ("nothing, in sight", "ArrowRight", True, 1),
    ("nothing, in sight", "ArrowDown", False, 0),
    ("nothing, out of sight", "ArrowRight", False, 0),
    ("a field", "ArrowDown", False, 0),
    ("a field", "ArrowRight", False, 0),
    ("a box", "ArrowRight", False, 0),
    ("a box", "ArrowDown", False, 0),
]


@opened_runs
@every_width
def test_keys_elsewhere_are_taken_where_they_mean_nothing_else(seen, name, width):
    for found, wanted in zip(seen(name, width)["elsewhere"], ELSEWHERE, strict=True):
        assert tuple(found) == wanted


@opened_runs
@every_width
def test_filters_show_what_the_database_holds(report, seen, name, width):
    found, kinds = seen(name, width), stored(report(name).db)[0]
    for kind, of_arms in kinds.items():
        some = set().union(*of_arms.values()) if of_arms else set()
        assert (kind in found["filters"]) == bool(some), kind
        if some:
            pressed, listed, shown = found["filters"][kind]
            assert pressed == "true", kind
            assert shown[0] in listed, kind
            assert set(listed) == some, kind


@opened_runs
@every_width
def test_the_filter_of_limits_is_by_arm(report, seen, name, width):
    limits = stored(report(name).db)[0]["limit"]
    for arm, listed in seen(name, width)["of"].items():
        of_arm = limits.get(arm, set()) if arm else set().union(*limits.values())
        assert not limits or set(listed) == of_arm, arm


@opened_runs
@every_width
def test_tokens_are_as_many_as_stored_and_come_pass_by_pass(report, seen, name, width):
    """Those of the first example; the baseline's came one a pass."""
    found, db = seen(name, width), report(name).db
    with contextlib.closing(sqlite3.connect(db)) as connection:
        tokens = {
            label: json.loads(tokens)
            for label, tokens in connection.execute(
                "SELECT run.label, generation.tokens FROM generation JOIN run ON run.id = run_id"
                " JOIN sample ON sample.id = sample_id WHERE sample.key = ? AND generation.repeat ="
                " 0 AND generation.error IS NULL",
                (found["all"][1][0],),
            )
        }
    written = dict(found["tokens"])
    assert set(written) >= set(tokens), f"tokens of {set(written)}, expected {set(tokens)}"
    for label, ids in tokens.items():
        assert sum(len(line) for line in written[label]) == len(ids), (
            f"{label} shows {written[label]}, stored {ids}"
        )
    passes = [token[1] for line in written["ar"] for token in line]
    assert passes == list(range(1, len(tokens["ar"]) + 1)), f"passes of ar: {passes}"
    last, first, whole = found["scrubbed"]
    known = {
        label: [token[1] for line in lines for token in line if token[1]]
        for label, lines in written.items()
    }
    assert last == max(max(passes, default=0) for passes in known.values()), (
        f"{last} passes to go through"
    )
    for (label, later, said, _), (_, held, all_, struck) in zip(first, whole, strict=True):
        count = len(known[label])
        behind = sum(p > 1 for p in known[label])
        assert later == behind, f"{label} at pass 1: {later} held back, {said}"
        assert not count or said.startswith(f"{count - behind} of {count} tokens")
        assert held == 0, f"{label} at the end: {held}, {struck}, {all_}"
        assert struck == 0
        assert not count or all_.startswith(f"{count} of {count} tokens")


@opened_runs
@every_width
def test_nothing_meets_is_cut_or_out_of_reach(report, seen, name, width):
    found = seen(name, width)
    assert found["faults"] == []
    assert min(found["measured"]) > 100, "boxes"
    assert found["wide"] <= 0, "the page scrolls sideways"
    assert found["unreachable"] == 0, "controls out of the keyboard's reach"


@opened_runs
@every_width
def test_the_quality_of_a_row_is_in_sight_and_all_columns_by_a_switch(seen, name, width):
    found = seen(name, width)
    assert found["cut"] == []
    assert found["switched"][0] <= 7 < found["switched"][1]


@opened_runs
@every_width
def test_figures_stand_in_one_or_two_columns(report, seen, name, width):
    found = seen(name, width)
    assert found["figures"] == report(name).text.count("<figure>")
    assert not found["figures"] or found["columns"] == (1 if width < 1112 else 2)


@opened_runs
def test_a_script_that_got_into_the_page_is_not_run(browser, folder, report, name):
    text = report(name).text
    foreign = folder / f"{name}-foreign.html"
    foreign.write_text(
        text.replace(
            "</h1>",
            '</h1><img src=x onerror="document.title = 1"><script>document.title = "another script'
            ' ran";</script>',
            1,
        ),
        encoding="utf-8",
    )
    title = re.search("<title>.*?</title>", text)[0]
    assert title in chromium(browser, folder / "profile", "--dump-dom", foreign.as_uri()).stdout


def screenshot(browser, folder, report, width, shot, *flags):
    """A picture of a page; what Chromium said."""
    size, out = f"--window-size={width},3600", f"--screenshot={shot}"
    return chromium(browser, folder / "profile", size, out, *flags, report.file.as_uri())


@opened_runs
def test_a_page_is_drawn_with_a_silent_console(browser, folder, report, name, request):
    shot = folder / f"{name}.png"
    ran = screenshot(browser, folder, report(name), WIDTHS[-1], shot)
    assert shot.stat().st_size > 20000
    assert not [line for line in ran.stderr.splitlines() if "CONSOLE" in line]
    if request.config.getoption("--keep"):
        for width in WIDTHS:
            for scheme, flag in (("light", 1), ("dark", 0)):
                shot = folder / f"{name}-{width}-{scheme}.png"
                colours = f"--blink-settings=preferredColorScheme={flag}"
                screenshot(browser, folder, report(name), width, shot, colours)


# Other runs and plots ----------------------------------------------------------------------------


def small_run(pardec, db, arms, *flags):
    """A run of the quickstart's network on six examples."""
    pathlib.Path(db).unlink(missing_ok=True)
    arms = [word for arm in arms for word in ("--arm", arm)]
    pardec.good(
        "run", "--model", QUICKSTART / "model", *arms, "--dataset", "oa-mine", "--limit", 6,
        "--threads", 1, "--progress", "none", *flags, "--db", db,
    )


def test_an_example_that_is_answered_twice_departs_once(pardec, folder):
    """With the number of its answers that depart from the baseline's."""
    db, out = folder / "twice.sqlite", folder / "twice.html"
    small_run(pardec, db, ["ar=ar", "hpd=hpd,stack=2"], "--runs", 2)
    pardec.good("report", "--db", db, "-o", out)
    table = json.loads(Page(out.read_text(encoding="utf-8")).blocks["differences"])
    with contextlib.closing(sqlite3.connect(db)) as connection:
        departed = dict(
            connection.execute(
                "SELECT sample.key, count(*) FROM generation JOIN sample ON sample.id = sample_id"
                " WHERE identical = 0 GROUP BY 1"
            )
        )
    assert departed, "none departs"
    assert {row["sample"]: row["repeats"] for row in table["rows"]} == departed
    assert len(table["rows"]) == len(departed)
    assert table["notes"][0].startswith(
        f"{sum(departed.values())} answers to {len(departed)} examples"
    )


@needs_gnuplot
@pytest.mark.parametrize("name, fronts", [("cut", 1), ("all-cut", 0)])
def test_a_broken_arm_is_on_no_pareto_front(pardec, folder, name, fronts):
    """And no front is drawn beside a broken baseline."""
    db, out = folder / f"{name}.sqlite", folder / f"{name}.html"
    arms = ["ar=ar", "hpd=hpd,stack=2", *(["cut=hpd,stack=2"] if name == "cut" else [])]
    small_run(pardec, db, arms, *(["--max-new-tokens", 8] if name == "all-cut" else []))
    if name == "cut":
        with contextlib.closing(sqlite3.connect(db)) as connection, connection:
            connection.execute(
                "UPDATE generation SET error = 'made to fail' WHERE run_id = (SELECT id FROM run"
                " WHERE label = 'cut')"
            )
    pardec.good("report", "--db", db, "-o", out)
    captions = FRONT.findall(out.read_text(encoding="utf-8"))
    assert len(captions) == fronts
    assert not captions or (
        "cut" not in captions[0].split("; broken: ")[0].split(", ")
        and captions[0].endswith("; broken: cut")
    )


NO_TOOLS = {"PATH": "/nonexistent"}


def test_without_gnuplot_a_page_comes_with_its_tables_and_says_so(pardec, folder, report):
    pardec.good("report", "--db", report("oracle").db, "-o", folder / "plain.html", env=NO_TOOLS)
    plain = (folder / "plain.html").read_text(encoding="utf-8")
    assert "gnuplot-nox" in plain
    assert "<figure>" not in plain
    assert "comparison-table" in plain


def test_without_gnuplot_a_plot_says_what_to_install(pardec, folder, report):
    out = folder / "no.svg"
    ran = pardec("plot", "--db", report("oracle").db, "--x", "hpd.k_max", "-o", out, env=NO_TOOLS)
    assert ran.returncode == 2, ran.stderr
    assert "apt-get install gnuplot-nox" in ran.stderr
    assert not out.exists()


@pytest.mark.parametrize(
    "flags, said",
    [
        (["--x", "hpd.k_maz"], "hpd.k_max"),
        (["--y", "spedup"], "speedup"),
        (["-o", "x.jpg"], ".svg, .pdf or .png"),
        (["--run", "nothing"], "no run"),
    ],
    ids=["x", "y", "ending", "run"],
)
def test_a_plot_of_what_is_not_there_is_refused_in_one_line(pardec, report, flags, said):
    ran = pardec("plot", "--db", report("oracle").db, *flags)
    assert ran.returncode == 2, ran.stderr
    assert said in ran.stderr
    assert ran.stderr.count("\n") == 1


@needs_gnuplot
@pytest.mark.parametrize(
    "x, y, ending",
    [
        ("hpd.k_max", "speedup", "svg"),
        ("hpd.stack", "examples_per_second", "png"),
        ("batch_size", "speedup", "pdf"),
    ],
)
def test_a_plot_is_drawn(pardec, folder, report, x, y, ending):
    out = folder / f"{x}.{ending}"
    pardec.good("plot", "--db", report("oracle").db, "--x", x, "--y", y, "-o", out)
    assert out.stat().st_size > 2000


def test_data_stats_has_published_numbers_and_the_samples(pardec):
    rows = {
        (row["dataset"], row["split"]): row
        for row in json.loads(pardec.good("data", "stats", "--format", "json"))["rows"]
    }
    assert rows["oa-mine", "test"]["examples_published"] == 491
    assert rows["ae-110k", "train"]["attributes_per_category_published"] == 10.1
    assert rows["oa-mine", "test"]["examples"] == 38
