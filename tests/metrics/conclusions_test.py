"""How often conclusions are wrong where the truth is known.

usage: conclusions_test.py SIMULATION TRIALS [PAGE]

SIMULATION is run; what it counts now has to keep to the nominal rates, as far as so many trials can tell. With PAGE, its tables
have to stand there.
"""
import math
import pathlib
import re
import subprocess
import sys

# Rows in which the method cannot hold, and the page says so: disturbances no larger than what blocks differ by themselves.
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


def main():
    program, trials, *page = sys.argv[1:]
    text = subprocess.run([program, trials], text=True, check=True, stdout=subprocess.PIPE).stdout
    found = tables(text)
    problems, cells = [], 0
    for title, rows in found.items():
        nominal = float(re.search(r"nominal (?:at most )?([\d.]+) %", title).group(1))
        # Four standard errors of a count, and half a percent for intervals that are no exact ones.
        room = 0.5 + 400 * math.sqrt(nominal / 100 * (1 - nominal / 100) / int(trials))
        for name, row in rows.items():
            for before, now in row:
                cells += 1
                good = now >= nominal - 2 - room if nominal > 50 else now <= nominal + room
                if not good and name not in KNOWN:
                    problems.append(f"{title}: {name}: {now}")
    # What held before does not: else the simulation would show nothing.
    errors = [row for title, rows in found.items() if "Not worse" in title for row in rows.values()]
    if not max(before for row in errors for before, _ in row) > 40:
        problems.append("the jackknife alone errs nowhere: the simulation lost its teeth")
    if page:
        written = tables(pathlib.Path(page[0]).read_text())
        for title, rows in found.items():
            for name, row in rows.items():
                stored = written.get(title, {}).get(name)
                if stored is None or any(abs(a - b) > 0.3 for x, y in zip(stored, row) for a, b in zip(x, y)):
                    problems.append(f"{page[0]}: {title}: {name}: has {stored}, found {row}; {program} {trials} prints the tables")
    print("\n".join(problems) or f"{cells} rates keep to what is promised")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
