"""All rows of one Job of HPD and of IPPD, their positions and who sees whom: slowly, and straight from the papers.

Rows stand in natural order (a value behind its segment, an answer behind its question), not as an engine feeds them: what a row sees does not
depend on where it lies in memory. `arrival` says when each is fed, so that rows can be matched with those of a trace.
"""
import json
import re

import numpy as np
from tokenizers import Tokenizer


class Rows:
    """`tokens`, `position`; `step` and `turn`: the forward that computes a row (0 is the prefill) and its place in it; `field`: whose next token is chosen from
    this row, or None; `sees[q, k]`: row q sees row k."""

    def __init__(self):
        self.tokens, self.position, self.step, self.turn, self.field, self.marks = [], [], [], [], [], []
        self.sees = None

    def add(self, token, position, step, turn, **marks):
        self.tokens.append(token)
        self.position.append(position)
        self.step.append(step)
        self.turn.append(turn)
        self.field.append(None)
        self.marks.append(marks)

    def each(self, mark):
        """A mark of all rows, as queries (column) and as keys (row)."""
        values = np.array([m[mark] for m in self.marks])
        return values[:, None], values[None, :]

    def arrival(self):
        """Rows in the order in which they are computed."""
        return sorted(range(len(self.tokens)), key=lambda i: (self.step[i], self.turn[i]))


def hpd_rows(prompt, segments, values, k_max, gap=0, later=0):
    """HPD, section A2. `values[r]`: what is chosen for value r + 1, terminator included. `gap` and `later` spoil the rules, for tests of tests: positions of
    a slot too many; how much further along than its own index a value sees the values before it."""
    k_max_of_positions = k_max + gap
    rows = Rows()
    i = 0  # token index in s = prompt, segment 1, segment 2 ..
    for token in prompt:  # "Prompt: pos = i."
        rows.add(token, i, 0, i, i=i, r=0, k=0)
        i += 1
    for r, (segment, value) in enumerate(zip(segments, values), start=1):
        for token in segment:  # "Token i of segment r: pos = i + (r-1)*K_max."
            rows.add(token, i + (r - 1) * k_max_of_positions, 0, i, i=i, r=r, k=0)
            i += 1
        rows.field[-1] = r - 1  # "take logits at the R rows end(seg_r)"
        end = rows.position[-1]
        # "Feed only the tokens v_{r,t-1} of open values, in order of r"; the token that closes a value, or is the K_max-th, is not fed.
        for k, token in enumerate(value[:k_max][:-1], start=1):  # "pos(v_{r,k}) = pos(end(seg_r)) + k"
            rows.add(token, end + k, k, r, i=-1, r=r, k=k)
            rows.field[-1] = r - 1
    i_q, i_k = rows.each("i")
    r_q, r_k = rows.each("r")
    k_q, k_k = rows.each("k")
    of_s_q, of_s_k = k_q == 0, k_k == 0
    # Prompt and segments see what stands before them in s, and never a value: none exists at prefill.
    skeleton = of_s_q & of_s_k & (i_k <= i_q)
    # v_{r,k} sees prompt, segments <= r, its own v_{r,<=k}, and v_{r',k'} of earlier values r' < r with k' <= k.
    value = ~of_s_q & ((of_s_k & (r_k <= r_q)) | (~of_s_k & (r_k == r_q) & (k_k <= k_q)) | (~of_s_k & (r_k < r_q) & (k_k <= k_q + later)))
    rows.sees = skeleton | value
    return rows


def ippd_rows(p, contexts, questions, answers, shift=0, mixed=False):
    """IPPD, section B2. `questions[j][k]`, and `answers[j][k]`: what is chosen, end of sequence included. `shift` and `mixed` spoil the rules, for tests of
    tests: answers stand so much further back; questions of a context see one another."""
    rows = Rows()
    turn = 0
    number = 0  # of the question, over all contexts

    def add(tokens, position, ctx, que):
        nonlocal turn
        for token in tokens:
            rows.add(token, position, 0, turn, pos=position, ctx=ctx, que=que)
            position, turn = position + 1, turn + 1

    add(p, 0, 0, 0)  # "p: 0..|p|-1", ctx = que = 0
    for j, c in enumerate(contexts):
        add(c, len(p), j + 1, 0)  # "c_j: |p|..|p|+|c_j|-1"
        for x, y in zip(questions[j], answers[j]):
            number += 1
            add(x, len(p) + len(c), j + 1, number)  # "x_{j,k}: |p|+|c_j| ..+|x|-1"
            rows.field[-1] = number - 1  # "logits at the last token of each x_{j,k}"
            for t, token in enumerate(y[:-1], start=1):  # "answer token t>=1: |p|+|c_j|+|x_{j,k}|+t-1"; the last one is not computed
                position = len(p) + len(c) + len(x) + t - 1 + shift
                rows.add(token, position, t, number, pos=position, ctx=j + 1, que=number)
                rows.field[-1] = number - 1
    pos_q, pos_k = rows.each("pos")
    ctx_q, ctx_k = rows.each("ctx")
    que_q, que_k = rows.each("que")
    # "causal: pos(q) >= pos(k); context: ctx(q)=ctx(k) or ctx(k)=0; question: que(q)=que(k) or que(k)=0; conjunction."
    rows.sees = (pos_q >= pos_k) & ((ctx_q == ctx_k) | (ctx_k == 0)) & ((que_q == que_k) | (que_k == 0) | mixed)
    return rows


# From the texts of a Job to ids.


class Ids:
    """Ids of pieces of one text, each tokenized alone: a dummy prefix and the begin of sequence stand before the first piece only."""

    def __init__(self, file):
        self.first = Tokenizer.from_file(str(file))
        changed = json.loads(self.first.to_str())
        normalizer = changed["normalizer"] or {}
        if normalizer.get("type") == "Sequence":
            normalizer["normalizers"] = [n for n in normalizer["normalizers"] if n["type"] != "Prepend"]
        self.later = Tokenizer.from_str(json.dumps(changed))

    def opening(self, text):
        return self.first.encode(text).ids

    def __call__(self, text):
        return self.later.encode(text, add_special_tokens=False).ids

    def text(self, token):
        return self.later.id_to_token(token)


def prompt_sections(file):
    """`[name]` lines open the sections of a prompt file."""
    parts = re.split(r"^\[(.+)\]\n", file.read_text(encoding="utf-8"), flags=re.M)
    return {name: text.strip("\n") for name, text in zip(parts[1::2], parts[2::2])}


def filled(wording, **slots):
    return re.sub(r"\{(\w+)\}", lambda slot: slots[slot[1]], wording)


def opening_text(prompt, form, contexts, count):
    """What stands before the contexts where a checkpoint has no chat template: system, instruction, form of the answer."""
    names = ", ".join(json.dumps(field["name"], ensure_ascii=False) for field in contexts[0]["fields"])
    instruction = filled(prompt["instruction"], category=contexts[0]["category"], fields=names, context_count=str(count))
    return "".join(part + "\n\n" for part in (prompt.get("system"), instruction, prompt[f"answer {form}"]) if part)


def reference_text(field):
    return field["references"][0] if field["references"] else "n/a"


def hpd_ids(ids, prompt, contexts, k_max):
    """Prompt, segments and forced values of a stack of products."""
    p = ids.opening(opening_text(prompt, "json", contexts, len(contexts)))
    for n, context in enumerate(contexts, start=1):
        p += ids(filled(prompt["context"], n=str(n), text=context["text"]) + "\n")
    p += ids("\n<result>")
    segments, values = [], []
    for j, context in enumerate(contexts, start=1):
        for n, field in enumerate(context["fields"], start=1):
            before = "" if n > 1 else f'\n{{\n  "{j}": {{' if j == 1 else f'\n  }},\n  "{j}": {{'
            segments.append(ids(f'{before}\n    {json.dumps(field["name"], ensure_ascii=False)}:'))
            comma = "," if n < len(context["fields"]) else ""
            values.append(through_line_break(ids, f' {json.dumps(reference_text(field), ensure_ascii=False)}{comma}\n')[:k_max])
    return p, segments, values


def through_line_break(ids, text):
    """Ids up to the one whose text holds the line break."""
    chosen = ids(text)
    end = next(i for i, token in enumerate(chosen) if any(sign in ids.text(token) for sign in ("\n", "<0x0A>", "\u010a")))
    return chosen[:end + 1]


def ippd_ids(ids, prompt, contexts, eos, limit):
    """Instruction, contexts, questions and forced answers of some texts."""
    p = ids.opening(opening_text(prompt, "value", contexts, 1))
    texts = [ids(filled(prompt["context"], n="1", text=context["text"]) + "\n") for context in contexts]
    questions = [[ids(filled(prompt["field"], name=f["name"], asked=f["question"], choices="") + "\n") for f in c["fields"]] for c in contexts]
    answers = [[(ids(" " + reference_text(f)) + [eos])[:limit] for f in c["fields"]] for c in contexts]
    return p, texts, questions, answers
