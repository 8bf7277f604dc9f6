"""Clients of the server with a stub engine (races/stub_server.cpp)."""

import contextlib
import json
import random
import signal
import socket
import subprocess
import threading
import time

HOSTILE = [
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20,
    b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
    b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n\r\n",
    b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\n",
    b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n" * 50,  # pipelined
    b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 30\r\n\r\n{",
]


def request_bytes(body, *headers):
    text = json.dumps(body).encode()
    head = [b"POST /v1/completions HTTP/1.1", b"Host: x", b"Content-Type: application/json", *headers]
    return b"\r\n".join([*head, b"Content-Length: %d" % len(text), b"", text])


def answered(port, data, timeout=60):
    """All that comes back, until the server closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=timeout) as connection:
        connection.sendall(data)
        answer = b""
        while more := connection.recv(65536):
            answer += more
        return answer


@contextlib.contextmanager
def stub_server(program, *args, env=None):
    """Runs the stub; yields (port, process). Ends it by SIGTERM: its exit code must be 0."""
    process = subprocess.Popen(
        [program, *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
    )
    said = []
    reader = threading.Thread(target=lambda: said.extend(process.stderr), daemon=True)
    reader.start()
    try:
        yield int(process.stdout.readline()), process
        process.send_signal(signal.SIGTERM)
        code = process.wait(60)
        reader.join()
        assert code == 0, "".join(said)[-4000:]
        assert not said, "".join(said)[-4000:]
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def load_of(port):
    answer = answered(port, b"GET /load HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    return json.loads(answer.split(b"\r\n\r\n", 1)[1])


def wait_idle(port, seconds=30):
    """Waits until nothing runs, waits or is open; the load that was seen last."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        load = load_of(port)
        if load["running"] == load["waiting"] == load["open"] == 0:
            break
        time.sleep(0.1)
    return load


def crowd(port, clients, seconds, faults):
    """So many clients ask, leave, and send nonsense, for this time. Wrong answers go to `faults`."""

    def client(number):
        choose, until = random.Random(number), time.monotonic() + seconds
        while time.monotonic() < until:
            tokens, what = choose.randrange(1, 60), choose.random()
            body = {"prompt": "a", "max_tokens": tokens, "stream": choose.random() < 0.5}
            try:
                if what < 0.3:
                    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
                        connection.sendall(request_bytes(body))
                        time.sleep(choose.random() * 0.05)
                elif what < 0.5:
                    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
                        connection.sendall(choose.choice(HOSTILE))
                        time.sleep(choose.random() * 0.02)
                else:
                    answer = answered(port, request_bytes(body, b"Connection: close"))
                    if answer.startswith(b"HTTP/1.1 503"):
                        continue
                    if answer.count(b"word ") != tokens:
                        faults.append(f"{tokens} tokens: {answer[-300:]!r}")
            except (ConnectionError, TimeoutError) as error:
                if what >= 0.5:
                    faults.append(repr(error))

    threads = [threading.Thread(target=client, args=(i,)) for i in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
