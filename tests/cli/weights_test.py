"""Weights as transformers reads them: heads that are tied or are not, names, what a file holds beside the network; and that what is not used is named.

Usage: weights_test.py PROGRAM [CASE]

Truth: the greedy ids of transformers on the same folders, in fp32.
"""
import json
import re
import shutil
import sys

from cases import ask, case, change_json, change_weights, make_network, of_transformers, run_test
from reference import torch

HEAD, EMBEDDING = "lm_head.weight", "model.embed_tokens.weight"
OWN_HEAD = "config.json says tie_word_embeddings, but the weights hold an lm_head.weight that is not the embedding"


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
    return lambda tensors: tensors.update({name.replace("__", "."): tensor for name, tensor in more.items()})


def biases(tensors):
    for layer in range(2):
        for part in ("self_attn.q_proj", "self_attn.o_proj", "mlp.up_proj"):
            tensors[f"model.layers.{layer}.{part}.bias"] = draw(tensors[f"model.layers.{layer}.{part}.weight"].shape[0])


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


# name: (changes of the config it is made with, changes of the weights, changes of config.json afterwards, what is said of it)
READ = {
    "tied with a head": ({"tie_word_embeddings": True}, heads, {}, [OWN_HEAD]),
    "tied with a head, Qwen2": ({"tie_word_embeddings": True, "family": "Qwen2", "head_dim": None}, heads, {}, [OWN_HEAD]),
    "tied with a head, Phi3": ({"tie_word_embeddings": True, "family": "Phi3", "head_dim": None, "pad_token_id": 0}, heads, {}, [OWN_HEAD]),
    "tied with the embedding as head": ({"tie_word_embeddings": True}, lambda t: t.update({HEAD: t[EMBEDDING].clone()}), {}, []),
    "tied with a head of one other number": ({"tie_word_embeddings": True}, lambda t: t.update({HEAD: t[EMBEDDING] + (torch.arange(64) == 63) * 9}), {}, [OWN_HEAD]),
    "tied with a head of another type": ({"tie_word_embeddings": True}, lambda t: t.update({HEAD: t[EMBEDDING].double() * 2}), {}, [OWN_HEAD]),
    "tied with the head alone": ({"tie_word_embeddings": True}, lambda t: t.update({HEAD: t.pop(EMBEDDING)}), {}, []),
    "tied, without model., with a head": ({"tie_word_embeddings": True}, lambda t: heads(t) or without_base(t), {}, [OWN_HEAD]),
    "untied, says tied": ({}, lambda t: None, {"tie_word_embeddings": True}, [OWN_HEAD]),
    "as it is": ({}, lambda t: None, {}, []),
    "inv_freq": ({}, buffers, {}, ["model.layers.*.self_attn.rotary_emb.inv_freq (2)"]),
    "more layers than the config has": ({"num_hidden_layers": 3}, lambda t: None, {"num_hidden_layers": 2}, ["model.layers.2.* (9)"]),
    "biases that the config denies": ({}, biases, {}, ["model.layers.*.self_attn.q_proj.bias (2)", "model.layers.*.self_attn.o_proj.bias (2)", "model.layers.*.mlp.up_proj.bias (2)"]),
    "norms of another family": ({}, lambda t: t.update({"model.layers.0.self_attn.q_norm.weight": draw(16)}), {}, ["model.layers.0.self_attn.q_norm.weight"]),
    "heads that guess further tokens": ({}, mtp, {}, ["model.layers.2.* (3)", "mtp.* (2)"]),
    "an encoder of pictures": ({}, towers, {}, ["visual.* (4)", "multi_modal_projector.* (2)"]),
    "without model.": ({}, without_base, {}, []),
    "without model. and Qwen3": ({"family": "Qwen3"}, without_base, {}, []),
    "with model. twice": ({}, with_more_base, {}, []),
    "without model., and more": ({}, lambda t: buffers(t) or without_base(t), {}, ["layers.*.self_attn.rotary_emb.inv_freq (2)"]),
    "a tensor of int64": ({}, add(position_ids=torch.arange(9)), {}, ["position_ids"]),
    "a tensor of bool": ({}, add(model__mask=torch.ones(3, 3, dtype=torch.bool)), {}, ["model.mask"]),
    "a tensor of fp8": ({}, add(model__layers__0__mlp__up_proj__scale=draw(4).to(torch.float8_e4m3fn)), {}, ["model.layers.0.mlp.up_proj.scale"]),
    "one weight twice, equal": ({}, lambda t: t.update({"norm.weight": t["model.norm.weight"].clone()}), {}, []),
    "one norm in bf16": ({}, lambda t: t.update({"model.norm.weight": t["model.norm.weight"].bfloat16()}), {}, []),
}

# name: (of the config, of the weights, of config.json, what the error says)
REFUSED = {
    "no head, untied": ({"tie_word_embeddings": True}, lambda t: None, {"tie_word_embeddings": False}, "has no tensor 'lm_head.weight' of shape [4096, 64], which a config without tie_word_embeddings needs"),
    "neither head nor embedding": ({"tie_word_embeddings": True}, lambda t: t.pop(EMBEDDING) is None, {}, "has no tensor 'model.embed_tokens.weight'"),
    "fewer layers than the config has": ({}, lambda t: None, {"num_hidden_layers": 3}, "has no tensor 'model.layers.2.input_layernorm.weight' of shape [64], which the config asks for"),
    "biases that the config promises": ({}, lambda t: None, {"attention_bias": True}, "has no tensor 'model.layers.0.self_attn.q_proj.bias' of shape [64]"),
    "a layer's norm is missing, another is there": ({}, lambda t: t.update({"model.layers.1.norm_1.weight": t.pop("model.layers.1.input_layernorm.weight")}), {},
                                                    "has no tensor 'model.layers.1.input_layernorm.weight' of shape [64], which the config asks for; what the network does not use: model.layers.1.norm_1.weight"),
    "the language's part of another network": ({}, lambda t: {"language_model." + name: tensor for name, tensor in t.items()}, {}, "what the network does not use: language_model.* (21)"),
    "a weight of int32": ({}, lambda t: t.update({"model.norm.weight": t["model.norm.weight"].int()}), {}, "tensor \"model.norm.weight\" has dtype \"I32\", expected BF16, F16, F32 or F64"),
    "a weight of fp8": ({}, lambda t: t.update({"model.layers.0.mlp.up_proj.weight": t["model.layers.0.mlp.up_proj.weight"].to(torch.float8_e4m3fn)}), {}, "has dtype \"F8_E4M3\""),
    "one weight twice, unlike": ({}, lambda t: t.update({"norm.weight": t["model.norm.weight"] + 1}), {}, "has 'model.norm.weight' and 'norm.weight', which are the same weight of a network, with different numbers"),
    "tied with a head of another size": ({"tie_word_embeddings": True}, lambda t: t.update({HEAD: draw(4100, 64)}), {}, "tensor 'lm_head.weight' has shape [4100, 64], expected [4096, 64]"),
}


def notes_of(said):
    return [line.removeprefix("model: ") for line in said.splitlines() if line.startswith("model: ")]


def check_notes(check, name, notes, expected):
    wanted = len([e for e in expected if e == OWN_HEAD]) + any(e != OWN_HEAD for e in expected)
    check(len(notes) == wanted and all(any(e in note for note in notes) for e in expected), f"{name}: {notes}, expected {expected}")


def made(pardec, name, config, weights, later):
    folder = make_network(pardec.folder / re.sub(r"\W+", "-", name), **config)
    change_weights(folder, lambda t: (lambda other: other if isinstance(other, dict) else None)(weights(t)))
    if later:
        change_json(folder / "config.json", **later)
    return folder


def read(check, pardec):
    for name, (config, weights, later, expected) in READ.items():
        folder = made(pardec, name, config, weights, later)
        code, ids, said = ask(pardec, folder)
        check(code == 0 and ids == of_transformers(folder), f"{name}: {ids}, transformers: {of_transformers(folder)}; {said}")
        check_notes(check, name, notes_of(said), expected)


def refused(check, pardec):
    for name, (config, weights, later, expected) in REFUSED.items():
        code, _, said = ask(pardec, made(pardec, name, config, weights, later))
        check(code == 2 and expected in said and said.count("\n") == 0, f"{name}: exit {code}: {said}")


def shards(check, pardec):
    """What is not used is found in shards, too."""
    folder = make_network(pardec.folder / "whole", tie_word_embeddings=True)
    tensors = {}
    change_weights(folder, lambda t: (heads(t), mtp(t), tensors.update(t)) and None)
    from safetensors.torch import save_file
    names = sorted(tensors)
    parts = {"model-00001-of-00002.safetensors": names[::2], "model-00002-of-00002.safetensors": names[1::2]}
    for file, part in parts.items():
        save_file({name: tensors[name] for name in part}, folder / file, metadata={"format": "pt"})
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": {name: file for file, part in parts.items() for name in part}}))
    code, ids, said = ask(pardec, folder)
    check(code == 0 and ids == of_transformers(folder), f"shards: {ids}; {said}")
    check_notes(check, "shards", notes_of(said), [OWN_HEAD, "model.layers.2.* (3)", "mtp.* (2)"])


def everywhere(check, pardec, folder):
    """Each verb that looks at a network says it, and what is made of one is that network."""
    expected = of_transformers(folder)
    said = {"doctor": pardec("doctor", "--model", folder).stdout, "inspect": pardec.good("model", "inspect", folder),
            "run": pardec("run", "--model", folder, "--decoder", "ar", "--dataset", "vicuna-bench", "--limit", 1, "--max-new-tokens", 2, "--db", "r.sqlite").stderr,
            "dry run": pardec.good("run", "--model", folder, "--decoder", "ar", "--dataset", "vicuna-bench", "--limit", 1, "--db", "r.sqlite", "--dry-run"),
            "train": pardec("train", "--model", folder, "--dataset", "oa-mine", "--format", "ar", "--steps", 1, "--batch-tokens", 600, "--validation", 0, "--out", "taught", "--progress", "none").stderr}
    for verb, text in said.items():
        check(OWN_HEAD[:40] in re.sub(r"\s+", " ", text), f"{verb} says what the head is: {text[-800:]}")
    config = json.loads((pardec.folder / "taught" / "config.json").read_text())
    check(config["tie_word_embeddings"] is False, f"what is trained has a head of its own, and says so: {config}")
    check(ask(pardec, pardec.folder / "taught")[1] == of_transformers(pardec.folder / "taught"), "what is trained is read by transformers alike")
    pardec.good("model", "add-tokens", folder, "--tokens", "[M]", "--out", "more")
    pardec.good("train", "--model", folder, "--dataset", "oa-mine", "--format", "ar", "--steps", 1, "--lora-rank", 2, "--batch-tokens", 600, "--validation", 0, "--out", "lora", "--progress", "none")
    pardec.good("model", "merge", folder, "--adapter", "lora", "--out", "merged")
    pardec.good("model", "draft", folder, "--layers", 1, "--out", "draft")
    for made_of_it in ("more", "merged", "draft"):
        there = pardec.folder / made_of_it
        code, ids, text = ask(pardec, there)
        check(code == 0 and ids == of_transformers(there) and not notes_of(text), f"{made_of_it}: {ids}, {of_transformers(there)}; {text}")
    check(ask(pardec, pardec.folder / "more")[1] == expected, "added tokens change no answer")


def shared_case(check, pardec, _):
    folder = pardec.folder / "case"
    shutil.copytree(case("01-tied-flag-own-head"), folder)
    code, ids, said = ask(pardec, folder)
    check(code == 0 and ids == [3722, 1060, 267, 483, 3066, 1072, 2422, 1827] == of_transformers(folder), f"the shared case: {ids}")
    check_notes(check, "the shared case", notes_of(said), [OWN_HEAD])


def whole(check, pardec):
    read(check, pardec)
    refused(check, pardec)
    shards(check, pardec)
    everywhere(check, pardec, made(pardec, "all verbs", {"tie_word_embeddings": True}, heads, {}))


if __name__ == "__main__":
    sys.exit(run_test(whole, shared_case))
