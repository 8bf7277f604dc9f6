"""`pardec train` from end to end: eight titles are learned by heart and both decoders say them
back; a run that is killed and resumed ends with the same bits; transformers loads what was
exported; mistakes are one line and exit code 2.
"""

import functools
import json
import os
import pathlib
import shutil
import signal
import time

import pytest
import small_training
from harness import whole_except
from small_training import CONFIG, FIELDS, TITLES, prepare, tensors

numpy = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")
pytest.importorskip("safetensors")


@pytest.fixture(scope="module")
def folder(pardec):
    """The scratch folder, with the titles."""
    prepare(pardec.folder)
    return pardec.folder


@pytest.fixture(scope="module")
def command(folder):
    """The arguments of a training, after the program's name."""

    def made(out, *flags, model="config.json", without=()):
        flags = small_training.train("pardec", folder, out, *map(str, flags), model=model)[1:]
        flags[flags.index("--threads") + 1] = "1"
        for name in without:
            at = flags.index(name)
            del flags[at : at + 2]
        return flags

    return made


@pytest.fixture(scope="module")
def train(pardec, command):
    """Runs a training."""
    return lambda *args, **options: pardec(*command(*args, **options))


def record_of(folder):
    return json.loads((folder / "training.json").read_text())


def check_equal_tensors(one, other):
    """Two files hold the same tensors, to the bit."""
    one, other = tensors(one), tensors(other)
    assert one.keys() == other.keys()
    for key in one:
        assert torch.equal(one[key], other[key]), key


# What was learned --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def learned(folder, train):
    """The folder of a network that learned the titles by heart."""
    ran = train(
        "model", "--format", "ar,hpd", "--stack", 2, "--steps", 240, "--batch-tokens", 100000,
        "--lr", 6e-3, "--weight-decay", 0, "--validation", 0,
    )
    assert ran.returncode == 0, ran.stderr
    for size in (1, 2):
        with open(folder / f"jobs{size}.jsonl", "w") as file:
            for at in range(0, len(TITLES), size):
                contexts = [
                    {
                        "id": str(i),
                        "category": "Bag",
                        "text": TITLES[i][0],
                        "fields": [{"name": n} for n in FIELDS],
                    }
                    for i in range(at, at + size)
                ]
                file.write(
                    json.dumps({"id": str(at), "contexts": contexts}) + "\n"
                )  # in the wording of the training
    return folder / "model"


def test_titles_are_learned(learned):
    record = record_of(learned)
    assert record["finished"]
    assert record["result"]["train_loss"] < 0.03


@pytest.mark.parametrize(
    "decoder, jobs, options",
    [("ar", "jobs1.jsonl", []), ("hpd", "jobs2.jsonl", ["--set", "hpd.k_max=12"])],
    ids=["ar", "hpd"],
)
def test_a_decoder_says_all_values_back(pardec, learned, decoder, jobs, options):
    said = pardec.good(
        "generate", "--model", learned, "--decoder", decoder, "--job", jobs, "--prompt-file",
        "prompt.txt", "--format", "json", *options,
    )
    got = {
        (a["context"], a["field"]): a["text"]
        for line in said.splitlines()
        for a in json.loads(line)["answers"]
    }
    assert got == {
        (str(i), name): value
        for i, (_, values) in enumerate(TITLES)
        for name, value in zip(FIELDS, values)
    }


def test_transformers_computes_the_same_logits(model_dump, learned):
    os.environ["HF_HUB_OFFLINE"] = "1"
    transformers = pytest.importorskip("transformers")
    torch.set_num_threads(1)
    model = transformers.AutoModelForCausalLM.from_pretrained(str(learned), dtype=torch.float32)
    ids = list(range(3, 300, 7))
    cases = [{"whole": {"tokens": ids, "labels": [[i, i, 0, 0] for i in range(len(ids))]}}]
    values = model_dump(learned, "fp32", cases)
    with torch.no_grad():
        want = model(torch.tensor([ids])).logits[0].double().numpy()
    got = numpy.frombuffer(values).reshape(want.shape)
    # float32: sums of 128 terms over two layers, 2^-24 each, carried on; well below 1e-4 of the
    # largest logit.
    assert abs(got - want).max() <= 1e-4 * abs(want).max()
    assert model.dtype == torch.float32
    assert json.loads((learned / "config.json").read_text())["dtype"] == "bfloat16"


# Mixtures and validation -------------------------------------------------------------------------


DETAILS = "the colour of something that many people know well"
TALKS = [
    [("Name a colour.", "Red."), ("Another?", "Blue, say.")],
    [
        (
            "Which colours?",
            f"Some:\n\n1. Red: {DETAILS}.\n2. Blue: {DETAILS}.\n3. Green: {DETAILS}.\n\nNo more.",
        )
    ],
    [("Sum?", "12 + 34 = 46.")],
    [("Why?", "Because.")],
]


@pytest.fixture(scope="module")
def talks(folder):
    """Conversations beside the titles."""
    (folder / "jsonl").mkdir()
    with open(folder / "jsonl/train.jsonl", "w") as file:
        for talk in TALKS:
            messages = [
                {"role": role, "content": text}
                for turn in talk
                for role, text in zip(("user", "assistant"), turn)
            ]
            file.write(json.dumps({"messages": messages}) + "\n")


def test_titles_open_prompts_and_conversations_are_learned_in_shares(folder, train, talks):
    ran = train(
        "text", "--format", "ar,hpd:0.5,space:2,apar", "--chat-template", "chatml", "--steps", 6,
        "--batch-sequences", 4, "--validation", 0, "--context-length", 1000, "--dataset",
        "oa-mine,jsonl", without=("--dataset", "--prompt-file"),
    )
    assert ran.returncode == 0, ran.stderr
    record = record_of(folder / "text")
    assert record["settings"]["format"] == ["ar", "hpd", "space", "apar"]
    assert record["settings"]["shares"] == [1, 0.5, 2, 1]
    # 8 titles and 4 talks: ar once each, space twice, apar titles once and two of the talks, hpd
    # about half of the titles.
    assert record["examples"]["train"] == 12
    assert 12 + 24 + 10 <= record["epoch"]["sequences"] <= 12 + 24 + 10 + 8
    assert record["epoch"]["left_out"] == 2


def test_hpd_alone_on_text_is_refused(pardec, folder, talks):
    ran = pardec(
        "train", "--model", "config.json", "--dataset", "jsonl", "--data-root", folder, "--split",
        "train", "--format", "hpd", "--out", "none",
    )
    assert ran.returncode == 2, ran.stderr
    assert "hpd" in ran.stderr
    assert "open prompts" in ran.stderr


PATIENT = [
    "--steps", 60, "--batch-tokens", 700, "--validation", 0.25, "--validate-every", 1, "--patience",
    3, "--lr", 3e-2, "--warmup", 0,
]


@pytest.fixture(scope="module")
def patient(folder, train):
    """A run that stops by itself."""
    ran = train("patient", *PATIENT)
    assert ran.returncode == 0, ran.stderr
    return folder / "patient"


def test_a_run_without_progress_stops_and_keeps_its_best(patient):
    losses = [
        float(line.split(",")[4]) for line in (patient / "loss.csv").read_text().splitlines()[1:]
    ]
    best, result = losses.index(min(losses)) + 1, record_of(patient)["result"]
    assert len(losses) == min(60, best + 3)
    assert result["best_step"] == best
    assert abs(result["validation_loss"] - min(losses)) < 1e-4


def test_resumed_after_its_end_a_run_changes_nothing(train, patient):
    before = (patient / "model.safetensors").read_bytes()
    again = train("patient", *PATIENT, "--resume")
    assert again.returncode == 0, again.stderr
    assert (patient / "model.safetensors").read_bytes() == before


# Extra heads -------------------------------------------------------------------------------------


class Heads:
    """Extra heads over the network that learned the titles: the training, its folder and the
    folder of the merged checkpoint.
    """

    def __init__(self, pardec, train, model, shares_head):
        self.shares_head = shares_head
        self.out = "shared" if shares_head else "heads"
        self.folder, self.merged = pardec.folder / self.out, pardec.folder / f"{self.out}-merged"
        flags = [
            "--medusa-heads", 2, "--steps", 120, "--batch-tokens", 100000, "--lr", 3e-3,
            "--weight-decay", 0, "--validation", 0.25,
        ]
        # In the model's own wording.
        self.train = functools.partial(
            train,
            self.out,
            *flags,
            *(["--medusa-share-head"] if shares_head else []),
            model=model.name,
            without=["--prompt-file"],
        )
        self.ran = self.train()
        assert self.ran.returncode == 0, self.ran.stderr
        pardec.good("model", "merge", model, "--adapter", self.folder, "--out", self.merged)


@pytest.fixture(scope="module", params=[False, True], ids=["own-matrix", "shared-matrix"])
def heads(request, pardec, train, learned):
    return Heads(pardec, train, learned, request.param)


def test_training_of_heads_says_how_often_they_are_right(heads):
    assert "right head 1 " in heads.ran.stderr


def test_the_folder_has_the_heads_and_no_network(heads):
    assert not list(heads.folder.glob("model*"))
    assert not (heads.folder / "config.json").exists()


@pytest.mark.parametrize("file", ["tokenizer.json", "prompts/attributes.txt"])
def test_heads_come_with_the_files_of_the_model(learned, heads, file):
    assert (heads.folder / file).read_bytes() == (learned / file).read_bytes()


def test_heads_are_stored_without_a_shared_matrix(learned, heads):
    size = CONFIG["hidden_size"]
    own = (
        0
        if heads.shares_head
        else 2 * size * json.loads((learned / "config.json").read_text())["vocab_size"]
    )
    sizes = {
        name: tensor.numel()
        for name, tensor in tensors(heads.folder / "medusa_heads.safetensors").items()
    }
    assert sum(sizes.values()) == 2 * (size * size + size) + own, sizes


def test_the_record_has_the_shape_accuracy_and_trees(heads):
    record = record_of(heads.folder)
    result = record["result"]
    assert record["settings"]["format"] == ["ar"]
    assert record["settings"]["medusa"] == {"heads": 2, "blocks": 1} | (
        {"shares_head": True} if heads.shares_head else {}
    )
    assert len(result["validation_accuracy"]) == len(result["head_ranks"]) == 2
    assert [head[0] for head in result["head_ranks"]] == result["validation_accuracy"]
    for tree in result["trees"]:
        assert 1 < tree["tokens_per_pass"] <= 3
        assert tree["nodes"] <= 256


def test_heads_that_are_resumed_after_their_end_keep_their_accuracy(heads):
    accuracy = record_of(heads.folder)["result"]["validation_accuracy"]
    again = heads.train("--resume")
    assert again.returncode == 0, again.stderr
    assert record_of(heads.folder)["result"]["validation_accuracy"] == accuracy


def test_inspect_describes_heads(pardec, learned, heads):
    seen = pardec.good("model", "inspect", learned, "--adapter", heads.folder)
    assert "extra heads only" in seen
    assert (
        f"2 of 1 block, {'on the network' if heads.shares_head else 'each with a matrix'}" in seen
    )


def test_merged_a_checkpoint_has_the_heads(learned, heads):
    for source, name in (
        (learned, "model.safetensors"),
        (learned, "config.json"),
        (heads.folder, "medusa_heads.safetensors"),
    ):
        assert (heads.merged / name).read_bytes() == (source / name).read_bytes(), name


def test_medusa_gives_the_ids_of_ar_in_fewer_passes(pardec, learned, heads):
    ids, passes = {}, {}
    over, tree = ["--model", learned, "--adapter", heads.folder], ["--set", "medusa.tree=1x3x2"]
    for name, decoder, options in (
        ("ar", "ar", over),
        ("medusa", "medusa", [*over, *tree]),
        ("merged", "medusa", ["--model", heads.merged, *tree]),
    ):
        said = pardec.good(
            "generate", "--decoder", decoder, "--job", "jobs1.jsonl", "--format", "json", *options
        )
        answers = [json.loads(line) for line in said.splitlines()]
        ids[name] = [answer["tokens"] for answer in answers]
        passes[name] = sum(answer["counters"]["forwards"] for answer in answers)
    assert len(ids["ar"]) == len(TITLES)
    assert ids["medusa"] == ids["ar"]
    assert ids["merged"] == ids["ar"]
    assert passes["medusa"] == passes["merged"]
    assert passes["medusa"] < 0.5 * passes["ar"]  # three tokens a pass at most


def test_heads_on_hpd_are_refused(train, learned):
    refused = train("other", "--medusa-heads", 2, "--format", "hpd", model="model")
    assert refused.returncode == 2, refused.stderr
    assert "expected ar" in refused.stderr


# Kills and the clock -----------------------------------------------------------------------------


SHORT = [
    "--steps", 24, "--batch-tokens", 700, "--validation", 0.25, "--save-every", 3, "--dtype",
    "bf16",
]
# Flags, the model that they begin with, and the file that they end with.
KINDS = {
    "network": ([], "config.json", "model.safetensors"),
    "heads": (
        ["--medusa-heads", 3, "--medusa-blocks", 2],
        "network-whole",
        "medusa_heads.safetensors",
    ),
    "heads-and-adapter": (
        ["--medusa-heads", 2, "--medusa-share-head", "--lora-rank", 2, "--lora-dropout", 0.1],
        "network-whole",
        "medusa_heads.safetensors",
    ),
    "adapter": (
        [
            "--lora-rank", 4, "--lora-dropout", 0.1, "--lora-tokens", "[Fork],[Child]",
            "--checkpoint-activations",
        ],
        "network-whole",
        "adapter_model.safetensors",
    ),
}
every_kind = pytest.mark.parametrize("kind", KINDS)
some_kinds = pytest.mark.parametrize("kind", whole_except({"network", "heads-and-adapter"}, KINDS))


@pytest.fixture(scope="module")
def whole(folder, train):
    """The folder of a run without a break, by its kind."""

    @functools.cache
    def ran(kind):
        flags, model, _ = KINDS[kind]
        if model != "config.json":
            ran("network")
        done = train(f"{kind}-whole", *SHORT, *flags, model=model)
        assert done.returncode == 0, done.stderr
        return folder / f"{kind}-whole"

    return ran


@pytest.fixture(scope="module")
def killed(pardec, folder, command, whole):
    """The folder of a run that was killed after it had saved something, by its kind."""

    @functools.cache
    def ran(kind):
        whole(kind)
        flags, model, result = KINDS[kind]
        process = pardec.start(*command(f"{kind}-broken", *SHORT, *flags, model=model))
        out = folder / f"{kind}-broken"
        while not (out / "state.safetensors").exists() and process.poll() is None:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert process.returncode == -signal.SIGKILL
        assert not (out / result).exists(), "killed in mid-run"
        return out

    return ran


def again(train, kind, *more):
    flags, model, _ = KINDS[kind]
    return train(f"{kind}-broken", *SHORT, *flags, *more, model=model)


@some_kinds
def test_a_killed_run_is_not_overwritten_unasked(train, killed, kind):
    killed(kind)
    refused = again(train, kind)
    assert refused.returncode == 2, refused.stderr
    assert "--resume" in refused.stderr
    assert refused.stderr.count("\n") == 1


@every_kind
def test_a_killed_run_is_not_resumed_with_other_flags(train, killed, kind):
    killed(kind)
    other = again(train, kind, "--lr", 1e-5, "--resume")
    assert other.returncode == 2, other.stderr
    assert "'lr'" in other.stderr


@some_kinds
def test_a_killed_run_that_is_resumed_ends_with_the_bits_of_one_without_a_break(
    train, killed, whole, kind
):
    one, other = whole(kind), killed(kind)
    resumed = again(train, kind, "--resume")
    assert resumed.returncode == 0, resumed.stderr
    for name in ("state.safetensors", KINDS[kind][2]):
        check_equal_tensors(one / name, other / name)
    # loss.csv has each update once, with the same losses.
    rows = [
        [line.split(",")[:5] for line in (out / "loss.csv").read_text().splitlines()]
        for out in (one, other)
    ]
    assert rows[0] == rows[1]
    assert len(rows[0]) == 25


CLOCKED = {
    "model.safetensors": (["--validation", 0.25], "config.json"),
    "adapter_model.safetensors": (
        ["--lora-rank", 4, "--patience", 99, "--validation", 0.25],
        "network-whole",
    ),
}
NO_TIME = ["--minutes", "0.00001"]


class Sittings:
    """A training of twelve updates that the clock stops at the first: its folder, and how it
    goes on.
    """

    def __init__(self, folder, train, name):
        self.name = name
        more, self.model = CLOCKED[name]
        self.folder, self.whole = folder / f"clock-{name}", folder / f"clock-whole-{name}"
        self.flags = ["--steps", 12, "--batch-tokens", 700, *more]
        self.go = lambda *flags, out=self.folder.name: train(
            out, *self.flags, *flags, model=self.model
        )
        self.first = self.go(*NO_TIME)


@pytest.fixture(params=CLOCKED)
def sittings(request, folder, train, whole):
    whole("network")
    made = Sittings(folder, train, request.param)
    assert made.first.returncode == 0, made.first.stderr
    yield made
    shutil.rmtree(made.folder)


def test_the_clock_stops_a_run_with_all_files(pardec, sittings):
    assert (
        "stopped at update 1 of 12: --minutes 1e-05 are over; the same line with --resume goes on"
        in sittings.first.stderr
    )
    record = record_of(sittings.folder)
    assert not record["finished"]
    result = record["result"]
    assert result["stopped_by"] == "minutes"
    assert (result["steps"], result["planned_steps"]) == (1, 12)
    assert result["validation_loss"] > 0
    assert result["validation_accuracy"]
    assert len((sittings.folder / "loss.csv").read_text().splitlines()) == 2
    assert tensors(sittings.folder / sittings.name)
    model = (
        ["--model", sittings.folder]
        if sittings.model == "config.json"
        else ["--model", sittings.model, "--adapter", sittings.folder]
    )
    pardec.good("generate", *model, "--prompt-tokens", "5,6", "--max-new-tokens", 3)


def test_a_run_in_three_sittings_ends_with_the_bits_of_one(sittings):
    alone = sittings.go(out=sittings.whole.name)
    assert alone.returncode == 0, alone.stderr
    second = sittings.go("--resume", *NO_TIME)
    assert "stopped at update 2 of 12" in second.stderr
    last = sittings.go("--resume")
    assert last.returncode == 0, last.stderr
    record = record_of(sittings.folder)
    assert record["finished"]
    assert record["result"]["stopped_by"] is None
    for file in ("state.safetensors", sittings.name):
        check_equal_tensors(sittings.whole / file, sittings.folder / file)


@pytest.mark.parametrize("minutes", ["-1", "nan", "inf"])
def test_wrong_minutes_are_refused(train, minutes):
    ran = train("no-clock", "--minutes", minutes)
    assert ran.returncode == 2, ran.stderr
    assert "--minutes" in ran.stderr


# Types and mistakes ------------------------------------------------------------------------------


ONE_STEP = ["--steps", 1, "--batch-tokens", 700, "--validation", 0, "--dtype", "auto"]


@pytest.mark.parametrize("stored", ["bfloat16", "float16", "float32"])
def test_dtype_auto_is_bf16_where_the_checkpoint_has_it_and_the_processor_is_fast_at_it(
    folder, train, whole, stored
):
    fast = "avx512_bf16" in pathlib.Path("/proc/cpuinfo").read_text()
    model = shutil.copytree(whole("network"), folder / f"stored-{stored}")
    config = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps({**config, "dtype": stored}))
    ran = train(f"auto-{stored}", *ONE_STEP, model=model.name)
    expected = "bf16" if fast and stored != "float32" else "fp32"
    assert ran.returncode == 0, ran.stderr
    assert f"dtype auto: {expected}\n" in ran.stderr
    assert record_of(folder / f"auto-{stored}")["settings"]["dtype"] == expected


def test_dtype_auto_of_random_weights_is_fp32(train):
    ran = train("auto-config", *ONE_STEP)
    assert ran.returncode == 0, ran.stderr
    assert "dtype auto: fp32\n" in ran.stderr


@pytest.mark.parametrize(
    "flags, said",
    [
        (["--format", "hdp"], "hpd"),
        (["--steps", "-1"], "--steps"),
        (["--dtype", "fp8"], "fp8"),
        (["--k-max", "400"], "--k-max"),
        (["--extra", "missing.jsonl"], "missing.jsonl"),
        (["--validation", "1"], "--validation"),
        (["--medusa-heads", "2"], "config.json"),
        (["--medusa-heads", "-1"], "--medusa-heads"),
        (["--medusa-blocks", "0"], "--medusa-blocks"),
        (["--medusa-share-head"], "--medusa-heads"),
        (
            ["--format", "space", "--mask-token", "5", "--unannotated", "0"],
            "format space learns every value",
        ),
        (["--unannotated", "0.5,1"], "has 2 shares, expected 1 or as many as datasets (1)"),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, list) else "",
)
def test_wrong_flags_are_refused_and_leave_no_file(folder, train, flags, said):
    ran = train("refused", *flags)
    assert ran.returncode == 2, ran.stderr
    assert said in ran.stderr
    assert not list((folder / "refused").glob("*"))
