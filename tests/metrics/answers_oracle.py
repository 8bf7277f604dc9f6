"""Exact match, pass@k, the judge's rates and repetition, computed once more in Python."""

import fractions
import itertools
import math
import random

import pytest
from probe import ask

PIECES = ["A", "B", "C", "a", "(B)", "answer", "é", "—C—", "\n", "not", "**B**"]


def pass_at_k(n, c, k):
    """The share of all draws of k samples that hold a good one."""
    return float(1 - fractions.Fraction(math.comb(n - c, k), math.comb(n, k)))


def all_cases():
    """(call, expected, tolerance)"""
    rng = random.Random(2)
    for _ in range(5000):
        text = rng.choice(["", " "]).join(
            rng.choice(PIECES) + rng.choice(["", " "]) for _ in range(rng.randrange(5))
        )
        references = [rng.choice(PIECES) for _ in range(rng.randrange(3))]
        exact = text.strip() in [r.strip() for r in references or [""]]
        yield {"call": "exact", "text": text, "references": references}, exact, 0
        pieces = text.split()
        yield (
            {"call": "repetition", "text": text},
            len(pieces) / len(set(pieces)) if pieces else 0,
            1e-15,
        )
    for n in (1, 2, 5, 10, 11):
        for c, k in itertools.product(range(n + 1), range(1, n + 1)):
            brute = [any(i < c for i in draw) for draw in itertools.combinations(range(n), k)]
            assert abs(pass_at_k(n, c, k) - sum(brute) / len(brute)) < 1e-15
            yield {"call": "pass_at_k", "n": n, "c": c, "k": k}, pass_at_k(n, c, k), 1e-14
    for n, c, k in ((200, 3, 100), (200, 199, 1), (1000, 1, 10), (1000, 500, 900)):
        yield {"call": "pass_at_k", "n": n, "c": c, "k": k}, pass_at_k(n, c, k), 1e-12
    for _ in range(200):
        counts = {key: rng.randrange(4) for key in ("C", "I", "M", "CN", "H")}
        good = counts["C"] + counts["CN"]
        given, wanted = good + counts["H"] + counts["I"], good + counts["M"] + counts["I"]
        p, r = (good / whole if whole else 0 for whole in (given, wanted))
        yield {"call": "judge", **counts}, [p, r, 2 * p * r / (p + r) if p + r else 0], 1e-15


CASES = {}
for case in all_cases():
    CASES.setdefault(case[0]["call"], []).append(case)


@pytest.mark.parametrize("call", CASES)
def test_values_are_those_of_python(program, call):
    answers = ask(program("text_probe"), [asked for asked, _, _ in CASES[call]])
    for (asked, expected, tolerance), got in zip(CASES[call], answers):
        for a, b in (
            zip(got, expected, strict=True) if isinstance(expected, list) else [(got, expected)]
        ):
            assert a == b or (tolerance and abs(a - b) <= tolerance), str(asked)
