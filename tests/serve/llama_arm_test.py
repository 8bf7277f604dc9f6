"""An unmodified llama.cpp server (package xllamacpp) as an arm of `run`, on SmolLM2's own file: its
greedy answers are those of `ar`, up to the first choice that the two programs' arithmetic cannot
tell apart. The file has 4 bits a weight; here they are unpacked, there they are multiplied as they
are.
"""

import json
import subprocess
import sys

import pytest
from harness import ROOT, SMOLLM2, clean_environment, query

sys.path.append(str(ROOT / "tests" / "judges"))
from llama_server_test import PEERS, free_port, listening, llama_server  # noqa: E402

# llama.cpp rounds activations to 8 bits for products with 4-bit weights, which moves logits by some
# tenths.
NEAR = 0.5


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    if not SMOLLM2.is_dir():
        pytest.skip(f"{SMOLLM2} is missing; scripts/fetch-smollm2 makes it")
    PEERS.mkdir(parents=True, exist_ok=True)
    port, log = free_port(), tmp_path_factory.mktemp("llama") / "log"
    with log.open("w") as out:
        server = subprocess.Popen(
            llama_server()(port), stdout=out, stderr=out, env=clean_environment(OMP_NUM_THREADS=1)
        )
    try:
        assert listening(port, server), log.read_text()[-2000:]
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.kill()
        server.wait()


def answers(db, label):
    rows = query(
        db,
        "SELECT sample.key AS sample, generation.tokens, generation.error, job.top2 FROM generation"
        " JOIN run ON run.id = generation.run_id JOIN sample ON sample.id = sample_id JOIN job ON"
        " job.id = job_id WHERE run.label = ?",
        label,
    )
    assert not any(row["error"] for row in rows), rows
    return {
        row["sample"]: (json.loads(row["tokens"]), json.loads(row["top2"] or "{}")) for row in rows
    }


@pytest.mark.whole
@pytest.mark.parametrize("mode", ["auto", "text"])
def test_its_greedy_ids_are_those_of_generate_as_far_as_the_gaps_tell(pardec, url, mode, tmp_path):
    prompts = tmp_path / "prompts.jsonl"
    asks = [
        "What is the capital of France?", "Name three uses of baking soda.",
        "Why is the sky blue?", "Write a line about the sea.", "How many days has a leap year?",
        "What do owls eat?", "Give me a word that rhymes with light.", "Who wrote Hamlet?",
    ]  # fmt: skip
    prompts.write_text("".join(json.dumps({"prompt": ask}) + "\n" for ask in asks))
    db = tmp_path / "l.sqlite"
    pardec.good(
        "run", "--model", SMOLLM2, "--dataset", f"own={prompts}", "--max-new-tokens", 24, "--arm",
        "here=ar", "--arm", f"there=service,mode={mode},url={url},model=any", "--db", db,
        "--progress", "none", timeout=900,
    )  # fmt: skip
    here, there = answers(db, "here"), answers(db, "there")
    config = json.loads(query(db, "SELECT config FROM run WHERE label = 'there'")[0]["config"])
    assert config["service"]["prompts"] == ("ids" if mode == "auto" else mode)
    assert len(here) == len(there) == len(asks)
    equal = 0
    for key, (ids, top2) in here.items():
        theirs = there[key][0]
        at = next((i for i, (a, b) in enumerate(zip(ids, theirs)) if a != b), None)
        if at is None and len(ids) == len(theirs):
            equal += 1
            continue
        at = min(len(ids), len(theirs)) if at is None else at
        gap = top2["stream"][at] if at < len(top2["stream"]) else 0
        print(f"{key}: differs at {at} of {len(ids)}, gap {gap:.3f}")
        assert gap < NEAR, (key, at, gap, ids, theirs)
    print(f"{mode}: {equal} of {len(asks)} answers are equal")
    assert equal >= len(asks) // 4
