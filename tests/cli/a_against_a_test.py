"""An arm against itself shows no difference, or the machine was disturbed and the table says so: on this machine as it is, and with busy loops beside it.

Usage: a_against_a_test.py PROGRAM [--runs N]
"""
import argparse
import json
import multiprocessing
import os
import sys

from harness import ROOT, Checks, scratch

MODEL = ROOT / "experiments" / "quickstart" / "model"
WANTED = 0.94


def busy(stop):
    while not stop.is_set():
        sum(range(100000))


def one_run(pardec, number):
    """(whether the interval holds 1, whether the run is marked as disturbed)."""
    db = pardec.folder / f"{number}.sqlite"
    ran = json.loads(pardec.good("run", "--model", MODEL, "--arm", "a=ar", "--arm", "b=ar", "--baseline", "a", "--dataset", "oa-mine", "--limit", 12, "--block", 2, "--seed", number,
                                 "--threads", os.cpu_count() or 1, "--db", db, "--progress", "none", "--format", "json"))
    db.unlink()
    low, high = ran["rows"][1]["speedup_interval"]
    return low <= 1 <= high, any(w["code"] == "disturbed" for w in ran["warnings"])


def against_itself(check, pardec, runs, loops):
    stop = multiprocessing.Event()
    beside = [multiprocessing.Process(target=busy, args=(stop,), daemon=True) for _ in range(loops)]
    for loop in beside:
        loop.start()
    found = [one_run(pardec, number) for number in range(runs)]
    stop.set()
    for loop in beside:
        loop.join()
    same, marked = sum(s for s, _ in found), sum(m for _, m in found)
    either = sum(s or m for s, m in found)
    print(f"{loops} busy loops beside: {same} of {runs} runs show no difference, {marked} are marked as disturbed, {either} are one of them", flush=True)
    check(either >= WANTED * runs, f"{runs - either} of {runs} runs show a difference that is none, with {loops} busy loops")
    check(loops == 0 or marked >= WANTED * runs, f"with {loops} busy loops {marked} of {runs} runs are marked")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--runs", type=int, default=100)
    arguments = parser.parse_args()
    check = Checks()
    with scratch(arguments.program) as pardec:
        for loops in (0, 2):
            against_itself(check, pardec, arguments.runs, loops)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
