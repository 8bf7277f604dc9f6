"""Prompt ids against transformers' `apply_chat_template`: open prompts, and every turn of
conversations.

MT-Bench (both turns, after its reference answers), Vicuna Bench and HumanEval-X where they are,
else the project's samples, and 200 generated conversations, through the built-in templates and
checkpoints with a template of their own, SmolLM2 among them where it is. A first turn has
transformers' ids. A later one keeps the ids of the answers before it: it has transformers' ids
unless a token of these reaches over an answer's end, and those turns are counted by pardec.
"""

import dataclasses
import functools
import json
import random
import subprocess

import pytest
from harness import DATA, ROOT, SAMPLES, SMOLLM2
from jinja_oracle import TEMPLATES, WORDS
from transformers import AutoTokenizer, PreTrainedTokenizerFast

BUILT_IN = ["plain", "chatml", "llama-2", "llama-3", "phi-4", "vicuna"]
PUBLISHED = [
    family
    for family in ("llama-2", "qwen")
    if (DATA / "tokenizers" / family / "tokenizer.json").exists()
]
# Tokenizers, the built-in templates that they are compared with, and those that checkpoints with
# them have as their own.
HELD = {
    "quickstart": ["plain", "chatml"] if PUBLISHED else BUILT_IN,
    "llama-2": BUILT_IN,
    "qwen": BUILT_IN,
}
OWN = {"quickstart": ["chatml"], "llama-2": ["llama2", "vicuna"], "qwen": ["qwen25"]}
# Where an answer ends before a token of its own that is added to the vocabulary, hardly any turn
# departs.
CUT_CLEAN = [
    ("quickstart", "chatml"),
    ("qwen", "chatml"),
    ("qwen", "qwen25"),
    ("llama-2", "llama-2"),
    ("llama-2", "vicuna"),
    ("llama-2", "llama2"),
    ("smollm2", "own"),
]
SENTENCES = [
    "A market in the rain is quiet.",
    "First, boil the water.\n\n1. Add salt\n2. Stir",
    "```python\nreturn x\n```",
    "Yes",
    "42.",
    "Ça va, merci!",
    "日本語の文です。",
    "So: a, b and c",
    "No :)",
]


def records(name, file, sample):
    path = DATA / name / file
    path = path if path.exists() else next((SAMPLES / sample).iterdir())
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@functools.cache
def all_conversations():
    return list(conversations(random.Random(1)))


def conversations(rng):
    """(system, turns, answers): an answer stands between two turns."""
    answers = {
        record["question_id"]: record["choices"][0]["turns"]
        for record in records("mt_bench", "reference_answer.jsonl", "mt-bench")
        if "choices" in record
    }
    for record in records("mt_bench", "question.jsonl", "mt-bench"):
        turns = record["turns"]
        said = [
            answer.strip() for answer in answers.get(record["question_id"], [])[: len(turns) - 1]
        ] or [rng.choice(SENTENCES)]
        yield "", turns, said
    for record in records("vicuna_bench", "question.jsonl", "vicuna-bench"):
        yield "", record["turns"][:1], []
    for record in records("humaneval-x", "python.jsonl", "humaneval-x"):
        yield "", [record["prompt"]], []
        yield "Complete it.", [f"```python\n{record['prompt']}```"], []
    for _ in range(200):
        turns = [rng.choice(WORDS + SENTENCES) for _ in range(rng.randint(1, 4))]
        yield (
            rng.choice(["", "", "Be brief.", "You help.\nAlways."]),
            turns,
            [rng.choice(SENTENCES) for _ in turns[1:]],
        )


def expected(theirs, own, system, turns, answers):
    """Ids before each answer, or the texts of which the tokenizer makes them, and the answers'
    texts as a network writes them: after the assistant's header.
    """
    messages = [{"role": "system", "content": system}] if system else []
    ids, written = [], []
    for turn, words in enumerate(turns):
        messages.append({"role": "user", "content": words})
        text = theirs.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
        if own:
            ids.append(
                theirs.apply_chat_template(
                    messages, add_generation_prompt=True, tokenize=True, return_dict=False
                )
            )
        else:  # a built-in template leaves the tokenizer's own special tokens to the tokenizer
            ids.append(text)
        if turn < len(answers):
            messages.append({"role": "assistant", "content": answers[turn]})
            with_answer = theirs.apply_chat_template(messages, tokenize=False)
            assert with_answer.startswith(text), (text, with_answer)
            before = with_answer[len(text) :].split(answers[turn])[0]
            written.append(before + answers[turn])
    return ids, written


@dataclasses.dataclass
class Compared:
    """What pardec and transformers make of one conversation."""

    what: str
    ours: dict
    ids: list


@pytest.fixture(scope="module")
def probe(program):
    """The answers of ids_probe to many requests; it runs once, so that it loads each tokenizer
    once.
    """
    with subprocess.Popen(
        [program("prompt_ids_probe")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:

        def answer(request):
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        yield lambda requests: [answer(request) for request in requests]


@pytest.fixture(scope="module")
def loaded_once():
    """A tokenizer of transformers without a template, by its file; each is read once."""
    return functools.cache(
        lambda file, **special: PreTrainedTokenizerFast(tokenizer_file=file, **special)
    )


@pytest.fixture(scope="module")
def tokenizer(probe, published, loaded_once, tmp_path_factory):
    """A tokenizer of transformers with a template, its file, and the folder of the checkpoint
    whose own template it is.
    """

    def made(name, template, own):
        if name == "smollm2":
            if not SMOLLM2.is_dir():
                pytest.skip(
                    f"not done here: {SMOLLM2.name} is missing; scripts/fetch-smollm2 makes it"
                )
            return AutoTokenizer.from_pretrained(SMOLLM2), SMOLLM2 / "tokenizer.json", SMOLLM2
        file = (
            ROOT / "experiments/quickstart/tokenizer.json"
            if name == "quickstart"
            else published(f"tokenizers/{name}/tokenizer.json")
        )
        special = (
            {"bos_token": "<s>", "eos_token": "</s>"}
            if name != "qwen"
            else {"eos_token": "<|im_end|>"}
        )
        folder = None
        if own:
            source = (TEMPLATES / f"{template}.jinja").read_text(encoding="utf-8")
            folder = tmp_path_factory.mktemp("checkpoint")
            (folder / "tokenizer_config.json").write_text(
                json.dumps({"chat_template": source, **special}), encoding="utf-8"
            )
        else:
            source = probe([{"chat": template}])[0]["template"]
        theirs = loaded_once(str(file), **special)
        theirs.chat_template = source
        return theirs, file, folder

    return made


@pytest.fixture(scope="module")
def compared(probe, tokenizer):
    """All conversations through a template, once."""

    @functools.cache
    def of(name, template, own):
        theirs, file, folder = tokenizer(name, template, own)
        ids, requests = [], []
        for system, turns, answers in all_conversations():
            wanted, written = expected(theirs, own, system, turns, answers)
            ids.append(wanted)
            requests.append(
                {
                    "tokenizer": str(file),
                    "folder": str(folder or ""),
                    "chat": "auto" if own else template,
                    "system": system,
                    "turns": turns,
                    "answers": written,
                }
            )
        if not own:
            encoded = iter(theirs([text for texts in ids for text in texts]).input_ids)
            ids = [[next(encoded) for _ in texts] for texts in ids]
        found = zip(requests, probe(requests), ids, strict=True)
        return [
            Compared(
                f"{asked['system']!r} {asked['turns']!r} {asked['answers']!r}: {ours}", ours, wanted
            )
            for asked, ours, wanted in found
        ]

    return of


PAIRS = [(name, template, False) for name in HELD for template in HELD[name]]
PAIRS += [(name, template, True) for name in OWN for template in OWN[name]] + [
    ("smollm2", "own", True)
]
LABELS = {pair: f"{pair[0]}-{'own-' * (pair[2] and pair[1] != 'own')}{pair[1]}" for pair in PAIRS}
every_pair = pytest.mark.parametrize("pair", PAIRS, ids=LABELS.values())


@every_pair
def test_a_first_turn_has_the_ids_of_transformers(compared, pair):
    for one in compared(*pair):
        assert "ids" in one.ours, one.what
        assert one.ours["ids"][0] == one.ids[0], one.what


@every_pair
def test_turns_that_depart_from_transformers_are_counted(compared, pair):
    for one in compared(*pair):
        other = sum(a != b for a, b in zip(one.ours["ids"][1:], one.ids[1:], strict=True))
        assert other == one.ours["off"], one.what


@pytest.mark.parametrize(
    "pair",
    [pair for pair in PAIRS if pair[:2] in CUT_CLEAN],
    ids=[LABELS[pair] for pair in PAIRS if pair[:2] in CUT_CLEAN],
)
def test_hardly_a_turn_departs_where_answers_end_before_an_added_token(compared, pair):
    departed = sum(one.ours["off"] for one in compared(*pair))
    assert departed <= 0.02 * sum(len(one.ids) - 1 for one in compared(*pair))
