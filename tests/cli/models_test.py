"""Arms with networks of their own: each answers as it does alone on its network, and tables, store and memory say so.

Usage: models_test.py PROGRAM
"""
import json
import shutil
import sys

from harness import ROOT, Checks, answers, query, scratch

# Open prompts: whatever a random network writes is an answer.
RUN = ("--limit", 6, "--max-new-tokens", 8, "--progress", "none")


def run(pardec, db, *flags):
    given = [part for pair in zip(RUN[::2], RUN[1::2]) if pair[0] not in flags for part in pair]
    return pardec("run", *flags, *(() if "--dataset" in flags else ("--dataset", "vicuna-bench")), *given, "--db", pardec.folder / db)


def by_label(db, column="model_id"):
    return {row["label"]: row["path"] for row in query(db, f"SELECT label, path FROM run JOIN model ON model.id = {column}")}


def same_as_alone(check, pardec, a, b):
    arms = ("--arm", "ar=ar", "--arm", f"arB=ar,model={b}", "--arm", f"lookB=prompt-lookup,model={b}", "--arm", "look=prompt-lookup")
    alone = {}
    for name, folder in (("", a), ("B", b)):
        pardec.good("run", "--model", folder, "--arm", f"ar{name}=ar", "--arm", f"look{name}=prompt-lookup", "--dataset", "vicuna-bench", *RUN, "--db", f"alone{name}.sqlite")
        alone.update(answers(pardec.folder / f"alone{name}.sqlite"))
    for order in ("interleaved", "blocked"):
        ran = run(pardec, f"{order}.sqlite", "--model", a, *arms, "--order", order, "--runs", 1)
        db = pardec.folder / f"{order}.sqlite"
        if not check(ran.returncode == 0, f"{order}: {ran.stderr}"):
            continue
        check(answers(db) == alone, f"{order}: answers differ from those of each network alone")
        check(by_label(db) == {"ar": str(a), "look": str(a), "arB": str(b), "lookB": str(b)}, f"{order}: {by_label(db)}")
        baselines = {row["label"]: row["baseline"] for row in query(db, "SELECT label, baseline FROM run")}
        check(baselines == {"ar": None, "look": "ar", "arB": "ar", "lookB": "arB"}, f"{order}: each is compared with ar on its own network: {baselines}")
        table = json.loads(pardec.good("compare", "--db", db, "--format", "json"))
        said = {row["arm"]: (row["model"], row["identical"], row["tokens_per_second"]) for row in table["rows"]}
        check([said[arm][0] for arm in ("ar", "arB", "lookB")] == [str(a), str(b), str(b)], f"{order}: {said}")
        check(said["lookB"][1] == said["look"][1] == 1 and said["lookB"][2] and said["arB"][1] < 1 and not said["arB"][2], f"{order}: {said}")
        notes = " ".join(table["notes"])
        check(notes.count("on another network than the baseline: arB (ar);") == 1 and "lookB (" not in notes, notes)
        check("arB on B" in ran.stdout and "several networks" in ran.stdout, ran.stdout[:600])
    listed = pardec.good("runs", "--wide", "--db", pardec.folder / "blocked.sqlite")
    check("A, B" in listed, f"runs: {listed}")
    check("several networks" in pardec.good("compare", "--db", pardec.folder / "blocked.sqlite", "--matrix"), "the matrix says that there are several")
    pardec.good("report", "--db", pardec.folder / "blocked.sqlite", "-o", pardec.folder / "r.html")
    page = (pardec.folder / "r.html").read_text()
    check("several networks" in page and "lookB: prompt-lookup" in page, "the page says which network an arm ran on")
    one = pardec.good("compare", "--db", pardec.folder / "alone.sqlite")
    check("networks: " not in one and "several" not in one, "one network needs no note")
    again = run(pardec, "blocked.sqlite", "--model", b, *arms, "--order", "blocked", "--runs", 1, "--resume")
    check(again.returncode == 2 and "model hash" in again.stderr, f"resumed on another network: {again.stderr}")


def memory(check, pardec, a, b):
    arms = ("--arm", f"a=ar,model={a}", "--arm", f"b=ar,model={b}", "--arm", f"look=prompt-lookup,model={b}", "--dry-run")
    both = run(pardec, "no.sqlite", *arms).stdout
    one = run(pardec, "no.sqlite", *arms, "--order", "blocked").stdout
    check("weights of 2 networks" in both and "weights of" not in one, f"{both}\n{one}")
    size = [float(text.split("weights ")[1].replace("of 2 networks ", "").split(" MB")[0]) for text in (both, one)]
    check(abs(size[0] - 2 * size[1]) < 0.2, f"each of two equal networks is counted once: {size}")
    limit = f"{160 + 1.05 * 1.5 * size[1]:.0f}M"
    refused = run(pardec, "no.sqlite", *arms, "--memory-limit", limit)
    check(refused.returncode == 2 and "of 2 networks" in refused.stderr and "--order blocked holds the networks of one arm at a time" in refused.stderr, refused.stderr)
    check(run(pardec, "no.sqlite", *arms, "--memory-limit", limit, "--order", "blocked").returncode == 0, "one at a time fits")


def drafts(check, pardec, a, b, other):
    ran = run(pardec, "drafts.sqlite", "--model", a, "--arm", "ar=ar", "--arm", f"s1=speculative,draft={b}", "--arm", f"self=speculative,draft={a}", "--arm",
              f"s2=speculative,model={b}", "--draft-model", a)
    check(ran.returncode == 0, f"drafts: {ran.stderr}")
    db = pardec.folder / "drafts.sqlite"
    check(by_label(db, "draft_model_id") == {"s1": str(b), "self": str(a), "s2": str(a)}, by_label(db, "draft_model_id"))
    same = {row["label"]: row["same"] for row in query(db, "SELECT label, sum(identical) AS same FROM run JOIN generation ON run_id = run.id GROUP BY label")}
    count = len({row["key"] for row in query(db, "SELECT key FROM sample")})
    check(same["s1"] == same["self"] == count > same["s2"], f"speculation on one network writes ar's ids, whoever drafts: {same}")
    accepted = {row["label"]: json.loads(row["acceptance"]) for row in query(db, "SELECT label, acceptance FROM run JOIN job ON run_id = run.id WHERE acceptance IS NOT NULL")}
    check(accepted["self"]["drafted"] == accepted["self"]["accepted"], f"a network agrees with itself: {accepted['self']}")
    wrong = run(pardec, "no.sqlite", "--model", a, "--arm", f"s=speculative,draft={other}")
    check(wrong.returncode == 2 and "another vocabulary" in wrong.stderr, f"a draft of another tokenizer: {wrong.stderr}")
    unused = run(pardec, "no.sqlite", "--model", a, "--arm", f"s=speculative,draft={b}", "--draft-model", a)
    check(unused.returncode == 2 and "--draft-model" in unused.stderr, f"a draft model that no arm uses: {unused.stderr}")


def other_tokenizer(check, pardec, a, other):
    ran = run(pardec, "other.sqlite", "--model", a, "--arm", "ar=ar,ask=separately", "--arm", f"o=ar,ask=separately,model={other}", "--dataset",
              "oa-mine", "--baseline", "ar")
    check(ran.returncode == 0, f"another tokenizer: {ran.stderr}")
    db = pardec.folder / "other.sqlite"
    table = json.loads(pardec.good("compare", "--db", db, "--format", "json"))
    codes = [(warning["arm"], warning["code"]) for warning in table["warnings"]]
    check(("o", "other_tokenizer") in codes and ("ar", "other_tokenizer") not in codes, f"{codes}")
    row = next(row for row in table["rows"] if row["arm"] == "o")
    check(row["identical"] is not None and row.get("em") is None, f"answers are compared as texts, not id by id: {row}")
    found = query(db, "SELECT identical, first_difference, gap_at_difference FROM generation JOIN run ON run.id = run_id WHERE label = 'o'")
    check(all(r["identical"] is not None and r["first_difference"] is None and r["gap_at_difference"] is None for r in found), f"{found}")
    forced = run(pardec, "other.sqlite", "--arm", f"ar=ar,ask=separately,model={other}", "--dataset", "oa-mine", "--oracle", "recorded:" + query(db, "SELECT uuid FROM run WHERE label = 'ar'")[0]["uuid"])
    check(forced.returncode == 2 and "another tokenizer" in forced.stderr, f"ids of another tokenizer are not forced: {forced.stderr}")


def adapters(check, pardec):
    """An adapter over an arm's network is what `model merge` makes of the two."""
    base, adapter, merged = ROOT / "experiments" / "quickstart" / "model", pardec.folder / "adapter", pardec.folder / "merged"
    pardec.good("train", "--model", base, "--lora-rank", 4, "--dataset", "oa-mine", "--limit", 12, "--steps", 6, "--lr", 0.02, "--batch-tokens", 512, "--out", adapter)
    pardec.good("model", "merge", base, "--adapter", adapter, "--out", merged)
    ran = run(pardec, "adapters.sqlite", "--model", base, "--arm", "ar=ar", "--arm", f"ad=ar,adapter={adapter}", "--arm", f"look=prompt-lookup,adapter={adapter}",
              "--arm", f"me=ar,model={merged}", "--dataset", "oa-mine", "--limit", 8, "--max-new-tokens", 48,
              "--dtype", "bf16")  # the type that both are rounded to
    if not check(ran.returncode == 0, f"adapters: {ran.stderr}"):
        return
    db = pardec.folder / "adapters.sqlite"
    check(by_label(db) == {"ar": str(base), "ad": str(adapter), "look": str(adapter), "me": str(merged)}, f"{by_label(db)}")
    text = {label: {key[2]: answer[0] for key, answer in answers(db, f"run.label = '{label}'").items()} for label in ("ar", "ad", "look", "me")}
    check(text["ad"] == text["me"] == text["look"] != text["ar"], f"the adapter's answers are those of the merged network: {text}")
    baselines = {row["label"]: row["baseline"] for row in query(db, "SELECT label, baseline FROM run")}
    check(baselines == {"ar": None, "ad": "ar", "look": "ad", "me": "ar"}, f"{baselines}")
    hashes = {row["hash"] for row in query(db, "SELECT hash FROM model")}
    check(len(hashes) == 3, f"three networks: {hashes}")
    said = {name: pardec.good("generate", "--decoder", "ar", "--prompt", "Dark roast ground coffee", "--max-new-tokens", 12, *flags)
            for name, flags in [("base", ["--model", base]), ("over", ["--model", base, "--adapter", adapter]), ("merged", ["--model", merged])]}
    check(said["over"] == said["merged"] != said["base"], f"generate --adapter: {said}")
    whole = run(pardec, "whole.sqlite", "--model", base, "--adapter", adapter, "--arm", "ar=ar", "--arm", f"base=ar,model={base}")
    check(whole.returncode == 0 and by_label(pardec.folder / "whole.sqlite") == {"ar": str(adapter), "base": str(base)}, f"run --adapter: {whole.stderr}")
    (pardec.folder / "machine.json").write_text(json.dumps({"name": "a machine", "bandwidth_gb_s": 30, "tflop_s": {"fp32": 1, "bf16": 1}}))
    shares = json.loads(pardec.good("compare", "--db", "adapters.sqlite", "--hardware", "machine.json", "--format", "json"))["rows"]
    check(all(row["roofline_share"] and row["roofline_share"] > 0 for row in shares), f"an adapter's network has a size: {shares}")
    planned = run(pardec, "no.sqlite", "--model", base, "--arm", "ar=ar", "--arm", f"ad=ar,adapter={adapter}", "--dry-run").stdout
    check("weights of 2 networks" in planned and f"with adapter {adapter}" in planned, planned)
    # A folder without texts has those of the network, and still says which tokens it was taught.
    bare = pardec.folder / "bare"
    pardec.good("train", "--model", base, "--lora-rank", 4, "--format", "ar,space", "--mask-token", 3, "--dataset", "oa-mine", "--limit", 12, "--steps", 2, "--batch-tokens", 512, "--out", bare)
    for file in bare.iterdir():
        if file.is_file() and file.name not in ("training.json", "adapter_config.json", "adapter_model.safetensors"):
            file.unlink()
    without = run(pardec, "bare.sqlite", "--model", base, "--arm", f"ar=ar,adapter={bare}", "--arm", f"mask=space,adapter={bare}", "--dataset", "oa-mine", "--limit", 2, "--max-new-tokens", 16)
    rows = {row["label"]: json.loads(row["options"]) for row in query(pardec.folder / "bare.sqlite", "SELECT label, options FROM run")} if without.returncode == 0 else {}
    check(str(rows.get("mask", {}).get("mask_token")) == "3", f"an adapter without a tokenizer: {rows} {without.stderr}")
    wrong = run(pardec, "no.sqlite", "--model", base, "--arm", "ad=ar,adapter=nowhere")
    check(wrong.returncode == 2 and "nowhere" in wrong.stderr, f"an adapter that is not there: {wrong.stderr}")


def heads(check, pardec):
    """Extra heads in a folder of their own: an arm's adapter, which changes no answer."""
    base, heads = ROOT / "experiments" / "quickstart" / "model", pardec.folder / "heads"
    pardec.good("train", "--model", base, "--medusa-heads", 2, "--medusa-share-head", "--dataset", "oa-mine", "--limit", 12, "--steps", 4, "--batch-tokens", 512, "--out", heads)
    arms = ("--model", base, "--arm", "plain=ar", "--arm", f"ar=ar,adapter={heads}", "--arm", f"me=medusa,adapter={heads}", "--dataset", "oa-mine", "--limit", 8, "--max-new-tokens", 48)
    ran = run(pardec, "heads.sqlite", *arms)
    if not check(ran.returncode == 0, f"heads: {ran.stderr}"):
        return
    db = pardec.folder / "heads.sqlite"
    check(by_label(db) == {"plain": str(base), "ar": str(heads), "me": str(heads)}, f"{by_label(db)}")
    text = {label: {key[2]: answer[0] for key, answer in answers(db, f"run.label = '{label}'").items()} for label in ("plain", "ar", "me")}
    check(text["plain"] == text["ar"] == text["me"], f"heads change no answer: {text}")
    baselines = {row["label"]: row["baseline"] for row in query(db, "SELECT label, baseline FROM run")}
    check(baselines == {"plain": None, "ar": "plain", "me": "ar"}, f"{baselines}")
    drafted = query(db, "SELECT sum(forwards) AS n, label FROM job JOIN run ON run.id = run_id GROUP BY label")
    passes = {row["label"]: row["n"] for row in drafted}
    check(passes["me"] < passes["ar"] == passes["plain"], f"they save passes: {passes}")
    planned = run(pardec, "no.sqlite", *arms, "--dry-run").stdout
    check("weights of 2 networks" in planned and "with extra heads of" in planned and "2 of 2 extra heads" in planned, planned)


def own_wording(check, pardec, a):
    own = pardec.folder / "worded"
    shutil.copytree(a, own)
    (own / "prompts").mkdir()
    (own / "prompts" / "attributes.txt").write_text("[context]\n{text}\n\n[field]\n{name}:\n")
    pardec.good("run", "--model", a, "--arm", "ar=ar", "--arm", f"own=ar,model={own}", "--dataset", "oa-mine", *RUN, "--db", "worded.sqlite")
    hashes = {row["label"]: row["prompt_hash"] for row in query(pardec.folder / "worded.sqlite", "SELECT label, prompt_hash FROM run")}
    check(hashes["ar"] != hashes["own"], f"a checkpoint's own wording is for the arms on it: {hashes}")


def experiment_files(check, pardec, a, b):
    file = pardec.folder / "e.json"
    file.write_text(json.dumps({"name": "two", "model": "base", "models": {"base": str(a), "mine": str(b)}, "datasets": ["vicuna-bench"], "limit": 6, "max_new_tokens": 8,
                                "decoders": [{"name": "ar"}, {"label": "arB", "name": "ar", "model": "mine"},
                                             {"label": "s", "name": "speculative", "draft": "mine"}]}))
    pardec.good("run", "-c", file, "--db", "e.sqlite", "--progress", "none")
    check(by_label(pardec.folder / "e.sqlite") == {"ar": str(a), "arB": str(b), "s": str(a)}, f"{by_label(pardec.folder / 'e.sqlite')}")
    check(by_label(pardec.folder / "e.sqlite", "draft_model_id") == {"s": str(b)}, "the draft of an experiment file")
    for models, said in (([], "'models' is array"), ({"base": 3}, "'models': 'base' is 3")):
        file.write_text(json.dumps({"model": "base", "models": models, "datasets": ["oa-mine"], "decoders": [{"name": "ar"}]}))
        ran = pardec("run", "-c", file, "--db", "no.sqlite")
        check(ran.returncode == 2 and said in ran.stderr, f"{models}: {ran.stderr}")


def wrong_ones(check, pardec, a):
    for arm, said in ((f"x=ar,draft={a}", "has no option 'draft'"), ("x=ar,model=", "model is empty"), ("x=ar,model=nowhere", "nowhere: does not exist"),
                      ("x=speculative", "needs a draft network")):
        ran = run(pardec, "no.sqlite", "--model", a, "--arm", "ar=ar", "--arm", arm)
        check(ran.returncode == 2 and said in ran.stderr and not (pardec.folder / "no.sqlite").exists(), f"{arm}: {ran.stderr}")
    ran = run(pardec, "no.sqlite", "--arm", f"a=ar,model={a}", "--arm", "b=prompt-lookup")
    check(ran.returncode == 2 and "no model was named" in ran.stderr, f"an arm without a network: {ran.stderr}")
    ran = run(pardec, "lookup.sqlite", "--model", a, "--arm", "p=prompt-lookup,draft=3")
    check(ran.returncode == 0, f"prompt-lookup's own option draft stays: {ran.stderr}")


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        a, b = pardec.synthesise("A"), pardec.synthesise("B", seed=2)
        other = pardec.folder / "other"
        shutil.copytree(b, other)
        tokenizer = json.loads((other / "tokenizer.json").read_text(encoding="utf-8"))
        vocabulary = tokenizer["model"]["vocab"]
        x, y = [token for token in vocabulary if token.isalpha() and len(token) > 3][:2]
        vocabulary[x], vocabulary[y] = vocabulary[y], vocabulary[x]
        (other / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
        same_as_alone(check, pardec, a, b)
        memory(check, pardec, a, b)
        drafts(check, pardec, a, b, other)
        other_tokenizer(check, pardec, a, other)
        adapters(check, pardec)
        heads(check, pardec)
        own_wording(check, pardec, a)
        experiment_files(check, pardec, a, b)
        wrong_ones(check, pardec, a)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
