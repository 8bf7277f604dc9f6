"""Calls to a service that makes every fault: each ends in the right state, is asked again only where that helps, and costs what the ledger says.

Usage: faults_test.py PROBE

Truth: what the server saw, and what it was asked to do (fault_server.py). Waits between attempts are a thousandth of what they say.
"""
import concurrent.futures
import contextlib
import itertools
import json
import os
import pathlib
import resource
import socket
import ssl
import subprocess
import sys
import tempfile
import threading

from fault_server import FaultServer

KEY = "sk-test-0123456789-abcdef"
COST = 0.12  # of an answer: 60 tokens at 1000, 40 cached ones at 500, 20 of the reply at 2000 a million
RETRIES = 2
PATIENCE = {"connect": 10, "first_byte": 30, "stalled": 30, "total": 60}  # other tests may have the machine
HASTE = {"first_byte": 0.5, "stalled": 0.5, "total": 1}  # where the deadlines are what is tested
ASKED = ["json_schema", "json_object+schema", "json_object", "text"]

# kind: state, attempts, how many of them have an unknown outcome, seconds waited before the second
FAULTS = {
    **{kind: ("answered", 1, 0) for kind in ("good", "slow", "drip-good", "chunked", "without-length", "interim", "latin-1", "parts", "hostile", "no-usage",
                                             "absurd-usage", "think", "think-opened-before")},
    # what may pass, once: asked again
    **{f"{kind}-once": ("answered", 2, 1) for kind in (
        "never", "stalled", "reset", "close", "reset-mid-body", "too-long-length", "too-short-length", "truncated-json", "wrong-shape", "wrong-types", "array",
        "nothing", "html", "deep", "garbage", "bad-chunk", "error-in-200", "error-text-in-200", "no-choices", "null-choices", "null-message", "502", "504")},
    **{f"{kind}-once": ("answered", 2, 0) for kind in ("408", "409", "500", "500-text", "529", "finish-error", "400-again", "429-bare", "429-garbage", "429-zero", "429-azure")},
    **{f"{kind}-once": ("answered", 2, 0, wait) for kind, wait in (
        ("429-seconds", 2), ("429-fraction", 1.5), ("429-ms", 1.25), ("429-date", 7), ("429-reset", 90), ("429-reset-ms", 0.12), ("429-anthropic", 9), ("429-epoch", 4), ("503", 3))},
    "limit-in-200-once": ("answered", 2, 1, 2),
    # the same without end: given up; what was perhaps paid for is not asked without end
    **{kind: ("failed", 1 + RETRIES, 1 + RETRIES) for kind in (
        "never", "stalled", "drip", "reset", "close", "reset-mid-body", "too-long-length", "truncated-json", "html", "garbage", "error-in-200", "no-choices", "502")},
    **{kind: ("failed", 1 + RETRIES, 0) for kind in ("408", "409", "500", "500-text", "finish-error", "400-again")},
    # what does not pass: not asked again
    **{kind: ("failed", 1, 1) for kind in ("ten-megabytes", "endless-head")},
    **{kind: ("failed", 1, 0) for kind in ("413", "418", "400-other", "500-no", "invalid-500")},
    **{kind: ("refused", 1, 0) for kind in ("refusal", "content-filter", "400-filter", "length-and-refusal")},
    **{kind: ("cut short", 1, 0) for kind in ("length", "empty", "null-content", "unclosed-think", "400-long-prompt")},
}
# kind: attempts, words of why the run was stopped
STOPS = {
    "429-long": (1, "asks to wait 600 s"), "429-no": (1, "not to ask again"), "429-bare": (1 + RETRIES, "too many requests"), "529": (1 + RETRIES, "too many requests"),
    **{kind: (1, "no quota left") for kind in ("quota", "quota-old", "quota-anthropic", "quota-in-200", "402")},
    "401": (1, "a key is asked for"), "403": (1, "a key is asked for"), "404": (1, "model's name is wrong"),
    **{kind: (1, "'parameters.temperature' was refused") for kind in ("parameter", "parameter-message", "parameter-fastapi", "parameter-500")},
    "token-limit": (1, "'token_limit' was refused"), "only-text": (1, "'formats' was refused"),
    "redirect": (1, "redirects are not followed"), "redirect-301": (1, "redirects are not followed"),
}
PATHS = {"openai-chat": "/chat/completions", "anthropic-messages": "/messages", "openai-responses": "/responses"}


class Checks:
    def __init__(self):
        self.passed, self.failed = 0, []

    def __call__(self, good, what):
        if good:
            self.passed += 1
        else:
            self.failed.append(what)
            print(what)


class Ran:
    """What the probe said."""

    def __init__(self, process):
        self.process, self.text = process, process.stdout + process.stderr
        self.events = [json.loads(line) for line in process.stdout.splitlines()]
        self.end = self.events[-1] if self.events and self.events[-1]["event"] == "end" else None
        self.sending = [e for e in self.events if e["event"] == "sending"]
        self.settled = [e for e in self.events if e["event"] == "settled"]
        self.replies = {e["key"]: e for e in self.events if e["event"] == "replied"}

    def at_a_time(self):
        """How many are under way, with each that is sent."""
        now, counts = 0, []
        for event in self.events:
            now += {"sending": 1, "settled": -1}.get(event["event"], 0)
            if event["event"] == "sending":
                counts.append(now)
        return counts


class Probe:
    def __init__(self, path, folder):
        self.path, self.folder, self.numbers, self.count = path, pathlib.Path(folder), itertools.count(1), 0

    def __call__(self, base_url, calls=1, schema=True, options=None, prompt="which is better?", env=None, **changes):
        count = self.count = next(self.numbers)
        file = self.folder / f"service-{count}-{base_url.split('/')[3]}.json"
        spec = {"interface": "openai-chat", "base_url": base_url.replace("/v1", f"~{count}/v1"), "model": "m", "parameters": {"temperature": 0}, "concurrency": 4, "retries": RETRIES,
                "prices": {"input": 1000, "cached_input": 500, "output": 2000}, "deadlines": PATIENCE, **changes}
        file.write_text(json.dumps(spec, indent=1))
        lines = [{"key": f"call-{i}", "messages": [["system", "You judge."], ["user", f"call-{i} {prompt}"]], "max_tokens": 50,
                  **({"schema": {"type": "object", "properties": {"verdict": {"type": "string"}}, "required": ["verdict"], "additionalProperties": False}} if schema else {})}
                 for i in range(calls)]
        environment = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
        return Ran(subprocess.run([self.path, json.dumps({"service": str(file), "wait_scale": 0.001, **(options or {})})], input="".join(json.dumps(line) + "\n" for line in lines),
                                  capture_output=True, text=True, timeout=60, env={**environment, **(env or {})}))


def near(a, b):
    return abs(a - b) < 1e-9


def ledger(check, what, ran, seen):
    """The ledger's sums, and that it has what the server saw."""
    if not ran.end:
        return check(False, f"{what}: no end: {ran.process.returncode} {ran.text[-500:]}")
    check([(e["key"], e["number"]) for e in ran.sending] == sorted({(e["key"], e["number"]) for e in ran.sending}, key=[(e["key"], e["number"]) for e in ran.sending].index),
          f"{what}: an attempt is sent once")
    check(sorted((e["key"], e["number"]) for e in ran.sending) == sorted((e["key"], e["number"]) for e in ran.settled), f"{what}: each attempt is settled")
    check(sorted((e["key"], e["number"]) for e in ran.sending) == sorted((s["call"], s["count"]) for s in seen), f"{what}: the server saw {len(seen)}, the ledger has {len(ran.sending)}")
    known = [e for e in ran.settled if not e["unknown"]]
    check(near(ran.end["money"], sum(e["cost"] for e in known)) and near(ran.end["possible_money"], sum(e["cost"] for e in ran.settled if e["unknown"])), f"{what}: sums: {ran.end}")
    for key, reply in ran.replies.items():
        check(near(reply["cost"], sum(e["cost"] for e in known if e["key"] == key)) and reply["attempts"] == sum(e["key"] == key for e in ran.settled), f"{what}: the reply's own: {reply}")
    # What the server billed is known to the cent, or lies under what is perhaps spent.
    billed = {(s["call"], s["count"]) for s in seen if s["request"].billed}
    for e in ran.settled:
        was = (e["key"], e["number"]) in billed
        reserved = was and (e["usage"][0] < 0 or "-usage" in what)  # what a reply without a count costs is what was reserved for it
        check(e["unknown"] or (e["cost"] >= COST if reserved else near(e["cost"], COST if was else 0)), f"{what}: billed {was}: {e}")


def each_fault(check, probe, server):
    def run(kind):
        late = kind.removesuffix("-once") in ("drip", "never", "stalled")
        return kind, probe(f"{server.address}/{kind}/v1", body_cap=1 << 20, deadlines=HASTE if late else PATIENCE)

    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        ran = dict(pool.map(run, sorted({*FAULTS, *STOPS}, key=lambda kind: kind not in ("drip", "never", "stalled"))))
    for kind, (state, attempts, unknown, *waited) in FAULTS.items():
        if kind in STOPS:
            continue
        result, seen = ran[kind], [s for s in server.seen if s["kind"] == kind]
        ledger(check, kind, result, seen)
        reply = result.replies.get("call-0", {})
        check(reply.get("state") == state and reply["attempts"] == attempts, f"{kind}: expected {state} after {attempts}: {reply} {result.text[-300:]}")
        check(sum(e["unknown"] for e in result.settled) == unknown, f"{kind}: {unknown} are unknown: {result.settled}")
        check(result.end and result.end["stopped"] == "", f"{kind}: goes on: {result.end}")
        check((reply.get("reason") == "") == (state == "answered"), f"{kind}: a reason: {reply}")
        check(all(e["error"] for e in result.settled[:-1]) and bool(result.settled[-1]["error"]) == (state == "failed" or kind in ("400-filter", "400-long-prompt")), f"{kind}: errors of attempts: {result.settled}")
        check(not waited or near(result.settled[1]["waited"], waited[0]), f"{kind}: waited {[e['waited'] for e in result.settled]}, expected {waited}")
        check(attempts == 1 or waited or all(0 < e["waited"] <= 8 for e in result.settled[1:]), f"{kind}: backs off: {[e['waited'] for e in result.settled]}")
    for kind, (attempts, words) in STOPS.items():
        result, seen = ran[kind], [s for s in server.seen if s["kind"] == kind]
        ledger(check, kind, result, seen)
        check(result.end and words in result.end["stopped"], f"{kind}: stops with '{words}': {result.text[-600:]}")
        check(len(result.settled) == attempts and not result.replies, f"{kind}: {attempts} attempts, no reply: {result.events}")
    check(":6: m at http://127.0.0.1" in ran["parameter"].end["stopped"], f"a refused parameter's line: {ran['parameter'].end}")
    check(not [s for s in server.seen if s["kind"] == "good" and s["call"] != "call-0"] and len([s for s in server.seen if s["kind"] == "good"]) == 1, "a redirect was followed")

    texts = {"good": "verdict of call-0", "latin-1": "d\ufffdj\ufffd vu", "parts": "in parts", "think": "It is [[B]].", "think-opened-before": "It is [[B]].", "drip-good": "drops",
             "length": '{"verdict": "half', "length-and-refusal": "I can't judge this", "refusal": "I can't judge this", "without-length": "to the end",
             "hostile": "\x1b]0;owned\x07\x1b[2J<script>alert(1)</script>'; DROP TABLE judgment; --\u202e [[A]]"}
    for kind, text in texts.items():
        check(ran[kind].replies["call-0"]["text"] == text, f"{kind}: says {text!r}: {ran[kind].replies['call-0']}")
    check(ran["refusal"].replies["call-0"]["reason"] == "refused: I can't judge this", "a refusal's words are the reason")
    good = ran["good"].settled[0]
    check(good["usage"] == [100, 20, 5, 40] and good["request_id"] == "req-call-0-1" and good["status"] == 200, f"what is noted of an answer: {good}")
    check("x" * 100 in ran["ten-megabytes"].settled[0]["body"] and len(ran["ten-megabytes"].settled[0]["body"]) == 64 << 10, "the beginning of what was too long is kept")
    check("Sign in to the network" in ran["html"].settled[0]["body"], "what could not be read is kept")
    for request in server.seen:
        check(request["method"] == "POST" and not {"expect", "accept-encoding", "cookie"} & set(request["head"]), f"a request's head: {request['head']}")
    print(f"{len({*FAULTS, *STOPS})} kinds of faults and answers")


def each_interface(check, probe, server):
    kinds = {"good": "answered", "refusal": "refused", "length": "cut short", "empty": "cut short", "content-filter": "refused", "no-usage": "answered",
             "truncated-json-once": "answered", "wrong-types-once": "answered", "array-once": "answered", "429-anthropic-once": "answered", "529-once": "answered", "quota-anthropic": None}
    for interface in ("anthropic-messages", "openai-responses"):
        for kind, state in kinds.items():
            before = len(server.seen)
            ran = probe(f"{server.address}/{kind}/v1", interface=interface)
            ledger(check, f"{interface} {kind}", ran, server.seen[before:])
            check(ran.replies.get("call-0", {"state": None})["state"] == state, f"{interface} {kind}: expected {state}: {ran.text}")
            check(kind != "refusal" or ran.replies["call-0"]["reason"].endswith(": I can't judge this"), f"{interface}: a refusal's words: {ran.text}")
            check(all(s["path"] == f"/{kind}~{probe.count}/v1{PATHS[interface]}" for s in server.seen[before:]), f"{interface}: asks {server.seen[-1]['path']}")
        check(near(probe(f"{server.address}/good/v1", interface=interface).end["money"], COST), f"{interface}: what it costs")
    check(server.seen[-1]["body"]["store"] is False and "anthropic-version" not in server.seen[-1]["head"], "responses are not stored")


def connections(check, probe, server):
    before = len(server.seen)
    ran = probe(f"{server.address}/good-then-close/v1", calls=2, concurrency=1)
    seen = server.seen[before:]
    ledger(check, "a kept connection that breaks", ran, seen)
    check(len(seen) == 3 and seen[0]["port"] == seen[1]["port"] != seen[2]["port"], f"it was kept, and the request went out once: {[(s['call'], s['port']) for s in seen]}")
    check([r["state"] for r in ran.replies.values()] == ["answered"] * 2 and sum(e["unknown"] for e in ran.settled) == 1, f"a kept connection that breaks: {ran.settled}")
    ran = probe(f"{server.address}/early-head/v1", deadlines={"stalled": 0.1})
    check(ran.replies["call-0"]["text"] == "after the head", f"a head is no stalled reply: {ran.settled}")
    ran = probe(f"{server.address}/good/v1", env={"http_proxy": "http://127.0.0.1:9", "ALL_PROXY": "http://127.0.0.1:9"})
    check(ran.replies, f"no proxy stands between the program and its own machine: {ran.text}")
    ran = strangers_certificate(probe)
    check("cannot be reached" in ran.end["stopped"] and "certificate" in ran.end["stopped"] and not any(e["unknown"] for e in ran.settled), f"a certificate that nobody signed: {ran.text}")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        ran = probe(f"http://127.0.0.1:{free.getsockname()[1]}/good/v1")
    check("cannot be reached" in ran.end["stopped"] and len(ran.settled) == 1 + RETRIES, f"nobody listens: {ran.text}")
    check(not any(e["unknown"] or e["cost"] for e in ran.settled) and ran.end["possible_money"] == 0, "what was not sent costs nothing")
    ran = probe("http://no-such-host.invalid/good/v1", retries=0)
    check("cannot be reached" in ran.end["stopped"], f"no such host: {ran.text}")


def strangers_certificate(probe):
    """A call to a TLS server whose certificate is signed by itself."""
    files = [str(probe.folder / name) for name in ("cert.pem", "key.pem")]
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=localhost", "-days", "2", "-out", files[0], "-keyout", files[1]],
                   check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*files)
    with socket.create_server(("127.0.0.1", 0)) as listening, context.wrap_socket(listening, server_side=True) as secure:
        def accept():
            with contextlib.suppress(OSError):
                secure.accept()
        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        ran = probe(f"https://127.0.0.1:{secure.getsockname()[1]}/good/v1", retries=0)
        thread.join(10)
    return ran


def limits(check, probe, server):
    before = len(server.seen)
    ran = probe(f"{server.address}/four-at-a-time/v1", calls=60, concurrency=16, retries=20)
    ledger(check, "four at a time", ran, server.seen[before:])
    refused = sum(e["status"] == 429 for e in ran.settled)
    check(len(ran.replies) == 60 and all(r["state"] == "answered" for r in ran.replies.values()), f"four at a time: all are answered: {ran.end}")
    check(refused < 60 and max(ran.at_a_time()) <= 16, f"four at a time: {refused} were refused")
    ran = probe(f"{server.address}/limited-at-first/v1", calls=250, concurrency=16)
    check(len(ran.replies) == 250, f"limited at first: {ran.end}")
    counts = ran.at_a_time()
    limited = next(i for i, e in enumerate(ran.events) if e.get("status") == 429)
    before = sum(e["event"] == "sending" for e in ran.events[:limited])
    check(max(counts[:16]) == 16 and max(counts[before:before + 8]) <= 9 and max(counts[-30:]) >= 15, f"limited at first: fewer at a time, then more: {counts}")
    ran = probe(f"{server.address}/500/v1", calls=60, retries=0)
    check("the last 20 calls all failed" in ran.end["stopped"] and 20 <= len(ran.replies) <= 24, f"a service that is broken is not asked on: {ran.end}, {len(ran.replies)}")


def budgets(check, probe, server):
    """Nothing is sent that could cost more than is left."""
    def most(ran, spent=0.0):
        """The highest sum of what was spent, perhaps spent and reserved."""
        sums, total, highest = {}, spent, spent
        for e in ran.events:
            if e["event"] in ("sending", "settled"):
                total += e["cost"] - sums.get((e["key"], e["number"]), 0)
                sums[e["key"], e["number"]] = e["cost"]
                highest = max(highest, total)
        return highest

    full = probe(f"{server.address}/good/v1", calls=1)
    reserve = full.sending[0]["cost"]
    check(reserve > COST, f"more is reserved than it costs: {reserve}")
    money = 6 * COST + reserve + 0.01  # a seventh call fits, an eighth does not
    ran = probe(f"{server.address}/good/v1", calls=20, options={"money": money})
    check(len(ran.replies) == 7 and "the budget is reached" in ran.end["stopped"] and most(ran) <= money, f"money: {len(ran.replies)} replies, {most(ran)} of {money}: {ran.end}")
    ran = probe(f"{server.address}/good/v1", calls=20, options={"money": money, "spent": 3 * COST})
    check(len(ran.replies) == 4 and most(ran, 3 * COST) <= money, f"money that was spent before: {len(ran.replies)}")
    check(near(ran.end["money"], 7 * COST), f"the sum goes on: {ran.end}")
    ran = probe(f"{server.address}/never/v1", options={"money": 2.5 * reserve}, deadlines=HASTE)
    check(len(ran.settled) == 2 and near(ran.end["possible_money"], 2 * reserve) and "the budget" in ran.end["stopped"], f"what was perhaps spent is not spent again: {ran.end}")
    ran = probe(f"{server.address}/good/v1", calls=20, options={"tokens": 1000}, prices=None)
    check(0 < len(ran.replies) < 20 and ran.end["tokens"] == 120 * len(ran.replies) <= 1000 and "tokens are used" in ran.end["stopped"], f"tokens: {ran.end}")
    ran = probe(f"{server.address}/good/v1", options={"money": 1}, prices=None)
    check(ran.process.returncode == 2 and "'prices'" in ran.text, f"money without prices: {ran.text}")


def formats(check, probe, server):
    for kind, formats_used in (("only-schema-in-object", ["json_schema", *["json_object+schema"] * 3]), ("only-json-object", [*ASKED[:2], *["json_object"] * 3]),
                               ("only-text", [*ASKED[:3], *["text"] * 3])):
        ran = probe(f"{server.address}/{kind}/v1", calls=3, concurrency=1, formats=ASKED)
        check([e["format"] for e in ran.settled] == formats_used, f"{kind}: asked for {[e['format'] for e in ran.settled]}")
        check([r["state"] for r in ran.replies.values()] == ["answered"] * 3 and ran.replies["call-0"]["format"] == formats_used[-1], f"{kind}: {ran.replies}")
        check('"additionalProperties":false' in server.seen[-1]["body"]["messages"][-1]["content"], f"{kind}: the schema stands in the prompt")
    ran = probe(f"{server.address}/only-json-object/v1", formats=["json_schema"])
    check("'formats' was refused" in ran.end["stopped"], f"no fallback that is not configured: {ran.end}")
    ran = probe(f"{server.address}/good/v1", schema=False)
    check(ran.settled[0]["format"] == "text" and "response_format" not in server.seen[-1]["body"], "free text")
    ran = probe(f"{server.address}/good/v1", prompt="long " * 5000)
    check(ran.replies["call-0"]["state"] == "cut short" and "num_ctx" in ran.replies["call-0"]["reason"], f"a prompt that the service cut: {ran.replies}")
    ran = probe(f"{server.address}/slow/v1", calls=40, options={"stop_after": 3})
    check(3 <= len(ran.replies) <= 7 and len(ran.replies) == len(ran.sending) and ran.end["stopped"] == "", f"a stop waits for what is under way: {len(ran.replies)}, {len(ran.sending)}")


def keys(check, probe, server):
    """The key is in the request's head, and nowhere else."""
    env = {"PARDEC_TEST_KEY": KEY}
    for interface, auth, header, value in (("openai-chat", None, "authorization", f"Bearer {KEY}"), ("openai-chat", "api-key", "api-key", KEY),
                                           ("anthropic-messages", None, "x-api-key", KEY), ("anthropic-messages", "bearer", "authorization", f"Bearer {KEY}"),
                                           ("openai-responses", None, "authorization", f"Bearer {KEY}")):
        ran = probe(f"{server.address}/echo-key/v1", interface=interface, key_env="PARDEC_TEST_KEY", env=env, **({"auth": auth} if auth else {}))
        head = server.seen[-1]["head"]
        check(head.get(header) == value and len({"authorization", "api-key", "x-api-key"} & set(head)) == 1, f"{interface}, {auth}: {head}")
        check(ran.replies["call-0"]["text"] == "your key is [key]." and len(ran.settled) == 3, f"{interface}, {auth}: {ran.text}")
        check(KEY[:8] not in ran.text, f"{interface}, {auth}: the key is said: {ran.text}")
        check(("anthropic-version" in head) == (interface == "anthropic-messages"), f"{interface}: {head}")
    for kind in ("echo-key-401", "echo-key-redirect"):
        ran = probe(f"{server.address}/{kind}/v1", key_env="PARDEC_TEST_KEY", env=env)
        check("[key]" in ran.end["stopped"] and (kind != "echo-key-401" or "the key was refused" in ran.end["stopped"]) and KEY[:8] not in ran.text, f"{kind}: {ran.text}")
    ran = probe(f"{server.address}/echo-key-often/v1", key_env="PARDEC_TEST_KEY", env=env)
    check(ran.replies["call-0"]["state"] == "failed" and KEY[:8] not in ran.text, f"a part of the key is said: {ran.text}")
    ran = probe(f"{server.address}/good/v1", key_env="PARDEC_TEST_KEY")
    check(ran.process.returncode == 2 and "the environment has no PARDEC_TEST_KEY" in ran.text, f"no key: {ran.text}")
    check("authorization" not in server.seen[0]["head"], "without a key none is sent")

    def leaves_core(env, **changes):
        folder = tempfile.mkdtemp(dir=probe.folder)
        file = pathlib.Path(folder) / "service.json"
        file.write_text(json.dumps({"interface": "openai-chat", "base_url": "http://h", "model": "m", **changes}))
        child = os.fork()
        if child == 0:
            os.chdir(folder)
            os.execve(probe.path, [probe.path, json.dumps({"service": str(file), "crash": True})], {**os.environ, **env})
        status = os.waitpid(child, 0)[1]
        check(os.WIFSIGNALED(status), "it crashes")
        return os.WCOREDUMP(status) or any("core" in name for name in os.listdir(folder))

    resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)
    if leaves_core({}):  # else this system writes none at all
        check(not leaves_core(env, key_env="PARDEC_TEST_KEY"), "a crash leaves the key in a core file")
    else:
        print("crashes leave no core file here")


def main():
    check = Checks()
    with tempfile.TemporaryDirectory(prefix="pardec-chat-") as folder, FaultServer() as server:
        probe = Probe(str(pathlib.Path(sys.argv[1]).resolve()), folder)
        for part in (each_fault, each_interface, connections, limits, budgets, formats, keys):
            part(check, probe, server)
    print(f"{check.passed} passed, {len(check.failed)} failed")
    return 1 if check.failed or not check.passed else 0


if __name__ == "__main__":
    sys.exit(main())
