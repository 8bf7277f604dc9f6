"""A chat service on loopback that makes faults: the first part of a request's path names the kind, the rest which interface is asked.

    with FaultServer() as server:
        base_url = f"{server.address}/reset-once/v1"

A call is known by the first word of its last message; what a kind does may depend on how often that call came. "KIND~1" is the same kind, counted by
itself. `server.seen` holds every request
that came whole: its kind, call, body, head, and what it was billed for (None: no answer was made).
"""
import asyncio
import contextlib
import json
import socket
import struct
import threading
import time

USAGE = {"prompt": 100, "cached": 40, "completion": 20, "reasoning": 5}
DATE = "Mon, 23 Nov 2026 12:00:00 GMT"
MODEL = "judge-1"


def usage_of(interface, usage):
    """The counts in an interface's words."""
    if interface == "chat":
        return {"prompt_tokens": usage["prompt"], "completion_tokens": usage["completion"], "total_tokens": usage["prompt"] + usage["completion"],
                "completion_tokens_details": {"reasoning_tokens": usage["reasoning"]}, "prompt_tokens_details": {"cached_tokens": usage["cached"]}}
    if interface == "messages":
        return {"input_tokens": usage["prompt"] - usage["cached"], "cache_read_input_tokens": usage["cached"], "cache_creation_input_tokens": 0,
                "output_tokens": usage["completion"], "output_tokens_details": {"thinking_tokens": usage["reasoning"]}}
    return {"input_tokens": usage["prompt"], "input_tokens_details": {"cached_tokens": usage["cached"], "cache_write_tokens": 0},
            "output_tokens": usage["completion"], "output_tokens_details": {"reasoning_tokens": usage["reasoning"]}, "total_tokens": 0}


def answer(interface, text, ended="stop", refusal=None, usage=USAGE):
    """A whole answer; `ended` in the words of openai-chat."""
    if interface == "chat":
        return {"id": "c1", "object": "chat.completion", "created": 1, "model": MODEL, "usage": usage_of(interface, usage),
                "choices": [{"index": 0, "finish_reason": ended, "logprobs": None, "message": {"role": "assistant", "content": text, "refusal": refusal}}]}
    if interface == "messages":
        stop = "refusal" if refusal else {"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}[ended]
        return {"id": "m1", "type": "message", "role": "assistant", "model": MODEL, "usage": usage_of(interface, usage), "stop_reason": stop, "stop_sequence": None,
                "stop_details": {"type": "refusal", "category": "bio", "explanation": refusal} if stop == "refusal" else None,
                "content": [{"type": "thinking", "thinking": "hm", "signature": ""}, {"type": "text", "text": text or ""}]}
    content = {"type": "refusal", "refusal": refusal} if refusal else {"type": "output_text", "text": text or "", "annotations": []}
    return {"id": "r1", "object": "response", "created_at": 1, "model": MODEL, "usage": usage_of(interface, usage), "error": None,
            "status": "completed" if ended == "stop" else "incomplete",
            "incomplete_details": None if ended == "stop" else {"reason": {"length": "max_output_tokens"}.get(ended, ended)},
            "output": [{"type": "reasoning", "id": "x", "summary": []},
                       {"type": "message", "id": "y", "role": "assistant", "status": "completed", "content": [content]}]}


def error(message, code=None, kind="invalid_request_error", param=None):
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def invalid(*place):
    """What llama-cpp-python 0.3.36 says of a request that its types do not take, with status 500."""
    found = {"type": "literal_error", "loc": ("body", *place), "msg": "Input should be 'text' or 'json_object'", "input": "json_schema", "ctx": {"expected": "'text' or 'json_object'"}}
    return error(f'1 validation error:\n  {found}\n\n  File "/site-packages/llama_cpp/server/app.py", line 447, in create_chat_completion\n    POST /v1/chat/completions',
                 kind="internal_server_error")


class Request:
    """One request, and the ways to answer it."""

    def __init__(self, writer, kind, interface, head, body, count, call, state):
        self.state = state
        self.writer, self.kind, self.interface, self.head, self.body, self.count, self.call = writer, kind, interface, head, body, count, call
        self.billed = None
        self.keep = True

    async def raw(self, data):
        self.writer.write(data)
        await self.writer.drain()

    def head_of(self, status, headers, length):
        lines = [f"HTTP/1.1 {status} X", f"Date: {DATE}", *(f"{k}: {v}" for k, v in headers.items())]
        if length is not None:
            lines.append(f"Content-Length: {length}")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    async def send(self, body, status=200, headers=None, length=None):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        await self.raw(self.head_of(status, {"Content-Type": "application/json", "x-request-id": f"req-{self.call}-{self.count}", **(headers or {})},
                                    len(data) if length is None else length) + data)

    async def good(self, text=None, usage=USAGE, **options):
        self.billed = usage
        await self.send(answer(self.interface, f"verdict of {self.call}" if text is None else text, usage=usage, **options))

    def cut(self, reset=True):
        if reset:
            self.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.writer.transport.abort()
        else:
            self.writer.close()
        self.keep = False


KINDS = {}


def kind(function):
    KINDS[function.__name__.replace("_", "-")] = function
    return function


def once(name, times=1):
    """A kind that makes the fault for the first requests of a call, and answers then."""
    def wrap(function):
        async def fault_then_good(request):
            await (function(request) if request.count <= times else request.good())
        KINDS[name] = function
        KINDS[f"{name}-once"] = fault_then_good
        return function
    return wrap


def status_kinds():
    limit = error("slow down", "rate_limit_exceeded", "rate_limit_error")
    for name, status, headers, body in (
            ("429-seconds", 429, {"Retry-After": "2"}, limit), ("429-fraction", 429, {"Retry-After": "1.5"}, limit),
            ("429-ms", 429, {"Retry-After-Ms": "1250", "Retry-After": "60"}, limit),
            ("429-date", 429, {"Retry-After": "Mon, 23 Nov 2026 12:00:07 GMT"}, limit),
            ("429-reset", 429, {"x-ratelimit-reset-requests": "1s", "x-ratelimit-reset-tokens": "1m30s"}, limit),
            ("429-reset-ms", 429, {"x-ratelimit-reset-tokens": "120ms"}, limit),
            ("429-anthropic", 429, {"anthropic-ratelimit-requests-reset": "2026-11-23T12:00:03Z", "anthropic-ratelimit-tokens-reset": "2026-11-23T12:00:09Z"}, limit),
            ("429-epoch", 429, {"x-ratelimit-reset": str(1795435200 + 4)}, limit),
            ("429-azure", 429, {"x-ratelimit-reset-requests": "-1", "x-ratelimit-limit-requests": "-1"}, limit),
            ("429-garbage", 429, {"Retry-After": "soon"}, limit), ("429-zero", 429, {"Retry-After": "0"}, limit), ("429-bare", 429, {}, limit),
            ("429-long", 429, {"Retry-After": "600"}, limit), ("429-no", 429, {"x-should-retry": "false", "Retry-After": "1"}, limit),
            ("408", 408, {}, error("late")), ("409", 409, {}, error("lock")), ("500", 500, {}, error("oh", kind="server_error")),
            ("500-text", 500, {"Content-Type": "text/plain"}, b"Internal Server Error"),
            ("500-no", 500, {"x-should-retry": "false"}, error("oh")), ("502", 502, {}, b"<html>bad gateway"),
            ("503", 503, {"Retry-After": "3"}, error("busy")), ("504", 504, {}, b"gateway timeout"),
            ("529", 529, {}, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
            ("400-again", 400, {"x-should-retry": "true"}, error("perhaps")),
            ("413", 413, {}, error("too large")), ("418", 418, {}, b"teapot"),
            ("400-long-prompt", 400, {}, error("This model's maximum context length is 8192 tokens", "context_length_exceeded", param="messages")),
            ("400-filter", 400, {}, error("filtered", "content_filter")), ("400-other", 400, {}, error("no such thing")),
            ("401", 401, {}, error("Incorrect API key", "invalid_api_key")), ("403", 403, {}, error("not yours")),
            ("404", 404, {}, error("no such model", "model_not_found")),
            ("402", 402, {}, error("pay")), ("quota", 429, {"Retry-After": "1"}, error("no credit", "credit_balance_exhausted", "insufficient_quota")),
            ("quota-old", 429, {}, error("no credit", "insufficient_quota", "insufficient_quota")),
            ("quota-anthropic", 400, {}, {"type": "error", "error": {"type": "invalid_request_error", "message": "limit", "details": {"error_code": "enforced_spend_limit_reached"}}}),
            ("parameter", 400, {}, error("Unsupported value", "unsupported_value", param="temperature")),
            ("parameter-message", 400, {}, {"type": "error", "error": {"type": "invalid_request_error", "message": "temperature: not supported by this model"}}),
            ("parameter-fastapi", 422, {}, {"detail": [{"loc": ["body", "temperature"], "msg": "bad", "type": "value_error"}]}),
            ("parameter-500", 500, {}, invalid("temperature")), ("invalid-500", 500, {}, invalid("messages")),
            ("token-limit", 400, {}, error("Unsupported parameter: 'max_completion_tokens'", "unsupported_parameter", param="max_completion_tokens")),
            ("redirect", 307, {"Location": "/good/v1/chat/completions"}, b""), ("redirect-301", 301, {"Location": "http://example.invalid/"}, b"")):
        def make(status=status, headers=headers, body=body):
            async def answered(request):
                await request.send(body, status, headers)
            return answered
        once(name)(make())


status_kinds()


@kind
async def good(request):
    await request.good()


@kind
async def slow(request):
    await asyncio.sleep(0.15)
    await request.good()


@kind
async def early_head(request):
    """The head comes at once, the reply when it is made."""
    data = json.dumps(answer(request.interface, "after the head")).encode()
    request.billed = USAGE
    await request.raw(request.head_of(200, {}, len(data)))
    await asyncio.sleep(0.3)
    await request.raw(data)


@kind
async def fifty_ms(request):
    await asyncio.sleep(0.05)
    await request.good()


@kind
async def fifty_ms_grade(request):
    """What a judge says of one answer, as long as judges are."""
    await asyncio.sleep(0.05)
    await request.good(text=json.dumps({"explanation": "It says what was asked, and why. " * 40, "score": 7}))


@once("never")
async def never(request):
    request.keep = False
    await asyncio.sleep(30)


@once("stalled")
async def stalled(request):
    data = json.dumps(answer(request.interface, "half")).encode()
    await request.raw(request.head_of(200, {}, len(data)) + data[:50])
    request.keep = False
    await asyncio.sleep(30)


@kind
async def drip(request):
    request.keep = False
    await request.raw(request.head_of(200, {}, 1000))
    with contextlib.suppress(ConnectionError):
        for _ in range(1000):
            await request.raw(b" ")
            await asyncio.sleep(0.05)


@kind
async def drip_good(request):
    data = json.dumps(answer(request.interface, "drops")).encode()
    request.billed = USAGE
    await request.raw(request.head_of(200, {}, len(data)))
    for at in range(0, len(data), 40):
        await request.raw(data[at:at + 40])
        await asyncio.sleep(0.005)


@once("reset")
async def reset(request):
    request.cut()


@once("close")
async def close(request):
    request.cut(reset=False)


@once("reset-mid-body")
async def reset_mid_body(request):
    data = json.dumps(answer(request.interface, "half")).encode()
    await request.raw(request.head_of(200, {}, len(data)) + data[:100])
    await asyncio.sleep(0.02)
    request.cut()


@kind
async def good_then_close(request):
    """The second request on a kept connection finds it closed after it was read."""
    if request.call == "call-0":
        return await request.good()
    await (request.good() if request.count > 1 else reset(request))


@once("too-long-length")
async def too_long_length(request):
    data = json.dumps(answer(request.interface, "short")).encode()
    await request.send(data, length=len(data) + 10)
    request.cut(reset=False)


@once("too-short-length")
async def too_short_length(request):
    data = json.dumps(answer(request.interface, "short")).encode()
    await request.send(data, length=len(data) - 10)
    request.cut(reset=False)


@once("truncated-json")
async def truncated_json(request):
    await request.send(json.dumps(answer(request.interface, "short")).encode()[:-7])


@once("wrong-shape")
async def wrong_shape(request):
    await request.send({"result": "fine", "score": 10})


@once("wrong-types")
async def wrong_types(request):
    await request.send({"choices": [{"message": "text", "finish_reason": 7}], "content": 3, "output": {}, "usage": [1], "model": {}})


@once("array")
async def array(request):
    await request.send([1, 2, 3])


@once("nothing")
async def nothing(request):
    await request.send(b"")


@once("html")
async def html(request):
    await request.send(b"<html><body>Sign in to the network</body></html>", headers={"Content-Type": "text/html"})


@once("deep")
async def deep(request):
    await request.send(b"[" * 20000)


@kind
async def latin_1(request):
    request.billed = USAGE
    await request.send(json.dumps(answer(request.interface, "d\u00e9j\u00e0 vu"), ensure_ascii=False).encode("latin-1"), headers={"Content-Type": "application/json; charset=iso-8859-1"})


@kind
async def ten_megabytes(request):
    with contextlib.suppress(ConnectionError):
        await request.send(answer(request.interface, "x" * 10_000_000))
    request.keep = False


@kind
async def endless_head(request):
    request.keep = False
    with contextlib.suppress(ConnectionError):
        await request.raw(b"HTTP/1.1 200 OK\r\n")
        for i in range(100_000):
            await request.raw(b"X-%d: %s\r\n" % (i, b"y" * 1000))


@once("garbage")
async def garbage(request):
    await request.raw(b"\x00\xff\x13 no HTTP at all \r\n\r\n")
    request.cut(reset=False)


@kind
async def chunked(request):
    data = json.dumps(answer(request.interface, "in pieces")).encode()
    request.billed = USAGE
    await request.raw(request.head_of(200, {"Transfer-Encoding": "chunked"}, None))
    for at in range(0, len(data), 64):
        piece = data[at:at + 64]
        await request.raw(b"%x\r\n%s\r\n" % (len(piece), piece))
    await request.raw(b"0\r\n\r\n")


@once("bad-chunk")
async def bad_chunk(request):
    await request.raw(request.head_of(200, {"Transfer-Encoding": "chunked"}, None) + b"zz\r\nno chunk\r\n")
    request.cut(reset=False)


@kind
async def without_length(request):
    request.billed = USAGE
    await request.raw(b"HTTP/1.0 200 OK\r\n\r\n" + json.dumps(answer(request.interface, "to the end")).encode())
    request.cut(reset=False)


@kind
async def interim(request):
    await request.raw(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n")
    await request.good()


@once("error-in-200")
async def error_in_200(request):
    await request.send(error("upstream died", kind="server_error"))


@once("error-text-in-200")
async def error_text_in_200(request):
    await request.send({"error": "model runner has stopped"})


@once("limit-in-200")
async def limit_in_200(request):
    await request.send({"error": {"message": "rate", "code": 429}}, headers={"Retry-After": "2"})


@kind
async def quota_in_200(request):
    await request.send(error("no credit", "insufficient_quota"))


@once("finish-error")
async def finish_error(request):
    request.billed = USAGE
    body = answer("chat", "half an ans")
    body["choices"][0]["finish_reason"] = "error"
    await request.send(body)


@once("no-choices")
async def no_choices(request):
    await request.send({**answer("chat", ""), "choices": [], "usage": None})


@once("null-choices")
async def null_choices(request):
    await request.send({**answer("chat", ""), "choices": None, "usage": None})


@once("null-message")
async def null_message(request):
    await request.send({**answer("chat", ""), "choices": [{"index": 0, "finish_reason": "stop", "message": None}], "usage": None})


@kind
async def length(request):
    await request.good(text='{"verdict": "half', ended="length")


@kind
async def length_and_refusal(request):
    await request.good(text="", ended="length", refusal="I can't judge this")


@kind
async def empty(request):
    await request.good(text=" \n")


@kind
async def null_content(request):
    request.billed = USAGE
    body = answer("chat", None)
    body["choices"][0]["message"]["reasoning_content"] = "long thoughts"
    await request.send(body)


@kind
async def unclosed_think(request):
    await request.good(text="<think>is it A? or is it B? [[A]]")


@kind
async def think(request):
    await request.good(text="<think>is it A? [[A]]</think>\n\nIt is [[B]].")


@kind
async def think_opened_before(request):
    await request.good(text="is it A? [[A]]</think>\n\nIt is [[B]].")


@kind
async def refusal(request):
    await request.good(text=None if request.interface == "chat" else "", refusal="I can't judge this")


@kind
async def content_filter(request):
    await request.good(text="", ended="content_filter")


@kind
async def no_usage(request):
    body = answer(request.interface, "not counted")
    body["usage"] = None
    request.billed = USAGE
    await request.send(body)


@kind
async def absurd_usage(request):
    body = answer(request.interface, "counted by a fool")
    body["usage"] = {"prompt_tokens": 1e300, "completion_tokens": -5, "input_tokens": "many", "output_tokens": 1e300}
    request.billed = USAGE
    await request.send(body)


@kind
async def parts(request):
    body = answer("chat", "")
    body["choices"][0]["message"]["content"] = [{"type": "text", "text": "in "}, {"type": "text", "text": "parts"}]
    request.billed = USAGE
    await request.send(body)


@kind
async def hostile(request):
    """Text that would like to be something else."""
    await request.good(text="\x1b]0;owned\x07\x1b[2J<script>alert(1)</script>'; DROP TABLE judgment; --\u202e [[A]]")


@kind
async def echo_key(request):
    """The key, wherever a service can put it."""
    key = request.head.get("authorization", request.head.get("api-key", request.head.get("x-api-key", ""))).removeprefix("Bearer ")
    if request.count == 1:
        return await request.send({"error": {"message": f"no: {key}", "type": key, "code": None}}, 500, {"x-request-id": f"id-{key}"})
    if request.count == 2:
        return await request.send(b"not JSON " + key.encode() + b" or so, cut at " + key.encode()[:-1], headers={"x-request-id": key})
    request.billed = USAGE
    await request.send({**answer(request.interface, f"your key is {key}."), "model": key}, headers={"request-id": key})


@kind
async def echo_key_401(request):
    await request.send(error(f"Incorrect API key provided: {request.head.get('authorization', '')}"), 401)


@kind
async def echo_key_often(request):
    """Wherever this is cut, a part of the key is left."""
    await request.send(error(request.head.get("authorization", "")[7:] * 40), 400, {"x-request-id": request.head.get("authorization", "")[7:] * 40})


@kind
async def echo_key_redirect(request):
    await request.send(b"", 302, {"Location": f"http://elsewhere/{request.head.get('authorization', '')[7:]}"})


def format_of(request):
    """Which form of reply is asked for."""
    body = request.body
    found = body.get("response_format") or (body.get("text") or {}).get("format") or (body.get("output_config") or {}).get("format")
    return found["type"] + ("+schema" if found["type"] == "json_object" and "schema" in found else "") if found else "text"


@kind
async def only_schema_in_object(request):
    if format_of(request) == "json_schema":
        return await request.send(invalid("response_format", "type"), 500)
    await request.good(text='{"verdict": "A"}')


@kind
async def only_json_object(request):
    if format_of(request) in ("json_schema", "json_object+schema"):
        return await request.send(error("response_format.type must be json_object or text", param="response_format"), 400)
    await request.good(text='{"verdict": "A"}')


@kind
async def only_text(request):
    if format_of(request) != "text":
        return await request.send({"error": "'response_format' is not supported; json_schema or json_object cannot be used"}, 400)
    await request.good(text='{"verdict": "A"}')


@kind
async def four_at_a_time(request):
    """Limits more than four at a time; the highest count that was let in is kept."""
    state = request.state
    if state["now"] >= 4:
        return await request.send(error("slow down", "rate_limit_exceeded"), 429, {"Retry-After-Ms": "20"})
    state["now"] += 1
    state["most"] = max(state["most"], state["now"])
    try:
        await asyncio.sleep(0.01)
        await request.good()
    finally:
        state["now"] -= 1


@kind
async def limited_at_first(request):
    request.state["first"] += 1
    if request.state["first"] <= 3:
        return await request.send(error("slow down", "rate_limit_exceeded"), 429, {"Retry-After-Ms": "5"})
    await asyncio.sleep(0.005)
    await request.good()


class FaultServer:
    """Runs in a thread of its own while the context lasts."""

    def __init__(self, remember=True):
        self.seen, self.counts, self.state, self.remember = [], {}, {"now": 0, "most": 0, "first": 0}, remember
        self.loop = asyncio.new_event_loop()

    def __enter__(self):
        ready = threading.Event()

        async def start():
            self.server = await asyncio.start_server(self.connection, "127.0.0.1", 0, limit=1 << 24)
            self.port = self.server.sockets[0].getsockname()[1]
            self.address = f"http://127.0.0.1:{self.port}"
            ready.set()

        def run():
            asyncio.set_event_loop(self.loop)
            self.loop.create_task(start())
            self.loop.run_forever()

        self.thread = threading.Thread(target=run, daemon=True)
        self.thread.start()
        if not ready.wait(30):
            raise RuntimeError("the fault server did not start")
        return self

    def __exit__(self, *_):
        def stop():
            for task in asyncio.all_tasks(self.loop):
                task.cancel()
            self.loop.call_later(0.05, self.loop.stop)
        self.loop.call_soon_threadsafe(stop)
        self.thread.join(10)

    async def connection(self, reader, writer):
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while await self.one(reader, writer):
                pass
        with contextlib.suppress(ConnectionError, RuntimeError):
            writer.close()

    async def one(self, reader, writer):
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        fields = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines if line)}
        data = await reader.readexactly(int(fields.get("content-length", 0)))
        body = json.loads(data)
        method, path, _ = first.split(" ")
        segment = path.split("/")[1]
        kind_name = segment.split("~")[0]
        tail = path.rsplit("/", 1)[1]
        interface = {"completions": "chat", "messages": "messages", "responses": "responses"}[tail]
        messages = body.get("messages") or body.get("input")
        call = messages[-1]["content"].split()[0]
        count = self.counts[segment, call] = self.counts.get((segment, call), 0) + 1
        request = Request(writer, kind_name, interface, fields, body, count, call, self.state)
        record = {"kind": kind_name, "call": call, "count": count, "method": method, "path": path, "port": writer.get_extra_info("peername")[1], "head": fields, "body": body, "at": time.monotonic(), "request": request}
        if self.remember:
            self.seen.append(record)
        await KINDS[kind_name](request)
        return request.keep


if __name__ == "__main__":
    with FaultServer(remember=False) as server:
        print(server.address, flush=True)
        threading.Event().wait()
