"""The unmodified `openai` package as a client: plain, streamed, with fields, its errors and its
timeouts.
"""

import json
import time

import pytest
from harness import ROOT
from server import serving

openai = pytest.importorskip("openai")
pydantic = pytest.importorskip("pydantic")

QUICKSTART = ROOT / "experiments" / "quickstart"
GREEDY = {"temperature": 0, "max_tokens": 20, "extra_body": {"return_token_ids": True}}
MESSAGES = [{"role": "user", "content": "Blue shoes for men"}]


@pytest.fixture(scope="module")
def client(pardec):
    with serving(
        pardec, "--model", QUICKSTART / "model", "--decoder", "ar,prompt-lookup,hpd"
    ) as server:
        yield openai.OpenAI(
            base_url=f"http://127.0.0.1:{server.port}/v1", api_key="none", max_retries=0
        )


@pytest.mark.parametrize("decoder", ["ar", "prompt-lookup"])
def test_whole_and_streamed_answers_and_generate_are_equal(pardec, client, decoder):
    want = json.loads(
        pardec.good(
            "generate", "--model", QUICKSTART / "model", "--decoder", decoder, "--prompt",
            MESSAGES[0]["content"], "--max-new-tokens", 20, "--format", "json",
        )
    )
    whole = client.chat.completions.create(model=f"model:{decoder}", messages=MESSAGES, **GREEDY)
    choice = whole.choices[0]
    assert choice.message.content == want["text"]
    assert choice.token_ids == want["tokens"]
    assert choice.finish_reason == "length"
    assert whole.usage.completion_tokens == 20
    assert whole.usage.total_tokens == whole.usage.prompt_tokens + 20
    assert whole.pardec["decoder"] == decoder
    assert whole.pardec["passes"] == want["counters"]["forwards"]
    chunks = list(
        client.chat.completions.create(
            model=f"model:{decoder}", messages=MESSAGES, stream=True,
            stream_options={"include_usage": True}, **GREEDY,
        )
    )
    text = "".join(c.delta.content or "" for chunk in chunks for c in chunk.choices)
    assert text == want["text"]
    assert chunks[-1].usage == whole.usage
    assert chunks[-1].choices == []


@pytest.mark.parametrize("decoder", ["ar", "prompt-lookup"])
def test_a_streamed_completion_is_the_whole_one(client, decoder):
    asked = {"model": f"model:{decoder}", "prompt": "Blue shoes", **GREEDY}
    plain = client.completions.create(**asked)
    streamed = client.completions.create(stream=True, **asked)
    assert plain.choices[0].text == "".join(c.text for chunk in streamed for c in chunk.choices)


def test_models_are_listed(client):
    assert [m.id for m in client.models.list()][:2] == ["model", "model:ar"]
    assert client.models.retrieve("model:ar").id == "model:ar"


def test_two_prompts_are_answered_twice(client):
    several = client.completions.create(
        model="model", prompt=["Blue", "Red"], n=2, max_tokens=3, seed=4
    )
    assert [c.index for c in several.choices] == [0, 1, 2, 3]


class Tea(pydantic.BaseModel):
    Brand: str
    Flavor: str | None
    Country: str | None


def test_hpd_fills_the_fields_of_a_pydantic_class(client):
    title = json.loads((QUICKSTART / "job.json").read_text())["contexts"][0]["text"]
    done = client.chat.completions.parse(
        model="model:hpd",
        messages=[{"role": "user", "content": title}],
        response_format=Tea,
        temperature=0,
    )
    tea = done.choices[0].message.parsed
    assert isinstance(tea, Tea), done
    assert tea.Brand == "Pinafell"
    assert tea.Country is None


@pytest.mark.parametrize(
    "error, call",
    [
        (openai.NotFoundError, {"model": "none"}),
        (openai.BadRequestError, {"model": "model", "presence_penalty": 1.0}),
        (openai.BadRequestError, {"model": "model", "max_tokens": -1}),
    ],
    ids=["model", "penalty", "tokens"],
)
def test_errors_are_the_packages_own(client, error, call):
    with pytest.raises(error) as said:
        client.completions.create(prompt="Blue", **call)
    assert said.value.body["message"]
    assert said.value.status_code in (400, 404)


def test_a_timeout_ends_the_work(client):
    begin = time.monotonic()
    with pytest.raises(openai.APITimeoutError):
        client.with_options(timeout=0.5).completions.create(
            model="model", prompt="Blue", max_tokens=8000, extra_body={"ignore_eos": True}
        )
    assert time.monotonic() - begin < 5
    after = client.completions.create(model="model", prompt="Blue", max_tokens=1)
    assert after.usage.completion_tokens == 1
