"""The deterministic statistics, computed once more by numpy and exact fractions."""

import fractions
import itertools
import math
import sys

import numpy
import pytest
import scipy.optimize
import scipy.stats
import statsmodels.stats.meta_analysis
from probe import ask

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
    return [max(scaled[j] for j in order[: rank[i] + 1]) for i in range(len(p))]


def student(n):
    return float(scipy.stats.t.ppf(0.975, n - 1))


def tango(pairs):
    """Score interval of paired proportions (Tango 1998), by its closed restricted estimate;
    Student's critical value.
    """
    n = len(pairs)
    gains = sum(b > a for a, b in pairs)
    losses = sum(a > b for a, b in pairs)

    def away(delta):  # of gains - losses
        a = 2 * n
        b = -gains - losses + (2 * n - gains + losses) * delta
        c = -losses * delta * (1 - delta)
        rare = (math.sqrt(max(0, b * b - 4 * a * c)) - b) / (2 * a)
        variance = n * (2 * rare + delta * (1 - delta))
        return (gains - losses - n * delta) / math.sqrt(variance) if variance > 0 else 0

    estimate, t = (gains - losses) / n, student(n)
    low = (
        -1.0
        if gains - losses == -n
        else scipy.optimize.brentq(lambda d: away(d) - t, -1 + 1e-12, estimate - 1e-12, xtol=1e-14)
    )
    high = (
        1.0
        if gains - losses == n
        else scipy.optimize.brentq(lambda d: away(d) + t, estimate + 1e-12, 1 - 1e-12, xtol=1e-14)
    )
    return [low, high]


def wilson(right, n):
    t, p = student(n), right / n
    middle = (p + t * t / (2 * n)) / (1 + t * t / n)
    half = t / (1 + t * t / n) * math.sqrt(p * (1 - p) / n + t * t / (4 * n * n))
    return [middle - half, middle + half]


def lower_score_end(values, shares, least, t):
    """The lowest mean that is not refuted: its variance is that of the likeliest distribution
    with this mean on the values and on `least`, by the Lagrangian of the empirical likelihood
    (Owen 1988).
    """
    values, shares = numpy.asarray(values, float), numpy.asarray(shares, float) / numpy.sum(shares)
    least = min(least, values.min())
    estimate, effective = float(shares @ values), 1 / float(shares @ shares)
    if estimate <= least:
        return least

    def refutes(mean):
        away, most = values - mean, 1 / (mean - least)
        slope = lambda tilt: float(shares @ (away / (1 + tilt * away)))
        tilt = most
        with numpy.errstate(divide="ignore", invalid="ignore"):
            if values.min() <= least or slope(most) < 0:
                tilt = scipy.optimize.brentq(slope, 0, most * (1 - 1e-13))
        mass = shares / (1 + tilt * away)
        variance = float(mass @ away**2) + max(0, 1 - mass.sum()) * (least - mean) ** 2
        return effective * (estimate - mean) ** 2 / variance - t * t

    width = estimate - least
    return scipy.optimize.brentq(refutes, least + 1e-9 * width, estimate - 1e-9 * width, xtol=1e-10)


def score_interval(values, shares, least, most, clusters):
    t = student(clusters)
    return [
        lower_score_end(values, shares, least, t),
        -lower_score_end(-numpy.asarray(values), shares, -most, t),
    ]


def student_mean(values):
    """Of equal clusters the jackknife is the usual interval of a mean."""
    half = student(len(values)) * float(numpy.std(values, ddof=1)) / math.sqrt(len(values))
    return [float(numpy.mean(values)) - half, float(numpy.mean(values)) + half]


def ratio_ends(blocks):
    total = blocks.sum(axis=0)
    without = numpy.log((total[0] - blocks[:, 0]) / (total[1] - blocks[:, 1]))
    shares = (blocks / total).sum(axis=1)
    degrees = max(1.0, shares.sum() ** 2 / (shares**2).sum() - 1)
    n = len(blocks)
    half = scipy.stats.t.ppf(0.975, degrees) * math.sqrt(
        (n - 1) / n * ((without - without.mean()) ** 2).sum()
    )
    middle = math.log(total[0] / total[1])
    return [math.exp(middle - half), math.exp(middle + half)]


def random_effects(effects, variances):
    """statsmodels' DerSimonian-Laird and Hartung-Knapp; neither variance nor scale go below what
    is possible, as ours.
    """
    found = statsmodels.stats.meta_analysis.combine_effects(effects, variances, method_re="dl")
    between, mean, plain, scaled = (
        found.tau2, found.mean_effect_re, found.sd_eff_w_re, found.sd_eff_w_re_hksj,
    )
    if between < 0:  # it goes on with the negative one
        between, mean, plain = 0, found.mean_effect_fe, found.sd_eff_w_fe
        scaled = math.sqrt(((effects - mean) ** 2 / variances).sum() / (len(effects) - 1)) * plain
    half = student(len(effects)) * max(plain, scaled)
    return [mean, mean - half, mean + half, math.sqrt(between)]


def signs(differences):
    """The share of all choices of signs with a sum as far from 0, one by one."""
    away = abs(sum(differences))
    choices = [
        sum(s * d for s, d in zip(choice, differences))
        for choice in itertools.product((1, -1), repeat=len(differences))
    ]
    return sum(abs(total) >= away for total in choices) / len(choices)


def paired_cases(rng):
    for n in (6, 11, 40, 300):
        for losses, gains in ((0, 0), (0.02, 0), (0.1, 0.05), (0.3, 0.3), (0, 0.2), (0.5, 0.1)):
            pairs = []
            for _ in range(n):
                luck = rng.uniform()
                both = float(rng.uniform() < 0.6)
                pairs.append(
                    [1.0, 0.0]
                    if luck < losses
                    else [0.0, 1.0]
                    if luck < losses + gains
                    else [both, both]
                )
            yield {"call": "tango", "pairs": pairs}, tango(pairs), 1e-6
            differences = [b - a for a, b in pairs]
            ends = zip(tango(pairs), student_mean(differences))
            yield (
                {"call": "difference", "pairs": pairs},
                [f(pair) for f, pair in zip((min, max), ends)],
                1e-6,
            )
            scores = [b for _, b in pairs]
            ends = zip(wilson(sum(scores), n), student_mean(scores))
            yield (
                {"call": "level", "pairs": pairs},
                [f(pair) for f, pair in zip((min, max), ends)],
                1e-6,
            )


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
    for n in (1, 2, 5, 12):
        differences = rng.integers(-4, 5, size=n).tolist()
        yield {"call": "clustered_mcnemar", "differences": differences}, signs(differences), 1e-12
    yield from paired_cases(rng)
    for n in (2, 3, 5, 12):
        for apart in (0, 0.05, 0.5):
            variances = rng.uniform(0.001, 0.02, size=n)
            effects = rng.normal(1.5, apart, size=n) + rng.normal(size=n) * numpy.sqrt(variances)
            yield (
                {
                    "call": "random_effects",
                    "effects": numpy.stack([effects, variances], axis=1).tolist(),
                },
                random_effects(effects, variances),
                1e-8,
            )
    for n in (2, 6, 40):
        blocks = rng.lognormal(sigma=1.0, size=(n, 2))
        yield {"call": "ratio_ends", "blocks": blocks.tolist()}, ratio_ends(blocks), 1e-9
    for n in (1, 2, 9, 40):
        blocks = rng.lognormal(sigma=1.0, size=(n, 2))
        ratios = blocks[:, 0] / blocks[:, 1]
        arguments = {"blocks": blocks.tolist()}
        yield {"call": "geometric_mean", **arguments}, float(numpy.prod(ratios) ** (1 / n)), 1e-12
        yield {"call": "median", **arguments}, float(numpy.median(ratios)), 1e-14
        yield {"call": "ratio", **arguments}, float(blocks[:, 0].sum() / blocks[:, 1].sum()), 1e-13


CASES = {}
for case in cases():
    CASES.setdefault(case[0]["call"], []).append(case)


@pytest.mark.parametrize("call", CASES)
def test_values_are_those_of_numpy_scipy_and_exact_fractions(program, call):
    answers = ask(program("statistics_probe"), [asked for asked, _, _ in CASES[call]])
    for (asked, expected, tolerance), got in zip(CASES[call], answers, strict=True):
        absolute = max(1e-300, tolerance if isinstance(expected, list) else 0)
        numpy.testing.assert_allclose(
            got, expected, rtol=tolerance, atol=absolute, err_msg=str(asked)
        )
