"""`pardec run`, `compare`, `generate` and the small verbs, from outside: what is printed is what
is stored, and what is stored is right.

The project's samples and networks of random weights. Numbers of the table are computed again here
from the database and the dataset's own file.
"""

import collections
import csv
import io
import json
import math
import pathlib
import re
import shutil
import sqlite3
import subprocess

import pytest
from harness import (
    ROOT, SAMPLES, TINY, VOCABULARY, answers, change, clean_environment, for_people, query, records,
    write_lines,
)

SHORT = [
    "--max-new-tokens", 24, "--set", "hpd.k_max=6", "--set", "hpd.stack=3", "--progress", "none",
]
VERBS = ("run", "generate", "compare", "score", "model", "list", "doctor")
COUNTERS = set(
    json.loads((ROOT / "decoders/answers.schema.json").read_text())["properties"]["counters"][
        "required"
    ]
)


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
    lines = [
        [c.strip() for c in line.removesuffix(" \\\\").split(" & ")]
        for line in body.strip().splitlines()
    ]
    lines = [[c.replace("\\%", "%").replace("\\_", "_") for c in line] for line in lines]
    return lines[0], lines[1:]


def folded(columns, header, row):
    """(header, cell) of a csv row by json's columns: an interval's two and a difference's three
    or four are one again, as json, without a header.
    """
    left = collections.deque(zip(header, row))

    def take(name):
        assert left[0][0] == name
        text = left.popleft()[1]
        return float(text) if text else None

    for key in columns:
        if key.endswith("_interval"):
            ends = [take(key.removesuffix("_interval") + end) for end in ("_low", "_high")]
            yield None, "" if ends == [None, None] else json.dumps(ends)
        elif key.endswith("_difference"):
            estimate, *ends = [take(key + part) for part in ("", "_low", "_high")]
            p = (
                {"p_mcnemar_holm": take(left[0][0])}
                if left and left[0][0] == key + "_p_mcnemar_holm"
                else {}
            )
            yield (
                None,
                (
                    ""
                    if estimate is None
                    else json.dumps({"estimate": estimate, "interval": ends, **p})
                ),
            )
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
    assert not left, "csv has more columns than json"


def same_in_all_formats(pardec, db):
    """All five formats hold the same table; returns the rows of the json one."""
    printed = {
        f: pardec.good("compare", "--db", db, "--wide", "--format", f)
        for f in ("md", "csv", "json", "jsonl", "latex")
    }
    table = json.loads(printed["json"])
    # Json: keys of the table.
    assert set(table) == {"title", "columns", "rows", "conclusion", "notes", "warnings"}
    assert all(list(row) == table["columns"] for row in table["rows"])
    assert [json.loads(line) for line in printed["jsonl"].splitlines()] == table["rows"], (
        "jsonl holds the rows of json"
    )
    header, *rows = list(csv.reader(io.StringIO(printed["csv"])))
    md_header, md_rows = parse_md(printed["md"])
    tex_header, tex_rows = parse_latex(printed["latex"])
    rows = [list(folded(table["columns"], header, row)) for row in rows]
    people = [i for i, key in enumerate(table["columns"]) if for_people(key, md_header)]
    assert len(people) == len(md_header), f"headers differ: {header}, {md_header}, {tex_header}"
    assert all(
        name in (None, key)
        for row in rows
        for key, (name, _) in zip(table["columns"], row, strict=True)
    )
    assert md_header == tex_header
    assert len(rows) == len(md_rows) == len(tex_rows) == len(table["rows"]), (
        "the formats have as many rows"
    )
    assert md_rows == tex_rows, "md and latex hold the same cells"
    for row, values, shown in zip(rows, table["rows"], md_rows):
        assert len(row) == len(values), "as many cells in csv as in json"
        items = list(values.items())
        for cell, (key, value), text in (
            (row[i][1], items[i], text) for i, text in zip(people, shown)
        ):
            if value is None:
                assert cell == "", f"{key}: null in json, '{cell}' in csv, '{text}' in md"
                assert text in ("-", "n/a"), key
            elif isinstance(value, float):
                assert float(cell) == value, f"{key}: {value} in json, '{cell}' in csv"
                digits = re.match(r"-?\d+(\.(\d+))?", text)
                scale = 100 if text.endswith("%") else 1000 if text.endswith(" ms") else 1
                if key == "speedup" and text == "baseline":
                    continue
                assert digits, f"{key}: {value} in json, '{text}' in md"
                assert abs(float(digits[0]) - scale * value) <= 0.5000001 * 10 ** -len(
                    digits[2] or ""
                ), key
            elif isinstance(value, (int, str)):
                assert cell == str(value), f"{key}: {value} in json, '{cell}' in csv"
                assert (
                    text == str(value) or key in ("dataset", "verdict") and text.startswith(value)
                ), f"{key}: {value} in json, '{text}' in md"
            else:
                if isinstance(value, dict):  # what csv has no column for
                    value = {
                        k: v
                        for k, v in value.items()
                        if k not in ("margin", "verdict", "pairs", "left_out", "would_do")
                    }
                assert json.loads(cell) == value, f"{key}: {value} in json, '{cell}' in csv"
    # The table says that the data is a sample and the network untrained.
    assert "own sample" in printed["md"]
    assert "untrained" in printed["md"]
    assert all(r["dataset_is_sample"] and "sample" not in r["dataset"] for r in table["rows"])
    return table["rows"]


# What is stored ----------------------------------------------------------------------------------


def fields_of_category(dataset):
    """The attributes that every product of a category is asked for: those of train.jsonl, in
    order of appearance.
    """
    lists = collections.defaultdict(dict)
    for record in records(dataset, "train"):
        lists[record["category"]].update(dict.fromkeys(record["target_scores"]))
    return {category: list(attributes) for category, attributes in lists.items()}


def f1(vc, predicted, wanted):
    precision, recall = vc / predicted if predicted else 0, vc / wanted if wanted else 0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0


def extractgpt(dataset, predictions, strict=False):
    """(micro, macro) value F1 of {sample: {attribute: prediction}}: exact matches among accepted
    values, by pair of category and attribute.
    """
    pairs = collections.defaultdict(collections.Counter)
    for i, record in enumerate(records(dataset)):
        for attribute, predicted in predictions[f"test-{i}"].items():
            annotated = record["target_scores"].get(attribute)
            if annotated is None and not strict:
                continue
            references = (
                []
                if annotated is None or next(iter(annotated)) == "n/a"
                else [v.strip() for v in annotated if v != "n/a"]
            )
            absent = predicted in ("", "n/a", "None")
            count = pairs[record["category"], attribute]
            count["vc"] += bool(references) and not absent and predicted in references
            count["predicted"] += not absent
            count["wanted"] += bool(references)
    pairs = [p for p in pairs.values() if p["predicted"] or p["wanted"]]
    total = sum(pairs, collections.Counter())
    return f1(total["vc"], total["predicted"], total["wanted"]), sum(
        f1(p["vc"], p["predicted"], p["wanted"]) for p in pairs
    ) / len(pairs)


DATASETS = ["oa-mine", "ae-110k"]
ARMS = {"ar": "ar", "keys": "ar,forced_keys=true", "one": "ar,ask=separately", "hpd": "hpd"}
by_dataset = pytest.mark.parametrize("dataset", DATASETS)
by_arm = pytest.mark.parametrize("arm", ARMS)


@pytest.fixture(scope="module")
def model(pardec):
    """A network of random weights."""
    return pardec.synthesise("model", seed=2)


@pytest.fixture(scope="module")
def main_db(pardec):
    return pardec.folder / "main.sqlite"


@pytest.fixture(scope="module")
def main_run(pardec, model, main_db):
    """A run of four arms on two datasets, which many tests look at; what the program said."""
    arms = [word for label, arm in ARMS.items() for word in ("--arm", f"{label}={arm}")]
    return pardec(
        "run", "--model", model, *arms, "--dataset", ",".join(DATASETS), "--per-field", 5,
        "--block", 4, "--db", main_db, *SHORT,
    )


@pytest.fixture(scope="module")
def table(pardec, main_run, main_db):
    """The rows of the run's table, by dataset and arm."""
    rows = json.loads(pardec.good("compare", "--db", main_db, "--format", "json"))["rows"]
    return {(row["dataset"], row["arm"]): row for row in rows}


def stored_run(db, dataset, arm):
    return query(
        db,
        "SELECT run.* FROM run JOIN dataset ON dataset.id = dataset_id WHERE label = ? AND"
        " name = ?",
        arm,
        dataset,
    )[0]


def stored_answers(db, run):
    return query(
        db,
        "SELECT generation.*, sample.key AS sample FROM generation JOIN sample ON sample.id ="
        " sample_id WHERE run_id = ?",
        run["id"],
    )


def texts(generation):
    return [field["text"] for field in json.loads(generation["fields"])]


def test_run_prints_what_compare_prints(pardec, main_run, main_db):
    assert main_run.returncode == 0, main_run.stderr
    assert main_run.stdout == pardec.good("compare", "--db", main_db)


def test_run_says_where_the_database_is_and_that_a_sample_is_used(main_run, main_db):
    assert main_run.stderr.splitlines()[-1] == f"database: {main_db}"
    assert "own sample of 38" in main_run.stderr


def test_no_escape_codes_without_a_terminal(main_run):
    assert "\x1b" not in main_run.stdout + main_run.stderr
    assert "\r" not in main_run.stderr


def test_all_formats_hold_the_same_table(pardec, main_run, main_db):
    rows = same_in_all_formats(pardec, main_db)
    assert [row["arm"] for row in rows] == [*ARMS] * 2


@by_dataset
@by_arm
def test_rates_follow_from_blocks_and_jobs(main_db, table, dataset, arm):
    row, run = table[dataset, arm], stored_run(main_db, dataset, arm)
    blocks = query(
        main_db, "SELECT * FROM block WHERE run_id = ? AND wall_ns IS NOT NULL", run["id"]
    )
    assert close(
        row["examples_per_second"],
        sum(b["example_count"] for b in blocks) / sum(b["wall_ns"] for b in blocks) * 1e9,
    ), f"{row['examples_per_second']} products/s"
    jobs = query(main_db, "SELECT * FROM job WHERE run_id = ?", run["id"])
    assert close(
        row["tokens_per_forward"], sum(j["chosen"] for j in jobs) / sum(j["forwards"] for j in jobs)
    ), "tokens a forward"
    generations = stored_answers(main_db, run)
    assert row["n"] == len(generations) == len(records(dataset)), f"{row['n']} answers"
    assert row["failed"] == 0


def baseline_of(db, run):
    return query(
        db,
        "SELECT id FROM run WHERE invocation = ? AND dataset_id = ? AND label = ?",
        run["invocation"],
        run["dataset_id"],
        run["baseline"],
    )[0]


others = pytest.mark.parametrize("arm", [arm for arm in ARMS if arm != "ar"])


@by_dataset
@others
def test_speedup_is_the_ratio_of_totals_over_pairs_of_blocks(main_db, table, dataset, arm):
    row, run = table[dataset, arm], stored_run(main_db, dataset, arm)
    base = baseline_of(main_db, run)
    blocks = query(
        main_db, "SELECT * FROM block WHERE run_id = ? AND wall_ns IS NOT NULL", run["id"]
    )
    theirs = {
        b["block_key"]: b
        for b in query(main_db, "SELECT * FROM block WHERE run_id = ?", base["id"])
    }
    assert all(theirs[b["block_key"]]["process"] == b["process"] for b in blocks), "blocks in pairs"
    assert row["blocks"] == len(blocks)
    ratio = sum(theirs[b["block_key"]]["wall_ns"] for b in blocks) / sum(
        b["wall_ns"] for b in blocks
    )
    assert close(row["speedup"], ratio), f"speedup {row['speedup']}, totals give {ratio}"
    low, high = row["speedup_interval"]  # there are six blocks
    assert low <= ratio <= high, f"{ratio} lies outside of its interval {low}, {high}"


@by_dataset
@others
def test_identical_counts_the_answers_that_equal_the_baselines(main_db, table, dataset, arm):
    row, run = table[dataset, arm], stored_run(main_db, dataset, arm)
    base = baseline_of(main_db, run)
    other = {g["sample_id"]: texts(g) for g in stored_answers(main_db, base)}
    generations = stored_answers(main_db, run)
    same = [other[g["sample_id"]] == texts(g) for g in generations]
    assert close(row["identical"], sum(same) / len(same)), (
        f"identical {row['identical']}, the fields give {sum(same) / len(same)}"
    )
    assert [bool(g["identical"]) for g in generations] == same, "column identical"
    assert all((g["first_difference"] is None) == bool(g["identical"]) for g in generations), (
        "where answers differ stands for those that do"
    )


@by_dataset
def test_the_baseline_is_compared_with_nothing(table, dataset):
    row = table[dataset, "ar"]
    assert row["identical"] is None
    assert row["speedup_interval"] is None
    assert row["speedup"] == 1


@by_dataset
@by_arm
def test_every_product_is_asked_for_the_attributes_of_its_category(main_db, main_run, dataset, arm):
    generations = stored_answers(main_db, stored_run(main_db, dataset, arm))
    asked = fields_of_category(dataset)
    by_sample = {g["sample"]: json.loads(g["fields"]) for g in generations}
    for i, record in enumerate(records(dataset)):
        assert [f["name"] for f in by_sample[f"test-{i}"]] == asked[record["category"]], (
            f"product {i} was asked for its category's attributes"
        )


@by_dataset
@by_arm
def test_f1_is_extractgpts(main_db, table, dataset, arm):
    row = table[dataset, arm]
    generations = stored_answers(main_db, stored_run(main_db, dataset, arm))
    by_sample = {g["sample"]: json.loads(g["fields"]) for g in generations}
    predictions = {
        sample: {f["name"]: f["text"] for f in fields} for sample, fields in by_sample.items()
    }
    micro, macro = extractgpt(dataset, predictions)
    strict, _ = extractgpt(dataset, predictions, strict=True)
    assert close(row["f1_micro"], micro), (
        f"F1 {row['f1_micro']}, {row['f1_macro']}, {row['f1_strict']}; computed again {micro},"
        f" {macro}, {strict}"
    )
    assert close(row["f1_macro"], macro)
    assert close(row["f1_strict"], strict)


@by_arm
def test_the_counters_of_every_job_agree(main_db, main_run, arm):
    for job in query(
        main_db,
        "SELECT job.*, run.decoder, run.options FROM job JOIN run ON run.id = run_id WHERE"
        " job.error IS NULL AND label = ?",
        arm,
    ):
        where = f"{job['decoder']} {job['key']}"
        histogram = {
            h["emitted"]: h["forwards"]
            for h in query(main_db, "SELECT * FROM step_histogram WHERE job_id = ?", job["id"])
        }
        branches = json.loads(job["branch_lengths"])
        fields = [
            f
            for g in query(
                main_db, "SELECT fields FROM generation WHERE job_id = ? ORDER BY id", job["id"]
            )
            for f in json.loads(g["fields"])
        ]
        assert sum(histogram.values()) == job["forwards"], (
            f"{where}: the histogram's forwards {histogram}, {job['forwards']}"
        )
        assert sum(n * k for n, k in histogram.items()) == job["chosen"], (
            f"{where}: the histogram's tokens {histogram}, {job['chosen']}"
        )
        assert sum(branches) == job["chosen"], (
            f"{where}: branches {branches}, chosen {job['chosen']}"
        )
        assert len(branches) == job["branches"], where
        assert close(job["parallel_ratio"], job["chosen"] / job["forwards"]), (
            f"{where}: parallel ratio"
        )
        assert 0 <= job["text_tokens"] <= job["chosen"], (
            f"{where}: text {job['text_tokens']} of {job['chosen']}"
        )
        options = json.loads(job["options"])
        # Every chosen token is computed but the last of its stream; with forced keys a value cut short
        # is computed whole, if another key follows.
        unfed = (
            job["branches"]
            if not options.get("forced_keys")
            else 1 + sum(f["stop"] == "terminator" for f in fields[:-1])
        )
        assert job["fed"] == job["prompt_tokens"] + job["forced"] + job["chosen"] - unfed, (
            f"{where}: fed {job['fed']}, prompt {job['prompt_tokens']}, forced {job['forced']},"
            f" chosen {job['chosen']}, not fed {unfed}"
        )
        assert job["cached_peak"] == job["fed"], (
            f"{where}: nothing is dropped, {job['cached_peak']} of {job['fed']} rows are kept"
        )
        assert job["scratch"] == 0, where
        # Of prompts that run side by side the longest time holds, for each of the three.
        both = job["prefill_ns"] + job["decode_ns"]
        assert job["prefill_ns"] > 0, (
            f"{where}: prefill {job['prefill_ns']} and decode {job['decode_ns']} make up the total"
            f" {job['total_ns']}"
        )
        assert (
            both == job["total_ns"]
            if options.get("ask") != "separately"
            else job["decode_ns"] <= job["total_ns"] <= both
        ), where
        if job["decoder"] == "hpd":
            assert len(branches) == len(fields), f"{where}: one stream a value"
            assert [len(f["tokens"]) for f in fields] == branches, where
            assert max(branches) <= options["k_max"], (
                f"{where}: the longest value has {max(branches)} tokens in {job['forwards']}"
                " forwards"
            )
            assert max(branches) == job["forwards"], where
            assert histogram.get(len(branches), 0) >= 1, (
                f"{where}: the first forward gives a token of each value"
            )
            assert all(
                f["stop"] == "terminator" or len(f["tokens"]) == options["k_max"] for f in fields
            ), f"{where}: values end at a terminator or at K_max"
            examples = json.loads(job["key"])
            assert len(examples) <= options["stack"], (
                f"{where}: {len(examples)} products, stack {options['stack']}"
            )
        elif options["ask"] == "together" and not options["forced_keys"]:
            tokens = json.loads(job["tokens"])
            assert len(tokens) == job["chosen"] == job["forwards"], (
                f"{where}: {len(tokens)} ids, chosen {job['chosen']}, forwards {job['forwards']}"
            )
            assert job["forced"] == 0, where
            n = job["prompt_tokens"]
            assert job["attended"] == n * (n + 1) // 2 + sum(range(n + 1, job["fed"] + 1)), (
                f"{where}: every row sees itself and all before it"
            )
            top2 = json.loads(job["top2"])
            assert len(top2["stream"]) == len(tokens), f"{where}: a gap for each choice"
            assert min(top2["stream"]) >= 0, where


# Running -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "flags",
    [["--accounting"], ["--accounting", "--usd-per-hour", 3.77], ["--differences", 5]],
    ids=["accounting", "dollars", "differences"],
)
def test_every_row_of_compare_has_every_column(pardec, main_run, main_db, flags):
    table = json.loads(pardec.good("compare", "--db", main_db, "--format", "json", *flags))
    assert table["rows"]
    assert all(list(row) == table["columns"] for row in table["rows"])


def test_accounting_sums_the_counters_of_the_jobs(pardec, main_run, main_db):
    table = json.loads(pardec.good("compare", "--db", main_db, "--format", "json", "--accounting"))
    for row in table["rows"]:
        sums = query(
            main_db,
            "SELECT sum(prompt_tokens) AS prompt, sum(forced) AS forced, sum(chosen) AS chosen,"
            " sum(fed) AS fed, sum(text_tokens) AS text, sum(forwards) AS forwards, sum(attended)"
            " AS attended, max(cached_peak) AS cached_peak, count(*) AS jobs FROM job JOIN run ON"
            " run.id = run_id JOIN dataset ON dataset.id = dataset_id WHERE label = ? AND name = ?",
            row["arm"],
            row["dataset"].split()[0],
        )[0]
        assert all(row[key] == value for key, value in sums.items()), (
            f"accounting of {row['arm']} on {row['dataset']}: {row}, stored {sums}"
        )


@by_dataset
def test_the_speedup_against_another_baseline_is_the_inverse(pardec, main_db, table, dataset):
    swapped = json.loads(
        pardec.good("compare", "--db", main_db, "--format", "json", "--baseline", "hpd")
    )["rows"]
    row = next(row for row in swapped if (row["dataset"], row["arm"]) == (dataset, "ar"))
    assert close(row["speedup"], 1 / table[dataset, "hpd"]["speedup"])


def test_the_run_row_says_how_it_was_called(main_run, main_db, model):
    run = query(main_db, "SELECT * FROM run")[0]
    assert json.loads(run["argv"])[1:4] == ["run", "--model", str(model)]
    assert [run[key] for key in ("untrained", "threads", "device", "dtype")] == [
        1, 1, "cpu", "fp32",
    ]
    assert run["commit_hash"]
    assert run["ended_utc"] > run["started_utc"]
    assert (
        json.loads(query(main_db, "SELECT json FROM environment")[0]["json"])["processor"]
        is not None
    )


@pytest.fixture(scope="module")
def answers_of(pardec, model):
    """The answers of a run with some flags, which runs once; `time` counts runs with equal
    flags. 16 examples are two batches of the largest size.
    """
    made, root = {}, pardec.folder / "sixteen"
    write_lines(root / "oa-mine" / "test.jsonl", records("oa-mine")[:16])
    write_lines(root / "oa-mine" / "train.jsonl", records("oa-mine", "train"))

    def of(*flags, time=1):
        if (flags, time) not in made:
            db = pardec.folder / f"answers-{len(made)}.sqlite"
            pardec.good(
                "run", "--model", model, "--decoder", "ar,hpd", "--dataset", "oa-mine",
                "--data-root", root, *SHORT, "--db", db, *flags,
            )
            made[flags, time] = answers(db)
        return made[flags, time]

    return of


GREEDY = ("--batch-size", 8)
SAMPLED = ("--temperature", 1.0, "--top-k", 50, "--top-p", 0.95)


@pytest.mark.parametrize(
    "flags",
    [
        ("--batch-size", 1),
        ("--batch-size", 5),
        ("--block", 2),
        ("--order", "blocked"),
        ("--seed", 7),
        ("--warmup", 0),
    ],
    ids=lambda flags: "=".join(map(str, flags)),
)
def test_greedy_answers_do_not_depend_on(answers_of, flags):
    assert answers_of(*flags) == answers_of(*GREEDY)


def test_temperature_changes_answers(answers_of):
    assert answers_of(*SAMPLED) != answers_of(*GREEDY)


def test_the_same_seed_gives_the_same_sampled_answers(answers_of):
    assert answers_of(*SAMPLED, time=2) == answers_of(*SAMPLED)


def test_batch_size_does_not_change_sampled_answers(answers_of):
    assert answers_of(*SAMPLED, "--batch-size", 3) == answers_of(*SAMPLED)


def test_another_seed_gives_other_sampled_answers(answers_of):
    assert answers_of(*SAMPLED, "--seed", 2) != answers_of(*SAMPLED)


def test_runs_2_repeats_every_answer(answers_of):
    repeats = answers_of("--runs", 2, "--limit", 4)
    assert {key[3] for key in repeats} == {0, 1}
    assert all(repeats[(*key[:3], 0)] == value for key, value in repeats.items())


@pytest.fixture(scope="module")
def taken(pardec, model):
    """The examples that a run takes, the same for both arms."""

    def of(*flags):
        db = pardec.folder / "limit.sqlite"
        db.unlink(missing_ok=True)
        pardec.good(
            "run", "--model", model, "--decoder", "ar,hpd", "--dataset", "oa-mine", *SHORT, "--db",
            db, *flags,
        )
        found = collections.defaultdict(set)
        for label, _, sample, _ in answers(db):
            found[label].add(sample)
        assert found["ar"] == found["hpd"], f"{flags}: arms take other samples"
        return found["ar"]

    return of


@pytest.fixture(scope="module")
def six(taken):
    return taken("--limit", 6)


@pytest.fixture(scope="module")
def category():
    return {f"test-{i}": record["category"] for i, record in enumerate(records("oa-mine"))}


def test_limit_takes_whole_stacks_of_several_categories(pardec, taken, category):
    taken("--limit", 6)
    jobs = [
        json.loads(row["key"])
        for row in query(
            pardec.folder / "limit.sqlite",
            "SELECT job.key FROM job JOIN run ON run.id = run_id WHERE label = 'hpd'",
        )
    ]
    full = collections.Counter(category.values())
    assert all(len(job) == min(3, full[category[job[0]]]) or job == jobs[-1] for job in jobs), (
        f"--limit 6 takes whole stacks, where there are so many of a category: {jobs} of {full}"
    )
    assert len({category[job[0]] for job in jobs}) > 1


@pytest.mark.parametrize(
    "flags",
    [(), ("--set", "hpd.isolated=values", "--batch-size", 3)],
    ids=["again", "other-options"],
)
def test_limit_takes_the_same_examples(taken, six, flags):
    assert taken("--limit", 6, *flags) == six


def test_limit_takes_other_examples_under_another_seed(taken, six):
    assert taken("--limit", 6, "--seed", 2) != six


def test_offset_takes_what_limit_leaves(taken, six, category):
    rest = taken("--offset", 6)
    assert not rest & six
    assert len(rest | six) == len(category)


def test_a_limit_beyond_the_end_takes_all(taken, category):
    assert taken("--limit", 1000) == set(category)


@pytest.fixture(scope="module")
def experiment(pardec, model):
    """A file of an experiment."""
    file = pardec.folder / "experiment.json"
    file.write_text(
        json.dumps(
            {
                "name": "e",
                "model": str(model),
                "datasets": ["oa-mine"],
                "batch_size": 3,
                "limit": 6,
                "seed": 4,
                "decoders": [
                    {"label": "base", "name": "ar"},
                    {"label": "fast", "name": "hpd", "set": {"k_max": 5, "hpd.stack": 2}},
                ],
            }
        )
    )
    return file


@pytest.fixture(scope="module")
def plan(pardec):
    """The rows of a plan."""

    def rows(*flags, env=None):
        return json.loads(pardec.good("run", "--dry-run", "--format", "json", *flags, env=env))[
            "rows"
        ]

    return rows


AR = ("--decoder", "ar", "--dataset", "oa-mine")
FILE = object()  # the experiment's file


@pytest.mark.parametrize(
    "flags, env, expected",
    [
        (AR, {}, 8),
        (("-c", FILE), {"PARDEC_BATCH_SIZE": 4}, 4),
        (("-c", FILE, "--batch-size", 5), {"PARDEC_BATCH_SIZE": 4}, 5),
        (AR, {"PARDEC_BATCH_SIZE": 4}, 4),
    ],
    ids=["default", "environment-over-file", "flag-over-environment", "environment-over-default"],
)
def test_precedence_of_flag_environment_file_and_default(plan, experiment, flags, env, expected):
    flags = [experiment if flag is FILE else flag for flag in flags]
    assert {row["in flight"] for row in plan(*flags, env=env)} == {expected}


def test_the_file_sets_arms_and_options(plan, experiment):
    rows = plan("-c", experiment)
    assert [(row["arm"], row["decoder"], row["in flight"], row["examples"]) for row in rows] == [
        ("base", "ar", 3, 6),
        ("fast", "hpd", 3, 6),
    ]
    assert json.loads(rows[1]["options"]) == {"k_max": 5, "stack": 2, "isolated": "none"}


def test_decoders_of_the_command_line_replace_the_files(plan, experiment):
    assert [row["arm"] for row in plan("-c", experiment, "--decoder", "hpd")] == ["hpd"]


def test_datasets_of_the_environment_replace_the_files(plan, experiment):
    rows = plan("-c", experiment, env={"PARDEC_DATASET": "ae-110k"})
    assert {row["dataset"].split()[0] for row in rows} == {"ae-110k"}


def test_an_arms_own_option_beats_set(plan):
    arms = plan(
        *AR, "--arm", "wide=hpd,k_max=9,batch_size=2", "--set", "hpd.k_max=4", "--set",
        "batch_size=6",
    )
    assert [(row["arm"], row["in flight"]) for row in arms] == [("ar", 6), ("wide", 2)]
    assert json.loads(arms[1]["options"])["k_max"] == 9
    assert [row["compared with"] for row in arms] == ["-", "ar"]


@pytest.mark.parametrize(
    "flags", [[], ["--resume"], ["--shard", "1/3"]], ids=["plain", "resume", "shard"]
)
def test_a_dry_run_needs_no_model_and_writes_nothing(pardec, flags):
    before = sorted(pardec.folder.rglob("*"))
    ran = pardec(
        "run", "--dry-run", "--model", "/nowhere/at/all", "--decoder", "ar,hpd", "--dataset",
        "oa-mine,ae-110k", *flags,
    )
    assert ran.returncode == 0, ran.stderr
    assert "Plan" in ran.stdout
    assert sorted(pardec.folder.rglob("*")) == before


@pytest.fixture(scope="module")
def bare(pardec, model):
    """A config.json and a tokenizer without control tokens, no weights."""
    bare = pardec.folder / "bare"
    shutil.copytree(model, bare, ignore=shutil.ignore_patterns("*.safetensors"))
    tokenizer = json.loads((bare / "tokenizer.json").read_text())
    tokenizer["added_tokens"] = [t for t in tokenizer["added_tokens"] if "Fork" not in t["content"]]
    for name in [t for t in tokenizer["model"]["vocab"] if "Fork" in t]:
        tokenizer["model"]["vocab"][name.replace("Fork", "Frok")] = tokenizer["model"]["vocab"].pop(
            name
        )
    (bare / "tokenizer.json").write_text(json.dumps(tokenizer))
    return bare


@pytest.fixture(scope="module")
def bare_plan(bare):
    return ["run", "--dry-run", "--dataset", "oa-mine", "--format", "json", "--model", bare]


def test_a_plan_says_forms_and_needs(pardec, bare, bare_plan):
    tokenizer = json.loads((bare / "tokenizer.json").read_text())
    rows = {
        r["arm"]: r
        for r in json.loads(
            pardec.good(
                *bare_plan, "--decoder", "ar,ippd,aspd,space", "--arm", "sep=ar,ask=separately"
            )
        )["rows"]
    }
    assert {a: r["form"] for a, r in rows.items()} == {
        "ar": "json",
        "ippd": "value",
        "aspd": "json",
        "space": "json",
        "sep": "value",
    }, f"forms: {rows}"
    assert rows["ar"]["needs"] == "-", f"needs: {rows}"
    assert rows["space"]["needs"] == f"[M] is {tokenizer['model']['vocab'].get('<mask>', 6)}"
    assert rows["aspd"]["needs"].startswith("<Title> is ")


def test_a_plan_that_lacks_a_token_says_which(pardec, bare_plan):
    ran = pardec(*bare_plan, "--decoder", "ar,apar")
    assert ran.returncode == 2, f"a plan that lacks a token: exit {ran.returncode}: {ran.stderr}"
    assert {r["arm"]: r["needs"] for r in json.loads(ran.stdout)["rows"]} == {
        "ar": "-",
        "apar": "lacking",
    }
    assert "arm 'apar' cannot run: tokenizer.json has no token [Fork]" in ran.stderr
    assert "--set apar.fork_token=ID" in ran.stderr


def test_a_plan_takes_a_token_that_is_named(pardec, bare_plan):
    named = pardec.good(*bare_plan, "--decoder", "apar", "--set", "apar.fork_token=11")
    assert "[Fork] is 11, [Child]" in named, f"a token that is named: {named}"


def test_a_plan_names_the_draft_model(pardec, model, bare_plan):
    drafting = json.loads(
        pardec.good(*bare_plan, "--decoder", "speculative", "--draft-model", model)
    )["rows"]
    assert drafting[0]["needs"] == f"draft model {model}", f"a draft model: {drafting}"


def test_doctor_says_what_each_decoder_needs(pardec, bare):
    sick = {
        r["check"]: r
        for r in json.loads(pardec("doctor", "--model", bare, "--format", "json").stdout)["rows"]
    }
    assert sick["decoder ar"]["state"] == "good", f"doctor: {sick}"
    assert "attributes: json; questions: json; open prompts: free" in sick["decoder ar"]["detail"]
    assert sick["decoder hpd"]["state"] == "good", f"doctor: {sick['decoder hpd']}"
    assert "open prompts: n/a" in sick["decoder hpd"]["detail"]
    assert sick["decoder apar"]["state"] == "n/a", f"doctor: {sick['decoder apar']}"
    assert "lacks: tokenizer.json has no token [Fork]" in sick["decoder apar"]["detail"]
    assert sick["model"]["state"] == "BAD"
    names = {
        json.loads(line)["name"]
        for line in pardec.good("list", "decoders", "--format", "jsonl").splitlines()
    }
    assert {c.removeprefix("decoder ") for c in sick if c.startswith("decoder ")} == names, (
        "doctor speaks of every decoder"
    )


@pytest.fixture(scope="module")
def long_title(pardec, model):
    """The arguments of a run with a product that does not fit."""
    root = pardec.folder / "long-data"
    shutil.copytree(SAMPLES, root)
    products = records("oa-mine")[:6]
    write_lines(
        root / "oa-mine" / "test.jsonl",
        [*products[:2], {**products[2], "input": "Tolvane " * 4000}, *products[3:]],
    )
    return [
        "run", "--model", model, "--decoder", "ar,hpd", "--dataset", "oa-mine", "--data-root", root,
        *SHORT,
    ]


@pytest.fixture(scope="module")
def failed(pardec, long_title):
    """What such a run said; its database is failed.sqlite."""
    return pardec(*long_title, "--db", "failed.sqlite", "--format", "json")


def test_failed_answers_are_counted_and_end_with_exit_3(failed):
    assert failed.returncode == 3, failed.stderr
    last = failed.stderr.splitlines()[-1]
    assert "4 of 12 answers failed" in last
    assert "error" in last
    rows = {row["arm"]: row for row in json.loads(failed.stdout)["rows"]}
    assert (rows["ar"]["n"], rows["ar"]["failed"], rows["hpd"]["failed"]) == (6, 1, 3)


def test_with_a_data_root_nothing_is_called_a_sample(failed):
    assert all(not row["dataset_is_sample"] for row in json.loads(failed.stdout)["rows"])


def test_a_failed_answer_is_a_row_with_its_reason(pardec, failed):
    bad = query(
        pardec.folder / "failed.sqlite",
        "SELECT label, key, generation.* FROM generation JOIN run ON run.id = run_id JOIN sample ON"
        " sample.id = sample_id WHERE error IS NOT NULL",
    )
    assert len(bad) == 4, f"failed rows: {bad}"
    assert all(
        "context overflow" in b["error"]
        and "4096" in b["error"]
        and b["stop"] == "error"
        and b["text"] == ""
        for b in bad
    )
    assert {b["key"] for b in bad if b["label"] == "ar"} == {"test-2"}, "only the long title fails"


def test_failed_answers_have_the_scores_of_wrong_ones(pardec, failed):
    scored = query(
        pardec.folder / "failed.sqlite",
        "SELECT count(*) AS n, max(value) AS most FROM score JOIN generation ON generation.id ="
        " generation_id WHERE error IS NOT NULL AND metric IN ('extractgpt_f1', 'strict_f1')",
    )[0]
    assert scored["n"] == 2 * 4, f"failed answers have the scores of wrong ones: {scored}"
    assert scored["most"] == 0


def test_a_block_with_a_failure_has_no_time(pardec, failed):
    timed = query(
        pardec.folder / "failed.sqlite",
        "SELECT count(*) AS n FROM block WHERE wall_ns IS NOT NULL AND EXISTS (SELECT 1 FROM job"
        " WHERE block_id = block.id AND error IS NOT NULL)",
    )[0]["n"]
    assert timed == 0, "blocks with a failure have no time"


def test_fail_on_error_tolerates_a_share(pardec, long_title):
    good = pardec(*long_title, "--db", "tolerated.sqlite", "--fail-on-error", 0.5)
    assert good.returncode == 0, f"--fail-on-error 0.5: exit {good.returncode}: {good.stderr}"


def test_resume_counts_the_failures_of_before(pardec, long_title, failed):
    ran = pardec(*long_title, "--db", "failed.sqlite", "--resume")
    assert ran.returncode == 3, (
        f"--resume counts failures of before: exit {ran.returncode}: {ran.stderr}"
    )
    assert "4 of 12" in ran.stderr


@pytest.fixture(scope="module")
def oracle_db(pardec):
    return pardec.folder / "oracle.sqlite"


@pytest.fixture(scope="module")
def oracle(pardec, model, oracle_db):
    """The table of a run with forced references."""
    printed = pardec.good(
        "run", "--model", model, "--decoder", "ar,hpd", "--dataset", "oa-mine", "--oracle",
        "references", "--db", oracle_db, "--format", "json", "--progress", "none",
    )
    return json.loads(printed)


def test_a_run_under_an_oracle_is_marked(oracle, oracle_db):
    assert "oracle references" in oracle["title"]
    assert any("oracle" in note for note in oracle["notes"])
    assert {row["oracle"] for row in query(oracle_db, "SELECT oracle FROM run")} == {"references"}


def test_a_run_under_an_oracle_has_no_score(oracle, oracle_db):
    assert all(
        row[metric] is None
        for row in oracle["rows"]
        for metric in ("f1_micro", "f1_macro", "f1_strict")
    )
    assert query(oracle_db, "SELECT count(*) AS n FROM score")[0]["n"] == 0


def test_the_database_refuses_a_score_of_an_oracle_run(oracle, oracle_db):
    with pytest.raises(sqlite3.Error, match="oracle"):
        change(
            oracle_db,
            "INSERT INTO score (generation_id, metric, version, field, value, is_nan) SELECT id,"
            " 'x', '1', '', 1, 0 FROM generation LIMIT 1",
        )


def test_an_oracle_forces_the_references(oracle, oracle_db):
    asked = fields_of_category("oa-mine")
    for generation in query(
        oracle_db,
        "SELECT label, key, generation.fields FROM generation JOIN run ON run.id = run_id JOIN"
        " sample ON sample.id = sample_id",
    ):
        record = records("oa-mine")[int(generation["key"].split("-")[1])]
        wanted = [
            next(iter(record["target_scores"].get(name, {"": 1})))
            for name in asked[record["category"]]
        ]
        got = [f["text"] for f in json.loads(generation["fields"])]
        assert got == wanted, (
            f"oracle {generation['label']} {generation['key']}: {got}, the references are {wanted}"
        )


def test_what_the_network_itself_chose_is_kept_under_an_oracle(oracle, oracle_db):
    unforced = query(oracle_db, "SELECT count(*) AS n FROM job WHERE unforced IS NULL")[0]["n"]
    assert unforced == 0, "what the network itself chose is kept"
    hpd = next(r for r in oracle["rows"] if r["arm"] == "hpd")
    assert 0 <= hpd["same_choices"] <= 1, f"hpd under the oracle: {hpd}"
    assert hpd["tokens_per_forward"] > 2


def raise_logits(file, token, factor):
    """Multiplies a row of the output matrix (bf16) by a power of two."""
    data = bytearray(file.read_bytes())
    length = int.from_bytes(data[:8], "little")
    head = json.loads(data[8 : 8 + length])["lm_head.weight"]
    width = head["shape"][1]
    begin = 8 + length + head["data_offsets"][0] + 2 * token * width
    for at in range(begin, begin + 2 * width, 2):
        value = int.from_bytes(data[at : at + 2], "little")
        if value & 0x7F80:
            data[at : at + 2] = (value + 0x80 * (factor.bit_length() - 1)).to_bytes(2, "little")
    file.write_bytes(data)


@pytest.mark.parametrize(
    "flags, words",
    [
        (
            ["--decoder", "ar", "--dataset", "oa-mine,mt-bench", "--oracle", "references"],
            "mt-bench has open prompts",
        ),
        (
            [
                "--arm", "guessing=apar,medusa=1x2x2", "--dataset", "oa-mine", "--oracle",
                "recorded:0123456789ab",
            ],
            "arm 'guessing'",
        ),
    ],
    ids=["open-prompts", "options"],
)
def test_an_oracle_is_refused_before_a_model_is_read(pardec, flags, words):
    db = pardec.folder / "refused.sqlite"
    ran = pardec("run", "--model", pardec.folder / "nowhere", *flags, "--db", db)
    assert ran.returncode == 2, ran.stderr
    assert words in ran.stderr
    assert not db.exists()


FORK = 9  # random weights have no [Fork] of their own


@pytest.fixture(scope="module")
def forking(pardec):
    """A network of random weights that forks in apar."""
    model = pardec.synthesise("forking", seed=2)
    raise_logits(model / "model.safetensors", FORK, 8)
    return model


@pytest.fixture(scope="module")
def other(pardec):
    """Another network of random weights."""
    return pardec.synthesise("other", seed=77)


def recorded_flags(limit=4, tokens=40):
    return [
        "--dataset", "oa-mine", "--limit", limit, "--db", "recorded.sqlite", "--max-new-tokens",
        tokens, "--progress", "none", "--format", "json",
    ]


RECORDED_ARMS = [
    "--decoder", "ar,apar,aspd", "--set", "aspd.tokens=20,21,22,23,24,25", "--set",
    f"apar.fork_token={FORK}", "--set", "apar.child_token=7", "--set", "apar.max_depth=0",
]


@pytest.fixture(scope="module")
def recording(pardec, forking):
    """The id of a run whose choices are forced on another network."""
    pardec.good("run", "--model", forking, *RECORDED_ARMS, *recorded_flags())
    return query(
        pardec.folder / "recorded.sqlite", "SELECT invocation FROM run WHERE decoder = 'apar'"
    )[0]["invocation"]


def test_a_recording_forces_the_same_ids_threads_and_passes(pardec, recording, other):
    db = pardec.folder / "recorded.sqlite"
    columns = (
        "label, key, text, tokens, job.stop, chosen, forced, fed, text_tokens, forwards,"
        " cached_peak, cached_sum, attended, branch_lengths"
    )
    jobs = f"SELECT {columns} FROM job JOIN run ON run.id = run_id WHERE %s ORDER BY label, key"
    truth = query(db, jobs % "invocation = ?", recording)
    assert sum(len(json.loads(j["branch_lengths"])) for j in truth if j["label"] == "apar") > 8, (
        "apar: random weights fork"
    )
    ran = pardec(
        "run", "--model", other, *RECORDED_ARMS, "--oracle", f"recorded:{recording[:12]}",
        *recorded_flags(),
    )
    assert ran.returncode == 0, f"recorded: exit {ran.returncode}: {ran.stderr}"
    forced = query(db, jobs % "run.oracle IS NOT NULL")
    assert len(forced) == 12
    assert forced == truth
    assert (
        query(
            db,
            "SELECT count(*) AS n FROM score JOIN generation ON generation.id = generation_id JOIN"
            " run ON run.id = run_id WHERE oracle IS NOT NULL",
        )[0]["n"]
        == 0
    ), "recorded: no score"


@pytest.mark.parametrize(
    "flags, words",
    [
        (recorded_flags(tokens=41), "max_new_tokens 40, this run 41"),
        (recorded_flags(limit=5), "has no job"),
        ([*recorded_flags(), "--set", "apar.max_threads=3"], "none of its arms is apar"),
    ],
    ids=["tokens", "limit", "options"],
)
def test_a_recording_of_another_run_is_refused(pardec, recording, other, flags, words):
    ran = pardec(
        "run", "--model", other, *RECORDED_ARMS, *flags, "--oracle", f"recorded:{recording}"
    )
    assert ran.returncode == 2, ran.stderr
    assert words in ran.stderr


CONTEXT_ARMS = {
    "sep": "ar,ask=separately",
    "pc": "ar,ask=separately,prefix_cache=context",
    "ippd": "ippd,contexts=1",
    "cached": "ippd,contexts=1,prefix_cache=true",
    "stacked": "ippd,contexts=3",
}


@pytest.fixture(scope="module")
def context_run(model):
    return [
        "run", "--model", model, "--dataset", "oa-mine,ae-110k", "--limit", 8, "--block", 8,
        "--batch-size", 3, "--progress", "none",
    ]


@pytest.fixture(scope="module")
def context_arms(context_run):
    """The arguments of a run with a common context."""
    return [
        *context_run,
        "--per-field",
        5,
        *(part for label, arm in CONTEXT_ARMS.items() for part in ("--arm", f"{label}={arm}")),
    ]


@pytest.fixture(scope="module")
def context_rows(pardec, context_arms):
    """The table of that run; its database is ippd.sqlite."""
    return json.loads(
        pardec.good(*context_arms, "--db", "ippd.sqlite", "--baseline", "sep", "--format", "json")
    )["rows"]


def test_ippd_is_compared_with_ar_that_asks_separately(pardec, context_arms):
    plan = json.loads(pardec.good(*context_arms, "--dry-run", "--format", "json"))["rows"]
    assert all(
        row["compared with"] == "sep"
        for row in plan
        if row["arm"].endswith(("ippd", "cached", "stacked"))
    )


def test_ippd_answers_as_ar_that_asks_separately(pardec, context_rows):
    db = pardec.folder / "ippd.sqlite"
    fields = collections.defaultdict(list)
    for row in query(
        db,
        "SELECT run.label, dataset.name, sample.key, generation.fields FROM generation JOIN run ON"
        " run.id = run_id JOIN dataset ON dataset.id = run.dataset_id JOIN sample ON sample.id ="
        " sample_id ORDER BY dataset.name, sample.key",
    ):
        fields[row["name"], row["label"]] += [
            f["tokens"][:-1] if f["stop"] == "eos" else f["tokens"]
            for f in json.loads(row["fields"])
        ]
    for row in context_rows:
        dataset, label = row["dataset"].split()[0], row["arm"]
        if label == "sep":
            assert row["em"] is None, f"EM of the baseline: {row}"
            continue
        ours, theirs = fields[dataset, label], fields[dataset, "sep"]
        share = sum(a == b for a, b in zip(ours, theirs)) / len(theirs)
        assert len(ours) == len(theirs) > 12, (
            f"{dataset} {label}: EM {row['em']}, the ids give {share}"
        )
        assert close(row["em"], share), f"{dataset} {label}: EM {row['em']}, the ids give {share}"
        assert share == 1, f"{dataset} {label}: {share} of the fields equal independent decoding"
        assert row["identical"] == 1, (
            f"{dataset} {label}: {share} of the fields equal independent decoding"
        )


def test_a_shared_prefix_saves_prompt_tokens_and_memory_accesses(pardec, context_rows):
    db = pardec.folder / "ippd.sqlite"
    accounting = {
        (r["dataset"], r["arm"]): r
        for r in json.loads(pardec.good("compare", "--db", db, "--accounting", "--format", "json"))[
            "rows"
        ]
    }
    sums = query(
        db,
        "SELECT dataset.name, label, sum(fed + cached_sum) AS accesses FROM job JOIN run ON run.id"
        " = run_id JOIN dataset ON dataset.id = dataset_id GROUP BY run.id",
    )
    assert all(
        accounting[s["name"], s["label"]]["attention_accesses"] == s["accesses"] for s in sums
    ), f"q + K,V: {sums}"
    for dataset in ("oa-mine", "ae-110k"):
        of = {label: accounting[dataset, label] for label in CONTEXT_ARMS}
        prompts = [of[label]["prompt"] for label in ("sep", "ippd", "cached", "pc", "stacked")]
        assert prompts[0] > prompts[1] > prompts[2] == prompts[3] == prompts[4], (
            f"{dataset}: tokens of prompts fed: {prompts}"
        )
        assert len({r["chosen"] for r in of.values()}) == 1, (
            f"{dataset}: all choose as many ids: {of}"
        )
        assert of["sep"]["attention_accesses"] > of["ippd"]["attention_accesses"], (
            f"{dataset}: memory accesses: {of}"
        )


@pytest.fixture(scope="module")
def context_oracle(pardec, context_run):
    """The table of a run with forced references; its database is ippd-oracle.sqlite."""
    arms = [
        "--arm", "sep=ar,ask=separately", "--arm", "ippd=ippd,contexts=3", "--arm",
        "cached=ippd,prefix_cache=true",
    ]
    return json.loads(
        pardec.good(
            *context_run, *arms, "--oracle", "references", "--db", "ippd-oracle.sqlite", "--format",
            "json",
        )
    )


def test_under_an_oracle_ippd_chooses_as_ar(context_oracle):
    assert "em" not in context_oracle["columns"]
    assert all(0 <= r["same_choices"] <= 1 for r in context_oracle["rows"] if r["arm"] != "sep")
    assert all(r["same_choices"] == 1 for r in context_oracle["rows"] if r["arm"] == "ippd")


def test_ippd_takes_a_pass_a_token_of_the_longest_value(pardec, context_oracle):
    db = pardec.folder / "ippd-oracle.sqlite"
    for job in query(
        db,
        "SELECT job.*, run.label, run.options FROM job JOIN run ON run.id = run_id WHERE decoder ="
        " 'ippd'",
    ):
        branches, histogram = (
            json.loads(job["branch_lengths"]),
            {
                h["emitted"]: h["forwards"]
                for h in query(db, "SELECT * FROM step_histogram WHERE job_id = ?", job["id"])
            },
        )
        first = histogram.pop(0, 0)  # the pass of the shared instruction
        assert first <= json.loads(job["options"])["prefix_cache"], (
            f"{job['key']}: {job['forwards']} forwards"
        )
        assert job["forwards"] == first + max(branches), f"{job['key']}: {job['forwards']} forwards"
        widths = collections.Counter(
            sum(b >= t for b in branches) for t in range(1, max(branches) + 1)
        )
        assert histogram == widths, f"{job['key']}: step widths {histogram}, lengths give {widths}"


def test_an_oracle_forces_the_references_on_ippd(pardec, context_oracle):
    db = pardec.folder / "ippd-oracle.sqlite"
    asked = {name: fields_of_category(name) for name in ("oa-mine", "ae-110k")}
    for generation in query(
        db,
        "SELECT run.label, dataset.name, sample.key, generation.fields FROM generation JOIN run ON"
        " run.id = run_id JOIN dataset ON dataset.id = run.dataset_id JOIN sample ON sample.id ="
        " sample_id",
    ):
        record = records(generation["name"])[int(generation["key"].split("-")[1])]
        wanted = [
            next(iter(record["target_scores"].get(name, {"": 1})))
            for name in asked[generation["name"]][record["category"]]
        ]
        got = [f["text"] for f in json.loads(generation["fields"])]
        assert got == ["" if w == "n/a" else w for w in wanted], (
            f"oracle {generation['label']} {generation['key']}: {got}, the references are {wanted}"
        )


def test_data_stats_model_the_attention_as_the_paper(pardec):
    stats = json.loads(pardec.good("data", "stats", "--attention", "--format", "json"))["rows"]
    published = {r["dataset"]: r for r in stats}
    assert round(published["paper: narrativeqa"]["prefill_flop_factor"], 3) == 1.206, (
        f"the paper's factors: {published}"
    )
    assert round(published["paper: squad"]["prefill_access_ratio"], 2) == 6.18
    ours = published["oa-mine"]
    assert ours["total_access_ratio"] > 1, f"the model on a sample: {ours}"
    assert ours["M"] > 1
    assert ours["p"] > ours["c"]


OF_ASPD, OF_APAR = (
    {"dp", "abn", "ppd", "tps", "p_tps"},
    {"threads_per_answer", "parallel_share", "max_cached", "attended_per_token"},
)


@pytest.fixture(scope="module")
def own_run(forking):
    return [
        "run", "--model", forking, "--dataset", "oa-mine", "--limit", 6, "--max-new-tokens", 30,
        "--per-field", 5, "--batch-size", 2, "--progress", "none", "--format", "json",
    ]


@pytest.fixture(scope="module")
def own(pardec, own_run):
    """The table of a run with apar and aspd; its database is own.sqlite."""
    arms = [
        "--decoder", "ar,apar,aspd", "--arm", "sep=ar,ask=separately", "--arm",
        "ippd=ippd,contexts=1",
    ]
    return json.loads(
        pardec.good(
            *own_run, *arms, "--set", "apar.child_token=7", "--set", f"apar.fork_token={FORK}",
            "--db", "own.sqlite",
        )
    )


@pytest.fixture(scope="module")
def own_rows(own):
    return {row["arm"]: row for row in own["rows"]}


@pytest.fixture(scope="module")
def own_jobs(pardec, own):
    """The jobs of an arm."""
    return lambda label: query(
        pardec.folder / "own.sqlite",
        "SELECT job.* FROM job JOIN run ON run.id = run_id WHERE label = ?",
        label,
    )


def test_columns_of_absent_decoders_are_absent(pardec, own_run):
    plain = json.loads(pardec.good(*own_run, "--decoder", "ar,ippd", "--db", "plain.sqlite"))
    assert not set(plain["columns"]) & (OF_ASPD | OF_APAR)


def test_columns_of_apar_and_aspd_stand_where_such_an_arm_is(own, own_rows):
    columns, rows = own["columns"], own_rows
    assert set(columns) >= OF_ASPD | OF_APAR
    assert columns.index("identical") + 1 == columns.index("em")
    assert rows["ippd"]["em"] is not None
    assert rows["apar"]["em"] is None
    assert all(rows[arm][key] is None for arm in ("apar", "ippd") for key in OF_ASPD), (
        f"columns of other decoders are empty: {rows}"
    )
    assert all(rows[arm][key] is None for arm in ("aspd", "ippd") for key in OF_APAR)


@pytest.mark.parametrize("label", ["ar", "apar"])
def test_apars_columns_follow_from_the_jobs(own_rows, own_jobs, label):
    of, row = own_jobs(label), own_rows[label]
    assert close(row["threads_per_answer"], sum(j["branches"] for j in of) / len(of)), (
        f"{label}: {row}"
    )
    assert close(row["parallel_share"], sum(j["branches"] > 1 for j in of) / len(of)), label
    assert close(row["max_cached"], sum(j["cached_peak"] for j in of) / len(of)), label
    assert close(
        row["attended_per_token"],
        sum(j["text_attended"] for j in of) / sum(j["text_tokens"] for j in of),
    ), label


def test_apar_forks_and_ar_does_not(own_rows):
    rows = own_rows
    assert rows["apar"]["parallel_share"] > 0 == rows["ar"]["parallel_share"], f"threads: {rows}"
    assert rows["ar"]["threads_per_answer"] == 1
    assert rows["sep"]["parallel_share"] is None, f"threads of several answers a job: {rows['sep']}"
    assert rows["sep"]["threads_per_answer"] == 1


def test_aspds_columns_without_a_parallel_stage(own_rows, own_jobs):
    rows = own_rows
    of = own_jobs("aspd")
    assert all(
        set(json.loads(j["parallel"]))
        == {"generated", "branch_tokens", "groups", "group_branches", "parallel_ns"}
        for j in of
    ), "job.parallel"
    assert rows["aspd"]["ppd"] == 0, f"no parallel stage: {rows['aspd']}"
    assert rows["aspd"]["dp"] is None
    assert close(
        rows["ar"]["tps"], sum(1e9 * j["chosen"] / j["decode_ns"] for j in own_jobs("ar")) / 6
    ), f"ar's tokens per second: {rows['ar']}"


def test_aspds_columns_of_a_worked_example(pardec, own, own_jobs):
    """12 of 21 tokens in two branches of one stage, in two of the six jobs; the second one takes
    twice as long.
    """
    db = pardec.folder / "own.sqlite"
    for n, job in enumerate(own_jobs("aspd")):
        parallel = {
            "generated": 21,
            "branch_tokens": 12 * (n < 2),
            "groups": int(n < 2),
            "group_branches": 2 * (n < 2),
            "parallel_ns": 10**6 * (n + 1),
        }
        change(
            db,
            "UPDATE job SET parallel = ?, decode_ns = ? WHERE id = ?",
            json.dumps(parallel),
            3 * 10**6,
            job["id"],
        )
    row = next(
        r
        for r in json.loads(pardec.good("compare", "--db", db, "--format", "json"))["rows"]
        if r["arm"] == "aspd"
    )
    assert close(row["dp"], 12 / 21), f"aspd: {row}"
    assert row["abn"] == 2
    assert close(row["ppd"], 2 / 6)
    assert close(row["tps"], 7000)
    assert close(row["p_tps"], 9000)
    same_in_all_formats(pardec, db)
    page = pardec.folder / "own.html"
    pardec.good("report", "--db", db, "-o", page)
    # The report has these columns.
    assert "P-TPS" in page.read_text()
    assert "max cached" in page.read_text()


FIELDS = [{"name": "Brand"}, {"name": 'Model "X"'}]
JOB = {
    "id": "j1",
    "instruction": "Extract.",
    "contexts": [
        {"id": "a", "category": "Shoes", "text": "Nike Revolution 6", "fields": FIELDS},
        {"id": "b", "category": "Shoes", "text": "Adidas Runfalcon", "fields": FIELDS},
    ],
    "limits": {"max_new_tokens": 12, "per_field": 5},
    "seed": 3,
}


@pytest.mark.parametrize(
    "decoder, setting",
    [
        ("ar", None),
        ("ar", "ar.ask=separately"),
        ("ar", "forced_keys=true"),
        ("hpd", "hpd.k_max=5"),
        ("ippd", None),
        ("ippd", "ippd.prefix_cache=true"),
        ("skeleton-of-thought", None),
    ],
)
def test_generate_answers_a_job(pardec, model, decoder, setting):
    (pardec.folder / "job.json").write_text(json.dumps(JOB))
    flags = ["--set", setting] if setting else []
    ran = pardec(
        "generate", "--model", model, "--decoder", decoder, "--job", "job.json", "--format", "json",
        *flags,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr.count("\n") == ran.stdout.count("\n") == 1
    answer = json.loads(ran.stdout)
    assert list(answer) == ["id", "decoder", "options", "answers", "text", "tokens", "counters"]
    assert answer["id"] == "j1"
    assert answer["decoder"] == decoder
    assert set(answer["counters"]) >= COUNTERS
    assert [(a["context"], a["field"]) for a in answer["answers"]] == [
        (c["id"], f["name"]) for c in JOB["contexts"] for f in c["fields"]
    ]
    assert all(list(a) == ["context", "field", "text", "tokens", "stop"] for a in answer["answers"])
    assert all(a["stop"] in ("terminator", "eos", "limit", "context") for a in answer["answers"]), (
        "stop reasons"
    )
    counters = answer["counters"]
    speed = json.loads(ran.stderr)["speed"]
    assert (speed["tokens"], speed["prompt_tokens"]) == (counters["chosen"], counters["prompt"]), (
        f"{speed}"
    )
    assert counters["total_ns"] <= 1e9 * speed["seconds"]
    for key, value in (
        ("tokens_per_second", speed["tokens"] / speed["seconds"]),
        ("prompt_tokens_per_second", 1e9 * counters["prompt"] / counters["prefill_ns"]),
        ("first_token_p50_s", 1e-9 * counters["first_token_ns"]),
    ):
        assert math.isclose(speed[key], value, rel_tol=1e-12), f"{key} {speed}, expected {value}"
    assert (
        sum(int(n) * k for n, k in counters["emitted"].items())
        == counters["chosen"]
        == sum(counters["branch_lengths"])
    ), f"{counters}"
    if decoder == "hpd":
        body = answer["text"].split("<result>")[1].split("</result>")[0]
        values = json.loads(body)
        assert [list(v) for v in values.values()] == [["Brand", 'Model "X"']] * 2


def test_generate_takes_ids_and_prints_ids(pardec, model):
    tokens = pardec.good(
        "generate", "--model", model, "--prompt-tokens", "5,6,7", "--max-new-tokens", 6
    )
    assert re.fullmatch(r"\d+(,\d+)*\n", tokens), f"ids in, ids out: {tokens!r}"
    as_json = json.loads(
        pardec.good(
            "generate", "--model", model, "--prompt-tokens", "5,6,7", "--max-new-tokens", 6,
            "--format", "json",
        )
    )
    # Text and json give the same ids.
    assert as_json["tokens"] == [int(t) for t in tokens.strip().split(",")]
    assert as_json["counters"]["prompt"] == 3


def test_generate_answers_an_open_prompt_and_says_how_fast(pardec, model):
    text = pardec("generate", "--model", model, "--prompt", "A shoe of", "--max-new-tokens", 6)
    assert text.returncode == 0, f"an open prompt: {text.stderr}"
    assert text.stdout.endswith("\n")
    assert re.fullmatch(
        r"speed: 6 tokens in \S+ m?s, \S+ tokens/s; prompt \d+ tokens, \S+ tokens/s; first token"
        r" \S+ m?s\n",
        text.stderr,
    ), f"how fast it was: {text.stderr!r}"


def test_generate_answers_a_file_of_jobs_though_one_fails(pardec, model):
    lines = [dict(JOB, id=f"j{i}") for i in range(4)]
    lines[2] = {**lines[2], "contexts": [{**JOB["contexts"][0], "text": "Nike " * 5000}]}
    write_lines(pardec.folder / "jobs.jsonl", lines)
    ran = pardec(
        "generate", "--model", model, "--decoder", "hpd", "--set", "hpd.k_max=4", "--job",
        "jobs.jsonl", "--format", "json", "--batch-size", 3,
    )
    assert ran.returncode == 3, f"a file of jobs: exit {ran.returncode}: {ran.stdout[:200]}"
    assert [json.loads(l)["id"] for l in ran.stdout.splitlines()] == ["j0", "j1", "j3"]
    failed, speed = ran.stderr.splitlines()
    speed = json.loads(speed)["speed"]
    assert "j2: context overflow" in failed, (
        f"a file of jobs, of which several are in flight: {ran.stderr}"
    )
    assert speed["tokens"] == sum(
        json.loads(l)["counters"]["chosen"] for l in ran.stdout.splitlines()
    )
    assert speed["prompt_tokens_per_second"] is None


def test_help_names_the_verbs_and_exit_codes(pardec):
    helped = pardec.good("--help")
    assert all(v in helped for v in VERBS)
    assert "Exit codes" in helped
    assert pardec.good() == helped
    assert pardec.good("help") == helped


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb_has_usage_and_an_example(pardec, verb):
    said = pardec.good(verb, "--help")
    assert f"pardec {verb}" in said.split("Example:")[-1]
    assert f"Usage: pardec {verb}" in said
    assert pardec.good(verb, "-h") == said


def test_help_of_an_action_names_no_other_action(pardec):
    narrow = pardec.good("runs", "compare", "--help")
    assert "Usage: pardec runs compare [OPTIONS]" in narrow
    assert "rm ID" not in narrow
    assert "Flags of list" not in narrow
    assert "--yes" not in narrow


def test_version_names_the_build(pardec):
    version = pardec.good("--version")
    assert re.fullmatch(
        r"pardec \d+\.\d+\.\d+ \(commit \S+, libtorch [^,]+, \S+, [^\n]+, flags [^\n]+\)\n", version
    )


def test_list_names_decoders_options_and_datasets(pardec):
    assert "ar" in pardec.good("list", "decoders")
    assert "oa-mine" in pardec.good("list", "datasets")
    decoders = [
        json.loads(line)
        for line in pardec.good("list", "decoders", "--format", "jsonl").splitlines()
    ]
    assert {d["name"] for d in decoders} >= {"ar", "hpd"}
    assert "k_max" in [
        o["name"] for o in next(d for d in decoders if d["name"] == "hpd")["options"]
    ]


def test_model_inspect_counts_parameters_and_cache(pardec, model):
    rows = json.loads(pardec.good("model", "inspect", model, "--format", "json"))
    d, f, layers, kv, vocabulary = (
        TINY["hidden_size"], TINY["intermediate_size"], TINY["num_hidden_layers"],
        2 * TINY["head_dim"], VOCABULARY,
    )
    parameters = 2 * vocabulary * d + d + layers * (2 * d * d + 2 * d * kv + 3 * d * f + 2 * d)
    assert rows["parameters"] == parameters
    assert rows["layers"] == 2
    assert rows["cache_per_token"]["fp32"] == 4 * 2 * layers * kv
    assert rows["family"] == "llama"
    assert "untrained" in rows["note"]
    assert rows["tokenizer"] == VOCABULARY


def test_doctor_says_what_decoders_lack_and_how_they_were_trained(pardec):
    said = {
        r["check"]: (r["state"], r["detail"])
        for r in json.loads(pardec.good("doctor", "--format", "json"))["rows"]
    }
    assert said["decoder speculative"][0] == "n/a"
    assert "lacks: a draft model" in said["decoder speculative"][1]
    assert "trained: k_max 30, stack 2" in said["decoder hpd"][1]
    assert "not trained" in said["decoder aspd"][1]


@pytest.mark.parametrize(
    "prompt", ["Orm Mug", "two\nlines\n", " "], ids=["words", "lines", "blank"]
)
def test_a_prompt_is_read_from_standard_input(pardec, model, prompt):
    ask = ["generate", "--model", model, "--max-new-tokens", 8, "--format", "json", "--prompt"]
    piped = subprocess.run(
        pardec.arguments([*ask, "-"]), input=prompt + "\n", cwd=pardec.folder, capture_output=True,
        text=True, env=clean_environment(), timeout=60,
    )
    assert piped.returncode == 0
    assert json.loads(piped.stdout)["tokens"] == json.loads(pardec.good(*ask, prompt))["tokens"]


@pytest.fixture(scope="module")
def dtype_of(pardec):
    """What `--dtype auto` is for a checkpoint."""

    def of(model):
        db = pardec.folder / f"{model.name}-auto.sqlite"
        pardec.good(
            "run", "--model", model, "--decoder", "ar", "--dataset", "oa-mine", "--limit", 1,
            "--max-new-tokens", 4, "--dtype", "auto", "--db", db, "--progress", "none",
        )
        return query(db, "SELECT dtype FROM run")

    return of


def test_dtype_auto_is_what_the_checkpoint_holds_where_that_is_fast(model, dtype_of):
    fast = "avx512_bf16" in pathlib.Path("/proc/cpuinfo").read_text()
    assert dtype_of(model) == [{"dtype": "bf16" if fast else "fp32"}]


def checkpoint_of(pardec, model, dtype):
    """The checkpoint, as one that was stored in this type."""
    folder = shutil.copytree(model, pardec.folder / f"stored-{dtype}")
    config = json.loads((model / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "dtype": dtype}))
    return folder


def test_dtype_auto_of_a_checkpoint_in_float32_is_fp32(pardec, model, dtype_of):
    assert dtype_of(checkpoint_of(pardec, model, "float32")) == [{"dtype": "fp32"}]


def test_dtype_auto_of_a_checkpoint_in_float16_is_bf16_and_says_so(pardec, model, dtype_of):
    fast = "avx512_bf16" in pathlib.Path("/proc/cpuinfo").read_text()
    half = checkpoint_of(pardec, model, "float16")
    assert dtype_of(half) == [{"dtype": "bf16" if fast else "fp32"}]
    said = "holds float16, which is computed in bf16 (--dtype auto)"
    for dtype in ("auto", "bf16"):
        ran = pardec(
            "generate", "--model", half, "--dtype", dtype, "--prompt", "x", "--max-new-tokens", 1
        )
        assert ran.returncode == 0, ran.stderr
        assert (said in ran.stderr) == (fast and dtype == "auto")


def test_doctor_looks_at_tools_model_and_database(pardec, model, main_run, main_db):
    doctor = pardec("doctor", "--model", model, "--db", main_db, "--format", "json")
    states = {r["check"]: r["state"] for r in json.loads(doctor.stdout)["rows"]}
    assert doctor.returncode == 0, states
    assert {
        "gnuplot", "bubblewrap", "disk", "build", "libtorch", "prompts", "dataset oa-mine", "model",
        "database",
    } <= set(states)


def test_doctor_finds_what_is_missing(pardec):
    sick = pardec(
        "doctor", "--model", "/nowhere", "--db", "none.sqlite", "--data-root", "/nowhere",
        "--format", "json",
    )
    states = {r["check"]: r["state"] for r in json.loads(sick.stdout)["rows"]}
    assert sick.returncode == 1, states
    assert states["model"] == states["database"] == states["data root"] == "BAD"


def test_model_synth_makes_one_network_of_a_seed(pardec, model):
    one, other = pardec.synthesise("twin-a", seed=5), pardec.synthesise("twin-b", seed=5)
    assert (one / "model.safetensors").read_bytes() == (other / "model.safetensors").read_bytes()
    assert (model / "model.safetensors").read_bytes() != (one / "model.safetensors").read_bytes()


@pytest.fixture(scope="module")
def default_runs(pardec, model):
    """Two runs without --db; what they said."""
    flags = [
        "--model", model, "--decoder", "ar", "--dataset", "oa-mine", "--limit", 2, *SHORT[:2],
        "--format", "jsonl",
    ]
    return [pardec("run", *flags, env={"NO_COLOR": "1"}) for _ in range(2)]


def test_without_a_database_named_both_runs_live_in_the_default_one(pardec, default_runs):
    for ran in default_runs:
        assert ran.returncode == 0, ran.stderr
        assert len(ran.stdout.splitlines()) == 1
        assert "\x1b" not in ran.stderr + ran.stdout
    db = pardec.folder / "results" / "pardec.sqlite"
    assert not db.with_name("pardec.sqlite-wal").exists(), "the log is taken in at the end"
    runs = query(db, "SELECT * FROM run ORDER BY id")
    assert len(runs) == 2
    assert len({r["invocation"] for r in runs}) == 2


def test_compare_finds_a_run_by_the_first_characters_of_its_id(pardec, default_runs):
    for run in query(pardec.folder / "results" / "pardec.sqlite", "SELECT invocation FROM run"):
        assert run["invocation"][:8] in pardec.good("compare", "--run", run["invocation"][:8])
    unknown = pardec("compare", "--run", "zzzz")
    assert unknown.returncode == 2, unknown.stderr
    assert "'zzzz'" in unknown.stderr
