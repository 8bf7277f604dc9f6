"""Scores of tokens are those of transformers, in the shapes that lm-eval and OpenAI's package
read.
"""

import pytest
from harness import ROOT
from reference import torch, transformers
from server import serving

QUICKSTART = ROOT / "experiments" / "quickstart"
PROMPTS = [[1, 3, 14, 15, 92, 65, 35, 89], [715, 235, 3050], [5] * 200, [1, *range(40, 170)]]


@pytest.fixture(scope="module")
def model():
    return transformers.AutoModelForCausalLM.from_pretrained(
        QUICKSTART / "model", dtype=torch.float32
    )


@pytest.fixture(scope="module")
def server(pardec):
    with serving(
        pardec, "--model", QUICKSTART / "model", "--decoder", "ar,prompt-lookup,skeleton-of-thought"
    ) as server:
        yield server


def wanted(model, ids):
    """Log-probabilities at each place but the first: [place][id]."""
    with torch.no_grad():
        return torch.log_softmax(model(torch.tensor([ids])).logits[0, :-1].double(), -1)


def close(ours, theirs):
    return abs(ours - float(theirs)) < 2e-4


def test_echoed_prompts_have_their_scores(model, server):
    """As lm-eval's local-completions asks and reads: scores of the prompt's tokens, and of one
    more.
    """
    status, reply = server.post(
        "/v1/completions",
        {
            "model": "model",
            "prompt": PROMPTS,
            "temperature": 0,
            "max_tokens": 1,
            "logprobs": 1,
            "seed": 1234,
            "echo": True,
            "stop": [],
            "return_token_ids": True,
        },
    )
    assert status == 200, status
    assert [c["index"] for c in reply["choices"]] == list(range(len(PROMPTS)))
    for ids, choice in zip(PROMPTS, reply["choices"]):
        ids = ids + choice["token_ids"]
        logs, truth = choice["logprobs"], wanted(model, ids)
        assert (
            len(ids)
            == len(logs["tokens"])
            == len(logs["token_logprobs"])
            == len(logs["top_logprobs"])
            == len(logs["text_offset"])
        )
        # The first token has no score.
        assert logs["token_logprobs"][0] is None
        assert logs["top_logprobs"][0] is None
        assert all(
            close(log, truth[i][ids[i + 1]]) for i, log in enumerate(logs["token_logprobs"][1:])
        )
        greedy = [
            log == max(top.values())
            for log, top in zip(logs["token_logprobs"][1:], logs["top_logprobs"][1:])
        ]
        # The likeliest id is told, bit for bit where it was chosen.
        assert greedy == [int(truth[i].argmax()) == ids[i + 1] for i in range(len(ids) - 1)]
        assert greedy[-1]
        assert all(
            close(max(top.values()), truth[i].max())
            for i, top in enumerate(logs["top_logprobs"][1:])
        )
        assert all(name in top for name, top in zip(logs["tokens"][1:], logs["top_logprobs"][1:]))


TEXT = "Blue é shoes"
FOUR = {"prompt": TEXT, "temperature": 0, "max_tokens": 4, "logprobs": 2}


@pytest.fixture(scope="module")
def plain(server):
    """Four tokens after a text."""
    return server.post("/v1/completions", FOUR)[1]["choices"][0]


@pytest.fixture(scope="module")
def full(server):
    """The same with the text before it."""
    return server.post("/v1/completions", {**FOUR, "echo": True})[1]["choices"][0]


def test_an_echo_changes_nothing_else(plain, full):
    assert full["text"] == TEXT + plain["text"]
    assert full["logprobs"]["token_logprobs"][-4:] == plain["logprobs"]["token_logprobs"]
    offsets = [*full["logprobs"]["text_offset"][-4:], None]
    assert [full["text"][a:b] for a, b in zip(offsets, offsets[1:])] == plain["logprobs"]["tokens"]


def test_two_alternatives_are_told(plain):
    assert all(len(top) in (2, 3) for top in plain["logprobs"]["top_logprobs"])


def test_a_prompt_has_scores_without_an_answer(server, full):
    none = server.post(
        "/v1/completions", {"prompt": TEXT, "max_tokens": 0, "logprobs": 0, "echo": True}
    )[1]
    assert none["choices"][0]["text"] == TEXT
    assert none["usage"]["completion_tokens"] == 0
    logs = none["choices"][0]["logprobs"]
    assert logs["tokens"] == full["logprobs"]["tokens"][:-4]
    both = zip(logs["token_logprobs"][1:], full["logprobs"]["token_logprobs"][1:])
    assert all(close(a, b) for a, b in both)


def test_a_streamed_echo_is_the_whole_one(server, full):
    events = server.stream("/v1/completions", {**FOUR, "echo": True})
    assert "".join(c["text"] for e in events if e for c in e["choices"]) == full["text"]
    assert events[-2]["choices"][0]["logprobs"] == full["logprobs"]


MESSAGE = [{"role": "user", "content": "Blue shoes for men"}]


def asked(server, decoder):
    body = {
        "model": f"model:{decoder}",
        "messages": MESSAGE,
        "temperature": 0,
        "max_tokens": 12,
        "logprobs": True,
        "top_logprobs": 3,
        "return_token_ids": True,
    }
    return server.post("/v1/chat/completions", body)[1]["choices"][0]


@pytest.mark.parametrize("decoder", ["ar", "prompt-lookup"])
def test_an_answer_has_the_scores_of_transformers(model, server, decoder):
    """For each decoder that writes in reading order."""
    prompt = server.post("/tokenize", {"messages": MESSAGE})[1]["tokens"]
    choice = asked(server, decoder)
    content, ids = choice["logprobs"]["content"], choice["token_ids"]
    truth = wanted(model, prompt + ids)[len(prompt) - 1 :]
    assert len(content) == len(ids) == 12
    assert all(close(c["logprob"], truth[i][ids[i]]) for i, c in enumerate(content))
    for i, c in enumerate(content):
        assert c["top_logprobs"][0]["token"] == c["token"]
        assert c["top_logprobs"][0]["logprob"] == c["logprob"]
        best = truth[i].topk(3).values
        assert all(close(t["logprob"], best[k]) for k, t in enumerate(c["top_logprobs"]))
    text = bytes(b for c in content for b in c["bytes"]).decode()
    assert text == choice["message"]["content"]


def test_one_answer_has_one_score_whoever_wrote_it(server):
    assert asked(server, "ar")["logprobs"] == asked(server, "prompt-lookup")["logprobs"]


@pytest.mark.parametrize(
    "body",
    [
        {"model": "model:skeleton-of-thought", "logprobs": True},
        {"logprobs": 3},
        {"logprobs": True, "top_logprobs": 21},
        {"top_logprobs": 3},
        {"echo": True},
    ],
    ids=str,
)
def test_scores_that_a_chat_cannot_have_are_refused(server, body):
    status, reply = server.post("/v1/chat/completions", {"messages": MESSAGE, **body})
    assert status == 400, reply
    assert reply["error"]["param"] in body


@pytest.mark.parametrize(
    "body", [{"logprobs": 21}, {"max_tokens": 0}, {"logprobs": -1}, {"echo": 1}], ids=str
)
def test_scores_that_a_completion_cannot_have_are_refused(server, body):
    status, reply = server.post("/v1/completions", {"prompt": "Blue", **body})
    assert status == 400, reply
    assert reply["error"]["param"] in body
