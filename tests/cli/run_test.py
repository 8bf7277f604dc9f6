"""`pardec run`, `compare`, `generate` and the small verbs, from outside: what is printed is what is stored, and what is stored is right.

Usage: run_test.py PROGRAM

The project's samples and networks of random weights. Numbers of the table are computed again here from the database and the dataset's own file.
"""
import collections
import csv
import io
import json
import math
import pathlib
import re
import shutil
import subprocess
import sys

from harness import ROOT, SAMPLES, TINY, VOCABULARY, Checks, answers, change, clean_environment, query, records, scratch, write_lines, for_people

SHORT = ["--max-new-tokens", 24, "--set", "hpd.k_max=6", "--set", "hpd.stack=3", "--progress", "none"]
VERBS = ("run", "generate", "compare", "score", "model", "list", "doctor")
COUNTERS = set(json.loads((ROOT / "decoders/answers.schema.json").read_text())["properties"]["counters"]["required"])


def close(a, b, tolerance=1e-9):
    """Equal up to rounding of a few operations in double precision."""
    if a is None or b is None:
        return a is b
    return abs(a - b) <= tolerance * max(abs(a), abs(b), 1e-300)


# What a table says -------------------------------------------------------------------------------

def parse_md(text):
    rows = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]] for line in rows]
    return cells[0], cells[2:]


def parse_latex(text):
    body = text.split("\\toprule\n")[1].split("\\bottomrule")[0].replace("\\midrule\n", "")
    lines = [[c.strip() for c in line.removesuffix(" \\\\").split(" & ")] for line in body.strip().splitlines()]
    lines = [[c.replace("\\%", "%").replace("\\_", "_") for c in line] for line in lines]
    return lines[0], lines[1:]


def folded(columns, header, row):
    """(header, cell) of a csv row by json's columns: an interval's two and a difference's three or four are one again, as json, without a header."""
    left = collections.deque(zip(header, row))

    def take(name):
        if left[0][0] != name:
            sys.exit(f"csv has column {left[0][0]} where {name} was expected")
        text = left.popleft()[1]
        return float(text) if text else None

    for key in columns:
        if key.endswith("_interval"):
            ends = [take(key.removesuffix("_interval") + end) for end in ("_low", "_high")]
            yield None, "" if ends == [None, None] else json.dumps(ends)
        elif key.endswith("_difference"):
            estimate, *ends = [take(key + part) for part in ("", "_low", "_high")]
            p = {"p_mcnemar_holm": take(left[0][0])} if left and left[0][0] == key + "_p_mcnemar_holm" else {}
            yield None, "" if estimate is None else json.dumps({"estimate": estimate, "interval": ends, **p})
        elif key in ("stack", "in_flight"):
            both = [take(key), take(key + "_asked")]
            yield None, "" if both == [None, None] else json.dumps(both)
        elif key == "speedup_of_repeats" and left[0][0] != key:
            numbers = []
            while left and left[0][0] == f"{key}_{len(numbers) + 1}":
                numbers.append(take(left[0][0]))
            yield None, "" if None in numbers else json.dumps(numbers)
        else:
            yield left.popleft()
    if left:
        sys.exit(f"csv has more columns than json: {list(left)}")


def formats(check, pardec, db):
    """All five formats hold the same table; returns the rows of the json one."""
    printed = {f: pardec.good("compare", "--db", db, "--wide", "--format", f) for f in ("md", "csv", "json", "jsonl", "latex")}
    table = json.loads(printed["json"])
    check(set(table) == {"title", "columns", "rows", "conclusion", "notes", "warnings"} and all(list(row) == table["columns"] for row in table["rows"]), "json: keys of the table")
    check([json.loads(line) for line in printed["jsonl"].splitlines()] == table["rows"], "jsonl holds the rows of json")
    header, *rows = list(csv.reader(io.StringIO(printed["csv"])))
    md_header, md_rows = parse_md(printed["md"])
    tex_header, tex_rows = parse_latex(printed["latex"])
    rows = [list(folded(table["columns"], header, row)) for row in rows]
    people = [i for i, key in enumerate(table["columns"]) if for_people(key, md_header)]
    check(len(people) == len(md_header) and all(name in (None, key) for row in rows for key, (name, _) in zip(table["columns"], row, strict=True)) and md_header == tex_header,
          f"headers differ: {header}, {md_header}, {tex_header}")
    check(len(rows) == len(md_rows) == len(tex_rows) == len(table["rows"]), "the formats have as many rows")
    check(md_rows == tex_rows, "md and latex hold the same cells")
    for row, values, shown in zip(rows, table["rows"], md_rows):
        check(len(row) == len(values), "as many cells in csv as in json")
        items = list(values.items())
        for cell, (key, value), text in ((row[i][1], items[i], text) for i, text in zip(people, shown)):
            if value is None:
                check(cell == "" and text in ("-", "n/a"), f"{key}: null in json, '{cell}' in csv, '{text}' in md")
            elif isinstance(value, float):
                check(float(cell) == value, f"{key}: {value} in json, '{cell}' in csv")
                digits = re.match(r"-?\d+(\.(\d+))?", text)
                scale = 100 if text.endswith("%") else 1000 if text.endswith(" ms") else 1
                if key == "speedup" and text == "baseline":
                    continue
                check(digits and abs(float(digits[0]) - scale * value) <= 0.5000001 * 10 ** -len(digits[2] or ""), f"{key}: {value} in json, '{text}' in md")
            elif isinstance(value, (int, str)):
                check(cell == str(value), f"{key}: {value} in json, '{cell}' in csv")
                check(text == str(value) or key in ("dataset", "verdict") and text.startswith(value), f"{key}: {value} in json, '{text}' in md")
            else:
                if isinstance(value, dict):  # what csv has no column for
                    value = {k: v for k, v in value.items() if k not in ("margin", "verdict", "pairs", "left_out", "would_do")}
                check(json.loads(cell) == value, f"{key}: {value} in json, '{cell}' in csv")
    check("own sample" in printed["md"] and "untrained" in printed["md"] and all(r["dataset_is_sample"] and "sample" not in r["dataset"] for r in table["rows"]),
          "the table says that the data is a sample and the network untrained")
    return table["rows"]


# What is stored ----------------------------------------------------------------------------------

def fields_of_category(dataset):
    """The attributes that every product of a category is asked for: those of train.jsonl, in order of appearance."""
    lists = collections.defaultdict(dict)
    for record in records(dataset, "train"):
        lists[record["category"]].update(dict.fromkeys(record["target_scores"]))
    return {category: list(attributes) for category, attributes in lists.items()}


def f1(vc, predicted, wanted):
    precision, recall = vc / predicted if predicted else 0, vc / wanted if wanted else 0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0


def extractgpt(dataset, predictions, strict=False):
    """(micro, macro) value F1 of {sample: {attribute: prediction}}: exact matches among accepted values, by pair of category and attribute."""
    pairs = collections.defaultdict(collections.Counter)
    for i, record in enumerate(records(dataset)):
        for attribute, predicted in predictions[f"test-{i}"].items():
            annotated = record["target_scores"].get(attribute)
            if annotated is None and not strict:
                continue
            references = [] if annotated is None or next(iter(annotated)) == "n/a" else [v.strip() for v in annotated if v != "n/a"]
            absent = predicted in ("", "n/a", "None")
            count = pairs[record["category"], attribute]
            count["vc"] += bool(references) and not absent and predicted in references
            count["predicted"] += not absent
            count["wanted"] += bool(references)
    pairs = [p for p in pairs.values() if p["predicted"] or p["wanted"]]
    total = sum(pairs, collections.Counter())
    return f1(total["vc"], total["predicted"], total["wanted"]), sum(f1(p["vc"], p["predicted"], p["wanted"]) for p in pairs) / len(pairs)


def numbers(check, db, rows):
    """products/s, ratio of totals, identical share, tokens a forward and F1 from the tables and the dataset's file."""
    for row in rows:
        dataset, label = row["dataset"].split()[0], row["arm"]
        run = query(db, "SELECT run.* FROM run JOIN dataset ON dataset.id = dataset_id WHERE label = ? AND name = ?", label, dataset)[0]
        what = f"{dataset} {label}"
        blocks = query(db, "SELECT * FROM block WHERE run_id = ? AND wall_ns IS NOT NULL", run["id"])
        check(close(row["examples_per_second"], sum(b["example_count"] for b in blocks) / sum(b["wall_ns"] for b in blocks) * 1e9),
              f"{what}: {row['examples_per_second']} products/s")
        jobs = query(db, "SELECT * FROM job WHERE run_id = ?", run["id"])
        check(close(row["tokens_per_forward"], sum(j["chosen"] for j in jobs) / sum(j["forwards"] for j in jobs)), f"{what}: tokens a forward")
        generations = query(db, "SELECT generation.*, sample.key AS sample FROM generation JOIN sample ON sample.id = sample_id WHERE run_id = ?", run["id"])
        check(row["n"] == len(generations) == len(records(dataset)) and row["failed"] == 0, f"{what}: {row['n']} answers")
        if run["baseline"]:
            base = query(db, "SELECT id FROM run WHERE invocation = ? AND dataset_id = ? AND label = ?", run["invocation"], run["dataset_id"],
                         run["baseline"])[0]
            theirs = {b["block_key"]: b for b in query(db, "SELECT * FROM block WHERE run_id = ?", base["id"])}
            check(all(theirs[b["block_key"]]["process"] == b["process"] for b in blocks) and row["blocks"] == len(blocks), f"{what}: blocks in pairs")
            ratio = sum(theirs[b["block_key"]]["wall_ns"] for b in blocks) / sum(b["wall_ns"] for b in blocks)
            check(close(row["speedup"], ratio), f"{what}: speedup {row['speedup']}, totals give {ratio}")
            low, high = row["speedup_interval"]  # there are six blocks
            check(low <= ratio <= high, f"{what}: {ratio} lies outside of its interval {low}, {high}")
            other = {g["sample_id"]: [f["text"] for f in json.loads(g["fields"])]
                     for g in query(db, "SELECT sample_id, fields FROM generation WHERE run_id = ?", base["id"])}
            same = [other[g["sample_id"]] == [f["text"] for f in json.loads(g["fields"])] for g in generations]
            check(close(row["identical"], sum(same) / len(same)), f"{what}: identical {row['identical']}, the fields give {sum(same) / len(same)}")
            check([bool(g["identical"]) for g in generations] == same, f"{what}: column identical")
            check(all((g["first_difference"] is None) == bool(g["identical"]) for g in generations), f"{what}: where answers differ stands for those that do")
        else:
            check(row["identical"] is None and row["speedup_interval"] is None and row["speedup"] == 1, f"{what}: the baseline's row: {row}")
        asked = fields_of_category(dataset)
        by_sample = {g["sample"]: json.loads(g["fields"]) for g in generations}
        for i, record in enumerate(records(dataset)):
            check([f["name"] for f in by_sample[f"test-{i}"]] == asked[record["category"]], f"{what}: product {i} was asked for its category's attributes")
        predictions = {sample: {f["name"]: f["text"] for f in fields} for sample, fields in by_sample.items()}
        micro, macro = extractgpt(dataset, predictions)
        strict, _ = extractgpt(dataset, predictions, strict=True)
        check(close(row["f1_micro"], micro) and close(row["f1_macro"], macro) and close(row["f1_strict"], strict),
              f"{what}: F1 {row['f1_micro']}, {row['f1_macro']}, {row['f1_strict']}; computed again {micro}, {macro}, {strict}")


def identities(check, what, db):
    """What the counters of every job say of one another."""
    for job in query(db, "SELECT job.*, run.decoder, run.options FROM job JOIN run ON run.id = run_id WHERE job.error IS NULL"):
        where = f"{what}: {job['decoder']} {job['key']}"
        histogram = {h["emitted"]: h["forwards"] for h in query(db, "SELECT * FROM step_histogram WHERE job_id = ?", job["id"])}
        branches = json.loads(job["branch_lengths"])
        fields = [f for g in query(db, "SELECT fields FROM generation WHERE job_id = ? ORDER BY id", job["id"]) for f in json.loads(g["fields"])]
        check(sum(histogram.values()) == job["forwards"], f"{where}: the histogram's forwards {histogram}, {job['forwards']}")
        check(sum(n * k for n, k in histogram.items()) == job["chosen"], f"{where}: the histogram's tokens {histogram}, {job['chosen']}")
        check(sum(branches) == job["chosen"] and len(branches) == job["branches"], f"{where}: branches {branches}, chosen {job['chosen']}")
        check(close(job["parallel_ratio"], job["chosen"] / job["forwards"]), f"{where}: parallel ratio")
        check(0 <= job["text_tokens"] <= job["chosen"], f"{where}: text {job['text_tokens']} of {job['chosen']}")
        options = json.loads(job["options"])
        # Every chosen token is fed but the last of its stream; with forced keys a value cut short is fed whole, if another key follows.
        unfed = job["branches"] if not options.get("forced_keys") else 1 + sum(f["stop"] == "terminator" for f in fields[:-1])
        check(job["fed"] == job["prompt_tokens"] + job["forced"] + job["chosen"] - unfed,
              f"{where}: fed {job['fed']}, prompt {job['prompt_tokens']}, forced {job['forced']}, chosen {job['chosen']}, not fed {unfed}")
        check(job["cached_peak"] == job["fed"] and job["scratch"] == 0, f"{where}: nothing is dropped, {job['cached_peak']} of {job['fed']} rows are kept")
        # Of prompts that run side by side the longest time holds, for each of the three.
        both = job["prefill_ns"] + job["decode_ns"]
        check(job["prefill_ns"] > 0 and (both == job["total_ns"] if options.get("ask") != "separately" else job["decode_ns"] <= job["total_ns"] <= both),
              f"{where}: prefill {job['prefill_ns']} and decode {job['decode_ns']} make up the total {job['total_ns']}")
        if job["decoder"] == "hpd":
            check(len(branches) == len(fields) and [len(f["tokens"]) for f in fields] == branches, f"{where}: one stream a value")
            check(max(branches) <= options["k_max"] and max(branches) == job["forwards"],
                  f"{where}: the longest value has {max(branches)} tokens in {job['forwards']} forwards")
            check(histogram.get(len(branches), 0) >= 1, f"{where}: the first forward gives a token of each value")
            check(all(f["stop"] == "terminator" or len(f["tokens"]) == options["k_max"] for f in fields), f"{where}: values end at a terminator or at K_max")
            examples = json.loads(job["key"])
            check(len(examples) <= options["stack"], f"{where}: {len(examples)} products, stack {options['stack']}")
        elif options["ask"] == "together" and not options["forced_keys"]:
            tokens = json.loads(job["tokens"])
            check(len(tokens) == job["chosen"] == job["forwards"] and job["forced"] == 0,
                  f"{where}: {len(tokens)} ids, chosen {job['chosen']}, forwards {job['forwards']}")
            n = job["prompt_tokens"]
            check(job["attended"] == n * (n + 1) // 2 + sum(range(n + 1, job["fed"] + 1)), f"{where}: every row sees itself and all before it")
            top2 = json.loads(job["top2"])
            check(len(top2["stream"]) == len(tokens) and min(top2["stream"]) >= 0, f"{where}: a gap for each choice")


# Running -----------------------------------------------------------------------------------------

def main_run(check, pardec, model):
    db = pardec.folder / "main.sqlite"
    ran = pardec("run", "--model", model, "--arm", "ar=ar", "--arm", "keys=ar,forced_keys=true", "--arm", "one=ar,ask=separately", "--arm", "hpd=hpd",
                 "--dataset", "oa-mine,ae-110k", "--per-field", 5, "--block", 4, "--db", db, *SHORT)
    check(ran.returncode == 0, f"run: exit {ran.returncode}: {ran.stderr}")
    check("\x1b" not in ran.stdout + ran.stderr and "\r" not in ran.stderr, "no escape codes where no terminal is")
    again = pardec.good("compare", "--db", db)
    check(ran.stdout == again, "run prints what compare prints")
    check(ran.stderr.splitlines()[-1] == f"database: {db}" and "own sample of 38" in ran.stderr,
          f"run says where the database is, and that a sample is used: {ran.stderr}")
    rows = formats(check, pardec, db)
    check([r["arm"] for r in rows] == ["ar", "keys", "one", "hpd"] * 2, f"rows {[r['arm'] for r in rows]}")
    numbers(check, db, rows)
    identities(check, "run", db)
    for extra in (["--accounting"], ["--accounting", "--usd-per-hour", 3.77], ["--differences", 5]):
        table = json.loads(pardec.good("compare", "--db", db, "--format", "json", *extra))
        check(table["rows"] and all(list(r) == table["columns"] for r in table["rows"]), f"compare {extra}")
        if extra == ["--accounting"]:
            for row in table["rows"]:
                sums = query(db, """SELECT sum(prompt_tokens) AS prompt, sum(forced) AS forced, sum(chosen) AS chosen, sum(fed) AS fed,
                                    sum(text_tokens) AS text, sum(forwards) AS forwards, sum(attended) AS attended,
                                    max(cached_peak) AS cached_peak, count(*) AS jobs
                                    FROM job JOIN run ON run.id = run_id JOIN dataset ON dataset.id = dataset_id WHERE label = ? AND name = ?""",
                             row["arm"], row["dataset"].split()[0])[0]
                check(all(row[key] == value for key, value in sums.items()), f"accounting of {row['arm']} on {row['dataset']}: {row}, stored {sums}")
    baseline = json.loads(pardec.good("compare", "--db", db, "--format", "json", "--baseline", "hpd"))["rows"]
    by_arm = {(r["dataset"], r["arm"]): r for r in rows}
    for row in baseline:
        if row["arm"] == "ar":
            check(close(row["speedup"], 1 / by_arm[row["dataset"], "hpd"]["speedup"]), "the ratio the other way round is the inverse")
    run = query(db, "SELECT * FROM run")[0]
    check(json.loads(run["argv"])[1:4] == ["run", "--model", str(model)], f"argv {run['argv']}")
    said = [run[key] for key in ("untrained", "threads", "device", "dtype")]
    check(said == [1, 1, "cpu", "fp32"] and run["commit_hash"] and run["ended_utc"] > run["started_utc"], f"the run row: {run}")
    check(json.loads(query(db, "SELECT json FROM environment")[0]["json"])["processor"] is not None, "the environment is stored")
    return db


def same_answers(check, pardec, model):
    """Seed, batch size, order and blocks: what may change answers and what may not."""
    base = ["run", "--model", model, "--decoder", "ar,hpd", "--dataset", "oa-mine", *SHORT]

    def of(name, *more):
        pardec.good(*base, "--db", f"{name}.sqlite", *more)
        return answers(pardec.folder / f"{name}.sqlite")

    greedy = of("greedy", "--batch-size", 8)
    for what, more in (("batch size 1", ["--batch-size", 1]), ("batch size 5", ["--batch-size", 5]), ("blocks of 2", ["--block", 2]),
                       ("blocked order", ["--order", "blocked"]), ("another seed", ["--seed", 7]), ("no warm-up", ["--warmup", 0])):
        check(of(what.replace(" ", "-"), *more) == greedy, f"{what} changes greedy answers")
    sampled = of("sampled", "--temperature", 1.0, "--top-k", 50, "--top-p", 0.95)
    check(sampled != greedy, "temperature changes answers")
    check(of("sampled-again", "--temperature", 1.0, "--top-k", 50, "--top-p", 0.95) == sampled, "the same seed gives the same answers")
    check(of("sampled-packed", "--temperature", 1.0, "--top-k", 50, "--top-p", 0.95, "--batch-size", 3) == sampled, "batch size changes sampled answers")
    check(of("sampled-seed", "--temperature", 1.0, "--top-k", 50, "--top-p", 0.95, "--seed", 2) != sampled, "another seed gives other answers")
    repeats = of("repeats", "--runs", 2, "--limit", 4)
    check({key[3] for key in repeats} == {0, 1} and all(repeats[(*key[:3], 0)] == value for key, value in repeats.items()), "--runs 2 repeats every answer")


def limits(check, pardec, model):
    """--limit takes one sample for all arms, spread over categories by whole stacks; --offset goes on behind it."""
    def taken(*more):
        db = pardec.folder / "limit.sqlite"
        db.unlink(missing_ok=True)
        pardec.good("run", "--model", model, "--decoder", "ar,hpd", "--dataset", "oa-mine", *SHORT, "--db", db, *more)
        found = collections.defaultdict(set)
        for label, _, sample, _ in answers(db):
            found[label].add(sample)
        check(found["ar"] == found["hpd"], f"{more}: arms take other samples: {dict(found)}")
        return found["ar"]

    category = {f"test-{i}": r["category"] for i, r in enumerate(records("oa-mine"))}
    six = taken("--limit", 6)
    jobs = [json.loads(row["key"]) for row in query(pardec.folder / "limit.sqlite", "SELECT job.key FROM job JOIN run ON run.id = run_id WHERE label = 'hpd'")]
    full = collections.Counter(category.values())
    check(all(len(job) == min(3, full[category[job[0]]]) or job == jobs[-1] for job in jobs) and len({category[job[0]] for job in jobs}) > 1, f"--limit 6 takes whole stacks, where there are so many of a category: {jobs} of {full}")
    check(taken("--limit", 6) == six, "--limit takes the same again")
    check(taken("--limit", 6, "--set", "hpd.isolated=values", "--batch-size", 3) == six, "--limit does not depend on the arms' other options")
    check(taken("--limit", 6, "--seed", 2) != six, "--limit under another seed takes others")
    rest = taken("--offset", 6)
    check(not rest & six and len(rest | six) == len(category), "--offset 6 leaves out what --limit 6 takes")
    check(taken("--limit", 1000) == set(category), "--limit beyond the end takes all")


def precedence(check, pardec, model):
    """flag > environment > -c file > default."""
    file = pardec.folder / "experiment.json"
    file.write_text(json.dumps({"name": "e", "model": str(model), "datasets": ["oa-mine"], "batch_size": 3, "limit": 6, "seed": 4,
                                "decoders": [{"label": "base", "name": "ar"}, {"label": "fast", "name": "hpd", "set": {"k_max": 5, "hpd.stack": 2}}]}))

    def plan(*args, env=None):
        return json.loads(pardec.good("run", "--dry-run", "--format", "json", *args, env=env))["rows"]

    in_flight = lambda *args, env=None: {r["in flight"] for r in plan(*args, env=env)}
    check(in_flight("--decoder", "ar", "--dataset", "oa-mine") == {8}, "the default")
    rows = plan("-c", file)
    check([(r["arm"], r["decoder"], r["in flight"], r["examples"]) for r in rows] == [("base", "ar", 3, 6), ("fast", "hpd", 3, 6)],
          f"the file's values: {rows}")
    check(json.loads(rows[1]["options"]) == {"k_max": 5, "stack": 2, "isolated": "none"}, f"the file's options: {rows[1]['options']}")
    check(in_flight("-c", file, env={"PARDEC_BATCH_SIZE": 4}) == {4}, "the environment beats the file")
    check(in_flight("-c", file, "--batch-size", 5, env={"PARDEC_BATCH_SIZE": 4}) == {5}, "the flag beats the environment")
    check(in_flight("--decoder", "ar", "--dataset", "oa-mine", env={"PARDEC_BATCH_SIZE": 4}) == {4}, "the environment beats the default")
    check([r["arm"] for r in plan("-c", file, "--decoder", "hpd")] == ["hpd"], "decoders of the command line replace the file's")
    check({r["dataset"].split()[0] for r in plan("-c", file, env={"PARDEC_DATASET": "ae-110k"})} == {"ae-110k"},
          "datasets of the environment replace the file's")
    arms = plan("--decoder", "ar", "--dataset", "oa-mine", "--arm", "wide=hpd,k_max=9,batch_size=2", "--set", "hpd.k_max=4", "--set", "batch_size=6")
    check([(r["arm"], r["in flight"]) for r in arms] == [("ar", 6), ("wide", 2)] and json.loads(arms[1]["options"])["k_max"] == 9,
          f"an arm's own option beats --set: {arms}")
    check([r["compared with"] for r in arms] == ["-", "ar"], f"hpd is compared with ar: {arms}")


def dry_run(check, pardec):
    before = sorted(pardec.folder.rglob("*"))
    for flags in ([], ["--resume"], ["--shard", "1/3"]):
        ran = pardec("run", "--dry-run", "--model", "/nowhere/at/all", "--decoder", "ar,hpd", "--dataset", "oa-mine,ae-110k", *flags)
        check(ran.returncode == 0 and "Plan" in ran.stdout, f"--dry-run {flags} without a model: exit {ran.returncode}: {ran.stderr}")
    check(sorted(pardec.folder.rglob("*")) == before, "--dry-run writes something")


def needs(check, pardec, model):
    """--dry-run and doctor say what decoders do and need, before weights are read."""
    bare = pardec.folder / "bare"  # config.json and a tokenizer without control tokens, no weights
    shutil.copytree(model, bare, ignore=shutil.ignore_patterns("*.safetensors"))
    tokenizer = json.loads((bare / "tokenizer.json").read_text())
    tokenizer["added_tokens"] = [t for t in tokenizer["added_tokens"] if "Fork" not in t["content"]]
    for name in [t for t in tokenizer["model"]["vocab"] if "Fork" in t]:
        tokenizer["model"]["vocab"][name.replace("Fork", "Frok")] = tokenizer["model"]["vocab"].pop(name)
    (bare / "tokenizer.json").write_text(json.dumps(tokenizer))
    plan = ["run", "--dry-run", "--dataset", "oa-mine", "--format", "json", "--model", bare]
    rows = {r["arm"]: r for r in json.loads(pardec.good(*plan, "--decoder", "ar,ippd,aspd,space", "--arm", "sep=ar,ask=separately"))["rows"]}
    check({a: r["form"] for a, r in rows.items()} == {"ar": "json", "ippd": "value", "aspd": "json", "space": "json", "sep": "value"}, f"forms: {rows}")
    check(rows["ar"]["needs"] == "-" and rows["space"]["needs"] == f"[M] is {tokenizer['model']['vocab'].get('<mask>', 6)}"
          and rows["aspd"]["needs"].startswith("<Title> is "), f"needs: {rows}")
    ran = pardec(*plan, "--decoder", "ar,apar")
    check(ran.returncode == 2 and {r["arm"]: r["needs"] for r in json.loads(ran.stdout)["rows"]} == {"ar": "-", "apar": "lacking"}
          and "arm 'apar' cannot run: tokenizer.json has no token [Fork]" in ran.stderr and "--set apar.fork_token=ID" in ran.stderr,
          f"a plan that lacks a token: exit {ran.returncode}: {ran.stderr}")
    named = pardec.good(*plan, "--decoder", "apar", "--set", "apar.fork_token=11")
    check("[Fork] is 11, [Child]" in named, f"a token that is named: {named}")
    drafting = json.loads(pardec.good(*plan, "--decoder", "speculative", "--draft-model", model))["rows"]
    check(drafting[0]["needs"] == f"draft model {model}", f"a draft model: {drafting}")
    sick = {r["check"]: r for r in json.loads(pardec("doctor", "--model", bare, "--format", "json").stdout)["rows"]}
    check(sick["decoder ar"]["state"] == "good" and "attributes: json; questions: json; open prompts: free" in sick["decoder ar"]["detail"], f"doctor: {sick}")
    check(sick["decoder hpd"]["state"] == "good" and "open prompts: n/a" in sick["decoder hpd"]["detail"], f"doctor: {sick['decoder hpd']}")
    check(sick["decoder apar"]["state"] == "n/a" and "lacks: tokenizer.json has no token [Fork]" in sick["decoder apar"]["detail"]
          and sick["model"]["state"] == "BAD", f"doctor: {sick['decoder apar']}")
    names = {json.loads(line)["name"] for line in pardec.good("list", "decoders", "--format", "jsonl").splitlines()}
    check({c.removeprefix("decoder ") for c in sick if c.startswith("decoder ")} == names, "doctor speaks of every decoder")


def failures(check, pardec, model):
    """A product that does not fit is a row with its reason; the others are answered; exit 3."""
    root = pardec.folder / "long-data"
    shutil.copytree(SAMPLES, root)
    products = records("oa-mine")[:6]
    write_lines(root / "oa-mine" / "test.jsonl", [*products[:2], {**products[2], "input": "Tolvane " * 4000}, *products[3:]])
    args = ["run", "--model", model, "--decoder", "ar,hpd", "--dataset", "oa-mine", "--data-root", root, *SHORT]
    ran = pardec(*args, "--db", "failed.sqlite", "--format", "json")
    check(ran.returncode == 3, f"failed samples: exit {ran.returncode}, expected 3: {ran.stderr}")
    check("4 of 12 answers failed" in ran.stderr.splitlines()[-1] and "error" in ran.stderr.splitlines()[-1],
          f"the last line says how many failed and where: {ran.stderr}")
    rows = {r["arm"]: r for r in json.loads(ran.stdout)["rows"]}
    check((rows["ar"]["n"], rows["ar"]["failed"], rows["hpd"]["failed"]) == (6, 1, 3), f"the table counts them: {rows}")
    check(all(not r["dataset_is_sample"] for r in rows.values()), "with a data root nothing is called a sample")
    bad = query(pardec.folder / "failed.sqlite", """SELECT label, key, generation.* FROM generation JOIN run ON run.id = run_id
                                                        JOIN sample ON sample.id = sample_id WHERE error IS NOT NULL""")
    check(len(bad) == 4 and all("context overflow" in b["error"] and "4096" in b["error"] and b["stop"] == "error" and b["text"] == "" for b in bad),
          f"failed rows: {bad}")
    check({b["key"] for b in bad if b["label"] == "ar"} == {"test-2"}, f"only the long title fails: {bad}")
    scored = query(pardec.folder / "failed.sqlite", """SELECT count(*) AS n, max(value) AS most FROM score JOIN generation ON generation.id = generation_id
                                                        WHERE error IS NOT NULL AND metric IN ('extractgpt_f1', 'strict_f1')""")[0]
    check(scored["n"] == 2 * len(bad) and scored["most"] == 0, f"failed answers have the scores of wrong ones: {scored}")
    timed = query(pardec.folder / "failed.sqlite", """SELECT count(*) AS n FROM block WHERE wall_ns IS NOT NULL AND EXISTS
                                                       (SELECT 1 FROM job WHERE block_id = block.id AND error IS NOT NULL)""")[0]["n"]
    check(timed == 0, "blocks with a failure have no time")
    good = pardec(*args, "--db", "tolerated.sqlite", "--fail-on-error", 0.5)
    check(good.returncode == 0, f"--fail-on-error 0.5: exit {good.returncode}: {good.stderr}")
    ran = pardec(*args, "--db", "failed.sqlite", "--resume")
    check(ran.returncode == 3 and "4 of 12" in ran.stderr, f"--resume counts failures of before: exit {ran.returncode}: {ran.stderr}")


def oracle(check, pardec, model):
    """Forced references: speed alone, marked everywhere, and no score."""
    db = pardec.folder / "oracle.sqlite"
    ran = pardec("run", "--model", model, "--decoder", "ar,hpd", "--dataset", "oa-mine", "--oracle", "references", "--db", db, "--format", "json",
                 "--progress", "none")
    check(ran.returncode == 0, f"oracle: exit {ran.returncode}: {ran.stderr}")
    table = json.loads(ran.stdout)
    check("oracle references" in table["title"] and any("oracle" in note for note in table["notes"]), "the table says that an oracle chose")
    check(all(r["f1_micro"] is None and r["f1_macro"] is None and r["f1_strict"] is None for r in table["rows"]), "no quality under an oracle")
    check(query(db, "SELECT count(*) AS n FROM score")[0]["n"] == 0, "no score is stored under an oracle")
    check({r["oracle"] for r in query(db, "SELECT oracle FROM run")} == {"references"}, "run.oracle")
    try:
        change(db, "INSERT INTO score (generation_id, metric, version, field, value, is_nan) SELECT id, 'x', '1', '', 1, 0 FROM generation LIMIT 1")
        check(False, "the database takes a score of an oracle run")
    except Exception as error:
        check("oracle" in str(error), f"the database refuses a score: {error}")
    asked = fields_of_category("oa-mine")
    for generation in query(db, "SELECT label, key, generation.fields FROM generation JOIN run ON run.id = run_id JOIN sample ON sample.id = sample_id"):
        record = records("oa-mine")[int(generation["key"].split("-")[1])]
        wanted = [next(iter(record["target_scores"].get(name, {"": 1}))) for name in asked[record["category"]]]
        got = [f["text"] for f in json.loads(generation["fields"])]
        check(got == wanted, f"oracle {generation['label']} {generation['key']}: {got}, the references are {wanted}")
    unforced = query(db, "SELECT count(*) AS n FROM job WHERE unforced IS NULL")[0]["n"]
    check(unforced == 0, "what the network itself chose is kept")
    hpd = next(r for r in table["rows"] if r["arm"] == "hpd")
    check(0 <= hpd["same_choices"] <= 1 and hpd["tokens_per_forward"] > 2, f"hpd under the oracle: {hpd}")


def raise_logits(file, token, factor):
    """Multiplies a row of the output matrix (bf16) by a power of two."""
    data = bytearray(file.read_bytes())
    length = int.from_bytes(data[:8], "little")
    head = json.loads(data[8:8 + length])["lm_head.weight"]
    width = head["shape"][1]
    begin = 8 + length + head["data_offsets"][0] + 2 * token * width
    for at in range(begin, begin + 2 * width, 2):
        value = int.from_bytes(data[at:at + 2], "little")
        if value & 0x7F80:
            data[at:at + 2] = (value + 0x80 * (factor.bit_length() - 1)).to_bytes(2, "little")
    file.write_bytes(data)


def refused_oracles(check, pardec):
    """Before any model is read: there is none here."""
    for args, words in ((["--decoder", "ar", "--dataset", "oa-mine,mt-bench", "--oracle", "references"], "mt-bench has open prompts"),
                        (["--arm", "guessing=apar,medusa=1x2x2", "--dataset", "oa-mine", "--oracle", "recorded:0123456789ab"], "arm 'guessing'")):
        db = pardec.folder / "refused.sqlite"
        ran = pardec("run", "--model", pardec.folder / "nowhere", *args, "--db", db)
        check(ran.returncode == 2 and words in ran.stderr and not db.exists(), f"refused {args}: exit {ran.returncode}: {ran.stderr}")


def recorded(check, pardec):
    """What a run chose is forced on another network: the same ids, threads and passes; apar's control tokens included."""
    db = pardec.folder / "recorded.sqlite"
    def data(limit=4, tokens=40):
        return ["--dataset", "oa-mine", "--limit", limit, "--db", db, "--max-new-tokens", tokens, "--progress", "none", "--format", "json"]

    fork = 9  # random weights have no [Fork] of their own
    model = pardec.synthesise("forking", seed=2)
    raise_logits(model / "model.safetensors", fork, 8)
    arms = ["--decoder", "ar,apar,aspd", "--set", "aspd.tokens=20,21,22,23,24,25", "--set", f"apar.fork_token={fork}", "--set", "apar.child_token=7", "--set", "apar.max_depth=0"]
    pardec.good("run", "--model", model, *arms, *data())
    recording = query(db, "SELECT invocation FROM run WHERE decoder = 'apar'")[0]["invocation"]
    columns = "label, key, text, tokens, job.stop, chosen, forced, fed, text_tokens, forwards, cached_peak, cached_sum, attended, branch_lengths"
    jobs = f"SELECT {columns} FROM job JOIN run ON run.id = run_id WHERE %s ORDER BY label, key"
    truth = query(db, jobs % "invocation = ?", recording)
    check(sum(len(json.loads(j["branch_lengths"])) for j in truth if j["label"] == "apar") > 8, "apar: random weights fork")
    other = pardec.synthesise("other", seed=77)
    ran = pardec("run", "--model", other, *arms, "--oracle", f"recorded:{recording[:12]}", *data())
    check(ran.returncode == 0, f"recorded: exit {ran.returncode}: {ran.stderr}")
    forced = query(db, jobs % "run.oracle IS NOT NULL")
    check(len(forced) == 12 and forced == truth, f"recorded: forced {forced[:2]}, recorded {truth[:2]}")
    check(query(db, "SELECT count(*) AS n FROM score JOIN generation ON generation.id = generation_id JOIN run ON run.id = run_id "
                    "WHERE oracle IS NOT NULL")[0]["n"] == 0, "recorded: no score")
    for args, words in ((data(tokens=41), "max_new_tokens 40, this run 41"), (data(limit=5), "has no job"),
                        ([*data(), "--set", "apar.max_threads=3"], "none of its arms is apar")):
        ran = pardec("run", "--model", other, *arms, *args, "--oracle", f"recorded:{recording}")
        check(ran.returncode == 2 and words in ran.stderr, f"recorded {args}: exit {ran.returncode}: {ran.stderr}")


def common_context(check, pardec, model):
    """ippd against ar ask=separately: the same answers field by field, and EM says so; what a shared prefix saves; forced references."""
    arms = {"sep": "ar,ask=separately", "pc": "ar,ask=separately,prefix_cache=context", "ippd": "ippd,contexts=1",
            "cached": "ippd,contexts=1,prefix_cache=true", "stacked": "ippd,contexts=3"}
    base = ["run", "--model", model, "--dataset", "oa-mine,ae-110k", "--limit", 8, "--block", 8, "--batch-size", 3, "--progress", "none"]
    args = [*base, "--per-field", 5, *(part for label, arm in arms.items() for part in ("--arm", f"{label}={arm}"))]
    dry = json.loads(pardec.good(*args, "--dry-run", "--format", "json"))["rows"]
    check(all(row["compared with"] == "sep" for row in dry if row["arm"].endswith(("ippd", "cached", "stacked"))), f"ippd's baseline: {dry}")
    db = pardec.folder / "ippd.sqlite"
    rows = json.loads(pardec.good(*args, "--db", db, "--baseline", "sep", "--format", "json"))["rows"]
    fields = collections.defaultdict(list)
    for row in query(db, """SELECT run.label, dataset.name, sample.key, generation.fields FROM generation JOIN run ON run.id = run_id
                            JOIN dataset ON dataset.id = run.dataset_id JOIN sample ON sample.id = sample_id ORDER BY dataset.name, sample.key"""):
        fields[row["name"], row["label"]] += [f["tokens"][:-1] if f["stop"] == "eos" else f["tokens"] for f in json.loads(row["fields"])]
    for row in rows:
        dataset, label = row["dataset"].split()[0], row["arm"]
        if label == "sep":
            check(row["em"] is None, f"EM of the baseline: {row}")
            continue
        ours, theirs = fields[dataset, label], fields[dataset, "sep"]
        share = sum(a == b for a, b in zip(ours, theirs)) / len(theirs)
        check(len(ours) == len(theirs) > 12 and close(row["em"], share), f"{dataset} {label}: EM {row['em']}, the ids give {share}")
        check(share == 1 and row["identical"] == 1, f"{dataset} {label}: {share} of the fields equal independent decoding")
    accounting = {(r["dataset"], r["arm"]): r for r in json.loads(pardec.good("compare", "--db", db, "--accounting", "--format", "json"))["rows"]}
    sums = query(db, """SELECT dataset.name, label, sum(fed + cached_sum) AS accesses FROM job JOIN run ON run.id = run_id
                        JOIN dataset ON dataset.id = dataset_id GROUP BY run.id""")
    check(all(accounting[s["name"], s["label"]]["attention_accesses"] == s["accesses"] for s in sums), f"q + K,V: {sums}")
    for dataset in ("oa-mine", "ae-110k"):
        of = {label: accounting[dataset, label] for label in arms}
        prompts = [of[label]["prompt"] for label in ("sep", "ippd", "cached", "pc", "stacked")]
        check(prompts[0] > prompts[1] > prompts[2] == prompts[3] == prompts[4], f"{dataset}: tokens of prompts fed: {prompts}")
        check(len({r["chosen"] for r in of.values()}) == 1, f"{dataset}: all choose as many ids: {of}")
        check(of["sep"]["attention_accesses"] > of["ippd"]["attention_accesses"], f"{dataset}: memory accesses: {of}")

    db = pardec.folder / "ippd-oracle.sqlite"
    table = json.loads(pardec.good(*base, "--arm", "sep=ar,ask=separately", "--arm", "ippd=ippd,contexts=3", "--arm", "cached=ippd,prefix_cache=true",
                                   "--oracle", "references", "--db", db, "--format", "json"))
    check("em" not in table["columns"] and all(0 <= r["same_choices"] <= 1 for r in table["rows"] if r["arm"] != "sep"), f"ippd under the oracle: {table}")
    check(all(r["same_choices"] == 1 for r in table["rows"] if r["arm"] == "ippd"), f"after equal ids ippd's choices are ar's: {table['rows']}")
    for job in query(db, "SELECT job.*, run.label, run.options FROM job JOIN run ON run.id = run_id WHERE decoder = 'ippd'"):
        branches, histogram = json.loads(job["branch_lengths"]), {h["emitted"]: h["forwards"] for h in query(db, "SELECT * FROM step_histogram WHERE job_id = ?", job["id"])}
        first = histogram.pop(0, 0)  # the pass of the shared instruction
        check(first <= json.loads(job["options"])["prefix_cache"] and job["forwards"] == first + max(branches), f"{job['key']}: {job['forwards']} forwards")
        widths = collections.Counter(sum(b >= t for b in branches) for t in range(1, max(branches) + 1))
        check(histogram == widths, f"{job['key']}: step widths {histogram}, lengths give {widths}")
    asked = {name: fields_of_category(name) for name in ("oa-mine", "ae-110k")}
    for generation in query(db, """SELECT run.label, dataset.name, sample.key, generation.fields FROM generation JOIN run ON run.id = run_id
                                   JOIN dataset ON dataset.id = run.dataset_id JOIN sample ON sample.id = sample_id"""):
        record = records(generation["name"])[int(generation["key"].split("-")[1])]
        wanted = [next(iter(record["target_scores"].get(name, {"": 1}))) for name in asked[generation["name"]][record["category"]]]
        got = [f["text"] for f in json.loads(generation["fields"])]
        check(got == ["" if w == "n/a" else w for w in wanted], f"oracle {generation['label']} {generation['key']}: {got}, the references are {wanted}")
    stats = json.loads(pardec.good("data", "stats", "--attention", "--format", "json"))["rows"]
    published = {r["dataset"]: r for r in stats}
    check(round(published["paper: narrativeqa"]["prefill_flop_factor"], 3) == 1.206 and round(published["paper: squad"]["prefill_access_ratio"], 2) == 6.18,
          f"the paper's factors: {published}")
    ours = published["oa-mine"]
    check(ours["total_access_ratio"] > 1 and ours["M"] > 1 and ours["p"] > ours["c"], f"the model on a sample: {ours}")


def own_metrics(check, pardec):
    """ASPD's and APAR's own columns: there where such an arm is, computed again here from the database."""
    fork = 9  # as in `recorded`
    model = pardec.synthesise("threads", seed=2)
    raise_logits(model / "model.safetensors", fork, 8)
    own = {"dp", "abn", "ppd", "tps", "p_tps"}, {"threads_per_answer", "parallel_share", "max_cached", "attended_per_token"}
    base = ["run", "--model", model, "--dataset", "oa-mine", "--limit", 6, "--max-new-tokens", 30, "--per-field", 5, "--batch-size", 2, "--progress", "none",
            "--format", "json"]
    plain = json.loads(pardec.good(*base, "--decoder", "ar,ippd", "--db", "plain.sqlite"))
    check(not set(plain["columns"]) & (own[0] | own[1]), f"columns of decoders that are not there: {plain['columns']}")
    db = pardec.folder / "own.sqlite"
    table = json.loads(pardec.good(*base, "--decoder", "ar,apar,aspd", "--arm", "sep=ar,ask=separately", "--arm", "ippd=ippd,contexts=1", "--set",
                                   "apar.child_token=7", "--set", f"apar.fork_token={fork}", "--db", db))
    columns = table["columns"]
    check(set(columns) >= own[0] | own[1] and columns.index("identical") + 1 == columns.index("em"),
          f"columns, EM beside identical: {columns}")
    rows = {r["arm"]: r for r in table["rows"]}
    check(rows["ippd"]["em"] is not None and rows["apar"]["em"] is None, "EM stands where both ask one by one")
    check(all(rows[arm][key] is None for arm in ("apar", "ippd") for key in own[0]) and all(rows[arm][key] is None for arm in ("aspd", "ippd") for key in own[1]),
          f"columns of other decoders are empty: {rows}")
    jobs = lambda label: query(db, "SELECT job.* FROM job JOIN run ON run.id = run_id WHERE label = ?", label)
    for label in ("ar", "apar"):
        of, row = jobs(label), rows[label]
        check(close(row["threads_per_answer"], sum(j["branches"] for j in of) / len(of)) and close(row["parallel_share"], sum(j["branches"] > 1 for j in of) / len(of))
              and close(row["max_cached"], sum(j["cached_peak"] for j in of) / len(of))
              and close(row["attended_per_token"], sum(j["text_attended"] for j in of) / sum(j["text_tokens"] for j in of)), f"{label}: {row}")
    check(rows["apar"]["parallel_share"] > 0 == rows["ar"]["parallel_share"] and rows["ar"]["threads_per_answer"] == 1, f"threads: {rows}")
    check(rows["sep"]["parallel_share"] is None and rows["sep"]["threads_per_answer"] == 1, f"threads of several answers a job: {rows['sep']}")
    of = jobs("aspd")
    check(all(set(json.loads(j["parallel"])) == {"generated", "branch_tokens", "groups", "group_branches", "parallel_ns"} for j in of), "job.parallel")
    check(rows["aspd"]["ppd"] == 0 and rows["aspd"]["dp"] is None, f"no parallel stage: {rows['aspd']}")
    check(close(rows["ar"]["tps"], sum(1e9 * j["chosen"] / j["decode_ns"] for j in jobs("ar")) / 6), f"ar's tokens per second: {rows['ar']}")
    # A worked example (12 of 21 tokens in two branches of one stage) in two of the six jobs, twice as long in the second.
    for n, job in enumerate(of):
        parallel = {"generated": 21, "branch_tokens": 12 * (n < 2), "groups": int(n < 2), "group_branches": 2 * (n < 2), "parallel_ns": 10**6 * (n + 1)}
        change(db, "UPDATE job SET parallel = ?, decode_ns = ? WHERE id = ?", json.dumps(parallel), 3 * 10**6, job["id"])
    row = next(r for r in json.loads(pardec.good("compare", "--db", db, "--format", "json"))["rows"] if r["arm"] == "aspd")
    check(close(row["dp"], 12 / 21) and row["abn"] == 2 and close(row["ppd"], 2 / 6) and close(row["tps"], 7000) and close(row["p_tps"], 9000), f"aspd: {row}")
    formats(check, pardec, db)
    page = pardec.folder / "own.html"
    pardec.good("report", "--db", db, "-o", page)
    check("P-TPS" in page.read_text() and "max cached" in page.read_text(), "the report has these columns")


def generate(check, pardec, model):
    """The contract of `generate`."""
    job = {"id": "j1", "instruction": "Extract.", "contexts": [
        {"id": "a", "category": "Shoes", "text": "Nike Revolution 6", "fields": [{"name": "Brand"}, {"name": "Model \"X\""}]},
        {"id": "b", "category": "Shoes", "text": "Adidas Runfalcon", "fields": [{"name": "Brand"}, {"name": "Model \"X\""}]}],
        "limits": {"max_new_tokens": 12, "per_field": 5}, "seed": 3}
    (pardec.folder / "job.json").write_text(json.dumps(job))
    for decoder, sets in (("ar", []), ("ar", ["--set", "ar.ask=separately"]), ("ar", ["--set", "forced_keys=true"]), ("hpd", ["--set", "hpd.k_max=5"]),
                          ("ippd", []), ("ippd", ["--set", "ippd.prefix_cache=true"]), ("skeleton-of-thought", [])):
        ran = pardec("generate", "--model", model, "--decoder", decoder, "--job", "job.json", "--format", "json", *sets)
        what = f"generate {decoder} {sets}"
        if not check(ran.returncode == 0 and ran.stderr.count("\n") == ran.stdout.count("\n") == 1, f"{what}: exit {ran.returncode}: {ran.stderr}"):
            continue
        answer = json.loads(ran.stdout)
        check(list(answer) == ["id", "decoder", "options", "answers", "text", "tokens", "counters"], f"{what}: keys {list(answer)}")
        check(answer["id"] == "j1" and answer["decoder"] == decoder and set(answer["counters"]) >= COUNTERS, f"{what}: counters {sorted(answer['counters'])}")
        check([(a["context"], a["field"]) for a in answer["answers"]] == [(c["id"], f["name"]) for c in job["contexts"] for f in c["fields"]],
              f"{what}: fields in order")
        check(all(list(a) == ["context", "field", "text", "tokens", "stop"] for a in answer["answers"]), f"{what}: keys of an answer")
        check(all(a["stop"] in ("terminator", "eos", "limit", "context") for a in answer["answers"]), f"{what}: stop reasons")
        counters = answer["counters"]
        speed = json.loads(ran.stderr)["speed"]
        check((speed["tokens"], speed["prompt_tokens"]) == (counters["chosen"], counters["prompt"]) and counters["total_ns"] <= 1e9 * speed["seconds"], f"{what}: {speed}")
        for key, value in (("tokens_per_second", speed["tokens"] / speed["seconds"]), ("prompt_tokens_per_second", 1e9 * counters["prompt"] / counters["prefill_ns"]),
                           ("first_token_p50_s", 1e-9 * counters["first_token_ns"])):
            check(math.isclose(speed[key], value, rel_tol=1e-12), f"{what}: {key} {speed}, expected {value}")
        check(sum(int(n) * k for n, k in counters["emitted"].items()) == counters["chosen"] == sum(counters["branch_lengths"]), f"{what}: {counters}")
        if decoder == "hpd":
            body = answer["text"].split("<result>")[1].split("</result>")[0]
            values = json.loads(body)
            check([list(v) for v in values.values()] == [["Brand", "Model \"X\""]] * 2, f"{what}: the text is valid JSON: {body}")
    tokens = pardec.good("generate", "--model", model, "--prompt-tokens", "5,6,7", "--max-new-tokens", 6)
    check(re.fullmatch(r"\d+(,\d+)*\n", tokens), f"ids in, ids out: {tokens!r}")
    as_json = json.loads(pardec.good("generate", "--model", model, "--prompt-tokens", "5,6,7", "--max-new-tokens", 6, "--format", "json"))
    check(as_json["tokens"] == [int(t) for t in tokens.strip().split(",")] and as_json["counters"]["prompt"] == 3, "text and json give the same ids")
    text = pardec("generate", "--model", model, "--prompt", "A shoe of", "--max-new-tokens", 6)
    check(text.returncode == 0 and text.stdout.endswith("\n"), f"an open prompt: {text.stderr}")
    check(re.fullmatch(r"speed: 6 tokens in \S+ m?s, \S+ tokens/s; prompt \d+ tokens, \S+ tokens/s; first token \S+ m?s\n", text.stderr), f"how fast it was: {text.stderr!r}")
    # A file of jobs: one fails, the others are answered, in order.
    lines = [dict(job, id=f"j{i}") for i in range(4)]
    lines[2] = {**lines[2], "contexts": [{**job["contexts"][0], "text": "Nike " * 5000}]}
    write_lines(pardec.folder / "jobs.jsonl", lines)
    ran = pardec("generate", "--model", model, "--decoder", "hpd", "--set", "hpd.k_max=4", "--job", "jobs.jsonl", "--format", "json", "--batch-size", 3)
    check(ran.returncode == 3 and [json.loads(l)["id"] for l in ran.stdout.splitlines()] == ["j0", "j1", "j3"],
          f"a file of jobs: exit {ran.returncode}: {ran.stdout[:200]}")
    failed, speed = ran.stderr.splitlines()
    speed = json.loads(speed)["speed"]
    check("j2: context overflow" in failed and speed["tokens"] == sum(json.loads(l)["counters"]["chosen"] for l in ran.stdout.splitlines()) and
          speed["prompt_tokens_per_second"] is None, f"a file of jobs, of which several are in flight: {ran.stderr}")


def verbs(check, pardec, model, db):
    """help, --version, list, model inspect, doctor."""
    helped = pardec.good("--help")
    check(all(v in helped for v in VERBS) and "Exit codes" in helped and pardec.good() == helped and pardec.good("help") == helped,
          "--help names the verbs and exit codes")
    for verb in VERBS:
        said = pardec.good(verb, "--help")
        check(f"pardec {verb}" in said.split("Example:")[-1] and f"Usage: pardec {verb}" in said, f"{verb} --help has usage and an example")
        check(pardec.good(verb, "-h") == said, f"{verb} -h")
    version = pardec.good("--version")
    check(re.fullmatch(r"pardec \d+\.\d+\.\d+ \(commit \S+, libtorch [^,]+, \S+, [^\n]+, flags [^\n]+\)\n", version), f"--version: {version!r}")
    check("ar" in pardec.good("list", "decoders") and "oa-mine" in pardec.good("list", "datasets"), "list")
    decoders = [json.loads(line) for line in pardec.good("list", "decoders", "--format", "jsonl").splitlines()]
    check({d["name"] for d in decoders} >= {"ar", "hpd"} and "k_max" in [o["name"] for o in next(d for d in decoders if d["name"] == "hpd")["options"]],
          f"list decoders: {decoders}")
    rows = json.loads(pardec.good("model", "inspect", model, "--format", "json"))
    d, f, layers, kv, vocabulary = TINY["hidden_size"], TINY["intermediate_size"], TINY["num_hidden_layers"], 2 * TINY["head_dim"], VOCABULARY
    parameters = 2 * vocabulary * d + d + layers * (2 * d * d + 2 * d * kv + 3 * d * f + 2 * d)
    check(rows["parameters"] == parameters and rows["layers"] == 2 and rows["cache_per_token"]["fp32"] == 4 * 2 * layers * kv and rows["family"] == "llama",
          f"model inspect: {rows}, expected {parameters}")
    check("untrained" in rows["note"] and rows["tokenizer"] == VOCABULARY, f"model inspect: {rows}")
    said = {r["check"]: (r["state"], r["detail"]) for r in json.loads(pardec.good("doctor", "--format", "json"))["rows"]}
    check(said["decoder speculative"][0] == "n/a" and "lacks: a draft model" in said["decoder speculative"][1], f"doctor: {said['decoder speculative']}")
    check("taught: k_max 30, stack 2" in said["decoder hpd"][1] and "not taught" in said["decoder aspd"][1], f"doctor: {said['decoder hpd']}, {said['decoder aspd']}")
    narrow = pardec.good("runs", "compare", "--help")
    check("Usage: pardec runs compare [OPTIONS]" in narrow and "rm ID" not in narrow and "Flags of list" not in narrow and "--yes" not in narrow, f"help of an action names no other: {narrow}")
    ask = ["generate", "--model", model, "--max-new-tokens", 8, "--format", "json", "--prompt"]
    for prompt in ("Orm Mug", "two\nlines\n", " "):
        piped = subprocess.run(pardec.arguments([*ask, "-"]), input=prompt + "\n", cwd=pardec.folder, capture_output=True, text=True, env=clean_environment(), timeout=60)
        check(piped.returncode == 0 and json.loads(piped.stdout)["tokens"] == json.loads(pardec.good(*ask, prompt))["tokens"], f"--prompt - reads {prompt!r}: {piped}")
    fast = "avx512_bf16" in pathlib.Path("/proc/cpuinfo").read_text()
    pardec.good("run", "--model", model, "--decoder", "ar", "--dataset", "oa-mine", "--limit", 1, "--max-new-tokens", 4, "--dtype", "auto", "--db", "auto.sqlite", "--progress", "none")
    check(query(pardec.folder / "auto.sqlite", "SELECT dtype FROM run") == [{"dtype": "bf16" if fast else "fp32"}], "--dtype auto is what the checkpoint holds, where that is fast")
    config = json.loads((model / "config.json").read_text())
    (pardec.folder / "wide").mkdir()
    for file in model.iterdir():
        shutil.copy(file, pardec.folder / "wide")
    (pardec.folder / "wide" / "config.json").write_text(json.dumps({**config, "dtype": "float32"}))
    pardec.good("run", "--model", "wide", "--decoder", "ar", "--dataset", "oa-mine", "--limit", 1, "--max-new-tokens", 4, "--dtype", "auto", "--db", "wide.sqlite", "--progress", "none")
    check(query(pardec.folder / "wide.sqlite", "SELECT dtype FROM run") == [{"dtype": "fp32"}], "--dtype auto of a checkpoint in float32")
    doctor = pardec("doctor", "--model", model, "--db", db, "--format", "json")
    states = {r["check"]: r["state"] for r in json.loads(doctor.stdout)["rows"]}
    check(doctor.returncode == 0 and {"gnuplot", "bubblewrap", "disk", "build", "libtorch", "prompts", "dataset oa-mine", "model", "database"} <= set(states),
          f"doctor: exit {doctor.returncode}: {states}")
    sick = pardec("doctor", "--model", "/nowhere", "--db", "none.sqlite", "--data-root", "/nowhere", "--format", "json")
    states = {r["check"]: r["state"] for r in json.loads(sick.stdout)["rows"]}
    check(sick.returncode == 1 and states["model"] == states["database"] == states["data root"] == "BAD",
          f"doctor of what is not there: exit {sick.returncode}: {states}")
    one, other = pardec.synthesise("twin-a", seed=5), pardec.synthesise("twin-b", seed=5)
    check((one / "model.safetensors").read_bytes() == (other / "model.safetensors").read_bytes(), "model synth: one seed, one network")
    check((model / "model.safetensors").read_bytes() != (one / "model.safetensors").read_bytes(), "model synth: another seed, another network")


def defaults(check, pardec, model):
    """Without --db the database is results/pardec.sqlite, and its folder is made; two runs live in one file."""
    args = ["run", "--model", model, "--decoder", "ar", "--dataset", "oa-mine", "--limit", 2, *SHORT[:2], "--format", "jsonl"]
    for _ in range(2):
        ran = pardec(*args, env={"NO_COLOR": "1"})
        check(ran.returncode == 0 and len(ran.stdout.splitlines()) == 1 and "\x1b" not in ran.stderr + ran.stdout,
              f"the default database: exit {ran.returncode}: {ran.stderr}")
    db = pardec.folder / "results" / "pardec.sqlite"
    check(not db.with_name("pardec.sqlite-wal").exists(), "the log is taken in at the end")
    runs = query(db, "SELECT * FROM run ORDER BY id")
    check(len(runs) == 2 and len({r["invocation"] for r in runs}) == 2, f"{len(runs)} runs of two calls")
    for run in runs:
        check(run["invocation"][:8] in pardec.good("compare", "--run", run["invocation"][:8]), "compare --run finds a run by its id's first characters")
    unknown = pardec("compare", "--run", "zzzz")
    check(unknown.returncode == 2 and "'zzzz'" in unknown.stderr, f"compare --run zzzz: {unknown.stderr}")


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        model = pardec.synthesise("model", seed=2)
        dry_run(check, pardec)
        db = main_run(check, pardec, model)
        same_answers(check, pardec, model)
        limits(check, pardec, model)
        needs(check, pardec, model)
        precedence(check, pardec, model)
        failures(check, pardec, model)
        oracle(check, pardec, model)
        refused_oracles(check, pardec)
        recorded(check, pardec)
        common_context(check, pardec, model)
        own_metrics(check, pardec)
        generate(check, pardec, model)
        verbs(check, pardec, model, db)
        defaults(check, pardec, model)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
