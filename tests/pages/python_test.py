"""The recipes of results/python.md: its command runs, then its Python blocks in order; their
numbers are those of `compare --format csv` and of the database.
"""

import contextlib
import csv
import io
import json
import math
import pathlib
import sqlite3
import tempfile

import pytest
from pages import ROOT, blocks, commands

from harness import query, skip  # isort: skip: pages knows where it is

try:
    import matplotlib.pyplot
    import pandas
    import pyarrow  # noqa: F401
except ImportError as missing:
    skip(f"{missing}; scripts/setup --tests installs it")

from tour_test import scratch_copy, shell

PAGE = ROOT / "results" / "python.md"


@pytest.fixture(scope="module")
def folder(program):
    """A folder with the project's files, in which the page's commands have run."""
    with tempfile.TemporaryDirectory(prefix="pardec-python-") as name:
        folder = pathlib.Path(name)
        scratch_copy(folder, program("pardec"))
        settings = ""
        for block in blocks(PAGE):
            for command in commands(block) if block.language == "sh" else ():
                if command.startswith("pardec="):
                    settings = command + "\n"
                    continue
                ran = shell(folder, settings + command)
                assert ran.returncode == 0, f"{block.where}: {command}\n{ran.stderr}"
        yield folder


@pytest.fixture(scope="module")
def page(folder):
    """The names that the page's Python blocks make, by name; `printed`: what each block prints."""
    matplotlib.use("agg")
    names, printed = {}, {}
    with contextlib.chdir(folder):
        for block in blocks(PAGE):
            if block.language == "python":
                out = io.StringIO()
                with contextlib.redirect_stdout(out):  # a traceback has the page's line
                    exec(compile("\n" * (block.line - 1) + block.text, PAGE, "exec"), names)
                printed[block.where] = ("print(" in block.text, out.getvalue())
    return {**names, "printed": printed}


@pytest.fixture(scope="module")
def compared(folder):
    """The rows of `compare`."""
    ran = shell(folder, "build/release/pardec compare --db r.sqlite --format csv")
    return list(csv.DictReader(io.StringIO(ran.stdout)))


@pytest.fixture(scope="module")
def stored(folder):
    """The answers of the database, by dataset, arm, sample and repeat."""
    rows = query(
        folder / "r.sqlite",
        "SELECT label, dataset.name AS dataset, key, repeat, generation.text, sample.text AS asked,"
        " total_ns, score.value AS f1 FROM generation JOIN run ON run.id = run_id JOIN dataset ON"
        " dataset.id = run.dataset_id JOIN sample ON sample.id = sample_id JOIN (SELECT id AS job,"
        " total_ns FROM job) ON job = job_id LEFT JOIN score ON generation_id = generation.id AND"
        " metric = 'extractgpt_f1'",
    )
    return {(r["dataset"], r["label"], r["key"], r["repeat"]): r for r in rows}


def test_blocks_print_where_they_call_print(page):
    for where, (calls, printed) in page["printed"].items():
        assert calls == bool(printed), f"{where}: prints {printed!r}"
    assert sum(bool(printed) for _, printed in page["printed"].values()) >= 8


def close(a, b, tolerance=1e-12):
    return math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance)


def test_scores_and_counts_are_those_of_compare(page, compared):
    assert len(compared) == 8
    for row in compared:
        of = row["dataset"], row["arm"]
        for metric in ("f1_micro", "f1_macro", "f1_strict"):
            assert close(page["scores"].loc[of, metric], float(row[metric])), f"{of}: {metric}"
            assert page["comparison"].loc[of, metric] == float(row[metric]), f"{of}: {metric}"
        for count in ("failed", "hit_limit", "unparsed", "empty", "broken", "n"):
            assert page["counts"].loc[of, count] == int(row[count]), f"{of}: {count}"
        assert close(page["tokens_per_forward"][of], float(row["tokens_per_forward"])), of


def test_intervals_of_scores_are_near_those_of_compare(page, compared):
    for row in compared:
        of = row["dataset"], row["arm"]
        low, high = page["f1_interval"][of]
        left, right = float(row["f1_micro_low"]), float(row["f1_micro_high"])
        assert low < float(row["f1_micro"]) < high, of
        assert left - 0.03 < low, of
        assert high < right + 0.03, of
        assert high - low > 0.4 * (right - left), of


def test_speedups_are_those_of_compare(page, compared):
    methods = 0
    for row in compared:
        of = row["dataset"], row["arm"]
        if not row["baseline"]:
            assert of not in page["speedup"]
            assert of not in page["speedup_interval"]
            continue
        methods += 1
        assert close(page["speedup"][of], float(row["speedup"])), of
        left, right = page["speedup_interval"][of]
        assert left < float(row["speedup"]) < right, of
        assert left > 0.8 * float(row["speedup_low"]), of
        assert right < 1.25 * float(row["speedup_high"]), of
    assert methods == 6


def test_warnings_are_those_of_compare(page, folder):
    ran = shell(folder, "build/release/pardec compare --db r.sqlite --format json")
    said = json.loads(ran.stdout)["warnings"]
    codes = {of: codes.split(", ") for of, codes in page["warnings"].items()}
    assert codes == {
        of: [w["code"] for w in said if (w["dataset"], w["arm"]) == of] for of in codes
    }
    assert sum(map(len, codes.values())) == len(said) > 0


def test_all_answers_are_read(page, stored):
    assert len(stored) == len(page["answers"]) == 2 * 4 * 24


def test_the_slowest_answers_are_the_slowest_of_the_database(page, stored):
    times = [r["total_ns"] for r in stored.values() if r["label"] == "hpd,k_max=30"]
    slowest = sorted(times, reverse=True)[:5]
    assert [round(s * 1e9) for s in page["slowest"]["seconds"]] == slowest
    for row in page["slowest"].to_dict("records"):
        of = stored[row["dataset"], row["arm"], row["sample"], row["repeat"]]
        assert of["asked"] == row["asked"]
        assert of["text"] == row["text"]
        assert of["total_ns"] == round(row["seconds"] * 1e9)
        assert row["examples_in_job"] == 2


def test_the_worst_answers_are_those_of_the_database(page, stored):
    worst = page["worst"].to_dict("records")
    assert len(worst) == 5
    assert all(a["lost"] >= b["lost"] for a, b in zip(worst, worst[1:]))
    assert worst[0]["lost"] > 0
    assert len({r["sample"] for r in worst}) > 3
    for row in worst:
        ours = stored[row["dataset"], row["arm"], row["sample"], 0]
        theirs = stored[row["dataset"], "ar", row["sample"], 0]
        assert row["text"] == ours["text"]
        assert row["baseline_text"] == theirs["text"]
        assert row["asked"] == ours["asked"]
        assert close(row["score"], ours["f1"])
        assert close(row["baseline_score"], theirs["f1"])


def test_any_two_arms_stand_side_by_side(page, stored):
    beside = page["side_by_side"]["text"]
    assert len(beside) == 48
    for (dataset, arm, sample, repeat), of in stored.items():
        assert beside.loc[(dataset, sample, repeat), arm] == of["text"]


@pytest.fixture
def panels(page):
    """The axes of the figures that the page draws."""
    return [matplotlib.pyplot.figure(n).axes for n in matplotlib.pyplot.get_fignums()]


def test_the_curve_shows_the_speedups(page, panels):
    assert [len(of) for of in panels] == [1, 2]
    shown = {
        container.get_label(): dict(zip(*container.lines[0].get_data()))
        for container in panels[0][0].containers
    }
    curve = page["curve"]
    assert shown == {
        dataset: {k: curve.loc[(dataset, f"hpd,k_max={k}"), "speedup"] for k in (4, 8, 30)}
        for dataset in ("oa-mine", "ae-110k")
    }


def test_the_scatter_shows_speedups_and_scores(page, panels):
    for of in panels[1]:
        points = {
            container.get_label(): tuple(float(v[0]) for v in container.lines[0].get_data())
            for container in of.containers
        }
        rows = page["comparison"].loc[of.get_title()]
        assert points == {arm: (row["speedup"], row["f1_micro"]) for arm, row in rows.iterrows()}
        assert len(points) == 4


@pytest.mark.parametrize("name", ["curve.svg", "scatter.svg"])
def test_a_figure_is_drawn(page, folder, name):
    assert (folder / name).stat().st_size > 10_000


def test_the_picture_of_the_page_shows_these_arms():
    picture = (ROOT / "results" / "python.svg").read_text(encoding="utf-8")
    for text in ("ar", "hpd,k_max=4", "hpd,k_max=30", "oa-mine", "ae-110k", "F1 micro"):
        assert f"{text}</text>" in picture


@pytest.fixture(scope="module")
def of_parquet(folder):
    ran = shell(folder, "build/release/pardec export --db r.sqlite --format parquet --out tables")
    assert ran.returncode == 0, ran.stderr
    return pandas.read_parquet(folder / "tables" / "generations.parquet")


def test_parquet_has_the_columns_of_csv(page, of_parquet):
    assert list(of_parquet.columns) == list(page["answers"].columns)


COLUMNS = ("dataset", "arm", "sample", "repeat", "asked", "text", "seconds", "hit_limit")


def test_csv_parquet_and_the_view_have_the_same_rows(page, folder, of_parquet):
    database = f"file:{folder / 'r.sqlite'}?mode=ro"
    with contextlib.closing(sqlite3.connect(database, uri=True)) as db:
        of_view = pandas.read_sql("SELECT * FROM generations ORDER BY run_id, generation_id", db)
    for column in COLUMNS:
        assert list(of_parquet[column]) == list(page["answers"][column]) == list(of_view[column]), (
            column
        )
