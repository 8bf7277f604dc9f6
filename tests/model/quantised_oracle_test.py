"""Quantised checkpoints in safetensors: FP8, GPTQ, AWQ, compressed-tensors, MXFP4.

Each test quantises a random network, and packs it here as the format's definition says. Truth: the
logits of the checkpoint folder with the numbers that NumPy computes from the same integers and
scales, to the bit; for FP8 and MXFP4, also transformers, which widens the weights while it loads them.
"""

import json
import os
import shutil

import pytest
from harness import skip

os.environ["HF_HUB_OFFLINE"] = "1"
try:
    import numpy as np
    import torch
    import transformers
    from safetensors.torch import load_file, save_file
    from transformers import AutoConfig, AutoModelForCausalLM
except ImportError as missing:
    skip(missing)
transformers.logging.set_verbosity_error()

SIZES = {
    "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 16, "vocab_size": 128, "max_position_embeddings": 512,
    "rms_norm_eps": 1e-5, "rope_theta": 30000.0,
}  # fmt: skip


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    """A network in fp32, with weights as large as real ones."""
    torch.manual_seed(1)
    folder = tmp_path_factory.mktemp("network")
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model("llama", **SIZES))
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(torch.randn_like(weight) * (0.3 if weight.dim() == 1 else 0.2))
    model.float().save_pretrained(folder)
    return folder


@pytest.fixture
def logits(model_dump):
    def of(folder, dtype="fp32"):
        tokens = [(7 * i + 3) % SIZES["vocab_size"] for i in range(20)]
        rows = {"tokens": tokens, "labels": [[i, i, 0, 0] for i in range(len(tokens))]}
        return np.frombuffer(model_dump(folder, dtype, [{"whole": rows}]))

    return of


def is_linear(name):
    return name.endswith("_proj.weight")


def stored(network, out, quantise, config):
    """Writes OUT/quantised with the tensors that `quantise(weight, random)` packs, and OUT/plain
    with the numbers that it says they have."""
    random = np.random.default_rng(5)
    packed, plain = {}, {}
    for name, weight in load_file(network / "model.safetensors").items():
        if not is_linear(name):
            packed[name] = plain[name] = weight
            continue
        parts, numbers = quantise(weight.numpy(), random)
        assert numbers.dtype == np.float32 and numbers.shape == tuple(weight.shape)
        assert 0 < np.abs(numbers - weight.numpy()).max() < 4
        plain[name] = torch.from_numpy(numbers.copy())
        for part, tensor in parts.items():
            packed[name.removesuffix("weight") + part] = tensor.contiguous()
    for folder, tensors in [("quantised", packed), ("plain", plain)]:
        (out / folder).mkdir()
        shutil.copy(network / "config.json", out / folder)
        save_file(tensors, out / folder / "model.safetensors", metadata={"format": "pt"})
    text = json.loads((network / "config.json").read_text())
    text["quantization_config"] = config
    (out / "quantised/config.json").write_text(json.dumps(text))
    return out / "quantised", out / "plain"


def words(numbers, bits, order=None):
    """Numbers of a few bits, packed along the last axis into words, the first in the lowest bits;
    `order`: which number comes next."""
    count = 32 // bits
    padded = np.pad(numbers, [(0, 0)] * (numbers.ndim - 1) + [(0, -numbers.shape[-1] % count)])
    parts = padded.astype(np.uint32).reshape(*numbers.shape[:-1], -1, count)
    if order is not None:
        parts = parts[..., order]
    shifts = np.arange(count, dtype=np.uint32) * bits
    return torch.from_numpy((parts << shifts).sum(-1, dtype=np.uint64).astype(np.uint32).view(np.int32))


def integers(weight, bits, group, symmetric, groups=None):
    """Integers, zero points and scales in float16 of a weight [rows, columns]; columns share a scale
    if they have the same group."""
    rows, columns = weight.shape
    groups = np.arange(columns) // group if groups is None else groups
    count = groups.max() + 1
    scales, zeros = np.zeros((rows, count), np.float16), np.zeros((rows, count), np.int64)
    for g in range(count):
        part = weight[:, groups == g]
        low, high = np.minimum(part.min(1), 0), np.maximum(part.max(1), 0)
        if symmetric:
            scales[:, g] = 2 * np.maximum(-low, high) / (2**bits - 1)
            zeros[:, g] = 2 ** (bits - 1)
        else:
            scales[:, g] = (high - low) / (2**bits - 1)
            zeros[:, g] = np.clip(np.round(-low / scales[:, g]), 1, 2**bits - 1)
    wide, middle = scales.astype(np.float32)[:, groups], zeros[:, groups]
    whole = np.clip(np.round(weight / wide) + middle, 0, 2**bits - 1).astype(np.int64)
    numbers = (whole - middle).astype(np.float32) * wide
    return whole, zeros, scales, groups, numbers


def gptq(bits, group, symmetric, act_order, less_one):
    def quantise(weight, random):
        columns = weight.shape[1]
        groups = np.arange(columns) // (group if group > 0 else columns)
        if act_order:
            groups = random.permutation(groups)
        whole, zeros, scales, groups, numbers = integers(
            weight, bits, group, symmetric, groups
        )
        parts = {
            "qweight": words(whole, bits).T,
            "qzeros": words((zeros.T - less_one) & (2**bits - 1), bits),
            "scales": torch.from_numpy(scales.T.copy()),
        }
        if act_order or random.random() < 0.5:
            parts["g_idx"] = torch.from_numpy(groups.astype(np.int32))
        return parts, numbers

    return quantise


GPTQ = [
    (4, 16, True, False, "gptq"), (4, 32, False, True, "gptq"), (8, 16, True, True, "gptq_v2"),
    (8, -1, False, False, "gptq"), (2, 32, False, False, "gptq"),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
@pytest.mark.parametrize("bits, group, symmetric, act_order, version", GPTQ)
def test_gptq(logits, network, tmp_path, bits, group, symmetric, act_order, version, dtype):
    config = {
        "quant_method": "gptq", "bits": bits, "group_size": group, "sym": symmetric,
        "desc_act": act_order, "checkpoint_format": version,
    }  # fmt: skip
    quantise = gptq(bits, group, symmetric, act_order, int(version == "gptq"))
    quantised, plain = stored(network, tmp_path, quantise, config)
    ours = logits(quantised, dtype)
    assert (ours == logits(plain, dtype)).all()
    assert (ours != logits(network, dtype)).any()


@pytest.mark.parametrize("group", [16, 32])
def test_awq(logits, network, tmp_path, group):
    def quantise(weight, _):
        whole, zeros, scales, _, numbers = integers(weight, 4, group, False)
        order = [0, 2, 4, 6, 1, 3, 5, 7]
        return {
            "qweight": words(whole.T, 4, order),
            "qzeros": words(zeros.T, 4, order),
            "scales": torch.from_numpy(scales.T.copy()),
        }, numbers

    config = {"quant_method": "awq", "bits": 4, "group_size": group, "zero_point": True, "version": "gemm"}
    quantised, plain = stored(network, tmp_path, quantise, config)
    assert (logits(quantised) == logits(plain)).all()


def e4m3(numbers):
    return torch.from_numpy(numbers).to(torch.float8_e4m3fn)


def wide(tensor):
    return tensor.to(torch.float32).numpy()


def expanded(scales, shape, block):
    """The scale of each number of a weight."""
    return np.repeat(np.repeat(scales, block[0], 0), block[1], 1)[: shape[0], : shape[1]]


def fp8(block, part, scale_type=torch.float32, flat=False):
    def quantise(weight, random):
        rows, columns = weight.shape
        height, width = min(block[0], rows), min(block[1], columns)
        shape = (-(-rows // height), -(-columns // width))
        scales = torch.from_numpy(random.uniform(0.002, 0.02, shape).astype(np.float32)).to(scale_type)
        of_each = expanded(wide(scales), weight.shape, (height, width))
        stored = e4m3(weight / of_each)
        if flat:
            scales = scales.reshape(-1)
        parts = {"weight": stored, part: scales, "input_scale": torch.ones(1)}
        return parts, wide(stored) * of_each

    return quantise


EVERY = 1 << 20  # more rows or columns than there are
BLOCKS = {"quant_method": "fp8", "fmt": "e4m3", "weight_block_size": [32, 24]}
WHOLE = {"quant_method": "fp8"}


def compressed(name="float-quantized", **weights):
    group = {"targets": ["Linear"], "weights": {"symmetric": True, **weights}}
    return {
        "quant_method": "compressed-tensors", "format": name, "config_groups": {"group_0": group},
        "ignore": ["lm_head"], "quantization_status": "compressed",
    }  # fmt: skip


FP8 = {
    "blocks": (fp8((32, 24), "weight_scale_inv"), BLOCKS),
    "blocks, bf16 scales": (fp8((32, 24), "weight_scale_inv", torch.bfloat16), BLOCKS),
    "tensor": (fp8((EVERY, EVERY), "weight_scale", flat=True), WHOLE),
    "channel": (fp8((1, EVERY), "weight_scale"), {"quant_method": "fbgemm_fp8"}),
    "compressed tensor": (
        fp8((EVERY, EVERY), "weight_scale", flat=True),
        compressed(type="float", num_bits=8, strategy="tensor"),
    ),
    "compressed channel": (
        fp8((1, EVERY), "weight_scale", torch.bfloat16),
        compressed(type="float", num_bits=8, strategy="channel"),
    ),
    "compressed blocks": (
        fp8((16, 32), "weight_scale"),
        compressed(type="float", num_bits=8, strategy="block", block_structure=[16, 32]),
    ),
}


@pytest.mark.parametrize("name", FP8)
def test_fp8(logits, network, tmp_path, name):
    quantise, config = FP8[name]
    quantised, plain = stored(network, tmp_path, quantise, config)
    for dtype in ["fp32", "bf16"]:
        ours = logits(quantised, dtype)
        assert (ours == logits(plain, dtype)).all()


def test_every_byte_of_fp8_is_the_number_that_torch_has(logits, network, tmp_path):
    finite = torch.tensor([b for b in range(256) if b & 0x7F != 0x7F], dtype=torch.uint8)
    every = finite.view(torch.float8_e4m3fn)

    def quantise(weight, _):
        stored = every.repeat(-(-weight.size // len(every)))[: weight.size].reshape(weight.shape)
        scale = torch.tensor([2.0**-9])
        return {"weight": stored, "weight_scale": scale}, wide(stored) * np.float32(2.0**-9)

    quantised, plain = stored(network, tmp_path, quantise, WHOLE)
    assert (logits(quantised) == logits(plain)).all()


def test_fp8_beside_transformers(logits, network, tmp_path):
    """transformers widens to bf16."""
    from transformers import FineGrainedFP8Config

    config = {**BLOCKS, "weight_block_size": [32, 32], "activation_scheme": "dynamic"}
    quantised, _ = stored(network, tmp_path, fp8((32, 32), "weight_scale_inv"), config)
    model = AutoModelForCausalLM.from_pretrained(
        quantised, dtype=torch.bfloat16,
        quantization_config=FineGrainedFP8Config(dequantize=True, weight_block_size=(32, 32)),
    )  # fmt: skip
    theirs = model.state_dict()
    assert {theirs[name].dtype for name in theirs if is_linear(name)} == {torch.bfloat16}
    theirs = {name: weight.to(torch.bfloat16) for name, weight in theirs.items()}
    (tmp_path / "theirs").mkdir()
    shutil.copy(network / "config.json", tmp_path / "theirs")
    save_file(theirs, tmp_path / "theirs/model.safetensors", metadata={"format": "pt"})
    ours = logits(quantised, "bf16")
    assert (ours == logits(tmp_path / "theirs", "bf16")).all()


def whole_bytes(symmetric):
    def quantise(weight, _):
        low, high = weight.min(1, keepdims=True), weight.max(1, keepdims=True)
        scale = ((high - low) / 255).astype(np.float32)
        zero = np.zeros_like(scale) if symmetric else np.round(-128 - low / scale)
        if symmetric:
            scale = (np.maximum(-low, high) / 127).astype(np.float32)
        stored = np.clip(np.round(weight / scale) + zero, -128, 127).astype(np.int8)
        parts = {"weight": torch.from_numpy(stored), "weight_scale": torch.from_numpy(scale)}
        if not symmetric:
            parts["weight_zero_point"] = torch.from_numpy(zero.astype(np.int8))
        return parts, (stored.astype(np.float32) - zero.astype(np.float32)) * scale

    return quantise


@pytest.mark.parametrize("symmetric", [True, False])
def test_compressed_integers(logits, network, tmp_path, symmetric):
    config = compressed(
        "int-quantized", type="int", num_bits=8, strategy="channel", symmetric=symmetric
    )
    quantised, plain = stored(network, tmp_path, whole_bytes(symmetric), config)
    assert (logits(quantised) == logits(plain)).all()


def packed(bits, group, symmetric, act_order):
    def quantise(weight, random):
        rows, columns = weight.shape
        groups = np.arange(columns) // (group or columns)
        if act_order:
            groups = random.permutation(groups)
        whole, zeros, scales, groups, numbers = integers(weight, bits, group, symmetric, groups)
        parts = {
            "weight_packed": words(whole, bits),
            "weight_shape": torch.tensor([rows, columns]),
            "weight_scale": torch.from_numpy(scales),
        }
        if not symmetric:  # packed along the rows
            parts["weight_zero_point"] = words(zeros.T, bits).T
        if act_order:
            parts["weight_g_idx"] = torch.from_numpy(groups.astype(np.int32))
        return parts, numbers

    return quantise


@pytest.mark.parametrize(
    "bits, group, symmetric, act_order",
    [(4, 16, True, False), (4, 32, False, False), (8, 16, False, True), (4, 0, True, False)],
)
def test_compressed_packed(logits, network, tmp_path, bits, group, symmetric, act_order):
    strategy = "group" if group else "channel"
    config = compressed(
        "pack-quantized", type="int", num_bits=bits, strategy=strategy, group_size=group or None,
        symmetric=symmetric,
    )  # fmt: skip
    quantised, plain = stored(network, tmp_path, packed(bits, group, symmetric, act_order), config)
    assert (logits(quantised) == logits(plain)).all()


OSS = {
    **SIZES, "num_local_experts": 3, "num_experts_per_tok": 2, "sliding_window": 128,
    "architectures": ["GptOssForCausalLM"],
}  # fmt: skip


def mxfp4(blocks, scales):
    """The numbers of blocks [..., 16] and scales [...] by the definition (OCP Microscaling 1.0): FP4 with a
    sign, two bits of exponent of bias 1 and one of mantissa; the scale is a power of two of bias 127."""
    codes = np.stack([blocks & 15, blocks >> 4], -1).reshape(*blocks.shape[:-1], 32).astype(np.int32)
    sign, exponent, mantissa = codes >> 3, codes >> 1 & 3, codes & 1
    size = np.where(exponent == 0, mantissa / 2, 2.0 ** (exponent - 1.0) * (1 + mantissa / 2))
    numbers = np.where(sign == 1, -size, size) * 2.0 ** (scales[..., None].astype(np.float64) - 127)
    return numbers.reshape(*blocks.shape[:-2], -1).astype(np.float32)


@pytest.fixture(scope="module")
def oss(tmp_path_factory):
    """A network with experts in MXFP4, and the same one with the numbers that these have."""
    torch.manual_seed(2)
    random = np.random.default_rng(6)
    folder = tmp_path_factory.mktemp("oss")
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model("gpt_oss", **OSS))
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(torch.randn_like(weight) * 0.3)
    model.to(torch.bfloat16).save_pretrained(folder / "plain")
    plain = load_file(folder / "plain/model.safetensors")
    packed = dict(plain)
    every = np.arange(256, dtype=np.uint8)
    for name in [name for name in plain if name.endswith(("gate_up_proj", "down_proj"))]:
        experts, columns, rows = plain[name].shape
        blocks = random.permutation(np.resize(every, experts * rows * columns // 2))
        blocks = blocks.reshape(experts, rows, columns // 32, 16)
        # Outputs of gate and up are clamped, so that all scales may occur there.
        least = 0 if "gate" in name else 119
        scales = random.integers(least, 128, blocks.shape[:3]).astype(np.uint8)
        numbers = mxfp4(blocks, scales).transpose(0, 2, 1)
        plain[name] = torch.from_numpy(numbers.copy()).to(torch.bfloat16)
        assert (plain[name].float().numpy() == numbers).all()
        del packed[name]
        packed |= {f"{name}_blocks": torch.from_numpy(blocks), f"{name}_scales": torch.from_numpy(scales)}
    config = json.loads((folder / "plain/config.json").read_text())
    config["quantization_config"] = {
        "quant_method": "mxfp4",
        "modules_to_not_convert": ["model.layers.*.self_attn", "model.layers.*.mlp.router", "lm_head"],
    }
    (folder / "quantised").mkdir()
    (folder / "quantised/config.json").write_text(json.dumps(config))
    for kind, tensors in [("plain", plain), ("quantised", packed)]:
        save_file(tensors, folder / kind / "model.safetensors", metadata={"format": "pt"})
    return folder


@pytest.mark.parametrize("dtype", ["fp32", "bf16", "nf4"])
def test_mxfp4(logits, oss, dtype):
    ours = logits(oss / "quantised", dtype)
    assert np.isfinite(ours).all() and (ours == logits(oss / "plain", dtype)).all()


def test_mxfp4_beside_transformers(oss):
    from transformers.integrations.mxfp4 import convert_moe_packed_tensors

    plain = load_file(oss / "plain/model.safetensors")
    packed = load_file(oss / "quantised/model.safetensors")
    stacks = [name.removesuffix("_blocks") for name in packed if name.endswith("_blocks")]
    assert len(stacks) == 2 * OSS["num_hidden_layers"]
    for name in stacks:
        theirs = convert_moe_packed_tensors(packed[f"{name}_blocks"], packed[f"{name}_scales"])
        assert torch.equal(theirs.to(torch.bfloat16), plain[name])


STACK = "model.layers.1.mlp.experts.down_proj_"


@pytest.mark.parametrize(
    "change, code, said",
    [
        (lambda t: t.pop(STACK + "scales"), 2, 'down_proj_scales" is missing'),
        (
            lambda t: t.update({STACK + "scales": t[STACK + "scales"][:, 1:]}), 2,
            'down_proj_scales" has shape [3, 63, 3], expected [3, 64, 3]',
        ),
        (
            lambda t: t.update({STACK + "blocks": t[STACK + "blocks"].flatten(2)}), 2,
            "expected [experts, rows, blocks, 16]",
        ),
        (lambda t: t[STACK + "scales"].view(-1)[7:9].fill_(255), 1, "64 NaN of 18432 numbers"),
    ],
    ids=range(4),
)  # fmt: skip
def test_damaged_mxfp4_is_named(pardec, oss, tmp_path, change, code, said):
    shutil.copy(oss / "quantised/config.json", tmp_path)
    tensors = load_file(oss / "quantised/model.safetensors")
    change(tensors)
    save_file({name: one.contiguous() for name, one in tensors.items()}, tmp_path / "model.safetensors")
    ran = pardec("model", "inspect", tmp_path, "--weights")
    assert ran.returncode == code and said in ran.stdout + ran.stderr, ran.stdout + ran.stderr


def test_a_stack_that_does_not_fit_the_config_is_named(pardec, oss, tmp_path):
    shutil.copy(oss / "quantised/model.safetensors", tmp_path)
    config = json.loads((oss / "quantised/config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "intermediate_size": 64}))
    ran = pardec("generate", "--model", tmp_path, "--prompt-tokens", "1,2", "--max-new-tokens", 1)
    said = "experts.gate_up_proj' has shape [3, 192, 64], expected [3, 128, 64] from the config"
    assert ran.returncode == 2 and said in ran.stderr, ran.stderr


# Errors ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def broken(pardec, network, tmp_path_factory):
    """Tries a checkpoint with another quantization_config, or with changed tensors."""
    folder, _ = stored(
        network, tmp_path_factory.mktemp("gptq"), gptq(4, 16, False, True, 1),
        {"quant_method": "gptq", "bits": 4, "group_size": 16},
    )  # fmt: skip
    config = json.loads((folder / "config.json").read_text())
    tensors = load_file(folder / "model.safetensors")
    count = iter(range(1000))

    def attempt(quantisation=None, change=None):
        out = folder.parent / f"broken-{next(count)}"
        out.mkdir()
        changed = {**config, "quantization_config": quantisation or config["quantization_config"]}
        (out / "config.json").write_text(json.dumps(changed))
        now = dict(tensors)
        if change:
            change(now)
        save_file({name: one.contiguous() for name, one in now.items()}, out / "model.safetensors")
        ran = pardec("model", "inspect", out, "--weights")
        assert ran.returncode == 2 and ran.stderr.count("\n") == 1, ran.stderr
        return ran.stderr

    return attempt


@pytest.mark.parametrize(
    "config, said",
    [
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, "'quant_method' is \"bitsandbytes\""),
        ({"quant_method": "gptq", "bits": 3}, "of method gptq: 'bits' is 3"),
        ({"quant_method": "gptq", "bits": 4, "checkpoint_format": "marlin"}, "'checkpoint_format' is"),
        ({"quant_method": "gptq", "bits": 4, "dynamic": {"a": {}}}, "'dynamic' is"),
        ({"quant_method": "awq", "version": "gemv"}, "of method awq: 'version' is \"gemv\""),
        ({"quant_method": "awq", "bits": 8}, "'bits' is 8"),
        ({"quant_method": "fp8", "fmt": "e5m2"}, "of method fp8: 'fmt' is \"e5m2\""),
        ({"quant_method": "fp8", "weight_block_size": [0, 8]}, "'weight_block_size' is [0,8]"),
        (compressed("nvfp4-pack-quantized"), "'format' is \"nvfp4-pack-quantized\""),
        (compressed(num_bits=4, type="float"), "group_0.weights: 'num_bits' is 4"),
        (compressed(strategy="token"), "'strategy' is \"token\""),
        ({**compressed(), "config_groups": {}}, "'config_groups' is {}"),
        ({**compressed(), "sparsity_config": {"format": "sparse-24-bitmask"}}, "sparsity_config"),
        ({**compressed(), "transform_config": {"a": 1}}, "'transform_config' is"),
    ],
    ids=str,
)
def test_another_method_is_refused(broken, config, said):
    assert said in broken(config)


NAME = "model.layers.1.mlp.up_proj."


def without(part):
    return lambda tensors: tensors.pop(NAME + part)


def replaced(part, make):
    return lambda tensors: tensors.update({NAME + part: make(tensors[NAME + part])})


@pytest.mark.parametrize(
    "change, said",
    [
        (without("scales"), 'up_proj.scales" is missing'),
        (replaced("scales", lambda one: one[:-1]), 'up_proj.scales" has shape [3, 96], expected [4, 96]'),
        (replaced("qzeros", lambda one: one.long()), "has dtype"),
        (replaced("g_idx", lambda one: one + 4), "has group"),
        (replaced("g_idx", lambda one: one - 9), "has group"),
        (replaced("qweight", lambda one: one.flatten()), "expected that of a matrix"),
        (lambda tensors: tensors.update({NAME + "weight": torch.zeros(2, 2)}), "beside the quantised"),
        (
            lambda tensors: [tensors.pop(name) for name in list(tensors) if "qweight" in name],
            "no tensor is quantised",
        ),
    ],
    ids=range(8),
)
def test_tensors_that_do_not_fit_are_named(broken, change, said):
    error = broken(change=change)
    assert said in error and "model.safetensors: " in error, error


def test_what_becomes_of_the_weights_is_said(pardec, network, tmp_path):
    config = {"quant_method": "awq", "bits": 4, "group_size": 16}

    def quantise(weight, _):
        whole, zeros, scales, _, numbers = integers(weight, 4, 16, False)
        order = [0, 2, 4, 6, 1, 3, 5, 7]
        return {
            "qweight": words(whole.T, 4, order), "qzeros": words(zeros.T, 4, order),
            "scales": torch.from_numpy(scales.T.copy()),
        }, numbers  # fmt: skip

    quantised, _ = stored(network, tmp_path, quantise, config)
    said = pardec.good("model", "inspect", quantised, "--weights")
    assert "quantised weights (AWQ, 4 bits) that are widened while they are loaded" in said
    ran = pardec("model", "draft", quantised, "--layers", 1, "--out", tmp_path / "draft")
    assert ran.returncode == 2 and "has quantised weights (AWQ, 4 bits)" in ran.stderr
