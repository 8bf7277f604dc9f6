"""SmolLM2-135M-Instruct, a chat model with real weights: what pardec writes, computes and expects
of texts is what transformers does.

Greedy ids in fp32 of conversations in the checkpoint's own chat template; ties are judged as in
generate_parity_test.py. Traces are replayed. Perplexity of texts by the network's own logits. The
tests marked `whole`: all prompts with 200 new tokens each, and the decoders that guess ahead.
scripts/fetch-smollm2 makes the checkpoint; without the checkpoint the tests are skipped.
"""

import functools
import hashlib
import json
import math
import re

import pytest
from generate_parity_test import excusable
from harness import ROOT, SMOLLM2, check_first_answer, skip, write_lines
from reference import torch  # first: it skips where there is no transformers
from trace_test import Replay
from transformers import AutoModelForCausalLM, AutoTokenizer

if not (SMOLLM2 / "model.safetensors").is_file():
    skip(f"{SMOLLM2.name} is missing: scripts/fetch-smollm2 makes it")

SYSTEM = "You answer in one short paragraph."
STORY = (
    "The harbour woke slowly. First came the gulls, then the diesel cough of a trawler, and then"
    " old Martha with her basket of bread. She had walked this quay for forty years, and she knew"
    " each plank that creaked. "
)
ADAPTERS = ROOT / "experiments" / "smollm2"
PASSAGES = [
    (
        "The water cycle describes how water moves on, above and below the surface of the Earth."
        " Water evaporates from oceans and lakes, rises into the air as vapour, cools and condenses"
        " into clouds, and falls back as rain or snow. Some of it flows over the ground into"
        " rivers, and some of it sinks into the soil, where plants take it up or where it slowly"
        " becomes groundwater."
    ),
    (
        "def binary_search(values, target):\n    low, high = 0, len(values) - 1\n    while low <="
        " high:\n        middle = (low + high) // 2\n        if values[middle] == target:\n        "
        "    return middle\n        if values[middle] < target:\n            low = middle + 1\n    "
        "    else:\n            high = middle - 1\n    return -1\n"
    ),
]
# What a real chat model expects of such English and Python; one whose weights are wrongly laid out
# has hundreds.
PERPLEXITY_AT_MOST = 12.0

ENGLISH = [
    "What is the capital of France?",
    "Explain in two sentences why the sky is blue.",
    "List three uses of baking soda.",
    "Write a short poem about the sea in winter.",
    "How many days does February have in a leap year, and why?",
    "Who wrote Pride and Prejudice?",
    "Give me tips for a job interview.\n\n- Be concise\n- Use a list",
    "Summarise: A cat sat on a mat. It slept. Then it left.",
    "What would happen if the Moon disappeared?",
    "Translate 'good morning' into Spanish, French and German.",
    "Is 91 a prime number? Think step by step.",
    "Rewrite this politely: send me the report now.",
    "What's the difference between weather and climate?",
    "Name five animals that live in Australia.",
    "I have 3 apples, buy 12 more and eat 4. How many are left?",
    "Compose an email that declines an invitation to a party.",
    "Why do leaves change their colour in autumn?",
    "Describe photosynthesis to a child.",
    "What are the ingredients of a margherita pizza?",
    "Tell me a joke about computers.",
    "How does a bicycle stay upright?",
    "Outline a plan to learn the guitar in three months.",
]
CODE = [
    "Write a Python function that reverses a string.",
    "```python\nfor i in range(10):\n    print(i)\n```\nWhat does this print?",
    "Fix this: `def f(x) return x + 1`",
    "SELECT name FROM users WHERE age > 30; -- explain this query",
    "Write FizzBuzz in C++.",
    "What does `git rebase -i HEAD~3` do?",
    "int main() { int *p = nullptr; return *p; }\nWhat is wrong here?",
    "Write a regular expression for e-mail addresses.",
    "Convert this to JSON: name=Ann, age=31, tags=[a, b]",
    "<ul><li>one</li></ul>\nAdd a second item.",
    "Explain the bubble sort with an example: [5, 1, 4, 2]",
]
CHINESE = [
    "你好，你是谁？", "请用中文介绍一下北京。", "水的化学式是什么？", "把这句话翻译成英文：今天天气很好。", "写一首关于春天的短诗。", "1加1等于几？",
    "为什么天空是蓝色的？", "请列出三种水果。",
]
EMOJI = [
    "😀😃😄 What do these mean?", "Write a birthday wish with emojis 🎂🎉", "👩‍👩‍👧 + 🐶 = ?",
    "🇩🇪🇫🇷🇯🇵 Which countries are these?", "I feel 😢. 👍🏽 or 👎🏽?", "∑ x² ≥ 0 ∀ x ∈ ℝ — true? ✅ or ❌",
]
OTHERS = [
    "Ça va ? Réponds en français.", "¿Cuál es la capital de España?",
    "Wie heißt die Hauptstadt von Österreich?", "Привет! Как дела?",
    "  leading spaces,\ttabs\nand\n\n\nlines  ", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
]
WORDS = ["Hello", "Why?", "1234567890", "Python", "."]


def prompts(longest):
    """60 conversations, as (system, turn), of every kind; the last has this many copies of a
    text of some 50 ids.
    """
    all_ = [
        *ENGLISH, *CODE, *CHINESE, *EMOJI, *OTHERS, *WORDS, STORY * 3 + "What does Martha carry?",
    ]
    return [(SYSTEM if i % 5 == 4 else "", turn) for i, turn in enumerate(all_)] + [
        ("", STORY * longest + "Go on with this story.")
    ]


class Reference:
    """transformers' network, in fp64 and in fp32, and its tokenizer."""

    def __init__(self):
        self.tokenizer = AutoTokenizer.from_pretrained(SMOLLM2)

    def load(self, dtype):
        return AutoModelForCausalLM.from_pretrained(
            SMOLLM2, dtype=dtype, attn_implementation="eager"
        ).eval()

    exact = functools.cached_property(lambda self: self.load(torch.float64))
    single = functools.cached_property(lambda self: self.load(torch.float32))

    def ids(self, system, turn):
        messages = [{"role": "system", "content": system}] if system else []
        return self.tokenizer.apply_chat_template(
            [*messages, {"role": "user", "content": turn}],
            add_generation_prompt=True,
            tokenize=True,
            return_dict=False,
        )

    def greedy(self, ids, limit):
        """The ids that it chooses, the end included."""
        prompt = torch.tensor([ids])
        with torch.inference_mode():
            return self.single.generate(
                prompt, attention_mask=torch.ones_like(prompt), do_sample=False,
                max_new_tokens=limit,
            )[0, len(ids) :].tolist()


def answered(pardec, chosen, limit):
    """Chosen ids, why they end, and the trace of each conversation."""
    (pardec.folder / "system.txt").write_text(
        f"[system]\n{SYSTEM}\n\n[context]\n{{text}}\n\n[field]\n{{question}}\n"
    )
    found = [None] * len(chosen)
    for said in ("", SYSTEM):
        members = [i for i, (system, _) in enumerate(chosen) if system == said]
        if not members:
            continue
        jobs = [
            {
                "id": f"p{i}",
                "conversation": True,
                "contexts": [{"text": "", "fields": [{"question": chosen[i][1]}]}],
                "limits": {"max_new_tokens": limit, "per_field": limit},
            }
            for i in members
        ]
        write_lines(pardec.folder / "jobs.jsonl", jobs)
        lines = pardec.good(
            "generate",
            "--model",
            SMOLLM2,
            "--decoder",
            "ar",
            "--job",
            "jobs.jsonl",
            "--format",
            "json",
            "--batch-size",
            8,
            "--trace",
            "t.jsonl",
            "--dtype",
            "fp32",
            *(("--prompt-file", "system.txt") if said else ()),
            timeout=1400,
        )
        traces = {
            trace["examples"][0]: trace
            for trace in map(json.loads, (pardec.folder / "t.jsonl").read_text().splitlines())
        }
        for i, job, line in zip(members, jobs, map(json.loads, lines.splitlines()), strict=True):
            answer = line["answers"][0]
            found[i] = (answer["tokens"], answer["stop"], traces[job["id"]])
    return found


@pytest.fixture(scope="module")
def theirs():
    return Reference()


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(((11, 44, 59), 4, 12), id="3-prompts"),
        pytest.param((range(60), 30, 200), id="60-prompts", marks=pytest.mark.whole),
    ],
)
def conversations(request, pardec):
    """Conversations, how many ids each may have, and what pardec answered."""
    which, longest, limit = request.param
    every = prompts(longest)
    chosen = [every[i] for i in which]
    return chosen, limit, answered(pardec, chosen, limit)


def test_there_are_sixty_prompts():
    assert len(prompts(30)) == 60


def test_greedy_ids_are_those_of_transformers(theirs, conversations):
    chosen, limit, ours = conversations
    tokens = ties = longest = ends = 0
    for (system, turn), (got, stop, trace) in zip(chosen, ours, strict=True):
        ids = theirs.ids(system, turn)
        longest = max(longest, len(ids))
        fed = [
            token for token, step in zip(trace["tokens"], trace["step"], strict=True) if step == 0
        ]
        assert fed == ids, f"{turn[:60]!r}: the prompt's ids are not those of apply_chat_template"
        want = theirs.greedy(ids, limit)
        tokens += len(want)
        ends += stop == "eos"
        if got == want:
            continue
        why = excusable(theirs.single, theirs.exact, ids, want, got)
        assert why, f"{turn[:60]!r}: {got}, transformers chose {want}"
        ties += 1
        print(f"tie: {turn[:60]!r}: {why}")
    assert ties * 10000 <= max(tokens, 10000), (
        f"{ties} ties in {tokens} tokens, expected fewer than 1 in 10,000"
    )
    assert longest >= (1500 if limit >= 100 else 180)
    assert limit < 100 or 0 < ends < len(chosen), (
        f"{ends} of {len(chosen)} answers end by themselves"
    )
    print(
        f"greedy: {len(chosen)} prompts of up to {longest} ids, {tokens} tokens, {ties} ties,"
        f" {ends} answers end by themselves"
    )


def check_replay(theirs, traces, least):
    """Every choice of the traces is the best of the logits of transformers; rare ties are
    allowed.
    """
    replay = Replay(SMOLLM2)
    replay.__dict__.update(exact=theirs.exact, single=theirs.single)
    for trace in traces:
        wrong = replay(trace)
        assert not wrong, f"{trace['decoder']} {trace['request']}: {wrong[:3]}"
    assert replay.choices > least
    assert replay.ties * 100 <= replay.choices
    print(f"traces: {len(traces)} replayed, {replay.choices} choices, {replay.ties} ties")


def test_traces_of_the_shorter_conversations_are_replayed(theirs, conversations):
    traces = [trace for *_, trace in conversations[2]]
    check_replay(theirs, sorted(traces, key=lambda t: len(t["tokens"]))[:2], 20)


@pytest.mark.parametrize("decoder", ["ar", "hpd"])
def test_traces_of_one_products_attributes_are_replayed(theirs, pardec, decoder):
    """hpd writes several values at once. The prompt is short, so that each row counts."""
    (pardec.folder / "short.txt").write_text("[context]\n{text}\n\n[field]\n{name}:\n")
    (pardec.folder / "job.json").write_text(
        json.dumps(
            {
                "contexts": [
                    {
                        "category": "Coffee",
                        "text": "Dark roast ground coffee, 12 oz bag, by Harbour Mills",
                        "fields": [{"name": "Brand"}, {"name": "Roast"}, {"name": "Net weight"}],
                    }
                ],
                "limits": {"max_new_tokens": 24, "per_field": 6},
            }
        )
    )
    pardec.good(
        "generate", "--model", SMOLLM2, "--decoder", decoder, "--job", "job.json", "--trace",
        f"{decoder}.jsonl", "--dtype", "fp32", "--prompt-file", "short.txt",
    )
    check_replay(
        theirs,
        [
            json.loads(line)
            for line in (pardec.folder / f"{decoder}.jsonl").read_text().splitlines()
        ],
        10,
    )


@pytest.mark.whole
@pytest.mark.parametrize("dtype", ["fp32", "bf16"])
@pytest.mark.parametrize("decoder", ["hpd", "ar"])
def test_with_the_hpd_adapter_the_quickstart_job_is_answered_right(pardec, decoder, dtype):
    check_first_answer(
        pardec, decoder, "--model", SMOLLM2, "--adapter", ROOT / "experiments/smollm2/hpd",
        "--dtype", dtype,
    )


def tokens_of(pardec, decoder, *flags):
    return [
        json.loads(line)["tokens"]
        for line in pardec.good(
            "generate", "--model", SMOLLM2, "--decoder", decoder, "--prompt", CODE[4],
            "--max-new-tokens", 24, "--format", "json", "--dtype", "fp32", *flags,
        ).splitlines()
    ]


@pytest.fixture(scope="module")
def plain(pardec):
    """The plain decoder's ids."""
    return tokens_of(pardec, "ar")


@pytest.mark.whole
@pytest.mark.parametrize(
    "decoder", ["prompt-lookup", "lookahead", "self-speculative", "speculative"]
)
def test_decoders_that_guess_ahead_write_the_ids_of_ar(pardec, plain, decoder):
    drafts = ["--draft-model", SMOLLM2] if decoder == "speculative" else []
    assert tokens_of(pardec, decoder, *drafts) == plain


def logits(dump, dtype, texts):
    """pardec's logits [row, vocabulary] of each list of ids."""
    rows = [{"tokens": ids, "labels": [[i, i, 0, 0] for i in range(len(ids))]} for ids in texts]
    values = dump(SMOLLM2, dtype, [{"whole": one} for one in rows])
    return (
        torch.frombuffer(values, dtype=torch.float64)
        .reshape(sum(map(len, texts)), -1)
        .split([*map(len, texts)])
    )


def surprise(rows, ids):
    """Mean negative log likelihood of the ids after the first."""
    return float(torch.nn.functional.cross_entropy(rows[:-1].double(), torch.tensor(ids[1:])))


@pytest.fixture(scope="module")
def passages(model_dump, theirs):
    """Of each passage: its ids, the logits of transformers in fp64 and fp32, and those of pardec
    in fp32 and bf16.
    """

    def rows(model, ids):
        with torch.inference_mode():
            return model(torch.tensor([ids])).logits[0]

    texts = [theirs.tokenizer(text).input_ids for text in PASSAGES]
    return [
        *zip(
            texts,
            [rows(theirs.exact, ids) for ids in texts],
            [rows(theirs.single, ids) for ids in texts],
            logits(model_dump, "fp32", texts),
            logits(model_dump, "bf16", texts),
            strict=True,
        )
    ]


def test_the_error_of_logits_is_at_most_three_times_that_of_transformers(passages):
    for ids, truth, near, ours, _ in passages:
        error, allowed = (
            float((ours - truth).abs().max()),
            3 * float((near.double() - truth).abs().max()),
        )
        assert error <= allowed, f"{len(ids)} ids: the logits are {error:.2e} off"


def test_texts_are_as_likely_as_they_are_for_transformers(passages):
    count = sum(len(ids) - 1 for ids, *_ in passages)
    exact, single, fp32, bf16 = (
        sum(surprise(rows[kind], ids) * (len(ids) - 1) for ids, *rows in passages) / count
        for kind in range(4)
    )
    assert math.exp(exact) < PERPLEXITY_AT_MOST, "the weights are not laid out as they should be"
    assert abs(fp32 - exact) < 1e-5
    assert abs(bf16 - exact) < 0.02
    print(
        f"perplexity of {count} tokens: transformers {math.exp(exact):.5f} (fp32"
        f" {math.exp(single):.5f}), pardec fp32 {math.exp(fp32):.5f}, bf16 {math.exp(bf16):.5f}"
    )


def test_the_adapters_of_the_project_are_small_and_belong_to_this_network():
    folders = sorted(record.parent for record in ADAPTERS.glob("*/training.json"))
    sizes = sum(file.stat().st_size for folder in folders for file in folder.iterdir())
    assert folders
    assert sizes <= 40_000_000
    network = hashlib.sha256((SMOLLM2 / "model.safetensors").read_bytes()).hexdigest()
    for folder in folders:
        record = (folder / "training.json").read_text()
        start = json.loads(record)["settings"]["model"]["start_sha256"]
        assert start == network or folder.name == "draft", f"{folder.name}: trained on {start}"
        assert not re.search(r"/(work|tmp|home|root)/", record), (
            f"{folder.name}: the record names a path of a machine"
        )
        assert (folder / "loss.csv").exists(), folder.name


@pytest.mark.whole
def test_the_hpd_adapter_reads_titles_it_was_not_trained_on(pardec):
    """Mostly right, also six titles at a time."""
    pardec.good(
        "run", "--model", SMOLLM2, "--adapter", ADAPTERS / "hpd", "--arm", "ar=ar,batch_size=6",
        "--arm", "hpd=hpd", "--dataset", "oa-mine", "--limit", 6, "--dtype", "auto", "--db",
        "adapters.sqlite", "--progress", "none", "--format", "json", "--warmup", 0,
    )
    rows = {
        row["arm"]: row
        for row in json.loads(
            pardec.good("compare", "--db", "adapters.sqlite", "--format", "json")
        )["rows"]
    }
    for arm, row in rows.items():
        assert row["f1_micro"] > 0.4, f"{arm}: {row}"
        assert row["failed"] == 0, f"{arm}: {row}"
    assert rows["hpd"]["tokens_per_forward"] > 20


@pytest.mark.parametrize(("paper", "item"), [("space", "figure5"), ("hpd", "table1")])
def test_tables_of_papers_lack_no_adapter(pardec, paper, item):
    """A second is too short for a verdict, but nothing is missing that has no recipe."""
    tables = json.loads(
        pardec.good(
            "reproduce", paper, item, "--budget", "1s", "--db", "papers.sqlite", "--progress",
            "none", "--format", "json",
        )
    )
    reasons = [row["why"] or "" for row in tables[-1]["rows"]]
    assert reasons
    missing = [why for why in reasons if "for arm" in why or "network" in why]
    assert all(", recipe experiments/smollm2/recipes/" in why for why in missing), missing


def test_a_dry_run_has_a_network_for_a_draft_that_is_an_adapter(pardec):
    shown = json.loads(
        pardec.good("reproduce", "space", "table2", "--dry-run", "--format", "json")
    )
    failed = {row["arm"]: row["failed"] for row in shown[0]["rows"]}
    assert failed["spec"] == failed["assist"] == 0
