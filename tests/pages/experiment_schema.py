"""The JSON schema of the files that `run -c` and `sweep -c` take (experiments/experiment.schema.json), made from what the program says of its flags, datasets and decoders."""
import json
import re
import subprocess

from pages import help_of

# Flags that a file cannot hold: the file itself.
NOT_IN_A_FILE = {"config", "help"}
TYPES = {None: "boolean", "N": "integer", "X": "number", "SHARE": ["string", "number"]}


def names(program, what):
    said = subprocess.run([program, "list", what, "--format", "jsonl"], capture_output=True, text=True, check=True).stdout
    return [json.loads(line)["name"] for line in said.splitlines()]


def flags(text):
    """(name, kind of its value or None, whether it takes several, what it is) of each flag of a help text."""
    pattern = re.compile(r"^  (?:-\w,)?--([a-z-]+)(?: (\[?[A-Z][^ =\n]*?))?(?:=\S*)?( \.\.\.)? \(Env:\w+\)\s+(.*)$", re.M)
    return [(name, kind, bool(several), meaning) for name, kind, several, meaning in
            ((m[1], m[2], m[3], m[4]) for m in pattern.finditer(text))]


def schema(program):
    text = help_of(program, "run")
    decoder = {"type": "string", "enum": names(program, "decoders")}
    dataset = {"type": "string", "enum": names(program, "datasets")}
    properties = {
        "name": {"type": "string", "description": "of the experiment, stored with its runs"},
        "model": {"type": "string", "description": "checkpoint folder, or its name in models"},
        "models": {"type": "object", "description": "names of checkpoint folders", "additionalProperties": {"type": "string"}},
        "datasets": {"type": "array", "minItems": 1, "items": dataset},
        "decoders": {"type": "array", "minItems": 1, "description": "the arms", "items": {
            "type": "object", "required": ["name"], "additionalProperties": False, "properties": {
                "name": decoder,
                "label": {"type": "string", "pattern": "^[^,=]+$", "description": "of the arm; without it the decoder's name"},
                "model": {"type": "string", "description": "the arm's own checkpoint: a folder, or its name in models; without it the one above"},
                "adapter": {"type": "string", "description": "an adapter over it, low-rank or extra heads: a folder, or its name in models"},
                "draft": {"type": "string", "description": "the same of the network that drafts for it"},
                "set": {"type": "object", "description": "options of the decoder, and batch_size", "additionalProperties": {"type": ["string", "number", "boolean"]}}}}},
        "grid": {"type": "object", "description": "of sweep: values of settings, e.g. hpd.k_max or batch_size; they multiply", "additionalProperties": {
            "type": "array", "minItems": 1, "uniqueItems": True, "items": {"type": ["string", "number", "boolean"]}}}}
    for name, kind, several, meaning in [*flags(text), *flags(help_of(program, "sweep"))]:
        if name in NOT_IN_A_FILE or name.replace("-", "_") in properties:
            continue
        one = dict(dataset) if name == "dataset" else dict(decoder) if name == "decoder" else {"type": TYPES.get(kind, "string")}
        properties[name.replace("-", "_")] = {"description": meaning, **({"anyOf": [one, {"type": "array", "items": one}]} if several else one)}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Experiment of pardec run -c and sweep -c",
            "description": "Keys are flags of `pardec run` or `pardec sweep` with _ for -; a flag on the command line beats the file.",
            "type": "object", "additionalProperties": False, "properties": properties}


def written(program):
    return json.dumps(schema(program), indent=2) + "\n"
