"""Where answers end: what the files of a checkpoint name beyond the configs is said, with the flag that adds it.

Usage: ends_test.py PROGRAM [CASE]
"""
import json
import re
import sys

from harness import query
from cases import CASES, case, change_json, change_weights, greedy, make_network, run_test
from reference import torch, transformers

ENDS = "ends no answer, as the configs name 2 alone; --eos 5 adds it"


def flat(text):
    return re.sub(r"\s+", " ", text)


def always(token):
    """A head that chooses this id for every row: the network repeats it until it is an end."""
    def change(tensors):
        tensors["model.norm.weight"] = torch.ones(64)
        embedding = tensors["model.embed_tokens.weight"]
        embedding.zero_()
        embedding[:, 0] = 1
        for layer in range(2):
            for part in ("self_attn.o_proj", "mlp.down_proj"):
                tensors[f"model.layers.{layer}.{part}.weight"].zero_()
        tensors["lm_head.weight"].zero_()
        tensors["lm_head.weight"][token, 0] = 1
    return change


def answer(pardec, folder, *flags, prompt="Hi", count=6):
    ran = pardec("generate", "--model", folder, "--prompt", prompt, "--max-new-tokens", count, "--format", "json", *flags)
    return (json.loads(ran.stdout) if ran.returncode == 0 else None), ran.stderr


def ends(check, pardec, folder):
    said = "the tokenizer's eos_token and the chat template's turns: '<|im_end|>', id 5, " + ENDS
    found, err = answer(pardec, folder)
    check(found["tokens"] == [5] * 6 and found["answers"][0]["stop"] == "limit" and said in err, f"generate: {found}, {err}")
    for flags in (("--eos", 5), ("--eos", "<|im_end|>"), ("--eos", 7, "--eos", "<|im_end|>")):
        found, err = answer(pardec, folder, *flags)
        check(found["tokens"] == [5] and found["answers"][0]["stop"] == "eos" and "ends no answer" not in err, f"{flags}: {found}, {err}")
    found, err = answer(pardec, folder, "--eos", 5, "--ignore-eos")
    check(found["tokens"] == [5] * 6, f"--ignore-eos: {found}")
    for flags, what in ((("--eos", "no such token"), "--eos is 'no such token', which is no token of the tokenizer"), (("--eos", "99999"), "--eos is 99999, id 99999, expected one of the vocabulary of 4096"), (("--eos", "-1"), "--eos is -1")):
        found, err = answer(pardec, folder, *flags)
        check(found is None and what in err, f"{flags}: {err}")
    ran = pardec("generate", "--model", folder, "--prompt-tokens", "1,2", "--max-new-tokens", 3, "--eos", 5)
    check(ran.stdout.strip() == "5", f"ids alone: {ran.stdout} {ran.stderr}")
    check(said in flat(pardec("doctor", "--model", folder).stdout), "doctor says it")
    run = ("run", "--model", folder, "--decoder", "ar", "--dataset", "vicuna-bench", "--limit", 3, "--max-new-tokens", 6)
    check(said in flat(pardec.good(*run, "--db", "r.sqlite", "--dry-run")), "--dry-run says it")
    check(said not in flat(pardec.good(*run, "--db", "r.sqlite", "--dry-run", "--eos", 5)), "--dry-run with --eos says nothing")
    ran = pardec(*run, "--db", "r.sqlite")
    check(said in ran.stderr and "cut at the limit" in flat(ran.stdout) and "id 5, " + ENDS in flat(ran.stdout), f"run: {ran.stderr} {ran.stdout}")
    check("id 5, " + ENDS in flat(pardec.good("compare", "--db", "r.sqlite", "--wide")), "compare says it")
    pardec.good(*run, "--db", "s.sqlite", "--eos", "<|im_end|>")
    stops = query(pardec.folder / "s.sqlite", "SELECT DISTINCT stop FROM generation")
    config = json.loads(query(pardec.folder / "s.sqlite", "SELECT config FROM run")[0]["config"])
    check([row["stop"] for row in stops] == ["eos"] and config["eos"] == [5] and "unused_ends" not in config, f"{stops}, {config}")
    ran = pardec(*run, "--db", "s.sqlite", "--resume")
    check(ran.returncode == 2 and "eos" in ran.stderr, f"--resume without it: {ran.stderr}")


def siblings(check, pardec):
    """Other ways in which they differ: config, tokenizer_config, special_tokens_map, template, generation_config."""
    turns = "{% for m in messages %}<s>{{ m.content }}END{% endfor %}"
    answers = "{% for m in messages %}{% if m.role == 'assistant' %}{{ m.content }}<|im_end|>{% else %}[INST] {{ m.content }} [/INST]{% endif %}{% endfor %}"
    moved = "{% for m in messages %}{% if m.role == 'user' %}[INST]{% if loop.last %} Be brief.{% endif %} {{ m.content }}[/INST]{% else %} {{ m.content }} <|im_end|>{% endif %}{% endfor %}"
    flagged = {"__type": "AddedToken", "content": "<|im_end|>", "lstrip": False, "normalized": False, "rstrip": False, "single_word": False, "special": True}
    cases = {
        "all agree": ({"eos_token_id": 5}, {"eos_token_id": 5}, {"eos_token": "<|im_end|>", "chat_template": turns.replace("END", "<|im_end|>")}, None, None),
        "the tokenizer's is one of several": ({}, {"eos_token_id": [2, 5]}, {"eos_token": "<|im_end|>"}, None, None),
        "config.json has one more": ({"eos_token_id": [2, 5]}, {"eos_token_id": 2}, {"eos_token": "</s>"}, None, "config.json's eos_token_id: '<|im_end|>', id 5, " + ENDS),
        "the tokenizer's is a token with flags": ({}, {}, {"eos_token": flagged}, None, "the tokenizer's eos_token: '<|im_end|>', id 5, " + ENDS),
        "the tokenizer's is null, the map's is not": ({}, {}, {"eos_token": None}, {"eos_token": flagged}, "the tokenizer's eos_token: '<|im_end|>', id 5, " + ENDS),
        "added_tokens_decoder hides the map": ({}, {}, {"added_tokens_decoder": {"5": flagged}}, {"eos_token": "<|im_end|>"}, None),
        "the map says what the configs say": ({}, {}, {"eos_token": "<|im_end|>"}, {"eos_token": "</s>"}, None),
        "the tokenizer's is beyond the vocabulary": ({}, {}, {"eos_token": "<|new|>"}, None, "the tokenizer's eos_token: '<|new|>', id 4096, ends no answer: it lies beyond the vocabulary of 4096"),
        "the tokenizer's is an ordinary word": ({}, {}, {"eos_token": "the"}, None, "the tokenizer's eos_token: 'the', id 513, ends no answer"),
        "special_tokens_map.json has another": ({}, {}, {}, {"eos_token": "<|im_end|>"}, "the tokenizer's eos_token: '<|im_end|>', id 5, " + ENDS),
        "the template ends turns otherwise": ({}, {}, {"eos_token": "</s>", "additional_special_tokens": ["<|im_end|>"], "chat_template": turns.replace("END", "<|im_end|>\n")}, None, "the chat template's turns: '<|im_end|>', id 5, " + ENDS),
        "the template ends turns after space": ({}, {}, {"eos_token": "</s>", "chat_template": turns.replace("END", " <|im_end|>")}, None, "the chat template's turns: '<|im_end|>', id 5, " + ENDS),
        "the template ends answers alone": ({}, {}, {"eos_token": "</s>", "chat_template": answers}, None, "the chat template's turns: '<|im_end|>', id 5, " + ENDS),
        "the template writes the last turn otherwise": ({}, {}, {"eos_token": "</s>", "chat_template": moved}, None, "the chat template's turns: '<|im_end|>', id 5, " + ENDS),
        "the template has heads of turns alone": ({}, {}, {"eos_token": "</s>", "chat_template": "{% for m in messages %}<mask>{{ m.role }}\n{{ m.content }}\n\n{% endfor %}"}, None, None),
        "several templates": ({}, {}, {"eos_token": "</s>", "chat_template": [{"name": "tool_use", "template": turns.replace("END", "</s>")}, {"name": "default", "template": answers}]}, None,
                              "the chat template's turns: '<|im_end|>', id 5, " + ENDS),
        "the template ends turns with text": ({}, {}, {"eos_token": "</s>", "chat_template": turns.replace("END", "\n")}, None, None),
        "the configs name none": ({"eos_token_id": None}, {"eos_token_id": None}, {"eos_token": "<|im_end|>"}, None, "id 5, ends no answer, as the configs name no end; --eos 5 adds it"),
        "ends beyond the vocabulary": ({}, {"eos_token_id": [2, 4096, -1]}, {}, None, "generation_config.json's eos_token_id 4096 ends no answer: it lies beyond the vocabulary of 4096"),
    }
    for name, (config, generation, tokenizer, special, expected) in cases.items():
        folder = make_network(pardec.folder / re.sub(r"\W+", "-", name))
        change_json(folder / "config.json", **config)
        change_json(folder / "generation_config.json", **generation)
        change_json(folder / "tokenizer_config.json", tokenizer_class="PreTrainedTokenizerFast", **tokenizer)
        if special:
            change_json(folder / "special_tokens_map.json", **special)
        found, err = answer(pardec, folder)
        check(found is not None and ((expected in err) if expected else "ends no answer" not in err), f"{name}: {err}")
        theirs = of_transformers_to_its_end(folder)
        ours = pardec.good("generate", "--model", folder, "--prompt-tokens", "1,5,77", "--max-new-tokens", 6)
        check([int(i) for i in ours.split(",")] == theirs, f"{name}: {ours}, transformers {theirs}")


def silent_generation_config(check, pardec):
    """Where generation_config.json names no end, transformers goes on to the limit; answers end at config.json's here, and that is said."""
    folder = pardec.folder / "network"
    said = "generation_config.json has no eos_token_id: answers end at the config's {}, where transformers goes on to the limit, as with --ignore-eos"
    for name, config, generation, ids in (("null", 5, {"eos_token_id": None}, "5"), ("missing", [2, 5], {}, "2, 5"), ("missing, made from config.json", 5, {"_from_model_config": True}, "5"),
                                          ("an empty list", 5, {"eos_token_id": []}, None), ("config.json's list is empty", [], {}, None), ("null in both", None, {"eos_token_id": None}, None)):
        change_json(folder / "config.json", eos_token_id=config)
        (folder / "generation_config.json").write_text(json.dumps({"bos_token_id": 1, **generation}))
        theirs = of_transformers_to_its_end(folder)
        found, err = answer(pardec, folder)
        check(theirs == [5] * 6 and found["tokens"] == ([5] if ids else theirs), f"{name}: {found}, transformers {theirs}")
        check((said.format(ids) in err) if ids else "has no eos_token_id" not in err, f"{name}: {err}")
        check(answer(pardec, folder, "--ignore-eos")[0]["tokens"] == theirs, f"{name}: --ignore-eos")
        check((said.format(ids) in flat(pardec("doctor", "--model", folder).stdout)) == bool(ids), f"{name}: doctor")
        planned = pardec.good("run", "--model", folder, "--decoder", "ar", "--dataset", "vicuna-bench", "--limit", 1, "--db", "t.sqlite", "--dry-run")
        check(("has no eos_token_id: answers end at" in flat(planned)) == bool(ids), f"{name}: --dry-run: {planned}")


def of_transformers_to_its_end(folder):
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    ids = torch.tensor([[1, 5, 77]])
    return model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=6, do_sample=False, pad_token_id=0)[0, 3:].tolist()


def shared_case(check, pardec, _):
    found, err = answer(pardec, case("14-eos-of-tokenizer"), count=8)
    check(found["tokens"] == [5] * 8 and "'<|im_end|>', id 5, " + ENDS in err, f"the shared case: {found} {err}")
    check("id 5, " + ENDS in flat(pardec("doctor", "--model", CASES / "14-eos-of-tokenizer").stdout), "doctor says it")
    found, _ = answer(pardec, CASES / "14-eos-of-tokenizer", "--eos", "<|im_end|>")
    check(found["tokens"] == [5], f"with --eos: {found}")


def whole(check, pardec):
    folder = make_network(pardec.folder / "network")
    change_weights(folder, always(5))
    change_json(folder / "tokenizer_config.json", tokenizer_class="PreTrainedTokenizerFast", bos_token="<s>", eos_token="<|im_end|>",
                chat_template="{% for m in messages %}<|im_start|>{{ m.content }}<|im_end|>{% endfor %}")
    check(greedy(transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32), count=3) == [5, 5, 5], "the network repeats one id")
    ends(check, pardec, folder)
    siblings(check, pardec)
    silent_generation_config(check, pardec)


if __name__ == "__main__":
    sys.exit(run_test(whole, shared_case))
