"""Data parallel training: two and three processes have the losses and weights of one; one that
is killed or stands still ends the others, who say which it was; what was saved is resumed with
equal bits; only rank 0 writes.
"""

import signal
import socket
import subprocess
import time

import pytest
from small_training import prepare, run, tensors, train

pytest.importorskip("safetensors")
pytest.importorskip("torch")

FLAGS = [
    "--steps", "16", "--batch-tokens", "900", "--validation", "0.25", "--validate-every", "4",
    "--save-every", "4",
]
LONG = ["--steps", "4000", "--batch-tokens", "900", "--save-every", "1"]


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
    """Starts all processes of a training; `own`: flags of some ranks."""

    def started(out, size, *flags, own=None, model="config.json"):
        master = f"127.0.0.1:{free_port()}"
        processes = []
        for rank in range(size):
            ranks_own = (own or {}).get(rank, [])
            called = command(out if rank == 0 else f"{out}-{rank}", *flags, *ranks_own, model=model)
            called += ["--world-size", str(size), "--rank", str(rank), "--master", master]
            processes.append(
                subprocess.Popen(
                    called, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
                )
            )
        return processes

    return started


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def wait_for_a_state(folder, out, processes):
    """Until the first update is saved, or a process ends."""
    while not (folder / out / "state.safetensors").exists() and all(
        p.poll() is None for p in processes
    ):
        time.sleep(0.002)


def ended(processes, within=120):
    """[(exit code, stderr)], and how long the slowest took."""
    begin = time.monotonic()
    said = []
    for process in processes:
        try:
            said.append(
                (None, process.communicate(timeout=max(0.1, begin + within - time.monotonic()))[1])
            )
        except subprocess.TimeoutExpired:
            process.kill()
            said.append((None, "did not end " + process.communicate()[1]))
    return [
        (process.returncode, text.strip()) for process, (_, text) in zip(processes, said)
    ], time.monotonic() - begin


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
            made[size], _ = ended(start(f"group{size}", size, *FLAGS))
        return made[size]

    return of


sizes = pytest.mark.parametrize("size", [2, 3])


@sizes
def test_rank_0_alone_speaks_and_writes(folder, group, size):
    said = group(size)
    assert [code for code, _ in said] == [0] * size, said
    assert all(not text for _, text in said[1:])
    assert not list(folder.glob(f"group{size}-*"))


@sizes
def test_processes_have_the_losses_of_one(folder, alone, group, size):
    group(size)
    one, several = losses(folder, "alone"), losses(folder, f"group{size}")
    assert len(one) == len(several) == 16
    assert [row[:2] for row in one] == [row[:2] for row in several]
    assert far(one, several) <= 1e-5


def test_two_processes_have_the_bits_of_two_threads(folder, threads, group):
    """As many workers, the same sums."""
    group(2)
    assert equal_bits(folder / "threads/state.safetensors", folder / "group2/state.safetensors")


def test_the_clock_of_rank_0_stops_both_and_they_resume_to_the_same_bits(folder, start, group):
    group(2)
    said, _ = ended(start("clock", 2, *FLAGS, own={0: ["--minutes", "0.00001"]}))
    assert [code for code, _ in said] == [0, 0], said
    assert "stopped at update 1 of 16: --minutes" in said[0][1]
    said, _ = ended(start("clock", 2, *FLAGS, "--resume"))
    assert [code for code, _ in said] == [0, 0], said
    assert equal_bits(folder / "group2/state.safetensors", folder / "clock/state.safetensors")


def test_adapters_heads_and_dropout_have_the_bits_of_two_threads(folder, command, start, group):
    group(2)
    small = [
        "--lora-rank", "2", "--lora-dropout", "0.2", "--medusa-heads", "2", "--medusa-share-head",
        *FLAGS,
    ]
    assert run(command("small", *small, threads=2, model="group2")).returncode == 0
    said, _ = ended(start("small2", 2, *small, model="group2"))
    assert [code for code, _ in said] == [0, 0], said
    assert equal_bits(folder / "small/state.safetensors", folder / "small2/state.safetensors")


@pytest.mark.parametrize("size, victim", [(2, 1), (2, 0), (3, 2)])
def test_a_process_that_is_killed_ends_the_others_who_name_it(folder, start, size, victim):
    out = f"killed{size}{victim}"
    processes = start(out, size, *LONG)
    wait_for_a_state(folder, out, processes)
    processes[victim].send_signal(signal.SIGKILL)
    said, took = ended(processes, 30)
    others = [(code, text) for rank, (code, text) in enumerate(said) if rank != victim]
    assert said[victim][0] == -signal.SIGKILL, others
    for code, text in others:
        assert code == 1, text
        assert f"rank {victim} (of {size}) ended" in text
        assert text.count("\n") <= 1
    assert took < 15


def test_a_process_that_stands_still_ends_the_others_who_name_it(folder, start):
    processes = start("still", 2, *LONG, "--process-timeout", "3")
    wait_for_a_state(folder, "still", processes)
    processes[1].send_signal(signal.SIGSTOP)
    said, took = ended(processes[:1], 30)
    processes[1].kill()
    processes[1].communicate()
    assert said[0][0] == 1, said[0]
    assert "rank 1 (of 2) did not answer within 3 s" in said[0][1]
    assert took < 15


PATIENT = [*FLAGS, "--patience", "3"]


@pytest.fixture(scope="module")
def broken(folder, start):
    """Two processes that were killed in mid-run and resumed, in the folder broken; whole:
    without a break.
    """
    said, _ = ended(start("whole", 2, *PATIENT))
    assert [code for code, _ in said] == [0, 0], said
    processes = start("broken", 2, *PATIENT)
    wait_for_a_state(folder, "broken", processes)
    processes[1].send_signal(signal.SIGKILL)
    ended(processes)
    assert not (folder / "broken/model.safetensors").exists(), "killed in mid-run"
    said, _ = ended(start("broken", 2, *PATIENT, "--resume"))
    assert [code for code, _ in said] == [0, 0], said


@pytest.mark.parametrize("name", ["state.safetensors", "model.safetensors"])
def test_a_resumed_training_has_the_bits_of_one_without_a_break(folder, broken, name):
    assert equal_bits(folder / "whole" / name, folder / "broken" / name)


def test_a_resumed_training_logs_each_update_once(folder, broken):
    assert [row[:4] for row in losses(folder, "whole")] == [
        row[:4] for row in losses(folder, "broken")
    ]


def test_a_training_is_not_overwritten_unasked(start, broken):
    said, _ = ended(start("broken", 2, *PATIENT))
    assert said[0][0] == 2, said
    assert "--resume" in said[0][1]
    assert said[1][0] == 1
    assert "rank 0 (of 2) ended" in said[1][1]


def test_a_training_of_two_processes_is_not_resumed_by_one(command, broken):
    ran = run(command("broken", *PATIENT, "--resume"))
    assert ran.returncode == 2, ran.stderr
    assert "'processes'" in ran.stderr


@pytest.fixture
def no_files(folder):
    """A refused run leaves no file."""
    yield
    assert not list(folder.glob("refused*/*"))


@pytest.mark.parametrize(
    "flags, said",
    [
        (["--world-size", "2"], "--master"),
        (["--world-size", "2", "--rank", "2", "--master", "127.0.0.1:1"], "--rank is 2"),
        (["--world-size", "0"], "--world-size"),
        (["--world-size", "2", "--master", "nowhere"], "HOST:PORT"),
        (["--world-size", "2", "--master", "127.0.0.1:x"], "127.0.0.1:x"),
        (["--process-timeout", "0"], "--process-timeout"),
    ],
    ids=["no-master", "rank-too-high", "size-0", "no-port", "port-x", "timeout-0"],
)
def test_wrong_flags_are_refused(command, no_files, flags, said):
    ran = run(command("refused", *flags))
    assert ran.returncode == 2, ran.stderr
    assert said in ran.stderr


@pytest.mark.parametrize("rank, said", [(0, "rank 1 did not connect"), (1, "rank 0 could not be reached at")])
def test_a_rank_alone_says_who_is_missing(command, no_files, rank, said):
    master = f"127.0.0.1:{free_port()}"
    ran = run(
        command(
            "refused", "--rank", str(rank), "--world-size", "2", "--master", master,
            "--process-timeout", "1",
        )
    )
    assert ran.returncode == 1, ran.stderr
    assert said in ran.stderr


def test_processes_with_other_settings_are_refused(start, no_files):
    said, _ = ended(start("refused", 2, *FLAGS, own={1: ["--lr", "1e-4"]}))
    assert said[1][0] == 2, said
    assert "another 'lr'" in said[1][1]
    assert said[0][0] == 1
    assert "rank 1 (of 2) ended" in said[0][1]
