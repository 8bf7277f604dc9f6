"""What generation_config.json does to logits: the ids of transformers' greedy search, for every
decoder that gives the ids of ar, alone and in batches.
"""

import dataclasses
import json
import pathlib

import pytest
from harness import ROOT, query
from reference import torch  # first: it skips where there is no transformers
from transformers import AutoModelForCausalLM, GenerationConfig

NEW, EOS = 16, 2
PROMPTS = [[5, 6, 7, 8, 5, 6, 7], [40], [9, 9, 9, 30, 31, 9, 9], [1, 60, 2, 33, 60, 2]]


def all_settings(plain):
    """One setting after another, and some together; ids are of the answers without any."""
    a, b, c, d = plain
    return [
        {"repetition_penalty": 1.3},
        {"repetition_penalty": 0.8},
        {"repetition_penalty": 5.0},
        {"no_repeat_ngram_size": 1},
        {
            "no_repeat_ngram_size": 2,
            "sequence_bias": [[[11], 30.0]],
        },  # which alone would repeat it for ever
        {"no_repeat_ngram_size": 3, "sequence_bias": [[[11], 30.0], [[12], 29.0]]},
        {"suppress_tokens": [a[3], b[5], c[7], d[2], a[9]]},
        {"begin_suppress_tokens": [a[0], b[0], c[0], d[0]]},
        {"bad_words_ids": [[a[2]], [b[3], b[4]], [c[5], c[6], c[7]]]},
        {"bad_words_ids": [[EOS], d[:2]]},
        {"sequence_bias": [[[a[1]], -4.5], [[b[1], b[2]], -3.0], [[c[0], 20], 9.0], [[11], 0.5]]},
        {"forced_bos_token_id": 50},
        {"forced_eos_token_id": EOS},
        {"suppress_tokens": [a[1]], "begin_suppress_tokens": [b[0]], "forced_bos_token_id": 50},
        {
            "repetition_penalty": 1.1,
            "no_repeat_ngram_size": 4,
            "suppress_tokens": [a[0], d[4]],
            "min_new_tokens": 3,
            "forced_eos_token_id": [4, EOS],
            "bad_words_ids": [[c[1], c[2]]],
            "sequence_bias": [[[44], 1.25]],
            "begin_suppress_tokens": [c[0]],
            "forced_bos_token_id": 33,
        },
    ]


# Neutral values, and settings that change no greedy answer: nothing is said of them.
NEUTRAL = [
    {
        "repetition_penalty": 1.0,
        "no_repeat_ngram_size": 0,
        "min_length": 0,
        "bad_words_ids": None,
        "num_beams": 1,
    },
    {
        "do_sample": True,
        "temperature": 0.6,
        "top_k": 20,
        "top_p": 0.95,
        "min_p": 0.1,
        "typical_p": 0.9,
    },
    {"pad_token_id": 0, "use_cache": True, "transformers_version": "5.24.0", "max_length": 4096},
]
# Others change answers, and are named.
LEFT_OUT = [
    {"num_beams": 4},
    {"guidance_scale": 1.5},
    {"encoder_repetition_penalty": 1.2},
    {"exponential_decay_length_penalty": [4, 1.5]},
    {"stop_strings": ["a"]},
    {"penalty_alpha": 0.6},
    {"remove_invalid_values": True},
    {"max_time": 2.0},
    {"dola_layers": "low"},
    {"encoder_no_repeat_ngram_size": 2},
    {"token_healing": True},
    {"watermarking_config": {"bias": 2.0}},
    {"num_return_sequences": 3},
]
WRONG = [
    ({"repetition_penalty": 0}, "above 0"),
    ({"repetition_penalty": "high"}, "above 0"),
    ({"no_repeat_ngram_size": -1}, "0 or more"),
    ({"suppress_tokens": [4096]}, "0 to 4095"),
    ({"suppress_tokens": "all"}, "token ids"),
    ({"bad_words_ids": [5]}, "lists"),
    ({"bad_words_ids": [[]]}, "at least one"),
    ({"sequence_bias": [[[1], "much"]]}, "bias"),
    ({"min_new_tokens": 1.5}, "whole number"),
]
DECODERS = [
    ("ar",),
    ("prompt-lookup",),
    ("lookahead",),
    ("self-speculative", "--set", "self-speculative.threshold=0"),
    ("speculative",),
    ("space", "--set", "space.mask_token=4000"),
    ("speculative", "--set", "speculative.gamma=2"),
]


def reference(model, prompt, settings, eos):
    """Greedy ids of transformers, and the least gap between its two best processed logits."""
    out = model.generate(
        torch.tensor([prompt]),
        generation_config=GenerationConfig(
            max_new_tokens=NEW, eos_token_id=eos, pad_token_id=0, do_sample=False,
            return_dict_in_generate=True, output_scores=True, **settings,
        ),
    )
    gaps = [
        torch.topk(scores[0], 2).values
        for scores in out.scores
        if int(torch.isfinite(scores[0]).sum()) > 2
    ]  # else it was forced
    return out.sequences[0, len(prompt) :].tolist(), min(float(a - b) for a, b in gaps)


def rows_seen(items):
    return [k for item in items for k in (range(*item) if isinstance(item, list) else (item,))]


def ngrams_again(ids, n):
    """Ids that would end an n-gram which is in `ids` already, straight from what the setting
    means.
    """
    made = {tuple(ids[i : i + n]) for i in range(len(ids) - n + 1)}
    return [gram[-1] for gram in made if list(gram[:-1]) == ids[len(ids) - n + 1 :]]


def check_replay(model, trace, settings):
    """Every choice of a trace is the best of transformers' logits over what its row saw, changed
    by the settings over just that. Returns how many choices, and how many the settings change.
    """
    n = len(trace["tokens"])
    seen = [rows_seen(items) for items in trace["visible"]]
    mask = torch.full((1, 1, n, n), torch.finfo(torch.float32).min)
    for row, rows in enumerate(seen):
        mask[0, 0, row, torch.tensor(rows)] = 0.0
    with torch.no_grad():
        logits = model(
            torch.tensor([trace["tokens"]]),
            attention_mask=mask,
            position_ids=torch.tensor([trace["position"]]),
            use_cache=False,
        ).logits[0]
    counted = changed = 0
    for row, want in enumerate(trace["predicts"]):
        if want is None:
            continue
        scores = logits[row].clone()
        free = int(scores.argmax())
        order = sorted(seen[row], key=lambda r: (trace["position"][r], r))
        before = [trace["tokens"][r] for r in order]
        unique = torch.tensor(sorted(set(before)))
        scores[unique] = torch.where(
            scores[unique] < 0,
            scores[unique] * settings["repetition_penalty"],
            scores[unique] / settings["repetition_penalty"],
        )
        scores[ngrams_again(before, settings["no_repeat_ngram_size"])] = -torch.inf
        for ids, word in (("banned", False), ("allowed", True)):  # of the decoder's grammar, too
            given = (trace.get(ids) or [None] * n)[row]
            if given:
                keep = torch.zeros_like(scores, dtype=torch.bool)
                keep[torch.tensor(given)] = True
                scores[keep != word] = -torch.inf
        best = int(scores.argmax())
        assert best == want or float(scores[best] - scores[want]) < 1e-4, (
            f"row {row}: {want} chosen, {best} is best"
        )
        counted, changed = counted + 1, changed + (best != free)
    return counted, changed


@dataclasses.dataclass
class Network:
    """A network whose generation_config.json tests write, a draft network, and the network in
    transformers.
    """

    pardec: object
    folder: pathlib.Path
    draft: pathlib.Path
    prompts: pathlib.Path
    model: object

    def configure(self, eos=EOS, **settings):
        (self.folder / "generation_config.json").write_text(
            json.dumps({"eos_token_id": eos, **settings})
        )

    def ask(self, *flags):
        return self.pardec(
            "generate", "--model", self.folder, "--prompt-tokens", f"@{self.prompts}",
            "--max-new-tokens", NEW, "--format", "json", "--threads", 1, *flags,
        )

    def ids(self, *flags):
        """What is said, and the ids of each prompt."""
        ran = self.ask(*flags)
        return ran.stderr, [
            json.loads(line)["answers"][0]["tokens"] for line in ran.stdout.splitlines()
        ]

    def decode(self, decoder, *flags):
        drafts = ["--draft-model", self.draft] if decoder[0] == "speculative" else []
        return self.ids("--decoder", *decoder, *drafts, *flags)


@pytest.fixture(scope="module")
def network(pardec):
    folder, draft = (
        pardec.synthesise("model", seed=7),
        pardec.synthesise("draft", seed=8, num_hidden_layers=1),
    )
    prompts = pardec.folder / "prompts.txt"
    prompts.write_text("".join(",".join(map(str, p)) + "\n" for p in PROMPTS))
    return Network(
        pardec,
        folder,
        draft,
        prompts,
        AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval(),
    )


@pytest.fixture(scope="module")
def plain(network):
    """The ids without any setting."""
    network.configure()
    said, plain = network.ids()
    assert "generation_config" not in said
    return plain


@pytest.fixture(scope="module")
def cases(network, plain):
    """(settings, ends, ids of transformers) of each case."""
    cases = [(settings, EOS) for settings in all_settings(plain)]
    # An end that the network would choose early, and may not.
    cases += [
        ({"min_new_tokens": 9}, plain[0][4]),
        ({"min_length": 14}, plain[1][5]),
        ({"min_new_tokens": 12, "min_length": 3}, [plain[2][0], plain[3][1]]),
    ]
    found = []
    for settings, eos in cases:
        want, gaps = zip(*(reference(network.model, prompt, settings, eos) for prompt in PROMPTS))
        assert min(gaps) > 1e-4, f"{settings}: a tie"
        found.append((settings, eos, [*want]))
    return found


@pytest.mark.parametrize(
    ("decoder", "size"),
    [(("ar",), 1), *((decoder, 3) for decoder in DECODERS)],
    ids=lambda value: (
        " ".join(part for part in value if part != "--set")
        if isinstance(value, tuple)
        else f"batches-of-{value}"
    ),
)
def test_decoders_give_the_greedy_ids_of_transformers(subtests, network, cases, decoder, size):
    for settings, eos, want in cases:
        with subtests.test(str(settings)):
            network.configure(eos, **settings)
            said, got = network.decode(decoder, "--batch-size", size)
            assert got == want, said
            for key in settings:
                assert f"{key} " in said
            assert "--no-generation-config" in said


def test_settings_that_are_left_out_change_nothing(subtests, network, plain, cases):
    """And each setting would change ids: the tests can fail."""
    for settings, eos, want in cases:
        with subtests.test(str(settings)):
            network.configure(eos, **settings)
            said, free = network.ids("--no-generation-config")
            assert free != want
            assert free == plain or eos != EOS
            assert "left out" in said


@pytest.mark.parametrize("settings", [{}, {"min_new_tokens": 9}], ids=str)
def test_an_end_that_a_flag_adds_is_banned_as_the_others_are(network, plain, settings):
    network.configure(**settings)
    want = [reference(network.model, prompt, settings, [EOS, plain[0][4]])[0] for prompt in PROMPTS]
    said, got = network.ids("--eos", plain[0][4])
    assert got == want, said


@pytest.mark.parametrize("settings", NEUTRAL, ids=", ".join)
def test_nothing_is_said_of_values_that_change_no_greedy_answer(network, plain, settings):
    network.configure(**settings)
    said, got = network.ids()
    assert got == plain
    assert "generation_config" not in said


@pytest.mark.parametrize("settings", LEFT_OUT, ids=", ".join)
def test_settings_that_are_not_supported_are_named(network, plain, settings):
    network.configure(**settings)
    said, got = network.ids()
    assert got == plain
    assert "not supported" in said
    assert f"{next(iter(settings))} " in said


@pytest.mark.parametrize(("settings", "expected"), WRONG, ids=str)
def test_values_of_another_kind_are_refused(network, settings, expected):
    network.configure(**settings)
    ran = network.ask()
    assert ran.returncode == 2, ran.stderr
    assert next(iter(settings)) in ran.stderr
    assert expected in ran.stderr


@pytest.mark.parametrize("decoder", DECODERS, ids=" ".join)
def test_suppressed_ids_are_never_sampled(network, decoder):
    """The verified law is that of the processed logits."""
    network.configure(suppress_tokens=list(range(3, 4000)))
    _, got = network.decode(decoder, "--temperature", 1, "--ignore-eos")
    assert got
    assert all(token < 3 or token >= 4000 for answer in got for token in answer)


TRAINED = {"repetition_penalty": 1.2, "no_repeat_ngram_size": 6, "num_beams": 2}


@pytest.fixture(scope="module")
def trained(pardec):
    """The quickstart's network with settings."""
    folder = pardec.folder / "trained"
    folder.mkdir()
    for part in (ROOT / "experiments/quickstart/model").iterdir():
        if part.name != "generation_config.json":
            (folder / part.name).symlink_to(part)
    (folder / "generation_config.json").write_text(json.dumps(TRAINED))
    return folder


@pytest.fixture(scope="module")
def command(pardec, trained):
    return [
        "run", "--model", trained, "--decoder", "ar,hpd", "--dataset", "oa-mine", "--limit", 6,
        "--max-new-tokens", 16, "--db", pardec.folder / "t.sqlite",
    ]


APPLIED = [
    ([], "repetition_penalty 1.2 applied"),
    (["--no-generation-config"], "repetition_penalty 1.2 left out"),
]


@pytest.fixture(scope="module")
def printed(pardec, command):
    """What two runs print, with the settings and without; both are in one database."""
    return [pardec.good(*command, *flags) for flags, _ in APPLIED]


def test_the_plan_says_what_is_applied(pardec, command):
    for flags, words in APPLIED:
        text = " ".join(pardec.good(*command, *flags, "--dry-run").split())
        assert words in text
        assert "num_beams 2 not supported" in text


def test_the_table_says_what_is_applied(printed):
    for text, (_, words) in zip(printed, APPLIED, strict=True):
        text = " ".join(text.split())
        assert words in text
        assert "num_beams 2 not supported" in text


@pytest.mark.usefixtures("printed")
def test_the_database_has_what_is_applied(pardec):
    kept = [
        json.loads(r["config"])["generation_config"]
        for r in query(pardec.folder / "t.sqlite", "SELECT config FROM run ORDER BY id")
    ]
    assert [k["applied"] for k in kept] == [True, True, False, False]


@pytest.mark.usefixtures("printed")
def test_a_run_goes_on_under_the_same_settings(pardec, command):
    pardec.good(*command, "--resume", "--no-generation-config")


def test_doctor_names_the_settings(pardec, trained):
    assert "repetition_penalty 1.2" in " ".join(pardec("doctor", "--model", trained).stdout.split())


@pytest.fixture(scope="module")
def trained_reference(trained):
    """The same network in transformers."""
    return AutoModelForCausalLM.from_pretrained(
        trained, dtype=torch.float32, attn_implementation="eager"
    ).eval()


@pytest.mark.parametrize("decoder", ["hpd", "ippd", "ar", "skeleton-of-thought"])
def test_what_stands_before_a_choice_is_what_its_row_sees(
    pardec, trained, trained_reference, decoder
):
    """In decoders with branches as well; the trace has what was applied and what was struck out."""
    lines = pardec.folder / f"{decoder}.jsonl"
    asked = (
        ["--prompt", "List three uses of a brick."]
        if decoder == "skeleton-of-thought"
        else ["--job", ROOT / "experiments/quickstart/job.json"]
    )
    pardec.good(
        "generate", "--model", trained, "--decoder", decoder, "--trace", lines, "--dtype", "fp32",
        "--max-new-tokens", 48, *asked,
    )
    traces = [json.loads(line) for line in lines.read_text().splitlines()]
    assert all(t["generation_config"]["repetition_penalty"] == 1.2 for t in traces)
    counts = [check_replay(trained_reference, t, TRAINED) for t in traces]
    assert sum(choices for choices, _ in counts) > 10
    assert sum(changed for _, changed in counts) > 0
