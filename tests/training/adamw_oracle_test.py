"""AdamW beside torch.optim.AdamW: ten updates of a matrix that decays and a norm that does not."""
import subprocess
import sys

try:
    import torch
except ImportError as missing:
    print(f"[skipped] {missing}")
    sys.exit(77)


def filled(shape, shift, dtype):
    count = torch.Size(shape).numel()
    return torch.sin(7.0 * torch.arange(count, dtype=torch.float64) + shift).view(shape).to(dtype)


def main():
    torch.set_num_threads(1)
    failed = 0
    # One rounding or so an operation: 2^-53 and 2^-24 of weights up to 1, over 10 updates.
    for name, dtype, tolerance in (("double", torch.float64, 1e-14), ("float", torch.float32, 1e-6)):
        printed = subprocess.run([sys.argv[1], name], capture_output=True, text=True, check=True).stdout.splitlines()
        matrix, norm = (torch.nn.Parameter(filled(*what, dtype)) for what in (((3, 4), 0.5), ((5,), 0.25)))
        optimiser = torch.optim.AdamW([{"params": [matrix], "weight_decay": 0.1}, {"params": [norm], "weight_decay": 0.0}],
                                      lr=1.0, betas=(0.9, 0.95), eps=1e-8, foreach=False, fused=False)
        worst = 0.0
        for step, line in enumerate(printed):
            for group in optimiser.param_groups:
                group["lr"] = 0.01 * (step + 1)
            matrix.grad, norm.grad = filled((3, 4), 1.0 + step, dtype), filled((5,), 2.0 + step, dtype)
            optimiser.step()
            want = torch.cat([matrix.detach().flatten(), norm.detach()]).double()
            worst = max(worst, (torch.tensor([float(x) for x in line.split()], dtype=torch.float64) - want).abs().max().item())
        print(f"{name}: {len(printed)} updates, worst difference {worst:.3g}, allowed {tolerance}")
        failed += len(printed) != 10 or not worst <= tolerance
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
