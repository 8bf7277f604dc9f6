"""GGUF files beside gguf-py and transformers: numbers, configs, logits, tokenizers.

gguf-py writes the files. Truth: for numbers, gguf-py's `dequantize`, to the bit; for logits, the
same network as a checkpoint folder, to the bit, with the names that gguf-py gives the weights; for
tokenizers, the tokenizer.json that a file was made of.
"""

import json
import os
import subprocess
import sys

import pytest
from harness import DATA, ROOT, SMOLLM2, clean_environment, skip

os.environ["HF_HUB_OFFLINE"] = "1"
try:
    import gguf
    import numpy as np
    import tokenizers
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
    "gpt_oss": (
        "GPT_OSS",
        {
            "num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": 5,
            "rope_parameters": {
                "rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 64,
                "rope_theta": 30000.0,
            },
        },
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


def quantised(weight, kind):
    """gguf-py does not quantise to Q4_K: random blocks of about the same size stand for these."""
    if kind != TYPES.Q4_K:
        return gguf.quantize(np.ascontiguousarray(weight), kind)
    random = np.random.default_rng(weight.size)
    blocks = random.integers(0, 256, (weight.size // 256, 144), dtype=np.uint8)
    blocks[:, :4] = np.array([6e-4, 4.5e-3], dtype=np.float16).view(np.uint8)
    return blocks.reshape(*weight.shape[:-1], -1)


def write_gguf(model, model_type, file, kind=TYPES.F32, tokenizer=False):
    """`kind`: the type of all matrices, or a function from their names. `tokenizer`: whether to add
    one whose tokens are numbers."""
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
    if model_type.startswith(("gemma", "gpt_oss")):
        writer.add_sliding_window(config.sliding_window)
    if ropes.get("rope_type") == "yarn":
        writer.add_rope_scaling_type(gguf.RopeScalingType.YARN)
        writer.add_rope_scaling_factor(ropes["factor"])
        writer.add_rope_scaling_orig_ctx_len(ropes["original_max_position_embeddings"])
    if model_type == "gemma2":
        writer.add_attn_logit_softcapping(config.attn_logit_softcapping)
        writer.add_final_logit_softcapping(config.final_logit_softcapping)
    if model_type in ("qwen3_moe", "gpt_oss"):
        writer.add_expert_count(config.num_experts)
        writer.add_expert_used_count(config.num_experts_per_tok)
        inner = getattr(config, "moe_intermediate_size", config.intermediate_size)
        writer.add_expert_feed_forward_length(inner)
    if tokenizer:
        writer.add_tokenizer_model("gpt2")
        writer.add_tokenizer_pre("gpt-2")
        writer.add_token_list([str(i) for i in range(config.vocab_size)])
        writer.add_token_types([1] * config.vocab_size)
        writer.add_token_merges(["1 2"])
    names = gguf.get_tensor_name_map(arch, config.num_hidden_layers)
    weights = {name: weight.numpy() for name, weight in model.state_dict().items()}
    if config.tie_word_embeddings:
        weights.pop("lm_head.weight")
    for name in [name for name in weights if model_type == "gpt_oss"]:  # experts [in, out]
        at, _, last = name.rpartition("experts.")
        if name.endswith("sinks"):
            weights[name + ".weight"] = weights.pop(name)
        if not at:
            continue
        stack = weights.pop(name)
        suffix = ".bias" if last.endswith("_bias") else ".weight"
        stack = stack if suffix == ".bias" else stack.swapaxes(1, 2)
        parts = {"down_proj": stack}
        if last.startswith("gate_up"):
            parts = {"gate_proj": stack[:, ::2], "up_proj": stack[:, 1::2]}
        weights |= {f"{at}experts.{part}{suffix}": one for part, one in parts.items()}
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
        plain = weight.ndim == 1 or "ffn_gate_inp" in new or new.endswith(".bias")
        of = TYPES.F32 if plain else kind(new) if callable(kind) else kind
        writer.add_tensor(new, quantised(weight, of), raw_dtype=of)
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


MIXED = {"attn_q": "Q4_1", "attn_k": "Q8_0", "attn_v": "Q4_0", "ffn_gate": "Q4_1", "ffn_up": "Q8_0"}
# As gpt-oss is published; other matrices are Q8_0.
OSS = {f"ffn_{part}_exps": "MXFP4" for part in ("gate", "up", "down")}


@pytest.mark.parametrize(
    "model_type, kind, sizes",
    [
        ("llama", "Q4_1", {"tie_word_embeddings": True}),
        ("llama", "Q8_0", {}),
        ("llama", "Q4_0", {}),
        ("llama", "Q4_K", {"hidden_size": 256, "intermediate_size": 256, "head_dim": 64}),
        ("llama", MIXED, {"tie_word_embeddings": True}),
        ("qwen3_moe", "Q8_0", {"moe_intermediate_size": 32}),
        ("gpt_oss", OSS, {}),
        ("gemma3_text", "Q4_1", {}),
    ],
    ids=lambda value: "mixed" if value in (MIXED, OSS) else value if isinstance(value, str) else "",
)
def test_blocks_as_they_are_stored_are_as_near_to_fp32_as_bf16(
    program, model_type, kind, sizes, tmp_path
):
    """In fp32 the logits are those of the dequantised weights (the tests above). The weights are not
    rounded to bf16, so that the error is smaller, up to chance."""
    options = {**SIZES, **NETWORKS[model_type][1], "hidden_size": 64, **sizes}
    config = AutoConfig.for_model(model_type, **options)
    torch.manual_seed(4)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(torch.randn_like(weight) * (0.3 if weight.dim() == 1 else 0.15))

    def kind_of(name):
        part = name.split(".")[-2]
        return TYPES[kind.get(part, "Q8_0") if isinstance(kind, dict) else kind]

    write_gguf(model, model_type, tmp_path / "model.gguf", kind_of)
    truth = logits_of(program, tmp_path / "model.gguf", "fp32")
    bf16, ours = (
        np.sqrt(np.mean((logits_of(program, tmp_path / "model.gguf", dtype) - truth) ** 2))
        for dtype in ["bf16", "gguf"]
    )
    print(f"{model_type} {kind}: {ours / bf16:.2f} of the error of bf16")
    assert 0 < ours < 1.2 * bf16


def test_what_gguf_needs(program, tmp_path):
    network_of("llama", tmp_path / "folder")
    request = {"model": str(tmp_path / "folder"), "dtype": "gguf", "segments": [], "cases": []}
    ran = subprocess.run(
        [program("model_dump")], input=json.dumps(request).encode(), capture_output=True
    )
    assert ran.returncode == 1
    assert "is no GGUF file" in ran.stderr.decode()


def test_auto_computes_with_blocks(pardec, tmp_path):
    config = AutoConfig.for_model("llama", **{**SIZES, "hidden_size": 64})
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    said = {}
    for kind in ["Q4_1", "F16"]:
        file = tmp_path / f"{kind}.gguf"
        write_gguf(model, "llama", file, TYPES[kind], tokenizer=True)
        # The error names the type and the bytes of the weights.
        ran = pardec(
            "generate", "--model", file, "--prompt-tokens", "5", "--dtype", "auto",
            "--memory-limit", "1M",
        )  # fmt: skip
        assert ran.returncode == 2
        said[kind] = ran.stderr
    assert " in gguf and " in said["Q4_1"]
    assert " in gguf and " not in said["F16"]
    notes = pardec.good("model", "inspect", tmp_path / "Q4_1.gguf")
    assert "computes with these types as they are stored: Q4_1 (23 tensors)" in notes


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


def test_the_words_of_gpt_oss(dump, tmp_path):
    """tiktoken's o200k: words begin at capitals, and keep a contraction."""
    tokenizer_file(tmp_path / "t.gguf", "gpt2", published("qwen"), pre="gpt-4o")
    ours = tokenizers.Tokenizer.from_str(dump(tmp_path / "t.gguf", "tokenizer").decode())
    words = ours.pre_tokenizer.pre_tokenize_str("HelloWorld's ABCdef 12345 end/\n\n  x")
    assert [word for word, _ in words] == [
        "Hello", "World's", "ĠABCdef", "Ġ", "123", "45", "Ġend", "/ĊĊ", "Ġ", "Ġx",
    ]  # fmt: skip


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
    truth = logits_of(program, file)
    bf16, blocks = (
        np.abs(logits_of(program, file, dtype) - truth).max() for dtype in ["bf16", "gguf"]
    )
    assert 0 < blocks < bf16


@pytest.mark.whole
def test_smollm2s_file_takes_its_own_size_the_cache_and_200_mb(program):
    file = smollm2_file()
    # In a small process: a program's peak is at least that of the process that starts it.
    measure = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True,"
        " stdout=subprocess.DEVNULL); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    ran = subprocess.run(
        [
            sys.executable, "-c", measure, program("pardec"), "generate", "--model", file,
            "--dtype", "auto", "--threads", "2", "--max-new-tokens", "64", "--ignore-eos",
            "--prompt", "Why is the sky blue?",
        ],
        capture_output=True, text=True, env=clean_environment(),
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    peak, size = int(ran.stdout) * 1024, file.stat().st_size
    cache = 2 * 30 * 3 * 64 * 2 * 256  # keys and values in bf16: layers, heads, dimensions, rows
    print(f"peak {peak / 1e6:.0f} MB, file {size / 1e6:.0f} MB, cache {cache / 1e6:.0f} MB")
    assert peak <= size + cache + 200e6
