"""LoRA from end to end beside Hugging Face's peft: `pardec train --lora-rank` writes what peft
loads, both compute the same logits with it, and `pardec model merge` makes the checkpoint that
peft's merge makes, which transformers loads.
"""

import copy
import csv
import functools
import hashlib
import json
import shutil

import pytest
from harness import TOKENIZER, skip

try:
    import numpy
    import peft
    import safetensors.torch
    import torch
    import transformers
except ImportError as missing:
    skip(missing)
torch.set_num_threads(1)
SHAPES = {
    "tied": {"model_type": "llama", "tie_word_embeddings": True},
    "untied": {"model_type": "qwen2", "tie_word_embeddings": False},
    "fused": {"model_type": "phi3", "tie_word_embeddings": False, "pad_token_id": 0},
    "scaled": {  # the embedding; tied too
        "model_type": "gemma2",
        "head_dim": 16,
        "attn_logit_softcapping": 10.0,
        "final_logit_softcapping": 5.0,
    },
}
COMMON = {
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 2048,
}


def with_peft(base, adapter, dtype):
    model = transformers.AutoModelForCausalLM.from_pretrained(str(base), dtype=dtype)
    return (
        peft.PeftModel.from_pretrained(model, str(adapter), autocast_adapter_dtype=False)
        .to(dtype)
        .eval()
    )


def logits(model, ids):
    with torch.no_grad():
        return model(torch.tensor([ids])).logits[0].double().numpy()


FLAGS = {
    "tied": ["--lora-tokens", "3,<|im_end|>,100"],
    "untied": [
        "--lora-targets", "q_proj,down_proj", "--lora-tokens", "7", "--dtype", "bf16",
        "--checkpoint-activations",
    ],
    "fused": ["--lora-dropout", "0.1"],
    "scaled": ["--lora-tokens", "3,100"],
}
TRAIN = [
    "--dataset", "oa-mine", "--format", "ar", "--limit", 12, "--batch-tokens", 1024,
    "--weight-decay", 0, "--threads", 1, "--progress", "none",
]
IDS = list(range(5, 400, 9)) + [3, 7, 3]


@pytest.fixture(scope="module")
def dumped(model_dump):
    """The logits of a checkpoint, maybe with an adapter."""

    def logits_of(model, ids, adapter=""):
        labels = [[i, i, 0, 0] for i in range(len(ids))]
        cases = [{"whole": {"tokens": ids, "labels": labels}}]
        return numpy.frombuffer(model_dump(model, "fp32", cases, adapter=adapter)).reshape(
            len(ids), -1
        )

    return logits_of


@pytest.fixture(scope="module")
def base(pardec):
    """The folder of a checkpoint, by its shape."""

    @functools.cache
    def made(name):
        config = pardec.folder / f"{name}.json"
        config.write_text(json.dumps(COMMON | SHAPES[name]))
        pardec.good("model", "synth", name, "--config", config, "--tokenizer", TOKENIZER)
        return pardec.folder / name

    return made


@pytest.fixture(scope="module")
def adapter(pardec, base):
    """The folder of a trained adapter, by the shape of its network."""

    @functools.cache
    def trained(name):
        out = pardec.folder / f"{name}-adapter"
        pardec.good(
            "train", "--model", base(name), *TRAIN, "--steps", 4, "--lr", 0.02, "--lora-rank", 4,
            "--lora-alpha", 8, "--out", out, *FLAGS[name],
        )
        return out

    return trained


@pytest.fixture(scope="module")
def merged(pardec, base, adapter):
    """The folder of a checkpoint with its adapter merged, by its shape."""

    @functools.cache
    def made(name):
        out = pardec.folder / f"{name}-merged"
        pardec.good("model", "merge", base(name), "--adapter", adapter(name), "--out", out)
        return out

    return made


@pytest.fixture(scope="module")
def with_bias(pardec):
    """A network whose head has a bias that is not zero."""
    shape = {"model_type": "phi", "tie_word_embeddings": False, "partial_rotary_factor": 0.5}
    config = pardec.folder / "phi.json"
    config.write_text(json.dumps(COMMON | shape))
    pardec.good("model", "synth", "phi", "--config", config, "--tokenizer", TOKENIZER)
    file = pardec.folder / "phi" / "model.safetensors"
    tensors = safetensors.torch.load_file(file)
    count = tensors["lm_head.bias"].numel()
    tensors["lm_head.bias"] = torch.linspace(-3, 3, count).to(tensors["lm_head.bias"].dtype)
    safetensors.torch.save_file(tensors, file, {"format": "pt"})
    return pardec.folder / "phi"


def test_trained_rows_of_tokens_have_the_bias_of_the_head(pardec, with_bias):
    def first_loss(out, *flags):
        pardec.good(
            "train", "--model", with_bias, *TRAIN, "--steps", 1, "--lr", 1e-12, "--lora-rank", 4,
            "--dtype", "fp32", "--out", out, *flags,
        )
        with (pardec.folder / out / "loss.csv").open() as rows:
            return float(next(csv.DictReader(rows))["train_loss"])

    wanted = first_loss("no-rows")
    # Ids of the vocabulary, so that targets are among them.
    ids = ",".join(map(str, range(20, 220)))
    assert first_loss("rows", "--lora-tokens", ids) == pytest.approx(wanted, abs=1e-4)


def test_new_tokens_have_no_bias(pardec, with_bias):
    out = pardec.folder / "phi-more"
    pardec.good("model", "add-tokens", with_bias, "--tokens", "[A],[B]", "--out", out)
    was, now = (
        safetensors.torch.load_file(folder / "model.safetensors")["lm_head.bias"]
        for folder in (with_bias, out)
    )
    assert len(now) == len(was) + 2
    assert torch.equal(now[: len(was)], was)
    assert not now[len(was) :].any()


every_shape = pytest.mark.parametrize("name", SHAPES)


@every_shape
def test_the_folder_has_the_adapter_and_no_network(adapter, name):
    assert not list(adapter(name).glob("model*"))
    assert (adapter(name) / "tokenizer.json").exists()


@every_shape
def test_peft_computes_the_same_logits_with_an_adapter(base, adapter, dumped, name):
    """Its own error in float32, three times, is what is allowed."""
    want = logits(with_peft(base(name), adapter(name), torch.float64), IDS)
    theirs = abs(logits(with_peft(base(name), adapter(name), torch.float32), IDS) - want).max()
    assert abs(dumped(base(name), IDS, adapter(name)) - want).max() <= 3 * theirs
    assert abs(dumped(base(name), IDS) - want).max() > 1e-3 * abs(want).max(), (
        "the adapter changes nothing"
    )


def rounded_once(stored, whole):
    """Whether a merged tensor is another in bf16, where float32's sums may fall on the other
    side of a border.
    """
    return ((stored.float() - whole).abs() <= whole.abs() * 2.0**-8 * 1.01).all()


@every_shape
def test_merged_weights_are_those_that_peft_merges(base, adapter, merged, name):
    whole = with_peft(base(name), adapter(name), torch.float32).merge_and_unload().state_dict()
    stored = safetensors.torch.load_file(merged(name) / "model.safetensors")
    equal = total = 0
    for key, tensor in stored.items():
        assert tensor.dtype == torch.bfloat16, key  # as in the checkpoint
        assert rounded_once(tensor, whole[key]), key
        equal, total = (
            equal + (tensor == whole[key].bfloat16()).sum().item(),
            total + tensor.numel(),
        )
    assert equal > 0.999 * total


@every_shape
def test_transformers_computes_the_same_with_a_merged_checkpoint(merged, dumped, name):
    double, single = (
        logits(
            transformers.AutoModelForCausalLM.from_pretrained(str(merged(name)), dtype=dtype), IDS
        )
        for dtype in (torch.float64, torch.float32)
    )
    assert abs(dumped(merged(name), IDS) - double).max() <= 3 * abs(single - double).max()


@every_shape
def test_a_merged_checkpoint_is_not_overwritten(pardec, base, adapter, merged, name):
    again = pardec("model", "merge", base(name), "--adapter", adapter(name), "--out", merged(name))
    assert again.returncode == 2, again.stderr
    assert "holds a model" in again.stderr


def going_on(pardec, base, begin, out, *flags):
    """Trains one more step from an adapter."""
    return pardec(
        "train", "--model", base("tied"), "--start-adapter", begin, *TRAIN, "--steps", 1, "--out",
        out, *flags,
    )


@pytest.fixture(scope="module")
def goes_on(pardec, base, adapter):
    """The folder of an adapter that began as another one and learned nothing."""
    ran = going_on(pardec, base, adapter("tied"), "goes-on", "--lr", 1e-12)
    assert ran.returncode == 0, ran.stderr
    return pardec.folder / "goes-on"


def test_a_step_of_nothing_leaves_the_adapter_as_it_was(adapter, goes_on):
    was, now = (
        safetensors.torch.load_file(path / "adapter_model.safetensors")
        for path in (adapter("tied"), goes_on)
    )
    assert was.keys() == now.keys()
    for key in was:
        assert torch.equal(was[key], now[key]), key


def test_an_adapter_keeps_the_shape_of_the_one_that_it_began_as(adapter, goes_on):
    was, now = (
        json.loads((path / "adapter_config.json").read_text())
        for path in (adapter("tied"), goes_on)
    )
    assert was == now


def test_the_record_has_the_hash_of_the_first_adapter(adapter, goes_on):
    made = json.loads((goes_on / "training.json").read_text())["settings"]
    assert (
        made["start_adapter_sha256"]
        == hashlib.sha256((adapter("tied") / "adapter_model.safetensors").read_bytes()).hexdigest()
    )


def test_a_rank_beside_a_first_adapter_is_refused(pardec, base, adapter):
    ran = going_on(pardec, base, adapter("tied"), "rank", "--lora-rank", 8)
    assert ran.returncode == 2, ran.stderr
    assert "--start-adapter" in ran.stderr


def test_a_folder_without_an_adapter_is_refused(pardec, base):
    ran = going_on(pardec, base, "nowhere", "none")
    assert ran.returncode == 2, ran.stderr
    assert "nowhere" in ran.stderr


@pytest.fixture(scope="module")
def foreign(pardec, base):
    """A model with an adapter that peft made, and the adapter's folder."""
    torch.manual_seed(4)
    model = peft.get_peft_model(
        transformers.AutoModelForCausalLM.from_pretrained(str(base("tied")), dtype=torch.float32),
        peft.LoraConfig(
            r=3, lora_alpha=5, use_rslora=True, target_modules=["o_proj", "up_proj"],
            trainable_token_indices=[9, 4], init_lora_weights=False, task_type="CAUSAL_LM",
        ),
    )
    for name, parameter in model.named_parameters():
        if "trainable_tokens" in name:
            parameter.data.normal_()
    model.save_pretrained(str(pardec.folder / "foreign"))
    return model.eval(), pardec.folder / "foreign"


def test_an_adapter_of_peft_computes_the_same_logits(base, foreign, dumped):
    model, folder = foreign
    ids = [4, 9, 12, 9, 200, 31, 4]
    want = logits(model, ids)
    assert abs(dumped(base("tied"), ids, folder) - want).max() <= 1e-4 * abs(want).max()


def test_an_adapter_of_peft_is_merged_as_peft_merges_it(pardec, base, foreign):
    model, folder = foreign
    pardec.good("model", "merge", base("tied"), "--adapter", folder, "--out", "foreign-merged")
    whole = copy.deepcopy(model).merge_and_unload().state_dict()
    stored = safetensors.torch.load_file(pardec.folder / "foreign-merged/model.safetensors")
    assert stored
    for key, tensor in stored.items():
        assert rounded_once(tensor, whole[key]), key


def test_an_adapter_of_another_kind_is_refused(pardec, base, foreign, tmp_path):
    other = shutil.copytree(foreign[1], tmp_path / "other")
    config = json.loads((other / "adapter_config.json").read_text())
    (other / "adapter_config.json").write_text(json.dumps(config | {"use_dora": True}))
    ran = pardec("model", "merge", base("tied"), "--adapter", other, "--out", "none")
    assert ran.returncode == 2, ran.stderr
    assert "use_dora" in ran.stderr


@pytest.mark.parametrize(
    "flags, said",
    [
        (["--lora-rank", 4, "--lora-targets", "qproj"], "q_proj"),
        (["--lora-rank", -1], "--lora-rank"),
        (["--lora-targets", "q_proj"], "--lora-rank"),
        (["--lora-rank", 4, "--lora-tokens", "<none>"], "--lora-tokens"),
        (["--lora-rank", 4, "--lora-dropout", 1], "--lora-dropout"),
    ],
    ids=["unknown-target", "rank-below-0", "targets-without-rank", "unknown-token", "dropout-1"],
)
def test_wrong_flags_are_refused(pardec, base, flags, said):
    ran = pardec(
        "train", "--model", base("tied"), "--dataset", "oa-mine", "--out", "refused", *flags
    )
    assert ran.returncode == 2, ran.stderr
    assert said in ran.stderr
