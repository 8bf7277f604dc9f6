"""What the tests of training share: eight titles to learn, a small network, and `pardec train`
in a folder.
"""

import json
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIELDS = ["Brand", "Color", "Size"]
TITLES = [
    ("Tolvane Daypack Slate Green 40 L", ["Tolvane", "Slate Green", "40 L"]),
    ("Kestrow Commuter Plum", ["Kestrow", "Plum", None]),
    ("Bag by Mirrel, 12 L", ["Mirrel", None, "12 L"]),
    ("Ostrin Rucksack Red", ["Ostrin", "Red", None]),
    ("Large Sack Navy Blue 75 L Varnel", ["Varnel", "Navy Blue", "75 L"]),
    ("Quill & Tarn Tote", ["Quill & Tarn", None, None]),
    ("Plain bag", [None, None, None]),
    ("Dorvex 22 L Orange Pack", ["Dorvex", "Orange", "22 L"]),
]
CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_act": "silu",
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "head_dim": 32,
    "max_position_embeddings": 1024,
    "rms_norm_eps": 1e-6,
    "rope_theta": 10000.0,
    "tie_word_embeddings": True,
}
PROMPT = "[instruction]\nExtract.\n[context]\n{n}: {text}\n[answer json]\nJSON.\n"


def train(pardec, folder, out, *flags, model="config.json"):
    """The command line of a training in a folder."""
    return [
        str(pardec),
        "train",
        "--model",
        str(folder / model),
        "--tokenizer",
        str(ROOT / "experiments/quickstart/tokenizer.json"),
        "--dataset",
        "oa-mine",
        "--data-root",
        str(folder),
        "--prompt-file",
        str(folder / "prompt.txt"),
        *([] if "--k-max" in flags else ["--k-max", "12"]),
        "--threads",
        "2",
        "--progress",
        "none",
        "--out",
        str(folder / out),
        *flags,
    ]


def run(command):
    """A command, with what it said."""
    return subprocess.run(command, capture_output=True, text=True)


def prepare(folder):
    """The titles, the network's config and the prompt in a folder."""
    (folder / "oa-mine").mkdir()
    with open(folder / "oa-mine/train.jsonl", "w", encoding="utf-8") as file:
        for title, values in TITLES:
            file.write(
                json.dumps(
                    {
                        "input": title,
                        "category": "Bag",
                        "target_scores": {
                            name: {value or "n/a": 1} for name, value in zip(FIELDS, values)
                        },
                    }
                )
                + "\n"
            )
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "prompt.txt").write_text(PROMPT)


def tensors(file):
    """The tensors of a safetensors file."""
    import safetensors.torch

    found = safetensors.torch.load_file(str(file))
    found.pop("state", None)  # holds seconds
    return found
