"""Ids of examples may hold anything: jobs are told apart, resumed, recorded, traced, compared and scored by the list of their ids.

Usage: ids_test.py PROGRAM
"""
import json
import signal
import sys

from harness import Checks, answers, job_count, query, scratch, signal_after, write_lines

# Pairs of neighbours are the jobs of a stack of two: joined by '+', ',', or '","' some would be the same text.
IDS = ["a+b", "c", "a", "b+c", "a,b", "c ", "a\",\"b", "d", "[\"a\",\"b\"]", "e/0/0", "e", "/", "x/0/0", "x", "two\nlines", "tab\t\x1b[31m", "it's", "50% \\",
       "\U0001f600", "Größe, Farbe", "+", "++"]


def command(model, db, *more):
    return ["run", "--model", model, "--decoder", "ar", "--arm", "pairs=hpd,stack=2,k_max=6", "--arm", "alone=ar,ask=separately", "--dataset", "jsonl", "--data-root", "own",
            "--baseline", "ar", "--max-new-tokens", 8, "--per-field", 4, "--db", db, "--progress", "none", "--block", 4, *more]


def lines(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        model = pardec.synthesise("model")
        write_lines(pardec.folder / "own" / "jsonl" / "test.jsonl",
                    [{"id": id, "text": f"Orm Mug {i}, {300 + i} ml", "category": "Mug", "fields": [{"name": "Brand", "references": ["Orm"]}, {"name": "Size"}]}
                     for i, id in enumerate(IDS)])
        db = pardec.folder / "whole.sqlite"
        pardec.good(*command(model, db, "--trace", "t.jsonl"))
        wanted = answers(db)
        for arm in ("ar", "pairs", "alone"):
            check({key[2] for key in wanted if key[0] == arm} == set(IDS), f"{arm}: an answer to each example")
        check(all(value[3] is None for value in wanted.values()), "no answer failed")
        keys = [json.loads(row["key"]) for row in query(db, "SELECT key FROM job JOIN run ON run.id = run_id WHERE label = 'pairs'")]
        check(sorted(keys) == sorted(IDS[i:i + 2] for i in range(0, len(IDS), 2)), f"the jobs of the stack: {keys}")
        for row in query(db, """SELECT job.key, json_group_array(sample.key) AS held FROM job JOIN generation ON job_id = job.id
                                JOIN sample ON sample.id = sample_id GROUP BY job.id"""):
            check(json.loads(row["key"]) == json.loads(row["held"]), f"job {row['key']} holds {row['held']}")

        # Every trace says which examples it answers, whatever its name.
        traces = lines(pardec.folder / "t.jsonl")
        of_arm = lambda arm: [t for t in traces if t["arm"] == arm]
        check(sorted(t["examples"] for t in of_arm("ar")) == sorted([id] for id in IDS), "traces of one example a job")
        check(sorted(t["examples"] for t in of_arm("pairs")) == sorted(keys), "traces of stacks")
        check(sorted(t["examples"] for t in of_arm("alone")) == sorted([id] for id in IDS for _ in range(2)), "traces of an answer a field")
        check(all(t["request"] == t["examples"][0] for t in of_arm("ar") if not t["examples"][0].startswith("[")), "a job of one example is named by its id")
        for arm in ("ar", "pairs"):
            check(len({t["request"] for t in of_arm(arm)}) == len(of_arm(arm)), f"{arm}: no two jobs have one name")
        rows = json.loads(pardec.good("roofline", "--trace", "t.jsonl", "--model", model, "--hardware", "h100", "--format", "json"))["rows"]
        check(len(rows) == 3 and all(r["speedup"] is not None for r in rows), f"roofline sees the same examples in all arms: {rows}")

        # Only other examples are other examples: ids that agree up to a slash are not one.
        short = [t for t in traces if t["arm"] == "ar" or not any(id in ("e", "x/0/0") for id in t["examples"])]
        (pardec.folder / "short.jsonl").write_text("".join(json.dumps(t) + "\n" for t in short))
        told = json.loads(pardec.good("roofline", "--trace", "short.jsonl", "--model", model, "--hardware", "h100", "--format", "json"))
        check([r["speedup"] for r in told["rows"] if r["arm"] != "ar"] == [None, None] and sum("other examples" in n for n in told["notes"]) == 2,
              f"roofline: examples that an arm lacks: {told}")

        # Identity with the baseline is found through the jobs; gaps are those of the example's place in its job.
        rows = query(db, "SELECT identical FROM generation JOIN run ON run.id = run_id WHERE label <> 'ar'")
        check(rows and all(r["identical"] is not None for r in rows), "every answer is compared with its baseline's")
        for verb in (["compare", "--accounting"], ["compare", "--differences", 5], ["score"], ["report", "-o", "r.html"]):
            ran = pardec(*verb, "--db", db)
            check(ran.returncode == 0, f"{verb}: exit {ran.returncode}: {ran.stderr}")

        # What a run chose, forced again: every job finds its own.
        invocation = query(db, "SELECT invocation FROM run")[0]["invocation"]
        pardec.good(*command(model, db, "--oracle", f"recorded:{invocation}"))
        chosen = lambda where: {(r["label"], r["key"]): r["tokens"] for r in query(db, f"SELECT label, sample.key, generation.tokens FROM generation JOIN run ON run.id = run_id "
                                                                                   f"JOIN sample ON sample.id = sample_id WHERE {where}")}
        check(chosen("oracle IS NULL") == chosen("oracle IS NOT NULL"), "a recording gives every example its own ids again")

        # A run that is stopped goes on with the jobs that are not there.
        db = pardec.folder / "stopped.sqlite"
        process = pardec.start(*command(model, db))
        check(signal_after(process, db, 8, signal.SIGINT), "stopped in mid-run")
        process.communicate(timeout=120)
        before = job_count(db)
        ran = pardec(*command(model, db, "--resume"))
        check(ran.returncode == 0 and 8 <= before < job_count(db), f"resumed: exit {ran.returncode}, {before} jobs before: {ran.stderr}")
        check(answers(db) == wanted, "a resumed run has every answer")
        n = [row["n"] for row in json.loads(pardec.good("compare", "--db", db, "--format", "json"))["rows"]]
        check(n == [len(IDS)] * 3, f"the table counts every example: {n}")
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
