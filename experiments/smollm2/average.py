"""The mean of low-rank adapters of one shape that were taught one behind the other (Izmailov et al. 2018, arXiv:1803.05407).

    .venv/bin/python experiments/smollm2/average.py OUT ADAPTER ADAPTER...

OUT gets the files of the last one, with the mean of all weights, and its record names what went in."""
import hashlib
import json
import pathlib
import shutil
import sys

from safetensors.torch import load_file, save_file

WEIGHTS = "adapter_model.safetensors"


def sha256(folder):
    return hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest()


def main(out, *folders):
    out, folders = pathlib.Path(out), [pathlib.Path(folder) for folder in folders]
    parts = [load_file(folder / WEIGHTS) for folder in folders]
    shapes = [{name: (tensor.shape, tensor.dtype) for name, tensor in part.items()} for part in parts]
    configs = [{**json.loads((folder / "adapter_config.json").read_text()), "base_model_name_or_path": None} for folder in folders]
    if any(one != shapes[0] for one in shapes) or any(one != configs[0] for one in configs):
        sys.exit("adapters differ in shape, expected those of one training and its further parts")
    out.mkdir(parents=True)
    for name in ("adapter_config.json", "loss.csv", "loss.svg"):
        shutil.copy(folders[-1] / name, out)
    mean = {name: (sum(part[name].double() for part in parts) / len(parts)).to(tensor.dtype) for name, tensor in parts[0].items()}
    save_file(mean, out / WEIGHTS)
    (out / WEIGHTS).chmod(0o644)
    record = json.loads((folders[-1] / "training.json").read_text())
    record["average_of"] = [{"adapter": str(folder), "sha256": sha256(folder)} for folder in folders]
    record["result"]["adapter_sha256"] = sha256(out)
    (out / "training.json").write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
