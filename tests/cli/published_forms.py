"""Families that transformers does not have, beside families of the same arithmetic that it has: the
names, keys and fused matrices that they publish, of a checkpoint that transformers wrote.
"""

import json

import torch
from safetensors.torch import load_file, save_file


# Modules of InternLM2, and Llama's names of them.
INTERN2 = {
    "model.tok_embeddings": "model.embed_tokens",
    "attention_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
    "attention.wo": "self_attn.o_proj",
    "feed_forward.w1": "mlp.gate_proj",
    "feed_forward.w3": "mlp.up_proj",
    "feed_forward.w2": "mlp.down_proj",
    "output": "lm_head",
}


def renamed(name, names):
    for old, new in names.items():
        name = name.replace(old, new)
    return name


def published(folder, out, form):
    """Writes the network of `folder` to the new folder `out`, in a form of this file: a function
    from config and tensors to further keys of the config, and tensors. Returns `out`.
    """
    out.mkdir()
    config = json.loads((folder / "config.json").read_text())
    common = {
        key: config[key]
        for key in (
            "vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers",
            "num_attention_heads", "num_key_value_heads", "max_position_embeddings",
            "rms_norm_eps", "hidden_act", "tie_word_embeddings",
        )
    }
    more, tensors = form(config, load_file(folder / "model.safetensors"))
    (out / "config.json").write_text(json.dumps({**common, **more}))
    save_file(tensors, out / "model.safetensors")
    return out


def minicpm(config, tensors):
    """Of Granite. The published code scales the embedding by scale_emb, what sublayers add by
    scale_depth / sqrt(layers), and the head's input by dim_model_base / hidden_size.
    """
    return {
        "model_type": "minicpm",
        "architectures": ["MiniCPMForCausalLM"],
        "attention_bias": config["attention_bias"],
        "scale_emb": config["embedding_multiplier"],
        "scale_depth": config["residual_multiplier"] * config["num_hidden_layers"] ** 0.5,
        "dim_model_base": config["hidden_size"] / config["logits_scaling"],
    }, tensors


def internlm2(config, tensors):
    """Of Llama. The published code has wqkv of shape [key heads, group + 2, head_dim, hidden]: the
    query heads of a group, their key head, their value head.
    """
    modules = {llama: intern for intern, llama in INTERN2.items()}
    kv = config["num_key_value_heads"]
    made = {}
    for name, tensor in tensors.items():
        if ".q_proj." in name:
            parts = [tensors[name.replace("q_proj", one)] for one in ("q_proj", "k_proj", "v_proj")]
            rows = [part.reshape(kv, part.shape[0] // kv, *part.shape[1:]) for part in parts]
            fused = torch.cat(rows, 1).flatten(0, 1)
            made[name.replace("self_attn.q_proj", "attention.wqkv")] = fused.contiguous()
        elif ".k_proj." not in name and ".v_proj." not in name:
            made[renamed(name, modules)] = tensor
    return {
        "model_type": "internlm2",
        "architectures": ["InternLM2ForCausalLM"],
        "bias": config["attention_bias"],
        "rope_theta": config["rope_parameters"]["rope_theta"],
    }, made


def as_granite(config, tensors):
    """Of MiniCPM: all keys of the config, and tensors, of the Granite that computes the same."""
    more = {
        "model_type": "granite",
        "architectures": ["GraniteForCausalLM"],
        "embedding_multiplier": config["scale_emb"],
        "residual_multiplier": config["scale_depth"] / config["num_hidden_layers"] ** 0.5,
        "logits_scaling": config["hidden_size"] / config["dim_model_base"],
        "attention_multiplier": config["head_dim"] ** -0.5,
    }
    return {**config, **more}, tensors


def as_llama(config, tensors):
    """Of InternLM2: all keys of the config, and tensors, of the Llama that computes the same."""
    more = {
        "model_type": "llama",
        "architectures": ["LlamaForCausalLM"],
        "attention_bias": config["bias"],
    }
    kv = config["num_key_value_heads"]
    group = config["num_attention_heads"] // kv
    made = {}
    for name, tensor in tensors.items():
        if ".wqkv." not in name:
            made[renamed(name, INTERN2)] = tensor
            continue
        rows = tensor.unflatten(0, (kv, group + 2, -1))
        for part, one in zip("qkv", (rows[:, :group], rows[:, -2:-1], rows[:, -1:])):
            into = name.replace("attention.wqkv", f"self_attn.{part}_proj")
            made[into] = one.flatten(0, 2).contiguous()
    return {**config, **more}, made


# By the `model_type` that transformers does not have.
ALIKE = {"internlm2": as_llama, "minicpm": as_granite}


def alike(folder, out):
    """A folder that transformers reads, of a network that computes the same: `folder` itself, or
    the new folder `out` if transformers does not have the family of `folder`.
    """
    config = json.loads((folder / "config.json").read_text())
    if config["model_type"] not in ALIKE:
        return folder
    out.mkdir()
    config, tensors = ALIKE[config["model_type"]](config, load_file(folder / "model.safetensors"))
    (out / "config.json").write_text(json.dumps(config))
    save_file(tensors, out / "model.safetensors", metadata={"format": "pt"})
    return out
