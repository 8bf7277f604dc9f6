"""Greedy ids of decoder `ar` in fp32 equal those of transformers' `generate`.

Usage: generate_parity_test.py PROGRAM

Four random checkpoints, written by transformers: Llama; Llama with grouped queries and its own head; Qwen3; one in shards. Their attention is
sharpened (with default initial weights it is almost even, and a wrong mask or position would hardly show). 50 prompts each, by ids alone, of
10 lengths; ends of sequence that are reached often (several ids, in generation_config.json) and none.

When may two right programs differ? Let e be the largest |fp32 - fp64| among the reference's own logits of the row where the ids part. The
network's fp32 logits are held to 3 e (tests/model/model_oracle_test.py), the reference's are within e. If the reference chose a and we chose
b, then l_a - l_b >= -2 e by the one and l_a - l_b <= 6 e by the other, l being the fp64 logits. So a difference is excused where b is
the reference's second best and the fp64 gap of the two is at most 6 e; each is printed, and they must be rarer than 1 in 10,000 tokens.
"""
import collections
import json
import os
import sys

from harness import Checks, scratch
from reference import sharpen, torch  # first: it skips where there is no transformers
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM, Qwen3Config, Qwen3ForCausalLM

LENGTHS = (1, 2, 3, 7, 16, 31, 48, 64, 97, 130)
PER_LENGTH = 5
NEW_TOKENS = 64


def networks():
    """(name, network, arguments of save_pretrained, type it is stored in)"""
    shape = dict(hidden_size=64, intermediate_size=160, num_attention_heads=4, max_position_embeddings=512, bos_token_id=None, eos_token_id=None,
                 pad_token_id=0)
    yield "llama", LlamaForCausalLM(LlamaConfig(vocab_size=512, num_hidden_layers=3, num_key_value_heads=4, tie_word_embeddings=True, **shape)), {}, \
        torch.float32
    yield "llama-gqa", LlamaForCausalLM(LlamaConfig(vocab_size=1024, num_hidden_layers=2, num_key_value_heads=2, head_dim=32, rope_theta=5e5,
                                                    tie_word_embeddings=False, **shape)), {}, torch.bfloat16
    yield "qwen3", Qwen3ForCausalLM(Qwen3Config(vocab_size=768, num_hidden_layers=3, num_key_value_heads=2, head_dim=32, tie_word_embeddings=True,
                                                **shape)), {}, torch.float32
    yield "sharded", LlamaForCausalLM(LlamaConfig(vocab_size=640, num_hidden_layers=4, num_key_value_heads=1, tie_word_embeddings=False, **shape)), \
        {"max_shard_size": "150KB"}, torch.float32


def reference(model, prompts, eos):
    """Ids that transformers chooses, the end of sequence included. Prompts of one length go together, so nothing is padded on the left."""
    out = [None] * len(prompts)
    groups = collections.defaultdict(list)
    for i, prompt in enumerate(prompts):
        groups[len(prompt)].append(i)
    for length, members in groups.items():
        ids = torch.tensor([prompts[i] for i in members])
        with torch.inference_mode():
            chosen = model.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=NEW_TOKENS, eos_token_id=eos or None,
                                    pad_token_id=0, use_cache=True)[:, length:].tolist()
        for i, tokens in zip(members, chosen):
            ends = [k for k, token in enumerate(tokens) if token in eos]
            out[i] = tokens[:ends[0] + 1] if ends else tokens
    return out


def excusable(model, exact, prompt, want, got):
    """Why the first difference of two answers may be a tie; None when it may not."""
    at = next((k for k, (a, b) in enumerate(zip(want, got)) if a != b), None)
    if at is None:
        return None
    ids = torch.tensor([prompt + want[:at]])
    with torch.inference_mode():
        single, double = model(ids).logits[0, -1].double(), exact(ids).logits[0, -1]
    error = float((single - double).abs().max())
    best = double.topk(2)
    gap = float(best.values[0] - best.values[1])
    if {want[at], got[at]} == set(best.indices.tolist()) and gap <= 6 * error:
        return f"token {at}: {want[at]} or {got[at]}, gap {gap:.2e}, bound {6 * error:.2e}"
    return None


def main():
    check = Checks()
    torch.manual_seed(20)
    tokens = excused = 0
    with scratch(sys.argv[1]) as pardec:
        for name, model, saving, stored in networks():
            sharpen(model)
            model = model.to(stored).float().eval()
            folder = pardec.folder / name
            model.to(stored).save_pretrained(folder, **saving)
            model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
            model.generation_config.eos_token_id = None
            exact = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float64).eval()
            shards = len(list(folder.glob("*.safetensors")))
            check(shards > 2 if saving else shards == 1, f"{name}: {shards} safetensors files")
            prompts = [torch.randint(1, model.config.vocab_size, (n,)).tolist() for n in LENGTHS for _ in range(PER_LENGTH)]
            (pardec.folder / "prompts.txt").write_text("".join(",".join(map(str, p)) + "\n" for p in prompts))

            free = reference(model, prompts, [])
            # Ends of sequence that some answers reach and others do not: ids that few answers hold, until a third of them holds one.
            within = collections.Counter(t for answer in free for t in set(answer[2:]))
            rare, eos = sorted(within, key=lambda t: (abs(within[t] - 8), t)), []
            while len(eos) < 3 or sum(not set(eos).isdisjoint(answer) for answer in free) < len(free) / 3:
                eos.append(rare.pop(0))
            generation = json.loads((folder / "generation_config.json").read_text())
            (folder / "generation_config.json").write_text(json.dumps({**generation, "eos_token_id": eos}))
            for case, flags, wanted in (("eos", [], reference(model, prompts, eos)), ("no eos", ["--ignore-eos"], free)):
                ran = pardec("generate", "--model", folder, "--decoder", "ar", "--prompt-tokens", f"@{pardec.folder}/prompts.txt", "--format", "json",
                             "--batch-size", 8, "--max-new-tokens", NEW_TOKENS, *flags)
                lines = [json.loads(line) for line in ran.stdout.splitlines()]
                if not check(ran.returncode == 0 and len(lines) == len(prompts),
                             f"{name}, {case}: exit {ran.returncode}, {len(lines)} answers for {len(prompts)} prompts; {ran.stderr}"):
                    continue
                ended = sum(answer[-1] in eos for answer in wanted) if case == "eos" else 0
                print(f"{name}, {case}: {sum(map(len, wanted))} tokens, {ended} of {len(wanted)} answers reach an end of sequence")
                if case == "eos":
                    check(10 <= ended < len(prompts), f"{name}: {ended} answers reach an end of sequence, expected some and not all")
                for i, (prompt, want, line) in enumerate(zip(prompts, wanted, lines)):
                    tokens += len(want)
                    got = line["tokens"]
                    stop = "eos" if case == "eos" and want[-1] in eos else "limit"
                    if got == want:
                        check(line["answers"][0]["stop"] == stop, f"{name}, {case}, prompt {i}: stop {line['answers'][0]['stop']}, expected {stop}")
                        continue
                    why = excusable(model, exact, prompt, want, got)
                    excused += why is not None
                    if why:
                        print(f"tie: {name}, {case}, prompt {i}: {why}")
                    check(why, f"{name}, {case}, prompt {i} of {len(prompt)} tokens: {got}, transformers chose {want}")
    check(tokens > 20000, f"{tokens} tokens were compared")
    check(excused * 10000 <= tokens, f"{excused} ties in {tokens} tokens, expected fewer than 1 in 10,000")
    print(f"{tokens} tokens, {excused} ties")
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
