"""The loop of a peer: one JSON request a line on stdin, one JSON answer a line on stdout (tests/bench/peer.cpp lists them).

A peer has `hello` (a dict), `setup(prompt, continuation)`, `prefill()`, `step(n)`, `decode(n)`, which return the seconds that
the thing itself took, and `choices(n)`.
"""
import json
import os
import sys


def serve(make):
    """Answers on what was stdout; whatever a library prints goes to stderr."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(answer):
        print(json.dumps(answer), file=answers, flush=True)

    peer = make()
    say(peer.hello)
    for line in sys.stdin:
        request = json.loads(line)
        what, tokens = request["what"], request.get("tokens", 0)
        try:
            if what == "setup":
                peer.setup(request["prompt"], request["continuation"])
                say({})
            elif what == "choices":
                say({"choices": peer.choices(tokens)})
            else:
                measure = {"prefill": peer.prefill, "step": lambda: peer.step(tokens), "decode": lambda: peer.decode(tokens)}[what]
                say({"seconds": [measure() for _ in range(request.get("repeats", 1))]})
        except Exception as error:  # the other peers go on
            say({"error": f"{type(error).__name__}: {error}"})
