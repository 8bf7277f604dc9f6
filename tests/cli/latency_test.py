"""A run of 300 prompts: the percentiles of latency and of the first token's time are numpy's over
what the store holds.
"""

import json

import pytest

from harness import TOKENIZER, VOCABULARY, query, write_lines

numpy = pytest.importorskip("numpy")

PROMPTS = 300

every_arm = pytest.mark.parametrize("arm", ["ar", "prompt-lookup"])


@pytest.fixture(scope="module")
def db(pardec):
    model = pardec.synthesise(
        "model", vocab_size=VOCABULARY, hidden_size=32, intermediate_size=48, num_hidden_layers=1,
        num_attention_heads=2, num_key_value_heads=1,
    )
    (model / "tokenizer.json").write_bytes(TOKENIZER.read_bytes())
    prompts = [
        {"id": f"p{i}", "prompt": f"Count on from {i}" + i % 7 * " and on"} for i in range(PROMPTS)
    ]
    write_lines(pardec.folder / "data" / "jsonl" / "test.jsonl", prompts)
    pardec.good(
        "run", "--model", model, "--decoder", "ar,prompt-lookup", "--dataset", "jsonl",
        "--data-root", "data", "--max-new-tokens", 4, "--ignore-eos", "--batch-size", 2,
        "--progress", "none", "--db", "r.sqlite",
    )
    return pardec.folder / "r.sqlite"


@pytest.fixture(scope="module")
def rows(pardec, db):
    """The rows of `compare`, by arm."""
    shown = json.loads(pardec.good("compare", "--db", db, "--format", "json"))["rows"]
    return {row["arm"]: row for row in shown}


@pytest.fixture
def jobs(db, arm):
    """The times of the jobs of an arm."""
    return query(
        db,
        "SELECT total_ns, first_token_ns FROM job JOIN run ON run.id = run_id WHERE label = ?",
        arm,
    )


@every_arm
def test_each_prompt_is_a_job_with_its_own_time(rows, jobs, arm):
    assert rows[arm]["n"] == len(jobs) == PROMPTS
    assert len({job["total_ns"] for job in jobs}) > PROMPTS // 2


@every_arm
@pytest.mark.parametrize("key", ["latency", "first_token"])
@pytest.mark.parametrize("p", [50, 95, 99])
def test_percentiles_are_numpys(rows, jobs, arm, key, p):
    column = {"latency": "total_ns", "first_token": "first_token_ns"}[key]
    expected = numpy.percentile([job[column] * 1e-9 for job in jobs], p)
    assert rows[arm][f"{key}_p{p}_s"] == pytest.approx(expected, rel=1e-12, abs=0)


def test_latencies_are_drawn(pardec, db, rows):
    words = ["--x", "batch_size", "--y", "latency_p95_s", "--script"]
    script = pardec.good("plot", "--db", db, *words)
    assert f"{rows['ar']['latency_p95_s']:.4g}"[:4] in script
