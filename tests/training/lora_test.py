"""LoRA from end to end beside Hugging Face's peft: `pardec train --lora-rank` writes what peft loads, both compute the same logits with it, and
`pardec model merge` makes the checkpoint that peft's merge makes, which transformers loads.

Usage: lora_test.py PARDEC MODEL_DUMP
"""
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile
import warnings

try:
    import numpy
    import peft
    import safetensors.torch
    import torch
    import transformers
except ImportError as missing:
    print(f"[skipped] {missing}")
    sys.exit(77)
ROOT = pathlib.Path(__file__).resolve().parents[2]
PARDEC, DUMP = sys.argv[1:3]
TOKENIZER = ROOT / "experiments/quickstart/tokenizer.json"
SHAPES = {
    "tied": {"model_type": "llama", "tie_word_embeddings": True},
    "untied": {"model_type": "qwen2", "tie_word_embeddings": False},
    "fused": {"model_type": "phi3", "tie_word_embeddings": False, "pad_token_id": 0},
}
COMMON = {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
          "max_position_embeddings": 2048}
failures = []


def check(good, what):
    print(("ok      " if good else "FAILED  ") + what)
    if not good:
        failures.append(what)


def run(*command):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True)


def dumped(model, ids, adapter=None):
    request = {"model": str(model), "dtype": "fp32", "segments": [],
               "cases": [{"whole": {"tokens": ids, "labels": [[i, i, 0, 0] for i in range(len(ids))]}}]}
    if adapter:
        request["adapter"] = str(adapter)
    done = subprocess.run([DUMP], input=json.dumps(request).encode(), capture_output=True, check=True)
    return numpy.frombuffer(done.stdout).reshape(len(ids), -1)


def with_peft(base, adapter, dtype):
    model = transformers.AutoModelForCausalLM.from_pretrained(str(base), dtype=dtype)
    return peft.PeftModel.from_pretrained(model, str(adapter), autocast_adapter_dtype=False).to(dtype).eval()


def logits(model, ids):
    with torch.no_grad():
        return model(torch.tensor([ids])).logits[0].double().numpy()


def compare(folder, name, *flags):
    base, adapter, merged = folder / name, folder / f"{name}-adapter", folder / f"{name}-merged"
    (folder / "shape.json").write_text(json.dumps(COMMON | SHAPES[name]))
    made = run(PARDEC, "model", "synth", base, "--config", folder / "shape.json", "--tokenizer", TOKENIZER)
    check(made.returncode == 0, f"{name}: a checkpoint {made.stderr.strip()}")
    done = run(PARDEC, "train", "--model", base, "--dataset", "oa-mine", "--format", "ar", "--limit", "12", "--steps", "4", "--batch-tokens", "1024",
               "--lr", "0.02", "--weight-decay", "0", "--threads", "2", "--progress", "none", "--lora-rank", "4", "--lora-alpha", "8", "--out", adapter, *flags)
    check(done.returncode == 0, f"{name}: trained {done.stderr.strip()[-300:]}")
    if done.returncode:
        return
    check(not list(adapter.glob("model*")) and (adapter / "tokenizer.json").exists(), f"{name}: the folder has the adapter, and no network")

    ids = list(range(5, 400, 9)) + [3, 7, 3]
    want = logits(with_peft(base, adapter, torch.float64), ids)
    theirs = abs(logits(with_peft(base, adapter, torch.float32), ids) - want).max()
    ours = abs(dumped(base, ids, adapter) - want).max()
    changed = abs(dumped(base, ids) - want).max()
    check(ours <= 3 * theirs and changed > 1e-3 * abs(want).max(),
          f"{name}: logits are within {ours:.2g} of peft's in float64, its own in float32 within {theirs:.2g}; the adapter changes {changed:.2g}")

    done = run(PARDEC, "model", "merge", base, "--adapter", adapter, "--out", merged)
    check(done.returncode == 0, f"{name}: merged {done.stderr.strip()}")
    whole = with_peft(base, adapter, torch.float32).merge_and_unload().state_dict()
    stored = safetensors.torch.load_file(merged / "model.safetensors")
    check(all(tensor.dtype == torch.bfloat16 for tensor in stored.values()), f"{name}: in the types that the checkpoint has")
    # Rounded once to bf16, where float32's sums may fall on the other side of a border.
    off = [key for key, tensor in stored.items() if ((tensor.float() - whole[key]).abs() > whole[key].abs() * 2.0 ** -8 * 1.01).any()]
    equal = sum((tensor == whole[key].bfloat16()).sum().item() for key, tensor in stored.items()) / sum(t.numel() for t in stored.values())
    check(not off and equal > 0.999, f"{name}: {equal:.5f} of the merged weights are peft's, rounded {off}")
    loaded = transformers.AutoModelForCausalLM.from_pretrained(str(merged), dtype=torch.float64)
    single = abs(logits(transformers.AutoModelForCausalLM.from_pretrained(str(merged), dtype=torch.float32), ids) - logits(loaded, ids)).max()
    check(abs(dumped(merged, ids) - logits(loaded, ids)).max() <= 3 * single, f"{name}: transformers computes the same with the merged checkpoint")
    again = run(PARDEC, "model", "merge", base, "--adapter", adapter, "--out", merged)
    check(again.returncode == 2 and "holds a model" in again.stderr, f"{name}: not merged over it: {again.stderr.strip()}")


def goes_on(folder):
    """An adapter is where another one begins: of its shape, and equal to it where nothing was learned."""
    base, first, second = folder / "tied", folder / "tied-adapter", folder / "goes-on"
    train = [PARDEC, "train", "--model", base, "--start-adapter", first, "--dataset", "oa-mine", "--format", "ar", "--limit", "12", "--batch-tokens", "1024",
             "--steps", "1", "--weight-decay", "0", "--threads", "2", "--progress", "none"]
    done = run(*train, "--lr", "1e-12", "--out", second)
    check(done.returncode == 0, f"goes on {done.stderr.strip()[-300:]}")
    if done.returncode:
        return
    was, now = (safetensors.torch.load_file(path / "adapter_model.safetensors") for path in (first, second))
    check(was.keys() == now.keys() and all(torch.equal(was[key], now[key]) for key in was), "a step of nothing leaves the adapter as it was")
    was, now = (json.loads((path / "adapter_config.json").read_text()) for path in (first, second))
    check(was == now, f"and its shape: {now}")
    made = json.loads((second / "training.json").read_text())["settings"]
    check(made["start_adapter_sha256"] == hashlib.sha256((first / "adapter_model.safetensors").read_bytes()).hexdigest(), "whose hash is on record")
    rank = run(*train, "--lora-rank", "8", "--out", folder / "rank")
    check(rank.returncode == 2 and "--start-adapter" in rank.stderr, f"a rank beside it is refused: {rank.stderr.strip()}")
    nowhere = folder / "nowhere"
    none = run(*(nowhere if part == first else part for part in train), "--out", folder / "none")
    check(none.returncode == 2 and "nowhere" in none.stderr, f"a folder without one is refused: {none.stderr.strip()}")


def reads_peft(folder):
    """An adapter that peft made is merged as peft merges it."""
    base, adapter, merged = folder / "tied", folder / "foreign", folder / "foreign-merged"
    torch.manual_seed(4)
    model = peft.get_peft_model(transformers.AutoModelForCausalLM.from_pretrained(str(base), dtype=torch.float32),
                                peft.LoraConfig(r=3, lora_alpha=5, use_rslora=True, target_modules=["o_proj", "up_proj"],
                                                trainable_token_indices=[9, 4], init_lora_weights=False, task_type="CAUSAL_LM"))
    for name, parameter in model.named_parameters():
        if "trainable_tokens" in name:
            parameter.data.normal_()
    model.save_pretrained(str(adapter))
    ids = [4, 9, 12, 9, 200, 31, 4]
    want = logits(model.eval(), ids)
    check(abs(dumped(base, ids, adapter) - want).max() <= 1e-4 * abs(want).max(), "an adapter of peft's computes here what it computes there")
    done = run(PARDEC, "model", "merge", base, "--adapter", adapter, "--out", merged)
    whole = model.merge_and_unload().state_dict()
    stored = safetensors.torch.load_file(merged / "model.safetensors") if done.returncode == 0 else {}
    check(stored and all(((tensor.float() - whole[key]).abs() <= whole[key].abs() * 2.0 ** -8 * 1.01).all() for key, tensor in stored.items()),
          f"and is merged as there {done.stderr.strip()}")
    config = json.loads((adapter / "adapter_config.json").read_text())
    (adapter / "adapter_config.json").write_text(json.dumps(config | {"use_dora": True}))
    refused = run(PARDEC, "model", "merge", base, "--adapter", adapter, "--out", folder / "none")
    check(refused.returncode == 2 and "use_dora" in refused.stderr, f"refused: {refused.stderr.strip()}")


def refuses(folder):
    base = folder / "tied"
    for flags, part in ((["--lora-rank", "4", "--lora-targets", "qproj"], "q_proj"), (["--lora-rank", "-1"], "--lora-rank"),
                        (["--lora-targets", "q_proj"], "--lora-rank"), (["--lora-rank", "4", "--lora-tokens", "<none>"], "--lora-tokens"),
                        (["--lora-rank", "4", "--lora-dropout", "1"], "--lora-dropout")):
        done = run(PARDEC, "train", "--model", base, "--dataset", "oa-mine", "--out", folder / "refused", *flags)
        check(done.returncode == 2 and part in done.stderr, f"{' '.join(flags)}: {done.stderr.strip()}")


def main():
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        compare(folder, "tied", "--lora-tokens", "3,<|im_end|>,100")
        compare(folder, "untied", "--lora-targets", "q_proj,down_proj", "--lora-tokens", "7", "--dtype", "bf16", "--checkpoint-activations")
        compare(folder, "fused", "--lora-dropout", "0.1")
        goes_on(folder)
        reads_peft(folder)
        refuses(folder)
    print(f"{len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
