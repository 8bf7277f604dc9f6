"""`pardec serve` from outside: its answers are those of `generate`, and no client brings it down.

Usage: server_test.py PROGRAM
"""
import concurrent.futures
import json
import pathlib
import re
import socket
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from harness import ROOT, Checks, scratch
from server import serving

QUICKSTART = ROOT / "experiments" / "quickstart"
PROMPTS = ["Blue shoes for men", "Größe: 42, \u20ac 5", "Orm Mug, 300 ml\nBrand:"]
DECODERS = ["ar", "prompt-lookup", "lookahead", "medusa", "self-speculative", "speculative", "ippd", "skeleton-of-thought"]


def chat(text, **more):
    return {"messages": [{"role": "user", "content": text}], "temperature": 0, "max_tokens": 24, "seed": 1, "return_token_ids": True, **more}


def generated(pardec, decoder, text, *more):
    draft = ("--draft-model", QUICKSTART / "draft") if decoder == "speculative" else ()
    return json.loads(pardec.good("generate", "--model", QUICKSTART / "model", *draft, "--decoder", decoder, "--prompt", text, "--max-new-tokens", 24, "--format", "json", *more))


def joined(events):
    """The text of a stream's only choice."""
    parts = [c for e in events if e for c in e["choices"]]
    return "".join(p["delta"].get("content", "") if "delta" in p else p["text"] for p in parts)


def as_generate(check, pardec, server):
    """Stream, non-stream and `generate` give the same ids, alone and in a batch."""
    wanted = {(d, t): generated(pardec, d, t) for d in DECODERS for t in PROMPTS}
    bodies = {key: chat(key[1], model=f"model:{key[0]}") for key in wanted}

    def one(key):
        return key, server.post("/v1/chat/completions", bodies[key])

    alone = [one(key) for key in wanted]
    with concurrent.futures.ThreadPoolExecutor(len(wanted)) as pool:
        together = list(pool.map(one, wanted))
    for how, answers in (("alone", alone), ("in a batch", together)):
        for key, (status, reply) in answers:
            if not check(status == 200, f"{key} {how}: {status} {reply}"):
                continue
            choice, want = reply["choices"][0], wanted[key]
            check(choice["message"]["content"] == want["text"] and choice["token_ids"] == want["tokens"], f"{key} {how}: {choice}, generate has {want['text']!r} {want['tokens']}")
            counters = want["counters"]
            check((reply["usage"]["completion_tokens"], reply["pardec"]["passes"]) == (counters["chosen"], counters["forwards"]), f"{key} {how}: {reply['usage']} {reply['pardec']}, generate counts {counters}")
            check(reply["pardec"]["accepted_guesses"] == sum(counters["accepted"]), f"{key} {how}: {reply['pardec']}, generate counts {counters['accepted']}")
    for key, (_, reply) in alone:
        events = server.stream("/v1/chat/completions", {**bodies[key], "stream_options": {"include_usage": True}})
        check(events[-1] is None and all(e["usage"] is None for e in events[:-2]) and events[-2]["choices"] == [], f"{key}: the end of the stream: {events[-3:]}")
        check(joined(events) == reply["choices"][0]["message"]["content"] and events[-2]["usage"] == reply["usage"], f"{key}: streamed {joined(events)!r}, {events[-2]}, whole {reply}")
        check(events[-3]["choices"][0]["token_ids"] == reply["choices"][0]["token_ids"], f"{key}: ids of the stream: {events[-3]}")
        roles = [e["choices"][0]["delta"].get("role") for e in events[:-2]]
        check(roles[0] == "assistant" and not any(roles[1:]), f"{key}: roles {roles}")
        check(all(e["id"] == events[0]["id"] and e["model"] == bodies[key]["model"] for e in events[:-1]), f"{key}: ids of the chunks")
        if key[0] == "ar":
            check(len(events) > 5, f"{key}: streamed in {len(events)} events")


def plain_prompts(check, pardec, server):
    """Completions take texts and ids as they are."""
    ids = [3, 14, 15, 92, 65, 35, 89]
    want = json.loads(pardec.good("generate", "--model", QUICKSTART / "model", "--prompt-tokens", ",".join(map(str, ids)), "--max-new-tokens", 16, "--format", "json"))
    greedy = {"temperature": 0, "return_token_ids": True}
    status, reply = server.post("/v1/completions", {"prompt": ids, **greedy})
    check(status == 200 and reply["choices"][0]["token_ids"] == want["tokens"] and reply["usage"]["prompt_tokens"] == len(ids), f"ids: {reply}, generate {want['tokens']}")
    events = server.stream("/v1/completions", {"prompt": ids, **greedy})
    check(joined(events) == reply["choices"][0]["text"] and "pardec" in events[-2], f"streamed ids: {events}")
    status, reply = server.post("/v1/completions", {"prompt": [ids, ids[:3]], "n": 2, **greedy})
    check([c["index"] for c in reply["choices"]] == [0, 1, 2, 3], f"two prompts, twice: {reply}")
    check([c["token_ids"] == want["tokens"] for c in reply["choices"]] == [True, True, False, False], f"two prompts, twice: {reply}")
    check(reply["usage"] == {"prompt_tokens": len(ids) + 3, "completion_tokens": reply["usage"]["completion_tokens"], "total_tokens": len(ids) + 3 + reply["usage"]["completion_tokens"]},
          f"usage: {reply['usage']}")
    status, reply = server.post("/v1/completions", {"prompt": "Blue", "max_tokens": 40, "ignore_eos": True, "temperature": 0})
    check(reply["choices"][0]["finish_reason"] == "length" and reply["usage"]["completion_tokens"] == 40, f"ignore_eos: {reply}")
    text = reply["choices"][0]["text"]
    for stop in (text[7:10], text[20:21], [text[12:14], text[5:8]]):
        first = min(text.find(s) for s in ([stop] if isinstance(stop, str) else stop))
        body = {"prompt": "Blue", "max_tokens": 40, "ignore_eos": True, "temperature": 0, "stop": stop}
        status, cut = server.post("/v1/completions", body)
        check(cut["choices"][0]["text"] == text[:first] and cut["choices"][0]["finish_reason"] == "stop", f"stop {stop!r}: {cut}, whole {text!r}")
        check(cut["usage"]["completion_tokens"] < 40, f"stop {stop!r}: {cut['usage']}")
        check(joined(server.stream("/v1/completions", body)) == text[:first], f"stop {stop!r}, streamed")


def sampled(check, pardec, server):
    """A seed decides; without one, answers differ; `generate` draws the same."""
    body = {"messages": [{"role": "user", "content": PROMPTS[0]}], "max_tokens": 24, "temperature": 1.3, "top_p": 0.9, "seed": 7, "return_token_ids": True, "ignore_eos": True}
    ids = lambda reply: [c["token_ids"] for c in reply["choices"]]
    replies = [server.post("/v1/chat/completions", {**body, "n": 3})[1] for _ in range(2)]
    check(ids(replies[0]) == ids(replies[1]) and len({str(i) for i in ids(replies[0])}) == 3, f"a seed: {replies}")
    want = generated(pardec, "ar", PROMPTS[0], "--temperature", 1.3, "--top-p", 0.9, "--seed", 7, "--ignore-eos")
    check(ids(replies[0])[0] == want["tokens"], f"generate draws {want['tokens']}, the server {ids(replies[0])[0]}")
    free = [server.post("/v1/chat/completions", {**body, "seed": None})[1] for _ in range(2)]
    check(ids(free[0]) != ids(free[1]) and free[0]["pardec"]["seed"] != free[1]["pardec"]["seed"], f"without a seed: {free}")
    again = server.post("/v1/chat/completions", {**body, "seed": free[0]["pardec"]["seed"]})[1]
    check(ids(again) == ids(free[0]), "the seed that was told gives the same answer again")
    check(free[0]["pardec"]["temperature"] == 1.3, "temperature is told")
    plain = server.post("/v1/chat/completions", {"messages": body["messages"], "max_tokens": 1})[1]
    check(plain["pardec"]["temperature"] == 1, f"without a temperature: {plain['pardec']}")


def conversation(check, server):
    """Earlier messages count."""
    turns = [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Blue"}, {"role": "assistant", "content": "Yes"}, {"role": "user", "content": "Red"}]
    sizes = [server.post("/v1/chat/completions", chat("", messages=turns[i:]))[1]["usage"]["prompt_tokens"] for i in (0, 1, 3)]
    check(sizes[0] > sizes[1] > sizes[2], f"tokens of prompts: {sizes}")
    for bad in (turns[:3], turns[1:2] * 2, turns[:1], [turns[1], turns[0], turns[3]]):
        status, reply = server.post("/v1/chat/completions", chat("", messages=bad))
        check(status == 400 and reply["error"]["param"] == "messages", f"{bad}: {reply}")


def fields(check, pardec, server):
    """A JSON schema becomes fields: what HPD and IPPD fill is what `generate --job` says."""
    job = json.loads((QUICKSTART / "job.json").read_text())
    context = job["contexts"][0]
    names = [field["name"] for field in context["fields"]]
    schema = {"title": context["category"], "type": "object", "properties": {n: {"type": ["string", "null"]} for n in names}, "required": names, "additionalProperties": False}
    form = {"type": "json_schema", "json_schema": {"name": "product", "strict": True, "schema": schema}}
    body = {"messages": [{"role": "user", "content": context["text"]}], "temperature": 0, "response_format": form}
    for decoder in ("hpd", "ippd"):
        want = json.loads(pardec.good("generate", "--model", QUICKSTART / "model", "--decoder", decoder, "--job", QUICKSTART / "job.json", "--format", "json"))
        values = {a["field"]: a["text"] for a in want["answers"]}
        status, reply = server.post("/v1/chat/completions", {**body, "model": f"model:{decoder}"})
        if not check(status == 200, f"{decoder}: {status} {reply}"):
            continue
        said = json.loads(reply["choices"][0]["message"]["content"])
        check(said == values and list(said) == names, f"{decoder}: {said}, generate {values}")
        check(reply["usage"]["completion_tokens"] == want["counters"]["chosen"] and reply["pardec"]["passes"] == want["counters"]["forwards"], f"{decoder}: {reply}")
        if decoder == "hpd":
            check(values["Brand"] == "Pinafell" and reply["pardec"]["tokens_per_pass"] > 3, f"{reply}")
        check(json.loads(joined(server.stream("/v1/chat/completions", {**body, "model": f"model:{decoder}"}))) == values, f"{decoder}: streamed")
    for model, status_wanted in (("model:ar", 400), ("model:hpd", 200)):
        status, reply = server.post("/v1/chat/completions", {**body, "model": model})
        check(status == status_wanted, f"{model}: {status} {reply}")
    status, reply = server.post("/v1/chat/completions", {**body, "model": "model:ar", "pardec": {"options": {"ask": "separately"}}})
    check(status == 200 and list(json.loads(reply["choices"][0]["message"]["content"])) == names, f"ar separately: {reply}")
    schema["properties"]["Brand"] = {"type": "integer"}
    for format in (form, {"type": "json_object"}):
        status, reply = server.post("/v1/chat/completions", {**body, "model": "model:hpd", "response_format": format})
        check(status == 400 and reply["error"]["param"] == "response_format", f"{format}: {status} {reply}")
    status, reply = server.post("/v1/chat/completions", chat("a", model="model:hpd"))
    check(status == 400 and reply["error"]["param"] == "model", f"hpd without fields: {status} {reply}")


def texts(check, pardec, server):
    """Texts into ids and back, as prompts are tokenized."""
    status, reply = server.post("/tokenize", {"prompt": PROMPTS[1], "return_token_strs": True})
    asked = server.post("/v1/completions", {"prompt": reply["tokens"], "max_tokens": 1})[1]["usage"]["prompt_tokens"]
    check(status == 200 and reply["count"] == len(reply["tokens"]) == len(reply["token_strs"]) == asked and reply["max_model_len"] == 8192, f"/tokenize: {reply}")
    same = [server.post("/v1/completions", {"prompt": p, "max_tokens": 5, "temperature": 0, "return_token_ids": True})[1]["choices"][0]["token_ids"] for p in (PROMPTS[1], reply["tokens"])]
    check(same[0] == same[1], f"the ids of a text: {same}")
    check(server.post("/detokenize", {"tokens": reply["tokens"]}) == (200, {"prompt": PROMPTS[1]}), "/detokenize")
    message = {"messages": [{"role": "user", "content": PROMPTS[1]}]}
    asked = server.post("/v1/chat/completions", {**message, "max_tokens": 1})[1]["usage"]["prompt_tokens"]
    check(server.post("/tokenize", message)[1]["count"] == asked, "messages are tokenized as they are asked")
    info = server.get("/tokenizer_info")[1]
    check(info["eos_token"] == "</s>" and "messages" in info["chat_template"], f"/tokenizer_info: {info}")
    for path, body in (("/tokenize", {}), ("/tokenize", {"prompt": 1}), ("/detokenize", {"tokens": "a"}), ("/detokenize", {"tokens": [-1]})):
        status, reply = server.post(path, body)
        check(status == 400, f"{path} {body}: {reply}")


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
        if status != 200 or not headers["Content-Type"].startswith("text/plain; version=0.0.4") or not {plain, name.split("{")[0]} & known or name in numbers:
            raise AssertionError(f"{status} {headers}: {line}")
        numbers[re.sub(r'model_name="model",?|\{model_name="model"\}', "", name).removesuffix("{}")] = float(value)
    return numbers


def counted(check, server):
    """What /metrics adds up is what the replies say."""
    before = metrics(server)
    replies = [server.post("/v1/completions", {"prompt": "Blue", "max_tokens": 30, "temperature": 0, "ignore_eos": True, "seed": 1, "model": f"model:{d}"})[1] for d in ("ar", "lookahead", "speculative")]
    after = metrics(server)
    more = lambda name: after[name] - before.get(name, 0)
    check(more("pardec:generation_tokens_total") == 90 and more("pardec:prompt_tokens_total") == sum(r["usage"]["prompt_tokens"] for r in replies), "tokens")
    check(more('pardec:request_success_total{finished_reason="length"}') == more("pardec:e2e_request_latency_seconds_count") == 3, "answers")
    check(more("pardec:passes_total") == more("pardec:pass_answers_total") == sum(r["pardec"]["passes"] for r in replies), "passes")
    check(more("vllm:spec_decode_num_draft_tokens_total") == sum(r["pardec"]["guesses"] for r in replies), "guesses")
    check(more("vllm:spec_decode_num_accepted_tokens_total") == sum(r["pardec"]["accepted_guesses"] for r in replies) > 0, "accepted guesses")
    places = [name for name in after if name.startswith("vllm:spec_decode_num_accepted_tokens_per_pos_total")]
    check(sum(map(more, places)) == more("vllm:spec_decode_num_accepted_tokens_total"), "accepted guesses by place")
    check(replies[0]["metrics"] is None, f"no guesses: {replies[0]}")
    for reply in replies[1:]:  # what AIPerf checks before it takes a record
        spec, own = reply["metrics"]["speculative_decoding"], reply["pardec"]
        histogram = spec["acceptance_histogram"]
        check(sum(histogram) == spec["num_spec_steps"] > 0 and len(histogram) == spec["num_spec_tokens"] + 1, f"{spec}")
        check(sum(j * count for j, count in enumerate(histogram)) == spec["num_accepted_draft_tokens"] == own["accepted_guesses"] <= spec["num_draft_tokens"] == own["guesses"], f"{spec} {own}")
    check(after["pardec:num_requests_running"] == after["pardec:num_requests_waiting"] == 0, "nothing runs")


def refused(check, server):
    """Bad requests are told from good ones, in OpenAI's shape."""
    post = lambda body, path="/v1/completions", **options: server.post(path, body, **options)
    cases = [(400, None, post("{")), (400, None, post(b'{"prompt": "\xff"}', headers={"Content-Type": "application/json"})), (400, None, post([1])),
             (415, None, post('{"prompt": "a"}', headers={"Content-Type": "text/plain"})), (415, None, post('{"prompt": "a"}')),
             (404, "model", post({"model": "none", "prompt": "a"})), (400, "prompt", post({"prompt": [4096]})), (400, "prompt", post({"prompt": ""})),
             (400, "prompt", post({"prompt": []})), (400, "temperature", post({"prompt": "a", "temperature": -1})), (400, "tools", post(chat("a", tools=[{}]), "/v1/chat/completions")),
             (400, "pardec", post({"prompt": "a", "pardec": {"options": {"draft": 1}}})), (400, "model", post({"prompt": "a", "model": "model:skeleton-of-thought"})),
             (404, None, post({}, "/v1/none")), (405, None, server.get("/v1/completions")), (405, None, post({}, "/v1/models")), (404, "model", server.get("/v1/models/none"))]
    cases[0] = (400, None, post("{", headers={"Content-Type": "application/json"}))
    for wanted, param, (status, reply) in cases:
        error = reply.get("error", {})
        check(status == wanted and set(error) == {"message", "type", "param", "code"} and error["param"] == param and error["message"], f"expected {wanted} {param}: {status} {reply}")
    status, reply = post({"prompt": [5] * 9000})
    check(status == 400 and reply["error"]["code"] == "context_length_exceeded" and "maximum context length" in reply["error"]["message"], f"too long: {status} {reply}")
    status, reply = post(chat("word " * 9000), "/v1/chat/completions")
    check(status == 400 and reply["error"]["code"] == "context_length_exceeded", f"too long: {status} {reply}")
    status, headers, text = server.request("HEAD", "/health")
    check(status == 200 and text == b"", "HEAD")


def raw(server, data, pieces=1, wait=5.0):
    """What the server answers to these bytes, until it closes."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=wait) as connection:
        answer = b""
        try:
            size = -(-len(data) // pieces)
            for at in range(0, len(data), size):
                connection.sendall(data[at:at + size])
            while more := connection.recv(65536):
                answer += more
        except (TimeoutError, ConnectionError):
            pass
        return answer


def hostile(check, server):
    """Whatever bytes come, an answer of 4xx or a closed connection; the server lives."""
    body = json.dumps({"prompt": "Blue", "temperature": 0, "max_tokens": 2}).encode()
    head = b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    length = b"Content-Length: %d\r\n" % len(body)
    good = head + length + b"Connection: close\r\n\r\n" + body
    check(raw(server, good, pieces=len(good)).startswith(b"HTTP/1.1 200 "), "byte by byte")
    pipelined = raw(server, head + length + b"\r\n" + body + good)
    check(pipelined.count(b"HTTP/1.1 200 ") == 2, f"two requests at once: {pipelined[:300]}")
    chunked = b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    check(raw(server, head + chunked + b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)).startswith(b"HTTP/1.1 200 "), "a chunked body")
    check(raw(server, b"GET /health HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 200 "), "HTTP/1.0")
    stream = json.dumps({"prompt": "Blue", "temperature": 0, "max_tokens": 2, "stream": True}).encode()
    old = raw(server, head.replace(b"1.1", b"1.0") + b"Content-Length: %d\r\n\r\n" % len(stream) + stream)
    check(b"Transfer-Encoding" not in old and old.endswith(b"data: [DONE]\n\n"), f"a stream to HTTP/1.0: {old[-200:]}")
    bad = {
        "an extension of a chunk": head + chunked + b"%x;a=b\r\n%s\r\n0\r\n\r\n" % (len(body), body),
        "a body that is too large": head + b"Content-Length: 99999999999\r\n\r\n",
        "a length that is none": head + b"Content-Length: -5\r\n\r\n" + body,
        "two lengths": head + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n" + body,
        "10,000 headers": head + b"".join(b"X-%d: 1\r\n" % i for i in range(10000)) + length + b"\r\n" + body,
        "a long header": head + b"X: " + b"a" * 100000 + b"\r\n\r\n",
        "a long target": b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n\r\n",
        "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20,
        "line breaks in a field": b"GET /health HTTP/1.1\r\nHost: x\r\nX: a\rb\r\n\r\n",
        "a method that is none": b"FETCH /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        "a large chunked body": head + chunked + b"".join(b"100000\r\n" + b"a" * 0x100000 + b"\r\n" for _ in range(20)),
    }
    for name, data in bad.items():
        answer = raw(server, data)
        check(not answer or answer.startswith(b"HTTP/1.1 4"), f"{name}: {answer[:200]}")
        check(server.get("/health")[0] == 200, f"{name}: the server lives")
    deep = server.post("/v1/completions", '{"prompt": ' + "[" * 100000 + "]" * 100000 + "}", headers={"Content-Type": "application/json"})
    check(deep[0] == 400, f"deep JSON: {deep}")
    evil = "a\r\nX-Evil: 1\r\n\r\n"
    status, headers, text = server.request("POST", "/v1/completions", {"prompt": "a", "model": evil, evil: 1})
    check(status == 404 and "X-Evil" not in headers and json.loads(text), f"line breaks in a name: {status} {headers}")
    for early in (good[:-5], head, b"", good):  # the client goes before the end
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            connection.sendall(early)
    check(server.get("/health")[0] == 200, "the server lives")


def gone(check, server):
    """Who leaves costs nothing more: 60 long answers are given up, streamed or not, and one comes at once."""
    sockets = []
    for i in range(60):
        body = json.dumps({"prompt": "Blue", "max_tokens": 4000, "ignore_eos": True, "stream": i % 2 == 0}).encode()
        connection = socket.create_connection(("127.0.0.1", server.port))
        connection.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        sockets.append(connection)
    time.sleep(1)
    for connection in sockets:
        connection.close()
    begin = time.monotonic()
    status, _ = server.post("/v1/completions", {"prompt": "Blue", "max_tokens": 3})
    check(status == 200 and time.monotonic() - begin < 5, f"after the others left: {status}, {time.monotonic() - begin:.1f} s")
    after = metrics(server)
    check(after['pardec:request_success_total{finished_reason="abort"}'] >= 60 and after["pardec:num_requests_running"] == 0, f"given up: {after}")


def ends(check, pardec):
    """SIGTERM: what runs is answered whole, or broken off when the time is over."""
    long = {"prompt": "Blue", "max_tokens": 2000, "ignore_eos": True, "temperature": 0}
    with serving(pardec, "--model", QUICKSTART / "model", "--model-name", "net", "--batch-size", 1, "--queue", 1, "--drain", 300) as server, concurrent.futures.ThreadPoolExecutor(3) as pool:
        running = [pool.submit(server.stream, "/v1/completions", long)]
        time.sleep(0.3)
        running.append(pool.submit(server.stream, "/v1/completions", long))
        time.sleep(0.2)
        status, headers, text = server.request("POST", "/v1/completions", long)
        check(status == 503 and int(headers["Retry-After"]) > 0, f"a full queue: {status} {text}")
        code, said = server.end(timeout=300)
        check(code == 0 and "all requests were answered" in said, f"ended: {code} {said}")
        check([r.result()[-1] for r in running] == [None, None], "the streams are whole")
    with serving(pardec, "--model", QUICKSTART / "model", "--drain", 1) as server:
        with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
            body = json.dumps({**long, "max_tokens": 8000, "stream": True}).encode()
            connection.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            time.sleep(0.3)
            server.process.terminate()
            answer = b""
            while more := connection.recv(65536):
                answer += more
        code, said = server.wait()
        check(code == 3 and "broken off" in said, f"broken off: {code} {said}")
        last = answer.rstrip().rsplit(b"data: ", 1)[-1]
        check(not answer.endswith(b"0\r\n\r\n") and b"[DONE]" not in answer and "error" in json.loads(last), f"a stream that is broken off ends {answer[-200:]}")


def keys(check, pardec):
    """With a key, who does not send it learns nothing but that the server lives."""
    with serving(pardec, "--model", QUICKSTART / "model", "--key-env", "SERVE_KEY", env={"SERVE_KEY": "sesame-sesame"}) as server:
        body = {"prompt": "Blue", "max_tokens": 1}
        for sent in (None, "Bearer sesame", "Bearer sesame-sesame2", "Bearer sesame-sesamf", "sesame-sesame", "Basic sesame-sesame", "Bearer ", "Bearer sesame-sesamesesame-sesame"):
            status, _, text = server.request("POST", "/v1/completions", body, headers={"Authorization": sent} if sent else {})
            check(status == 401 and json.loads(text)["error"]["code"] == "invalid_api_key" and b"sesame" not in text, f"{sent}: {status} {text}")
        check([server.request("GET", path)[0] for path in ("/health", "/metrics", "/v1/models", "/none")] == [200, 401, 401, 401], "paths without a key")
        check(server.request("POST", "/v1/completions", body, headers={"Authorization": "Bearer sesame-sesame"})[0] == 200, "the key")
    ran = pardec("serve", "--model", QUICKSTART / "model", "--key-env", "NO_SUCH_KEY")
    check(ran.returncode == 2 and "NO_SUCH_KEY" in ran.stderr, f"no key in the environment: {ran.stderr}")


def slow_head(check, server):
    """A client that never ends its header is cut off after ten seconds, whatever drips in."""
    begin, closed = time.monotonic(), None
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        connection.sendall(b"POST /v1/completions HTTP/1.1\r\nX: ")
        while closed is None and time.monotonic() - begin < 30:
            try:
                connection.sendall(b"a")
                time.sleep(0.2)
            except OSError:
                closed = time.monotonic() - begin
    check(closed is not None and 9 < closed < 25, f"a header that never ends: closed after {closed} s")


def start_up(check, pardec):
    model = ("--model", QUICKSTART / "model")
    with serving(pardec, *model) as server:
        taken = pardec("serve", *model, "--listen", f"127.0.0.1:{server.port}")
        check(taken.returncode == 2 and "--listen" in taken.stderr and "in use" in taken.stderr, f"a port in use: {taken.stderr}")
    for args, said in ((("--listen", "here"), "--listen is 'here'"), (("--listen", "127.0.0.1:70000"), "--listen"), (("--decoder", "none"), "none"),
                       (("--alias", "x=ar,draft=1"), "draft"), (("--batch-size", 0), "--batch-size"), (("--decoder", "speculative"), "--draft-model"),
                       (("--draft-model", QUICKSTART / "draft"), "--draft-model")):
        ran = pardec("serve", *model, *args, timeout=60)
        check(ran.returncode == 2 and said in ran.stderr, f"{args}: {ran.returncode} {ran.stderr}")


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        with serving(pardec, "--model", QUICKSTART / "model", "--draft-model", QUICKSTART / "draft", "--decoder", ",".join([*DECODERS, "hpd"]), "--alias", "short=prompt-lookup,draft=3") as server:
            dripping = threading.Thread(target=slow_head, args=(check, server))
            dripping.start()
            status, models = server.get("/v1/models")
            ids = [m["id"] for m in models["data"]]
            check(ids == ["model", *(f"model:{d}" for d in DECODERS), "model:hpd", "short"], f"models: {ids}")
            check(all({"id", "object", "created", "owned_by", "root", "max_model_len"} <= set(m) for m in models["data"]), f"models: {models['data'][0]}")
            check(server.get("/v1/models/model:ar")[1]["id"] == "model:ar" and server.get("/v1/models/model")[1]["id"] == "model", "one model")
            reply = server.post("/v1/completions", {"prompt": "a", "model": "short", "max_tokens": 1, "new": 1})[1]
            check(reply["pardec"]["options"]["draft"] == 3 and reply["pardec"]["ignored"] == ["new"], f"an alias: {reply}")
            as_generate(check, pardec, server)
            plain_prompts(check, pardec, server)
            sampled(check, pardec, server)
            conversation(check, server)
            fields(check, pardec, server)
            texts(check, pardec, server)
            counted(check, server)
            refused(check, server)
            hostile(check, server)
            gone(check, server)
            dripping.join()
            code, said = server.end()
            check(code == 0, f"ended: {code} {said}")
        ends(check, pardec)
        keys(check, pardec)
        start_up(check, pardec)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
