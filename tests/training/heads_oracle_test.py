"""Training of extra heads beside plain torch: losses and updated weights of a few steps, over a
network that stays as it is.

The reference has its own Llama, heads, targets and loss, in float64, one sequence at a time.
"""

import dataclasses
import functools
import json
import subprocess

import pytest
from harness import skip

try:
    import safetensors.torch
    import torch
    from torch.nn.functional import cross_entropy, silu
except ImportError as missing:
    skip(missing)
torch.set_num_threads(1)
RANKS = 32
CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_act": "silu",
    "vocab_size": 37,
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 128,
    "rms_norm_eps": 1e-6,
    "rope_theta": 10000.0,
}


def norm(x, weight):
    return weight * x / (x.pow(2).mean(-1, keepdim=True) + CONFIG["rms_norm_eps"]).sqrt()


def rotated(x):  # [heads, n, head_dim]; angles in float32, as everywhere
    half = x.shape[-1] // 2
    turn = torch.arange(x.shape[1]).float()[:, None] * (
        1.0 / CONFIG["rope_theta"] ** (torch.arange(0, half).float() / half)
    )
    a, b = x[..., :half], x[..., half:]
    return torch.cat(
        [
            a * turn.cos().double() - b * turn.sin().double(),
            b * turn.cos().double() + a * turn.sin().double(),
        ],
        -1,
    )


def hidden(weights, ids):
    """What the head reads, [n, hidden]."""
    n, dim = len(ids), CONFIG["head_dim"]
    x = weights["model.embed_tokens.weight"][ids]
    for layer in range(CONFIG["num_hidden_layers"]):
        w = {
            name: weights[f"model.layers.{layer}.{name}.weight"]
            for name in (
                "input_layernorm", "post_attention_layernorm", "self_attn.q_proj",
                "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj", "mlp.gate_proj",
                "mlp.up_proj", "mlp.down_proj",
            )
        }
        h = norm(x, w["input_layernorm"])
        q, k, v = (
            (h @ w[f"self_attn.{part}_proj"].T).view(n, -1, dim).transpose(0, 1) for part in "qkv"
        )
        k, v = (t.repeat_interleave(2, 0) for t in (k, v))
        scores = rotated(q) @ rotated(k).transpose(1, 2) / dim**0.5
        scores = scores.masked_fill(torch.ones(n, n).triu(1).bool(), -torch.inf)
        x = x + (scores.softmax(-1) @ v).transpose(0, 1).reshape(n, -1) @ w["self_attn.o_proj"].T
        g = norm(x, w["post_attention_layernorm"])
        x = x + (silu(g @ w["mlp.gate_proj"].T) * (g @ w["mlp.up_proj"].T)) @ w["mlp.down_proj"].T
    return norm(x, weights["model.norm.weight"])


class Head(torch.nn.Module):
    def __init__(self, blocks, matrix, shares_head):
        super().__init__()
        self.blocks = torch.nn.ModuleList(
            torch.nn.Linear(matrix.shape[1], matrix.shape[1], dtype=torch.float64)
            for _ in range(blocks)
        )
        for parameter in self.blocks.parameters():
            torch.nn.init.zeros_(parameter)
        self.out = torch.nn.Linear(
            matrix.shape[1], matrix.shape[0], bias=False, dtype=torch.float64
        )
        self.out.weight.data.copy_(matrix)
        self.out.weight.requires_grad_(not shares_head)  # the network's own stays

    def forward(self, z):
        for block in self.blocks:
            z = z + silu(block(z))
        return self.out(z)


def measured(weights, heads, samples):
    """The loss, and by head the share of targets that are its best guess, its second best, and
    so on.
    """
    total, ranks = 0.0, []
    for h, head in enumerate(heads, 1):
        logits, labels = [], []
        for sample in samples:
            ids = torch.tensor(sample["prompt"] + sample["answer"])
            masked = ids.clone()
            masked[: len(sample["prompt"])] = -100
            with torch.no_grad():
                z = hidden(weights, ids)
            # Row i's own head is asked for token i + 1, head h for token i + 1 + h, where both are
            # of the answer.
            asked = masked[1 + h :].where(masked[1 : max(1, len(ids) - h)] != -100, -100)
            logits.append(head(z[: len(asked)]))
            labels.append(asked)
        logits, labels = torch.cat(logits), torch.cat(labels)
        total = total + 0.8**h * cross_entropy(logits, labels, ignore_index=-100)
        asked = labels != -100
        guesses = logits[asked].argsort(dim=-1, descending=True, stable=True)[:, :RANKS]
        ranks.append((guesses == labels[asked].unsqueeze(-1)).double().mean(0).tolist())
    return total, ranks


RANDOM = torch.Generator().manual_seed(5)


def ids(count):
    return torch.randint(0, CONFIG["vocab_size"], (count,), generator=RANDOM).tolist()


APART = [{"prompt": ids(p), "answer": ids(a)} for p, a in ((5, 9), (3, 1), (7, 2), (1, 4), (4, 12))]
BEGINNING = ids(34)
ALIKE = [{"prompt": BEGINNING + ids(p), "answer": ids(a)} for p, a in ((2, 6), (1, 3), (3, 8))]
STEPS, RATE = 4, 3e-3


@dataclasses.dataclass
class Case:
    heads: int
    blocks: int
    tied: bool
    samples: list
    share: int
    micro_tokens: int
    shares_head: bool = False


CASES = {
    "one": Case(2, 1, True, APART, 1, 1000),
    "several": Case(4, 2, False, APART, 1, 12),
    "shared": Case(3, 1, False, ALIKE, 3, 1000),
    "own head": Case(3, 1, True, APART, 1, 30, shares_head=True),
    "own head, two blocks": Case(2, 2, False, ALIKE, 3, 1000, shares_head=True),
    "bare": Case(1, 0, True, APART + ALIKE, 2, 40),
}


class Trained:
    """What pardec says of a training (`got`), and the reference's losses, ranks and weights."""

    def __init__(self, case, folder, synth, dump):
        config = folder / "config.json"
        config.write_text(json.dumps(CONFIG | {"tie_word_embeddings": case.tied}))
        subprocess.run([synth, config, "3", folder / "model"], check=True)
        request = {
            "model": str(folder / "model"),
            "heads": case.heads,
            "blocks": case.blocks,
            "shares_head": case.shares_head,
            "samples": case.samples,
            "share": case.share,
            "micro_tokens": case.micro_tokens,
            "steps": STEPS,
            "lr": RATE,
        }
        self.got = json.loads(
            subprocess.run(
                [dump], input=json.dumps(request), capture_output=True, text=True, check=True
            ).stdout
        )
        weights = {
            key: value.double()
            for key, value in safetensors.torch.load_file(
                folder / "model/model.safetensors"
            ).items()
        }
        self.matrix = weights["model.embed_tokens.weight" if case.tied else "lm_head.weight"]
        heads = torch.nn.ModuleList(
            Head(case.blocks, self.matrix, case.shares_head) for _ in range(case.heads)
        )
        matrices = [p for p in heads.parameters() if p.dim() == 2 and p.requires_grad]
        vectors = [p for p in heads.parameters() if p.dim() == 1]
        optimiser = torch.optim.AdamW(
            [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}],
            lr=RATE,
            betas=(0.9, 0.95),
            eps=1e-8,
        )
        self.losses = []
        for _ in range(STEPS):
            optimiser.zero_grad()
            loss, _ = measured(weights, heads, case.samples)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(heads.parameters(), 1.0)
            optimiser.step()
            self.losses.append(loss.item())
        loss, self.ranks = measured(weights, heads, case.samples)
        self.loss = loss.item()
        self.weights = {}
        for i, head in enumerate(heads):
            for j, block in enumerate(head.blocks):
                self.weights |= {
                    f"{i}.{j}.linear.weight": block.weight,
                    f"{i}.{j}.linear.bias": block.bias,
                }
            if not case.shares_head:
                self.weights[f"{i}.{case.blocks}.weight"] = head.out.weight


@pytest.fixture(scope="module")
def trained(program, tmp_path_factory):
    """A case, trained once."""
    return functools.cache(
        lambda name: Trained(
            CASES[name], tmp_path_factory.mktemp("heads"), program("model_synth"),
            program("heads_dump"),
        )
    )


every_case = pytest.mark.parametrize(
    "name", CASES, ids=[name.replace(",", "").replace(" ", "-") for name in CASES]
)
# Sums of a few hundred terms in another order, 2^-53 each, carried over four updates.
TIGHT = 1e-9


@every_case
def test_losses_are_those_of_torch(trained, name):
    case = trained(name)
    got, want = case.got["losses"] + [case.got["loss"]], case.losses + [case.loss]
    assert len(got) == STEPS + 1
    assert max(abs(a - b) for a, b in zip(got, want, strict=True)) <= TIGHT


@every_case
def test_weights_are_those_of_torch(trained, name):
    case = trained(name)
    assert case.got["weights"].keys() == case.weights.keys()
    for key, value in case.weights.items():
        got = torch.tensor(case.got["weights"][key], dtype=torch.float64)
        assert (got - value.detach().flatten()).abs().max() <= TIGHT, key


@every_case
def test_all_weights_move(trained, name):
    case = trained(name)
    for key, value in case.weights.items():
        begin = case.matrix if value.shape == case.matrix.shape else 0
        assert (value.detach() - begin).abs().max() > 1e-3, key


@every_case
def test_targets_have_the_ranks_of_torch(trained, name):
    case = trained(name)
    assert len(case.got["ranks"]) == len(case.ranks)
    for got, want in zip(case.got["ranks"], case.ranks):
        assert len(got) == RANKS
        assert max(abs(a - b) for a, b in zip(got, want)) <= 1e-12


@every_case
def test_the_network_stays_as_it_is(trained, name):
    assert not trained(name).got["network_changed"]
