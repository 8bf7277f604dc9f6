"""Where answers end: what the files of a checkpoint name beyond the configs is said, with the flag
that adds it.
"""

import json
import pathlib
import re
import shutil

import pytest
from cases import case, change_json, change_weights, greedy, make_network
from harness import query
from reference import torch, transformers

ENDS = "ends no answer, as the configs name 2 alone; --eos 5 adds it"
SHARED = "14-eos-of-tokenizer"


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
    ran = pardec(
        "generate", "--model", folder, "--prompt", prompt, "--max-new-tokens", count, "--format",
        "json", *flags,
    )
    return (json.loads(ran.stdout) if ran.returncode == 0 else None), ran.stderr


def of_transformers_to_its_end(folder):
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    ids = torch.tensor([[1, 5, 77]])
    return model.generate(
        ids, attention_mask=torch.ones_like(ids), max_new_tokens=6, do_sample=False, pad_token_id=0
    )[0, 3:].tolist()


@pytest.fixture(scope="module")
def network(pardec):
    """A network that repeats id 5, which only the tokenizer's files call an end."""
    folder = make_network(pardec.folder / "network")
    change_weights(folder, always(5))
    change_json(
        folder / "tokenizer_config.json",
        tokenizer_class="PreTrainedTokenizerFast",
        bos_token="<s>",
        eos_token="<|im_end|>",
        chat_template="{% for m in messages %}<|im_start|>{{ m.content }}<|im_end|>{% endfor %}",
    )
    return folder


# The network's own end ---------------------------------------------------------------------------

SAID = "the tokenizer's eos_token and the chat template's turns: '<|im_end|>', id 5, " + ENDS
RUN = ("--decoder", "ar", "--dataset", "vicuna-bench", "--limit", 3, "--max-new-tokens", 6)


def test_the_network_repeats_one_id(network):
    model = transformers.AutoModelForCausalLM.from_pretrained(network, dtype=torch.float32)
    assert greedy(model, count=3) == [5, 5, 5]


def test_generate_says_which_end_is_unused(pardec, network):
    found, err = answer(pardec, network)
    assert found["tokens"] == [5] * 6
    assert found["answers"][0]["stop"] == "limit"
    assert SAID in err


@pytest.mark.parametrize(
    "flags",
    [("--eos", 5), ("--eos", "<|im_end|>"), ("--eos", 7, "--eos", "<|im_end|>")],
    ids=["id", "token", "two"],
)
def test_a_named_end_ends_answers(pardec, network, flags):
    found, err = answer(pardec, network, *flags)
    assert found["tokens"] == [5]
    assert found["answers"][0]["stop"] == "eos"
    assert "ends no answer" not in err


def test_ignore_eos_ignores_named_ends(pardec, network):
    assert answer(pardec, network, "--eos", 5, "--ignore-eos")[0]["tokens"] == [5] * 6


@pytest.mark.parametrize(
    "end, said",
    [
        ("no such token", "--eos is 'no such token', which is no token of the tokenizer"),
        ("99999", "--eos is 99999, id 99999, expected one of the vocabulary of 4096"),
        ("-1", "--eos is -1"),
    ],
)
def test_an_end_that_is_no_token_is_refused(pardec, network, end, said):
    found, err = answer(pardec, network, "--eos", end)
    assert found is None
    assert said in err


def test_a_named_end_ends_ids_alone(pardec, network):
    ran = pardec(
        "generate", "--model", network, "--prompt-tokens", "1,2", "--max-new-tokens", 3, "--eos", 5
    )
    assert ran.stdout.strip() == "5", ran.stderr


def test_doctor_says_which_end_is_unused(pardec, network):
    assert SAID in flat(pardec("doctor", "--model", network).stdout)


def test_a_plan_says_which_end_is_unused(pardec, network):
    run = ("run", "--model", network, *RUN, "--db", "no.sqlite", "--dry-run")
    assert SAID in flat(pardec.good(*run))
    assert SAID not in flat(pardec.good(*run, "--eos", 5))


def test_a_run_and_its_table_say_which_end_is_unused(pardec, network):
    ran = pardec("run", "--model", network, *RUN, "--db", "r.sqlite")
    assert SAID in ran.stderr
    assert "cut at the limit" in flat(ran.stdout)
    assert "id 5, " + ENDS in flat(ran.stdout)
    compared = pardec.good("compare", "--db", "r.sqlite", "--wide")
    assert "id 5, " + ENDS in flat(compared)


@pytest.fixture(scope="module")
def ended(pardec, network):
    """The words of a run with a named end, and its database."""
    run = ("run", "--model", network, *RUN, "--db", "s.sqlite")
    pardec.good(*run, "--eos", "<|im_end|>")
    return run, pardec.folder / "s.sqlite"


def test_a_run_stores_the_named_end(ended):
    stops = query(ended[1], "SELECT DISTINCT stop FROM generation")
    config = json.loads(query(ended[1], "SELECT config FROM run")[0]["config"])
    assert [row["stop"] for row in stops] == ["eos"]
    assert config["eos"] == [5]
    assert "unused_ends" not in config


def test_a_run_is_not_resumed_with_other_ends(pardec, ended):
    ran = pardec(*ended[0], "--resume")
    assert ran.returncode == 2
    assert "eos" in ran.stderr


# Other ways in which the files differ ------------------------------------------------------------

TURNS = "{% for m in messages %}<s>{{ m.content }}END{% endfor %}"
ANSWERS = (
    "{% for m in messages %}{% if m.role == 'assistant' %}{{ m.content }}<|im_end|>{% else %}[INST]"
    " {{ m.content }} [/INST]{% endif %}{% endfor %}"
)
MOVED = (
    "{% for m in messages %}{% if m.role == 'user' %}[INST]{% if loop.last %} Be brief.{% endif %}"
    " {{ m.content }}[/INST]{% else %} {{ m.content }} <|im_end|>{% endif %}{% endfor %}"
)
HEADS = "{% for m in messages %}<mask>{{ m.role }}\n{{ m.content }}\n\n{% endfor %}"
FLAGGED = {
    "__type": "AddedToken",
    "content": "<|im_end|>",
    "lstrip": False,
    "normalized": False,
    "rstrip": False,
    "single_word": False,
    "special": True,
}
OF_THE_TOKENIZER = "the tokenizer's eos_token: '<|im_end|>', id 5, " + ENDS
OF_THE_TURNS = "the chat template's turns: '<|im_end|>', id 5, " + ENDS
SEVERAL = [
    {"name": "tool_use", "template": TURNS.replace("END", "</s>")},
    {"name": "default", "template": ANSWERS},
]


def ending(template):
    """A tokenizer with the configs' end and this template."""
    return {"eos_token": "</s>", "chat_template": template}


# What stands in config.json, generation_config.json, tokenizer_config.json and
# special_tokens_map.json, and what is said.
SIBLINGS = {
    "all agree": (
        {"eos_token_id": 5},
        {"eos_token_id": 5},
        {"eos_token": "<|im_end|>", "chat_template": TURNS.replace("END", "<|im_end|>")},
        None,
        None,
    ),
    "the tokenizer's is one of several": (
        {},
        {"eos_token_id": [2, 5]},
        {"eos_token": "<|im_end|>"},
        None,
        None,
    ),
    "config.json has one more": (
        {"eos_token_id": [2, 5]},
        {"eos_token_id": 2},
        {"eos_token": "</s>"},
        None,
        "config.json's eos_token_id: '<|im_end|>', id 5, " + ENDS,
    ),
    "the tokenizer's is a token with flags": (
        {},
        {},
        {"eos_token": FLAGGED},
        None,
        OF_THE_TOKENIZER,
    ),
    "the tokenizer's is null, the map's is not": (
        {},
        {},
        {"eos_token": None},
        {"eos_token": FLAGGED},
        OF_THE_TOKENIZER,
    ),
    "added_tokens_decoder hides the map": (
        {},
        {},
        {"added_tokens_decoder": {"5": FLAGGED}},
        {"eos_token": "<|im_end|>"},
        None,
    ),
    "the map says what the configs say": (
        {},
        {},
        {"eos_token": "<|im_end|>"},
        {"eos_token": "</s>"},
        None,
    ),
    "the tokenizer's is beyond the vocabulary": (
        {},
        {},
        {"eos_token": "<|new|>"},
        None,
        (
            "the tokenizer's eos_token: '<|new|>', id 4096, ends no answer: it lies beyond the"
            " vocabulary of 4096"
        ),
    ),
    "the tokenizer's is an ordinary word": (
        {},
        {},
        {"eos_token": "the"},
        None,
        "the tokenizer's eos_token: 'the', id 513, ends no answer",
    ),
    "special_tokens_map.json has another": (
        {},
        {},
        {},
        {"eos_token": "<|im_end|>"},
        OF_THE_TOKENIZER,
    ),
    "the template ends turns otherwise": (
        {},
        {},
        {
            **ending(TURNS.replace("END", "<|im_end|>\n")),
            "additional_special_tokens": ["<|im_end|>"],
        },
        None,
        OF_THE_TURNS,
    ),
    "the template ends turns after space": (
        {},
        {},
        ending(TURNS.replace("END", " <|im_end|>")),
        None,
        OF_THE_TURNS,
    ),
    "the template ends answers alone": ({}, {}, ending(ANSWERS), None, OF_THE_TURNS),
    "the template writes the last turn otherwise": ({}, {}, ending(MOVED), None, OF_THE_TURNS),
    "the template has heads of turns alone": ({}, {}, ending(HEADS), None, None),
    "several templates": ({}, {}, ending(SEVERAL), None, OF_THE_TURNS),
    "the template ends turns with text": ({}, {}, ending(TURNS.replace("END", "\n")), None, None),
    "the configs name none": (
        {"eos_token_id": None},
        {"eos_token_id": None},
        {"eos_token": "<|im_end|>"},
        None,
        "id 5, ends no answer, as the configs name no end; --eos 5 adds it",
    ),
    "ends beyond the vocabulary": (
        {},
        {"eos_token_id": [2, 4096, -1]},
        {},
        None,
        (
            "generation_config.json's eos_token_id 4096 ends no answer: it lies beyond the"
            " vocabulary of 4096"
        ),
    ),
}


@pytest.fixture(scope="module")
def plain(pardec):
    """A network whose files agree."""
    return make_network(pardec.folder / "plain")


@pytest.fixture
def copied(plain, tmp_path):
    """A copy of it whose files a test changes."""
    return pathlib.Path(shutil.copytree(plain, tmp_path / "copy"))


@pytest.mark.parametrize(
    "config, generation, tokenizer, special, expected", SIBLINGS.values(), ids=SIBLINGS
)
def test_an_unused_end_is_said_and_answers_end_as_in_transformers(
    pardec, copied, config, generation, tokenizer, special, expected
):
    change_json(copied / "config.json", **config)
    change_json(copied / "generation_config.json", **generation)
    change_json(
        copied / "tokenizer_config.json", tokenizer_class="PreTrainedTokenizerFast", **tokenizer
    )
    if special:
        change_json(copied / "special_tokens_map.json", **special)
    found, err = answer(pardec, copied)
    assert found is not None, err
    if expected:
        assert expected in err
    else:
        assert "ends no answer" not in err
    ours = pardec.good(
        "generate", "--model", copied, "--prompt-tokens", "1,5,77", "--max-new-tokens", 6
    )
    assert [int(i) for i in ours.split(",")] == of_transformers_to_its_end(copied)


# A generation_config.json without an end ---------------------------------------------------------

# config.json's end, what stands in generation_config.json, and the ids at which answers end.
SILENT = {
    "null": (5, {"eos_token_id": None}, "5"),
    "missing": ([2, 5], {}, "2, 5"),
    "missing, made from config.json": (5, {"_from_model_config": True}, "5"),
    "an empty list": (5, {"eos_token_id": []}, None),
    "config.json's list is empty": ([], {}, None),
    "null in both": (None, {"eos_token_id": None}, None),
}


@pytest.mark.parametrize("config, generation, ids", SILENT.values(), ids=SILENT)
def test_where_transformers_goes_on_to_the_limit_that_is_said(
    pardec, network, tmp_path, config, generation, ids
):
    """Where generation_config.json names no end, transformers goes on to the limit; answers end at
    config.json's here.
    """
    folder = pathlib.Path(shutil.copytree(network, tmp_path / "copy"))
    change_json(folder / "config.json", eos_token_id=config)
    (folder / "generation_config.json").write_text(json.dumps({"bos_token_id": 1, **generation}))
    said = (
        f"generation_config.json has no eos_token_id: answers end at the config's {ids}, where"
        " transformers goes on to the limit, as with --ignore-eos"
    )
    theirs = of_transformers_to_its_end(folder)
    found, err = answer(pardec, folder)
    assert theirs == [5] * 6
    assert found["tokens"] == ([5] if ids else theirs)
    if ids:
        assert said in err
    else:
        assert "has no eos_token_id" not in err
    assert answer(pardec, folder, "--ignore-eos")[0]["tokens"] == theirs
    assert (said in flat(pardec("doctor", "--model", folder).stdout)) == bool(ids)
    planned = pardec.good("run", "--model", folder, *RUN, "--db", "no.sqlite", "--dry-run")
    assert ("has no eos_token_id: answers end at" in flat(planned)) == bool(ids)


# The shared case ---------------------------------------------------------------------------------


def test_shared_case_names_its_end(pardec):
    found, err = answer(pardec, case(SHARED), count=8)
    assert found["tokens"] == [5] * 8
    assert "'<|im_end|>', id 5, " + ENDS in err


def test_shared_case_has_its_end_named_by_doctor(pardec):
    assert "id 5, " + ENDS in flat(pardec("doctor", "--model", case(SHARED)).stdout)


def test_shared_case_ends_at_a_named_end(pardec):
    assert answer(pardec, case(SHARED), "--eos", "<|im_end|>")[0]["tokens"] == [5]
