"""The unmodified `openai` package as a client: plain, streamed, with fields, its errors and its timeouts.

Usage: openai_test.py PROGRAM
"""
import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from harness import ROOT, Checks, scratch
from server import serving

try:
    import openai
    import pydantic
except ImportError as error:
    print(f"[skipped] {error.name} is missing; scripts/setup --tests installs it")
    sys.exit(77)

QUICKSTART = ROOT / "experiments" / "quickstart"
GREEDY = {"temperature": 0, "max_tokens": 20, "extra_body": {"return_token_ids": True}}


def answers(check, pardec, client):
    """Whole and streamed answers, and `generate`, have the same ids and text."""
    messages = [{"role": "user", "content": "Blue shoes for men"}]
    for decoder in ("ar", "prompt-lookup"):
        want = json.loads(pardec.good("generate", "--model", QUICKSTART / "model", "--decoder", decoder, "--prompt", messages[0]["content"], "--max-new-tokens", 20, "--format", "json"))
        whole = client.chat.completions.create(model=f"model:{decoder}", messages=messages, **GREEDY)
        choice = whole.choices[0]
        check(choice.message.content == want["text"] and choice.token_ids == want["tokens"] and choice.finish_reason == "length", f"{decoder}: {whole}, generate {want['text']!r}")
        check(whole.usage.completion_tokens == 20 and whole.usage.total_tokens == whole.usage.prompt_tokens + 20, f"{decoder}: {whole.usage}")
        check(whole.pardec["decoder"] == decoder and whole.pardec["passes"] == want["counters"]["forwards"], f"{decoder}: {whole.pardec}")
        text, last = "", None
        for chunk in client.chat.completions.create(model=f"model:{decoder}", messages=messages, stream=True, stream_options={"include_usage": True}, **GREEDY):
            text += "".join(c.delta.content or "" for c in chunk.choices)
            last = chunk
        check(text == want["text"] and last.usage == whole.usage and last.choices == [], f"{decoder}: streamed {text!r}, {last}")
        plain = client.completions.create(model=f"model:{decoder}", prompt="Blue shoes", **GREEDY)
        streamed = "".join(c.text for chunk in client.completions.create(model=f"model:{decoder}", prompt="Blue shoes", stream=True, **GREEDY) for c in chunk.choices)
        check(plain.choices[0].text == streamed, f"{decoder}: {plain.choices[0].text!r}, streamed {streamed!r}")
    check([m.id for m in client.models.list()][:2] == ["model", "model:ar"] and client.models.retrieve("model:ar").id == "model:ar", "models")
    several = client.completions.create(model="model", prompt=["Blue", "Red"], n=2, max_tokens=3, seed=4)
    check([c.index for c in several.choices] == [0, 1, 2, 3], f"two prompts, twice: {several}")


class Tea(pydantic.BaseModel):
    Brand: str
    Flavor: str | None
    Country: str | None


def fields(check, client):
    """A pydantic class becomes fields, which HPD fills."""
    title = json.loads((QUICKSTART / "job.json").read_text())["contexts"][0]["text"]
    done = client.chat.completions.parse(model="model:hpd", messages=[{"role": "user", "content": title}], response_format=Tea, temperature=0)
    tea = done.choices[0].message.parsed
    check(isinstance(tea, Tea) and tea.Brand == "Pinafell" and tea.Country is None, f"{done}")


def refusals(check, client):
    """Errors are the package's own classes; a timeout ends the work."""
    for error, call in ((openai.NotFoundError, {"model": "none"}), (openai.BadRequestError, {"model": "model", "presence_penalty": 1.0}),
                        (openai.BadRequestError, {"model": "model", "max_tokens": -1})):
        try:
            client.completions.create(prompt="Blue", **call)
            check(False, f"{call}: no error")
        except error as said:
            check(said.body["message"] and said.status_code in (400, 404), f"{call}: {said}")
    begin = time.monotonic()
    try:
        client.with_options(timeout=0.5).completions.create(model="model", prompt="Blue", max_tokens=8000, extra_body={"ignore_eos": True})
        check(False, "8,000 tokens in half a second")
    except openai.APITimeoutError:
        check(time.monotonic() - begin < 5, "the timeout")
    check(client.completions.create(model="model", prompt="Blue", max_tokens=1).usage.completion_tokens == 1, "the server lives")


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec, serving(pardec, "--model", QUICKSTART / "model", "--decoder", "ar,prompt-lookup,hpd") as server:
        client = openai.OpenAI(base_url=f"http://127.0.0.1:{server.port}/v1", api_key="none", max_retries=0)
        answers(check, pardec, client)
        fields(check, client)
        refusals(check, client)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
