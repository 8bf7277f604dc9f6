"""What a network is asked: nothing of a Job is left out, no turn stands twice, and prompts are worded as the network was taught.

Usage: prompts_test.py PROGRAM
"""
import json
import shutil
import sys

from harness import ROOT, TOKENIZER, Checks, query, records, scratch, write_lines

try:
    from tokenizers import Tokenizer
except ImportError as error:
    print(f"[skipped] {error}")
    sys.exit(77)

IDS = Tokenizer.from_file(str(TOKENIZER))
DECODERS = [("ar", ()), ("ar", ("--set", "ar.ask=separately")), ("hpd", ()), ("ippd", ()), ("skeleton-of-thought", ())]


def text_of(ids):
    return IDS.decode(ids, skip_special_tokens=False)


def asked(pardec, *flags):
    """What was fed in the first pass, request by request, and the answers."""
    answer = pardec.good("generate", "--trace", "t.jsonl", "--format", "json", "--max-new-tokens", 3, "--per-field", 3, *flags)
    traces = [json.loads(line) for line in (pardec.folder / "t.jsonl").read_text().splitlines()]
    prompts = [[token for token, step in zip(t["tokens"], t["step"]) if step == 0] for t in traces]
    return prompts, [json.loads(line) for line in answer.splitlines()]


def jobs(check, pardec, model):
    """Every shape of fields, with and without an instruction, through every way of asking."""
    choices = ["in the red box", "under a stone"]
    shapes = {"questions": [{"question": "Who came first?"}, {"question": "Where is it?"}],
              "named questions": [{"name": "winner", "question": "Who came first?"}, {"name": "place", "question": "Where is it?"}],
              "names": [{"name": "winner"}, {"name": "place"}],
              "mixed": [{"name": "winner"}, {"question": "Where is it?"}],
              "choices": [{"question": "Where is it?", "choices": choices}, {"question": "Where was it?", "choices": choices}],
              "named choices": [{"name": "place", "choices": choices}, {"name": "other", "choices": choices}]}
    for shape, fields in shapes.items():
        for instruction in ({}, {"instruction": "Do as you are told."}):
            job = {**instruction, "contexts": [{"text": "A tale.", "fields": fields}]}
            (pardec.folder / "job.json").write_text(json.dumps(job))
            for decoder, sets in DECODERS:
                prompts, answers = asked(pardec, "--model", model, "--job", "job.json", "--decoder", decoder, *sets)
                told = " ".join(text_of(prompt) for prompt in prompts)
                what = f"{shape}, {instruction}, {decoder} {sets}"
                wanted = ["A tale.", *instruction.values()] + [f[key] for f in fields for key in ("name", "question") if key in f]
                wanted += [choice for f in fields for choice in f.get("choices", [])]
                if decoder == "skeleton-of-thought" and shape == "named questions":
                    wanted = [w for w in wanted if w not in ("winner", "place")]  # its own requests hold the question alone
                check(all(part in told for part in wanted), f"{what}: {[part for part in wanted if part not in told]} is left out of {told!r}")
                keys = [a["field"] for a in answers[0]["answers"]]
                check(keys == [f.get("name") or f"q{n}" for n, f in enumerate(fields, 1)], f"{what}: keys {keys}")
                check('"":' not in told, f"{what}: a key is empty in {told!r}")
    (pardec.folder / "job.json").write_text(json.dumps({"shots": [{"context": "c", "answer": "a"}], "contexts": [{"text": "", "fields": [{"question": "x"}]}]}))
    ran = pardec("generate", "--model", model, "--job", "job.json", "--prompt-file", "open")
    check(ran.returncode == 2 and "no [shot] section" in ran.stderr, f"worked examples without a wording: {ran.stderr}")


def records_of_ones_own(check, pardec, model):
    """Two fields of one name are an error with its line; choices beside a name are asked."""
    text = {"text": "A tale.", "fields": [{"name": "place", "choices": ["here", "there"], "references": ["here"]}]}
    write_lines(pardec.folder / "own/jsonl/test.jsonl", [text])
    plan = json.loads(pardec.good("run", "--model", model, "--decoder", "ippd", "--dataset", "jsonl", "--data-root", "own", "--dry-run", "--format", "json"))
    check(plan["rows"][0]["form"] == "value", f"a name with choices: {plan}")
    pardec.good("run", "--model", model, "--decoder", "ar", "--set", "ar.ask=separately", "--dataset", "jsonl", "--data-root", "own", "--db", "own.sqlite", "--trace",
                "own.trace", "--progress", "none", "--max-new-tokens", 2, "--per-field", 2)
    trace = json.loads((pardec.folder / "own.trace").read_text().splitlines()[0])
    check("A. here\nB. there" in text_of(trace["tokens"]), f"choices of a name alone: {text_of(trace['tokens'])!r}")
    for fields in ([{"name": "a"}, {"name": "a"}], [{"name": "q2", "question": "x"}, {"question": "y"}]):
        write_lines(pardec.folder / "twice/jsonl/test.jsonl", [text, {"text": "t", "fields": fields}])
        ran = pardec("run", "--model", model, "--decoder", "ar", "--dataset", "jsonl", "--data-root", "twice", "--db", "twice.sqlite")
        check(ran.returncode == 2 and "test.jsonl:2" in ran.stderr and "expected one name each" in ran.stderr, f"{fields}: {ran.stderr}")


def open_prompts(check, pardec, model):
    """An empty prompt is one; white space is kept; a conversation says each turn once."""
    for words in ("", " ", "\n\n", " \t x \n"):
        prompts, _ = asked(pardec, "--model", model, "--prompt", words)
        check(text_of(prompts[0]) == words + "\n", f"{words!r}: {text_of(prompts[0])!r}")
    (pardec.folder / "bare").mkdir()
    shutil.copytree(model, pardec.folder / "bare", dirs_exist_ok=True)
    (pardec.folder / "bare" / "chat_template.jinja").write_text("{{ messages[-1].content }}")
    ran = pardec("generate", "--model", "bare", "--prompt", "")
    check(ran.returncode == 2 and "no token" in ran.stderr, f"a prompt of no ids: {ran.stderr}")
    turns = ["One, please.", "And two?", "Why three?"]
    (pardec.folder / "talk.json").write_text(json.dumps({"conversation": True, "contexts": [{"text": "", "fields": [{"question": turn} for turn in turns]}]}))
    for decoder in ("ar", "ippd", "skeleton-of-thought"):
        for template in ("plain", "chatml"):
            prompts, answers = asked(pardec, "--model", model, "--job", "talk.json", "--decoder", decoder, "--chat-template", template)
            for prompt in prompts:
                told = text_of(prompt)
                check(all(told.count(turn) <= 1 for turn in turns), f"{decoder}, {template}: a turn stands twice in {told!r}")
                check(template == "plain" or told.count("<|im_start|>user") == sum(turn in told for turn in turns),
                      f"{decoder}: markup of all turns stands in {told!r}")
            check(all(any(turn in text_of(prompt) for prompt in prompts) for turn in turns), f"{decoder}, {template}: a turn is missing")


def taught(check, pardec):
    """What `train` was told about prompts is what `run` and `generate` take; anything else is said."""
    config = json.loads((ROOT / "experiments/quickstart/model.json").read_text())
    config.update(hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=1, head_dim=16)
    (pardec.folder / "small.json").write_text(json.dumps(config))
    write_lines(pardec.folder / "data/jsonl/train.jsonl",
                [{"text": r["input"], "category": "all", "fields": [{"name": "Brand", "references": ["x"]}]} for r in records("oa-mine", "train")[:6]])
    shutil.copy(pardec.folder / "data/jsonl/train.jsonl", pardec.folder / "data/jsonl/test.jsonl")
    wording = "[instruction]\nTell {fields}.\n[context]\n<<{text}>>\n[field]\n{name}?\n[answer json]\nMy own words.\n"
    (pardec.folder / "mine.txt").write_text(wording)
    train = ("train", "--dataset", "jsonl", "--data-root", "data", "--format", "ar", "--steps", 1, "--validation", 0, "--threads", 1, "--progress", "none")
    pardec.good(*train, "--model", "small.json", "--prompt-file", "mine.txt", "--chat-template", "chatml", "--out", "net")
    record = json.loads((pardec.folder / "net/training.json").read_text())
    check(record["settings"]["chat_template"] == "chatml" and len(record["chat_template_sha256"]) == 64, f"the record: {record['settings']}")
    check((pardec.folder / "net/prompts/attributes.txt").read_text() == wording, "the wording lies where run looks for it")

    run = ("run", "--model", "net", "--decoder", "ar", "--dataset", "jsonl", "--data-root", "data", "--limit", 2, "--max-new-tokens", 2, "--progress", "none")

    def run_of(name, *flags, model="net"):
        ran = pardec(*[model if a == "net" else a for a in run], "--db", f"{name}.sqlite", "--trace", f"{name}.jsonl", *flags)
        check(ran.returncode == 0, f"{name}: {ran.stderr}")
        trace = json.loads((pardec.folder / f"{name}.jsonl").read_text().splitlines()[0])
        return text_of(trace["tokens"]), ran.stderr, json.loads(query(pardec.folder / f"{name}.sqlite", "SELECT config FROM run")[0]["config"])

    told, said, kept = run_of("same")
    check("My own words." in told and "<|im_start|>user" in told and kept["chat_template"] == "chatml", f"as it was taught: {told!r}, {kept}")
    check("trained with" not in said and "taught_otherwise" not in kept, f"nothing to be said: {said}")
    told, said, kept = run_of("plain", "--chat-template", "plain")
    check("trained with chat template chatml" in said and "chatml" in kept["taught_otherwise"] and "<|im_start|>" not in told, f"another template: {said}, {kept}")
    positions = [json.loads(pardec.good(*run, "--dry-run", "--format", "json", *flags))["rows"][0]["positions"]
                 for flags in ([], ["--chat-template", "chatml"], ["--chat-template", "plain"])]
    check(positions[0] == positions[1] != positions[2], f"--dry-run counts the prompts that are asked: {positions}")
    told, said, kept = run_of("words", "--prompt-file", "attributes")
    check("another wording" in said and "another wording" in kept["taught_otherwise"], f"another wording: {said}, {kept}")
    prompts, _ = asked(pardec, "--model", "net", "--prompt", "Hi")
    check(text_of(prompts[0]) == "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n", f"generate takes it, too: {text_of(prompts[0])!r}")
    ran = pardec("generate", "--model", "net", "--prompt", "Hi", "--chat-template", "llama-3", "--max-new-tokens", 1)
    check("trained with chat template chatml" in ran.stderr, f"generate says it: {ran.stderr}")

    # Trained on: the template that it was taught, or that the checkpoint has as its own.
    pardec.good(*train, "--model", "net", "--out", "more")
    check(json.loads((pardec.folder / "more/training.json").read_text())["settings"]["chat_template"] == "chatml", "training on keeps the template")
    told, said, _ = run_of("more", model="more")
    check("My own words." in told and "<|im_start|>user" in told and "trained with" not in said, f"training on: {told!r}, {said}")
    shutil.copytree(pardec.folder / "net", pardec.folder / "foreign")
    (pardec.folder / "foreign/training.json").unlink()
    (pardec.folder / "foreign/chat_template.jinja").write_text("{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}[answer]")
    pardec.good(*train, "--model", "foreign", "--out", "own")
    told, said, kept = run_of("of its own", model="own")
    check("[user]Tell" in told and kept["chat_template"] == "checkpoint" and "trained with" not in said, f"a template of its own: {told!r}, {said}")
    (pardec.folder / "own/chat_template.jinja").write_text("{% for m in messages %}({{ m.role }}){{ m.content }}{% endfor %}")
    _, said, _ = run_of("changed", model="own")
    check("of another text" in said, f"a template that was changed: {said}")


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        model = pardec.synthesise("net0", vocab_size=4096)
        shutil.copy(TOKENIZER, model / "tokenizer.json")
        jobs(check, pardec, model)
        records_of_ones_own(check, pardec, model)
        open_prompts(check, pardec, model)
        taught(check, pardec)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
