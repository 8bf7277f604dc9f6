"""The deterministic statistics, computed once more by numpy and exact fractions.

usage: statistics_oracle.py PROBE
"""
import fractions
import json
import math
import subprocess
import sys

import numpy

EPSILON = sys.float_info.epsilon


def mcnemar(b, c):
    tail, term = 0, 1
    for i in range(min(b, c) + 1):
        tail += term  # binomial(b + c, i)
        term = term * (b + c - i) // (i + 1)
    return float(min(fractions.Fraction(1), fractions.Fraction(2 * tail, 2 ** (b + c))))


def holm(p):
    """The largest, over all p-values that are not larger, of p times the number not smaller."""
    order = sorted(range(len(p)), key=lambda i: p[i])
    rank = {i: r for r, i in enumerate(order)}
    scaled = {j: min(1.0, (len(p) - rank[j]) * p[j]) for j in order}
    return [max(scaled[j] for j in order[:rank[i] + 1]) for i in range(len(p))]


def cases():
    """(call, expected, relative tolerance)"""
    rng = numpy.random.default_rng(7)
    for n in (1, 2, 3, 10, 101):
        samples = rng.normal(size=n).tolist()
        for q in (0, 0.025, 0.25, 1 / 3, 0.5, 0.9, 0.975, 1):
            expected = float(numpy.quantile(samples, q))
            yield {"call": "quantile", "samples": samples, "q": q}, expected, 1e-12
    for b in range(13):
        for c in range(13):
            yield {"call": "mcnemar", "b": b, "c": c}, mcnemar(b, c), 1e-12
    large = ((0, 60), (40, 70), (480, 520), (900, 1100), (5000, 5000), (4800, 5200), (1, 1000))
    for b, c in large:
        # A logarithm near n log n is taken of terms that cancel.
        tolerance = 4 * EPSILON * (b + c) * math.log(b + c + 2)
        yield {"call": "mcnemar", "b": b, "c": c}, mcnemar(b, c), max(tolerance, 1e-13)
    for n in (1, 2, 5, 20):
        for scale in (1, 0.1, 0.001):
            p = (rng.uniform(size=n) * scale).tolist()
            yield {"call": "holm", "p": p}, holm(p), 1e-14
    yield {"call": "holm", "p": [0.03, 0.01, 0.01, 0.03]}, [0.06, 0.04, 0.04, 0.06], 1e-14
    for n in (1, 2, 9, 40):
        blocks = rng.lognormal(sigma=1.0, size=(n, 2))
        ratios = blocks[:, 0] / blocks[:, 1]
        arguments = {"blocks": blocks.tolist()}
        yield {"call": "geometric_mean", **arguments}, float(numpy.prod(ratios) ** (1 / n)), 1e-12
        yield {"call": "median", **arguments}, float(numpy.median(ratios)), 1e-14
        yield {"call": "ratio", **arguments}, float(blocks[:, 0].sum() / blocks[:, 1].sum()), 1e-13


def main():
    every = list(cases())
    lines = "".join(json.dumps(call) + "\n" for call, _, _ in every)
    done = subprocess.run([sys.argv[1]], input=lines, text=True, check=True, stdout=subprocess.PIPE)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(every)
    for (call, expected, tolerance), got in zip(every, answers):
        numpy.testing.assert_allclose(got, expected, rtol=tolerance, atol=1e-300, err_msg=str(call))
    print(f"{len(every)} values agree")


if __name__ == "__main__":
    main()
