"""scripts/bench-train on SmolLM2, small: both do the same work, and what keeps it from measuring is said.

Usage: train_peers_test.py PARDEC
"""
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from harness import ROOT, SMOLLM2, Checks  # noqa: E402

checks = Checks()


def bench(*arguments):
    command = [sys.executable, ROOT / "scripts/bench-train", "--program", sys.argv[1], "--python", sys.executable, *arguments]
    return subprocess.run([str(part) for part in command], capture_output=True, text=True)


if not SMOLLM2.exists():
    print("[skipped] build/models/smollm2-135m-instruct is not there (scripts/fetch-smollm2)")
    sys.exit(77)
small = ["--context", 96, "--sequences", 4, "--rounds", 1, "--steps", 2]
done = bench(*small)
checks(done.returncode == 0, f"it measures: {done.stderr}")
checks(re.search(r"^pardec / \(transformers \+ peft\): \d+\.\d\d ", done.stdout, re.M), f"a ratio: {done.stdout}")
losses = re.search(r"loss ([\d.]+) and ([\d.]+), then ([\d.]+) and ([\d.]+)", done.stdout)
first, theirs, after, after_theirs = map(float, losses.groups())
checks(after < first and after_theirs < theirs, "both learn")
checks(abs(after - after_theirs) < 0.2 * (first - after), f"an update does to both the same: {losses.group()}")
checks("no network in nowhere" in bench("--model", "nowhere").stderr, "no network")
checks("expected --steps 2" in bench("--steps", 1).stderr, "no update beside the warm-up")
sys.exit(checks.finish())
