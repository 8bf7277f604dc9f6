"""How fields are asked one by one: the limits of the IPPD paper and NarrativeQA's worked examples,
where no flag says otherwise.

Truth: the paper's numbers, and the sample's files by Python's csv; the prompt is what the trace
says was fed, decoded by the tokenizers package.
"""

import csv
import json
import shutil

import pytest
from harness import ROOT, SAMPLES, query, records
from tokenizers import Tokenizer

LIMITS = {"narrativeqa": 40, "squad": 30, "race": 1, "jsonl": 64}  # of jsonl nothing is stated
STORY = SAMPLES / "narrativeqa"

every_dataset = pytest.mark.parametrize("dataset", LIMITS)


def plan(pardec, *run):
    return json.loads(pardec.good("run", *run, "--dry-run", "--format", "json"))


def chosen(pardec, db, *run):
    """A run: how many ids each arm chose for a field, and what the run keeps, by dataset and
    arm.
    """
    pardec.good("run", *run, "--db", db)
    lengths, configs = {}, {}
    for row in query(
        pardec.folder / db,
        "SELECT label, dataset.name AS dataset, config, fields FROM generation JOIN run ON run.id ="
        " run_id JOIN dataset ON dataset.id = dataset_id",
    ):
        key = row["dataset"], row["label"]
        counts = {len(field["tokens"]) for field in json.loads(row["fields"])}
        lengths.setdefault(key, set()).update(counts)
        configs[key] = json.loads(row["config"])
    return lengths, configs


def of_train(file):
    with open(STORY / file, encoding="utf-8", newline="") as lines:
        return [row for row in csv.DictReader(lines) if row["set"] == "train"]


@pytest.fixture(scope="module")
def model(pardec):
    return pardec.synthesise("protocol", max_position_embeddings=4096)


@pytest.fixture(scope="module")
def run(model):
    """The words of a run that asks field by field, and all at once."""
    return [
        "--model", model, "--arm", "alone=ar,ask=separately", "--arm", "all=ar", "--decoder",
        "ippd", "--dataset", ",".join(LIMITS), "--limit", 1, "--max-new-tokens", 6, "--ignore-eos",
        "--progress", "none", "--warmup", 0,
    ]


@pytest.fixture(scope="module")
def usual(pardec, run):
    """What is chosen and kept where no flag says otherwise."""
    return chosen(pardec, "limits.sqlite", *run, "--trace", "limits.jsonl")


# Limits ------------------------------------------------------------------------------------------


@every_dataset
def test_a_plan_says_the_limit_of_a_field(pardec, run, dataset):
    words = (
        f"at most {LIMITS[dataset]} id",
        f"{5 if dataset == 'narrativeqa' else 0} worked examples",
    )
    said = [
        note
        for note in plan(pardec, *run)["notes"]
        if note.startswith(f"{dataset}, asked") and all(word in note for word in words)
    ]
    assert len(said) == 1
    assert ("--per-field" in said[0]) == (dataset != "jsonl")


def test_a_plan_of_all_fields_at_once_has_no_such_limit(pardec):
    notes = plan(pardec, "--decoder", "ar,hpd", "--dataset", "squad,narrativeqa")["notes"]
    assert not any("asked field by field" in note for note in notes), notes


@every_dataset
def test_an_answer_is_as_long_as_its_limit(usual, dataset):
    lengths = usual[0]
    assert lengths[dataset, "alone"] == lengths[dataset, "ippd"] == {LIMITS[dataset]}


@every_dataset
def test_a_run_keeps_its_limit_and_worked_examples(usual, dataset):
    kept = [usual[1][dataset, arm] for arm in ("alone", "ippd", "all")]
    limit, shots = LIMITS[dataset], 5 if dataset == "narrativeqa" else 0
    assert [config["per_field"] for config in kept] == [limit, limit, 64]
    assert [config["shots"] for config in kept] == [shots, shots, 0]


@pytest.fixture(scope="module")
def three(pardec, run):
    """What is chosen and kept with a limit of 3 and another seed."""
    return chosen(pardec, "three.sqlite", *run, "--per-field", 3, "--seed", 7)


def test_a_flag_sets_the_limit(three):
    assert {n for (_, arm), counts in three[0].items() if arm != "all" for n in counts} == {3}


def test_worked_examples_do_not_depend_on_the_seed(usual, three):
    hashes = [configs["narrativeqa", "ippd"]["shots_hash"] for _, configs in (usual, three)]
    assert hashes[0] == hashes[1] != usual[1]["squad", "ippd"]["shots_hash"]


# The prompt --------------------------------------------------------------------------------------


def test_a_prompt_has_each_train_summary_once_and_one_of_its_questions(pardec, usual):
    reader = Tokenizer.from_file(str(ROOT / "experiments/quickstart/tokenizer.json"))
    lines = (pardec.folder / "limits.jsonl").read_text().splitlines()
    found = [
        trace
        for trace in map(json.loads, lines)
        if trace["decoder"] == "ippd" and trace["examples"][0] in ("a1", "b2")
    ]
    assert len(found) == 1
    fed = [t for t, step in zip(found[0]["tokens"], found[0]["step"]) if step == 0]
    text = reader.decode(fed, skip_special_tokens=False)
    summaries, questions = of_train("summaries.csv"), of_train("qaps.csv")
    assert len(summaries) == 5
    assert len(questions) == 10
    for story in summaries:
        shots = [
            f"{story['summary']}\n</summary>\nQuestion: {q['question']}\nAnswer: {q['answer1']}\n"
            for q in questions
            if q["document_id"] == story["document_id"]
        ]
        assert text.count(story["summary"]) == 1
        assert sum(shot in text for shot in shots) == 1


# Other worked examples ---------------------------------------------------------------------------


def test_a_run_is_not_resumed_with_other_worked_examples(pardec, model):
    run = [
        "run", "--model", model, "--decoder", "ippd", "--dataset", "narrativeqa", "--limit", 1,
        "--per-field", 4, "--progress", "none", "--db", "story.sqlite",
    ]
    pardec.good(*run)
    again = pardec(*run, "--resume", "--shots", 2)
    assert again.returncode == 2
    assert "shots: 5, now 2" in again.stderr


@pytest.fixture(scope="module")
def few(pardec):
    """The words of a run of stories of which only three may be worked examples."""
    folder = pardec.folder / "few" / "narrativeqa"
    shutil.copytree(STORY, folder)
    lines = (folder / "qaps.csv").read_text(encoding="utf-8").splitlines(True)
    kept = "".join(line for line in lines if not line.startswith(("t1", "t2")))
    (folder / "qaps.csv").write_text(kept, encoding="utf-8")
    return ["--decoder", "ippd", "--dataset", "narrativeqa", "--data-root", "few"]


def test_too_few_worked_examples_are_refused(pardec, few):
    ran = pardec("run", *few, "--dry-run")
    assert ran.returncode == 2
    for words in ("5 worked examples", "train has 3", "--shots"):
        assert words in ran.stderr


@pytest.mark.parametrize("count", [3, 0])
def test_a_flag_sets_the_number_of_worked_examples(pardec, few, count):
    notes = plan(pardec, *few, "--shots", count)["notes"]
    assert any(f"{count} worked examples" in note for note in notes), notes


def test_without_a_train_split_they_are_of_the_evaluated_one(pardec):
    words = ["--decoder", "ippd,ar", "--dataset", "humaneval-x,longhealth", "--shots", 1]
    said = pardec.good("run", *words, "--dry-run")
    assert "longhealth, asked field by field" in said
    assert "humaneval-x: 1 worked example before each prompt" in said


def test_what_the_prompt_shows_is_not_evaluated(pardec):
    words = ["--decoder", "ippd", "--dataset", "oa-mine", "--shots", 4, "--split", "train"]
    planned = plan(pardec, *words)
    assert planned["rows"][0]["examples"] == len(records("oa-mine", "train")) - 4
    assert any("4 worked examples" in note for note in planned["notes"]), planned["notes"]


def test_a_wording_without_worked_examples_is_refused(pardec):
    (pardec.folder / "bare.txt").write_text("[context]\n{text}\n[field]\n{name}\n")
    words = ["--decoder", "ippd", "--dataset", "narrativeqa", "--prompt-file", "bare.txt"]
    ran = pardec("run", *words, "--dry-run")
    assert ran.returncode == 2
    assert "[shot]" in ran.stderr
