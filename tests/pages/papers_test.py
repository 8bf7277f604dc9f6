"""experiments/papers: every file is of its schema, all tables and figures of the papers are
there, and numbers that follow from others do.
"""

import collections
import json
import math
import re

import pytest
from pages import ROOT

from harness import skip  # isort: skip: pages knows where it is

try:
    import jsonschema
except ImportError as missing:
    skip(missing)

PAPERS = ROOT / "experiments" / "papers"
COUNTS = {
    "hpd": (4, 11),
    "ippd": (5, 3),
    "apar": (16, 6),
    "aspd": (8, 9),
    "space": (8, 8),
}  # tables, figures


def cells(name):
    return {tuple(cell[:-1]): cell[-1] for cell in ITEMS[name]["published"]["cells"]}


FILES = [file for paper in COUNTS for file in sorted((PAPERS / paper).glob("*.json"))]
READ = {file: json.loads(file.read_text(encoding="utf-8")) for file in FILES}
ITEMS = {item["name"]: item for item in READ.values()}
PICTURES = json.loads((PAPERS / "pictures.json").read_text(encoding="utf-8"))
SCHEMA = json.loads((PAPERS / "item.schema.json").read_text(encoding="utf-8"))
every_file = pytest.mark.parametrize(
    "file", FILES, ids=[file.relative_to(PAPERS).as_posix() for file in FILES]
)
every_item = pytest.mark.parametrize("name", ITEMS)


def claimed(claim):
    return claim["test"] if isinstance(claim["test"], list) else [claim["test"]]


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@every_file
def test_a_file_is_of_the_schema(file):
    errors = jsonschema.Draft202012Validator(SCHEMA).iter_errors(READ[file])
    assert [f"{'/'.join(map(str, error.path))}: {error.message[:200]}" for error in errors] == []


@every_file
def test_a_file_is_named_as_its_item(file):
    item, paper = READ[file], file.parent.name
    assert item["name"] == f"{paper}-{file.stem}"
    assert item["paper"]["id"] == paper
    assert item["paper"]["item"].replace(" ", "").lower() == file.stem


@every_item
def test_cells_have_their_keys_and_a_number_once(name):
    published = ITEMS[name]["published"]
    for cell in published["cells"]:
        assert len(cell) == len(published["keys"]) + 1
        assert isinstance(cell[-1], (int, float))
        assert not isinstance(cell[-1], bool)
    places = [tuple(cell[:-1]) for cell in published["cells"]]
    assert len(set(places)) == len(places)
    for doubt in published["doubts"]:
        at = doubt.get("at", ["*"] * len(published["keys"]))
        assert not places or any(
            all(a in ("*", p) for a, p in zip(at, place)) for place in places
        ), "a doubt about no cell"


@every_item
def test_claims_have_their_own_ids(name):
    ids = [claim["id"] for claim in ITEMS[name]["claims"]]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("paper", COUNTS)
def test_all_tables_and_figures_of_a_paper_are_there(paper):
    tables, figures = COUNTS[paper]
    there = [item["paper"]["item"] for item in ITEMS.values() if item["paper"]["id"] == paper] + [
        one["item"] for one in PICTURES if one["paper"] == paper
    ]
    assert sorted(there) == sorted(
        [f"Table {n + 1}" for n in range(tables)] + [f"Figure {n + 1}" for n in range(figures)]
    )


def test_items_are_of_four_classes_and_claims_of_seven_kinds():
    classes = collections.Counter(item["paper"]["class"] for item in ITEMS.values())
    assert len(ITEMS) == 58
    assert len(PICTURES) == 20
    assert classes == {"A": 18, "B": 5, "C": 33, "D": 2}
    kinds = {
        test["kind"]
        for item in ITEMS.values()
        for claim in item["claims"]
        for test in claimed(claim)
    }
    assert kinds == {"ratio", "bound", "difference", "order", "trend", "optimum", "identity"}


# Tables that are made of others, to the digits that are printed ---------------------------------


def test_figure_3_of_ippd_follows_from_table_5():
    speeds = cells("ippd-table5")
    for (model, method, dataset), ratio in cells("ippd-figure3").items():
        made = speeds[model, method, dataset] / speeds[model, "batched", dataset]
        assert math.isclose(made, ratio, abs_tol=0.0051), f"{model} {method} {dataset}"


def test_table_4_of_hpd_follows_from_the_prices_of_table_1():
    prices = cells("hpd-table1")
    for (model, method, metric), rate in cells("hpd-table4").items():
        if metric == "products/s":
            made = (
                30.13
                * 1000
                / (8 * 3600 * prices[model, method, "Amazon, tuned", "USD per 1,000 products"])
            )
            assert math.isclose(made, rate, rel_tol=0.04), f"{model} {method}"


@pytest.mark.parametrize("name, of", [("apar-table9", 24.6), ("apar-table14", 32.2)])
def test_what_apar_saves_follows_from_its_columns(name, of):
    table = cells(name)
    for category in {key[0] for key in table}:
        made = 1 - table[category, "APAR"] / table[category, "flattened"]
        assert math.isclose(made, table[category, "saved"], abs_tol=0.0006), category
    assert math.isclose(table["Mean", "saved"], of / 100, abs_tol=1e-9)


# Warnings and claims -----------------------------------------------------------------------------


def codes_of(file, heading):
    """The codes in the first column of the first table below a heading."""
    text = re.split(rf"\n##+ {heading}\n", file.read_text(encoding="utf-8"))[1]
    rows = re.search(r"^\|---.*\n((?:\|.*\n)+)", text, re.M)[1]
    return [code for row in rows.splitlines() for code in re.findall(r"`(\w+)`", row.split("|")[1])]


WORDS = {
    "unfit": "unfit",
    "beside": "beside",
    "none": "",
    "by_token": "alike by the token",
    "undisturbed": "alike undisturbed",
}


def test_the_pages_name_the_same_warnings():
    there, told = (
        codes_of(ROOT / "results" / "table.md", "Warnings"),
        codes_of(PAPERS / "README.md", "Which warnings make which numbers unfit"),
    )
    assert len(there) > 15
    assert sorted(there) == sorted(told)


def test_the_page_says_what_the_rules_of_warnings_do():
    rules = (ROOT / "src" / "reproduction" / "fitness.cpp").read_text(encoding="utf-8")
    columns = dict(re.findall(r'Rule\{"(\w+)",\s*\{([^}]*)\}', rules))
    for row in (
        (PAPERS / "README.md")
        .read_text(encoding="utf-8")
        .split("### Which warnings")[1]
        .splitlines()
    ):
        told = [cell.strip() for cell in row.split("|")[1:-1]]
        for code in (
            re.findall(r"`(\w+)`", told[0]) if row.startswith("| `") and len(told) == 8 else ()
        ):
            assert [
                WORDS[effect.strip()] for effect in columns.pop(code, "").split(",") if effect
            ] == told[1:], code
    assert not columns, "rules that the page does not tell"


COUNTED = {"tokens_per_forward", "forwards_per_job", "rows_per_pass"}


@every_item
def test_a_claim_that_cannot_fail_says_so(name):
    """What is counted of forced answers."""
    item = ITEMS[name]
    for claim in item["claims"]:
        for scale in claim["scales"]:
            counted = all(test["metric"] in COUNTED for test in claimed(claim))
            assert (
                by_construction(claim, scale)
                or "oracle" not in item["scales"][scale]
                or not counted
            ), f"{claim['id']}, {scale}"
            bound = "bound" in item["scales"][scale] and claim.get("expect")
            expect = (
                claim["expect"].get(scale)
                if bound and isinstance(claim["expect"], dict)
                else claim.get("expect")
            )
            assert not bound or expect != "confirmed" or counted, (
                f"{claim['id']}: a bound confirms nothing"
            )


def by_construction(claim, scale):
    why = claim.get("by_construction", {})
    return why if isinstance(why, str) else why.get(scale)


def test_some_claims_cannot_fail():
    marked = [
        1
        for item in ITEMS.values()
        for claim in item["claims"]
        for scale in claim["scales"]
        if by_construction(claim, scale)
    ]
    assert len(marked) >= 3


# Data, speeds and weights -------------------------------------------------------------------------


# The datasets that the papers name, by their names here; None: there is none. An item cannot call
# its data otherwise.
DATASETS = {
    "OA-Mine": "oa-mine",
    "AE-110k": "ae-110k",
    "Amazon, base": "amazon-reviews",
    "Amazon, tuned": "amazon-reviews",
    "Amazon Reviews 2023": "amazon-reviews",
    "MT-Bench": "mt-bench",
    "MT": "mt-bench",
    "Vicuna Bench": "vicuna-bench",
    "Vicuna": "vicuna-bench",
    "XSum": "xsum",
    "HumanEval-X": "humaneval-x",
    "CIP": "cip",
    # "maths": of answers; of corpora.
    "RACE": "race",
    "SQuAD 2.0": "squad",
    "MATH500": "math500",
    "AMC23": "amc23",
    "GPQA": "gpqa",
    **dict.fromkeys(("AIME", "AIME2024", "AIME2025"), "aime"),
    "ShareGPT": "sharegpt",
    "RAG Bench": "rag-bench",
    "MMLU": "mmlu",
    "AGIEval": "agieval",
    "CommonSenseQA": "commonsense-qa",
    "BoolQ": "boolq",
    "PIQA": "piqa",
    "RTE": "rte",
    "HellaSwag": "hellaswag",
    "maths": {"aspd-figure6": "math500", "aspd-figure1": None},
    "general": "sharegpt",
    **{
        name: name
        for name in (
            "oa-mine", "ae-110k", "amazon-reviews", "narrativeqa", "squad", "race", "longhealth",
        )
    },
    "settings of the training": "training",
    **dict.fromkeys(
        (
            "MRC", "LR", "AI Search", "alpaca-gpt4-zh", "alpaca-gpt4-en", "lima", "oaast-sft", "codealpaca",
            "openplatypus", "categories", "other, about",
        )
    ),
}
# What each paper calls speed: HPD section 3, IPPD section 3 and (17), APAR sections 3.3 and C,
# ASPD section 4.1, SPACE section 4.1.
SPEEDS = {
    "hpd": {"speed", "examples_per_second", "speedup", "usd_per_thousand"},
    "ippd": {"fields_per_second", "field_speedup"},
    "apar": {"decode_speed", "decode_speedup", "tokens_per_second"},
    "aspd": {
        "decode_speed", "tps", "p_tps", "tps_speedup", "parallel_stage_speedup", "stage_speedup_per_branch",
        "serial_parallel_law",
    },
    "space": {"tokens_per_second", "tokens_per_second_a_request", "token_speedup"},
}
ALL_SPEEDS = set().union(*SPEEDS.values()) | {"latency"}


def scale_of(item, name):
    """A scale with what it takes of another."""
    scale = dict(item["scales"][name])
    like = scale.pop("like", "")
    if not like:
        return scale
    other, _, of = like.rpartition("#")
    return {**scale_of(ITEMS[other.replace("/", "-")] if other else item, of), **scale}


@every_item
def test_a_cell_is_beside_its_own_dataset_or_beside_none(name):
    item = ITEMS[name]
    keys, datasets = item["published"]["keys"], item["published"]["datasets"]
    for theirs, here in datasets.items():
        known = DATASETS.get(theirs, "unknown")
        assert here == (known.get(name, "unknown") if isinstance(known, dict) else known), theirs
    at = keys.index("dataset") if "dataset" in keys else None
    for cell in item["published"]["cells"]:
        assert at is None or cell[at] in datasets, "`datasets` lacks the dataset of a cell"
    assert "dataset" not in item["match"]
    assert not {"benchmark", "domain"} & set(keys)


SCALES = [(name, scale) for name, item in ITEMS.items() for scale in item["scales"]]


@pytest.mark.parametrize(("name", "scale"), SCALES, ids=[" ".join(one) for one in SCALES])
def test_two_experiments_of_a_paper_never_stand_beside_one_dataset(name, scale):
    made = scale_of(ITEMS[name], scale)
    theirs = collections.defaultdict(set)
    for paper, here in ITEMS[name]["published"]["datasets"].items():
        theirs[here].add(paper)
    chosen = made.get("match", {}).get("dataset", {})
    chosen = {chosen} if isinstance(chosen, str) else set(chosen)
    assert chosen <= set(ITEMS[name]["published"]["datasets"])
    for dataset in made.get("datasets", []):
        if len(theirs[dataset]) > 1:
            assert len(theirs[dataset] & chosen) == 1, dataset


@every_item
def test_the_parameters_are_of_the_network_whose_row_is_compared(name):
    model = ITEMS[name]["match"].get("model", "")
    size = re.search(r"(\d+(\.\d+)?)B\b", model)
    if size:
        assert ITEMS[name]["published"]["setting"]["parameters"] == pytest.approx(
            float(size[1]) * 1e9, rel=0.1
        )


def test_most_items_run_a_dataset_of_the_paper():
    beside = 0
    for item in ITEMS.values():
        run = {
            dataset
            for scale in item["scales"]
            for dataset in scale_of(item, scale).get("datasets", [])
        }
        beside += bool(run & set(item["published"]["datasets"].values()))
    assert beside >= 33


def texts_in(*values):
    """The texts in these, at any depth."""
    texts = []
    for value in values:
        texts += [value] if isinstance(value, str) else []
        texts += texts_in(*value.values()) if isinstance(value, dict) else []
    return texts


@every_item
def test_speed_is_what_the_paper_calls_speed(name):
    item = ITEMS[name]
    own = SPEEDS[item["paper"]["id"]]
    for claim in item["claims"]:
        for test in claimed(claim):
            # The points of Skeleton-of-Thought have prompts, so only whole answers show its speed.
            points = {"tokens_per_second"} if "sot" in (test.get("of"), test.get("over")) else set()
            assert test["metric"] not in ALL_SPEEDS - own - points, claim["id"]
            faster = re.search(r"\bfaster?\b|\bfastest\b", claim["says"])
            assert not faster or test["metric"] in own | points, f"{claim['id']}: {claim['says']}"
    for metric in texts_in(item["match"]):
        assert metric not in ALL_SPEEDS - own


@every_item
def test_weights_that_an_item_names_are_here_or_have_a_recipe(name):
    folder = ROOT / "experiments" / "smollm2"
    for of, scale in ITEMS[name]["scales"].items():
        for label, places in scale.get("models", {}).items():
            for place in places if isinstance(places, list) else [places]:
                if place and place.startswith("experiments/smollm2/"):
                    recipe = folder / "recipes" / f"{place.rpartition('/')[2]}.json"
                    assert (ROOT / place).is_dir() or recipe.is_file(), (
                        f"{of}: network {label} is {place}"
                    )


PARTNERS = {"seq": "aspd", "sft": "sar", "original": "apar"}


@every_item
def test_no_method_stands_for_the_network_that_it_is_compared_with(name):
    """Seq, SFT and Original are networks of their own, at every scale."""
    for of in ITEMS[name]["scales"]:
        scale = scale_of(ITEMS[name], of)
        models = scale.get("models", {})
        named = {
            arm["label"]: arm.get("adapter") or arm.get("model") or scale["model"]
            for arm in scale.get("decoders", [])
        }
        for label, network in named.items():
            first, _, rest = label.partition("-")
            partner = "-".join([PARTNERS.get(first, ""), *([rest] if rest else [])])
            if partner in named:
                assert models[network] != models[named[partner]], f"{of}: {label}"
            if first in PARTNERS and not of.startswith("paper"):
                assert network == first, f"{of}: {label}"


@pytest.mark.parametrize("name", [name for name in ITEMS if name.startswith("hpd-")])
def test_ar_and_hpd_are_tuned_apart_or_not_at_all(name):
    """Section B.2 of HPD: "A separate fine-tuning is performed for" both."""
    for of in ITEMS[name]["scales"]:
        scale = scale_of(ITEMS[name], of)
        networks = {"ar": set(), "hpd": set()}
        for arm in scale.get("decoders", []):
            if arm["name"] in networks and arm["label"] != "ar":
                networks[arm["name"]].add(arm.get("adapter") or arm.get("model"))
        scored = {
            test["from"]
            for claim in ITEMS[name]["claims"]
            for test in claimed(claim)
            if of in claim["scales"] and test["kind"] == "difference"
        }
        if of == "small" and scored:
            assert scored == {"ar-tuned"}, of
        assert "untaught" in scale.get("meant", []) or not networks["ar"] & networks["hpd"], of
        if of.startswith("paper") and "untaught" not in scale.get("meant", []):
            folders = scale["models"]
            for arm in scale["decoders"]:
                if arm["name"] in networks:
                    folder = folders[arm.get("model", scale["model"])]
                    assert folder.endswith("-" + arm["name"]), f"{of}: {arm['label']}"


@pytest.mark.parametrize("name", [name for name in ITEMS if name.startswith("space-")])
def test_autoregression_beside_space_runs_the_network_of_plain_tuning(name):
    """Section 4.1 of SPACE: the baseline is AR on the SFT model."""
    for of, scale in ITEMS[name]["scales"].items():
        networks = {
            arm["label"]: scale["models"][arm.get("adapter") or arm.get("model") or scale["model"]]
            for arm in scale.get("decoders", [])
        }
        spaces = [networks[label] for label in networks if label.startswith(("k", "space"))]
        for label, network in networks.items():
            if label.partition("-")[0] in ("ar", "sft", "tgi"):
                assert network not in spaces, f"{of}: {label}"


def test_items_without_a_scale_say_what_they_lack():
    lacking = {name for name, item in ITEMS.items() if not item["scales"]}
    assert lacking == {"hpd-figure11", "space-table5", "aspd-figure9"}
    assert {name for name, item in ITEMS.items() if item.get("lacks")} == lacking


@pytest.mark.parametrize("name", ["ippd-table3", "ippd-figure3"])
def test_numbers_that_no_paper_prints_are_said_to_be_derived(name):
    assert ITEMS[name]["published"]["source"].startswith("derived")


def test_claims_against_a_method_are_there():
    against = {
        (name, claim["id"])
        for name, item in ITEMS.items()
        for claim in item["claims"]
        if "a claim against" in claim.get("where", "")
    }
    assert against >= {("ippd-table5", "I4l"), ("aspd-figure8", "D6v")}
