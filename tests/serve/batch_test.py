"""The same ids from `run`, `generate`, a whole reply and a stream, for every decoder, one by one and
64 at a time.
"""

import concurrent.futures
import itertools
import json
import re

import pytest
from harness import ROOT, query
from server import serving

QUICKSTART = ROOT / "experiments" / "quickstart"
OPEN = [
    "ar", "speculative", "prompt-lookup", "medusa", "lookahead", "self-speculative", "space",
    "apar", "aspd", "ippd", "skeleton-of-thought",
]  # fmt: skip
FIELDS = ["hpd", "ippd"]
# They know their marks by text, so `generate` takes no ids for them.
OF_TEXT = ["space", "apar", "aspd", "skeleton-of-thought"]
BATCH = 64
THINGS = ["Blue shoes", "Orm Mug, 300 ml", "Organic black tea", "Größe: 42, \u20ac 5"]
MAKERS = ["Pinafell", "Kavo", "Lumen & Sons", "Trestle", "Ado", "Mirek", "Old Pier", "Zest"]
PROMPTS = [
    f"{maker} {thing} {end}"
    for maker, thing, end in itertools.product(MAKERS, THINGS, ("for men", "(Pack of 2)"))
]


def networks(decoder):
    draft = ("--draft-model", QUICKSTART / "draft") if "speculative" == decoder else ()
    return "--model", QUICKSTART / "model", *draft


@pytest.fixture(scope="module")
def server(pardec):
    with serving(
        pardec, *networks("speculative"), "--decoder", ",".join(dict.fromkeys([*OPEN, *FIELDS])),
        "--batch-size", BATCH,
    ) as server:  # fmt: skip
        yield server


def at_once(ask, count):
    """ask(0) ... ask(count - 1), all at the same time."""
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        return list(pool.map(ask, range(count)))


def reply_ids(server, body):
    status, reply = server.post("/v1/chat/completions", body)
    assert status == 200, reply
    return reply["choices"][0]["token_ids"]


def stream_ids(server, body):
    events = server.stream("/v1/chat/completions", body)
    assert events[-1] is None
    (ids,) = [c["token_ids"] for e in events[:-1] for c in e["choices"] if "token_ids" in c]
    return ids


def check_server(server, bodies, want):
    for ask in (reply_ids, stream_ids):
        assert [ask(server, body) for body in bodies[:4]] == want[:4]
        assert at_once(lambda i: ask(server, bodies[i]), len(bodies)) == want


def common(decoder):
    return {
        "model": f"model:{decoder}",
        "temperature": 0,
        "seed": 1,
        "max_tokens": 16,
        "return_token_ids": True,
    }


@pytest.fixture(scope="module")
def prompts(server, pardec):
    """A data folder with the prompts, and a file with their ids as chat messages."""
    folder = pardec.folder / "data" / "cip"
    folder.mkdir(parents=True)
    lines = [json.dumps({"prompt": text, "response": "-"}) for text in PROMPTS]
    (folder / "test.jsonl").write_text("\n".join(lines) + "\n")
    ids = [
        server.post(
            "/tokenize",
            {"messages": [{"role": "user", "content": text}], "add_generation_prompt": True},
        )[1]["tokens"]
        for text in PROMPTS
    ]
    (pardec.folder / "ids.txt").write_text("".join(",".join(map(str, one)) + "\n" for one in ids))
    return folder.parent


def run_ids(pardec, decoder, data, batch):
    db = f"{decoder}-{batch}.sqlite"
    ran = pardec(
        "run", *networks(decoder), "--decoder", decoder, "--dataset", "cip", "--data-root", data,
        "--max-new-tokens", 16, "--batch-size", batch, "--progress", "none", "--db", db,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    rows = query(
        pardec.folder / db,
        "SELECT sample.key, generation.tokens FROM generation JOIN sample ON sample.id = sample_id",
    )
    by_line = {int(re.search(r"\d+$", row["key"])[0]): row["tokens"] for row in rows}
    return [json.loads(tokens) for _, tokens in sorted(by_line.items())]


def generate_ids(pardec, decoder, *args):
    said = pardec.good(
        "generate", *networks(decoder), "--decoder", decoder, "--max-new-tokens", 16, "--format",
        "json", *args,
    )  # fmt: skip
    return [json.loads(line)["tokens"] for line in said.splitlines()]


def test_there_are_64_different_prompts():
    assert len(set(PROMPTS)) == BATCH


@pytest.mark.parametrize("decoder", OPEN)
def test_prompts_have_the_same_ids_everywhere(pardec, server, prompts, decoder):
    want = run_ids(pardec, decoder, prompts, 1)
    assert len(want) == BATCH
    assert len({tuple(ids) for ids in want}) > BATCH // 4
    assert run_ids(pardec, decoder, prompts, BATCH) == want
    file = f"@{pardec.folder / 'ids.txt'}"
    if decoder in OF_TEXT:
        for text, ids in zip(PROMPTS[:4], want):
            assert generate_ids(pardec, decoder, "--prompt", text) == [ids]
    else:
        for batch in (1, BATCH):
            got = generate_ids(pardec, decoder, "--prompt-tokens", file, "--batch-size", batch)
            assert got == want
    bodies = [
        {**common(decoder), "messages": [{"role": "user", "content": text}]} for text in PROMPTS
    ]
    check_server(server, bodies, want)


@pytest.mark.parametrize("decoder", FIELDS)
def test_fields_have_the_same_ids_everywhere(pardec, server, decoder):
    questions = json.loads((QUICKSTART / "job.json").read_text())
    (context,) = questions["contexts"]
    jobs = [{**questions, "contexts": [{**context, "text": text}]} for text in PROMPTS]
    file = pardec.folder / "jobs.jsonl"
    file.write_text("".join(json.dumps(job) + "\n" for job in jobs))
    want = generate_ids(pardec, decoder, "--job", file)
    assert len(want) == BATCH
    assert generate_ids(pardec, decoder, "--job", file, "--batch-size", BATCH) == want
    bodies = [{**common(decoder), "pardec": {"job": job}} for job in jobs]
    check_server(server, bodies, want)
