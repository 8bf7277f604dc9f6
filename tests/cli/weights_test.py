"""Weights as transformers reads them: heads that are tied or are not, names, what a file holds
beside the network; and that what is not used is named.

Truth: the greedy ids of transformers on the same folders, in fp32.
"""

import json
import re
import shutil

import pytest
from cases import ask, case, change_json, change_weights, make_network, of_transformers
from reference import torch
from safetensors.torch import save_file

HEAD, EMBEDDING = "lm_head.weight", "model.embed_tokens.weight"
OWN_HEAD = (
    "config.json says tie_word_embeddings, but the weights hold an lm_head.weight that is not the"
    " embedding"
)


def draw(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(3))


def heads(tensors):
    """An embedding's tensors beside a head of its own."""
    tensors[HEAD] = draw(*tensors[EMBEDDING].shape) / 8


def without_base(tensors):
    return {name.removeprefix("model."): tensor for name, tensor in tensors.items()}


def with_more_base(tensors):
    return {"model." + name: tensor for name, tensor in tensors.items()}


def add(**more):
    return lambda tensors: tensors.update(
        {name.replace("__", "."): tensor for name, tensor in more.items()}
    )


def biases(tensors):
    for layer in range(2):
        for part in ("self_attn.q_proj", "self_attn.o_proj", "mlp.up_proj"):
            tensors[f"model.layers.{layer}.{part}.bias"] = draw(
                tensors[f"model.layers.{layer}.{part}.weight"].shape[0]
            )


def buffers(tensors):
    for layer in range(2):
        tensors[f"model.layers.{layer}.self_attn.rotary_emb.inv_freq"] = draw(8)


def towers(tensors):
    for block in range(3):
        tensors[f"visual.blocks.{block}.attn.qkv.weight"] = draw(4, 4)
    tensors["visual.merger.ln_q.weight"] = draw(4)
    tensors["multi_modal_projector.linear_1.weight"] = draw(4, 4)
    tensors["multi_modal_projector.linear_2.weight"] = draw(4, 4)


def mtp(tensors):
    tensors["model.layers.2.enorm.weight"] = draw(64)
    tensors["model.layers.2.eh_proj.weight"] = draw(64, 128)
    tensors["model.layers.2.shared_head.head.weight"] = draw(4096, 64)
    tensors["mtp.fc.weight"] = draw(4, 4)
    tensors["mtp.norm.weight"] = draw(4)


# name: (changes of the config it is made with, changes of the weights, changes of config.json
# afterwards, what is said of it)
READ = {
    "tied with a head": ({"tie_word_embeddings": True}, heads, {}, [OWN_HEAD]),
    "tied with a head, Qwen2": (
        {"tie_word_embeddings": True, "family": "Qwen2", "head_dim": None},
        heads,
        {},
        [OWN_HEAD],
    ),
    "tied with a head, Phi3": (
        {"tie_word_embeddings": True, "family": "Phi3", "head_dim": None, "pad_token_id": 0},
        heads,
        {},
        [OWN_HEAD],
    ),
    "tied with the embedding as head": (
        {"tie_word_embeddings": True},
        lambda t: t.update({HEAD: t[EMBEDDING].clone()}),
        {},
        [],
    ),
    "tied with a head of one other number": (
        {"tie_word_embeddings": True},
        lambda t: t.update({HEAD: t[EMBEDDING] + (torch.arange(64) == 63) * 9}),
        {},
        [OWN_HEAD],
    ),
    "tied with a head of another type": (
        {"tie_word_embeddings": True},
        lambda t: t.update({HEAD: t[EMBEDDING].double() * 2}),
        {},
        [OWN_HEAD],
    ),
    "tied with the head alone": (
        {"tie_word_embeddings": True},
        lambda t: t.update({HEAD: t.pop(EMBEDDING)}),
        {},
        [],
    ),
    "tied, without model., with a head": (
        {"tie_word_embeddings": True},
        lambda t: heads(t) or without_base(t),
        {},
        [OWN_HEAD],
    ),
    "untied, says tied": ({}, lambda t: None, {"tie_word_embeddings": True}, [OWN_HEAD]),
    "as it is": ({}, lambda t: None, {}, []),
    "inv_freq": ({}, buffers, {}, ["model.layers.*.self_attn.rotary_emb.inv_freq (2)"]),
    "more layers than the config has": (
        {"num_hidden_layers": 3},
        lambda t: None,
        {"num_hidden_layers": 2},
        ["model.layers.2.* (9)"],
    ),
    "biases that the config denies": (
        {},
        biases,
        {},
        [
            "model.layers.*.self_attn.q_proj.bias (2)", "model.layers.*.self_attn.o_proj.bias (2)",
            "model.layers.*.mlp.up_proj.bias (2)",
        ],
    ),
    "norms of another family": (
        {},
        lambda t: t.update({"model.layers.0.self_attn.q_norm.weight": draw(16)}),
        {},
        ["model.layers.0.self_attn.q_norm.weight"],
    ),
    "heads that guess further tokens": ({}, mtp, {}, ["model.layers.2.* (3)", "mtp.* (2)"]),
    "an encoder of pictures": ({}, towers, {}, ["visual.* (4)", "multi_modal_projector.* (2)"]),
    "without model.": ({}, without_base, {}, []),
    "without model. and Qwen3": ({"family": "Qwen3"}, without_base, {}, []),
    "with model. twice": ({}, with_more_base, {}, []),
    "without model., and more": (
        {},
        lambda t: buffers(t) or without_base(t),
        {},
        ["layers.*.self_attn.rotary_emb.inv_freq (2)"],
    ),
    "a tensor of int64": ({}, add(position_ids=torch.arange(9)), {}, ["position_ids"]),
    "a tensor of bool": (
        {},
        add(model__mask=torch.ones(3, 3, dtype=torch.bool)),
        {},
        ["model.mask"],
    ),
    "a tensor of fp8": (
        {},
        add(model__layers__0__mlp__up_proj__scale=draw(4).to(torch.float8_e4m3fn)),
        {},
        ["model.layers.0.mlp.up_proj.scale"],
    ),
    "one weight twice, equal": (
        {},
        lambda t: t.update({"norm.weight": t["model.norm.weight"].clone()}),
        {},
        [],
    ),
    "one norm in bf16": (
        {},
        lambda t: t.update({"model.norm.weight": t["model.norm.weight"].bfloat16()}),
        {},
        [],
    ),
}

# name: (of the config, of the weights, of config.json, what the error says)
REFUSED = {
    "no head, untied": (
        {"tie_word_embeddings": True},
        lambda t: None,
        {"tie_word_embeddings": False},
        (
            "has no tensor 'lm_head.weight' of shape [4096, 64], which a config without"
            " tie_word_embeddings needs"
        ),
    ),
    "neither head nor embedding": (
        {"tie_word_embeddings": True},
        lambda t: t.pop(EMBEDDING) is None,
        {},
        "has no tensor 'model.embed_tokens.weight'",
    ),
    "fewer layers than the config has": (
        {},
        lambda t: None,
        {"num_hidden_layers": 3},
        (
            "has no tensor 'model.layers.2.input_layernorm.weight' of shape [64], which the config"
            " asks for"
        ),
    ),
    "biases that the config promises": (
        {},
        lambda t: None,
        {"attention_bias": True},
        "has no tensor 'model.layers.0.self_attn.q_proj.bias' of shape [64]",
    ),
    "a layer's norm is missing, another is there": (
        {},
        lambda t: t.update(
            {"model.layers.1.norm_1.weight": t.pop("model.layers.1.input_layernorm.weight")}
        ),
        {},
        (
            "has no tensor 'model.layers.1.input_layernorm.weight' of shape [64], which the config"
            " asks for; what the network does not use: model.layers.1.norm_1.weight"
        ),
    ),
    "the language's part of another network": (
        {},
        lambda t: {"language_model." + name: tensor for name, tensor in t.items()},
        {},
        "what the network does not use: language_model.* (21)",
    ),
    "a weight of int32": (
        {},
        lambda t: t.update({"model.norm.weight": t["model.norm.weight"].int()}),
        {},
        'tensor "model.norm.weight" has dtype "I32", expected BF16, F16, F32 or F64',
    ),
    "a weight of fp8": (
        {},
        lambda t: t.update(
            {
                "model.layers.0.mlp.up_proj.weight": (
                    t["model.layers.0.mlp.up_proj.weight"].to(torch.float8_e4m3fn)
                )
            }
        ),
        {},
        'has dtype "F8_E4M3"',
    ),
    "one weight twice, unlike": (
        {},
        lambda t: t.update({"norm.weight": t["model.norm.weight"] + 1}),
        {},
        (
            "has 'model.norm.weight' and 'norm.weight', which are the same weight of a network,"
            " with different numbers"
        ),
    ),
    "tied with a head of another size": (
        {"tie_word_embeddings": True},
        lambda t: t.update({HEAD: draw(4100, 64)}),
        {},
        "tensor 'lm_head.weight' has shape [4100, 64], expected [4096, 64]",
    ),
}


def notes_of(said):
    return [
        line.removeprefix("model: ") for line in said.splitlines() if line.startswith("model: ")
    ]


def check_notes(said, expected):
    """The notes about a network name what is expected, in as few lines."""
    notes = notes_of(said)
    assert len(notes) == len([e for e in expected if e == OWN_HEAD]) + any(
        e != OWN_HEAD for e in expected
    ), notes
    for part in expected:
        assert any(part in note for note in notes), f"{part}: {notes}"


def check_read(pardec, folder, expected):
    """The ids are those of transformers, and the notes say what is expected."""
    code, ids, said = ask(pardec, folder)
    assert code == 0, said
    assert ids == of_transformers(folder)
    check_notes(said, expected)


def made(pardec, name, config, weights, later):
    folder = make_network(pardec.folder / re.sub(r"\W+", "-", name), **config)
    change_weights(
        folder, lambda t: (lambda other: other if isinstance(other, dict) else None)(weights(t))
    )
    if later:
        change_json(folder / "config.json", **later)
    return folder


def by_name(cases):
    return pytest.mark.parametrize("name", list(cases), ids=lambda name: re.sub(r"\W+", "-", name))


@by_name(READ)
def test_weights_are_read_as_transformers_reads_them(pardec, name):
    config, weights, later, expected = READ[name]
    check_read(pardec, made(pardec, name, config, weights, later), expected)


@by_name(REFUSED)
def test_weights_that_do_not_fit_are_refused(pardec, name):
    config, weights, later, expected = REFUSED[name]
    code, _, said = ask(pardec, made(pardec, name, config, weights, later))
    assert code == 2
    assert expected in said
    assert said.count("\n") == 0


def test_what_is_not_used_is_found_in_shards(pardec):
    folder = make_network(pardec.folder / "whole", tie_word_embeddings=True)
    tensors = {}
    change_weights(folder, lambda t: (heads(t), mtp(t), tensors.update(t)) and None)
    names = sorted(tensors)
    parts = {
        "model-00001-of-00002.safetensors": names[::2],
        "model-00002-of-00002.safetensors": names[1::2],
    }
    for file, part in parts.items():
        save_file({name: tensors[name] for name in part}, folder / file, metadata={"format": "pt"})
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors.index.json").write_text(
        json.dumps(
            {
                "metadata": {},
                "weight_map": {name: file for file, part in parts.items() for name in part},
            }
        )
    )
    check_read(pardec, folder, [OWN_HEAD, "model.layers.2.* (3)", "mtp.* (2)"])


@pytest.fixture(scope="module")
def own_head(pardec):
    """A network whose config says that the head is tied, with a head of its own."""
    return made(pardec, "all verbs", {"tie_word_embeddings": True}, heads, {})


TRAIN = (
    "--dataset", "oa-mine", "--format", "ar", "--steps", 1, "--batch-tokens", 600, "--validation",
    0, "--progress", "none",
)
RUN = (
    "--decoder", "ar", "--dataset", "vicuna-bench", "--limit", 1, "--max-new-tokens", 2, "--db",
    "r.sqlite",
)


@pytest.fixture(scope="module")
def trained(pardec, own_head):
    """What training made of it, and what was said."""
    said = pardec("train", "--model", own_head, *TRAIN, "--out", "trained").stderr
    return pardec.folder / "trained", said


def check_own_head(text):
    """The text says what the head is."""
    assert OWN_HEAD[:40] in re.sub(r"\s+", " ", text)


@pytest.mark.parametrize("verb", ["doctor", "inspect", "run", "dry run"])
def test_each_verb_says_what_the_head_is(pardec, own_head, verb):
    args = {
        "doctor": ("doctor", "--model", own_head),
        "inspect": ("model", "inspect", own_head),
        "run": ("run", "--model", own_head, *RUN),
        "dry run": ("run", "--model", own_head, *RUN, "--dry-run"),
    }[verb]
    ran = pardec(*args)
    check_own_head(ran.stderr if verb == "run" else ran.stdout)


def test_training_says_what_the_head_is_and_keeps_it(pardec, trained):
    """The trained network has a head of its own, says so, and is read by transformers."""
    folder, said = trained
    check_own_head(said)
    assert json.loads((folder / "config.json").read_text())["tie_word_embeddings"] is False
    assert ask(pardec, folder)[1] == of_transformers(folder)


def check_made(pardec, out):
    """What a verb made is read by transformers as here, and has nothing that is not used."""
    check_read(pardec, pardec.folder / out, [])


def test_added_tokens_change_no_answer(pardec, own_head):
    pardec.good("model", "add-tokens", own_head, "--tokens", "[M]", "--out", "more")
    check_made(pardec, "more")
    assert ask(pardec, pardec.folder / "more")[1] == of_transformers(own_head)


def test_a_merged_network_keeps_its_head(pardec, own_head):
    pardec.good("train", "--model", own_head, *TRAIN, "--lora-rank", 2, "--out", "lora")
    pardec.good("model", "merge", own_head, "--adapter", "lora", "--out", "merged")
    check_made(pardec, "merged")


def test_a_draft_keeps_its_head(pardec, own_head):
    pardec.good("model", "draft", own_head, "--layers", 1, "--out", "draft")
    check_made(pardec, "draft")


def test_shared_case(pardec):
    folder = pardec.folder / "case"
    shutil.copytree(case("01-tied-flag-own-head"), folder)
    assert ask(pardec, folder)[1] == [3722, 1060, 267, 483, 3066, 1072, 2422, 1827]
    check_read(pardec, folder, [OWN_HEAD])
