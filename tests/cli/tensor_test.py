"""Processes that compute each network together (--parallel tensor): the answers and traces of one
process; each process has its part of the weights; a waiting process leaves its core; the end of one
process ends the others.
"""

import json
import os
import pathlib
import signal
import subprocess
import time

import pytest
from harness import ROOT, SMOLLM2, answers, query
from ranks import ended, need_mpi, process_of, start

MODEL, DRAFT = ROOT / "experiments/quickstart/model", ROOT / "experiments/quickstart/draft"
DECODERS = (
    "ar,hpd,ippd,speculative,prompt-lookup,self-speculative,lookahead,skeleton-of-thought,apar"
)
ARMS = [
    "--model", MODEL, "--draft-model", DRAFT, "--decoder", DECODERS, "--set", "hpd.stack=2",
    "--dataset", "oa-mine", "--limit", "2", "--max-new-tokens", "12", "--batch-size", "2",
    "--dtype", "fp32", "--threads", "1", "--progress", "none",
]


@pytest.fixture(scope="module", autouse=True)
def with_mpi(pardec):
    need_mpi(pardec.path)


@pytest.fixture(scope="module")
def together(pardec):
    """Starts a verb as some processes that compute together."""

    def started(ranks, *line, **options):
        return start(
            [[pardec.path, *line, "--parallel", "tensor"]] * ranks, pardec.folder, **options
        )

    return started


def good(mpirun):
    code, out, said = ended(mpirun, within=300)
    assert code == 0, said
    return out


@pytest.fixture(scope="module")
def whole(pardec):
    """The database of one process."""
    pardec.good("run", *ARMS, "--db", "one.sqlite")
    return pardec.folder / "one.sqlite"


@pytest.mark.parametrize(
    "ranks", [2, pytest.param(3, marks=pytest.mark.whole), pytest.param(4, marks=pytest.mark.whole)]
)
def test_a_run_has_the_answers_of_one_process(pardec, together, whole, ranks):
    db = pardec.folder / f"together{ranks}.sqlite"
    arms, expected = ARMS, answers(whole)
    if ranks > 2:  # the draft network has two heads
        without = {DECODERS: DECODERS.replace(",speculative,", ",")}
        arms = [without.get(word, word) for word in ARMS if word not in ("--draft-model", DRAFT)]
        expected = {key: value for key, value in expected.items() if key[0] != "speculative"}
    out = good(together(ranks, "run", *arms, "--db", db))
    assert out.count("all columns: --wide") == 1
    assert f"in each of {ranks} processes" in out
    assert answers(db) == expected
    configs = [json.loads(row["config"]) for row in query(db, "SELECT config FROM run")]
    assert {config["tensor_processes"] for config in configs} == {ranks}


def test_a_process_alone_is_refused(pardec):
    ran = pardec("generate", "--model", MODEL, "--prompt", "Hi", "--parallel", "tensor")
    assert ran.returncode == 2
    assert "start the command with mpirun -n N" in ran.stderr


def test_a_run_is_not_resumed_by_another_number_of_processes(pardec, together, whole):
    code, _, said = ended(together(2, "run", *ARMS, "--db", whole, "--resume"))
    assert code == 2
    assert "was made with other settings" in said


def generated(out):
    """What `generate` printed, without times."""
    lines = [json.loads(line) for line in out.splitlines()]
    for line in lines:
        line["counters"] = {
            name: value for name, value in line["counters"].items() if not name.endswith("_ns")
        }
    return lines


@pytest.mark.parametrize("decoder", ["ar", "hpd"])
def test_traces_are_those_of_one_process(pardec, together, decoder):
    line = [
        "generate", "--model", MODEL, "--decoder", decoder, "--job",
        ROOT / "experiments/quickstart/job.json", "--format", "json", "--threads", "1", "--trace",
    ]
    one = pardec.good(*line, "one.jsonl")
    two = good(together(2, *line, "two.jsonl"))
    assert generated(two) == generated(one)
    assert (pardec.folder / "two.jsonl").read_text() == (pardec.folder / "one.jsonl").read_text()


@pytest.mark.whole
@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize(
    "decoder,adapter", [("ar", None), ("hpd", "hpd"), ("medusa", "medusa"), ("apar", "apar")]
)
def test_smollm2_answers_as_one_process(pardec, together, decoder, adapter, ranks):
    """Nine query heads and three key heads."""
    if not (SMOLLM2 / "model.safetensors").is_file():
        pytest.skip("[skipped] SmolLM2 is missing: scripts/fetch-smollm2 makes it")
    line = [
        "generate", "--model", SMOLLM2, "--decoder", decoder, "--job",
        ROOT / "experiments/quickstart/job.json", "--format", "json", "--threads", "1",
        "--dtype", "fp32", "--max-new-tokens", "40",
    ]
    if adapter:
        line += ["--adapter", ROOT / "experiments/smollm2" / adapter]
    assert generated(good(together(ranks, *line))) == generated(pardec.good(*line))


def processes(mpirun, ranks):
    """The numbers of the processes of all ranks, once they are there."""
    for _ in range(500):
        try:
            return [process_of(mpirun, rank) for rank in range(ranks)]
        except (AssertionError, OSError):
            time.sleep(0.02)
    raise AssertionError("the processes did not begin")


def lives(process):
    """Whether a process is there, and not only its exit code."""
    try:
        status = pathlib.Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False
    return "State:\tZ" not in status


def within_seconds(most, holds):
    """Whether something becomes true in time."""
    end = time.monotonic() + most
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def status_bytes(process, key):
    for line in pathlib.Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return 1024 * int(line.split()[1])
    raise AssertionError(key)


def test_a_process_that_waits_leaves_its_core(together):
    """Rank 0 reads its prompt from stdin."""
    mpirun = together(
        2, "generate", "--model", MODEL, "--prompt", "-", "--max-new-tokens", "4", "--format",
        "json", "--threads", "1", stdin=subprocess.PIPE,
    )
    follower = processes(mpirun, 2)[1]

    def used():
        fields = pathlib.Path(f"/proc/{follower}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    time.sleep(1.5)  # it begins
    before, begin = used(), time.monotonic()
    time.sleep(2)
    busy = (used() - before) / (time.monotonic() - begin)
    code, out, said = ended(mpirun, say="A lamp")
    assert code == 0, said
    assert len(generated(out)[0]["tokens"]) == 4
    assert busy < 0.1


@pytest.mark.parametrize("victim", [0, 1])
def test_the_end_of_one_process_ends_the_other(pardec, together, victim):
    """In the middle of a run."""
    db = pardec.folder / f"killed{victim}.sqlite"
    mpirun = together(2, "run", *ARMS, "--runs", "1000", "--db", db)
    victims = processes(mpirun, 2)
    for _ in range(1000):
        if db.exists() and query(db, "SELECT name FROM sqlite_master WHERE name = 'job'"):
            break
        time.sleep(0.02)
    time.sleep(0.5)
    os.kill(victims[victim], signal.SIGKILL)
    code, _, said = ended(mpirun)
    assert code != 0 and f"rank {victim} " in said, said
    for process in victims:
        assert within_seconds(10, lambda process=process: not lives(process))


@pytest.mark.whole
@pytest.mark.parametrize("ranks", [2, 4])
def test_each_process_has_its_part_of_the_weights(pardec, together, ranks):
    """At most (weights + cache) / N, and 400 MB for the program."""
    model = pardec.synthesise(
        "large", hidden_size=1024, intermediate_size=4096, num_hidden_layers=10,
        num_attention_heads=16, num_key_value_heads=4, head_dim=64,
    )
    weights = 2 * (model / "model.safetensors").stat().st_size  # fp32
    assert weights > 600e6
    line = [
        "generate", "--model", model, "--prompt-tokens", ",".join(["5"] * 200), "--max-new-tokens",
        "150", "--ignore-eos", "--threads", "1", "--format", "json",
    ]
    cache = 350 * 10 * 2 * 4 * 64 * 4 * 1.25
    mpirun = together(ranks, *line)
    numbers, peaks = processes(mpirun, ranks), [0] * ranks
    while mpirun.poll() is None:
        for rank, process in enumerate(numbers):
            try:
                peaks[rank] = max(peaks[rank], status_bytes(process, "VmHWM"))
            except (OSError, AssertionError):
                pass
        time.sleep(0.05)
    good(mpirun)
    print(f"{ranks} processes, {weights / 1e6:.0f} MB of weights, peaks {peaks}")
    assert max(peaks) <= (weights + cache) / ranks + 400e6, peaks
    assert min(peaks) > 0.5 * weights / ranks
