"""`pardec score --metric likelihood`: what transformers says of the same answers behind the same questions, turn by turn."""
import json
import math
import shutil
import sys

from reference import torch, transformers
from tokenizers import Tokenizer

from harness import ROOT, Checks, change, query, scratch

TOKENIZER = ROOT / "experiments/quickstart/tokenizer.json"
SCORES = "SELECT generation_id, field, value, details FROM score WHERE metric = 'likelihood' ORDER BY generation_id, field"


def log_likelihood(network, prompt, answer):
    """Sum over the answer's ids, in float64 from float32 logits."""
    with torch.no_grad():
        rows = network(torch.tensor([prompt + answer])).logits[0].double().log_softmax(-1)
    return sum(rows[len(prompt) - 1 + i, token].item() for i, token in enumerate(answer))


def same_as_transformers(check, db, model):
    network = transformers.AutoModelForCausalLM.from_pretrained(str(model), dtype=torch.float32).eval()
    tokenizer = Tokenizer.from_file(str(TOKENIZER))
    stored = {(row["generation_id"], row["field"]): row for row in query(db, SCORES)}
    worst, totals, wanted = 0.0, {}, 0
    for row in query(db, """SELECT generation.id, label, dataset.name, generation.fields AS answers, sample.fields FROM generation JOIN run ON run.id = run_id
                            JOIN sample ON sample.id = sample_id JOIN dataset ON dataset.id = sample.dataset_id WHERE dataset.name <> 'oa-mine'"""):
        text = ""
        for answer, field in zip(json.loads(row["answers"]), json.loads(row["fields"])):
            text += field["question"] + "\n"
            prompt, ids = tokenizer.encode(text).ids, tokenizer.encode(answer["text"], add_special_tokens=False).ids
            text += answer["text"] + "\n\n"
            got = stored.get((row["id"], field["name"]))
            if not ids or len(prompt) + len(ids) > 2048:
                check(got is None, f"{row['id']} {field['name']}: nothing to score")
                continue
            wanted += 1
            if not check(got is not None, f"{row['id']} {field['name']} is scored"):
                continue
            expected, details = log_likelihood(network, prompt, ids), json.loads(got["details"])
            worst = max(worst, abs(details["log_likelihood"] / expected - 1), abs(got["value"] * len(ids) / expected - 1))
            check(details["tokens"] == len(ids), f"{row['id']} {field['name']}: {details['tokens']} ids, {len(ids)} expected")
            total = totals.setdefault((row["name"], row["label"]), [0.0, 0])
            total[0], total[1] = total[0] + expected, total[1] + len(ids)
    check(len(stored) == wanted > 8 and worst < 1e-5, f"{wanted} turns within {worst:.2g} of transformers', {len(stored)} stored")
    return {key: total / tokens for key, (total, tokens) in totals.items()}


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        writer, reader = pardec.synthesise("writer", seed=2, vocab_size=4096), pardec.synthesise("reader", seed=9, vocab_size=4096)
        for folder in (writer, reader):
            shutil.copy(TOKENIZER, folder)
        pardec.good("run", "--model", writer, "--decoder", "ar,prompt-lookup", "--dataset", "vicuna-bench,mt-bench,oa-mine", "--limit", 3, "--max-new-tokens", 90,
                    "--db", "r.sqlite", "--progress", "none")
        db = pardec.folder / "r.sqlite"
        # An empty answer, and one of more than the network's positions.
        for text, generation in (("", 1), ("word " * 3000, 2)):
            fields = json.loads(query(db, "SELECT fields FROM generation WHERE id = ?", generation)[0]["fields"])
            fields[0]["text"] = text
            change(db, "UPDATE generation SET fields = ? WHERE id = ?", json.dumps(fields), generation)
        table = json.loads(pardec.good("score", "--db", db, "--metric", "likelihood", "--model", reader, "--chat-template", "plain", "--dtype", "fp32", "--threads", 1,
                                       "--format", "json"))
        expected = same_as_transformers(check, db, reader)
        got = {(row["dataset"].split()[0], row["arm"]): row["score"] for row in table["rows"]}
        check(set(got) == set(expected) and all(math.isclose(got[key], expected[key], rel_tol=1e-5) for key in expected), f"means by token {got}, expected {expected}")
        notes = " ".join(table["notes"])
        check("no likelihood of oa-mine" in notes and "repeats itself is likely" in notes, f"what it is not of, and how to read it: {notes}")
        before = query(db, SCORES)
        rows = json.loads(pardec.good("compare", "--db", db, "--format", "json"))["rows"]
        shown = {(row["dataset"].split()[0], row["arm"]): row.get("log_likelihood") for row in rows}
        check(all(shown[key] == got[key] for key in got), f"compare shows them: {shown}")
        for what, args, says in (("no network", ["--metric", "likelihood"], "name one with --model DIR"),
                                 ("a network for nothing", ["--model", reader], "--model belongs to --metric likelihood"),
                                 ("no such network", ["--metric", "likelihood", "--model", "nowhere"], "nowhere")):
            ran = pardec("score", "--db", db, *args)
            check(ran.returncode == 2 and says in ran.stderr and len(ran.stderr.splitlines()) == 1, f"{what}: exit {ran.returncode}: {ran.stderr}")
        check(query(db, SCORES) == before, "and nothing is stored")
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
