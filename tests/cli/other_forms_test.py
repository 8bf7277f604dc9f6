"""Checkpoints in other forms, and vocabularies of other sizes: run as transformers does, or told what to do.

Usage: other_forms_test.py PROGRAM
"""
import json
import shutil
import sys

from harness import Checks, scratch
from cases import ask, change_json, make_network, of_transformers
from reference import torch


def larger_tokenizers(check, pardec):
    """One more token, or many, than the network has rows."""
    network = make_network(pardec.folder / "network")
    expected = of_transformers(network)
    own = json.loads((network / "tokenizer.json").read_text(encoding="utf-8"))
    new = lambda first, count: [{"id": first + i, "content": f"<extra-{i}>", "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True} for i in range(count)]
    for name, count, said in (("one", 1, "has 1 id beyond the network's vocabulary of 4096 ('<extra-0>' 4096): a prompt with one of them fails"),
                              ("several", 5, "has 5 ids beyond the network's vocabulary of 4096 ('<extra-0>' 4096, '<extra-1>' 4097, '<extra-2>' 4098, ...)")):
        folder = pardec.folder / name
        shutil.copytree(network, folder)
        (folder / "tokenizer.json").write_text(json.dumps({**own, "added_tokens": own["added_tokens"] + new(4096, count)}), encoding="utf-8")
        ran = pardec("generate", "--model", folder, "--prompt", "Hello", "--max-new-tokens", 4, "--ignore-eos", "--format", "json")
        plain = pardec("generate", "--model", network, "--prompt", "Hello", "--max-new-tokens", 4, "--ignore-eos", "--format", "json")
        check(ran.returncode == 0 and json.loads(ran.stdout)["tokens"] == json.loads(plain.stdout)["tokens"] and said in ran.stderr, f"{name}: {ran.stderr}")
        ran = pardec("generate", "--model", folder, "--prompt", "Hello <extra-0>", "--max-new-tokens", 4)
        check(ran.returncode == 2 and "token id 4096 was fed, the vocabulary ends at 4095" in ran.stderr, f"{name}: {ran.stderr}")
        check("beyond the network's vocabulary" in " ".join(pardec("doctor", "--model", folder).stdout.split()), f"{name}: doctor says it")
        check("beyond the network" in pardec.good("run", "--model", folder, "--decoder", "ar", "--dataset", "vicuna-bench", "--limit", 1, "--db", "x.sqlite", "--dry-run"), f"{name}: --dry-run says it")
        ran = pardec("run", "--model", folder, "--decoder", "ar,prompt-lookup", "--dataset", "oa-mine", "--limit", 2, "--max-new-tokens", 8, "--db", f"{name}.sqlite")
        check(ran.returncode == 0, f"{name}: run: {ran.stderr}")
    smaller = make_network(pardec.folder / "smaller", vocab_size=4000)
    check(ask(pardec, smaller)[1] == of_transformers(smaller), "ids alone need no tokenizer of its size")
    ran = pardec("generate", "--model", smaller, "--prompt", "Hi", "--max-new-tokens", 2)
    check("has 96 ids beyond the network's vocabulary of 4000" in ran.stderr, f"a smaller vocabulary: {ran.stderr}")
    check(ask(pardec, network)[1] == expected, "the network itself")


def forms(check, pardec):
    network = make_network(pardec.folder / "form")

    def refused(name, path, *parts, flag="--model"):
        base = () if flag == "--model" else ("--model", network)
        for verb in (("generate", "--prompt", "x"), ("run", "--decoder", "ar", "--dataset", "vicuna-bench", "--db", "no.sqlite")):
            ran = pardec(*verb, *base, flag, path)
            check(ran.returncode == 2 and all(part in ran.stderr for part in parts) and ran.stderr.count("\n") == 1, f"{name}, {verb[0]}: exit {ran.returncode}: {ran.stderr}")
            check(not (pardec.folder / "no.sqlite").exists(), f"{name}: no database is left")

    def copy(name, *but):
        folder = pardec.folder / name
        shutil.copytree(network, folder)
        for file in but:
            (folder / file).unlink()
        return folder

    refused("an id of the Hub", "meta-llama/Llama-3.2-1B", "meta-llama/Llama-3.2-1B: does not exist", "'hf download meta-llama/Llama-3.2-1B --local-dir DIR'")
    refused("a path that is not there", "no/such/folder/at/all", "does not exist, expected a Hugging Face checkpoint folder\n")
    (pardec.folder / "model-Q4_K_M.gguf").write_bytes(b"GGUF\3\0\0\0")
    refused("a file of GGUF", "model-Q4_K_M.gguf", "is not a folder", "GGUF file, which is not read", "gguf_file='model-Q4_K_M.gguf'")
    alone = pardec.folder / "gguf"
    alone.mkdir()
    shutil.copy(pardec.folder / "model-Q4_K_M.gguf", alone)
    refused("a folder of GGUF", alone, "has no config.json", "GGUF file", "from_pretrained(f, gguf_file='model-Q4_K_M.gguf')")
    beside = copy("gguf-beside", "model.safetensors")
    shutil.copy(pardec.folder / "model-Q4_K_M.gguf", beside)
    refused("GGUF in place of weights", beside, "has no weights", "GGUF file")
    refused("a file of safetensors", network / "model.safetensors", "is not a folder", "give the folder that it is in")
    for file in ("pytorch_model.bin", "pytorch_model.bin.index.json", "model.pt"):
        folder = copy(f"with-{file}", "model.safetensors")
        (folder / file).write_text("x")
        refused(file, folder, "has no weights, expected model.safetensors", f"{file} is not safetensors", ".save_pretrained('OUT')")
    for file, said in (("consolidated.00.pth", "maker's own format"), ("consolidated.safetensors", "maker's own format"), ("tf_model.h5", "of another library"), ("part.safetensors", "it has part.safetensors, and no index")):
        folder = copy(f"with-{file}", "model.safetensors")
        (folder / file).write_text("x")
        refused(file, folder, "has no weights", said)
    pointer = copy("pointer", "model.safetensors")
    (pointer / "model.safetensors").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 5\n")
    refused("a pointer of Git LFS", pointer, "model.safetensors: is a pointer of Git LFS, not the file: 'git lfs pull' fetches it")
    pickled = copy("pickled", "model.safetensors")
    torch.save({"a": torch.ones(2)}, pickled / "model.safetensors")
    refused("pickled weights by another name", pickled, "is pickled by torch, expected safetensors")
    cache = pardec.folder / "models--a--b" / "snapshots" / "0123"
    shutil.copytree(network, cache)
    refused("a folder of the Hub's cache", cache.parent.parent, "give one of the folders in its snapshots/")
    check(pardec("generate", "--model", cache, "--prompt-tokens", "1,2", "--max-new-tokens", 1).returncode == 0, "a snapshot is read")
    adapter = pardec.folder / "adapter"
    adapter.mkdir()
    change_json(adapter / "adapter_config.json", peft_type="LORA", r=4, lora_alpha=8)
    refused("an adapter as the network", adapter, "it holds an adapter: give the network as --model, and this as --adapter")
    refused("an adapter without weights", adapter, "has no adapter_model.safetensors, expected it beside adapter_config.json", flag="--adapter")
    (adapter / "adapter_model.bin").write_text("x")
    refused("a pickled adapter", adapter, "but adapter_model.bin, which is not safetensors; peft converts it", flag="--adapter")


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        larger_tokenizers(check, pardec)
        forms(check, pardec)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
