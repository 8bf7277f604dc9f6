#!/usr/bin/env python3
"""Compares the tokenizer with PyPI `tokenizers`: oracle_test.py TOKENIZER_DUMP

Ids, texts and pieces of all data, of generated strings and of many small tokenizers with random options. The
data is $PARDEC_TEST_DATA, else ../shared/data beside the repository.
"""

import contextlib
import copy
import glob
import json
import os
import random
import subprocess
import sys
import tempfile

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.environ.get("PARDEC_TEST_DATA") or os.path.join(HERE, "..", "..", "..", "shared", "data")
DUMP = sys.argv[1]
GENERATED = 20000
SHOWN = 5

# Letters and digits of Unicode 15 and 16, which the oracle's Oniguruma knows and 6.9.8 (Unicode 14) does not.
NEWER_LETTERS = """1c89-1c8a a7cb-a7cd a7da-a7dc 105c0-105f3 10d4a-10d65 10d6f-10d85 10ec2-10ec4 1123f-11240
11380-11389 1138b 1138e 11390-113b5 113b7 113d1 113d3 11bc0-11be0 11f02 11f04-11f10 11f12-11f33
1342f 13441-13446 13460-143fa 16100-1611d 16d40-16d6c 18cff 1b132 1b155 1df25-1df2a 1e030-1e06d
1e4d0-1e4eb 1e5d0-1e5ed 1e5f0 2b739 2ebf0-2ee5d 31350-323af"""
NEWER_DIGITS = """10d40-10d49 116d0-116e3 11bf0-11bf9 11f50-11f59 16130-16139 16d70-16d79 1ccf0-1ccf9 1d2c0-1d2d3
1e4f0-1e4f9 1e5f1-1e5fa"""


def code_points(ranges):
    out = set()
    for part in ranges.split():
        ends = part.split("-")
        out.update(range(int(ends[0], 16), int(ends[-1], 16) + 1))
    return out


NEWER = code_points(NEWER_LETTERS) | code_points(NEWER_DIGITS)


class Report:
    def __init__(self):
        self.passed = self.failed = self.unanswered = 0

    def check(self, what, got, want, context=""):
        if want is None:
            self.unanswered += 1
        elif got == want:
            self.passed += 1
        else:
            self.failed += 1
            if self.failed <= SHOWN:
                print(f"FAILED {what}\n  input {spell(context)}\n  got   {spell(got)}\n  want  {spell(want)}")


def spell(value):
    """A value, and its code points when it is a text."""
    shown = ascii(value)
    if isinstance(value, str):
        shown += " = " + " ".join(f"U+{ord(c):04X}" for c in value[:40])
    return shown if len(shown) < 1500 else shown[:1500] + " ..."


class Subject:
    """Our tokenizer of one file."""

    def __init__(self, path):
        self.path = path

    def ask(self, requests):
        with tempfile.TemporaryFile("w+", encoding="utf-8") as file:
            file.writelines(json.dumps(request) + "\n" for request in requests)
            file.seek(0)
            run = subprocess.run([DUMP, self.path], stdin=file, capture_output=True, encoding="utf-8")
        if run.returncode:
            raise SystemExit(f"tokenizer_dump {self.path}: {run.stderr}")
        answers = [json.loads(line) for line in run.stdout.split("\n") if line]
        assert len(answers) == len(requests), f"{len(answers)} answers to {len(requests)} requests"
        return answers


def answers_of(batch, single, items):
    """batch(items), or one by one with None where the oracle gives up (its panics are no Exception)."""
    try:
        return batch(items)
    except BaseException as error:  # pylint: disable=broad-except
        if isinstance(error, KeyboardInterrupt):
            raise

    def one(item):
        try:
            return single(item)
        except BaseException:  # pylint: disable=broad-except
            return None

    return [one(item) for item in items]


def compare(report, name, path, texts, id_lists=()):
    """Ids of `texts` with special tokens, of every fourth also without; the texts of these ids and of `id_lists`,
    special tokens skipped, of every fourth also kept."""
    oracle, subject = Tokenizer.from_file(path), Subject(path)
    asked, want = [], []
    for special, some in ((True, texts), (False, texts[::4])):
        asked += [{"encode": text, "special": special} for text in some]
        want += answers_of(
            lambda items: oracle.encode_batch(items, add_special_tokens=special),
            lambda item: oracle.encode(item, add_special_tokens=special),
            some,
        )
    for request, ids, wanted in zip(asked, subject.ask(asked), want):
        report.check(
            f"{name}: encode, special={request['special']}",
            ids,
            wanted.ids if wanted else None,
            request["encode"],
        )
    lists = list(id_lists) + [wanted.ids for wanted in want[: len(texts)] if wanted]
    asked, want = [], []
    for skip, some in ((True, lists), (False, lists[::4])):
        asked += [{"decode": ids, "skip": skip} for ids in some]
        want += answers_of(
            lambda items: oracle.decode_batch(items, skip_special_tokens=skip),
            lambda item: oracle.decode(item, skip_special_tokens=skip),
            some,
        )
    for request, text, wanted in zip(asked, subject.ask(asked), want):
        report.check(f"{name}: decode, skip={request['skip']}", text, wanted, request["decode"])


# Texts


def missing(part):
    if os.path.exists(os.path.join(DATA, part)):
        return False
    print(f"[skipped] {os.path.join(DATA, part)} is missing")
    return True


def strings(value):
    """All texts inside a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from strings(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from strings(item)


def data_texts():
    texts = {}
    for part in ("oa-mine", "ae-110k", "humaneval-x", "mt_bench", "vicuna_bench"):
        if missing(part):
            continue
        for path in sorted(glob.glob(os.path.join(DATA, part, "*.jsonl"))):
            for line in open(path, encoding="utf-8"):
                texts.update(dict.fromkeys(strings(json.loads(line))))
    for part in ("squad", "race/test"):
        if missing(part):
            continue
        pattern = "*.json" if part == "squad" else "*/*.txt"
        for path in sorted(glob.glob(os.path.join(DATA, part, pattern))):
            texts.update(dict.fromkeys(strings(json.load(open(path, encoding="utf-8")))))
    return list(texts)


SPACES = [
    " ", "  ", "\t", "\n", "\r\n", "\n\n", "\u00a0", "\u1680", "\u2003", "\u2028", "\u202f", "\u3000",
    "\u0085", "\u200b", "\u180e", "\x0b", "\x1c", "\ufeff",
]
CLUSTERS = [
    "e\u0301", "a\u0323\u0302", "q\u0307\u0323", "\u1100\u1161\u11a8", "\uac00\u11a8", "\u0915\u094d\u0937",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f1e9\U0001f1ea", "\U0001f44d\U0001f3fd", "\u0958",
    "\u0344", "\u212b", "\u2126", "\ufb1d", "\U0001d15e", "\u09c7\u09be", "\u0f71\u0f72\u0f74", "\u0f73",
    "\u3099\u304b\u3099", "\U00011935\U00011930", "\u0dd9\u0dcf\u0dca", "ſ", "\u0130", "ß",
]
WORDS = [
    "the", "The", "Men's", "it'll", "'S", "'ſ", "O'RE", "naïve", "Straße", "日本語", "한국어", "Привет", "مرحبا",
    "שלום", "ไทย", "हिन्दी", "x2", "3.14", "$5", "—", "…", "e-mail", "foo_bar", "C++", "<br>", "</s", "<s",
    "|>", "<|", "<0x41>", "<0xE2>", "<0x0A>", "▁", "▁▁the", "Ġ", "Ġthe", "Ċ", "\ufffd", "\x00", "\x7f",
    "\u00ad", "\u0149",
]
SPECIALS = [
    "<s>", "</s>", "<unk>", "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<x>", " <x> ", "<x>y", "<X>",
]


def any_code_point(rng):
    low, high = rng.choice(
        [
            (0x20, 0x7F),
            (0x80, 0x250),
            (0x300, 0x370),
            (0x370, 0x1000),
            (0x900, 0x1200),
            (0x1000, 0x3000),
            (0x3000, 0xD800),
            (0xE000, 0x10000),
            (0x10000, 0x12000),
            (0x12000, 0x1F000),
            (0x1F000, 0x20000),
            (0x20000, 0x110000),
        ]
    )
    while True:
        code = rng.randrange(low, high)
        if code not in NEWER:
            return chr(code)


def marks(rng):
    return "".join(
        chr(
            rng.choice(
                [
                    rng.randrange(0x300, 0x370),
                    rng.randrange(0x591, 0x5C0),
                    rng.randrange(0x1AB0, 0x1ACE),
                    rng.randrange(0x1DC0, 0x1E00),
                    0x3099,
                    0x93C,
                    0x94D,
                ]
            )
        )
        for _ in range(rng.randrange(1, 8))
    )


def generated_part(rng):
    kind = rng.randrange(12)
    if kind == 0:
        return rng.choice(SPACES) * rng.choice([1, 1, 2, 3, 17, 60])
    if kind == 1:
        return "".join(rng.choice("0123456789٣४") for _ in range(rng.choice([1, 2, 3, 4, 9, 40])))
    if kind == 2:
        return rng.choice(SPECIALS)
    if kind == 3:
        return marks(rng)
    if kind == 4:
        cluster = rng.choice(CLUSTERS)
        cut = rng.randrange(len(cluster) + 1)
        return rng.choice([cluster, cluster[:cut], cluster[cut:]])
    if kind in (5, 6):
        return "".join(any_code_point(rng) for _ in range(rng.randrange(1, 6)))
    if kind == 7:
        return rng.choice("abz-=_.*#é中") * rng.choice([2, 3, 8, 31, 100])
    return rng.choice(["", " ", " "]) + rng.choice(WORDS)


def generated_texts(rng, count, parts=10):
    return ["".join(generated_part(rng) for _ in range(rng.randrange(parts))) for _ in range(count)]


def random_ids(rng, size, count):
    """Mostly known ids; some low (bytes, special tokens), some beyond the vocabulary."""

    def one():
        return rng.choice(
            [
                rng.randrange(size),
                rng.randrange(min(size, 300)),
                rng.randrange(size),
                max(0, size - 1 - rng.randrange(5)),
                size + rng.randrange(1000) if rng.random() < 0.05 else rng.randrange(size),
            ]
        )

    return [[one() for _ in range(rng.randrange(20))] for _ in range(count)]


# Tokenizers


def small_tokenizer(path):
    """A byte-level BPE of 4,096 tokens, trained on product titles."""
    tokenizer = Tokenizer(models.BPE())
    expression = r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(expression), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    titles = [
        json.loads(line)["input"]
        for part in ("oa-mine", "ae-110k")
        for line in open(os.path.join(DATA, part, "train.jsonl"), encoding="utf-8")
    ]
    tokenizer.train_from_iterator(
        titles,
        trainers.BpeTrainer(
            vocab_size=4096,
            special_tokens=["<unk>", "<s>", "</s>"],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    tokenizer.save(path)


METASPACE_DECODER = {
    "type": "Sequence",
    "decoders": [
        {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0},
    ],
}


def added_token(token_id, content, **flags):
    return {
        "id": token_id,
        "content": content,
        "single_word": False,
        "lstrip": False,
        "rstrip": False,
        "normalized": False,
        "special": False,
        **flags,
    }


def variants():
    """The real files with other components, as other models have them."""
    llama = json.load(open(os.path.join(DATA, "tokenizers", "llama-2", "tokenizer.json"), encoding="utf-8"))
    for scheme in ("first", "always", "never"):
        for split in (True, False):
            one = copy.copy(llama)
            one["normalizer"] = None
            one["pre_tokenizer"] = {
                "type": "Metaspace",
                "replacement": "▁",
                "prepend_scheme": scheme,
                "split": split,
            }
            one["added_tokens"] = llama["added_tokens"] + [
                added_token(32000, "<x>", lstrip=split, rstrip=not split)
            ]
            if split:
                one["decoder"] = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme}
            yield f"llama-2 Metaspace {scheme} {split}", one
    qwen = json.load(open(os.path.join(DATA, "tokenizers", "qwen", "tokenizer.json"), encoding="utf-8"))
    for prefix in (True, False):
        one = copy.copy(qwen)
        one["pre_tokenizer"] = {
            "type": "ByteLevel",
            "add_prefix_space": prefix,
            "trim_offsets": True,
            "use_regex": True,
        }
        one["added_tokens"] = qwen["added_tokens"] + [
            added_token(151646, "<x>", normalized=prefix, single_word=not prefix, lstrip=True)
        ]
        one["post_processor"] = {
            "type": "Sequence",
            "processors": [
                {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False, "use_regex": True},
                {
                    "type": "TemplateProcessing",
                    "single": [
                        {"SpecialToken": {"id": "B", "type_id": 0}},
                        {"Sequence": {"id": "A", "type_id": 0}},
                        {"SpecialToken": {"id": "E", "type_id": 0}},
                    ],
                    "pair": [
                        {"Sequence": {"id": "A", "type_id": 0}},
                        {"Sequence": {"id": "B", "type_id": 1}},
                    ],
                    "special_tokens": {
                        "B": {"id": "B", "ids": [151644, 1], "tokens": ["<|im_start|>", '"']},
                        "E": {"id": "E", "ids": [151643], "tokens": ["<|endoftext|>"]},
                    },
                },
            ],
        }
        one["model"] = dict(qwen["model"], ignore_merges=prefix)
        yield f"qwen ByteLevel {prefix}", one


LETTERS = list("ab ▁é日") + ["\u0301"]


def random_model(rng):
    """A BPE over a few letters whose merges often compete."""
    vocab = [t for t in LETTERS if rng.random() < 0.85]
    vocab += [t for t in ["<unk>"] if rng.random() < 0.7]
    byte_fallback = rng.random() < 0.6
    if byte_fallback:
        vocab += [f"<0x{b:02X}>" for b in range(256) if rng.random() < rng.choice([0.97, 1])]
    rng.shuffle(vocab)
    merges = []
    pieces = [t for t in vocab if not t.startswith("<")] or ["a"]
    vocab += [t for t in pieces if t not in vocab]
    for _ in range(rng.randrange(25)):
        pair = [rng.choice(pieces), rng.choice(pieces)]
        if pair in merges or len("".join(pair)) > 9:
            continue
        merges.append(pair)
        if "".join(pair) not in vocab:
            vocab.append("".join(pair))
            pieces.append("".join(pair))
    rng.shuffle(merges)
    if rng.random() < 0.5 and not any(" " in t for pair in merges for t in pair):
        merges = [" ".join(pair) for pair in merges]
    return {
        "type": "BPE",
        "dropout": None,
        "unk_token": "<unk>" if "<unk>" in vocab else None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "fuse_unk": rng.random() < 0.5,
        "byte_fallback": byte_fallback,
        "ignore_merges": rng.random() < 0.5,
        "vocab": {t: i for i, t in enumerate(vocab)},
        "merges": merges,
    }


def random_pattern(rng):
    return rng.choice(
        [
            {"String": rng.choice([" ", "a", "ab", "▁", "é"])},
            {
                "Regex": rng.choice(
                    [r"\s", r"\s+", r"a|b", r"\w+", r"a*", r"(?<=a)b", r"\p{L}+|\s", r"(?i:A)", r"$"]
                )
            },
        ]
    )


def random_normalizer(rng):
    kind = rng.randrange(5)
    if kind == 0:
        return {"type": "NFC"}
    if kind == 1:
        return {"type": "Prepend", "prepend": rng.choice(["▁", "ab"])}
    if kind == 2:
        return {"type": "Replace", "pattern": random_pattern(rng), "content": rng.choice(["▁", "x", "aé"])}
    if kind == 3:
        return {"type": "Sequence", "normalizers": [random_normalizer(rng) for _ in range(rng.randrange(3))]}
    return {
        "type": "Sequence",
        "normalizers": [
            {"type": "Prepend", "prepend": "▁"},
            {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
        ],
    }


def random_pre_tokenizer(rng):
    kind = rng.randrange(4)
    if kind == 0:
        return {
            "type": "Metaspace",
            "replacement": rng.choice(["▁", "▁", "a"]),
            "prepend_scheme": rng.choice(["first", "always", "never"]),
            "split": rng.random() < 0.6,
        }
    if kind == 1:
        return {
            "type": "Split",
            "pattern": random_pattern(rng),
            "invert": rng.random() < 0.3,
            "behavior": rng.choice(
                ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
            ),
        }
    if kind == 2:
        return {
            "type": "ByteLevel",
            "add_prefix_space": rng.random() < 0.5,
            "trim_offsets": True,
            "use_regex": rng.random() < 0.5,
        }
    return {"type": "Sequence", "pretokenizers": [random_pre_tokenizer(rng) for _ in range(rng.randrange(3))]}


def random_decoder(rng):
    kind = rng.randrange(7)
    if kind == 0:
        return {
            "type": "Metaspace",
            "replacement": "▁",
            "prepend_scheme": rng.choice(["first", "always", "never"]),
            "split": True,
        }
    if kind == 1:
        return {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
    if kind == 2:
        return {"type": "Replace", "pattern": random_pattern(rng), "content": rng.choice([" ", "", "x"])}
    if kind == 3:
        return rng.choice([{"type": "ByteFallback"}, {"type": "Fuse"}])
    if kind == 4:
        return {"type": "Sequence", "decoders": [random_decoder(rng) for _ in range(rng.randrange(4))]}
    return METASPACE_DECODER


def random_tokenizer(rng):
    model = random_model(rng)
    added = []
    for content in rng.sample(
        ["<unk>", "<x>", "<x>>", "ab", "é", "a\u0323", " a", "<", "日"], rng.randrange(5)
    ):
        flags = {
            flag: rng.random() < 0.4 for flag in ("single_word", "lstrip", "rstrip", "normalized", "special")
        }
        added.append(added_token(model["vocab"].get(content, -1), content, **flags))
    added.sort(key=lambda token: token["id"] < 0)
    free = len(model["vocab"])
    for token in added:
        if token["id"] < 0:
            token["id"], free = free, free + 1
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": rng.choice([None, random_normalizer(rng)]),
        "pre_tokenizer": rng.choice([None, random_pre_tokenizer(rng)]),
        "post_processor": None,
        "decoder": rng.choice([None, random_decoder(rng), random_decoder(rng)]),
        "model": model,
    }


def random_text(rng):
    return "".join(
        rng.choice(
            LETTERS
            + LETTERS
            + ["<x>", "<unk>", "<", ">", " ", "\n", "\u3000", "e", "A", "\u0323", "x", "0", "𝄞"]
        )
        for _ in range(rng.randrange(24))
    )


def save(folder, name, value):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file, ensure_ascii=False)
    return path


# Tests


def test_random_tokenizers(report, folder, rng):
    for i in range(250):
        value = random_tokenizer(rng)
        path = save(folder, f"random-{i}.json", value)
        texts = [random_text(rng) for _ in range(40)]
        ids = random_ids(rng, max(value["model"]["vocab"].values()) + 1 + len(value["added_tokens"]), 20)
        description = json.dumps({k: v for k, v in value.items() if k != "model"}, ensure_ascii=True)
        compare(report, f"random tokenizer {i} {description}", path, texts, ids)


def bytes_only(pre_tokenizer=None, normalizer=None):
    """A tokenizer whose decode(encode(text)) shows what normalizer and pre-tokenizer leave of a text."""
    return {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": normalizer,
        "pre_tokenizer": pre_tokenizer,
        "post_processor": None,
        "decoder": {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]},
        "model": {
            "type": "BPE",
            "byte_fallback": True,
            "vocab": {f"<0x{b:02X}>": b for b in range(256)},
            "merges": [],
        },
    }


ALL_CODES = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]


def in_blocks(codes, text_of, size=256):
    return ["".join(map(text_of, codes[begin : begin + size])) for begin in range(0, len(codes), size)]


def compare_ids(report, what, folder, value, texts):
    path = save(folder, "one.json", value)
    want = Tokenizer.from_file(path).encode_batch(texts)
    for text, got, wanted in zip(
        texts, Subject(path).ask([{"encode": text, "special": True} for text in texts]), want
    ):
        report.check(what, got, wanted.ids, text)


def test_character_classes(report, folder):
    """\\p{L}, \\p{N} and \\s of all code points but NEWER."""
    texts = in_blocks([c for c in ALL_CODES if c not in NEWER], chr)
    for expression in (r"\p{L}", r"\p{N}", r"\s"):
        value = bytes_only(
            {"type": "Split", "pattern": {"Regex": expression}, "behavior": "Removed", "invert": False}
        )
        compare_ids(report, f"class {expression}", folder, value, texts)


def test_nfc(report, folder, rng):
    """Every code point alone and beside marks that it may compose or change places with; runs of marks."""
    nfc = normalizers.NFC()
    texts = in_blocks(ALL_CODES, lambda c: f"{chr(c)}|\u0345{chr(c)}\u0334|a{chr(c)}\u0323\u0302|")
    pairs = [
        (0x105D2, 0x307),
        (0x105DA, 0x307),
        (0x11382, 0x113C9),
        (0x11384, 0x113BB),
        (0x1138B, 0x113C2),
        (0x11390, 0x113C9),
        (0x113C2, 0x113B8),
        (0x113C2, 0x113C2),
        (0x113C2, 0x113C9),
        (0x11935, 0x11930),
        (0x1611E, 0x1611E),
        (0x1611E, 0x16129),
        (0x16121, 0x1611F),
        (0x16D63, 0x16D67),
        (0x16D67, 0x16D67),
    ]
    texts += [chr(a) + chr(b) for a, b in pairs]
    texts += [f"e{marks(rng)}{marks(rng)}{rng.choice(CLUSTERS)}{marks(rng)}" for _ in range(3000)]
    subject = Subject(save(folder, "nfc.json", bytes_only(normalizer={"type": "NFC"})))
    answers = subject.ask([{"encode": text, "special": False} for text in texts])
    for text, ids in zip(texts, answers):
        report.check("NFC", bytes(ids).decode(), nfc.normalize_str(text), text)


# Marks of Unicode 15 and 16, which only the oracle's \w knows.
NEWER_MARKS = code_points(
    """897 cf3 ece 10d69-10d6d 10efc-10eff 11241 113b8-113c0 113c2 113c5 113c7-113ca 113cc-113d0 113d2
113e1-113e2 11f00-11f01 11f03 11f34-11f3a 11f3e-11f42 11f5a 13440 13447-13455 1611e-1612f 1e08f
1e4ec-1e4ef 1e5ee-1e5ef"""
)


def test_words(report, folder):
    """The word and space classes of single_word, lstrip and rstrip, of all code points but the newer ones."""
    value = bytes_only()
    value["added_tokens"] = [added_token(256, "<x>", single_word=True, lstrip=True, rstrip=True)]
    codes = [c for c in ALL_CODES if c not in NEWER and c not in NEWER_MARKS]
    compare_ids(
        report,
        "word and space classes",
        folder,
        value,
        in_blocks(codes, lambda c: f"{chr(c)}<x>|<x>{chr(c)}|"),
    )


def test_pieces(report, name, path, texts, rng, normalize, prefix):
    """decode(pieces joined) is the text for any cuts; only the first piece begins as a whole text does."""
    oracle, subject = Tokenizer.from_file(path), Subject(path)
    asked, owners = [], []
    texts = [normalize(text) for text in texts]
    for owner, text in enumerate(texts):
        cuts = sorted(rng.sample(range(1, len(text) + 1), min(rng.randrange(5), len(text)))) + [len(text)]
        begin = 0
        for i, end in enumerate(cuts):
            asked.append({"piece": text[begin:end], "first": i == 0})
            owners.append(owner)
            begin = end
    joined = [[] for _ in texts]
    for owner, ids in zip(owners, subject.ask(asked)):
        joined[owner] += ids
    for text, ids in zip(texts, joined):
        report.check(f"{name}: decode(pieces)", oracle.decode(ids, skip_special_tokens=True), text, text)
    whole = subject.ask([{"piece": text, "first": True} for text in texts])
    for text, ids in zip(texts, whole):
        report.check(f"{name}: one piece", ids, oracle.encode(text).ids, text)
    plain = [oracle.encode(text, add_special_tokens=False).ids for text in texts]
    for text, got in zip(texts, subject.ask([{"bytes": ids} for ids in plain])):
        report.check(f"{name}: bytes", bytes(got), (prefix + text if text else "").encode(), text)


def test_vocabulary(report, name, path):
    oracle, subject = Tokenizer.from_file(path), Subject(path)
    size = max(oracle.get_vocab().values()) + 1
    report.check(f"{name}: vocab_size", subject.ask([{"size": True}])[0], size)
    special = {i for i, token in oracle.get_added_tokens_decoder().items() if token.special}
    for i, got in enumerate(subject.ask([{"token": i} for i in range(size)])):
        token = oracle.id_to_token(i)
        report.check(f"{name}: token {i}", got, [token, i in special, oracle.token_to_id(token)])


@contextlib.contextmanager
def quiet():
    """Without the oracle's own words about its panics."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def main():
    report, rng = Report(), random.Random(20240601)
    with tempfile.TemporaryDirectory() as folder:

        def done(what):
            print(f"{what}: {report.passed} passed, {report.failed} failed so far")

        with quiet():
            test_random_tokenizers(report, folder, rng)
        done(f"random tokenizers ({report.unanswered} questions that the oracle cannot answer)")
        test_character_classes(report, folder)
        test_nfc(report, folder, rng)
        test_words(report, folder)
        done("Unicode tables")
        texts = data_texts()
        paths = {}
        for name in ("llama-2", "qwen"):
            if not missing(f"tokenizers/{name}/tokenizer.json"):
                paths[name] = os.path.join(DATA, "tokenizers", name, "tokenizer.json")
        if not (missing("oa-mine") or missing("ae-110k")):
            paths["small"] = os.path.join(folder, "small.json")
            small_tokenizer(paths["small"])
        made = generated_texts(rng, GENERATED)
        for name, path in paths.items():
            size = Tokenizer.from_file(path).get_vocab_size()
            compare(report, name, path, texts + made, random_ids(rng, size, 5000))
            test_vocabulary(report, name, path)
            done(f"{name}, {len(texts)} texts of the data and {len(made)} made ones")
        plain = [
            text for text in rng.sample(made, 5000) if not any(s.strip() in text for s in SPECIALS + ["▁"])
        ]
        plain += rng.sample(texts, min(2000, len(texts)))
        if "llama-2" in paths:
            test_pieces(report, "llama-2", paths["llama-2"], plain, rng, str, " ")
        if "qwen" in paths:
            test_pieces(report, "qwen", paths["qwen"], plain, rng, normalizers.NFC().normalize_str, "")
        done("pieces")
        if "llama-2" in paths and "qwen" in paths:
            for name, value in variants():
                path = save(folder, "variant.json", value)
                compare(
                    report,
                    name,
                    path,
                    rng.sample(made, 1500) + rng.sample(texts, min(500, len(texts))),
                    random_ids(rng, 32000, 500),
                )
            done("variants")
    print(f"{report.passed} passed, {report.failed} failed")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
