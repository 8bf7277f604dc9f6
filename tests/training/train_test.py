"""`pardec train` from end to end: eight titles are learned by heart and both decoders say them back; a run that is killed
and resumed ends with the same bits; transformers loads what was exported; mistakes are one line and exit code 2.

Usage: train_test.py PARDEC MODEL_DUMP
"""
import functools
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import small_training
from small_training import CONFIG, FIELDS, TITLES, prepare, run, tensors

PARDEC, DUMP = sys.argv[1:3]
train = functools.partial(small_training.train, PARDEC)
failures = []


def check(good, what):
    print(("ok      " if good else "FAILED  ") + what)
    if not good:
        failures.append(what)


def learns_by_heart(folder):
    done = run(train(folder, "model", "--format", "ar,hpd", "--stack", "2", "--steps", "240", "--batch-tokens", "100000",
                     "--lr", "6e-3", "--weight-decay", "0", "--validation", "0"))
    check(done.returncode == 0, f"training ends well {done.stderr.strip()[-200:]}")
    record = json.loads((folder / "model/training.json").read_text())
    check(record["finished"] and record["result"]["train_loss"] < 0.03, f"loss {record.get('result', {}).get('train_loss')} is nearly zero")
    with open(folder / "jobs1.jsonl", "w") as single, open(folder / "jobs2.jsonl", "w") as double:
        for size, file in ((1, single), (2, double)):
            for at in range(0, len(TITLES), size):
                contexts = [{"id": str(i), "category": "Bag", "text": TITLES[i][0], "fields": [{"name": n} for n in FIELDS]}
                            for i in range(at, at + size)]
                file.write(json.dumps({"id": str(at), "contexts": contexts}) + "\n")  # in the wording that was taught
    for decoder, jobs, options in (("ar", "jobs1.jsonl", []), ("hpd", "jobs2.jsonl", ["--set", "hpd.k_max=12"])):
        said = run([PARDEC, "generate", "--model", str(folder / "model"), "--decoder", decoder, "--job", str(folder / jobs),
                    "--prompt-file", str(folder / "prompt.txt"), "--threads", "1", "--format", "json", *options])
        got = {(a["context"], a["field"]): a["text"] for line in said.stdout.splitlines() for a in json.loads(line)["answers"]}
        want = {(str(i), name): value for i, (_, values) in enumerate(TITLES) for name, value in zip(FIELDS, values)}
        wrong = {key: (got.get(key), value) for key, value in want.items() if got.get(key, "missing") != value}
        check(len(got) == len(want) and not wrong, f"{decoder} says all {len(want)} values back {wrong or ''} {said.stderr.strip()}")


def learns_text(folder):
    """Titles, open prompts and conversations in one run, formats in shares; and when a run stops by itself."""
    details = "the colour of something that many people know well"
    talks = [[("Name a colour.", "Red."), ("Another?", "Blue, say.")],
             [("Which colours?", f"Some:\n\n1. Red: {details}.\n2. Blue: {details}.\n3. Green: {details}.\n\nNo more.")],
             [("Sum?", "12 + 34 = 46.")], [("Why?", "Because.")]]
    (folder / "jsonl").mkdir()
    with open(folder / "jsonl/train.jsonl", "w") as file:
        for talk in talks:
            file.write(json.dumps({"messages": [{"role": role, "content": text} for turn in talk for role, text in zip(("user", "assistant"), turn)]}) + "\n")
    flags = train(folder, "text", "--dataset", "oa-mine,jsonl", "--format", "ar,hpd:0.5,space:2,apar", "--chat-template", "chatml", "--steps", "6",
                  "--batch-sequences", "4", "--validation", "0", "--context-length", "1000")
    at = flags.index("--dataset")
    del flags[at:at + 2]
    wording = flags.index("--prompt-file")
    del flags[wording:wording + 2]
    done = run(flags)
    check(done.returncode == 0, f"a mixture is learned {done.stderr.strip()[-300:]}")
    record = json.loads((folder / "text/training.json").read_text()) if done.returncode == 0 else {"settings": {}, "epoch": {}, "examples": {}}
    check(record["settings"].get("format") == ["ar", "hpd", "space", "apar"] and record["settings"].get("shares") == [1, 0.5, 2, 1], "formats and shares are recorded")
    # 8 titles and 4 talks: ar once each, space twice, apar titles once and two of the talks, hpd about half of the titles.
    sequences = record["epoch"].get("sequences", 0)
    check(record["examples"].get("train") == 12 and 12 + 24 + 10 <= sequences <= 12 + 24 + 10 + 8 and record["epoch"].get("left_out") == 2,
          f"every example as often as the shares say: {record['epoch']}")
    refused = run([PARDEC, "train", "--model", str(folder / "config.json"), "--dataset", "jsonl", "--data-root", str(folder), "--split", "train", "--format", "hpd",
                   "--out", str(folder / "none")])
    check(refused.returncode == 2 and "hpd" in refused.stderr and "open prompts" in refused.stderr, f"hpd alone on text: {refused.stderr.strip()}")
    done = run(train(folder, "patient", "--steps", "60", "--batch-tokens", "700", "--validation", "0.25", "--validate-every", "1", "--patience", "3",
                     "--lr", "3e-2", "--warmup", "0"))
    rows = [line.split(",") for line in (folder / "patient/loss.csv").read_text().splitlines()[1:]]
    losses = [float(row[4]) for row in rows]
    best = losses.index(min(losses)) + 1
    result = json.loads((folder / "patient/training.json").read_text())["result"]
    check(done.returncode == 0 and len(rows) == min(60, best + 3) and result["best_step"] == best and abs(result["validation_loss"] - min(losses)) < 1e-4,
          f"stopped behind update {len(rows)}, {best} is kept: {result['best_step']}")
    before = (folder / "patient/model.safetensors").read_bytes()
    again = run(train(folder, "patient", "--steps", "60", "--batch-tokens", "700", "--validation", "0.25", "--validate-every", "1", "--patience", "3",
                      "--lr", "3e-2", "--warmup", "0", "--resume"))
    check(again.returncode == 0 and (folder / "patient/model.safetensors").read_bytes() == before, f"resumed behind its end nothing changes {again.stderr[-200:]}")


def learns_heads(folder, out, *more):
    """Over the network that `learns_by_heart` left: they guess what it will say, and change nothing of it."""
    model, heads, merged = folder / "model", folder / out, folder / (out + "-merged")
    flags = train(folder, out, "--medusa-heads", "2", "--steps", "120", "--batch-tokens", "100000", "--lr", "3e-3", "--weight-decay", "0",
                  "--validation", "0.25", *more, model="model")
    wording = flags.index("--prompt-file")
    del flags[wording:wording + 2]  # the model's own
    done = run(flags)
    check(done.returncode == 0 and "right head 1 " in done.stderr, f"heads are trained {done.stderr.strip()[-200:]}")
    check(not list(heads.glob("model*")) and not (heads / "config.json").exists(), "the folder has the heads, and no network")
    for name in ("tokenizer.json", "prompts/attributes.txt"):
        check((heads / name).read_bytes() == (model / name).read_bytes(), f"{name} is the model's")
    size = CONFIG["hidden_size"]
    own = 0 if more else 2 * size * json.loads((model / "config.json").read_text())["vocab_size"]
    sizes = {name: tensor.numel() for name, tensor in tensors(heads / "medusa_heads.safetensors").items()}
    check(sum(sizes.values()) == 2 * (size * size + size) + own, f"what is stored of them: {sizes}")
    record = json.loads((heads / "training.json").read_text())
    accuracy = record["result"]["validation_accuracy"]
    shape = {"heads": 2, "blocks": 1} | ({"shares_head": True} if more else {})
    check(record["settings"]["format"] == ["ar"] and record["settings"]["medusa"] == shape and len(accuracy) == 2,
          f"training.json says what was trained, and how often it is right: {accuracy}")
    trees = record["result"]["trees"]
    check(len(record["result"]["head_ranks"]) == 2 and [head[0] for head in record["result"]["head_ranks"]] == accuracy
          and all(1 < tree["tokens_per_pass"] <= 3 and tree["nodes"] <= 256 for tree in trees), f"trees that are likely to be right: {trees}")
    check(run(flags + ["--resume"]).returncode == 0, "resumed behind the end")
    check(json.loads((heads / "training.json").read_text())["result"]["validation_accuracy"] == accuracy, "which changes nothing")
    seen = run([PARDEC, "model", "inspect", str(model), "--adapter", str(heads)]).stdout
    check("extra heads only" in seen and f"2 of 1 block, {'on the network' if more else 'each with a matrix'}" in seen, f"inspect tells what they are: {seen}")
    made = run([PARDEC, "model", "merge", str(model), "--adapter", str(heads), "--out", str(merged)])
    check(made.returncode == 0 and all((merged / name).read_bytes() == (source / name).read_bytes() for source, name in (
        (model, "model.safetensors"), (model, "config.json"), (heads, "medusa_heads.safetensors"))), f"merged, it is a checkpoint with them {made.stderr}")
    refused = run(train(folder, "other", "--medusa-heads", "2", "--format", "hpd", model="model"))
    check(refused.returncode == 2 and "expected ar" in refused.stderr, f"heads on hpd: {refused.stderr.strip()}")
    ids, passes = {}, {}
    over, tree = ["--model", str(model), "--adapter", str(heads)], ["--set", "medusa.tree=1x3x2"]
    for name, decoder, options in (("ar", "ar", over), ("medusa", "medusa", [*over, *tree]), ("merged", "medusa", ["--model", str(merged), *tree])):
        said = run([PARDEC, "generate", "--decoder", decoder, "--job", str(folder / "jobs1.jsonl"), "--threads", "1", "--format", "json", *options])
        answers = [json.loads(line) for line in said.stdout.splitlines()]
        ids[name] = [answer["tokens"] for answer in answers]
        passes[name] = sum(answer["counters"]["forwards"] for answer in answers)
    check(len(ids["ar"]) == len(TITLES) and ids["medusa"] == ids["ar"] == ids["merged"], f"medusa says what ar says {said.stderr}")
    check(passes["medusa"] == passes["merged"], f"merged or not {passes}")
    # Three tokens a pass at most.
    check(passes["medusa"] < 0.5 * passes["ar"], f"in fewer passes {passes}")


def resumes(folder, whole, broken, *more, model="config.json", result="model.safetensors"):
    import torch

    def start(out, *flags):
        return train(folder, out, *flags, *more, model=model)
    flags = ["--steps", "24", "--batch-tokens", "700", "--validation", "0.25", "--save-every", "3", "--dtype", "bf16"]
    check(run(start(whole, *flags)).returncode == 0, f"a run without a break {' '.join(more)}")
    process = subprocess.Popen(start(broken, *flags), stderr=subprocess.DEVNULL)
    state = folder / broken / "state.safetensors"
    while not state.exists() and process.poll() is None:
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()
    check(process.returncode == -signal.SIGKILL and not (folder / broken / result).exists(), "killed in mid-run")
    refused = run(start(broken, *flags))
    check(refused.returncode == 2 and "--resume" in refused.stderr and refused.stderr.count("\n") == 1, "not overwritten unasked")
    other = run(start(broken, *flags, "--lr", "1e-5", "--resume"))
    check(other.returncode == 2 and "'lr'" in other.stderr, "not resumed with other flags")
    resumed = run(start(broken, *flags, "--resume"))
    check(resumed.returncode == 0, f"resumed {resumed.stderr.strip()[-200:]}")
    for name in ("state.safetensors", result):
        one, two = tensors(folder / whole / name), tensors(folder / broken / name)
        check(one.keys() == two.keys() and all(torch.equal(one[key], two[key]) for key in one), f"{name}: {len(one)} tensors are bit-equal")
    rows = [[line.split(",")[:5] for line in (folder / out / "loss.csv").read_text().splitlines()] for out in (whole, broken)]
    check(rows[0] == rows[1] and len(rows[0]) == 25, "loss.csv has each update once, with the same losses")


def stops_by_the_clock(folder):
    """After so many minutes with all files; sittings of any length end with the bits of one."""
    import torch
    for more, name, source in ((["--validation", "0.25"], "model.safetensors", "config.json"), (["--lora-rank", "4", "--patience", "99", "--validation", "0.25"], "adapter_model.safetensors", "whole")):
        flags = ["--steps", "12", "--batch-tokens", "700", *more]
        whole, cut = f"clock-whole-{name}", f"clock-{name}"
        check(run(train(folder, whole, *flags, model=source)).returncode == 0, "without a limit")
        done = run(train(folder, cut, *flags, "--minutes", "0.00001", model=source))
        record = json.loads((folder / cut / "training.json").read_text())
        check(done.returncode == 0 and "stopped at update 1 of 12: --minutes 1e-05 are over; the same line with --resume goes on" in done.stderr, f"stopped: {done.stderr[-300:]}")
        check(not record["finished"] and record["result"]["stopped_by"] == "minutes" and (record["result"]["steps"], record["result"]["planned_steps"]) == (1, 12), f"the record says so: {record['result']}")
        check(record["result"]["validation_loss"] > 0 and record["result"]["validation_accuracy"], "what was trained is validated")
        check(len((folder / cut / "loss.csv").read_text().splitlines()) == 2 and tensors(folder / cut / name), "its log and weights are there")
        seen = run([PARDEC, "generate", "--model", str(folder / (cut if source == "config.json" else source)), *([] if source == "config.json" else ["--adapter", str(folder / cut)]),
                    "--prompt-tokens", "5,6", "--max-new-tokens", "3", "--threads", "1"])
        check(seen.returncode == 0, f"and run: {seen.stderr}")
        again = run(train(folder, cut, *flags, "--resume", "--minutes", "0.00001", model=source))
        check("stopped at update 2 of 12" in again.stderr, f"for as long again: {again.stderr[-300:]}")
        check(run(train(folder, cut, *flags, "--resume", model=source)).returncode == 0, "and to its end")
        record = json.loads((folder / cut / "training.json").read_text())
        check(record["finished"] and record["result"]["stopped_by"] is None, f"{record['result']}")
        for file in ("state.safetensors", name):
            one, two = tensors(folder / whole / file), tensors(folder / cut / file)
            check(one.keys() == two.keys() and all(torch.equal(one[key], two[key]) for key in one), f"{file}: in three sittings as in one")
    for wrong in ("-1", "nan", "inf"):
        done = run(train(folder, "no-clock", "--minutes", wrong))
        check(done.returncode == 2 and "--minutes" in done.stderr, f"--minutes {wrong}: {done.stderr.strip()}")


def takes_the_dtype_of_a_checkpoint(folder):
    """--dtype auto: bf16 where the checkpoint holds it and the processor is fast at it, as the other verbs decide."""
    fast = "avx512_bf16" in pathlib.Path("/proc/cpuinfo").read_text()
    config = json.loads((folder / "whole/config.json").read_text())
    for stored in ("bfloat16", "float32"):
        (folder / "whole/config.json").write_text(json.dumps({**config, "dtype": stored}))
        done = run(train(folder, f"auto-{stored}", "--steps", "1", "--batch-tokens", "700", "--validation", "0", "--dtype", "auto", model="whole"))
        expected = "bf16" if fast and stored == "bfloat16" else "fp32"
        record = json.loads((folder / f"auto-{stored}/training.json").read_text())
        check(done.returncode == 0 and f"dtype auto: {expected}\n" in done.stderr and record["settings"]["dtype"] == expected, f"auto of {stored}: {done.stderr[-200:]}")
    (folder / "whole/config.json").write_text(json.dumps(config))
    done = run(train(folder, "auto-config", "--steps", "1", "--batch-tokens", "700", "--validation", "0", "--dtype", "auto"))
    check(done.returncode == 0 and "dtype auto: fp32\n" in done.stderr, f"auto of random weights: {done.stderr[-200:]}")


def loads_in_transformers(folder):
    import numpy
    import torch
    import transformers
    torch.set_num_threads(1)
    model = transformers.AutoModelForCausalLM.from_pretrained(str(folder / "model"), dtype=torch.float32)
    ids = list(range(3, 300, 7))
    request = {"model": str(folder / "model"), "dtype": "fp32", "segments": [],
               "cases": [{"whole": {"tokens": ids, "labels": [[i, i, 0, 0] for i in range(len(ids))]}}]}
    done = subprocess.run([DUMP], input=json.dumps(request).encode(), capture_output=True, check=True)
    with torch.no_grad():
        want = model(torch.tensor([ids])).logits[0].double().numpy()
    got = numpy.frombuffer(done.stdout).reshape(want.shape)
    worst, largest = abs(got - want).max(), abs(want).max()
    # float32: sums of 128 terms over two layers, 2^-24 each, carried on; well below 1e-4 of the largest logit.
    check(worst <= 1e-4 * largest, f"transformers: logits differ by {worst:.2g} of {largest:.3g}")
    check(model.dtype == torch.float32 and json.loads((folder / "model/config.json").read_text())["dtype"] == "bfloat16", "stored in bf16")


def refuses(folder):
    for flags, part in ((["--format", "hdp"], "hpd"), (["--steps", "-1"], "--steps"), (["--dtype", "fp8"], "fp8"),
                        (["--k-max", "400"], "--k-max"), (["--extra", "missing.jsonl"], "missing.jsonl"), (["--validation", "1"], "--validation"),
                        (["--medusa-heads", "2"], "config.json"), (["--medusa-heads", "-1"], "--medusa-heads"),
                        (["--medusa-blocks", "0"], "--medusa-blocks"), (["--medusa-share-head"], "--medusa-heads"),
                        (["--format", "space", "--mask-token", "5", "--unannotated", "0"], "format space learns every value"),
                        (["--unannotated", "0.5,1"], "has 2 shares, expected 1 or as many as datasets (1)")):
        done = run(train(folder, "refused", *flags))
        check(done.returncode == 2 and part in done.stderr, f"{' '.join(flags)}: {done.stderr.strip()}")
    check(not list((folder / "refused").glob("*")), "a refused run leaves no file")


def main():
    try:
        import numpy, safetensors, torch, transformers  # noqa: F401, E401
    except ImportError as missing:
        print(f"[skipped] {missing}")
        return 77
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        prepare(folder)
        refuses(folder)
        resumes(folder, "whole", "broken")
        resumes(folder, "whole_heads", "broken_heads", "--medusa-heads", "3", "--medusa-blocks", "2", model="whole", result="medusa_heads.safetensors")
        resumes(folder, "whole_small", "broken_small", "--medusa-heads", "2", "--medusa-share-head", "--lora-rank", "2", "--lora-dropout", "0.1", model="whole",
                result="medusa_heads.safetensors")
        resumes(folder, "whole_lora", "broken_lora", "--lora-rank", "4", "--lora-dropout", "0.1", "--lora-tokens", "[Fork],[Child]", "--checkpoint-activations",
                model="whole", result="adapter_model.safetensors")
        stops_by_the_clock(folder)
        takes_the_dtype_of_a_checkpoint(folder)
        learns_by_heart(folder)
        learns_heads(folder, "heads")
        learns_heads(folder, "shared", "--medusa-share-head")
        learns_text(folder)
        loads_in_transformers(folder)
    print(f"{len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
