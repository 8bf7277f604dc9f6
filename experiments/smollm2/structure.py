#!/usr/bin/env python3
"""Answers with independent parts, of a network's own words, to teach APAR and ASPD with.

Small networks write few lists, and poor ones. So each part is asked for by itself, which makes it independent of the others, and the parts are put together:

  structure.py questions OUT          one question for each aspect of each subject of datasets/made_prompts.json, as OUT/jsonl/train.jsonl
  pardec run --dataset jsonl --split train --data-root OUT --decoder ar --max-new-tokens 72 --db DB ...
  structure.py answers DB OUT         the answers' first sentences, as lists with a name for each part: OUT/apar (numbered lists), OUT/aspd (the
                                      paper's markup) and OUT/aspd-seq (the same without it), conversations that `pardec train --dataset jsonl` reads

With --plain DB, a run over the prompts of `pardec data prompts`, its answers to tasks of code and sums stand beside them, which have one part alone: half as many.

usage: structure.py questions OUT | answers DB OUT [--plain DB] [--seed N]
"""
import argparse
import json
import pathlib
import random
import re
import sqlite3

WORDS = pathlib.Path(__file__).resolve().parents[2] / "datasets" / "made_prompts.json"
# A part's name, and the question whose answer it is.
ASPECTS = {
    "Origin": "In two sentences, tell me how {} came about.",
    "Importance": "In two sentences, why are {} important?",
    "How it works": "In two sentences, explain how {} work.",
    "Daily life": "In two sentences, how do {} touch our daily life?",
    "Benefits": "In two sentences, what good comes from {}?",
    "Challenges": "In two sentences, what is difficult about {}?",
    "Mistakes": "In two sentences, what do people often get wrong about {}?",
    "First steps": "In two sentences, how could a beginner learn about {}?",
    "Example": "In two sentences, give an example of {}.",
    "Future": "In two sentences, how may {} change in the future?",
}
ASKED = [
    "What should I know about {}?", "Tell me about {}.", "Why do {} matter?", "How do {} work, and why?", "What are the main points about {}?", "Explain {} to me.",
    "What are some important facts about {}?", "How would you describe {}?", "Could you explain the basics of {}?", "What makes {} interesting?",
    "How have {} changed the world?", "What would happen without {}?", "How can I learn more about {}?", "Do {} have an influence on us? How?",
]
OPENINGS = ["There are several sides to {}.", "Here are the main points about {}.", "A few things are worth knowing about {}.", "Several points help to understand {}."]
CLOSINGS = ["Together these points give a picture of {}.", "There is much more to learn about {}.", "These are the points to remember about {}."]
PARTS = (3, 6)  # of an answer, the fewest and the most
SENTENCE = re.compile(r".+?[.!?](?=\s|$)")


def first_sentences(text, most=2):
    """The first sentences of the first paragraph; none where it has none that is whole."""
    paragraph = text.strip().split("\n")[0]
    if re.search(r"[<>=`$#*:]|\d\. |http|---", paragraph) or re.search(r"\b(I|I'm|my)\b", paragraph):
        return None
    found = SENTENCE.findall(paragraph)[:most]
    if len(found) == 2 and found[0].strip() == found[1].strip():
        found = found[:1]
    said = " ".join(sentence.strip() for sentence in found)
    return said if len(said) >= 30 else None


def write(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    print(f"{path}: {len(rows)} records")


def questions(out):
    subjects = json.loads(WORDS.read_text())["subjects"]["things"]
    write(out / "jsonl" / "train.jsonl",
          [{"id": f"{subject}: {aspect}", "category": aspect, "prompt": question.format(subject)} for subject in subjects for aspect, question in ASPECTS.items()])


def repetition(ids):
    """Share of the 4-grams that stood before."""
    grams = [tuple(ids[i:i + 4]) for i in range(len(ids) - 3)]
    return 1 - len(set(grams)) / len(grams) if grams else 0


def plain_answers(db, most, rng):
    """Whole answers to tasks of code and sums that do not loop, as conversations."""
    with sqlite3.connect(db) as store:
        rows = store.execute("SELECT s.category, s.fields, g.text, g.tokens FROM generation g JOIN sample s ON s.id = g.sample_id "
                             "WHERE g.error IS NULL AND g.repeat = 0 AND g.stop = 'eos' AND s.category IN ('coding', 'maths') ORDER BY s.key").fetchall()
    good = [{"category": category, "messages": [{"role": "user", "content": json.loads(fields)[0]["question"]}, {"role": "assistant", "content": answer}]}
            for category, fields, answer, ids in rows if repetition(json.loads(ids)) <= 0.3 and re.search(r"```|\\$|=|\d\d ?[-+*/] ?\d\d", answer)]
    return rng.sample(good, min(most, len(good)))


def answers(db, out, plain, seed):
    with sqlite3.connect(db) as store:
        said = dict(store.execute("SELECT s.key, g.text FROM generation g JOIN sample s ON s.id = g.sample_id WHERE g.error IS NULL AND g.repeat = 0"))
    rng = random.Random(seed)
    lists, markup, sequences = [], [], []
    for subject in json.loads(WORDS.read_text())["subjects"]["things"]:
        parts = []
        for aspect in ASPECTS:
            detail = first_sentences(said.get(f"{subject}: {aspect}", ""))
            if detail and detail not in (known for _, known in parts):
                parts.append((aspect, detail))
        for asked in rng.sample(ASKED, 4):
            if len(parts) < PARTS[0]:
                break
            chosen = rng.sample(parts, rng.randint(PARTS[0], min(PARTS[1], len(parts))))
            opening, closing = rng.choice(OPENINGS).format(subject), rng.choice(CLOSINGS).format(subject)
            prompt = {"role": "user", "content": asked.format(subject)}
            listed = "\n".join(f"{number}. {name}: {detail}" for number, (name, detail) in enumerate(chosen, 1))
            titles = "".join(f"<Title>{name}</Title>" for name, _ in chosen)
            branches = "".join(f"<Branch>{name}: {detail}</Branch>" for name, detail in chosen)
            sequence = "\n".join(f"{name}: {detail}" for name, detail in chosen)
            for rows, answer in ((lists, f"{opening}\n\n{listed}\n\n{closing}"), (markup, f"{opening}\n\n{titles}<Para>{branches}</Para>\n\n{closing}"),
                                 (sequences, f"{opening}\n\n{sequence}\n\n{closing}")):
                rows.append({"category": subject, "messages": [prompt, {"role": "assistant", "content": answer}]})
    if plain:
        alone = plain_answers(plain, len(lists) // 2, rng)
        lists += alone
        markup += alone
        sequences += alone
    write(out / "apar" / "jsonl" / "train.jsonl", lists)
    write(out / "aspd" / "jsonl" / "train.jsonl", markup)
    write(out / "aspd-seq" / "jsonl" / "train.jsonl", sequences)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["questions", "answers"])
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    parser.add_argument("--plain", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=1)
    flags = parser.parse_args()
    if len(flags.paths) != (1 if flags.what == "questions" else 2):
        parser.error("expected: questions OUT, or answers DB OUT")
    if flags.what == "questions":
        questions(flags.paths[0])
    else:
        answers(*flags.paths, flags.plain, flags.seed)


if __name__ == "__main__":
    main()
