"""The tokenizer beside PyPI `tokenizers`.

Ids, texts and pieces of data, of generated strings and of many small tokenizers with random
options; the structures of published models' files; every Unicode table. `-m whole`: each real
vocabulary on all texts; otherwise each one on another eighth of them.
"""

import contextlib
import copy
import functools
import json
import random
import subprocess
import tempfile

import pytest
from harness import DATA, SMOLLM2, skip

try:
    from tokenizers import Tokenizer, normalizers, pre_tokenizers, trainers
except ImportError as missing:
    skip(missing)

GENERATED = 20000

# Letters and digits of Unicode 15 and 16, which the oracle's Oniguruma knows and 6.9.8 (Unicode 14)
# does not.
NEWER_LETTERS = """
1c89-1c8a a7cb-a7cd a7da-a7dc 105c0-105f3 10d4a-10d65 10d6f-10d85 10ec2-10ec4 1123f-11240
11380-11389 1138b 1138e 11390-113b5 113b7 113d1 113d3 11bc0-11be0 11f02 11f04-11f10 11f12-11f33
1342f 13441-13446 13460-143fa 16100-1611d 16d40-16d6c 18cff 1b132 1b155 1df25-1df2a 1e030-1e06d
1e4d0-1e4eb 1e5d0-1e5ed 1e5f0 2b739 2ebf0-2ee5d 31350-323af"""
NEWER_DIGITS = """
10d40-10d49 116d0-116e3 11bf0-11bf9 11f50-11f59 16130-16139 16d70-16d79 1ccf0-1ccf9 1d2c0-1d2d3
1e4f0-1e4f9 1e5f1-1e5fa"""


def code_points(ranges):
    out = set()
    for part in ranges.split():
        ends = part.split("-")
        out.update(range(int(ends[0], 16), int(ends[-1], 16) + 1))
    return out


NEWER = code_points(NEWER_LETTERS) | code_points(NEWER_DIGITS)


def check_equal(got, want, contexts):
    """Each answer is that of the package, where the package has one (it panics at some
    questions).
    """
    for ours, theirs, context in zip(got, want, contexts, strict=True):
        if theirs is not None:
            assert ours == theirs, (
                f"input {spell(context)}\ngot   {spell(ours)}\nwant  {spell(theirs)}"
            )


def spell(value):
    """A value, and its code points when it is a text."""
    shown = ascii(value)
    if isinstance(value, str):
        shown += " = " + " ".join(f"U+{ord(c):04X}" for c in value[:40])
    return shown if len(shown) < 1500 else shown[:1500] + " ..."


@pytest.fixture(scope="module")
def ask(program):
    """The answers of our tokenizer of one file to many requests."""
    dump = program("tokenizer_dump")

    def asked(path, requests):
        with tempfile.TemporaryFile("w+", encoding="utf-8") as file:
            file.writelines(json.dumps(request) + "\n" for request in requests)
            file.seek(0)
            ran = subprocess.run([dump, path], stdin=file, capture_output=True, encoding="utf-8")
        assert ran.returncode == 0, f"{path}: {ran.stderr}"
        answers = [json.loads(line) for line in ran.stdout.split("\n") if line]
        assert len(answers) == len(requests), (
            f"{path}: {len(answers)} answers to {len(requests)} requests"
        )
        return answers

    return asked


def answers_of(batch, single, items):
    """batch(items), or one by one with None where the oracle gives up (its panics are no
    Exception).
    """
    try:
        return batch(items)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise

    def one(item):
        try:
            return single(item)
        except BaseException:
            return None

    return [one(item) for item in items]


def ids_of(encodings):
    return [encoding.ids if encoding is not None else None for encoding in encodings]


def check_against_package(ask, path, texts, id_lists=()):
    """Ids of `texts` with special tokens, of every fourth also without; the texts of the former
    and of `id_lists`, special tokens skipped, of every fourth also kept.
    """
    oracle = Tokenizer.from_file(str(path))

    def encoded(some, special):
        return ids_of(
            answers_of(
                lambda items: oracle.encode_batch_fast(items, add_special_tokens=special),
                lambda item: oracle.encode(item, add_special_tokens=special),
                some,
            )
        )

    def decoded(lists, skip):
        known = [ids for ids in lists if ids is not None]
        answers = iter(
            answers_of(
                lambda items: oracle.decode_batch(items, skip_special_tokens=skip),
                lambda item: oracle.decode(item, skip_special_tokens=skip),
                known,
            )
        )
        return [None if ids is None else next(answers) for ids in lists]

    asked = [
        {"encode": text, "special": True, "decode": [True] if i % 4 else [True, False]}
        for i, text in enumerate(texts)
    ]
    plain = [{"encode": text, "special": False} for text in texts[::4]]
    lists = [{"decode": ids, "skip": True} for ids in id_lists]
    lists += [{"decode": ids, "skip": False} for ids in id_lists[::4]]
    answers = ask(path, asked + plain + lists)
    whole = answers[: len(asked)]
    want = encoded(texts, True)
    check_equal([answer[0] for answer in whole], want, asked)
    check_equal([answer[1] for answer in whole], decoded(want, True), asked)
    kept = [answer[2] for answer in whole[::4]]
    check_equal(kept, decoded(want[::4], False), asked[::4])
    rest = encoded(texts[::4], False) + decoded(id_lists, True) + decoded(id_lists[::4], False)
    check_equal(answers[len(asked) :], rest, plain + lists)


# Texts


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


# The published files with texts.
DATASETS = {
    "oa-mine": "*.jsonl",
    "ae-110k": "*.jsonl",
    "humaneval-x": "*.jsonl",
    "mt_bench": "*.jsonl",
    "vicuna_bench": "*.jsonl",
    "squad": "*.json",
    "race/test": "*/*.txt",
}


@functools.cache
def texts_of(dataset):
    found = {}
    for path in sorted((DATA / dataset).glob(DATASETS[dataset])):
        text = path.read_text(encoding="utf-8")
        for value in text.splitlines() if path.suffix == ".jsonl" else [text]:
            found.update(dict.fromkeys(strings(json.loads(value))))
    return list(found)


@pytest.fixture(scope="module")
def texts():
    """All texts of the published data, or of those that are there."""
    return list(dict.fromkeys(text for dataset in DATASETS for text in texts_of(dataset)))


@pytest.fixture(scope="module")
def made():
    """Random texts."""
    return generated_texts(random.Random(20240601), GENERATED)


SPACES = [
    " ", "  ", "\t", "\n", "\r\n", "\n\n", "\u00a0", "\u1680", "\u2003", "\u2028", "\u202f",
    "\u3000", "\u0085", "\u200b", "\u180e", "\x0b", "\x1c", "\ufeff",
]
CLUSTERS = [
    "e\u0301",
    "a\u0323\u0302",
    "q\u0307\u0323",
    "\u1100\u1161\u11a8",
    "\uac00\u11a8",
    "\u0915\u094d\u0937",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "\U0001f1e9\U0001f1ea",
    "\U0001f44d\U0001f3fd",
    "\u0958",
    "\u0344",
    "\u212b",
    "\u2126",
    "\ufb1d",
    "\U0001d15e",
    "\u09c7\u09be",
    "\u0f71\u0f72\u0f74",
    "\u0f73",
    "\u3099\u304b\u3099",
    "\U00011935\U00011930",
    "\u0dd9\u0dcf\u0dca",
    "ſ",
    "\u0130",
    "ß",
]
WORDS = [
    "the", "The", "Men's", "it'll", "'S", "'ſ", "O'RE", "naïve", "Straße", "日本語", "한국어", "Привет",
    "مرحبا", "שלום", "ไทย", "हिन्दी", "x2", "3.14", "$5", "—", "…", "e-mail", "foo_bar", "C++",
    "<br>", "</s", "<s", "|>", "<|", "<0x41>", "<0xE2>", "<0x0A>", "▁", "▁▁the", "Ġ", "Ġthe", "Ċ",
    "\ufffd", "\x00", "\x7f", "\u00ad", "\u0149",
]
SPECIALS = [
    "<s>",
    "</s>",
    "<unk>",
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<x>",
    " <x> ",
    "<x>y",
    "<X>",
    "<|begin_of_text|>",
    "<|eot_id|>",
    "<|start_header_id|>user<|end_header_id|>\n\n",
    "<|im_sep|>",
    " <|dummy_85|>\n",
    "<|reserved_special_token_7|>",
    "|||IP_ADDRESS|||",
    "<|extra_id_10|>",
    "<|extra_id_1",
    "<|pad|>",
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
                    rng.randrange(0x300, 0x370), rng.randrange(0x591, 0x5C0),
                    rng.randrange(0x1AB0, 0x1ACE), rng.randrange(0x1DC0, 0x1E00), 0x3099, 0x93C,
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


# The structures of published models' files, with small vocabularies that PyPI `tokenizers` trains
# here

# tiktoken's cl100k pattern, as Llama-3, Phi-4 and OLMo-2 write it.
CL100K = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
# tiktoken's o200k pattern, as gpt-oss writes it.
UPPER, LOWER = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}", r"\p{Ll}\p{Lm}\p{Lo}\p{M}"
SHORT = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
O200K = (
    rf"[^\r\n\p{{L}}\p{{N}}]?[{UPPER}]*[{LOWER}]+{SHORT}"
    rf"|[^\r\n\p{{L}}\p{{N}}]?[{UPPER}]+[{LOWER}]*{SHORT}"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def byte_level(add_prefix_space, trim_offsets, use_regex):
    return {
        "type": "ByteLevel",
        "add_prefix_space": add_prefix_space,
        "trim_offsets": trim_offsets,
        "use_regex": use_regex,
    }


def special_token(name):
    return {"SpecialToken": {"id": name, "type_id": 0}}


def sequence(name, type_id=0):
    return {"Sequence": {"id": name, "type_id": type_id}}


def base_structure(texts, vocab_size, behavior, invert, pattern=CL100K):
    """What the four have in common: a byte-level BPE after a pattern."""
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": behavior, "invert": invert}
    tokenizer = Tokenizer.from_str(
        json.dumps(
            {
                "version": "1.0",
                "truncation": None,
                "padding": None,
                "added_tokens": [],
                "normalizer": None,
                "pre_tokenizer": {
                    "type": "Sequence",
                    "pretokenizers": [split, byte_level(False, True, False)],
                },
                "post_processor": None,
                "decoder": byte_level(True, True, True),
                "model": {"type": "BPE", "vocab": {}, "merges": []},
            }
        )
    )
    tokenizer.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=vocab_size,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    return json.loads(tokenizer.to_str())


def llama_3(texts):
    """256 special tokens after the vocabulary; a template puts the first one in front of a
    text. Whole words of the vocabulary skip the merges (here some can be reached in no other
    way).
    """
    one = base_structure(texts, 4096, "Isolated", False)
    one["model"]["ignore_merges"] = True
    one["model"]["merges"] = [m for i, m in enumerate(one["model"]["merges"]) if i % 7 != 3]
    names = ["<|begin_of_text|>", "<|end_of_text|>"]
    names += [f"<|reserved_special_token_{i}|>" for i in range(2)] + ["<|finetune_right_pad_id|>"]
    names += ["<|reserved_special_token_2|>", "<|start_header_id|>", "<|end_header_id|>"]
    names += ["<|eom_id|>", "<|eot_id|>", "<|python_tag|>"]
    names += [f"<|reserved_special_token_{i}|>" for i in range(3, 248)]
    first = len(one["model"]["vocab"])
    one["added_tokens"] = [
        added_token(first + i, name, special=True) for i, name in enumerate(names)
    ]
    begin = names[0]
    template = {
        "type": "TemplateProcessing",
        "single": [special_token(begin), sequence("A")],
        "pair": [special_token(begin), sequence("A"), special_token(begin), sequence("B", 1)],
        "special_tokens": {begin: {"id": begin, "ids": [first], "tokens": [begin]}},
    }
    one["post_processor"] = {
        "type": "Sequence",
        "processors": [byte_level(True, False, True), template],
    }
    return one


def phi_4(texts):
    """96 special tokens that take the white space on both sides."""
    one = base_structure(texts, 3000, "Removed", True)
    named = {
        1: "endoftext",
        2: "fim_prefix",
        3: "fim_middle",
        4: "fim_suffix",
        8: "im_start",
        9: "im_end",
    }
    named |= {10: "im_sep", 20: "endofprompt"}
    dummies = iter(range(88))
    first = len(one["model"]["vocab"])
    for i in range(96):
        name = named.get(i) or f"dummy_{next(dummies)}"
        one["added_tokens"].append(
            added_token(first + i, f"<|{name}|>", lstrip=True, rstrip=True, special=True)
        )
    one["post_processor"] = byte_level(True, False, True)
    return one


def olmo_2(texts):
    """22 added tokens that stand in the vocabulary too, twelve of them not special."""
    one = base_structure(texts, 2000, "Removed", True)
    names = [
        "<|extra_id_0|>", "<|endoftext|>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>",
    ]
    names += [
        "|||PHONE_NUMBER|||", "|||EMAIL_ADDRESS|||", "|||IP_ADDRESS|||", "<|im_start|>",
        "<|im_end|>",
    ]
    names += [f"<|extra_id_{i}|>" for i in range(1, 11)] + ["<|endofprompt|>", "<|pad|>"]
    for name in names:
        token_id = len(one["model"]["vocab"])
        one["model"]["vocab"][name] = token_id
        special = "extra_id" not in name and not name.startswith("|||")
        one["added_tokens"].append(added_token(token_id, name, special=special))
    return one


def gpt_oss(texts):
    """The special tokens of the harmony format."""
    one = base_structure(texts, 3000, "Isolated", False, O200K)
    one["model"]["ignore_merges"] = True
    names = ["startoftext", "endoftext", "reserved_200000", "reserved_200001", "return", "constrain"]
    names += ["reserved_200004", "channel", "start", "end", "message", "call", "endofprompt"]
    first = len(one["model"]["vocab"])
    one["added_tokens"] = [
        added_token(first + i, f"<|{name}|>", special=True) for i, name in enumerate(names)
    ]
    one["post_processor"] = byte_level(True, False, True)
    return one


STRUCTURES = {"Llama-3": llama_3, "Phi-4": phi_4, "OLMo-2": olmo_2, "gpt-oss": gpt_oss}


# Other parts in real files

METASPACE_DECODER = {
    "type": "Sequence",
    "decoders": [
        {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0},
    ],
}


def variants():
    """The real files with other components, as other models have them."""
    llama = json.loads((DATA / "tokenizers/llama-2/tokenizer.json").read_text(encoding="utf-8"))
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
    one = copy.copy(llama)  # the parts of Gemma's file
    one["normalizer"] = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    one["pre_tokenizer"] = {
        "type": "Split",
        "pattern": {"String": " "},
        "behavior": "MergedWithPrevious",
        "invert": False,
    }
    one["decoder"] = {**METASPACE_DECODER, "decoders": METASPACE_DECODER["decoders"][:3]}
    one["added_tokens"] = llama["added_tokens"] + [
        added_token(32000, "<start_of_turn>", special=True), added_token(32001, "\n\n")
    ]
    yield "llama-2 Gemma", one
    qwen = json.loads((DATA / "tokenizers/qwen/tokenizer.json").read_text(encoding="utf-8"))
    for prefix in (True, False):
        one = copy.copy(qwen)
        one["pre_tokenizer"] = byte_level(prefix, True, True)
        one["added_tokens"] = qwen["added_tokens"] + [
            added_token(151646, "<x>", normalized=prefix, single_word=not prefix, lstrip=True)
        ]
        one["post_processor"] = {
            "type": "Sequence",
            "processors": [
                byte_level(True, False, True),
                {
                    "type": "TemplateProcessing",
                    "single": [special_token("B"), sequence("A"), special_token("E")],
                    "pair": [sequence("A"), sequence("B", 1)],
                    "special_tokens": {
                        "B": {"id": "B", "ids": [151644, 1], "tokens": ["<|im_start|>", '"']},
                        "E": {"id": "E", "ids": [151643], "tokens": ["<|endoftext|>"]},
                    },
                },
            ],
        }
        one["model"] = dict(qwen["model"], ignore_merges=prefix)
        yield f"qwen ByteLevel {prefix}", one


LETTERS = list("ab ▁é日5") + ["\u0301"]


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
                    [
                        r"\s", r"\s+", r"a|b", r"\w+", r"a*", r"(?<=a)b", r"\p{L}+|\s", r"(?i:A)",
                        r"$",
                    ]
                )
            },
        ]
    )


BEHAVIORS = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]


def random_normalizer(rng):
    kind = rng.randrange(8)
    if kind == 0:
        return {"type": rng.choice(["NFC", "NFD", "NFKC", "NFKD"])}
    if kind == 1:
        return {"type": "Prepend", "prepend": rng.choice(["▁", "ab"])}
    if kind == 2:
        return {
            "type": "Replace",
            "pattern": random_pattern(rng),
            "content": rng.choice(["▁", "x", "aé", ""]),
        }
    if kind == 3:
        return {
            "type": "Strip",
            "strip_left": rng.random() < 0.7,
            "strip_right": rng.random() < 0.7,
        }
    if kind == 4:
        return {"type": rng.choice(["Lowercase", "StripAccents"])}
    if kind in (5, 6):
        return {
            "type": "Sequence",
            "normalizers": [random_normalizer(rng) for _ in range(rng.randrange(4))],
        }
    return {
        "type": "Sequence",
        "normalizers": [
            {"type": "Prepend", "prepend": "▁"},
            {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
        ],
    }


def random_pre_tokenizer(rng):
    kind = rng.randrange(8)
    if kind in (0, 1):
        return {
            "type": "Metaspace",
            "replacement": rng.choice(["▁", "▁", "a"]),
            "prepend_scheme": rng.choice(["first", "first", "always", "never"]),
            "split": rng.random() < 0.6,
        }
    if kind == 2:
        return {
            "type": "Split",
            "pattern": random_pattern(rng),
            "invert": rng.random() < 0.3,
            "behavior": rng.choice(BEHAVIORS),
        }
    if kind == 3:
        return byte_level(rng.random() < 0.5, True, rng.random() < 0.5)
    if kind == 4:
        return {"type": "Digits", "individual_digits": rng.random() < 0.5}
    if kind == 5:
        return rng.choice(
            [
                {"type": "Whitespace"},
                {"type": "WhitespaceSplit"},
                {"type": "Punctuation", "behavior": rng.choice(BEHAVIORS)},
            ]
        )
    return {
        "type": "Sequence",
        "pretokenizers": [random_pre_tokenizer(rng) for _ in range(rng.randrange(4))],
    }


def random_decoder(rng):
    kind = rng.randrange(8)
    if kind == 0:
        return {
            "type": "Metaspace",
            "replacement": "▁",
            "prepend_scheme": rng.choice(["first", "always", "never"]),
            "split": True,
        }
    if kind == 1:
        return byte_level(True, True, True)
    if kind == 2:
        return {
            "type": "Replace",
            "pattern": random_pattern(rng),
            "content": rng.choice([" ", "", "x"]),
        }
    if kind == 3:
        return rng.choice([{"type": "ByteFallback"}, {"type": "Fuse"}])
    if kind == 4:
        return {
            "type": "Strip",
            "content": rng.choice([" ", "a", "▁"]),
            "start": rng.randrange(3),
            "stop": rng.randrange(3),
        }
    if kind in (5, 6):
        return {
            "type": "Sequence",
            "decoders": [random_decoder(rng) for _ in range(rng.randrange(4))],
        }
    return METASPACE_DECODER


def random_post_processor(rng, size):
    """None, ByteLevel, a template, or both."""
    template = {
        "type": "TemplateProcessing",
        "single": [special_token("x")] * rng.randrange(3) + [sequence("A")],
        "pair": [sequence("A"), sequence("B", 1)],
        "special_tokens": {
            "x": {
                "id": "x",
                "ids": [rng.randrange(size), rng.randrange(size)],
                "tokens": ["x", "x"],
            }
        },
    }
    template["single"] += [special_token("x")] * rng.randrange(2)
    both = {"type": "Sequence", "processors": [byte_level(True, True, True), template]}
    return rng.choice([None, both["processors"][0], template, both])


def random_tokenizer(rng):
    model = random_model(rng)
    added = []
    for content in rng.sample(
        ["<unk>", "<x>", "<x>>", "ab", "é", "a\u0323", " a", "<", "日"], rng.randrange(5)
    ):
        flags = {
            flag: rng.random() < 0.4
            for flag in ("single_word", "lstrip", "rstrip", "normalized", "special")
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
        "post_processor": random_post_processor(rng, len(model["vocab"])),
        "decoder": rng.choice([None, random_decoder(rng), random_decoder(rng)]),
        "model": model,
    }


def without_twins(value):
    """Two added tokens that become one text, or a token that becomes none, are an error here:
    such tokens are looked for in the original text instead.
    """
    with contextlib.suppress(BaseException):
        normalizer = Tokenizer.from_str(json.dumps(value)).normalizer
        found = set()
        for token in value["added_tokens"]:
            if token["normalized"] and normalizer:
                text = normalizer.normalize_str(token["content"])
                token["normalized"] = text != "" and text not in found
                found.add(text)
    return value


def random_text(rng):
    return "".join(
        rng.choice(
            LETTERS
            + LETTERS
            + ["<x>", "<unk>", "<", ">", " ", "\n", "\u3000", "e", "A", "\u0323", "x", "0", "𝄞"]
            + [
                "É", "İ", "ﬁ", "ǅ", "²", "٣", ",", "(", "¿", "\u0344", "\u00a0", "q\u0307\u0323",
                "가",
            ]
        )
        for _ in range(rng.randrange(24))
    )


def save(folder, name, value):
    path = folder / name
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


# Tests

# The suite looks at one part in eight, `-m whole` at everything.
every_part = pytest.mark.parametrize(
    "parts", [pytest.param(8, id="part"), pytest.param(1, id="whole", marks=pytest.mark.whole)]
)


@every_part
def test_random_tokenizers(ask, tmp_path, parts):
    rng = random.Random(20240601)
    for i in range(400 // parts):
        value = without_twins(random_tokenizer(rng))
        path = save(tmp_path, f"random-{i}.json", value)
        texts = [random_text(rng) for _ in range(40)]
        ids = random_ids(
            rng, max(value["model"]["vocab"].values()) + 1 + len(value["added_tokens"]), 20
        )
        check_against_package(ask, path, texts, ids)


def bytes_only(pre_tokenizer=None, normalizer=None):
    """A tokenizer whose decode(encode(text)) shows what normalizer and pre-tokenizer leave of a
    text.
    """
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
# Without most of the planes in which no version of Unicode has anything.
USED_CODES = [c for c in ALL_CODES if c < 0x34000 or 0xE0000 <= c < 0xE0200 or c % 97 == 0]


def in_blocks(codes, text_of, size=256):
    return [
        "".join(map(text_of, codes[begin : begin + size])) for begin in range(0, len(codes), size)
    ]


def round_trips(ask, path, texts):
    return ask(path, [{"round": text} for text in texts])


def check_round_trips(ask, folder, value, texts):
    path = save(folder, "one.json", value)
    oracle = Tokenizer.from_file(str(path))
    want = oracle.decode_batch(ids_of(oracle.encode_batch_fast(texts)), skip_special_tokens=False)
    check_equal(round_trips(ask, path, texts), want, texts)


def marked(pre_tokenizer):
    """The pre-tokenizer, and a mark in front of each of its words."""
    mark = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": False}
    return {"type": "Sequence", "pretokenizers": [pre_tokenizer, mark]}


# Marks of Unicode 15 and 16, which only the oracle's \w knows.
NEWER_MARKS = code_points("""
897 cf3 ece 10d69-10d6d 10efc-10eff 11241 113b8-113c0 113c2 113c5 113c7-113ca 113cc-113d0 113d2
113e1-113e2 11f00-11f01 11f03 11f34-11f3a 11f3e-11f42 11f5a 13440 13447-13455 1611e-1612f 1e08f
1e4ec-1e4ef 1e5ee-1e5ef""")


KNOWN_CODES = [c for c in USED_CODES if c not in NEWER]
CLASSES = {
    name: (
        KNOWN_CODES,
        {"type": "Split", "pattern": {"Regex": regex}, "behavior": "Removed", "invert": False},
    )
    for name, regex in (("letters", r"\p{L}"), ("numbers", r"\p{N}"), ("spaces", r"\s"))
} | {
    "digits": (USED_CODES, {"type": "Digits", "individual_digits": True}),
    "punctuation": (USED_CODES, {"type": "Punctuation", "behavior": "Isolated"}),
    "white space": (USED_CODES, {"type": "WhitespaceSplit"}),
    "words": ([c for c in KNOWN_CODES if c not in NEWER_MARKS], {"type": "Whitespace"}),
}


@pytest.mark.parametrize("name", CLASSES)
def test_character_classes_hold_the_same_code_points(ask, tmp_path, name):
    """Where each code point is cut, alone, twice and between letters. \p{L} and the like, and \w
    of Whitespace, leave out what is NEWER than the installed libraries.
    """
    codes, pre_tokenizer = CLASSES[name]
    texts = in_blocks(codes, lambda c: f"{chr(c)}{chr(c)}x")
    check_round_trips(ask, tmp_path, bytes_only(marked(pre_tokenizer)), texts)


# Compositions of newer scripts.
PAIRS = [
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


def normalized_texts(name):
    """Every code point alone and beside marks that it may compose or change places with; runs of
    marks.
    """
    if name in ("Lowercase", "StripAccents"):
        return in_blocks(USED_CODES, chr)
    rng = random.Random(20240601)
    runs = [f"e{marks(rng)}{marks(rng)}{rng.choice(CLUSTERS)}{marks(rng)}" for _ in range(3000)]
    if not name.startswith("NFC"):
        return in_blocks(USED_CODES, lambda c: f"{chr(c)}|\u0345{chr(c)}\u0334|") + runs
    codes = ALL_CODES if name == "NFC of all" else USED_CODES
    texts = in_blocks(codes, lambda c: f"{chr(c)}|\u0345{chr(c)}\u0334|a{chr(c)}\u0323\u0302|")
    return texts + [chr(a) + chr(b) for a, b in PAIRS] + runs


@pytest.mark.parametrize(
    "name",
    [
        "NFC",
        "NFD",
        "NFKC",
        "NFKD",
        "Lowercase",
        "StripAccents",
        "BertNormalizer",
        pytest.param("NFC of all", marks=pytest.mark.whole),
    ],
)
def test_normalizers_agree(ask, tmp_path, name):
    texts, kind = normalized_texts(name), name.split()[0]
    normalizer = getattr(normalizers, kind)()
    path = save(tmp_path, "normalizer.json", bytes_only(normalizer={"type": kind}))
    want = [normalizer.normalize_str(text) for text in texts]
    check_equal(round_trips(ask, path, texts), want, texts)


def test_added_tokens_find_the_same_words_and_spaces_beside_them(ask, tmp_path):
    """The word and space classes of single_word, lstrip and rstrip, of all code points but the
    newer ones.
    """
    value = bytes_only()
    value["added_tokens"] = [added_token(256, "<x>", single_word=True, lstrip=True, rstrip=True)]
    codes = [c for c in KNOWN_CODES if c not in NEWER_MARKS]
    check_round_trips(ask, tmp_path, value, in_blocks(codes, lambda c: f"{chr(c)}<x>|<x>{chr(c)}|"))


@pytest.mark.parametrize("dataset", DATASETS)
def test_the_texts_of_a_dataset_are_there(published, dataset):
    published(dataset)
    assert texts_of(dataset)


VOCABULARIES = ("llama-2", "qwen", "smollm2", *STRUCTURES)


@pytest.fixture(scope="module")
def vocabulary(published, texts, made, tmp_path_factory):
    """The tokenizer.json of a vocabulary, by name: published, or trained here with a published
    structure.
    """

    @functools.cache
    def trained(name):
        words = random.Random(name).sample(texts, min(4000, len(texts))) or made
        return save(tmp_path_factory.mktemp("trained"), f"{name}.json", STRUCTURES[name](words))

    def find(name):
        if name in STRUCTURES:
            return trained(name)
        if name != "smollm2":
            return published(f"tokenizers/{name}/tokenizer.json")
        if not SMOLLM2.is_dir():
            pytest.skip(
                "not done here: SmolLM2's tokenizer is missing; scripts/fetch-smollm2 makes it"
            )
        return SMOLLM2 / "tokenizer.json"

    return find


every_vocabulary = pytest.mark.parametrize("name", VOCABULARIES)


@every_part
@every_vocabulary
def test_ids_and_texts_agree(ask, vocabulary, texts, made, name, parts):
    path = vocabulary(name)
    some = (texts + made)[VOCABULARIES.index(name) % parts :: parts]
    ids = random_ids(
        random.Random(name), Tokenizer.from_file(str(path)).get_vocab_size(), 5000 // parts
    )
    check_against_package(ask, path, some, ids)


@every_vocabulary
def test_tokens_agree(ask, vocabulary, name):
    path = vocabulary(name)
    oracle = Tokenizer.from_file(str(path))
    size = max(oracle.get_vocab().values()) + 1
    special = {i for i, token in oracle.get_added_tokens_decoder().items() if token.special}
    ours_size, *ours = ask(path, [{"size": True}, *({"token": i} for i in range(size))])
    assert ours_size == size
    for i, got in enumerate(ours):
        token = oracle.id_to_token(i)
        assert got == [token, i in special, oracle.token_to_id(token)], f"token {i}"


# Vocabularies with pieces: what changes a text before, and what stands in front of its bytes.
PIECES = {"llama-2": (str, " "), "qwen": (normalizers.NFC().normalize_str, "")}
with_pieces = pytest.mark.parametrize("name", PIECES)


@pytest.fixture(scope="module")
def plain(texts, made):
    """Texts without special tokens, as a vocabulary's normalizer leaves them."""
    rng = random.Random(20240601)
    found = [
        text
        for text in rng.sample(made, 5000)
        if not any(s.strip() in text for s in SPECIALS + ["▁"])
    ]
    found += rng.sample(texts, min(2000, len(texts)))
    return functools.cache(lambda name: list(map(PIECES[name][0], found)))


@with_pieces
def test_pieces_joined_are_the_text_for_any_cuts(ask, vocabulary, plain, name):
    """Only the first piece begins as a whole text does."""
    rng, asked, owners = random.Random(name), [], []
    path, texts = vocabulary(name), plain(name)
    for owner, text in enumerate(texts):
        cuts = sorted(rng.sample(range(1, len(text) + 1), min(rng.randrange(5), len(text)))) + [
            len(text)
        ]
        begin = 0
        for i, end in enumerate(cuts):
            asked.append({"piece": text[begin:end], "first": i == 0})
            owners.append(owner)
            begin = end
    joined = [[] for _ in texts]
    for owner, ids in zip(owners, ask(path, asked)):
        joined[owner] += ids
    check_equal(
        Tokenizer.from_file(str(path)).decode_batch(joined, skip_special_tokens=True), texts, texts
    )


@with_pieces
def test_one_piece_has_the_ids_of_the_text(ask, vocabulary, plain, name):
    path, texts = vocabulary(name), plain(name)
    want = ids_of(Tokenizer.from_file(str(path)).encode_batch_fast(texts))
    check_equal(ask(path, [{"piece": text, "first": True} for text in texts]), want, texts)


@with_pieces
def test_bytes_are_those_of_the_text(ask, vocabulary, plain, name):
    path, texts = vocabulary(name), plain(name)
    ids = ids_of(Tokenizer.from_file(str(path)).encode_batch_fast(texts, add_special_tokens=False))
    want = [(PIECES[name][1] + text if text else "").encode() for text in texts]
    check_equal(map(bytes, ask(path, [{"bytes": one} for one in ids])), want, texts)


@pytest.fixture(scope="module")
def variant(published):
    """A real file with other components, by name."""
    for name in ("llama-2", "qwen"):
        published(f"tokenizers/{name}/tokenizer.json")
    return dict(variants())


@every_part
@pytest.mark.parametrize(
    "name",
    [
        *(
            f"llama-2 Metaspace {scheme} {split}"
            for scheme in ("first", "always", "never")
            for split in (True, False)
        ),
        "llama-2 Gemma",
        *(f"qwen ByteLevel {prefix}" for prefix in (True, False)),
    ],
)
def test_other_components_in_real_files_agree(ask, variant, texts, made, tmp_path, name, parts):
    rng, count = random.Random(name), 4000 // parts
    some = rng.sample(made, count) + rng.sample(texts, min(count // 2, len(texts)))
    path = save(tmp_path, "variant.json", variant[name])
    check_against_package(ask, path, some, random_ids(rng, 32000, count))
