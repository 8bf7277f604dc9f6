"""A Llama checkpoint (config.json, one model.safetensors in bf16) as a GGUF file for llama.cpp. Usage: write_gguf.py MODEL FILE

The ids alone matter here: the vocabulary is made of placeholder names.
"""
import json
import pathlib
import sys

import gguf
import numpy as np

TOP = {"model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight", "lm_head.weight": "output.weight"}
OF_LAYER = {"input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
            "self_attn.o_proj": "attn_output", "post_attention_layernorm": "ffn_norm", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
            "mlp.down_proj": "ffn_down"}


def fail(text):
    raise SystemExit(f"write_gguf: {text}")


def tensors(file):
    """(name, bits of its bf16 values) of a safetensors file: a length, a JSON header, the values."""
    memory = np.memmap(file, mode="r")
    header_size = int(memory[:8].view("<u8")[0])
    header = json.loads(bytes(memory[8:8 + header_size]))
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        if entry["dtype"] != "BF16":
            fail(f"{file}: {name} is stored as {entry['dtype']}, expected BF16")
        begin, end = (8 + header_size + offset for offset in entry["data_offsets"])
        yield name, memory[begin:end].view("<u2").reshape(entry["shape"])


def pairs_together(weight, heads):
    """Rows of a head from (first halves, second halves) of the rotated pairs, as transformers has them, to pair by pair."""
    rows, width = weight.shape
    return weight.reshape(heads, 2, rows // heads // 2, width).transpose(0, 2, 1, 3).reshape(rows, width)


def main(model, output):
    config = json.loads((model / "config.json").read_text())
    if config["model_type"] != "llama":
        fail(f"{model} is of type {config['model_type']}, expected llama")
    heads, kv_heads, vocabulary = config["num_attention_heads"], config["num_key_value_heads"], config["vocab_size"]
    head_dim = config.get("head_dim") or config["hidden_size"] // heads
    rope = config.get("rope_parameters") or {}
    partial = output.with_suffix(".part")
    writer = gguf.GGUFWriter(partial, "llama")
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(heads)
    writer.add_head_count_kv(kv_heads)
    writer.add_key_length(head_dim)
    writer.add_value_length(head_dim)
    writer.add_rope_dimension_count(head_dim)
    writer.add_rope_freq_base(config.get("rope_theta") or rope.get("rope_theta") or 10000.0)
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_vocab_size(vocabulary)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_BF16)
    writer.add_tokenizer_model("llama")
    writer.add_token_list([f"<{i}>" for i in range(vocabulary)])
    writer.add_token_scores([0.0] * vocabulary)
    writer.add_token_types([gguf.TokenType.NORMAL] * vocabulary)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    for name, weight in tensors(model / "model.safetensors"):
        if name in TOP:
            there = TOP[name]
        else:
            _, _, layer, rest = name.split(".", 3)
            part = rest.removesuffix(".weight")
            if part not in OF_LAYER:
                fail(f"{model}: a Llama without {part} was expected")
            there = f"blk.{layer}.{OF_LAYER[part]}.weight"
            if part == "self_attn.q_proj":
                weight = pairs_together(weight, heads)
            elif part == "self_attn.k_proj":
                weight = pairs_together(weight, kv_heads)
        if weight.ndim == 1:  # norms are float32 there
            writer.add_tensor(there, (weight.astype(np.uint32) << 16).view(np.float32))
        else:
            raw = np.ascontiguousarray(weight).view(np.uint8)
            writer.add_tensor(there, raw, raw_shape=raw.shape, raw_dtype=gguf.GGMLQuantizationType.BF16)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    partial.rename(output)


main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
