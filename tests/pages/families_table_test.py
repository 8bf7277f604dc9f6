"""The table of experiments/families.md: which tests there are for each family of networks. No cell
is written by hand: numbers are counted in the tests that pytest collects, and in the lists that
tests in C++ go through.

`python tests/pages/families_table_test.py PARDEC` writes the page.
"""

import collections
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "experiments/families.md"
TEXT = """# Families of networks, and their tests

{rows} families can be read. Each number counts networks that a test compares, except in the column `decoders`. Slow tests count, too. A
test checks this page against the tests themselves, and that no number is missing. `pardec model list-families` has what each family
computes.

| column | what is compared |
|---|---|
| logits | all logits with those of transformers in float64. In fp32, the error is at most three times the error of transformers |
| bf16 | the same in bf16, where the project's own kernels compute packed weights |
| ids | greedy ids of `pardec generate` with those of transformers, in fp32 |
| template | chat templates in the style of published networks of the family: the text is that of jinja2, set up as in transformers |
| packed | logits of packed bf16 networks with the same weights in float64: no less exact than bf16 with libtorch |
| int8, NF4 | logits of packed networks with those of a network of the quantised weights: as near as bf16 is. Some of the weights are quantised by bitsandbytes |
| training | all gradients of a training step with those of transformers, in float64 |
| trained | a network that `pardec train` makes from a config: its loss, and its ids with those of transformers |
| decoders | number of decoders that a test runs on a network of the family; those that guess ahead must choose the ids of `ar` |

transformers has no InternLM2 and no MiniCPM. They are compared with networks of Llama and Granite that have the same weights, since these
compute the same. transformers reads InternLM3 as Llama.

The chat templates of published networks are not part of the project. The tests have templates that were written for them, with the same
constructs, markup and errors. Published base networks of `falcon`, `gpt2`, `gpt_neox`, `phi` and `starcoder2` have no template. For these
families, the tests' templates are in the style of chat networks that were trained from the base networks. One published template is tested
as it is: that of SmolLM2 (`llama`), whose prompts have the ids of transformers' `apply_chat_template`.

{table}
"""
# Families by the templates of tests/jinja in the style of their networks.
TEMPLATES = {
    "cohere": ["command_r"],
    "cohere2": ["command_r7b"],
    "ernie4_5": ["ernie45"],
    "falcon": ["chatml", "falcon_chat"],
    "gemma2": ["gemma2"],
    "gemma3_text": ["gemma3"],
    "glm": ["glm4"],  # glm-4-9b-chat-hf
    "glm4": ["glm4"],
    "gpt2": ["dialogue"],
    "gpt_neox": ["dolly", "oasst"],
    "gpt_oss": ["gpt_oss"],
    "granite": ["granite3"],
    "internlm2": ["internlm2"],
    "internlm3": ["internlm2"],
    "llama": [
        "alpaca", "falcon3", "hermes", "llama2", "llama3", "llama31", "llama32", "solar", "tulu3",
        "vicuna", "yi",
    ],
    "minicpm": ["minicpm"],
    "mistral": ["mistral", "mistral_v1", "mistral_v7", "openchat", "zephyr"],
    "mixtral": ["mistral_v1"],
    "olmo2": ["olmo2"],
    "olmoe": ["tulu3"],
    "phi": ["chatml", "phi2"],
    "phi3": ["phi3", "phi35", "phi4", "phi4_mini"],
    "qwen2": ["chatml", "qwen15", "qwen25"],
    "qwen2_moe": ["qwen15"],
    "qwen3": ["qwen3", "qwen3_2507"],
    "qwen3_moe": ["qwen3", "qwen3_2507", "qwen3_coder"],
    "smollm3": ["smollm3"],
    "stablelm": ["stablelm2", "zephyr"],
    "starcoder2": ["chatml", "starchat", "starcoder2"],
}
# Names in tests that are not the name of the family.
OTHER_NAMES = {"gemma3": "gemma3text"}


def plain(name):
    name = name.lower().replace("_", "")
    return OTHER_NAMES.get(name, name)


def collected(*files):
    """[(function, parameters)] of the tests in these files."""
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", "whole or not whole", *files], cwd=ROOT / "tests",
        capture_output=True, text=True,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return re.findall(r"::(\w+)\[(.+)\]$", ran.stdout, re.M)


def counts():
    """column -> name of a family -> number of tests"""
    found = collections.defaultdict(collections.Counter)
    columns = {
        "test_fp32_is_as_near_to_float64_as_transformers": "logits",
        "test_bf16_is_as_near_to_float64_as_transformers": "bf16",
        "test_gradients_are_those_of_transformers": "training",
        "test_ids_of_a_published_form_are_those_of_transformers": "ids",
    }
    templates = set()
    for test, parameters in collected(
        "model/model_oracle_test.py", "training/gradients_oracle_test.py", "cli/families_test.py",
        "jinja/jinja_oracle.py",
    ):
        if test == "test_a_template_writes_what_jinja2_writes":
            templates.add(parameters)
        if test == "test_quantised_layers_compute_as_those_that_bitsandbytes_dequantises":
            label, kind = re.fullmatch(r"(.+)-(int8|nf4)", parameters).groups()
            found[kind][plain(label.split("-")[0])] += 1
        if test in columns:
            found[columns[test]][plain(parameters.split("-")[0])] += 1
        elif test == "test_ids_are_those_of_transformers":
            name, kind = re.fullmatch(r"(?:synth|new|trained)-(.+)|(.+)-(?:synth|new|trained)",
                                      parameters).groups(), parameters
            family = plain(name[0] or name[1])
            if "trained" not in kind:
                found["ids" if "synth" in kind else "trained"][family] += 1
    packed = (ROOT / "tests/model/packed_backend_test.cpp").read_text()
    networks = packed[packed.index("const Json kConfigs[]") : packed.index("struct Checkpointed")]
    quantised = packed[packed.index('"int8 and NF4 networks equal networks of') :]
    assert quantised.index("with_each(") < quantised.index("{Dtype::int8, Dtype::nf4}")
    for name in re.findall(r'config_of\("(\w+)"|(phi3)\(', networks):
        for column in ("packed", "int8", "nf4"):
            found[column][plain("".join(name))] += 1
    for family, names in TEMPLATES.items():
        assert set(names) <= templates, f"templates that no test has: {set(names) - templates}"
        found["template"][plain(family)] = len(names)
    return found


def page(pardec):
    ran = subprocess.run(
        [pardec, "model", "list-families", "--format", "json"], capture_output=True, text=True,
        check=True,
    )
    families = [row["model_type"] for row in json.loads(ran.stdout)["rows"]]
    ran = subprocess.run(
        [pardec, "list", "decoders", "--format", "json"], capture_output=True, text=True, check=True
    )
    decoders = {row.get("decoder", row.get("name")) for row in json.loads(ran.stdout)["rows"]}
    found = counts()
    conformance = (ROOT / "tests/decoders/conformance_test.cpp").read_text()
    if re.search(r"every decoder runs on every family.*?: families\(\)\)", conformance, re.S):
        for family in families:
            found["decoders"][plain(family)] = len(decoders)
    known = {plain(family) for family in families}
    strangers = {name for column in found.values() for name in column} - known - {"synthetic"}
    assert not strangers, f"tests of families that the program does not have: {strangers}"
    columns = [
        "logits", "bf16", "ids", "template", "packed", "int8", "nf4", "training", "trained", "decoders",
    ]
    head = " | ".join(columns).replace("nf4", "NF4")
    lines = [f"| family | {head} |", "|---" * (len(columns) + 1) + "|"]
    for family in families:
        cells = [str(found[column][plain(family)] or "-") for column in columns]
        lines.append(f"| `{family}` | " + " | ".join(cells) + " |")
    return TEXT.format(rows=len(families), table="\n".join(lines))


def test_the_table_is_that_of_the_tests(program):
    assert PAGE.read_text() == page(program("pardec")), f"run {__file__} PARDEC"


def test_no_cell_is_missing():
    table = PAGE.read_text().split("| family |")[1]
    columns = table.splitlines()[0].strip("| ").split(" | ")
    for row in re.findall(r"^\| `.*", table, re.M):
        name, *cells = row.strip("| ").split(" | ")
        missing = [column for column, cell in zip(columns, cells, strict=True) if cell == "-"]
        assert not missing, f"{name}: a test is missing of {missing}"


if __name__ == "__main__":
    PAGE.write_text(page(pathlib.Path(sys.argv[1]).resolve()))
