"""Calls to a service that makes every fault: each ends in the right state, is asked again only
where that helps, and costs what the ledger says.

Truth: what the server saw, and what it was asked to do (fault_server.py). Waits between attempts
are a thousandth of what they say.
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
import tempfile
import threading

import pytest
from fault_server import FaultServer

KEY = "sk-test-0123456789-abcdef"
# of an answer: 60 tokens at 1000, 40 cached ones at 500, 20 of the reply at 2000 a million
COST = 0.12
RETRIES = 2
PATIENCE = {
    "connect": 10,
    "first_byte": 30,
    "stalled": 30,
    "total": 60,
}  # other tests may have the machine
HASTE = {"first_byte": 0.5, "stalled": 0.5, "total": 1}  # where the deadlines are what is tested
ASKED = ["json_schema", "json_object+schema", "json_object", "text"]

# kind: state, attempts, how many of them have an unknown outcome, seconds waited before the second
FAULTS = {
    **{
        kind: ("answered", 1, 0)
        for kind in (
            "good", "slow", "drip-good", "chunked", "without-length", "interim", "latin-1", "parts",
            "hostile", "no-usage", "absurd-usage", "think", "think-opened-before",
        )
    },
    # what may pass, once: asked again
    **{
        f"{kind}-once": ("answered", 2, 1)
        for kind in (
            "never", "stalled", "reset", "close", "reset-mid-body", "too-long-length",
            "too-short-length", "truncated-json", "wrong-shape", "wrong-types", "array", "nothing",
            "html", "deep", "garbage", "bad-chunk", "error-in-200", "error-text-in-200",
            "no-choices", "null-choices", "null-message", "502", "504",
        )
    },
    **{
        f"{kind}-once": ("answered", 2, 0)
        for kind in (
            "408", "409", "500", "500-text", "529", "finish-error", "400-again", "429-bare",
            "429-garbage", "429-zero", "429-azure",
        )
    },
    **{
        f"{kind}-once": ("answered", 2, 0, wait)
        for kind, wait in (
            ("429-seconds", 2),
            ("429-fraction", 1.5),
            ("429-ms", 1.25),
            ("429-date", 7),
            ("429-reset", 90),
            ("429-reset-ms", 0.12),
            ("429-anthropic", 9),
            ("429-epoch", 4),
            ("503", 3),
        )
    },
    "limit-in-200-once": ("answered", 2, 1, 2),
    # the same without end: given up; what was perhaps paid for is not asked without end
    **{
        kind: ("failed", 1 + RETRIES, 1 + RETRIES)
        for kind in (
            "never", "stalled", "drip", "reset", "close", "reset-mid-body", "too-long-length",
            "truncated-json", "html", "garbage", "error-in-200", "no-choices", "502",
        )
    },
    **{
        kind: ("failed", 1 + RETRIES, 0)
        for kind in ("408", "409", "500", "500-text", "finish-error", "400-again")
    },
    # what does not pass: not asked again
    **{kind: ("failed", 1, 1) for kind in ("ten-megabytes", "endless-head")},
    **{kind: ("failed", 1, 0) for kind in ("413", "418", "400-other", "500-no", "invalid-500")},
    **{
        kind: ("refused", 1, 0)
        for kind in ("refusal", "content-filter", "400-filter", "length-and-refusal")
    },
    **{
        kind: ("cut short", 1, 0)
        for kind in ("length", "empty", "null-content", "unclosed-think", "400-long-prompt")
    },
}
# kind: attempts, words of why the run was stopped
STOPS = {
    "429-long": (1, "asks to wait 600 s"),
    "429-no": (1, "not to ask again"),
    "429-bare": (1 + RETRIES, "too many requests"),
    "529": (1 + RETRIES, "too many requests"),
    **{
        kind: (1, "no quota left")
        for kind in ("quota", "quota-old", "quota-anthropic", "quota-in-200", "402")
    },
    "401": (1, "a key is asked for"),
    "403": (1, "a key is asked for"),
    "404": (1, "model's name is wrong"),
    **{
        kind: (1, "'parameters.temperature' was refused")
        for kind in ("parameter", "parameter-message", "parameter-fastapi", "parameter-500")
    },
    "token-limit": (1, "'token_limit' was refused"),
    "only-text": (1, "'formats' was refused"),
    "redirect": (1, "redirects are not followed"),
    "redirect-301": (1, "redirects are not followed"),
}
PATHS = {
    "openai-chat": "/chat/completions",
    "anthropic-messages": "/messages",
    "openai-responses": "/responses",
}


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
        self.path, self.folder, self.numbers, self.count = (
            path, pathlib.Path(folder), itertools.count(1), 0,
        )

    def __call__(
        self,
        base_url,
        calls=1,
        schema=True,
        options=None,
        prompt="which is better?",
        env=None,
        **changes,
    ):
        count = self.count = next(self.numbers)
        file = self.folder / f"service-{count}-{base_url.split('/')[3]}.json"
        spec = {
            "interface": "openai-chat",
            "base_url": base_url.replace("/v1", f"~{count}/v1"),
            "model": "m",
            "parameters": {"temperature": 0},
            "concurrency": 4,
            "retries": RETRIES,
            "prices": {"input": 1000, "cached_input": 500, "output": 2000},
            "deadlines": PATIENCE,
            **changes,
        }
        file.write_text(json.dumps(spec, indent=1))
        lines = [
            {
                "key": f"call-{i}",
                "messages": [["system", "You judge."], ["user", f"call-{i} {prompt}"]],
                "max_tokens": 50,
                **(
                    {
                        "schema": {
                            "type": "object",
                            "properties": {"verdict": {"type": "string"}},
                            "required": ["verdict"],
                            "additionalProperties": False,
                        }
                    }
                    if schema
                    else {}
                ),
            }
            for i in range(calls)
        ]
        environment = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
        return Ran(
            subprocess.run(
                [
                    self.path,
                    json.dumps({"service": str(file), "wait_scale": 0.001, **(options or {})}),
                ],
                input="".join(json.dumps(line) + "\n" for line in lines),
                capture_output=True,
                text=True,
                timeout=60,
                env={**environment, **(env or {})},
            )
        )


def near(a, b):
    return abs(a - b) < 1e-9


@pytest.fixture(scope="module")
def probe(program, tmp_path_factory):
    return Probe(str(program("chat_probe")), tmp_path_factory.mktemp("chat"))


@pytest.fixture(scope="module")
def server():
    with FaultServer() as server:
        yield server


def check_ledger(what, ran, seen):
    """The ledger's sums, and that it has what the server saw."""
    assert ran.end, f"{what}: no end: {ran.process.returncode} {ran.text[-500:]}"
    sent = sorted((e["key"], e["number"]) for e in ran.sending)
    assert len(set(sent)) == len(sent), f"{what}: an attempt is sent twice"
    assert sent == sorted((e["key"], e["number"]) for e in ran.settled), what
    assert sent == sorted((s["call"], s["count"]) for s in seen), what
    known = [e for e in ran.settled if not e["unknown"]]
    assert near(ran.end["money"], sum(e["cost"] for e in known)), what
    assert near(ran.end["possible_money"], sum(e["cost"] for e in ran.settled if e["unknown"]))
    for key, reply in ran.replies.items():
        assert near(reply["cost"], sum(e["cost"] for e in known if e["key"] == key)), what
        assert reply["attempts"] == sum(e["key"] == key for e in ran.settled), what
    # What the server billed is known to the cent, or lies under what is perhaps spent.
    billed = {(s["call"], s["count"]) for s in seen if s["request"].billed}
    for e in ran.settled:
        was = (e["key"], e["number"]) in billed
        reserved = was and (
            e["usage"][0] < 0 or "-usage" in what
        )  # what a reply without a count costs is what was reserved for it
        assert e["unknown"] or (
            e["cost"] >= COST if reserved else near(e["cost"], COST if was else 0)
        ), what


@pytest.fixture(scope="module")
def faults(probe):
    """What the probe said, and what the server saw, by the kind of the fault."""

    def run(kind):
        late = kind.removesuffix("-once") in ("drip", "never", "stalled")
        return kind, probe(
            f"{server.address}/{kind}/v1", body_cap=1 << 20, deadlines=HASTE if late else PATIENCE
        )

    with FaultServer() as server, concurrent.futures.ThreadPoolExecutor(12) as pool:
        ran = dict(
            pool.map(
                run,
                sorted(
                    {*FAULTS, *STOPS}, key=lambda kind: kind not in ("drip", "never", "stalled")
                ),
            )
        )
    return {
        kind: (result, [s for s in server.seen if s["kind"] == kind])
        for kind, result in ran.items()
    }


@pytest.mark.parametrize("kind", sorted(FAULTS.keys() - STOPS))
def test_a_fault_ends_in_its_state(faults, kind):
    state, attempts, unknown, *waited = FAULTS[kind]
    result, seen = faults[kind]
    check_ledger(kind, result, seen)
    reply = result.replies.get("call-0", {})
    assert reply.get("state") == state, result.text
    assert reply["attempts"] == attempts
    assert sum(e["unknown"] for e in result.settled) == unknown
    assert result.end["stopped"] == ""
    assert (reply.get("reason") == "") == (state == "answered")
    assert all(e["error"] for e in result.settled[:-1])
    told = state == "failed" or kind in ("400-filter", "400-long-prompt")
    assert bool(result.settled[-1]["error"]) == told
    assert not waited or near(result.settled[1]["waited"], waited[0])
    assert attempts == 1 or waited or all(0 < e["waited"] <= 8 for e in result.settled[1:])


@pytest.mark.parametrize("kind", STOPS)
def test_a_fault_that_the_next_call_would_meet_stops_the_run(faults, kind):
    attempts, words = STOPS[kind]
    result, seen = faults[kind]
    check_ledger(kind, result, seen)
    assert words in result.end["stopped"]
    assert len(result.settled) == attempts
    assert not result.replies


def test_a_refused_parameter_is_named_with_its_line(faults):
    assert ":6: m at http://127.0.0.1" in faults["parameter"][0].end["stopped"]


def test_redirects_are_not_followed(faults):
    assert [s["call"] for s in faults["good"][1]] == ["call-0"]


TEXTS = {
    "good": "verdict of call-0",
    "latin-1": "d\ufffdj\ufffd vu",
    "parts": "in parts",
    "think": "It is [[B]].",
    "think-opened-before": "It is [[B]].",
    "drip-good": "drops",
    "length": '{"verdict": "half',
    "length-and-refusal": "I can't judge this",
    "refusal": "I can't judge this",
    "without-length": "to the end",
    "hostile": (
        "\x1b]0;owned\x07\x1b[2J<script>alert(1)</script>'; DROP TABLE judgment; --\u202e [[A]]"
    ),
}


@pytest.mark.parametrize("kind", TEXTS)
def test_the_text_of_an_answer(faults, kind):
    assert faults[kind][0].replies["call-0"]["text"] == TEXTS[kind]


def test_the_words_of_a_refusal_are_the_reason(faults):
    assert faults["refusal"][0].replies["call-0"]["reason"] == "refused: I can't judge this"


def test_what_is_noted_of_an_answer(faults):
    good = faults["good"][0].settled[0]
    assert good["usage"] == [100, 20, 5, 40]
    assert good["request_id"] == "req-call-0-1"
    assert good["status"] == 200


def test_the_beginning_of_what_is_too_long_is_kept(faults):
    body = faults["ten-megabytes"][0].settled[0]["body"]
    assert "x" * 100 in body
    assert len(body) == 64 << 10


def test_what_cannot_be_read_is_kept(faults):
    assert "Sign in to the network" in faults["html"][0].settled[0]["body"]


def test_requests_have_no_heads_that_ask_for_more(faults):
    for _, seen in faults.values():
        for request in seen:
            assert request["method"] == "POST"
            assert not {"expect", "accept-encoding", "cookie"} & set(request["head"])


INTERFACES = pytest.mark.parametrize("interface", ["anthropic-messages", "openai-responses"])
KINDS = {
    "good": "answered",
    "refusal": "refused",
    "length": "cut short",
    "empty": "cut short",
    "content-filter": "refused",
    "no-usage": "answered",
    "truncated-json-once": "answered",
    "wrong-types-once": "answered",
    "array-once": "answered",
    "429-anthropic-once": "answered",
    "529-once": "answered",
    "quota-anthropic": None,
}


@INTERFACES
@pytest.mark.parametrize("kind", KINDS)
def test_other_interfaces_end_in_the_same_states(probe, server, interface, kind):
    before = len(server.seen)
    ran = probe(f"{server.address}/{kind}/v1", interface=interface)
    check_ledger(f"{interface} {kind}", ran, server.seen[before:])
    assert ran.replies.get("call-0", {"state": None})["state"] == KINDS[kind], ran.text
    assert kind != "refusal" or ran.replies["call-0"]["reason"].endswith(": I can't judge this")
    for request in server.seen[before:]:
        assert request["path"] == f"/{kind}~{probe.count}/v1{PATHS[interface]}"


@INTERFACES
def test_other_interfaces_cost_the_same(probe, server, interface):
    assert near(probe(f"{server.address}/good/v1", interface=interface).end["money"], COST)


def test_responses_are_not_stored(probe, server):
    probe(f"{server.address}/good/v1", interface="openai-responses")
    assert server.seen[-1]["body"]["store"] is False
    assert "anthropic-version" not in server.seen[-1]["head"]


def test_a_kept_connection_that_breaks_is_opened_again(probe, server):
    before = len(server.seen)
    ran = probe(f"{server.address}/good-then-close/v1", calls=2, concurrency=1)
    seen = server.seen[before:]
    check_ledger("a kept connection that breaks", ran, seen)
    assert len(seen) == 3
    assert seen[0]["port"] == seen[1]["port"] != seen[2]["port"]
    assert [r["state"] for r in ran.replies.values()] == ["answered"] * 2
    assert sum(e["unknown"] for e in ran.settled) == 1


def test_a_head_is_no_stalled_reply(probe, server):
    ran = probe(f"{server.address}/early-head/v1", deadlines={"stalled": 0.1})
    assert ran.replies["call-0"]["text"] == "after the head"


def test_no_proxy_is_between_the_program_and_its_own_machine(probe, server):
    ran = probe(
        f"{server.address}/good/v1",
        env={"http_proxy": "http://127.0.0.1:9", "ALL_PROXY": "http://127.0.0.1:9"},
    )
    assert ran.replies, ran.text


def test_a_certificate_that_nobody_signed_is_refused(probe):
    ran = strangers_certificate(probe)
    assert "cannot be reached" in ran.end["stopped"], ran.text
    assert "certificate" in ran.end["stopped"]
    assert not any(e["unknown"] for e in ran.settled)


def test_what_nobody_hears_costs_nothing(probe):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        ran = probe(f"http://127.0.0.1:{free.getsockname()[1]}/good/v1")
    assert "cannot be reached" in ran.end["stopped"], ran.text
    assert len(ran.settled) == 1 + RETRIES
    # What was not sent costs nothing.
    assert not any(e["unknown"] or e["cost"] for e in ran.settled)
    assert ran.end["possible_money"] == 0


def test_a_host_that_is_unknown_is_told(probe):
    ran = probe("http://no-such-host.invalid/good/v1", retries=0)
    assert "cannot be reached" in ran.end["stopped"], ran.text


def strangers_certificate(probe):
    """A call to a TLS server whose certificate is signed by itself."""
    files = [str(probe.folder / name) for name in ("cert.pem", "key.pem")]
    subprocess.run(
        [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
            "-nodes", "-subj", "/CN=localhost", "-days", "2", "-out", files[0], "-keyout", files[1],
        ],
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*files)
    with (
        socket.create_server(("127.0.0.1", 0)) as listening,
        context.wrap_socket(listening, server_side=True) as secure,
    ):

        def accept():
            with contextlib.suppress(OSError):
                secure.accept()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        ran = probe(f"https://127.0.0.1:{secure.getsockname()[1]}/good/v1", retries=0)
        thread.join(10)
    return ran


def test_a_service_that_refuses_calls_answers_all_in_the_end(probe, server):
    before = len(server.seen)
    ran = probe(f"{server.address}/four-at-a-time/v1", calls=60, concurrency=16, retries=20)
    check_ledger("four at a time", ran, server.seen[before:])
    refused = sum(e["status"] == 429 for e in ran.settled)
    assert len(ran.replies) == 60
    assert all(r["state"] == "answered" for r in ran.replies.values())
    assert refused < 60
    assert max(ran.at_a_time()) <= 16


def test_after_a_refusal_fewer_calls_are_under_way_then_more(probe, server):
    ran = probe(f"{server.address}/limited-at-first/v1", calls=250, concurrency=16)
    assert len(ran.replies) == 250
    counts = ran.at_a_time()
    limited = next(i for i, e in enumerate(ran.events) if e.get("status") == 429)
    before = sum(e["event"] == "sending" for e in ran.events[:limited])
    assert max(counts[:16]) == 16
    assert max(counts[before : before + 8]) <= 9
    assert max(counts[-30:]) >= 15


def test_a_service_that_is_broken_is_not_asked_on(probe, server):
    ran = probe(f"{server.address}/500/v1", calls=60, retries=0)
    assert "the last 20 calls all failed" in ran.end["stopped"]
    assert 20 <= len(ran.replies) <= 24


def most(ran, spent=0.0):
    """The highest sum of what was spent, perhaps spent and reserved."""
    sums, total, highest = {}, spent, spent
    for e in ran.events:
        if e["event"] in ("sending", "settled"):
            total += e["cost"] - sums.get((e["key"], e["number"]), 0)
            sums[e["key"], e["number"]] = e["cost"]
            highest = max(highest, total)
    return highest


@pytest.fixture(scope="module")
def reserve(probe, server):
    """What is reserved for a call."""
    return probe(f"{server.address}/good/v1").sending[0]["cost"]


@pytest.fixture(scope="module")
def money(reserve):
    """A budget that a seventh call fits, and an eighth does not."""
    return 6 * COST + reserve + 0.01


def test_more_is_reserved_than_a_call_costs(reserve):
    assert reserve > COST


def test_nothing_is_sent_that_could_cost_more_than_is_left(probe, server, money):
    ran = probe(f"{server.address}/good/v1", calls=20, options={"money": money})
    assert len(ran.replies) == 7, ran.text
    assert "the budget is reached" in ran.end["stopped"]
    assert most(ran) <= money


def test_what_was_spent_before_counts(probe, server, money):
    ran = probe(f"{server.address}/good/v1", calls=20, options={"money": money, "spent": 3 * COST})
    assert len(ran.replies) == 4
    assert most(ran, 3 * COST) <= money
    assert near(ran.end["money"], 7 * COST)


def test_what_was_perhaps_spent_is_not_spent_again(probe, server, reserve):
    ran = probe(f"{server.address}/never/v1", options={"money": 2.5 * reserve}, deadlines=HASTE)
    assert len(ran.settled) == 2
    assert near(ran.end["possible_money"], 2 * reserve)
    assert "the budget" in ran.end["stopped"]


def test_tokens_are_a_budget_too(probe, server):
    ran = probe(f"{server.address}/good/v1", calls=20, options={"tokens": 1000}, prices=None)
    assert 0 < len(ran.replies) < 20
    assert ran.end["tokens"] == 120 * len(ran.replies) <= 1000
    assert "tokens are used" in ran.end["stopped"]


def test_money_without_prices_is_refused(probe, server):
    ran = probe(f"{server.address}/good/v1", options={"money": 1}, prices=None)
    assert ran.process.returncode == 2
    assert "'prices'" in ran.text


@pytest.mark.parametrize(
    "kind, used",
    [
        ("only-schema-in-object", ["json_schema", *["json_object+schema"] * 3]),
        ("only-json-object", [*ASKED[:2], *["json_object"] * 3]),
        ("only-text", [*ASKED[:3], *["text"] * 3]),
    ],
)
def test_a_format_that_is_refused_falls_back_to_the_next(probe, server, kind, used):
    ran = probe(f"{server.address}/{kind}/v1", calls=3, concurrency=1, formats=ASKED)
    assert [e["format"] for e in ran.settled] == used
    assert [r["state"] for r in ran.replies.values()] == ["answered"] * 3
    assert ran.replies["call-0"]["format"] == used[-1]
    prompt = server.seen[-1]["body"]["messages"][-1]["content"]
    assert '"additionalProperties":false' in prompt


def test_no_format_is_used_that_is_not_configured(probe, server):
    ran = probe(f"{server.address}/only-json-object/v1", formats=["json_schema"])
    assert "'formats' was refused" in ran.end["stopped"]


def test_free_text_asks_for_no_format(probe, server):
    ran = probe(f"{server.address}/good/v1", schema=False)
    # Free text.
    assert ran.settled[0]["format"] == "text"
    assert "response_format" not in server.seen[-1]["body"]


def test_a_prompt_that_the_service_cut_is_told(probe, server):
    ran = probe(f"{server.address}/good/v1", prompt="long " * 5000)
    assert ran.replies["call-0"]["state"] == "cut short"
    assert "num_ctx" in ran.replies["call-0"]["reason"]


def test_a_stop_waits_for_what_is_under_way(probe, server):
    ran = probe(f"{server.address}/slow/v1", calls=40, options={"stop_after": 3})
    assert 3 <= len(ran.replies) <= 7
    assert len(ran.replies) == len(ran.sending)
    assert ran.end["stopped"] == ""


WITH_KEY = {"PARDEC_TEST_KEY": KEY}


@pytest.mark.parametrize(
    "interface, auth, header, value",
    [
        ("openai-chat", None, "authorization", f"Bearer {KEY}"),
        ("openai-chat", "api-key", "api-key", KEY),
        ("anthropic-messages", None, "x-api-key", KEY),
        ("anthropic-messages", "bearer", "authorization", f"Bearer {KEY}"),
        ("openai-responses", None, "authorization", f"Bearer {KEY}"),
    ],
)
def test_the_key_is_in_the_head_of_a_request_and_nowhere_else(
    probe, server, interface, auth, header, value
):
    ran = probe(
        f"{server.address}/echo-key/v1", interface=interface, key_env="PARDEC_TEST_KEY",
        env=WITH_KEY, **({"auth": auth} if auth else {}),
    )
    head = server.seen[-1]["head"]
    assert head.get(header) == value
    assert len({"authorization", "api-key", "x-api-key"} & set(head)) == 1
    assert ran.replies["call-0"]["text"] == "your key is [key]."
    assert len(ran.settled) == 3
    assert KEY[:8] not in ran.text
    assert ("anthropic-version" in head) == (interface == "anthropic-messages")


@pytest.mark.parametrize("kind", ["echo-key-401", "echo-key-redirect"])
def test_a_key_that_the_service_says_is_blanked_out(probe, server, kind):
    ran = probe(f"{server.address}/{kind}/v1", key_env="PARDEC_TEST_KEY", env=WITH_KEY)
    assert "[key]" in ran.end["stopped"]
    assert kind != "echo-key-401" or "the key was refused" in ran.end["stopped"]
    assert KEY[:8] not in ran.text


def test_no_part_of_a_key_is_said(probe, server):
    ran = probe(f"{server.address}/echo-key-often/v1", key_env="PARDEC_TEST_KEY", env=WITH_KEY)
    assert ran.replies["call-0"]["state"] == "failed"
    assert KEY[:8] not in ran.text


def test_a_key_that_the_environment_lacks_is_told(probe, server):
    ran = probe(f"{server.address}/good/v1", key_env="PARDEC_TEST_KEY")
    assert ran.process.returncode == 2
    assert "the environment has no PARDEC_TEST_KEY" in ran.text


def test_without_a_key_none_is_sent(faults):
    assert "authorization" not in faults["good"][1][0]["head"]


def leaves_core(probe, env, **changes):
    """Whether a crash leaves a core file."""
    folder = tempfile.mkdtemp(dir=probe.folder)
    file = pathlib.Path(folder) / "service.json"
    file.write_text(
        json.dumps({"interface": "openai-chat", "base_url": "http://h", "model": "m", **changes})
    )
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        os.execve(
            probe.path,
            [probe.path, json.dumps({"service": str(file), "crash": True})],
            {**os.environ, **env},
        )
    status = os.waitpid(child, 0)[1]
    assert os.WIFSIGNALED(status)
    return os.WCOREDUMP(status) or any("core" in name for name in os.listdir(folder))


def test_a_crash_leaves_no_key_in_a_core_file(probe):
    resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)
    if not leaves_core(probe, {}):
        pytest.skip("not done here: crashes leave no core file")
    assert not leaves_core(probe, WITH_KEY, key_env="PARDEC_TEST_KEY")
