"""A training step's gradients beside transformers and torch's autograd, in every family, in
float64.

transformers computes norms, softmax and rotary angles in float32, with an error of 2^-24 of them,
which a few layers carry on: gradients may differ by 1e-5 of the largest of their tensor. A missing
factor, norm or window is an error of 1e-2 and more.
"""

import json
import subprocess

import pytest
from harness import skip

try:
    import torch
    import transformers
    from published_forms import INTERN2, alike, renamed
except ImportError as missing:
    skip(missing)
torch.set_num_threads(1)
SHAPE = {
    "vocab_size": 41,
    "hidden_size": 24,
    "intermediate_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 64,
    "eos_token_id": 2,
    "pad_token_id": 0,
    "tie_word_embeddings": False,
}
GEMMA = {"query_pre_attn_scalar": 12, "sliding_window": 5, "tie_word_embeddings": True}
FAMILIES = {
    "cohere": {"head_dim": 6, "tie_word_embeddings": True},
    "cohere2": {
        "head_dim": 6,
        "sliding_window": 5,
        "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
    },
    "ernie4_5": {"use_bias": True},
    "falcon": {
        "head_dim": None,
        "num_kv_heads": 2,
        "new_decoder_architecture": True,
        "ffn_hidden_size": 32,
        "bias": True,
    },
    "gemma2": {**GEMMA, "attn_logit_softcapping": 3.0, "final_logit_softcapping": 2.0},
    "gemma3_text": {**GEMMA, "sliding_window_pattern": 2},
    "glm": {},
    "glm4": {"attention_bias": False},
    "gpt2": {
        **{key: None for key in SHAPE if key.startswith(("num_", "hidden", "interm", "max", "head"))},
        "n_embd": 24,
        "n_inner": 32,
        "n_layer": 3,
        "n_head": 4,
        "n_positions": 64,
        "tie_word_embeddings": True,
    },
    "gpt_oss": {"num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": 5, "swiglu_limit": 0.5},
    "gpt_neox": {"head_dim": None, "num_key_value_heads": None, "rotary_pct": 0.67},
    "granite": {
        "head_dim": 6,
        "embedding_multiplier": 3.0,
        "residual_multiplier": 0.4,
        "attention_multiplier": 0.3,
        "logits_scaling": 5.0,
    },
    "internlm2": {"head_dim": 6, "bias": True},
    "internlm3": {},
    "llama": {},
    "minicpm": {"head_dim": 6, "scale_emb": 3.0, "scale_depth": 0.7, "dim_model_base": 8},
    "mistral": {"sliding_window": 5},
    "mixtral": {"num_local_experts": 4},
    "olmo2": {"head_dim": 6},
    "olmoe": {"head_dim": 6, "num_experts": 4, "num_experts_per_tok": 2},
    "phi": {"head_dim": 6, "partial_rotary_factor": 0.67},
    "phi3": {"head_dim": 6, "partial_rotary_factor": 0.67},
    "qwen2": {"head_dim": 6},
    "qwen2_moe": {
        "head_dim": 6,
        "num_experts": 4,
        "num_experts_per_tok": 2,
        "moe_intermediate_size": 20,
        "shared_expert_intermediate_size": 28,
        "decoder_sparse_step": 2,
    },
    "qwen3": {},
    "qwen3_moe": {
        "num_experts": 4,
        "num_experts_per_tok": 2,
        "moe_intermediate_size": 20,
        "mlp_only_layers": [1],
    },
    "smollm3": {"head_dim": 6, "no_rope_layer_interval": 2},
    "stablelm": {"head_dim": 6, "partial_rotary_factor": 0.67, "use_parallel_residual": True},
    "starcoder2": {"head_dim": 6, "sliding_window": 5},
}
PROMPT, ANSWER = [5, 17, 3, 40, 8, 8], [21, 3, 9, 30, 14, 2]


def as_stored(family, gradients, config):
    """Gradients by the names in a checkpoint of the family; of a matrix, as [out, in]."""
    gradients = dict(by_expert(family, gradients))
    if family == "gpt_neox":
        return {renamed(n, {"lm_head": "embed_out"}): g for n, g in gradients.items()}
    if family == "gpt2":
        return {n: g.t() if ".h." in n and g.dim() == 2 else g for n, g in gradients.items()}
    if family != "internlm2":
        return gradients
    kv, made = config["num_key_value_heads"], {}
    back = {new: old for old, new in INTERN2.items()}
    for name, gradient in gradients.items():
        if ".q_proj." in name:
            parts = [gradients[name.replace("q_proj", f"{one}_proj")] for one in "qkv"]
            rows = torch.cat([part.unflatten(0, (kv, -1)) for part in parts], 1)
            made[name.replace("self_attn.q_proj", "attention.wqkv")] = rows.flatten(0, 1)
        elif ".k_proj." not in name and ".v_proj." not in name:
            made[renamed(name, back)] = gradient
    return made


def by_expert(family, gradients):
    """Stacked experts one by one, under their names in a checkpoint."""
    for name, gradient in gradients:
        if family == "mixtral":
            name = name.replace(".mlp.", ".block_sparse_moe.")
        if not name.removesuffix("_bias").endswith(("experts.gate_up_proj", "experts.down_proj")):
            yield name, gradient
            continue
        place, stacked = name.rsplit(".", 1)
        if family == "gpt_oss":  # [experts, in, out], and [experts, out] of a bias
            bias = stacked.endswith("_bias")
            parts = {"down_proj": slice(None)}
            if stacked.startswith("gate"):
                parts = {"gate_proj": slice(0, None, 2), "up_proj": slice(1, None, 2)}
            for i, one in enumerate(gradient):
                for part, rows in parts.items():
                    kind = "bias" if bias else "weight"
                    yield f"{place}.{i}.{part}.{kind}", (one if bias else one.t())[rows]
            continue
        for i, one in enumerate(gradient):
            of_gate = stacked == "gate_up_proj"
            names = ("gate_proj", "up_proj") if of_gate else ("down_proj",)
            if family == "mixtral":
                names = ("w1", "w3") if of_gate else ("w2",)
            for part, matrix in zip(names, one.chunk(len(names))):
                yield f"{place}.{i}.{part}.weight", matrix


@pytest.mark.parametrize("family", FAMILIES)
def test_gradients_are_those_of_transformers(program, tmp_path, family):
    config, folder = tmp_path / "config.json", tmp_path / "model"
    keys = {**SHAPE, "model_type": family, **FAMILIES[family]}
    keys = {key: value for key, value in keys.items() if value is not None}
    config.write_text(json.dumps(keys))
    subprocess.run([program("model_synth"), config, "3", folder], check=True)
    request = {"model": str(folder), "prompt": PROMPT, "answer": ANSWER}
    got = json.loads(
        subprocess.run(
            [program("gradients_dump")], input=json.dumps(request), capture_output=True, text=True,
            check=True,
        ).stdout
    )
    model = transformers.AutoModelForCausalLM.from_pretrained(
        alike(folder, tmp_path / "alike"), dtype=torch.float64, attn_implementation="eager",
        experts_implementation="eager",
    )
    logits = model(torch.tensor([PROMPT + ANSWER[:-1]]), use_cache=False).logits[0]
    loss = torch.nn.functional.cross_entropy(logits[len(PROMPT) - 1 :], torch.tensor(ANSWER))
    loss.backward()
    assert abs(got["loss"] - loss.item()) <= 1e-5
    named = ((name, weight.grad) for name, weight in model.named_parameters())
    want = {
        name: gradient.flatten() for name, gradient in as_stored(family, named, keys).items()
    }
    assert got["gradients"].keys() == want.keys()
    for name, gradient in want.items():
        error = (torch.tensor(got["gradients"][name], dtype=torch.float64) - gradient).abs().max()
        assert error <= 1e-5 * gradient.abs().max() + 1e-12, name
