"""SQuAD 2.0's exact match and F1: ours against a copy of the algorithm written for this test,
and against PyPI torchmetrics.

Texts made here, Unicode included; and dev-v2.0.json with a perfect, a noisy and an all-null
prediction file, question by question and in sum, with the has-answer and no-answer parts.
"""

import collections
import json
import random
import re
import string

import pytest
from harness import skip
from probe import ask

try:
    import torch
    from torchmetrics.functional.text import squad as torchmetrics_squad
except ImportError as missing:
    skip(missing)
torch.set_num_threads(1)
ARTICLE = re.compile(r"\b(?:a|an|the)\b", re.UNICODE)


def words(text):
    kept = "".join(c for c in text.lower() if c not in string.punctuation)
    return ARTICLE.sub(" ", kept).split()


def f1(gold, predicted):
    if not gold or not predicted:
        return float(gold == predicted)
    common = sum((collections.Counter(gold) & collections.Counter(predicted)).values())
    if common == 0:
        return 0.0
    precision, recall = common / len(predicted), common / len(gold)
    return 2 * precision * recall / (precision + recall)


def score(prediction, references):
    golds = [words(r) for r in references if words(r)] or [[]]
    predicted = words(as_asked(prediction, references))
    return [float(predicted in golds), max(f1(gold, predicted) for gold in golds)]


def as_asked(prediction, references):
    """The script's words for a prediction that says `null`, or nothing, as our prompts ask for
    it.
    """
    if [words(prediction)] in ([[]], [["null"]]):
        return (
            "null"
            if ["null"] in map(words, references)
            else ""
            if not any(map(words, references))
            else prediction
        )
    return prediction


def by_torchmetrics(prediction, references):
    """It knows no question without an answer: the empty answer stands for that."""
    prediction = as_asked(prediction, references)
    target = {"answers": {"answer_start": [0], "text": references or [""]}, "id": "q"}
    got = torchmetrics_squad([{"prediction_text": prediction, "id": "q"}], [target])
    return [float(got["exact_match"]) / 100, float(got["f1"]) / 100]


def mean(rows):
    return [sum(r[i] for r in rows) / len(rows) if rows else 0.0 for i in (0, 1)] + [len(rows)]


def check_scores(probe, questions):
    """[(prediction, references)] against both truths; returns the true scores of the parts."""
    ours = ask(probe, [{"call": "squad", "questions": questions}])[0]
    scores = [score(p, r) for p, r in questions]
    for (prediction, references), truth, got in zip(questions, scores, ours["each"], strict=True):
        where = f"{prediction!r} for {references}"
        assert got == truth, where
        # float32, and percent
        other = by_torchmetrics(prediction, [r for r in references if words(r)])
        assert all(abs(a - b) < 1e-6 for a, b in zip(got, other)), f"{where}; torchmetrics {other}"
    parts = {
        "all": scores,
        "has_answer": [s for s, (_, r) in zip(scores, questions) if r],
        "no_answer": [s for s, (_, r) in zip(scores, questions) if not r],
    }
    for part, rows in parts.items():
        truth = mean(rows)
        assert truth[2] == ours[part][2], part
        assert all(abs(a - b) < 1e-12 for a, b in zip(truth, ours[part])), part
    return parts


PIECES = [
    "null", "Null.", "a", "the", "An", "THE", "a's", "the-", "bow", "Crow", "crow", "12", "3.5",
    "$4", "_the_", "the_", "naïve", "ΟΔΟΣ", "ΣΑΣ.", "Σ", "İzmir", "ǅ", "straße", "東京", "the東", "é́",
    "á", "а", "ª", "²", "the²", "the\u0301", "\u00a0", "\u2003", "\x1c", "\x85", "“the”", "—",
    "the—a", "¿", "\u200b", "a\u200bthe", "…", "", " ", "\n", "\t", "´", "`", "^", "~", "K", "ﬁ",
]


def own_questions(rng):
    """Random joins of the pieces above; a part of the references is a change of the prediction."""

    def text():
        return rng.choice(["", " ", "", " "]).join(
            rng.choice(PIECES) + rng.choice(["", " ", " ", " "]) for _ in range(rng.randrange(6))
        )

    for _ in range(3000):
        prediction, references = text(), [text() for _ in range(rng.randrange(4))]
        if references and rng.random() < 0.4:
            references[0] = rng.choice(
                [
                    prediction.upper(), prediction.replace("a", "the a"), f"“{prediction}”",
                    prediction + " crow",
                ]
            )
        yield prediction, references


def noisy(rng, references, others):
    gold = rng.choice(references) if references else ""
    draw = rng.random()
    if draw < 0.25:
        return gold
    if draw < 0.35:
        return rng.choice(["the ", "A ", "an "]) + gold.upper() + rng.choice([".", "", "!?"])
    if draw < 0.5:
        pieces = gold.split()
        rng.shuffle(pieces)
        return " ".join(pieces[: rng.randrange(1, len(pieces) + 1)] if pieces else [])
    if draw < 0.65:
        return gold + " " + rng.choice(others)
    if draw < 0.8:
        return rng.choice(others)
    return rng.choice(["", "null", "—", "the", "no answer"])


@pytest.fixture(scope="module")
def references(published):
    """The references of SQuAD 2.0's questions."""
    file = published("squad/dev-v2.0.json")
    return [
        [a["text"] for a in q["answers"]]
        for article in json.loads(file.read_text(encoding="utf-8"))["data"]
        for paragraph in article["paragraphs"]
        for q in paragraph["qas"]
    ]


def test_perfect_predictions_score_1(program, references):
    parts = check_scores(program("text_probe"), [(r[0] if r else "", r) for r in references])
    assert mean(parts["all"])[:2] == [1, 1]


def test_noisy_predictions_score_as_counted(program, references):
    others, rng = [r for some in references for r in some], random.Random(7)
    parts = check_scores(program("text_probe"), [(noisy(rng, r, others), r) for r in references])
    assert all(0.1 < x < 0.9 for part in parts.values() for x in mean(part)[:2])


def test_predictions_without_answers_are_right_where_there_is_none(program, references):
    parts = check_scores(program("text_probe"), [("", r) for r in references])
    assert mean(parts["no_answer"])[:2] == [1, 1]
    assert mean(parts["has_answer"])[:2] == [0, 0]


def test_made_texts_score_as_counted(program):
    check_scores(program("text_probe"), list(own_questions(random.Random(3))))


def test_made_texts_are_normalised_as_in_python(program):
    texts = [p for p, _ in own_questions(random.Random(4))]
    for text, got in zip(
        texts,
        ask(program("text_probe"), [{"call": "normalise", "text": t} for t in texts]),
        strict=True,
    ):
        assert got == " ".join(words(text)), repr(text)
