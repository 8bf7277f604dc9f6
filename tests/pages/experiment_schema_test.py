"""experiments/experiment.schema.json is what `pardec list experiment-schema` prints, has every flag that --help shows, and says of a file what `run -c FILE --dry-run` says.

Usage: experiment_schema_test.py PROGRAM
"""
import copy
import json
import pathlib
import re
import subprocess
import sys

import jsonschema

from pages import ROOT, help_of
from experiment_schema import written
from harness import Checks, scratch

SCHEMA = ROOT / "experiments" / "experiment.schema.json"
WHOLE = {"name": "n", "datasets": ["oa-mine"], "decoders": [{"name": "ar", "set": {"forced_keys": False}}, {"label": "h", "name": "hpd", "set": {"stack": 2, "k_max": 9}}],
         "batch_size": 2, "limit": 4, "temperature": 0.5, "unseen": True, "order": "blocked", "seed": 3}


# Flags that a file cannot hold: the file itself.
NOT_IN_A_FILE = {"config"}
# One text with commas on the command line, also a list in JSON.
ONE_TEXT = {"lora_tokens"}


def flags(text):
    """(name, whether it takes several, default) of each flag of a help text."""
    pattern = re.compile(r"^  (?:-\w,)?--([a-z-]+)(?: \[?[A-Z][^ =\n]*?)?(?:=(\S*))?( \.\.\.)? \(Env:\w+\)", re.M)
    return [(m[1].replace("-", "_"), bool(m[3]), m[2]) for m in pattern.finditer(text)]


def check_flags(check, properties, text, what):
    """Every flag is a property, with the default that the help shows."""
    shown = flags(text)
    check(len(shown) >= text.count("(Env:") > 40, f"{what}: {len(shown)} flags were read of {text.count('(Env:')}")
    for name, several, default in shown:
        if name in NOT_IN_A_FILE:
            continue
        check(name in properties, f"{what}: the schema lacks {name}")
        if name in ("grid", "model"):
            continue  # which a file says by a name or an object
        one = properties.get(name, {})
        check((several or name in ONE_TEXT) == ("anyOf" in one), f"{what}: {name} takes {'several' if several else 'one'}: {one}")
        # A number that is hidden or follows from other settings is shown by one of the two alone.
        if default and not several and "default" in one:
            check(str(one["default"]) == default or float(one["default"]) == float(default), f"{what}: {name} is {default} by the help: {one}")


def variants():
    """(what, file, whether it is one)"""
    yield "whole", WHOLE, True
    yield "one dataset by its flag", {"decoder": "ar", "dataset": "oa-mine", "limit": 2}, True
    yield "several by their flags", {"decoder": ["ar", "hpd"], "dataset": ["oa-mine", "ae-110k"], "limit": 2}, True
    yield "an arm", {"arm": ["a=ar,batch_size=3"], "datasets": ["oa-mine"], "limit": 2}, True
    for what, path, value in (("an unknown key", ("batchsize",), 2), ("a text for a number", ("limit",), "four"), ("a broken number", ("limit",), 1.5),
                              ("an unknown dataset", ("datasets", 0), "oa-mines"), ("an unknown decoder", ("decoders", 0, "name"), "art"),
                              ("an unknown key of an arm", ("decoders", 0, "lable"), "x"), ("a list as an option", ("decoders", 1, "set", "stack"), [1]),
                              ("= in a label", ("decoders", 1, "label"), "a=b"), ("no decoder", ("decoders",), []), ("null", ("seed",), None), ("a whole number as text", ("limit",), "4"), ("a negative number", ("limit",), -1), ("a number for true", ("unseen",), 1), ("an unknown order", ("order",), "random"), ("a number as name", ("name",), 3)):
        file = copy.deepcopy(WHOLE)
        place = file
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value
        yield what, file, False


GRIDS = (({"hpd.k_max": [8, 16], "batch_size": [1, 2]}, True), ({"h.stack": [1]}, True), ({"k_max": 8}, False), ({"k_max": []}, False), ([], False),
         ({"k_max": [[8]]}, False), ({"k_max": [8, 8]}, False), ({"k_max": [None]}, False))


def main():
    check, program = Checks(), str(pathlib.Path(sys.argv[1]).resolve())
    check(SCHEMA.read_text(encoding="utf-8") == written(program), f"{SCHEMA.name} is not of this program's settings; scripts/approve takes them over")
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    for verb in ("run", "sweep"):
        check_flags(check, schema["properties"], help_of(program, verb), verb)
    training = json.loads(written(program, "training"))
    jsonschema.Draft202012Validator.check_schema(training)
    check_flags(check, training["properties"], help_of(program, "train"), "train")
    validator = jsonschema.Draft202012Validator(schema)
    shipped = sorted((ROOT / "experiments").rglob("*.json"))
    runnable = [file for file in shipped if "decoders" in (read := json.loads(file.read_text(encoding="utf-8"))) and isinstance(read, dict) and "published" not in read]
    check(len(runnable) >= 3, f"experiments that can be run: {runnable}")
    with scratch(program) as pardec:
        model = pardec.synthesise("model")
        for file in runnable:
            faults = [error.message for error in validator.iter_errors(json.loads(file.read_text(encoding="utf-8")))]
            # One that names networks of its own is planned on those, where they were made.
            own = json.loads(file.read_text(encoding="utf-8")).get("models")
            if own and not all((ROOT / folder).exists() for folder in own.values()):
                print(f"{file.name}: not planned, its networks are not there")
                continue
            ran = (subprocess.run([program, "run", "-c", str(file), "--dry-run"], cwd=ROOT, capture_output=True, text=True) if own else
                   pardec("run", "-c", file, "--model", model, "--dry-run"))
            check(not faults and ran.returncode == 0, f"{file.relative_to(ROOT)}: {faults}, {ran.stderr}")
        for what, file, good in variants():
            (pardec.folder / "e.json").write_text(json.dumps(file))
            ran = pardec("run", "-c", "e.json", "--model", model, "--dry-run")
            check((ran.returncode == 0) == good, f"{what}: the program says {ran.returncode}: {ran.stderr}")
            check(validator.is_valid(file) == good, f"{what}: the schema says {[error.message for error in validator.iter_errors(file)]}")
        for grid, good in GRIDS:
            file = {"name": "g", "datasets": ["oa-mine"], "decoders": [{"name": "ar"}, {"label": "h", "name": "hpd"}], "limit": 2, "max_new_tokens": 4, "grid": grid,
                    "target_ci": "2%"}
            (pardec.folder / "e.json").write_text(json.dumps(file))
            ran = pardec("sweep", "-c", "e.json", "--model", model, "--dry-run", "--progress", "none")
            check((ran.returncode == 0) == good, f"grid {grid}: the program says {ran.returncode}: {ran.stderr}")
            check(validator.is_valid(file) == good, f"grid {grid}: the schema says {[error.message for error in validator.iter_errors(file)]}")
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
