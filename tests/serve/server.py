"""What the tests of the server share: starting it, and asking it over HTTP."""

import contextlib
import http.client
import json
import re
import threading


class Server:
    """A running `pardec serve`."""

    def __init__(self, process, port, said):
        self.process, self.port, self.said = process, port, said

    def request(self, method, path, body=None, headers=None, timeout=300):
        """Status, headers and body of one request on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        with contextlib.closing(connection):
            if isinstance(body, (dict, list)):
                body, headers = (
                    json.dumps(body),
                    {"Content-Type": "application/json", **(headers or {})},
                )
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()

    def post(self, path, body, **options):
        """Status and JSON."""
        status, _, text = self.request("POST", path, body, **options)
        return status, json.loads(text)

    def get(self, path):
        status, _, text = self.request("GET", path)
        return status, json.loads(text)

    def stream(self, path, body):
        """The events of a stream as a client splits them; the last is None where `[DONE]` came."""
        status, headers, text = self.request("POST", path, {**body, "stream": True})
        if (
            status != 200
            or not headers["Content-Type"].startswith("text/event-stream")
            or not text.endswith(b"\n\n")
        ):
            raise AssertionError(f"no stream: {status} {headers} {text[:300]}")
        events = text.decode().split("\n\n")[:-1]
        if not all(event.startswith("data: ") and "\n" not in event for event in events):
            raise AssertionError(f"an event that is none: {events}")
        return [
            None if event == "data: [DONE]" else json.loads(event.removeprefix("data: "))
            for event in events
        ]

    def end(self, timeout=60):
        """SIGTERM; the exit code, and all that stood on stderr."""
        self.process.terminate()
        return self.wait(timeout)

    def wait(self, timeout=60):
        code = self.process.wait(timeout)
        self.reader.join()
        return code, "".join(self.said)


@contextlib.contextmanager
def serving(pardec, *args, env=None):
    """`pardec serve` on a free port, for the length of a block."""
    # An option of Popen: no fork of a loaded program, but a process whose stderr is a pipe.
    process = pardec.start(
        "serve", "--listen", "127.0.0.1:0", "--threads", 1, *args, env=env, start_new_session=True
    )
    said, port = [], None
    for line in process.stderr:
        said.append(line)
        if found := re.match(r"serving .* on https?://127\.0\.0\.1:(\d+)$", line):
            port = int(found[1])
            break
    if port is None:
        raise AssertionError(f"serve {args}: exit {process.wait()}: {''.join(said)}")
    server = Server(process, port, said)
    server.reader = threading.Thread(target=lambda: said.extend(process.stderr), daemon=True)
    server.reader.start()
    try:
        yield server
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
