"""Thought before an answer: networks that write given ids one after the other, whose answers are
scored by what stands after the thought.
"""

import json
import shutil

import pytest
from harness import DATA, TINY, TOKENIZER, VOCABULARY, change, query, write_lines
from reference import torch  # first: it skips where there is no transformers
from safetensors.torch import save_file
from tokenizers import Tokenizer

# Marks, and whether the tokenizer's file calls them special (whose text `decode` leaves out).
MARKS = {
    "<think>": False,
    "</think>": False,
    "[THINK]": True,
    "[/THINK]": True,
    "<reflect>": True,
    "</reflect>": True,
}
END = len(MARKS) + VOCABULARY
TEMPLATE = (
    "{% for m in messages %}<{{ m.role }}>\n{{ m.content }}\n{% endfor %}{% if"
    " add_generation_prompt %}<assistant>\n{{ opening }}{% endif %}"
)
SHORT = ["--decoder", "ar", "--max-new-tokens", 40, "--progress", "none", "--warmup", 0]


def network(folder, prompt_end, said, template, limit=None):
    """A checkpoint that writes `said` after a prompt that ends with `prompt_end`: every id is
    followed by one id, whatever stands before.
    """
    folder.mkdir()
    made = json.loads(TOKENIZER.read_text())
    for i, (mark, special) in enumerate([*MARKS.items(), ("<end>", True)]):
        made["added_tokens"].append(
            {
                "id": VOCABULARY + i,
                "content": mark,
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": False,
                "special": special,
            }
        )
    (folder / "tokenizer.json").write_text(json.dumps(made))
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": template}))
    size, width = VOCABULARY + len(MARKS) + 1, 512
    config = {
        **TINY,
        "vocab_size": size,
        "num_hidden_layers": 1,
        "hidden_size": width,
        "intermediate_size": 32,
        "num_attention_heads": 4,
        "num_key_value_heads": 4,
        "head_dim": width // 4,
        "eos_token_id": END,
        "bos_token_id": None,
        "torch_dtype": "float32",
    }
    (folder / "config.json").write_text(json.dumps(config))
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    first = tokenizer.encode(prompt_end, add_special_tokens=False).ids[-1]
    ids = tokenizer.encode(said, add_special_tokens=False).ids + [END]
    chain = [first, *ids[:limit]]
    assert len(set(chain)) == len(chain), f"{said!r} has an id twice: {chain}"
    torch.manual_seed(3)
    rows = torch.nn.functional.normalize(torch.randn(size, width), dim=1)
    head = torch.zeros(size, width)
    for before, after in zip(chain, chain[1:]):
        head[after] += rows[before]
    if limit is not None:  # and on, for ever
        head[chain[-1]] += rows[chain[-1]]
    zeros = {
        "self_attn.q_proj": (width, width),
        "self_attn.k_proj": (width, width),
        "self_attn.v_proj": (width, width),
        "self_attn.o_proj": (width, width),
        "mlp.gate_proj": (32, width),
        "mlp.up_proj": (32, width),
        "mlp.down_proj": (width, 32),
    }
    weights = {
        "model.embed_tokens.weight": rows * width**0.5,
        "lm_head.weight": head,
        "model.norm.weight": torch.ones(width),
    }
    weights |= {
        f"model.layers.0.{name}.weight": torch.zeros(shape) for name, shape in zeros.items()
    }
    weights |= {
        f"model.layers.0.{name}.weight": torch.ones(width)
        for name in ("input_layernorm", "post_attention_layernorm")
    }
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    return folder


OPEN = {"prompt": "Say it.", "references": ["Blue"]}
CHOICE = {
    "text": "The sky.",
    "fields": [{"question": "Colour?", "choices": ["red", "blue"], "references": ["B"]}],
}


def data(folder, *records):
    """A data root of these records."""
    write_lines(folder / "jsonl/test.jsonl", records)
    return folder


@pytest.fixture(scope="module")
def open_data(pardec):
    return data(pardec.folder / "open", OPEN)


def run(pardec, folder, db, root, *flags):
    """Runs on one record; returns its field and its text."""
    pardec.good(
        "run", "--model", folder, "--dataset", "jsonl", "--data-root", root, "--db", db, *SHORT,
        *flags,
    )
    row = query(
        db,
        "SELECT generation.fields, generation.text FROM generation ORDER BY generation.id DESC"
        " LIMIT 1",
    )[0]
    return json.loads(row["fields"])[0], row["text"]


def score(db, metric="exact_match"):
    return query(
        db,
        "SELECT value, version FROM score WHERE metric = ? ORDER BY generation_id DESC, rowid DESC"
        " LIMIT 1",
        metric,
    )[0]


PLAIN = TEMPLATE.replace("{{ opening }}", "")
SAID = {
    "think": "<think>Red? No</think>Blue",
    "special": "[THINK]Red? No[/THINK]Blue",
    "own": "<reflect>Red? No</reflect>Blue",
}


@pytest.fixture(scope="module", params=SAID)
def thinker(request, pardec):
    """What a network writes, with marks of several kinds, and its folder."""
    kind = request.param
    template = PLAIN + ("{# content.split('</reflect>') <reflect> #}" if kind == "own" else "")
    return SAID[kind], network(
        pardec.folder / f"model-{kind}", "<assistant>\n", SAID[kind], template
    )


@pytest.fixture(scope="module")
def thought(pardec, thinker, open_data):
    """The database of its run, its field, its text, and the ids of its thought."""
    said, folder = thinker
    db = pardec.folder / f"{folder.name}.sqlite"
    field, text = run(pardec, folder, db, open_data)
    ids = (
        Tokenizer.from_file(str(folder / "tokenizer.json"))
        .encode(said.removesuffix("Blue"), add_special_tokens=False)
        .ids
    )
    return db, field, text, ids


def test_an_answer_is_stored_as_it_was_generated(thinker, thought):
    _, field, text, ids = thought
    assert field["text"] == text == thinker[0]
    assert field["thought"] == {"tokens": len(ids), "bytes": len(text) - 4}


def test_what_stands_after_the_thought_is_scored(thought):
    assert score(thought[0])["value"] == 1


def test_tokens_of_thought_are_counted_apart_in_the_wide_table(pardec, thought):
    db, _, _, ids = thought
    row = json.loads(pardec.good("compare", "--db", db, "--format", "json"))["rows"][0]
    assert row["thought_tokens"] == len(ids)
    assert row["answer_tokens"] == row["tokens_per_answer"] - len(ids) > 0
    assert "thought tokens" in pardec.good("compare", "--db", db, "--wide")
    assert "thought tokens" not in pardec.good("compare", "--db", db)


def test_a_thought_that_is_kept_is_part_of_the_answer(pardec, thinker, open_data, tmp_path):
    """Also if it is scored again."""
    said, folder = thinker
    db = tmp_path / "kept.sqlite"
    field, _ = run(pardec, folder, db, open_data, "--thinking", "keep")
    before = score(db)
    assert before["value"] == 0
    assert field["text"] == said
    pardec.good("score", "--db", db)
    assert score(db) == before


@pytest.fixture(scope="module")
def thoughtless(pardec):
    """A network that writes an answer alone."""
    return network(pardec.folder / "model-none", "<assistant>\n", "Blue", PLAIN)


def test_an_answer_without_thought_has_no_columns_of_thought(
    pardec, thoughtless, open_data, tmp_path
):
    db = tmp_path / "none.sqlite"
    field, text = run(pardec, thoughtless, db, open_data)
    assert field["text"] == text == "Blue"
    assert score(db)["value"] == 1
    assert "thought" not in field
    assert "thought_tokens" not in pardec.good("compare", "--db", db, "--format", "json")


def test_the_first_line_of_a_value_is_that_after_the_thought(pardec, tmp_path):
    folder = network(tmp_path / "model-value", "<assistant>\n", "<think>Red?\nNo</think>B", PLAIN)
    db = tmp_path / "value.sqlite"
    field, text = run(
        pardec, folder, db, data(tmp_path / "choice", CHOICE), "--set", "ar.ask=separately",
        "--per-field", 30,
    )
    assert field["text"] == "B"
    assert text.startswith("<think>")
    assert field["thought"]["tokens"] > 3
    assert field["thought"]["bytes"] == 0
    pardec.good("score", "--db", db, "--metric", "accuracy")
    assert score(db, "accuracy")["value"] == 1, "its letter is right"
    assert score(db)["value"] == 1


@pytest.mark.parametrize(
    ("opening", "said"),
    [("", "<think>Blue"), ("<think>\n", "Blue")],
    ids=["opened-by-the-answer", "opened-by-the-prompt"],
)
def test_a_thought_without_an_end_is_an_answer_that_hit_its_limit(
    pardec, open_data, tmp_path, opening, said
):
    folder = network(
        tmp_path / "model", "<assistant>\n" + opening, said,
        TEMPLATE.replace("{{ opening }}", opening),
    )
    db = tmp_path / "unclosed.sqlite"
    field, _ = run(pardec, folder, db, open_data)
    assert field["stop"] == "eos"
    assert field["thought"]["open"] is True
    assert score(db)["value"] == 0
    assert score(db, "token_f1")["value"] == 0
    assert (
        json.loads(pardec.good("compare", "--db", db, "--format", "json"))["rows"][0]["hit_limit"]
        == 1
    )


def test_a_thought_that_the_prompt_opened_may_end_in_the_answer(pardec, open_data, tmp_path):
    folder = network(
        tmp_path / "model",
        "<think>\n",
        "Red?</think>Blue",
        TEMPLATE.replace("{{ opening }}", "<think>\n"),
    )
    db = tmp_path / "prompted.sqlite"
    field, _ = run(pardec, folder, db, open_data)
    assert score(db)["value"] == 1
    assert field["thought"]["bytes"] == len("Red?</think>")


VARIABLES = {
    "enable_thinking=false": "enable_thinking is not defined or enable_thinking",
    "thinking=false": "thinking is not defined or thinking",
    "disable_reasoning=true": "not disable_reasoning",
    "thinking_budget=0": "thinking_budget is not defined or thinking_budget > 0",
}


@pytest.mark.parametrize("value", VARIABLES)
def test_thinking_is_turned_off_by_the_variable_of_the_template(pardec, open_data, tmp_path, value):
    opening = "{% if VARIABLE %}<think>\n{% else %}<think></think>\n{% endif %}".replace(
        "VARIABLE", VARIABLES[value]
    )
    folder = network(
        tmp_path / "model", "</think>\n", "Blue", TEMPLATE.replace("{{ opening }}", opening)
    )
    db = tmp_path / "off.sqlite"
    field, text = run(pardec, folder, db, open_data, "--thinking", "off")
    assert text == "Blue"
    assert "thought" not in field
    assert score(db)["value"] == 1
    assert json.loads(query(db, "SELECT config FROM run")[0]["config"])["thinking"] == "off"
    # The variable is what the flag sets.
    run(pardec, folder, tmp_path / "set.sqlite", open_data, "--chat-set", value)
    assert score(tmp_path / "set.sqlite")["value"] == 1


def test_a_template_without_thought_needs_no_variable(pardec, thoughtless, open_data, tmp_path):
    assert (
        run(pardec, thoughtless, tmp_path / "off.sqlite", open_data, "--thinking", "off")[1]
        == "Blue"
    )


def test_a_template_with_thought_and_no_variable_cannot_turn_it_off(pardec, open_data, tmp_path):
    folder = network(
        tmp_path / "model",
        "<assistant>\n",
        "Blue",
        PLAIN + "{# #}{% if '</think>' in messages[0].content %}{% endif %}",
    )
    ran = pardec(
        "run", "--model", folder, "--dataset", "jsonl", "--data-root", open_data, "--db",
        "x.sqlite", *SHORT, "--thinking", "off",
    )
    assert ran.returncode == 2, ran.stderr
    assert "--thinking off: " in ran.stderr
    assert "--chat-set" in ran.stderr


def test_an_unknown_way_of_thinking_is_refused(pardec, thoughtless, open_data):
    ran = pardec(
        "run", "--model", thoughtless, "--dataset", "jsonl", "--data-root", open_data, "--db",
        "x.sqlite", *SHORT, "--thinking", "never",
    )
    assert ran.returncode == 2, ran.stderr
    assert "--thinking is 'never', expected keep, strip or off" in ran.stderr


SOLUTION = "<|begin_of_thought|>red<|end_of_thought|>\n\n<|begin_of_solution|>"
# Answers without a record of their thought, and whether the reference stands after it.
STORED = {
    "<think>red</think>Blue": 1,
    "<think>\nred\n</think>\n\nBlue": 1,
    "[THINK]red[/THINK]Blue": 1,
    "<seed:think>red</seed:think>Blue": 1,
    "red</think>Blue": 1,
    "<|START_THINKING|>red<|END_THINKING|>Blue": 1,
    "◁think▷red◁/think▷Blue": 1,
    "<think>a</think><think>b</think>Blue": 1,
    "Well.\n<think>a</think>\nBlue": 1,
    "<think>Blue": 0,
    "<think>red</think>": 0,
    "<thinking>red</thinking>Blue": 1,
    "<think>a <think>b</think> c</think>Blue": 1,
    "<think>I close it by </think>. red</think>\n\nBlue": 1,
    '<think>red</think>{"a": "</think>Blue"}': 0,
    "Here's my thought process:\nred\nHere's my response:\nBlue": 1,
    "<think>red</think>\n<answer>\nBlue\n</answer>": 1,
    "<think>red</think><answer>Blue": 1,
    "<answer>Blue</answer>": 0,
    "<think>red</think><answer>Blue</answer> or red": 0,
    f"{SOLUTION}\n\nBlue\n\n<|end_of_solution|>": 1,
    "<|START_THINKING|>red<|END_THINKING|><|START_RESPONSE|>Blue<|END_RESPONSE|>": 1,
    "<thinking>red</thinking><output>Blue</output>": 1,
    "Here is my thought process: red. Here is my response: Blue": 1,
    '{"a": "</think>Blue"}': 0,
    "Blue": 1,
    "Blue </think": 0,
}


def test_answers_that_were_stored_before_thoughts_were_are_read_by_the_marks_of_published_families(
    pardec, thoughtless, tmp_path
):
    """The score's version says so."""
    db = tmp_path / "before.sqlite"
    field, _ = run(pardec, thoughtless, db, data(tmp_path / "many", *([OPEN] * len(STORED))))
    generations = query(db, "SELECT id FROM generation ORDER BY id")
    for generation, text in zip(generations, STORED, strict=True):
        change(
            db,
            "UPDATE generation SET fields = ? WHERE id = ?",
            json.dumps([{**field, "text": text}]),
            generation["id"],
        )
    pardec.good("score", "--db", db)
    newest = {
        row["generation_id"]: row
        for row in query(
            db,
            "SELECT generation_id, value, version FROM score WHERE metric = 'exact_match' ORDER BY"
            " rowid",
        )
    }
    for generation, (text, right) in zip(generations, STORED.items(), strict=True):
        row = newest[generation["id"]]
        assert (row["value"], row["version"]) == (right, "3"), text


def cases():
    """The folder of the shared cases."""
    folder = DATA.parent / "cases"
    return folder if folder.is_dir() else pytest.skip(f"not done here: {folder} is missing")


def test_letters_after_a_thought_are_read(pardec, thoughtless, tmp_path):
    folder, db = cases() / "19-letters", tmp_path / "letters.sqlite"
    records = (folder / "jsonl/test.jsonl").read_text().splitlines()
    run(pardec, thoughtless, db, folder, "--set", "ar.ask=separately")
    given = {key: text for key, text, _ in json.loads((folder / "answers.json").read_text())}
    for row in query(
        db,
        "SELECT generation.id, generation.fields, sample.key FROM generation JOIN sample ON"
        " sample.id = sample_id",
    ):
        field = json.loads(row["fields"])[0]
        field.pop("no_value", None)
        change(
            db,
            "UPDATE generation SET fields = ? WHERE id = ?",
            json.dumps([{**field, "text": given.get(row["key"], "B")}]),
            row["id"],
        )
    rows = json.loads(pardec.good("score", "--db", db, "--metric", "accuracy", "--format", "json"))[
        "rows"
    ]
    assert rows[0]["score"] == 1
    assert rows[0]["n"] == len(records)


@pytest.mark.skipif(
    not shutil.which("bwrap"), reason="not done here: bwrap is missing (Debian package bubblewrap)"
)
def test_code_after_a_thought_is_run(pardec, thoughtless, tmp_path):
    given, db = (
        json.loads((cases() / "18-code-of-an-answer/answers.json").read_text()),
        tmp_path / "code.sqlite",
    )
    run(pardec, thoughtless, db, data(tmp_path / "code", *([OPEN] * len(given))))
    change(
        db,
        "UPDATE sample SET text = ?, fields = json_set(fields, '$[0].test', ?)",
        'def count_vowels(text: str) -> int:\n    """How many vowels."""\n',
        "assert count_vowels('abcde') == 2\nassert count_vowels('') == 0\n",
    )
    for row, (_, text, _) in zip(query(db, "SELECT id, fields FROM generation ORDER BY id"), given):
        change(
            db,
            "UPDATE generation SET fields = ? WHERE id = ?",
            json.dumps([{**json.loads(row["fields"])[0], "text": text}]),
            row["id"],
        )
    pardec.good("score", "--db", db, "--metric", "pass_at_k")
    values = query(
        db, "SELECT value, version FROM score WHERE metric = 'passed' ORDER BY generation_id"
    )
    for (what, *_), value in zip(given, values, strict=True):
        assert value["value"] == ("must fail" not in what), what
        assert value["version"] == "3", what
