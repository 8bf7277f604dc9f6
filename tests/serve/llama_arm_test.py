"""An unmodified llama.cpp server (package xllamacpp) as an arm of `run`, on SmolLM2's own file: its
greedy answers are those of `ar`, up to the first choice that the two programs' arithmetic cannot
tell apart. The file has 4 bits a weight. In the checkpoint folder they are unpacked; the file
itself is computed with as it is.
"""

import json
import subprocess
import sys

import pytest
from harness import ROOT, SMOLLM2, clean_environment, query

sys.path.append(str(ROOT / "tests" / "judges"))
from llama_server_test import PEERS, free_port, gguf, listening, llama_server  # noqa: E402

# llama.cpp rounds activations to 8 bits for products with 4-bit weights, which moves logits by some
# tenths.
NEAR = 0.5
ASKS = [
    "What is the capital of France?", "Name three uses of baking soda.",
    "Why is the sky blue?", "Write a line about the sea.", "How many days has a leap year?",
    "What do owls eat?", "Give me a word that rhymes with light.", "Who wrote Hamlet?",
]  # fmt: skip
MORE = [
    f"{ask} {what}?"
    for ask in ["What is", "Tell me about", "Explain", "Where does one find"]
    for what in [
        "iron", "a river", "the moon", "bread", "a violin", "rain", "the number seven", "glass",
    ]
]  # fmt: skip


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


def write_prompts(file, asks):
    file.write_text("".join(json.dumps({"prompt": ask}) + "\n" for ask in asks))
    return f"own={file}"


def gaps(here, there):
    """Of the answers that differ: the gap between the two best logits at the first difference."""
    assert len(here) == len(there)
    found = {}
    for key, (ids, top2) in here.items():
        theirs = there[key][0]
        at = next((i for i, (a, b) in enumerate(zip(ids, theirs)) if a != b), None)
        if at is None and len(ids) == len(theirs):
            continue
        at = min(len(ids), len(theirs)) if at is None else at
        found[key] = top2["stream"][at] if at < len(top2["stream"]) else 0
        print(f"{key}: differs at {at} of {len(ids)}, gap {found[key]:.3f}")
    print(f"{len(here) - len(found)} of {len(here)} answers are equal")
    return found


@pytest.mark.whole
@pytest.mark.parametrize("mode", ["auto", "text"])
def test_its_greedy_ids_are_those_of_generate_as_far_as_the_gaps_tell(pardec, url, mode, tmp_path):
    db = tmp_path / "l.sqlite"
    pardec.good(
        "run", "--model", SMOLLM2, "--dataset", write_prompts(tmp_path / "prompts.jsonl", ASKS),
        "--max-new-tokens", 24, "--arm", "here=ar", "--arm",
        f"there=service,mode={mode},url={url},model=any", "--db", db, "--progress", "none",
        timeout=900,
    )  # fmt: skip
    here, there = answers(db, "here"), answers(db, "there")
    config = json.loads(query(db, "SELECT config FROM run WHERE label = 'there'")[0]["config"])
    assert config["service"]["prompts"] == ("ids" if mode == "auto" else mode)
    assert len(here) == len(ASKS)
    found = gaps(here, there)
    assert max(found.values(), default=0) < NEAR
    assert len(found) <= len(ASKS) - len(ASKS) // 4


@pytest.mark.whole
def test_the_file_itself_gives_its_greedy_ids_as_far_as_the_gaps_tell(pardec, url, tmp_path):
    """`exact` computes in fp32 with the file's numbers: it tells whose arithmetic is nearer."""
    db, prompts = tmp_path / "g.sqlite", write_prompts(tmp_path / "prompts.jsonl", ASKS + MORE)
    run = ["run", "--model", gguf(), "--dataset", prompts, "--max-new-tokens", 24, "--db", db]
    quiet = ["--progress", "none"]
    pardec.good(
        *run, "--dtype", "gguf", "--arm", "here=ar", "--arm",
        f"there=service,url={url},model=any", *quiet, timeout=900,
    )  # fmt: skip
    pardec.good(*run, "--dtype", "fp32", "--arm", "exact=ar", *quiet, timeout=900)
    here, there, exact = (answers(db, label) for label in ["here", "there", "exact"])
    assert len(here) == 40
    assert max(gaps(here, there).values(), default=0) < NEAR
    of_ours, of_theirs = gaps(exact, here), gaps(exact, there)
    assert len(of_ours) <= len(of_theirs)
    assert max(of_ours.values(), default=0) < NEAR / 2
