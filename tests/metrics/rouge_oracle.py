"""ROUGE-1, 2 and L, and the stemmer under them: ours against PyPI rouge-score and NLTK."""

import itertools
import random

import pytest
from harness import skip
from probe import ask

try:
    from nltk.stem.porter import PorterStemmer
    from rouge_score import rouge_scorer
except ImportError as missing:
    skip(missing)

# Word parts whose joins reach every rule of the stemmer, and its list of irregular words.
HEADS = [
    "", "s", "y", "sk", "tr", "pla", "relat", "condit", "ration", "val", "hes", "dig", "conform",
    "radic", "different", "vi", "ana", "oper", "feud", "decis", "hope", "cal", "form", "sens",
    "trip", "elec", "good", "rev", "allow", "infer", "air", "gyroscop", "adjust", "defens", "irrit",
    "replac", "depend", "adopt", "homolog", "commun", "activ", "angul", "effect", "bowdler", "prob",
    "rat", "ceas", "contr", "rol", "hopp", "tann", "fall", "hiss", "fizz", "fil", "conflat",
    "troubl", "siz", "agr", "plaster", "bl", "mot", "sing", "pon", "cares", "cat", "happ", "sk",
    "enj", "ge", "theo", "bio", "a", "e", "xy", "4", "20", "ee", "oa", "yy", "wow", "box", "say",
    "boo", "th",
]
TAILS = [
    "", "s", "es", "ss", "sses", "ies", "ied", "ed", "eed", "ing", "y", "ly", "ally", "alli",
    "fully", "fulli", "bly", "bli", "ably", "abli", "logy", "logi", "ational", "tional", "enci",
    "anci", "izer", "entli", "eli", "ousli", "ization", "ation", "ator", "alism", "iveness",
    "fulness", "ousness", "aliti", "iviti", "biliti", "icate", "ative", "alize", "iciti", "ical",
    "ful", "ness", "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent",
    "ion", "sion", "tion", "ou", "ism", "ate", "iti", "ous", "ive", "ize", "e", "le", "ll", "ell",
    "ying", "yed", "ingly", "edly", "ating", "bling", "izing", "tting", "lling", "ssing", "zzing",
    "7", "e7",
]
IRREGULAR = [
    "sky", "skies", "dying", "lying", "tying", "news", "innings", "inning", "outings", "outing",
    "cannings", "canning", "howe", "proceed", "exceed", "succeed", "succeeds", "dies", "died",
    "ties", "spied", "flies", "sky7", "as", "by", "is", "ay", "the",
]
PIECES = [
    "naïve", "CAFÉ", "don't", "state-of-the-art", "3.14", "İstanbul", "Kelvin", "東京", "ΟΔΟΣ", "x",
    "_under_", "ﬁne", "e\u0301", "٣", "²", "running", "Runs", "ran", "happily", "generalizations",
    "the", "a", "of", "–", "…", "\n", "\u2003", "\x1f", "",
]


def test_words_are_stemmed_as_by_nltk(program):
    rng = random.Random(5)
    words = {head + tail for head, tail in itertools.product(HEADS, TAILS)} | set(IRREGULAR)
    words |= {a + b + c for a, b, c in itertools.product(HEADS[:40], TAILS, TAILS[:25])}
    words |= {
        "".join(rng.choice("aeiouybcdlnstwxz") for _ in range(rng.randrange(1, 5)))
        + rng.choice(TAILS)
        for _ in range(60000)
    }
    words = sorted(words - {""})
    theirs = PorterStemmer()
    for word, got in zip(
        words, ask(program("text_probe"), [{"call": "stem", "text": w} for w in words])
    ):
        assert got == theirs.stem(word), word


def text(rng, vocabulary, longest):
    return " ".join(rng.choice(vocabulary) for _ in range(rng.randrange(longest)))


def changed(rng, words, vocabulary):
    """A near copy: some words gone, some new, some moved."""
    kept = [w for w in words.split(" ") if rng.random() < 0.8]
    for _ in range(rng.randrange(4)):
        kept.insert(rng.randrange(len(kept) + 1), rng.choice(vocabulary))
    if len(kept) > 2 and rng.random() < 0.5:
        i, j = rng.sample(range(len(kept)), 2)
        kept[i], kept[j] = kept[j], kept[i]
    return " ".join(kept)


def pairs():
    rng = random.Random(6)
    vocabulary = PIECES + [h + t for h in HEADS[5:40] for t in TAILS[1:40:3]]
    for n in range(2000):
        some = rng.sample(vocabulary, rng.randrange(3, 30))  # so that words come again
        references = [text(rng, some, 40) for _ in range(1 + n % 3)]
        yield changed(rng, references[0], some) if n % 2 else text(rng, some, 40), references


@pytest.mark.parametrize("stem", [True, False], ids=["stemmed", "as-it-is"])
def test_rouge_is_that_of_rouge_score(program, stem):
    every, positive = list(pairs()), 0
    every += [
        ("the cat sat", ["the cat sat down"]),
        ("", ["a cat"]),
        ("a cat", [""]),
        ("", [""]),
        ("…", ["…"]),
    ]
    scorer = rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=stem)
    got = ask(
        program("text_probe"),
        [{"call": "rouge", "text": p, "references": r, "stem": stem} for p, r in every],
    )
    for (prediction, references), ours in zip(every, got):
        theirs = [scorer.score(reference, prediction) for reference in references]
        for name, mine in zip(("rouge1", "rouge2", "rougeL"), ours, strict=True):
            best = max((t[name] for t in theirs), key=lambda s: s.fmeasure)
            if len(references) > 1:  # where several are as good, any of them is
                equal = [t[name] for t in theirs if abs(t[name].fmeasure - best.fmeasure) < 1e-12]
                best = min(
                    equal, key=lambda s: abs(s.precision - mine[0]) + abs(s.recall - mine[1])
                )
            positive += 0 < best.fmeasure < 1
            assert max(abs(a - b) for a, b in zip(mine, best)) <= 1e-9, (
                f"{name}: {prediction!r} for {references}"
            )
    assert positive > 3000
    assert abs(got[-5][2][2] - 6 / 7) < 1e-12  # rouge-score, by hand: 2 * 1 * .75 / 1.75
