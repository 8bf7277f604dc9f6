"""Recipes of weights (experiments/smollm2/recipes): each is of its schema, and `pardec train` takes its flags and formats.

Usage: recipes_test.py PARDEC

With the tokenizer of SmolLM2 (scripts/fetch-smollm2), each trains one update of a tiny network on answers of the form that its data have.
"""
import importlib.util
import json
import pathlib
import re
import shlex
import sqlite3
import subprocess
import sys
import tempfile

import jsonschema

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "experiments" / "smollm2"
TOKENIZER = ROOT / "build" / "models" / "smollm2-135m-instruct" / "tokenizer.json"
TINY = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 1, "num_attention_heads": 2,
        "num_key_value_heads": 1, "max_position_embeddings": 8192, "rms_norm_eps": 1e-5, "rope_theta": 1e4, "tie_word_embeddings": True, "vocab_size": 49152}
OWN_RUN = {"db", "from-run", "keep-cut", "max-repetition"}  # of a run that nobody has made here: the answers of the file stand for it
failures = []


def check(good, what):
    if not good:
        print("FAILED  " + what)
        failures.append(what)


def structured(folder):
    """The data of `structure.py answers`, of answers that are made up."""
    spec = importlib.util.spec_from_file_location("structure", FOLDER / "structure.py")
    structure = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(structure)
    subjects = json.loads(structure.WORDS.read_text())["subjects"]["things"][:4]
    db = folder / "aspects.sqlite"
    with sqlite3.connect(db) as store:
        store.execute("CREATE TABLE sample (id INTEGER, key TEXT)")
        store.execute("CREATE TABLE generation (sample_id INTEGER, text TEXT, error TEXT, repeat INTEGER)")
        for i, (subject, aspect) in enumerate((subject, aspect) for subject in subjects for aspect in structure.ASPECTS):
            store.execute("INSERT INTO sample VALUES (?, ?)", (i, f"{subject}: {aspect}"))
            store.execute("INSERT INTO generation VALUES (?, ?, NULL, 0)", (i, f"This is what there is to say about {aspect.lower()} of {subject}. It is short."))
    structure.answers(db, folder / "parts", None, 1)
    read = lambda name: [json.loads(line)["messages"] for line in (folder / "parts" / name / "jsonl" / "train.jsonl").read_text().splitlines()]
    markup, sequences, lists = read("aspd"), read("aspd-seq"), read("apar")
    assert (len(markup) == len(sequences) == len(lists) == 16), (f"{len(markup)}, {len(sequences)}, {len(lists)} conversations")
    for with_markup, without in zip(markup, sequences):
        assert (with_markup[0] == without[0]), ("Seq answers the same prompts")
        plain = re.sub(r"<Title>.*?</Title>", "", with_markup[1]["content"]).replace("</Branch><Branch>", "\n")
        assert (re.sub("</?(Para|Branch)>", "", plain) == without[1]["content"]), (f"Seq answers without markup: {without[1]['content']}")
        assert ("<" not in without[1]["content"]), (f"Seq answers without markup: {without[1]['content']}")
    return folder / "parts"


def main():
    pardec = sys.argv[1]
    schema = json.loads((FOLDER / "recipe.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    run = lambda *words, **more: subprocess.run([pardec, *map(str, words)], capture_output=True, text=True, **more)
    known = set(re.findall(r"--([a-z0-9-]+)", run("train", "--help").stdout))
    verbs = set(re.findall(r"^  ([a-z]+) ", run("--help").stdout, re.M))
    recipes = {file.stem: json.loads(file.read_text()) for file in sorted((FOLDER / "recipes").glob("*.json"))}
    assert (len(recipes) >= 13), (f"{len(recipes)} recipes")
    for name, recipe in recipes.items():
        for error in validator.iter_errors(recipe):
            assert (False), (f"{name}: {'/'.join(map(str, error.path))}: {error.message[:200]}")
        assert (recipe["name"] == name), (f"{name} is named {recipe['name']}")
        assert (not set(recipe["flags"]) - known), (f"{name}: train has no flags {set(recipe['flags']) - known}")
        for command in (*recipe.get("before", ()), *recipe["data"]["made_by"]):
            words = shlex.split(command)
            assert (words[0] == "python3" and (ROOT / words[1]).is_file() or words[0] == "pardec" and words[1] in verbs), (f"{name}: {command}")
        if (FOLDER / name / "training.json").is_file():  # once it is trained, it was trained so
            made = json.loads((FOLDER / name / "training.json").read_text())
            assert (made["settings"]["seed"] == recipe["seed"]), (f"{name}: trained with other settings")
            assert (made["settings"]["lr"] == recipe["flags"]["lr"]), name
            assert (recipe["validation_loss"] is not None), (f"{name} is trained, and its recipe says nothing of the loss")
    # Networks that a paper compares are tuned alike.
    same = lambda a, b, but: {key: value for key, value in recipes[a]["flags"].items() if key not in but} == {key: value for key, value in recipes[b]["flags"].items() if key not in but}
    # SFT and SAR-SFT are tuned alike, on the same data.
    assert (same("sft", "sar-sft", {"format", "masks", "ar-share", "one-pass", "mask-groups", "mask-token", "lora-tokens"}))
    assert (recipes["sft"]["data"] == recipes["sar-sft"]["data"])
    flags = recipes["sar-sft"]["flags"]
    assert ((flags["masks"], flags["ar-share"]) == (5, 0.5)), ("SAR-SFT is tuned with the paper's k and p_ar")
    ablations = [name for name in recipes if name.startswith("aspd-") and name != "aspd-seq"]
    # Ablations differ in what they ablate alone.
    assert (len(ablations) == 8)
    assert (all(same(name, ablations[0], {"aspd-positions", "aspd-mask"}) for name in ablations))
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        parts = structured(folder)
        if not TOKENIZER.is_file():
            print("[without the tokenizer of SmolLM2 nothing is trained]")
        else:
            (folder / "config.json").write_text(json.dumps(TINY))
            for name, recipe in recipes.items():
                data = parts / {"own": "aspd-seq"}.get(recipe["data"]["root"], pathlib.Path(recipe["data"]["root"]).name)
                flags = {**recipe["flags"], "steps": 1, "threads": 1, "dtype": "fp32", "save-every": 0, "batch-tokens": 1024, "micro-tokens": 512, "limit": 4}
                flags = {flag: value for flag, value in flags.items() if flag not in OWN_RUN | {"epochs"}}
                given = [word for flag, value in flags.items() for word in (f"--{flag}", *(() if value is True else (value,)))]
                root = () if recipe["data"]["root"] == "DATA" else ("--data-root", data)
                checkpoint = folder / "tiny"
                if not checkpoint.is_dir():
                    assert (run("model", "synth", checkpoint, "--config", folder / "config.json", "--tokenizer", TOKENIZER).returncode == 0), ("a tiny network")
                done = run("train", "--model", checkpoint, "--dataset", ",".join(recipe["data"]["datasets"]), *root, *given, "--seed", recipe["seed"], "--chat-template", "chatml",
                           "--progress", "none", "--out", folder / name)
                assert (done.returncode == 0), (f"{name}: {done.stderr[-600:]}")
                assert ((folder / name / "training.json").is_file()), name
    print(f"{len(recipes)} recipes, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
