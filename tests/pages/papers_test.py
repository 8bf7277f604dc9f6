"""experiments/papers: every file is of its schema, all tables and figures of the papers are there, and numbers that follow from others do.

Usage: papers_test.py
"""
import collections
import json
import math
import re
import sys

import jsonschema

from pages import ROOT
from harness import Checks

PAPERS = ROOT / "experiments" / "papers"
COUNTS = {"hpd": (4, 11), "ippd": (5, 3), "apar": (16, 6), "aspd": (8, 9), "space": (8, 8)}  # tables, figures


def cells(items, name):
    return {tuple(cell[:-1]): cell[-1] for cell in items[name]["published"]["cells"]}


def derived(check, items):
    """Tables that are made of others, to the digits that are printed."""
    speeds = cells(items, "ippd-table5")
    for (model, method, dataset), ratio in cells(items, "ippd-figure3").items():
        made = speeds[model, method, dataset] / speeds[model, "batched", dataset]
        check(math.isclose(made, ratio, abs_tol=0.0051), f"IPPD, Figure 3, {model} {method} {dataset}: {ratio}, Table 5 gives {made}")
    prices, rates = cells(items, "hpd-table1"), cells(items, "hpd-table4")
    for (model, method, metric), rate in rates.items():
        if metric == "products/s":
            made = 30.13 * 1000 / (8 * 3600 * prices[model, method, "Amazon, tuned", "USD per 1,000 products"])
            check(math.isclose(made, rate, rel_tol=0.04), f"HPD, Table 4, {model} {method}: {rate}, the price of Table 1 gives {made}")
    for name, of in (("apar-table9", 24.6), ("apar-table14", 32.2)):
        table = cells(items, name)
        for category in {key[0] for key in table}:
            made = 1 - table[category, "APAR"] / table[category, "flattened"]
            check(math.isclose(made, table[category, "saved"], abs_tol=0.0006), f"{name}, {category}: {table[category, 'saved']} saved, {made}")
        check(math.isclose(table["Mean", "saved"], of / 100, abs_tol=1e-9), f"{name}: mean of {table['Mean', 'saved']}")


# The datasets that the papers name, by their names here; None: there is none. An item cannot call its data otherwise.
DATASETS = {
    "OA-Mine": "oa-mine", "AE-110k": "ae-110k", "Amazon, base": "amazon-reviews", "Amazon, tuned": "amazon-reviews", "Amazon Reviews 2023": "amazon-reviews",
    "MT-Bench": "mt-bench", "MT": "mt-bench", "Vicuna Bench": "vicuna-bench", "Vicuna": "vicuna-bench", "XSum": "xsum", "HumanEval-X": "humaneval-x", "CIP": "cip",
    "RACE": "race", "SQuAD 2.0": "squad", "MATH500": "math500", "maths": {"aspd-figure6": "math500", "aspd-figure1": None},  # of answers; of corpora
    **{name: name for name in ("oa-mine", "ae-110k", "amazon-reviews", "narrativeqa", "squad", "race", "longhealth")},
    "settings of the training": "training",
    **dict.fromkeys(("ShareGPT", "RAG Bench", "MRC", "LR", "AI Search", "AMC23", "AIME", "AIME2024", "AIME2025", "GPQA", "MMLU", "AGIEval", "CommonSenseQA", "BoolQ", "PIQA", "RTE",
                     "HellaSwag", "alpaca-gpt4-zh", "alpaca-gpt4-en", "lima", "oaast-sft", "codealpaca", "openplatypus",
                     "best category", "benches", "categories", "general", "other, about")),
}
# What each paper calls speed: HPD section 3, IPPD section 3 and (17), APAR sections 3.3 and C, ASPD section 4.1, SPACE section 4.1.
SPEEDS = {
    "hpd": {"speed", "examples_per_second", "speedup", "speedup_spread", "usd_per_thousand"},
    "ippd": {"fields_per_second", "field_speedup"},
    "apar": {"decode_speed", "decode_speedup", "tokens_per_second", "seconds_per_job"},
    "aspd": {"tps", "p_tps", "tps_speedup", "parallel_stage_speedup", "stage_speedup_per_branch", "serial_parallel_law"},
    "space": {"tokens_per_second", "tokens_per_second_a_request", "token_speedup"},
}


def scale_of(items, item, name):
    """A scale with what it takes of another."""
    scale = dict(item["scales"][name])
    like = scale.pop("like", "")
    if not like:
        return scale
    other, _, of = like.rpartition("#")
    return {**scale_of(items, items[other.replace("/", "-")] if other else item, of), **scale}


def own_data(check, items):
    """A cell stands beside its own dataset, or beside none."""
    beside = 0
    for name, item in items.items():
        published = item["published"]
        keys, datasets = published["keys"], published["datasets"]
        for theirs, here in datasets.items():
            known = DATASETS.get(theirs, "unknown")
            check(here == (known.get(name, "unknown") if isinstance(known, dict) else known), f"{name}: {theirs} is {here} here, expected {known}")
        at = keys.index("dataset") if "dataset" in keys else None
        for cell in published["cells"]:
            check(at is None or cell[at] in datasets, f"{name}: {cell} is of a dataset that `datasets` does not have")
        check("dataset" not in item["match"] and not {"benchmark", "domain"} & set(keys), f"{name}: match or keys call a dataset otherwise")
        run = {dataset for scale in item["scales"] for dataset in scale_of(items, item, scale).get("datasets", [])}
        beside += bool(run & set(datasets.values()))
    check(beside >= 33, f"only {beside} items run a dataset of their own")


def speeds(check, items):
    """Speed is the paper's measure of it."""
    all_of_them = set().union(*SPEEDS.values()) | {"latency"}
    for name, item in items.items():
        own = SPEEDS[item["paper"]["id"]]
        for claim in item["claims"]:
            for test in claim["test"] if isinstance(claim["test"], list) else [claim["test"]]:
                check(test["metric"] not in all_of_them - own, f"{name}, {claim['id']}: {test['metric']} is not this paper's measure of speed")
                faster = re.search(r"\bfaster?\b|\bfastest\b", claim["says"])
                check(not faster or test["metric"] in own, f"{name}, {claim['id']} says '{claim['says']}' and is decided by {test['metric']}")
        metric = item["match"].get("metric", {})
        for one in metric.values() if isinstance(metric, dict) else [metric]:
            one = one["metric"] if isinstance(one, dict) else one
            check(one not in all_of_them - own, f"{name}: {one} is not this paper's measure of speed")


def weights(check, items):
    """Weights that items name are here, or there is a recipe for them; and no adapter stands for the network that a paper compares it with."""
    folder = ROOT / "experiments" / "smollm2"
    for name, item in items.items():
        for of, scale in item["scales"].items():
            for label, places in scale.get("models", {}).items():
                for place in places if isinstance(places, list) else [places]:
                    if place and place.startswith("experiments/smollm2/"):
                        made = (ROOT / place).is_dir() or (folder / "recipes" / f"{place.rpartition('/')[2]}.json").is_file()
                        check(made, f"{name}, {of}: network {label} is {place}, for which there is no recipe")
            adapters = {arm["label"]: arm.get("adapter") for arm in scale.get("decoders", [])}
            check(adapters.get("seq", "seq") == "seq" and all(adapter == "original" for label, adapter in adapters.items() if label.startswith("original")) and
                  adapters.get("sft", "sft") == "sft", f"{name}, {of}: {adapters}")
            models = scale.get("models", {})
            for label, own in (("seq", "aspd"), ("original", "apar"), ("sft", "space")):
                check(label not in models or models[label] != models.get(own), f"{name}, {of}: {label} is the adapter of {own}")


def codes_of(file, heading):
    """The codes in the first column of the first table below a heading."""
    text = re.split(rf"\n##+ {heading}\n", file.read_text(encoding="utf-8"))[1]
    rows = re.search(r"^\|---.*\n((?:\|.*\n)+)", text, re.M)[1]
    return [code for row in rows.splitlines() for code in re.findall(r"`(\w+)`", row.split("|")[1])]


def warnings(check):
    there, told = codes_of(ROOT / "results" / "table.md", "Warnings"), codes_of(PAPERS / "README.md", "Which warnings make which numbers unfit")
    check(len(there) > 15 and sorted(there) == sorted(told), f"warnings that the papers' README says nothing of, or says twice: {sorted(set(there) ^ set(told))} of {len(there)}")
    rules = (ROOT / "src" / "reproduction" / "fitness.cpp").read_text(encoding="utf-8")
    columns = dict(re.findall(r'Rule\{"(\w+)",\s*\{([^}]*)\}', rules))
    words = {"unfit": "unfit", "beside": "beside", "none": "", "by_token": "alike by the token", "undisturbed": "alike undisturbed"}
    for row in (PAPERS / "README.md").read_text(encoding="utf-8").split("### Which warnings")[1].splitlines():
        cells = [cell.strip() for cell in row.split("|")[1:-1]]
        for code in re.findall(r"`(\w+)`", cells[0]) if row.startswith("| `") and len(cells) == 8 else ():
            check([words[effect.strip()] for effect in columns.pop(code, "").split(",") if effect] == cells[1:], f"{code}: the README says {cells[1:]}")
    check(not columns, f"rules that the README does not tell: {sorted(columns)}")


def certain(check, items):
    """What is counted of forced answers can't fail, and claims say so."""
    counts = {"tokens_per_forward", "forwards_per_job", "rows_per_pass"}
    marked = 0
    for name, item in items.items():
        for claim in item["claims"]:
            why = claim.get("by_construction", {})
            for scale in claim["scales"]:
                said = why if isinstance(why, str) else why.get(scale)
                marked += bool(said)
                tests = claim["test"] if isinstance(claim["test"], list) else [claim["test"]]
                forced = "oracle" in item["scales"][scale]
                check(said or not (forced and all(test["metric"] in counts for test in tests)), f"{name}, {claim['id']}, {scale}: cannot fail, and has no by_construction")
                bound = "bound" in item["scales"][scale] and claim.get("expect")
                expect = claim["expect"].get(scale) if bound and isinstance(claim["expect"], dict) else claim.get("expect")
                check(not bound or expect != "confirmed" or all(test["metric"] in counts for test in tests), f"{name}, {claim['id']}: a bound confirms nothing")
    check(marked >= 3, f"{marked} claims are marked")


def main():
    check = Checks()
    schema = json.loads((PAPERS / "item.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    items, classes = {}, collections.Counter()
    for paper in COUNTS:
        for file in sorted((PAPERS / paper).glob("*.json")):
            item = json.loads(file.read_text(encoding="utf-8"))
            where = file.relative_to(PAPERS)
            for error in validator.iter_errors(item):
                check(False, f"{where}: {'/'.join(map(str, error.path))}: {error.message[:200]}")
            check(item["name"] == f"{paper}-{file.stem}" and item["paper"]["id"] == paper, f"{where} is named {item['name']}")
            check(item["paper"]["item"].replace(" ", "").lower() == file.stem, f"{where} is {item['paper']['item']}")
            keys = item["published"]["keys"]
            for cell in item["published"]["cells"]:
                check(len(cell) == len(keys) + 1 and isinstance(cell[-1], (int, float)) and not isinstance(cell[-1], bool), f"{where}: {cell}")
            places = [tuple(cell[:-1]) for cell in item["published"]["cells"]]
            check(len(set(places)) == len(places), f"{where}: a cell stands twice")
            check(len({claim["id"] for claim in item["claims"]}) == len(item["claims"]), f"{where}: a claim stands twice")
            for doubt in item["published"]["doubts"]:
                at = doubt.get("at", ["*"] * len(keys))
                check(not places or any(all(a in ("*", p) for a, p in zip(at, place)) for place in places), f"{where}: the doubt about {at} is about no cell")
            classes[item["paper"]["class"]] += 1
            items[item["name"]] = item
    pictures = json.loads((PAPERS / "pictures.json").read_text(encoding="utf-8"))
    for paper, (tables, figures) in COUNTS.items():
        there = [item["paper"]["item"] for item in items.values() if item["paper"]["id"] == paper] + [one["item"] for one in pictures if one["paper"] == paper]
        all_of_them = [f"Table {n + 1}" for n in range(tables)] + [f"Figure {n + 1}" for n in range(figures)]
        check(sorted(there) == sorted(all_of_them), f"{paper}: {sorted(set(all_of_them) ^ set(there))}")
    check(len(items) == 58 and len(pictures) == 20 and classes == {"A": 18, "B": 5, "C": 33, "D": 2}, f"{len(items)} items, {len(pictures)} pictures, {classes}")
    kinds = {test["kind"] for item in items.values() for claim in item["claims"] for test in (claim["test"] if isinstance(claim["test"], list) else [claim["test"]])}
    check(kinds == {"ratio", "bound", "difference", "order", "trend", "optimum", "identity"}, f"kinds of claims: {kinds}")
    derived(check, items)
    warnings(check)
    certain(check, items)
    own_data(check, items)
    speeds(check, items)
    weights(check, items)
    lacking = {name for name, item in items.items() if not item["scales"]}
    check(lacking == {"hpd-figure11", "space-table5", "aspd-figure1", "aspd-figure9"} and all(bool(item.get("lacks")) == (name in lacking) for name, item in items.items()),
          f"items without a scale say what lacks: {lacking}")
    for name in ("ippd-table3", "ippd-figure3"):  # numbers that no paper prints
        check(items[name]["published"]["source"].startswith("derived"), f"{name}: its numbers are derived")
    against = {(name, claim["id"]) for name, item in items.items() for claim in item["claims"] if "a claim against" in claim.get("where", "")}
    check(against >= {("ippd-table5", "I4l"), ("aspd-figure8", "D6v")}, f"claims against a method: {against}")
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
