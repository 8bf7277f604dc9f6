"""No verb writes over what it reads: model, adapter, dataset, service, job, trace, database, by
whichever name, link or file of settings they are given.
"""

import json
import os
import re
import shutil

import pytest
from harness import ROOT, SAMPLES

QUICKSTART = ROOT / "experiments" / "quickstart" / "model"
RUN = [
    "run", "--decoder", "ar", "--dataset", "oa-mine", "--limit", 1, "--max-new-tokens", 4, "--db",
    "r.sqlite", "--progress", "none",
]
# Flags that name what a verb writes. Every other flag of a FILE or DIR is read.
WRITTEN = {
    "run": {"trace"},
    "sweep": {"trace"},
    "generate": {"trace"},
    "report": {"output"},
    "plot": {"output"},
    "export": {"out"},
    "judge": {"out"},
    "data": {"out", "details"},
    "model": {"out"},
    "train": {"out"},
    "reproduce": {"report"},
}
TRAIN = [
    "train", "--model", "./model", "--dataset", "oa-mine", "--format", "ar", "--steps", 1,
    "--lora-rank", 2, "--context-length", 1024, "--progress", "none",
]
MODEL = ["--model", "model"]


def state(folder):
    """The content of all files, so that nothing is written over or shortened."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.endswith(("-wal", "-shm"))
    }


def check_refused(pardec, *command):
    before = state(pardec.folder)
    ran = pardec(*command)
    after = state(pardec.folder)
    assert ran.returncode == 2, ran.stderr
    assert re.search("choose another (file|folder)", ran.stderr)
    assert [name for name in before if after.get(name) != before[name]] == []


@pytest.fixture(scope="module")
def folder(pardec):
    """A folder that holds one of everything that is read, some by several names."""
    folder = pardec.folder
    pardec.synthesise("model")
    (folder / "notes.txt").write_text("a prompt")
    service = {"interface": "openai-chat", "url": "http://127.0.0.1:9/v1", "model": "m"}
    (folder / "service.json").write_text(json.dumps(service))
    shutil.copy(ROOT / "experiments/quickstart/job.json", folder)
    shutil.copy(sorted((ROOT / "datasets/prompts").iterdir())[0], folder / "prompt.txt")
    (folder / "ids.txt").write_text("1,2,3\n")
    shutil.copytree(SAMPLES / "oa-mine", folder / "data" / "oa-mine")
    (folder / "data" / "jsonl").mkdir()
    (folder / "data" / "jsonl" / "train.jsonl").write_text(
        '{"prompt": "Which is the capital of Norway?", "references": ["Oslo"]}\n'
    )
    pardec.good(*RUN, *MODEL, "--trace", "t.jsonl")
    settings = {"model": "m", "models": {"m": "model"}, "datasets": ["oa-mine"], "limit": 1}
    settings |= {"decoders": [{"label": "ar", "name": "ar"}], "db": "r.sqlite"}
    (folder / "ours.json").write_text(json.dumps({**settings, "trace": "model/config.json"}))
    os.symlink("model/config.json", folder / "link")
    os.link(folder / "model" / "config.json", folder / "hard")
    os.symlink("model", folder / "other-name")
    os.link(folder / "r.sqlite", folder / "hard.sqlite")
    os.symlink("service.json", folder / "service-link")
    os.link(folder / "service.json", folder / "service-hard")
    for name in ("r.sqlite", "hard.sqlite"):
        os.symlink(name, folder / f"{name}.svg")
    os.symlink("r.sqlite", folder / "sheet.html")
    (folder / "tables").mkdir()
    shutil.copy(folder / "t.jsonl", folder / "tables" / "jobs.jsonl")
    (folder / "linked").mkdir()
    os.symlink("../model/config.json", folder / "linked" / "config.json")
    return folder


@pytest.fixture(scope="module")
def dataset(folder):
    """The name of a dataset's file."""
    files = sorted((folder / "data" / "oa-mine").rglob("*.json*"))
    return files[0].relative_to(folder)


@pytest.fixture(scope="module")
def adapter(pardec, folder):
    pardec.good(*TRAIN, "--out", "adapter")
    return "adapter"


@pytest.fixture(scope="module")
def verbs(pardec):
    return re.findall(r"^  ([a-z]+) ", pardec.good("--help").split("Flags:")[0], re.M)


def test_each_flag_that_says_that_something_is_written_is_known(pardec, verbs):
    for verb in verbs:
        flags = re.findall(r"--([a-z-]+)\s+(?:FILE|DIR)", pardec.good(verb, "--help"))
        read = {"trace"} if verb in ("compare", "report", "roofline", "export") else set()
        found = {*flags} & {"out", "output", "details", "report", "trace"}
        assert found - read == WRITTEN.get(verb, set()), verb


# Traces of run, sweep and generate ---------------------------------------------------------------


def test_a_trace_is_written_and_written_anew(pardec, folder):
    for _ in range(2):
        pardec.good(*RUN, *MODEL, "--trace", "own.jsonl")
        assert (folder / "own.jsonl").stat().st_size > 0


@pytest.mark.parametrize(
    "name",
    [
        "model/config.json", "model/model.safetensors", "model/tokenizer.json",
        "./model/../model/config.json", "{folder}/model/config.json", "link", "hard",
        "other-name/config.json", "r.sqlite", "hard.sqlite", "r.sqlite-wal",
    ],
)
@pytest.mark.parametrize("verb", ["run", "sweep"])
def test_a_trace_is_not_written_over_a_model_or_database(pardec, folder, verb, name):
    extra = ["--grid", "batch_size=1,2"] if verb == "sweep" else []
    trace = ["--trace", name.replace("{folder}", str(folder))]
    check_refused(pardec, verb, *RUN[1:], *extra, *MODEL, *trace)


OF_CONFIG = ["--trace", "model/config.json"]


@pytest.mark.parametrize(
    "command",
    [
        [*RUN, "--model", "other-name", *OF_CONFIG],
        [
            RUN[0], *RUN[3:], "--model", QUICKSTART, "--arm", "ar=ar", "--arm", "b=ar,model=model",
            *OF_CONFIG,
        ],
        ["sweep", *RUN[1:], "--grid", f"model={QUICKSTART},model", *OF_CONFIG],
        [*RUN, *MODEL, "--prompt-file", "prompt.txt", "--trace", "prompt.txt"],
        ["run", "-c", "ours.json"],
        [*RUN, *MODEL, "-c", "ours.json", "--trace", "ours.json"],
    ],
    ids=[
        "a model by a link", "an arm's own model", "a grid of models", "a prompt file",
        "a file of settings that names both", "the file of settings",
    ],
)
def test_a_trace_is_not_written_over(pardec, folder, command):
    check_refused(pardec, *command)


def test_a_trace_is_not_written_over_the_dataset(pardec, folder, dataset):
    check_refused(pardec, *RUN, *MODEL, "--data-root", "data", "--trace", dataset)


def test_a_trace_that_settings_name_is_written_anew(pardec, folder):
    settings = {
        "model": "model",
        "decoders": [{"name": "ar"}],
        "datasets": ["oa-mine"],
        "limit": 1,
        "max_new_tokens": 2,
        "trace": "by-file.jsonl",
        "db": "by-file.sqlite",
    }
    (folder / "traced.json").write_text(json.dumps(settings))
    for _ in range(2):
        pardec.good("run", "-c", "traced.json", "--progress", "none")
        assert (folder / "by-file.jsonl").stat().st_size > 0


GENERATE = ["generate", *MODEL, "--max-new-tokens", 2]


@pytest.mark.parametrize(
    "how, name",
    [
        (["--prompt", "x"], "model/config.json"),
        (["--prompt", "x"], "link"),
        (["--job", "job.json"], "job.json"),
        (["--prompt-tokens", "@ids.txt"], "ids.txt"),
    ],
    ids=["model", "link", "job", "ids"],
)
def test_a_trace_of_generate_is_not_written_over(pardec, folder, how, name):
    check_refused(pardec, *GENERATE, *how, "--trace", name)


def test_a_trace_may_lie_in_a_models_folder(pardec, folder):
    for _ in range(2):  # and is written anew
        ran = pardec(*GENERATE, "--prompt", "x", "--trace", "model/mine.jsonl")
        assert ran.returncode == 0, ran.stderr


# What data label and rewrite make ----------------------------------------------------------------


@pytest.mark.parametrize(
    "flags",
    [
        ["--out", "service.json"],
        ["--out", "service-link"],
        ["--out", "service-hard"],
        ["--out", "o.jsonl", "--details", "service.json"],
        ["--out", "DATASET"],
        ["--out", "o.jsonl", "--details", "o.jsonl"],
        ["--out", "o.jsonl", "--details", "./o.jsonl"],
        ["--out", "taught.sqlite"],
    ],
    ids=lambda flags: " ".join(flags),
)
@pytest.mark.parametrize("action", ["label", "rewrite"])
def test_data_is_not_written_over(pardec, folder, dataset, action, flags):
    of = ["oa-mine"] if action == "label" else ["jsonl", "--split", "train"]
    read = dataset if action == "label" else "data/jsonl/train.jsonl"
    flags = [read if flag == "DATASET" else flag for flag in flags]
    check_refused(
        pardec, "data", action, *of, "--data-root", "data", "--service", "service.json", "--db",
        "taught.sqlite", "--progress", "none", *flags,
    )


# What is made of a database ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        ["report", "-o", "r.sqlite"],
        ["report", "-o", "hard.sqlite"],
        ["report", "-o", "t.jsonl", "--trace", "t.jsonl"],
        ["plot", "--x", "batch_size", "-o", "r.sqlite.svg"],
        ["plot", "--x", "batch_size", "-o", "hard.sqlite.svg"],
        ["judge", "export", "--protocol", "single", "--out", "sheet.html"],
        [
            "export", "--format", "jsonl", "--hardware", "here", "--trace", "tables/jobs.jsonl",
            "--out", "tables",
        ],
        ["reproduce", "list", "--report", "hard.sqlite"],
    ],
    ids=[
        "report", "report by a link", "report over its trace", "plot", "plot by a link",
        "judge export", "export over its trace", "reproduce",
    ],
)
def test_a_database_and_its_trace_are_not_written_over(pardec, folder, command):
    check_refused(pardec, *command, "--db", "r.sqlite")


def test_tables_may_lie_beside_a_trace(pardec, folder):
    words = ["--hardware", "here", "--trace", "tables/jobs.jsonl", "--out", "tables"]
    ran = pardec("export", "--db", "r.sqlite", "--format", "csv", *words)
    assert ran.returncode == 0, ran.stderr


def test_tables_may_lie_beside_their_database(pardec, folder):
    assert pardec("export", "--db", "r.sqlite", "--out", ".").returncode == 0


# What is made of a model -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        [*TRAIN, "--out", "other-name"],
        ["model", "draft", "model", "--layers", 1, "--out", "linked"],
        ["model", "synth", "model", "--config", "model/config.json"],
        ["model", "synth", "linked", "--tokenizer", "model", "--config", "model/config.json"],
    ],
    ids=["train", "draft into links", "synth over its config", "synth over its tokenizer"],
)
def test_a_model_is_not_written_over_by(pardec, folder, command):
    check_refused(pardec, *command)


@pytest.mark.parametrize("out", ["adapter", "model", "linked"])
def test_a_merged_network_is_not_written_over(pardec, folder, adapter, out):
    check_refused(pardec, "model", "merge", "model", "--adapter", adapter, "--out", out)


def test_a_new_folder_gets_a_merged_network(pardec, folder, adapter):
    ran = pardec("model", "merge", "model", "--adapter", adapter, "--out", "merged")
    assert ran.returncode == 0, ran.stderr


def test_train_goes_on_in_its_folder(pardec, folder, adapter):
    ran = pardec(*TRAIN, "--out", adapter, "--resume", "--steps", 2)
    assert ran.returncode in (0, 2), ran.stderr
