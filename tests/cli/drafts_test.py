"""Decoders that guess ahead, from outside: the answers of ar in `run` and `generate`, what the
database and the trace say of guesses, --oracle accept:A.
"""

import functools
import json

import pytest
from harness import answers, query

ARMS = ("speculative", "prompt-lookup", "self-speculative", "lookahead")
WORDS = [word for name in ARMS for word in ("--arm", f"{name}={name}")]


def jobs_of(db):
    """The jobs that guessed."""
    rows = query(
        db, "SELECT label, job.* FROM job JOIN run ON run.id = run_id WHERE acceptance IS NOT NULL"
    )
    return [{**row, "acceptance": json.loads(row["acceptance"])} for row in rows]


@pytest.fixture(scope="module")
def model(pardec):
    return pardec.synthesise("model", seed=2)


@pytest.fixture(scope="module")
def draft(pardec):
    return pardec.synthesise("draft", seed=3, num_hidden_layers=1)


# run ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def run(pardec, model):
    """The words of a run, but for its draft."""
    return [
        "run", "--model", model, "--arm", "ar=ar", *WORDS, "--arm",
        "apart=speculative,ask=separately,gamma=2", "--arm", "ones=ar,ask=separately", "--dataset",
        "oa-mine", "--limit", 8, "--max-new-tokens", 24, "--per-field", 6, "--batch-size", 3,
        "--db", "run.sqlite", "--progress", "none",
    ]


@pytest.fixture(scope="module")
def db(pardec, run, draft):
    pardec.good(*run, "--draft-model", draft)
    return pardec.folder / "run.sqlite"


@pytest.mark.parametrize("name", [*ARMS, "apart"])
def test_answers_are_those_of_ar(db, name):
    given, base = answers(db), "ones" if name == "apart" else "ar"
    mine = {key: value for key, value in given.items() if key[0] == name}
    assert len(mine) == 8
    assert mine == {key: given[(base, *key[1:])] for key in mine}


def test_only_speculative_runs_have_a_draft_network(db, draft):
    runs = query(db, "SELECT label, draft_model_id FROM run")
    drafted = {row["label"] for row in runs if row["draft_model_id"] is not None}
    assert drafted == {"speculative", "apart"}
    paths = query(db, "SELECT DISTINCT model.path FROM run JOIN model ON model.id = draft_model_id")
    assert [row["path"] for row in paths] == [str(draft)]


def test_an_arm_is_compared_with_one_that_asks_alike(db):
    baselines = {row["label"]: row["baseline"] for row in query(db, "SELECT * FROM run")}
    assert baselines["speculative"] == "ar"
    assert baselines["apart"] == "ones"


def test_ar_guesses_nothing(db):
    of_ar = "decoder = 'ar' AND acceptance IS NOT NULL"
    assert not query(db, f"SELECT job.id FROM job JOIN run ON run.id = run_id WHERE {of_ar}")


def test_the_histogram_of_a_job_holds_what_was_chosen(db):
    for job in jobs_of(db):
        held = "SELECT sum(emitted * forwards) AS n FROM step_histogram WHERE job_id = ?"
        assert query(db, held, job["id"])[0]["n"] == job["chosen"], job["label"]


def test_no_more_guesses_are_accepted_than_were_drafted(db):
    for job in jobs_of(db):
        acceptance = job["acceptance"]
        assert len(acceptance["drafted"]) == len(acceptance["accepted"]), job["label"]
        for drafted, accepted in zip(acceptance["drafted"], acceptance["accepted"]):
            assert drafted >= accepted, job["label"]


def test_decoders_that_draft_with_a_network_count_its_forwards(db):
    for job in jobs_of(db):
        drafts = job["label"] not in ("prompt-lookup", "lookahead")
        assert (job["acceptance"]["draft_forwards"] > 0) == drafts, job["label"]


def test_refused_guesses_are_what_was_computed_for_nothing(db):
    for job in jobs_of(db):
        refused = sum(job["acceptance"]["drafted"]) - sum(job["acceptance"]["accepted"])
        if job["label"] == "lookahead":  # which also drops its window
            assert job["scratch"] > refused
        else:
            assert job["scratch"] == refused, job["label"]


def test_a_run_is_not_resumed_with_another_draft(pardec, run, db, model):
    refused = pardec(*run, "--draft-model", model, "--resume")
    assert refused.returncode == 2
    assert "draft model hash" in refused.stderr


# generate ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def generate(model):
    """The words of a call."""
    return [
        "generate", "--model", model, "--prompt-tokens", "5,6,7,8,5,6,7", "--max-new-tokens", 20,
        "--format", "json", "--ignore-eos",
    ]


@pytest.fixture(scope="module")
def of_ar(pardec, generate):
    return json.loads(pardec.good(*generate))


@pytest.mark.parametrize("name", ARMS)
def test_generate_gives_the_ids_of_ar_and_a_trace_of_them(pardec, generate, of_ar, draft, name):
    extra = ["--draft-model", draft] if name == "speculative" else []
    words = ["--decoder", name, *extra, "--trace", "t.jsonl"]
    got = json.loads(pardec.good(*generate, *words))
    assert got["tokens"] == of_ar["tokens"]
    assert got["text"] == of_ar["text"]
    traces = [json.loads(line) for line in (pardec.folder / "t.jsonl").read_text().splitlines()]
    networks = ["draft", None] if name == "speculative" else [None]
    assert [trace.get("model") for trace in traces] == networks
    trace = traces[-1]
    assert len(trace["tokens"]) == got["counters"]["fed"]
    assert len(trace["emitted"]) == 20
    assert [trace["predicts"][i] for i in trace["emitted"]] == of_ar["tokens"]


# Oracles -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def accepted(pardec, model, draft):
    """What a run under accept:RATE prints, and its database, once."""

    @functools.cache
    def of(rate):
        db = pardec.folder / f"accept{rate}.sqlite"
        printed = pardec.good(
            "run", "--model", model, "--draft-model", draft, *WORDS, "--dataset", "oa-mine",
            "--limit", 4, "--max-new-tokens", 31, "--ignore-eos", "--oracle", f"accept:{rate}",
            "--set", "speculative.gamma=4", "--set", "self-speculative.gamma=4", "--set",
            "self-speculative.threshold=0", "--db", db, "--progress", "none",
        )
        return printed, db

    return of


every_rate = pytest.mark.parametrize("rate", [0, 0.5, 1])


@every_rate
def test_a_run_under_an_oracle_says_so_and_has_no_score(accepted, rate):
    printed, db = accepted(rate)
    assert f"oracle accept:{rate}" in printed
    assert "no score" in printed
    assert {r["oracle"] for r in query(db, "SELECT oracle FROM run")} == {f"accept:{rate}"}
    assert query(db, "SELECT count(*) AS n FROM score")[0]["n"] == 0


@every_rate
def test_what_the_network_itself_chose_is_kept(accepted, rate):
    jobs = jobs_of(accepted(rate)[1])
    assert jobs
    for job in jobs:
        assert len(json.loads(job["unforced"])["stream"]) == job["chosen"], job["label"]


@pytest.mark.parametrize("rate, forwards", [(0, 31), (1, 7)])  # ceil(31 / (gamma + 1))
def test_an_oracle_decides_the_number_of_forwards(accepted, rate, forwards):
    jobs = [job for job in jobs_of(accepted(rate)[1]) if job["label"] == "speculative"]
    assert {job["forwards"] for job in jobs if job["chosen"] == 31} == {forwards}


def test_a_higher_rate_takes_fewer_forwards(accepted):
    forwards = {
        rate: sum(j["forwards"] for j in jobs_of(accepted(rate)[1]) if j["label"] == "speculative")
        for rate in (0, 0.5, 1)
    }
    assert forwards[1] < forwards[0.5] < forwards[0]


# Speculative decoding at a mean length of a pass, next to ar: by --oracle, by an arm's own, and as
# published


@pytest.fixture(scope="module")
def lengths(pardec, model, draft):
    """What such a run prints, and its database."""
    db, curve = pardec.folder / "length.sqlite", pardec.folder / "curve.json"
    networks = {"P": [1.75, 3]}
    held = {"measure": "accept_length", "draft_lengths": [2, 4], "networks": networks}
    curve.write_text(json.dumps(held))
    printed = pardec.good(
        "run",
        "--model",
        model,
        "--draft-model",
        draft,
        "--decoder",
        "ar,space",
        "--arm",
        "g=speculative,gamma=4",
        "--arm",
        f"c=speculative,gamma=4,oracle=accept-curve:{curve}:P",
        "--arm",
        "p=speculative,gamma=3,oracle=accept:1,0",
        "--dataset",
        "mt-bench",
        "--limit",
        8,
        "--max-new-tokens",
        80,
        "--ignore-eos",
        "--oracle",
        "accept-length:2.4",
        "--db",
        db,
        "--set",
        "space.mask_token=5",
        "--wide",
    )
    return " ".join(printed.split()), db


def test_every_arm_keeps_its_oracle(lengths):
    rows = query(lengths[1], "SELECT label, oracle FROM run")
    assert {row["label"]: row["oracle"] for row in rows} == {
        "ar": None,
        "space": "accept-length:2.4",
        "g": "accept-length:2.4",
        "c": "accept-length:3.0 (P, curve.json)",
        "p": "accept:1,0",
    }


def test_the_table_says_which_arms_have_an_oracle(lengths):
    assert "accepted length" in lengths[0]
    assert "oracle of space, g, accept-length:2.4" in lengths[0]


def test_rates_by_place_accept_the_first_guess_and_no_other(lengths):
    jobs = [job["acceptance"] for job in jobs_of(lengths[1]) if job["label"] == "p"]
    assert jobs
    for job in jobs:
        assert job["accepted"][0] >= job["drafted"][0] - 1
        assert sum(job["accepted"][1:]) == 0


def test_a_published_length_gives_as_many_tokens_a_pass(lengths):
    """3, the last pass cut."""
    jobs = [job for job in jobs_of(lengths[1]) if job["label"] == "c"]
    assert jobs
    for job in jobs:
        assert job["forwards"] == -(-job["chosen"] // 3)


@pytest.mark.parametrize("label", ["space", "g"])
def test_a_length_is_the_mean_of_the_passes(lengths, label):
    """A pass gives 2 or 3: the mean of some 250 has a standard error of .03; the last pass of an
    answer is cut.
    """
    jobs = [job["acceptance"] for job in jobs_of(lengths[1]) if job["label"] == label]
    passes = sum(job["drafted"][0] for job in jobs)
    mean = 1 + sum(sum(job["accepted"]) for job in jobs) / passes
    assert mean == pytest.approx(2.4, abs=0.15)


def test_ar_answers_beside_an_oracle(lengths):
    of_ar = "JOIN run ON run.id = run_id WHERE label = 'ar'"
    samples = query(lengths[1], f"SELECT DISTINCT sample_id FROM generation {of_ar}")
    assert len(samples) == 8
