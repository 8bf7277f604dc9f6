"""An arm against itself shows no difference, or the machine was disturbed and the table says so: on
this machine as it is, and with busy loops beside it.
"""

import json
import multiprocessing
import os

import pytest

from harness import ROOT

MODEL = ROOT / "experiments" / "quickstart" / "model"
RUNS, WANTED = 100, 0.94


def busy(stop):
    while not stop.is_set():
        sum(range(100000))


def one_run(pardec, number):
    """(whether the interval holds 1, whether the run is marked as disturbed)."""
    db = pardec.folder / f"{number}.sqlite"
    ran = json.loads(
        pardec.good(
            "run", "--model", MODEL, "--arm", "a=ar", "--arm", "b=ar", "--baseline", "a",
            "--dataset", "oa-mine", "--limit", 12, "--block", 2, "--seed", number, "--threads",
            os.cpu_count() or 1, "--db", db, "--progress", "none", "--format", "json",
        )
    )
    db.unlink()
    low, high = ran["rows"][1]["speedup_interval"]
    return low <= 1 <= high, any(w["code"] == "disturbed" for w in ran["warnings"])


@pytest.mark.parametrize("loops", [0, 2])
def test_an_arm_against_itself_shows_no_difference_or_a_disturbance(pardec, loops):
    stop = multiprocessing.Event()
    beside = [multiprocessing.Process(target=busy, args=(stop,), daemon=True) for _ in range(loops)]
    for loop in beside:
        loop.start()
    found = [one_run(pardec, number) for number in range(RUNS)]
    stop.set()
    for loop in beside:
        loop.join()
    same, marked = sum(s for s, _ in found), sum(m for _, m in found)
    print(f"{same} of {RUNS} runs show no difference, {marked} are marked as disturbed")
    assert sum(s or m for s, m in found) >= WANTED * RUNS
    assert loops == 0 or marked >= WANTED * RUNS
