"""Data parallel training: two and three processes, started by mpirun, have the losses and weights
of one; one that is killed or stands still ends the others, and its rank is said; what was saved is
resumed with equal bits; only rank 0 writes.
"""

import os
import signal
import time

import pytest
import ranks
from small_training import prepare, run, tensors, train

pytest.importorskip("safetensors")
pytest.importorskip("torch")

FLAGS = [
    "--steps", "50", "--batch-tokens", "900", "--validation", "0.25", "--validate-every", "10",
    "--save-every", "10",
]
LONG = ["--steps", "4000", "--batch-tokens", "900", "--save-every", "1"]


@pytest.fixture(scope="module", autouse=True)
def with_mpi(program):
    ranks.need_mpi(program("pardec"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the titles, which all tests share."""
    folder = tmp_path_factory.mktemp("processes")
    prepare(folder)
    return folder


@pytest.fixture(scope="module")
def command(program, folder):
    """The command line of a training."""

    def made(out, *flags, threads=1, model="config.json"):
        flags = train(program("pardec"), folder, out, *flags, model=model)
        flags[flags.index("--threads") + 1] = str(threads)
        return flags

    return made


@pytest.fixture(scope="module")
def start(command):
    """Starts all processes of a training by mpirun; `own`: flags of some ranks."""

    def started(out, size, *flags, own=None, model="config.json"):
        lines = []
        for rank in range(size):
            ranks_own = (own or {}).get(rank, [])
            into = out if rank == 0 else f"{out}-{rank}"
            lines.append(command(into, *flags, *ranks_own, model=model))
        return ranks.start(lines)

    return started


def wait_for_a_state(folder, out, mpirun):
    """Until the first update is saved, or all end."""
    while not (folder / out / "state.safetensors").exists() and mpirun.poll() is None:
        time.sleep(0.002)


def ended(mpirun, within=120):
    """(exit code, stderr), and how long it took."""
    begin = time.monotonic()
    code, _, said = ranks.ended(mpirun, within)
    return (code, said), time.monotonic() - begin


def good(mpirun):
    """What the processes of a training said, which ended well."""
    (code, said), _ = ended(mpirun)
    assert code == 0, said
    return said


def losses(folder, out):
    """The rows of loss.csv, without times."""
    return [
        [float(part or -1) for part in line.split(",")[:5]]
        for line in (folder / out / "loss.csv").read_text().splitlines()[1:]
    ]


def far(one, other):
    """The largest relative difference of losses, train and validation."""
    return max(abs(a[i] - b[i]) / abs(a[i]) for a, b in zip(one, other) for i in (3, 4))


def equal_bits(one, other):
    """Whether two files hold the same tensors, to the bit."""
    one, other = tensors(one), tensors(other)
    import torch

    return one.keys() == other.keys() and all(torch.equal(one[key], other[key]) for key in one)


@pytest.fixture(scope="module")
def alone(command):
    """One process of one thread, in the folder alone."""
    ran = run(command("alone", *FLAGS))
    assert ran.returncode == 0, ran.stderr[-200:]


@pytest.fixture(scope="module")
def threads(command):
    """One process of two threads, in the folder threads."""
    ran = run(command("threads", *FLAGS, threads=2))
    assert ran.returncode == 0, ran.stderr[-200:]


@pytest.fixture(scope="module")
def group(start):
    """Several processes, in the folder groupN; what they said, by their number."""
    made = {}

    def of(size):
        if size not in made:
            made[size] = good(start(f"group{size}", size, *FLAGS))
        return made[size]

    return of


sizes = pytest.mark.parametrize("size", [2, 3])


@sizes
def test_rank_0_alone_speaks_and_writes(folder, group, size):
    lines = group(size).splitlines()
    assert lines and len(lines) == len(set(lines)), lines
    assert not list(folder.glob(f"group{size}-*"))


@sizes
def test_processes_have_the_losses_of_one(folder, alone, group, size):
    group(size)
    one, several = losses(folder, "alone"), losses(folder, f"group{size}")
    assert len(one) == len(several) == 50
    assert [row[:2] for row in one] == [row[:2] for row in several]
    assert far(one, several) <= 1e-5


def test_two_processes_have_the_bits_of_two_threads(folder, threads, group):
    """As many workers, the same sums."""
    group(2)
    assert equal_bits(folder / "threads/state.safetensors", folder / "group2/state.safetensors")


def test_the_clock_of_rank_0_stops_both_and_they_resume_to_the_same_bits(folder, start, group):
    group(2)
    said = good(start("clock", 2, *FLAGS, own={0: ["--minutes", "0.00001"]}))
    assert "stopped at update 1 of 50: --minutes" in said
    good(start("clock", 2, *FLAGS, "--resume"))
    assert equal_bits(folder / "group2/state.safetensors", folder / "clock/state.safetensors")


def test_adapters_heads_and_dropout_have_the_bits_of_two_threads(folder, command, start, group):
    group(2)
    small = [
        "--lora-rank", "2", "--lora-dropout", "0.2", "--medusa-heads", "2", "--medusa-share-head",
        *FLAGS,
    ]
    assert run(command("small", *small, threads=2, model="group2")).returncode == 0
    good(start("small2", 2, *small, model="group2"))
    assert equal_bits(folder / "small/state.safetensors", folder / "small2/state.safetensors")


@pytest.mark.parametrize("size, victim", [(2, 1), (2, 0), (3, 2)])
def test_a_process_that_is_killed_ends_the_others_and_is_named(folder, start, size, victim):
    out = f"killed{size}{victim}"
    mpirun = start(out, size, *LONG)
    wait_for_a_state(folder, out, mpirun)
    os.kill(ranks.process_of(mpirun, victim), signal.SIGKILL)
    (code, said), took = ended(mpirun, 30)
    assert code != 0
    assert f"rank {victim} " in said and "signal 9" in said, said
    assert tensors(folder / out / "state.safetensors")
    assert took < 15


@pytest.mark.parametrize("victim", [0, 1])
def test_a_process_that_stands_still_ends_the_others_and_is_named(folder, start, victim):
    out = f"still{victim}"
    mpirun = start(out, 2, *LONG, "--process-timeout", "1")
    wait_for_a_state(folder, out, mpirun)
    os.kill(ranks.process_of(mpirun, victim), signal.SIGSTOP)
    (code, said), took = ended(mpirun, 30)
    assert code != 0
    assert f"rank {victim} (of 2) did not answer within" in said
    assert tensors(folder / out / "state.safetensors")
    assert took < 15


PATIENT = [*FLAGS, "--patience", "3"]


@pytest.fixture(scope="module")
def broken(folder, start):
    """Two processes that were killed in mid-run and resumed, in the folder broken; whole:
    without a break.
    """
    good(start("whole", 2, *PATIENT))
    mpirun = start("broken", 2, *PATIENT)
    wait_for_a_state(folder, "broken", mpirun)
    os.kill(ranks.process_of(mpirun, 1), signal.SIGKILL)
    ended(mpirun)
    assert not (folder / "broken/model.safetensors").exists(), "killed in mid-run"
    good(start("broken", 2, *PATIENT, "--resume"))


@pytest.mark.parametrize("name", ["state.safetensors", "model.safetensors"])
def test_a_resumed_training_has_the_bits_of_one_without_a_break(folder, broken, name):
    assert equal_bits(folder / "whole" / name, folder / "broken" / name)


def test_a_resumed_training_logs_each_update_once(folder, broken):
    assert [row[:4] for row in losses(folder, "whole")] == [
        row[:4] for row in losses(folder, "broken")
    ]


def test_a_training_is_not_overwritten_unasked(start, broken):
    (code, said), _ = ended(start("broken", 2, *PATIENT))
    assert code != 0
    assert "--resume" in said


def test_a_training_of_two_processes_is_not_resumed_by_one(command, broken):
    ran = run(command("broken", *PATIENT, "--resume"))
    assert ran.returncode == 2, ran.stderr
    assert "'processes'" in ran.stderr


@pytest.fixture
def no_files(folder):
    """A refused run leaves no file."""
    yield
    assert not list(folder.glob("refused*/*"))


def test_no_time_to_wait_is_refused(command, no_files):
    ran = run(command("refused", "--process-timeout", "0"))
    assert ran.returncode == 2, ran.stderr
    assert "--process-timeout" in ran.stderr


def test_processes_with_other_settings_are_refused(start, no_files):
    (code, said), _ = ended(start("refused", 2, *FLAGS, own={1: ["--lr", "1e-4"]}))
    assert code != 0
    assert "the process of rank 1 has another 'lr'" in said
