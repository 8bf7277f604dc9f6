"""GGUF files beside gguf-py and transformers: numbers, configs, logits, tokenizers.

gguf-py writes the files. Truth: for numbers, gguf-py's `dequantize`, to the bit; for logits, the
same network as a checkpoint folder, to the bit, with the names that gguf-py gives the weights; for
tokenizers, the tokenizer.json that a file was made of.
"""

import json
import os
import subprocess

import pytest
from harness import DATA, ROOT, SMOLLM2, skip

os.environ["HF_HUB_OFFLINE"] = "1"
try:
    import gguf
    import numpy as np
    import torch
    import transformers
    from transformers import AutoConfig, AutoModelForCausalLM
except ImportError as missing:
    skip(missing)
transformers.logging.set_verbosity_error()

TYPES = gguf.GGMLQuantizationType
READ = ["F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q4_K", "Q5_K", "Q6_K", "MXFP4"]
# Offsets of the float16 scales in a block; the other bytes may be anything.
SCALES = {"Q8_0": [0], "Q4_0": [0], "Q4_1": [0, 2], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208]}


@pytest.fixture(scope="module")
def dump(program):
    def run(file, what):
        ran = subprocess.run(
            [program("gguf_dump"), file, what], capture_output=True
        )
        assert ran.returncode == 0, ran.stderr.decode()
        return ran.stdout

    return run


def random_blocks(random, name, rows, columns):
    """Random numbers in a type, as gguf-py takes them: bytes of blocks."""
    if name == "F32":
        return random.standard_normal((rows, columns)).astype(np.float32)
    if name == "F16":
        return random.standard_normal((rows, columns)).astype(np.float16)
    block, size = gguf.GGML_QUANT_SIZES[TYPES[name]]
    bytes_ = random.integers(0, 256, (rows, columns // block, size), dtype=np.uint8)
    if name == "BF16":  # exponents that are finite
        bytes_[..., 1] &= 0xBF
    for at in SCALES.get(name, []):  # of all sizes, with subnormal ones
        scale = (random.standard_normal((rows, columns // block)) * 2.0 ** random.integers(
            -24, 4, (rows, columns // block))).astype(np.float16)
        bytes_[..., at : at + 2] = scale[..., None].view(np.uint8)
    if name == "MXFP4":
        bytes_[..., 0] = random.integers(0, 250, bytes_.shape[:2])
    return bytes_.reshape(rows, -1)


def test_numbers_are_those_of_gguf_py(dump, tmp_path):
    random = np.random.default_rng(3)
    file, expected = tmp_path / "all.gguf", {}
    writer = gguf.GGUFWriter(file, "llama")
    for name in READ:
        blocks = random_blocks(random, name, 7, 768)
        writer.add_tensor(name, blocks, raw_dtype=TYPES[name])
        expected[name] = gguf.dequantize(blocks, TYPES[name]).astype(np.float32).reshape(-1)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    found = np.frombuffer(dump(file, "numbers"), dtype=np.uint32).reshape(len(READ), -1)
    for name, numbers in zip(sorted(READ), found):
        assert (numbers == expected[name].view(np.uint32)).all(), name
        assert len(np.unique(numbers)) > 15, name


# Networks ----------------------------------------------------------------------------------------

SIZES = {
    "hidden_size": 48, "intermediate_size": 64, "num_hidden_layers": 3, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 16, "vocab_size": 128, "max_position_embeddings": 512,
    "rms_norm_eps": 1e-5, "rope_theta": 30000.0,
}  # fmt: skip
# model_type: the architecture of GGUF and options
NETWORKS = {
    "llama": ("LLAMA", {}),
    "qwen2": ("QWEN2", {"head_dim": None, "hidden_size": 64}),
    "qwen3": ("QWEN3", {}),
    "olmo2": ("OLMO2", {"head_dim": None, "hidden_size": 64}),
    "gemma2": ("GEMMA2", {"sliding_window": 5, "query_pre_attn_scalar": 16}),
    "gemma3_text": (
        "GEMMA3",
        {"sliding_window": 5, "query_pre_attn_scalar": 16, "num_hidden_layers": 7},
    ),
    "qwen3_moe": (
        "QWEN3MOE",
        {
            "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 24,
            "norm_topk_prob": True,
        },
    ),
}  # fmt: skip


def permuted(weights, heads):
    """As llama.cpp's converter stores queries and keys."""
    rows = weights.shape[0]
    shape = (heads, 2, rows // heads // 2, *weights.shape[1:])
    return weights.reshape(shape).swapaxes(1, 2).reshape(weights.shape)


def network_of(model_type, folder):
    torch.manual_seed(1)
    options = {**SIZES, **NETWORKS[model_type][1]}
    config = AutoConfig.for_model(
        model_type, **{key: value for key, value in options.items() if value is not None}
    )
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(torch.randn_like(weight) * (0.3 if weight.dim() == 1 else 0.2))
    model.save_pretrained(folder)
    return model


def write_gguf(model, model_type, file, kind=TYPES.F32):
    config, arch = model.config, gguf.MODEL_ARCH[NETWORKS[model_type][0]]
    writer = gguf.GGUFWriter(file, gguf.MODEL_ARCH_NAMES[arch])
    head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_key_length(head_dim)
    writer.add_value_length(head_dim)
    ropes = config.rope_parameters
    full = ropes.get("full_attention", ropes)
    writer.add_rope_freq_base(full["rope_theta"])
    if model_type.startswith("gemma"):
        writer.add_sliding_window(config.sliding_window)
    if model_type == "gemma2":
        writer.add_attn_logit_softcapping(config.attn_logit_softcapping)
        writer.add_final_logit_softcapping(config.final_logit_softcapping)
    if model_type == "qwen3_moe":
        writer.add_expert_count(config.num_experts)
        writer.add_expert_used_count(config.num_experts_per_tok)
        writer.add_expert_feed_forward_length(config.moe_intermediate_size)
    names = gguf.get_tensor_name_map(arch, config.num_hidden_layers)
    weights = {name: weight.numpy() for name, weight in model.state_dict().items()}
    if config.tie_word_embeddings:
        weights.pop("lm_head.weight")
    for name in list(weights):  # transformers 5 keeps the experts of a layer together
        if name.endswith("mlp.experts.gate_up_proj"):
            gate, up = np.split(weights.pop(name), 2, axis=1)
            at = name.removesuffix("gate_up_proj")
            weights[at + "gate_proj.weight"], weights[at + "up_proj.weight"] = gate, up
        elif name.endswith("mlp.experts.down_proj"):
            weights[name + ".weight"] = weights.pop(name)
    for name, weight in weights.items():
        if model_type == "llama" and ".q_proj" in name:
            weight = permuted(weight, config.num_attention_heads)
        if model_type == "llama" and ".k_proj" in name:
            weight = permuted(weight, config.num_key_value_heads)
        if model_type.startswith("gemma") and "norm" in name:
            weight = weight + 1
        new = names.get_name(name, try_suffixes=(".weight", ".bias"))
        assert new, name
        of = kind if weight.ndim > 1 else TYPES.F32
        writer.add_tensor(
            new, gguf.quantize(np.ascontiguousarray(weight), of), raw_dtype=of
        )
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def logits_of(program, model, dtype="fp32"):
    tokens = [(7 * i + 3) % SIZES["vocab_size"] for i in range(20)]
    rows = {"tokens": tokens, "labels": [[i, i, 0, 0] for i in range(len(tokens))]}
    request = {"model": str(model), "dtype": dtype, "segments": [], "cases": [{"whole": rows}]}
    ran = subprocess.run(
        [program("model_dump")],
        input=json.dumps(request).encode() + b"\n", capture_output=True,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr.decode()
    return np.frombuffer(ran.stdout, dtype=np.float64, offset=8)


@pytest.mark.parametrize("model_type", NETWORKS)
def test_logits_are_those_of_the_checkpoint_folder(program, dump, model_type, tmp_path):
    model = network_of(model_type, tmp_path / "folder")
    write_gguf(model, model_type, tmp_path / "model.gguf")
    ours = logits_of(program, tmp_path / "model.gguf")
    folder = logits_of(program, tmp_path / "folder")
    assert len(ours) == 20 * SIZES["vocab_size"]
    # 1 + weight, as the file has it, is rounded to fp32.
    tolerance = 2e-5 if model_type.startswith("gemma") else 0
    assert np.abs(ours - folder).max() <= tolerance * np.abs(folder).max()
    theirs = model(torch.tensor([[(7 * i + 3) % SIZES["vocab_size"] for i in range(20)]]))
    truth = theirs.logits.detach().double().numpy().reshape(-1)
    assert np.abs(ours - truth).max() <= 1e-4 * np.abs(truth).max()


def test_a_quantised_network_computes_with_the_dequantised_weights(program, tmp_path):
    # Rows of a whole number of blocks.
    config = AutoConfig.for_model("llama", **{**SIZES, "hidden_size": 64, "head_dim": 16})
    torch.manual_seed(2)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    write_gguf(model, "llama", tmp_path / "model.gguf", TYPES.Q4_1)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.dim() > 1:
                blocks = gguf.quantize(weight.numpy(), TYPES.Q4_1)
                weight.copy_(torch.from_numpy(gguf.dequantize(blocks, TYPES.Q4_1).copy()))
    model.save_pretrained(tmp_path / "folder")
    for dtype in ["fp32", "bf16", "int8"]:
        ours = logits_of(program, tmp_path / "model.gguf", dtype)
        assert (ours == logits_of(program, tmp_path / "folder", dtype)).all(), dtype


# Tokenizers --------------------------------------------------------------------------------------


def tokenizer_file(file, model, tokenizer, pre=None, scores=None):
    """A GGUF file with the tokenizer of a tokenizer.json and no network."""
    writer = gguf.GGUFWriter(file, "llama")
    vocabulary = tokenizer["model"]["vocab"]
    special = {token["content"]: token["id"] for token in tokenizer["added_tokens"]}
    tokens = sorted({**vocabulary, **special}.items(), key=lambda one: one[1])
    assert [id for _, id in tokens] == list(range(len(tokens)))
    normal, unknown, control, byte = 1, 2, 3, 6
    writer.add_tokenizer_model(model)
    writer.add_token_list([token for token, _ in tokens])
    writer.add_token_types(
        [
            unknown if token == "<unk>" and token in special
            else control if token in special
            else byte if model == "llama" and len(token) == 6 and token.startswith("<0x")
            else normal
            for token, _ in tokens
        ]
    )  # fmt: skip
    if pre:
        writer.add_tokenizer_pre(pre)
        merges = tokenizer["model"]["merges"]
        writer.add_token_merges([one if isinstance(one, str) else " ".join(one) for one in merges])
    if scores:
        writer.add_token_scores(scores)
        for add, token in [
            (writer.add_unk_token_id, "<unk>"), (writer.add_bos_token_id, "<s>"),
            (writer.add_eos_token_id, "</s>"),
        ]:
            add(special[token])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


def published(name):
    file = DATA / "tokenizers" / name / "tokenizer.json"
    if not file.is_file():
        pytest.skip(f"{file} is missing")
    return json.loads(file.read_text(encoding="utf-8"))


def merges_of(tokenizer):
    merges = tokenizer["model"]["merges"]
    return [one.split(" ") if isinstance(one, str) else one for one in merges]


def test_qwens_tokenizer_is_that_of_its_tokenizer_json(dump, tmp_path):
    theirs = published("qwen")
    tokenizer_file(tmp_path / "t.gguf", "gpt2", theirs, pre="qwen2")
    ours = json.loads(dump(tmp_path / "t.gguf", "tokenizer"))
    for key in ["added_tokens", "normalizer", "pre_tokenizer", "post_processor"]:
        assert ours[key] == theirs[key], key
    special = {token["content"]: token["id"] for token in theirs["added_tokens"]}
    assert ours["model"]["vocab"] == {**theirs["model"]["vocab"], **special}
    assert merges_of(ours) == merges_of(theirs)


def scores_of(model):
    """The scores of the pieces in a tokenizer.model, a message of protobuf: field 1 is a piece, and
    of a piece, field 2 is its score as a float32."""
    at, scores = 0, []
    while at < len(model) and model[at] == 0x0A:
        size, at = model[at + 1], at + 2
        assert size < 128
        piece, at = model[at : at + size], at + size
        assert piece[0] == 0x0A and piece[2 + piece[1]] == 0x15, piece
        scores.append(float(np.frombuffer(piece, "<f4", 1, 3 + piece[1])[0]))
    return scores


def test_llamas_merges_are_those_of_its_tokenizer_json(dump, tmp_path):
    """The file has scores instead of merges."""
    theirs = published("llama-2")
    scores = scores_of((DATA / "tokenizers" / "llama-2" / "tokenizer.model").read_bytes())
    assert len(scores) == len(theirs["model"]["vocab"])
    tokenizer_file(tmp_path / "t.gguf", "llama", theirs, scores=scores)
    ours = json.loads(dump(tmp_path / "t.gguf", "tokenizer"))
    for key in ["added_tokens", "normalizer", "decoder"]:
        assert ours[key] == theirs[key], key
    for key in ["single", "special_tokens"]:
        assert ours["post_processor"][key] == theirs["post_processor"][key], key
    for key in ["vocab", "unk_token", "fuse_unk", "byte_fallback"]:
        assert ours["model"][key] == theirs["model"][key], key
    assert merges_of(ours) == merges_of(theirs)


# SmolLM2's own file ------------------------------------------------------------------------------


def smollm2_file():
    file = ROOT / "build" / "peers" / "SmolLM2-135M-Instruct.Q4_1.gguf"  # of llama_server_test.py
    if not file.exists() or not SMOLLM2.is_dir():
        pytest.skip(f"{file} or {SMOLLM2} is missing")
    return file


@pytest.mark.whole
def test_smollm2_is_the_network_of_its_folder(program, dump):
    file = smollm2_file()
    ours, theirs = json.loads(dump(file, "config")), json.loads((SMOLLM2 / "config.json").read_text())
    for key in SIZES:
        assert ours[key] == theirs[key], key
    assert ours["eos_token_id"] == [theirs["eos_token_id"]]
    ours = json.loads(dump(file, "tokenizer"))
    theirs = json.loads((SMOLLM2 / "tokenizer.json").read_text())
    assert ours["model"]["vocab"] == theirs["model"]["vocab"]
    assert ours["model"]["merges"] == theirs["model"]["merges"]
    assert ours["added_tokens"] == theirs["added_tokens"]
    assert ours["pre_tokenizer"] == theirs["pre_tokenizer"]
    assert (logits_of(program, file, "bf16") == logits_of(program, SMOLLM2, "bf16")).all()
