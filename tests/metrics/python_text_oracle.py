"""Lower case, white space and words: ours against this Python, for every character and in random texts.

usage: python_text_oracle.py PROBE
"""
import random
import re
import sys
import unicodedata

from probe import ask

# Characters that this Python does not know yet may be letters to a newer utf8proc.
CODES = [c for c in range(sys.maxunicode + 1) if not 0xD800 <= c <= 0xDFFF and unicodedata.category(chr(c)) != "Cn"]


def every_character(probe):
    """Each between two letters, so that a space splits, and each beside capital sigmas, which ask for cased and ignorable."""
    block = 4096
    parts = [CODES[i:i + block] for i in range(0, len(CODES), block)]
    checks = {
        "lower": (lambda c: f"{c} AΣ{c} A{c}Σ {c}Σ AΣ{c}B {c}AΣ ", str.lower),
        "split": (lambda c: f"x{c}y ", str.split),
        "words": (lambda c: f"-{c}-", lambda t: re.findall(r"\w+", t)),
    }
    for call, (make, truth) in checks.items():
        texts = ["".join(make(chr(c)) for c in part) for part in parts]
        for part, text, got in zip(parts, texts, ask(probe, [{"call": call, "text": t} for t in texts])):
            if got == truth(text):
                continue
            one = ask(probe, [{"call": call, "text": make(chr(c))} for c in part])
            wrong = [f"U+{c:04X}: {g!r}, expected {truth(make(chr(c)))!r}" for c, g in zip(part, one) if g != truth(make(chr(c)))]
            sys.exit(f"{call}: {len(wrong)} differ: {wrong[:20]}")
        print(f"{call}: {len(CODES)} characters alike")


def random_texts(probe):
    rng = random.Random(1)
    alphabet = [*"abAB  \t\n.,'_09", *"ΣςσΑΌ", *"İıſKÅẞßŉǰ", "\u0301", "\u00ad", "\x1f", "\x85", "\u2028", "\u3000", "ⓐ", "Ⓐ", "ʰ", "𝒜", "𐐀", "😀", "…"]
    texts = ["".join(rng.choice(alphabet) for _ in range(rng.randrange(12))) for _ in range(20000)]
    for call, truth in (("lower", str.lower), ("split", str.split), ("strip", str.strip), ("words", lambda t: re.findall(r"\w+", t))):
        for text, got in zip(texts, ask(probe, [{"call": call, "text": t} for t in texts])):
            assert got == truth(text), f"{call} {text!r}: {got!r}, expected {truth(text)!r}"
    print(f"{len(texts)} texts alike")


if __name__ == "__main__":
    every_character(sys.argv[1])
    random_texts(sys.argv[1])
