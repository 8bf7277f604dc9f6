"""Checkpoints in other forms, and vocabularies of other sizes: run as transformers does, or told
what to do.
"""

import json
import pathlib
import shutil

import pytest

from cases import ask, change_json, make_network, of_transformers
from reference import torch


@pytest.fixture(scope="module")
def network(pardec):
    return make_network(pardec.folder / "network")


def test_the_network_itself_gives_the_ids_of_transformers(pardec, network):
    assert ask(pardec, network)[1] == of_transformers(network)


# Vocabularies of other sizes: more tokens than the network has rows, or fewer ---------------------


@pytest.fixture(scope="module", params=[1, 5], ids=["one more", "several more"])
def larger(request, pardec, network):
    """A copy of the network with more tokens, and how many."""
    count = request.param
    folder = pathlib.Path(shutil.copytree(network, pardec.folder / f"larger-{count}"))
    own = json.loads((network / "tokenizer.json").read_text(encoding="utf-8"))
    own["added_tokens"] += [
        {
            "id": 4096 + i,
            "content": f"<extra-{i}>",
            "single_word": False,
            "lstrip": False,
            "rstrip": False,
            "normalized": False,
            "special": True,
        }
        for i in range(count)
    ]
    (folder / "tokenizer.json").write_text(json.dumps(own), encoding="utf-8")
    return folder, count


SAID = {
    1: (
        "has 1 id beyond the network's vocabulary of 4096 ('<extra-0>' 4096): a prompt with one of"
        " them fails"
    ),
    5: (
        "has 5 ids beyond the network's vocabulary of 4096 ('<extra-0>' 4096, '<extra-1>' 4097,"
        " '<extra-2>' 4098, ...)"
    ),
}


def test_a_larger_tokenizer_gives_the_same_ids_and_is_told(pardec, network, larger):
    folder, count = larger
    words = ["--prompt", "Hello", "--max-new-tokens", 4, "--ignore-eos", "--format", "json"]
    plain = json.loads(pardec.good("generate", "--model", network, *words))
    ran = pardec("generate", "--model", folder, *words)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["tokens"] == plain["tokens"]
    assert SAID[count] in ran.stderr


def test_a_token_beyond_the_vocabulary_is_refused(pardec, larger):
    words = ["--prompt", "Hello <extra-0>", "--max-new-tokens", 4]
    ran = pardec("generate", "--model", larger[0], *words)
    assert ran.returncode == 2
    assert "token id 4096 is not in the vocabulary, which ends at 4095" in ran.stderr


def test_doctor_and_a_plan_tell_of_a_larger_tokenizer(pardec, larger):
    said = pardec("doctor", "--model", larger[0]).stdout
    assert "beyond the network's vocabulary" in " ".join(said.split())
    words = ["--decoder", "ar", "--dataset", "vicuna-bench", "--limit", 1, "--db", "no.sqlite"]
    said = pardec.good("run", "--model", larger[0], *words, "--dry-run")
    assert "beyond the network" in said


def test_a_run_takes_a_larger_tokenizer(pardec, larger):
    folder, count = larger
    ran = pardec(
        "run", "--model", folder, "--decoder", "ar,prompt-lookup", "--dataset", "oa-mine",
        "--limit", 2, "--max-new-tokens", 8, "--db", f"larger-{count}.sqlite",
    )
    assert ran.returncode == 0, ran.stderr


@pytest.fixture(scope="module")
def smaller(pardec):
    """A network of fewer rows than its tokenizer has tokens."""
    return make_network(pardec.folder / "smaller", vocab_size=4000)


def test_ids_alone_need_no_tokenizer_of_the_networks_size(pardec, smaller):
    assert ask(pardec, smaller)[1] == of_transformers(smaller)


def test_a_smaller_vocabulary_is_told(pardec, smaller):
    ran = pardec("generate", "--model", smaller, "--prompt", "Hi", "--max-new-tokens", 2)
    assert "has 96 ids beyond the network's vocabulary of 4000" in ran.stderr


# Other forms -------------------------------------------------------------------------------------


def check_refused(pardec, path, *said, flag="--model", network=None):
    """By generate and run, in one line, without a database."""
    base = () if flag == "--model" else ("--model", network)
    run = ("run", "--decoder", "ar", "--dataset", "vicuna-bench", "--db", "no.sqlite")
    for verb in (("generate", "--prompt", "x"), run):
        ran = pardec(*verb, *base, flag, path)
        assert ran.returncode == 2, verb[0]
        for part in said:
            assert part in ran.stderr
        assert ran.stderr.count("\n") == 1, ran.stderr
        assert not (pardec.folder / "no.sqlite").exists()


@pytest.fixture
def without_weights(network, tmp_path):
    """A copy of the network without its weights."""
    folder = tmp_path / "copy"
    shutil.copytree(network, folder, ignore=shutil.ignore_patterns("*.safetensors"))
    return folder


@pytest.fixture
def gguf(pardec, tmp_path):
    """The name of a file of GGUF."""
    (pardec.folder / "model-Q4_K_M.gguf").write_bytes(b"GGUF\3\0\0\0")
    return "model-Q4_K_M.gguf"


@pytest.mark.parametrize(
    "path, said",
    [
        (
            "meta-llama/Llama-3.2-1B",
            [
                "meta-llama/Llama-3.2-1B: does not exist",
                "'pardec model fetch meta-llama/Llama-3.2-1B' fetches it",
            ],
        ),
        ("no/such/folder/at/all", ["does not exist, expected a Hugging Face checkpoint folder or a GGUF file\n"]),
    ],
    ids=["an id of the Hub", "a path"],
)
def test_a_network_that_is_not_there_is_refused(pardec, path, said):
    check_refused(pardec, path, *said)


def test_a_cut_file_of_gguf_is_refused(pardec, gguf):
    check_refused(pardec, gguf, f"{gguf}: is truncated: the number of tensors at byte 8 needs 8")


def test_a_folder_with_a_cut_file_of_gguf_is_refused(pardec, gguf, tmp_path):
    shutil.copy(pardec.folder / gguf, tmp_path)
    check_refused(pardec, tmp_path, f"{gguf}: is truncated")


def test_a_folder_with_two_files_of_gguf_is_refused(pardec, gguf, tmp_path):
    for name in ["a.gguf", "b.gguf"]:
        shutil.copy(pardec.folder / gguf, tmp_path / name)
    check_refused(pardec, tmp_path, "has no config.json", "a.gguf, b.gguf: give one of them")


def test_gguf_of_another_architecture_is_refused(pardec, tmp_path):
    architecture = b"\x14\0\0\0\0\0\0\0general.architecture\x08\0\0\0\x05\0\0\0\0\0\0\0mamba"
    (tmp_path / "m.gguf").write_bytes(
        b"GGUF\3\0\0\0" + bytes(8) + b"\x01" + bytes(7) + architecture
    )
    said = ["has general.architecture 'mamba', which is not supported", "supported are gemma2"]
    check_refused(pardec, tmp_path / "m.gguf", *said)


def test_gguf_in_place_of_weights_is_refused(pardec, gguf, without_weights):
    shutil.copy(pardec.folder / gguf, without_weights)
    check_refused(pardec, without_weights, "has no weights", f"it has {gguf}: give that file")


def test_a_file_of_safetensors_is_refused(pardec, network):
    said = ["is not a folder", "give the folder that it is in"]
    check_refused(pardec, network / "model.safetensors", *said)


@pytest.mark.parametrize(
    "file, said",
    [
        ("pytorch_model.bin", "pytorch_model.bin is pickled by torch; 'pardec model convert "),
        ("pytorch_model.bin.index.json", "is pickled by torch; 'pardec model convert "),
        ("model.pt", "model.pt is pickled by torch; named pytorch_model.bin, 'pardec model convert "),
    ],
)
def test_weights_that_torch_pickled_are_refused(pardec, without_weights, file, said):
    (without_weights / file).write_text("x")
    check_refused(
        pardec, without_weights, "has no weights, expected model.safetensors", said, " --out OUT'"
    )


@pytest.fixture
def pickled(network, without_weights):
    """The network's folder, with the weights as torch pickles them: in one file, or in two."""
    from safetensors.torch import load_file

    def make(shards=1, legacy=False):
        tensors = load_file(network / "model.safetensors")
        names = sorted(tensors)
        files = ["pytorch_model.bin"]
        if shards > 1:
            files = [f"pytorch_model-{i + 1:05}-of-{shards:05}.bin" for i in range(shards)]
            index = {name: files[i % shards] for i, name in enumerate(names)}
            (without_weights / "pytorch_model.bin.index.json").write_text(
                json.dumps({"weight_map": index})
            )
        for number, file in enumerate(files):
            some = {name: tensors[name] for name in names[number::shards]}
            if number == 0:  # as old checkpoints have it
                some["model.layers.0.self_attn.rotary_emb.position_ids"] = torch.arange(5)
            torch.save(some, without_weights / file, _use_new_zipfile_serialization=not legacy)
        return without_weights

    return make


@pytest.mark.parametrize("shards, legacy", [(1, False), (2, False), (1, True)])
def test_pickled_weights_are_converted(pardec, network, pickled, tmp_path, shards, legacy):
    folder, out = pickled(shards, legacy), tmp_path / "out"
    said = pardec("model", "convert", folder, "--out", out)
    assert said.returncode == 0 and "in safetensors" in said.stderr, said.stderr
    assert ask(pardec, out)[1] == of_transformers(network)
    assert not list(out.glob("*.bin*")) and not list(out.glob("*.tmp"))
    again = pardec("model", "convert", folder, "--out", out)
    assert again.returncode == 2 and "holds a model; give another folder" in again.stderr


class Exploit:
    def __reduce__(self):
        return pathlib.Path.touch, (pathlib.Path("/tmp/pardec-was-here"),)


def test_a_pickled_file_runs_no_code(pardec, pickled, tmp_path):
    folder = pickled()
    for content, said in [
        ({"a": Exploit()}, "pytorch_model.bin: torch does not load it: "),
        ([1, 2], "pytorch_model.bin: holds a list, expected a dictionary of tensors"),
        ({"a": 1}, "'a' is a int, expected a tensor"),
    ]:
        torch.save(content, folder / "pytorch_model.bin")
        ran = pardec("model", "convert", folder, "--out", tmp_path / "out")
        assert ran.returncode == 2 and said in ran.stderr, ran.stderr
        assert ran.stderr.count("\n") == 1
    assert not pathlib.Path("/tmp/pardec-was-here").exists()
    (folder / "pytorch_model.bin").write_bytes(b"PK\3\4 cut")
    ran = pardec("model", "convert", folder, "--out", tmp_path / "out")
    assert ran.returncode == 2 and "torch does not load it" in ran.stderr, ran.stderr
    ran = pardec("model", "convert", tmp_path, "--out", tmp_path / "out")
    assert ran.returncode == 2 and "has neither pytorch_model.bin nor" in ran.stderr


@pytest.mark.parametrize(
    "file, said",
    [
        ("consolidated.00.pth", "maker's own format"),
        ("consolidated.safetensors", "maker's own format"),
        ("tf_model.h5", "of another library"),
        ("part.safetensors", "it has part.safetensors, and no index"),
    ],
)
def test_weights_of_others_are_refused(pardec, without_weights, file, said):
    (without_weights / file).write_text("x")
    check_refused(pardec, without_weights, "has no weights", said)


def test_a_pointer_of_git_lfs_is_refused(pardec, without_weights):
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 5\n"
    (without_weights / "model.safetensors").write_text(pointer)
    said = "model.safetensors: is a pointer of Git LFS, not the file: 'git lfs pull' fetches it"
    check_refused(pardec, without_weights, said)


def test_pickled_weights_by_another_name_are_refused(pardec, without_weights):
    torch.save({"a": torch.ones(2)}, without_weights / "model.safetensors")
    check_refused(pardec, without_weights, "is pickled by torch, expected safetensors")


@pytest.fixture
def snapshot(network, tmp_path):
    """A snapshot in a cache of the Hub."""
    folder = tmp_path / "models--a--b" / "snapshots" / "0123"
    return pathlib.Path(shutil.copytree(network, folder))


def test_a_folder_of_the_hubs_cache_is_refused(pardec, snapshot):
    said = "give ORG/NAME, or one of the folders in its snapshots/"
    check_refused(pardec, snapshot.parent.parent, said)


def test_a_snapshot_is_read(pardec, snapshot):
    words = ["--prompt-tokens", "1,2", "--max-new-tokens", 1]
    assert pardec("generate", "--model", snapshot, *words).returncode == 0


@pytest.fixture
def adapter(tmp_path):
    """An adapter without its weights."""
    config = {"peft_type": "LORA", "r": 4, "lora_alpha": 8}
    change_json(tmp_path / "adapter_config.json", **config)
    return tmp_path


def test_an_adapter_as_the_network_is_refused(pardec, adapter):
    said = "it holds an adapter: give the network as --model, and this as --adapter"
    check_refused(pardec, adapter, said)


def test_an_adapter_without_weights_is_refused(pardec, network, adapter):
    said = "has no adapter_model.safetensors, expected it beside adapter_config.json"
    check_refused(pardec, adapter, said, flag="--adapter", network=network)


def test_a_pickled_adapter_is_refused(pardec, network, adapter):
    (adapter / "adapter_model.bin").write_text("x")
    said = "but adapter_model.bin, which is not safetensors; peft converts it"
    check_refused(pardec, adapter, said, flag="--adapter", network=network)
