"""Every key of peft's LoraConfig with values that are not its default's: the answers are peft's, or the key is refused by name; none is silent.

Usage: adapter_keys_test.py PROGRAM
"""
import dataclasses
import re
import shutil
import sys

from harness import Checks, scratch
from cases import ask, change_json, greedy, make_network
from adapters_test import adapt, again, load
import peft
from peft.tuners.lora import config as kinds

# Values by key. A key that peft has and this table lacks fails the test; so does a value that stands in no config that is written.
MADE = {
    "r": [1, 6], "lora_alpha": [3, 0.5], "lora_dropout": [0.5], "use_rslora": [True], "fan_in_fan_out": [True],
    "target_modules": [["up_proj"], r".*mlp\.(up|down)_proj", "all-linear", ["embed_tokens"], ["lm_head"]],
    "exclude_modules": [["q_proj"], r".*\.0\..*"], "layers_to_transform": [1, [0]], "layers_pattern": ["layers", ["layers", "h"]],
    "rank_pattern": [{"q_proj": 2}], "alpha_pattern": [{"v_proj": 32}],
    "modules_to_save": [["lm_head"], ["embed_tokens", "norm"]], "bias": ["all", "lora_only"], "lora_bias": [True], "use_dora": [True],
    "init_lora_weights": [False, "gaussian", "eva", "olora", "pissa", "pissa_niter_2", "orthogonal", "mica", "lora_ga"],
    "trainable_token_indices": [[5, 77], {"lm_head": [9]}], "ensure_weight_tying": [True], "alora_invocation_tokens": [[77]],
    "layer_replication": [[[0, 2], [1, 2]]], "target_parameters": [["model.layers.1.mlp.up_proj.weight"]], "use_qalora": [True], "qalora_group_size": [8],
    "kasa_config": [kinds.KasaConfig()], "velora_config": [kinds.VeloraConfig()], "monteclora_config": [kinds.MontecloraConfig()],
    "use_bdlora": [kinds.BdLoraConfig(nblocks=2, target_modules_bd_a=["q_proj"], target_modules_bd_b=["v_proj"])],
    "task_type": ["FEATURE_EXTRACTION"], "inference_mode": [True], "base_model_name_or_path": ["elsewhere"], "revision": ["main"], "auto_mapping": [{"base_model_class": "X"}],
    "eva_config": [kinds.EvaConfig()], "corda_config": [kinds.CordaConfig()], "lora_ga_config": [kinds.LoraGAConfig()], "megatron_core": ["megatron.other"],
}
# peft cannot make these here (a GPU, data, another library or adapters to choose among): they are written into a plain adapter's config.
WRITTEN = {"init_lora_weights": ["loftq", "corda", "unknown", 3], "loftq_config": [{"loftq_bits": 4}], "arrow_config": [{"top_k": 3}], "megatron_config": [{"a": 1}], "peft_type": ["ADALORA", "IA3", "VERA", "OFT"],
           "peft_version": ["9.9.9"], "runtime_config": [{"ephemeral_gpu_offload": True}], "lora_bias": ["yes"], "use_dora": [1], "r": [0, -1, 2.5], "lora_alpha": [None], "layers_to_transform": [{}, "1"],
           "target_modules": [3], "modules_to_save": [{"lm_head": 1}], "exclude_modules": [7], "alpha_pattern": [3], "rank_pattern": [{"q_proj": 1.5}], "ensure_weight_tying": ["no"], "use_rslora": ["yes"]}
BESIDE = {"layers_pattern": {"layers_to_transform": [0]}, "ensure_weight_tying": {"modules_to_save": ["embed_tokens"]}, "qalora_group_size": {}, "lora_ga": {"lora_ga_config": kinds.LoraGAConfig()}}
NETWORKS = {"bias": "biased", "lora_bias": "biased", "ensure_weight_tying": "tied"}


def compare(check, pardec, network, out, key, what):
    """Whether the answers are equal; else the key is named by an error of one line."""
    code, ids, said = ask(pardec, network, "--adapter", out)
    if code == 2:
        return check(key in said and said.count("\n") == 0, f"{what}: refused, but not by name: {said}") and False
    try:
        theirs = again(network, out)
    except Exception as error:  # noqa: BLE001: whatever peft says
        return check(False, f"{what}: read here, {said!r}, and refused by peft: {type(error).__name__}: {error}") and False
    return check(code == 0 and ids == theirs, f"{what}: {ids}, peft {theirs}; {said}")


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        networks = {"plain": make_network(pardec.folder / "plain"), "biased": make_network(pardec.folder / "biased", attention_bias=True, mlp_bias=True),
                    "tied": make_network(pardec.folder / "tied", tie_word_embeddings=True)}
        fields = {field.name for field in dataclasses.fields(peft.LoraConfig)}
        check(fields == fields & ({*MADE} | {*WRITTEN}), f"keys of peft's that are not tried: {sorted(fields - {*MADE} - {*WRITTEN})}")
        equal = {}
        for key, values in MADE.items():
            network = networks[NETWORKS.get(key, "plain")]
            for i, value in enumerate(values):
                out = pardec.folder / f"{key}-{i}"
                adapt(network, out, **BESIDE.get(value if isinstance(value, str) else "", BESIDE.get(key, {})), **{key: value})
                equal[key, repr(value)] = compare(check, pardec, network, out, key, f"{key}={value}")
        adapt(networks["plain"], pardec.folder / "adapter")
        for key, values in WRITTEN.items():
            for i, value in enumerate(values):
                out = pardec.folder / f"written-{key}-{i}"
                shutil.copytree(pardec.folder / "adapter", out)
                change_json(out / "adapter_config.json", **{key: value})
                equal[key, repr(value)] = compare(check, pardec, networks["plain"], out, key, f"{key}={value}, written")
        refused = sorted({key for (key, _), same in equal.items() if not same})
        print(f"{sum(equal.values())} values read as by peft; refused by name in some value: {', '.join(refused)}")
        supported = {"r", "lora_alpha", "use_rslora", "target_modules", "exclude_modules", "layers_to_transform", "layers_pattern", "rank_pattern", "alpha_pattern", "modules_to_save", "bias", "lora_bias",
                     "use_dora", "trainable_token_indices", "ensure_weight_tying", "fan_in_fan_out", "lora_dropout"}
        for key in sorted(supported):
            check(all(equal[key, repr(value)] for value in MADE[key]), f"{key} is read, not refused")
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
