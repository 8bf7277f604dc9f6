"""A network's own answers as its data: prompts that are made, answered by a run, filtered and learned.

Usage: own_answers_test.py PROGRAM
"""
import collections
import glob
import json
import os
import sys

from harness import DATA, ROOT, Checks, query, scratch

QUICK = ROOT / "experiments" / "quickstart" / "model"


def published_prompts():
    """What people are compared on, which nobody may learn."""
    for file in glob.glob(os.path.join(DATA, "mt_bench", "*.jsonl")) + glob.glob(os.path.join(DATA, "vicuna_bench", "*.jsonl")):
        with open(file, encoding="utf-8") as lines:
            for line in lines:
                yield from json.loads(line).get("turns", [])


def made_prompts(check, pardec):
    def made(folder, *flags):
        pardec.good("data", "prompts", "--data-root", folder, *flags)
        return [json.loads(line) for line in (pardec.folder / folder / "jsonl" / "train.jsonl").read_text().splitlines()]

    usual = made("usual")
    texts = [record["prompt"] for record in usual]
    check(len(set(texts)) == len(texts) == 5000, f"{len(set(texts))} different prompts of {len(texts)}, expected 5,000")
    check(not any("{" in text for text in texts), "a prompt has a place that was not filled")
    counts = collections.Counter(record["category"] for record in usual)
    check(len(counts) == 9 and max(counts.values()) - min(counts.values()) <= 1, f"categories: {counts}")
    check(made("same", "--examples", 40, "--seed", 1) == usual[:40], "fewer prompts of one seed are the first ones")
    check(made("other", "--examples", 40, "--seed", 2) != usual[:40], "another seed makes other prompts")
    check(not set(texts) & set(published_prompts()), "a made prompt stands in a benchmark")
    again = pardec("data", "prompts", "--data-root", "usual")
    check(again.returncode == 2 and "is there" in again.stderr, f"made twice: {again.returncode} {again.stderr}")
    check(pardec("data", "prompts", "--data-root", "many", "--examples", 10**5).returncode == 2, "more prompts than there are")
    check("5000" in pardec.good("data", "check", "--data-root", "usual", "--dataset", "jsonl", "--split", "train").replace(",", ""), "data check reads them")


def repetition(ids):
    grams = [tuple(ids[i:i + 4]) for i in range(len(ids) - 3)]
    return 1 - len(set(grams)) / len(grams) if grams else 0


def learned_answers(check, pardec):
    run = ("run", "--model", QUICK, "--dataset", "oa-mine", "--limit", 12, "--block", 6, "--db", "own.sqlite", "--progress", "none")
    pardec.good(*run, "--arm", "ar=ar", "--arm", "hpd=hpd,stack=1", "--split", "test")
    one = query(pardec.folder / "own.sqlite", "SELECT invocation FROM run LIMIT 1")[0]["invocation"]
    rows = query(pardec.folder / "own.sqlite", "SELECT g.tokens, g.fields, g.error FROM generation g JOIN run r ON r.id = g.run_id WHERE r.label = 'ar'")
    answers = [(json.loads(tokens), json.loads(fields)) for tokens, fields, error in (row.values() for row in rows) if error is None]
    finished = [ids for ids, fields in answers if not any(field["stop"] in ("limit", "context") for field in fields)]
    check(len(answers) == 12 and finished, f"{len(answers)} answers, {len(finished)} of them finished")
    middle = sorted(map(len, finished))[len(finished) // 2]
    worst = sorted(map(repetition, finished))[len(finished) // 2]

    def train(out, *flags):
        ran = pardec("train", "--model", QUICK, "--dataset", "oa-mine", "--split", "test", "--format", "ar", "--lora-rank", 2, "--lr", 1e-9, "--steps", 1, "--validation", 0,
                     "--batch-tokens", 100000, "--threads", 1, "--progress", "none", "--db", "own.sqlite", "--out", out, *flags)
        record = pardec.folder / out / "training.json"
        return ran, json.loads(record.read_text()) if record.exists() else {}

    own = ("--from-run", one, "--from-arm", "ar")
    for name, flags, keeps in [("all", ["--max-repetition", 1], lambda ids: True), ("short", ["--max-answer-tokens", middle, "--max-repetition", 1], lambda ids: len(ids) <= middle),
                               ("long", ["--min-answer-tokens", middle, "--max-repetition", 1], lambda ids: len(ids) >= middle),
                               ("fresh", ["--max-repetition", f"{worst:.6f}"], lambda ids: repetition(ids) <= float(f"{worst:.6f}"))]:
        ran, record = train(name, *own, *flags)
        wanted = sum(map(keeps, finished))
        counts = record.get("own_answers", {}).get("oa-mine", {})
        check(ran.returncode == 0 and counts.get("kept") == wanted == record["examples"]["train"] and counts.get("unfinished") == 12 - len(finished),
              f"{name}: {wanted} answers expected, {counts}: {ran.stderr}")
        check(f"{wanted} answer" in ran.stderr, f"{name}: {ran.stderr}")
    # Nobody finds a network's own greedy answers likelier than itself.
    ran, theirs = train("theirs", "--limit", 12)
    ours = json.loads((pardec.folder / "all" / "training.json").read_text())["result"]["train_loss"]
    check(ran.returncode == 0 and ours < 0.7 * theirs["result"]["train_loss"], f"loss of its own answers {ours}, of the dataset's {theirs['result']['train_loss']}")

    for name, flags, said in [("two arms", ["--from-run", one], "--from-arm"), ("no such run", ["--from-run", "zzz"], "zzz"), ("no such arm", ["--from-run", one, "--from-arm", "x"], "ar, hpd"),
                              ("another split", [*own, "--split", "train"], "split"), ("another dataset", [*own, "--dataset", "ae-110k"], "oa-mine"),
                              ("none is left", [*own, "--min-answer-tokens", 100000], "filters"), ("a share above 1", [*own, "--max-repetition", 2], "--max-repetition"),
                              ("an arm without a run", ["--from-arm", "ar"], "--from-run")]:
        ran, _ = train(name.replace(" ", "-"), *flags)
        check(ran.returncode == 2 and said in ran.stderr, f"{name}: {ran.returncode} {ran.stderr}")
    # Open answers that were cut are learned as far as they go, where that is asked for.
    pardec.good("run", "--model", QUICK, "--dataset", "vicuna-bench", "--limit", 4, "--decoder", "ar", "--max-new-tokens", 6, "--db", "cut.sqlite", "--progress", "none")
    one_open = query(pardec.folder / "cut.sqlite", "SELECT invocation FROM run")[0]["invocation"]
    for name, keep, code in [("open-cut", ["--keep-cut"], 0), ("open-whole", [], 2)]:
        ran = pardec("train", "--model", QUICK, "--dataset", "vicuna-bench", "--split", "test", "--format", "ar", "--lora-rank", 2, "--steps", 1, "--validation", 0, "--threads", 1,
                     "--progress", "none", "--db", "cut.sqlite", "--from-run", one_open, "--max-repetition", 1, "--out", name, *keep)
        check(ran.returncode == code and (code == 0 or "filters" in ran.stderr), f"{name}: {ran.returncode} {ran.stderr}")
    counts = json.loads((pardec.folder / "open-cut" / "training.json").read_text())["own_answers"]["vicuna-bench"]
    there = len(query(pardec.folder / "cut.sqlite", "SELECT id FROM generation"))
    check(there > 2 and (counts["kept"], counts["cut"], counts["unfinished"]) == (there, there, 0), f"{there} answers that were cut: {counts}")
    pardec.good(*run, "--arm", "forced=ar", "--split", "test", "--oracle", "references")
    forced = query(pardec.folder / "own.sqlite", "SELECT invocation FROM run WHERE oracle IS NOT NULL")[0]["invocation"]
    ran, _ = train("forced", "--from-run", forced)
    check(ran.returncode == 2 and "oracle" in ran.stderr, f"forced answers: {ran.returncode} {ran.stderr}")


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        made_prompts(check, pardec)
        learned_answers(check, pardec)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
