"""experiments/experiment.schema.json is what `pardec list experiment-schema` prints, has every
flag that --help shows, and says of a file what `run -c FILE --dry-run` says.
"""

import copy
import json
import re
import subprocess

import pytest
from experiment_schema import written
from harness import skip
from pages import ROOT, help_of

try:
    import jsonschema
except ImportError as missing:
    skip(missing)

SCHEMA = ROOT / "experiments" / "experiment.schema.json"
WHOLE = {
    "name": "n",
    "datasets": ["oa-mine"],
    "decoders": [
        {"name": "ar", "set": {"forced_keys": False}},
        {"label": "h", "name": "hpd", "set": {"stack": 2, "k_max": 9}},
    ],
    "batch_size": 2,
    "limit": 4,
    "temperature": 0.5,
    "unseen": True,
    "order": "blocked",
    "seed": 3,
}


# Flags that a file cannot hold: the file itself, and what only writes scripts.
NOT_IN_A_FILE = {"config", "slurm", "slurm_tasks"}
# One text with commas on the command line, also a list in JSON.
ONE_TEXT = {"lora_tokens"}


def flags(text):
    """(name, whether it takes several, default) of each flag of a help text."""
    pattern = re.compile(
        r"^  (?:-\w,)?--([a-z-]+)(?: \[?[A-Z][^ =\n]*?)?(?:=(\S*))?( \.\.\.)? \(Env:\w+\)", re.M
    )
    return [(m[1].replace("-", "_"), bool(m[3]), m[2]) for m in pattern.finditer(text)]


def check_flags(properties, text):
    """Every flag is a property, with the default that the help shows."""
    shown = flags(text)
    assert len(shown) >= text.count("(Env:") > 40
    for name, several, default in shown:
        if name in NOT_IN_A_FILE:
            continue
        assert name in properties
        if name in ("grid", "model"):
            continue  # which a file says by a name or an object
        one = properties.get(name, {})
        assert (several or name in ONE_TEXT) == ("anyOf" in one), name
        # Only one of the two shows a number that is hidden or follows from other settings.
        if default and not several and "default" in one:
            assert str(one["default"]) == default or float(one["default"]) == float(default), name


def variants():
    """(what, file, whether it is one)"""
    yield "whole", WHOLE, True
    yield "one dataset by its flag", {"decoder": "ar", "dataset": "oa-mine", "limit": 2}, True
    yield (
        "several by their flags",
        {"decoder": ["ar", "hpd"], "dataset": ["oa-mine", "ae-110k"], "limit": 2},
        True,
    )
    yield "an arm", {"arm": ["a=ar,batch_size=3"], "datasets": ["oa-mine"], "limit": 2}, True
    for what, path, value in (
        ("an unknown key", ("batchsize",), 2),
        ("a text for a number", ("limit",), "four"),
        ("a broken number", ("limit",), 1.5),
        ("an unknown dataset", ("datasets", 0), "oa-mines"),
        ("an unknown decoder", ("decoders", 0, "name"), "art"),
        ("an unknown key of an arm", ("decoders", 0, "lable"), "x"),
        ("a list as an option", ("decoders", 1, "set", "stack"), [1]),
        ("= in a label", ("decoders", 1, "label"), "a=b"),
        ("no decoder", ("decoders",), []),
        ("null", ("seed",), None),
        ("a whole number as text", ("limit",), "4"),
        ("a negative number", ("limit",), -1),
        ("a number for true", ("unseen",), 1),
        ("an unknown order", ("order",), "random"),
        ("a number as name", ("name",), 3),
    ):
        file = copy.deepcopy(WHOLE)
        place = file
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value
        yield what, file, False


GRIDS = (
    ({"hpd.k_max": [8, 16], "batch_size": [1, 2]}, True),
    ({"h.stack": [1]}, True),
    ({"k_max": 8}, False),
    ({"k_max": []}, False),
    ([], False),
    ({"k_max": [[8]]}, False),
    ({"k_max": [8, 8]}, False),
    ({"k_max": [None]}, False),
)


READ = json.loads(SCHEMA.read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(READ)
VARIANTS = {what: (file, good) for what, file, good in variants()}


def check_faults(ran, file, good):
    """Program and schema take a file, or refuse it."""
    assert (ran.returncode == 0) == good, ran.stderr
    assert VALIDATOR.is_valid(file) == good, [
        error.message for error in VALIDATOR.iter_errors(file)
    ]


@pytest.fixture(scope="module")
def model(pardec):
    return pardec.synthesise("model")


def test_the_schema_is_of_the_programs_settings(program):
    """scripts/approve takes them over."""
    assert SCHEMA.read_text(encoding="utf-8") == written(program("pardec"))
    jsonschema.Draft202012Validator.check_schema(READ)


@pytest.mark.parametrize("verb", ["run", "sweep"])
def test_the_schema_has_the_flags_of(pardec, verb):
    check_flags(READ["properties"], help_of(pardec, verb))


def test_the_schema_of_trainings_has_the_flags_of_train(program, pardec):
    training = json.loads(written(program("pardec"), "training"))
    jsonschema.Draft202012Validator.check_schema(training)
    check_flags(training["properties"], help_of(pardec, "train"))


def runs(read):
    return isinstance(read, dict) and "decoders" in read and "published" not in read


EXPERIMENTS = [
    file
    for file in sorted((ROOT / "experiments").rglob("*.json"))
    if runs(json.loads(file.read_text(encoding="utf-8")))
]


def test_there_are_experiments():
    assert len(EXPERIMENTS) >= 3


@pytest.mark.parametrize(
    "file", EXPERIMENTS, ids=[str(file.relative_to(ROOT)) for file in EXPERIMENTS]
)
def test_an_experiment_of_the_project_can_be_planned(program, pardec, model, file):
    read = json.loads(file.read_text(encoding="utf-8"))
    assert [error.message for error in VALIDATOR.iter_errors(read)] == []
    if own := read.get("models"):
        if not all((ROOT / folder).exists() for folder in own.values()):
            pytest.skip(f"not done here: {file.name} is not planned, its networks are missing")
        ran = subprocess.run(
            [program("pardec"), "run", "-c", file, "--dry-run"],
            cwd=ROOT,
            capture_output=True,
            text=True,
        )
    else:
        ran = pardec("run", "-c", file, "--model", model, "--dry-run")
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("what", VARIANTS)
def test_schema_and_program_agree_on(pardec, model, what):
    file, good = VARIANTS[what]
    (pardec.folder / "e.json").write_text(json.dumps(file))
    check_faults(pardec("run", "-c", "e.json", "--model", model, "--dry-run"), file, good)


@pytest.mark.parametrize("grid, good", GRIDS, ids=[json.dumps(grid) for grid, _ in GRIDS])
def test_schema_and_program_agree_on_a_grid(pardec, model, grid, good):
    file = {
        "name": "g",
        "datasets": ["oa-mine"],
        "decoders": [{"name": "ar"}, {"label": "h", "name": "hpd"}],
        "limit": 2,
        "max_new_tokens": 4,
        "grid": grid,
        "target_ci": "2%",
    }
    (pardec.folder / "e.json").write_text(json.dumps(file))
    check_faults(
        pardec("sweep", "-c", "e.json", "--model", model, "--dry-run", "--progress", "none"),
        file,
        good,
    )
