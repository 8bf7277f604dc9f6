"""How fields are asked one by one: the limits of the IPPD paper and NarrativeQA's worked examples, where no flag says otherwise.

Usage: protocol_test.py PROGRAM

Truth: the paper's numbers, and the sample's files by Python's csv; the prompt is what the trace says was fed, decoded by the tokenizers package.
"""
import csv
import json
import shutil
import sys

from tokenizers import Tokenizer

from harness import ROOT, SAMPLES, Checks, query, records, scratch

LIMITS = {"narrativeqa": 40, "squad": 30, "race": 1, "jsonl": 64}  # of jsonl nothing is stated
STORY = SAMPLES / "narrativeqa"


def plan(pardec, *run):
    return json.loads(pardec.good("run", *run, "--dry-run", "--format", "json"))


def chosen(pardec, db, *run):
    """A run: how many ids each arm chose for a field, and what the run keeps, by dataset and arm."""
    pardec.good("run", *run, "--db", db)
    lengths, configs = {}, {}
    for row in query(pardec.folder / db, """SELECT label, dataset.name AS dataset, config, fields FROM generation JOIN run ON run.id = run_id
                                            JOIN dataset ON dataset.id = dataset_id"""):
        key = row["dataset"], row["label"]
        lengths.setdefault(key, set()).update(len(f["tokens"]) for f in json.loads(row["fields"]))
        configs[key] = json.loads(row["config"])
    return lengths, configs


def of_train(file):
    with open(STORY / file, encoding="utf-8", newline="") as lines:
        return [row for row in csv.DictReader(lines) if row["set"] == "train"]


def limits(check, pardec, run):
    notes = plan(pardec, *run)["notes"]
    for dataset, limit in LIMITS.items():
        words = (f"at most {limit} id", f"{5 if dataset == 'narrativeqa' else 0} worked examples")
        said = [n for n in notes if n.startswith(f"{dataset}, asked") and all(w in n for w in words)]
        check(len(said) == 1 and ("--per-field" in said[0]) == (dataset != "jsonl"), f"the plan, {dataset}: {notes}")
    notes = plan(pardec, "--decoder", "ar,hpd", "--dataset", "squad,narrativeqa")["notes"]
    check(not any("asked field by field" in n for n in notes), f"all fields at once: no such limit: {notes}")

    lengths, configs = chosen(pardec, "limits.sqlite", *run, "--trace", "limits.jsonl")
    for dataset, limit in LIMITS.items():
        check(lengths[dataset, "alone"] == lengths[dataset, "ippd"] == {limit}, f"{dataset}: answers of {lengths} ids, expected {limit}")
        check([configs[dataset, arm]["per_field"] for arm in ("alone", "ippd", "all")] == [limit, limit, 64], f"{dataset}: the runs keep their limit")
        check([configs[dataset, arm]["shots"] for arm in ("alone", "ippd", "all")] == ([5, 5, 0] if dataset == "narrativeqa" else [0, 0, 0]), f"{dataset}: shots")
    lengths, other = chosen(pardec, "three.sqlite", *run, "--per-field", 3, "--seed", 7)
    check({n for (_, arm), counts in lengths.items() if arm != "all" for n in counts} == {3}, f"--per-field 3: {lengths}")
    hashes = [of["narrativeqa", "ippd"]["shots_hash"] for of in (configs, other)]
    check(hashes[0] == hashes[1] != configs["squad", "ippd"]["shots_hash"], "worked examples do not depend on the seed")


def prompt(check, pardec):
    """Every train summary stands in it once, behind it one of its questions with the answer."""
    reader = Tokenizer.from_file(str(ROOT / "experiments/quickstart/tokenizer.json"))
    traces = [json.loads(line) for line in (pardec.folder / "limits.jsonl").read_text().splitlines()]
    found = [t for t in traces if t["decoder"] == "ippd" and t["examples"][0] in ("a1", "b2")]
    check(len(found) == 1, f"traces: {[(t['decoder'], t['request']) for t in traces]}")
    text = reader.decode([t for t, step in zip(found[0]["tokens"], found[0]["step"]) if step == 0], skip_special_tokens=False)
    summaries, questions = of_train("summaries.csv"), of_train("qaps.csv")
    check(len(summaries) == 5 and len(questions) == 10, "the sample has five train summaries of two questions")
    for story in summaries:
        shots = [f"{story['summary']}\n</summary>\nQuestion: {q['question']}\nAnswer: {q['answer1']}\n" for q in questions
                 if q["document_id"] == story["document_id"]]
        check(text.count(story["summary"]) == 1 and sum(shot in text for shot in shots) == 1, f"worked example {story['document_id']}: {text}")


def refusals(check, pardec, run):
    story = [*run[:2], "--decoder", "ippd", "--dataset", "narrativeqa", "--limit", 1, "--progress", "none", "--db", "story.sqlite"]
    pardec.good("run", *story)
    again = pardec("run", *story, "--resume", "--shots", 2)
    check(again.returncode == 2 and "shots: 5, now 2" in again.stderr, f"--resume with other shots: {again.stderr}")
    few = pardec.folder / "few" / "narrativeqa"
    shutil.copytree(STORY, few)
    lines = (few / "qaps.csv").read_text(encoding="utf-8").splitlines(True)
    (few / "qaps.csv").write_text("".join(line for line in lines if not line.startswith(("t1", "t2"))), encoding="utf-8")
    few = ["--decoder", "ippd", "--dataset", "narrativeqa", "--data-root", "few"]
    ran = pardec("run", *few, "--dry-run")
    check(ran.returncode == 2 and all(w in ran.stderr for w in ("5 worked examples", "train has 3", "--shots")), f"too few: {ran.stderr}")
    for count in (3, 0):
        check(any(f"{count} worked examples" in note for note in plan(pardec, *few, "--shots", count)["notes"]), f"--shots {count}")
    ran = pardec("run", "--decoder", "ippd,ar", "--dataset", "humaneval-x,longhealth", "--shots", 1, "--dry-run")
    check(ran.returncode == 0 and "longhealth, asked field by field" in ran.stdout and "humaneval-x: 1 worked example before each prompt" in ran.stdout,
          f"no train split: of the evaluated one: {ran.stdout} {ran.stderr}")
    of_titles = plan(pardec, "--decoder", "ippd", "--dataset", "oa-mine", "--shots", 4, "--split", "train")
    check(of_titles["rows"][0]["examples"] == len(records("oa-mine", "train")) - 4, f"what the prompt shows is not evaluated: {of_titles}")
    check(any("4 worked examples" in note for note in of_titles["notes"]), f"any dataset can have them: {of_titles['notes']}")
    (pardec.folder / "bare.txt").write_text("[context]\n{text}\n[field]\n{name}\n")
    ran = pardec("run", "--decoder", "ippd", "--dataset", "narrativeqa", "--prompt-file", "bare.txt", "--dry-run")
    check(ran.returncode == 2 and "[shot]" in ran.stderr, f"a wording without them: {ran.stderr}")


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        model = pardec.synthesise("protocol", max_position_embeddings=4096)
        run = ["--model", model, "--arm", "alone=ar,ask=separately", "--arm", "all=ar", "--decoder", "ippd", "--dataset", ",".join(LIMITS), "--limit", 1,
               "--max-new-tokens", 6, "--ignore-eos", "--progress", "none", "--warmup", 0]
        limits(check, pardec, run)
        prompt(check, pardec)
        refusals(check, pardec, run)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
