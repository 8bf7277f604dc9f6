#!/usr/bin/env python3
"""Compares the network with Hugging Face transformers: logits, caches, masks, warpers, synthetic checkpoints.

Usage: model_oracle_test.py MODEL_DUMP MODEL_SYNTH

Truth is transformers in float64. The tolerance in float32 (and bf16) is three times the error that transformers
itself has in that type, both as the largest absolute error over all logits of a model's cases. In float64 our norms
and softmax are float64 too, where transformers' are float32; the reference for it is transformers with these two
replaced, and the tolerance 1e-10 of the largest logit.
"""
import json, os, subprocess, sys, tempfile

os.environ["HF_HUB_OFFLINE"] = "1"
try:
    import numpy as np
    import torch
    import transformers
    from transformers import (AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM, MistralConfig, MistralForCausalLM, Olmo2Config,
                              Olmo2ForCausalLM, Phi3Config, Phi3ForCausalLM, Qwen2Config, Qwen2ForCausalLM, Qwen3Config, Qwen3ForCausalLM)
    from transformers.generation.logits_process import TemperatureLogitsWarper, TopKLogitsWarper, TopPLogitsWarper
    from transformers.models.llama import modeling_llama
    from transformers.models.mistral import modeling_mistral
    from transformers.models.olmo2 import modeling_olmo2
    from transformers.models.phi3 import modeling_phi3
    from transformers.models.qwen2 import modeling_qwen2
    from transformers.models.qwen3 import modeling_qwen3
except ImportError as error:
    print(f"[skipped] {error}")
    sys.exit(77)
try:
    import bitsandbytes
except ImportError:
    bitsandbytes = None
transformers.logging.set_verbosity_error()
torch.set_num_threads(2)
DUMP, SYNTH = sys.argv[1:3]
passed = failed = 0


def check(good, what):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    print(("ok    " if good else "FAIL  ") + what, flush=True)


# ---- references ----

def exact_norm(self, x):
    return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.variance_epsilon))


def exact_attention(module, query, key, value, attention_mask, scaling, dropout=0.0, **_):
    groups = module.num_key_value_groups
    key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
    weights = torch.softmax(query @ key.transpose(2, 3) * scaling + attention_mask, -1)
    return (weights @ value).transpose(1, 2).contiguous(), weights


class Exact:
    """transformers with norms and softmax in the type of the network."""
    def __enter__(self):
        norms = (modeling_llama.LlamaRMSNorm, modeling_mistral.MistralRMSNorm, modeling_olmo2.Olmo2RMSNorm, modeling_phi3.Phi3RMSNorm,
                 modeling_qwen2.Qwen2RMSNorm, modeling_qwen3.Qwen3RMSNorm)
        families = (modeling_llama, modeling_mistral, modeling_olmo2, modeling_phi3, modeling_qwen2, modeling_qwen3)
        self.saved = [(n, "forward", n.forward) for n in norms]
        self.saved += [(m, "eager_attention_forward", m.eager_attention_forward) for m in families]
        for module, name, _ in self.saved:
            setattr(module, name, exact_norm if name == "forward" else exact_attention)

    def __exit__(self, *_):
        for module, name, value in self.saved:
            setattr(module, name, value)


def reference(model, rows, visible):
    """Logits [n, vocab] of one pass over all rows, each seeing the rows of `visible`, in layers with a sliding window
    those less than so many positions back."""
    n = len(rows)
    window = getattr(model.config, "sliding_window", None)
    full = torch.full((n, n), torch.finfo(model.dtype).min, dtype=model.dtype)
    sliding = full.clone()
    for i, seen in enumerate(visible):
        full[i, seen] = 0.0
        sliding[i, [k for k in seen if not window or rows[i][1][0] - rows[k][1][0] < window]] = 0.0
    masks = full[None, None]
    if window and model.config.model_type in ("mistral", "phi3"):  # in all layers
        masks = sliding[None, None]
    elif window:
        masks = {"full_attention": masks, "sliding_attention": sliding[None, None]}
    with torch.no_grad():
        out = model(torch.tensor([[t for t, _ in rows]]), attention_mask=masks,
                    position_ids=torch.tensor([[label[0] for _, label in rows]]), use_cache=False)
    return out.logits[0].double().numpy()


# ---- cases: rows are (token, (position, order, segment, rank)) ----

def sees(q, k, table):
    return k[2] in table[q[2]] and k[1] <= q[1] and k[3] <= q[3]


class Script:
    """Builds a sequence's actions, and with a rule of its own what every row saw when it was fed."""
    def __init__(self, table):
        self.table, self.actions, self.rows, self.visible, self.labels, self.alive, self.steps = table, [], [], [], [], [], []

    def feed(self, rows):
        self.actions.append({"feed": {"tokens": [t for t, _ in rows], "labels": [label for _, label in rows]}})
        begin = len(self.rows)
        self.rows += rows
        self.labels += [label for _, label in rows]
        self.alive += [True] * len(rows)
        self.visible += [[k for k in range(len(self.rows)) if self.alive[k] and sees(label, self.labels[k], self.table)]
                         for _, label in rows]
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
    labels += [(12 + i, 12 + i, 1, i + 1) for i in range(5)]       # ranks hide a group's tail
    labels += [(12 + i, 12 + i, 2, 0) for i in range(5)]           # same positions as segment 1
    labels += [(40 + i, 100 + 3 * i, 3, 9) for i in range(4)]      # gaps
    labels += [(60 + i, 200 - i, 4, 9) for i in range(6)]          # descending order: sees later arrivals
    labels += [(i, i, 5, 0) for i in range(3)]
    return labelled(rng, vocab, labels)


def dense(rng, vocab):
    """Branches without gaps: what a sliding window allows."""
    labels = [(i, i, 0, 0) for i in range(30)]
    labels += [(30 + i, 30 + i, 1, 0) for i in range(9)] + [(30 + i, 30 + i, 2, 0) for i in range(4)]
    labels += [(39 + i, 39 + i, 3, 0) for i in range(12)]
    return labelled(rng, vocab, labels)


def dense_scripts(rng, vocab):
    decode = Script(TABLE).feed(causal(rng, vocab, 23))
    for i in range(12):
        decode.feed(causal(rng, vocab, 1, 23 + i))
    rows = dense(rng, vocab)
    stepwise = Script(TABLE).feed(rows[:30])
    for i in range(30, len(rows), 5):
        stepwise.feed(rows[i:i + 5])
    guesses = Script(TABLE).feed(causal(rng, vocab, 20))
    kept = fed = 20
    for step in range(30):  # guesses of which the first one or two stay
        guesses.feed(causal(rng, vocab, 4, kept))
        keep = 1 + step % 2
        guesses.keep(fed, list(range(fed, fed + keep)))
        kept, fed = kept + keep, fed + 4
        if step == 11:
            guesses.fork()
    return {"decode": [decode], "masked steps": [stepwise], "dropped": [guesses], "packed": [decode, stepwise, guesses]}


def long_scripts(rng, vocab, positions):
    """A text that goes up to the last position, in one prefill and then rows by one and by eight."""
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
    order = list(range(12)) + [12, 17, 22, 13, 18, 14, 19, 15, 16, 20, 21, 23, 24, 25] + list(range(26, 35))
    stepwise = Script(TABLE).feed([rows[i] for i in order[:12]])
    for i in range(12, 35, 4):
        stepwise.feed([rows[j] for j in order[i:i + 4]])

    guesses = Script(TABLE).feed(causal(rng, vocab, 10))
    kept, fed = 10, 10
    for step in range(30):  # guesses of which two stay, the others in the middle: dead slots, then compaction
        guesses.feed(labelled(rng, vocab, [(kept + j, kept + j, 1 + j % 2, 0) for j in range(5)]))
        guesses.keep(fed, [fed + step % 3, fed + 4])
        guesses.relabel(fed + step % 3, (kept + step % 3, kept, 0, 0))
        guesses.relabel(fed + 4, (kept + 4, kept + 1, 0, 0))
        kept, fed = kept + 2, fed + 5
        if step == 11:
            guesses.fork()
        if step == 20:
            guesses.drop(list(range(0, 9)) + [10 + 5 * 3, 10 + 5 * 7 + 4])
    truncated = Script(TABLE).feed(causal(rng, vocab, 18)).keep(11, []).feed(causal(rng, vocab, 4, 11)).fork()
    truncated.feed(causal(rng, vocab, 3, 15)).drop([25 - 1]).feed(causal(rng, vocab, 2, 17))
    return {"decode": [decode], "masked steps": [stepwise], "dropped and relabelled": [guesses], "truncated": [truncated],
            "packed": [decode, stepwise, guesses, truncated]}


def dump(folder, dtype, cases, threads="2"):
    request = {"model": folder, "dtype": dtype, "segments": [sorted(TABLE[s] - {s}) for s in range(1, 6)], "cases": cases}
    done = subprocess.run([DUMP], input=json.dumps(request).encode(), capture_output=True,
                          env={**os.environ, "OMP_NUM_THREADS": threads})
    if done.returncode:
        raise RuntimeError(done.stderr.decode())
    return np.frombuffer(done.stdout, dtype=np.float64)


def worst(got, want):
    error = np.abs(got - want)
    at = np.unravel_index(error.argmax(), error.shape)
    return error[at], f"worst at row {at[0]}, id {at[1]}: {got[at]:.6f}, expected {want[at]:.6f}"


def cases_of(vocab, seed, kind):
    rng = np.random.default_rng(seed)
    if kind == "window":
        return [("whole, causal", causal(rng, vocab, 70)), ("whole, branches", dense(rng, vocab))], dense_scripts(rng, vocab)
    if kind is not None:
        together = {**scripts(rng, vocab), **long_scripts(rng, vocab, kind)}
        return [("whole, masked", mixed(rng, vocab))], {name: together[name] for name in
                                                        ("decode", "masked steps", "dropped and relabelled", "to the last position")}
    whole = [("whole, causal", causal(rng, vocab, 70)), ("whole, masked", mixed(rng, vocab))]
    return whole, scripts(rng, vocab)


def compare_model(label, folder, vocab, also_bf16, kind=None):
    whole, together = cases_of(vocab, 7, kind)
    cases = [{"whole": {"tokens": [t for t, _ in rows], "labels": [l for _, l in rows]}} for _, rows in whole]
    cases += [{"sequences": [s.actions for s in sequences]} for sequences in together.values()]

    sources = [(rows, [[k for k, (_, kl) in enumerate(rows) if sees(l, kl, TABLE)] for _, l in rows]) for _, rows in whole]
    flat = [s for sequences in together.values() for s in sequences]

    def truths(model):
        cache = {}
        for s in flat:
            if id(s) not in cache:
                cache[id(s)] = reference(model, s.rows, s.visible)
        out = [(name, reference(model, *source)) for (name, _), source in zip(whole, sources)]
        for name, sequences in together.items():
            # The n-th steps of the sequences, one after another: as model_dump writes them.
            parts = [cache[id(s)][slice(*s.steps[i])] for i in range(max(len(s.steps) for s in sequences))
                     for s in sequences if i < len(s.steps)]
            out.append((name, np.concatenate(parts)))
        return out

    load = lambda dtype: AutoModelForCausalLM.from_pretrained(folder, dtype=dtype, attn_implementation="eager").eval()
    model64 = load(torch.float64)
    truth = truths(model64)
    with Exact():
        exact = truths(model64)

    def ours(dtype, expected):
        got = dump(folder, dtype, cases)
        assert got.size == sum(t.size for _, t in expected), f"{label}: {got.size} values"
        pieces, at = [], 0
        for name, t in expected:
            pieces.append((name, got[at:at + t.size].reshape(t.shape)))
            at += t.size
        return pieces

    for dtype, torch_type in (("fp32", torch.float32),) + ((("bf16", torch.bfloat16),) if also_bf16 else ()):
        theirs = truths(load(torch_type))
        bound = 3 * max(np.abs(a - b).max() for (_, a), (_, b) in zip(theirs, truth))
        for (name, got), (_, want) in zip(ours(dtype, truth), truth):
            error, where = worst(got, want)
            check(error <= bound, f"{label}, {dtype}, {name}: error {error:.2e} is {error / bound:.2f} of the bound {bound:.2e}"
                  + ("" if error <= bound else f"; {where}"))
    for (name, got), (_, want) in zip(ours("fp64", exact), exact):
        error, where = worst(got, want)
        bound = 1e-10 * np.abs(want).max()
        check(error <= bound, f"{label}, fp64, {name}: error {error:.2e} is {error / bound:.1e} of the bound {bound:.2e}"
              + ("" if error <= bound else f"; {where}"))


def sharpened(model, seed):
    torch.manual_seed(seed)
    with torch.no_grad():
        for name, p in model.named_parameters():
            if p.dim() == 2:
                p.normal_(0, 1.0 if "embed" in name else (3.0 if any(part in name for part in ("q_proj", "k_proj", "qkv_proj")) else 1.0) / p.shape[1] ** 0.5)
            elif "norm" in name:
                p.uniform_(0.5, 1.5)
            else:
                p.normal_(0, 0.3)
    return model


def checkpoints(root):
    shape = dict(vocab_size=211, hidden_size=48, intermediate_size=80, num_hidden_layers=3, max_position_embeddings=512)
    llama = lambda **o: LlamaForCausalLM(LlamaConfig(**{**shape, **o}))
    qwen3 = lambda **o: Qwen3ForCausalLM(Qwen3Config(**{**shape, **o}))
    qwen2 = lambda **o: Qwen2ForCausalLM(Qwen2Config(**{**shape, **o}))
    mistral = lambda **o: MistralForCausalLM(MistralConfig(**{**shape, **o}))
    phi3 = lambda **o: Phi3ForCausalLM(Phi3Config(**{**shape, "pad_token_id": 0, "eos_token_id": 2, **o}))
    olmo2 = lambda **o: Olmo2ForCausalLM(Olmo2Config(**{**shape, "eos_token_id": 2, **o}))
    nets = {
        "llama tied, fp32 file": (llama(num_attention_heads=4, tie_word_embeddings=True), torch.float32, {}),
        "llama GQA untied, bf16 file": (llama(num_attention_heads=6, num_key_value_heads=2, rope_theta=500000.0), torch.bfloat16, {}),
        "llama biases, fp16 file": (llama(num_attention_heads=4, num_key_value_heads=1, attention_bias=True, mlp_bias=True,
                                          head_dim=20), torch.float16, {}),
        "qwen3 tied, bf16 file": (qwen3(num_attention_heads=4, num_key_value_heads=2, head_dim=32, tie_word_embeddings=True,
                                        rms_norm_eps=1e-5), torch.bfloat16, {}),
        "qwen3 sharded, fp32 files": (qwen3(num_attention_heads=4, num_key_value_heads=4, head_dim=16, attention_bias=True),
                                      torch.float32, {"max_shard_size": "60KB"}),
        "qwen2 tied, bf16 file": (qwen2(num_attention_heads=4, num_key_value_heads=2, tie_word_embeddings=True), torch.bfloat16, {}),
        "qwen2 untied, window not used, fp32 file": (qwen2(num_attention_heads=6, num_key_value_heads=6, sliding_window=9,
                                                           use_sliding_window=False, max_window_layers=1), torch.float32, {}),
        "mistral GQA, no window, bf16 file": (mistral(num_attention_heads=6, num_key_value_heads=2, head_dim=12, sliding_window=None,
                                                      rope_theta=1e6), torch.bfloat16, {}),
        "phi3 tied, heads turn in part, bf16 file": (phi3(num_attention_heads=3, num_key_value_heads=1, tie_word_embeddings=True,
                                                          partial_rotary_factor=0.75), torch.bfloat16, {}),
        "phi3 sharded, fp32 files": (phi3(num_attention_heads=4, num_key_value_heads=4), torch.float32, {"max_shard_size": "60KB"}),
        "olmo2 tied, GQA, biases, bf16 file": (olmo2(num_attention_heads=4, num_key_value_heads=2, tie_word_embeddings=True,
                                                     attention_bias=True), torch.bfloat16, {}),
        "olmo2 untied, fp32 file": (olmo2(num_attention_heads=6, num_key_value_heads=6, rope_theta=500000.0), torch.float32, {}),
    }
    for i, (label, (model, dtype, options)) in enumerate(nets.items()):
        folder = os.path.join(root, f"net{i}")
        sharpened(model, i).to(dtype).save_pretrained(folder, **options)
        yield label, folder, shape["vocab_size"]


def scaled_checkpoints(root):
    """Each RoPE scaling in both forms, and sliding windows: (label, folder, vocabulary, cases)."""
    shape = dict(vocab_size=131, hidden_size=48, intermediate_size=80, num_hidden_layers=2, num_attention_heads=3, head_dim=32)
    half = [1.0 + i / 8 for i in range(16)]
    ropes = {
        "linear": {"factor": 3.0},
        "llama3": {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 96},
        "yarn": {"factor": 4.0, "original_max_position_embeddings": 128},
        "yarn, all options": {"factor": None, "original_max_position_embeddings": 100, "beta_fast": 24, "beta_slow": 2, "mscale": 0.7,
                              "mscale_all_dim": 1.2, "truncate": False},
        "yarn, attention factor": {"factor": 4.0, "original_max_position_embeddings": 128, "attention_factor": 0.8},
        "dynamic": {"factor": 2.3},
        "longrope": {"original_max_position_embeddings": 200, "short_factor": half, "long_factor": [4 * x for x in half]},
        "longrope, factor": {"original_max_position_embeddings": 200, "short_factor": half, "long_factor": half, "factor": 9.0},
    }
    for i, (label, options) in enumerate(ropes.items()):
        rope = {"rope_type": label.split(",")[0], **options}
        maker, config = ((LlamaForCausalLM, LlamaConfig), (Qwen3ForCausalLM, Qwen3Config))[i % 2]
        net = maker(config(**shape, num_key_value_heads=3, max_position_embeddings=384, rope_parameters={**rope, "rope_theta": 20000.0}))
        folder = os.path.join(root, f"scaled{i}")
        sharpened(net, i).save_pretrained(folder)
        if i % 3 != 1:  # the form before transformers 5
            file = os.path.join(folder, "config.json")
            written = json.load(open(file))
            del written["rope_parameters"]
            if i % 3 == 2:
                rope["type"] = rope.pop("rope_type")
            written.update(rope_scaling=rope, rope_theta=20000.0)
            json.dump(written, open(file, "w"))
        yield f"{config.model_type} {label}", folder, shape["vocab_size"], 200 if "longrope" in label else 384
    short = [1.0 + i / 4 for i in range(4)]
    phi = {**shape, "head_dim": 16, "num_key_value_heads": 1, "max_position_embeddings": 384, "pad_token_id": 0, "eos_token_id": 2,
           "partial_rotary_factor": 0.5, "original_max_position_embeddings": 200}
    for i, kind in enumerate(("longrope", "longrope, older form")):
        rope = {"rope_type": "longrope", "short_factor": short, "long_factor": [3 * x for x in short], "rope_theta": 20000.0,
                "partial_rotary_factor": 0.5}
        folder = os.path.join(root, f"phi{i}")
        sharpened(Phi3ForCausalLM(Phi3Config(**phi, rope_parameters=rope)), 30 + i).save_pretrained(folder)
        if "older" in kind:
            file = os.path.join(folder, "config.json")
            written = json.load(open(file))
            del written["rope_parameters"]
            written.update(rope_theta=20000.0, partial_rotary_factor=0.5, rope_scaling={
                "type": "longrope", "short_factor": short, "long_factor": [3 * x for x in short]})
            json.dump(written, open(file, "w"))
        yield f"phi3 {kind}, heads turn in part", folder, shape["vocab_size"], 200
    every = {"mistral window": MistralForCausalLM(MistralConfig(**shape, num_key_value_heads=1, max_position_embeddings=384, sliding_window=13)),
             "phi3 window": Phi3ForCausalLM(Phi3Config(**{**phi, "original_max_position_embeddings": 384}, sliding_window=17)),
             "qwen2 window from layer 1": Qwen2ForCausalLM(Qwen2Config(**shape, num_key_value_heads=3, max_position_embeddings=384,
                                                                       use_sliding_window=True, sliding_window=11, max_window_layers=1))}
    for i, (label, net) in enumerate(every.items()):
        folder = os.path.join(root, f"every{i}")
        sharpened(net, 40 + i).save_pretrained(folder)
        yield label, folder, shape["vocab_size"], "window"
    windows = {"window from layer 1": dict(sliding_window=13, max_window_layers=1),
               "window by layer, yarn": dict(sliding_window=20, layer_types=["sliding_attention", "full_attention", "sliding_attention"],
                                             rope_parameters={"rope_type": "yarn", "factor": 2.0, "rope_theta": 20000.0,
                                                              "original_max_position_embeddings": 32})}
    for i, (label, options) in enumerate(windows.items()):
        net = Qwen3ForCausalLM(Qwen3Config(**{**shape, "num_hidden_layers": 3}, num_key_value_heads=1, max_position_embeddings=384,
                                           use_sliding_window=True, **options))
        folder = os.path.join(root, f"window{i}")
        sharpened(net, 20 + i).save_pretrained(folder)
        yield f"qwen3 {label}", folder, shape["vocab_size"], "window"


def quantised_as(kind, w):
    """w, bf16, as bitsandbytes quantises and dequantises it; rows that fill no block of NF4 one by one, as they begin one here."""
    if kind == "int8":
        codes, stats, _ = bitsandbytes.functional.int8_vectorwise_quant(w)
        return bitsandbytes.functional.int8_vectorwise_dequant(codes, stats)
    if w.shape[1] % 64:
        w = torch.nn.functional.pad(w, (0, -w.shape[1] % 64))  # zeros change no largest size
    packed, state = bitsandbytes.functional.quantize_4bit(w.contiguous(), blocksize=64, quant_type="nf4", compress_statistics=False)
    return bitsandbytes.functional.dequantize_4bit(packed, state)


def compare_quantised(label, folder, vocab):
    """int8 and NF4: truth is transformers in float64 with the layers' matrices as bitsandbytes dequantises them. The arithmetic is
    bf16's, and so is the tolerance: three times the error of transformers in bf16 before anything is quantised."""
    if bitsandbytes is None:
        print("[skipped] bitsandbytes is not installed")
        return
    rng = np.random.default_rng(7)
    rows = mixed(rng, vocab)
    visible = [[k for k, (_, kl) in enumerate(rows) if sees(l, kl, TABLE)] for _, l in rows]
    decode = scripts(rng, vocab)["decode"][0]
    cases = [{"whole": {"tokens": [t for t, _ in rows], "labels": [l for _, l in rows]}}, {"sequences": [decode.actions]}]
    load = lambda dtype: AutoModelForCausalLM.from_pretrained(folder, dtype=dtype, attn_implementation="eager").eval()
    run = lambda model: np.concatenate([reference(model, rows, visible), reference(model, decode.rows, decode.visible)])
    half = load(torch.bfloat16)
    exact = run(half.double())
    bound = 3 * np.abs(run(load(torch.bfloat16)) - exact).max()
    for kind in ("int8", "nf4"):
        model = load(torch.bfloat16)
        weights = {name: module.weight for name, module in model.model.layers.named_modules() if isinstance(module, torch.nn.Linear)}
        values = {name: quantised_as(kind, w.data)[:, :w.shape[1]].double() for name, w in weights.items()}
        model = model.double()
        for name, value in values.items():
            model.model.layers.get_submodule(name).weight.data = value
        want = run(model)
        got = dump(folder, kind, cases).reshape(want.shape)
        error, where = worst(got, want)
        # And nearer to that truth than the network without quantisation is.
        share = np.square(got - want).mean() ** 0.5 / np.square(want - exact).mean() ** 0.5
        check(error <= bound and share < 1, f"{label}, {kind}: error {error:.2e} is {error / bound:.2f} of the bound {bound:.2e}, in the mean "
              f"{share:.2f} of what quantising changes; {where}")


def own_window(label, folder, vocab):
    """transformers' own mask of a sliding window is what the tests above say of it."""
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float64, attn_implementation="eager").eval()
    rows = causal(np.random.default_rng(1), vocab, 60)
    with torch.no_grad():
        theirs = model(torch.tensor([[t for t, _ in rows]]), use_cache=False).logits[0].numpy()
    ours = reference(model, rows, [list(range(i + 1)) for i in range(60)])
    check(np.abs(theirs - ours).max() <= 1e-9 * np.abs(theirs).max(), f"{label}: it counts as transformers counts")


def compare_warpers(folder):
    rng = np.random.default_rng(3)
    vocab = 50
    rows, samplings, banned = [], [], []
    for i in range(60):
        row = rng.normal(0, 3, vocab).astype(np.float32)
        if i % 3 == 0:
            row = np.round(row)  # ties
        rows.append(row)
        samplings.append([float(rng.choice([0.3, 0.7, 1.0, 1.7])), int(rng.choice([0, 1, 2, 5, 49, 50, 80])),
                          float(rng.choice([1.0, 0.95, 0.6, 0.1, 0.0]))])
        banned.append([int(row.argmax()), 7] if i % 4 == 0 else [])
    got = dump(folder, "fp32", [{"warp": {"rows": [[float(x) for x in r] for r in rows], "sampling": samplings, "banned": banned}}])
    got = got.reshape(len(rows), 4 + vocab)
    worst_error, top_wrong = 0.0, []
    for i, (row, (temperature, top_k, top_p)) in enumerate(zip(rows, samplings)):
        scores = torch.tensor(row.astype(np.float64))[None]
        scores[0, banned[i]] = -torch.inf
        ranked = sorted(range(vocab), key=lambda k: (-float(scores[0, k]), k))
        if [int(got[i, 0]), int(got[i, 1])] != ranked[:2]:
            top_wrong.append(i)
        scores = TemperatureLogitsWarper(temperature)(None, scores)
        if top_k:
            scores = TopKLogitsWarper(top_k)(None, scores)
        if top_p < 1:
            scores = TopPLogitsWarper(top_p)(None, scores)
        want = torch.softmax(scores, -1)[0].numpy()
        # Which of equal scores top-p removes is open there (an unstable sort); here the higher ids.
        for value in np.unique(row):
            same = [k for k in np.flatnonzero(row == value) if k not in banned[i]]
            want[same] = np.sort(want[same])[::-1]
        worst_error = max(worst_error, np.abs(got[i, 4:] - want).max())
    check(not top_wrong, f"top-2 with ties and banned ids, lower id first; wrong rows: {top_wrong}")
    # Sums of 50 float64 terms in another order: 50 roundings.
    check(worst_error <= 50 * 2.0 ** -53, f"warped probabilities: error {worst_error:.1e}")


def synthetic(root):
    config = {"model_type": "qwen3", "vocab_size": 300, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2,
              "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "max_position_embeddings": 512,
              "eos_token_id": [1, 2], "bos_token_id": 1, "rope_parameters": {"rope_theta": 20000, "rope_type": "default"}}
    file, folder = os.path.join(root, "synth.json"), os.path.join(root, "synth")
    json.dump(config, open(file, "w"))
    subprocess.run([SYNTH, file, "5", folder], check=True)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype="auto")
    check(model.dtype == torch.bfloat16 and model.generation_config.eos_token_id == [1, 2], "a synthetic checkpoint loads in transformers")
    weights = model.state_dict()
    for name, want in (("model.embed_tokens.weight", 1.0), ("model.layers.0.self_attn.q_proj.weight", 3 / 8),
                       ("model.layers.1.mlp.down_proj.weight", 96 ** -0.5), ("lm_head.weight", 1 / 8)):
        w = weights[name].double()
        # The deviation of n normals is known to 1 / sqrt(2 n), their mean to 1 / sqrt(n); five of these.
        n = w.numel()
        good = abs(w.std() / want - 1) < 5 / (2 * n) ** 0.5 + 2 ** -8 and abs(w.mean() / want) < 5 / n ** 0.5
        check(good, f"synthetic {name}: mean {w.mean() / want:.4f}, deviation {w.std() / want:.4f} of the intended")
    compare_model("synthetic qwen3", folder, 300, also_bf16=False)
    compare_quantised("synthetic qwen3", folder, 300)


def main():
    with tempfile.TemporaryDirectory() as root:
        folder = None
        for label, folder, vocab in checkpoints(root):
            compare_model(label, folder, vocab, also_bf16="bf16" in label)
            if label.startswith(("llama biases", "phi3 sharded", "olmo2 tied")):
                compare_quantised(label, folder, vocab)
        compare_warpers(folder)
        for label, folder, vocab, kind in scaled_checkpoints(root):
            compare_model(label, folder, vocab, also_bf16=False, kind=kind)
            if kind == "window":
                own_window(label, folder, vocab)
        synthetic(root)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
