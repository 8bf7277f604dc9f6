"""Tests of several processes that mpirun starts."""

import os
import pathlib
import shutil
import subprocess

import pytest

# Tests run as root in containers, where processes may not read one another's memory.
MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}


def need_mpi(pardec):
    """Skips if this machine has no mpirun, or the program no MPI."""
    if not shutil.which("mpirun"):
        pytest.skip("mpirun is missing (Debian package openmpi-bin)")
    said = subprocess.run([pardec, "--version"], capture_output=True, text=True).stdout
    if "MPI none" in said:
        pytest.skip("pardec was built without MPI (Debian package libopenmpi-dev is missing)")


def start(commands, folder=None, **options):
    """mpirun with a process for each command line, in the order of ranks."""
    called = ["mpirun", "--oversubscribe", "--bind-to", "none"]
    for rank, command in enumerate(commands):
        called += [*([":"] if rank else []), "-n", "1", *map(str, command)]
    return subprocess.Popen(
        called,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env={**os.environ, **MPI},
        **options,
    )


def ended(mpirun, within=120, say=None):
    """(exit code, stdout, stderr). `say`: for its stdin."""
    try:
        out, said = mpirun.communicate(say, timeout=within)
    except subprocess.TimeoutExpired:
        mpirun.kill()
        out, said = mpirun.communicate()
        said = "did not end " + said
    return mpirun.returncode, out, said.strip()


def process_of(mpirun, rank):
    """The number of the process of a rank."""
    children = pathlib.Path(f"/proc/{mpirun.pid}/task/{mpirun.pid}/children").read_text().split()
    wanted = f"OMPI_COMM_WORLD_RANK={rank}".encode()
    for child in children:
        if wanted in pathlib.Path(f"/proc/{child}/environ").read_bytes().split(b"\0"):
            return int(child)
    raise AssertionError(f"no process of rank {rank} among {children}")
