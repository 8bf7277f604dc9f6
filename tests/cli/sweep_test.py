"""`pardec sweep`: a grid's cells are arms of one run, which is killed and goes on, split and
merged, and gives the same.

The tests marked `whole`: 4 K_max x 3 stacks x 3 batches of the quickstart model, five kills, four
shards.
"""

import csv
import dataclasses
import io
import json
import pathlib
import random
import re
import shutil

import pytest
from harness import ROOT, answers, job_count, kill_after, query, records

QUICKSTART = ROOT / "experiments" / "quickstart" / "model"
# What a comparison says of speed and of who measured: not the same in two runs.
MEASURED = (
    "_per_second", "speedup", "latency", "first_token", "disturbed", "repaired", "in_flight",
    "streams", "blocks",
)


def cells_of(db):
    """The cells as the database has them."""
    return sorted(
        (
            r["label"], r["decoder"], r["options"], r["batch_size"], r["baseline"], r["seed"],
            r["config_hash"],
        )
        for r in query(db, "SELECT * FROM run")
    )


def rounded(value):
    """Numbers to twelve digits: where rows were merged, sums run in another order."""
    return (
        [rounded(v) for v in value]
        if isinstance(value, list)
        else (
            {k: rounded(v) for k, v in value.items()}
            if isinstance(value, dict)
            else round(value, 12)
            if isinstance(value, float)
            else value
        )
    )


def rows_of(pardec, db):
    """The comparison's rows without what was measured by the clock."""
    rows = json.loads(pardec.good("compare", "--db", db, "--format", "json"))["rows"]
    return {
        (r["dataset"], r["arm"]): {
            k: rounded(v) for k, v in r.items() if not any(m in k for m in MEASURED)
        }
        for r in rows
    }


@dataclasses.dataclass
class Grid:
    """A grid, what its sweep prints, and the database of a sweep that nothing interrupted."""

    model: pathlib.Path
    axes: list
    size: list
    kills: int
    shards: int
    cells: int
    whole: pathlib.Path
    printed: str = ""

    def command(self):
        base = [
            "--model", self.model, "--decoder", "ar,hpd", "--dataset", "oa-mine", "--progress",
            "none",
        ]
        return [
            "sweep",
            *base,
            *(word for axis in self.axes for word in ("--grid", axis)),
            *self.size,
        ]


@pytest.fixture(scope="module")
def model(pardec):
    return pardec.synthesise("model")


@pytest.fixture(scope="module", params=["small", pytest.param("whole", marks=pytest.mark.whole)])
def grid(request, pardec, model):
    if request.param == "whole":
        axes = ["hpd.k_max=4,8,16,30", "hpd.stack=1,2,6", "batch_size=1,2,4"]
        found = Grid(QUICKSTART, axes, ["--block", 6], 5, 4, 39, pardec.folder / "whole.sqlite")
    else:
        axes = ["hpd.k_max=4,6", "hpd.stack=1,2", "batch_size=1,2"]
        found = Grid(
            model,
            axes,
            ["--limit", 12, "--block", 2, "--max-new-tokens", 16],
            2,
            2,
            10,
            pardec.folder / "small.sqlite",
        )
    found.printed = pardec.good(*found.command(), "--db", found.whole, timeout=3000)
    return found


def test_a_sweep_has_every_cell_and_names_the_best(grid):
    assert "best cell of oa-mine: " in grid.printed
    assert len(cells_of(grid.whole)) == grid.cells


def own_baselines(db):
    return {r["label"]: r["baseline"] for r in query(db, "SELECT label, baseline FROM run")}


def test_a_cell_is_compared_with_the_ar_of_its_batch_size(grid):
    for label, baseline in own_baselines(grid.whole).items():
        if label.startswith("hpd"):
            assert baseline == "ar," + label.rsplit(",", 1)[1], label


def check_same(pardec, db, whole, cells=True):
    """A database holds what an uninterrupted sweep stores."""
    assert answers(db) == answers(whole), "other answers"
    if cells:
        assert cells_of(db) == cells_of(whole), "other cells"
    mine, wanted = rows_of(pardec, db), rows_of(pardec, whole)
    assert mine.keys() == wanted.keys()
    for key, row in wanted.items():
        assert mine[key] == row, f"row {key}"
    assert {r["status"] for r in query(db, "SELECT status FROM run")} == {"done"}


def blocks_of(db):
    return query(db, "SELECT arm, count(*) AS blocks FROM speedup_pairs GROUP BY 1 ORDER BY 1")


def test_a_killed_sweep_goes_on_with_the_same_command(pardec, grid):
    rng = random.Random()
    seed = rng.randrange(10**6)
    rng.seed(seed)
    print(f"moments of the kills: seed {seed}")
    db, committed, total = pardec.folder / f"killed-{grid.cells}.sqlite", 0, job_count(grid.whole)
    for _ in range(grid.kills):
        process = pardec.start(*grid.command(), "--db", db)
        died = kill_after(
            process,
            db,
            committed + rng.randint(1, max(1, total // (grid.kills + 2))),
            rng.uniform(0, 0.02),
        )
        committed = job_count(db)
        assert died
        assert committed < total
    ran = pardec(*grid.command(), "--db", db, timeout=3000)
    assert ran.returncode == 0, ran.stderr
    assert "continues invocation" in ran.stderr
    assert len({r["invocation"] for r in query(db, "SELECT invocation FROM run")}) == 1, (
        "it goes on in its own invocation"
    )
    assert blocks_of(db) == blocks_of(grid.whole)
    check_same(pardec, db, grid.whole)
    # The same command once more does nothing.
    before = query(db, "SELECT * FROM job ORDER BY id")
    pardec.good(*grid.command(), "--db", db, timeout=3000)
    assert query(db, "SELECT * FROM job ORDER BY id") == before


def test_shards_that_are_merged_are_the_whole(pardec, grid):
    """Also if they are merged twice."""
    parts = [pardec.folder / f"shard-{i}-{grid.cells}.sqlite" for i in range(grid.shards)]
    for index, db in enumerate(parts):
        pardec.good(*grid.command(), "--shard", f"{index}/{grid.shards}", "--db", db, timeout=3000)
        assert 0 < job_count(db) < job_count(grid.whole), f"shard {index}"
    together = pardec.folder / f"together-{grid.cells}.sqlite"
    pardec.good("merge", together, *parts)
    check_same(pardec, together, grid.whole, cells=False)

    def content():
        return {
            table: query(together, f"SELECT * FROM {table} ORDER BY 1, 2")
            for table in ("run", "block", "job", "generation", "score", "sample")
        }

    before = content()
    pardec.good("merge", together, *reversed(parts))
    assert content() == before


def test_every_cell_is_a_point_of_a_line_of_its_other_settings(pardec, grid):
    script = pardec.good(
        "plot", "--db", grid.whole, "--x", "hpd.k_max", "--y", "tokens_per_forward", "--script"
    )
    lines = {
        (json.loads(r["options"])["stack"], r["batch_size"])
        for r in query(grid.whole, "SELECT options, batch_size FROM run WHERE decoder = 'hpd'")
    }
    for stack, batch in lines:
        assert f"batch_size {batch}" in script
        assert f"stack {stack}" in script


def test_json_and_csv_name_the_baseline_of_each_row(pardec, grid):
    wanted = own_baselines(grid.whole)
    rows = json.loads(pardec.good("compare", "--db", grid.whole, "--format", "json"))["rows"]
    assert {r["arm"]: r["baseline"] for r in rows} == wanted
    rows = csv.DictReader(
        io.StringIO(pardec.good("compare", "--db", grid.whole, "--format", "csv"))
    )
    assert {r["arm"]: r["baseline"] or None for r in rows} == wanted


@pytest.mark.parametrize("flags", [[], ["--wide"]], ids=["short", "wide"])
@pytest.mark.parametrize("format", ["text", "md", "latex"])
def test_a_table_for_people_names_the_baseline_of_each_row(pardec, grid, format, flags):
    table = pardec.good("compare", "--db", grid.whole, "--format", format, *flags).replace(
        "\\_", "_"
    )
    lines = [
        line
        for line in table.splitlines()
        if re.search(r"\bhpd,k_max=4,stack=1,batch_size=2\b", line) and "speedup" not in line
    ]
    assert lines, table[:3000]
    assert re.search(r"\bar,batch_size=2\b", lines[0])


def test_the_matrix_names_the_baselines_below(pardec, grid):
    assert "hpd,k_max=4,stack=1,batch_size=2: ar,batch_size=2;" in pardec.good(
        "compare", "--db", grid.whole, "--matrix"
    )


def test_one_baseline_needs_no_column_for_people(pardec, model):
    """Programs always get it."""
    pardec.good(
        "run", "--model", model, "--decoder", "ar,hpd", "--dataset", "oa-mine", "--limit", 2,
        "--max-new-tokens", 4, "--db", "one.sqlite", "--progress", "none",
    )
    assert "baseline  " not in pardec.good("compare", "--db", "one.sqlite").splitlines()[1]
    assert [
        r["baseline"]
        for r in json.loads(pardec.good("compare", "--db", "one.sqlite", "--format", "json"))[
            "rows"
        ]
    ] == [None, "ar"]


def test_checkpoints_of_a_training_are_drawn_over_its_updates(pardec, model, tmp_path):
    """By the training's record, else by the folder's name; another training's are left out."""
    db = tmp_path / "training.sqlite"
    training = {"early": 20, "step-300": None, "late": 500}
    folders = {tmp_path / "mine" / name: steps for name, steps in training.items()}
    for folder, steps in [(tmp_path / "other" / "step-7", None), *folders.items()]:
        shutil.copytree(model, folder)
        if steps:
            record = {
                "settings": {"format": ["text"]},
                "result": {"steps": steps, "best_step": 100 if steps == 500 else 0},
            }
            (folder / "training.json").write_text(json.dumps(record))
        pardec.good(
            "run", "--model", folder, "--decoder", "ar", "--dataset", "oa-mine", "--limit", 2,
            "--max-new-tokens", 4, "--db", db, "--progress", "none",
        )
    script = pardec.good(
        "plot", "--db", db, "--x", "checkpoint", "--y", "tokens_per_forward", "--script"
    )
    assert 'set xlabel "updates of the training"' in script
    assert "mine" in script
    assert re.findall(r"^([0-9]+) [0-9.]+ ", script, re.M) == ["20", "100", "300"]


SMALL = ["--dataset", "oa-mine", "--limit", 4, "--max-new-tokens", 8, "--progress", "none"]
BAD_CELLS = {
    f"{arm},batch_size={batch}"
    for arm in ("hpd,k_max=0", "hpd,k_max=x", "medusa", "speculative")
    for batch in (1, 2)
}
GOOD_CELLS = {
    "ar,batch_size=1", "ar,batch_size=2", "hpd,k_max=4,batch_size=1", "hpd,k_max=4,batch_size=2",
}


def check_refused_cells(ran, name):
    """Cells that cannot be run are rows with their reason, and the others run."""
    assert ran.returncode == 3, ran.stderr
    rows = json.loads(ran.stdout)["rows"]
    reasons = {r[name]: r["cannot_run"] for r in rows if r["cannot_run"]}
    assert reasons.keys() == BAD_CELLS
    assert "k_max" in reasons["hpd,k_max=0,batch_size=1"]
    assert "expected" in reasons["hpd,k_max=x,batch_size=2"]
    assert "--draft-model" in reasons["speculative,batch_size=1"]
    assert "heads" in reasons["medusa,batch_size=2"]
    assert {r[name] for r in rows} - BAD_CELLS == GOOD_CELLS


def test_cells_that_cannot_be_run_are_rows_with_their_reason(pardec, model):
    """In the plan, which stores nothing, in the sweep, and in compare."""
    db = pardec.folder / "refused.sqlite"
    command = [
        "sweep", "--model", model, "--decoder", "ar,medusa,speculative,hpd", "--grid",
        "hpd.k_max=4,0,x", "--grid", "batch_size=1,2", *SMALL, "--db", db, "--format", "json",
    ]
    check_refused_cells(pardec(*command, "--dry-run"), "cell")
    assert not db.exists()
    check_refused_cells(pardec(*command), "arm")
    assert db.exists()
    again = json.loads(pardec.good("compare", "--db", db, "--format", "json"))["rows"]
    assert {r["arm"] for r in again if r["cannot_run"]} == BAD_CELLS
    assert "n/a: oa-mine, medusa,batch_size=1: " in pardec.good("compare", "--db", db)


def test_a_grid_of_which_no_cell_can_be_run_is_refused(pardec, model, tmp_path):
    db = tmp_path / "none.sqlite"
    ran = pardec(
        "sweep", "--model", model, "--decoder", "hpd", "--grid", "hpd.k_max=0,x", *SMALL, "--db", db
    )
    assert ran.returncode == 2, ran.stderr
    assert "no cell of the grid can be run" in ran.stderr
    assert not db.exists()


def test_a_cell_of_a_checkpoint_that_does_not_exist_cannot_be_run(pardec, model):
    ran = pardec(
        "sweep",
        "--decoder",
        "ar",
        "--grid",
        f"model={model},{pardec.folder / 'no-such-model'}",
        *SMALL,
        "--db",
        "models.sqlite",
        "--format",
        "json",
    )
    assert ran.returncode == 3, ran.stderr
    rows = {r["arm"].rsplit("/", 1)[1]: r["cannot_run"] for r in json.loads(ran.stdout)["rows"]}
    assert rows["model"] is None
    assert "no-such-model" in rows["no-such-model"]


def test_cells_above_the_memory_limit_are_refused_and_the_best_below_it_is_named(pardec, model):
    big = pardec.synthesise(
        "big", hidden_size=1024, intermediate_size=4096, num_hidden_layers=6
    )  # 0.34 GB
    ran = pardec(
        "sweep", "--arm", f"big=ar,model={big}", "--decoder", "ar,hpd", "--model", QUICKSTART,
        "--grid", "hpd.stack=1,2", "--memory-limit", "400M", "--dataset", "oa-mine", "--limit", 4,
        "--progress", "none", "--db", "memory.sqlite",
    )
    assert ran.returncode == 3, ran.stderr
    assert "--memory-limit is 0.40 GB, and the weights take" in ran.stdout
    assert "best cell of oa-mine under 400M: ar, at most 0.2" in ran.stdout
    said = " ".join(ran.stdout.split())
    assert "; no other cell has answers that are shown to be as good. Not decided, answers open: hpd,stack=" in said


def test_a_dry_run_takes_times_from_stored_cells(pardec, grid):
    stored = json.loads(
        pardec.good(*grid.command(), "--db", grid.whole, "--dry-run", "--format", "json")
    )
    assert {r["from"] for r in stored["rows"]} == {"database"}
    wall = {
        r["label"]: r["s"]
        for r in query(
            grid.whole,
            "SELECT label, sum(wall_ns) * 1e-9 AS s FROM run JOIN block ON run_id = run.id GROUP BY"
            " run.id",
        )
    }
    for row in stored["rows"]:
        assert abs(row["seconds"] - wall[row["cell"]]) < 1e-6 + 1e-6 * wall[row["cell"]], row[
            "cell"
        ]


def test_a_dry_run_without_stored_cells_measures_a_batch_and_stores_nothing(pardec, grid):
    jobs, nothing = job_count(grid.whole), pardec.folder / "nothing.sqlite"
    fresh = json.loads(
        pardec.good(*grid.command(), "--db", nothing, "--dry-run", "--format", "json", timeout=3000)
    )
    assert {r["from"] for r in fresh["rows"]} == {"a batch"}
    assert all(r["seconds"] > 0 for r in fresh["rows"])
    assert all(r["bytes"] > 160e6 for r in fresh["rows"])
    assert "in all about" in fresh["notes"][0]
    assert not nothing.exists()
    assert job_count(grid.whole) == jobs


TARGET = [
    "--decoder", "ar,hpd", "--grid", "hpd.stack=1,2", "--dataset", "oa-mine", "--max-new-tokens", 8,
    "--block", 2, "--batch-size", 2, "--progress", "none",
]


def test_a_cell_whose_interval_is_narrow_enough_stops_with_its_baseline(pardec, model):
    """After six blocks or more; the table says so, and the sweep does not go on."""
    db = pardec.folder / "target.sqlite"
    command = ["sweep", "--model", model, *TARGET, "--target-ci", "90%", "--db", db]
    printed = pardec.good(*command)
    blocks = {
        r["label"]: r["n"]
        for r in query(
            db,
            "SELECT label, count(*) AS n FROM run JOIN block ON run_id = run.id WHERE wall_ns IS"
            " NOT NULL GROUP BY 1",
        )
    }
    planned = (len(records("oa-mine")) + 1) // 2
    assert all(6 <= n < planned for n in blocks.values()), f"{blocks} of about {planned} blocks"
    assert (
        f"stopped (--target-ci): oa-mine hpd,stack=1 after {blocks['hpd,stack=1']} of " in printed
    )
    assert "at most 90.0 % of it" in printed
    jobs = job_count(db)
    pardec.good(*command)
    assert job_count(db) == jobs


def test_a_target_that_is_not_reached_is_said(pardec, model):
    printed = pardec.good(
        "sweep", "--model", model, *TARGET, "--limit", 14, "--target-ci", "0.0001", "--db",
        "narrow.sqlite",
    )
    assert "not stopped (--target-ci 0.0 %): oa-mine hpd,stack=1, oa-mine hpd,stack=2: " in printed


def test_an_experiment_file_has_a_grid_of_networks_by_their_names(pardec, model):
    """`run` refuses it."""
    file, db = pardec.folder / "grid.json", pardec.folder / "file.sqlite"
    file.write_text(
        json.dumps(
            {
                "name": "grid",
                "model": "one",
                "models": {"one": str(model), "two": str(model)},
                "datasets": ["oa-mine"],
                "limit": 4,
                "max_new_tokens": 8,
                "batch_size": 2,
                "decoders": [{"name": "ar"}, {"label": "h", "name": "hpd", "set": {"k_max": 4}}],
                "grid": {"h.stack": [1, 2], "h.seed": [1, 2], "h.model": ["one"]},
                "baseline": "ar",
            }
        )
    )
    pardec.good("sweep", "-c", file, "--db", db, "--progress", "none")
    found = {(r["label"], r["seed"], r["baseline"]) for r in query(db, "SELECT * FROM run")}
    assert found == {("ar", 1, None)} | {
        (f"h,model={model},seed={seed},stack={stack}", seed, "ar")
        for seed in (1, 2)
        for stack in (1, 2)
    }
    refused = pardec("run", "-c", file, "--db", db)
    assert refused.returncode == 2, refused.stderr
    assert "'grid' is run by `pardec sweep`" in refused.stderr
