"""A server of this process, on the loopback interface."""

import contextlib
import http.server
import threading


@contextlib.contextmanager
def listening(handler, **state):
    """A server whose requests `handler` answers. It has `address`, and what `state` names."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        for name, value in state.items():
            setattr(server, name, value)
        server.address = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
