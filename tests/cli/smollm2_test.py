"""SmolLM2-135M-Instruct, a chat model with real weights: what pardec writes, feeds and expects of texts is what transformers does.

Usage: smollm2_test.py PROGRAM MODEL_DUMP [whole]

Greedy ids in fp32 of conversations in the checkpoint's own chat template; ties are judged as in generate_parity_test.py. Traces are replayed. Perplexity
of texts by the network's own logits. `whole`: all prompts and 200 new tokens each, and the decoders that guess ahead; without it, four prompts.
scripts/fetch-smollm2 makes the checkpoint; without it this is skipped.
"""
import functools
import hashlib
import json
import math
import re
import subprocess
import sys

from harness import ROOT, SMOLLM2, Checks, check_first_answer, scratch, write_lines
from reference import torch  # first: it skips where there is no transformers
from generate_parity_test import excusable
from trace_test import Replay
from transformers import AutoModelForCausalLM, AutoTokenizer

SYSTEM = "You answer in one short paragraph."
STORY = ("The harbour woke slowly. First came the gulls, then the diesel cough of a trawler, and then old Martha with her basket of bread. "
         "She had walked this quay for forty years, and she knew each plank that creaked. ")
ADAPTERS = ROOT / "experiments" / "smollm2"
PASSAGES = [
    "The water cycle describes how water moves on, above and below the surface of the Earth. Water evaporates from oceans and lakes, rises into the air "
    "as vapour, cools and condenses into clouds, and falls back as rain or snow. Some of it flows over the ground into rivers, and some of it sinks into "
    "the soil, where plants take it up or where it slowly becomes groundwater.",
    "def binary_search(values, target):\n    low, high = 0, len(values) - 1\n    while low <= high:\n        middle = (low + high) // 2\n"
    "        if values[middle] == target:\n            return middle\n        if values[middle] < target:\n            low = middle + 1\n        else:\n"
    "            high = middle - 1\n    return -1\n",
    "To make a simple tomato soup, chop an onion and two cloves of garlic, and fry them gently in olive oil until they are soft. Add a tin of tomatoes, "
    "half a litre of stock and a pinch of sugar, and let it simmer for twenty minutes. Blend it until smooth and serve it with fresh bread.",
]
# What a real chat model expects of such English and Python; one whose weights are wrongly laid out has hundreds.
PERPLEXITY_AT_MOST = 12.0

ENGLISH = [
    "What is the capital of France?", "Explain in two sentences why the sky is blue.", "List three uses of baking soda.",
    "Write a short poem about the sea in winter.", "How many days does February have in a leap year, and why?", "Who wrote Pride and Prejudice?",
    "Give me tips for a job interview.\n\n- Be concise\n- Use a list", "Summarise: A cat sat on a mat. It slept. Then it left.",
    "What would happen if the Moon disappeared?", "Translate 'good morning' into Spanish, French and German.", "Is 91 a prime number? Think step by step.",
    "Rewrite this politely: send me the report now.", "What's the difference between weather and climate?", "Name five animals that live in Australia.",
    "I have 3 apples, buy 12 more and eat 4. How many are left?", "Compose an email that declines an invitation to a party.",
    "Why do leaves change their colour in autumn?", "Describe photosynthesis to a child.", "What are the ingredients of a margherita pizza?",
    "Tell me a joke about computers.", "How does a bicycle stay upright?", "Outline a plan to learn the guitar in three months.",
]
CODE = [
    "Write a Python function that reverses a string.", "```python\nfor i in range(10):\n    print(i)\n```\nWhat does this print?",
    "Fix this: `def f(x) return x + 1`", "SELECT name FROM users WHERE age > 30; -- explain this query", "Write FizzBuzz in C++.",
    "What does `git rebase -i HEAD~3` do?", "int main() { int *p = nullptr; return *p; }\nWhat is wrong here?", "Write a regular expression for e-mail addresses.",
    "Convert this to JSON: name=Ann, age=31, tags=[a, b]", "<ul><li>one</li></ul>\nAdd a second item.", "Explain the bubble sort with an example: [5, 1, 4, 2]",
]
CHINESE = ["你好，你是谁？", "请用中文介绍一下北京。", "水的化学式是什么？", "把这句话翻译成英文：今天天气很好。", "写一首关于春天的短诗。", "1加1等于几？",
           "为什么天空是蓝色的？", "请列出三种水果。"]
EMOJI = ["😀😃😄 What do these mean?", "Write a birthday wish with emojis 🎂🎉", "👩‍👩‍👧 + 🐶 = ?", "🇩🇪🇫🇷🇯🇵 Which countries are these?", "I feel 😢. 👍🏽 or 👎🏽?",
         "∑ x² ≥ 0 ∀ x ∈ ℝ — true? ✅ or ❌"]
OTHERS = ["Ça va ? Réponds en français.", "¿Cuál es la capital de España?", "Wie heißt die Hauptstadt von Österreich?", "Привет! Как дела?",
          "  leading spaces,\ttabs\nand\n\n\nlines  ", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"]
WORDS = ["Hello", "Why?", "1234567890", "Python", "."]


def prompts():
    """60 conversations, as (system, turn), of every kind; the last is of 1,500 ids and more in the network's template."""
    all_ = [*ENGLISH, *CODE, *CHINESE, *EMOJI, *OTHERS, *WORDS, STORY * 3 + "What does Martha carry?"]
    return [(SYSTEM if i % 5 == 4 else "", turn) for i, turn in enumerate(all_)] + [("", STORY * 30 + "Go on with this story.")]


class Reference:
    def __init__(self):
        self.tokenizer = AutoTokenizer.from_pretrained(SMOLLM2)

    def load(self, dtype):
        return AutoModelForCausalLM.from_pretrained(SMOLLM2, dtype=dtype, attn_implementation="eager").eval()

    exact = functools.cached_property(lambda self: self.load(torch.float64))
    single = functools.cached_property(lambda self: self.load(torch.float32))

    def ids(self, system, turn):
        messages = [{"role": "system", "content": system}] if system else []
        return self.tokenizer.apply_chat_template([*messages, {"role": "user", "content": turn}], add_generation_prompt=True, tokenize=True, return_dict=False)

    def greedy(self, ids, limit):
        """The ids that it chooses, the end included."""
        prompt = torch.tensor([ids])
        with torch.inference_mode():
            return self.single.generate(prompt, attention_mask=torch.ones_like(prompt), do_sample=False, max_new_tokens=limit)[0, len(ids):].tolist()


def answered(pardec, chosen, limit):
    """Chosen ids, why they end, and the trace of each conversation."""
    (pardec.folder / "system.txt").write_text(f"[system]\n{SYSTEM}\n\n[context]\n{{text}}\n\n[field]\n{{question}}\n")
    found = [None] * len(chosen)
    for said in ("", SYSTEM):
        members = [i for i, (system, _) in enumerate(chosen) if system == said]
        jobs = [{"id": f"p{i}", "conversation": True, "contexts": [{"text": "", "fields": [{"question": chosen[i][1]}]}],
                 "limits": {"max_new_tokens": limit, "per_field": limit}} for i in members]
        write_lines(pardec.folder / "jobs.jsonl", jobs)
        lines = pardec.good("generate", "--model", SMOLLM2, "--decoder", "ar", "--job", "jobs.jsonl", "--format", "json", "--batch-size", 8,
                            "--trace", "t.jsonl", "--dtype", "fp32", *(("--prompt-file", "system.txt") if said else ()), timeout=1400)
        traces = {trace["examples"][0]: trace for trace in map(json.loads, (pardec.folder / "t.jsonl").read_text().splitlines())}
        for i, job, line in zip(members, jobs, map(json.loads, lines.splitlines()), strict=True):
            answer = line["answers"][0]
            found[i] = (answer["tokens"], answer["stop"], traces[job["id"]])
    return found


def greedy_ids(check, pardec, theirs, chosen, limit):
    tokens = ties = longest = ends = 0
    ours = answered(pardec, chosen, limit)
    for (system, turn), (got, stop, trace) in zip(chosen, ours, strict=True):
        ids = theirs.ids(system, turn)
        longest = max(longest, len(ids))
        fed = [token for token, step in zip(trace["tokens"], trace["step"], strict=True) if step == 0]
        check(fed == ids, f"{turn[:60]!r}: the prompt's ids are those of apply_chat_template: {fed[:60]}, {ids[:60]}")
        want = theirs.greedy(ids, limit)
        tokens += len(want)
        ends += stop == "eos"
        if got == want:
            continue
        why = excusable(theirs.single, theirs.exact, ids, want, got)
        ties += why is not None
        if why:
            print(f"tie: {turn[:60]!r}: {why}")
        check(why, f"{turn[:60]!r}: {got}, transformers chose {want}")
    check(ties * 10000 <= max(tokens, 10000), f"{ties} ties in {tokens} tokens, expected fewer than 1 in 10,000")
    check(longest >= 1500 and (limit < 100 or 0 < ends < len(chosen)), f"{longest} ids at most, {ends} of {len(chosen)} answers end by themselves")
    print(f"greedy: {len(chosen)} prompts of up to {longest} ids, {tokens} tokens, {ties} ties, {ends} answers end by themselves")
    return [trace for *_, trace in ours]


def replayed_traces(check, pardec, theirs, traces):
    """Of the shorter conversations, and of one product's attributes by decoders that write several values at once."""
    replay = Replay(SMOLLM2)
    replay.__dict__.update(exact=theirs.exact, single=theirs.single)
    (pardec.folder / "job.json").write_text(json.dumps({"contexts": [{"category": "Coffee", "text": "Dark roast ground coffee, 12 oz bag, by Harbour Mills", "fields": [
        {"name": "Brand"}, {"name": "Roast"}, {"name": "Net weight"}]}], "limits": {"max_new_tokens": 24, "per_field": 6}}))
    found = sorted(traces, key=lambda t: len(t["tokens"]))[:3]
    for decoder in ("ar", "hpd"):
        pardec.good("generate", "--model", SMOLLM2, "--decoder", decoder, "--job", "job.json", "--trace", f"{decoder}.jsonl", "--dtype", "fp32")
        found += [json.loads(line) for line in (pardec.folder / f"{decoder}.jsonl").read_text().splitlines()]
    for trace in found:
        wrong = replay(trace)
        check(not wrong, f"{trace['decoder']} {trace['request']}: {wrong[:3]}")
    check(replay.choices > 50 and replay.ties * 100 <= replay.choices, f"{replay.ties} ties in {replay.choices} choices")
    print(f"traces: {len(found)} replayed, {replay.choices} choices, {replay.ties} ties")


def first_answer(check, pardec):
    """With the hpd adapter it answers the quickstart's job right."""
    for decoder in ("hpd", "ar"):
        for dtype in ("fp32", "bf16"):
            check_first_answer(check, pardec, decoder, "--model", SMOLLM2, "--adapter", ROOT / "experiments/smollm2/hpd", "--dtype", dtype)


def other_decoders(check, pardec):
    """What guesses ahead writes the plain decoder's ids."""
    def tokens(decoder, *flags):
        return [json.loads(line)["tokens"] for line in pardec.good(
            "generate", "--model", SMOLLM2, "--decoder", decoder, "--prompt", CODE[4], "--max-new-tokens", 24, "--format", "json", "--dtype", "fp32",
            *flags).splitlines()]
    plain = tokens("ar")
    for decoder in ("prompt-lookup", "lookahead", "self-speculative"):
        check(tokens(decoder) == plain, f"{decoder} writes other ids than ar")
    check(tokens("speculative", "--draft-model", SMOLLM2) == plain, "speculative writes other ids than ar")


def logits(dump, dtype, ids):
    rows = {"tokens": ids, "labels": [[i, i, 0, 0] for i in range(len(ids))]}
    asked = json.dumps({"model": str(SMOLLM2), "dtype": dtype, "segments": [], "cases": [{"whole": rows}]})
    ran = subprocess.run([dump], input=asked.encode(), capture_output=True, check=True)
    return torch.frombuffer(bytearray(ran.stdout), dtype=torch.float64).reshape(len(ids), -1)


def surprise(rows, ids):
    """Mean negative log likelihood of the ids behind the first."""
    return float(torch.nn.functional.cross_entropy(rows[:-1].double(), torch.tensor(ids[1:])))


def perplexities(check, dump, theirs):
    def rows(model, ids):
        with torch.inference_mode():
            return model(torch.tensor([ids])).logits[0]

    ours = {"fp32": 0.0, "bf16": 0.0}
    exact = single = 0.0
    count = 0
    for text in PASSAGES:
        ids = theirs.tokenizer(text).input_ids
        count += len(ids) - 1
        truth, near = rows(theirs.exact, ids), rows(theirs.single, ids)
        exact += surprise(truth, ids) * (len(ids) - 1)
        single += surprise(near, ids) * (len(ids) - 1)
        for dtype in ours:
            got = logits(dump, dtype, ids)
            ours[dtype] += surprise(got, ids) * (len(ids) - 1)
            if dtype == "fp32":
                error, allowed = float((got - truth).abs().max()), 3 * float((near.double() - truth).abs().max())
                check(error <= allowed, f"{text[:40]!r}: logits are {error:.2e} off, expected at most {allowed:.2e}, three times transformers' own error")
    perplexity = math.exp(exact / count)
    check(perplexity < PERPLEXITY_AT_MOST, f"perplexity {perplexity:.3f}, expected less than {PERPLEXITY_AT_MOST}: the weights are not laid out as they should be")
    check(abs(ours["fp32"] - exact) / count < 1e-5, f"fp32: {ours['fp32'] / count} nats a token, transformers in fp64 {exact / count}")
    check(abs(ours["bf16"] - exact) / count < 0.02, f"bf16: {ours['bf16'] / count} nats a token, transformers in fp64 {exact / count}")
    print(f"perplexity of {count} tokens: transformers {perplexity:.5f} (fp32 {math.exp(single / count):.5f}), pardec fp32 {math.exp(ours['fp32'] / count):.5f}, "
          f"bf16 {math.exp(ours['bf16'] / count):.5f}")


def adapters(check, pardec):
    """Those of the project are of this network, small, and do what their card says: titles of the project, which nobody taught them, are mostly read right, six at a time too."""
    folders = sorted(record.parent for record in ADAPTERS.glob("*/training.json"))
    sizes = sum(file.stat().st_size for folder in folders for file in folder.iterdir())
    check(folders and sizes <= 25_000_000, f"{len(folders)} adapters, {sizes} bytes")
    network = hashlib.sha256((SMOLLM2 / "model.safetensors").read_bytes()).hexdigest()
    for folder in folders:
        record = (folder / "training.json").read_text()
        start = json.loads(record)["settings"]["model"]["start_sha256"]
        check(start == network or folder.name == "draft", f"{folder.name}: taught over {start}")
        check(not re.search(r"/(work|tmp|home|root)/", record), f"{folder.name}: its record names a machine's path")
        check((folder / "loss.csv").exists(), f"{folder.name}: no loss.csv")
    pardec.good("run", "--model", SMOLLM2, "--adapter", ADAPTERS / "hpd", "--arm", "ar=ar,batch_size=12", "--arm", "hpd=hpd", "--dataset", "oa-mine", "--limit", 12, "--dtype", "auto",
                "--db", "adapters.sqlite", "--progress", "none", "--format", "json")
    rows = {row["arm"]: row for row in json.loads(pardec.good("compare", "--db", "adapters.sqlite", "--format", "json"))["rows"]}
    for arm, row in rows.items():
        check(row["f1_micro"] > 0.4 and row["failed"] == 0, f"{arm}: {row}")
    check(rows["hpd"]["tokens_per_forward"] > 20, f"six titles at a time: {rows['hpd']}")


def papers(check, pardec):
    """The papers' tables run every adapter that is there: a second is too little for a verdict, but nothing else lacks."""
    for paper, item in (("space", "figure5"), ("hpd", "table1")):
        tables = json.loads(pardec.good("reproduce", paper, item, "--budget", "1s", "--db", "papers.sqlite", "--progress", "none", "--format", "json"))
        reasons = [row["why"] or "" for row in tables[-1]["rows"]]
        check(reasons and not any("for arm" in why or "network" in why for why in reasons), f"{paper} {item}: {reasons}")


def main():
    program, dump, *whole = sys.argv[1:]
    if not (SMOLLM2 / "model.safetensors").is_file():
        print(f"[skipped] {SMOLLM2.name} is not there: scripts/fetch-smollm2 makes it")
        return 77
    check, theirs = Checks(), Reference()
    all_ = prompts()
    check(len(all_) == 60, f"{len(all_)} prompts, expected 60")
    with scratch(program) as pardec:
        traces = greedy_ids(check, pardec, theirs, all_ if whole else all_[11::16], 200 if whole else 16)
        replayed_traces(check, pardec, theirs, traces)
        if whole:
            other_decoders(check, pardec)
            first_answer(check, pardec)
        perplexities(check, dump, theirs)
        adapters(check, pardec)
        papers(check, pardec)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
