"""The quickstart model: transformers loads it and chooses the same ids; what its files say of it holds.

Usage: quickstart_test.py PARDEC
On 120 test titles of ../shared/data where they are, else on the project's own. Greedy ids of `ar` are held against the argmax of one
forward of transformers over prompt and answer, for a tenth of the titles also against its `generate`; `speculative` with the draft gives the
same answers in fewer forwards. Every value of the job that README.md shows is right. The scores of the test titles are held against floors below what the model card reports on all of them.
"""
import hashlib
import json
import sys

import torch
from transformers import AutoModelForCausalLM

from harness import DATA, ROOT, Checks, check_first_answer, query, scratch

MODEL, DRAFT = ROOT / "experiments/quickstart/model", ROOT / "experiments/quickstart/draft"
FLOOR = {"oa-mine": 0.40, "ae-110k": 0.55}
MANY = 1.5  # tokens per forward of speculative
CLOSE = 0.06  # F1 of hpd below that of ar at most, on a part of the titles


def sha256(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()


def recorded(folder, check):
    """The weights are those of the recorded run."""
    record = json.loads((folder / "training.json").read_text())
    check(record["finished"] and record["result"]["model_sha256"] == sha256(folder / "model.safetensors"), f"{folder.name}: other weights than recorded")
    check(record["settings"]["tokenizer_sha256"] == sha256(folder / "tokenizer.json") == sha256(MODEL / "tokenizer.json"), f"{folder.name}: another tokenizer")
    rows = (folder / "loss.csv").read_text().splitlines()
    check(len(rows) == record["result"]["steps"] + 1, f"{folder.name}: loss.csv has {len(rows) - 1} updates")


def ids_agree(trace, model, generate, check):
    prompt = [token for token, step in zip(trace["tokens"], trace["step"]) if step == 0]
    chosen = [trace["predicts"][row] for row in trace["emitted"]]
    with torch.inference_mode():
        logits = model(torch.tensor([prompt + chosen[:-1]])).logits[0, len(prompt) - 1:]
        check(logits.argmax(-1).tolist() == chosen, f"{trace['request']}: {chosen}, transformers {logits.argmax(-1).tolist()}")
        if generate:
            ids = model.generate(torch.tensor([prompt]), max_new_tokens=len(chosen), do_sample=False, pad_token_id=3)[0, len(prompt):].tolist()
            check(ids == chosen, f"{trace['request']}: {chosen}, generate {ids}")
    return len(chosen)


def main(program):
    torch.set_num_threads(1)
    check = Checks()
    for folder in (MODEL, DRAFT):
        recorded(folder, check)
    check(sum(f.stat().st_size for folder in (MODEL, DRAFT) for f in folder.glob("*.safetensors")) <= 20e6, "more than 20 MB of weights")
    check((DRAFT / "model.safetensors").stat().st_size <= 4e6, "more than 4 MB of draft")

    real = (DATA / "oa-mine" / "test.jsonl").exists() and (DATA / "ae-110k" / "test.jsonl").exists()
    titles_of = ["--data-root", DATA, "--limit", 60, "--unseen"] if real else []
    if not real:
        print(f"{DATA} has no oa-mine and ae-110k: the project's own titles instead")
    with scratch(program) as pardec:
        for decoder in ("ar", "hpd"):
            for flags in ((), ("--dtype", "bf16"), ("--threads", 2)):
                check_first_answer(check, pardec, decoder, "--model", MODEL, *flags)
        pardec.good("run", "--model", MODEL, "--draft-model", DRAFT, "--decoder", "ar,hpd,speculative", "--set", "hpd.stack=2", "--dataset", "oa-mine,ae-110k",
                    *titles_of, "--db", "q.sqlite", "--trace", "trace.jsonl", timeout=1200)
        model = AutoModelForCausalLM.from_pretrained(MODEL, dtype=torch.float32).eval()
        titles = tokens = 0
        for line in (pardec.folder / "trace.jsonl").read_text().splitlines():
            trace = json.loads(line)
            if trace["decoder"] == "ar":
                tokens += ids_agree(trace, model, titles % 10 == 0, check)
                titles += 1
        check(titles == 120 or not real and titles >= 70, f"{titles} traces of ar")
        print(f"{titles} titles, {tokens} greedy ids compared with transformers")
        rows = query(pardec.folder / "q.sqlite", """SELECT run.label AS arm, dataset.name AS dataset, avg(generation.error IS NOT NULL) AS failed FROM generation
                     JOIN run ON run.id = generation.run_id JOIN dataset ON dataset.id = run.dataset_id GROUP BY 1, 2""")
        check(len(rows) == 6 and all(row["failed"] == 0 for row in rows), f"failed answers: {rows}")
        compared = json.loads(pardec.good("compare", "--db", "q.sqlite", "--format", "json"))
        scores = {(row["dataset"], row["arm"]): row["f1_micro"] for row in compared["rows"]}
        print("micro F1:", scores)
        for row in compared["rows"]:
            if row["arm"] == "speculative":
                check(row["identical"] == 1 and row["tokens_per_forward"] > MANY, f"speculative: {row}")
        for dataset, floor in FLOOR.items() if real else ():
            ar, hpd = scores[dataset, "ar"], scores[dataset, "hpd"]
            check(ar >= floor, f"{dataset}: micro F1 of ar {ar}, floor {floor}")
            check(hpd >= ar - CLOSE, f"{dataset}: micro F1 of hpd {hpd}, of ar {ar}")
    return check.finish()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
