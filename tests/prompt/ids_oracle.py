"""Prompt ids against transformers' `apply_chat_template`: open prompts, and every turn of conversations.

usage: ids_oracle.py PROBE

MT-Bench (both turns, behind its reference answers), Vicuna Bench and HumanEval-X where they are, else the project's samples, and 200 generated
conversations, through the built-in templates and checkpoints with a template of their own, SmolLM2 among them where it is. A first turn has transformers' ids. A later one keeps the
ids of the answers before it: it has transformers' ids unless a token of these reaches over an answer's end, and those turns are counted by pardec.
"""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "cli"), str(ROOT / "tests" / "jinja")]
import reference  # noqa: F401: transformers, offline and quiet
from harness import DATA, SAMPLES, SMOLLM2, Checks
from jinja_oracle import TEMPLATES, WORDS
from transformers import AutoTokenizer, PreTrainedTokenizerFast

BUILT_IN = ["plain", "chatml", "llama-2", "llama-3", "phi-4", "vicuna"]
# Tokenizers, the built-in templates that they are held against, and those that checkpoints with them have as their own.
HELD = {"quickstart": ["plain", "chatml"], "llama-2": BUILT_IN, "qwen": BUILT_IN}
OWN = {"quickstart": ["chatml"], "llama-2": ["llama2", "vicuna"], "qwen": ["qwen25"]}
# Where an answer ends before a token of its own that is added to the vocabulary, hardly any turn departs.
CUT_CLEAN = [("quickstart", "chatml"), ("qwen", "chatml"), ("qwen", "qwen25"), ("llama-2", "llama-2"), ("llama-2", "vicuna"), ("llama-2", "llama2"),
             ("smollm2", "own")]
SENTENCES = ["A market in the rain is quiet.", "First, boil the water.\n\n1. Add salt\n2. Stir", "```python\nreturn x\n```", "Yes", "42.", "Ça va, merci!",
             "日本語の文です。", "So: a, b and c", "No :)"]


def records(name, file, sample):
    path = DATA / name / file
    path = path if path.exists() else next((SAMPLES / sample).iterdir())
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def conversations(rng):
    """(system, turns, answers): an answer stands between two turns."""
    answers = {record["question_id"]: record["choices"][0]["turns"] for record in records("mt_bench", "reference_answer.jsonl", "mt-bench") if "choices" in record}
    for record in records("mt_bench", "question.jsonl", "mt-bench"):
        turns = record["turns"]
        said = [answer.strip() for answer in answers.get(record["question_id"], [])[:len(turns) - 1]] or [rng.choice(SENTENCES)]
        yield "", turns, said
    for record in records("vicuna_bench", "question.jsonl", "vicuna-bench"):
        yield "", record["turns"][:1], []
    for record in records("humaneval-x", "python.jsonl", "humaneval-x"):
        yield "", [record["prompt"]], []
        yield "Complete it.", [f"```python\n{record['prompt']}```"], []
    for _ in range(200):
        turns = [rng.choice(WORDS + SENTENCES) for _ in range(rng.randint(1, 4))]
        yield rng.choice(["", "", "Be brief.", "You help.\nAlways."]), turns, [rng.choice(SENTENCES) for _ in turns[1:]]


def tokenizers():
    found = {"quickstart": ROOT / "experiments" / "quickstart" / "tokenizer.json"}
    for family in ("llama-2", "qwen"):
        if (DATA / "tokenizers" / family / "tokenizer.json").exists():
            found[family] = DATA / "tokenizers" / family / "tokenizer.json"
    return found


class Probe:
    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self, **asked):
        self.process.stdin.write(json.dumps(asked) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def expected(theirs, own, system, turns, answers):
    """Ids before each answer, and the answers' texts as a network writes them: behind the assistant's header."""
    messages = [{"role": "system", "content": system}] if system else []
    ids, written = [], []
    for turn, words in enumerate(turns):
        messages.append({"role": "user", "content": words})
        text = theirs.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
        if own:
            ids.append(theirs.apply_chat_template(messages, add_generation_prompt=True, tokenize=True, return_dict=False))
        else:  # a built-in template leaves the tokenizer's own special tokens to the tokenizer
            ids.append(theirs(text).input_ids)
        if turn < len(answers):
            messages.append({"role": "assistant", "content": answers[turn]})
            with_answer = theirs.apply_chat_template(messages, tokenize=False)
            assert with_answer.startswith(text), (text, with_answer)
            before = with_answer[len(text):].split(answers[turn])[0]
            written.append(before + answers[turn])
    return ids, written


def with_template(probe, name, file, template, folder):
    """A tokenizer with a built-in template; where there is a folder, with one that becomes a checkpoint's own there."""
    source = (TEMPLATES / f"{template}.jinja").read_text(encoding="utf-8") if folder else probe(chat=template)["template"]
    special = {"bos_token": "<s>", "eos_token": "</s>"} if name != "qwen" else {"eos_token": "<|im_end|>"}
    if folder:
        folder.mkdir()
        (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": source, **special}), encoding="utf-8")
    return PreTrainedTokenizerFast(tokenizer_file=str(file), chat_template=source, **special)


def compare(check, probe, name, file, template, folder, theirs=None):
    theirs = theirs or with_template(probe, name, file, template, folder)
    own = folder is not None
    first = later = departed = 0
    for system, turns, answers in conversations(random.Random(1)):
        ids, written = expected(theirs, own, system, turns, answers)
        ours = probe(tokenizer=str(file), folder=str(folder or ""), chat="auto" if own else template, system=system, turns=turns, answers=written)
        what = f"{name}, {template}: {system!r} {turns!r} {written!r}"
        if not check("ids" in ours, f"{what}: {ours}"):
            continue
        check(ours["ids"][0] == ids[0], f"{what}: {ours['ids'][0]}, transformers {ids[0]}")
        other = sum(a != b for a, b in zip(ours["ids"][1:], ids[1:], strict=True))
        check(other == ours["off"], f"{what}: {other} turns have other ids than transformers', {ours['off']} are said: {ours['ids'][1:]}, {ids[1:]}")
        first, later, departed = first + 1, later + len(turns) - 1, departed + other
    print(f"{name:10} {template:8} {first} first turns equal, {later - departed} of {later} later ones")
    check((name, template) not in CUT_CLEAN or departed <= 0.02 * later, f"{name}, {template}: {departed} of {later} later turns depart")


def main():
    check, probe = Checks(), Probe(sys.argv[1])
    with tempfile.TemporaryDirectory() as scratch:
        for name, file in tokenizers().items():
            for template in HELD[name] if len(tokenizers()) > 1 else BUILT_IN:
                compare(check, probe, name, file, template, None)
            for template in OWN[name]:
                compare(check, probe, name, file, template, pathlib.Path(scratch) / f"{name}-{template}")
    if SMOLLM2.is_dir():
        compare(check, probe, "smollm2", SMOLLM2 / "tokenizer.json", "own", SMOLLM2, AutoTokenizer.from_pretrained(SMOLLM2))
    else:
        print(f"{SMOLLM2.name} is not there: scripts/fetch-smollm2 makes it")
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
