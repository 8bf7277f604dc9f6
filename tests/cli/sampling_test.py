"""Seeds of sampled answers: repeats of a run, and prompts of a list, draw ids of their own; the
first ones are those of a single run.
"""

import json

import pytest

from harness import answers, kill_after

RUN = [
    "run", "--model", "random", "--decoder", "ar,hpd,ippd", "--dataset", "oa-mine", "--limit", 6,
    "--max-new-tokens", 12, "--per-field", 4, "--set", "hpd.k_max=4", "--warmup", 0,
    "--temperature", 1, "--progress", "none",
]


@pytest.fixture(scope="module", autouse=True)
def model(pardec):
    """The network of all calls."""
    return pardec.synthesise("random")


# --runs 3: three answers to a question -----------------------------------------------------------


@pytest.fixture(scope="module")
def first(pardec, model):
    """The answers of --runs 1."""
    pardec.good(*RUN, "--db", "one.sqlite")
    return answers(pardec.folder / "one.sqlite")


@pytest.fixture(scope="module")
def three(pardec, model):
    """The answers of --runs 3."""
    pardec.good(*RUN, "--runs", 3, "--db", "three.sqlite")
    return answers(pardec.folder / "three.sqlite")


def test_the_first_repeat_is_the_run_without_repeats(first, three):
    assert len(first) == 24  # with the baseline that ippd needs
    assert len(three) == 72
    assert {key: three[key] for key in first} == first


@pytest.mark.parametrize("label", ["ar", "hpd", "ippd"])
def test_repeats_draw_other_answers(first, three, label):
    keys = [key[:3] for key in first if key[0] == label]
    assert keys
    for key in keys:
        assert len({three[(*key, repeat)][1] for repeat in range(3)}) == 3, key


def test_a_killed_run_goes_on_with_the_same_answers(pardec, three):
    killed = pardec.folder / "killed.sqlite"
    run = [*RUN, "--runs", 3, "--db", killed]
    assert kill_after(pardec.start(*run), killed, 16)
    assert len(answers(killed)) < 54
    pardec.good(*run, "--resume")
    assert answers(killed) == three


# --prompt-tokens @FILE: equal prompts get other answers ------------------------------------------


@pytest.fixture(scope="module")
def ids(pardec, model):
    """Gives the ids of each answer."""
    (pardec.folder / "prompts").write_text("5,6,7\n" * 3)

    def of(given, *more):
        words = ["--max-new-tokens", 8, "--format", "json", *more]
        said = pardec.good("generate", "--model", model, "--prompt-tokens", given, *words)
        return [json.loads(line)["tokens"] for line in said.splitlines()]

    return of


@pytest.fixture(scope="module")
def drawn(ids):
    return ids("@prompts", "--temperature", 1)


def test_equal_prompts_of_a_list_get_other_answers(drawn):
    assert len({tuple(tokens) for tokens in drawn}) == 3


def test_the_first_prompt_of_a_list_is_answered_as_alone(ids, drawn):
    assert ids("5,6,7", "--temperature", 1) == drawn[:1]


def test_the_batch_does_not_decide_what_is_drawn(ids, drawn):
    assert ids("@prompts", "--temperature", 1, "--batch-size", 3) == drawn


def test_greedy_answers_to_one_prompt_are_equal(ids):
    assert len({tuple(tokens) for tokens in ids("@prompts")}) == 1
