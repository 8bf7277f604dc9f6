"""Makes one safetensors file of weights that torch has pickled. torch reads them with weights_only, which runs no code of the file.

Reads from stdin {"files": [pytorch_model.bin, ...], "out": model.safetensors}. Needs torch.
"""
import json
import os
import pickle
import struct
import sys


def main():
    try:
        import torch
    except ImportError as error:
        sys.exit(f"{sys.executable}: {error}")
    names = {torch.bfloat16: "BF16", torch.float16: "F16", torch.float32: "F32", torch.float64: "F64"}
    task = json.load(sys.stdin)
    tensors = {}
    for file in task["files"]:
        with open(file, "rb") as opened:
            zipped = opened.read(2) == b"PK"  # older files cannot be mapped
        try:
            loaded = torch.load(file, map_location="cpu", weights_only=True, mmap=zipped)
        except (pickle.UnpicklingError, RuntimeError, EOFError, ValueError) as error:
            sys.exit(f"{file}: torch does not load it: {str(error).splitlines()[0]}")
        if not isinstance(loaded, dict) or not loaded:
            sys.exit(f"{file}: holds a {type(loaded).__name__}, expected a dictionary of tensors")
        for name, tensor in loaded.items():
            if not isinstance(tensor, torch.Tensor):
                sys.exit(f"{file}: '{name}' is a {type(tensor).__name__}, expected a tensor")
            if name in tensors:
                sys.exit(f"{file}: has '{name}', which a file before it has, too")
            if tensor.dtype in names:  # buffers of other types, such as position ids, are no weights
                tensors[name] = tensor
    if not tensors:
        sys.exit(f"{task['files'][0]}: has no tensor of {', '.join(names.values())}")
    header, offset = {"__metadata__": {"format": "pt"}}, 0
    for name, tensor in tensors.items():
        size = tensor.numel() * tensor.element_size()
        header[name] = {"dtype": names[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    text += b" " * (-(8 + len(text)) % 64)
    unfinished = task["out"] + ".tmp"
    with open(unfinished, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text)
        for tensor in tensors.values():
            flat = tensor.detach().contiguous().flatten().view(torch.uint8) if tensor.numel() else tensor
            out.write(memoryview(flat.numpy()) if tensor.numel() else b"")
        out.flush()
        os.fsync(out.fileno())
    os.replace(unfinished, task["out"])


if __name__ == "__main__":
    main()
