"""`pardec score`: the scores that `run` stored come out again from the database alone, and other metrics equal Python's own."""
import html
import json
import math
import pathlib
import random
import re
import shlex
import shutil
import sys

from rouge_score import rouge_scorer

from harness import ROOT, Checks, change, query, scratch

sys.path.insert(0, str(ROOT / "tests/metrics"))
import squad_oracle

SHORT = ["--max-new-tokens", 20, "--per-field", 6, "--progress", "none"]
SCORES = """SELECT generation_id, metric, version, field, value, is_nan, details FROM score ORDER BY generation_id, metric, field"""


def scored(pardec, db, *args):
    """Rows by (dataset, arm, metric), and how many scores changed."""
    rows = json.loads(pardec.good("score", "--db", db, "--format", "json", *args))["rows"]
    return {(r["dataset"].split()[0], r["arm"], r["metric"]): r for r in rows}, sum(r["changed"] for r in rows)


def same_numbers(check, pardec, db, model):
    """What `run` stored is what `score` finds; without the model; and again where the scores are gone."""
    before = query(db, SCORES)
    shutil.rmtree(model)
    rows, changed = scored(pardec, db)
    check(changed == 0 and query(db, SCORES) == before, f"score stores what run stored: {changed} changed")
    compared = json.loads(pardec.good("compare", "--db", db, "--format", "json"))["rows"]
    for row in compared:
        key = (row["dataset"].split()[0], row["arm"])
        for ours, theirs in (("f1_micro", "f1_micro"), ("f1_macro", "f1_macro"), ("f1_strict", "f1_strict")):
            check(rows[(*key, ours)]["score"] == row[theirs], f"{key}: {ours} {rows[(*key, ours)]['score']}, compare says {row[theirs]}")
    check(len(rows) == 4 * len(compared) == 16, f"{len(rows)} totals of {len(compared)} runs")
    gone = change(db, "DELETE FROM score WHERE metric <> 'parsed'")
    _, changed = scored(pardec, db)
    check(gone > 100 and changed > 0 and query(db, SCORES) == before, f"{gone} scores are back as they were")
    return before


def answer(db, make):
    """Gives every field an answer: make(sample's fields, index) -> text."""
    for row in query(db, "SELECT generation.id, generation.fields AS answers, sample.fields FROM generation JOIN sample ON sample.id = sample_id"):
        answers, fields = json.loads(row["answers"]), json.loads(row["fields"])
        for i, one in enumerate(answers):
            one["text"] = make(fields, i)
            one.pop("no_value", None)
        change(db, "UPDATE generation SET fields = ? WHERE id = ?", json.dumps(answers), row["id"])


def fields_of(db):
    """(run's key, sample, field with its answer) of every annotated field."""
    for row in query(db, """SELECT dataset.name, label, sample.key, sample.fields, generation.fields AS answers FROM generation
                            JOIN run ON run.id = run_id JOIN sample ON sample.id = sample_id JOIN dataset ON dataset.id = run.dataset_id"""):
        for field, given in zip(json.loads(row["fields"]), json.loads(row["answers"])):
            if field["annotated"]:
                yield (row["name"], row["label"]), row["key"], field, given["text"]


def mean(values):
    return sum(values) / len(values)


def value_f1(answered, strict):
    """(micro, macro) of [(category, field, text)] as ExtractGPT counts, from the rates' definitions; macro over pairs with a value on either side."""
    pairs = {}
    for category, field, text in answered:
        if field["annotated"] or strict:
            pairs.setdefault((category, field["name"]), []).append((text, field["references"] if field["annotated"] else []))

    def f1(items):
        right, given, wanted = (sum(map(bool, x)) for x in zip(*[(t and t in r, t, r) for t, r in items]))
        return 2 * right / (given + wanted)

    pairs = [items for items in pairs.values() if any(t or r for t, r in items)]
    return f1(sum(pairs, [])), mean([f1(items) for items in pairs])


def values(check, db, rows):
    """Value F1 of answers of all kinds, absent ones included."""
    for dataset, label in {key[:2] for key in rows}:
        answered = [(row["category"], field, given["text"])
                    for row in query(db, """SELECT category, sample.fields, generation.fields AS answers FROM generation JOIN run ON run.id = run_id
                                            JOIN sample ON sample.id = sample_id JOIN dataset ON dataset.id = run.dataset_id
                                            WHERE dataset.name = ? AND label = ?""", dataset, label)
                    for field, given in zip(json.loads(row["fields"]), json.loads(row["answers"]))]
        for name, strict in (("f1", False), ("f1_strict", True)):
            truth = dict(zip(("micro", "macro"), value_f1(answered, strict)))
            keys = {"micro": name, "macro": f"{name}_macro"} if strict else {part: f"{name}_{part}" for part in truth}
            ours = {part: rows[dataset, label, keys[part]]["score"] for part in truth}
            check(all(abs(ours[part] - truth[part]) < 1e-12 and 0 < truth[part] < 1 for part in truth), f"{dataset} {label} {name}: {ours}, expected {truth}")


def other_metrics(check, pardec, db):
    rng = random.Random(9)

    def noisy(fields, i):
        right = fields[i]["references"][0] if fields[i]["references"] else ""
        other = rng.choice(fields)["references"] or ["nothing of it"]
        return rng.choice([right, right, right.upper(), f"the {right}!", other[0], f"{right} {other[0]}", "", "go go go go go go"])

    answer(db, noisy)
    rows, changed = scored(pardec, db, "--metric", "value_f1,token_f1,exact_match,rouge,repetition")
    again, unchanged = scored(pardec, db, "--metric", "repetition,rouge,exact_match,token_f1,value_f1")
    check(changed > 0 and unchanged == 0 and {k: r["score"] for k, r in again.items()} == {k: r["score"] for k, r in rows.items()},
          "the second time nothing changes")
    check({(n, a) for n, a, _ in rows} == {(d, a) for d in ("oa-mine", "ae-110k") for a in ("ar", "hpd")}, "every arm of every dataset")
    values(check, db, rows)
    scorer = rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True)
    for key in sorted({k for k, *_ in fields_of(db)}):
        pairs = [(text, f["references"]) for k, _, f, text in fields_of(db) if k == key]
        squad = [squad_oracle.score(t, r) for t, r in pairs]
        has = [s for s, (_, r) in zip(squad, pairs) if r]
        none = [s for s, (_, r) in zip(squad, pairs) if not r]
        truth = {"token_f1": [s[1] for s in squad], "squad_exact": [s[0] for s in squad], "token_f1_has_answer": [s[1] for s in has],
                 "squad_exact_has_answer": [s[0] for s in has], "exact_match": [t.strip() in [x.strip() for x in r or [""]] for t, r in pairs]}
        if none:
            truth |= {"token_f1_no_answer": [s[1] for s in none], "squad_exact_no_answer": [s[0] for s in none]}
        for ours, theirs in (("rouge_1", "rouge1"), ("rouge_2", "rouge2"), ("rouge_l", "rougeL")):
            truth[ours] = [max(scorer.score(r, t)[theirs].fmeasure for r in references) for t, references in pairs if references]
        for metric, expected in truth.items():
            row = rows[(*key, metric)]
            check(abs(row["score"] - mean(expected)) < 1e-9 and row["n"] == len(expected) and 0 < row["score"] < 1,
                  f"{key} {metric}: {row['score']} of {row['n']}, expected {mean(expected)} of {len(expected)}")
    check(any(m == "token_f1_no_answer" for *_, m in rows), "some right answers are that there is none")
    ratios = [len(t.split()) / len(set(t.split())) if t.split() else 0 for row in query(db, "SELECT fields FROM generation")
              for t in [f["text"] for f in json.loads(row["fields"])]]
    stored = [r["value"] for r in query(db, "SELECT value FROM score WHERE metric = 'repetition' ORDER BY id")]
    check(math.isclose(sum(stored), sum(ratios)) and max(ratios) == 6 and rows["oa-mine", "ar", "degenerate"]["score"] > 0, "repetition")


def choices(check, pardec, db):
    """Multiple choice: samples with choices, answers of all kinds."""
    ran = pardec("score", "--db", db, "--metric", "accuracy")
    check(ran.returncode == 2 and "--metric accuracy: the examples of oa-mine have no choices" in ran.stderr, f"no choices: {ran.stderr}")
    rng = random.Random(4)
    for row in query(db, "SELECT id, fields FROM sample"):
        fields = [{**f, "annotated": True, "choices": ["one", "two", "three", "four"], "references": [rng.choice("ABCD")]} for f in json.loads(row["fields"])]
        change(db, "UPDATE sample SET fields = ? WHERE id = ?", json.dumps(fields), row["id"])
    answer(db, lambda fields, i: rng.choice(["{}", "({})", "The answer is {}.", "{}: it is", "none", "E", ""]).format(rng.choice([fields[i]["references"][0], *"ABCD"])))
    rows, _ = scored(pardec, db, "--metric", "accuracy")
    for key in sorted({k for k, *_ in fields_of(db)}):
        right = [re.findall(r"\b[A-D]\b", text) == f["references"] for k, _, f, text in fields_of(db) if k == key]
        check(rows[(*key, "accuracy")]["score"] == mean(right) and 0 < mean(right) < 1, f"{key} accuracy: {rows[(*key, 'accuracy')]}, expected {mean(right)}")


def programs(check, pardec, db):
    """pass@k: samples with tests; two good draws, one bad and one endless."""
    if pardec("score", "--db", db, "--metric", "pass_at_k").returncode != 2:
        check(False, "pass_at_k without tests is an error")
    if not shutil.which("bwrap"):
        print("[skipped] bwrap is missing (Debian package bubblewrap)")
        return
    for row in query(db, "SELECT id, fields FROM sample"):
        fields = json.loads(row["fields"])
        fields[0]["test"] = "assert add(1, 2) == 3\n"
        change(db, "UPDATE sample SET fields = ?, text = ? WHERE id = ?", json.dumps(fields), "def add(a, b):\n    'Adds.'\n", row["id"])
    secret = ("    import os, sys\n    frame = sys._getframe()\n    while frame:\n        for value in [v for v in frame.f_locals.values() if isinstance(v, bytes) and len(v) == 32]:\n"
              "            os.write(3, value)\n        frame = frame.f_back\n    os._exit(0)")  # a runner's, by which it might tell success
    draws = ["    return a + b", "Sure:\n```python\ndef add(a, b):\n    return b + a\n```", "    return a - b", secret]
    for n, row in enumerate(query(db, "SELECT id, fields FROM generation")):
        fields = json.loads(row["fields"])
        fields[0]["text"] = draws[n % 4]
        change(db, "UPDATE generation SET fields = ? WHERE id = ?", json.dumps(fields), row["id"])
    rows, _ = scored(pardec, db, "--metric", "pass_at_k")
    runs = query(db, """SELECT dataset.name, label, avg(value) AS good, count(*) AS n FROM score JOIN generation ON generation.id = generation_id
                        JOIN run ON run.id = run_id JOIN dataset ON dataset.id = dataset_id WHERE metric = 'passed' GROUP BY run.id""")
    stored = query(db, "SELECT value, json_extract(generation.fields, '$[0].text') AS text, score.details FROM score JOIN generation ON generation.id = generation_id WHERE metric = 'passed'")
    check(len(stored) == 24 and all(s["value"] == (s["text"] in draws[:2]) for s in stored), f"good programs pass, others not: {stored}")
    check(any("AssertionError" in s["details"] for s in stored), "the reason is kept")
    for run in runs:
        row = rows[run["name"], run["label"], "pass_at_1"]
        check(abs(row["score"] - run["good"]) < 1e-12 and row["n"] == run["n"] == 6, f"pass@1: {row}, expected {run}")
    check(all(metric == "pass_at_1" for *_, metric in rows), "pass@10 needs ten draws")
    for text, test, says in (("x = 1\n", "assert x == 1\n", "no function"), ("def add(a, b):\n    'Adds.'\n", "add(print, 1)\n", "expected plain values")):
        before = query(db, SCORES)
        for row in query(db, "SELECT id, fields FROM sample"):
            fields = json.loads(row["fields"])
            fields[0]["test"] = test
            change(db, "UPDATE sample SET text = ?, fields = ? WHERE id = ?", text, json.dumps(fields), row["id"])
        ran = pardec("score", "--db", db, "--metric", "pass_at_k")
        check(ran.returncode == 2 and all(word in ran.stderr for word in ("sample test-", "the tests cannot be run", says)), f"tests that cannot be put: {ran.stderr}")
        check(query(db, SCORES) == before, "and nothing is stored")


def errors(check, pardec, db, oracle):
    def refused(what, *args, says):
        ran = pardec("score", *args)
        check(ran.returncode == 2 and not ran.stdout and len(ran.stderr.splitlines()) == 1 and all(s in ran.stderr for s in says), f"{what}: exit {ran.returncode}: {ran.stderr}")

    refused("unknown metric", "--db", db, "--metric", "rogue", says=["unknown metric 'rogue'", "'rouge'"])
    refused("metric twice", "--db", db, "--metric", "rouge,rouge", says=["--metric names 'rouge' twice"])
    refused("no database", "--db", "none.sqlite", says=["none.sqlite", "no such file"])
    check(not pathlib.Path(pardec.folder / "none.sqlite").exists(), "no database is made")
    refused("no such run", "--db", db, "--run", "zzzz", says=["'zzzz'"])
    refused("format", "--db", db, "--format", "xml", says=["xml"])
    before = query(oracle, SCORES)
    refused("oracle", "--db", oracle, says=["oracle references", "forced"])
    check(query(oracle, SCORES) == before == [], "no score under an oracle")
    change(db, "UPDATE sample SET fields = '[]'")
    before = query(db, SCORES)
    refused("samples without fields", "--db", db, says=["has 0 fields in the database", "expected as many"])
    check(query(db, SCORES) == before, "what cannot be scored is left as it is")


def not_yet(check, pardec):
    """A dataset whose metric was not computed says what does it, and that does it; in table, json and page."""
    model = pardec.synthesise("coder", vocab_size=4096)
    shutil.copy(ROOT / "experiments/quickstart/tokenizer.json", model)
    db = "a coder's.sqlite"
    pardec.good("run", "--model", model, "--decoder", "ar,prompt-lookup", "--dataset", "humaneval-x,mt-bench", "--limit", 2, "--db", db, *SHORT)

    def said(name):
        table = json.loads(pardec.good("compare", "--db", db, "--format", "json"))
        return table, [note for note in table["notes"] if note.startswith("no ") and f" of {name}" in note]

    table, notes = said("humaneval-x")
    command = notes[0].partition("this computes it: ")[2] if check(len(notes) == 1, f"what is lacking: {table['notes']}") else ""
    check(command.startswith("pardec score ") and "pass_at_1" not in table["columns"], f"this computes it: {notes}")
    check(any("a judge gives it" in note for note in said("mt-bench")[1]), f"what nothing computes: {table['notes']}")
    for shown in (pardec.good("compare", "--db", db), pardec.good("compare", "--db", db, "--matrix")):
        check(f"- {notes[0]}" in shown, f"in the table: {shown}")
    pardec.good("report", "--db", db, "-o", "page.html")
    check(html.escape(notes[0]).replace("&#x27;", "&#39;") in (pardec.folder / "page.html").read_text(), "on the page")
    if not shutil.which("bwrap"):
        return
    pardec.good(*shlex.split(command)[1:])
    table, notes = said("humaneval-x")
    shown = pardec.good("compare", "--db", db, "--wide", "--format", "md")
    check(not notes and [row["pass_at_1"] for row in table["rows"]] == [0, 0, None, None] and re.search(r"\| +pass@1 \|", shown), f"computed: {notes} {table['columns']}")
    pardec.good("score", "--db", db, "--metric", "repetition,rouge")
    check({"repetition", "pass_at_1", "degenerate"} <= set(said("mt-bench")[0]["columns"]), "what somebody had computed stands beside it")
    ran = pardec("score", "--db", db, "--metric", "value_f1")
    check(ran.returncode == 2 and "have no attributes" in ran.stderr and "f1_micro" not in said("mt-bench")[0]["columns"], f"texts and programs are no values: {ran.stderr}")


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        model = pardec.synthesise("model", seed=2)
        db, oracle = pardec.folder / "r.sqlite", pardec.folder / "oracle.sqlite"
        pardec.good("run", "--model", model, "--decoder", "ar,hpd", "--dataset", "oa-mine,ae-110k", "--limit", 6, "--db", db, *SHORT)
        pardec.good("run", "--model", model, "--decoder", "ar", "--dataset", "oa-mine", "--limit", 2, "--oracle", "references", "--db", oracle, *SHORT)
        same_numbers(check, pardec, db, model)
        other_metrics(check, pardec, db)
        choices(check, pardec, db)
        programs(check, pardec, db)
        errors(check, pardec, db, oracle)
        not_yet(check, pardec)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
