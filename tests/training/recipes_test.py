"""Recipes of weights (experiments/smollm2/recipes): each is of its schema, and `pardec train` takes
its flags and formats.

With the tokenizer of SmolLM2 (scripts/fetch-smollm2), each trains one update of a tiny network on
answers of the form that its data have.
"""

import contextlib
import importlib.util
import json
import pathlib
import re
import shlex
import sqlite3

import pytest
from harness import ROOT, SMOLLM2, whole_except

jsonschema = pytest.importorskip("jsonschema")

FOLDER = ROOT / "experiments" / "smollm2"
TINY = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "max_position_embeddings": 8192,
    "rms_norm_eps": 1e-5,
    "rope_theta": 1e4,
    "tie_word_embeddings": True,
    "vocab_size": 49152,
}
# Flags of a run that is not made here: the answers of `parts` stand for it.
OWN_RUN = {"db", "from-run", "keep-cut", "max-repetition"}
SCHEMA = json.loads((FOLDER / "recipe.schema.json").read_text())
RECIPES = {
    file.stem: json.loads(file.read_text()) for file in sorted((FOLDER / "recipes").glob("*.json"))
}
every_recipe = pytest.mark.parametrize("name", RECIPES)


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """The data of `structure.py answers`, of answers that are made up."""
    folder = tmp_path_factory.mktemp("recipes")
    spec = importlib.util.spec_from_file_location("structure", FOLDER / "structure.py")
    structure = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(structure)
    subjects = json.loads(structure.WORDS.read_text())["subjects"]["things"][:4]
    db = folder / "aspects.sqlite"
    with contextlib.closing(sqlite3.connect(db)) as store, store:
        store.execute("CREATE TABLE sample (id INTEGER, key TEXT)")
        store.execute(
            "CREATE TABLE generation (sample_id INTEGER, text TEXT, error TEXT, repeat INTEGER)"
        )
        asked = [(subject, aspect) for subject in subjects for aspect in structure.ASPECTS]
        for i, (subject, aspect) in enumerate(asked):
            text = f"This is what there is to say about {aspect.lower()} of {subject}. It is short."
            store.execute("INSERT INTO sample VALUES (?, ?)", (i, f"{subject}: {aspect}"))
            store.execute("INSERT INTO generation VALUES (?, ?, NULL, 0)", (i, text))
    structure.answers(db, folder / "parts", None, 1)
    return folder / "parts"


def test_seq_answers_the_same_prompts_without_markup(parts):
    def read(name):
        lines = (parts / name / "jsonl" / "train.jsonl").read_text().splitlines()
        return [json.loads(line)["messages"] for line in lines]

    markup, sequences = read("aspd"), read("aspd-seq")
    assert len(markup) == len(sequences) == len(read("apar")) == 16
    for with_markup, without in zip(markup, sequences):
        assert with_markup[0] == without[0]
        plain = re.sub(r"<Title>.*?</Title>", "", with_markup[1]["content"])
        plain = plain.replace("</Branch><Branch>", "\n")
        assert re.sub("</?(Para|Branch)>", "", plain) == without[1]["content"]
        assert "<" not in without[1]["content"]


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_there_are_recipes():
    assert len(RECIPES) >= 13


@every_recipe
def test_a_recipe_is_of_the_schema_and_named_as_its_file(name):
    errors = jsonschema.Draft202012Validator(SCHEMA).iter_errors(RECIPES[name])
    assert [f"{'/'.join(map(str, error.path))}: {error.message[:200]}" for error in errors] == []
    assert RECIPES[name]["name"] == name


@pytest.fixture(scope="module")
def known(pardec):
    """The flags of `train`."""
    return set(re.findall(r"--([a-z0-9-]+)", pardec.good("train", "--help")))


@pytest.fixture(scope="module")
def verbs(pardec):
    return set(re.findall(r"^  ([a-z]+) ", pardec.good("--help"), re.M))


@every_recipe
def test_train_has_the_flags_of_a_recipe(name, known):
    assert set(RECIPES[name]["flags"]) <= known


@every_recipe
def test_the_commands_of_a_recipe_are_there(name, verbs):
    recipe = RECIPES[name]
    for command in (*recipe.get("before", ()), *recipe["data"]["made_by"]):
        program, *words = shlex.split(command)
        if program == "pardec":
            assert words[0] in verbs, command
        else:
            assert (ROOT / (words[0] if program == "python3" else program)).is_file(), command


def test_weights_are_trained_as_their_recipe_says():
    for name, recipe in RECIPES.items():
        if (FOLDER / name / "training.json").is_file():
            made = json.loads((FOLDER / name / "training.json").read_text())
            assert made["settings"]["seed"] == recipe["seed"], name
            assert made["settings"]["lr"] == recipe["flags"]["lr"], name
            assert recipe["validation_loss"] is not None, name


def flags_but(name, but):
    return {flag: value for flag, value in RECIPES[name]["flags"].items() if flag not in but}


def test_sft_and_sar_sft_are_tuned_alike_on_the_same_data():
    own = {"format", "masks", "ar-share", "one-pass", "mask-groups", "mask-token", "lora-tokens"}
    assert flags_but("sft", own) == flags_but("sar-sft", own)
    assert RECIPES["sft"]["data"] == RECIPES["sar-sft"]["data"]


def test_sar_sft_has_the_papers_masks_and_share():
    flags = RECIPES["sar-sft"]["flags"]
    assert flags["masks"] == 5
    assert flags["ar-share"] == 0.5


ABLATIONS = [name for name in RECIPES if name.startswith("aspd-") and name != "aspd-seq"]


def test_there_are_eight_ablations_of_aspd():
    assert len(ABLATIONS) == 8


@pytest.mark.parametrize("name", ABLATIONS)
def test_ablations_differ_in_what_they_ablate_alone(name):
    own = {"aspd-positions", "aspd-mask"}
    assert flags_but(name, own) == flags_but(ABLATIONS[0], own)


@pytest.fixture(scope="module")
def network(pardec):
    """A tiny network with the tokenizer of SmolLM2."""
    if not (SMOLLM2 / "tokenizer.json").is_file():
        pytest.skip(
            "not done here: without scripts/fetch-smollm2 there is no tokenizer to train with"
        )
    (pardec.folder / "config.json").write_text(json.dumps(TINY))
    pardec.good(
        "model", "synth", pardec.folder / "tiny", "--config", "config.json", "--tokenizer",
        SMOLLM2 / "tokenizer.json",
    )
    return pardec.folder / "tiny"


@pytest.mark.parametrize(
    "name", whole_except({"apar-medusa", "aspd-same-seq-shared", "hpd-ar", "sar-sft"}, RECIPES)
)
def test_a_recipe_trains(pardec, network, parts, name):
    recipe = RECIPES[name]
    root = recipe["data"]["root"]
    data = parts / {"own": "aspd-seq"}.get(root, pathlib.Path(root).name)
    flags = {
        **recipe["flags"],
        "steps": 1,
        "threads": 1,
        "dtype": "fp32",
        "save-every": 0,
        "batch-tokens": 512,
        "micro-tokens": 512,
        "limit": 2,
    }
    given = [
        word
        for flag, value in flags.items()
        if flag not in OWN_RUN | {"epochs"}
        for word in (f"--{flag}", *(() if value is True else (value,)))
    ]
    ran = pardec(
        "train",
        "--model",
        network,
        "--dataset",
        ",".join(recipe["data"]["datasets"]),
        *(() if root == "DATA" else ("--data-root", data)),
        *given,
        "--seed",
        recipe["seed"],
        "--chat-template",
        "chatml",
        "--progress",
        "none",
        "--out",
        name,
    )
    assert ran.returncode == 0, ran.stderr
    assert (pardec.folder / name / "training.json").is_file()
