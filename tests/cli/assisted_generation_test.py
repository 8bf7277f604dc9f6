"""Decoder `speculative` drafts and accepts as transformers' assisted generation does, round by round; `prompt-lookup` as its prompt lookup.

Usage: assisted_generation_test.py PROGRAM

Random Llama checkpoints of one vocabulary: a target, a draft that is the target with some noise on its weights (so that guesses are right
now and then), and a stranger. Schedules: constant, heuristic (which begins anew with each answer: transformers' heuristic_transient), dynamic threshold (scikit-learn absent or told to be: transformers fits the threshold anew
where it is installed, pardec keeps it). Compared: the ids, and for every round but the last (where transformers crops first and counts then) how many
tokens were drafted and how many accepted; transformers' by a hook, ours from the trace. A tie of the two best logits (gap below TIE) may part the two: such an
answer is compared up to there, and must be rare.
"""
import copy
import json
import sys

from harness import Checks, scratch
from reference import sharpen, torch  # first: it skips where there is no transformers
from transformers import LlamaConfig, LlamaForCausalLM
from transformers.generation import candidate_generator

NEW_TOKENS = 48
TIE = 2e-4  # ten times what fp32 moves logits here, as in generate_parity_test.py


def network(seed, noise=None):
    """Sharpened random weights; `noise` = (weights to start from, share of noise)."""
    torch.manual_seed(seed)
    model = LlamaForCausalLM(LlamaConfig(vocab_size=256, hidden_size=48, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4,
                                         num_key_value_heads=2, max_position_embeddings=256, tie_word_embeddings=False, bos_token_id=None,
                                         eos_token_id=None, pad_token_id=0)).eval()
    sharpen(model, {"lm_head": 2.5, "q_proj": 2.5, "k_proj": 2.5})
    with torch.no_grad():
        if noise:
            for mine, theirs in zip(model.parameters(), noise[0].parameters()):
                mine.copy_((1 - noise[1] ** 2) ** 0.5 * theirs + noise[1] * (mine if mine.dim() == 2 else 0))
    return model


class Rounds:
    """What transformers drafted and accepted, round by round."""

    def __init__(self):
        self.rounds = []
        self.update = candidate_generator.AssistedCandidateGenerator.update_candidate_strategy

    def __enter__(self):
        rounds, update = self.rounds, self.update

        def recorded(generator, input_ids, scores, num_matches):
            rounds.append((scores.shape[1] - 1, int(num_matches)))
            return update(generator, input_ids, scores, num_matches)

        candidate_generator.AssistedCandidateGenerator.update_candidate_strategy = recorded
        return self

    def __exit__(self, *_):
        candidate_generator.AssistedCandidateGenerator.update_candidate_strategy = self.update


def our_rounds(trace, prompt):
    """(drafted, accepted) of every forward, from the rows that were nobody's choice and those of them that stayed."""
    rounds = []
    for step in range(max(trace["step"]) + 1):
        guesses = [i for i, s in enumerate(trace["step"]) if s == step and trace["from"][i] is None and i >= prompt]
        rounds.append((len(guesses), sum(trace["dropped_at"][i] is None for i in guesses)))
    return rounds


def tied(model, ids):
    """Whether the two best logits behind `ids` are nearly equal."""
    with torch.inference_mode():
        best = model(torch.tensor([ids])).logits[0, -1].topk(2).values
    return float(best[0] - best[1]) < TIE


def main():
    check = Checks()
    target = network(1)
    drafts = {"near": network(2, (target, 0.12)), "same": copy.deepcopy(target), "stranger": network(3)}
    prompts = [torch.randint(1, 256, (n,)).tolist() for n in (1, 2, 5, 9, 17, 30) for _ in range(2)]
    prompts += [(p * 4)[:40] for p in prompts[4:8]]
    with torch.inference_mode():
        free = [target.generate(torch.tensor([p]), do_sample=False, max_new_tokens=NEW_TOKENS, pad_token_id=0)[0, len(p):].tolist() for p in prompts]
    eos = sorted({t for a in free[::3] for t in a[7:8]})
    tokens = ties = rounds = 0
    accepted = []
    with scratch(sys.argv[1]) as pardec:
        target.generation_config.eos_token_id = eos
        target.save_pretrained(pardec.folder / "target")
        for name, draft in drafts.items():
            draft.save_pretrained(pardec.folder / name)
        (pardec.folder / "prompts.txt").write_text("".join(",".join(map(str, p)) + "\n" for p in prompts))

        def ours(decoder, *flags):
            out = pardec.good("generate", "--model", "target", "--decoder", decoder, "--prompt-tokens", "@prompts.txt", "--format", "json", "--trace",
                              "t.jsonl", "--max-new-tokens", NEW_TOKENS, *flags)
            traces = [json.loads(line) for line in (pardec.folder / "t.jsonl").read_text().splitlines()]
            return [json.loads(line) for line in out.splitlines()], {t["request"].split("/")[0]: t for t in traces if "model" not in t}

        schedules = (("constant", 4, 0.0, ["gamma=4"]), ("heuristic_transient", 5, 0.0, ["schedule=heuristic"]),
                     ("constant", 20, 0.4, ["schedule=dynamic"]), ("constant", 6, 0.7, ["schedule=dynamic", "gamma=6", "threshold=0.7"]))
        candidate_generator.is_sklearn_available = lambda: False
        for name, draft in drafts.items():
            for schedule, gamma, threshold, options in schedules:
                draft.generation_config.num_assistant_tokens = gamma
                draft.generation_config.num_assistant_tokens_schedule = schedule
                draft.generation_config.assistant_confidence_threshold = threshold
                sets = [x for option in options for x in ("--set", f"speculative.{option}")]
                answers, traces = ours("speculative", "--draft-model", name, *sets)
                check(len(answers) == len(prompts), f"{name} {options}: {len(answers)} answers")
                for i, (prompt, answer) in enumerate(zip(prompts, answers)):
                    where = f"{name} {' '.join(options)} prompt {i}"
                    with Rounds() as theirs, torch.inference_mode():
                        want = target.generate(torch.tensor([prompt]), attention_mask=torch.ones(1, len(prompt), dtype=torch.long), do_sample=False,
                                               max_new_tokens=NEW_TOKENS, pad_token_id=0, assistant_model=draft)[0, len(prompt):].tolist()
                    got, mine = answer["tokens"], our_rounds(traces[answer["id"]], len(prompt))
                    tokens += len(want)
                    if got == want and mine[:-1] == theirs.rounds[:-1] and len(mine) == len(theirs.rounds):
                        rounds += len(mine)
                        accepted += [(name, d, a) for d, a in mine]
                        continue
                    at = next((k for k, (a, b) in enumerate(zip(want, got)) if a != b), None)
                    # Ids part at a tie of the target, rounds at one of the draft (its guess, or the threshold).
                    spots = [at] if at is not None else range(len(want))
                    excuse = any(tied(m, prompt + want[:k]) for m in (target, draft) for k in spots)
                    ties += excuse
                    check(excuse, f"{where}: ids equal: {got == want}; rounds {mine}, transformers {theirs.rounds}")

        for ngram, most in ((3, 10), (2, 4)):
            answers, traces = ours("prompt-lookup", "--set", f"prompt-lookup.ngram={ngram}", "--set", f"prompt-lookup.draft={most}", "--ignore-eos")
            target.generation_config.eos_token_id = None
            for i, (prompt, answer) in enumerate(zip(prompts, answers)):
                calls = []
                hook = target.register_forward_hook(lambda *_: calls.append(1))
                with torch.inference_mode():
                    want = target.generate(torch.tensor([prompt]), attention_mask=torch.ones(1, len(prompt), dtype=torch.long), do_sample=False,
                                           max_new_tokens=NEW_TOKENS, pad_token_id=0, prompt_lookup_num_tokens=most,
                                           max_matching_ngram_size=ngram)[0, len(prompt):].tolist()
                hook.remove()
                tokens += len(want)
                forwards = answer["counters"]["forwards"]
                if answer["tokens"] == want and forwards == len(calls):
                    continue
                excuse = any(tied(target, prompt + want[:k]) for k in range(len(want)))
                ties += excuse
                check(excuse, f"prompt lookup {ngram} {most} prompt {i}: ids equal: {answer['tokens'] == want}; {forwards} forwards, transformers {len(calls)}")
    check(ties * 50 <= len(prompts) * 14, f"{ties} answers with a tie in {len(prompts) * 14}")
    near = [a for name, _, a in accepted if name == "near"]
    check(0.3 < sum(near) / max(1, len(near)) < 6, f"near guesses: {sum(near)} accepted in {len(near)} rounds, expected some and not all")
    check(rounds > 500, f"{rounds} rounds were compared")
    print(f"{tokens} tokens, {rounds} rounds compared, {ties} ties; near draft: {sum(near)} accepted in {len(near)} rounds")
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
