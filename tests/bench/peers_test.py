"""scripts/bench-peers on the quickstart model: its tables, its samples, and that the peers choose as pardec does.

Usage: peers_test.py PARDEC_PEER
"""
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "bench-peers"
failed = 0


def check(good, what):
    global failed
    if not good:
        failed += 1
        print("FAILED:", what)


def bench(*arguments):
    return subprocess.run([sys.executable, str(SCRIPT), "--program", sys.argv[1], *map(str, arguments)], capture_output=True, text=True)


with tempfile.TemporaryDirectory() as folder:
    out = pathlib.Path(folder) / "result"
    small = ["--model", ROOT / "experiments" / "quickstart" / "model", "--threads", 1, "--context", 40, "--decode", 4, "--steps", "1,16,64", "--rounds", 2]
    done = bench(*small, "--transformers-python", sys.executable, "--llama-python", pathlib.Path(folder) / "no-python", "-o", out)
    check(done.returncode == 0, f"it ran: {done.stderr}")
    result = json.loads(out.with_suffix(".json").read_text())
    text = out.with_suffix(".md").read_text()
    check(text.strip() == done.stdout.strip(), "the tables are written as they are printed")
    check(set(result["peers"]) == {"pardec", "transformers"} and set(result["absent"]) == {"llama.cpp"}, f"who took part: {result['peers']}")
    check("llama.cpp is absent: " in text, "an absent peer is named")
    # bf16 rounds in another order there: of 64 rows of a trained network a few are close.
    check(result["same_choices"].get("transformers", 0) >= 60, f"transformers chooses as pardec: {result['same_choices']}")
    keys = {"decode", "prefill", "step 1", "step 16", "step 64"}
    for name, of_peer in result["seconds"].items():
        check(set(of_peer) == keys and all(len(v) == 2 and min(v) > 0 for v in of_peer.values()), f"{name}: a sample a round of each: {of_peer}")
    check(set(result["roofline_seconds"]) == keys, "a bound of each")
    # The bound of a step of one, by a count of one's own.
    config = json.loads((ROOT / "experiments" / "quickstart" / "model" / "config.json").read_text())
    hidden, layers, inner = config["hidden_size"], config["num_hidden_layers"], config["intermediate_size"]
    heads, kv, dim = config["num_attention_heads"], config["num_key_value_heads"], config["head_dim"]
    values = layers * (hidden * dim * (2 * heads + 2 * kv) + 3 * hidden * inner + 2 * hidden) + hidden  # weights, norms
    values += hidden * config["vocab_size"] + hidden + 2 * layers * kv * dim * 41
    for bound, speed in zip(result["roofline_seconds"]["step 1"], result["machine"]["step 1"]):
        check(bound >= 0.999 * 2 * values / speed["bytes_per_second"], f"bound {bound}, {2 * values} bytes at {speed}")
    ratio = {r["what"]: r for r in result["ratios"]}
    check(len(ratio) == 4, f"ratios without llama.cpp: {list(ratio)}")
    ours, theirs = result["seconds"]["pardec"], result["seconds"]["transformers"]
    for got, a, b in zip(ratio["prefill, pardec / transformers"]["rounds"], theirs["prefill"], ours["prefill"]):
        check(abs(got - a / b) < 1e-9, "a ratio is of one round")
    for got, a, b in zip(ratio["step of 16 / step of 1, pardec"]["rounds"], ours["step 16"], ours["step 1"]):
        check(abs(got - a / b) < 1e-9, "steps are compared within a round")
    for tokens in (16, 64):  # what is asked of a step follows from what the machine allows it in the same round
        of = ratio[f"step of {tokens} / step of 1, pardec"]
        bounds = result["roofline_seconds"]
        for goal, many, one in zip(of["goals"], bounds[f"step {tokens}"], bounds["step 1"]):
            check(abs(goal - 1.25 * many / one) < 1e-9, f"goal of a step of {tokens}: {goal}")
        held = statistics.median(a / b for a, b in zip(of["rounds"], of["goals"])) <= 1
        line = next(line for line in text.splitlines() if line.startswith(f"| step of {tokens} / step of 1"))
        check(("yes" if held else "NO") in line, f"held: {line}")
    figure = out.with_suffix(".svg")
    check("no figure: " in done.stderr or "roofline" in figure.read_text(), "a figure, or why there is none")

    wrong = bench(*small, "--peers", "pardec,vllm", "-o", out)
    check(wrong.returncode == 2 and "'vllm' is unknown" in wrong.stderr, f"an unknown peer: {wrong.stderr}")
    wrong = bench("--model", folder, "--peers", "pardec", "-o", out)
    check(wrong.returncode == 1 and "config.json" in wrong.stderr, f"a folder without a network: {wrong.stderr}")

print("failed:", failed)
sys.exit(failed > 0)
