"""Families that transformers does not have, beside families of the same arithmetic that it has: the
names, keys and fused matrices that they publish, of a checkpoint that transformers wrote.
"""

import json

import torch
from safetensors.torch import load_file, save_file


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
    modules = {
        "model.embed_tokens": "model.tok_embeddings",
        "input_layernorm": "attention_norm",
        "post_attention_layernorm": "ffn_norm",
        "self_attn.o_proj": "attention.wo",
        "mlp.gate_proj": "feed_forward.w1",
        "mlp.up_proj": "feed_forward.w3",
        "mlp.down_proj": "feed_forward.w2",
        "lm_head": "output",
    }
    kv = config["num_key_value_heads"]
    made = {}
    for name, tensor in tensors.items():
        if ".q_proj." in name:
            parts = [tensors[name.replace("q_proj", one)] for one in ("q_proj", "k_proj", "v_proj")]
            rows = [part.reshape(kv, part.shape[0] // kv, *part.shape[1:]) for part in parts]
            fused = torch.cat(rows, 1).flatten(0, 1)
            made[name.replace("self_attn.q_proj", "attention.wqkv")] = fused.contiguous()
        elif ".k_proj." not in name and ".v_proj." not in name:
            for old, new in modules.items():
                name = name.replace(old, new)
            made[name] = tensor
    return {
        "model_type": "internlm2",
        "architectures": ["InternLM2ForCausalLM"],
        "bias": config["attention_bias"],
        "rope_theta": config["rope_parameters"]["rope_theta"],
    }, made
