"""Every model family from outside: `model synth` makes one, `generate` runs it, `train` teaches it, and transformers reads what they wrote.

Usage: families_test.py PROGRAM

Truth: the greedy ids of transformers on the same folders, in fp32.
"""
import json
import math
import sys

from harness import ROOT, TINY, Checks, scratch
from reference import torch, transformers

VOCABULARY, PROMPT, COUNT = 4096, [5, 6, 7, 8, 9], 6
FAMILIES = {"Llama": {}, "Mistral": {"sliding_window": 400}, "Qwen2": {"head_dim": None}, "Qwen3": {}, "Olmo2": {"head_dim": None, "eos_token_id": 2},
            "Phi3": {"head_dim": None, "eos_token_id": 2, "pad_token_id": 0, "partial_rotary_factor": 0.5}}


def of_transformers(folder):
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    ids = torch.tensor([PROMPT])
    chosen = model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=COUNT, do_sample=False, eos_token_id=None, pad_token_id=0)
    return type(model).__name__, chosen[0, len(PROMPT):].tolist()


def family(check, pardec, name, changes):
    architecture, name = f"{name}ForCausalLM", name.lower()
    config = {**TINY, "architectures": [architecture], "model_type": name, "vocab_size": VOCABULARY, **changes}
    config = {key: value for key, value in config.items() if value is not None}
    (pardec.folder / f"{name}.json").write_text(json.dumps(config))
    pardec.good("model", "synth", name, "--config", f"{name}.json")
    train = ["train", "--dataset", "oa-mine", "--format", "ar,hpd", "--stack", 1, "--k-max", 6, "--steps", 12, "--lr", 5e-3, "--validation", 0, "--batch-tokens", 900,
             "--progress", "none"]
    pardec.good(*train, "--model", f"{name}.json", "--tokenizer", ROOT / "experiments/quickstart/tokenizer.json", "--out", f"{name}-new")
    pardec.good(*train, "--model", name, "--out", f"{name}-taught")
    for folder in (name, f"{name}-new", f"{name}-taught"):
        ours = pardec.good("generate", "--model", folder, "--prompt-tokens", ",".join(map(str, PROMPT)), "--max-new-tokens", COUNT, "--ignore-eos")
        theirs = of_transformers(pardec.folder / folder)
        check((architecture, [int(i) for i in ours.split(",")]) == theirs, f"{folder}: {ours.strip()}, transformers: {theirs}")
    record = json.loads((pardec.folder / f"{name}-new" / "training.json").read_text())
    check(record["result"]["train_loss"] < math.log(VOCABULARY) - 1, f"{name} learns: {record['result']}, untaught {math.log(VOCABULARY):.3f}")


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        for name, changes in FAMILIES.items():
            family(check, pardec, name, changes)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
