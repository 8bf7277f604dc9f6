"""A chat service on loopback that says what a test tells it to, for the verbs that ask one."""
import collections
import hashlib
import http.server
import json
import random
import signal
import threading
import time


class Judge:
    """A chat service on loopback. `say(prompt, asked before)` gives the reply's text, or a whole body."""

    def __init__(self, say, delay=0.0):
        self.say, self.delay = say, delay
        self.asked = collections.Counter()  # by what was asked
        self.lock = threading.Lock()
        judge = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # a body waits 40 ms behind its headers otherwise

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                prompt = body["messages"][-1]["content"] if len(body["messages"]) < 4 else body["messages"][-3]["content"]
                key = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()
                with judge.lock:
                    judge.asked[key] += 1
                    times = judge.asked[key]
                time.sleep(judge.delay)
                said = judge.say(prompt, times, len(body["messages"]) >= 4)
                answer = said if isinstance(said, dict) else {
                    "id": "1", "model": "judge-1", "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": said}}],
                    "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}}
                data = json.dumps(answer).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                try:
                    self.wfile.write(data)
                except OSError:
                    pass  # the client was killed

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # clients are killed here
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def file(self, folder, name, **more):
        file = folder / f"{name}.json"
        file.write_text(json.dumps({"interface": "openai-chat", "base_url": f"http://127.0.0.1:{self.server.server_address[1]}/v1", "model": name,
                                    "prices": {"input": 1.0, "output": 2.0}, "concurrency": 4, **more}))
        return file


def tables(text):
    """The tables of `--format json`, one document: a table, or a list of several."""
    found = json.loads(text)
    return {table["title"]: table["rows"] for table in (found if isinstance(found, list) else [found])}


def killed_at_random(judge, start, kills, most, seed):
    """Starts a command and kills it after 1 to `most` further requests, `kills` times; the last start is let end. Returns it with what it said, and how many
    kills came in time."""
    rng, done = random.Random(seed), 0
    for _ in range(kills):
        running = start()
        wanted = sum(judge.asked.values()) + rng.randint(1, most)
        while sum(judge.asked.values()) < wanted and running.poll() is None:
            time.sleep(0.002)
        time.sleep(rng.uniform(0, 2 * judge.delay))
        if running.poll() is None:
            running.send_signal(signal.SIGKILL)
            done += 1
        running.communicate()
    running = start()
    said, errors = running.communicate(timeout=120)
    return running.returncode, said, errors, done
