"""The server's HTTP part and its queue under ThreadSanitizer, with a stub engine: libtorch is not
instrumented. No race is suppressed.
"""

import os
import subprocess

import pytest
from harness import ROOT
from stub import crowd, stub_server, wait_idle


@pytest.fixture(scope="module")
def stub():
    """The stub, built by the preset tsan."""
    for command in (["--preset", "tsan"], ["--build", "--preset", "tsan", "--target", "serve_stub"]):
        built = subprocess.run(["cmake", *command], cwd=ROOT, capture_output=True, text=True)
        assert built.returncode == 0, (built.stdout + built.stderr)[-3000:]
    return ROOT / "build" / "tsan" / "tests" / "serve" / "serve_stub"


def test_no_race_is_seen_while_a_crowd_comes_and_goes(stub):
    faults = []
    options = {**os.environ, "TSAN_OPTIONS": "halt_on_error=0 exitcode=66"}
    with stub_server(stub, env=options) as (port, _):
        crowd(port, 48, 20, faults)
        assert wait_idle(port)["running"] == 0
    assert faults == []


def test_a_race_would_be_seen(tmp_path):
    """The sanitizer works in this place: a program with a race fails."""
    source = tmp_path / "race.cpp"
    source.write_text(
        "#include <thread>\nint n = 0;\n"
        "int main() { std::thread t([] { ++n; }); ++n; t.join(); return n - 2; }\n"
    )
    program = tmp_path / "race"
    subprocess.run(["g++", "-fsanitize=thread", "-g", source, "-o", program], check=True)
    assert b"ThreadSanitizer: data race" in subprocess.run([program], capture_output=True).stderr
