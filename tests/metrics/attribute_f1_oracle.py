"""ExtractGPT's value F1, counted once more, slowly, from the raw files; ours must agree to 1e-12.

Reads nothing that our loader made: neither attribute lists nor references. Predictions are a
perfect set, two noisy ones, one that never answers and one that always does, for both datasets and
both splits.
"""

import json
import random
import subprocess

import pytest
from harness import SAMPLES


def read(file):
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def attribute_lists(*parts):
    lists = {}
    for part in parts:
        for record in part:
            known = lists.setdefault(record["category"], [])
            known += [a for a in record["target_scores"] if a not in known]
    return lists


def ratio(part, whole):
    return part / whole if whole else 0.0


def rates(c):
    precision = ratio(c["vc"], c["nv"] + c["vc"] + c["vw"])
    recall = ratio(c["vc"], c["vn"] + c["vc"] + c["vw"])
    return precision, recall, ratio(2 * precision * recall, precision + recall)


def score(records, predictions, lists, strict):
    total = dict.fromkeys(("nn", "nv", "vn", "vc", "vw"), 0)
    per_pair = []
    for category in lists:
        for attribute in lists[category]:
            c = dict.fromkeys(total, 0)
            for record, prediction in zip(records, predictions):
                if record["category"] != category:
                    continue
                if attribute in record["target_scores"]:
                    labels = record["target_scores"][attribute]
                    targets = [None if v == "n/a" else v.strip() for v in labels]
                elif strict:
                    targets = [None]
                else:
                    continue
                predicted = prediction.get(attribute)
                if predicted in ("n/a", "None"):
                    predicted = None
                if targets[0] is None:
                    c["nn" if predicted is None else "nv"] += 1
                elif predicted is None:
                    c["vn"] += 1
                else:
                    c["vc" if predicted in targets else "vw"] += 1
            if c["nv"] + c["vc"] + c["vw"] + c["vn"] == 0:
                continue
            per_pair.append(rates(c))
            for key in total:
                total[key] += c[key]
    macro = [sum(p[i] for p in per_pair) / len(per_pair) if per_pair else 0.0 for i in range(3)]
    return {"counts": list(total.values()), "micro": list(rates(total)), "macro": macro}


def perfect(record, attributes, rng):
    return {a: list(v)[0].strip() for a, v in record["target_scores"].items()}


def silent(record, attributes, rng):
    return {}


def talkative(record, attributes, rng):
    """A word of the title for every attribute, never absent."""
    return {a: rng.choice(record["input"].split()) for a in attributes}


def noisy(record, attributes, rng):
    """Right, another accepted value, another attribute's, an invented, a changed or no value."""
    values = [v for scores in record["target_scores"].values() for v in scores]
    out = {}
    for a in attributes:
        own = list(record["target_scores"].get(a, {"n/a": 1}))
        draw = rng.random()
        if draw < 0.55:
            out[a] = rng.choice(own).strip()
        elif draw < 0.65:
            out[a] = rng.choice(values)
        elif draw < 0.72:
            out[a] = rng.choice(own) + rng.choice([" ", "s", ""])
        elif draw < 0.78:
            out[a] = own[0].lower()
        elif draw < 0.84:
            out[a] = rng.choice(["None", "n/a", "none", "N/A", ""])
        elif draw < 0.92:
            out[a] = None
    return out


MAKERS = {
    "perfect": (perfect, 0),
    "noisy 1": (noisy, 1),
    "noisy 2": (noisy, 2),
    "silent": (silent, 3),
    "talkative": (talkative, 4),
}


@pytest.mark.parametrize("name", ["oa-mine", "ae-110k"])
@pytest.mark.parametrize("source", ["samples", "published"])
@pytest.mark.parametrize("split", ["train", "test"])
def test_scores_are_those_of_a_slow_count(program, published, source, name, split):
    root = SAMPLES if source == "samples" else published(name).parent
    records = read(root / name / f"{split}.jsonl")
    lists = attribute_lists(read(root / name / "train.jsonl"), records)
    for label, (make, seed) in MAKERS.items():
        rng = random.Random(seed)
        predictions = [make(r, lists[r["category"]], rng) for r in records]
        lines = "".join(json.dumps(p) + "\n" for p in predictions)
        done = subprocess.run(
            [program("attribute_f1_probe"), name, root, split],
            input=lines,
            text=True,
            check=True,
            stdout=subprocess.PIPE,
        )
        ours = json.loads(done.stdout)
        for variant in ("extractgpt", "strict"):
            truth, where = (
                score(records, predictions, lists, variant == "strict"),
                f"{label}, {variant}",
            )
            assert truth["counts"] == ours[variant]["counts"], where
            for part in ("micro", "macro"):
                for a, b in zip(truth[part], ours[variant][part], strict=True):
                    assert abs(a - b) <= 1e-12, f"{where}, {part}"
            if label == "perfect":
                assert truth["micro"] == [1, 1, 1], where
            if label.startswith("noisy") and (name, variant) != ("oa-mine", "extractgpt"):
                assert min(truth["counts"]) > 0, where  # all five occur
