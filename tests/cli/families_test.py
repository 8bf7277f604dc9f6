"""Every model family from outside: `model synth` makes one, `generate` runs it, `train` trains it,
and transformers reads what they wrote.

Truth: the greedy ids of transformers on the same folders, in fp32.
"""

import functools
import json
import math

import pytest

from cases import ask, change_weights, make_network, of_transformers
from harness import ROOT, TINY
from published_forms import alike, internlm2, minicpm, published, renamed
from reference import torch, transformers

VOCABULARY, PROMPT, COUNT = 4096, [5, 6, 7, 8, 9], 6
FAMILIES = {
    "Llama": {},
    "Mistral": {"sliding_window": 400},
    "Qwen2": {"head_dim": None},
    "Qwen3": {},
    "Olmo2": {"head_dim": None, "eos_token_id": 2},
    "Phi3": {"head_dim": None, "eos_token_id": 2, "pad_token_id": 0, "partial_rotary_factor": 0.5},
    "Qwen3Moe": {
        "model_type": "qwen3_moe",
        "num_experts": 4,
        "num_experts_per_tok": 2,
        "moe_intermediate_size": 48,
    },
    "Mixtral": {"num_local_experts": 4, "sliding_window": None},
    "Olmoe": {"head_dim": None, "num_experts": 4, "num_experts_per_tok": 2, "pad_token_id": 0},
    "Qwen2Moe": {
        "model_type": "qwen2_moe",
        "head_dim": None,
        "num_experts": 4,
        "num_experts_per_tok": 2,
        "moe_intermediate_size": 48,
        "shared_expert_intermediate_size": 64,
    },
    "Granite": {"head_dim": None, "logits_scaling": 0.5, "attention_multiplier": 0.3},
    "SmolLM3": {"head_dim": None, "pad_token_id": 0},
    "Ernie4_5": {},
    "Glm": {"pad_token_id": 0},
    "Glm4": {"pad_token_id": 0},
    "Cohere": {"head_dim": None, "logit_scale": 1.0},
    "Cohere2": {"head_dim": None, "logit_scale": 1.0},
    "Phi": {"head_dim": None, "hidden_act": "gelu_new"},
    "StableLm": {"head_dim": None},
    "Starcoder2": {"head_dim": None, "hidden_act": "gelu_pytorch_tanh"},
    "Falcon": {"head_dim": None, "hidden_act": None, "activation": "gelu"},
    "GPT2": {
        **{key: None for key in TINY if key.startswith(("num_", "hidden", "interm", "max", "head"))},
        "n_embd": TINY["hidden_size"],
        "n_layer": TINY["num_hidden_layers"],
        "n_head": TINY["num_attention_heads"],
        "n_positions": TINY["max_position_embeddings"],
        "architectures": ["GPT2LMHeadModel"],
    },
    "GptOss": {
        "model_type": "gpt_oss",
        "num_local_experts": 4,
        "num_experts_per_tok": 2,
        "sliding_window": 400,
    },
    "GPTNeoX": {"head_dim": None, "hidden_act": "gelu", "model_type": "gpt_neox"},
    "InternLM2": {"bias": True},
    "InternLM3": {},
    "MiniCPM": {"scale_emb": 12, "scale_depth": 1.4, "dim_model_base": 32},
    "Gemma2": {"query_pre_attn_scalar": 20},
    "Gemma3": {"model_type": "gemma3_text", "query_pre_attn_scalar": 20},
}
# Of these, transformers computes the network as another family.
COMPUTED_AS = {
    "InternLM2": "LlamaForCausalLM",
    "InternLM3": "LlamaForCausalLM",
    "MiniCPM": "GraniteForCausalLM",
}
TRAIN = [
    "train", "--dataset", "oa-mine", "--format", "ar,hpd", "--stack", 1, "--k-max", 6, "--steps", 8,
    "--lr", 8e-3, "--validation", 0, "--batch-tokens", 600, "--progress", "none",
]

MAPPED = transformers.models.auto.modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

# Together they have every part that a family may have; the others are trained with `-m whole`.
TRAINED = {"Llama", "Qwen2Moe", "Granite", "Cohere2", "Phi", "Gemma3"}


def cases(kinds):
    """Families with kinds of their networks."""
    return pytest.mark.parametrize(
        "name, kind",
        [
            pytest.param(
                name,
                kind,
                id=f"{name}-{kind}",
                marks=[pytest.mark.whole]
                if kind == "trained" or (kind == "new" and name not in TRAINED)
                else [],
            )
            for name in FAMILIES
            for kind in kinds
        ],
    )


@pytest.fixture(scope="module")
def made(pardec):
    """The folder of a family's network, once: "synth", "new" (trained from its config alone) or
    "trained" (from the synthesised one).
    """

    @functools.cache
    def make(name, kind):
        config = {
            **TINY,
            "architectures": [f"{name}ForCausalLM"],
            "model_type": name.lower(),
            "vocab_size": VOCABULARY,
            **FAMILIES[name],
        }
        config = {key: value for key, value in config.items() if value is not None}
        file = pardec.folder / f"{name}.json"
        file.write_text(json.dumps(config))
        out = pardec.folder / f"{name}-{kind}"
        if kind == "synth":
            pardec.good("model", "synth", out, "--config", file)
        elif kind == "new":
            tokenizer = ROOT / "experiments/quickstart/tokenizer.json"
            pardec.good(*TRAIN, "--model", file, "--tokenizer", tokenizer, "--out", out)
        else:
            pardec.good(*TRAIN, "--model", make(name, "synth"), "--out", out)
        return out

    return make


@cases(["synth", "new", "trained"])
def test_ids_are_those_of_transformers(pardec, tmp_path, made, name, kind):
    folder = made(name, kind)
    model = transformers.AutoModelForCausalLM.from_pretrained(
        alike(folder, tmp_path / "alike"), dtype=torch.float32
    )
    ids = torch.tensor([PROMPT])
    chosen = model.generate(
        ids, attention_mask=torch.ones_like(ids), max_new_tokens=COUNT, do_sample=False,
        eos_token_id=None, pad_token_id=0,
    )
    ours = pardec.good(
        "generate", "--model", folder, "--prompt-tokens", ",".join(map(str, PROMPT)),
        "--max-new-tokens", COUNT, "--ignore-eos",
    )
    own = FAMILIES[name].get("architectures", [f"{name}ForCausalLM"])[0]
    assert type(model).__name__ == COMPUTED_AS.get(name, own)
    assert [int(i) for i in ours.split(",")] == chosen[0, len(PROMPT) :].tolist()


@pytest.mark.parametrize(
    "form, family, changes",
    [
        (internlm2, "Llama", {"attention_bias": True}),
        (
            minicpm,
            "Granite",
            {
                "head_dim": None, "attention_multiplier": TINY["head_dim"] ** -0.5,
                "embedding_multiplier": 12.0, "residual_multiplier": 0.7, "logits_scaling": 3.0,
            },
        ),
    ],
    ids=["internlm2", "minicpm"],
)
def test_ids_of_a_published_form_are_those_of_transformers(
    pardec, tmp_path, form, family, changes
):
    network = make_network(tmp_path / "transformers", family, **changes)
    code, ids, said = ask(pardec, published(network, tmp_path / "published", form))
    assert code == 0, said
    assert ids == of_transformers(network)
    assert len(set(ids)) > 2


# The keys of config.json of published networks, with small sizes; the network's names in their
# files; and what these hold of each layer beside weights.
PUBLISHED = {
    "gpt2": (
        "GPT2",
        {
            "activation_function": "gelu_new",
            "architectures": ["GPT2LMHeadModel"],
            "attn_pdrop": 0.1,
            "bos_token_id": 4095,
            "embd_pdrop": 0.1,
            "eos_token_id": 4095,
            "initializer_range": 0.02,
            "layer_norm_epsilon": 1e-05,
            "model_type": "gpt2",
            "n_ctx": 64,
            "n_embd": 64,
            "n_head": 4,
            "n_layer": 2,
            "n_positions": 64,
            "resid_pdrop": 0.1,
            "summary_activation": None,
            "summary_first_dropout": 0.1,
            "summary_proj_to_labels": True,
            "summary_type": "cls_index",
            "summary_use_proj": True,
            "task_specific_params": {"text-generation": {"do_sample": True, "max_length": 50}},
            "vocab_size": VOCABULARY,
        },
        {"transformer.": ""},
        {"h.{}.attn.bias": torch.ones(1, 1, 64, 64)},
    ),
    "gpt2, untied, half precision": (
        "GPT2",
        {
            "activation_function": "gelu_fast",
            "architectures": ["GPT2LMHeadModel"],
            "model_type": "gpt2",
            "n_ctx": 64,
            "n_embd": 64,
            "n_head": 4,
            "n_inner": 96,
            "n_layer": 2,
            "n_positions": 64,
            "scale_attn_weights": True,
            "scale_attn_by_inverse_layer_idx": False,
            "reorder_and_upcast_attn": True,
            "tie_word_embeddings": False,
            "torch_dtype": "float16",
            "vocab_size": VOCABULARY,
        },
        {},
        {},
    ),
    "pythia-160m": (
        "GPTNeoX",
        {
            "architectures": ["GPTNeoXForCausalLM"],
            "bos_token_id": 0,
            "eos_token_id": 0,
            "hidden_act": "gelu",
            "hidden_size": 64,
            "initializer_range": 0.02,
            "intermediate_size": 256,
            "layer_norm_eps": 1e-05,
            "max_position_embeddings": 64,
            "model_type": "gpt_neox",
            "num_attention_heads": 4,
            "num_hidden_layers": 2,
            "rotary_emb_base": 1000,
            "rotary_pct": 0.5,
            "tie_word_embeddings": False,
            "torch_dtype": "float16",
            "transformers_version": "4.24.0",
            "use_cache": True,
            "use_parallel_residual": True,
            "vocab_size": VOCABULARY,
        },
        {},
        {
            "gpt_neox.layers.{}.attention.bias": torch.ones(1, 1, 64, 64, dtype=torch.bool),
            "gpt_neox.layers.{}.attention.masked_bias": torch.tensor(-1e9),
            "gpt_neox.layers.{}.attention.rotary_emb.inv_freq": torch.ones(4),
        },
    ),
    "falcon-7b": (
        "Falcon",
        {
            "alibi": False,
            "apply_residual_connection_post_layernorm": False,
            "architectures": ["FalconForCausalLM"],
            "attention_dropout": 0.0,
            "auto_map": {"AutoModelForCausalLM": "modeling_falcon.FalconForCausalLM"},
            "bias": False,
            "bos_token_id": 11,
            "eos_token_id": 11,
            "hidden_dropout": 0.0,
            "hidden_size": 64,
            "initializer_range": 0.02,
            "layer_norm_epsilon": 1e-05,
            "model_type": "falcon",
            "multi_query": True,
            "new_decoder_architecture": False,
            "num_attention_heads": 4,
            "num_hidden_layers": 2,
            "parallel_attn": True,
            "torch_dtype": "bfloat16",
            "transformers_version": "4.27.4",
            "use_cache": True,
            "vocab_size": VOCABULARY,
        },
        {},
        {},
    ),
    "falcon-40b": (
        "Falcon",
        {
            "alibi": False,
            "architectures": ["FalconForCausalLM"],
            "bias": False,
            "bos_token_id": 11,
            "eos_token_id": 11,
            "hidden_size": 64,
            "layer_norm_epsilon": 1e-05,
            "model_type": "falcon",
            "multi_query": True,
            "new_decoder_architecture": True,
            "num_attention_heads": 4,
            "num_hidden_layers": 2,
            "num_kv_heads": 2,
            "parallel_attn": True,
            "torch_dtype": "bfloat16",
            "vocab_size": VOCABULARY,
        },
        {},
        {},
    ),
}


@pytest.mark.parametrize("case", PUBLISHED)
def test_a_published_config_is_read_as_transformers_reads_it(pardec, tmp_path, case):
    name, config, names, beside = PUBLISHED[case]
    absent = ("head_dim", "hidden_act", "num_key_value_heads", "max_position_embeddings")
    folder = make_network(tmp_path / "network", name, **{**dict.fromkeys(absent), **config})

    def rename(tensors):
        made = {renamed(name, names): tensor for name, tensor in tensors.items()}
        more = {name.format(layer): one.clone() for name, one in beside.items() for layer in (0, 1)}
        return {**made, **more}

    change_weights(folder, rename)
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "generation_config.json").unlink(missing_ok=True)
    code, ids, said = ask(pardec, folder)
    assert code == 0, said
    assert ids == of_transformers(folder)
    assert len(set(ids)) > 2


@pytest.mark.parametrize(
    "family, changes, why",
    [
        # falcon-rw-1b, whose heads are not rotated
        (
            "Falcon",
            {"alibi": True, "bias": True, "multi_query": False, "parallel_attn": False},
            "'alibi' is true",
        ),
        ("GPT2", {"scale_attn_by_inverse_layer_idx": True}, "'scale_attn_by_inverse_layer_idx'"),
    ],
    ids=["falcon-rw-1b", "gpt2 of mistral"],
)
def test_a_published_network_that_is_not_supported_is_refused_by_name(
    pardec, tmp_path, family, changes, why
):
    config = next(config for name, config, *_ in PUBLISHED.values() if name == family)
    file = tmp_path / "config.json"
    file.write_text(json.dumps({**config, **changes}))
    ran = pardec("model", "synth", tmp_path / "network", "--config", file)
    assert ran.returncode != 0
    assert why in ran.stderr


@cases(["new"])
def test_a_new_network_learns(made, name, kind):
    record = json.loads((made(name, kind) / "training.json").read_text())
    assert record["result"]["train_loss"] < math.log(VOCABULARY) - 0.9


def test_the_table_names_the_classes_of_transformers(pardec):
    rows = json.loads(pardec.good("model", "list-families", "--format", "json"))["rows"]
    classes = {row["model_type"]: row["architecture"] for row in rows}
    for family, name in classes.items():
        expected = {
            "gemma3_text": "Gemma3ForCausalLM",
            # transformers has not got these three, or not under this name.
            "internlm2": "InternLM2ForCausalLM",
            "internlm3": "InternLM3ForCausalLM",
            "minicpm": "MiniCPMForCausalLM",
        }
        assert name == (expected[family] if family in expected else MAPPED[family])
    made = {more.get("architectures", [f"{name}ForCausalLM"])[0] for name, more in FAMILIES.items()}
    assert made <= set(classes.values())
