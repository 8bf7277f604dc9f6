"""Quantised weights beside those of bitsandbytes on the CPU, bit for bit.

NF4: quantize_4bit with blocks of 64 and without compressed statistics (what transformers'
BitsAndBytesConfig does by default), dequantised to bf16. int8: int8_vectorwise_quant, dequantised
to float32. Three differences are known, and the cases avoid them. Here a row always begins a block;
there blocks continue over rows whose inputs are no multiple of 64 (so such rows are given one by
one). A row of zeros is zero here in int8; there it becomes 0 * infinity. And Linear8bitLt of
bitsandbytes rounds weights to fp16 before it quantises them; here they stay bf16.
"""

import os
import subprocess

import pytest
from harness import skip

os.environ["OMP_NUM_THREADS"] = "1"  # of bitsandbytes
try:
    import bitsandbytes.functional as bnb
    import numpy as np
    import torch
except ImportError as missing:
    skip(missing)
torch.set_num_threads(1)


def nf4(w):
    packed, state = bnb.quantize_4bit(w, blocksize=64, quant_type="nf4", compress_statistics=False)
    assert state.absmax.dtype == torch.float32
    return bnb.dequantize_4bit(packed, state).float()


def int8(w):
    codes, stats, _ = bnb.int8_vectorwise_quant(w)
    return bnb.int8_vectorwise_dequant(codes, stats)


def by_row(w):
    return torch.cat([nf4(row[None].contiguous()) for row in w])


def cases():
    """(name, weights, whether their inputs fill blocks)"""
    generator = torch.Generator().manual_seed(5)
    normal = lambda *shape: torch.randn(*shape, generator=generator)
    yield "normal", normal(96, 512), True
    scales = torch.logspace(-20, 20, 64)[:, None]
    yield "large and small rows", normal(64, 256) * scales, True
    yield "heavy tails", normal(40, 640) / normal(40, 640).abs().clamp(min=1e-3), True
    yield "few values", torch.round(normal(33, 192) * 2) / 2, True
    # Every bf16 number between 1/256 and 1, with both signs: all borders of the levels are crossed.
    grid = torch.arange(0x3B80, 0x3F81, dtype=torch.int16).view(torch.bfloat16).float()
    grid = torch.cat([grid, -grid])
    grid = torch.nn.functional.pad(grid, (0, -len(grid) % 63)).view(-1, 63)
    for largest in (1.0, 1.37, 3e-5):  # one number a block sets its scale
        numbers = torch.cat([torch.ones(len(grid), 1), grid], 1) * largest
        yield f"all numbers under {largest}", numbers, True
    zeros = normal(8, 256)
    zeros[2, 64:128] = 0
    yield "a block of zeros", zeros, True
    yield "inputs that fill no block", normal(20, 70), False
    yield "fewer inputs than a block", normal(35, 31), False


CASES = {name: (w.bfloat16().contiguous(), whole) for name, w, whole in cases()}


@pytest.mark.parametrize("kind", ["int8", "nf4"])
@pytest.mark.parametrize("name", CASES)
def test_weights_are_those_of_bitsandbytes(program, name, kind):
    w, whole = CASES[name]
    theirs = (int8 if kind == "int8" else nf4 if whole else by_row)(w).numpy().reshape(w.shape)
    done = subprocess.run(
        [program("quantise_dump"), kind, str(w.shape[0]), str(w.shape[1])],
        input=w.view(torch.int16).numpy().tobytes(),
        capture_output=True,
        check=True,
    )
    sets = np.frombuffer(done.stdout, dtype=np.float32).reshape(-1, *w.shape)
    assert len(sets) > 0
    for number, got in enumerate(sets):  # of each instruction set
        # A level that is 0 may be -0 here or there: the same number.
        same = (got.view(np.int32) == theirs.view(np.int32)) | ((got == 0) & (theirs == 0))
        assert same.all(), f"set {number}: {np.argwhere(~same)[:3]}: {got[~same]}, {theirs[~same]}"
