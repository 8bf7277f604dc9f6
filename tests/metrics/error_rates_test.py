"""How often conclusions are wrong where the truth is known.

The simulation runs now; its rates have to keep to the nominal ones, as far as so many trials can
tell. `-m whole`: more trials, and the tables of results/statistics.md have to be those of the
simulation.
"""

import math
import re
import subprocess

import pytest
from harness import ROOT

# Rows in which the method cannot hold, and the page says so: disturbances no larger than what
# blocks differ by themselves.
KNOWN = {"the same, ratios of their own"}


def tables(text):
    """{title: {row: [cells]}} of the Markdown tables below headings."""
    found, rows = {}, None
    for line in text.splitlines():
        if line.startswith("### "):
            rows = found.setdefault(line[4:], {})
        elif rows is not None and line.startswith("| ") and not re.match(r"\|.*n = \d+ \|", line):
            name, *cells = [cell.strip() for cell in line.strip("|").split("|")]
            rows[name] = [tuple(float(number) for number in cell.split(" / ")) for cell in cells]
    return found


@pytest.fixture(scope="module", params=[100, pytest.param(2000, marks=pytest.mark.whole)])
def simulated(request, program):
    """The number of trials, and the tables of the simulation."""
    ran = subprocess.run(
        [program("conclusions_simulation"), str(request.param)],
        text=True,
        check=True,
        stdout=subprocess.PIPE,
    )
    return request.param, tables(ran.stdout)


def test_rates_keep_to_what_is_promised(simulated):
    trials, found = simulated
    assert found
    for title, rows in found.items():
        nominal = float(re.search(r"nominal (?:at most )?([\d.]+) %", title).group(1))
        # Four standard errors of a count, and half a percent for intervals that are not exact.
        room = 0.5 + 400 * math.sqrt(nominal / 100 * (1 - nominal / 100) / trials)
        for name, row in rows.items():
            for _, now in row:
                if name not in KNOWN:
                    assert now >= nominal - 2 - room if nominal > 50 else now <= nominal + room, (
                        f"{title}: {name}"
                    )


def test_the_jackknife_alone_errs(simulated):
    """Otherwise the simulation would show nothing."""
    errors = [
        row for title, rows in simulated[1].items() if "Not worse" in title for row in rows.values()
    ]
    assert max(before for row in errors for before, _ in row) > 40


@pytest.mark.whole
def test_the_page_has_the_tables_of_the_simulation(simulated):
    written = tables((ROOT / "results" / "statistics.md").read_text())
    for title, rows in simulated[1].items():
        for name, row in rows.items():
            for stored, now in zip(written[title][name], row, strict=True):
                assert stored == pytest.approx(now, abs=0.3), (
                    f"{title}: {name}; conclusions_simulation 2000 prints the tables"
                )
