"""Lower case, white space and words: ours against this Python, for every character and in random
texts.
"""

import random
import re
import sys
import unicodedata

import pytest
from probe import ask

# Characters that this Python does not know yet may be letters to a newer utf8proc.
CODES = [
    c
    for c in range(sys.maxunicode + 1)
    if not 0xD800 <= c <= 0xDFFF and unicodedata.category(chr(c)) != "Cn"
]


WORDS = lambda text: re.findall(r"\w+", text)
# Each character between two letters, so that a space splits, and each beside capital sigmas, which
# ask for cased and ignorable.
CHARACTERS = {
    "lower": (lambda c: f"{c} AΣ{c} A{c}Σ {c}Σ AΣ{c}B {c}AΣ ", str.lower),
    "split": (lambda c: f"x{c}y ", str.split),
    "words": (lambda c: f"-{c}-", WORDS),
}


@pytest.mark.parametrize("call", CHARACTERS)
def test_every_character_is_as_in_python(program, call):
    make, truth = CHARACTERS[call]
    parts = [CODES[i : i + 4096] for i in range(0, len(CODES), 4096)]
    texts = ["".join(make(chr(c)) for c in part) for part in parts]
    for part, text, got in zip(
        parts, texts, ask(program("text_probe"), [{"call": call, "text": t} for t in texts])
    ):
        if got != truth(text):  # then which
            one = ask(program("text_probe"), [{"call": call, "text": make(chr(c))} for c in part])
            assert not [
                f"U+{c:04X}: {g!r}, expected {truth(make(chr(c)))!r}"
                for c, g in zip(part, one)
                if g != truth(make(chr(c)))
            ]
        assert got == truth(text)


ALPHABET = [
    *"abAB  \t\n.,'_09", *"ΣςσΑΌ", *"İıſKÅẞßŉǰ", "\u0301", "\u00ad", "\x1f", "\x85", "\u2028",
    "\u3000", "ⓐ", "Ⓐ", "ʰ", "𝒜", "𐐀", "😀", "…",
]


@pytest.mark.parametrize(
    "call, truth",
    [("lower", str.lower), ("split", str.split), ("strip", str.strip), ("words", WORDS)],
    ids=["lower", "split", "strip", "words"],
)
def test_random_texts_are_as_in_python(program, call, truth):
    rng = random.Random(1)
    texts = ["".join(rng.choice(ALPHABET) for _ in range(rng.randrange(12))) for _ in range(20000)]
    for text, got in zip(
        texts, ask(program("text_probe"), [{"call": call, "text": t} for t in texts])
    ):
        assert got == truth(text), repr(text)
