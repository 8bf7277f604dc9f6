"""experiments/experiment.schema.json is made from the program's flags, and says of a file what `run -c FILE --dry-run` says.

Usage: experiment_schema_test.py PROGRAM
"""
import copy
import json
import pathlib
import subprocess
import sys

import jsonschema

from pages import ROOT, help_of
from experiment_schema import flags, written
from harness import Checks, scratch

SCHEMA = ROOT / "experiments" / "experiment.schema.json"
WHOLE = {"name": "n", "datasets": ["oa-mine"], "decoders": [{"name": "ar", "set": {"forced_keys": False}}, {"label": "h", "name": "hpd", "set": {"stack": 2, "k_max": 9}}],
         "batch_size": 2, "limit": 4, "temperature": 0.5, "unseen": True, "order": "blocked", "seed": 3}


def variants():
    """(what, file, whether it is one)"""
    yield "whole", WHOLE, True
    yield "one dataset by its flag", {"decoder": "ar", "dataset": "oa-mine", "limit": 2}, True
    yield "several by their flags", {"decoder": ["ar", "hpd"], "dataset": ["oa-mine", "ae-110k"], "limit": 2}, True
    yield "an arm", {"arm": ["a=ar,batch_size=3"], "datasets": ["oa-mine"], "limit": 2}, True
    for what, path, value in (("an unknown key", ("batchsize",), 2), ("a text for a number", ("limit",), "four"), ("a broken number", ("limit",), 1.5),
                              ("an unknown dataset", ("datasets", 0), "oa-mines"), ("an unknown decoder", ("decoders", 0, "name"), "art"),
                              ("an unknown key of an arm", ("decoders", 0, "lable"), "x"), ("a list as an option", ("decoders", 1, "set", "stack"), [1]),
                              ("= in a label", ("decoders", 1, "label"), "a=b"), ("no decoder", ("decoders",), []), ("null", ("seed",), None), ("a number as name", ("name",), 3)):
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
    text = help_of(program, "run")
    check(SCHEMA.read_text(encoding="utf-8") == written(program), f"{SCHEMA.name} is not of this program's flags; scripts/approve takes them over")
    check(len(flags(text)) == text.count("(Env:"), f"{len(flags(text))} flags were read of {text.count('(Env:')}")
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
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
