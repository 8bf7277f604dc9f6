"""A network's own answers as its data: prompts that are made, answered by a run, filtered and
learned.
"""

import collections
import json

import pytest

from harness import DATA, ROOT, query

QUICK = ROOT / "experiments" / "quickstart" / "model"


# Prompts that are made ---------------------------------------------------------------------------


def published_prompts():
    """What people are compared on, which no network may learn."""
    for folder in ("mt_bench", "vicuna_bench"):
        for file in (DATA / folder).glob("*.jsonl"):
            for line in file.read_text(encoding="utf-8").splitlines():
                yield from json.loads(line).get("turns", [])


def made(pardec, folder, *flags):
    pardec.good("data", "prompts", "--data-root", folder, *flags)
    file = pardec.folder / folder / "jsonl" / "train.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()]


@pytest.fixture(scope="module")
def usual(pardec):
    return made(pardec, "usual")


@pytest.fixture(scope="module")
def texts(usual):
    return [record["prompt"] for record in usual]


def test_5000_different_prompts_are_made(texts):
    assert len(set(texts)) == len(texts) == 5000


def test_every_place_of_a_prompt_is_filled(texts):
    assert [text for text in texts if "{" in text] == []


def test_nine_categories_have_as_many_prompts(usual):
    counts = collections.Counter(record["category"] for record in usual)
    assert len(counts) == 9
    assert max(counts.values()) - min(counts.values()) <= 1


def test_fewer_prompts_of_one_seed_are_the_first_ones(pardec, usual):
    assert made(pardec, "same", "--examples", 40, "--seed", 1) == usual[:40]


def test_another_seed_makes_other_prompts(pardec, usual):
    assert made(pardec, "other", "--examples", 40, "--seed", 2) != usual[:40]


def test_no_made_prompt_stands_in_a_benchmark(texts):
    assert not set(texts) & set(published_prompts())


def test_prompts_are_not_made_twice(pardec, usual):
    again = pardec("data", "prompts", "--data-root", "usual")
    assert again.returncode == 2
    assert "is there" in again.stderr


def test_more_prompts_than_there_are_are_refused(pardec):
    words = ["--data-root", "many", "--examples", 10**5]
    assert pardec("data", "prompts", *words).returncode == 2


def test_data_check_reads_the_prompts(pardec, usual):
    words = ["--data-root", "usual", "--dataset", "jsonl", "--split", "train"]
    assert "5000" in pardec.good("data", "check", *words).replace(",", "")


# Answers that are learned ------------------------------------------------------------------------

RUN = [
    "run", "--model", QUICK, "--dataset", "oa-mine", "--limit", 12, "--block", 6, "--split", "test",
    "--progress", "none",
]


def invocation(pardec, db):
    return query(pardec.folder / db, "SELECT invocation FROM run LIMIT 1")[0]["invocation"]


@pytest.fixture(scope="module")
def run(pardec):
    """The id of a run of two arms in own.sqlite."""
    arms = ["--arm", "ar=ar", "--arm", "hpd=hpd,stack=1"]
    pardec.good(*RUN, *arms, "--db", "own.sqlite")
    return invocation(pardec, "own.sqlite")


@pytest.fixture(scope="module")
def own(run):
    """The flags that take the answers of `ar`."""
    return ["--from-run", run, "--from-arm", "ar"]


@pytest.fixture(scope="module")
def finished(pardec, run):
    """The ids of the answers of `ar` that were not cut, of 12."""
    rows = query(
        pardec.folder / "own.sqlite",
        "SELECT g.tokens, g.fields FROM generation g JOIN run r ON r.id = g.run_id WHERE r.label ="
        " 'ar' AND g.error IS NULL",
    )
    assert len(rows) == 12
    cut = ("limit", "context")
    whole = [
        json.loads(row["tokens"])
        for row in rows
        if not any(field["stop"] in cut for field in json.loads(row["fields"]))
    ]
    assert whole
    return whole


def repetition(ids):
    grams = [tuple(ids[i : i + 4]) for i in range(len(ids) - 3)]
    return 1 - len(set(grams)) / len(grams) if grams else 0


def train(pardec, out, *flags, db="own.sqlite", dataset="oa-mine"):
    """Trains one step; the call and what it recorded."""
    ran = pardec(
        "train", "--model", QUICK, "--dataset", dataset, "--split", "test", "--format", "ar",
        "--lora-rank", 2, "--lr", 1e-9, "--steps", 1, "--validation", 0, "--batch-tokens", 100000,
        "--threads", 1, "--progress", "none", "--db", db, "--out", out, *flags,
    )
    record = pardec.folder / out / "training.json"
    return ran, json.loads(record.read_text()) if record.exists() else {}


def check_kept(ran, record, wanted, finished):
    """As many answers as wanted were learned, and it was said."""
    assert ran.returncode == 0, ran.stderr
    counts = record["own_answers"]["oa-mine"]
    assert counts["kept"] == record["examples"]["train"] == wanted
    assert counts["unfinished"] == 12 - len(finished)
    assert f"{wanted} answer" in ran.stderr


@pytest.fixture(scope="module")
def all_learned(pardec, own):
    return train(pardec, "all", *own, "--max-repetition", 1)


def test_all_finished_answers_are_learned(all_learned, finished):
    check_kept(*all_learned, len(finished), finished)


def test_long_answers_are_left_out(pardec, own, finished):
    middle = sorted(map(len, finished))[len(finished) // 2]
    flags = ["--max-answer-tokens", middle, "--max-repetition", 1]
    wanted = sum(len(ids) <= middle for ids in finished)
    check_kept(*train(pardec, "short", *own, *flags), wanted, finished)


def test_short_answers_are_left_out(pardec, own, finished):
    middle = sorted(map(len, finished))[len(finished) // 2]
    flags = ["--min-answer-tokens", middle, "--max-repetition", 1]
    wanted = sum(len(ids) >= middle for ids in finished)
    check_kept(*train(pardec, "long", *own, *flags), wanted, finished)


def test_repetitive_answers_are_left_out(pardec, own, finished):
    most = f"{sorted(map(repetition, finished))[len(finished) // 2]:.6f}"
    wanted = sum(repetition(ids) <= float(most) for ids in finished)
    learned = train(pardec, "fresh", *own, "--max-repetition", most)
    check_kept(*learned, wanted, finished)


def test_a_network_finds_its_own_answers_likelier_than_the_datasets(pardec, all_learned):
    ran, theirs = train(pardec, "theirs", "--limit", 12)
    assert ran.returncode == 0, ran.stderr
    ours = all_learned[1]["result"]["train_loss"]
    assert ours < 0.7 * theirs["result"]["train_loss"]


@pytest.mark.parametrize(
    "flags, said",
    [
        (["--from-run", "RUN"], "--from-arm"),
        (["--from-run", "zzz"], "zzz"),
        (["--from-run", "RUN", "--from-arm", "x"], "ar, hpd"),
        (["OWN", "--split", "train"], "split"),
        (["OWN", "--dataset", "ae-110k"], "oa-mine"),
        (["OWN", "--min-answer-tokens", 100000], "filters"),
        (["OWN", "--max-repetition", 2], "--max-repetition"),
        (["--from-arm", "ar"], "--from-run"),
    ],
    ids=[
        "two arms", "no such run", "no such arm", "another split", "another dataset",
        "none is left", "a share above 1", "an arm without a run",
    ],
)
def test_answers_that_cannot_be_taken_are_refused(pardec, run, own, flags, said):
    given = {"RUN": [run], "OWN": own}
    words = [word for flag in flags for word in given.get(flag, [flag])]
    ran, _ = train(pardec, "refused", *words)
    assert ran.returncode == 2
    assert said in ran.stderr


def test_answers_that_were_forced_are_refused(pardec):
    words = ["--arm", "forced=ar", "--oracle", "references", "--db", "forced.sqlite"]
    pardec.good(*RUN, *words)
    flags = ["--from-run", invocation(pardec, "forced.sqlite")]
    ran, _ = train(pardec, "refused", *flags, db="forced.sqlite")
    assert ran.returncode == 2
    assert "oracle" in ran.stderr


# Open answers that were cut are learned as far as they go, where that is asked for ----------------


@pytest.fixture(scope="module")
def cut(pardec):
    """The flags that take the cut answers of a run in cut.sqlite."""
    pardec.good(
        "run", "--model", QUICK, "--dataset", "vicuna-bench", "--limit", 4, "--decoder", "ar",
        "--max-new-tokens", 6, "--db", "cut.sqlite", "--progress", "none",
    )
    return ["--from-run", invocation(pardec, "cut.sqlite"), "--max-repetition", 1]


def test_cut_answers_are_left_out(pardec, cut):
    ran, _ = train(pardec, "whole", *cut, db="cut.sqlite", dataset="vicuna-bench")
    assert ran.returncode == 2
    assert "filters" in ran.stderr


def test_cut_answers_are_learned_where_that_is_asked_for(pardec, cut):
    given = {"db": "cut.sqlite", "dataset": "vicuna-bench"}
    ran, record = train(pardec, "cut", *cut, "--keep-cut", **given)
    assert ran.returncode == 0, ran.stderr
    there = len(query(pardec.folder / "cut.sqlite", "SELECT id FROM generation"))
    assert there > 2
    counts = record["own_answers"]["vicuna-bench"]
    assert (counts["kept"], counts["cut"], counts["unfinished"]) == (there, there, 0)
