"""What the network itself would choose under forced answers, at each row of 20 Jobs of HPD and of IPPD, is what a slow reference chooses.

Usage: forced_test.py PROGRAM [--model DIR] [--data-root DATA] [--decoder hpd|ippd] [--limit N] [--threads N] [--keep FOLDER]

`pardec run --oracle references` in fp32, at the settings of experiments/speed: HPD's stacks of six OA-Mine products with K_max 30, IPPD's stacks of six
SQuAD paragraphs. The reference has the texts of a Job, lays its rows, positions and masks out itself from the papers (spec_rows.py), and shows all
of them to transformers at once. Its rows must be those of the trace, and each choice its own. Where fp32 alone explains another choice (trace_test.py), it is
listed, and rarer than 1 in 10,000 rows. Without --model, on a small random network with the Llama-2 tokenizer.

--model: another network. Where its fp32 is too coarse for that (28 sharpened layers: transformers' own fp32 departs from its fp64 in one choice of 800), the
program must not depart from fp64 more often than transformers' fp32 does, three standard errors allowed. (Norms and softmax of transformers' fp64 are fp32, so
that it favours its own fp32.) --keep: databases and traces stay in FOLDER, and are
compared again where they are there.
"""
import argparse
import json
import pathlib
import shutil
import sys

from harness import DATA, ROOT, Checks, Program, query, scratch
from reference import masked_logits, sharpen, torch  # first: it skips where there is no transformers
from spec_rows import Ids, hpd_ids, hpd_rows, ippd_ids, ippd_rows, prompt_sections
from trace_test import Replay, rows_seen
from transformers import LlamaConfig, LlamaForCausalLM

DATASETS = {"hpd": ("oa-mine", "attributes"), "ippd": ("squad", "questions")}
ANSWER_LIMIT = 30  # ids of an answer on SQuAD
# The worked examples: A3 in natural and in feeding order, B3 in feeding order.
HPD_NATURAL = """1000000000 1100000000 1110000000 1111000000 1111100000 1111110000 1111001000 1111001100 1111101110 1111111111"""
HPD_FED = """1000000000 1100000000 1110000000 1111000000 1111100000 1111110000 1111001000 1111111100 1111001010 1111111111"""
IPPD_FED = """100000000000000 110000000000000 111000000000000 111100000000000 111110000000000 111101000000000 111101100000000 110000010000000 110000011000000
111110000100000 111101100010000 110000011001000 111110000100100 111101100010010 110000011001001"""


def small_network(folder, tokenizer):
    torch.manual_seed(7)
    model = LlamaForCausalLM(LlamaConfig(vocab_size=32000, hidden_size=64, intermediate_size=160, num_hidden_layers=3, num_attention_heads=2,
                                         num_key_value_heads=1, head_dim=32, max_position_embeddings=8192, bos_token_id=1, eos_token_id=2,
                                         tie_word_embeddings=False))
    sharpen(model)
    model.to(torch.float32).save_pretrained(folder)
    shutil.copy(tokenizer, folder / "tokenizer.json")
    return folder


def mask_of(rows, order):
    return " ".join("".join("01"[int(rows.sees[q, k])] for k in order) for q in order)


def check_worked_examples(check):
    """The reference itself, by examples laid out by hand."""
    rows = hpd_rows([1, 2], [[3, 4], [5, 6]], [[7, 8, 99], [9, 10, 99]], 3)
    check(rows.position == [0, 1, 2, 3, 4, 5, 7, 8, 9, 10] and [rows.tokens[i] for i in rows.arrival()] == [1, 2, 3, 4, 5, 6, 7, 9, 8, 10], "hpd by hand: positions")
    check(mask_of(rows, range(10)) == HPD_NATURAL and mask_of(rows, rows.arrival()) == HPD_FED, "hpd by hand: masks")
    rows = ippd_rows("PP", ["CC", "D"], [["Q", "RR"], ["S"]], [["abT", "cdT"], ["efT"]])
    check([rows.position[i] for i in rows.arrival()] == [0, 1, 2, 3, 4, 4, 5, 2, 3, 5, 6, 4, 6, 7, 5], "ippd by hand: positions")
    check("".join(rows.tokens[i] for i in rows.arrival()) == "PPCCQRRDSacebdf", "ippd by hand: order of feeding")
    check(mask_of(rows, rows.arrival()) == " ".join(IPPD_FED.split()), "ippd by hand: mask")


def run(pardec, decoder, model, data, limit, threads):
    """The experiment of this decoder, without its baselines, in fp32; returns its arm, database and traces."""
    experiment = json.loads((ROOT / "experiments" / "speed" / f"{decoder}.json").read_text())
    arm = next(d for d in experiment["decoders"] if d["label"] == decoder)
    file, db, trace = (pardec.folder / f"{decoder}.{kind}" for kind in ("json", "sqlite", "jsonl"))
    if not trace.exists():
        file.write_text(json.dumps({**experiment, "decoders": [arm], "baseline": decoder, "dtype": "fp32", "limit": limit}))
        pardec.good("run", "-c", file, "--model", model, "--data-root", data, "--db", db, "--trace", trace, "--threads", threads,
                    "--chat-template", "plain", timeout=7200)
    return arm["set"], db, [json.loads(line) for line in trace.read_text().splitlines()]


class Job:
    """What the database holds of a Job, and how the reference lays it out."""

    def __init__(self, decoder, settings, row, samples, ids, eos):
        keys, self.fed, self.forwards = json.loads(row["key"]), row["fed"], row["forwards"]
        self.key = keys[0] if len(keys) == 1 else row["key"]  # its name in the trace
        self.chosen = [field for context in json.loads(row["unforced"])["fields"] for field in context]
        contexts = [{**samples[key], "fields": json.loads(samples[key]["fields"])} for key in keys]
        self.contexts = len(contexts)
        prompt = prompt_sections(ROOT / "datasets" / "prompts" / f"{DATASETS[decoder][1]}.txt")
        if decoder == "hpd":
            p, segments, self.values = hpd_ids(ids, prompt, contexts, settings["k_max"])
            self.lay_out = lambda **spoiled: hpd_rows(p, segments, self.values, settings["k_max"], **spoiled)
        else:
            p, texts, questions, answers = ippd_ids(ids, prompt, contexts, eos, ANSWER_LIMIT)
            self.values = [answer for of_context in answers for answer in of_context]
            self.lay_out = lambda **spoiled: ippd_rows(p, texts, questions, answers, **spoiled)


def compare_rows(rows, trace):
    """Complaints about rows that are not one to one those of the reference: tokens, positions, forwards, the rows seen, and which rows choose."""
    order = rows.arrival()
    n = len(order)
    if len(trace["tokens"]) != n:
        return [f"{len(trace['tokens'])} rows, expected {n}"]
    wrong = []
    for what, mine in (("tokens", rows.tokens), ("position", rows.position), ("step", rows.step)):
        other = [t for t in range(n) if trace[what][t] != mine[order[t]]]
        if other:
            wrong.append(f"{what} of {len(other)} rows; first row {other[0]}: {trace[what][other[0]]}, expected {mine[order[other[0]]]}")
    seen = rows.sees[order][:, order]
    other = [t for t in range(n) if rows_seen(trace["visible"][t]) != seen[t].nonzero()[0].tolist()]
    if other:
        wrong.append(f"{len(other)} rows see others; first row {other[0]}: {trace['visible'][other[0]]}, expected {seen[other[0]].nonzero()[0].tolist()}")
    choosing = [t for t in range(n) if rows.field[order[t]] is not None]
    if not choosing == [t for t in range(n) if trace["predicts"][t] is not None] == sorted(trace["emitted"]):
        wrong.append("other rows choose")
    if any(trace["banned"]) or trace["from"] != [None] * n or trace["dropped_at"] != [None] * n:
        wrong.append("banned ids, rows that were chosen, or dropped rows")
    return wrong


def choices(rows, trace):
    """What each row of the reference that chooses chose in the trace."""
    return {i: trace["predicts"][t] for t, i in enumerate(rows.arrival()) if rows.field[i] is not None}


def reference_logits(model, rows, choosing):
    """Logits of these rows, from one pass over all that any of them sees, directly or not."""
    needed = rows.sees[choosing].any(0)
    while (more := rows.sees[needed].any(0)).sum() > needed.sum():
        needed = more
    kept = needed.nonzero()[0].tolist()
    return masked_logits(model, [rows.tokens[i] for i in kept], [rows.position[i] for i in kept], torch.from_numpy(rows.sees[kept][:, kept]),
                         [kept.index(i) for i in choosing])


def check_job(check, replay, job, trace):
    """Compares one Job; returns its numbers of rows, choices and differences, and of these where the program, and where transformers' fp32, departs from
    fp64."""
    name = f"{trace['decoder']} {job.key}"
    rows = job.lay_out()
    wrong = compare_rows(rows, trace)
    if not check(not wrong, f"{name}: {wrong}"):
        return 0, 0, 0, 0, 0
    chose = choices(rows, trace)
    check(job.fed == len(rows.tokens) and job.forwards == max(rows.step) + 1, f"{name}: {job.fed} rows and {job.forwards} forwards are stored")
    by_field = [[] for _ in job.values]
    for i in sorted(chose, key=lambda i: rows.step[i]):
        by_field[rows.field[i]].append(chose[i])
    check(by_field == job.chosen, f"{name}: stored as unforced is something else")
    check([len(v) for v in by_field] == [len(v) for v in job.values], f"{name}: as many choices as forced ids")
    choosing = sorted(chose)
    single = reference_logits(replay.single, rows, choosing)
    different = [at for at, i in enumerate(choosing) if int(single[at].argmax()) != chose[i]]
    ours = theirs = 0
    if different:
        exact = reference_logits(replay.exact, rows, [choosing[at] for at in different])
        for at, logits in zip(different, exact):
            wrong = replay.differs(f"{name} row {choosing[at]}", chose[choosing[at]], int(single[at].argmax()), logits, single[at])
            check(not wrong, wrong)
            ours += int(logits.argmax()) != chose[choosing[at]]
            theirs += int(logits.argmax()) != int(single[at].argmax())
    return len(rows.tokens), len(choosing), len(different), ours, theirs


def check_spoiled(check, replay, job, trace, **spoiled):
    """A reference whose rules are a little wrong has other rows, and chooses otherwise: so the network shows a wrong position or mask."""
    rows = job.lay_out(**spoiled)
    chose = choices(rows, trace)
    single = reference_logits(replay.single, rows, sorted(chose))
    differ = sum(int(logits.argmax()) != chose[i] for i, logits in zip(sorted(chose), single))
    check(compare_rows(rows, trace) and differ > 0, f"{job.key}, spoiled by {spoiled}: {differ} of {len(chose)} choices differ")
    print(f"{trace['decoder']}, rules spoiled by {spoiled}: {differ} of {len(chose)} choices differ")


def check_one_entry(check, job, trace):
    """One position, or one row seen or not, is noticed."""
    rows = job.lay_out()
    q = len(rows.tokens) - 1
    for k in (0, q // 2, q - 1):
        rows.sees[q, k] ^= True
        check(compare_rows(rows, trace), f"{job.key}: row {q} and row {k}: whether it is seen")
        rows.sees[q, k] ^= True
        rows.position[k] += 1
        check(compare_rows(rows, trace), f"{job.key}: position of row {k}")
        rows.position[k] -= 1
    check(not compare_rows(rows, trace), f"{job.key}: the rows as they were")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--model", type=pathlib.Path)
    parser.add_argument("--data-root", type=pathlib.Path, default=DATA)
    parser.add_argument("--decoder", choices=DATASETS, action="append")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    tokenizer = DATA / "tokenizers" / "llama-2" / "tokenizer.json"
    needed = [options.data_root / name for name, _ in DATASETS.values()] + ([] if options.model else [tokenizer])
    missing = [str(path) for path in needed if not path.exists()]
    if missing:
        print(f"[skipped] {', '.join(missing)} is missing")
        return 77
    torch.set_num_threads(options.threads)
    check = Checks()
    check_worked_examples(check)
    with scratch(options.program) as pardec:
        model = options.model.resolve() if options.model else small_network(pardec.folder / "model", tokenizer)
        if options.keep:
            options.keep.mkdir(parents=True, exist_ok=True)
            pardec = Program(options.program, options.keep.resolve())
        ids = Ids(model / "tokenizer.json")
        eos = json.loads((model / "config.json").read_text())["eos_token_id"]
        eos = eos[0] if isinstance(eos, list) else eos
        replay = Replay(model)
        total = off = allowed = 0
        for decoder in options.decoder or DATASETS:
            limit = options.limit or {"hpd": 120, "ippd": 120}[decoder]
            settings, db, traces = run(pardec, decoder, model, options.data_root.resolve(), limit, options.threads)
            samples = {row["key"]: row for row in query(db, "SELECT * FROM sample")}
            jobs = [Job(decoder, settings, row, samples, ids, eos) for row in query(db, "SELECT * FROM job ORDER BY id")]
            by_request = {trace["request"]: trace for trace in traces}
            check(len(jobs) >= 20 and sorted(by_request) == sorted(job.key for job in jobs), f"{decoder}: {len(jobs)} jobs, {len(traces)} traces")
            counts = [0] * 5
            for job in jobs:
                of_job = check_job(check, replay, job, by_request[job.key])
                counts = [a + b for a, b in zip(counts, of_job)]
                print(f"{decoder} {job.key}: {job.contexts} contexts, {len(job.values)} fields, {of_job[0]} rows, {of_job[1]} choices, {of_job[2]} differ",
                      flush=True)
            print(f"{decoder}: {len(jobs)} jobs, {counts[0]} rows, {counts[1]} choices, {counts[2]} differ: {counts[3]} of the program's and {counts[4]} of "
                  "transformers' fp32 are not fp64's", flush=True)
            total += counts[0]
            off, allowed = off + counts[3], allowed + counts[4]
            smallest = min((job for job in jobs if job.contexts > 1), key=lambda job: job.fed)
            for spoiled in ({"gap": -1}, {"gap": 1}, {"later": 1}, {"later": -1}) if decoder == "hpd" else ({"shift": 1}, {"shift": -1}, {"mixed": True}):
                check_spoiled(check, replay, smallest, by_request[smallest.key], **spoiled)
            check_one_entry(check, smallest, by_request[smallest.key])
        rare = replay.ties * 10000 < total or (options.model and off <= allowed + 3 * (off + allowed) ** 0.5)
        check(rare, f"{replay.ties} ties in {total} rows, expected fewer than 1 in 10,000; {off} choices depart from fp64, of transformers' own {allowed}")
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
