"""What generation_config.json does to logits: the ids of transformers' greedy search, for every decoder that gives the ids of ar, alone and in batches.

Usage: generation_config_test.py PROGRAM
"""
import json
import sys

import torch
from transformers import AutoModelForCausalLM, GenerationConfig

from harness import ROOT, Checks, query, scratch

NEW, EOS = 24, 2
PROMPTS = [[5, 6, 7, 8, 5, 6, 7], [40], [9, 9, 9, 30, 31, 9, 9], [1, 60, 2, 33, 60, 2]]


def all_settings(prompts, plain):
    """One setting after another, and some together; ids are of the answers without any."""
    a, b, c, d = plain
    return [
        {"repetition_penalty": 1.3},
        {"repetition_penalty": 0.8},
        {"repetition_penalty": 5.0},
        {"no_repeat_ngram_size": 1},
        {"no_repeat_ngram_size": 2, "sequence_bias": [[[11], 30.0]]},  # which alone would repeat it for ever
        {"no_repeat_ngram_size": 3, "sequence_bias": [[[11], 30.0], [[12], 29.0]]},
        {"suppress_tokens": [a[3], b[5], c[7], d[2], a[9]]},
        {"begin_suppress_tokens": [a[0], b[0], c[0], d[0]]},
        {"bad_words_ids": [[a[2]], [b[3], b[4]], [c[5], c[6], c[7]]]},
        {"bad_words_ids": [[EOS], d[:2]]},
        {"sequence_bias": [[[a[1]], -4.5], [[b[1], b[2]], -3.0], [[c[0], 20], 9.0], [[11], 0.5]]},
        {"forced_bos_token_id": 50},
        {"forced_eos_token_id": EOS},
        {"suppress_tokens": [a[1]], "begin_suppress_tokens": [b[0]], "forced_bos_token_id": 50},
        {"repetition_penalty": 1.1, "no_repeat_ngram_size": 4, "suppress_tokens": [a[0], d[4]], "min_new_tokens": 3, "forced_eos_token_id": [4, EOS],
         "bad_words_ids": [[c[1], c[2]]], "sequence_bias": [[[44], 1.25]], "begin_suppress_tokens": [c[0]], "forced_bos_token_id": 33},
    ]


# Neutral values, and settings that change no greedy answer: nothing is said of them.
NEUTRAL = [
    {"repetition_penalty": 1.0, "no_repeat_ngram_size": 0, "min_length": 0, "bad_words_ids": None, "num_beams": 1},
    {"do_sample": True, "temperature": 0.6, "top_k": 20, "top_p": 0.95, "min_p": 0.1, "typical_p": 0.9},
    {"pad_token_id": 0, "use_cache": True, "transformers_version": "5.24.0", "max_length": 4096},
]
# Others change answers, and are named.
LEFT_OUT = [{"num_beams": 4}, {"guidance_scale": 1.5}, {"encoder_repetition_penalty": 1.2}, {"exponential_decay_length_penalty": [4, 1.5]},
            {"stop_strings": ["a"]}, {"penalty_alpha": 0.6}, {"remove_invalid_values": True}, {"max_time": 2.0}, {"dola_layers": "low"},
            {"encoder_no_repeat_ngram_size": 2}, {"token_healing": True}, {"watermarking_config": {"bias": 2.0}}, {"num_return_sequences": 3}]
WRONG = [({"repetition_penalty": 0}, "above 0"), ({"repetition_penalty": "high"}, "above 0"), ({"no_repeat_ngram_size": -1}, "0 or more"),
         ({"suppress_tokens": [4096]}, "0 to 4095"), ({"suppress_tokens": "all"}, "token ids"), ({"bad_words_ids": [5]}, "lists"),
         ({"bad_words_ids": [[]]}, "at least one"), ({"sequence_bias": [[[1], "much"]]}, "bias"), ({"min_new_tokens": 1.5}, "whole number")]
DECODERS = [("ar",), ("prompt-lookup",), ("lookahead",), ("self-speculative", "--set", "self-speculative.threshold=0"), ("speculative",),
            ("space", "--set", "space.mask_token=4000"), ("speculative", "--set", "speculative.gamma=2")]


def reference(model, prompt, settings, eos):
    """Greedy ids of transformers, and the least gap between its two best processed logits."""
    out = model.generate(torch.tensor([prompt]), generation_config=GenerationConfig(max_new_tokens=NEW, eos_token_id=eos, pad_token_id=0, do_sample=False,
                                                                                     return_dict_in_generate=True, output_scores=True, **settings))
    gaps = [torch.topk(scores[0], 2).values for scores in out.scores if int(torch.isfinite(scores[0]).sum()) > 2]  # else it was forced
    return out.sequences[0, len(prompt):].tolist(), min(float(a - b) for a, b in gaps)


def rows_seen(items):
    return [k for item in items for k in (range(*item) if isinstance(item, list) else (item,))]


def ngrams_again(ids, n):
    """Ids that would end an n-gram which is in `ids` already, straight from what the setting means."""
    made = {tuple(ids[i:i + n]) for i in range(len(ids) - n + 1)}
    return [gram[-1] for gram in made if list(gram[:-1]) == ids[len(ids) - n + 1:]]


def replay(check, model, trace, settings, who):
    """Every choice of a trace is the best of transformers' logits over what its row saw, changed by the settings over just that."""
    n = len(trace["tokens"])
    seen = [rows_seen(items) for items in trace["visible"]]
    mask = torch.full((1, 1, n, n), torch.finfo(torch.float32).min)
    for row, rows in enumerate(seen):
        mask[0, 0, row, torch.tensor(rows)] = 0.0
    with torch.no_grad():
        logits = model(torch.tensor([trace["tokens"]]), attention_mask=mask, position_ids=torch.tensor([trace["position"]]), use_cache=False).logits[0]
    counted = changed = 0
    for row, want in enumerate(trace["predicts"]):
        if want is None:
            continue
        scores = logits[row].clone()
        free = int(scores.argmax())
        order = sorted(seen[row], key=lambda r: (trace["position"][r], r))
        before = [trace["tokens"][r] for r in order]
        unique = torch.tensor(sorted(set(before)))
        scores[unique] = torch.where(scores[unique] < 0, scores[unique] * settings["repetition_penalty"], scores[unique] / settings["repetition_penalty"])
        scores[ngrams_again(before, settings["no_repeat_ngram_size"])] = -torch.inf
        for ids, word in (("banned", False), ("allowed", True)):  # of the decoder's grammar, too
            given = (trace.get(ids) or [None] * n)[row]
            if given:
                keep = torch.zeros_like(scores, dtype=torch.bool)
                keep[torch.tensor(given)] = True
                scores[keep != word] = -torch.inf
        best = int(scores.argmax())
        check(best == want or float(scores[best] - scores[want]) < 1e-4, f"{who} row {row}: {want} chosen, {best} is best")
        counted, changed = counted + 1, changed + (best != free)
    return counted, changed


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        folder, draft = pardec.synthesise("model", seed=7), pardec.synthesise("draft", seed=8, num_hidden_layers=1)
        file = folder / "generation_config.json"
        model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
        prompts = pardec.folder / "prompts.txt"
        prompts.write_text("".join(",".join(map(str, p)) + "\n" for p in PROMPTS))
        base = ["generate", "--model", folder, "--prompt-tokens", f"@{prompts}", "--max-new-tokens", NEW, "--format", "json", "--threads", 1]

        def ids(*flags):
            ran = pardec(*base, *flags)
            return ran.stderr, [json.loads(line)["answers"][0]["tokens"] for line in ran.stdout.splitlines()]

        file.write_text(json.dumps({"eos_token_id": EOS}))
        said, plain = ids()
        check("generation_config" not in said, f"nothing to say: {said}")
        changed = 0
        cases = [(settings, EOS) for settings in all_settings(PROMPTS, plain)]
        # An end that the network would choose early, and may not.
        cases += [({"min_new_tokens": 9}, plain[0][4]), ({"min_length": 14}, plain[1][5]), ({"min_new_tokens": 12, "min_length": 3}, [plain[2][0], plain[3][1]])]
        for settings, eos in cases:
            file.write_text(json.dumps({"eos_token_id": eos, **settings}))
            want, gaps = zip(*(reference(model, prompt, settings, eos) for prompt in PROMPTS))
            check(min(gaps) > 1e-4, f"{settings}: no tie, {gaps}")
            _, free = ids("--no-generation-config")
            changed += list(want) != free
            for decoder in DECODERS:
                drafts = ["--draft-model", draft] if decoder[0] == "speculative" else []
                for size in (1, 3) if decoder == ("ar",) else (3,):
                    said, got = ids("--decoder", *decoder, *drafts, "--batch-size", size)
                    check(got == list(want), f"{settings}, {decoder}, batch {size}: {got}, transformers {list(want)} {said}")
                check(all(f"{key} " in said for key in settings) and "--no-generation-config" in said, f"{settings}: said: {said}")
            said, got = ids("--no-generation-config")
            check((got == plain or eos != EOS) and "left out" in said, f"{settings} left out: {got}, {said}")
        for settings in ({}, {"min_new_tokens": 9}):  # an end that --eos adds is banned as the others are
            file.write_text(json.dumps({"eos_token_id": EOS, **settings}))
            want = [reference(model, prompt, settings, [EOS, plain[0][4]])[0] for prompt in PROMPTS]
            said, got = ids("--eos", plain[0][4])
            check(got == want, f"--eos beside {settings}: {got}, transformers {want} {said}")
        check(changed == len(cases), f"{changed} of {len(cases)} settings change ids: the test can fail")
        for settings in NEUTRAL:
            file.write_text(json.dumps({"eos_token_id": 2, **settings}))
            said, got = ids()
            check(got == plain and "generation_config" not in said, f"{settings}: {got} {said}")
        for settings in LEFT_OUT:
            file.write_text(json.dumps({"eos_token_id": 2, **settings}))
            said, got = ids()
            check(got == plain and "not supported" in said and f"{next(iter(settings))} " in said, f"{settings} is named: {said}")
        for settings, expected in WRONG:
            file.write_text(json.dumps({"eos_token_id": 2, **settings}))
            ran = pardec(*base)
            check(ran.returncode == 2 and next(iter(settings)) in ran.stderr and expected in ran.stderr, f"{settings}: exit {ran.returncode}: {ran.stderr}")

        # Sampling: the verified law is that of the processed logits, so suppressed ids never come.
        file.write_text(json.dumps({"eos_token_id": 2, "suppress_tokens": list(range(3, 4000))}))
        for decoder in DECODERS:
            drafts = ["--draft-model", draft] if decoder[0] == "speculative" else []
            _, got = ids("--decoder", *decoder, *drafts, "--temperature", 1, "--ignore-eos")
            check(got and all(token < 3 or token >= 4000 for answer in got for token in answer), f"{decoder}, sampled: {got}")

        # The table, the plan, doctor and the store say it; the trace has what was struck out.
        taught = pardec.folder / "taught"
        taught.mkdir()
        for part in (ROOT / "experiments/quickstart/model").iterdir():
            if part.name != "generation_config.json":
                (taught / part.name).symlink_to(part)
        (taught / "generation_config.json").write_text(json.dumps({"repetition_penalty": 1.2, "no_repeat_ngram_size": 6, "num_beams": 2}))
        run = ["run", "--model", taught, "--decoder", "ar,hpd", "--dataset", "oa-mine", "--limit", 6, "--max-new-tokens", 40]
        db, trace = pardec.folder / "t.sqlite", pardec.folder / "t.jsonl"
        for flags, words in (([], "repetition_penalty 1.2 applied"), (["--no-generation-config"], "repetition_penalty 1.2 left out")):
            for what in (["--dry-run"], ["--db", db, "--trace", trace]):
                text = " ".join(pardec.good(*run, *flags, *what).split())
                check(words in text and "num_beams 2 not supported" in text, f"{flags} {what}: {text}")
        # A decoder with branches: what stands before a choice is what its row sees.
        settings = json.loads((taught / "generation_config.json").read_text())
        quickstart = AutoModelForCausalLM.from_pretrained(taught, dtype=torch.float32, attn_implementation="eager").eval()
        for decoder in ("hpd", "ippd", "ar", "skeleton-of-thought"):
            lines = pardec.folder / f"{decoder}.jsonl"
            pardec.good("generate", "--model", taught, "--decoder", decoder, "--trace", lines, "--dtype", "fp32", "--max-new-tokens", 48, *(
                ["--prompt", "List three uses of a brick."] if decoder == "skeleton-of-thought" else ["--job", ROOT / "experiments/quickstart/job.json"]))
            traces = [json.loads(line) for line in lines.read_text().splitlines()]
            check(all(t["generation_config"]["repetition_penalty"] == 1.2 for t in traces), f"{decoder}: the trace says what was applied")
            counts = [replay(check, quickstart, t, settings, decoder) for t in traces]
            check(sum(c for c, _ in counts) > 10 and sum(c for _, c in counts) > 0, f"{decoder}: choices, and those that the settings change: {counts}")
        kept = [json.loads(r["config"])["generation_config"] for r in query(db, "SELECT config FROM run ORDER BY id")]
        check([k["applied"] for k in kept] == [True, True, False, False], f"the store says it: {kept}")
        doctor = " ".join(pardec("doctor", "--model", taught).stdout.split())
        check("repetition_penalty 1.2" in doctor, f"doctor: {doctor}")
        resumed = pardec(*run, "--db", db, "--resume", "--no-generation-config")
        check(resumed.returncode == 0, f"--resume under the same settings: {resumed.stderr}")
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
