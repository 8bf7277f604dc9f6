"""The network beside Hugging Face transformers: logits, caches, masks, warpers, synthetic
checkpoints.

Truth is transformers in float64. The tolerance in float32 (and bf16) is three times the error that
transformers itself has in that type, both as the largest absolute error over all logits of a
model's cases. In float64 our norms and softmax are float64 too, where transformers' are float32;
the reference for it is transformers with these two replaced, and the tolerance 1e-10 of the largest
logit.
"""

import dataclasses
import functools
import importlib
import json
import os
import subprocess

import pytest
from harness import skip

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"  # of bitsandbytes
try:
    import numpy as np
    import torch
    import transformers
    from published_forms import internlm2, minicpm, published
    from transformers import AutoConfig, AutoModelForCausalLM
    from transformers.generation.logits_process import (
        TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper,
    )
except ImportError as missing:
    skip(missing)
transformers.logging.set_verbosity_error()
torch.set_num_threads(1)


# References --------------------------------------------------------------------------------------


def exact_norm(self, x):
    return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.variance_epsilon))


def exact_norm_of_gemma(self, x):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * (1 + self.weight)


def exact_router(self, x):
    logits = torch.nn.functional.linear(x.reshape(-1, self.hidden_dim), self.weight)
    shares, chosen = torch.topk(torch.softmax(logits, -1), self.top_k, dim=-1)
    normalised = getattr(self, "norm_topk_prob", True)  # Mixtral: always
    return logits, shares / shares.sum(-1, keepdim=True) if normalised else shares, chosen


def exact_attention(
    module, query, key, value, attention_mask, scaling, dropout=0.0, softcap=None, **_
):
    groups = getattr(module, "num_key_value_groups", 1)
    key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
    scores = query @ key.transpose(2, 3) * scaling
    if softcap is not None:
        scores = torch.tanh(scores / softcap) * softcap
    weights = torch.softmax(scores + attention_mask, -1)
    return (weights @ value).transpose(1, 2).contiguous(), weights


def exact_norm_of_cohere(self, x):
    centred = x - x.mean(-1, keepdim=True)
    deviation = torch.rsqrt(centred.pow(2).mean(-1, keepdim=True) + self.variance_epsilon)
    return self.weight * centred * deviation


def exact_rotation_of_cohere(q, k, cos, sin, unsqueeze_dim=1, **_):
    """transformers' own in the type of the network, instead of float32."""
    cos, sin = cos.unsqueeze(unsqueeze_dim), sin.unsqueeze(unsqueeze_dim)
    turned = lambda x: torch.stack((-x[..., 1::2], x[..., 0::2]), -1).flatten(-2)
    return q * cos + turned(q) * sin, k * cos + turned(k) * sin


def exact_rotation_of_ernie(q, k, cos, sin, unsqueeze_dim=1):
    """The same, where each cosine is not yet there twice in a row."""
    half = cos.shape[-1] // 2
    cos, sin = (t[..., :half].repeat_interleave(2, -1) for t in (cos, sin))
    return exact_rotation_of_cohere(q, k, cos, sin, unsqueeze_dim)


FILES_OF_FAMILIES = [
    importlib.import_module(f"transformers.models.{name}.modeling_{name}")
    for name in (
        "cohere", "cohere2", "ernie4_5", "falcon", "gpt2", "gpt_neox", "gemma2", "gemma3", "glm", "glm4", "granite", "llama", "mistral", "mixtral",
        "gpt_oss", "olmo2", "olmoe", "phi3", "qwen2", "phi", "qwen2_moe", "qwen3", "qwen3_moe", "smollm3", "stablelm", "starcoder2",
    )
]  # internlm3 is llama in transformers; minicpm and internlm2 are not there


class Exact:
    """transformers with norms and softmax in the type of the network."""

    def __enter__(self):
        self.saved = []
        replaced = {"RMSNorm": 0, "TopKRouter": 0}
        for file in FILES_OF_FAMILIES:
            # Falcon's softmax, and gpt-oss's with its router, are in the type of the network.
            own = file.__name__.endswith(("falcon", "gpt_oss"))
            if not own:
                self.replace(file, "eager_attention_forward", exact_attention)
            family = file.__name__.rsplit("_", 1)[-1]
            for name, value in list(vars(file).items()):
                if name.endswith("RMSNorm") and value.__module__ == file.__name__:
                    gemma = family.startswith("gemma")
                    self.replace(value, "forward", exact_norm_of_gemma if gemma else exact_norm)
                    replaced["RMSNorm"] += 1
                if name.endswith("TopKRouter") and not own:
                    self.replace(value, "forward", exact_router)
                    replaced["TopKRouter"] += 1
                if name in ("CohereLayerNorm", "Cohere2LayerNorm"):
                    self.replace(value, "forward", exact_norm_of_cohere)
            if "ernie" in file.__name__:
                self.replace(file, "apply_rotary_pos_emb", exact_rotation_of_ernie)
            if "cohere" in file.__name__:
                self.replace(file, "apply_rotary_pos_emb", exact_rotation_of_cohere)
        # Eight families have torch's layer norm.
        assert replaced == {"RMSNorm": len(FILES_OF_FAMILIES) - 8, "TopKRouter": 4}

    def replace(self, place, name, exact):
        self.saved.append((place, name, getattr(place, name)))
        setattr(place, name, exact)

    def __exit__(self, *_):
        for place, name, value in self.saved:
            setattr(place, name, value)


def reference(model, rows, visible):
    """Logits [n, vocab] of one pass over all rows, each seeing the rows of `visible`, in layers
    with a sliding window those less than so many positions back.
    """
    n = len(rows)
    window = getattr(model.config, "sliding_window", None)
    full = torch.full((n, n), torch.finfo(model.dtype).min, dtype=model.dtype)
    sliding = full.clone()
    for i, seen in enumerate(visible):
        full[i, seen] = 0.0
        sliding[i, [k for k in seen if not window or rows[i][1][0] - rows[k][1][0] < window]] = 0.0
    masks = full[None, None]
    if window and model.config.model_type in ("mistral", "mixtral", "phi3"):  # in all layers
        masks = sliding[None, None]
    elif window:
        masks = {"full_attention": masks, "sliding_attention": sliding[None, None]}
    with torch.no_grad():
        out = model(
            torch.tensor([[t for t, _ in rows]]),
            attention_mask=masks,
            position_ids=torch.tensor([[label[0] for _, label in rows]]),
            use_cache=False,
        )
    return out.logits[0].double().numpy()


# Cases: rows are (token, (position, order, segment, rank))
# -----------------------------------------


def sees(q, k, table):
    return k[2] in table[q[2]] and k[1] <= q[1] and k[3] <= q[3]


def visible_rows(rows):
    """By row, the rows that it sees."""
    return [[k for k, (_, kl) in enumerate(rows) if sees(l, kl, TABLE)] for _, l in rows]


class Script:
    """Builds a sequence's actions, and with a rule of its own what every row saw when it was
    fed.
    """

    def __init__(self, table):
        self.table, self.actions, self.rows, self.visible, self.labels, self.alive, self.steps = (
            table,
            [],
            [],
            [],
            [],
            [],
            [],
        )

    def feed(self, rows):
        self.actions.append(
            {"feed": {"tokens": [t for t, _ in rows], "labels": [label for _, label in rows]}}
        )
        begin = len(self.rows)
        self.rows += rows
        self.labels += [label for _, label in rows]
        self.alive += [True] * len(rows)
        self.visible += [
            [
                k
                for k in range(len(self.rows))
                if self.alive[k] and sees(label, self.labels[k], self.table)
            ]
            for _, label in rows
        ]
        self.steps.append((begin, len(self.rows)))
        return self

    def keep(self, first, rows):
        self.actions.append({"keep": [first, rows]})
        for i in range(first, len(self.rows)):
            self.alive[i] = self.alive[i] and i in rows
        return self

    def drop(self, rows):
        self.actions.append({"drop": rows})
        for i in rows:
            self.alive[i] = False
        return self

    def relabel(self, row, label):
        self.actions.append({"relabel": [row, label]})
        self.labels[row] = label
        return self

    def fork(self):
        self.actions.append({"fork": True})
        return self


def causal(rng, vocab, n, start=0):
    return [(int(rng.integers(vocab)), (start + i, start + i, 0, 0)) for i in range(n)]


def labelled(rng, vocab, labels):
    return [(int(rng.integers(vocab)), tuple(label)) for label in labels]


# Segment 0 is the trunk; 1 and 2 see it, 3 sees 1 and the trunk, 4 sees all, 5 sees itself alone.
TABLE = {0: {0}, 1: {0, 1}, 2: {0, 2}, 3: {0, 1, 3}, 4: {0, 1, 2, 3, 4}, 5: {5}}


def mixed(rng, vocab):
    labels = [(i, i, 0, 0) for i in range(12)]
    labels += [(12 + i, 12 + i, 1, i + 1) for i in range(5)]  # ranks hide a group's tail
    labels += [(12 + i, 12 + i, 2, 0) for i in range(5)]  # same positions as segment 1
    labels += [(40 + i, 100 + 3 * i, 3, 9) for i in range(4)]  # gaps
    labels += [(60 + i, 200 - i, 4, 9) for i in range(6)]  # descending order: sees later arrivals
    labels += [(i, i, 5, 0) for i in range(3)]
    return labelled(rng, vocab, labels)


def dense(rng, vocab):
    """Branches without gaps: what a sliding window allows."""
    labels = [(i, i, 0, 0) for i in range(30)]
    labels += [(30 + i, 30 + i, 1, 0) for i in range(9)] + [
        (30 + i, 30 + i, 2, 0) for i in range(4)
    ]
    labels += [(39 + i, 39 + i, 3, 0) for i in range(12)]
    return labelled(rng, vocab, labels)


def dense_scripts(rng, vocab):
    decode = Script(TABLE).feed(causal(rng, vocab, 23))
    for i in range(12):
        decode.feed(causal(rng, vocab, 1, 23 + i))
    rows = dense(rng, vocab)
    stepwise = Script(TABLE).feed(rows[:30])
    for i in range(30, len(rows), 5):
        stepwise.feed(rows[i : i + 5])
    guesses = Script(TABLE).feed(causal(rng, vocab, 20))
    kept = fed = 20
    for step in range(30):  # guesses of which the first one or two stay
        guesses.feed(causal(rng, vocab, 4, kept))
        keep = 1 + step % 2
        guesses.keep(fed, list(range(fed, fed + keep)))
        kept, fed = kept + keep, fed + 4
        if step == 11:
            guesses.fork()
    return {
        "decode": [decode],
        "masked steps": [stepwise],
        "dropped": [guesses],
        "packed": [decode, stepwise, guesses],
    }


def long_scripts(rng, vocab, positions):
    """A text that goes up to the last position, in one prefill and then rows by one and by
    eight.
    """
    long = Script(TABLE).feed(causal(rng, vocab, positions - 12))
    for i in range(4):
        long.feed(causal(rng, vocab, 1, positions - 12 + i))
    long.feed(causal(rng, vocab, 8, positions - 8))
    return {"to the last position": [long]}


def scripts(rng, vocab):
    """name -> list of sequences that run together."""
    decode = Script(TABLE).feed(causal(rng, vocab, 23))
    for i in range(9):
        decode.feed(causal(rng, vocab, 1, 23 + i))
    rows = mixed(rng, vocab)
    order = (
        list(range(12))
        + [12, 17, 22, 13, 18, 14, 19, 15, 16, 20, 21, 23, 24, 25]
        + list(range(26, 35))
    )
    stepwise = Script(TABLE).feed([rows[i] for i in order[:12]])
    for i in range(12, 35, 4):
        stepwise.feed([rows[j] for j in order[i : i + 4]])

    guesses = Script(TABLE).feed(causal(rng, vocab, 10))
    kept, fed = 10, 10
    for step in range(
        30
    ):  # guesses of which two stay, the others in the middle: dead slots, then compaction
        guesses.feed(labelled(rng, vocab, [(kept + j, kept + j, 1 + j % 2, 0) for j in range(5)]))
        guesses.keep(fed, [fed + step % 3, fed + 4])
        guesses.relabel(fed + step % 3, (kept + step % 3, kept, 0, 0))
        guesses.relabel(fed + 4, (kept + 4, kept + 1, 0, 0))
        kept, fed = kept + 2, fed + 5
        if step == 11:
            guesses.fork()
        if step == 20:
            guesses.drop(list(range(0, 9)) + [10 + 5 * 3, 10 + 5 * 7 + 4])
    truncated = (
        Script(TABLE)
        .feed(causal(rng, vocab, 18))
        .keep(11, [])
        .feed(causal(rng, vocab, 4, 11))
        .fork()
    )
    truncated.feed(causal(rng, vocab, 3, 15)).drop([25 - 1]).feed(causal(rng, vocab, 2, 17))
    return {
        "decode": [decode],
        "masked steps": [stepwise],
        "dropped and relabelled": [guesses],
        "truncated": [truncated],
        "packed": [decode, stepwise, guesses, truncated],
    }


SEEN = [sorted(TABLE[s] - {s}) for s in range(1, 6)]  # TABLE, as model_dump takes it


@pytest.fixture(scope="module")
def dump(model_dump):
    """The values of a checkpoint's cases."""
    return lambda folder, dtype, cases: np.frombuffer(model_dump(folder, dtype, cases, SEEN))


def worst(got, want):
    error = np.abs(got - want)
    at = np.unravel_index(error.argmax(), error.shape)
    return error[at], f"worst at row {at[0]}, id {at[1]}: {got[at]:.6f}, expected {want[at]:.6f}"


def cases_of(vocab, seed, kind):
    rng = np.random.default_rng(seed)
    if kind == "window":
        return [
            ("whole, causal", causal(rng, vocab, 70)),
            ("whole, branches", dense(rng, vocab)),
        ], dense_scripts(rng, vocab)
    if kind is not None:
        together = {**scripts(rng, vocab), **long_scripts(rng, vocab, kind)}
        return [("whole, masked", mixed(rng, vocab))], {
            name: together[name]
            for name in ("decode", "masked steps", "dropped and relabelled", "to the last position")
        }
    whole = [("whole, causal", causal(rng, vocab, 70)), ("whole, masked", mixed(rng, vocab))]
    return whole, scripts(rng, vocab)


SHARPENED = ("q_proj", "k_proj", "qkv_proj", "query_key_value", "c_attn")


def sharpened(model, seed):
    torch.manual_seed(seed)
    gemma = model.config.model_type.startswith("gemma")
    with torch.no_grad():
        for name, p in model.named_parameters():
            if p.dim() == 2 and not name.endswith("bias"):
                p.normal_(
                    0,
                    (
                        (p.shape[1] ** -0.5 if gemma else 1.0)  # Gemma scales it
                        if "embed" in name
                        else (
                            3.0
                            if any(part in name for part in SHARPENED)
                            else 1.0
                        )
                        / p.shape[1] ** 0.5
                    ),
                )
            elif "sinks" in name:
                p.uniform_(10, 50)  # as large as the largest scores
            elif "norm" in name:
                p.uniform_(-0.5, 0.5) if gemma else p.uniform_(0.5, 1.5)
            else:
                p.normal_(0, 0.3)
    return model


def loaded(folder, dtype):
    return AutoModelForCausalLM.from_pretrained(
        folder, dtype=dtype, attn_implementation="eager", experts_implementation="eager"
    ).eval()


class Compared:
    """A checkpoint with its cases, and what transformers computes for them: [(case, logits)]."""

    def __init__(self, network, folder, dump):
        self.network, self.folder, self.dump = network, folder, dump
        self.own = network.own(folder)
        self.whole, self.together = cases_of(network.vocabulary, 7, network.kind)
        self.cases = [
            {"whole": {"tokens": [t for t, _ in rows], "labels": [l for _, l in rows]}}
            for _, rows in self.whole
        ]
        self.cases += [
            {"sequences": [s.actions for s in sequences]} for sequences in self.together.values()
        ]

    def computed(self, model):
        """By a model of transformers."""
        alone = {}
        for sequences in self.together.values():
            for s in sequences:
                if id(s) not in alone:
                    alone[id(s)] = reference(model, s.rows, s.visible)
        out = [(name, reference(model, rows, visible_rows(rows))) for name, rows in self.whole]
        for name, sequences in self.together.items():
            # The n-th steps of the sequences, one after another: as model_dump writes them.
            parts = [
                alone[id(s)][slice(*s.steps[i])]
                for i in range(max(len(s.steps) for s in sequences))
                for s in sequences
                if i < len(s.steps)
            ]
            out.append((name, np.concatenate(parts)))
        return out

    @functools.cached_property
    def double(self):
        return loaded(self.folder, torch.float64)

    @functools.cached_property
    def truth(self):
        return self.computed(self.double)

    @functools.cached_property
    def exact(self):
        with Exact():
            return self.computed(self.double)

    def ours(self, dtype):
        """[(case, logits, truth)] in a type."""
        expected = self.exact if dtype == "fp64" else self.truth
        got = self.dump(self.own, dtype, self.cases)
        assert got.size == sum(t.size for _, t in expected)
        pieces, at = [], 0
        for name, t in expected:
            pieces.append((name, got[at : at + t.size].reshape(t.shape), t))
            at += t.size
        return pieces

    def check_error(self, dtype, torch_type):
        """At most three times the error of transformers."""
        theirs = self.computed(loaded(self.folder, torch_type))
        bound = 3 * max(np.abs(a - b).max() for (_, a), (_, b) in zip(theirs, self.truth))
        for name, got, want in self.ours(dtype):
            error, where = worst(got, want)
            assert error <= bound, f"{name}: {where}"


@dataclasses.dataclass
class Network:
    """How a checkpoint is made."""

    label: str
    make: object  # a network of transformers
    seed: int
    dtype: torch.dtype = torch.float32  # of the file
    stored: dict = dataclasses.field(default_factory=dict)  # options of save_pretrained
    rewrite: object = None  # changes config.json to the form before transformers 5
    vocabulary: int = 131
    kind: object = None  # of cases_of

    def save(self, folder):
        sharpened(self.make(), self.seed).to(self.dtype).save_pretrained(folder, **self.stored)
        if self.rewrite:
            file = folder / "config.json"
            config = json.loads(file.read_text())
            del config["rope_parameters"]
            file.write_text(json.dumps({**config, **self.rewrite}))

    def own(self, folder):
        """The folder that the program reads."""
        return folder


class Published(Network):
    """A family that transformers does not have: a network of a family of the same arithmetic, which
    transformers computes, in the form that the family publishes (`rewrite`, of published_forms).
    """

    def save(self, folder):
        sharpened(self.make(), self.seed).to(self.dtype).save_pretrained(folder)

    def own(self, folder):
        return published(folder, folder.with_name("published"), self.rewrite)


class Synthetic(Network):
    """A checkpoint that model_synth makes."""

    def save(self, folder):
        config = {
            "model_type": "qwen3",
            "vocab_size": 300,
            "hidden_size": 64,
            "intermediate_size": 96,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "head_dim": 16,
            "max_position_embeddings": 512,
            "eos_token_id": [1, 2],
            "bos_token_id": 1,
            "rope_parameters": {"rope_theta": 20000, "rope_type": "default"},
        }
        file = folder.with_suffix(".json")
        file.write_text(json.dumps(config))
        subprocess.run([self.make, file, "5", folder], check=True)


def made(family, **options):
    """A network of transformers."""
    return AutoModelForCausalLM.from_config(AutoConfig.for_model(family, **options))


def plain_networks():
    shape = dict(
        vocab_size=211, hidden_size=48, intermediate_size=80, num_hidden_layers=3,
        max_position_embeddings=512,
    )
    net = lambda family, **o: made(family, **{**shape, **o})
    maker = lambda family, **fixed: lambda **o: net(family, **{**fixed, **o})
    llama, qwen3, qwen2, mistral = map(maker, ("llama", "qwen3", "qwen2", "mistral"))
    phi3 = maker("phi3", pad_token_id=0, eos_token_id=2)
    olmo2 = maker("olmo2", eos_token_id=2)
    gemma2, gemma3 = maker("gemma2"), maker("gemma3_text")
    moe = maker("qwen3_moe", moe_intermediate_size=40, num_attention_heads=4)
    gpt2 = lambda **o: made(
        "gpt2", vocab_size=211, n_embd=48, n_inner=80, n_layer=3, n_head=4, n_positions=512, **o
    )
    oss = dict(
        num_attention_heads=4, sliding_window=400, num_local_experts=5, num_experts_per_tok=2
    )
    four = dict(num_attention_heads=4, num_key_value_heads=2, pad_token_id=0, eos_token_id=2)
    nets = {
        "llama tied, fp32 file": (
            lambda: llama(num_attention_heads=4, tie_word_embeddings=True),
            torch.float32,
            {},
        ),
        "llama GQA untied, bf16 file": (
            lambda: llama(num_attention_heads=6, num_key_value_heads=2, rope_theta=500000.0),
            torch.bfloat16,
            {},
        ),
        "llama biases, fp16 file": (
            lambda: llama(
                num_attention_heads=4, num_key_value_heads=1, attention_bias=True, mlp_bias=True,
                head_dim=20,
            ),
            torch.float16,
            {},
        ),
        "qwen3 tied, bf16 file": (
            lambda: qwen3(
                num_attention_heads=4, num_key_value_heads=2, head_dim=32, tie_word_embeddings=True,
                rms_norm_eps=1e-5,
            ),
            torch.bfloat16,
            {},
        ),
        "qwen3 sharded, fp32 files": (
            lambda: qwen3(
                num_attention_heads=4, num_key_value_heads=4, head_dim=16, attention_bias=True
            ),
            torch.float32,
            {"max_shard_size": "60KB"},
        ),
        "qwen2 tied, bf16 file": (
            lambda: qwen2(num_attention_heads=4, num_key_value_heads=2, tie_word_embeddings=True),
            torch.bfloat16,
            {},
        ),
        "qwen2 untied, window not used, fp32 file": (
            lambda: qwen2(
                num_attention_heads=6, num_key_value_heads=6, sliding_window=9,
                use_sliding_window=False, max_window_layers=1,
            ),
            torch.float32,
            {},
        ),
        "mistral GQA, no window, bf16 file": (
            lambda: mistral(
                num_attention_heads=6, num_key_value_heads=2, head_dim=12, sliding_window=None,
                rope_theta=1e6,
            ),
            torch.bfloat16,
            {},
        ),
        "phi3 tied, heads turn in part, bf16 file": (
            lambda: phi3(
                num_attention_heads=3, num_key_value_heads=1, tie_word_embeddings=True,
                partial_rotary_factor=0.75,
            ),
            torch.bfloat16,
            {},
        ),
        "phi3 sharded, fp32 files": (
            lambda: phi3(num_attention_heads=4, num_key_value_heads=4),
            torch.float32,
            {"max_shard_size": "60KB"},
        ),
        "olmo2 tied, GQA, biases, bf16 file": (
            lambda: olmo2(
                num_attention_heads=4, num_key_value_heads=2, tie_word_embeddings=True,
                attention_bias=True,
            ),
            torch.bfloat16,
            {},
        ),
        "olmo2 untied, fp32 file": (
            lambda: olmo2(num_attention_heads=6, num_key_value_heads=6, rope_theta=500000.0),
            torch.float32,
            {},
        ),
        "gemma2 tied, GQA, caps that bite, bf16 file": (
            lambda: gemma2(
                num_attention_heads=4, num_key_value_heads=2, head_dim=20, query_pre_attn_scalar=30,
                attn_logit_softcapping=4.0, final_logit_softcapping=2.0,
            ),
            torch.bfloat16,
            {},
        ),
        "gemma2 untied, biases, no caps, fp32 file": (
            lambda: gemma2(
                num_attention_heads=4, num_key_value_heads=4, head_dim=16, attention_bias=True,
                tie_word_embeddings=False, attn_logit_softcapping=None,
                final_logit_softcapping=None,
            ),
            torch.float32,
            {},
        ),
        "gemma3 tied, GQA, bf16 file": (
            lambda: gemma3(
                num_attention_heads=4, num_key_value_heads=1, head_dim=20,
                query_pre_attn_scalar=30,
                layer_types=["sliding_attention", "full_attention", "sliding_attention"],
            ),
            torch.bfloat16,
            {},
        ),
        "qwen3_moe GQA, shares of a sum, bf16 file": (
            lambda: moe(
                num_key_value_heads=2, num_experts=6, num_experts_per_tok=2, norm_topk_prob=True
            ),
            torch.bfloat16,
            {},
        ),
        "qwen3_moe tied, one layer dense, fp32 file": (
            lambda: moe(
                num_key_value_heads=4, head_dim=16, num_experts=5, num_experts_per_tok=3,
                mlp_only_layers=[1], tie_word_embeddings=True, attention_bias=True,
            ),
            torch.float32,
            {},
        ),
        "mixtral GQA, bf16 file": (
            lambda: net("mixtral", **four, num_local_experts=5),
            torch.bfloat16,
            {},
        ),
        "olmoe, fp32 file": (
            lambda: net("olmoe", **four, num_experts=7, num_experts_per_tok=3),
            torch.float32,
            {},
        ),
        "olmoe biases, shares of a sum, bf16 file": (
            lambda: net(
                "olmoe", **four, num_experts=4, num_experts_per_tok=2, norm_topk_prob=True,
                attention_bias=True,
            ),
            torch.bfloat16,
            {},
        ),
        "qwen2_moe, one layer dense, bf16 file": (
            lambda: net(
                "qwen2_moe", **four, num_experts=5, num_experts_per_tok=2, mlp_only_layers=[1],
                moe_intermediate_size=40, shared_expert_intermediate_size=56,
            ),
            torch.bfloat16,
            {},
        ),
        "qwen2_moe no biases, each second layer, fp32 file": (
            lambda: net(
                "qwen2_moe", **four, num_experts=4, qkv_bias=False, decoder_sparse_step=2,
                moe_intermediate_size=24, shared_expert_intermediate_size=100,
            ),
            torch.float32,
            {},
        ),
        "granite tied, multipliers, bf16 file": (
            lambda: net(
                "granite", **four, tie_word_embeddings=True, embedding_multiplier=3.0,
                residual_multiplier=0.4, attention_multiplier=0.15, logits_scaling=5.0,
            ),
            torch.bfloat16,
            {},
        ),
        "granite biases, fp32 file": (
            lambda: net("granite", **four, attention_bias=True, mlp_bias=True),
            torch.float32,
            {},
        ),
        "internlm3 biases, bf16 file": (
            lambda: net("internlm3", **four, head_dim=20, attention_bias=True, mlp_bias=True),
            torch.bfloat16,
            {},
        ),
        "smollm3 tied, bf16 file": (
            lambda: net("smollm3", **four, no_rope_layers=[1, 0, 1]),
            torch.bfloat16,
            {},
        ),
        "smollm3 each second layer, biases, fp32 file": (
            lambda: net(
                "smollm3", **four, no_rope_layer_interval=2, attention_bias=True, mlp_bias=True,
                tie_word_embeddings=False,
            ),
            torch.float32,
            {},
        ),
        "stablelm, bf16 file": (
            lambda: net("stablelm", **{**four, "num_attention_heads": 2}), torch.bfloat16, {},
        ),
        "stablelm biases, parallel sublayers, fp32 file": (
            lambda: net(
                "stablelm", **four, use_qkv_bias=True, use_parallel_residual=True,
                partial_rotary_factor=0.5,
            ),
            torch.float32,
            {},
        ),
        "starcoder2 tied, bf16 file": (lambda: net("starcoder2", **four), torch.bfloat16, {}),
        "starcoder2 untied, no biases, fp32 file": (
            lambda: net("starcoder2", **four, use_bias=False, tie_word_embeddings=False),
            torch.float32,
            {},
        ),
        "phi, bf16 file": (
            lambda: net("phi", **{**four, "num_attention_heads": 3, "num_key_value_heads": 3}),
            torch.bfloat16,
            {},
        ),
        "phi GQA, fp32 file": (lambda: net("phi", **four), torch.float32, {}),
        "cohere tied, bf16 file": (lambda: net("cohere", **four), torch.bfloat16, {}),
        "cohere2 untied, biases, bf16 file": (
            lambda: net(
                "cohere2", **four, attention_bias=True, tie_word_embeddings=False, logit_scale=0.3,
                layer_types=["sliding_attention", "full_attention", "sliding_attention"],
            ),
            torch.bfloat16,
            {},
        ),
        "ernie4_5 tied, bf16 file": (
            lambda: net("ernie4_5", **four, head_dim=20), torch.bfloat16, {},
        ),
        "ernie4_5 untied, biases, fp32 file": (
            lambda: net(
                "ernie4_5", **four, head_dim=16, use_bias=True, tie_word_embeddings=False
            ),
            torch.float32,
            {},
        ),
        "glm, bf16 file": (lambda: net("glm", **four, head_dim=24), torch.bfloat16, {}),
        "glm4, bf16 file": (lambda: net("glm4", **four, head_dim=24), torch.bfloat16, {}),
        "glm4 no biases, other share, fp32 file": (
            lambda: net(
                "glm4", **four, head_dim=32, attention_bias=False,
                rope_parameters={
                    "rope_type": "default", "rope_theta": 500.0, "partial_rotary_factor": 0.75,
                },
            ),
            torch.float32,
            {},
        ),
        "gpt_neox, bf16 file": (
            lambda: net("gpt_neox", num_attention_heads=3), torch.bfloat16, {},
        ),
        "gpt_neox one sublayer after the other, no biases, fp32 file": (
            lambda: net(
                "gpt_neox", num_attention_heads=4, use_parallel_residual=False,
                attention_bias=False, hidden_act="gelu_fast",
                rope_parameters={
                    "rope_type": "default", "rope_theta": 500.0, "partial_rotary_factor": 0.5,
                },
            ),
            torch.float32,
            {},
        ),
        "gpt2 tied, bf16 file": (lambda: gpt2(), torch.bfloat16, {}),
        "gpt2 untied, exact gelu, fp32 file": (
            lambda: gpt2(activation_function="gelu", tie_word_embeddings=False), torch.float32, {},
        ),
        "falcon one key head, bf16 file": (
            lambda: net("falcon", num_attention_heads=3, ffn_hidden_size=80), torch.bfloat16, {},
        ),
        "falcon GQA, two norms, fp32 file": (
            lambda: net(
                "falcon", num_attention_heads=4, num_kv_heads=2, new_decoder_architecture=True,
            ),
            torch.float32,
            {},
        ),
        "falcon GQA, one norm, biases, bf16 file": (
            lambda: net(
                "falcon", num_attention_heads=6, num_kv_heads=2, new_decoder_architecture=True,
                num_ln_in_parallel_attn=1, bias=True, tie_word_embeddings=False,
                ffn_hidden_size=80,
            ),
            torch.bfloat16,
            {},
        ),
        "falcon one sublayer after the other, biases, fp32 file": (
            lambda: net(
                "falcon", num_attention_heads=3, multi_query=False, parallel_attn=False, bias=True,
            ),
            torch.float32,
            {},
        ),
        "gpt_oss GQA, limits that bite, bf16 file": (
            # All experts for each row, so that rounding chooses no others.
            lambda: net(
                "gpt_oss", **{**oss, "num_experts_per_tok": 5}, num_key_value_heads=2, head_dim=20,
                swiglu_limit=1.5,
            ),
            torch.bfloat16,
            {},
        ),
        "gpt_oss no biases, other slope, sharded, fp32 file": (
            lambda: net(
                "gpt_oss", **oss, num_key_value_heads=4, head_dim=16, attention_bias=False,
                swiglu_alpha=0.8, tie_word_embeddings=True,
                rope_parameters={"rope_type": "default", "rope_theta": 500.0},
            ),
            torch.float32,
            {"max_shard_size": "60KB"},
        ),
        "gemma3 untied, final cap, fp32 file": (
            lambda: gemma3(
                num_attention_heads=6, num_key_value_heads=6, head_dim=16,
                tie_word_embeddings=False, final_logit_softcapping=3.0,
            ),
            torch.float32,
            {},
        ),
    }
    for i, (label, (make, dtype, stored)) in enumerate(nets.items()):
        yield Network(label, make, i, dtype, stored, vocabulary=shape["vocab_size"])
    scales = dict(
        embedding_multiplier=12.0, residual_multiplier=1.4 / 3**0.5, logits_scaling=3.0,
        attention_multiplier=12**-0.5,
    )
    published = {
        "minicpm tied, bf16 file": (
            lambda: net("granite", **four, **scales, tie_word_embeddings=True),
            torch.bfloat16,
            minicpm,
        ),
        "minicpm GQA, biases, fp32 file": (
            lambda: net("granite", **four, **scales, attention_bias=True), torch.float32, minicpm,
        ),
        "internlm2 GQA, bf16 file": (
            lambda: llama(num_attention_heads=6, num_key_value_heads=2), torch.bfloat16, internlm2,
        ),
        "internlm2 biases, fp32 file": (
            lambda: llama(num_attention_heads=4, rope_theta=5e5, attention_bias=True),
            torch.float32,
            internlm2,
        ),
    }
    for i, (label, (make, dtype, rewrite)) in enumerate(published.items(), 80):
        yield Published(
            label, make, i, dtype, rewrite=rewrite, vocabulary=shape["vocab_size"]
        )


def scaled_networks():
    """Each RoPE scaling in both forms, and sliding windows."""
    shape = dict(
        vocab_size=131, hidden_size=48, intermediate_size=80, num_hidden_layers=2,
        num_attention_heads=3, head_dim=32,
    )
    half = [1.0 + i / 8 for i in range(16)]
    ropes = {
        "linear": {"factor": 3.0},
        "llama3": {
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 96,
        },
        "yarn": {"factor": 4.0, "original_max_position_embeddings": 128},
        "yarn, all options": {
            "factor": None,
            "original_max_position_embeddings": 100,
            "beta_fast": 24,
            "beta_slow": 2,
            "mscale": 0.7,
            "mscale_all_dim": 1.2,
            "truncate": False,
        },
        "yarn, attention factor": {
            "factor": 4.0,
            "original_max_position_embeddings": 128,
            "attention_factor": 0.8,
        },
        "dynamic": {"factor": 2.3},
        "longrope": {
            "original_max_position_embeddings": 200,
            "short_factor": half,
            "long_factor": [4 * x for x in half],
        },
        "longrope, factor": {
            "original_max_position_embeddings": 200,
            "short_factor": half,
            "long_factor": half,
            "factor": 9.0,
        },
    }
    for i, (label, options) in enumerate(ropes.items()):
        rope = {"rope_type": label.split(",")[0], **options}
        family = ("llama", "qwen3")[i % 2]
        make = functools.partial(
            made, family, **shape, num_key_value_heads=3, max_position_embeddings=384,
            rope_parameters={**rope, "rope_theta": 20000.0},
        )
        if i % 3 == 2:
            rope["type"] = rope.pop("rope_type")
        older = {"rope_scaling": rope, "rope_theta": 20000.0} if i % 3 != 1 else None
        yield Network(
            f"{family} {label}", make, i, rewrite=older,
            kind=200 if "longrope" in label else 384,
        )
    short = [1.0 + i / 4 for i in range(4)]
    long = {"short_factor": short, "long_factor": [3 * x for x in short]}
    phi = {
        **shape,
        "head_dim": 16,
        "num_key_value_heads": 1,
        "max_position_embeddings": 384,
        "pad_token_id": 0,
        "eos_token_id": 2,
        "partial_rotary_factor": 0.5,
        "original_max_position_embeddings": 200,
    }
    turned = {"rope_theta": 20000.0, "partial_rotary_factor": 0.5}
    phi_net = lambda: made(
        "phi3", **phi, rope_parameters={"rope_type": "longrope", **long, **turned}
    )
    yield Network("phi3 longrope, heads turn in part", phi_net, 30, kind=200)
    yield Network(
        "phi3 longrope, older form, heads turn in part",
        phi_net,
        31,
        kind=200,
        rewrite={**turned, "rope_scaling": {"type": "longrope", **long}},
    )
    qwen2 = dict(
        num_key_value_heads=3, max_position_embeddings=384, use_sliding_window=True,
        sliding_window=11, max_window_layers=1,
    )
    every = {
        "mistral window": lambda: made(
            "mistral", **shape, num_key_value_heads=1, max_position_embeddings=384,
            sliding_window=13,
        ),
        "mixtral window": lambda: made(
            "mixtral", **shape, num_key_value_heads=1, max_position_embeddings=384,
            sliding_window=13, num_local_experts=4,
        ),
        "phi3 window": lambda: made(
            "phi3", **{**phi, "original_max_position_embeddings": 384}, sliding_window=17
        ),
        "qwen2 window from layer 1": lambda: made("qwen2", **shape, **qwen2),
    }
    for i, (label, make) in enumerate(every.items()):
        yield Network(label, make, 40 + i, kind="window")
    gemma = dict(
        **{**shape, "num_hidden_layers": 3}, num_key_value_heads=1, max_position_embeddings=384,
        query_pre_attn_scalar=32,
    )
    linear = {"rope_type": "linear", "factor": 3.0}
    both = {
        "full_attention": {**linear, "rope_theta": 90000.0},
        "sliding_attention": {"rope_type": "default", "rope_theta": 500.0},
    }
    older = {"rope_theta": 90000.0, "rope_local_base_freq": 500.0, "rope_scaling": linear}
    cohere = {**gemma, "layer_types": ["sliding_attention", "full_attention"] * 2}
    del cohere["query_pre_attn_scalar"], cohere["head_dim"]
    yield Network(
        "cohere2 window",
        lambda: made("cohere2", **{**cohere, "num_hidden_layers": 4}, sliding_window=13),
        55,
        kind="window",
    )
    yield Network(
        "gpt_oss window",
        lambda: made(
            "gpt_oss", **{**shape, "num_hidden_layers": 4}, num_key_value_heads=1,
            max_position_embeddings=384, sliding_window=13, num_local_experts=4,
            rope_parameters={
                "rope_type": "yarn", "factor": 8.0, "beta_fast": 32.0, "beta_slow": 1.0,
                "truncate": False, "original_max_position_embeddings": 48, "rope_theta": 20000.0,
            },
        ),
        60,
        kind="window",
    )
    yield Network(
        "gemma2 window", lambda: made("gemma2", **gemma, sliding_window=13), 50, kind="window",
    )
    for seed, (label, rewrite) in enumerate({"": None, ", older form": older}.items(), 51):
        make = lambda: made(
            "gemma3_text", **gemma, sliding_window=11, rope_parameters=both,
            layer_types=["sliding_attention", "full_attention", "sliding_attention"],
        )
        yield Network(f"gemma3 window{label}", make, seed, kind="window", rewrite=rewrite)
    windows = {
        "window from layer 1": dict(sliding_window=13, max_window_layers=1),
        "window by layer, yarn": dict(
            sliding_window=20,
            layer_types=["sliding_attention", "full_attention", "sliding_attention"],
            rope_parameters={
                "rope_type": "yarn",
                "factor": 2.0,
                "rope_theta": 20000.0,
                "original_max_position_embeddings": 32,
            },
        ),
    }
    for i, (label, options) in enumerate(windows.items()):
        make = functools.partial(
            made, "qwen3", **{**shape, "num_hidden_layers": 3}, num_key_value_heads=1,
            max_position_embeddings=384, use_sliding_window=True, **options,
        )
        yield Network(f"qwen3 {label}", make, 20 + i, kind="window")


NETWORKS = {
    n.label: n
    for n in (
        *plain_networks(),
        *scaled_networks(),
        Synthetic("synthetic qwen3", None, 0, vocabulary=300),
    )
}


@pytest.fixture(scope="module")
def compared(program, dump, tmp_path_factory):
    """A checkpoint, by the label of its network, once."""

    @functools.cache
    def of(label):
        folder = tmp_path_factory.mktemp("network") / "checkpoint"
        network = NETWORKS[label]
        if isinstance(network, Synthetic):
            network = dataclasses.replace(network, make=program("model_synth"))
        network.save(folder)
        return Compared(network, folder, dump)

    return of


def networks(*labels):
    return pytest.mark.parametrize(
        "label", labels, ids=[label.replace(",", "").replace(" ", "-") for label in labels]
    )


# Tests -------------------------------------------------------------------------------------------


@networks(*NETWORKS)
def test_fp32_is_as_near_to_float64_as_transformers(compared, label):
    compared(label).check_error("fp32", torch.float32)


@networks(*(label for label in NETWORKS if "bf16" in label))
def test_bf16_is_as_near_to_float64_as_transformers(compared, label):
    compared(label).check_error("bf16", torch.bfloat16)


@networks(*NETWORKS)
def test_fp64_is_exact(compared, label):
    for name, got, want in compared(label).ours("fp64"):
        error, where = worst(got, want)
        assert error <= 1e-10 * np.abs(want).max(), f"{name}: {where}"


@networks(*(label for label, network in NETWORKS.items() if network.kind == "window"))
def test_the_reference_has_the_sliding_window_of_transformers(compared, label):
    subject = compared(label)
    rows = causal(np.random.default_rng(1), subject.network.vocabulary, 60)
    with torch.no_grad():
        theirs = (
            subject.double(torch.tensor([[t for t, _ in rows]]), use_cache=False).logits[0].numpy()
        )
    ours = reference(subject.double, rows, [list(range(i + 1)) for i in range(60)])
    assert np.abs(theirs - ours).max() <= 1e-9 * np.abs(theirs).max()


def quantised_as(bitsandbytes, kind, w):
    """w, bf16, as bitsandbytes quantises and dequantises it; rows that fill no block of NF4 one
    by one, as they begin one here.
    """
    if kind == "int8":
        codes, stats, _ = bitsandbytes.functional.int8_vectorwise_quant(w)
        return bitsandbytes.functional.int8_vectorwise_dequant(codes, stats)
    if w.shape[1] % 64:
        w = torch.nn.functional.pad(w, (0, -w.shape[1] % 64))  # zeros change no largest size
    packed, state = bitsandbytes.functional.quantize_4bit(
        w.contiguous(), blocksize=64, quant_type="nf4", compress_statistics=False
    )
    return bitsandbytes.functional.dequantize_4bit(packed, state)


@pytest.mark.parametrize("kind", ["int8", "nf4"])
@networks(
    "llama biases, fp16 file", "phi3 sharded, fp32 files", "olmo2 tied, GQA, biases, bf16 file",
    "gemma2 tied, GQA, caps that bite, bf16 file", "gemma3 tied, GQA, bf16 file", "synthetic qwen3",
)
def test_quantised_layers_compute_as_those_that_bitsandbytes_dequantises(compared, label, kind):
    """Truth is transformers in float64 with the layers' matrices as bitsandbytes dequantises
    them. The arithmetic is bf16's, and so is the tolerance: three times the error of
    transformers in bf16 before anything is quantised.
    """
    bitsandbytes = pytest.importorskip("bitsandbytes")
    subject = compared(label)
    rng = np.random.default_rng(7)
    rows = mixed(rng, subject.network.vocabulary)
    decode = scripts(rng, subject.network.vocabulary)["decode"][0]
    cases = [
        {"whole": {"tokens": [t for t, _ in rows], "labels": [l for _, l in rows]}},
        {"sequences": [decode.actions]},
    ]
    run = lambda model: np.concatenate(
        [reference(model, rows, visible_rows(rows)), reference(model, decode.rows, decode.visible)]
    )
    half = run(loaded(subject.folder, torch.bfloat16))
    model = loaded(subject.folder, torch.bfloat16)
    weights = {
        name: module.weight
        for name, module in model.model.layers.named_modules()
        if isinstance(module, torch.nn.Linear)
    }
    values = {
        name: quantised_as(bitsandbytes, kind, w.data)[:, : w.shape[1]].double()
        for name, w in weights.items()
    }
    model = model.double()
    exact = run(model)
    for name, value in values.items():
        model.model.layers.get_submodule(name).weight.data = value
    want = run(model)
    got = subject.dump(subject.folder, kind, cases).reshape(want.shape)
    error, where = worst(got, want)
    assert error <= 3 * np.abs(half - exact).max(), where
    # The answer is nearer to that truth than the network without quantisation is.
    assert np.square(got - want).mean() < np.square(want - exact).mean()


@pytest.fixture(scope="module")
def warped(compared, dump):
    """60 rows with their sampling and banned ids, and what model_dump writes of each: the best
    two ids and their logits, then the probabilities.
    """
    rng = np.random.default_rng(3)
    vocab = 50
    rows, samplings, banned = [], [], []
    for i in range(60):
        row = rng.normal(0, 3, vocab).astype(np.float32)
        if i % 3 == 0:
            row = np.round(row)  # ties
        rows.append(row)
        samplings.append(
            [
                float(rng.choice([0.3, 0.7, 1.0, 1.7])),
                int(rng.choice([0, 1, 2, 5, 49, 50, 80])),
                float(rng.choice([1.0, 0.95, 0.6, 0.1, 0.0])),
            ]
        )
        banned.append([int(row.argmax()), 7] if i % 4 == 0 else [])
    asked = {"rows": [[float(x) for x in r] for r in rows], "sampling": samplings, "banned": banned}
    got = dump(compared("llama tied, fp32 file").folder, "fp32", [{"warp": asked}]).reshape(
        len(rows), 4 + vocab
    )
    return list(zip(rows, samplings, banned, got, strict=True))


def scores_of(row, banned):
    scores = torch.tensor(row.astype(np.float64))[None]
    scores[0, banned] = -torch.inf
    return scores


def test_the_best_two_leave_banned_ids_out_and_prefer_the_lower_of_equals(warped):
    for i, (row, _, banned, got) in enumerate(warped):
        scores = scores_of(row, banned)[0].tolist()
        ranked = sorted(range(len(row)), key=lambda k: (-scores[k], k))
        assert [int(got[0]), int(got[1])] == ranked[:2], f"row {i}"


def test_probabilities_are_those_of_the_warpers_of_transformers(warped):
    for i, (row, (temperature, top_k, top_p), banned, got) in enumerate(warped):
        scores = TemperatureLogitsWarper(temperature)(None, scores_of(row, banned))
        if top_k:
            scores = TopKLogitsWarper(top_k)(None, scores)
        if top_p < 1:
            scores = TopPLogitsWarper(top_p)(None, scores)
        want = torch.softmax(scores, -1)[0].numpy()
        # Which of equal scores top-p removes is open there (an unstable sort); here the higher ids.
        for value in np.unique(row):
            same = [k for k in np.flatnonzero(row == value) if k not in banned]
            want[same] = np.sort(want[same])[::-1]
        # Sums of 50 float64 terms in another order: 50 roundings.
        assert np.abs(got[4:] - want).max() <= 50 * 2.0**-53, f"row {i}"


def test_a_synthetic_checkpoint_loads_in_transformers(compared):
    model = AutoModelForCausalLM.from_pretrained(compared("synthetic qwen3").folder, dtype="auto")
    assert model.dtype == torch.bfloat16
    assert model.generation_config.eos_token_id == [1, 2]


@pytest.mark.parametrize(
    "name, deviation",
    [
        ("model.embed_tokens.weight", 1.0),
        ("model.layers.0.self_attn.q_proj.weight", 3 / 8),
        ("model.layers.1.mlp.down_proj.weight", 96**-0.5),
        ("lm_head.weight", 1 / 8),
    ],
)
def test_synthetic_weights_have_the_intended_distribution(compared, name, deviation):
    model = AutoModelForCausalLM.from_pretrained(compared("synthetic qwen3").folder, dtype="auto")
    w = model.state_dict()[name].double()
    # The deviation of n normals is known to 1 / sqrt(2 n), their mean to 1 / sqrt(n); five of
    # these.
    n = w.numel()
    assert abs(w.std() / deviation - 1) < 5 / (2 * n) ** 0.5 + 2**-8
    assert abs(w.mean() / deviation) < 5 / n**0.5
