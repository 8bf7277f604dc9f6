"""Agreement of judges, and preferences, against scikit-learn, statsmodels and krippendorff, to
1e-9.
"""

import itertools
import math
import warnings

import pytest
from harness import skip
from probe import ask

try:
    import krippendorff
    import numpy
    import scipy.stats
    import statsmodels.api as models
    from sklearn.metrics import cohen_kappa_score
    from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa
except ImportError as missing:
    skip(f"{missing}; scripts/setup --tests installs it")


def value(number):
    return math.nan if number is None else number


def rated(rng, items, votes, labels, noise, missing=0.0):
    """Votes on items that each have a true label."""
    out = []
    for _ in range(items):
        truth = int(rng.integers(labels))
        row = [truth if rng.random() > noise else int(rng.integers(labels)) for _ in range(votes)]
        out.append([None if rng.random() < missing else vote for vote in row])
    return out


def kappas(rng):
    """(call, expected)"""
    for labels, noise in itertools.product((2, 3, 5, 10), (0.0, 0.2, 0.6, 1.0)):
        rows = rated(rng, 60, 2, labels, noise)
        yield {"call": "cohen", "pairs": rows}, cohen_kappa_score(*zip(*rows))
        rows = rated(rng, 40, int(rng.integers(2, 7)), labels, noise)
        yield (
            {"call": "fleiss", "items": rows},
            fleiss_kappa(aggregate_raters(numpy.array(rows))[0]),
        )
        for missing in (0.0, 0.3, 0.7):
            rows = rated(rng, 30, 4, labels, noise, missing)
            table = numpy.array([[numpy.nan if v is None else v for v in row] for row in rows]).T
            yield (
                {"call": "alpha", "items": rows},
                krippendorff.alpha(table, level_of_measurement="ordinal"),
            )
            flips = []
            for row in rows:
                pairs = [
                    a != b for a, b in itertools.combinations([v for v in row if v is not None], 2)
                ]
                if pairs:
                    flips.append(sum(pairs) / len(pairs))
            yield {"call": "flip", "items": rows}, sum(flips) / len(flips)
    one_label = [[1, 1]] * 9
    yield {"call": "cohen", "pairs": one_label}, math.nan
    yield {"call": "fleiss", "items": one_label}, math.nan
    yield {"call": "fleiss", "items": []}, math.nan
    yield {"call": "alpha", "items": [[1, None], [None, 2]]}, math.nan
    complete = rated(rng, 20, 3, 4, 0.4)
    with_gaps = complete + [[1, None, 2], [None, None, 3]]
    yield (
        {"call": "fleiss", "items": with_gaps},
        fleiss_kappa(aggregate_raters(numpy.array(complete))[0]),
    )


def jackknife(statistic, clusters):
    """Estimate and ends of Student's interval, from the statistic of all and without each
    cluster.
    """
    whole, without = statistic(None), numpy.array([statistic(c) for c in range(clusters)])
    error = numpy.sqrt((clusters - 1) / clusters * ((without - without.mean(0)) ** 2).sum(0))
    half = scipy.stats.t.ppf(0.975, clusters - 1) * error
    return whole, whole - half, whole + half


def fitted(outcomes, table):
    return (
        models.GLM(numpy.array(outcomes), numpy.array(table), family=models.families.Binomial())
        .fit(tol=1e-14, maxiter=200)
        .params
    )


def preferences(rng):
    for arms, clusters in ((2, 8), (3, 12), (5, 30)):
        strength = rng.normal(size=arms)
        games = []
        for cluster, _ in itertools.product(range(clusters), range(6)):
            a, b = (int(x) for x in rng.choice(arms, 2, replace=False))
            p = 1 / (1 + math.exp(strength[b] - strength[a]))
            games.append([a, b, 0.5 if rng.random() < 0.25 else float(rng.random() < p), cluster])

        def strengths(left_out):
            kept = [game for game in games if game[3] != left_out]
            table = [
                [float(game[0] == arm) - float(game[1] == arm) for arm in range(1, arms)]
                for game in kept
            ]
            values = numpy.concatenate([[0.0], fitted([game[2] for game in kept], table)])
            return values - values.mean()

        yield (
            {"call": "strengths", "games": games, "arms": arms, "clusters": clusters},
            numpy.array(jackknife(strengths, clusters)).T,
        )
    # An arm that never loses has no finite strength, and neither have two that never met.
    for games in ([[0, 1, 1.0, 0], [0, 1, 1.0, 1]], [[0, 1, 0.5, 0], [2, 3, 0.5, 1]]):
        arms = 2 if len(games[0]) and max(g[1] for g in games) == 1 else 4
        yield (
            {"call": "strengths", "games": games, "arms": arms, "clusters": 2},
            numpy.full((arms, 3), math.nan),
        )
    for clusters, slope in ((10, 0.0), (40, 1.5)):
        pairs = []
        for cluster, _ in itertools.product(range(clusters), range(4)):
            difference = float(rng.normal(20, 60))
            p = 1 / (1 + math.exp(-0.3 - slope * difference / 60))
            pairs.append(
                [
                    float(rng.choice([0.0, 0.5, 1.0], p=[0.8 * (1 - p), 0.2, 0.8 * p])),
                    difference,
                    cluster,
                ]
            )

        def odds(left_out):
            kept = [pair for pair in pairs if pair[2] != left_out]
            difference = numpy.array([pair[1] for pair in kept])
            table = numpy.column_stack(
                [numpy.ones(len(kept)), numpy.tanh(difference / difference.std())]
            )
            return fitted([pair[0] for pair in kept], table)[0]

        ends = numpy.array(jackknife(odds, clusters))
        yield {"call": "length", "pairs": pairs, "clusters": clusters}, 1 / (1 + numpy.exp(-ends))
    # Outcomes that the difference tells apart bound nothing.
    apart = [[1.0, 5.0 + i, i] for i in range(5)] + [[0.0, -5.0 - i, i + 5] for i in range(5)]
    yield {"call": "length", "pairs": apart, "clusters": 10}, numpy.full(3, math.nan)
    alike = [[1.0, 7.0, 0], [0.0, 7.0, 1], [0.5, 7.0, 2], [1.0, 7.0, 3]]
    yield (
        {"call": "length", "pairs": alike, "clusters": 0},
        numpy.array([0.625, math.nan, math.nan]),
    )


def check_values(program, cases):
    for (call, expected), got in zip(
        cases, ask(program("agreement_probe"), [call for call, _ in cases]), strict=True
    ):
        got = numpy.vectorize(value, otypes=[float])(numpy.array(got, dtype=object))
        numpy.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-9, err_msg=str(call)[:300])


@pytest.fixture(scope="module")
def agreements():
    """Cases of agreement by their call."""
    warnings.simplefilter("ignore")
    return list(kappas(numpy.random.default_rng(20)))


@pytest.mark.parametrize("call", ["cohen", "fleiss", "alpha", "flip"])
def test_agreement_is_that_of_the_packages(program, agreements, call):
    cases = [case for case in agreements if case[0]["call"] == call]
    assert cases
    check_values(program, cases)


def test_preferences_are_those_of_statsmodels(program):
    warnings.simplefilter("ignore")
    check_values(program, list(preferences(numpy.random.default_rng(20))))
