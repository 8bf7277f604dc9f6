"""scripts/bench-busy measures each build, beside each number of busy loops, and leaves no busy loop
running.
"""

import json
import subprocess
import sys

import pytest
from harness import ROOT

pytestmark = pytest.mark.whole


@pytest.fixture(scope="module")
def measured(program, tmp_path_factory):
    """What is printed, and the samples."""
    output = tmp_path_factory.mktemp("busy") / "busy.json"
    peer = program("pardec_peer")
    command = [
        sys.executable,
        ROOT / "scripts" / "bench-busy",
        "--program",
        f"one={peer}",
        "--program",
        f"other={peer}",
        "--model",
        f"quickstart={ROOT}/experiments/quickstart/model",
        "--dtype",
        "bf16",
        "--threads",
        "1,2",
        "--busy",
        "0,1",
        "--rounds",
        "2",
        "--seconds",
        "0.01",
        "--rows",
        "4",
        "-o",
        output,
    ]
    ran = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout, json.loads(output.read_text())


def test_each_build_is_measured_beside_each_number_of_busy_loops(measured):
    _, samples = measured
    kinds = {(s["program"], s["threads"], s["busy"], s["quantity"]) for s in samples}
    assert len(kinds) == 16
    assert len(samples) == 32
    assert all(s["rate"] > 0 for s in samples)


def test_tables_say_what_was_measured(measured):
    printed, _ = measured
    assert printed.count("quickstart, bf16") == 4
    assert "2 threads, other" in printed
    assert "one busy loop" in printed


def test_no_busy_loop_is_left(measured):
    ran = subprocess.run(["ps", "-o", "args=", "--ppid", "1"], capture_output=True, text=True)
    assert "while True: pass" not in ran.stdout
