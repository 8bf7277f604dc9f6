"""`ar.choose`: the choice with the highest likelihood, as transformers computes it, choice by choice
in passes of their own.
"""

import json
import random
import shutil

import pytest
from tokenizers import Tokenizer

from harness import ROOT, query
from reference import sharpen, torch, transformers

TOKENIZER = ROOT / "experiments/quickstart/tokenizer.json"
LETTERS = "{text}Question: {asked}{lettered}\nAnswer:"
COMPLETION = "{text}Question: {asked}\nAnswer:"
PROMPTS = {  # and whether the choices are answered by letter
    "mmlu": (LETTERS, True),
    "agieval": (LETTERS, True),
    "commonsense-qa": (LETTERS, True),
    "boolq": (COMPLETION, False),
    "piqa": (COMPLETION, False),
    "rte": ("{text}Statement: {asked} True or False?\nAnswer:", False),
    "hellaswag": ("{text}{asked}", False),
}


WORDS = "red stone river walks under seven quiet lamps before a green door opens slowly".split()
MADE = 60  # questions whose endings differ in their words alone, so that the network decides


@pytest.fixture(scope="module")
def network(pardec):
    """One whose likelihoods show which rows a row saw, and at which positions."""
    torch.manual_seed(5)
    model = transformers.LlamaForCausalLM(
        transformers.LlamaConfig(
            vocab_size=4096, hidden_size=64, intermediate_size=96, num_hidden_layers=2,
            num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=2048,
            bos_token_id=None, eos_token_id=0,
        )
    )
    sharpen(model)
    folder = pardec.folder / "network"
    model.save_pretrained(folder)
    shutil.copy(TOKENIZER, folder)
    return folder


@pytest.fixture(scope="module")
def data(pardec):
    """The project's samples, and more questions of HellaSwag's form."""
    shutil.copytree(ROOT / "datasets/samples", pardec.folder / "data")
    rng = random.Random(3)
    with open(pardec.folder / "data/hellaswag/hellaswag_val.jsonl", "a") as file:
        for number in range(MADE):
            record = {
                "activity_label": f"Story {number}", "ctx": " ".join(rng.choices(WORDS, k=8)),
                "endings": [" ".join(rng.choices(WORDS, k=6)) for _ in range(5)], "label": "1",
            }
            file.write(json.dumps(record) + "\n")
    return pardec.folder / "data"


@pytest.fixture(scope="module")
def answers(pardec, network, data):
    """Examples and answers, by arm."""
    pardec.good(
        "run", "--model", network, "--dataset", ",".join(PROMPTS), "--data-root", data, "--dtype", "fp32",
        "--chat-template", "bare", "--arm", "sum=ar,ask=separately,choose=likelihood",
        "--arm", "mean=ar,ask=separately,choose=per_character", "--db", "c.sqlite", "--progress",
        "none",
    )
    rows = query(
        pardec.folder / "c.sqlite",
        "SELECT label, dataset.name, generation.text, sample.text AS passage, sample.fields, run.id,"
        " generation.fields AS answered, stop, (SELECT value FROM score WHERE metric = 'accuracy'"
        " AND generation_id = generation.id) AS correct FROM generation JOIN run ON run.id ="
        " run_id JOIN sample ON sample.id = sample_id JOIN dataset ON dataset.id ="
        " sample.dataset_id",
    )
    assert len(rows) == 2 * (6 + 3 + 5 * 4 + MADE)
    return rows


def prompt_of(dataset, passage, field):
    """The prompt of a question, and its possible answers."""
    wording, by_letter = PROMPTS[dataset]
    letters = list("ABCDEFGHIJ"[: len(field["choices"])])
    prompt = wording.format(
        text=passage and passage + "\n",
        asked=field["question"],
        lettered="".join(f"\n{a}. {c}" for a, c in zip(letters, field["choices"])),
    )
    return prompt, letters if by_letter else field["choices"]


@pytest.fixture(scope="module")
def likelihoods(network):
    """Of each choice of a question: its text as an answer, its log-probability, and its length."""
    model = transformers.AutoModelForCausalLM.from_pretrained(network, dtype=torch.float32)
    tokenizer = Tokenizer.from_file(str(TOKENIZER))

    def of(dataset, passage, field):
        prompt, choices = prompt_of(dataset, passage, field)
        begun = tokenizer.encode(prompt).ids
        scored = []
        for choice in choices:
            ids = tokenizer.encode(f"{prompt} {choice}").ids
            with torch.no_grad():
                logits = model(torch.tensor([ids])).logits[0].double().log_softmax(-1)
            total = sum(logits[i - 1, ids[i]].item() for i in range(len(begun), len(ids)))
            scored.append((choice, total, len(choice)))
        return scored

    return of


@pytest.mark.parametrize("dataset", PROMPTS)
@pytest.mark.parametrize("arm", ["sum", "mean"])
def test_the_choice_is_the_likeliest_for_transformers(answers, likelihoods, dataset, arm):
    for row in answers:
        if (row["name"], row["label"]) != (dataset, arm):
            continue
        (field,) = json.loads(row["fields"])
        scored = likelihoods(dataset, row["passage"], field)
        score = (lambda one: one[1]) if arm == "sum" else (lambda one: one[1] / one[2])
        ranked = sorted(scored, key=score, reverse=True)
        assert score(ranked[0]) - score(ranked[1]) > 1e-4, "a tie decides nothing"
        assert row["text"].strip() == ranked[0][0]
        assert row["stop"] == "terminator"
        right = field["choices"]["ABCDEFGHIJ".index(field["references"][0])]
        assert row["correct"] == (ranked[0][0] in (field["references"][0], right))


def test_choices_are_ranked_in_one_pass(pardec, answers):
    (row,) = query(
        pardec.folder / "c.sqlite",
        "SELECT max(forwards) AS most, min(forwards) AS least FROM job",
    )
    assert (row["most"], row["least"]) == (1, 1)


@pytest.mark.parametrize("options", ["choose=likelihood", "ask=separately,prefix_cache=context,choose=likelihood"])
def test_it_goes_with_one_question_a_prompt(pardec, network, options):
    ran = pardec("run", "--model", network, "--dataset", "boolq", "--arm", f"a=ar,{options}")
    assert ran.returncode == 2
    assert "ar.choose goes with ask=separately and prefix_cache=none only" in ran.stderr


def test_worked_examples_show_the_choice_itself(pardec, network, tmp_path):
    shutil.copytree(ROOT / "datasets/samples/boolq", tmp_path / "boolq")
    shutil.copy(tmp_path / "boolq/dev.jsonl", tmp_path / "boolq/train.jsonl")
    other = (tmp_path / "boolq/train.jsonl").read_text().replace('"passage": "', '"passage": "So: ')
    (tmp_path / "boolq/train.jsonl").write_text(other)
    pardec.good(
        "run", "--model", network, "--dataset", "boolq", "--data-root", tmp_path, "--limit", 1,
        "--chat-template", "bare", "--arm", "a=ar,ask=separately,choose=likelihood", "--shots", 2,
        "--trace", "t.jsonl", "--db", "t.sqlite", "--progress", "none",
    )
    trace = json.loads((pardec.folder / "t.jsonl").read_text().splitlines()[0])
    text = Tokenizer.from_file(str(TOKENIZER)).decode(trace["tokens"], skip_special_tokens=False)
    assert text.count("Answer: yes") + text.count("Answer: no") == 2
    assert text.count("So: ") == 2
