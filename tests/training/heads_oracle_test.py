"""Training of extra heads beside plain torch: losses and updated weights of a few steps, over a network that stays as it is.

The reference has a Llama, the heads, their targets and their loss of its own, in float64, one sequence at a time.

Usage: heads_oracle_test.py MODEL_SYNTH HEADS_DUMP
"""
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import safetensors.torch
    import torch
    from torch.nn.functional import cross_entropy, silu
except ImportError as missing:
    print(f"[skipped] {missing}")
    sys.exit(77)
torch.set_num_threads(1)
SYNTH, DUMP = sys.argv[1:3]
RANKS = 32
CONFIG = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu", "vocab_size": 37, "hidden_size": 16,
          "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8,
          "max_position_embeddings": 128, "rms_norm_eps": 1e-6, "rope_theta": 10000.0}


def norm(x, weight):
    return weight * x / (x.pow(2).mean(-1, keepdim=True) + CONFIG["rms_norm_eps"]).sqrt()


def rotated(x):  # [heads, n, head_dim]; angles in float32, as everywhere
    half = x.shape[-1] // 2
    turn = torch.arange(x.shape[1]).float()[:, None] * (1.0 / CONFIG["rope_theta"] ** (torch.arange(0, half).float() / half))
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * turn.cos().double() - b * turn.sin().double(), b * turn.cos().double() + a * turn.sin().double()], -1)


def hidden(weights, ids):
    """What the head reads, [n, hidden]."""
    n, dim = len(ids), CONFIG["head_dim"]
    x = weights["model.embed_tokens.weight"][ids]
    for layer in range(CONFIG["num_hidden_layers"]):
        w = {name: weights[f"model.layers.{layer}.{name}.weight"] for name in (
            "input_layernorm", "post_attention_layernorm", "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj",
            "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj")}
        h = norm(x, w["input_layernorm"])
        q, k, v = ((h @ w[f"self_attn.{part}_proj"].T).view(n, -1, dim).transpose(0, 1) for part in "qkv")
        k, v = (t.repeat_interleave(2, 0) for t in (k, v))
        scores = rotated(q) @ rotated(k).transpose(1, 2) / dim ** 0.5
        scores = scores.masked_fill(torch.ones(n, n).triu(1).bool(), -torch.inf)
        x = x + (scores.softmax(-1) @ v).transpose(0, 1).reshape(n, -1) @ w["self_attn.o_proj"].T
        g = norm(x, w["post_attention_layernorm"])
        x = x + (silu(g @ w["mlp.gate_proj"].T) * (g @ w["mlp.up_proj"].T)) @ w["mlp.down_proj"].T
    return norm(x, weights["model.norm.weight"])


class Head(torch.nn.Module):
    def __init__(self, blocks, matrix, shares_head):
        super().__init__()
        self.blocks = torch.nn.ModuleList(torch.nn.Linear(matrix.shape[1], matrix.shape[1], dtype=torch.float64) for _ in range(blocks))
        for parameter in self.blocks.parameters():
            torch.nn.init.zeros_(parameter)
        self.out = torch.nn.Linear(matrix.shape[1], matrix.shape[0], bias=False, dtype=torch.float64)
        self.out.weight.data.copy_(matrix)
        self.out.weight.requires_grad_(not shares_head)  # the network's own stays

    def forward(self, z):
        for block in self.blocks:
            z = z + silu(block(z))
        return self.out(z)


def measured(weights, heads, samples):
    """The loss, and by head the share of targets that are its best guess, its second best, and so on."""
    total, ranks = 0.0, []
    for h, head in enumerate(heads, 1):
        logits, labels = [], []
        for sample in samples:
            ids = torch.tensor(sample["prompt"] + sample["answer"])
            masked = ids.clone()
            masked[:len(sample["prompt"])] = -100
            with torch.no_grad():
                z = hidden(weights, ids)
            # Row i's own head is asked for token i + 1, head h for token i + 1 + h, where both are of the answer.
            asked = masked[1 + h:].where(masked[1:max(1, len(ids) - h)] != -100, -100)
            logits.append(head(z[:len(asked)]))
            labels.append(asked)
        logits, labels = torch.cat(logits), torch.cat(labels)
        total = total + 0.8 ** h * cross_entropy(logits, labels, ignore_index=-100)
        asked = labels != -100
        guesses = logits[asked].argsort(dim=-1, descending=True, stable=True)[:, :RANKS]
        ranks.append((guesses == labels[asked].unsqueeze(-1)).double().mean(0).tolist())
    return total, ranks


def compare(folder, name, shape, tied, samples, share, micro_tokens, shares_head=False):
    config = folder / "config.json"
    config.write_text(json.dumps(CONFIG | {"tie_word_embeddings": tied}))
    subprocess.run([SYNTH, str(config), "3", str(folder / name)], check=True)
    request = {"model": str(folder / name), "heads": shape[0], "blocks": shape[1], "shares_head": shares_head, "samples": samples, "share": share,
               "micro_tokens": micro_tokens, "steps": 4, "lr": 3e-3}
    got = json.loads(subprocess.run([DUMP], input=json.dumps(request), capture_output=True, text=True, check=True).stdout)

    weights = {key: value.double() for key, value in safetensors.torch.load_file(folder / name / "model.safetensors").items()}
    matrix = weights["model.embed_tokens.weight" if tied else "lm_head.weight"]
    heads = torch.nn.ModuleList(Head(shape[1], matrix, shares_head) for _ in range(shape[0]))
    matrices = [p for p in heads.parameters() if p.dim() == 2 and p.requires_grad]
    vectors = [p for p in heads.parameters() if p.dim() == 1]
    optimiser = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}],
                                  lr=request["lr"], betas=(0.9, 0.95), eps=1e-8)
    losses = []
    for _ in range(request["steps"]):
        optimiser.zero_grad()
        loss, _ = measured(weights, heads, samples)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(heads.parameters(), 1.0)
        optimiser.step()
        losses.append(loss.item())
    loss, ranks = measured(weights, heads, samples)
    want = {}
    for i, head in enumerate(heads):
        for j, block in enumerate(head.blocks):
            want |= {f"{i}.{j}.linear.weight": block.weight, f"{i}.{j}.linear.bias": block.bias}
        if not shares_head:
            want[f"{i}.{shape[1]}.weight"] = head.out.weight
    # Sums of a few hundred terms in another order, 2^-53 each, carried over four updates.
    worst = max(abs(a - b) for a, b in zip(got["losses"] + [got["loss"]], losses + [loss.item()]))
    far = max((torch.tensor(got["weights"][key], dtype=torch.float64) - value.detach().flatten()).abs().max().item() for key, value in want.items())
    moved = min((value.detach() - (matrix if value.shape == matrix.shape else 0)).abs().max().item() for value in want.values())
    good = (got["weights"].keys() == want.keys() and len(got["losses"]) == 4 and worst <= 1e-9 and far <= 1e-9 and moved > 1e-3
            and len(got["ranks"]) == len(ranks) and all(len(g) == RANKS and max(abs(a - b) for a, b in zip(g, w)) <= 1e-12 for g, w in zip(got["ranks"], ranks)) and not got["network_changed"])
    print(f"{'ok     ' if good else 'FAILED '} {name}: losses {losses[0]:.4f} to {loss.item():.4f} within {worst:.2g}, weights within {far:.2g}, "
          f"right {[head[:3] for head in ranks]} {[head[:3] for head in got['ranks']]}, network {'changed' if got['network_changed'] else 'as it was'}")
    return good


def main():
    random = torch.Generator().manual_seed(5)
    ids = lambda count: torch.randint(0, CONFIG["vocab_size"], (count,), generator=random).tolist()
    apart = [{"prompt": ids(p), "answer": ids(a)} for p, a in ((5, 9), (3, 1), (7, 2), (1, 4), (4, 12))]
    beginning = ids(34)
    alike = [{"prompt": beginning + ids(p), "answer": ids(a)} for p, a in ((2, 6), (1, 3), (3, 8))]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        good = [compare(folder, "one", (2, 1), True, apart, 1, 1000),
                compare(folder, "several", (4, 2), False, apart, 1, 12),
                compare(folder, "shared", (3, 1), False, alike, 3, 1000),
                compare(folder, "own head", (3, 1), True, apart, 1, 30, shares_head=True),
                compare(folder, "own head, two blocks", (2, 2), False, alike, 3, 1000, shares_head=True),
                compare(folder, "bare", (1, 0), True, apart + alike, 2, 40)]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
