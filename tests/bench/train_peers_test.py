"""scripts/bench-train on SmolLM2, small: both do the same work, and what keeps the script from
measuring is said.
"""

import re
import subprocess
import sys

import pytest
from harness import ROOT, SMOLLM2

pytestmark = pytest.mark.whole


@pytest.fixture(scope="module")
def bench(program):
    if not SMOLLM2.exists():
        pytest.skip(f"{SMOLLM2} is missing; scripts/fetch-smollm2 makes it")

    def run(*arguments):
        command = [
            sys.executable, ROOT / "scripts/bench-train", "--program", program("pardec"),
            "--python", sys.executable, *arguments,
        ]
        return subprocess.run([str(part) for part in command], capture_output=True, text=True)

    return run


@pytest.fixture(scope="module")
def done(bench):
    ran = bench("--context", 96, "--sequences", 4, "--rounds", 1, "--steps", 2)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_a_ratio_is_told(done):
    assert re.search(r"^pardec / \(transformers \+ peft\): \d+\.\d\d ", done, re.M)


def test_an_update_does_the_same_to_both(done):
    losses = re.search(r"loss ([\d.]+) and ([\d.]+), then ([\d.]+) and ([\d.]+)", done)
    first, theirs, after, after_theirs = map(float, losses.groups())
    assert after < first
    assert after_theirs < theirs
    assert abs(after - after_theirs) < 0.2 * (first - after)


def test_a_folder_without_a_network_is_told(bench):
    assert "no network in nowhere" in bench("--model", "nowhere").stderr


def test_one_step_is_refused(bench):
    """There is no update besides the warm-up."""
    assert "expected --steps 2" in bench("--steps", 1).stderr
