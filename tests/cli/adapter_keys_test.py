"""Every key of peft's LoraConfig with values that are not its default's: the answers are peft's,
or the key is refused by name; none is silent.
"""

import dataclasses
import functools
import shutil

import peft
import pytest
from peft.tuners.lora import config as kinds

from adapters_test import adapt, again
from cases import ask, change_json, make_network

# Values by key. A key that peft has and this table lacks fails the test; so does a value that
# stands in no config that is written.
MADE = {
    "r": [1, 6],
    "lora_alpha": [3, 0.5],
    "lora_dropout": [0.5],
    "use_rslora": [True],
    "fan_in_fan_out": [True],
    "target_modules": [
        ["up_proj"],
        r".*mlp\.(up|down)_proj",
        "all-linear",
        ["embed_tokens"],
        ["lm_head"],
    ],
    "exclude_modules": [["q_proj"], r".*\.0\..*"],
    "layers_to_transform": [1, [0]],
    "layers_pattern": ["layers", ["layers", "h"]],
    "rank_pattern": [{"q_proj": 2}],
    "alpha_pattern": [{"v_proj": 32}],
    "modules_to_save": [["lm_head"], ["embed_tokens", "norm"]],
    "bias": ["all", "lora_only"],
    "lora_bias": [True],
    "use_dora": [True],
    "init_lora_weights": [
        False, "gaussian", "eva", "olora", "pissa", "pissa_niter_2", "orthogonal", "mica",
        "lora_ga",
    ],
    "trainable_token_indices": [[5, 77], {"lm_head": [9]}],
    "ensure_weight_tying": [True],
    "alora_invocation_tokens": [[77]],
    "layer_replication": [[[0, 2], [1, 2]]],
    "target_parameters": [["model.layers.1.mlp.up_proj.weight"]],
    "use_qalora": [True],
    "qalora_group_size": [8],
    "kasa_config": [kinds.KasaConfig()],
    "velora_config": [kinds.VeloraConfig()],
    "monteclora_config": [kinds.MontecloraConfig()],
    "use_bdlora": [
        kinds.BdLoraConfig(
            nblocks=2, target_modules_bd_a=["q_proj"], target_modules_bd_b=["v_proj"]
        )
    ],
    "task_type": ["FEATURE_EXTRACTION"],
    "inference_mode": [True],
    "base_model_name_or_path": ["elsewhere"],
    "revision": ["main"],
    "auto_mapping": [{"base_model_class": "X"}],
    "eva_config": [kinds.EvaConfig()],
    "corda_config": [kinds.CordaConfig()],
    "lora_ga_config": [kinds.LoraGAConfig()],
    "megatron_core": ["megatron.other"],
}
# peft cannot make these here (a GPU, data, another library or adapters to choose among): they are
# written into a plain adapter's config.
WRITTEN = {
    "init_lora_weights": ["loftq", "corda", "unknown", 3],
    "loftq_config": [{"loftq_bits": 4}],
    "arrow_config": [{"top_k": 3}],
    "megatron_config": [{"a": 1}],
    "peft_type": ["ADALORA", "IA3", "VERA", "OFT"],
    "peft_version": ["9.9.9"],
    "runtime_config": [{"ephemeral_gpu_offload": True}],
    "lora_bias": ["yes"],
    "use_dora": [1],
    "r": [0, -1, 2.5],
    "lora_alpha": [None],
    "layers_to_transform": [{}, "1"],
    "target_modules": [3],
    "modules_to_save": [{"lm_head": 1}],
    "exclude_modules": [7],
    "alpha_pattern": [3],
    "rank_pattern": [{"q_proj": 1.5}],
    "ensure_weight_tying": ["no"],
    "use_rslora": ["yes"],
}
BESIDE = {
    "layers_pattern": {"layers_to_transform": [0]},
    "ensure_weight_tying": {"modules_to_save": ["embed_tokens"]},
    "qalora_group_size": {},
    "lora_ga": {"lora_ga_config": kinds.LoraGAConfig()},
}
NETWORKS = {"bias": "biased", "lora_bias": "biased", "ensure_weight_tying": "tied"}


# Keys that are read, not refused, with all values of MADE.
SUPPORTED = (
    "alpha_pattern", "bias", "ensure_weight_tying", "exclude_modules", "fan_in_fan_out",
    "layers_pattern", "layers_to_transform", "lora_alpha", "lora_bias", "lora_dropout",
    "modules_to_save", "r", "rank_pattern", "target_modules", "trainable_token_indices", "use_dora",
    "use_rslora",
)
CHANGES = {
    "plain": {},
    "biased": {"attention_bias": True, "mlp_bias": True},
    "tied": {"tie_word_embeddings": True},
}


def pairs(table):
    return [(key, value) for key, values in table.items() for value in values]


def named(case):
    """An id of a case, without what pytest would escape."""
    key, value = case
    value = type(value).__name__ if dataclasses.is_dataclass(value) else value
    return f"{key}={value}"


@pytest.fixture(scope="module")
def network(pardec):
    """A network by its kind, made once."""
    return functools.cache(lambda kind: make_network(pardec.folder / kind, **CHANGES[kind]))


@pytest.fixture(scope="module")
def plain_adapter(pardec, network):
    adapt(network("plain"), pardec.folder / "adapter")
    return pardec.folder / "adapter"


def check_equal_or_refused(pardec, network, out, key):
    """The answers are equal, or an error of one line names the key. Returns whether it is read."""
    code, ids, said = ask(pardec, network, "--adapter", out)
    if code == 2:
        assert key in said
        assert said.count("\n") == 0, said
        return False
    assert code == 0, said
    assert ids == again(network, out), said
    return True


def test_every_key_of_peft_is_tried():
    fields = {field.name for field in dataclasses.fields(peft.LoraConfig)}
    assert fields - {*MADE} - {*WRITTEN} == set()


@pytest.mark.parametrize("case", pairs(MADE), ids=named)
def test_an_adapter_that_peft_made_is_read_as_by_peft_or_refused(pardec, network, tmp_path, case):
    key, value = case
    of = network(NETWORKS.get(key, "plain"))
    beside = BESIDE.get(value if isinstance(value, str) else "", BESIDE.get(key, {}))
    adapt(of, tmp_path / "adapter", **beside, **{key: value})
    read = check_equal_or_refused(pardec, of, tmp_path / "adapter", key)
    assert read or key not in SUPPORTED, f"{key} is refused"


@pytest.mark.parametrize("case", pairs(WRITTEN), ids=named)
def test_a_value_that_is_written_into_a_config_is_read_as_by_peft_or_refused(
    pardec, network, plain_adapter, tmp_path, case
):
    key, value = case
    shutil.copytree(plain_adapter, tmp_path / "adapter")
    change_json(tmp_path / "adapter" / "adapter_config.json", **{key: value})
    check_equal_or_refused(pardec, network("plain"), tmp_path / "adapter", key)
