"""Shared by the tests of foreign checkpoints: tiny networks made by transformers, their greedy ids
in transformers and in pardec, and the cases.
"""

import json
import pathlib
import shutil

from harness import DATA, TINY, TOKENIZER, skip
from reference import SHARP, sharpen, torch, transformers
from safetensors.torch import load_file, save_file

CASES = DATA.parent / "cases"
PROMPT, COUNT = [1, 5, 77, 300, 12], 8
# Matrices of queries, keys and values together; and those that write a layer's outputs.
FUSED = ("query_key_value", "c_attn")
OUTPUTS = ("o_proj", "down_proj", "attention.dense", "dense_4h_to_h", "attn.c_proj", "mlp.c_proj")
SIZE = {"vocab_size": 4096, "bos_token_id": 1, "eos_token_id": 2}


def case(name):
    """The folder of a shared case; without it the test ends, skipped."""
    folder = CASES / name
    if not folder.is_dir():
        skip(f"{folder} is missing")
    return folder


def make_network(folder, family="Llama", seed=1, **changes):
    """A random network in the Hugging Face layout, in fp32, with the quickstart's tokenizer.
    Returns its folder.
    """
    config = {
        **TINY,
        **SIZE,
        "architectures": [f"{family}ForCausalLM"],
        "model_type": family.lower(),
        **changes,
    }
    config = {key: value for key, value in config.items() if value is not None}
    torch.manual_seed(seed)
    model = transformers.AutoModelForCausalLM.from_config(
        transformers.AutoConfig.for_model(**config), dtype=torch.float32
    )
    # The layers' outputs are as large as the embedding. Otherwise a network whose head is the
    # embedding would repeat each token.
    sharpen(model, {**dict.fromkeys(FUSED, 3.0), **SHARP, **dict.fromkeys(OUTPUTS, 5.0)})
    with torch.no_grad():
        for name, weights in model.named_parameters():
            if name.endswith("bias"):
                weights.normal_(0, 0.3)
    if model.config.tie_word_embeddings:
        model.tie_weights()
    model.save_pretrained(folder)
    shutil.copy(TOKENIZER, pathlib.Path(folder) / "tokenizer.json")
    return pathlib.Path(folder)


def change_weights(folder, change):
    """Rewrites model.safetensors. `change(tensors)` changes the dictionary or returns another."""
    file = pathlib.Path(folder) / "model.safetensors"
    tensors = load_file(file)
    tensors = change(tensors) or tensors
    save_file(
        {name: tensor.contiguous() for name, tensor in tensors.items()},
        file,
        metadata={"format": "pt"},
    )


def change_json(file, **changes):
    file = pathlib.Path(file)
    file.write_text(
        json.dumps({**(json.loads(file.read_text()) if file.exists() else {}), **changes})
    )


def greedy(model, prompt=PROMPT, count=COUNT):
    """What a network of transformers (or of peft) chooses after the prompt."""
    ids = torch.tensor([prompt])
    with torch.inference_mode():
        chosen = model.generate(
            input_ids=ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=count,
            do_sample=False,
            eos_token_id=None,
            pad_token_id=0,
        )
    return chosen[0, len(prompt) :].tolist()


def of_transformers(folder):
    return greedy(transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32))


def ask(pardec, folder, *flags, prompt=PROMPT, count=COUNT):
    """(exit code, ids, stderr without the line of speed) of `generate`."""
    ran = pardec(
        "generate",
        "--model",
        folder,
        "--prompt-tokens",
        ",".join(map(str, prompt)),
        "--max-new-tokens",
        count,
        "--ignore-eos",
        "--format",
        "json",
        *flags,
    )
    said = "\n".join(line for line in ran.stderr.splitlines() if not line.startswith('{"speed"'))
    return ran.returncode, json.loads(ran.stdout)["tokens"] if ran.returncode == 0 else None, said
