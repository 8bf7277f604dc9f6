"""--memory-limit: what it says before anything is loaded, what is then held, and that answers stay the same.

Usage: memory_test.py PROGRAM
"""
import json
import os
import re
import subprocess
import sys

from harness import ROOT, Checks, answers, clean_environment, scratch

MODEL = ROOT / "experiments" / "quickstart" / "model"


def held_by(pardec, *arguments):
    """Peak bytes of a call, as the system counts them, and what it said."""
    with (pardec.folder / "stderr").open("w") as stderr:
        process = subprocess.Popen(pardec.arguments(arguments), cwd=pardec.folder, stdout=subprocess.DEVNULL, stderr=stderr, env=clean_environment())
        _, status, usage = os.wait4(process.pid, 0)
    said = (pardec.folder / "stderr").read_text()
    if status != 0:
        sys.exit(f"pardec {arguments}: {said}")
    return usage.ru_maxrss * 1024, said


def main():
    check = Checks()
    config = json.loads((MODEL / "config.json").read_text())
    stored = 0  # bytes of tensors in bf16, extra heads included
    for name in ("model.safetensors", "medusa_heads.safetensors"):
        with (MODEL / name).open("rb") as file:
            header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        stored += sum(e["data_offsets"][1] - e["data_offsets"][0] for tensor, e in header.items() if tensor != "__metadata__")
    row = 4 * 2 * config["num_hidden_layers"] * config["num_key_value_heads"] * config["head_dim"]
    fp32 = 2 * stored
    with scratch(sys.argv[1]) as pardec:
        run = ["run", "--model", MODEL, "--decoder", "ar,hpd", "--set", "hpd.stack=2", "--dataset", "oa-mine", "--limit", 12, "--progress", "none"]

        # The plan, by a count of one's own.
        plan = json.loads(pardec.good(*run, "--dry-run", "--memory-limit", "300M", "--format", "json"))
        note = next((n for n in plan["notes"] if n.startswith("memory: ")), "")
        blocks = round((140e6 / 1.05 - fp32) / (1.25 * row * 16))
        said = re.search(r"weights ([0-9.]+) MB with extra heads of [0-9.]+ MB, cache ([0-9.]+) kB a row.*: ([0-9]+) blocks of 16 rows", note)
        check(said and abs(float(said[1]) - fp32 * 1e-6) < 0.11 and float(said[2]) == round(row * 1e-3, 1) and abs(int(said[3]) - blocks) <= 1, f"plan: {note}, counted {blocks}")
        sizes = [float(re.search(r"weights ([0-9.]+) MB", str(json.loads(pardec.good(*run, "--dry-run", "--dtype", dtype, "--format", "json"))["notes"]))[1])
                 for dtype in ("fp32", "bf16", "int8", "nf4")]
        check(sizes == sorted(sizes, reverse=True) and abs(sizes[0] - 2 * sizes[1]) < 0.2, f"weights in fp32, bf16, int8, nf4: {sizes} MB")
        check("memory-limit" not in str(json.loads(pardec.good(*run, "--dry-run", "--format", "json"))["notes"]), "no limit, none in the plan")

        # Too little, before anything is made.
        for verb in (run + ["--db", "none.sqlite"], ["generate", "--model", MODEL, "--prompt-tokens", "5,6,7"]):
            for flags in ([], ["--dry-run"] if verb[0] == "run" else []):
                ran = pardec(*verb, *flags, "--memory-limit", "165M")
                check(ran.returncode == 2 and "no room is left for a cache" in ran.stderr, f"{verb[0]} {flags}: exit {ran.returncode}: {ran.stderr}")
        check(not (pardec.folder / "none.sqlite").exists(), "no database is made of it")
        least = re.search(r"at least ([0-9.]+) (MB|GB)", ran.stderr)
        check(least and pardec(*verb, "--max-new-tokens", 2, "--memory-limit", least[1] + least[2]).returncode == 0, f"what it asks for is enough: {ran.stderr}")
        for wrong in ("much", "4X", "-1G", "0"):
            ran = pardec(*run, "--memory-limit", wrong)
            check(ran.returncode == 2 and "expected a size such as 4G" in ran.stderr, f"{wrong}: {ran.stderr}")

        # A limit that makes jobs wait: the same answers, and no more memory.
        pardec.good(*run, "--batch-size", 8, "--db", "free.sqlite")
        limit = 205_000_000
        peak, said = held_by(pardec, *run, "--batch-size", 8, "--db", "tight.sqlite", "--memory-limit", limit)
        check(peak <= limit, f"{peak} bytes were held under a limit of {limit}")
        shown = re.search(r"at most ([0-9.]+) GB were held", said)
        check(shown and abs(float(shown[1]) - peak * 1e-9) < 0.011, f"what it says was held: {said}, {peak}")
        free, tight = answers(pardec.folder / "free.sqlite"), answers(pardec.folder / "tight.sqlite")
        check(free == tight, f"{sum(free[k] != tight.get(k) for k in free)} of {len(free)} answers differ")
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
