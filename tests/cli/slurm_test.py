"""`sweep --slurm` and `reproduce --slurm`: the scripts that they write, and the sweep that a real
Slurm runs with them.
"""

import json
import os
import re
import subprocess
import time

import pytest
from harness import ROOT, answers, query
from slurm import Slurm, need_slurm

QUICKSTART = ROOT / "experiments" / "quickstart" / "model"
SWEEP = [
    "--decoder", "ar,hpd", "--dataset", "oa-mine", "--grid", "hpd.k_max=4,8", "--grid", "hpd.stack=1,2",
    "--max-new-tokens", "12", "--block", "2", "--threads", "1", "--progress", "none",
]

# That one process needs for the array's work. A task, which has half of it, gets its signal after a
# minute.
SECONDS = 150


@pytest.fixture(scope="module")
def scripts(pardec, model):
    """Writes the scripts of a sweep; returns the array's, the merging job's, and the commands that
    submit them. The program runs itself, since the scripts name it.
    """

    def made(name, *flags):
        line = [pardec.path, "sweep", "--model", model, *SWEEP, *flags, "--slurm", f"{name}.sbatch"]
        ran = subprocess.run(line, cwd=pardec.folder, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
        array, merge = (pardec.folder / f"{name}{end}" for end in (".sbatch", ".merge.sbatch"))
        return array, merge, ran.stderr.strip().splitlines()[-2:]

    return made


def test_the_scripts_are_correct_shell(scripts):
    for script in scripts("shell", "--limit", "8", "--db", "it's a sweep.sqlite")[:2]:
        assert subprocess.run(["bash", "-n", script]).returncode == 0


def test_the_array_has_the_plans_time_and_memory(scripts):
    text = scripts("plan", "--limit", "8", "--slurm-tasks", "3")[0].read_text()
    assert "#SBATCH --array=0-2\n" in text
    assert int(re.search(r"--time=(\d+)\n", text)[1]) >= 3
    assert int(re.search(r"--mem=(\d+)M\n", text)[1]) >= 160
    cells = re.findall(r"^#   oa-mine, (\S+): \S+ \S+, \S+ [MG]B$", text, re.M)
    assert cells == [
        "ar", *(f"hpd,k_max={k},stack={stack}" for k in (4, 8) for stack in (1, 2))
    ]


def test_both_scripts_have_the_settings_of_the_environment(scripts, monkeypatch):
    monkeypatch.setenv("PARDEC_SEED", "7")
    monkeypatch.setenv("PARDEC_SLURM_TASKS", "2")
    for script in scripts("environment", "--limit", "8")[:2]:
        lines = script.read_text().splitlines()
        assert "export PARDEC_SEED=7" in lines
        assert any(line.startswith("unset PARDEC_SLURM PARDEC_SLURM_TASKS ") for line in lines)
        assert not [line for line in lines if line.startswith("export PARDEC_SLURM")]


def test_a_part_that_no_task_made_is_left_out(scripts, tmp_path):
    merge = scripts("parts", "--limit", "4", "--db", "parts.sqlite")[1]
    loop = [line for line in merge.read_text().splitlines() if line.startswith(("parts=", "for "))]
    (tmp_path / "parts.sqlite.part-1").touch()
    ran = subprocess.run(
        ["bash", "-c", "\n".join([*loop, 'echo "${parts[@]}"'])], cwd=tmp_path, capture_output=True,
        text=True,
    )
    assert ran.stdout.strip() == "parts.sqlite.part-1", ran.stderr


def test_there_are_no_more_tasks_than_blocks(scripts):
    text = scripts("few", "--limit", "4", "--slurm-tasks", "8")[0].read_text()
    assert "#SBATCH --array=0-1\n" in text


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--slurm", "x.sh"], "--slurm is 'x.sh', expected the name of a script, *.sbatch"),
        (["--slurm", "x.sbatch", "--shard", "0/2"], "leave --shard out"),
        (["--slurm", "x.sbatch", "--dry-run"], "leave --dry-run out"),
        (["--slurm", "x.sbatch", "--fresh"], "leave --fresh out"),
        (["--slurm", "x.sbatch", "--trace", "t.jsonl"], "leave --trace out"),
        (["--slurm", "no/x.sbatch"], "--slurm is 'no/x.sbatch', expected a file in a folder that exists"),
        (["--slurm-tasks", "3"], "expected --slurm with it"),
    ],
)
def test_what_cannot_be_an_array_is_refused(pardec, model, flags, said):
    ran = pardec("sweep", "--model", model, *SWEEP, *flags)
    assert ran.returncode == 2 and said in ran.stderr, ran.stderr
    assert not list(pardec.folder.glob("x.*"))


@pytest.fixture(scope="module")
def papers(pardec):
    """The scripts of two items with a run each, and of one that only counts."""
    line = [
        pardec.path, "reproduce", "ippd", "--model", f"main={QUICKSTART}", "--limit", "2", "--budget", "10m",
        "--threads", "1", "--progress", "none", "--db", "papers.sqlite", "--slurm", "papers.sbatch",
        "--slurm-tasks", "3", "--format", "json",
    ]
    ran = subprocess.run(line, cwd=pardec.folder, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return [pardec.folder / f"papers{end}" for end in (".sbatch", ".merge.sbatch")]


def run_script(script, **environment):
    """Runs a script as Slurm would."""
    return subprocess.run(
        ["bash", script],
        cwd=script.parent,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )


@pytest.mark.whole
def test_an_array_of_papers_makes_each_run_once(pardec, papers):
    """Each task makes other runs, and the merging job shows the verdicts of all of them."""
    array, merge = papers
    made = []
    for task in range(3):
        ran = run_script(array, SLURM_ARRAY_TASK_ID=str(task), SLURM_JOB_ID="1")
        assert ran.returncode == 0, ran.stderr
        part = pardec.folder / f"papers.sqlite.part-{task}"
        made.append({row["name"] for row in query(part, "SELECT name FROM experiment")})
    assert all(made), made
    assert sum(map(len, made)) == len(set.union(*made)), made
    ran = run_script(merge)
    assert ran.returncode == 0, ran.stderr
    runs = query(pardec.folder / "papers.sqlite", "SELECT DISTINCT name FROM experiment")
    assert {row["name"] for row in runs} == set.union(*made)
    shown = json.loads(ran.stdout[ran.stdout.index("\n[") :])  # after the table of the merge
    verdicts = [row["claim"] for row in shown[-1]["rows"]]
    assert {"I6m", "I5a", "I2"} <= set(verdicts), verdicts


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--slurm", "y.sh", "--budget", "1m"], "--slurm is 'y.sh', expected the name of a script"),
        (["--slurm", "y.sbatch"], "--slurm needs --budget"),
        (["--slurm", "y.sbatch", "--budget", "1m", "--shard", "0/2"], "leave --shard out"),
        (["--slurm", "y.sbatch", "--budget", "1m", "--train"], "the tasks train no networks"),
        (["--slurm", "y.sbatch", "--budget", "1m", "--dry-run"], "leave --dry-run out"),
        (["--slurm", "y.sbatch", "--budget", "0"], "--slurm needs --budget"),
    ],
)
def test_papers_that_cannot_be_an_array_are_refused(pardec, flags, said):
    ran = pardec("reproduce", "ippd", *flags)
    assert ran.returncode == 2 and said in ran.stderr, ran.stderr
    assert not list(pardec.folder.glob("y.*"))


@pytest.fixture(scope="module")
def slurm(pardec):
    need_slurm()
    folder = pardec.folder / "slurm"
    folder.mkdir()
    started = Slurm(folder)
    yield started
    started.end()


@pytest.mark.whole
def test_slurm_runs_an_array_that_its_time_limit_stops(pardec, model, scripts, slurm):
    """Each task is stopped by the limit of two minutes, asks to be queued again, and goes on. The
    merged results are those of one process.
    """
    sweep = ["sweep", "--model", model, *SWEEP, "--limit", "200"]
    begin = time.monotonic()
    pardec.good(*sweep, "--runs", "4", "--db", "four.sqlite")
    runs = max(4, int(4 * SECONDS / (time.monotonic() - begin)))
    flags = ["--limit", "200", "--runs", str(runs), "--db", "array.sqlite", "--slurm-tasks", "2"]
    array, merge, _ = scripts("array", *flags)
    array.write_text(re.sub(r"--time=\d+", "--time=2", array.read_text()))
    number = slurm.good("sbatch", "--parsable", array, folder=pardec.folder).strip()
    slurm.good("sbatch", f"--dependency=afterok:{number}", merge, folder=pardec.folder)
    slurm.wait("the end of all jobs", lambda: not slurm.good("squeue", "--noheader"), 1800)
    logs = {file.name: file.read_text() for file in pardec.folder.glob("array-*.log")}
    assert len(logs) == 3, logs
    stopped = [name for name, text in logs.items() if "stopped; all results so far" in text]
    assert stopped, f"no task reached its time limit: {logs}"
    alone = pardec.folder / "alone.sqlite"
    pardec.good(*sweep, *flags[2:4], "--db", alone)
    merged = pardec.folder / "array.sqlite"
    assert answers(merged) == answers(alone)
    blocks = "SELECT label, repeat, position FROM block JOIN run ON run.id = run_id WHERE wall_ns > 0 ORDER BY 1, 2, 3"
    assert query(merged, blocks) == query(alone, blocks)
    assert {row["status"] for row in query(merged, "SELECT status FROM run")} == {"done"}
    assert "best cell" not in logs and any("hpd,k_max=8" in text for text in logs.values())
