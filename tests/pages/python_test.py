"""The recipes of results/python.md: its command runs, then its Python blocks in order; their numbers are those of `compare --format csv` and of the database.

Usage: python_test.py PROGRAM
"""
import contextlib
import csv
import io
import json
import math
import os
import pathlib
import sqlite3
import sys
import tempfile

try:
    import matplotlib.pyplot
    import pandas
    import pyarrow  # noqa: F401
except ImportError as missing:
    print(f"[skipped] {missing}; scripts/setup --tests installs it")
    sys.exit(77)

from pages import ROOT, blocks, commands
from harness import Checks, query
from tour_test import scratch_copy, shell

PAGE = ROOT / "results" / "python.md"


def run_page(check, folder):
    """Runs the page in a folder. Returns the names that its Python blocks made, and the axes of its figures."""
    names, printed, settings = {}, 0, ""
    for block in blocks(PAGE):
        if block.language == "sh":
            for command in commands(block):
                if command.startswith("pardec="):
                    settings = command + "\n"
                    continue
                ran = shell(folder, settings + command)
                if not check(ran.returncode == 0, f"{block.where}: exit {ran.returncode}: {command}\n{ran.stderr[-1500:]}"):
                    sys.exit(check.finish())
        elif block.language == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile("\n" * (block.line - 1) + block.text, PAGE, "exec"), names)  # a traceback has the page's line
            check(("print(" in block.text) == bool(out.getvalue()), f"{block.where}: prints {out.getvalue()!r}")
            printed += bool(out.getvalue())
    check(printed >= 8, f"{printed} blocks print something")
    return names, [matplotlib.pyplot.figure(number).axes for number in matplotlib.pyplot.get_fignums()]


def close(a, b, tolerance=1e-12):
    return math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance)


def scores_and_speeds(check, names, compared):
    """The recipes' scores, counts and speeds are those of compare."""
    methods = 0
    for row in compared:
        of = row["dataset"], row["arm"]
        for metric in ("f1_micro", "f1_macro", "f1_strict"):
            check(close(names["scores"].loc[of, metric], float(row[metric])), f"{of}: {metric} {names['scores'].loc[of, metric]}, compare says {row[metric]}")
            check(names["comparison"].loc[of, metric] == float(row[metric]), f"{of}: {metric} of the comparison")
        for count in ("failed", "hit_limit", "unparsed", "empty", "broken", "n"):
            check(names["counts"].loc[of, count] == int(row[count]), f"{of}: {names['counts'].loc[of, count]} {count}, compare says {row[count]}")
        check(close(names["tokens_per_forward"][of], float(row["tokens_per_forward"])), f"{of}: tokens per pass {names['tokens_per_forward'][of]}")
        low, high = names["f1_interval"][of]
        check(low < float(row["f1_micro"]) < high and float(row["f1_micro_low"]) - 0.03 < low and high < float(row["f1_micro_high"]) + 0.03,
              f"{of}: the bootstrap gives {low} to {high}, compare {row['f1_micro_low']} to {row['f1_micro_high']}")
        check(high - low > 0.4 * (float(row["f1_micro_high"]) - float(row["f1_micro_low"])), f"{of}: a narrow interval: {low} to {high}")
        if not row["baseline"]:
            check(of not in names["speedup"] and of not in names["speedup_interval"], f"{of} has a speedup")
            continue
        methods += 1
        check(close(names["speedup"][of], float(row["speedup"])), f"{of}: speedup {names['speedup'][of]}, compare says {row['speedup']}")
        left, right = names["speedup_interval"][of]
        check(left < float(row["speedup"]) < right and left > 0.8 * float(row["speedup_low"]) and right < 1.25 * float(row["speedup_high"]),
              f"{of}: the bootstrap gives {left} to {right}, compare {row['speedup_low']} to {row['speedup_high']}")
    check(len(compared) == 8 and methods == 6, f"{len(compared)} arms, {methods} of them with a speedup")


def answers(check, names, db):
    """What the recipes show of answers is what the database holds."""
    stored = query(db, """SELECT label, dataset.name AS dataset, key, repeat, generation.text, sample.text AS asked, total_ns, score.value AS f1 FROM generation
                          JOIN run ON run.id = run_id JOIN dataset ON dataset.id = run.dataset_id JOIN sample ON sample.id = sample_id
                          JOIN (SELECT id AS job, total_ns FROM job) ON job = job_id
                          LEFT JOIN score ON generation_id = generation.id AND metric = 'extractgpt_f1'""")
    by_key = {(r["dataset"], r["label"], r["key"], r["repeat"]): r for r in stored}
    check(len(by_key) == len(names["answers"]) == 2 * 4 * 24, f"{len(names['answers'])} answers, the database has {len(by_key)}")
    slowest = sorted((r["total_ns"] for r in stored if r["label"] == "hpd,k_max=30"), reverse=True)[:5]
    check([round(s * 1e9) for s in names["slowest"]["seconds"]] == slowest, f"the slowest: {names['slowest']}, expected {slowest}")
    for row in names["slowest"].to_dict("records"):
        of = by_key[row["dataset"], row["arm"], row["sample"], row["repeat"]]
        check((of["asked"], of["text"], of["total_ns"]) == (row["asked"], row["text"], round(row["seconds"] * 1e9)) and row["examples_in_job"] == 2, f"a slow one: {row}, stored {of}")
    worst = names["worst"].to_dict("records")
    check(len(worst) == 5 and all(a["lost"] >= b["lost"] for a, b in zip(worst, worst[1:])) and worst[0]["lost"] > 0 and len({r["sample"] for r in worst}) > 3, f"the worst: {worst}")
    for row in worst:
        ours, theirs = by_key[row["dataset"], row["arm"], row["sample"], 0], by_key[row["dataset"], "ar", row["sample"], 0]
        check((row["text"], row["baseline_text"], row["asked"]) == (ours["text"], theirs["text"], ours["asked"]), f"side by side: {row}")
        check(close(row["score"], ours["f1"]) and close(row["baseline_score"], theirs["f1"]), f"scores of {row['sample']}: {row['score']}, {row['baseline_score']}, stored {ours['f1']}, {theirs['f1']}")
    beside = names["side_by_side"]["text"]
    check(len(beside) == 48 and all(beside.loc[(dataset, sample, repeat), arm] == of["text"] for (dataset, arm, sample, repeat), of in by_key.items()), "any two arms side by side")


def figures(check, names, axes, folder):
    """The figures show the numbers."""
    check([len(of) for of in axes] == [1, 2], f"panels: {axes}")
    shown = {container.get_label(): dict(zip(*container.lines[0].get_data())) for container in axes[0][0].containers}
    curve = names["curve"]
    wanted = {dataset: {k: curve.loc[(dataset, f"hpd,k_max={k}"), "speedup"] for k in (4, 8, 30)} for dataset in ("oa-mine", "ae-110k")}
    check(shown == wanted, f"the curve shows {shown}, expected {wanted}")
    for of in axes[1]:
        points = {container.get_label(): tuple(float(v[0]) for v in container.lines[0].get_data()) for container in of.containers}
        rows = names["comparison"].loc[of.get_title()]
        check(points == {arm: (row["speedup"], row["f1_micro"]) for arm, row in rows.iterrows()} and len(points) == 4, f"the scatter of {of.get_title()}: {points}")
    picture = (ROOT / "results" / "python.svg").read_text(encoding="utf-8")
    for name in ("curve.svg", "scatter.svg"):
        check((folder / name).stat().st_size > 10_000, f"{name} is drawn")
    check(all(f"{text}</text>" in picture for text in ("ar", "hpd,k_max=4", "hpd,k_max=30", "oa-mine", "ae-110k", "F1 micro")), "results/python.svg shows these arms")


def other_ways(check, names, folder):
    """Parquet and SQL give the same rows as csv."""
    ran = shell(folder, "build/release/pardec export --db r.sqlite --format parquet --out tables")
    check(ran.returncode == 0, f"parquet: {ran.stderr}")
    of_parquet, of_csv = pandas.read_parquet(folder / "tables" / "generations.parquet"), names["answers"]
    with contextlib.closing(sqlite3.connect(f"file:{folder / 'r.sqlite'}?mode=ro", uri=True)) as db:
        of_view = pandas.read_sql("SELECT * FROM generations ORDER BY run_id, generation_id", db)
    check(list(of_parquet.columns) == list(of_csv.columns), f"parquet: {list(of_parquet.columns)}")
    for column in ("dataset", "arm", "sample", "repeat", "asked", "text", "seconds", "hit_limit"):
        check(list(of_parquet[column]) == list(of_csv[column]) == list(of_view[column]), f"{column} is the same in csv, parquet and the view")


def main():
    check = Checks()
    matplotlib.use("agg")
    with tempfile.TemporaryDirectory(prefix="pardec-python-") as folder:
        folder = pathlib.Path(folder)
        scratch_copy(folder, pathlib.Path(sys.argv[1]).resolve())
        os.chdir(folder)
        names, axes = run_page(check, folder)
        ran = shell(folder, "build/release/pardec compare --db r.sqlite --format csv")
        scores_and_speeds(check, names, list(csv.DictReader(io.StringIO(ran.stdout))))
        said = json.loads(shell(folder, "build/release/pardec compare --db r.sqlite --format json").stdout)["warnings"]
        codes = {(dataset, arm): codes.split(", ") for (dataset, arm), codes in names["warnings"].items()}
        check(codes == {of: [w["code"] for w in said if (w["dataset"], w["arm"]) == of] for of in codes} and sum(map(len, codes.values())) == len(said) > 0, f"warnings: {codes}")
        answers(check, names, folder / "r.sqlite")
        figures(check, names, axes, folder)
        other_ways(check, names, folder)
        os.chdir(ROOT)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
