"""Weights that are not finite: answers fail with the reason in every dtype, doctor and model
inspect name the tensor.
"""

import functools
import json
import struct

import pytest

from harness import query

DTYPES = ("fp32", "bf16", "int8", "nf4")
RUN = ("--dataset", "oa-mine", "--limit", 4, "--max-new-tokens", 8, "--warmup", 0)


def spoil(model, tensor, row, value):
    """Puts a number of 16 bits into the first place of a matrix's row."""
    file = model / "model.safetensors"
    data = bytearray(file.read_bytes())
    length = struct.unpack("<Q", data[:8])[0]
    entry = json.loads(data[8 : 8 + length])[tensor]
    columns = entry["shape"][1] if len(entry["shape"]) > 1 else 1
    at = 8 + length + entry["data_offsets"][0] + 2 * row * columns
    data[at : at + 2] = struct.pack("<H", value)
    file.write_bytes(data)


@pytest.fixture(scope="module")
def spoilt(pardec):
    """A network with a number in row 5 of a tensor, made once."""

    @functools.cache
    def make(tensor, value):
        folder = pardec.synthesise(f"sick-{tensor}")
        spoil(folder, tensor, 5, value)
        return folder

    return make


@pytest.mark.parametrize(
    "tensor, value, dtype",
    [
        *(("model.layers.1.mlp.down_proj.weight", 0x7FC0, dtype) for dtype in DTYPES),
        *(("lm_head.weight", 0x7FC0, dtype) for dtype in DTYPES[:2]),
        *(("model.norm.weight", 0x7F80, dtype) for dtype in DTYPES[:2]),
    ],
    ids=[
        *(f"NaN in {dtype}" for dtype in DTYPES),
        *(f"a lone NaN in {dtype}" for dtype in DTYPES[:2]),
        *(f"Inf in {dtype}" for dtype in DTYPES[:2]),
    ],
)
def test_answers_fail_with_the_reason(pardec, spoilt, tensor, value, dtype):
    """A weight of the last layer: no row has logits. One of the head: a single logit."""
    db = pardec.folder / f"{tensor}-{dtype}.sqlite"
    words = ["--decoder", "ar,hpd,prompt-lookup", *RUN, "--dtype", dtype, "--db", db]
    ran = pardec("run", "--model", spoilt(tensor, value), *words)
    assert ran.returncode == 3, ran.stderr
    errors = [row["error"] or "" for row in query(db, "SELECT error FROM generation")]
    assert len(errors) == 12
    for error in errors:
        assert "logits of the row at position" in error
        assert "are not finite" in error


def test_generate_fails_with_the_reason(pardec, spoilt):
    words = ["--prompt", "Once upon a time", "--max-new-tokens", 4]
    one = pardec("generate", "--model", spoilt("model.norm.weight", 0x7F80), *words)
    assert one.returncode == 2
    assert "not finite" in one.stderr
    assert one.stdout == ""


# doctor and model inspect --weights name the tensor; of a good network they say so ---------------


def checks(ran):
    return {row["check"]: row for row in json.loads(ran.stdout)["rows"]}


@pytest.fixture(scope="module")
def good(pardec):
    return pardec.synthesise("good")


@pytest.fixture(scope="module")
def sick(pardec):
    """A network with one NaN and one Inf in a tensor."""
    folder = pardec.synthesise("sick")
    spoil(folder, "model.layers.0.mlp.up_proj.weight", 2, 0x7FC0)
    spoil(folder, "model.layers.0.mlp.up_proj.weight", 3, 0xFF80)
    return folder


def test_doctor_finds_good_weights_good(pardec, good):
    ran = pardec("doctor", "--model", good, "--format", "json")
    assert ran.returncode == 0, ran.stderr
    assert checks(ran)["weights"]["state"] == "good"
    assert "tensors of finite numbers" in checks(ran)["weights"]["detail"]


def test_inspect_finds_good_weights_finite(pardec, good):
    said = pardec.good("model", "inspect", good, "--weights")
    assert "of finite numbers" in said
    assert "NOT FINITE" not in said


def test_doctor_names_the_tensor(pardec, sick):
    ran = pardec("doctor", "--model", sick, "--format", "json")
    rows = checks(ran)
    assert ran.returncode == 1
    assert rows["model"]["state"] == rows["weights"]["state"] == "BAD"
    said = "'model.layers.0.mlp.up_proj.weight' has 1 NaN and 1 Inf of"
    assert said in rows["weights"]["detail"]


def test_inspect_names_the_tensor(pardec, sick):
    ran = pardec("model", "inspect", sick, "--weights", "--format", "json")
    found = json.loads(ran.stdout)["not_finite"]
    assert ran.returncode == 1
    assert found["model.layers.0.mlp.up_proj.weight"].startswith("1 NaN and 1 Inf of")


def test_inspect_reads_no_weights_unasked(pardec, sick):
    plain = json.loads(pardec.good("model", "inspect", sick, "--format", "json"))
    assert "weights" not in plain
    assert "not_finite" not in plain
