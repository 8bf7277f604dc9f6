"""The page of `reproduce --report`, and the report of a run that `reproduce` made: verdicts
first, the numbers of `--format json` to the digit.
"""

import html
import json
import re
import shutil

import pytest
from harness import ROOT
from browser import BOXES, GNUPLOT, QUICKSTART, WIDTHS, Page, check_numbers, check_offline, seen_by

HOSTILE = "<img src=x onerror=\"parent.postMessage('hacked', '*')\"></script><b>'\"&"
PROBE = (
    """
<script>
const seen = { errors: window.errors, ready: document.documentElement.dataset.ready,
  width: innerWidth, faults: [] };
const rows = id => [...document.getElementById(id + "-table").tBodies[0].rows];
seen.first = document.querySelector("main h2").id;
seen.filters = [...document.querySelectorAll("[data-rows-of] button")].map(button => {
  button.click();
  const shown = rows("verdicts").filter(row => row.getClientRects().length);
  return [button.value, shown.map(row => row.cells[0].textContent)];
});
document.querySelector("[data-rows-of] button").click();
const head = document.querySelector('#published-hpd-table3-table [data-key="measured"]');
head.querySelector("button").click();
seen.sorted = rows("published-hpd-table3").map(row => row.cells[3].textContent);
"""
    + BOXES
    + """
parent.postMessage(JSON.stringify(seen), "*");
</script>
"""
)


def share_with(folder):
    """The project's files with claims of each verdict, one of them hostile."""
    share = folder / "share"
    for entry in ("datasets", "experiments", "judges"):
        shutil.copytree(
            ROOT / entry,
            share / entry,
            ignore=shutil.ignore_patterns("*.cpp", "*.hpp", "smollm2", "model", "draft"),
        )
    file = share / "experiments" / "papers" / "hpd" / "table3.json"
    item = json.loads(file.read_text())

    def claim(name, of, over, **test):
        return {
            "id": name,
            "says": f"of {name}: {HOSTILE}",
            "scales": ["small"],
            "expect": "confirmed",
            "published": HOSTILE,
            "test": {
                "kind": "ratio",
                "metric": "tokens_per_forward",
                "of": of,
                "over": over,
                "op": ">",
                "than": 1,
                **test,
            },
        }

    item["claims"] = [
        claim("C", "hpd", "ar"),
        claim("W" + HOSTILE, "ar", "hpd"),
        claim("O", "hpd", "ar", metric="speed"),
        claim("N", "hpd", "ar", metric="judge_score"),
    ]
    item["published"]["datasets"] = {"Amazon Reviews 2023": "oa-mine"}  # numbers to stand beside
    for name in ("model", "draft"):
        item["scales"]["small"]["models"]["main" if name == "model" else name] = str(
            QUICKSTART / name
        )
    file.write_text(json.dumps(item))
    return share


@pytest.fixture(scope="module")
def share(pardec):
    return share_with(pardec.folder)


@pytest.fixture(scope="module")
def printed(pardec, share):
    """What `reproduce` printed, which made the page reproduced.html."""
    flags = [
        "hpd", "t3", "--limit", 10, "--threads", 1, "--progress", "none", "--db", "r.sqlite",
        "--format", "json", "--report", "reproduced.html",
    ]
    ran = pardec("reproduce", *flags, env={"PARDEC_SHARE": share})
    assert ran.returncode == 4, ran.stderr
    return json.loads(ran.stdout)


@pytest.fixture(scope="module")
def text(pardec, share, printed):
    """The text of a page: of `reproduced`, or of the `report` of its database."""
    pardec.good("report", "--db", "r.sqlite", "-o", "report.html", env={"PARDEC_SHARE": share})
    return lambda name: (pardec.folder / f"{name}.html").read_text(encoding="utf-8")


both_pages = pytest.mark.parametrize("name", ["reproduced", "report"])


@pytest.mark.parametrize(
    "claim, verdict, why",
    [
        ("C", "confirmed", "above 1: oa-mine"),
        ("W", "refuted", "not above 1: oa-mine"),
        ("O", "open", "fewer than 10 blocks"),
        ("N", "not testable", "lacks a judge"),
    ],
)
def test_a_claim_has_its_verdict_and_reason(printed, claim, verdict, why):
    row = next(row for row in printed[1]["rows"] if row["claim"][0] == claim)
    assert row["verdict"] == verdict
    assert row["why"] == why if verdict in ("confirmed", "refuted") else row["why"].startswith(why)
    assert claim != "C" or row["qualified"] == "stand-in, scaled"


@both_pages
def test_a_page_loads_nothing(text, name):
    check_offline(Page(text(name)), text(name))


@both_pages
@pytest.mark.parametrize("block, at", [("published-hpd-table3", 0), ("verdicts", 1)])
def test_a_table_is_reproduces(text, printed, name, block, at):
    page = Page(text(name))
    assert json.loads(page.blocks[block]) == printed[at]
    check_numbers(page, page.blocks[block].replace("\\u003c", "<"), block)


@both_pages
def test_hostile_text_stays_text(text, name):
    assert html.escape(HOSTILE, quote=False).split("'")[0].split('"')[0] in text(name)
    assert not re.search(r"<img|<b>", text(name))


@both_pages
def test_verdicts_come_first(text, name):
    places = [text(name).index(f'id="{part}"') for part in ("verdicts", "published", "figures")]
    assert places == sorted(places)


def test_figures_are_of_the_item_and_of_its_run(text):
    for title in ("hpd-table3: speedup", "papers-one-product: Speedup"):
        assert (title in text("reproduced")) == bool(GNUPLOT), title


def test_the_page_of_the_run_is_named(text):
    assert "pardec report --db r.sqlite --run " in text("reproduced")


@pytest.fixture(scope="module")
def seen(browser, pardec, text):
    """What a script sees in the page, by width."""
    return seen_by(browser, pardec.folder, pardec.folder / "reproduced.html", PROBE)


every_width = pytest.mark.parametrize("width", WIDTHS)


@every_width
def test_the_page_opens_without_errors_and_loads_nothing(seen, width):
    found = seen[width]
    assert found["errors"] == []
    assert found["resources"] == []
    assert found["ready"] == "yes"
    assert found["width"] == width
    assert found["first"] == "verdicts"


@every_width
def test_filters_show_the_claims_of_a_verdict(seen, width):
    shown = {value: {claim[0] for claim in claims} for value, claims in seen[width]["filters"]}
    assert shown == {
        "": set("CWON"),
        "confirmed": {"C"},
        "refuted": {"W"},
        "open": {"O"},
        "not testable": {"N"},
    }


@every_width
def test_the_published_table_is_sorted_by_its_headers(seen, width):
    numbers = [float(n) for n in seen[width]["sorted"] if n != "-"]
    assert numbers == sorted(numbers, reverse=True)
    assert len(numbers) > 4


@every_width
def test_nothing_meets_is_cut_or_out_of_reach(seen, width):
    found = seen[width]
    assert found["faults"] == []
    assert min(found["measured"]) > 60, "boxes"
    assert found["wide"] <= 0, "the page scrolls sideways"
    assert found["unreachable"] == 0, "controls out of the keyboard's reach"
    assert found["theme"][0] == found["theme"][2] != found["theme"][1]
