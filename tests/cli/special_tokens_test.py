"""Special tokens and chat templates that the files beside tokenizer.json name: the ids of a prompt
are those of transformers' AutoTokenizer.
"""

import json
import random
import re
import shutil

import pytest
from cases import case, change_json, make_network
from harness import TOKENIZER
from transformers import AutoTokenizer

MARKS = ["<|im_start|>", "<|im_end|>", "<tool>", "<mask>", "[Fork]", "title", "<|think|>"]
WORDS = (
    "Hello <|im_start|> x<|im_end|> y <tool>z <mask>  [Fork] titles title <|think|>\n</s>. Café"
    " <|im_end|>"
)
TEMPLATE = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n'"
    " }}{% endfor %}{{ bos_token }}{{ eos_token }}{{ pad_token }}{{ tool_token }}{% if"
    " add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def token(content, **flags):
    return {
        "content": content,
        "single_word": False,
        "lstrip": False,
        "rstrip": False,
        "normalized": False,
        "special": True,
        **flags,
    }


def typed(content, **flags):
    return {"__type": "AddedToken", **token(content, **flags)}


# name: the files beside tokenizer.json, by name; `tokenizer`: what is added to its own tokens.
CASES = {
    "nothing beside": {},
    "additional_special_tokens": {
        "config": {"additional_special_tokens": ["<|im_start|>", "<|im_end|>"]}
    },
    "extra_special_tokens": {"config": {"extra_special_tokens": ["<|im_start|>", "<tool>"]}},
    "both lists": {
        "config": {"additional_special_tokens": ["<tool>"], "extra_special_tokens": ["<|im_end|>"]}
    },
    "an empty list beside": {
        "config": {"additional_special_tokens": ["<tool>"], "extra_special_tokens": []}
    },
    "tokens by name": {
        "config": {"extra_special_tokens": {"tool_token": "<tool>"}, "think_token": "<|think|>"}
    },
    "typed tokens": {
        "config": {
            "additional_special_tokens": [typed("<tool>", lstrip=True, rstrip=True), "<|im_end|>"]
        }
    },
    "eos_token": {"config": {"eos_token": "<|im_end|>", "bos_token": "<s>"}},
    "eos_token with flags": {"config": {"eos_token": typed("<|im_end|>", lstrip=True)}},
    "a token that no vocabulary has": {"config": {"pad_token": "<tool>", "eos_token": "<|think|>"}},
    "added_tokens_decoder": {
        "config": {
            "added_tokens_decoder": {
                "4": token("<|im_start|>"),
                "5": token("<|im_end|>", rstrip=True),
                "4096": token("<tool>", special=False, normalized=True),
            }
        }
    },
    "added_tokens_decoder with other flags": {
        "config": {
            "added_tokens_decoder": {
                "6": token("<mask>", lstrip=True, rstrip=True),
                "7": token("[Fork]", special=False),
            }
        }
    },
    "added_tokens_decoder in another order": {
        "config": {"added_tokens_decoder": {"9000": token("<tool>"), "8999": token("<|think|>")}}
    },
    "added_tokens_decoder with texts alone": {
        "config": {
            "added_tokens_decoder": {"5": {"content": "<|im_end|>"}},
            "eos_token": "<|im_end|>",
        }
    },
    "a single word": {
        "config": {
            "added_tokens_decoder": {"5000": token("title", single_word=True, special=False)}
        }
    },
    "a word that is normalized": {
        "config": {"added_tokens_decoder": {"5000": token("title", normalized=True, special=False)}}
    },
    "added_tokens_decoder hides the other files": {
        "config": {"added_tokens_decoder": {"5": token("<|im_end|>")}},
        "special": {"eos_token": "<|think|>", "additional_special_tokens": ["<tool>"]},
        "added": {"<|im_start|>": 4},
    },
    "special_tokens_map.json": {
        "special": {
            "eos_token": "<|im_end|>",
            "additional_special_tokens": ["<tool>", "<|im_start|>"],
        }
    },
    "special_tokens_map.json with flags": {
        "special": {
            "eos_token": token("<|im_end|>", lstrip=True),
            "pad_token": token("<tool>", normalized=True),
        }
    },
    "special_tokens_map.json over tokenizer_config.json": {
        "config": {"eos_token": "</s>", "additional_special_tokens": ["<|im_start|>"]},
        "special": {"eos_token": "<|im_end|>", "additional_special_tokens": ["<tool>"]},
    },
    "both have lists": {
        "config": {"extra_special_tokens": ["<|im_start|>"]},
        "special": {"extra_special_tokens": ["<tool>"]},
    },
    "added_tokens.json": {"added": {"<|im_end|>": 5, "<tool>": 4096}},
    "added_tokens.json, some special": {
        "config": {"eos_token": "<|im_end|>"},
        "added": {"<|im_end|>": 5, "<tool>": 4097, "<|think|>": 4096},
    },
    "flags of tokenizer.json stay": {
        "tokenizer": [{"id": 5, **token("<|im_end|>", lstrip=True, special=False)}],
        "config": {"eos_token": "<|im_end|>", "additional_special_tokens": ["<|im_end|>"]},
    },
    "flags of tokenizer.json give way": {
        "tokenizer": [{"id": 5, **token("<|im_end|>", lstrip=True)}],
        "config": {"added_tokens_decoder": {"5": token("<|im_end|>", rstrip=True)}},
    },
    "special tokens are text": {
        "config": {"split_special_tokens": True, "eos_token": "<|im_end|>"}
    },
    "what says nothing of ids": {
        "config": {
            "add_bos_token": True,
            "add_eos_token": True,
            "add_prefix_space": True,
            "clean_up_tokenization_spaces": True,
            "model_max_length": 5,
            "padding_side": "left",
            "eos_token": "<|im_end|>",
        }
    },
    "empty texts": {
        "config": {"eos_token": "", "pad_token": None, "additional_special_tokens": []}
    },
}


def write(folder, tokenizer=(), config=None, special=None, added=None):
    for name in (
        "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json",
        "chat_template.jinja", "chat_template.json",
    ):
        (folder / name).unlink(missing_ok=True)
    own = json.loads(TOKENIZER.read_text(encoding="utf-8"))
    own["added_tokens"] = sorted(
        [t for t in own["added_tokens"] if t["content"] not in [x["content"] for x in tokenizer]]
        + list(tokenizer),
        key=lambda t: t["id"],
    )
    (folder / "tokenizer.json").write_text(json.dumps(own), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(
        json.dumps(
            {
                "tokenizer_class": "PreTrainedTokenizerFast",
                "chat_template": TEMPLATE,
                **(config or {}),
            }
        )
    )
    for name, content in (("special_tokens_map.json", special), ("added_tokens.json", added)):
        if content is not None:
            (folder / name).write_text(json.dumps(content))


def fed(pardec, folder, words, *flags):
    """The ids of the prompt; of a refused one what was said."""
    ran = pardec(
        "generate", "--model", folder, "--prompt", words, "--max-new-tokens", 1, "--trace",
        "t.jsonl", *flags,
    )
    if ran.returncode != 0:
        return ran.stderr
    trace = json.loads((pardec.folder / "t.jsonl").read_text().splitlines()[0])
    return [token for token, step in zip(trace["tokens"], trace["step"]) if step == 0]


def expected(folder, words, name=None):
    tokenizer = AutoTokenizer.from_pretrained(folder)
    return tokenizer.apply_chat_template(
        [{"role": "user", "content": words}],
        add_generation_prompt=True,
        tokenize=True,
        return_dict=False,
        chat_template=name,
    )


@pytest.fixture(scope="module")
def network(pardec):
    return make_network(pardec.folder / "network", vocab_size=4160, num_hidden_layers=1)


@pytest.fixture
def folder(network):
    """The network's folder, for one test: without files of another one."""
    shutil.rmtree(network / "additional_chat_templates", ignore_errors=True)
    return network


@pytest.mark.parametrize("name", list(CASES), ids=lambda name: re.sub(r"\W+", "-", name))
def test_files_beside_tokenizer_json_are_read(pardec, folder, name):
    write(folder, **CASES[name])
    assert fed(pardec, folder, WORDS) == expected(folder, WORDS)


def test_any_mixture_of_the_files_is_read(pardec, folder):
    draw = random.Random(7)
    flags = lambda: {
        key: draw.random() < 0.3
        for key in ("single_word", "lstrip", "rstrip", "normalized", "special")
    }
    one = lambda content: draw.choice([content, typed(content, **flags())])
    for i in range(20):
        config, special, added = {}, None, None
        for key in draw.sample(
            ["bos_token", "eos_token", "pad_token", "unk_token", "tool_token"], draw.randrange(4)
        ):
            config[key] = one(draw.choice(MARKS))
        if draw.random() < 0.6:
            config[draw.choice(["additional_special_tokens", "extra_special_tokens"])] = [
                one(mark) for mark in draw.sample(MARKS, draw.randrange(4))
            ]
        if draw.random() < 0.5:
            config["added_tokens_decoder"] = {
                str(draw.randrange(4, 9000)): token(mark, **flags())
                for mark in draw.sample(MARKS, draw.randrange(5))
            }
        if draw.random() < 0.4:
            special = {
                key: draw.choice([mark, token(mark, **flags())])
                for key, mark in zip(
                    ("eos_token", "cls_token"), draw.sample(MARKS, draw.randrange(3))
                )
            }
            if draw.random() < 0.5:
                special["additional_special_tokens"] = draw.sample(MARKS, 2)
        if draw.random() < 0.3:
            added = {mark: 5000 + n for n, mark in enumerate(draw.sample(MARKS, 3))}
        own = [{"id": 5, **token("<|im_end|>", **flags())}] if draw.random() < 0.4 else []
        write(folder, own, config, special, added)
        ours, theirs = fed(pardec, folder, WORDS), expected(folder, WORDS)
        assert ours == theirs, (
            f"drawn {i}: {ours}\n   transformers: {theirs}\n   {own} {config} {special} {added}"
        )


MARKED = {name: TEMPLATE.replace("assistant", name) for name in ("default", "rag", "tool_use")}
LISTED = [{"name": name, "template": text} for name, text in MARKED.items()]


@pytest.mark.parametrize("form", [MARKED, LISTED], ids=["object", "list"])
def test_templates_by_name_are_chosen_by_name(pardec, folder, form):
    write(folder, config={"chat_template": form, "eos_token": "<|im_end|>"})
    default = expected(folder, WORDS)
    assert fed(pardec, folder, WORDS) == default
    for name in ("rag", "tool_use"):
        assert (
            fed(pardec, folder, WORDS, "--chat-template", f"checkpoint:{name}")
            == expected(folder, WORDS, name)
            != default
        ), name


def test_a_template_that_is_missing_is_an_error(pardec, folder):
    write(folder, config={"chat_template": LISTED, "eos_token": "<|im_end|>"})
    said = fed(pardec, folder, WORDS, "--chat-template", "checkpoint:none")
    assert (
        "has no chat template 'none'; --chat-template takes checkpoint:default, checkpoint:rag,"
        " checkpoint:tool_use, or a built-in one" in said
    )


def test_without_a_default_template_the_user_must_choose(pardec, folder):
    write(folder, config={"chat_template": LISTED[1:]})
    said = fed(pardec, folder, WORDS)
    assert (
        "has no chat template that is the default; --chat-template takes checkpoint:rag,"
        " checkpoint:tool_use" in said
    )


@pytest.fixture
def files(folder):
    """Templates in files, beside those of tokenizer_config.json."""
    write(folder, config={"chat_template": LISTED[1:]})
    more = folder / "additional_chat_templates"
    more.mkdir()
    (more / "rag.jinja").write_text(TEMPLATE.replace("assistant", "file"))
    (folder / "chat_template.jinja").write_text(TEMPLATE.replace("assistant", "jinja"))
    return folder


@pytest.mark.parametrize("name", [None, "rag"])
def test_templates_are_read_from_files(pardec, files, name):
    flags = ("--chat-template", f"checkpoint:{name}") if name else ()
    assert fed(pardec, files, WORDS, *flags) == expected(files, WORDS, name)


def test_a_file_of_another_name_hides_the_templates_of_the_config(pardec, files):
    (files / "chat_template.jinja").unlink()
    assert "has no chat template that is the default" in fed(pardec, files, WORDS)


def test_chat_template_json_is_read_where_nothing_else_has_one(pardec, folder):
    write(folder, config={"chat_template": None, "eos_token": "<|im_end|>"})
    (folder / "chat_template.json").write_text(json.dumps({"chat_template": MARKED["rag"]}))
    ours = fed(pardec, folder, WORDS)
    change_json(folder / "tokenizer_config.json", chat_template=MARKED["rag"])
    assert ours == expected(folder, WORDS)
    # Where tokenizer_config.json has one, that is taken.
    (folder / "chat_template.json").write_text(json.dumps({"chat_template": "no"}))
    assert fed(pardec, folder, WORDS) == ours


WRONG = {
    "a template that is null": (
        {"chat_template": [{"name": "a"}]},
        "'chat_template' has \"a\" with null",
    ),
    "a template that is a number": ({"chat_template": 3}, "'chat_template' is number"),
    "no list": (
        {"additional_special_tokens": 3},
        "'additional_special_tokens' is 3, expected a list",
    ),
    "no content": ({"eos_token": {"text": "x"}}, "expected a token: an object with 'content'"),
    "no id": (
        {"added_tokens_decoder": {"x": {"content": "<tool>"}}},
        'has the key "x", expected an id',
    ),
    "no flag": (
        {"added_tokens_decoder": {"7": {"content": "<tool>", "lstrip": 3}}},
        "'lstrip' is 3, expected true or false",
    ),
}


@pytest.mark.parametrize("name", list(WRONG))
def test_a_config_that_is_wrong_is_refused(pardec, folder, name):
    config, said = WRONG[name]
    write(folder, config=config)
    ran = fed(pardec, folder, WORDS)
    assert isinstance(ran, str)
    assert said in ran
    assert "tokenizer_config.json" in ran


@pytest.mark.parametrize("out", ["more", "trained"])
def test_a_new_network_has_all_tokens_in_its_tokenizer_json(pardec, folder, out):
    """Whether tokens were added or the network was trained."""
    write(folder, config={"eos_token": "<|im_end|>", "pad_token": "<tool>"})
    if out == "more":
        pardec.good("model", "add-tokens", folder, "--tokens", "[M]", "--out", out)
    else:
        pardec.good(
            "train", "--model", folder, "--chat-template", "chatml", "--dataset", "oa-mine",
            "--format", "ar", "--steps", 1, "--batch-tokens", 600, "--validation", 0, "--out", out,
            "--progress", "none",
        )
    own = {
        t["content"]: t["id"]
        for t in json.loads((pardec.folder / out / "tokenizer.json").read_text(encoding="utf-8"))[
            "added_tokens"
        ]
    }
    assert own.get("<|im_end|>") == 5
    assert own.get("<tool>") == 4096
    change_json(
        pardec.folder / out / "tokenizer_config.json",
        chat_template=TEMPLATE,
        tokenizer_class="PreTrainedTokenizerFast",
    )
    assert fed(pardec, pardec.folder / out, WORDS + "[M]") == expected(
        pardec.folder / out, WORDS + "[M]"
    )


def test_shared_case(pardec):
    folder = case("09-tokens-of-tokenizer-config")
    ours = fed(pardec, folder, "Hello there")
    theirs = expected(folder, "Hello there")
    assert (
        ours
        == theirs
        == [4, 332, 280, 213, 54, 707, 93, 235, 513, 279, 5, 213, 4, 396, 533, 644, 213]
    )
