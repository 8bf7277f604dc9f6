"""Weights that are not finite: answers fail with the reason in every dtype, doctor and model inspect name the tensor."""
import json
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from harness import Checks, query, scratch  # noqa: E402

DTYPES = ("fp32", "bf16", "int8", "nf4")
RUN = ("--dataset", "oa-mine", "--limit", 4, "--max-new-tokens", 8, "--warmup", 0)


def spoil(model, tensor, row, value):
    """Puts a number of 16 bits into the first place of a matrix's row."""
    file = model / "model.safetensors"
    data = bytearray(file.read_bytes())
    length = struct.unpack("<Q", data[:8])[0]
    entry = json.loads(data[8:8 + length])[tensor]
    columns = entry["shape"][1] if len(entry["shape"]) > 1 else 1
    at = 8 + length + entry["data_offsets"][0] + 2 * row * columns
    data[at:at + 2] = struct.pack("<H", value)
    file.write_bytes(data)


def runs(check, pardec):
    """A weight of the last layer: no row has logits. Beside it, one of the head: a single logit."""
    for what, tensor, value in (("NaN", "model.layers.1.mlp.down_proj.weight", 0x7FC0), ("a lone NaN", "lm_head.weight", 0x7FC0),
                                ("Inf", "model.norm.weight", 0x7F80)):
        model = pardec.synthesise(f"sick-{what.replace(' ', '-')}")
        spoil(model, tensor, 5, value)
        for dtype in DTYPES if what == "NaN" else DTYPES[:2]:
            db = pardec.folder / f"{model.name}-{dtype}.sqlite"
            ran = pardec("run", "--model", model, "--decoder", "ar,hpd,prompt-lookup", *RUN, "--dtype", dtype, "--db", db)
            rows = query(db, "SELECT error FROM generation")
            check(ran.returncode == 3 and len(rows) == 12, f"{what} {dtype}: exit {ran.returncode}, {len(rows)} answers: {ran.stderr}")
            check(all("logits of the row at position" in (r["error"] or "") and "are not finite" in r["error"] for r in rows),
                  f"{what} {dtype}: {rows[:2]}")
    one = pardec("generate", "--model", model, "--prompt", "Once upon a time", "--max-new-tokens", 4)
    check(one.returncode == 2 and "not finite" in one.stderr and one.stdout == "", f"generate: exit {one.returncode}: {one.stdout} {one.stderr}")


def looks(check, pardec):
    """doctor and model inspect --weights name the tensor; of a good network they say so."""
    good = pardec.synthesise("good")
    rows = {r["check"]: r for r in json.loads(pardec.good("doctor", "--model", good, "--format", "json"))["rows"]}
    check(rows["weights"]["state"] == "good" and "tensors of finite numbers" in rows["weights"]["detail"], f"doctor: {rows['weights']}")
    said = pardec.good("model", "inspect", good, "--weights")
    check("of finite numbers" in said and "NOT FINITE" not in said, said)
    sick = pardec.synthesise("sick")
    spoil(sick, "model.layers.0.mlp.up_proj.weight", 2, 0x7FC0)
    spoil(sick, "model.layers.0.mlp.up_proj.weight", 3, 0xFF80)
    doctor = pardec("doctor", "--model", sick, "--format", "json")
    rows = {r["check"]: r for r in json.loads(doctor.stdout)["rows"]}
    check(doctor.returncode == 1 and rows["model"]["state"] == rows["weights"]["state"] == "BAD", f"doctor: {doctor.returncode} {rows}")
    check("'model.layers.0.mlp.up_proj.weight' has 1 NaN and 1 Inf of" in rows["weights"]["detail"], f"doctor: {rows['weights']}")
    inspect = pardec("model", "inspect", sick, "--weights", "--format", "json")
    rows = json.loads(inspect.stdout)
    check(inspect.returncode == 1 and rows["not_finite"]["model.layers.0.mlp.up_proj.weight"].startswith("1 NaN and 1 Inf of"), f"inspect: {inspect.returncode} {rows}")
    plain = json.loads(pardec.good("model", "inspect", sick, "--format", "json"))
    check("weights" not in plain and "not_finite" not in plain, "inspect reads weights unasked")


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        runs(check, pardec)
        looks(check, pardec)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
