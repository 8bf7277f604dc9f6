"""No verb writes over what it reads: model, adapter, dataset, service, job, trace, database, by whichever name, link or file of settings they are given.

Usage: written_test.py PROGRAM
"""
import json
import os
import re
import shutil
import sys

from harness import ROOT, SAMPLES, Checks, scratch

QUICKSTART = ROOT / "experiments" / "quickstart" / "model"
RUN = ["run", "--decoder", "ar", "--dataset", "oa-mine", "--limit", 1, "--max-new-tokens", 4, "--db", "r.sqlite", "--progress", "none"]
# Flags that name what a verb writes. Every other flag of a FILE or DIR is read.
WRITTEN = {"run": {"trace"}, "sweep": {"trace"}, "generate": {"trace"}, "report": {"output"}, "plot": {"output"}, "export": {"out"}, "judge": {"out"},
           "data": {"out", "details"}, "model": {"out"}, "train": {"out"}, "reproduce": {"report"}}


def state(folder):
    """Content of all files, so that nothing is written over, shortened, or made."""
    return {p.relative_to(folder): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file() and p.suffix not in (".sqlite-wal", ".sqlite-shm") and not p.name.endswith(("-wal", "-shm"))}


def refused(check, pardec, what, *command):
    before = state(pardec.folder)
    ran = pardec(*command)
    after = state(pardec.folder)
    changed = sorted(str(k) for k in before if after.get(k) != before[k])
    check(ran.returncode == 2 and re.search("choose another (file|folder)", ran.stderr) and not changed, f"{what}: exit {ran.returncode}, changed {changed}: {ran.stderr}")


def flags_are_known(check, pardec):
    """Each flag that takes a FILE or DIR and says that something is written, or made, is among those that are checked."""
    for verb in re.findall(r"^  ([a-z]+) ", pardec.good("--help").split("Flags:")[0], re.M):
        found = {m[1] for m in re.finditer(r"--([a-z-]+)\s+(?:FILE|DIR)", pardec.good(verb, "--help"))} & {"out", "output", "details", "report", "trace"}
        read = {"trace"} if verb in ("compare", "report", "roofline", "export") else set()
        check(found - read == WRITTEN.get(verb, set()), f"{verb} writes {found - read}, known {WRITTEN.get(verb)}")


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        folder = pardec.folder
        flags_are_known(check, pardec)
        model = pardec.synthesise("model")
        (folder / "notes.txt").write_text("a prompt")
        (folder / "service.json").write_text(json.dumps({"interface": "openai-chat", "url": "http://127.0.0.1:9/v1", "model": "m"}))
        (folder / "job.json").write_bytes((ROOT / "experiments/quickstart/job.json").read_bytes())
        (folder / "prompt.txt").write_bytes((ROOT / "datasets/prompts").joinpath(sorted(os.listdir(ROOT / "datasets/prompts"))[0]).read_bytes())
        (folder / "ids.txt").write_text("1,2,3\n")
        (folder / "data").mkdir()
        shutil.copytree(SAMPLES / "oa-mine", folder / "data" / "oa-mine")
        (folder / "data" / "jsonl").mkdir()
        (folder / "data" / "jsonl" / "train.jsonl").write_text('{"prompt": "Which is the capital of Norway?", "references": ["Oslo"]}\n')
        dataset = next(iter(sorted((folder / "data" / "oa-mine").rglob("*.json*"))))
        pardec.good(*RUN, "--model", model, "--trace", "t.jsonl")
        check((folder / "t.jsonl").stat().st_size > 0, "a trace of its own is written")
        pardec.good(*RUN, "--model", model, "--trace", "t.jsonl")  # and again
        os.symlink("model/config.json", folder / "link")
        os.link(folder / "model" / "config.json", folder / "hard")
        os.symlink("model", folder / "other-name")
        os.link(folder / "r.sqlite", folder / "hard.sqlite")

        for name in ("model/config.json", "model/model.safetensors", "model/tokenizer.json", "./model/../model/config.json", folder / "model/config.json", "link", "hard",
                     "other-name/config.json", "r.sqlite", "hard.sqlite", "r.sqlite-wal"):
            for verb in ("run", "sweep"):
                extra = ["--grid", "batch_size=1,2"] if verb == "sweep" else []
                refused(check, pardec, f"{verb} --trace {name}", verb, *RUN[1:], *extra, "--model", model, "--trace", name)
        refused(check, pardec, "--model by a link", *RUN, "--model", "other-name", "--trace", "model/config.json")
        refused(check, pardec, "--arm's own model", *RUN[:1], *RUN[3:], "--model", QUICKSTART, "--arm", "ar=ar", "--arm", f"b=ar,model={model}", "--trace", "model/config.json")
        refused(check, pardec, "--grid of models", "sweep", *RUN[1:], "--grid", f"model={QUICKSTART},{model}", "--trace", "model/config.json")
        refused(check, pardec, "--prompt-file", *RUN, "--model", model, "--prompt-file", "prompt.txt", "--trace", "prompt.txt")
        refused(check, pardec, "the dataset", *RUN, "--model", model, "--data-root", "data", "--trace", dataset.relative_to(folder))
        (folder / "ours.json").write_text(json.dumps({"model": "m", "models": {"m": str(model)}, "decoders": [{"label": "ar", "name": "ar"}], "datasets": ["oa-mine"], "limit": 1, "trace": "model/config.json", "db": "r.sqlite"}))
        refused(check, pardec, "-c names both", "run", "-c", "ours.json")
        (folder / "traced.json").write_text(json.dumps({"model": str(model), "decoders": [{"name": "ar"}], "datasets": ["oa-mine"], "limit": 1, "max_new_tokens": 2, "trace": "by-file.jsonl", "db": "r.sqlite"}))
        pardec.good("run", "-c", "traced.json", "--progress", "none")
        pardec.good("run", "-c", "traced.json", "--progress", "none")  # writes it anew
        refused(check, pardec, "-c itself", *RUN, "--model", model, "-c", "ours.json", "--trace", "ours.json")

        ask = ["generate", "--model", model, "--max-new-tokens", 2]
        for how, name in ((["--prompt", "x"], "model/config.json"), (["--prompt", "x"], "link"), (["--job", "job.json"], "job.json"), (["--prompt-tokens", "@ids.txt"], "ids.txt")):
            refused(check, pardec, f"generate {how} --trace {name}", *ask, *how, "--trace", name)
        check(pardec(*ask, "--prompt", "x", "--trace", "model/mine.jsonl").returncode == 0, "a trace may lie in a model's folder")
        check(pardec(*ask, "--prompt", "x", "--trace", "model/mine.jsonl").returncode == 0, "and be written anew")

        teach = ["--data-root", "data", "--service", "service.json", "--db", "taught.sqlite", "--progress", "none"]
        os.symlink("service.json", folder / "service-link")
        os.link(folder / "service.json", folder / "service-hard")
        for flags in (["--out", "service.json"], ["--out", "service-link"], ["--out", "service-hard"], ["--out", "o.jsonl", "--details", "service.json"], ["--out", "data/jsonl/train.jsonl"],
                      ["--out", "o.jsonl", "--details", "o.jsonl"], ["--out", "o.jsonl", "--details", "./o.jsonl"], ["--out", "taught.sqlite"]):
            for action in ("label", "rewrite"):
                of = ["jsonl", "--split", "train"] if action == "rewrite" else ["oa-mine"]
                given = ["--out", dataset.relative_to(folder)] if action == "label" and "data/jsonl/train.jsonl" in flags else flags
                refused(check, pardec, f"data {action} {given}", "data", action, *of, *teach, *given)

        for verb, flag, more in (("report", "-o", []), ("plot", "-o", ["--x", "batch_size"])):
            names = ["r.sqlite", "hard.sqlite"] + (["t.jsonl"] if verb == "report" else [])
            for name in names:
                target = name
                if verb == "plot":
                    target = name + ".svg"
                    os.symlink(name, folder / target) if not (folder / target).is_symlink() else None
                refused(check, pardec, f"{verb} {flag} {target}", verb, "--db", "r.sqlite", *more, flag, target, *(["--trace", "t.jsonl"] if name == "t.jsonl" else []))
        os.symlink("r.sqlite", folder / "sheet.html")
        refused(check, pardec, "judge export --out", "judge", "export", "--db", "r.sqlite", "--protocol", "single", "--out", "sheet.html")
        (folder / "tables").mkdir()
        shutil.copy(folder / "t.jsonl", folder / "tables" / "jobs.jsonl")
        refused(check, pardec, "export over the trace it reads", "export", "--db", "r.sqlite", "--format", "jsonl", "--hardware", "here", "--trace", "tables/jobs.jsonl", "--out", "tables")
        check(pardec("export", "--db", "r.sqlite", "--format", "csv", "--hardware", "here", "--trace", "tables/jobs.jsonl", "--out", "tables").returncode == 0, "and beside it")
        check(pardec("export", "--db", "r.sqlite", "--out", ".").returncode == 0, "tables may lie beside their database")
        refused(check, pardec, "reproduce --report", "reproduce", "list", "--db", "r.sqlite", "--report", "hard.sqlite")

        tune = ["train", "--model", model, "--dataset", "oa-mine", "--format", "ar", "--steps", 1, "--lora-rank", 2, "--context-length", 1024, "--progress", "none"]
        refused(check, pardec, "train into its model", *tune, "--out", "other-name")
        pardec.good(*tune, "--out", "adapter")
        for out in ("adapter", "model"):
            refused(check, pardec, f"model merge --out {out}", "model", "merge", model, "--adapter", "adapter", "--out", out)
        (folder / "linked").mkdir()
        os.symlink("../model/config.json", folder / "linked" / "config.json")
        refused(check, pardec, "model merge into links", "model", "merge", model, "--adapter", "adapter", "--out", "linked")
        refused(check, pardec, "model draft into links", "model", "draft", model, "--layers", 1, "--out", "linked")
        refused(check, pardec, "model synth over its config", "model", "synth", "model", "--config", "model/config.json")
        refused(check, pardec, "model synth over its tokenizer", "model", "synth", "linked", "--tokenizer", "model", "--config", "model/config.json")
        check(pardec("model", "merge", model, "--adapter", "adapter", "--out", "merged").returncode == 0, "a new folder gets it")
        check(pardec(*tune, "--out", "adapter", "--resume", "--steps", 2).returncode in (0, 2), "train goes on in its folder")
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
