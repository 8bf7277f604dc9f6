"""AdamW beside torch.optim.AdamW: ten updates of a matrix that decays and a norm that does not."""

import subprocess

import pytest

torch = pytest.importorskip("torch")


def filled(shape, shift, dtype):
    count = torch.Size(shape).numel()
    return torch.sin(7.0 * torch.arange(count, dtype=torch.float64) + shift).view(shape).to(dtype)


# One rounding or so an operation: 2^-53 and 2^-24 of weights up to 1, over 10 updates.
@pytest.mark.parametrize(
    "name, dtype, tolerance", [("double", torch.float64, 1e-14), ("float", torch.float32, 1e-6)]
)
def test_updates_are_those_of_torch(program, name, dtype, tolerance):
    torch.set_num_threads(1)
    ran = subprocess.run([program("adamw_dump"), name], capture_output=True, text=True, check=True)
    matrix = torch.nn.Parameter(filled((3, 4), 0.5, dtype))
    norm = torch.nn.Parameter(filled((5,), 0.25, dtype))
    groups = [{"params": [matrix], "weight_decay": 0.1}, {"params": [norm], "weight_decay": 0.0}]
    optimiser = torch.optim.AdamW(
        groups, lr=1.0, betas=(0.9, 0.95), eps=1e-8, foreach=False, fused=False
    )
    updates = ran.stdout.splitlines()
    assert len(updates) == 10
    for step, line in enumerate(updates):
        for group in optimiser.param_groups:
            group["lr"] = 0.01 * (step + 1)
        matrix.grad, norm.grad = filled((3, 4), 1.0 + step, dtype), filled((5,), 2.0 + step, dtype)
        optimiser.step()
        want = torch.cat([matrix.detach().flatten(), norm.detach()]).double()
        got = torch.tensor([float(x) for x in line.split()], dtype=torch.float64)
        assert (got - want).abs().max() <= tolerance, f"update {step}"
