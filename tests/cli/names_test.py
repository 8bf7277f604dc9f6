"""A metric has one name, its key, in every table, export, experiment file and figure, and one title that follows from it; a dataset has one name in every export.

Usage: names_test.py PROGRAM
"""
import csv
import json
import re
import sys

from harness import ROOT, Checks, scratch

FIELDS = {"f1_micro": "F1 micro", "f1_macro": "F1 macro", "f1_strict": "F1 strict", "degenerate": "degenerate", "rouge_l": "ROUGE L", "token_f1": "token F1"}


def metrics(check, pardec, model):
    """One key in json, csv, score, runs and what a figure asks for; one title in the tables."""
    pardec.good("score", "--db", "r.sqlite", "--metric", "token_f1,rouge,value_f1")
    compared = json.loads(pardec.good("compare", "--db", "r.sqlite", "--format", "json"))
    wide = pardec.good("compare", "--db", "r.sqlite", "--wide", "--format", "md")
    scored = {row["metric"] for row in json.loads(pardec.good("score", "--db", "r.sqlite", "--metric", "token_f1,rouge,value_f1", "--format", "json"))["rows"]}
    check({"f1_micro", "f1_macro", "f1_strict", "token_f1", "rouge_l"} <= scored, f"score: {scored}")
    for key in scored - {"f1_strict_macro"}:  # of the four of value F1, tables have three
        check(key in compared["columns"] and f"{key}_difference" in compared["columns"], f"{key} of score is no column of compare: {compared['columns']}")
    for key, title in FIELDS.items():
        check(key in compared["columns"] and re.search(rf"\| +{title} +\|", wide), f"{key}: '{title}' is not in {wide.splitlines()[2]}")
    check(all(row["score_name"] in compared["columns"] and row["score"] == row[row["score_name"]] for row in compared["rows"] if row["score"] is not None), "score is that of its name")
    header = next(csv.reader([pardec.good("compare", "--db", "r.sqlite", "--format", "csv").splitlines()[0]]))
    check({"f1_micro", "f1_micro_low", "f1_micro_difference", "token_f1", "rouge_l"} <= set(header), f"csv: {header}")
    matrix = json.loads(pardec.good("compare", "--db", "r.sqlite", "--matrix", "--format", "json"))["rows"]
    check({cell["metric"] for row in matrix for cell in row.values() if isinstance(cell, dict) and "metric" in cell} <= set(compared["columns"]), f"matrix: {matrix[0]}")
    check({row["score_name"] for row in json.loads(pardec.good("runs", "--db", "r.sqlite", "--format", "json"))["rows"]} == {"f1_micro"}, "runs")
    drawn = pardec.good("plot", "--db", "r.sqlite", "--x", "seed", "--y", "f1_micro", "--script")
    check("F1 micro" in drawn, f"a figure: {drawn[:800]}")
    pardec.good("report", "--db", "r.sqlite", "-o", "page.html")
    page = (pardec.folder / "page.html").read_text()
    check("extractgpt" not in re.sub(r"<script.*?</script>", "", page, flags=re.S), "the page has another name of F1")


def files(check):
    """Experiment files and pages name metrics by their keys."""
    old = re.compile(r"extractgpt_f1_m|strict_f1_m|score_(token_f1|judge_|rouge|accuracy|degenerate)")
    for folder in ("experiments", "results", "datasets", "decoders", "metrics"):
        for file in sorted((ROOT / folder).rglob("*")):
            if file.suffix in (".json", ".md", ".hpp", ".cpp") and file.name != "tokenizer.json" and "build" not in file.parts:
                found = old.findall(file.read_text(encoding="utf-8"))
                check(not found, f"{file.relative_to(ROOT)} has an old name of a metric")


def datasets(check, pardec):
    """Every table of every verb has the dataset's name alone, and says in columns of their own what the data is."""
    commands = {"compare": ["compare", "--db", "r.sqlite"], "accounting": ["compare", "--accounting", "--db", "r.sqlite"], "differences": ["compare", "--differences", 3, "--db", "r.sqlite"],
                "score": ["score", "--db", "r.sqlite"], "runs compare": ["runs", "compare", *pardec.ids, "--db", "r.sqlite"], "data stats": ["data", "stats", "oa-mine", "mt-bench"],
                "data check": ["data", "check", "oa-mine"], "run --dry-run": [*pardec.run, "--dry-run", "--db", "no.sqlite"]}
    for what, command in commands.items():
        rows = [json.loads(line) for line in pardec.good(*command, "--format", "jsonl").splitlines()]
        names = {row["dataset"] for row in rows}
        check(rows and names <= {"oa-mine", "mt-bench"}, f"{what}: datasets {names}")
        check(all(row["dataset_is_sample"] is True and row["dataset_is_standin"] is False for row in rows), f"{what}: {rows[0] if rows else None}")
    listed = json.loads(pardec.good("runs", "--db", "r.sqlite", "--format", "json"))["rows"][0]
    check(listed["datasets"] == listed["sample_datasets"] == ["oa-mine", "mt-bench"], f"runs: {listed}")
    pardec.good("export", "--db", "r.sqlite", "--format", "csv", "--out", "tables")
    for table in ("comparison", "runs", "blocks", "jobs", "generations"):
        with open(pardec.folder / "tables" / f"{table}.csv", encoding="utf-8") as file:
            names = {row["dataset"] for row in csv.DictReader(file)}
        check(names == {"oa-mine", "mt-bench"}, f"export {table}: datasets {names}")
    check("oa-mine (own sample)" in pardec.good("compare", "--db", "r.sqlite"), "people read it beside the name")


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        model = pardec.synthesise("model")
        pardec.run = ["run", "--model", model, "--decoder", "ar,prompt-lookup,hpd", "--dataset", "oa-mine,mt-bench", "--limit", 4, "--max-new-tokens", 8, "--progress", "none"]
        for seed in (0, 1):
            pardec.good(*pardec.run, "--seed", seed, "--db", "r.sqlite")
        pardec.ids = [row["invocation"] for row in json.loads(pardec.good("runs", "--db", "r.sqlite", "--format", "json"))["rows"]]
        metrics(check, pardec, model)
        files(check)
        datasets(check, pardec)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
