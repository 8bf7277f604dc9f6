"""--memory-limit: what it says before anything is loaded, what is then held, and that answers stay
the same.
"""

import json
import os
import re
import subprocess

import pytest
from harness import ROOT, answers, clean_environment

MODEL = ROOT / "experiments" / "quickstart" / "model"
RUN = [
    "run", "--model", MODEL, "--decoder", "ar,hpd", "--set", "hpd.stack=2", "--dataset", "oa-mine",
    "--limit", 12, "--progress", "none",
]
LIMIT = 205_000_000


def notes(pardec, *more):
    """The notes of a plan."""
    return json.loads(pardec.good(*RUN, "--dry-run", *more, "--format", "json"))["notes"]


def weights(note):
    """The megabytes of weights in a note."""
    return float(re.search(r"weights ([0-9.]+) MB", str(note))[1])


def test_the_plan_is_that_of_an_independent_count(pardec):
    config = json.loads((MODEL / "config.json").read_text())
    stored = 0  # bytes of tensors in bf16, extra heads included
    for name in ("model.safetensors", "medusa_heads.safetensors"):
        with (MODEL / name).open("rb") as file:
            header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        header.pop("__metadata__", None)
        stored += sum(e["data_offsets"][1] - e["data_offsets"][0] for e in header.values())
    fp32 = 2 * stored
    heads = config["num_key_value_heads"] * config["head_dim"]
    row = 4 * 2 * config["num_hidden_layers"] * heads
    blocks = round((140e6 / 1.05 - fp32) / (1.25 * row * 16))
    found = notes(pardec, "--memory-limit", "300M")
    said = re.search(
        r"weights ([0-9.]+) MB with extra heads of [0-9.]+ MB, cache ([0-9.]+) kB a row.*:"
        r" ([0-9]+) blocks of 16 rows",
        next(note for note in found if note.startswith("memory: ")),
    )
    assert float(said[1]) == pytest.approx(fp32 * 1e-6, abs=0.11)
    assert float(said[2]) == round(row * 1e-3, 1)
    assert int(said[3]) == pytest.approx(blocks, abs=1)


def test_smaller_types_hold_fewer_bytes_of_weights(pardec):
    sizes = [weights(notes(pardec, "--dtype", dtype)) for dtype in ("fp32", "bf16", "int8", "nf4")]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == pytest.approx(2 * sizes[1], abs=0.2)


def test_without_a_limit_the_plan_has_none(pardec):
    assert "memory-limit" not in str(notes(pardec))


LITTLE = ["--memory-limit", "165M"]
GENERATE = ["generate", "--model", MODEL, "--prompt-tokens", "5,6,7"]


@pytest.mark.parametrize(
    "command",
    [[*RUN, "--db", "none.sqlite"], [*RUN, "--db", "none.sqlite", "--dry-run"], GENERATE],
    ids=["run", "plan", "generate"],
)
def test_too_little_memory_is_refused_before_anything_is_made(pardec, command):
    ran = pardec(*command, *LITTLE)
    assert ran.returncode == 2
    assert "no room is left for a cache" in ran.stderr
    assert not (pardec.folder / "none.sqlite").exists()


def test_the_memory_that_an_error_asks_for_is_enough(pardec):
    least = re.search(r"at least ([0-9.]+) (MB|GB)", pardec(*GENERATE, *LITTLE).stderr)
    words = ["--max-new-tokens", 2, "--memory-limit", least[1] + least[2]]
    ran = pardec(*GENERATE, *words)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("wrong", ["much", "4X", "-1G", "0"])
def test_what_is_no_size_is_refused(pardec, wrong):
    ran = pardec(*RUN, "--memory-limit", wrong)
    assert ran.returncode == 2
    assert "expected a size such as 4G" in ran.stderr


# A limit that makes jobs wait: the same answers, and no more memory ------------------------------


def held_by(pardec, *arguments):
    """Peak bytes of a call, as the system counts them, and what it said."""
    with (pardec.folder / "stderr").open("w") as stderr:
        process = subprocess.Popen(
            pardec.arguments(arguments), cwd=pardec.folder, stdout=subprocess.DEVNULL,
            stderr=stderr, env=clean_environment(),
        )
        _, status, usage = os.wait4(process.pid, 0)
    said = (pardec.folder / "stderr").read_text()
    assert status == 0, said
    return usage.ru_maxrss * 1024, said


@pytest.fixture(scope="module")
def tight(pardec):
    """Peak bytes of such a run, and what it said."""
    limited = ["--batch-size", 8, "--db", "tight.sqlite", "--memory-limit", LIMIT]
    return held_by(pardec, *RUN, *limited)


def test_no_more_than_the_limit_is_held(tight):
    assert tight[0] <= LIMIT


def test_what_was_held_is_said(tight):
    peak, said = tight
    shown = re.search(r"a peak of ([0-9.]+) GB", said)
    assert float(shown[1]) == pytest.approx(peak * 1e-9, abs=0.011)


def test_a_limit_leaves_the_answers_as_they_are(pardec, tight):
    pardec.good(*RUN, "--batch-size", 8, "--db", "free.sqlite")
    assert answers(pardec.folder / "free.sqlite") == answers(pardec.folder / "tight.sqlite")
