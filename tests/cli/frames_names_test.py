"""A metric and a dataset stand under one name in every table: csv and json of compare, run, score and runs, export, and the views of the database. So do arms, examples and repeats.

Usage: frames_names_test.py PROGRAM
"""
import csv
import io
import json
import math
import re
import sys

from harness import ROOT, Checks, query, scratch
from scripted_service import Judge

QUICKSTART = ROOT / "experiments" / "quickstart" / "model"
DATASETS = ["oa-mine", "race", "squad", "mt-bench"]
OF_ARM = ["invocation", "run", "dataset", "split", "arm", "decoder"]
OF_ANSWER = [*OF_ARM, "sample", "repeat"]
# What stands once for everything, by table of export.
WITHOUT_ARM = {"comparison", "warnings", "attempts", "judges"}
ANSWERS = {"generations", "score_parts", "answer_pairs", "judgments", "pairs"}
# Names that no table may have, since another one says the same.
OTHER_NAMES = re.compile(r"label|uuid|example|key|position|(score_)?extractgpt.*|(score_)?strict_f1|score_(f1|rouge|accuracy|token|judge|squad|passed|parsed).*|chosen_per_forward|.*_per_s|"
                         r"is_(sample|standin)|failed_generations|identical_share")


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def run(pardec, db):
    """Four datasets, two arms, each example twice; a judge's grades of the open answers; and further metrics."""
    said = pardec.good("run", "--model", QUICKSTART, "--arm", "first=ar", "--arm", "second=prompt-lookup", "--dataset", ",".join(DATASETS), "--limit", 3, "--runs", 2, "--max-new-tokens", 30,
                       "--db", db, "--progress", "none", "--format", "json")
    grade = Judge(lambda prompt, times, again: json.dumps({"explanation": "", "score": 1 + len(prompt) % 10}))
    pardec.good("judge", "--db", db, "--service", grade.file(pardec.folder, "grade"), "--protocol", "single", "--progress", "none")
    scored = rows_of(pardec.good("score", "--db", db, "--metric", "rouge,token_f1,exact_match,repetition", "--format", "csv"))
    return json.loads(said), scored


def tables(pardec, db):
    pardec.good("export", "--db", db, "--out", "tables")
    return {file.stem: rows_of(file.read_text(encoding="utf-8")) for file in sorted((pardec.folder / "tables").iterdir())}


def names(check, read, views, compared):
    """Which columns name a row, in tables and views."""
    arms = {(row["dataset"], row["arm"]) for row in compared}
    for table, rows in {**read, **views}.items():
        here = list(rows[0])
        check(rows and not [c for c in here if OTHER_NAMES.fullmatch(c)], f"{table} has {[c for c in here if OTHER_NAMES.fullmatch(c)]}, which have other names")
        wanted = OF_ANSWER if table in ANSWERS | {"scores_by_example", "quality_pairs"} else ["dataset", "arm"] if table in WITHOUT_ARM else OF_ARM
        if table not in ("attempts", "judges"):
            check(set(wanted) <= set(here), f"{table} has {here}, expected {wanted} among them")
            found = {(row["dataset"], row["arm"]) for row in rows}
            check(found <= arms and (found == arms or table in ("warnings", "pairs", "judgments") or "pairs" in table), f"{table}: arms {found}, compare has {arms}")
            check("pairs" not in table or {row["baseline"] for row in rows} == {"first"}, f"{table}: compared with {set(row.get('baseline') for row in rows)}")
    samples = {(r["dataset"], r["key"]) for r in query(views.db, "SELECT dataset.name AS dataset, key FROM sample JOIN dataset ON dataset.id = dataset_id")}
    for table in ANSWERS & read.keys():
        check({(row["dataset"], row["sample"]) for row in read[table]} <= samples and {row["repeat"] for row in read[table]} <= {"0", "1"}, f"{table}: samples and repeats")


def metrics(check, read, views, compared, scored):
    """A metric's name is the same in all tables, and its number too."""
    parts = {row["metric"] for row in read["score_parts"]}
    told = {key for row in compared for key in row if f"{key}_difference" in row} - {"score"}
    check({"f1_micro", "f1_macro", "f1_strict", "accuracy", "token_f1", "squad_exact", "degenerate", "judge_score", "rouge_l", "exact_match"} <= told <= parts, f"compare has {told}, export {parts}")
    check({row["metric"] for row in scored} <= parts, f"score has {set(row['metric'] for row in scored)}, export {parts}")
    check({row["metric"] for row in read["answer_pairs"]} <= parts and parts <= set(read["generations"][0]), f"columns of generations: {parts - set(read['generations'][0])}")
    for view in ("scores_by_example", "paper_table", "quality_pairs", "score_parts"):
        check({row["metric"] for row in views[view]} == parts, f"{view} has {set(row['metric'] for row in views[view])}, export {parts}")
    of_view = {(row["dataset"], row["arm"], row["metric"]): row for row in views["paper_table"]}
    of_score = {(row["dataset"], row["arm"], row["metric"]): float(row["score"]) for row in scored}
    for row in compared:
        for metric in told:
            of = row["dataset"], row["arm"], metric
            if row.get(metric) is None:
                check(of not in of_view or of_view[of]["score"] is None, f"{of}: compare has no score, the view {of_view.get(of)}")
                continue
            for where, value in (("paper_table", of_view[of]["score"]), ("score", of_score.get(of, row[metric]))):
                check(math.isclose(value, row[metric], rel_tol=1e-12, abs_tol=1e-12), f"{of}: {where} has {value}, compare {row[metric]}")
        of = of_view[row["dataset"], row["arm"], row["score_name"]]
        for key in ("n", "failed", "hit_limit", "broken", "tokens_per_forward", "dataset_is_sample"):
            check(of[key] == row[key], f"{row['dataset']} {row['arm']}: paper_table has {key} {of[key]}, compare {row[key]}")
        if row["baseline"]:
            check(math.isclose(of["speedup"], row["speedup"], rel_tol=1e-12) and of["blocks"] == row["blocks"], f"speedup {of['speedup']} over {of['blocks']} blocks, compare {row['speedup']}, {row['blocks']}")
            check(of["identical"] == row["identical"], f"identical: {of['identical']}, compare {row['identical']}")
    judged = [row for row in compared if row["dataset"] == "mt-bench"]
    check(all(row["score_name"] == "judge_score" and 1 <= row["judge_score"] <= 10 for row in judged) and len(judged) == 2, f"a judge's scores: {judged}")


class Views(dict):
    """The rows of the views that are tables of export, or stand for a table."""

    def __init__(self, db):
        self.db = db
        super().__init__({view: query(db, f"SELECT * FROM {view}") for view in ("run_summary", "generations", "score_parts", "scores_by_example", "speedup_pairs", "answer_pairs", "quality_pairs",
                                                                             "paper_table")})


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        db = pardec.folder / "r.sqlite"
        said, scored = run(pardec, db)
        compared = json.loads(pardec.good("compare", "--db", db, "--format", "json"))["rows"]
        check([row["dataset"] for row in compared] == [d for d in DATASETS for _ in range(2)], f"datasets of compare: {[row['dataset'] for row in compared]}")
        for what, rows in (("run", said["rows"]), ("csv", rows_of(pardec.good("compare", "--db", db, "--format", "csv"))), ("accounting", json.loads(pardec.good("compare", "--db", db, "--accounting", "--format", "json"))["rows"])):
            check([(row["dataset"], row["arm"]) for row in rows] == [(row["dataset"], row["arm"]) for row in compared], f"{what}: {[(row['dataset'], row['arm']) for row in rows]}")
        listed = json.loads(pardec.good("runs", "--db", db, "--format", "json"))["rows"][0]
        check(sorted(listed["datasets"]) == sorted(DATASETS) and listed["arms"] == ["first", "second"], f"runs: {listed}")
        read, views = tables(pardec, db), Views(db)
        check({row["invocation"] for table in read.keys() - WITHOUT_ARM for row in read[table]} == {listed["invocation"]}, "a run has one id in all tables")
        check({"judgments", "attempts", "judges", "speedup_pairs"} <= read.keys(), f"tables: {sorted(read)}")
        names(check, {table: rows for table, rows in read.items() if rows}, views, compared)
        metrics(check, read, views, compared, scored)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
