#!/usr/bin/env python3
"""Compares quantised weights with bitsandbytes' on the CPU, bit for bit.

Usage: quantise_oracle_test.py QUANTISE_DUMP

NF4: quantize_4bit with blocks of 64 and without compressed statistics (what transformers' BitsAndBytesConfig does by
default), dequantised to bf16. int8: int8_vectorwise_quant, dequantised to float32. Known differences, which the
cases below keep apart: a row here always begins a block, there blocks run on over rows whose inputs are no multiple
of 64 (so such rows are given one by one); a row of zeros is zero here in int8, there what 0 * infinity becomes; and
bitsandbytes' Linear8bitLt rounds weights to fp16 before it quantises them, here they stay bf16.
"""
import subprocess, sys

try:
    import numpy as np
    import torch
    import bitsandbytes.functional as bnb
except ImportError as error:
    print(f"[skipped] {error}")
    sys.exit(77)
DUMP = sys.argv[1]
torch.set_num_threads(1)
failed = 0


def ours(kind, w):
    """[sets, outputs, inputs] float32"""
    done = subprocess.run([DUMP, kind, str(w.shape[0]), str(w.shape[1])], input=w.view(torch.int16).numpy().tobytes(),
                          capture_output=True, check=True)
    return np.frombuffer(done.stdout, dtype=np.float32).reshape(-1, *w.shape)


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
    generator = torch.Generator().manual_seed(5)
    normal = lambda *shape: torch.randn(*shape, generator=generator)
    yield "normal", normal(96, 512), True
    yield "large and small rows", normal(64, 256) * torch.logspace(-20, 20, 64)[:, None], True
    yield "heavy tails", normal(40, 640) / normal(40, 640).abs().clamp(min=1e-3), True
    yield "few values", torch.round(normal(33, 192) * 2) / 2, True
    # Every number that bf16 has between 1/256 and 1, with both signs: all borders of the levels are crossed.
    grid = torch.arange(0x3B80, 0x3F81, dtype=torch.int16).view(torch.bfloat16).float()
    grid = torch.cat([grid, -grid])
    grid = torch.nn.functional.pad(grid, (0, -len(grid) % 63)).view(-1, 63)
    for largest in (1.0, 1.37, 3e-5):  # one number a block sets its scale
        yield f"all numbers under {largest}", torch.cat([torch.ones(len(grid), 1), grid], 1) * largest, True
    zeros = normal(8, 256)
    zeros[2, 64:128] = 0
    yield "a block of zeros", zeros, True
    yield "inputs that fill no block", normal(20, 70), False
    yield "fewer inputs than a block", normal(35, 31), False


for name, w, whole in cases():
    w = w.bfloat16().contiguous()
    for kind, theirs in (("int8", int8(w)), ("nf4", nf4(w) if whole else by_row(w))):
        got = ours(kind, w)
        wrong = int((got.view(np.int32) != theirs.numpy().reshape(w.shape).view(np.int32)).sum())
        # A level that is 0 may be -0 here or there: the same number.
        wrong -= int(((got == 0) & (theirs.numpy().reshape(w.shape) == 0)
                      & (got.view(np.int32) != theirs.numpy().reshape(w.shape).view(np.int32))).sum())
        failed += wrong > 0
        print(("ok    " if wrong == 0 else "FAIL  ") + f"{kind}, {name}: {wrong} of {got.size} weights differ "
              f"({len(got)} instruction sets)")
        if wrong:
            at = np.argwhere(got != theirs.numpy().reshape(w.shape))[0]
            print(f"      set {at[0]}, output {at[1]}, input {at[2]}: {got[tuple(at)]!r}, "
                  f"expected {theirs.numpy().reshape(w.shape)[at[1], at[2]]!r}")
sys.exit(1 if failed else 0)
