"""Thought before an answer: networks that write given ids one after the other, whose answers are scored by what stands after the thought."""
import json
import pathlib
import shutil
import sys

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer

from harness import DATA, TINY, TOKENIZER, VOCABULARY, Checks, change, query, scratch, write_lines

# Marks, and whether the tokenizer's file calls them special (whose text `decode` leaves out).
MARKS = {"<think>": False, "</think>": False, "[THINK]": True, "[/THINK]": True, "<reflect>": True, "</reflect>": True}
END = len(MARKS) + VOCABULARY
TEMPLATE = "{% for m in messages %}<{{ m.role }}>\n{{ m.content }}\n{% endfor %}{% if add_generation_prompt %}<assistant>\n{{ opening }}{% endif %}"
SHORT = ["--decoder", "ar", "--max-new-tokens", 40, "--progress", "none", "--warmup", 0]


def network(folder, prompt_end, said, template, limit=None):
    """A checkpoint that writes `said` after a prompt that ends with `prompt_end`: every id is followed by one id, whatever stands before."""
    folder.mkdir()
    made = json.loads(TOKENIZER.read_text())
    for i, (mark, special) in enumerate([*MARKS.items(), ("<end>", True)]):
        made["added_tokens"].append({"id": VOCABULARY + i, "content": mark, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": special})
    (folder / "tokenizer.json").write_text(json.dumps(made))
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": template}))
    size, width = VOCABULARY + len(MARKS) + 1, 512
    config = {**TINY, "vocab_size": size, "num_hidden_layers": 1, "hidden_size": width, "intermediate_size": 32, "num_attention_heads": 4, "num_key_value_heads": 4,
              "head_dim": width // 4, "eos_token_id": END, "bos_token_id": None, "torch_dtype": "float32"}
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
    zeros = {"self_attn.q_proj": (width, width), "self_attn.k_proj": (width, width), "self_attn.v_proj": (width, width), "self_attn.o_proj": (width, width),
             "mlp.gate_proj": (32, width), "mlp.up_proj": (32, width), "mlp.down_proj": (width, 32)}
    weights = {"model.embed_tokens.weight": rows * width ** .5, "lm_head.weight": head, "model.norm.weight": torch.ones(width)}
    weights |= {f"model.layers.0.{name}.weight": torch.zeros(shape) for name, shape in zeros.items()}
    weights |= {f"model.layers.0.{name}.weight": torch.ones(width) for name in ("input_layernorm", "post_attention_layernorm")}
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    return folder


def data(pardec, name, record):
    write_lines(pardec.folder / name / "jsonl/test.jsonl", [json.dumps(record)] if isinstance(record, dict) else [json.dumps(r) for r in record])
    return pardec.folder / name


OPEN = {"prompt": "Say it.", "references": ["Blue"]}
CHOICE = {"text": "The sky.", "fields": [{"question": "Colour?", "choices": ["red", "blue"], "references": ["B"]}]}


def run(pardec, folder, db, root, *flags):
    pardec.good("run", "--model", folder, "--dataset", "jsonl", "--data-root", root, "--db", db, *SHORT, *flags)
    row = query(db, "SELECT generation.fields, generation.text FROM generation ORDER BY generation.id DESC LIMIT 1")[0]
    return json.loads(row["fields"])[0], row["text"]


def score(db, metric="exact_match"):
    return query(db, "SELECT value, version FROM score WHERE metric = ? ORDER BY generation_id DESC, rowid DESC LIMIT 1", metric)[0]


def generated(check, pardec):
    """Answers as they were generated, and scores of what stands after the thought; marks of several kinds."""
    open_data = data(pardec, "open", OPEN)
    plain = TEMPLATE.replace("{{ opening }}", "")
    kinds = {"think": "<think>Red? No</think>Blue", "special": "[THINK]Red? No[/THINK]Blue", "own": "<reflect>Red? No</reflect>Blue", "none": "Blue"}
    for kind, said in kinds.items():
        template = plain + ("{# content.split('</reflect>') <reflect> #}" if kind == "own" else "")
        folder = network(pardec.folder / f"model-{kind}", "<assistant>\n", said, template)
        db = pardec.folder / f"{kind}.sqlite"
        field, text = run(pardec, folder, db, open_data)
        check(field["text"] == text == said, f"{kind}: stored as it was generated: {field}, {text!r}")
        thought = field.get("thought")
        check(score(db)["value"] == 1, f"{kind}: what stands after the thought counts: {score(db)}")
        if kind == "none":
            check(thought is None, f"no thought: {field}")
            check("thought_tokens" not in pardec.good("compare", "--db", db, "--format", "json"), "no columns without thought")
            continue
        tokens = Tokenizer.from_file(str(folder / "tokenizer.json")).encode(said.removesuffix("Blue"), add_special_tokens=False).ids
        check(thought == {"tokens": len(tokens), "bytes": len(said) - 4}, f"{kind}: {thought}, expected {len(tokens)} tokens")
        row = json.loads(pardec.good("compare", "--db", db, "--format", "json"))["rows"][0]
        check(row["thought_tokens"] == len(tokens) and row["answer_tokens"] == row["tokens_per_answer"] - len(tokens) > 0, f"{kind}: tokens apart: {row}")
        check("thought tokens" in pardec.good("compare", "--db", db, "--wide") and "thought tokens" not in pardec.good("compare", "--db", db), "in the wide table alone")
        kept = pardec.folder / f"{kind}-kept.sqlite"
        field, _ = run(pardec, folder, kept, open_data, "--thinking", "keep")
        check(score(kept)["value"] == 0 and field["text"] == said, f"{kind} kept: the thought is part of the answer")
        before = score(kept)
        pardec.good("score", "--db", kept)
        check(score(kept) == before, f"{kind} kept: so it stays when it is scored again")


def asked_singly(check, pardec):
    """A value's first line is that after the thought."""
    folder = network(pardec.folder / "model-value", "<assistant>\n", "<think>Red?\nNo</think>B", TEMPLATE.replace("{{ opening }}", ""))
    db = pardec.folder / "value.sqlite"
    field, text = run(pardec, folder, db, data(pardec, "choice", CHOICE), "--set", "ar.ask=separately", "--per-field", 30)
    check(field["text"] == "B" and text.startswith("<think>") and field["thought"]["tokens"] > 3 and field["thought"]["bytes"] == 0, f"a value after thought: {field}, {text!r}")
    pardec.good("score", "--db", db, "--metric", "accuracy")
    check(score(db, "accuracy")["value"] == 1 and score(db)["value"] == 1, "its letter is right")


def unclosed(check, pardec):
    """A thought without an end is an answer that hit its limit."""
    open_data = data(pardec, "unclosed", [OPEN] * 1)
    for kind, opening, said in (("own", "", "<think>Blue"), ("prompted", "<think>\n", "Blue")):
        folder = network(pardec.folder / f"model-unclosed-{kind}", "<assistant>\n" + opening, said, TEMPLATE.replace("{{ opening }}", opening))
        db = pardec.folder / f"unclosed-{kind}.sqlite"
        field, _ = run(pardec, folder, db, open_data)
        check(field["stop"] == "eos" and field["thought"]["open"] is True, f"{kind}: {field}")
        check(score(db)["value"] == 0 and score(db, "token_f1")["value"] == 0, f"{kind}: no answer")
        row = json.loads(pardec.good("compare", "--db", db, "--format", "json"))["rows"][0]
        check(row["hit_limit"] == 1, f"{kind}: hit its limit: {row}")
    # A prompt that opened the thought, and an answer that ends it.
    folder = network(pardec.folder / "model-prompted", "<think>\n", "Red?</think>Blue", TEMPLATE.replace("{{ opening }}", "<think>\n"))
    db = pardec.folder / "prompted.sqlite"
    field, _ = run(pardec, folder, db, open_data)
    check(score(db)["value"] == 1 and field["thought"]["bytes"] == len("Red?</think>"), f"opened by the prompt: {field}")


def off(check, pardec):
    """The template's own variable; a template that has none."""
    open_data = data(pardec, "off", OPEN)
    opening = "{% if VARIABLE %}<think>\n{% else %}<think></think>\n{% endif %}"
    for variable, value in (("enable_thinking is not defined or enable_thinking", "enable_thinking=false"), ("thinking is not defined or thinking", "thinking=false"),
                            ("not disable_reasoning", "disable_reasoning=true"), ("thinking_budget is not defined or thinking_budget > 0", "thinking_budget=0")):
        name = value.split("=")[0]
        folder = network(pardec.folder / f"model-{name}", "</think>\n", "Blue", TEMPLATE.replace("{{ opening }}", opening.replace("VARIABLE", variable)))
        db = pardec.folder / f"{name}.sqlite"
        field, text = run(pardec, folder, db, open_data, "--thinking", "off")
        check(text == "Blue" and "thought" not in field and score(db)["value"] == 1, f"{name}: {field}")
        config = json.loads(query(db, "SELECT config FROM run")[0]["config"])
        check(config["thinking"] == "off", f"the run says so: {config}")
        pardec.good("run", "--model", folder, "--dataset", "jsonl", "--data-root", open_data, "--db", pardec.folder / "set.sqlite", *SHORT, "--chat-set", value)
        check(score(pardec.folder / "set.sqlite")["value"] == 1, f"{value} is what it sets")
    plain = TEMPLATE.replace("{{ opening }}", "")
    folder = network(pardec.folder / "model-no-thought", "<assistant>\n", "Blue", plain)
    run(pardec, folder, pardec.folder / "no-thought.sqlite", open_data, "--thinking", "off")
    folder = network(pardec.folder / "model-no-variable", "<assistant>\n", "Blue", plain + "{# #}{% if '</think>' in messages[0].content %}{% endif %}")
    ran = pardec("run", "--model", folder, "--dataset", "jsonl", "--data-root", open_data, "--db", "x.sqlite", *SHORT, "--thinking", "off")
    check(ran.returncode == 2 and "--thinking off: " in ran.stderr and "--chat-set" in ran.stderr, f"no variable: {ran.stderr}")
    ran = pardec("run", "--model", folder, "--dataset", "jsonl", "--data-root", open_data, "--db", "x.sqlite", *SHORT, "--thinking", "never")
    check(ran.returncode == 2 and "--thinking is 'never', expected keep, strip or off" in ran.stderr, f"no such: {ran.stderr}")


def stored_before(check, pardec):
    """Answers that were stored before thoughts were: score reads them by the marks of published families, and says so by its version."""
    folder = pardec.folder / "model-none"
    db = pardec.folder / "before.sqlite"
    run(pardec, folder, db, pardec.folder / "open")
    generation = query(db, "SELECT id, fields FROM generation")[0]
    field = json.loads(generation["fields"])[0]
    cases = {"<think>red</think>Blue": 1, "<think>\nred\n</think>\n\nBlue": 1, "[THINK]red[/THINK]Blue": 1, "<seed:think>red</seed:think>Blue": 1, "red</think>Blue": 1, "<|START_THINKING|>red<|END_THINKING|>Blue": 1,
             "◁think▷red◁/think▷Blue": 1, "<think>a</think><think>b</think>Blue": 1, "Well.\n<think>a</think>\nBlue": 1, "<think>Blue": 0, "<think>red</think>": 0, "<thinking>red</thinking>Blue": 1,
             "<think>a <think>b</think> c</think>Blue": 1, "<think>I close it by </think>. red</think>\n\nBlue": 1, "<think>red</think>{\"a\": \"</think>Blue\"}": 0, "Here's my thought process:\nred\nHere's my response:\nBlue": 1,
             "<think>red</think>\n<answer>\nBlue\n</answer>": 1, "<think>red</think><answer>Blue": 1, "<answer>Blue</answer>": 0, "<think>red</think><answer>Blue</answer> or red": 0, "<|begin_of_thought|>red<|end_of_thought|>\n\n<|begin_of_solution|>\n\nBlue\n\n<|end_of_solution|>": 1,
             "<|START_THINKING|>red<|END_THINKING|><|START_RESPONSE|>Blue<|END_RESPONSE|>": 1, "<thinking>red</thinking><output>Blue</output>": 1,
             "Here is my thought process: red. Here is my response: Blue": 1, '{"a": "</think>Blue"}': 0, "Blue": 1, "Blue </think": 0}
    for text, right in cases.items():
        change(db, "UPDATE generation SET fields = ? WHERE id = ?", json.dumps([{**field, "text": text}]), generation["id"])
        pardec.good("score", "--db", db)
        got = score(db)
        check(got == {"value": right, "version": "3"}, f"{text!r}: {got}, expected {right}")


def code_and_letters(check, pardec):
    """The cases of others with a draft in thought."""
    cases = DATA.parent / "cases"
    if not cases.is_dir():
        print(f"not tried: no folder {cases}")
        return
    folder = pardec.folder / "model-none"
    db = pardec.folder / "letters.sqlite"
    shutil.copytree(cases / "19-letters", pardec.folder / "letters")
    records = [json.loads(line) for line in (cases / "19-letters/jsonl/test.jsonl").read_text().splitlines()]
    pardec.good("run", "--model", folder, "--dataset", "jsonl", "--data-root", pardec.folder / "letters", "--db", db, *SHORT, "--set", "ar.ask=separately")
    given = {key: text for key, text, _ in json.loads((cases / "19-letters/answers.json").read_text())}
    for row in query(db, "SELECT generation.id, generation.fields, sample.key FROM generation JOIN sample ON sample.id = sample_id"):
        field = json.loads(row["fields"])[0]
        field.pop("no_value", None)
        change(db, "UPDATE generation SET fields = ? WHERE id = ?", json.dumps([{**field, "text": given.get(row["key"], "B")}]), row["id"])
    rows = json.loads(pardec.good("score", "--db", db, "--metric", "accuracy", "--format", "json"))["rows"]
    check(rows[0]["score"] == 1 and rows[0]["n"] == len(records), f"all letters: {rows}")
    if not shutil.which("bwrap"):
        print("not tried: bwrap is missing (Debian package bubblewrap)")
        return
    db = pardec.folder / "code.sqlite"
    answers = json.loads((cases / "18-code-of-an-answer/answers.json").read_text())
    run(pardec, folder, db, data(pardec, "code", [OPEN] * len(answers)))
    change(db, "UPDATE sample SET text = ?, fields = json_set(fields, '$[0].test', ?)", 'def count_vowels(text: str) -> int:\n    """How many vowels."""\n', "assert count_vowels('abcde') == 2\nassert count_vowels('') == 0\n")
    for row, (_, text, _) in zip(query(db, "SELECT id, fields FROM generation ORDER BY id"), answers):
        change(db, "UPDATE generation SET fields = ? WHERE id = ?", json.dumps([{**json.loads(row["fields"])[0], "text": text}]), row["id"])
    pardec.good("score", "--db", db, "--metric", "pass_at_k")
    values = query(db, "SELECT value, version, details FROM score WHERE metric = 'passed' ORDER BY generation_id")
    for (what, *_), value in zip(answers, values):
        check(value["value"] == ("must fail" not in what) and value["version"] == "3", f"{what}: {value}")


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        for part in (generated, asked_singly, unclosed, off, stored_before, code_and_letters):
            part(check, pardec)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
