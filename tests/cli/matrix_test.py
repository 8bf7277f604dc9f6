"""Every decoder runs on data of every shape: `run --matrix` on the quickstart model and the project's own samples, one command, one table.

Usage: matrix_test.py PROGRAM

"n/a", with its reason, is for hpd on open prompts alone; every other cell has an answer that is not empty, a finite score and its counters; arms whose
control tokens the model was never taught are marked untrained. `compare` makes the same table from the database.
"""
import json
import math
import re
import sys

from harness import ROOT, Checks, answers, query, scratch

QUICKSTART = ROOT / "experiments" / "quickstart"
DATASETS = ("oa-mine", "ae-110k", "squad", "race", "narrativeqa", "mt-bench")
UNTAUGHT = {"space", "apar", "aspd"}


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        decoders = [row["name"] for row in json.loads(pardec.good("list", "decoders", "--format", "json"))["rows"]]
        if not (QUICKSTART / "model" / "medusa_heads.safetensors").exists():
            decoders.remove("medusa")
        run = ["run", "--model", QUICKSTART / "model", "--draft-model", QUICKSTART / "draft", "--decoder", ",".join(decoders), "--dataset", ",".join(DATASETS),
               "--limit", 2, "--max-new-tokens", 40, "--warmup", 0, "--progress", "none", "--matrix", "--db", "m.sqlite"]
        plan = json.loads(pardec.good(*run[:-2], "--dry-run", "--format", "json"))
        unfit = {(row["dataset"].split()[0], row["arm"]) for row in plan["rows"] if row["form"] == "n/a"}
        check(unfit == {("mt-bench", "hpd"), ("mt-bench", "ar-separately")}, f"the plan: {unfit}")
        arms = [arm for decoder in decoders for arm in ([decoder, "ar-separately"] if decoder == "ar" else [decoder])]  # ippd's baseline
        check(all(row["needs"] != "lacking" for row in plan["rows"]), f"what is lacking: {plan['rows']}")

        table = json.loads(pardec.good(*run, "--format", "json", timeout=1500))
        check(table["columns"] == ["arm", *DATASETS] and [row["arm"] for row in table["rows"]] == arms, f"columns {table['columns']}")
        for row in table["rows"]:
            for dataset in DATASETS:
                cell, where = row[dataset], f"{dataset}, {row['arm']}"
                if (dataset, row["arm"]) in unfit:
                    check(set(cell) == {"not_applicable"} and "open prompt" in cell["not_applicable"], f"{where}: {cell}")
                    continue
                # The network was taught to answer all fields together.
                check(cell["n"] > 0 and cell["failed"] == 0 and (cell["answered"] > 0 or row["arm"] == "ar-separately"), f"{where}: {cell}")
                check(isinstance(cell["score"], (int, float)) and math.isfinite(cell["score"]), f"{where}: score {cell}")
                check(cell["tokens_per_forward"] > 0, f"{where}: {cell}")
                check(cell["untrained"] == (row["arm"] in UNTAUGHT), f"{where}: untrained {cell}")
        check(sum("n/a: mt-bench, hpd" in note for note in table["notes"]) == 1, f"the reason: {table['notes']}")

        told = query(pardec.folder / "m.sqlite", """SELECT label, dataset.name, sum(job.forwards) AS forwards FROM job JOIN run ON run.id = run_id
                                                    JOIN dataset ON dataset.id = dataset_id WHERE job.error IS NULL GROUP BY run_id""")
        check({(t["name"], t["label"]) for t in told if t["forwards"] > 0} == {(d, a) for d in DATASETS for a in arms} - unfit, f"counters: {told}")
        texts = answers(pardec.folder / "m.sqlite")
        for label in ("speculative", "prompt-lookup", "lookahead", "self-speculative", "space"):
            for key, answer in texts.items():
                if key[0] == "ar":
                    check(texts[(label, *key[1:])][:1] == answer[:1], f"{label} answers as ar does: {key}")

        again = pardec.good("compare", "--db", "m.sqlite", "--matrix", "--format", "json")
        check(json.loads(again) == table, "compare makes the same table")
        shown = pardec.good("compare", "--db", "m.sqlite", "--matrix", "--format", "md")
        check(all(f"| {arm} (untrained) " in shown for arm in UNTAUGHT) and "| ar " in shown, f"marks: {shown}")
        hpd = next(line for line in shown.splitlines() if line.startswith("| hpd "))
        check(re.search(r"\| +n/a \|$", hpd), f"n/a: {hpd}")
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
