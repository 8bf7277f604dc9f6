"""`cmake --install`, then a project of its own that finds the libraries there: it builds and answers as the program does.

Usage: install_test.py BUILD CMAKE
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cli"))
from harness import Checks

MODEL, JOB = (ROOT / "experiments" / "quickstart" / name for name in ("model", "job.json"))


def run(*command, env=None):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, env=env)


def whole(build, cmake, scratch):
    prefix, example = scratch / "prefix", scratch / "example"
    installed = run(cmake, "--install", build, "--prefix", prefix)
    assert (installed.returncode == 0), (f"install: {installed.stderr[-600:]}")
    configured = run(cmake, "-S", ROOT / "tests" / "install" / "example", "-B", example, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}",
                     "-DCMAKE_BUILD_TYPE=Release")
    if not check(configured.returncode == 0, f"find_package(pardec): {configured.stderr[-900:]}"):
        return
    built = run(cmake, "--build", example)
    if not check(built.returncode == 0, f"the example is built: {built.stdout[-900:]}"):
        return
    commands = (example / "build.ninja").read_text()
    assert (str(ROOT / "src") not in re.sub(re.escape(str(ROOT / "tests")), "", commands)), ("it includes nothing of the sources")
    env = {**os.environ, "PARDEC_SHARE": str(prefix / "share" / "pardec")}
    answered = run(example / "decode_job", MODEL, JOB, env=env)
    assert (answered.returncode == 0), (f"the example runs: {answered.stderr}")
    for name in ("hpd", "ar"):
        said = run(prefix / "bin" / "pardec", "generate", "--model", MODEL, "--decoder", name, "--job", JOB, env=env)
        assert (said.returncode == 0), (f"the installed program runs: {said.stderr}")
        assert (said.stdout), (f"the installed program runs: {said.stderr}")
        assert (f"passes:\n{said.stdout}" in answered.stdout), (f"{name}: {said.stdout} by the program, {answered.stdout} by the example")
    # Without arguments it says how it is used.
    assert ("unknown" not in answered.stderr)
    assert (run(example / "decode_job").returncode == 2)
    missing = run(example / "decode_job", scratch, JOB, env=env)
    assert (missing.returncode == 1), (f"errors are exceptions: {missing.stderr}")
    assert ("config.json" in missing.stderr)


def main():
    check = Checks()
    with tempfile.TemporaryDirectory() as scratch:
        whole(pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(scratch))
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
