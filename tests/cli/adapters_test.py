"""Adapters as peft reads them: what the keys of adapter_config.json mean, and what of them is refused by name.

Usage: adapters_test.py PROGRAM [CASE]

Truth: the greedy ids of peft, of the adapter as it was trained and as it is loaded again.
"""
import json
import os
import re
import shutil
import sys
import warnings

from cases import ask, case, change_json, greedy, make_network, run_test
from reference import torch, transformers
from safetensors.torch import load_file, save_file

try:
    import peft
except ImportError as error:
    print(f"[skipped] {error}")
    sys.exit(77)
warnings.simplefilter("ignore")

NETWORKS = {"plain": {}, "biased": {"attention_bias": True, "mlp_bias": True}, "tied": {"tie_word_embeddings": True},
            "Qwen3": {"family": "Qwen3"}, "Phi3": {"family": "Phi3", "head_dim": None, "pad_token_id": 0}, "deep": {"num_hidden_layers": 4},
            "own head": {"tie_word_embeddings": True}}

ATTENTION = ["q_proj", "v_proj"]
# What peft makes with these, and this program merges alike: network, LoraConfig.
READ = {
    "plain": ("plain", {}),
    "rslora": ("plain", {"use_rslora": True}),
    "rank_pattern": ("plain", {"rank_pattern": {"q_proj": 2, "model.layers.1.self_attn.v_proj": 8}}),
    "alpha_pattern": ("plain", {"alpha_pattern": {"layers.0.self_attn.q_proj": 32, "v_proj": 1}}),
    "patterns that meet": ("plain", {"rank_pattern": {".*1.*": 6, "q_proj": 2}, "alpha_pattern": {"^model.layers.0.*": 3, "q_proj": 40}, "use_rslora": True}),
    "a pattern of part of a name": ("plain", {"alpha_pattern": {"proj": 32}}),
    "exclude_modules, an expression": ("plain", {"exclude_modules": r".*\.1\..*"}),
    "exclude_modules, a list": ("plain", {"exclude_modules": ["layers.0.self_attn.q_proj", "model.layers.1.self_attn.v_proj"]}),
    "exclude_modules leaves the first layers": ("deep", {"exclude_modules": r"model\.layers\.(0|1)\..*"}),
    "exclude_modules by a class of letters": ("deep", {"target_modules": "all-linear", "exclude_modules": r".*\.[02]\.mlp\.(?:up|down)_proj|lm_head"}),
    "layers_to_transform, a number": ("deep", {"layers_to_transform": 2}),
    "layers_to_transform, a list": ("deep", {"layers_to_transform": [0, 3], "layers_pattern": "layers"}),
    "layers_to_transform, a list of patterns": ("deep", {"layers_to_transform": [1], "layers_pattern": ["blocks", "layers"]}),
    "target_modules, an expression": ("plain", {"target_modules": r".*\.0\.(self_attn\.[qk]|mlp\.gate)_proj"}),
    "target_modules, all": ("plain", {"target_modules": "all-linear"}),
    "target_modules, whole names": ("plain", {"target_modules": ["model.layers.0.self_attn.q_proj", "layers.1.mlp.down_proj"]}),
    "target_modules by peft": ("plain", {"target_modules": None}),
    "fused matrices": ("Phi3", {"target_modules": ["qkv_proj", "down_proj"], "use_dora": True}),
    "Qwen3": ("Qwen3", {"target_modules": ["k_proj", "o_proj", "gate_proj"], "alpha_pattern": {"o_proj": 1}}),
    "modules_to_save, the head": ("plain", {"modules_to_save": ["lm_head"]}),
    "modules_to_save, both ends": ("plain", {"modules_to_save": ["lm_head", "embed_tokens"]}),
    "modules_to_save, norms": ("plain", {"modules_to_save": ["norm", "input_layernorm"]}),
    "modules_to_save, a block": ("plain", {"modules_to_save": ["layers.1.mlp", "o_proj"]}),
    "modules_to_save and target_modules meet": ("plain", {"modules_to_save": ["layers.1.self_attn.q_proj"]}),
    "modules_to_save of a tied network, the head": ("tied", {"modules_to_save": ["lm_head"]}),
    "modules_to_save of a tied network, the embedding": ("tied", {"modules_to_save": ["embed_tokens"]}),
    "modules_to_save of a tied network, both": ("tied", {"modules_to_save": ["embed_tokens", "lm_head"]}),
    "modules_to_save of a tied network, kept one": ("tied", {"modules_to_save": ["embed_tokens"], "ensure_weight_tying": True}),
    "the head kept one with the embedding": ("tied", {"modules_to_save": ["lm_head"], "ensure_weight_tying": True}),
    "ensure_weight_tying of an untied network": ("plain", {"modules_to_save": ["lm_head"], "ensure_weight_tying": True}),
    "an adapter of the head": ("plain", {"target_modules": ["q_proj", "lm_head"]}),
    "an adapter of the embedding": ("plain", {"target_modules": ["q_proj", "embed_tokens"]}),
    "an adapter of both": ("plain", {"target_modules": ["embed_tokens", "lm_head"], "use_rslora": True}),
    "an adapter of the head of a tied network": ("tied", {"target_modules": ["q_proj", "lm_head"]}),
    "an adapter of the embedding of a tied network": ("tied", {"target_modules": ["embed_tokens"]}),
    "an adapter of a head that config.json calls tied": ("own head", {"target_modules": ["lm_head"]}),
    "bias of all": ("biased", {"bias": "all"}),
    "bias of the adapter's": ("biased", {"bias": "lora_only"}),
    "bias of B": ("biased", {"lora_bias": True, "use_rslora": True}),
    "DoRA": ("plain", {"use_dora": True}),
    "DoRA beside biases and patterns": ("biased", {"use_dora": True, "rank_pattern": {"q_proj": 1}, "target_modules": "all-linear"}),
    "DoRA of the head": ("plain", {"use_dora": True, "target_modules": ["lm_head", "v_proj"]}),
    "PiSSA": ("plain", {"init_lora_weights": "pissa"}),
    "PiSSA of all matrices, root": ("plain", {"init_lora_weights": "pissa", "target_modules": "all-linear", "use_rslora": True, "r": 7}),
    "PiSSA with patterns": ("plain", {"init_lora_weights": "pissa", "rank_pattern": {"q_proj": 9}, "alpha_pattern": {"v_proj": 3}}),
    "PiSSA and DoRA": ("plain", {"init_lora_weights": "pissa", "use_dora": True}),
    "PiSSA of fused matrices": ("Phi3", {"init_lora_weights": "pissa", "target_modules": ["qkv_proj", "gate_up_proj"]}),
    "OLoRA": ("plain", {"init_lora_weights": "olora"}),
    "OLoRA of all matrices": ("plain", {"init_lora_weights": "OLoRA", "target_modules": "all-linear", "lora_alpha": 3}),
    "gaussian": ("plain", {"init_lora_weights": "gaussian"}),
    "without a beginning": ("plain", {"init_lora_weights": False}),
    "eva": ("plain", {"init_lora_weights": "eva"}),
    "orthogonal": ("plain", {"init_lora_weights": "orthogonal"}),
    "MiCA": ("plain", {"init_lora_weights": "mica"}),
    "fan_in_fan_out": ("plain", {"fan_in_fan_out": True}),
    "dropout": ("plain", {"lora_dropout": 0.4}),
    "rows of tokens": ("plain", {"trainable_token_indices": [77, 5]}),
    "rows of tokens of a tied network": ("tied", {"trainable_token_indices": [5, 77]}),
    "rows of tokens by module": ("plain", {"trainable_token_indices": {"embed_tokens": [5, 77], "lm_head": [3333, 9]}}),
    "rows of tokens of a tied network, kept one": ("tied", {"trainable_token_indices": [5, 77], "ensure_weight_tying": True}),
}

# What peft makes with these, and this program refuses: network, LoraConfig, what the error says.
REFUSED = {
    "PiSSA by chance": ("plain", {"init_lora_weights": "pissa_niter_4"}, "'init_lora_weights' is \"pissa_niter_4\", expected true, false, gaussian"),
    "LoRA-GA": ("plain", {"init_lora_weights": "lora_ga", "lora_ga_config": {}}, "'init_lora_weights' is \"lora_ga\""),
    "invocation tokens": ("plain", {"alora_invocation_tokens": [77]}, "\"alora_invocation_tokens\" is [77], expected null: an adapter that is active only after these tokens"),
    "bias of B without a bias": ("plain", {"lora_bias": True}, "'lora_bias' is true, and the file has 'base_model.model.model.layers.0.self_attn.q_proj.lora_B.bias'"),
    "layers several times": ("plain", {"layer_replication": [[0, 2], [1, 2]]}, "\"layer_replication\" is [[0,2],[1,2]], expected null"),
    "parameters": ("plain", {"target_parameters": ["model.layers.0.mlp.up_proj.weight"]}, "\"target_parameters\" is [\"model.layers.0.mlp.up_proj.weight\"], expected null"),
    "KaSA": ("plain", {"kasa_config": {}}, "\"kasa_config\" is"),
    "VeLoRA": ("plain", {"velora_config": {}}, "\"velora_config\" is"),
    "MonteCLoRA": ("plain", {"monteclora_config": {}}, "\"monteclora_config\" is"),
    "QALoRA": ("plain", {"use_qalora": True}, "\"use_qalora\" is true, expected false"),
    "DoRA of the embedding": ("plain", {"use_dora": True, "target_modules": ["embed_tokens"]}, "'target_modules' names embed_tokens beside use_dora"),
    "an adapter of ends that stay one": ("tied", {"target_modules": ["embed_tokens"], "ensure_weight_tying": True}, "'ensure_weight_tying' is true, and 'target_modules' names the embedding or the head"),
    "a head of more rows": ("plain", {"modules_to_save": ["lm_head"], "rows": 4160}, "has shape [4160, 64], expected [4096, 64]"),
}

# Changes of the plain adapter's config that peft does not know, or that say what the file does not hold.
WRONG = {
    "a key of tomorrow": ({"use_future": True}, "\"use_future\" is true, expected false: a key that is not understood"),
    "a key of tomorrow that says nothing": ({"use_future": False, "future_config": None, "future_list": []}, None),
    "another kind": ({"peft_type": "LOHA"}, "'peft_type' is \"LOHA\", expected \"LORA\""),
    "no kind": ({"peft_type": None}, "'peft_type' is null"),
    "modules that are not saved": ({"modules_to_save": ["lm_head"]}, "has no tensor 'base_model.model.lm_head.weight' of shape [4096, 64], though modules_to_save names its module"),
    "targets that are not there": ({"target_modules": ["q_proj", "v_proj", "up_proj"]}, "has no tensor 'base_model.model.model.layers.0.mlp.up_proj.lora_A.weight', though the config names its module, nor those of 1 other"),
    "tensors of no target": ({"target_modules": ["q_proj"]}, "has tensor 'base_model.model.model.layers.0.self_attn.v_proj.lora_A.weight', which fits nothing"),
    "another rank": ({"r": 3}, "has shape [4, 64], expected [3, 64]"),
    "another rank by a pattern": ({"rank_pattern": {"v_proj": 2}}, "has shape [4, 64], expected [2, 64]"),
    "DoRA without lengths": ({"use_dora": True}, "has no tensor 'base_model.model.model.layers.0.self_attn.q_proj.lora_magnitude_vector' of shape [64]"),
    "no expression": ({"exclude_modules": "(q_proj"}, "'exclude_modules': '(q_proj' is no regular expression"),
    "an expression without end": ({"exclude_modules": "([a-z._0-9]|[a-z._0-9]{2})*[^a-z._0-9]"}, "fails at byte 0 of a text of"),
    "a bias of a kind": ({"bias": "some"}, "'bias' is \"some\", expected none, all or lora_only"),
    "alpha as text": ({"lora_alpha": "8"}, "'lora_alpha' \"8\""),
    "a pattern as text": ({"alpha_pattern": {"q_proj": "8"}}, "'alpha_pattern' is {\"q_proj\":\"8\"}"),
    "layers as text": ({"layers_to_transform": ["0"]}, "'layers_to_transform' is [\"0\"]"),
    "rows that are not there": ({"trainable_token_indices": [7]}, "has no tensor 'base_model.model.model.embed_tokens.token_adapter.trainable_tokens_delta'"),
}


def load(folder):
    return transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)


def train(model):
    """Other numbers for all that learns, far enough from the beginning to change every answer."""
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.requires_grad:
                deviation = parameter.std().item() if parameter.numel() > 1 and parameter.std() > 0 else 1.0
                parameter.add_(torch.randn(parameter.shape, generator=generator) * deviation * 0.4)


def adapt(folder, out, rows=None, **config):
    """An adapter that peft made: its ids as trained."""
    given = {"r": 4, "lora_alpha": 8, "target_modules": ATTENTION, "task_type": "CAUSAL_LM", **config}
    torch.manual_seed(0)
    network = load(folder)
    if rows:
        network.resize_token_embeddings(rows)
    model = peft.get_peft_model(network, peft.LoraConfig(**given))
    train(model)
    model.eval().save_pretrained(out)
    return greedy(model)


def again(folder, out):
    return greedy(peft.PeftModel.from_pretrained(load(folder), out).eval())


def name_of(text):
    return re.sub(r"\W+", "-", text)


def networks(pardec):
    made = {name: make_network(pardec.folder / f"network-{name_of(name)}", **changes) for name, changes in NETWORKS.items()}
    file = made["own head"] / "model.safetensors"
    tensors = load_file(file)
    tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"].flip(0).clone()
    save_file(tensors, file, metadata={"format": "pt"})
    return made


def read(check, pardec, made):
    plain = {name: greedy(load(folder)) for name, folder in made.items()}
    for name, (network, config) in READ.items():
        out = pardec.folder / name_of(name)
        trained = adapt(made[network], out, **config)
        code, ids, said = ask(pardec, made[network], "--adapter", out)
        check(code == 0 and ids == trained == again(made[network], out), f"{name}: {ids}, peft {trained}, again {again(made[network], out)}; {said}")
        check(trained != plain[network], f"{name}: the adapter changes an answer")


def merged(check, pardec, made):
    """What is merged by `model merge` answers alike, and so does transformers on it."""
    for name in ("DoRA", "PiSSA", "modules_to_save of a tied network, the head", "an adapter of the embedding of a tied network", "bias of B", "an adapter of a head that config.json calls tied"):
        network, _ = READ[name]
        out = pardec.folder / f"merged-{name_of(name)}"
        pardec.good("model", "merge", made[network], "--adapter", pardec.folder / name_of(name), "--out", out)
        with_adapter = ask(pardec, made[network], "--adapter", pardec.folder / name_of(name))[1]
        check(ask(pardec, out)[1] == with_adapter == greedy(load(out)), f"merged {name}: {ask(pardec, out)}, {with_adapter}, {greedy(load(out))}")
        inspected = pardec.good("model", "inspect", made[network], "--adapter", pardec.folder / name_of(name))
        check("low-rank, rank 4; " in inspected, f"inspect {name}: {inspected}")
        ran = pardec("train", "--model", made[network], "--start-adapter", pardec.folder / name_of(name), "--dataset", "oa-mine", "--format", "ar", "--steps", 1, "--out", "no", "--progress", "none")
        check(ran.returncode == 2 and "which are not trained" in ran.stderr, f"train from {name}: {ran.stderr[-300:]}")


def refused(check, pardec, made):
    for name, (network, config, expected) in REFUSED.items():
        out = pardec.folder / name_of(name)
        config = dict(config)
        for key in ("kasa_config", "velora_config", "monteclora_config"):
            if key in config:
                config[key] = getattr(peft.tuners.lora.config, {"kasa": "Kasa", "velora": "Velora", "monteclora": "Monteclora"}[key.split("_")[0]] + "Config")()
        adapt(made[network], out, **config)
        code, _, said = ask(pardec, made[network], "--adapter", out)
        check(code == 2 and expected in said and said.count("\n") == 0, f"{name}: exit {code}: {said}")


def wrong(check, pardec, made):
    expected = ask(pardec, made["plain"], "--adapter", pardec.folder / "plain")[1]
    for name, (changes, error) in WRONG.items():
        out = pardec.folder / f"wrong-{name_of(name)}"
        shutil.copytree(pardec.folder / "plain", out)
        change_json(out / "adapter_config.json", **changes)
        code, ids, said = ask(pardec, made["plain"], "--adapter", out)
        check((code == 2 and error in said and said.count("\n") == 0) if error else ids == expected, f"{name}: exit {code}: {said}")
    out = pardec.folder / "twice"
    shutil.copytree(pardec.folder / "plain", out)
    text = (out / "adapter_config.json").read_text()
    (out / "adapter_config.json").write_text(text.replace('"r": 4', '"r": 4, "r": 4'))
    code, _, said = ask(pardec, made["plain"], "--adapter", out)
    check(code == 2 and "has \"r\" twice" in said, f"a key twice: {said}")
    # A weight that no key names is loaded by peft, too.
    out = pardec.folder / "whole"
    shutil.copytree(pardec.folder / "plain", out)
    tensors = load_file(out / "adapter_model.safetensors")
    tensors["base_model.model.model.norm.weight"] = torch.linspace(-2, 2, 64)
    save_file(tensors, out / "adapter_model.safetensors", metadata={"format": "pt"})
    code, ids, said = ask(pardec, made["plain"], "--adapter", out)
    check(code == 0 and ids == again(made["plain"], out) != expected, f"a whole weight that no key names: {ids}; {said}")
    # Names of tensors as they stand in memory, and keys that are missing, whose defaults are peft's.
    for name, (config, gone, rename) in {"the adapter's name in names": ({}, (), lambda n: re.sub(r"(lora_[AB])", r"\1.default", n)), "lengths as in memory": ({"use_dora": True}, (), lambda n: re.sub(r"(magnitude_vector)", r"\1.default.weight", n)),
                                         "lengths as modules": ({"use_dora": True}, (), lambda n: re.sub(r"(magnitude_vector)", r"\1.weight", n)), "no r, no alpha": ({"r": 8, "lora_alpha": 8}, ("r", "lora_alpha"), str), "no alpha": ({}, ("lora_alpha",), str)}.items():
        out = pardec.folder / name_of(name)
        adapt(made["plain"], out, **config)
        file = out / "adapter_config.json"
        file.write_text(json.dumps({key: value for key, value in json.loads(file.read_text()).items() if key not in gone}))
        tensors = load_file(out / "adapter_model.safetensors")
        save_file({rename(key): tensor for key, tensor in tensors.items()}, out / "adapter_model.safetensors", metadata={"format": "pt"})
        code, ids, said = ask(pardec, made["plain"], "--adapter", out)
        check(code == 0 and ids == again(made["plain"], out), f"{name}: {ids}, peft {again(made['plain'], out)}; {said}")
        check(ids != greedy(load(made["plain"])), f"{name}: the adapter changes an answer")
    # The layers of a shallower network are told from those that a key leaves alone.
    adapt(made["plain"], pardec.folder / "shallow")
    code, _, said = ask(pardec, made["deep"], "--adapter", pardec.folder / "shallow")
    check(code == 2 and "is of a network of 2 layers, this one has 4" in said, f"of a shallower network: {said}")


def shared_case(check, pardec, name):
    expected = SHARED[name]
    code, ids, said = ask(pardec, case("base"), "--adapter", case(name))
    check(code == 0 and ids == expected == again(case("base"), case(name)), f"{name}: {ids}; {said}")


SHARED = {"02-pissa": [3722, 2736, 1705, 1100, 2946, 37, 1106, 3059], "05-exclude-modules": [3722, 2846, 2481, 760, 207, 904, 3347, 3542],
          "06-modules-to-save": [3139, 2633, 3609, 1258, 374, 482, 1104, 779]}


def whole(check, pardec):
    made = networks(pardec)
    read(check, pardec, made)
    merged(check, pardec, made)
    refused(check, pardec, made)
    wrong(check, pardec, made)


if __name__ == "__main__":
    sys.exit(run_test(whole, shared_case))
