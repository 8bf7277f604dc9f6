"""A checkpoint's own chat template: the ids that a network computes are those of transformers'
`apply_chat_template`.
"""

import json
import shutil

import pytest
from transformers import PreTrainedTokenizerFast

from harness import ROOT, query

TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}<{{ m.role }}>\n{{ m.content | trim }}</{{ m.role }}>\n"
    "{% endfor %}{% if add_generation_prompt %}<assistant>{% if think is defined and not think %}"
    " {% endif %}{% endif %}"
)


@pytest.fixture(scope="module")
def special():
    """The special tokens of the tokenizer."""
    file = ROOT / "experiments" / "quickstart" / "model" / "tokenizer.json"
    added = json.loads(file.read_text(encoding="utf-8"))["added_tokens"]
    return [token["content"] for token in added if token["special"]]


def write_template(model, special, template=TEMPLATE):
    """The tokenizer's config with a template."""
    config = {"bos_token": {"content": special[0]}, "eos_token": special[-1]}
    file = model / "tokenizer_config.json"
    file.write_text(json.dumps({**config, "chat_template": template}))


def copied(folder, special):
    """A copy of the network with the template."""
    shutil.copytree(ROOT / "experiments" / "quickstart" / "model", folder)
    write_template(folder, special)
    return folder


@pytest.fixture(scope="module")
def model(pardec, special):
    return copied(pardec.folder / "model", special)


@pytest.fixture(scope="module")
def theirs(model, special):
    """The tokenizer of transformers."""
    file = str(model / "tokenizer.json")
    ends = {"bos_token": special[0], "eos_token": special[-1]}
    return PreTrainedTokenizerFast(tokenizer_file=file, chat_template=TEMPLATE, **ends)


@pytest.fixture(scope="module")
def fed(pardec, model):
    """The ids of the prompt that a call computes."""

    def of(*flags):
        words = ["--max-new-tokens", 2, "--trace", "t.jsonl", *flags]
        pardec.good("generate", "--model", model, *words)
        trace = json.loads((pardec.folder / "t.jsonl").read_text().splitlines()[0])
        return [token for token, step in zip(trace["tokens"], trace["step"]) if step == 0]

    return of


@pytest.mark.parametrize(
    "words, settings",
    [
        ("Hello", {}),
        ("  spaces around \n", {}),
        ("naïve café\n\nü", {}),
        ("Hello", {"think": False}),
        ("Hello", {"think": True}),
    ],
    ids=["plain", "spaces", "accents", "without thoughts", "with thoughts"],
)
def test_ids_are_those_of_apply_chat_template(fed, theirs, words, settings):
    expected = theirs.apply_chat_template(
        [{"role": "user", "content": words}],
        add_generation_prompt=True,
        tokenize=True,
        return_dict=False,
        **settings,
    )
    flags = [
        part
        for key, value in settings.items()
        for part in ("--chat-set", f"{key}={json.dumps(value)}")
    ]
    assert fed("--prompt", words, *flags) == expected


def test_a_built_in_template_is_used_where_it_is_named(fed):
    assert fed("--prompt", "Hello", "--chat-template", "plain") != fed("--prompt", "Hello")


def test_a_run_keeps_its_template_and_refuses_to_go_on_under_another(pardec, special, tmp_path):
    model = copied(tmp_path / "model", special)
    db = tmp_path / "r.sqlite"
    run = (
        "run", "--model", model, "--decoder", "ar", "--dataset", "oa-mine", "--limit", 2,
        "--max-new-tokens", 4, "--db", db,
    )
    pardec.good(*run)
    config = json.loads(query(db, "SELECT config FROM run")[0]["config"])
    assert config["chat_template"] == "checkpoint"
    assert len(config["chat_template_hash"]) == 64
    write_template(model, special, TEMPLATE + "!")
    again = pardec(*run, "--resume")
    assert again.returncode == 2
    assert "chat_template_hash" in again.stderr


@pytest.fixture
def wrong(special, tmp_path):
    """A network with a template that cannot be read."""
    model = copied(tmp_path / "model", special)
    (model / "chat_template.jinja").write_text("a\n{% include 'b' %}")
    return model


def test_a_template_that_cannot_be_read_is_named(pardec, wrong):
    bad = pardec("generate", "--model", wrong, "--prompt", "x")
    assert bad.returncode == 2
    assert "chat_template.jinja, line 2: {% include %} is not supported" in bad.stderr


def test_ids_alone_need_no_template(pardec, wrong):
    words = ["--prompt-tokens", "1,2", "--max-new-tokens", 1]
    assert pardec("generate", "--model", wrong, *words).returncode == 0
