"""The commands of experiments/serving.md for other programs, run as they stand there."""

import os
import re
import shutil
import subprocess

import pytest
from harness import ROOT

PAGE = ROOT / "experiments" / "serving.md"


def installed(name, program):
    """The folder of a client's program; skips where it is missing."""
    for folder in (ROOT / "build" / "clients" / name / "bin", ROOT / ".venv" / "bin"):
        if shutil.which(program, path=str(folder)):
            return folder
    pytest.skip(f"{name} is missing: tests/serve/clients/setup {name}")


def run_page(name, program, server, out, offline=True):
    """Runs the page's commands for a client against a server; their output. `offline`: the client
    may ask no hub; AIPerf then refuses folders as names of tokenizers.
    """
    folder = installed(name.lower(), program)
    text = PAGE.read_text(encoding="utf-8")
    block = re.search(rf"^### {re.escape(name)}\n.*?^```sh\n(.*?)^```", text, re.M | re.S)[1]
    script = block.replace("127.0.0.1:8000", f"127.0.0.1:{server.port}")
    environment = {
        **os.environ,
        "PATH": f"{folder}:{os.environ['PATH']}",
        "OUT": str(out),
        "HF_HOME": str(out / "hf"),
        **({"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"} if offline else {}),
    }
    ran = subprocess.run(
        ["bash", "-e", "-c", script], cwd=ROOT, env=environment, capture_output=True, text=True,
        timeout=1200,
    )
    assert ran.returncode == 0, (ran.stdout + ran.stderr)[-4000:]
    return ran.stdout
