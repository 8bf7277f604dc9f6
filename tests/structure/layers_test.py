"""Folders are layers: checks every #include of the project against the one direction that
dependencies may point.
"""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# What a folder may include besides itself. `src/cli` joins everything; tests see everything.
ALLOWED = {
    "src/support": set(),
    "src/tokenizer": {"src/support"},
    "src/jinja": {"src/support"},
    "src/prompt": {"src/support", "src/tokenizer", "src/jinja"},
    "src/kernels": {"src/support"},
    "src/model": {"src/support", "src/kernels", "src/group"},
    "src/engine": {"src/support", "src/model"},
    "src/group": {"src/support"},
    "src/training": {"src/support", "src/group", "src/model", "src/prompt"},
    "src/sandbox": {"src/support"},
    "src/http": {"src/support"},
    "src/chat": {"src/support", "src/http"},
    "src/store": {"src/support"},
    "datasets": {"src/support"},
    "metrics": {"src/support"},
    "judges": {"src/support", "src/chat"},
    "src/asking": {"src/support", "src/chat", "src/store", "judges"},
    "src/teaching": {
        "src/support", "src/tokenizer", "src/asking", "datasets", "decoders", "judges", "metrics",
    },
    "decoders": {
        "src/support", "src/tokenizer", "src/model", "src/engine", "src/prompt", "src/training",
        "metrics",
    },
    "src/checkpoint": {
        "src/support", "src/tokenizer", "src/model", "src/engine", "src/prompt", "metrics",
    },
    "src/tasks": {
        "src/support", "src/tokenizer", "src/model", "src/engine", "src/prompt", "src/checkpoint",
        "datasets", "decoders", "metrics",
    },
    "src/scoring": {
        "src/support", "src/sandbox", "src/chat", "src/store", "src/asking", "datasets", "metrics",
        "judges",
    },
    "src/findings": {
        "src/support", "src/tokenizer", "src/model", "src/engine", "src/prompt", "src/store",
        "src/checkpoint", "src/tasks", "src/scoring", "datasets", "decoders", "metrics",
    },
    "src/runs": {
        "src/support", "src/model", "src/engine", "src/prompt", "src/store", "src/checkpoint",
        "src/tasks", "src/scoring", "src/findings", "src/chat", "src/asking", "src/group", "datasets",
        "decoders",
    },
    "src/settings": {
        "src/support", "src/model", "src/prompt", "src/checkpoint", "src/tasks", "src/scoring",
        "src/runs", "src/finetune", "decoders", "datasets",
    },
    "src/reproduction": {
        "src/settings", "src/support", "src/group", "src/model", "src/engine", "src/prompt", "src/chat",
        "src/store", "src/checkpoint", "src/tasks", "src/scoring", "src/findings", "src/runs",
        "src/finetune", "datasets", "metrics",
    },
    "src/report": {
        "src/support", "src/tokenizer", "src/engine", "src/store", "src/findings",
        "src/reproduction", "src/scoring", "datasets", "metrics",
    },
    "src/finetune": {
        "src/support", "src/group", "src/tokenizer", "src/model", "src/prompt", "src/training", "src/store",
        "src/checkpoint", "src/tasks", "src/scoring", "datasets", "decoders",
    },
    "src/serve": {
        "src/support", "src/chat", "src/tokenizer", "src/engine", "src/prompt", "src/checkpoint",
        "src/tasks", "src/runs", "decoders",
    },
    "src/cli": {
        "src/settings", "src/serve", "src/support", "src/group", "src/model", "src/prompt", "src/sandbox",
        "src/http", "src/chat", "src/store", "src/checkpoint", "src/tasks", "src/scoring", "src/runs",
        "src/findings", "src/reproduction", "src/report", "src/finetune", "src/asking",
        "src/teaching", "decoders", "datasets",
    },
}
# What src/cli may include of a layer: its entries, what makes a spec, takes it, or is printed. All
# headers of layers that do not stand here.
ENTRIES = {
    "datasets": "dataset made_prompts published_counts sources standin",
    "decoders": "decoder training_formats",
    "src/asking": "asking paid_service",
    "src/chat": "service",
    "src/checkpoint": "checkpoint checkpoint_notes derived_checkpoint memory_plan pickled_weights",
    "src/findings": "best_cells comparison corpus judge_findings roofline traces",
    "src/finetune": "finetune own_answers",
    "src/group": "group",
    "src/http": "download hub",
    "src/model": (
        "adapter device files/extra_heads files/families files/parameters files/weight_check profile"
        " ranks/ranks"
    ),
    "src/prompt": "chat_template pieces prompt_choice",
    "src/reproduction": "item_choice paper_item rehearsal reproduce standins time_shares weights",
    "src/runs": (
        "arm_sessions arms baseline_arms execute likelihood prepare prompt_sizes record run_spec"
        " runner shared_likelihood workload"
    ),
    "src/sandbox": "python_sandbox",
    "src/scoring": "ask_judge judging labels rescore task_metrics",
    "src/serve": "serve",
    "src/store": "invocations store",
    "src/tasks": (
        "answers_json checkpoint_fit conversation decode_options ends generation_speed"
        " given_requests protocol request session"
    ),
    "src/teaching": "labelling rewriting",
}
INCLUDE = re.compile(r'^\s*#include\s+"([^"]+)"', re.M)
# Headers that anybody includes stay free of libtorch, so that few sources pay for it.
TORCH_ALLOWED = {"src/model/torch.hpp", "src/model/network.hpp"}


def layer_of(path):
    return max((layer for layer in ALLOWED if path.startswith(layer + "/")), key=len, default=None)


def circles(edges):
    """Each circle of a graph {node: nodes it points to} once, as the nodes on it."""
    found, done = [], set()

    def walk(node, path):
        if node in path:
            found.append(" -> ".join([*path[path.index(node) :], node]))
        elif node not in done:
            for target in sorted(edges.get(node, ())):
                walk(target, [*path, node])
            done.add(node)

    for node in sorted(edges):
        walk(node, [])
    return found


def includes():
    """{file: files of the project that it includes}, headers alone: a source is included by
    nobody.
    """
    return {
        file.relative_to(ROOT).as_posix(): set(INCLUDE.findall(file.read_text(encoding="utf-8")))
        for layer in ALLOWED
        for file in (ROOT / layer).rglob("*.hpp")
    }


def sources(layer):
    """(path, text) of each file of a layer."""
    for file in sorted((ROOT / layer).rglob("*.[ch]pp")):
        name = file.relative_to(ROOT).as_posix()
        if layer_of(name) == layer:
            yield name, file.read_text(encoding="utf-8")


def test_a_circle_is_seen():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}})


def test_the_layers_have_no_circle():
    assert circles(ALLOWED) == []


def test_headers_do_not_include_one_another():
    assert circles(includes()) == []


@pytest.mark.parametrize("layer", ALLOWED)
def test_a_layer_includes_only_what_it_may_and_all_of_that(layer):
    seen, found = set(), list(sources(layer))
    assert found
    for name, text in found:
        for included in INCLUDE.findall(text):
            target = layer_of(included)
            assert target is not None, f"{name} includes {included}, which is in no known layer"
            assert target == layer or target in ALLOWED[layer], f"{name} includes {included}"
            seen.add(target)
    assert ALLOWED[layer] <= seen, "what is included nowhere is not to be allowed"


@pytest.mark.parametrize("layer", ALLOWED)
def test_headers_are_free_of_libtorch(layer):
    for name, text in sources(layer):
        if name.endswith(".hpp") and name not in TORCH_ALLOWED:
            assert not re.search(r"#include\s+[<\"](ATen|torch|c10)/", text), name


def test_the_command_line_includes_only_entries_and_all_of_them():
    """A verb is flags -> spec -> call -> print: what is computed belongs into a layer below."""
    unused = {(layer, header) for layer, headers in ENTRIES.items() for header in headers.split()}
    for file in sorted((ROOT / "src/cli").glob("*.[ch]pp")):
        for included in INCLUDE.findall(file.read_text(encoding="utf-8")):
            layer = layer_of(included)
            header = included[len(layer) + 1 :].removesuffix(".hpp")
            assert layer not in ENTRIES or header in ENTRIES[layer].split(), (
                f"{file.name} includes {included}"
            )
            unused.discard((layer, header))
    assert not unused, "what src/cli includes nowhere is no entry"
