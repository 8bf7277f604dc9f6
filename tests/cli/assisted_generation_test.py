"""Decoder `speculative` drafts and accepts as transformers' assisted generation does, round by
round; `prompt-lookup` as its prompt lookup.

Random Llama checkpoints of one vocabulary: a target, a draft that is the target with some noise
on its weights (so that guesses are right now and then), and a stranger. Schedules: constant,
heuristic (which begins anew with each answer: transformers' heuristic_transient), dynamic
threshold (without scikit-learn: transformers fits the threshold anew where it is installed,
pardec keeps it). Compared: the ids, and for every round but the last (where transformers crops
first and counts then) how many tokens were drafted and how many accepted; transformers' by a
hook, ours from the trace. A tie of the two best logits (gap below TIE) may part the two: such an
answer is compared up to there, and must be rare.
"""

import copy
import dataclasses
import functools
import json

import pytest
from reference import sharpen, torch
from transformers import LlamaConfig, LlamaForCausalLM
from transformers.generation import candidate_generator

NEW_TOKENS = 32
TIE = 2e-4  # ten times what fp32 moves logits here, as in generate_parity_test.py


def network(seed, noise=None):
    """Sharpened random weights; `noise` = (weights to start from, share of noise)."""
    torch.manual_seed(seed)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=256, hidden_size=48, intermediate_size=96, num_hidden_layers=2,
            num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=256,
            tie_word_embeddings=False, bos_token_id=None, eos_token_id=None, pad_token_id=0,
        )
    ).eval()
    sharpen(model, {"lm_head": 2.5, "q_proj": 2.5, "k_proj": 2.5})
    with torch.no_grad():
        if noise:
            for mine, theirs in zip(model.parameters(), noise[0].parameters()):
                mine.copy_(
                    (1 - noise[1] ** 2) ** 0.5 * theirs
                    + noise[1] * (mine if mine.dim() == 2 else 0)
                )
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
    """(drafted, accepted) of every forward, from the rows that were nobody's choice and those of
    them that stayed.
    """
    rounds = []
    for step in range(max(trace["step"]) + 1):
        guesses = [
            i
            for i, s in enumerate(trace["step"])
            if s == step and trace["from"][i] is None and i >= prompt
        ]
        rounds.append((len(guesses), sum(trace["dropped_at"][i] is None for i in guesses)))
    return rounds


def tied(model, ids):
    """Whether the two best logits after `ids` are nearly equal."""
    with torch.inference_mode():
        best = model(torch.tensor([ids])).logits[0, -1].topk(2).values
    return float(best[0] - best[1]) < TIE


@pytest.fixture(scope="module")
def target():
    return network(1)


@pytest.fixture(scope="module")
def drafts(target):
    """The drafts by name. Made after the target, whose seed they do not share."""
    return {
        "near": network(2, (target, 0.12)),
        "same": copy.deepcopy(target),
        "stranger": network(3),
    }


@pytest.fixture(scope="module")
def prompts(drafts):
    made = [torch.randint(1, 256, (n,)).tolist() for n in (1, 2, 5, 9, 17, 30)]
    return made + [(p * 4)[:40] for p in made[2:6]]


def generated(model, prompt, **settings):
    """What transformers' `generate` chooses after a prompt."""
    ids = torch.tensor([prompt])
    with torch.inference_mode():
        chosen = model.generate(
            ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=NEW_TOKENS,
            pad_token_id=0, **settings,
        )
    return chosen[0, len(prompt) :].tolist()


@pytest.fixture(scope="module")
def eos(target, prompts):
    """Ends that some answers reach."""
    free = [generated(target, prompt) for prompt in prompts[::3]]
    return sorted({token for answer in free for token in answer[7:8]})


@pytest.fixture(scope="module")
def folder(pardec, target, drafts, prompts, eos):
    """The scratch folder with the checkpoints and the prompts."""
    target.generation_config.eos_token_id = eos
    target.save_pretrained(pardec.folder / "target")
    for name, draft in drafts.items():
        draft.save_pretrained(pardec.folder / name)
    lines = "".join(",".join(map(str, p)) + "\n" for p in prompts)
    (pardec.folder / "prompts.txt").write_text(lines)
    return pardec.folder


def ours(pardec, decoder, *flags):
    """The answers and, by request, the traces of the decoder."""
    out = pardec.good(
        "generate", "--model", "target", "--decoder", decoder, "--prompt-tokens", "@prompts.txt",
        "--format", "json", "--trace", "t.jsonl", "--max-new-tokens", NEW_TOKENS, *flags,
    )
    lines = (pardec.folder / "t.jsonl").read_text().splitlines()
    traces = [json.loads(line) for line in lines]
    return [json.loads(line) for line in out.splitlines()], {
        trace["request"].split("/")[0]: trace for trace in traces if "model" not in trace
    }


# transformers' schedule, draft length and threshold, and the options of ours.
SCHEDULES = {
    "constant": ("constant", 4, 0.0, ["gamma=4"]),
    "heuristic": ("heuristic_transient", 5, 0.0, ["schedule=heuristic"]),
    "dynamic": ("constant", 20, 0.4, ["schedule=dynamic"]),
    "threshold": ("constant", 6, 0.7, ["schedule=dynamic", "gamma=6", "threshold=0.7"]),
}


@dataclasses.dataclass
class Speculated:
    """A draft and a schedule on all prompts: what was compared, and why answers part."""

    answers: int = 0
    rounds: list = dataclasses.field(default_factory=list)  # (drafted, accepted), of equal answers
    ties: int = 0
    unequal: list = dataclasses.field(default_factory=list)  # without the excuse of a tie


@pytest.fixture(scope="module")
def speculated(pardec, folder, target, drafts, prompts, eos):
    """What a draft and a schedule give, here and in transformers, computed once."""

    @functools.cache
    def of(name, schedule):
        draft, found = drafts[name], Speculated()
        kind, gamma, threshold, options = SCHEDULES[schedule]
        target.generation_config.eos_token_id = eos
        draft.generation_config.num_assistant_tokens = gamma
        draft.generation_config.num_assistant_tokens_schedule = kind
        draft.generation_config.assistant_confidence_threshold = threshold
        sets = [word for option in options for word in ("--set", f"speculative.{option}")]
        answers, traces = ours(pardec, "speculative", "--draft-model", name, *sets)
        found.answers = len(answers)
        for prompt, answer in zip(prompts, answers):
            with Rounds() as theirs:
                want = generated(target, prompt, assistant_model=draft)
            got, mine = answer["tokens"], our_rounds(traces[answer["id"]], len(prompt))
            equal = mine[:-1] == theirs.rounds[:-1] and len(mine) == len(theirs.rounds)
            if got == want and equal:
                found.rounds += mine
                continue
            at = next((k for k, (a, b) in enumerate(zip(want, got)) if a != b), None)
            # Ids part at a tie of the target, rounds at one of the draft (its guess, or the
            # threshold).
            spots = [at] if at is not None else range(len(want))
            if any(tied(model, prompt + want[:k]) for model in (target, draft) for k in spots):
                found.ties += 1
            else:
                found.unequal.append((prompt, got, want, mine, theirs.rounds))
        return found

    with pytest.MonkeyPatch.context() as patch:
        # Without scikit-learn, transformers keeps the threshold as pardec does.
        patch.setattr(candidate_generator, "is_sklearn_available", lambda: False)
        yield of


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name", ["near", "same", "stranger"])
def test_speculative_drafts_and_accepts_as_transformers_does(speculated, prompts, name, schedule):
    found = speculated(name, schedule)
    assert found.answers == len(prompts)
    assert found.unequal == []
    assert found.ties * 50 <= len(prompts), "ties must be rare"


def test_many_rounds_are_compared(speculated):
    assert sum(len(speculated("near", schedule).rounds) for schedule in SCHEDULES) > 300


def test_guesses_of_the_near_draft_are_right_now_and_then(speculated):
    accepted = [a for schedule in SCHEDULES for _, a in speculated("near", schedule).rounds]
    assert 0.3 < sum(accepted) / len(accepted) < 6


@pytest.mark.parametrize("ngram, most", [(3, 10), (2, 4)])
def test_prompt_lookup_takes_the_forwards_of_transformers(
    pardec, folder, target, prompts, ngram, most
):
    options = [f"prompt-lookup.ngram={ngram}", f"prompt-lookup.draft={most}"]
    sets = [word for option in options for word in ("--set", option)]
    answers, _ = ours(pardec, "prompt-lookup", *sets, "--ignore-eos")
    target.generation_config.eos_token_id = None
    lookup = {"prompt_lookup_num_tokens": most, "max_matching_ngram_size": ngram}
    ties = 0
    for prompt, answer in zip(prompts, answers, strict=True):
        calls = []
        hook = target.register_forward_hook(lambda *_: calls.append(1))
        want = generated(target, prompt, **lookup)
        hook.remove()
        if answer["tokens"] != want or answer["counters"]["forwards"] != len(calls):
            assert any(tied(target, prompt + want[:k]) for k in range(len(want))), (
                f"{answer['tokens']} in {answer['counters']['forwards']} forwards; transformers"
                f" {want} in {len(calls)}"
            )
            ties += 1
    assert ties * 50 <= len(prompts), "ties must be rare"
