"""A service as an arm of `run`: the program's own server, whose ids are those of the decoder it
serves; and a scripted server that streams, refuses, fails and lies.
"""

import contextlib
import http.server
import itertools
import json
import threading

import pytest
from harness import ROOT, query, whole_except
from server import serving

MODEL = ROOT / "experiments" / "quickstart" / "model"


def answers(db, label):
    """An arm's answers by example: text, ids, how each field ended."""
    rows = query(
        db,
        "SELECT sample.key AS sample, generation.text, generation.tokens, generation.stop,"
        " generation.fields, generation.error FROM generation JOIN run ON run.id ="
        " generation.run_id JOIN sample ON sample.id = generation.sample_id WHERE run.label = ?",
        label,
    )
    return {
        row["sample"]: (
            row["text"],
            json.loads(row["tokens"]),
            row["stop"],
            [(f["name"], f["text"], f["tokens"], f["stop"]) for f in json.loads(row["fields"])],
            row["error"],
        )
        for row in rows
    }


def config(db, label):
    return json.loads(query(db, "SELECT config FROM run WHERE label = ?", label)[0]["config"])


def run(pardec, db, *args, code=0):
    ran = pardec(
        "run", "--model", MODEL, "--db", db, "--progress", "none", "--warmup", 0, "--format",
        "json", *args,
    )
    assert ran.returncode == code, ran.stderr
    return ran


@pytest.fixture(scope="module")
def own(pardec):
    with serving(pardec, "--model", MODEL, "--decoder", "ar,prompt-lookup") as server:
        yield f"http://127.0.0.1:{server.port}/v1"


# Each data set in the form that it is asked in: one JSON answer, field by field, turn by turn.
FORMS = {
    "json": ("oa-mine", "ask=together", 12),
    "stacks": ("oa-mine", "ask=together,stack=3", 12),
    "fields": ("squad", "ask=separately", 4),
    "conversation": ("mt-bench", "ask=together", 4),
}


@pytest.mark.parametrize(
    "asked",
    whole_except(
        [("auto", "json"), ("auto", "stacks"), ("ids", "fields"), ("text", "conversation")],
        list(itertools.product(["auto", "ids", "text"], FORMS)),
    ),
    ids="-".join,
)
def test_the_own_server_gives_the_ids_of_the_decoder(pardec, own, asked):
    mode, form = asked
    dataset, how, limit = FORMS[form]
    db = f"{form}-{mode}.sqlite"
    run(
        pardec, db, "--dataset", dataset, "--limit", limit, "--max-new-tokens", 48, "--batch-size",
        3, "--arm", f"here=ar,{how}", "--arm",
        f"there=service,{how},mode={mode},url={own},model=model",
    )  # fmt: skip
    here, there = answers(pardec.folder / db, "here"), answers(pardec.folder / db, "there")
    assert len(here) >= 3
    if (form, mode) == ("conversation", "text"):
        # a later turn's text is tokenized anew, across the ends of earlier answers
        here, there = ({key: row[3][0] for key, row in arm.items()} for arm in (here, there))
    assert there == here
    service = config(pardec.folder / db, "there")["service"]
    assert service["prompts"] == ("ids" if mode == "auto" else mode)
    assert service["ids"]


def test_messages_are_asked_as_the_server_renders_them(pardec, own):
    run(
        pardec, "chat.sqlite", "--dataset", "mt-bench", "--limit", 4, "--max-new-tokens", 24,
        "--arm", "here=ar", "--arm", f"there=service,mode=chat,url={own},model=model",
    )  # fmt: skip
    db = pardec.folder / "chat.sqlite"
    first = {key: row[3][0][1] for key, row in answers(db, "here").items()}
    assert {key: row[3][0][1] for key, row in answers(db, "there").items()} == first
    assert config(db, "there")["service"]["prompts"] == "chat"


def test_a_guessing_decoder_tells_its_passes(pardec, own):
    ran = run(
        pardec, "guess.sqlite", "--dataset", "oa-mine", "--limit", 6, "--arm", "here=prompt-lookup",
        "--arm", f"there=service,url={own},model=model:prompt-lookup",
    )  # fmt: skip
    db = pardec.folder / "guess.sqlite"
    counts = {
        label: query(
            db,
            "SELECT sum(forwards) AS passes, sum(chosen) AS chosen, sum(prompt_tokens) AS prompt,"
            " min(total_ns) AS least, min(first_token_ns) AS first FROM job JOIN run ON run.id ="
            " job.run_id WHERE run.label = ?",
            label,
        )[0]
        for label in ("here", "there")
    }
    for key in ("passes", "chosen", "prompt"):
        assert counts["there"][key] == counts["here"][key] > 0, key
    assert counts["there"]["first"] > 0
    assert counts["there"]["least"] >= counts["there"]["first"]
    assert "answered by a service" in ran.stdout
    rows = json.loads(ran.stdout)["rows"]
    there = next(row for row in rows if row["arm"] == "there")
    assert there["tokens_per_second"] > 0
    assert all(there[key] > 0 for key in there if key.startswith("first_token"))


def test_a_service_has_the_price_of_its_tokens(pardec, own):
    db = pardec.folder / "price.sqlite"
    run(
        pardec, db, "--dataset", "oa-mine", "--limit", 5, "--arm", "here=ar", "--arm",
        f"there=service,url={own},model=model",
    )  # fmt: skip

    def prices(*flags):
        args = ("compare", "--db", db, "--accounting", "--format", "json", *flags)
        rows = json.loads(pardec.good(*args))["rows"]
        return {row["arm"]: row["usd_per_thousand"] for row in rows}

    tokens = query(
        db,
        "SELECT sum(prompt_tokens) AS prompt, sum(chosen) AS chosen FROM job JOIN run ON"
        " run.id = job.run_id WHERE run.label = 'there'",
    )[0]
    service = ("--usd-per-million", "2,8")
    both = prices(*service, "--usd-per-hour", 3.6)
    examples = len(answers(db, "there"))
    dollars = (2 * tokens["prompt"] + 8 * tokens["chosen"]) / 1e6
    assert both["there"] == pytest.approx(1000 * dollars / examples)
    assert both["here"] > 0
    assert prices(*service) == {"here": None, "there": both["there"]}
    assert prices("--usd-per-hour", 3.6) == {"here": both["here"], "there": None}


def test_requests_are_in_the_ledger(pardec, own):
    db = pardec.folder / "ledger.sqlite"
    run(
        pardec, db, "--dataset", "oa-mine", "--limit", 5, "--arm",
        f"there=service,url={own},model=model",
    )  # fmt: skip
    rows = query(
        db, "SELECT judge.name, http_status, error, completion_tokens FROM judge_attempt JOIN judge"
        " ON judge.id = judge_id",
    )  # fmt: skip
    assert [row["name"] for row in rows] == ["arm:model"] * 5
    assert {row["http_status"] for row in rows} == {200}
    chosen = query(db, "SELECT sum(chosen) AS n FROM job")[0]["n"]
    assert sum(row["completion_tokens"] for row in rows) == chosen


class Scripted:
    """An OpenAI-compatible server whose answer to a prompt is what `say(prompt, times asked)`
    gives: pieces of text to stream, or (status, body).
    """

    def __init__(self, say, tokenize=None, metrics=None):
        self.say, self.seen = say, []
        scripted = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if self.path == "/tokenize":
                    said = (404, {"error": "no such path"}) if tokenize is None else tokenize(body)
                else:
                    prompt = body.get("prompt") or body["messages"][-1]["content"]
                    scripted.seen.append({**body, "path": self.path, "key": self.headers["Authorization"]})
                    times = sum(
                        (one.get("prompt") or one["messages"][-1]["content"]) == prompt
                        for one in scripted.seen
                    )
                    said = scripted.say(prompt, times)
                with contextlib.suppress(OSError):
                    if isinstance(said, tuple):
                        self.plain(*said)
                    else:
                        self.stream(said, "chat" in self.path)

            def do_GET(self):
                self.plain(*((404, "") if metrics is None else (200, metrics(len(scripted.seen)))))

            def plain(self, status, body):
                data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def stream(self, pieces, chat):
                self.close_connection = True
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()
                for piece in pieces:
                    event = piece
                    if isinstance(piece, str):
                        choice = {"delta": {"content": piece}} if chat else {"text": piece}
                        event = {"model": "m-1", "choices": [{"index": 0, **choice}]}
                    data = event if isinstance(event, bytes) else b"data: %s\r\n\r\n" % json.dumps(event).encode()
                    self.wfile.write(data)
                    self.wfile.flush()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"


def end(reason="stop", tokens=3, prompt=7):
    """The last events of a stream."""
    return [
        {"choices": [{"index": 0, "finish_reason": reason, "delta": {}, "text": ""}]},
        {"choices": [], "usage": {"prompt_tokens": prompt, "completion_tokens": tokens}},
        b"data: [DONE]\n\n",
    ]


@pytest.fixture
def prompts(tmp_path):
    """Three records, each of one word."""
    file = tmp_path / "words.jsonl"
    file.write_text("".join(json.dumps({"id": word, "prompt": word, "references": ["x"]}) + "\n"
                            for word in ("one", "two", "three")))
    return f"words={file}"


def run_scripted(pardec, tmp_path, prompts, server, *args, options="", code=0, **more):
    return run(
        pardec, tmp_path / "s.sqlite", "--dataset", prompts, "--arm",
        f"there=service,url={server.url},model=m{options}", *args, code=code, **more,
    )  # fmt: skip


def test_a_chat_service_without_ids_is_counted_by_its_usage(pardec, tmp_path, prompts):
    server = Scripted(lambda prompt, _: [": a comment\n\n".encode(), "Good ", "day", *end()])
    run_scripted(pardec, tmp_path, prompts, server)
    got = answers(tmp_path / "s.sqlite", "there")
    assert {row[0] for row in got.values()} == {"Good day"}
    assert {row[4] for row in got.values()} == {None}
    job = query(tmp_path / "s.sqlite", "SELECT chosen, prompt_tokens, forwards FROM job")[0]
    assert job == {"chosen": 3, "prompt_tokens": 7, "forwards": 0}
    asked = server.seen[0]
    assert asked["path"] == "/v1/chat/completions"
    assert asked["stream"] is True
    assert asked["temperature"] == 0
    assert asked["max_tokens"] == 512
    assert "seed" not in asked
    assert "return_token_ids" not in asked
    assert [m["role"] for m in asked["messages"]][-1] == "user"


def test_a_key_comes_from_the_environment_and_is_nowhere_else(pardec, tmp_path, prompts):
    server = Scripted(lambda prompt, _: ["fine", *end()])
    args = (
        "run", "--model", MODEL, "--db", tmp_path / "k.sqlite", "--dataset", prompts, "--arm",
        f"there=service,url={server.url},model=m,key=ARM_KEY",
    )  # fmt: skip
    ran = pardec(*args)
    assert ran.returncode == 2
    assert "ARM_KEY" in ran.stderr
    ran = pardec(*args, env={"ARM_KEY": "sk-very-secret-key"})
    assert ran.returncode == 0, ran.stderr
    assert {one["key"] for one in server.seen} == {"Bearer sk-very-secret-key"}
    assert b"sk-very-secret-key" not in (tmp_path / "k.sqlite").read_bytes()


def test_a_failure_is_a_row_with_its_reason_and_can_be_asked_again(pardec, tmp_path, prompts):
    sick = True

    def say(prompt, _):
        if prompt == "two" and sick:
            return 400, {"error": {"message": "this prompt hurts", "code": "no_twos"}}
        return ["fine", *end()]

    server = Scripted(say)
    run_scripted(pardec, tmp_path, prompts, server, code=3)
    got = answers(tmp_path / "s.sqlite", "there")
    assert [key for key, row in got.items() if row[4]] == ["two"]
    assert "this prompt hurts" in got["two"][4]
    sick = False
    run_scripted(pardec, tmp_path, prompts, server, "--resume", "--retry-errors")
    got = answers(tmp_path / "s.sqlite", "there")
    assert [row[0] for row in got.values()] == ["fine"] * 3


@pytest.mark.parametrize(
    "fault",
    [
        (500, {"error": "upstream"}),
        ["half of it"],
        ["half", {"error": {"message": "the engine died", "type": "server_error"}}],
        [b"data: {no json\n\n"],
    ],
    ids=["status", "no end", "error in the stream", "no JSON"],
)
def test_a_fault_that_passes_is_asked_again(pardec, tmp_path, prompts, fault):
    server = Scripted(lambda prompt, times: fault if times == 1 else ["fine", *end()])
    run_scripted(pardec, tmp_path, prompts, server)
    assert [row[0] for row in answers(tmp_path / "s.sqlite", "there").values()] == ["fine"] * 3
    assert len(server.seen) == 6
    attempts = query(tmp_path / "s.sqlite", "SELECT number, error FROM judge_attempt")
    assert sum(row["number"] == 2 for row in attempts) == 3
    assert sum(row["error"] is not None for row in attempts) == 3


def test_a_service_without_quota_stops_the_run_and_it_is_resumed(pardec, tmp_path, prompts):
    paid = False

    def say(prompt, _):
        if prompt == "three" and not paid:
            return 429, {"error": {"message": "no credit", "code": "insufficient_quota"}}
        return ["fine", *end()]

    server = Scripted(say)
    args = ("--block", 1)
    ran = run_scripted(pardec, tmp_path, prompts, server, *args, code=1)
    assert "no quota left" in ran.stderr
    assert "--resume" in ran.stderr
    kept = answers(tmp_path / "s.sqlite", "there")
    assert "three" not in kept
    paid, asked = True, len(server.seen)
    run_scripted(pardec, tmp_path, prompts, server, *args, "--resume")
    assert [row[0] for row in answers(tmp_path / "s.sqlite", "there").values()] == ["fine"] * 3
    assert len(server.seen) - asked == 3 - len(kept)


def test_more_tokens_than_asked_for_are_no_answer(pardec, tmp_path, prompts):
    server = Scripted(lambda prompt, _: ["on and on", *end("length", 40)])
    run_scripted(pardec, tmp_path, prompts, server, "--max-new-tokens", 8, code=3)
    errors = [row[4] for row in answers(tmp_path / "s.sqlite", "there").values()]
    assert all("wrote 40 tokens, and 8 were asked for" in error for error in errors)


def test_fewer_tokens_are_an_answer_that_ended(pardec, tmp_path, prompts):
    server = Scripted(lambda prompt, _: ["short", *end("stop" if prompt == "one" else "length", 8)])
    run_scripted(pardec, tmp_path, prompts, server, "--max-new-tokens", 8)
    stops = {key: row[3][0][3] for key, row in answers(tmp_path / "s.sqlite", "there").items()}
    assert stops == {"one": "eos", "two": "limit", "three": "limit"}


def test_a_json_answer_in_chat_may_begin_with_its_tag(pardec, tmp_path):
    answer = '<result>\n{\n  "1": {\n    "Brand": "Pinafell"\n  }\n}\n</result> I hope this helps.'
    server = Scripted(lambda prompt, _: [answer, *end()])
    run(
        pardec, tmp_path / "j.sqlite", "--dataset", "oa-mine", "--limit", 2, "--arm",
        f"there=service,url={server.url},model=m",
    )  # fmt: skip
    for row in answers(tmp_path / "j.sqlite", "there").values():
        assert row[0].count("<result>") == 1
        assert row[0].endswith("</result>")
        assert {f[0]: f[1] for f in row[3]}["Brand"] == "Pinafell"


def test_a_completion_ends_with_its_closing_tag(pardec, tmp_path):
    """A server that gives no ids is left when the answer is complete."""
    written = []

    def say(prompt, _):
        def pieces():
            for piece in ("\n{}\n</res", "ult>", *["more "] * 5000):
                written.append(piece)
                yield piece
        return pieces() if isinstance(prompt, str) and len(prompt) > 100 else (
            200, {"choices": [{"index": 0, "text": "x", "finish_reason": "length"}]})

    server = Scripted(say)
    run(
        pardec, tmp_path / "u.sqlite", "--dataset", "oa-mine", "--limit", 1, "--arm",
        f"there=service,url={server.url},model=m,mode=text",
    )  # fmt: skip
    (row,) = answers(tmp_path / "u.sqlite", "there").values()
    assert row[0] == "<result>\n{}\n</result>"
    assert row[2] == "terminator"


def test_guesses_are_read_from_the_servers_counters(pardec, tmp_path, prompts):
    """vLLM's, which count all requests together: here two passes with three guesses each, of which
    three are accepted, for each answer of five tokens.
    """

    def metrics(answered):
        name = "vllm:spec_decode_num"
        return (
            f"# TYPE {name}_drafts counter\n"
            f'{name}_drafts_total{{engine="0"}} {100 + 2 * answered}\n'
            f'{name}_draft_tokens_total{{engine="0"}} {300 + 6.0 * answered}\n'
            f'{name}_accepted_tokens_total{{engine="0"}} {150 + 3 * answered}\n'
            + "".join(
                f'{name}_accepted_tokens_per_pos_total{{engine="0",position="{place}"}}'
                f" {50 + kept * answered}\n"
                for place, kept in enumerate((2, 1, 0))
            )
        )

    server = Scripted(lambda prompt, _: ["a b c", *end("stop", 5)], metrics=metrics)
    run_scripted(pardec, tmp_path, prompts, server)
    rows = query(tmp_path / "s.sqlite", "SELECT chosen, forwards, acceptance FROM job ORDER BY id")
    assert [row["chosen"] for row in rows] == [5, 5, 5]
    assert sum(row["forwards"] for row in rows) == 6
    told = [json.loads(row["acceptance"]) for row in rows if row["acceptance"]]
    assert len(told) == 1
    assert told[0]["drafted"] == [6, 6, 6]
    assert told[0]["accepted"] == [6, 3, 0]


def test_ids_are_sent_only_to_the_same_tokenizer(pardec, tmp_path, prompts):
    server = Scripted(
        lambda prompt, _: ["fine", *end()], tokenize=lambda body: (200, {"tokens": [1, 2, 3]})
    )
    run_scripted(pardec, tmp_path, prompts, server)
    assert {one["path"] for one in server.seen} == {"/v1/chat/completions"}


def test_a_server_that_still_loads_is_waited_for(pardec, tmp_path, prompts):
    asked = []

    def tokenize(body):
        asked.append(body)
        return (503, {"error": "Loading model"}) if len(asked) < 3 else (404, {})

    server = Scripted(lambda prompt, _: ["fine", *end()], tokenize=tokenize)
    run_scripted(pardec, tmp_path, prompts, server)
    assert len(asked) == 3
    assert [row[0] for row in answers(tmp_path / "s.sqlite", "there").values()] == ["fine"] * 3


@pytest.mark.parametrize(
    "options, said",
    [
        ("", "service.url is missing"),
        (",url=ftp://x,model=m", "must begin with https:// or http://"),
        (",url=http://127.0.0.1:9/v1,model=m,mode=morse", "expected auto, ids, text or chat"),
        (",url=http://127.0.0.1:9/v1,model=m,budget=3", "needs the prices"),
        (",url=http://127.0.0.1:9/v1,model=m,oracle=references", "oracle"),
        (",url=http://127.0.0.1:9/v1,model=m", "cannot be reached"),
    ],
    ids=["url", "scheme", "mode", "budget", "oracle", "unreachable"],
)
def test_a_wrong_arm_is_refused_before_the_run(pardec, tmp_path, prompts, options, said):
    ran = pardec(
        "run", "--model", MODEL, "--db", tmp_path / "w.sqlite", "--dataset", prompts, "--arm",
        f"there=service{options}",
    )  # fmt: skip
    assert ran.returncode in (1, 2)
    assert said in ran.stderr
    assert not (tmp_path / "w.sqlite").exists()


def test_a_dry_run_asks_nobody(pardec, prompts, tmp_path):
    ran = pardec.good(
        "run", "--model", MODEL, "--db", tmp_path / "d.sqlite", "--dataset", prompts, "--arm",
        "there=service,url=http://127.0.0.1:9/v1,model=m", "--dry-run",
    )  # fmt: skip
    assert "a service" in ran


@pytest.mark.parametrize("verb", ["generate", "serve"])
def test_other_verbs_refuse_a_service(pardec, verb):
    args = ("--prompt", "x") if verb == "generate" else ()
    ran = pardec(verb, "--model", MODEL, "--decoder", "service", *args)
    assert ran.returncode in (1, 2)
    assert "service" in ran.stderr


# Worked examples before JSON answers --------------------------------------------------------------


def products(split):
    """The sample's products by their title, with the values of their attributes."""
    lines = (ROOT / "datasets" / "samples" / "oa-mine" / f"{split}.jsonl").read_text().splitlines()
    return {record["input"]: record for record in map(json.loads, lines)}


def titled(content, records):
    """The one product that a prompt asks about."""
    found = [record for title, record in records.items() if f">{title}</product>" in content]
    assert len(found) == 1
    return found[0]


def values_in(answer):
    assert answer.startswith("<result>\n")
    assert answer.endswith("\n</result>")
    values = json.loads(answer.removeprefix("<result>").removesuffix("</result>"))
    assert list(values) == ["1"]
    return values["1"]


@pytest.fixture
def prepared():
    """A service that knows the first dataset's answers."""

    known = products("test")

    def say(prompt, _):
        if not any(f">{title}</product>" in prompt for title in known):
            return ["none", *end(prompt=3000)]
        record = titled(prompt, known)
        values = {name: next(iter(said)) for name, said in record["target_scores"].items()}
        return [f'<result>{json.dumps({"1": values})}</result>', *end(tokens=30, prompt=3000)]

    return Scripted(say)


def described(folder, server):
    file = folder / "service.json"
    file.write_text(json.dumps({
        "interface": "openai-chat", "base_url": server.url, "model": "m",
        "token_limit": "max_tokens",
    }))  # fmt: skip
    return file


def test_worked_examples_of_a_category_are_earlier_turns(pardec, tmp_path, prepared):
    run(
        pardec, tmp_path / "w.sqlite", "--dataset", "oa-mine", "--limit", 6, "--shots", 3, "--arm",
        f"there=service,url={prepared.url},model=m,ask=together",
    )  # fmt: skip
    train, test = products("train"), products("test")
    assert len(prepared.seen) == 6
    for asked in prepared.seen:
        turns = [message for message in asked["messages"] if message["role"] != "system"]
        assert [turn["role"] for turn in turns] == ["user", "assistant"] * 3 + ["user"]
        category = titled(turns[-1]["content"], test)["category"]
        shown = [titled(turn["content"], train) for turn in turns[:-1:2]]
        assert len({record["input"] for record in shown}) == 3
        assert {record["category"] for record in shown} == {category}
        for record, answer in zip(shown, turns[1::2], strict=True):
            values = values_in(answer["content"])
            for name, value in values.items():
                assert value in record["target_scores"].get(name, {"n/a": 1})
    assert config(tmp_path / "w.sqlite", "there")["shots"] == 3


def test_more_worked_examples_than_a_category_has_are_refused(pardec, tmp_path):
    ran = run(
        pardec, tmp_path / "w.sqlite", "--dataset", "oa-mine", "--decoder", "ar", "--shots", 40,
        code=2,
    )  # fmt: skip
    assert "of category '" in ran.stderr
    assert "40" in ran.stderr


def test_a_papers_row_of_a_service_is_measured_with_it_and_names_it_without(
    pardec, tmp_path, prepared
):
    def rows_and_notes(*args):
        ran = pardec(
            "reproduce", "hpd", "table1", "--scale", "paper-gpt-10-shots", "--limit", 12,
            "--progress", "none", "--db", tmp_path / "r.sqlite", "--format", "json", *args,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stderr
        table = json.loads(ran.stdout)[0]
        rows = {
            (row["method"], row["dataset"], row["metric"]): row["measured"]
            for row in table["rows"]
            if row["model"].startswith("GPT-4 ")
        }
        assert len(rows) == len(table["rows"])
        return rows, " ".join(table["notes"])

    place = ("10-shot", "OA-Mine", "F1")
    rows, notes = rows_and_notes()
    assert set(rows.values()) == {None}
    assert "a service that answers arm gpt" in notes
    rows, _ = rows_and_notes("--service", f"gpt={described(tmp_path, prepared)}")
    assert rows[place] == 1
    asked = prepared.seen[-1]["messages"]
    assert len(asked) == 22
    assert "extract attribute values from them with care" in asked[0]["content"]
    assert rows["0-shot", "OA-Mine", "F1"] is None
    wrong = pardec("reproduce", "hpd", "table1", "--scale", "paper", "--service", "gpt=x.json")
    assert wrong.returncode == 2
