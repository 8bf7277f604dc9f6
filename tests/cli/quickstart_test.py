"""The quickstart model: transformers loads it and chooses the same ids; what its files say holds.

On 16 test titles of ../shared/data where they are, else on the project's own. The greedy ids of
`ar` are the argmax of one forward of transformers over prompt and answer, and for a tenth of the
titles also those of its `generate`; `speculative` with the draft gives the same answers in fewer
forwards. Every value of the job that README.md shows is right. The scores of the test titles are
held against floors below what the model card reports on all titles.
"""

import hashlib
import json

import pytest
from harness import DATA, ROOT, check_first_answer, query
from reference import torch, transformers

MODEL, DRAFT = ROOT / "experiments/quickstart/model", ROOT / "experiments/quickstart/draft"
REAL = all((DATA / dataset / "test.jsonl").exists() for dataset in ("oa-mine", "ae-110k"))
TITLES = 8  # of each dataset
FLOOR = {"oa-mine": 0.40, "ae-110k": 0.55}
MANY = 1.5  # tokens per forward of speculative
CLOSE = 0.06  # F1 of hpd below that of ar at most, on a part of the titles

both_networks = pytest.mark.parametrize("folder", [MODEL, DRAFT], ids=["model", "draft"])


def sha256(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()


@pytest.fixture
def record(folder):
    """What was recorded of the training run."""
    return json.loads((folder / "training.json").read_text())


@both_networks
def test_the_weights_are_those_of_the_recorded_run(folder, record):
    assert record["finished"]
    assert record["result"]["model_sha256"] == sha256(folder / "model.safetensors")


@both_networks
def test_the_tokenizer_is_that_of_the_recorded_run(folder, record):
    recorded = record["settings"]["tokenizer_sha256"]
    assert recorded == sha256(folder / "tokenizer.json") == sha256(MODEL / "tokenizer.json")


@both_networks
def test_the_losses_of_all_updates_are_recorded(folder, record):
    rows = (folder / "loss.csv").read_text().splitlines()
    assert len(rows) == record["result"]["steps"] + 1


def test_the_weights_are_small():
    files = [file for folder in (MODEL, DRAFT) for file in folder.glob("*.safetensors")]
    assert sum(file.stat().st_size for file in files) <= 20e6
    assert (DRAFT / "model.safetensors").stat().st_size <= 4e6


@pytest.mark.parametrize("decoder", ["ar", "hpd"])
@pytest.mark.parametrize(
    "flags", [(), ("--dtype", "bf16"), ("--threads", 2)], ids=["plain", "bf16", "two threads"]
)
def test_the_first_answer_of_the_readme_is_right(pardec, decoder, flags):
    check_first_answer(pardec, decoder, "--model", MODEL, *flags)


@pytest.fixture(scope="module")
def db(pardec):
    """A traced run of three decoders on the titles."""
    titles = ["--data-root", DATA, "--unseen"] if REAL else []
    pardec.good(
        "run", "--model", MODEL, "--draft-model", DRAFT, "--decoder", "ar,hpd,speculative", "--set",
        "hpd.stack=2", "--dataset", "oa-mine,ae-110k", *titles, "--limit", TITLES, "--db",
        "q.sqlite", "--trace", "trace.jsonl", "--progress", "none", timeout=1200,
    )
    return pardec.folder / "q.sqlite"


@pytest.fixture(scope="module")
def titles(pardec, db):
    """(name, prompt, generated tokens) of each title that `ar` answered."""
    found = []
    for line in (pardec.folder / "trace.jsonl").read_text().splitlines():
        trace = json.loads(line)
        if trace["decoder"] == "ar":
            prompt = [t for t, step in zip(trace["tokens"], trace["step"]) if step == 0]
            chosen = [trace["predicts"][row] for row in trace["emitted"]]
            found.append((trace["request"], prompt, chosen))
    return found


@pytest.fixture(scope="module")
def network():
    """The model as transformers reads it."""
    return transformers.AutoModelForCausalLM.from_pretrained(MODEL, dtype=torch.float32).eval()


def test_every_title_is_traced(titles):
    assert len(titles) == 2 * TITLES


def test_ids_are_the_argmax_of_a_forward_of_transformers(titles, network):
    for name, prompt, chosen in titles:
        with torch.inference_mode():
            logits = network(torch.tensor([prompt + chosen[:-1]])).logits[0, len(prompt) - 1 :]
        assert logits.argmax(-1).tolist() == chosen, name


def test_ids_are_those_of_transformers_generate(titles, network):
    for name, prompt, chosen in titles[::10]:
        with torch.inference_mode():
            ids = network.generate(
                torch.tensor([prompt]), max_new_tokens=len(chosen), do_sample=False, pad_token_id=3
            )
        assert ids[0, len(prompt) :].tolist() == chosen, name


def test_no_answer_fails(db):
    rows = query(
        db,
        "SELECT run.label AS arm, dataset.name AS dataset, avg(generation.error IS NOT NULL) AS"
        " failed FROM generation JOIN run ON run.id = generation.run_id JOIN dataset ON dataset.id"
        " = run.dataset_id GROUP BY 1, 2",
    )
    assert len(rows) == 6
    assert all(row["failed"] == 0 for row in rows), rows


@pytest.fixture(scope="module")
def compared(pardec, db):
    """The rows of `compare`, by dataset and arm."""
    rows = json.loads(pardec.good("compare", "--db", db, "--format", "json"))["rows"]
    return {(row["dataset"], row["arm"]): row for row in rows}


@pytest.mark.parametrize("dataset", FLOOR)
def test_speculative_gives_the_same_answers_in_fewer_forwards(compared, dataset):
    row = compared[dataset, "speculative"]
    assert row["identical"] == 1
    assert row["tokens_per_forward"] > MANY


@pytest.mark.skipif(not REAL, reason=f"{DATA} has no oa-mine and ae-110k")
@pytest.mark.parametrize("dataset", FLOOR)
def test_the_scores_of_the_test_titles_are_above_their_floors(compared, dataset):
    ar, hpd = (compared[dataset, arm]["f1_micro"] for arm in ("ar", "hpd"))
    assert ar >= FLOOR[dataset]
    assert hpd >= ar - CLOSE
