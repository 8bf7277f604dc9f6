"""Data parallel training: two and three processes have the losses and weights of one; one that is killed or stands still ends the others,
who say which it was; what was saved is resumed with equal bits; only rank 0 writes.

Usage: processes_test.py PARDEC MODEL_DUMP
"""
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time

from train_test import check, failures, prepare, run, tensors, train

FLAGS = ["--steps", "16", "--batch-tokens", "900", "--validation", "0.25", "--validate-every", "4", "--save-every", "4"]
LONG = ["--steps", "4000", "--batch-tokens", "900", "--save-every", "1"]


def command(folder, out, *flags, threads=1, model="config.json"):
    flags = train(folder, out, *flags, model=model)
    flags[flags.index("--threads") + 1] = str(threads)
    return flags


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def start(folder, out, size, *flags, own=None, model="config.json"):
    """All processes; `own`: flags of some ranks."""
    master = f"127.0.0.1:{free_port()}"
    return [subprocess.Popen([*command(folder, out if rank == 0 else f"{out}-{rank}", *flags, *(own or {}).get(rank, []), model=model), "--world-size", str(size), "--rank", str(rank),
                              "--master", master], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for rank in range(size)]


def ended(processes, within=120):
    """[(exit code, stderr)], and how long the slowest took."""
    begin = time.monotonic()
    said = []
    for process in processes:
        try:
            said.append((None, process.communicate(timeout=max(0.1, begin + within - time.monotonic()))[1]))
        except subprocess.TimeoutExpired:
            process.kill()
            said.append((None, "did not end " + process.communicate()[1]))
    return [(process.returncode, text.strip()) for process, (_, text) in zip(processes, said)], time.monotonic() - begin


def losses(folder, out):
    return [[float(part or -1) for part in line.split(",")[:5]] for line in (folder / out / "loss.csv").read_text().splitlines()[1:]]


def far(one, other):
    """The largest relative difference of losses, train and validation."""
    return max(abs(a[i] - b[i]) / abs(a[i]) for a, b in zip(one, other) for i in (3, 4))


def equal_bits(one, other):
    import torch
    return one.keys() == other.keys() and all(torch.equal(one[key], other[key]) for key in one)


def same_loss(folder):
    alone = run(command(folder, "alone", *FLAGS))
    check(alone.returncode == 0, f"one process {alone.stderr[-200:]}")
    check(run(command(folder, "threads", *FLAGS, threads=2)).returncode == 0, "one process of two threads")
    for size in (2, 3):
        said, _ = ended(start(folder, f"group{size}", size, *FLAGS))
        check([code for code, _ in said] == [0] * size, f"{size} processes: {said}")
        check(all(not text for _, text in said[1:]) and not list(folder.glob(f"group{size}-*")), "rank 0 alone speaks and writes")
        rows = losses(folder, "alone"), losses(folder, f"group{size}")
        check(len(rows[0]) == len(rows[1]) == 16 and [row[:2] for row in rows[0]] == [row[:2] for row in rows[1]] and far(*rows) <= 1e-5,
              f"{size} processes have the losses of one within {far(*rows):.2g}")
    # As many workers, the same sums.
    check(equal_bits(tensors(folder / "threads/state.safetensors"), tensors(folder / "group2/state.safetensors")), "two processes have the bits of two threads")
    said, _ = ended(start(folder, "clock", 2, *FLAGS, own={0: ["--minutes", "0.00001"]}))
    check([code for code, _ in said] == [0, 0] and "stopped at update 1 of 16: --minutes" in said[0][1], f"rank 0's clock stops both: {said}")
    said, _ = ended(start(folder, "clock", 2, *FLAGS, "--resume"))
    check([code for code, _ in said] == [0, 0] and equal_bits(tensors(folder / "group2/state.safetensors"), tensors(folder / "clock/state.safetensors")), f"and they go on to the same bits: {said}")
    small = ["--lora-rank", "2", "--lora-dropout", "0.2", "--medusa-heads", "2", "--medusa-share-head", *FLAGS]
    check(run(command(folder, "small", *small, threads=2, model="group2")).returncode == 0, "an adapter and heads by two threads")
    said, _ = ended(start(folder, "small2", 2, *small, model="group2"))
    check([code for code, _ in said] == [0, 0] and equal_bits(tensors(folder / "small/state.safetensors"), tensors(folder / "small2/state.safetensors")),
          f"and what drops out in both: {said}")


def one_is_killed(folder):
    for size, victim in ((2, 1), (2, 0), (3, 2)):
        out = f"killed{size}{victim}"
        processes = start(folder, out, size, *LONG)
        while not (folder / out / "state.safetensors").exists() and all(process.poll() is None for process in processes):
            time.sleep(0.01)
        processes[victim].send_signal(signal.SIGKILL)
        said, took = ended(processes, 30)
        others = [(code, text) for rank, (code, text) in enumerate(said) if rank != victim]
        check(said[victim][0] == -signal.SIGKILL and all(code == 1 and f"rank {victim} (of {size}) ended" in text and text.count("\n") <= 1 for code, text in others),
              f"rank {victim} of {size} is killed: {others}")
        check(took < 15, f"the others ended in {took:.1f} s")


def one_stands_still(folder):
    processes = start(folder, "still", 2, *LONG, "--process-timeout", "3")
    while not (folder / "still/state.safetensors").exists() and all(process.poll() is None for process in processes):
        time.sleep(0.01)
    processes[1].send_signal(signal.SIGSTOP)
    said, took = ended(processes[:1], 30)
    processes[1].kill()
    processes[1].communicate()
    check(said[0][0] == 1 and "rank 1 (of 2) did not answer within 3 s" in said[0][1] and took < 15, f"rank 1 stands still: {said[0]}, after {took:.1f} s")


def resumes(folder):
    check([code for code, _ in ended(start(folder, "whole", 2, *FLAGS, "--patience", "3"))[0]] == [0, 0], "a run without a break")
    processes = start(folder, "broken", 2, *FLAGS, "--patience", "3")
    while not (folder / "broken/state.safetensors").exists() and all(process.poll() is None for process in processes):
        time.sleep(0.002)
    processes[1].send_signal(signal.SIGKILL)
    ended(processes)
    check(not (folder / "broken/model.safetensors").exists(), "killed in mid-run")
    said, _ = ended(start(folder, "broken", 2, *FLAGS, "--patience", "3", "--resume"))
    check([code for code, _ in said] == [0, 0], f"resumed: {said}")
    for name in ("state.safetensors", "model.safetensors"):
        check(equal_bits(tensors(folder / "whole" / name), tensors(folder / "broken" / name)), f"{name} has equal bits")
    check([row[:4] for row in losses(folder, "whole")] == [row[:4] for row in losses(folder, "broken")], "loss.csv has each update once")
    said, _ = ended(start(folder, "broken", 2, *FLAGS, "--patience", "3"))
    check(said[0][0] == 2 and "--resume" in said[0][1] and said[1][0] == 1 and "rank 0 (of 2) ended" in said[1][1], f"not overwritten unasked: {said}")
    alone = run(command(folder, "broken", *FLAGS, "--patience", "3", "--resume"))
    check(alone.returncode == 2 and "'processes'" in alone.stderr, f"nor resumed by one: {alone.stderr.strip()}")


def refuses(folder):
    for flags, part in ((["--world-size", "2"], "--master"), (["--world-size", "2", "--rank", "2", "--master", "127.0.0.1:1"], "--rank is 2"),
                        (["--world-size", "0"], "--world-size"), (["--world-size", "2", "--master", "nowhere"], "HOST:PORT"),
                        (["--world-size", "2", "--master", "127.0.0.1:x"], "127.0.0.1:x"), (["--process-timeout", "0"], "--process-timeout")):
        done = run(command(folder, "refused", *flags))
        check(done.returncode == 2 and part in done.stderr, f"{' '.join(flags)}: {done.stderr.strip()}")
    lonely = ["--world-size", "2", "--master", f"127.0.0.1:{free_port()}", "--process-timeout", "1"]
    for rank, part in (("0", "rank 1 did not come"), ("1", "rank 0 was not at")):
        done = run(command(folder, "refused", "--rank", rank, *lonely))
        check(done.returncode == 1 and part in done.stderr, f"alone as rank {rank}: {done.stderr.strip()}")
    said, _ = ended(start(folder, "refused", 2, *FLAGS, own={1: ["--lr", "1e-4"]}))
    check(said[1][0] == 2 and "another 'lr'" in said[1][1] and said[0][0] == 1 and "rank 1 (of 2) ended" in said[0][1], f"other settings: {said}")
    check(not list(folder.glob("refused*/*")), "a refused run leaves no file")


def main():
    try:
        import safetensors, torch  # noqa: F401, E401
    except ImportError as missing:
        print(f"[skipped] {missing}")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        prepare(folder)
        for part in (refuses, same_loss, resumes, one_is_killed, one_stands_still):
            part(folder)
    print(f"{len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
