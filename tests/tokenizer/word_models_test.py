"""Unigram and WordPiece models beside PyPI `tokenizers`; tokenizer.model beside `sentencepiece`.

The packages train the vocabularies here, on published texts. Ids and texts of data and of generated
strings are the same.
"""

import io
import json
import random

import pytest
from harness import skip

try:
    import sentencepiece
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
except ImportError as missing:
    skip(missing)

from oracle_test import (  # noqa: E402, F401
    added_token, ask, check_against_package, check_equal, generated_texts, random_ids, save, texts_of,
)

DATASETS = ["oa-mine", "mt_bench", "vicuna_bench"]


@pytest.fixture(scope="module")
def real(published):
    for dataset in DATASETS:
        published(dataset)
    texts = [text for dataset in DATASETS for text in texts_of(dataset)]
    return random.Random(1).sample(texts, 4000)


@pytest.fixture(scope="module")
def foreign():
    """Sentences in other scripts, with what their normalisation changes."""
    words = "naïve ﬁn ２０２４ ｶﾞｷﾞ Straße İstanbul Привет мир 日本語 の テキスト 한국어 שלום مرحبا हिन्दी ไทย ½ ① ™"
    rng = random.Random(3)
    return [" ".join(rng.choices(words.split(), k=8)) for _ in range(300)]


@pytest.fixture(scope="module")
def some(real, foreign):
    return real[:1500] + foreign[:100] + generated_texts(random.Random(7), 1500)


def trained_sentencepiece(texts, **options):
    model = io.BytesIO()
    lines = [line for text in texts for line in text.splitlines() if 0 < len(line) < 2000]
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, minloglevel=2, hard_vocab_limit=False,
        num_threads=1, **options,
    )  # fmt: skip
    return model.getvalue()


def fields(message):
    """The fields of a message of Protocol Buffers."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
            continue
        size = varint() if key & 7 == 2 else {1: 8, 5: 4}[key & 7]
        yield key >> 3, message[at : at + size]
        at += size


def charsmap_of(model):
    normalizer = next(value for number, value in fields(model) if number == 3)
    return next(value for number, value in fields(normalizer) if number == 2)


@pytest.fixture(scope="module")
def unigram_model(real, foreign):
    """Of SentencePiece, with its default normalisation."""
    return trained_sentencepiece(
        real[:1500] + foreign, model_type="unigram", vocab_size=2000, character_coverage=0.999
    )


# tokenizer.json ----------------------------------------------------------------------------------


@pytest.mark.parametrize("byte_fallback", [True, False])
def test_unigram(ask, real, foreign, some, unigram_model, tmp_path, byte_fallback):
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Precompiled(charsmap_of(unigram_model)), normalizers.Strip(left=False),
            normalizers.Replace("  ", " "),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.train_from_iterator(
        real[:1000] + foreign,
        trainers.UnigramTrainer(
            vocab_size=1500, special_tokens=["<unk>", "<s>"], unk_token="<unk>", show_progress=False
        ),
    )
    value = json.loads(tokenizer.to_str())
    # Sums of these are exact, so that no rounding decides between equal ways.
    value["model"]["vocab"] = [[piece, round(64 * x) / 64] for piece, x in value["model"]["vocab"]]
    if byte_fallback:
        value["model"]["byte_fallback"] = True
        value["model"]["vocab"] += [[f"<0x{byte:02X}>", -100.0] for byte in range(256)]
        value["decoder"] = {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, value["decoder"]]}
    path = save(tmp_path, "unigram.json", value)
    rng = random.Random(5)
    check_against_package(ask, path, some, random_ids(rng, len(value["model"]["vocab"]), 1000))


def random_unigram(rng):
    letters = list("ab ▁é日5\u0301")
    pieces = {letter for letter in letters if rng.random() < 0.8} | {"<unk>"}
    for _ in range(rng.randrange(40)):
        pieces.add("".join(rng.choices(letters, k=rng.randrange(2, 6))))
    pieces = sorted(pieces)
    rng.shuffle(pieces)
    # Few different scores, so that ways compete.
    vocab = [[piece, -float(rng.randrange(1, 12)) / rng.choice([1, 2, 4])] for piece in pieces]
    return {
        "type": "Unigram", "unk_id": pieces.index("<unk>"), "vocab": vocab,
        "byte_fallback": rng.random() < 0.5,
    }  # fmt: skip


def test_random_unigrams(ask, tmp_path):
    rng = random.Random(11)
    for number in range(40):
        value = {
            "version": "1.0", "truncation": None, "padding": None, "added_tokens": [],
            "normalizer": None, "pre_tokenizer": None, "post_processor": None, "decoder": None,
            "model": random_unigram(rng),
        }  # fmt: skip
        path = save(tmp_path, f"{number}.json", value)
        texts = ["".join(rng.choices("ab ▁é日5\u0301z", k=rng.randrange(20))) for _ in range(60)]
        oracle = Tokenizer.from_file(str(path))
        asked = [{"encode": text, "special": False} for text in texts]
        check_equal(ask(path, asked), [oracle.encode(text).ids for text in texts], texts)


@pytest.mark.parametrize("lowercase", [True, False])
def test_word_piece(ask, real, foreign, some, tmp_path, lowercase):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece(cleanup=lowercase)
    tokenizer.train_from_iterator(
        real[:1000] + foreign,
        trainers.WordPieceTrainer(
            vocab_size=1500, special_tokens=["[UNK]", "[CLS]"], show_progress=False
        ),
    )
    path = save(tmp_path, "word_piece.json", json.loads(tokenizer.to_str()))
    rng = random.Random(6)
    check_against_package(ask, path, some, random_ids(rng, tokenizer.get_vocab_size(), 1000))


# tokenizer.model ---------------------------------------------------------------------------------

KINDS = {
    "BPE as Llama's": {
        "model_type": "bpe", "vocab_size": 1500, "byte_fallback": True, "split_digits": True,
        "normalization_rule_name": "identity", "remove_extra_whitespaces": False,
        "allow_whitespace_only_pieces": True, "character_coverage": 0.9995,
    },
    "BPE without bytes and prefix": {
        "model_type": "bpe", "vocab_size": 1200, "normalization_rule_name": "identity",
        "remove_extra_whitespaces": False, "add_dummy_prefix": False,
    },
    "unigram with bytes": {
        "model_type": "unigram", "vocab_size": 1500, "byte_fallback": True,
        "normalization_rule_name": "identity", "remove_extra_whitespaces": False,
    },
    "unigram, NFKC": {"model_type": "unigram", "vocab_size": 1500},
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_tokenizer_model(ask, real, foreign, some, tmp_path, kind):
    model = trained_sentencepiece(real[:1500] + foreign, **KINDS[kind])
    (tmp_path / "tokenizer.model").write_bytes(model)
    oracle = sentencepiece.SentencePieceProcessor(model_proto=model)
    # `tokenizers` finds control pieces in texts, and a unigram also byte pieces.
    other = ("<s>", "</s>", "<unk>", "\0", "<0x")
    texts = [text for text in some if not any(part in text for part in other)]
    if "NFKC" in kind:
        # `tokenizers` normalises by graphemes, so that half-width kana and their marks stay apart.
        known = set(real) | set(foreign)
        texts = [text for text in texts if text in known and "\uff9e" not in text]
    assert len(texts) > 1500
    want = oracle.encode(texts)
    asked = [{"encode": text, "special": False, "decode": [False]} for text in texts]
    answers = ask(tmp_path / "tokenizer.model", asked)
    got = [ids for ids, _ in answers]
    if "unigram" in kind:  # sums in float32 there, and in double here, decide between equal ways
        scores = [[sum(map(oracle.get_score, ids)) for ids in lists] for lists in (got, want)]
        other = [i for i in range(len(texts)) if got[i] != want[i]]
        assert len(other) < len(texts) / 20
        assert all(abs(scores[0][i] - scores[1][i]) < 1e-3 for i in other)
    else:
        check_equal(got, want, texts)
    if "BPE" in kind and "bytes and" not in kind:
        same = [text for text in texts if oracle.decode(oracle.encode(text)) == text]
        assert len(same) > 1500
        round_trips = ask(tmp_path / "tokenizer.model", [{"round": text} for text in same])
        check_equal(round_trips, same, same)
    (size,) = ask(tmp_path / "tokenizer.model", [{"size": True}])
    assert size == oracle.vocab_size()
    # A text begins with bos, unless the file beside says otherwise.
    one = [{"encode": "ab", "special": True}]
    plain = oracle.encode("ab")
    assert ask(tmp_path / "tokenizer.model", one) == [[oracle.bos_id(), *plain]]
    (tmp_path / "tokenizer_config.json").write_text('{"add_bos_token": false, "add_eos_token": true}')
    assert ask(tmp_path / "tokenizer.model", one) == [[*plain, oracle.eos_id()]]


def test_tokens_beside_tokenizer_model(ask, real, tmp_path):
    model = trained_sentencepiece(real[:500], **{**KINDS["BPE as Llama's"], "vocab_size": 600})
    (tmp_path / "tokenizer.model").write_bytes(model)
    size = sentencepiece.SentencePieceProcessor(model_proto=model).vocab_size()
    (tmp_path / "added_tokens.json").write_text(json.dumps({"<pad>": size}))
    (tmp_path / "special_tokens_map.json").write_text('{"pad_token": "<pad>"}')
    ids, token = ask(
        tmp_path / "tokenizer.model", [{"encode": "a<pad>b", "special": False}, {"token": size}]
    )
    assert size in ids and token == ["<pad>", True, size]
