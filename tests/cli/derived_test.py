"""Checkpoints made of others: the first layers as a draft, and tokens that a network gets; transformers reads both.

Usage: derived_test.py PROGRAM
"""
import json
import shutil
import sys

from harness import ROOT, Checks, query, scratch
from reference import torch  # first: it skips where there is no transformers
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

QUICK = ROOT / "experiments" / "quickstart" / "model"
PROMPT = "Dark roast ground coffee, 12 oz bag"


def weights(folder):
    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()


def drafts(check, pardec):
    draft = pardec.folder / "draft"
    pardec.good("model", "draft", QUICK, "--layers", 2, "--out", draft)
    whole, part = weights(QUICK), weights(draft)
    check(part.config.num_hidden_layers == 2, f"{part.config.num_hidden_layers} layers, expected 2")
    theirs = whole.state_dict()
    check(all(torch.equal(theirs[name], tensor) for name, tensor in part.state_dict().items()), "a weight of the draft is not the network's")
    ids = torch.tensor([[5, 9, 200, 31]])
    with torch.inference_mode():
        kept = whole.model.layers
        whole.model.layers = kept[:2]
        want = whole(ids, use_cache=False).logits
        whole.model.layers = kept
        check(torch.equal(part(ids, use_cache=False).logits, want), "the draft's logits are not those of the first two layers")
    alike = [json.loads(pardec.good("generate", "--model", QUICK, "--decoder", *flags, "--prompt", PROMPT, "--max-new-tokens", 16, "--format", "json"))["tokens"]
             for flags in (["ar"], ["speculative", "--draft-model", draft])]
    check(alike[0] == alike[1], f"speculation with the draft writes other ids: {alike}")
    for layers, said in [(0, "--layers"), (99, "expected 1 to"), (2, "holds a model")]:
        ran = pardec("model", "draft", QUICK, "--layers", layers, "--out", draft if layers == 2 else "none")
        check(ran.returncode == 2 and said in ran.stderr, f"--layers {layers}: {ran.returncode} {ran.stderr}")


def taught_drafts(check, pardec):
    """An adapter over the first layers drafts by itself as the network does that it is merged into."""
    draft, adapter, merged = (pardec.folder / name for name in ("draft", "adapter", "merged"))
    pardec.good("train", "--model", draft, "--dataset", "oa-mine", "--format", "ar", "--steps", 4, "--batch-tokens", 1024, "--lora-rank", 4, "--lr", 0.05, "--warmup", 0,
                "--validation", 0, "--save-every", 4, "--out", adapter, "--progress", "none")
    pardec.good("model", "merge", draft, "--adapter", adapter, "--out", merged)
    said = {}
    for name, folder in (("plain", draft), ("adapter", adapter), ("merged", merged)):
        answer = json.loads(pardec.good("generate", "--model", QUICK, "--decoder", "speculative", "--draft-model", folder, "--prompt", PROMPT, "--max-new-tokens", 16,
                                        "--format", "json", "--trace", f"{name}.jsonl"))
        passes = [json.loads(line) for line in (pardec.folder / f"{name}.jsonl").read_text().splitlines()]
        said[name] = (answer["tokens"], [t["predicts"] for t in passes if t.get("model") == "draft"])
    check(said["adapter"] == said["merged"] and said["adapter"][1], f"the adapter drafts as what it was merged into: {said}")
    check(said["adapter"][1] != said["plain"][1] and said["adapter"][0] == said["plain"][0], f"the adapter changes what is drafted, and not what is written: {said}")
    db = pardec.folder / "drafts.sqlite"
    ran = pardec("run", "--model", QUICK, "--arm", "ar=ar", "--arm", f"a=speculative,draft={adapter}", "--arm", f"m=speculative,draft={merged}", "--dataset", "oa-mine",
                 "--limit", 2, "--max-new-tokens", 16, "--db", db, "--progress", "none", "--hardware", "here,l40s", "--trace", pardec.folder / "t.jsonl")
    check(ran.returncode == 0, f"run: {ran.stderr}")
    shapes = {row["label"]: json.loads(row["shape"]) for row in query(db, "SELECT label, shape FROM run JOIN model ON model.id = draft_model_id")}
    check(shapes["a"]["layers"] == shapes["m"]["layers"] == 2 and shapes["a"]["parameters"] == shapes["m"]["parameters"], f"drafts as they are stored: {shapes}")
    jobs = query(db, "SELECT label, key, acceptance FROM job JOIN run ON run.id = run_id WHERE acceptance IS NOT NULL")
    of = {label: sorted((job["key"], *(str(json.loads(job["acceptance"])[of]) for of in ("drafted", "accepted"))) for job in jobs if job["label"] == label) for label in ("a", "m")}
    check(of["a"] == of["m"] != [], f"accepted of the drafts: {of}")
    rows = {row["arm"]: row for row in json.loads(pardec.good("compare", "--db", db, "--trace", pardec.folder / "t.jsonl", "--hardware", "l40s", "--format", "json"))["rows"]}
    check(rows["a"]["speedup_at_most_l40s"] == rows["m"]["speedup_at_most_l40s"] is not None, f"what an L40S allows: {rows}")
    one = pardec.folder / "one"
    pardec.good("model", "draft", QUICK, "--layers", 1, "--out", one)
    more = pardec("generate", "--model", one, "--decoder", "speculative", "--draft-model", adapter, "--prompt", PROMPT, "--max-new-tokens", 4)
    check(more.returncode == 2 and "has 1 layer, expected 2 or more" in more.stderr, f"an adapter over more layers than there are: {more.returncode} {more.stderr}")
    as_adapter = pardec("generate", "--model", QUICK, "--adapter", adapter, "--decoder", "ar", "--prompt", PROMPT, "--max-new-tokens", 4)
    check(as_adapter.returncode == 2 and "is of a network of 2 layers" in as_adapter.stderr and "--draft-model" in as_adapter.stderr,
          f"a draft's adapter over the whole network: {as_adapter.returncode} {as_adapter.stderr}")
    (adapter / "adapter_model.safetensors").unlink()
    gone = pardec("generate", "--model", QUICK, "--decoder", "speculative", "--draft-model", adapter, "--prompt", PROMPT, "--max-new-tokens", 4)
    check(gone.returncode == 2 and "adapter_model.safetensors" in gone.stderr, f"an adapter without its weights: {gone.returncode} {gone.stderr}")


def tokens(check, pardec):
    base, out = pardec.folder / "base", pardec.folder / "more"
    shutil.copytree(QUICK, base)
    config = json.loads((base / "config.json").read_text())
    size = max(json.loads((base / "tokenizer.json").read_text())["model"]["vocab"].values())
    before = PreTrainedTokenizerFast(tokenizer_file=str(base / "tokenizer.json"))
    named = [f"[new {i}]" for i in range(config["vocab_size"] - len(before) + 3)]  # three more than there are rows
    special = next(t for t in before.all_special_tokens + list(before.get_added_vocab()) if before.convert_tokens_to_ids(t) not in (config.get("eos_token_id"), config.get("bos_token_id")))
    ran = pardec("model", "add-tokens", base, "--tokens", ",".join(named), "--rename", f"{special}=[M]", "--out", out)
    if not check(ran.returncode == 0 and named[-1] in ran.stderr, f"add-tokens: {ran.stderr}"):
        return
    after = PreTrainedTokenizerFast(tokenizer_file=str(out / "tokenizer.json"))
    check(after.convert_tokens_to_ids(named) == list(range(len(before), len(before) + len(named))), "new tokens stand behind the others")
    check(after.convert_tokens_to_ids("[M]") == before.convert_tokens_to_ids(special) and special not in after.get_vocab(), f"{special} is [M] now")
    check(after(f"{PROMPT}[M]{named[0]}").input_ids == before(PROMPT).input_ids + after.convert_tokens_to_ids(["[M]", named[0]]), "texts are cut as before, new tokens whole")
    ours = json.loads(pardec.good("model", "inspect", out, "--format", "json"))
    check(ours["vocabulary"] == config["vocab_size"] + 3 and size < ours["vocabulary"], f"{ours['vocabulary']} rows")
    old, new = weights(base), weights(out)
    drawn = slice(len(before), len(before) + len(named))
    for name, tensor in new.state_dict().items():
        was = old.state_dict()[name]
        if tensor.shape == was.shape and "embed" not in name and "lm_head" not in name:
            check(torch.equal(tensor, was), f"{name} has changed")
            continue
        check(torch.equal(tensor[:drawn.start], was[:drawn.start]), f"{name}: rows of old tokens have changed")
        fresh = tensor[drawn]
        check(0.015 < float(fresh.std()) < 0.025 and abs(float(fresh.mean())) < 0.005, f"{name}: new rows have mean {fresh.mean()}, deviation {fresh.std()}")
    said = [pardec.good("generate", "--model", folder, "--decoder", "ar", "--prompt", PROMPT, "--max-new-tokens", 1) for folder in (base, out)]
    check(all(said), "both are run")
    end = before.convert_ids_to_tokens(config["eos_token_id"])
    for name, flags, message in [("a token that is there", ["--tokens", end], "already"), ("no special token", ["--rename", "nothing=[X]"], "no special token"),
                                 ("the end", ["--rename", f"{end}=[X]"], "ends sequences"), ("no pair", ["--rename", "x"], "OLD=NEW"), ("nothing", [], "--tokens"),
                                 ("twice", ["--tokens", "[X]"], "holds a model")]:
        ran = pardec("model", "add-tokens", base, *flags, "--out", out if name == "twice" else f"none {name}")
        check(ran.returncode == 2 and message in ran.stderr, f"{name}: {ran.returncode} {ran.stderr}")


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        drafts(check, pardec)
        taught_drafts(check, pardec)
        tokens(check, pardec)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
