"""Every score of `compare` has its interval and its difference from the baseline's, as numpy's own
jackknife and exact tests find them from the database.
"""

import csv
import io
import json
import random
import sys

import numpy
import pytest
import scipy.stats
from harness import ROOT, change, query

sys.path.insert(0, str(ROOT / "tests/metrics"))
from statistics_oracle import holm, score_interval, signs  # noqa: E402


def answer(db):
    """Answers of all kinds, the method's mostly better than the baseline's."""
    rng = random.Random(3)
    for row in query(
        db,
        "SELECT generation.id, label, generation.fields AS answers, sample.fields FROM generation"
        " JOIN sample ON sample.id = sample_id JOIN run ON run.id = run_id ORDER BY 1",
    ):
        answers = json.loads(row["answers"])
        for given, field in zip(answers, json.loads(row["fields"])):
            right = field["references"][0] if field["references"] else ""
            given.pop("no_value", None)
            given["text"] = (
                right
                if rng.random() < (0.5 if row["label"] == "ar" else 0.7)
                else rng.choice(["", "nothing of it", "B"])
            )
        change(db, "UPDATE generation SET fields = ? WHERE id = ?", json.dumps(answers), row["id"])


def parts(db, dataset, label, key):
    """{cluster: [(group, numerator, denominator)]} of a total, from its definition and the
    stored scores.
    """
    found = {}
    for row in query(
        db,
        "SELECT sample.cluster, sample.category, score.field, score.metric, score.value,"
        " score.details FROM score JOIN generation ON generation.id = generation_id JOIN run ON"
        " run.id = run_id JOIN sample ON sample.id = sample_id JOIN dataset ON dataset.id ="
        " run.dataset_id WHERE dataset.name = ? AND label = ?",
        dataset,
        label,
    ):
        details = json.loads(row["details"] or "{}")
        if key == "accuracy" and row["metric"] == "accuracy":
            one = ("", row["value"], 1)
        elif (
            key.startswith("f1")
            and row["metric"] == "value_correct"
            and (key == "f1_strict" or details["annotated"])
        ):
            letters = details["counts_as"]
            right = letters == "vc"
            one = (
                (row["category"], row["field"]) if key == "f1_macro" else "",
                2 * right,
                {"nn": 0, "nv": 1, "vn": 1, "vc": 2, "vw": 2}[letters],
            )
        else:
            continue
        found.setdefault(row["cluster"], []).append(one)
    return found


def jackknife(before, after):
    """(score, its interval, difference, its interval) of the method `after`: Student's t, by
    leaving out one cluster at a time, with the degrees of freedom of as many equal clusters;
    widened to the score interval.
    """
    clusters = sorted({*before, *after})
    groups = sorted({g for arm in (before, after) for of in arm.values() for g, *_ in of}, key=str)

    def sums(arm):
        out = numpy.zeros((2, len(clusters), len(groups)))
        for c, cluster in enumerate(clusters):
            for group, numerator, denominator in arm.get(cluster, []):
                out[:, c, groups.index(group)] += numerator, denominator
        return out

    def score(of, kept):
        numerators, denominators = numpy.einsum("rc,kcg->krg", kept, of)
        with numpy.errstate(invalid="ignore"):
            return numpy.nanmean(
                numpy.where(denominators > 0, numerators / denominators, numpy.nan), axis=1
            )

    ours, theirs, n = sums(after), sums(before), len(clusters)
    whole, without = numpy.ones((1, n)), 1 - numpy.eye(n)

    def shares(of):
        """The share of each cluster in the mean over groups of ratios of sums."""
        denominators = of[1]
        there = denominators.sum(axis=0) > 0
        return (denominators[:, there] / denominators[:, there].sum(axis=0)).mean(axis=1)

    def interval(estimate, values, share, influences, range_):
        effective = share.sum() ** 2 / (share**2).sum()
        half = scipy.stats.t.ppf(0.975, max(1, effective - 1)) * numpy.sqrt(
            (n - 1) / n * ((values - values.mean()) ** 2).sum()
        )
        there = share > 0
        low, high = score_interval(
            estimate + influences[there] / share[there], share[there], *range_, there.sum()
        )
        return [min(low, estimate - half), max(high, estimate + half)]

    def influences(of):
        return (1 - shares(of)) * (score(of, whole)[0] - score(of, without))

    value, difference = score(ours, whole)[0], score(ours, whole)[0] - score(theirs, whole)[0]
    level = interval(value, score(ours, without), shares(ours), influences(ours), (0, 1))
    apart = interval(
        difference,
        score(ours, without) - score(theirs, without),
        (shares(ours) + shares(theirs)) / 2,
        influences(ours) - influences(theirs),
        (-1, 1),
    )
    return value, level, difference, apart


def scored_run(pardec, model, name, *args):
    """The database of a run whose answers were replaced and scored."""
    db = pardec.folder / f"{name}.sqlite"
    pardec.good(
        "run", "--model", model, "--db", db, "--progress", "none", "--warmup", 0,
        "--max-new-tokens", 4, "--per-field", 2, *args,
    )
    answer(db)
    pardec.good("score", "--db", db)
    return db


def compared(pardec, db):
    return json.loads(pardec.good("compare", "--db", db, "--format", "json"))["rows"]


@pytest.fixture(scope="module")
def values(pardec, model):
    """A scored run of two datasets of values."""
    return scored_run(
        pardec, model, "values", "--decoder", "ar,hpd", "--dataset", "oa-mine,ae-110k"
    )


def test_intervals_equal_the_jackknife_of_numpy(pardec, values):
    db = values
    for row in compared(pardec, db):
        dataset, label = row["dataset"].split()[0], row["arm"]
        for key in ("f1_micro", "f1_macro", "f1_strict"):
            before, after = parts(db, dataset, "ar", key), parts(db, dataset, label, key)
            value, ends, difference, difference_ends = jackknife(before, after)
            assert abs(row[key] - value) < 1e-12, (
                f"{dataset} {label} {key}: {row[key]}, expected {value}"
            )
            ours = row[f"{key}_interval"]
            assert numpy.allclose(ours, ends, atol=2e-4), (
                f"{dataset} {label} {key}: {ours}, numpy's {ends}"
            )
            assert ours[0] < value < ours[1], f"{dataset} {label} {key}: {ours}, numpy's {ends}"
            if label == "ar":
                assert row[f"{key}_difference"] is None, (
                    f"{dataset} {key}: the baseline has no difference"
                )
                continue
            got = row[f"{key}_difference"]
            assert abs(got["estimate"] - difference) < 1e-12, (
                f"{dataset} {label} {key}: {got}, numpy's {difference} {difference_ends}"
            )
            assert numpy.allclose(got["interval"], difference_ends, atol=2e-4), (
                f"{dataset} {label} {key}: {got}, numpy's {difference} {difference_ends}"
            )
            assert got["interval"][0] > 0, (
                f"{dataset} {label} {key}: answers that are much better are: {got}"
            )


def test_letters_are_compared_by_the_exact_test_of_texts(pardec, model):
    """With Holm's adjustment for all of them; four texts are too few for an interval."""
    db = scored_run(
        pardec, model, "choices", "--arm", "ar=ar,ask=separately", "--arm", "ippd=ippd", "--arm",
        "two=ippd,contexts=2", "--dataset", "race",
    )
    raw, shown = [], []
    for row in compared(pardec, db):
        if row["arm"] == "ar":
            continue
        right = {
            label: {
                (r["cluster"], r["key"], r["field"]): r["value"]
                for r in query(
                    db,
                    "SELECT sample.key, sample.cluster, score.field, value FROM score JOIN"
                    " generation ON generation.id = generation_id JOIN run ON run.id = run_id JOIN"
                    " sample ON sample.id = sample_id WHERE metric = 'accuracy' AND label = ?",
                    label,
                )
            }
            for label in ("ar", row["arm"])
        }
        theirs, ours = right["ar"], right[row["arm"]]
        texts = sorted({cluster for cluster, *_ in ours})
        raw.append(
            signs([sum(int(ours[k] - theirs[k]) for k in ours if k[0] == text) for text in texts])
        )
        got = row["accuracy_difference"]
        shown.append(got["p_mcnemar_holm"])
        assert got["interval"] == [None, None], (
            f"{row['arm']}: no interval over four texts, found {got}"
        )
        assert row["accuracy_interval"] is None, (
            f"{row['arm']}: no interval over four texts, found {got}"
        )
        assert (
            abs(got["estimate"] - (sum(ours.values()) - sum(theirs.values())) / len(ours)) < 1e-12
        ), f"{row['arm']}: {got}"
    assert len(raw) == 2
    assert numpy.allclose(shown, holm(raw), rtol=1e-12)


def test_a_terminal_shows_the_difference_of_the_first_score(pardec, values):
    """Intervals of every score are for programs."""

    def header(*how):
        lines = pardec.good("compare", "--db", values, "--format", "md", *how).splitlines()
        return next(line for line in lines if line.startswith("| dataset"))

    brief, wide = header(), header("--wide")
    assert [cell.strip() for cell in brief.split("|")[1:-1]] == [
        "dataset", "arm", "speedup", "difference", "verdict", "F1 micro", "tokens per pass",
    ]
    assert "F1 micro - baseline's" in wide
    assert "F1 macro - baseline's" not in wide
    assert "F1 micro interval" not in wide
    assert "| difference" not in wide


def test_csv_has_the_numbers_of_json(pardec, values):
    db = values
    table = list(csv.DictReader(io.StringIO(pardec.good("compare", "--db", db, "--format", "csv"))))
    rows = compared(pardec, db)
    number = lambda text: float(text) if text else None
    for line, row in zip(table, rows, strict=True):
        for key in ("speedup", "f1_micro", "f1_strict"):
            ends = [number(line[key + end]) for end in ("_low", "_high")]
            assert ends == (row[key + "_interval"] or [None, None]), (
                f"{key}: {ends}, in json {row[key + '_interval']}"
            )
        got = [number(line["f1_macro_difference" + part]) for part in ("", "_low", "_high")]
        difference = row["f1_macro_difference"]
        assert got == (
            [difference["estimate"], *difference["interval"]] if difference else [None] * 3
        ), f"{got}, in json {difference}"
