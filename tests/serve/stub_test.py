"""HTTP and the queue with a stub engine: a crowd of clients, slow readers, and many requests that
are given up.
"""

import concurrent.futures
import json
import socket
import time

import pytest
from stub import answered, crowd, load_of, request_bytes, stub_server, wait_idle


@pytest.fixture(scope="module")
def stub(program):
    return program("serve_stub")


def test_no_answer_is_wrong_and_nothing_is_left_when_a_crowd_comes_and_goes(stub):
    faults = []
    with stub_server(stub) as (port, _):
        crowd(port, 24, 3, faults)
        load = wait_idle(port)
        assert load == {"running": 0, "waiting": 0, "open": 0, "busy": load["busy"]}
    assert faults == []


def test_a_client_that_does_not_read_is_given_up(stub):
    body = {"prompt": "a", "max_tokens": 1000000, "stream": True}
    with stub_server(stub, 200000, 1) as (port, process):
        with socket.socket() as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            connection.connect(("127.0.0.1", port))
            connection.sendall(request_bytes(body))
            until = time.monotonic() + 60
            time.sleep(0.5)
            while load_of(port)["open"] and time.monotonic() < until:
                time.sleep(0.1)
            assert load_of(port)["open"] == 0
            assert wait_idle(port)["running"] == 0


def test_requests_beyond_the_queue_are_refused(stub):
    """400 may wait for 16."""
    body = {"prompt": "a", "max_tokens": 100000}
    with stub_server(stub, 1 << 20, 20000) as (port, _):
        open_ones = []
        try:
            for _ in range(416):
                connection = socket.create_connection(("127.0.0.1", port), timeout=30)
                connection.sendall(request_bytes(body))
                open_ones.append(connection)
            until = time.monotonic() + 30
            while load_of(port)["waiting"] < 400 and time.monotonic() < until:
                time.sleep(0.05)
            answer = answered(port, request_bytes(body, b"Connection: close"))
            assert answer.startswith(b"HTTP/1.1 503")
            assert b"\r\nRetry-After: " in answer
        finally:
            for connection in open_ones:
                connection.close()
        assert wait_idle(port)["running"] == 0
        assert answered(port, request_bytes({**body, "max_tokens": 2}, b"Connection: close")).count(
            b"word "
        ) == 2


def test_two_hundred_that_time_out_do_not_delay_the_next(stub):
    body = {"prompt": "a", "max_tokens": 4000}

    def give_up(_):
        with socket.create_connection(("127.0.0.1", port), timeout=0.5) as connection:
            connection.sendall(request_bytes(body))
            with pytest.raises(TimeoutError):
                connection.recv(1)

    with stub_server(stub) as (port, _):
        with concurrent.futures.ThreadPoolExecutor(200) as pool:
            list(pool.map(give_up, range(200)))
        begin = time.monotonic()
        answer = answered(port, request_bytes({**body, "max_tokens": 3}, b"Connection: close"))
        assert time.monotonic() - begin < 5
        assert json.loads(answer.split(b"\r\n\r\n", 1)[1])["choices"][0]["text"] == "word " * 3
