#!/usr/bin/env python3
"""Makes tokenizer.json beside this file: a byte-level BPE over the project's own samples and prompts.

Usage: .venv/bin/python experiments/quickstart/train_tokenizer.py   (needs PyPI `tokenizers`; scripts/setup --tests installs it)
"""
import json
import pathlib

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

HERE = pathlib.Path(__file__).resolve().parent
DATASETS = HERE.parent.parent / "datasets"
SPECIAL = ["<unk>", "<s>", "</s>", "<|im_start|>", "<|im_end|>"]
VOCABULARY = 2048

# Words, single digits, punctuation with its line breaks, runs of spaces: a value's quote, comma and line break stay few tokens.
PIECES = r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"


def texts():
    for file in sorted(DATASETS.glob("samples/*/*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            item = json.loads(line)
            yield item["input"]
            values = {name: next(iter(scores)) for name, scores in item["target_scores"].items()}
            yield "<result>\n" + json.dumps({"1": values}, indent=2, ensure_ascii=False) + "\n</result>"
    for file in sorted(DATASETS.glob("prompts/*.txt")):
        yield file.read_text(encoding="utf-8")


def main():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(PIECES), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=VOCABULARY, special_tokens=SPECIAL, show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(texts(), trainer)
    tokenizer.save(str(HERE / "tokenizer.json"))
    print(f"{tokenizer.get_vocab_size()} ids")


if __name__ == "__main__":
    main()
