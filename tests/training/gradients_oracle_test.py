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
    "gemma2": {**GEMMA, "attn_logit_softcapping": 3.0, "final_logit_softcapping": 2.0},
    "gemma3_text": {**GEMMA, "sliding_window_pattern": 2},
    "glm": {},
    "glm4": {"attention_bias": False},
    "granite": {
        "head_dim": 6,
        "embedding_multiplier": 3.0,
        "residual_multiplier": 0.4,
        "attention_multiplier": 0.3,
        "logits_scaling": 5.0,
    },
    "internlm3": {},
    "llama": {},
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


def by_expert(family, gradients):
    """Stacked experts one by one, under their names in a checkpoint."""
    for name, gradient in gradients:
        if family == "mixtral":
            name = name.replace(".mlp.", ".block_sparse_moe.")
        if not name.endswith(("experts.gate_up_proj", "experts.down_proj")):
            yield name, gradient
            continue
        place, stacked = name.rsplit(".", 1)
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
    config.write_text(json.dumps({**SHAPE, "model_type": family, **FAMILIES[family]}))
    subprocess.run([program("model_synth"), config, "3", folder], check=True)
    request = {"model": str(folder), "prompt": PROMPT, "answer": ANSWER}
    got = json.loads(
        subprocess.run(
            [program("gradients_dump")], input=json.dumps(request), capture_output=True, text=True,
            check=True,
        ).stdout
    )
    model = transformers.AutoModelForCausalLM.from_pretrained(
        folder, dtype=torch.float64, attn_implementation="eager", experts_implementation="eager"
    )
    logits = model(torch.tensor([PROMPT + ANSWER[:-1]]), use_cache=False).logits[0]
    loss = torch.nn.functional.cross_entropy(logits[len(PROMPT) - 1 :], torch.tensor(ANSWER))
    loss.backward()
    assert abs(got["loss"] - loss.item()) <= 1e-5
    want = {
        name: gradient.flatten()
        for name, gradient in by_expert(
            family, ((n, w.grad) for n, w in model.named_parameters())
        )
    }
    assert got["gradients"].keys() == want.keys()
    for name, gradient in want.items():
        error = (torch.tensor(got["gradients"][name], dtype=torch.float64) - gradient).abs().max()
        assert error <= 1e-5 * gradient.abs().max() + 1e-12, name
