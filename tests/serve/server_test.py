"""`pardec serve` from outside: its answers are those of `generate`, and no client brings it
down.
"""

import concurrent.futures
import http.client
import json
import re
import socket
import ssl
import subprocess
import threading
import time
import urllib.error
import urllib.request

import pytest
from harness import ROOT
from server import serving

QUICKSTART = ROOT / "experiments" / "quickstart"
PROMPTS = ["Blue shoes for men", "Größe: 42, \u20ac 5", "Orm Mug, 300 ml\nBrand:"]
DECODERS = [
    "ar", "prompt-lookup", "lookahead", "medusa", "self-speculative", "speculative", "ippd",
    "skeleton-of-thought",
]


def chat(text, **more):
    return {
        "messages": [{"role": "user", "content": text}],
        "temperature": 0,
        "max_tokens": 24,
        "seed": 1,
        "return_token_ids": True,
        **more,
    }


def generated(pardec, decoder, text, *more):
    draft = ("--draft-model", QUICKSTART / "draft") if decoder == "speculative" else ()
    return json.loads(
        pardec.good(
            "generate", "--model", QUICKSTART / "model", *draft, "--decoder", decoder, "--prompt",
            text, "--max-new-tokens", 24, "--format", "json", *more,
        )
    )


def joined(events):
    """The text of a stream's only choice."""
    parts = [c for e in events if e for c in e["choices"]]
    return "".join(p["delta"].get("content", "") if "delta" in p else p["text"] for p in parts)


def drip(server):
    """Sends a head that never ends, byte by byte; when the server cut it off, in seconds."""
    begin = time.monotonic()
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        connection.sendall(b"POST /v1/completions HTTP/1.1\r\nX: ")
        while time.monotonic() - begin < 30:
            try:
                connection.sendall(b"a")
                time.sleep(0.2)
            except OSError:
                return time.monotonic() - begin


@pytest.fixture(scope="module")
def server(pardec):
    """A server with all decoders; a client drips a head all the time (`cut_off`)."""
    with serving(
        pardec, "--model", QUICKSTART / "model", "--draft-model", QUICKSTART / "draft", "--decoder",
        ",".join([*DECODERS, "hpd"]), "--alias", "short=prompt-lookup,draft=3",
    ) as server:
        server.cut_off = []
        server.dripping = threading.Thread(
            target=lambda: server.cut_off.append(drip(server)), daemon=True
        )
        server.dripping.start()
        yield server
        code, said = server.end()
        assert code == 0, said


def test_the_models_are_those_that_were_asked_for(server):
    status, models = server.get("/v1/models")
    ids = [m["id"] for m in models["data"]]
    assert ids == ["model", *(f"model:{d}" for d in DECODERS), "model:hpd", "short"]
    keys = {"id", "object", "created", "owned_by", "root", "max_model_len"}
    assert all(keys <= set(m) for m in models["data"])
    assert server.get("/v1/models/model:ar")[1]["id"] == "model:ar"
    assert server.get("/v1/models/model")[1]["id"] == "model"


def test_an_alias_is_a_decoder_with_its_options(server):
    reply = server.post(
        "/v1/completions", {"prompt": "a", "model": "short", "max_tokens": 1, "new": 1}
    )[1]
    assert reply["pardec"]["options"]["draft"] == 3
    assert reply["pardec"]["ignored"] == ["new"]


CASES = [(decoder, text) for decoder in DECODERS for text in PROMPTS]
every_case = pytest.mark.parametrize(
    "case", CASES, ids=[f"{d}-{PROMPTS.index(t)}" for d, t in CASES]
)


def body_of(case):
    decoder, text = case
    return chat(text, model=f"model:{decoder}")


@pytest.fixture(scope="module")
def wanted(pardec):
    """What `generate` answers, by case."""
    return {case: generated(pardec, *case) for case in CASES}


@pytest.fixture(scope="module")
def alone(server):
    """Replies to one request after the other."""
    return {case: server.post("/v1/chat/completions", body_of(case)) for case in CASES}


@pytest.fixture(scope="module")
def together(server):
    """Replies to all requests at once."""
    with concurrent.futures.ThreadPoolExecutor(len(CASES)) as pool:
        replies = pool.map(lambda case: server.post("/v1/chat/completions", body_of(case)), CASES)
        return dict(zip(CASES, replies))


def check_as_generate(answer, want):
    status, reply = answer
    assert status == 200, reply
    choice, counters = reply["choices"][0], want["counters"]
    assert choice["message"]["content"] == want["text"]
    assert choice["token_ids"] == want["tokens"]
    assert reply["usage"]["completion_tokens"] == counters["chosen"]
    assert reply["pardec"]["passes"] == counters["forwards"]
    assert reply["pardec"]["accepted_guesses"] == sum(counters["accepted"])


@every_case
def test_an_answer_alone_is_that_of_generate(alone, wanted, case):
    check_as_generate(alone[case], wanted[case])


@every_case
def test_an_answer_in_a_batch_is_that_of_generate(together, wanted, case):
    check_as_generate(together[case], wanted[case])


@every_case
def test_a_streamed_answer_is_the_whole_one(server, alone, case):
    body, (_, reply) = body_of(case), alone[case]
    events = server.stream(
        "/v1/chat/completions", {**body, "stream_options": {"include_usage": True}}
    )
    assert events[-1] is None
    assert all(e["usage"] is None for e in events[:-2])
    assert events[-2]["choices"] == []
    assert joined(events) == reply["choices"][0]["message"]["content"]
    assert events[-2]["usage"] == reply["usage"]
    assert events[-3]["choices"][0]["token_ids"] == reply["choices"][0]["token_ids"]
    roles = [e["choices"][0]["delta"].get("role") for e in events[:-2]]
    assert roles[0] == "assistant"
    assert not any(roles[1:])
    assert {e["id"] for e in events[:-1]} == {events[0]["id"]}
    assert {e["model"] for e in events[:-1]} == {body["model"]}
    if case[0] == "ar":
        assert len(events) > 5


IDS = [3, 14, 15, 92, 65, 35, 89]


def test_completions_take_ids_and_texts_as_they_are(pardec, server):
    ids = IDS
    want = json.loads(
        pardec.good(
            "generate", "--model", QUICKSTART / "model", "--prompt-tokens", ",".join(map(str, ids)),
            "--max-new-tokens", 16, "--format", "json",
        )
    )
    greedy = {"temperature": 0, "return_token_ids": True}
    status, reply = server.post("/v1/completions", {"prompt": ids, **greedy})
    assert status == 200
    assert reply["choices"][0]["token_ids"] == want["tokens"]
    assert reply["usage"]["prompt_tokens"] == len(ids)
    events = server.stream("/v1/completions", {"prompt": ids, **greedy})
    assert joined(events) == reply["choices"][0]["text"]
    assert "pardec" in events[-2]
    status, reply = server.post("/v1/completions", {"prompt": [ids, ids[:3]], "n": 2, **greedy})
    assert [c["index"] for c in reply["choices"]] == [0, 1, 2, 3]
    assert [c["token_ids"] == want["tokens"] for c in reply["choices"]] == [
        True, True, False, False,
    ]
    assert reply["usage"] == {
        "prompt_tokens": len(ids) + 3,
        "completion_tokens": reply["usage"]["completion_tokens"],
        "total_tokens": len(ids) + 3 + reply["usage"]["completion_tokens"],
    }


def test_an_answer_ends_before_a_stop(server):
    status, reply = server.post(
        "/v1/completions",
        {"prompt": "Blue", "max_tokens": 40, "ignore_eos": True, "temperature": 0},
    )
    assert reply["choices"][0]["finish_reason"] == "length"
    assert reply["usage"]["completion_tokens"] == 40
    text = reply["choices"][0]["text"]
    for stop in (text[7:10], text[20:21], [text[12:14], text[5:8]]):
        first = min(text.find(s) for s in ([stop] if isinstance(stop, str) else stop))
        body = {
            "prompt": "Blue",
            "max_tokens": 40,
            "ignore_eos": True,
            "temperature": 0,
            "stop": stop,
        }
        status, cut = server.post("/v1/completions", body)
        assert cut["choices"][0]["text"] == text[:first]
        assert cut["choices"][0]["finish_reason"] == "stop"
        assert cut["usage"]["completion_tokens"] < 40
        assert joined(server.stream("/v1/completions", body)) == text[:first]


DRAWN = {
    "messages": [{"role": "user", "content": PROMPTS[0]}],
    "max_tokens": 24,
    "temperature": 1.3,
    "top_p": 0.9,
    "seed": 7,
    "return_token_ids": True,
    "ignore_eos": True,
}


def ids_of(reply):
    return [c["token_ids"] for c in reply["choices"]]


def test_a_seed_decides_what_is_drawn_as_in_generate(pardec, server):
    replies = [server.post("/v1/chat/completions", {**DRAWN, "n": 3})[1] for _ in range(2)]
    assert ids_of(replies[0]) == ids_of(replies[1])
    assert len({str(i) for i in ids_of(replies[0])}) == 3
    want = generated(
        pardec, "ar", PROMPTS[0], "--temperature", 1.3, "--top-p", 0.9, "--seed", 7, "--ignore-eos"
    )
    assert ids_of(replies[0])[0] == want["tokens"]


def test_without_a_seed_answers_differ(server):
    free = [server.post("/v1/chat/completions", {**DRAWN, "seed": None})[1] for _ in range(2)]
    assert ids_of(free[0]) != ids_of(free[1])
    assert free[0]["pardec"]["seed"] != free[1]["pardec"]["seed"]
    again = server.post("/v1/chat/completions", {**DRAWN, "seed": free[0]["pardec"]["seed"]})[1]
    assert ids_of(again) == ids_of(free[0])
    assert free[0]["pardec"]["temperature"] == 1.3


def test_without_a_temperature_it_is_one(server):
    plain = server.post("/v1/chat/completions", {"messages": DRAWN["messages"], "max_tokens": 1})[1]
    assert plain["pardec"]["temperature"] == 1


def test_earlier_messages_count(server):
    turns = [
        {"role": "system", "content": "Be short."},
        {"role": "user", "content": "Blue"},
        {"role": "assistant", "content": "Yes"},
        {"role": "user", "content": "Red"},
    ]
    sizes = [
        server.post("/v1/chat/completions", chat("", messages=turns[i:]))[1]["usage"][
            "prompt_tokens"
        ]
        for i in (0, 1, 3)
    ]
    assert sizes[0] > sizes[1] > sizes[2]
    for bad in (turns[:3], turns[1:2] * 2, turns[:1], [turns[1], turns[0], turns[3]]):
        status, reply = server.post("/v1/chat/completions", chat("", messages=bad))
        assert status == 400, bad
        assert reply["error"]["param"] == "messages", bad


JOB = json.loads((QUICKSTART / "job.json").read_text())["contexts"][0]
NAMES = [field["name"] for field in JOB["fields"]]


def form(**changes):
    """The quickstart's fields as a JSON schema; `changes`: of its properties."""
    properties = {**{name: {"type": ["string", "null"]} for name in NAMES}, **changes}
    schema = {
        "title": JOB["category"],
        "type": "object",
        "properties": properties,
        "required": NAMES,
        "additionalProperties": False,
    }
    return {
        "type": "json_schema",
        "json_schema": {"name": "product", "strict": True, "schema": schema},
    }


def filled(decoder, **changes):
    """A request for these fields."""
    return {
        "messages": [{"role": "user", "content": JOB["text"]}],
        "temperature": 0,
        "response_format": form(),
        "model": f"model:{decoder}",
        **changes,
    }


@pytest.mark.parametrize("decoder", ["hpd", "ippd"])
def test_a_schema_becomes_fields_as_of_generate(pardec, server, decoder):
    want = json.loads(
        pardec.good(
            "generate", "--model", QUICKSTART / "model", "--decoder", decoder, "--job",
            QUICKSTART / "job.json", "--format", "json",
        )
    )
    values = {a["field"]: a["text"] for a in want["answers"]}
    status, reply = server.post("/v1/chat/completions", filled(decoder))
    assert status == 200, reply
    said = json.loads(reply["choices"][0]["message"]["content"])
    assert said == values
    assert list(said) == NAMES
    assert reply["usage"]["completion_tokens"] == want["counters"]["chosen"]
    assert reply["pardec"]["passes"] == want["counters"]["forwards"]
    if decoder == "hpd":
        assert values["Brand"] == "Pinafell"
        assert reply["pardec"]["tokens_per_pass"] > 3
    assert json.loads(joined(server.stream("/v1/chat/completions", filled(decoder)))) == values


def test_only_decoders_of_fields_take_a_schema(server):
    for decoder, wanted in (("ar", 400), ("hpd", 200)):
        status, reply = server.post("/v1/chat/completions", filled(decoder))
        assert status == wanted, reply


def test_ar_fills_fields_one_by_one(server):
    asked = filled("ar", pardec={"options": {"ask": "separately"}})
    status, reply = server.post("/v1/chat/completions", asked)
    assert status == 200, reply
    assert list(json.loads(reply["choices"][0]["message"]["content"])) == NAMES


@pytest.mark.parametrize(
    "asked", [form(Brand={"type": "integer"}), {"type": "json_object"}], ids=["integer", "object"]
)
def test_other_schemas_are_refused(server, asked):
    status, reply = server.post("/v1/chat/completions", filled("hpd", response_format=asked))
    assert status == 400, reply
    assert reply["error"]["param"] == "response_format"


def test_hpd_without_fields_is_refused(server):
    status, reply = server.post("/v1/chat/completions", chat("a", model="model:hpd"))
    assert status == 400, reply
    assert reply["error"]["param"] == "model"


def test_texts_become_ids_and_back_as_of_prompts(server):
    status, reply = server.post("/tokenize", {"prompt": PROMPTS[1], "return_token_strs": True})
    asked = server.post("/v1/completions", {"prompt": reply["tokens"], "max_tokens": 1})[1][
        "usage"
    ]["prompt_tokens"]
    assert status == 200
    assert reply["count"] == len(reply["tokens"]) == len(reply["token_strs"]) == asked
    assert reply["max_model_len"] == 8192
    same = [
        server.post(
            "/v1/completions",
            {"prompt": p, "max_tokens": 5, "temperature": 0, "return_token_ids": True},
        )[1]["choices"][0]["token_ids"]
        for p in (PROMPTS[1], reply["tokens"])
    ]
    assert same[0] == same[1]
    assert server.post("/detokenize", {"tokens": reply["tokens"]}) == (200, {"prompt": PROMPTS[1]})


def test_messages_are_tokenized_as_they_are_asked(server):
    message = {"messages": [{"role": "user", "content": PROMPTS[1]}]}
    asked = server.post("/v1/chat/completions", {**message, "max_tokens": 1})[1]["usage"][
        "prompt_tokens"
    ]
    assert server.post("/tokenize", message)[1]["count"] == asked


def test_the_tokenizer_is_told(server):
    info = server.get("/tokenizer_info")[1]
    assert info["eos_token"] == "</s>"
    assert "messages" in info["chat_template"]


def test_texts_and_ids_that_are_none_are_refused(server):
    for path, body in (
        ("/tokenize", {}),
        ("/tokenize", {"prompt": 1}),
        ("/detokenize", {"tokens": "a"}),
        ("/detokenize", {"tokens": [-1]}),
    ):
        status, reply = server.post(path, body)
        assert status == 400, path


def test_no_end_is_chosen_before_the_least_length(pardec):
    """The end is a token that the network soon chooses."""
    asked = {"prompt": "</result>", "max_tokens": 30, "temperature": 0, "return_token_ids": True}
    model = ("--model", QUICKSTART / "model", "--draft-model", QUICKSTART / "draft")
    decoders = ["ar", "lookahead", "speculative"]
    with serving(pardec, *model, "--decoder", ",".join(decoders)) as server:
        ids = server.post("/v1/completions", {**asked, "ignore_eos": True})[1]["choices"][0][
            "token_ids"
        ]
        at = next(i for i in range(2, 30) if ids[i] not in ids[:i])
        end = server.post("/detokenize", {"tokens": [ids[at]]})[1]["prompt"]
    with serving(
        pardec, *model, "--decoder", ",".join([*decoders, "skeleton-of-thought"]), "--eos", end
    ) as server:
        free = server.post("/v1/completions", asked)[1]
        assert free["choices"][0]["finish_reason"] == "stop"
        assert free["choices"][0]["token_ids"] == ids[: at + 1]
        held = [
            server.post(
                "/v1/completions", {**asked, "min_tokens": at + 6, "model": f"model:{decoder}"}
            )[1]["choices"][0]["token_ids"]
            for decoder in decoders
        ]
        assert held[0] == held[1] == held[2]
        assert len(held[0]) >= at + 6
        assert held[0][:at] == ids[:at]
        assert ids[at] not in held[0][: at + 6]
        status, reply = server.post(
            "/v1/chat/completions", chat("a", model="model:skeleton-of-thought", min_tokens=2)
        )
        assert (status, reply["error"]["param"]) == (400, "min_tokens")


def test_the_scores_of_a_prompt_are_those_of_echo(server):
    ids = server.post("/tokenize", {"prompt": PROMPTS[1]})[1]["tokens"]
    asked = {"prompt": ids, "max_tokens": 2, "temperature": 0}
    own = server.post("/v1/completions", {**asked, "prompt_logprobs": 2})[1]["choices"][0]
    echo = server.post("/v1/completions", {**asked, "echo": True, "logprobs": 2})[1]["choices"][0]
    assert own["logprobs"] is None
    scores = own["prompt_logprobs"]
    assert scores[0] is None
    assert len(scores) == len(ids)
    for id, score, logprob in list(zip(ids, scores, echo["logprobs"]["token_logprobs"]))[1:]:
        assert score[str(id)]["logprob"] == logprob
        ranks = sorted(one["rank"] for one in score.values())
        assert ranks[:2] == [1, 2]
        assert len(score) == (2 if score[str(id)]["rank"] <= 2 else 3)
        best = min(score.values(), key=lambda one: one["rank"])
        assert best["logprob"] == max(one["logprob"] for one in score.values())
    message = chat(PROMPTS[0], prompt_logprobs=0, return_token_ids=False)
    reply = server.post("/v1/chat/completions", message)[1]
    assert len(reply["prompt_logprobs"]) == reply["usage"]["prompt_tokens"]


def events_of(server, body):
    """The passes that a stream tells, its text, and its last object."""
    events = server.stream("/v1/chat/completions", {**body, "stream": True})
    passes = [e["pardec"] for e in events if e and "tokens" in e.get("pardec", {})]
    last = next(e["pardec"] for e in reversed(events) if e and "passes" in e.get("pardec", {}))
    return passes, joined(events), last


@pytest.mark.parametrize("decoder", ["ar", "lookahead", "speculative", "prompt-lookup"])
def test_a_stream_tells_the_tokens_of_each_pass(server, decoder):
    body = chat(PROMPTS[0], model=f"model:{decoder}", ignore_eos=True)
    passes, text, last = events_of(server, {**body, "pardec": {"events": True}})
    tokens = [t for p in passes for t in p["tokens"]]
    kept = [t for t in tokens if t["kind"] != "rejected"]
    whole = server.post("/v1/chat/completions", body)[1]
    assert [t["id"] for t in kept] == whole["choices"][0]["token_ids"]
    assert "".join(t["text"] for t in kept) == text == whole["choices"][0]["message"]["content"]
    assert sum(t["kind"] == "guessed" for t in kept) == last["accepted_guesses"]
    assert len(tokens) - len(kept) == last["guesses"] - last["accepted_guesses"]
    assert passes[-1]["passes"] == last["passes"]
    assert [p["passes"] for p in passes] == sorted({p["passes"] for p in passes})


def test_without_being_asked_a_stream_tells_no_passes(server):
    assert events_of(server, chat(PROMPTS[0]))[0] == []


@pytest.mark.parametrize("decoder", ["hpd", "ippd", "ar"])
def test_a_job_is_answered_as_by_generate(pardec, server, decoder):
    want = json.loads(
        pardec.good(
            "generate", "--model", QUICKSTART / "model", "--decoder", decoder, "--job",
            QUICKSTART / "job.json", "--format", "json",
        )
    )
    job = json.loads((QUICKSTART / "job.json").read_text())
    body = {"model": f"model:{decoder}", "messages": [], "temperature": 0}
    status, reply = server.post("/v1/chat/completions", {**body, "pardec": {"job": job}})
    assert status == 200, reply
    values = {a["field"]: a["text"] for a in want["answers"]}
    assert json.loads(reply["choices"][0]["message"]["content"]) == values
    assert reply["pardec"]["passes"] == want["counters"]["forwards"]
    assert reply["usage"]["completion_tokens"] == want["counters"]["chosen"]
    passes, text, _ = events_of(server, {**body, "pardec": {"job": job, "events": True}})
    assert json.loads(text) == values
    if decoder == "hpd":  # all values begin in the first pass
        assert len(passes[0]["streams"]) == len(NAMES)
        assert [NAMES[s["stream"]] in s["before"] for s in passes[0]["streams"]] == [True] * len(NAMES)


def test_a_job_of_two_texts_has_two_objects(server):
    job = json.loads((QUICKSTART / "job.json").read_text())
    two = {**job, "contexts": [{**JOB, "id": "a"}, {**JOB, "id": "b"}]}
    body = {"model": "model:hpd", "messages": [], "temperature": 0, "pardec": {"job": two}}
    status, reply = server.post("/v1/chat/completions", body)
    assert status == 200, reply
    values = json.loads(reply["choices"][0]["message"]["content"])
    assert [list(one) for one in values] == [NAMES, NAMES]


def test_a_job_that_does_not_fit_is_refused(server):
    job = json.loads((QUICKSTART / "job.json").read_text())
    two = {**job, "contexts": [{**JOB, "id": "a"}, {**JOB, "id": "b"}]}
    for bad, param in (
        ({"model": "model:ar", "messages": [], "pardec": {"job": two}}, "pardec"),
        ({"messages": [], "pardec": {"job": {"none": 1}}}, "pardec"),
        ({"messages": [{"role": "user", "content": "a"}], "pardec": {"job": job}}, "messages"),
    ):
        status, reply = server.post("/v1/chat/completions", {"model": "model:hpd", **bad})
        assert (status, reply["error"]["param"]) == (400, param), reply


def metrics(server):
    """The numbers of /metrics by name and labels."""
    status, headers, text = server.request("GET", "/metrics")
    lines = text.decode().splitlines()
    known = {line.split()[2] for line in lines if line.startswith("# TYPE ")}
    numbers = {}
    for line in lines:
        if line.startswith("#"):
            continue
        name, value = line.rsplit(" ", 1)
        plain = re.sub(r"_(bucket|sum|count)$", "", name.split("{")[0])
        if (
            status != 200
            or not headers["Content-Type"].startswith("text/plain; version=0.0.4")
            or not {plain, name.split("{")[0]} & known
            or name in numbers
        ):
            raise AssertionError(f"{status} {headers}: {line}")
        numbers[
            re.sub(r'model_name="model",?|\{model_name="model"\}', "", name).removesuffix("{}")
        ] = float(value)
    return numbers


def test_the_metrics_add_up_what_the_replies_say(server):
    before = metrics(server)
    replies = [
        server.post(
            "/v1/completions",
            {
                "prompt": "Blue",
                "max_tokens": 30,
                "temperature": 0,
                "ignore_eos": True,
                "seed": 1,
                "model": f"model:{d}",
            },
        )[1]
        for d in ("ar", "lookahead", "speculative")
    ]
    after = metrics(server)
    more = lambda name: after[name] - before.get(name, 0)
    # Tokens.
    assert more("pardec:generation_tokens_total") == 90
    assert more("pardec:prompt_tokens_total") == sum(r["usage"]["prompt_tokens"] for r in replies)
    assert (
        more('pardec:request_success_total{finished_reason="length"}')
        == more("pardec:e2e_request_latency_seconds_count")
        == 3
    )
    assert (
        more("pardec:passes_total")
        == more("pardec:pass_answers_total")
        == sum(r["pardec"]["passes"] for r in replies)
    )
    assert more("vllm:spec_decode_num_draft_tokens_total") == sum(
        r["pardec"]["guesses"] for r in replies
    )
    assert (
        more("vllm:spec_decode_num_accepted_tokens_total")
        == sum(r["pardec"]["accepted_guesses"] for r in replies)
        > 0
    )
    places = [
        name
        for name in after
        if name.startswith("vllm:spec_decode_num_accepted_tokens_per_pos_total")
    ]
    assert sum(map(more, places)) == more("vllm:spec_decode_num_accepted_tokens_total")
    assert replies[0]["metrics"] is None
    for reply in replies[1:]:  # what AIPerf checks before it takes a record
        spec, own = reply["metrics"]["speculative_decoding"], reply["pardec"]
        histogram = spec["acceptance_histogram"]
        assert sum(histogram) == spec["num_spec_steps"] > 0, spec
        assert len(histogram) == spec["num_spec_tokens"] + 1, spec
        assert (
            sum(j * count for j, count in enumerate(histogram))
            == spec["num_accepted_draft_tokens"]
            == own["accepted_guesses"]
            <= spec["num_draft_tokens"]
            == own["guesses"]
        ), spec
    assert after["pardec:num_requests_running"] == after["pardec:num_requests_waiting"] == 0


def test_the_metrics_tell_the_rows_in_the_cache(server):
    body = json.dumps({"prompt": "Blue", "max_tokens": 4000, "ignore_eos": True}).encode()
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        until = time.monotonic() + 30
        while not metrics(server)["pardec:kv_cache_rows"] and time.monotonic() < until:
            time.sleep(0.05)
        assert metrics(server)["pardec:kv_cache_rows"] > 0
        assert metrics(server)["pardec:kv_cache_usage_perc"] == 0  # no budget
    until = time.monotonic() + 30
    while metrics(server)["pardec:kv_cache_rows"] and time.monotonic() < until:
        time.sleep(0.05)
    assert metrics(server)["pardec:kv_cache_rows"] == 0


JSON = {"Content-Type": "application/json"}
TEXT = {"Content-Type": "text/plain"}
REFUSED = {
    "half": (400, None, "/v1/completions", "{", JSON),
    "bytes": (400, None, "/v1/completions", b'{"prompt": "\xff"}', JSON),
    "list": (400, None, "/v1/completions", [1], {}),
    "text": (415, None, "/v1/completions", '{"prompt": "a"}', TEXT),
    "no type": (415, None, "/v1/completions", '{"prompt": "a"}', {}),
    "model": (404, "model", "/v1/completions", {"model": "none", "prompt": "a"}, {}),
    "id": (400, "prompt", "/v1/completions", {"prompt": [4096]}, {}),
    "empty": (400, "prompt", "/v1/completions", {"prompt": ""}, {}),
    "none": (400, "prompt", "/v1/completions", {"prompt": []}, {}),
    "temperature": (400, "temperature", "/v1/completions", {"prompt": "a", "temperature": -1}, {}),
    "tools": (400, "tools", "/v1/chat/completions", chat("a", tools=[{}]), {}),
    "option": (
        400,
        "pardec",
        "/v1/completions",
        {"prompt": "a", "pardec": {"options": {"draft": 1}}},
        {},
    ),
    "decoder": (
        400,
        "model",
        "/v1/completions",
        {"prompt": "a", "model": "model:skeleton-of-thought"},
        {},
    ),
    "path": (404, None, "/v1/none", {}, {}),
    "get": (405, None, "/v1/completions", None, {}),
    "post": (405, None, "/v1/models", {}, {}),
    "unknown": (404, "model", "/v1/models/none", None, {}),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_bad_request_is_refused_in_the_shape_of_openai(server, name):
    wanted, param, path, body, headers = REFUSED[name]
    status, reply = server.get(path) if body is None else server.post(path, body, headers=headers)
    assert status == wanted, reply
    assert set(reply["error"]) == {"message", "type", "param", "code"}
    assert reply["error"]["param"] == param
    assert reply["error"]["message"]


def test_a_prompt_that_is_too_long_is_refused(server):
    status, reply = server.post("/v1/completions", {"prompt": [5] * 9000})
    assert status == 400
    assert reply["error"]["code"] == "context_length_exceeded"
    assert "maximum context length" in reply["error"]["message"]
    status, reply = server.post("/v1/chat/completions", chat("word " * 9000))
    assert status == 400
    assert reply["error"]["code"] == "context_length_exceeded"


def test_head_has_no_body(server):
    status, headers, text = server.request("HEAD", "/health")
    assert status == 200
    assert text == b""


def raw(server, data, pieces=1, wait=5.0):
    """What the server answers to these bytes, until it closes."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=wait) as connection:
        answer = b""
        try:
            size = -(-len(data) // pieces)
            for at in range(0, len(data), size):
                connection.sendall(data[at : at + size])
            while more := connection.recv(65536):
                answer += more
        except (TimeoutError, ConnectionError):
            pass
        return answer


BODY = json.dumps({"prompt": "Blue", "temperature": 0, "max_tokens": 2}).encode()
HEAD = b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
LENGTH = b"Content-Length: %d\r\n" % len(BODY)
GOOD = HEAD + LENGTH + b"Connection: close\r\n\r\n" + BODY
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"


def test_a_request_may_come_byte_by_byte(server):
    assert raw(server, GOOD, pieces=len(GOOD)).startswith(b"HTTP/1.1 200 ")


def test_two_requests_may_come_at_once(server):
    assert raw(server, HEAD + LENGTH + b"\r\n" + BODY + GOOD).count(b"HTTP/1.1 200 ") == 2


def test_a_body_may_be_chunked(server):
    answer = raw(server, CHUNKED + b"%x\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY))
    assert answer.startswith(b"HTTP/1.1 200 ")


def test_http_1_0_is_answered(server):
    assert raw(server, b"GET /health HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 200 ")


def test_a_stream_to_http_1_0_is_not_chunked(server):
    stream = json.dumps({**json.loads(BODY), "stream": True}).encode()
    head = HEAD.replace(b"1.1", b"1.0") + b"Content-Length: %d\r\n\r\n" % len(stream)
    answer = raw(server, head + stream)
    assert b"Transfer-Encoding" not in answer
    assert answer.endswith(b"data: [DONE]\n\n")


HOSTILE = {
    "an extension of a chunk": CHUNKED + b"%x;a=b\r\n%s\r\n0\r\n\r\n" % (len(BODY), BODY),
    "a body that is too large": HEAD + b"Content-Length: 99999999999\r\n\r\n",
    "a length that is none": HEAD + b"Content-Length: -5\r\n\r\n" + BODY,
    "two lengths": HEAD + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n" + BODY,
    "10,000 headers": (
        HEAD + b"".join(b"X-%d: 1\r\n" % i for i in range(10000)) + LENGTH + b"\r\n" + BODY
    ),
    "a long header": HEAD + b"X: " + b"a" * 100000 + b"\r\n\r\n",
    "a long target": b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n\r\n",
    "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20,
    "line breaks in a field": b"GET /health HTTP/1.1\r\nHost: x\r\nX: a\rb\r\n\r\n",
    "a method that is none": b"FETCH /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    "a large chunked body": (
        CHUNKED + b"".join(b"100000\r\n" + b"a" * 0x100000 + b"\r\n" for _ in range(20))
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_bytes_are_refused_and_the_server_lives(server, name):
    answer = raw(server, HOSTILE[name])
    assert not answer or answer.startswith(b"HTTP/1.1 4")
    assert server.get("/health")[0] == 200


def test_deep_json_is_refused(server):
    deep = '{"prompt": ' + "[" * 100000 + "]" * 100000 + "}"
    assert server.post("/v1/completions", deep, headers=JSON)[0] == 400


def test_line_breaks_in_a_name_add_no_header(server):
    evil = "a\r\nX-Evil: 1\r\n\r\n"
    status, headers, text = server.request(
        "POST", "/v1/completions", {"prompt": "a", "model": evil, evil: 1}
    )
    assert status == 404
    assert "X-Evil" not in headers
    assert json.loads(text)


def test_the_server_lives_when_clients_go_before_the_end(server):
    for early in (GOOD[:-5], HEAD, b"", GOOD):
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            connection.sendall(early)
    assert server.get("/health")[0] == 200


def test_who_leaves_costs_nothing_more(server):
    """200 long answers are given up after half a second, streamed or not, and one comes at once."""
    sockets = []
    for i in range(200):
        body = json.dumps(
            {"prompt": "Blue", "max_tokens": 4000, "ignore_eos": True, "stream": i % 2 == 0}
        ).encode()
        connection = socket.create_connection(("127.0.0.1", server.port))
        connection.sendall(
            b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Type:"
            b" application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        )
        sockets.append(connection)
    time.sleep(0.5)
    for connection in sockets:
        connection.close()
    begin = time.monotonic()
    status, _ = server.post("/v1/completions", {"prompt": "Blue", "max_tokens": 3})
    assert status == 200
    assert time.monotonic() - begin < 5
    after = metrics(server)
    assert after['pardec:request_success_total{finished_reason="abort"}'] >= 200
    assert after["pardec:num_requests_running"] == 0


def test_a_head_that_never_ends_is_cut_off_after_ten_seconds(server):
    server.dripping.join()
    assert server.cut_off[0] is not None
    assert 9 < server.cut_off[0] < 25


LONG = {"prompt": "Blue", "max_tokens": 1200, "ignore_eos": True, "temperature": 0}


def test_on_sigterm_what_runs_is_answered_whole(pardec):
    with (
        serving(
            pardec, "--model", QUICKSTART / "model", "--model-name", "net", "--batch-size", 1,
            "--queue", 1, "--drain", 300,
        ) as server,
        concurrent.futures.ThreadPoolExecutor(3) as pool,
    ):
        running = [pool.submit(server.stream, "/v1/completions", LONG)]
        time.sleep(0.3)
        running.append(pool.submit(server.stream, "/v1/completions", LONG))
        time.sleep(0.2)
        status, headers, text = server.request("POST", "/v1/completions", LONG)
        assert status == 503
        assert int(headers["Retry-After"]) > 0
        code, said = server.end(timeout=300)
        assert code == 0
        assert "all requests were answered" in said
        assert [r.result()[-1] for r in running] == [None, None]


def test_what_still_runs_when_the_time_is_over_is_broken_off(pardec):
    with serving(pardec, "--model", QUICKSTART / "model", "--drain", 1) as server:
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
            body = json.dumps({**LONG, "max_tokens": 8000, "stream": True}).encode()
            connection.sendall(
                b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Type:"
                b" application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body
            )
            time.sleep(0.3)
            server.process.terminate()
            answer = b""
            while more := connection.recv(65536):
                answer += more
        code, said = server.wait()
        assert code == 3
        assert "were aborted" in said
        last = answer.rstrip().rsplit(b"data: ", 1)[-1]
        assert not answer.endswith(b"0\r\n\r\n")
        assert b"[DONE]" not in answer
        assert "error" in json.loads(last)


def test_without_the_key_only_the_health_is_told(pardec):
    with serving(
        pardec, "--model", QUICKSTART / "model", "--key-env", "SERVE_KEY",
        env={"SERVE_KEY": "sesame-sesame"},
    ) as server:
        body = {"prompt": "Blue", "max_tokens": 1}
        for sent in (
            None, "Bearer sesame", "Bearer sesame-sesame2", "Bearer sesame-sesamf", "sesame-sesame",
            "Basic sesame-sesame", "Bearer ", "Bearer sesame-sesamesesame-sesame",
        ):
            status, _, text = server.request(
                "POST", "/v1/completions", body, headers={"Authorization": sent} if sent else {}
            )
            assert status == 401, sent
            assert json.loads(text)["error"]["code"] == "invalid_api_key", sent
            assert b"sesame" not in text, sent
        assert [
            server.request("GET", path)[0]
            for path in ("/health", "/metrics", "/v1/models", "/none")
        ] == [200, 401, 401, 401]
        assert (
            server.request(
                "POST", "/v1/completions", body, headers={"Authorization": "Bearer sesame-sesame"}
            )[0]
            == 200
        )


def test_each_key_of_a_file_is_accepted(pardec, tmp_path):
    keys = tmp_path / "keys"
    keys.write_text("first-of-two\n\n  second-of-two\n")
    with serving(pardec, "--model", QUICKSTART / "model", "--key-file", keys) as server:
        status = lambda key: server.request(
            "GET", "/v1/models", headers={"Authorization": f"Bearer {key}"}
        )[0]
        sent = ("first-of-two", "second-of-two", "third-of-two", "first-of-two\tsecond-of-two")
        assert [status(key) for key in sent] == [200, 200, 401, 401]
        assert server.request("GET", "/")[0] == 200  # the page asks for the key itself


@pytest.mark.parametrize("text, said", [("\n \n", "has no key"), ("a b\n", "white space")])
def test_a_file_without_keys_is_told(pardec, tmp_path, text, said):
    (tmp_path / "keys").write_text(text)
    ran = pardec("serve", "--model", QUICKSTART / "model", "--key-file", tmp_path / "keys")
    assert ran.returncode == 2, ran.stderr
    assert "--key-file" in ran.stderr
    assert said in ran.stderr


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate of 127.0.0.1 and its key."""
    folder = tmp_path_factory.mktemp("certificate")
    subprocess.run(
        [
            "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
            "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out",
            "cert.pem",
        ],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    return folder / "cert.pem", folder / "key.pem"


def test_with_a_certificate_connections_are_encrypted(pardec, certificate):
    cert, key = certificate
    model = ("--model", QUICKSTART / "model")
    with serving(pardec, *model, "--tls-cert", cert, "--tls-key", key) as server:
        trusted = ssl.create_default_context(cafile=cert)
        with urllib.request.urlopen(f"https://127.0.0.1:{server.port}/health", context=trusted) as ok:
            assert ok.status == 200
        connection = http.client.HTTPSConnection("127.0.0.1", server.port, context=trusted)
        body = {"prompt": "Blue", "max_tokens": 30, "temperature": 0, "ignore_eos": True}
        texts = []
        for stream in (False, True):  # two requests on one connection
            connection.request(
                "POST", "/v1/completions", json.dumps({**body, "stream": stream}), JSON
            )
            texts.append(connection.getresponse().read().decode())
        events = [json.loads(e[6:]) for e in texts[1].split("\n\n")[:-1] if "[DONE]" not in e]
        assert joined(events) == json.loads(texts[0])["choices"][0]["text"] != ""
        connection.close()
        # Another protocol, a client that does not trust it, and one that goes: the server lives.
        assert raw(server, GOOD) == b"" or b"HTTP/1.1 200" not in raw(server, GOOD)
        with pytest.raises(urllib.error.URLError):
            urllib.request.urlopen(f"https://127.0.0.1:{server.port}/health")
        socket.create_connection(("127.0.0.1", server.port)).close()
        with urllib.request.urlopen(f"https://127.0.0.1:{server.port}/health", context=trusted) as ok:
            assert ok.status == 200
        code, said = server.end()
        assert code == 0, said


def test_files_that_are_no_certificate_are_told(pardec, certificate, tmp_path):
    cert, key = certificate
    (tmp_path / "none").write_text("none")
    for args, flag in (
        (("--tls-cert", cert), "--tls-key"),
        (("--tls-cert", tmp_path / "none", "--tls-key", key), "--tls-cert"),
        (("--tls-cert", cert, "--tls-key", tmp_path / "none"), "--tls-key"),
    ):
        ran = pardec("serve", "--model", QUICKSTART / "model", *args)
        assert ran.returncode == 2, args
        assert flag in ran.stderr


def test_a_key_that_the_environment_lacks_is_told(pardec):
    ran = pardec("serve", "--model", QUICKSTART / "model", "--key-env", "NO_SUCH_KEY")
    assert ran.returncode == 2, ran.stderr
    assert "NO_SUCH_KEY" in ran.stderr


def test_a_port_in_use_is_told(pardec, server):
    taken = pardec("serve", "--model", QUICKSTART / "model", "--listen", f"127.0.0.1:{server.port}")
    assert taken.returncode == 2
    assert "--listen" in taken.stderr
    assert "in use" in taken.stderr


@pytest.mark.parametrize(
    "args, said",
    [
        (("--listen", "here"), "--listen is 'here'"),
        (("--listen", "127.0.0.1:70000"), "--listen"),
        (("--decoder", "none"), "none"),
        (("--alias", "x=ar,draft=1"), "draft"),
        (("--batch-size", 0), "--batch-size"),
        (("--decoder", "speculative"), "--draft-model"),
        (("--draft-model", QUICKSTART / "draft"), "--draft-model"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else "",
)
def test_a_flag_that_cannot_be_is_told(pardec, args, said):
    ran = pardec("serve", "--model", QUICKSTART / "model", *args, timeout=60)
    assert ran.returncode == 2, ran.stderr
    assert said in ran.stderr
