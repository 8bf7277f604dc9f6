"""Flags that an error advises are flags of the verb that was called, or of the verb that the advice names.

Usage: advice_test.py PROGRAM
"""
import json
import re
import sys

from harness import ROOT, TOKENIZER, Checks, scratch

MODEL = ROOT / "experiments/quickstart/model"
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
# Of other programs, as their commands are quoted whole.
OTHERS = re.compile(r"'(hf|git|pip|python3?|gnuplot) [^']*'|\b(hf|git) [^;]*")


class Helps:
    def __init__(self, pardec):
        self.pardec, self.known = pardec, {}
        self.verbs = sorted(set(re.findall(r"^  ([a-z]+)  ", pardec.good("--help"), re.M)) - {"pardec"})
        # each with its actions
        self.actions = {verb: self.actions_of(verb) for verb in self.verbs}

    def actions_of(self, verb):
        line = re.search(r"^ +action TEXT[A-Z ]* +(.*(?:\n {20,}.*)*)", self.pardec.good(verb, "--help"), re.M)
        listed = {"judge": ["run", "export", "import"], "runs": ["list", "compare", "name", "note", "rm"]}  # with what each takes, in prose
        return listed.get(verb) or (re.findall(r"[a-z-]{2,}", re.split(r"[;:(]", line.group(1))[0].replace(" or ", ", ")) if line else [])

    def of(self, *words):
        """Flags in the help of a verb, or of a verb's action."""
        if words not in self.known:
            self.known[words] = set(FLAG.findall(self.pardec.good(*words, "--help")))
        return self.known[words]

    def everywhere(self, verb):
        return set().union(self.of(verb), *(self.of(verb, action) for action in self.actions[verb]))

    def foreign(self, called, text):
        """Flags of `text` that neither the call has nor a verb that is named before them in their clause."""
        text = OTHERS.sub("", text)
        wrong = []
        own = self.of(*called)
        for found in FLAG.finditer(text):
            before = re.split(r"[;:(]|\. ", text[:found.start()])[-1]
            named = [verb for verb in self.verbs if re.search(rf"\b{verb}\b", before)]
            if found.group() not in own and not any(found.group() in self.everywhere(verb) for verb in named):
                wrong.append(found.group())
        return wrong


def calls(pardec):
    """(words of the verb, its arguments) that fail, most with advice."""
    folder = pardec.folder
    (folder / "empty").mkdir()
    (folder / "not-json.json").write_text("{")
    (folder / "text.txt").write_text("no database")
    (folder / "list.json").write_text("[]")
    (folder / "bad.jsonl").write_text('{"prompt": 3}\n')
    (folder / "bare").mkdir()  # a network without a tokenizer
    for part in MODEL.iterdir():
        if part.name != "tokenizer.json" and part.is_file():
            (folder / "bare" / part.name).symlink_to(part)
    network, db = ("--model", MODEL), ("--db", "some.sqlite")
    decode = ("--decoder", "ar", "--dataset", "oa-mine", "--limit", 1, "--max-new-tokens", 4)
    pardec.good("run", *network, *decode, *db)
    pardec.good("model", "add-tokens", MODEL, "--tokens", "[M]", "--out", "more")
    models = [(), ("--model", "nowhere"), ("--model", "org/name"), ("--model", "empty"), ("--model", "text.txt"), ("--model", "bare"), (*network, "--adapter", "empty"),
              (*network, "--dtype", "fp7"), (*network, "--device", "tpu"), (*network, "--device", "cuda:99"), (*network, "--dtype", "nf4", "--device", "cuda"), (*network, "--memory-limit", "1K"), (*network, "--memory-limit", "lots")]
    prompt = ("--prompt", "x", "--max-new-tokens", 2)
    for model in models:
        yield ("generate",), (*model, *prompt)
        yield ("run",), (*model, *decode, "--db", "new.sqlite")
        yield ("sweep",), (*model, *decode, "--db", "new.sqlite")
        yield ("train",), (*model[:4], "--dataset", "oa-mine", "--format", "ar", "--steps", 1, "--out", "out")
        yield ("doctor",), model
        yield ("score",), (*model[:2], "--metric", "likelihood", *db)
        yield ("roofline",), (*model, "--trace", "text.txt")
    for decoder in ("speculative", "medusa", "space", "apar", "aspd", "hpd", "ippd", "nothing", "self-speculative", "skeleton-of-thought"):
        for options in ((), ("--set", f"{decoder}.nothing=1"), ("--dtype", "int8", "--adapter", MODEL)):
            yield ("generate",), (*network, "--decoder", decoder, *prompt, *options)
            yield ("run",), (*network, "--decoder", decoder, "--dataset", "oa-mine", "--limit", 1, "--db", "new.sqlite", *options)
    for bad in ((), ("--job", "not-json.json"), ("--prompt-tokens", "x"), ("--prompt-tokens", "9999999"), ("--prompt", "x", "--job", "list.json"), ("--prompt", "x", "--pace", 5), ("--prompt", "x", "--profile"),
                ("--prompt", "x", "--chat-template", "no"), ("--prompt", "x", "--thinking", "off"), ("--prompt", "x", "--chat-set", "a=1"), ("--from-trace", "text.txt", "--watch"), ("--prompt", "x", "--eos", "no token"),
                ("--job", ROOT / "experiments/quickstart/job.json", "--prompt-file", "nowhere"), ("--prompt", "x" * 30000), ("--prompt", "x", "--resume")):
        yield ("generate",), (*network, *bad)
    for bad in (("--dataset", "nothing"), ("--dataset", "squad"), ("--resume", "--db", "nowhere.sqlite"), ("--retry-errors",), ("--shots", 99999), ("--shard", "3/2"), ("--judge", "no.json"), ("--split", "no"), ("--unseen",),
                ("--arm", "a=nothing"), ("--set", "x=1"), ("--set", "ar.stack=900"), ("--oracle", "no"), ("--judge", "no.json", "--oracle", "accept-length:2"), ("--prompt-file", "nowhere"), ("--columns", "no"), ("--wide", "--columns", "ar"),
                ("--data-root", "empty"), ("--cache-blocks", 1), ("--config", "not-json.json"), ("--chat-template", "checkpoint:no"), ("--block", 0), ("--dataset", "mine=bad.jsonl")):
        for verb, more in (("run", ()), ("sweep", ("--grid", "batch_size=1,2"))):
            yield (verb,), (*network, *decode, *more, "--db", "new.sqlite", *bad)
    for file in ("nowhere.sqlite", "text.txt", "empty", "/dev/null", "nowhere/x.sqlite"):
        for verb, more in (("run", (*network, *decode)), ("compare", ()), ("score", ()), ("report", ("--output", "r.html")), ("plot", ("--x", "speedup", "--y", "f1_micro", "--output", "p.svg")), ("export", ("--out", "e")),
                           ("judge", ("--protocol", "five-class", "--service", "no.json")), ("judge", ("import",)), ("judge", ("export", "--out", "a.csv")), ("runs", ()), ("runs", ("name", "x", "y")), ("runs", ("rm", "x")), ("doctor", ()),
                           ("train", (*network, "--dataset", "oa-mine", "--format", "ar", "--from-run", "x", "--out", "out")), ("data", ("rewrite", "--service", "no.json", "--out", "o"))):
            yield (verb, *((more[0],) if more and not str(more[0]).startswith("--") and verb in ("judge", "runs", "data") else ())), (*(more[1:] if more and not str(more[0]).startswith("--") and verb in ("judge", "runs", "data") else more), "--db", file)
        yield ("merge",), (file, "some.sqlite")
        yield ("merge",), ("merged.sqlite", "some.sqlite", file)
    for bad in ((), ("--run", "no"), ("--baseline", "no"), ("--columns", "no"), ("--wide", "--columns", "arm"), ("--usd-per-hour", 3), ("--format", "no"), ("--matrix",), ("--trace", "text.txt"), ("--metric", "rouge"), ("--model", MODEL)):
        for verb in ("compare", "score", "report", "plot", "export", "runs", "judge"):
            yield (verb,), (*db, *bad)
    out = ("--out", "out")
    for bad in ((), ("--format", "no"), ("--format", "space"), ("--format", "apar"), ("--format", "aspd"), ("--format", "hpd", "--k-max", 900), ("--format", "ar", "--ar-stack", 999), ("--format", "space", "--mask-token", "no"), ("--mask-groups", 3),
                ("--resume", "--out", "more"), ("--out", "more"), ("--medusa-share-head",), ("--lora-targets", "q_proj"), ("--lora-rank", 2, "--lora-tokens", "no token"), ("--start-adapter", "empty"), ("--start-adapter", "empty", "--lora-rank", 2),
                ("--patience", 3, "--validation", 0), ("--from-arm", "a"), ("--extra", "nowhere"), ("--validation", 0.999), ("--dtype", "nf4"), ("--world-size", 2), ("--world-size", 2, "--master", "x"), ("--rank", 5), ("--unannotated", "1,1"),
                ("--dataset", "squad"), ("--dataset", "nothing"), ("--format", "hpd", "--dataset", "vicuna-bench"), ("--medusa-heads", 2, "--format", "hpd"), ("--chat-template", "no"), ("--data-root", "empty"), ("--minutes", -1), ("--lr", 0)):
        yield ("train",), (*network, "--dataset", "oa-mine", "--steps", 1, *out, *bad)
    # A tokenizer without any control token, and none in the network.
    plain = json.loads(TOKENIZER.read_text(encoding="utf-8"))
    control = re.compile(r"[\[<]\|?/?(M|MASK|mask|Fork|fork|SplitMask|Child|child|SplitSop|Title|title|Branch|branch|Para|para)\|?[\]>]")
    plain["added_tokens"] = [token for token in plain["added_tokens"] if not control.fullmatch(token["content"])]
    plain["model"]["vocab"] = {text: i for text, i in plain["model"]["vocab"].items() if not control.fullmatch(text)}
    (folder / "plain").mkdir()
    (folder / "plain" / "tokenizer.json").write_text(json.dumps(plain), encoding="utf-8")
    for name in ("space", "space-value", "apar", "apar-unrolled", "aspd", "aspd-value"):
        yield ("train",), (*network, "--tokenizer", "plain", "--dataset", "oa-mine", "--format", name, "--steps", 1, "--out", "out")
    yield ("train",), (*network, "--dataset", "oa-mine", "--format", "aspd", "--aspd-tokens", "1,2", "--steps", 1, "--out", "out")
    for action, bad in (("synth", ()), ("synth", ("x", "--config", "not-json.json")), ("inspect", ()), ("inspect", ("empty",)), ("merge", (MODEL,)), ("merge", (MODEL, "--adapter", "empty", "--out", "o")), ("draft", (MODEL,)), ("draft", (MODEL, "--layers", 99, "--out", "o")),
                        ("add-tokens", (MODEL,)), ("add-tokens", ("bare", "--tokens", "[X]", "--out", "o"))):
        yield ("model", action), bad
    for action in ("fetch", "list", "stats", "check", "standin", "prompts", "rewrite", "label"):
        for bad in ((), ("oa-mine",), ("squad", "--data-root", "empty"), ("nothing",), ("bad.jsonl",), ("--service", "no.json"), ("--data-root", "empty"), ("oa-mine", "--data-root", "empty", "--split", "no")):
            yield ("data", action), bad
    for bad in (("nothing",), ("nothing", "--db", "text.txt"), ("hpd", "--dtype", "fp7"), ("hpd", "--model", "nowhere")):
        yield ("reproduce",), bad


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        helps = Helps(pardec)
        check({"run", "train", "data", "compare"} <= {*helps.verbs} and "--minutes" in helps.of("train") and "--steps" not in helps.of("run"), f"helps are read: {helps.verbs}")
        check(helps.foreign(("runs",), "x: is there; give another --steps") == ["--steps"] and not helps.foreign(("runs",), "'pardec train --steps 3' makes one"), "what is foreign is seen")
        tried = advised = 0
        seen = set()
        for words, arguments in calls(pardec):
            check(words[0] in helps.verbs and (len(words) == 1 or words[1] in helps.actions[words[0]]), f"{words} is a verb")
            ran = pardec(*words, *arguments, timeout=120)
            if ran.returncode == 0:
                continue
            tried += 1
            if "unknown flag" in ran.stderr:  # which lists the verb's own
                continue
            error = "\n".join(line for line in ran.stderr.splitlines() if line.startswith("pardec: ")) or ran.stderr
            # what was given is not advice
            text = error.replace(str(pardec.folder), "")
            wrong = [flag for flag in helps.foreign(words, text) if flag not in map(str, arguments)]
            advised += bool(set(FLAG.findall(text)) - {"--help", *map(str, arguments)})
            if wrong and (words, text) not in seen:
                seen.add((words, text))
                check(False, f"{' '.join(words)} {' '.join(map(str, arguments))}: {wrong} are not its flags: {text.strip()}")
        print(f"{tried} calls fail, {advised} of them name flags")
        check(tried > 250 and advised > 60, f"{tried}, {advised}")
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
