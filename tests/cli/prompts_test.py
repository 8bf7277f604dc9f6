"""What a network is asked: nothing of a Job is left out, no turn occurs twice, and prompts are
worded as in training.
"""

import json
import shutil

import pytest
from harness import ROOT, TOKENIZER, query, records, skip, write_lines

try:
    from tokenizers import Tokenizer
except ImportError as error:
    skip(error)

IDS = Tokenizer.from_file(str(TOKENIZER))
DECODERS = {
    "ar": (),
    "ar-separately": ("--set", "ar.ask=separately"),
    "hpd": (),
    "ippd": (),
    "skeleton-of-thought": (),
}
CHOICES = ["in the red box", "under a stone"]
SHAPES = {
    "questions": [{"question": "Who came first?"}, {"question": "Where is it?"}],
    "named-questions": [
        {"name": "winner", "question": "Who came first?"},
        {"name": "place", "question": "Where is it?"},
    ],
    "names": [{"name": "winner"}, {"name": "place"}],
    "mixed": [{"name": "winner"}, {"question": "Where is it?"}],
    "choices": [
        {"question": "Where is it?", "choices": CHOICES},
        {"question": "Where was it?", "choices": CHOICES},
    ],
    "named-choices": [{"name": "place", "choices": CHOICES}, {"name": "other", "choices": CHOICES}],
}
INSTRUCTIONS = {"": {}, "+instruction": {"instruction": "Do as you are told."}}


def text_of(ids):
    return IDS.decode(ids, skip_special_tokens=False)


@pytest.fixture(scope="module")
def model(pardec):
    folder = pardec.synthesise(
        "net0", vocab_size=4096, hidden_size=32, intermediate_size=64, num_hidden_layers=1,
        num_attention_heads=2, num_key_value_heads=1,
    )
    shutil.copy(TOKENIZER, folder / "tokenizer.json")
    return folder


def asked(pardec, *flags):
    """What was computed in the first pass, by request, and the answers."""
    answer = pardec.good(
        "generate", "--trace", "t.jsonl", "--format", "json", "--max-new-tokens", 2, "--per-field",
        2, *flags,
    )
    traces = [json.loads(line) for line in (pardec.folder / "t.jsonl").read_text().splitlines()]
    prompts = [
        (t["request"], [token for token, step in zip(t["tokens"], t["step"]) if step == 0])
        for t in traces
    ]
    return prompts, [json.loads(line) for line in answer.splitlines()]


@pytest.fixture(scope="module", params=list(DECODERS))
def told(request, pardec, model):
    """What a decoder asked the network about every shape of fields, with and without an
    instruction, and its answers; and the decoder.
    """
    jobs = {
        f"{shape}{more}": {
            "id": f"{shape}{more}.",
            **instruction,
            "contexts": [{"text": "A tale.", "fields": fields}],
        }
        for shape, fields in SHAPES.items()
        for more, instruction in INSTRUCTIONS.items()
    }
    write_lines(pardec.folder / "jobs.jsonl", jobs.values())
    decoder = request.param.removesuffix("-separately")
    prompts, answers = asked(
        pardec, "--model", model, "--job", "jobs.jsonl", "--decoder", decoder,
        *DECODERS[request.param],
    )
    return decoder, {
        name: (
            " ".join(text_of(ids) for asked_by, ids in prompts if asked_by.startswith(f"{name}.")),
            answer,
        )
        for name, answer in zip(jobs, answers, strict=True)
    }


@pytest.mark.parametrize("more", list(INSTRUCTIONS), ids=["bare", "instruction"])
@pytest.mark.parametrize("shape", list(SHAPES))
def test_nothing_of_a_job_is_left_out(told, shape, more):
    decoder, found = told
    words, answer = found[shape + more]
    fields = SHAPES[shape]
    wanted = ["A tale.", *INSTRUCTIONS[more].values()] + [
        f[key] for f in fields for key in ("name", "question") if key in f
    ]
    wanted += [choice for f in fields for choice in f.get("choices", [])]
    if decoder == "skeleton-of-thought" and shape == "named-questions":
        wanted = [
            w for w in wanted if w not in ("winner", "place")
        ]  # its own requests hold the question alone
    for part in wanted:
        assert part in words
    assert [a["field"] for a in answer["answers"]] == [
        f.get("name") or f"q{n}" for n, f in enumerate(fields, 1)
    ]
    # No key is empty.
    assert '"":' not in words


def test_worked_examples_need_a_wording(pardec, model):
    (pardec.folder / "job.json").write_text(
        json.dumps(
            {
                "shots": [{"context": "c", "answer": "a"}],
                "contexts": [{"text": "", "fields": [{"question": "x"}]}],
            }
        )
    )
    ran = pardec("generate", "--model", model, "--job", "job.json", "--prompt-file", "open")
    assert ran.returncode == 2, ran.stderr
    assert "no [shot] section" in ran.stderr


NAMED_CHOICES = {
    "text": "A tale.",
    "fields": [{"name": "place", "choices": ["here", "there"], "references": ["here"]}],
}


def test_choices_of_a_name_are_asked(pardec, model):
    write_lines(pardec.folder / "own/jsonl/test.jsonl", [NAMED_CHOICES])
    plan = json.loads(
        pardec.good(
            "run", "--model", model, "--decoder", "ippd", "--dataset", "jsonl", "--data-root",
            "own", "--dry-run", "--format", "json",
        )
    )
    assert plan["rows"][0]["form"] == "value"
    pardec.good(
        "run", "--model", model, "--decoder", "ar", "--set", "ar.ask=separately", "--dataset",
        "jsonl", "--data-root", "own", "--db", "own.sqlite", "--trace", "own.trace", "--progress",
        "none", "--max-new-tokens", 2, "--per-field", 2,
    )
    trace = json.loads((pardec.folder / "own.trace").read_text().splitlines()[0])
    assert "A. here\nB. there" in text_of(trace["tokens"])


def test_two_fields_of_one_name_are_an_error_with_its_line(pardec, model):
    for fields in (
        [{"name": "a"}, {"name": "a"}],
        [{"name": "q2", "question": "x"}, {"question": "y"}],
    ):
        write_lines(
            pardec.folder / "twice/jsonl/test.jsonl",
            [NAMED_CHOICES, {"text": "t", "fields": fields}],
        )
        ran = pardec(
            "run", "--model", model, "--decoder", "ar", "--dataset", "jsonl", "--data-root",
            "twice", "--db", "twice.sqlite",
        )
        assert ran.returncode == 2, f"{fields}: {ran.stderr}"
        assert "test.jsonl:2" in ran.stderr, fields
        assert "expected one name each" in ran.stderr, fields


@pytest.mark.parametrize(
    "words", ["", " ", "\n\n", " \t x \n"], ids=["empty", "space", "lines", "tab"]
)
def test_an_open_prompt_is_kept_as_it_is(pardec, model, words):
    prompts, _ = asked(pardec, "--model", model, "--prompt", words)
    assert text_of(prompts[0][1]) == words + "\n"


def test_a_prompt_of_no_token_is_an_error(pardec, model):
    (pardec.folder / "bare").mkdir()
    shutil.copytree(model, pardec.folder / "bare", dirs_exist_ok=True)
    (pardec.folder / "bare" / "chat_template.jinja").write_text("{{ messages[-1].content }}")
    ran = pardec("generate", "--model", "bare", "--prompt", "")
    assert ran.returncode == 2, ran.stderr
    assert "no token" in ran.stderr


@pytest.mark.parametrize("template", ["plain", "chatml"])
@pytest.mark.parametrize("decoder", ["ar", "ippd", "skeleton-of-thought"])
def test_a_conversation_says_each_turn_once(pardec, model, decoder, template):
    turns = ["One, please.", "And two?", "Why three?"]
    (pardec.folder / "talk.json").write_text(
        json.dumps(
            {
                "conversation": True,
                "contexts": [{"text": "", "fields": [{"question": turn} for turn in turns]}],
            }
        )
    )
    prompts, _ = asked(
        pardec, "--model", model, "--job", "talk.json", "--decoder", decoder, "--chat-template",
        template,
    )
    told = [text_of(prompt) for _, prompt in prompts]
    for words in told:
        assert all(words.count(turn) <= 1 for turn in turns), f"a turn occurs twice in {words!r}"
        if template == "chatml":  # each turn has its own markup
            assert words.count("<|im_start|>user") == sum(turn in words for turn in turns), words
    for turn in turns:
        assert any(turn in words for words in told), turn


WORDING = (
    "[instruction]\nTell {fields}.\n[context]\n<<{text}>>\n[field]\n{name}?\n[answer json]\nMy own"
    " words.\n"
)
TRAIN = (
    "train", "--dataset", "jsonl", "--data-root", "data", "--format", "ar", "--steps", 1,
    "--validation", 0, "--threads", 1, "--progress", "none",
)
RUN = (
    "--decoder", "ar", "--dataset", "jsonl", "--data-root", "data", "--limit", 1,
    "--max-new-tokens", 2, "--warmup", 0, "--progress", "none",
)


@pytest.fixture(scope="module")
def net(pardec):
    """A network that was trained with a wording and a chat template."""
    config = json.loads((ROOT / "experiments/quickstart/model.json").read_text())
    config.update(
        hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=1, head_dim=16,
    )
    (pardec.folder / "small.json").write_text(json.dumps(config))
    write_lines(
        pardec.folder / "data/jsonl/train.jsonl",
        [
            {
                "text": r["input"],
                "category": "all",
                "fields": [{"name": "Brand", "references": ["x"]}],
            }
            for r in records("oa-mine", "train")[:6]
        ],
    )
    shutil.copy(pardec.folder / "data/jsonl/train.jsonl", pardec.folder / "data/jsonl/test.jsonl")
    (pardec.folder / "mine.txt").write_text(WORDING)
    pardec.good(
        *TRAIN, "--model", "small.json", "--prompt-file", "mine.txt", "--chat-template", "chatml",
        "--out", "net",
    )
    return pardec.folder / "net"


def run_of(pardec, name, *flags, model="net"):
    """The first prompt and answer of a run, what was said, and what was stored of the settings."""
    ran = pardec(
        "run", "--model", model, *RUN, "--db", f"{name}.sqlite", "--trace", f"{name}.jsonl", *flags
    )
    assert ran.returncode == 0, ran.stderr
    trace = json.loads((pardec.folder / f"{name}.jsonl").read_text().splitlines()[0])
    return (
        text_of(trace["tokens"]),
        ran.stderr,
        json.loads(query(pardec.folder / f"{name}.sqlite", "SELECT config FROM run")[0]["config"]),
    )


def test_a_trained_network_has_a_record_of_its_prompts(net):
    record = json.loads((net / "training.json").read_text())
    assert record["settings"]["chat_template"] == "chatml"
    assert len(record["chat_template_sha256"]) == 64
    assert (net / "prompts/attributes.txt").read_text() == WORDING


def test_a_run_words_prompts_as_in_training(pardec, net):
    told, said, kept = run_of(pardec, "same")
    assert "My own words." in told
    assert "<|im_start|>user" in told
    assert kept["chat_template"] == "chatml"
    assert "trained with" not in said
    assert "taught_otherwise" not in kept


def test_a_run_says_that_the_chat_template_is_another(pardec, net):
    told, said, kept = run_of(pardec, "plain", "--chat-template", "plain")
    assert "trained with chat template chatml" in said
    assert "chatml" in kept["taught_otherwise"]
    assert "<|im_start|>" not in told


def test_a_plan_counts_the_prompts_that_are_asked(pardec, net):
    positions = [
        json.loads(
            pardec.good("run", "--model", "net", *RUN, "--dry-run", "--format", "json", *flags)
        )["rows"][0]["positions"]
        for flags in ([], ["--chat-template", "chatml"], ["--chat-template", "plain"])
    ]
    assert positions[0] == positions[1] != positions[2]


def test_a_run_says_that_the_wording_is_another(pardec, net):
    _, said, kept = run_of(pardec, "words", "--prompt-file", "attributes")
    assert "another wording" in said
    assert "another wording" in kept["taught_otherwise"]


def test_generate_takes_the_chat_template_of_the_training(pardec, net):
    prompts, _ = asked(pardec, "--model", "net", "--prompt", "Hi")
    assert text_of(prompts[0][1]) == "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"


def test_generate_says_that_the_chat_template_is_another(pardec, net):
    ran = pardec(
        "generate", "--model", "net", "--prompt", "Hi", "--chat-template", "llama-3",
        "--max-new-tokens", 1,
    )
    assert "trained with chat template chatml" in ran.stderr


def test_further_training_keeps_wording_and_template(pardec, net):
    pardec.good(*TRAIN, "--model", "net", "--out", "more")
    assert (
        json.loads((pardec.folder / "more/training.json").read_text())["settings"]["chat_template"]
        == "chatml"
    )
    told, said, _ = run_of(pardec, "more", model="more")
    assert "My own words." in told
    assert "<|im_start|>user" in told
    assert "trained with" not in said


def test_training_takes_the_template_of_a_checkpoint(pardec, net):
    """A template that is changed afterwards is noticed."""
    shutil.copytree(net, pardec.folder / "foreign")
    (pardec.folder / "foreign/training.json").unlink()
    (pardec.folder / "foreign/chat_template.jinja").write_text(
        "{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}[answer]"
    )
    pardec.good(*TRAIN, "--model", "foreign", "--out", "own")
    told, said, kept = run_of(pardec, "of its own", model="own")
    assert "[user]Tell" in told
    assert kept["chat_template"] == "checkpoint"
    assert "trained with" not in said
    (pardec.folder / "own/chat_template.jinja").write_text(
        "{% for m in messages %}({{ m.role }}){{ m.content }}{% endfor %}"
    )
    _, said, _ = run_of(pardec, "changed", model="own")
    assert "of another text" in said
