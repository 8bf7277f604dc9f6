"""`pardec score --metric likelihood`: what transformers says of the same answers after the same
questions, turn by turn.
"""

import json
import shutil

import pytest
from tokenizers import Tokenizer

from harness import ROOT, change, query
from ranks import ended, need_mpi, start
from reference import torch, transformers

TOKENIZER = ROOT / "experiments/quickstart/tokenizer.json"
SCORES = (
    "SELECT generation_id, field, value, details FROM score WHERE metric = 'likelihood' ORDER BY"
    " generation_id, field"
)


@pytest.fixture(scope="module")
def networks(pardec):
    """The network that writes the answers, and the one that reads them."""
    made = [
        pardec.synthesise(name, seed=seed, vocab_size=4096)
        for name, seed in (("writer", 2), ("reader", 9))
    ]
    for folder in made:
        shutil.copy(TOKENIZER, folder)
    return made


@pytest.fixture(scope="module")
def db(pardec, networks):
    """A run with an empty answer, and one of more than the network's positions."""
    pardec.good(
        "run", "--model", networks[0], "--decoder", "ar,prompt-lookup", "--dataset",
        "vicuna-bench,mt-bench,oa-mine", "--limit", 3, "--max-new-tokens", 60, "--db", "r.sqlite",
        "--progress", "none",
    )
    db = pardec.folder / "r.sqlite"
    for text, row in (("", 1), ("word " * 3000, 2)):
        fields = json.loads(
            query(db, "SELECT fields FROM generation WHERE id = ?", row)[0]["fields"]
        )
        fields[0]["text"] = text
        change(db, "UPDATE generation SET fields = ? WHERE id = ?", json.dumps(fields), row)
    return db


@pytest.fixture(scope="module")
def table(pardec, db, networks):
    """What `score` prints and stores."""
    words = ["--chat-template", "plain", "--dtype", "fp32", "--threads", 1, "--format", "json"]
    return json.loads(
        pardec.good("score", "--db", db, "--metric", "likelihood", "--model", networks[1], *words)
    )


@pytest.fixture(scope="module")
def expected(db, table, networks):
    """By answer and field, what transformers says: the arm, ids, and the sum over the answer's ids,
    in float64 from float32 logits; None where there is nothing to score.
    """
    network = transformers.AutoModelForCausalLM.from_pretrained(networks[1], dtype=torch.float32)
    tokenizer, found = Tokenizer.from_file(str(TOKENIZER)), {}
    for row in query(
        db,
        "SELECT generation.id, label, dataset.name, generation.fields AS answers, sample.fields"
        " FROM generation JOIN run ON run.id = run_id JOIN sample ON sample.id = sample_id JOIN"
        " dataset ON dataset.id = sample.dataset_id WHERE dataset.name <> 'oa-mine'",
    ):
        text = ""
        for answer, field in zip(json.loads(row["answers"]), json.loads(row["fields"])):
            text += field["question"] + "\n"
            prompt = tokenizer.encode(text).ids
            ids = tokenizer.encode(answer["text"], add_special_tokens=False).ids
            text += answer["text"] + "\n\n"
            key = row["id"], field["name"]
            if not ids or len(prompt) + len(ids) > 2048:
                found[key] = None
                continue
            with torch.no_grad():
                logits = network(torch.tensor([prompt + ids])).logits[0].double().log_softmax(-1)
            total = sum(logits[len(prompt) - 1 + i, t].item() for i, t in enumerate(ids))
            found[key] = (row["name"], row["label"]), len(ids), total
    return found


def test_every_turn_is_as_likely_as_for_transformers(db, table, expected):
    stored = {(row["generation_id"], row["field"]): row for row in query(db, SCORES)}
    scored = {key: told for key, told in expected.items() if told}
    assert stored.keys() == scored.keys(), "empty and too long answers are not scored"
    assert len(stored) > 8
    for key, (_, count, total) in scored.items():
        details = json.loads(stored[key]["details"])
        assert details["log_likelihood"] == pytest.approx(total, rel=1e-5), key
        assert stored[key]["value"] * count == pytest.approx(total, rel=1e-5), key
        assert details["tokens"] == count, key


def means(table):
    """The means of a table, by dataset and arm."""
    return {(row["dataset"].split()[0], row["arm"]): row["score"] for row in table["rows"]}


def test_an_arms_likelihood_is_the_mean_over_tokens(table, expected):
    totals = {}
    for told in filter(None, expected.values()):
        key, count, total = told
        tokens, sum_ = totals.get(key, (0, 0.0))
        totals[key] = tokens + count, sum_ + total
    wanted = {key: total / tokens for key, (tokens, total) in totals.items()}
    assert means(table) == pytest.approx(wanted, rel=1e-5)


def test_notes_say_what_a_likelihood_is_not_of_and_how_to_read_it(table):
    notes = " ".join(table["notes"])
    assert "no likelihood of oa-mine" in notes
    assert "repeats itself is likely" in notes


def test_compare_shows_likelihoods(pardec, db, table):
    rows = json.loads(pardec.good("compare", "--db", db, "--format", "json"))["rows"]
    shown = {(row["dataset"].split()[0], row["arm"]): row.get("log_likelihood") for row in rows}
    wanted = means(table)
    assert {key: shown[key] for key in wanted} == wanted


@pytest.mark.parametrize(
    "args, said",
    [
        (["--metric", "likelihood"], "name one with --model DIR"),
        (["--model", "reader"], "--model belongs to --metric likelihood"),
        (["--metric", "likelihood", "--model", "nowhere"], "nowhere"),
    ],
    ids=["no network", "a network for nothing", "no such network"],
)
def test_what_cannot_be_scored_is_refused_and_stores_nothing(pardec, db, args, said):
    before = query(db, SCORES)
    ran = pardec("score", "--db", db, *args)
    assert ran.returncode == 2
    assert said in ran.stderr
    assert len(ran.stderr.splitlines()) == 1
    assert query(db, SCORES) == before


def test_ranks_share_the_answers(pardec, db, table, networks):
    need_mpi(pardec.path)
    before = query(db, SCORES)
    copy = pardec.folder / "shared.sqlite"
    shutil.copy(db, copy)
    change(copy, "DELETE FROM score WHERE metric = 'likelihood'")
    words = ["--chat-template", "plain", "--dtype", "fp32", "--threads", 1, "--format", "json"]
    line = [pardec.path, "score", "--db", copy, "--metric", "likelihood", "--model", networks[1]]
    code, out, said = ended(start([[*line, *words]] * 3, pardec.folder))
    assert code == 0, said
    assert query(copy, SCORES) == before
    assert json.loads(out)["rows"] == [
        {**row, "changed": row["n"] if row["metric"] == "log_likelihood" else row["changed"]}
        for row in table["rows"]
    ]


@pytest.mark.parametrize(
    "metric, flags, said",
    [
        ("likelihood", [["--model", "reader"], ["--model", "writer"]], "rank 1 has another network"),
        ("repetition", [[], []], "share only --metric likelihood"),
    ],
    ids=["another network", "another metric"],
)
def test_what_ranks_cannot_share_is_refused(pardec, db, metric, flags, said):
    need_mpi(pardec.path)
    lines = [
        [pardec.path, "score", "--db", db, "--metric", metric, *of_rank] for of_rank in flags
    ]
    code, _, complaint = ended(start(lines, pardec.folder))
    assert code != 0
    assert said in complaint
