"""Unmodified clients from PyPI, with the commands of experiments/serving.md. Their figures are those
of `generate`, of the replies, or of another backend on the same checkpoint.
"""

import json
import os
import subprocess

import pytest
from clients import installed, run_page
from harness import ROOT
from server import serving

QUICKSTART = ROOT / "experiments" / "quickstart"
TASKS = ROOT / "tests" / "serve" / "clients" / "tasks"


@pytest.fixture(scope="module")
def server(pardec):
    with serving(
        pardec, "--model", QUICKSTART / "model", "--draft-model", QUICKSTART / "draft", "--decoder",
        "ar,hpd,speculative,prompt-lookup",
    ) as server:
        yield server


@pytest.fixture(scope="module")
def lm_eval(server, tmp_path_factory):
    """The folder of lm-eval's results."""
    installed("lm-eval", "lm_eval")
    out = tmp_path_factory.mktemp("lm-eval")
    run_page("lm-eval", "lm_eval", server, out)
    return out


def samples_of(folder):
    """The samples and the results of one run of lm-eval."""
    (samples,), (results,) = folder.rglob("samples_*.jsonl"), folder.rglob("results_*.json")
    lines = [json.loads(line) for line in samples.read_text().splitlines()]
    return sorted(lines, key=lambda one: one["doc_id"]), json.loads(results.read_text())["results"]


def scores_of(sample):
    """Log-likelihood and whether it is the greedy one, of each choice."""
    return [(float(value), str(greedy)) for value, greedy in sample["filtered_resps"]]


def test_lm_evals_scores_are_those_of_its_own_backend(server, lm_eval, tmp_path):
    program = installed("lm-eval", "lm_eval") / "lm_eval"
    # The checkpoint has no tokenizer_config.json, from which lm-eval would take this id.
    prefix = server.get("/tokenizer_info")[1]["eos_token_ids"][0]
    own = subprocess.run(
        [
            program, "--model", "hf", "--tasks", "pardec_products", "--include_path", ".",
            "--model_args", f"pretrained={QUICKSTART / 'model'},dtype=float32,prefix_token_id={prefix}", "--device", "cpu",
            "--log_samples", "--output_path", tmp_path,
        ],
        cwd=TASKS, capture_output=True, text=True,
        env={**os.environ, "HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
    )
    assert own.returncode == 0, own.stderr[-3000:]
    (served, served_results), (plain, plain_results) = (
        samples_of(lm_eval / "completions"), samples_of(tmp_path),
    )
    assert len(served) == len(plain) == 6
    for a, b in zip(served, plain):
        for (x, greedy), (y, want) in zip(scores_of(a), scores_of(b), strict=True):
            assert x == pytest.approx(y, abs=2e-4)
            assert greedy == want
    for metric in ("acc,none", "acc_norm,none"):
        assert (
            served_results["pardec_products"][metric] == plain_results["pardec_products"][metric]
        )


def test_lm_evals_chat_answers_are_those_of_generate(pardec, lm_eval):
    samples, _ = samples_of(lm_eval / "chat")
    assert len(samples) == 6
    for sample in samples:
        prompt = f"{sample['doc']['title']}\nBrand:"
        want = json.loads(
            pardec.good(
                "generate", "--model", QUICKSTART / "model", "--prompt", prompt,
                "--max-new-tokens", 8, "--format", "json",
            )
        )["text"].split("\n")[0]
        assert sample["resps"][0][0] == want


def test_inspects_answers_and_counts_are_those_of_generate(pardec, server, tmp_path):
    run_page("inspect-ai", "inspect", server, tmp_path)
    (file,) = tmp_path.glob("*.json")
    log = json.loads(file.read_text())
    assert log["status"] == "success"
    for sample in log["samples"]:
        want = json.loads(
            pardec.good(
                "generate", "--model", QUICKSTART / "model", "--prompt", sample["input"],
                "--max-new-tokens", 12, "--format", "json",
            )
        )
        assert sample["output"]["choices"][0]["message"]["content"] == want["text"]
        assert sample["output"]["usage"]["output_tokens"] == want["counters"]["chosen"]


def test_guidellm_counts_what_was_answered(server, tmp_path):
    before = counted(server)
    run_page("guidellm", "guidellm", server, tmp_path)
    report = json.loads((tmp_path / "guidellm.json").read_text())
    requests = report["benchmarks"][0]["requests"]["successful"]
    assert len(requests) == 6
    assert report["benchmarks"][0]["requests"]["errored"] == []
    answered = sum(one["output_metrics"]["text_tokens"] for one in requests)
    assert answered == 6 * 16
    assert counted(server) - before >= answered


def test_aiperf_shows_the_acceptance(server, tmp_path):
    before = guesses(server)
    run_page("AIPerf", "aiperf", server, tmp_path, offline=False)
    (file,) = tmp_path.rglob("profile_export_aiperf.json")
    report = json.loads(file.read_text())
    assert report["request_count"]["avg"] == 6
    drafted, accepted = (after - was for after, was in zip(guesses(server), before))
    assert report["total_draft_tokens"]["avg"] == drafted > 0
    assert report["total_accepted_draft_tokens"]["avg"] == accepted > 0
    rate = report["spec_decode_overall_draft_acceptance_rate"]["avg"]
    assert rate == pytest.approx(100 * accepted / drafted)


def metric(server, name):
    """The sum of a counter of the server over its labels."""
    lines = server.request("GET", "/metrics")[2].decode().splitlines()
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(f"{name}{{"))


def guesses(server):
    """Tokens guessed and accepted, under vLLM's names."""
    return [
        metric(server, f"vllm:spec_decode_num_{what}_tokens_total")
        for what in ("draft", "accepted")
    ]


def counted(server):
    """The tokens that the server says it generated."""
    return metric(server, "pardec:generation_tokens_total")
