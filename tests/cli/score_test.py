"""`pardec score`: the scores that `run` stored come out again from the database alone, and other
metrics equal Python's own.
"""

import html
import json
import math
import pathlib
import random
import re
import shlex
import shutil
import sys

import pytest
from harness import ROOT, change, query
from rouge_score import rouge_scorer

sys.path.insert(0, str(ROOT / "tests/metrics"))
import squad_oracle  # noqa: E402

SHORT = ["--max-new-tokens", 20, "--per-field", 6, "--progress", "none", "--warmup", 0]
SCORES = (
    "SELECT generation_id, metric, version, field, value, is_nan, details FROM score ORDER BY"
    " generation_id, metric, field"
)
needs_bwrap = pytest.mark.skipif(
    not shutil.which("bwrap"), reason="bwrap is missing (Debian package bubblewrap)"
)


@pytest.fixture(scope="module")
def run(pardec):
    """The database of a run; its network is gone."""
    model, db = pardec.synthesise("model", seed=2), pardec.folder / "run.sqlite"
    pardec.good(
        "run", "--model", model, "--decoder", "ar,hpd", "--dataset", "oa-mine,ae-110k", "--limit",
        6, "--db", db, *SHORT,
    )
    shutil.rmtree(model)
    return db


@pytest.fixture
def db(run, tmp_path):
    """A copy of it, for one test."""
    return pathlib.Path(shutil.copy(run, tmp_path / "run.sqlite"))


def scored(pardec, db, *args):
    """Rows by (dataset, arm, metric), and how many scores changed."""
    rows = json.loads(pardec.good("score", "--db", db, "--format", "json", *args))["rows"]
    return {(r["dataset"].split()[0], r["arm"], r["metric"]): r for r in rows}, sum(
        r["changed"] for r in rows
    )


def test_score_finds_what_run_stored(pardec, db):
    """Without the network."""
    before = query(db, SCORES)
    rows, changed = scored(pardec, db)
    assert changed == 0
    assert query(db, SCORES) == before
    compared = json.loads(pardec.good("compare", "--db", db, "--format", "json"))["rows"]
    for row in compared:
        key = (row["dataset"].split()[0], row["arm"])
        for ours, theirs in (
            ("f1_micro", "f1_micro"),
            ("f1_macro", "f1_macro"),
            ("f1_strict", "f1_strict"),
        ):
            assert rows[(*key, ours)]["score"] == row[theirs], (
                f"{key}: {ours} {rows[(*key, ours)]['score']}, compare says {row[theirs]}"
            )
    assert len(rows) == 4 * len(compared) == 16


def test_scores_that_are_gone_come_back(pardec, db):
    before = query(db, SCORES)
    gone = change(db, "DELETE FROM score WHERE metric <> 'parsed'")
    _, changed = scored(pardec, db)
    assert gone > 100
    assert changed > 0
    assert query(db, SCORES) == before


def answer(db, make):
    """Gives every field an answer: make(sample's fields, index) -> text."""
    for row in query(
        db,
        "SELECT generation.id, generation.fields AS answers, sample.fields FROM generation JOIN"
        " sample ON sample.id = sample_id",
    ):
        answers, fields = json.loads(row["answers"]), json.loads(row["fields"])
        for i, one in enumerate(answers):
            one["text"] = make(fields, i)
            one.pop("no_value", None)
        change(db, "UPDATE generation SET fields = ? WHERE id = ?", json.dumps(answers), row["id"])


def fields_of(db):
    """(run's key, sample, field with its answer) of every annotated field."""
    for row in query(
        db,
        "SELECT dataset.name, label, sample.key, sample.fields, generation.fields AS answers FROM"
        " generation JOIN run ON run.id = run_id JOIN sample ON sample.id = sample_id JOIN dataset"
        " ON dataset.id = run.dataset_id",
    ):
        for field, given in zip(json.loads(row["fields"]), json.loads(row["answers"])):
            if field["annotated"]:
                yield (row["name"], row["label"]), row["key"], field, given["text"]


def mean(values):
    return sum(values) / len(values)


def value_f1(answered, strict):
    """(micro, macro) of [(category, field, text)] as ExtractGPT counts, from the rates'
    definitions; macro over pairs with a value on either side.
    """
    pairs = {}
    for category, field, text in answered:
        if field["annotated"] or strict:
            pairs.setdefault((category, field["name"]), []).append(
                (text, field["references"] if field["annotated"] else [])
            )

    def f1(items):
        right, given, wanted = (
            sum(map(bool, x)) for x in zip(*[(t and t in r, t, r) for t, r in items])
        )
        return 2 * right / (given + wanted)

    pairs = [items for items in pairs.values() if any(t or r for t, r in items)]
    return f1(sum(pairs, [])), mean([f1(items) for items in pairs])


def check_values(db, rows):
    """Value F1 of answers of all kinds, absent ones included."""
    for dataset, label in {key[:2] for key in rows}:
        answered = [
            (row["category"], field, given["text"])
            for row in query(
                db,
                "SELECT category, sample.fields, generation.fields AS answers FROM generation JOIN"
                " run ON run.id = run_id JOIN sample ON sample.id = sample_id JOIN dataset ON"
                " dataset.id = run.dataset_id WHERE dataset.name = ? AND label = ?",
                dataset,
                label,
            )
            for field, given in zip(json.loads(row["fields"]), json.loads(row["answers"]))
        ]
        for name, strict in (("f1", False), ("f1_strict", True)):
            truth = dict(zip(("micro", "macro"), value_f1(answered, strict)))
            keys = (
                {"micro": name, "macro": f"{name}_macro"}
                if strict
                else {part: f"{name}_{part}" for part in truth}
            )
            ours = {part: rows[dataset, label, keys[part]]["score"] for part in truth}
            assert all(
                abs(ours[part] - truth[part]) < 1e-12 and 0 < truth[part] < 1 for part in truth
            ), f"{dataset} {label} {name}: {ours}, expected {truth}"


def test_other_metrics_equal_those_of_python(pardec, db):
    rng = random.Random(9)

    def noisy(fields, i):
        right = fields[i]["references"][0] if fields[i]["references"] else ""
        other = rng.choice(fields)["references"] or ["nothing of it"]
        return rng.choice(
            [
                right, right, right.upper(), f"the {right}!", other[0], f"{right} {other[0]}", "",
                "go go go go go go",
            ]
        )

    answer(db, noisy)
    rows, changed = scored(pardec, db, "--metric", "value_f1,token_f1,exact_match,rouge,repetition")
    again, unchanged = scored(
        pardec, db, "--metric", "repetition,rouge,exact_match,token_f1,value_f1"
    )
    # The second time nothing changes.
    assert changed > 0
    assert unchanged == 0
    assert {k: r["score"] for k, r in again.items()} == {k: r["score"] for k, r in rows.items()}
    assert {(n, a) for n, a, _ in rows} == {
        (d, a) for d in ("oa-mine", "ae-110k") for a in ("ar", "hpd")
    }
    check_values(db, rows)
    scorer = rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True)
    for key in sorted({k for k, *_ in fields_of(db)}):
        pairs = [(text, f["references"]) for k, _, f, text in fields_of(db) if k == key]
        squad = [squad_oracle.score(t, r) for t, r in pairs]
        has = [s for s, (_, r) in zip(squad, pairs) if r]
        none = [s for s, (_, r) in zip(squad, pairs) if not r]
        truth = {
            "token_f1": [s[1] for s in squad],
            "squad_exact": [s[0] for s in squad],
            "token_f1_has_answer": [s[1] for s in has],
            "squad_exact_has_answer": [s[0] for s in has],
            "exact_match": [t.strip() in [x.strip() for x in r or [""]] for t, r in pairs],
        }
        if none:
            truth |= {
                "token_f1_no_answer": [s[1] for s in none],
                "squad_exact_no_answer": [s[0] for s in none],
            }
        for ours, theirs in (("rouge_1", "rouge1"), ("rouge_2", "rouge2"), ("rouge_l", "rougeL")):
            truth[ours] = [
                max(scorer.score(r, t)[theirs].fmeasure for r in references)
                for t, references in pairs
                if references
            ]
        for metric, expected in truth.items():
            row = rows[(*key, metric)]
            assert abs(row["score"] - mean(expected)) < 1e-9, (
                f"{key} {metric}: {row['score']} of {row['n']}, expected {mean(expected)} of"
                f" {len(expected)}"
            )
            assert row["n"] == len(expected), (
                f"{key} {metric}: {row['score']} of {row['n']}, expected {mean(expected)} of"
                f" {len(expected)}"
            )
            assert 0 < row["score"] < 1, (
                f"{key} {metric}: {row['score']} of {row['n']}, expected {mean(expected)} of"
                f" {len(expected)}"
            )
    assert any(m == "token_f1_no_answer" for *_, m in rows), (
        "some right answers are that there is none"
    )
    ratios = [
        len(t.split()) / len(set(t.split())) if t.split() else 0
        for row in query(db, "SELECT fields FROM generation")
        for t in [f["text"] for f in json.loads(row["fields"])]
    ]
    stored = [
        r["value"]
        for r in query(db, "SELECT value FROM score WHERE metric = 'repetition' ORDER BY id")
    ]
    # Repetition.
    assert math.isclose(sum(stored), sum(ratios))
    assert max(ratios) == 6
    assert rows["oa-mine", "ar", "degenerate"]["score"] > 0


def test_accuracy_needs_choices(pardec, db):
    ran = pardec("score", "--db", db, "--metric", "accuracy")
    assert ran.returncode == 2, ran.stderr
    assert "--metric accuracy: the examples of oa-mine have no choices" in ran.stderr


def test_accuracy_is_the_share_of_right_letters(pardec, db):
    rng = random.Random(4)
    for row in query(db, "SELECT id, fields FROM sample"):
        fields = [
            {
                **f,
                "annotated": True,
                "choices": ["one", "two", "three", "four"],
                "references": [rng.choice("ABCD")],
            }
            for f in json.loads(row["fields"])
        ]
        change(db, "UPDATE sample SET fields = ? WHERE id = ?", json.dumps(fields), row["id"])
    answer(
        db,
        lambda fields, i: rng.choice(
            ["{}", "({})", "The answer is {}.", "{}: it is", "none", "E", ""]
        ).format(rng.choice([fields[i]["references"][0], *"ABCD"])),
    )
    rows, _ = scored(pardec, db, "--metric", "accuracy")
    for key in sorted({k for k, *_ in fields_of(db)}):
        right = [
            re.findall(r"\b[A-D]\b", text) == f["references"]
            for k, _, f, text in fields_of(db)
            if k == key
        ]
        assert rows[(*key, "accuracy")]["score"] == mean(right), (
            f"{key} accuracy: {rows[(*key, 'accuracy')]}, expected {mean(right)}"
        )
        assert 0 < mean(right) < 1, (
            f"{key} accuracy: {rows[(*key, 'accuracy')]}, expected {mean(right)}"
        )


def test_pass_at_k_needs_tests(pardec, db):
    assert pardec("score", "--db", db, "--metric", "pass_at_k").returncode == 2


@pytest.fixture
def programs(db):
    """Samples with tests; two good draws, one bad and one that tries to tell success."""
    for row in query(db, "SELECT id, fields FROM sample"):
        fields = json.loads(row["fields"])
        fields[0]["test"] = "assert add(1, 2) == 3\n"
        change(
            db,
            "UPDATE sample SET fields = ?, text = ? WHERE id = ?",
            json.dumps(fields),
            "def add(a, b):\n    'Adds.'\n",
            row["id"],
        )
    secret = (  # a runner's, by which it might tell success
        "    import os, sys\n    frame = sys._getframe()\n    while frame:\n        for value in [v"
        " for v in frame.f_locals.values() if isinstance(v, bytes) and len(v) == 32]:\n           "
        " os.write(3, value)\n        frame = frame.f_back\n    os._exit(0)"
    )
    draws = [
        "    return a + b",
        "Sure:\n```python\ndef add(a, b):\n    return b + a\n```",
        "    return a - b",
        secret,
    ]
    for n, row in enumerate(query(db, "SELECT id, fields FROM generation")):
        fields = json.loads(row["fields"])
        fields[0]["text"] = draws[n % 4]
        change(db, "UPDATE generation SET fields = ? WHERE id = ?", json.dumps(fields), row["id"])
    return db, draws


@needs_bwrap
def test_pass_at_1_is_the_share_of_good_programs(pardec, programs):
    db, draws = programs
    rows, _ = scored(pardec, db, "--metric", "pass_at_k")
    runs = query(
        db,
        "SELECT dataset.name, label, avg(value) AS good, count(*) AS n FROM score JOIN generation"
        " ON generation.id = generation_id JOIN run ON run.id = run_id JOIN dataset ON dataset.id ="
        " dataset_id WHERE metric = 'passed' GROUP BY run.id",
    )
    stored = query(
        db,
        "SELECT value, json_extract(generation.fields, '$[0].text') AS text, score.details FROM"
        " score JOIN generation ON generation.id = generation_id WHERE metric = 'passed'",
    )
    assert len(stored) == 24
    assert all(s["value"] == (s["text"] in draws[:2]) for s in stored)
    assert any("AssertionError" in s["details"] for s in stored), "the reason is kept"
    for run in runs:
        row = rows[run["name"], run["label"], "pass_at_1"]
        assert abs(row["score"] - run["good"]) < 1e-12, f"pass@1: {row}, expected {run}"
        assert row["n"] == run["n"] == 6, f"pass@1: {row}, expected {run}"
    assert all(metric == "pass_at_1" for *_, metric in rows), "pass@10 needs ten draws"


@needs_bwrap
@pytest.mark.parametrize(
    "text, test, says",
    [
        ("x = 1\n", "assert x == 1\n", "no function"),
        ("def add(a, b):\n    'Adds.'\n", "add(print, 1)\n", "expected plain values"),
    ],
    ids=["no function", "no plain value"],
)
def test_tests_that_cannot_be_run_are_an_error(pardec, programs, text, test, says):
    db, _ = programs
    before = query(db, SCORES)
    for row in query(db, "SELECT id, fields FROM sample"):
        fields = json.loads(row["fields"])
        fields[0]["test"] = test
        change(
            db,
            "UPDATE sample SET text = ?, fields = ? WHERE id = ?",
            text,
            json.dumps(fields),
            row["id"],
        )
    ran = pardec("score", "--db", db, "--metric", "pass_at_k")
    assert ran.returncode == 2, ran.stderr
    for word in ("sample test-", "the tests cannot be run", says):
        assert word in ran.stderr
    # Nothing is stored.
    assert query(db, SCORES) == before


def check_refused(pardec, *args, says):
    """The exit code is 2, and one line says why."""
    ran = pardec("score", *args)
    assert ran.returncode == 2, ran.stderr
    assert not ran.stdout
    assert len(ran.stderr.splitlines()) == 1
    for part in says:
        assert part in ran.stderr


USAGE = {
    "unknown metric": (["--metric", "rogue"], ["unknown metric 'rogue'", "'rouge'"]),
    "metric twice": (["--metric", "rouge,rouge"], ["--metric names 'rouge' twice"]),
    "no such run": (["--run", "zzzz"], ["'zzzz'"]),
    "format": (["--format", "xml"], ["xml"]),
}


@pytest.mark.parametrize("what", list(USAGE))
def test_usage_errors_say_what_is_wrong(pardec, run, what):
    args, says = USAGE[what]
    check_refused(pardec, "--db", run, *args, says=says)


def test_a_database_that_is_missing_is_not_made(pardec):
    check_refused(pardec, "--db", "none.sqlite", says=["none.sqlite", "no such file"])
    assert not pathlib.Path(pardec.folder / "none.sqlite").exists()


def test_forced_answers_have_no_score(pardec):
    model, oracle = pardec.synthesise("forced", seed=2), pardec.folder / "oracle.sqlite"
    pardec.good(
        "run", "--model", model, "--decoder", "ar", "--dataset", "oa-mine", "--limit", 2,
        "--oracle", "references", "--db", oracle, *SHORT,
    )
    before = query(oracle, SCORES)
    check_refused(pardec, "--db", oracle, says=["oracle references", "forced"])
    assert query(oracle, SCORES) == before == []


def test_samples_without_fields_are_left_as_they_are(pardec, db):
    change(db, "UPDATE sample SET fields = '[]'")
    before = query(db, SCORES)
    check_refused(pardec, "--db", db, says=["has 0 fields in the database", "expected as many"])
    assert query(db, SCORES) == before


CODER = "a coder's.sqlite"


@pytest.fixture(scope="module")
def coder(pardec):
    """A run on programs and on open prompts, of which no metric was computed."""
    model = pardec.synthesise("coder", vocab_size=4096)
    shutil.copy(ROOT / "experiments/quickstart/tokenizer.json", model)
    db = CODER
    pardec.good(
        "run", "--model", model, "--decoder", "ar,prompt-lookup", "--dataset",
        "humaneval-x,mt-bench", "--limit", 2, "--db", db, *SHORT,
    )
    return db


def said(pardec, name):
    """The comparison, and what it says is missing of a dataset."""
    table = json.loads(pardec.good("compare", "--db", CODER, "--format", "json"))
    return table, [
        note for note in table["notes"] if note.startswith("no ") and f" of {name}" in note
    ]


def test_a_metric_that_was_not_computed_is_named_with_its_command(pardec, coder):
    """In table, json and page."""
    table, notes = said(pardec, "humaneval-x")
    assert len(notes) == 1
    assert notes[0].partition("this computes it: ")[2].startswith("pardec score ")
    assert "pass_at_1" not in table["columns"]
    for how in ([], ["--matrix"]):
        assert f"- {notes[0]}" in pardec.good("compare", "--db", coder, *how)
    pardec.good("report", "--db", coder, "-o", "page.html")
    assert (
        html.escape(notes[0]).replace("&#x27;", "&#39;")
        in (pardec.folder / "page.html").read_text()
    )


def test_a_score_that_a_judge_gives_is_said_to_be_missing(pardec, coder):
    assert any("a judge gives it" in note for note in said(pardec, "mt-bench")[1])


@needs_bwrap
def test_the_command_computes_the_metric(pardec, coder):
    _, notes = said(pardec, "humaneval-x")
    pardec.good(*shlex.split(notes[0].partition("this computes it: ")[2])[1:])
    table, notes = said(pardec, "humaneval-x")
    assert not notes
    assert [row["pass_at_1"] for row in table["rows"]] == [0, 0, None, None]
    assert re.search(
        r"\| +pass@1 \|", pardec.good("compare", "--db", coder, "--wide", "--format", "md")
    )
    # Other metrics are shown beside it.
    pardec.good("score", "--db", coder, "--metric", "repetition,rouge")
    assert {"repetition", "pass_at_1", "degenerate"} <= set(said(pardec, "mt-bench")[0]["columns"])
    # Texts and programs are no values.
    ran = pardec("score", "--db", coder, "--metric", "value_f1")
    assert ran.returncode == 2
    assert "have no attributes" in ran.stderr
    assert "f1_micro" not in said(pardec, "mt-bench")[0]["columns"]
