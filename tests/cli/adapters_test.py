"""Adapters as peft reads them: what the keys of adapter_config.json mean, and what of them is
refused by name.

Truth: the greedy ids of peft, of the adapter as it was trained and as it is loaded again.
"""

import copy
import functools
import json
import re
import shutil
import warnings

import pytest
from cases import ask, case, change_json, greedy, make_network
from harness import TINY, skip
from reference import torch, transformers
from safetensors.torch import load_file, save_file

try:
    import peft
except ImportError as error:
    skip(error)
warnings.simplefilter("ignore")

NETWORKS = {
    "plain": {},
    "biased": {"attention_bias": True, "mlp_bias": True},
    "tied": {"tie_word_embeddings": True},
    "Qwen3": {"family": "Qwen3"},
    "Phi3": {"family": "Phi3", "head_dim": None, "pad_token_id": 0},
    "GPTNeoX": {
        "family": "GPTNeoX", "model_type": "gpt_neox", "head_dim": None, "hidden_act": None
    },
    "GPT2": {
        "family": "GPT2",
        "architectures": ["GPT2LMHeadModel"],
        **{key: None for key in TINY if key.startswith(("num_", "hidden", "interm", "max", "head"))},
        "n_embd": 64,
        "n_head": 4,
        "n_layer": 2,
        "n_positions": 512,
    },
    "deep": {"num_hidden_layers": 4},
    "own head": {"tie_word_embeddings": True},
}

ATTENTION = ["q_proj", "v_proj"]
# What peft makes with these, and this program merges in the same way: network, LoraConfig.
READ = {
    "plain": ("plain", {}),
    "rslora": ("plain", {"use_rslora": True}),
    "rank_pattern": (
        "plain",
        {"rank_pattern": {"q_proj": 2, "model.layers.1.self_attn.v_proj": 8}},
    ),
    "alpha_pattern": ("plain", {"alpha_pattern": {"layers.0.self_attn.q_proj": 32, "v_proj": 1}}),
    "patterns that meet": (
        "plain",
        {
            "rank_pattern": {".*1.*": 6, "q_proj": 2},
            "alpha_pattern": {"^model.layers.0.*": 3, "q_proj": 40},
            "use_rslora": True,
        },
    ),
    "a pattern of part of a name": ("plain", {"alpha_pattern": {"proj": 32}}),
    "exclude_modules, an expression": ("plain", {"exclude_modules": r".*\.1\..*"}),
    "exclude_modules, a list": (
        "plain",
        {"exclude_modules": ["layers.0.self_attn.q_proj", "model.layers.1.self_attn.v_proj"]},
    ),
    "exclude_modules leaves the first layers": (
        "deep",
        {"exclude_modules": r"model\.layers\.(0|1)\..*"},
    ),
    "exclude_modules by a class of letters": (
        "deep",
        {
            "target_modules": "all-linear",
            "exclude_modules": r".*\.[02]\.mlp\.(?:up|down)_proj|lm_head",
        },
    ),
    "layers_to_transform, a number": ("deep", {"layers_to_transform": 2}),
    "layers_to_transform, a list": (
        "deep",
        {"layers_to_transform": [0, 3], "layers_pattern": "layers"},
    ),
    "layers_to_transform, a list of patterns": (
        "deep",
        {"layers_to_transform": [1], "layers_pattern": ["blocks", "layers"]},
    ),
    "target_modules, an expression": (
        "plain",
        {"target_modules": r".*\.0\.(self_attn\.[qk]|mlp\.gate)_proj"},
    ),
    "target_modules, all": ("plain", {"target_modules": "all-linear"}),
    "target_modules, whole names": (
        "plain",
        {"target_modules": ["model.layers.0.self_attn.q_proj", "layers.1.mlp.down_proj"]},
    ),
    "target_modules by peft": ("plain", {"target_modules": None}),
    "fused matrices": ("Phi3", {"target_modules": ["qkv_proj", "down_proj"], "use_dora": True}),
    "heads in one matrix": ("GPTNeoX", {"target_modules": ["query_key_value", "dense"]}),
    "matrices stored as [in, out]": (
        "GPT2",
        {"target_modules": ["c_attn", "c_proj"], "fan_in_fan_out": True},
    ),
    "Qwen3": (
        "Qwen3",
        {"target_modules": ["k_proj", "o_proj", "gate_proj"], "alpha_pattern": {"o_proj": 1}},
    ),
    "modules_to_save, the head": ("plain", {"modules_to_save": ["lm_head"]}),
    "modules_to_save, both ends": ("plain", {"modules_to_save": ["lm_head", "embed_tokens"]}),
    "modules_to_save, norms": ("plain", {"modules_to_save": ["norm", "input_layernorm"]}),
    "modules_to_save, a block": ("plain", {"modules_to_save": ["layers.1.mlp", "o_proj"]}),
    "modules_to_save and target_modules meet": (
        "plain",
        {"modules_to_save": ["layers.1.self_attn.q_proj"]},
    ),
    "modules_to_save of a tied network, the head": ("tied", {"modules_to_save": ["lm_head"]}),
    "modules_to_save of a tied network, the embedding": (
        "tied",
        {"modules_to_save": ["embed_tokens"]},
    ),
    "modules_to_save of a tied network, both": (
        "tied",
        {"modules_to_save": ["embed_tokens", "lm_head"]},
    ),
    "modules_to_save of a tied network, kept tied": (
        "tied",
        {"modules_to_save": ["embed_tokens"], "ensure_weight_tying": True},
    ),
    "the head kept tied to the embedding": (
        "tied",
        {"modules_to_save": ["lm_head"], "ensure_weight_tying": True},
    ),
    "ensure_weight_tying of an untied network": (
        "plain",
        {"modules_to_save": ["lm_head"], "ensure_weight_tying": True},
    ),
    "an adapter of the head": ("plain", {"target_modules": ["q_proj", "lm_head"]}),
    "an adapter of the embedding": ("plain", {"target_modules": ["q_proj", "embed_tokens"]}),
    "an adapter of both": (
        "plain",
        {"target_modules": ["embed_tokens", "lm_head"], "use_rslora": True},
    ),
    "an adapter of the head of a tied network": ("tied", {"target_modules": ["q_proj", "lm_head"]}),
    "an adapter of the embedding of a tied network": ("tied", {"target_modules": ["embed_tokens"]}),
    "an adapter of a head that config.json calls tied": (
        "own head",
        {"target_modules": ["lm_head"]},
    ),
    "bias of all": ("biased", {"bias": "all"}),
    "bias of the adapter": ("biased", {"bias": "lora_only"}),
    "bias of B": ("biased", {"lora_bias": True, "use_rslora": True}),
    "DoRA": ("plain", {"use_dora": True}),
    "DoRA beside biases and patterns": (
        "biased",
        {"use_dora": True, "rank_pattern": {"q_proj": 1}, "target_modules": "all-linear"},
    ),
    "DoRA of the head": ("plain", {"use_dora": True, "target_modules": ["lm_head", "v_proj"]}),
    "PiSSA": ("plain", {"init_lora_weights": "pissa"}),
    "PiSSA of all matrices, root": (
        "plain",
        {"init_lora_weights": "pissa", "target_modules": "all-linear", "use_rslora": True, "r": 7},
    ),
    "PiSSA with patterns": (
        "plain",
        {
            "init_lora_weights": "pissa",
            "rank_pattern": {"q_proj": 9},
            "alpha_pattern": {"v_proj": 3},
        },
    ),
    "PiSSA and DoRA": ("plain", {"init_lora_weights": "pissa", "use_dora": True}),
    "PiSSA of fused matrices": (
        "Phi3",
        {"init_lora_weights": "pissa", "target_modules": ["qkv_proj", "gate_up_proj"]},
    ),
    "OLoRA": ("plain", {"init_lora_weights": "olora"}),
    "OLoRA of all matrices": (
        "plain",
        {"init_lora_weights": "OLoRA", "target_modules": "all-linear", "lora_alpha": 3},
    ),
    "gaussian": ("plain", {"init_lora_weights": "gaussian"}),
    "without a beginning": ("plain", {"init_lora_weights": False}),
    "eva": ("plain", {"init_lora_weights": "eva"}),
    "orthogonal": ("plain", {"init_lora_weights": "orthogonal"}),
    "MiCA": ("plain", {"init_lora_weights": "mica"}),
    "fan_in_fan_out": ("plain", {"fan_in_fan_out": True}),
    "dropout": ("plain", {"lora_dropout": 0.4}),
    "rows of tokens": ("plain", {"trainable_token_indices": [77, 5]}),
    "rows of tokens of a tied network": ("tied", {"trainable_token_indices": [5, 77]}),
    "rows of tokens by module": (
        "plain",
        {"trainable_token_indices": {"embed_tokens": [5, 77], "lm_head": [3333, 9]}},
    ),
    "rows of tokens of a tied network, kept tied": (
        "tied",
        {"trainable_token_indices": [5, 77], "ensure_weight_tying": True},
    ),
}

# What peft makes with these, and this program refuses: network, LoraConfig, what the error says.
REFUSED = {
    "PiSSA by chance": (
        "plain",
        {"init_lora_weights": "pissa_niter_4"},
        "'init_lora_weights' is \"pissa_niter_4\", expected true, false, gaussian",
    ),
    "LoRA-GA": (
        "plain",
        {"init_lora_weights": "lora_ga", "lora_ga_config": {}},
        "'init_lora_weights' is \"lora_ga\"",
    ),
    "invocation tokens": (
        "plain",
        {"alora_invocation_tokens": [77]},
        (
            '"alora_invocation_tokens" is [77], expected null: an adapter that is active only after'
            " these tokens"
        ),
    ),
    "bias of B without a bias": (
        "plain",
        {"lora_bias": True},
        (
            "'lora_bias' is true, and the file has"
            " 'base_model.model.model.layers.0.self_attn.q_proj.lora_B.bias'"
        ),
    ),
    "layers several times": (
        "plain",
        {"layer_replication": [[0, 2], [1, 2]]},
        '"layer_replication" is [[0,2],[1,2]], expected null',
    ),
    "parameters": (
        "plain",
        {"target_parameters": ["model.layers.0.mlp.up_proj.weight"]},
        '"target_parameters" is ["model.layers.0.mlp.up_proj.weight"], expected null',
    ),
    "KaSA": ("plain", {"kasa_config": {}}, '"kasa_config" is'),
    "VeLoRA": ("plain", {"velora_config": {}}, '"velora_config" is'),
    "MonteCLoRA": ("plain", {"monteclora_config": {}}, '"monteclora_config" is'),
    "QALoRA": ("plain", {"use_qalora": True}, '"use_qalora" is true, expected false'),
    "DoRA of the embedding": (
        "plain",
        {"use_dora": True, "target_modules": ["embed_tokens"]},
        "'target_modules' names embed_tokens beside use_dora",
    ),
    "an adapter of ends that stay tied": (
        "tied",
        {"target_modules": ["embed_tokens"], "ensure_weight_tying": True},
        "'ensure_weight_tying' is true, and 'target_modules' names the embedding or the head",
    ),
    "a head of more rows": (
        "plain",
        {"modules_to_save": ["lm_head"], "rows": 4160},
        "has shape [4160, 64], expected [4096, 64]",
    ),
}

# Changes of the plain adapter's config that peft does not know, or that say what the file does not
# hold.
WRONG = {
    "a key of tomorrow": (
        {"use_future": True},
        '"use_future" is true, expected false: a key that is not understood',
    ),
    "a key of tomorrow that says nothing": (
        {"use_future": False, "future_config": None, "future_list": []},
        None,
    ),
    "another kind": ({"peft_type": "LOHA"}, '\'peft_type\' is "LOHA", expected "LORA"'),
    "no kind": ({"peft_type": None}, "'peft_type' is null"),
    "modules that are not saved": (
        {"modules_to_save": ["lm_head"]},
        (
            "has no tensor 'base_model.model.lm_head.weight' of shape [4096, 64], though"
            " modules_to_save names its module"
        ),
    ),
    "targets that are not there": (
        {"target_modules": ["q_proj", "v_proj", "up_proj"]},
        (
            "has no tensor 'base_model.model.model.layers.0.mlp.up_proj.lora_A.weight', though the"
            " config names its module, nor those of 1 other"
        ),
    ),
    "tensors of no target": (
        {"target_modules": ["q_proj"]},
        (
            "has tensor 'base_model.model.model.layers.0.self_attn.v_proj.lora_A.weight', which"
            " fits nothing"
        ),
    ),
    "another rank": ({"r": 3}, "has shape [4, 64], expected [3, 64]"),
    "another rank by a pattern": (
        {"rank_pattern": {"v_proj": 2}},
        "has shape [4, 64], expected [2, 64]",
    ),
    "DoRA without lengths": (
        {"use_dora": True},
        (
            "has no tensor 'base_model.model.model.layers.0.self_attn.q_proj.lora_magnitude_vector'"
            " of shape [64]"
        ),
    ),
    "no expression": (
        {"exclude_modules": "(q_proj"},
        "'exclude_modules': '(q_proj' is no regular expression",
    ),
    "an expression without end": (
        {"exclude_modules": "([a-z._0-9]|[a-z._0-9]{2})*[^a-z._0-9]"},
        "fails at byte 0 of a text of",
    ),
    "a bias of a kind": ({"bias": "some"}, "'bias' is \"some\", expected none, all or lora_only"),
    "alpha as text": ({"lora_alpha": "8"}, "'lora_alpha' \"8\""),
    "a pattern as text": (
        {"alpha_pattern": {"q_proj": "8"}},
        '\'alpha_pattern\' is {"q_proj":"8"}',
    ),
    "layers as text": ({"layers_to_transform": ["0"]}, "'layers_to_transform' is [\"0\"]"),
    "rows that are not there": (
        {"trainable_token_indices": [7]},
        "has no tensor 'base_model.model.model.embed_tokens.token_adapter.trainable_tokens_delta'",
    ),
}


@functools.cache
def read_once(folder, _changed):
    return transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)


def load(folder):
    """The network as transformers reads it; a copy for each caller."""
    return copy.deepcopy(read_once(folder, (folder / "model.safetensors").stat().st_mtime_ns))


def train(model):
    """Other numbers for all that is trained, far enough from the start to change every answer."""
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.requires_grad:
                deviation = (
                    parameter.std().item() if parameter.numel() > 1 and parameter.std() > 0 else 1.0
                )
                parameter.add_(torch.randn(parameter.shape, generator=generator) * deviation * 0.4)


def adapt(folder, out, rows=None, **config):
    """Has peft make an adapter; returns its ids as trained."""
    given = {
        "r": 4,
        "lora_alpha": 8,
        "target_modules": ATTENTION,
        "task_type": "CAUSAL_LM",
        **config,
    }
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


@pytest.fixture(scope="module")
def made(pardec):
    """The networks that adapters are made for, by name."""
    made = {
        name: make_network(pardec.folder / f"network-{name_of(name)}", **changes)
        for name, changes in NETWORKS.items()
    }
    file = made["own head"] / "model.safetensors"
    tensors = load_file(file)
    tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"].flip(0).clone()
    save_file(tensors, file, metadata={"format": "pt"})
    return made


@pytest.fixture(scope="module")
def plain(made):
    """The ids of a network without an adapter."""
    return functools.cache(lambda network: greedy(load(made[network])))


@pytest.fixture(scope="module")
def trained(pardec, made):
    """Makes an adapter of READ, once: its network, its folder, its ids as trained."""

    @functools.cache
    def find(name):
        network, config = READ[name]
        out = pardec.folder / name_of(name)
        return made[network], out, adapt(made[network], out, **config)

    return find


def by_name(cases):
    return pytest.mark.parametrize("name", list(cases), ids=name_of)


@by_name(READ)
def test_an_adapter_is_read_as_peft_reads_it(pardec, trained, plain, name):
    folder, out, expected = trained(name)
    code, ids, said = ask(pardec, folder, "--adapter", out)
    assert code == 0
    assert ids == expected == again(folder, out)
    # The adapter changes an answer.
    assert expected != plain(READ[name][0])


MERGED = (
    "DoRA",
    "PiSSA",
    "modules_to_save of a tied network, the head",
    "an adapter of the embedding of a tied network",
    "bias of B",
    "an adapter of a head that config.json calls tied",
)


@by_name(MERGED)
def test_a_merged_adapter_answers_as_the_adapter(pardec, trained, name):
    """transformers gives the same ids for the merged network."""
    folder, adapter, _ = trained(name)
    out = pardec.folder / f"merged-{name_of(name)}"
    pardec.good("model", "merge", folder, "--adapter", adapter, "--out", out)
    assert ask(pardec, out)[1] == ask(pardec, folder, "--adapter", adapter)[1] == greedy(load(out))


@by_name(MERGED)
def test_inspect_says_the_rank_and_training_refuses_the_adapter(pardec, trained, name):
    folder, adapter, _ = trained(name)
    assert "low-rank, rank 4; " in pardec.good("model", "inspect", folder, "--adapter", adapter)
    ran = pardec(
        "train", "--model", folder, "--start-adapter", adapter, "--dataset", "oa-mine", "--format",
        "ar", "--steps", 1, "--out", "no", "--progress", "none",
    )
    assert ran.returncode == 2, ran.stderr
    assert "which are not trained" in ran.stderr


def check_refused(asked, expected):
    """The exit code is 2, and one line says why."""
    code, _, said = asked
    assert code == 2, said
    assert expected in said
    assert said.count("\n") == 0, said


@by_name(REFUSED)
def test_what_cannot_be_merged_is_refused(pardec, made, name):
    network, config, expected = REFUSED[name]
    out = pardec.folder / name_of(name)
    config = dict(config)
    for key in ("kasa_config", "velora_config", "monteclora_config"):
        if key in config:
            config[key] = getattr(
                peft.tuners.lora.config,
                {"kasa": "Kasa", "velora": "Velora", "monteclora": "Monteclora"}[key.split("_")[0]]
                + "Config",
            )()
    adapt(made[network], out, **config)
    check_refused(ask(pardec, made[network], "--adapter", out), expected)


@pytest.fixture
def copied(tmp_path, trained):
    """The network and a copy of the plain adapter that a test may change, and its ids."""
    folder, out, ids = trained("plain")
    return folder, shutil.copytree(out, tmp_path / "adapter"), ids


@by_name(WRONG)
def test_a_config_that_is_wrong_is_refused(pardec, copied, name):
    folder, out, expected = copied
    changes, error = WRONG[name]
    change_json(out / "adapter_config.json", **changes)
    asked = ask(pardec, folder, "--adapter", out)
    if error:
        check_refused(asked, error)
    else:
        assert asked[1] == expected


def test_a_key_twice_is_refused(pardec, copied):
    folder, out, _ = copied
    text = (out / "adapter_config.json").read_text()
    (out / "adapter_config.json").write_text(text.replace('"r": 4', '"r": 4, "r": 4'))
    code, _, said = ask(pardec, folder, "--adapter", out)
    assert code == 2
    assert 'has "r" twice' in said


def test_a_whole_weight_that_no_key_names_is_read(pardec, copied):
    """peft loads it, too."""
    folder, out, expected = copied
    tensors = load_file(out / "adapter_model.safetensors")
    tensors["base_model.model.model.norm.weight"] = torch.linspace(-2, 2, 64)
    save_file(tensors, out / "adapter_model.safetensors", metadata={"format": "pt"})
    code, ids, said = ask(pardec, folder, "--adapter", out)
    assert code == 0
    assert ids == again(folder, out) != expected


# Names of tensors as they are in memory, and keys that are missing, whose defaults are peft's:
# LoraConfig, keys that go, how tensors are renamed.
FORMS = {
    "the name of the adapter in names": (
        {},
        (),
        lambda n: re.sub(r"(lora_[AB])", r"\1.default", n),
    ),
    "lengths as in memory": (
        {"use_dora": True},
        (),
        lambda n: re.sub(r"(magnitude_vector)", r"\1.default.weight", n),
    ),
    "lengths as modules": (
        {"use_dora": True},
        (),
        lambda n: re.sub(r"(magnitude_vector)", r"\1.weight", n),
    ),
    "no r, no alpha": ({"r": 8, "lora_alpha": 8}, ("r", "lora_alpha"), str),
    "no alpha": ({}, ("lora_alpha",), str),
}


@by_name(FORMS)
def test_other_names_and_missing_keys_are_read(pardec, made, plain, tmp_path, name):
    config, gone, rename = FORMS[name]
    adapt(made["plain"], tmp_path, **config)
    file = tmp_path / "adapter_config.json"
    file.write_text(
        json.dumps(
            {key: value for key, value in json.loads(file.read_text()).items() if key not in gone}
        )
    )
    tensors = load_file(tmp_path / "adapter_model.safetensors")
    save_file(
        {rename(key): tensor for key, tensor in tensors.items()},
        tmp_path / "adapter_model.safetensors",
        metadata={"format": "pt"},
    )
    code, ids, said = ask(pardec, made["plain"], "--adapter", tmp_path)
    assert code == 0
    assert ids == again(made["plain"], tmp_path)
    # The adapter changes an answer.
    assert ids != plain("plain")


def test_an_adapter_of_a_shallower_network_is_refused(pardec, made, trained):
    """Layers that are missing are told from those that a key leaves alone."""
    code, _, said = ask(pardec, made["deep"], "--adapter", trained("plain")[1])
    assert code == 2
    assert "is of a network of 2 layers, this one has 4" in said


SHARED = {
    "02-pissa": [3722, 2736, 1705, 1100, 2946, 37, 1106, 3059],
    "05-exclude-modules": [3722, 2846, 2481, 760, 207, 904, 3347, 3542],
    "06-modules-to-save": [3139, 2633, 3609, 1258, 374, 482, 1104, 779],
}


@pytest.mark.parametrize("name", list(SHARED))
def test_shared_case(pardec, name):
    folder, adapter = case("base"), case(name)
    code, ids, said = ask(pardec, folder, "--adapter", adapter)
    assert code == 0
    assert ids == SHARED[name] == again(folder, adapter)
