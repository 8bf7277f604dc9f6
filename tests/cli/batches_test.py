"""Blocks, batches and stacks: what is asked for is planned, what was reached is told, and what does not fit is counted before a run.

Usage: batches_test.py PROGRAM
"""
import json
import shutil
import sys

from harness import SAMPLES, Checks, query, records, scratch, write_lines

SHORT = ["--max-new-tokens", 24, "--per-field", 4, "--set", "hpd.k_max=6", "--set", "hpd.stack=3", "--progress", "none"]


def table(pardec, *args):
    return json.loads(pardec.good(*args, "--format", "json"))


def note_about(found, *words):
    said = found["notes"] + [f"{w['dataset']} {w['arm']}: {w['text']}" for w in found["warnings"]]
    return any(all(word in note for word in words) for note in said)


def stacks(check, pardec, model):
    """ippd's prompt takes contexts of any article; hpd's products share their category's fields; the table says what was reached."""
    root = pardec.folder / "articles"
    (root / "squad").mkdir(parents=True)
    articles = [{"title": f"Article {i}", "paragraphs": [{"context": f"The tower of town {i} has {i + 3} bells.", "qas": [
        {"id": f"{i}-{q}", "question": question, "is_impossible": False, "answers": [{"text": str(i + 3), "answer_start": 24}]}
        for q, question in enumerate(("How many bells are there?", "Where are the bells?"))]}]} for i in range(8)]
    (root / "squad" / "dev-v2.0.json").write_text(json.dumps({"version": "v2.0", "data": articles}))
    args = ["run", "--model", model, "--dataset", "squad", "--data-root", root, "--arm", "sep=ar,ask=separately,batch_size=2",
            "--arm", "ippd=ippd,contexts=6,batch_size=1", *SHORT[:4], "--progress", "none"]
    planned = {r["arm"]: r for r in table(pardec, *args, "--dry-run")["rows"]}
    check(planned["ippd"]["jobs"] == 2 and planned["sep"]["jobs"] == 8, f"contexts=6 over eight articles: {planned}")
    db = pardec.folder / "articles.sqlite"
    ran = table(pardec, *args, "--db", db)
    rows = {r["arm"]: r for r in ran["rows"]}
    jobs = query(db, """SELECT count(generation.id) AS n FROM generation JOIN job ON job.id = job_id JOIN run ON run.id = job.run_id
                        WHERE decoder = 'ippd' GROUP BY job.id ORDER BY job.id""")
    check([j["n"] for j in jobs] == [6, 2], f"contexts in ippd's prompts: {jobs}")
    check(rows["ippd"]["em"] == 1, f"a stack over articles equals independent decoding: {rows['ippd']}")
    check(rows["ippd"]["stack"] == [4, 6] and rows["sep"]["stack"] == [1, 1], f"stacks reached, and asked for: {rows}")
    check(note_about(ran, "squad ippd: 4.0 of 6 examples"), f"a stack that is not full is noted: {ran['warnings']}")
    md = pardec.good("compare", "--db", db)
    check("4.0 of 6" in md, f"the table shows it: {md}")

    # Products' instructions name category and attributes, so ippd stacks within a category there, as hpd does.
    of = {}
    for record in records("oa-mine"):
        of[record["category"]] = of.get(record["category"], 0) + 1
    rows = {r["arm"]: r for r in table(pardec, "run", "--dry-run", "--dataset", "oa-mine", "--decoder", "hpd,ippd", "--set", "hpd.stack=6")["rows"]}
    expected = sum(-(-count // 6) for count in of.values())
    check(rows["hpd"]["jobs"] == rows["ippd"]["jobs"] == expected, f"stacks of one category: {rows}, expected {expected} jobs")


def blocks(check, pardec, model):
    """Fifteen examples, eight at a time: one block that fills the batch; blocks of two do not, and the table says so. Few blocks have no interval."""
    args = ["run", "--model", model, "--arm", "one=ar,batch_size=1", "--arm", "eight=ar,batch_size=8", "--arm", "hpd=hpd,batch_size=1",
            "--arm", "ippd=ippd,contexts=2,batch_size=1", "--arm", "sep=ar,ask=separately,batch_size=2", "--baseline", "one", "--dataset", "oa-mine",
            "--limit", 15, *SHORT]
    planned = table(pardec, *args, "--dry-run")
    rows = {r["arm"]: r for r in planned["rows"]}
    check(rows["eight"]["blocks"] == 1 and rows["eight"]["examples_per_block"] == 15, f"the default block: {rows['eight']}")
    check(abs(rows["eight"]["full"] - 8 / 15) < 1e-12 and rows["one"]["full"] == 1, f"how full batches are: {rows}")
    check(note_about(planned, "1 block", "interval needs 6"), f"an interval that cannot be: {planned['notes']}")
    short = table(pardec, *args, "--dry-run", "--block", 2)
    check(note_about(short, "oa-mine, eight: its batch of 8 is full for 0 %") and not note_about(short, "oa-mine, one: its batch"), f"blocks of two: {short['notes']}")

    reached = {}
    for name, more in (("whole", []), ("cut", ["--block", 2])):
        db = pardec.folder / f"{name}.sqlite"
        ran = table(pardec, *args, *more, "--db", db)
        of = {r["arm"]: r for r in ran["rows"]}
        reached[name] = of["eight"]["in_flight"][0]
        check(of["one"]["in_flight"] == [1, 1] and of["eight"]["in_flight"][1] == 8, f"{name}: in flight: {of}")
        check(all((r["speedup_interval"] is None) == (r["blocks"] < 6 or r["arm"] == "one") and r["speedup"] > 0 for r in of.values()), f"{name}: intervals: {of}")
        check(note_about(ran, "oa-mine eight:", "jobs in flight") == (reached[name] < 6.4), f"{name}: a batch that was not full is noted: {ran['warnings']}")
        check(of["ippd"]["streams"] > of["ippd"]["in_flight"][0] and of["eight"]["streams"] == of["eight"]["in_flight"][0], f"{name}: streams: {of}")
        # One id a stream and pass: what was in flight follows from the jobs' own counts.
        for block in query(db, """SELECT label, block.*, (SELECT sum(forwards) FROM job WHERE block_id = block.id) AS forwards,
                                         (SELECT sum(chosen) FROM job WHERE block_id = block.id) AS chosen,
                                         (SELECT max(forwards) FROM job WHERE block_id = block.id) AS longest
                                  FROM block JOIN run ON run.id = run_id"""):
            what = f"{name} {block['label']} block {block['position']}: {block}"
            check(block["stream_passes"] == block["chosen"], what)
            # Fields of one job may enter in different passes, of which its own count knows the longest field's.
            check(block["job_passes"] >= block["forwards"] if block["label"] == "sep" else block["job_passes"] == block["forwards"], what)
            check(block["longest"] <= block["passes"] <= block["job_passes"], what)
        for run in query(db, """SELECT label, 1.0 * sum(job_passes) / sum(passes) AS jobs, 1.0 * sum(stream_passes) / sum(passes) AS streams
                                FROM block JOIN run ON run.id = run_id GROUP BY run.id"""):
            row = of[run["label"]]
            check(abs(row["in_flight"][0] - run["jobs"]) < 1e-9 and abs(row["streams"] - run["streams"]) < 1e-9, f"{name}: the table's means: {row}, {run}")
    check(reached["cut"] <= 3 < 5 < reached["whole"], f"jobs in flight of 8: {reached}")
    page = pardec.folder / "cut.html"
    pardec.good("report", "--db", pardec.folder / "cut.sqlite", "-o", page)
    check(f"{reached['cut']:.1f} of 8" in page.read_text(), "the report says what was in flight")


def overflows(check, pardec, model):
    """--dry-run counts the jobs that will fail for want of positions: those that do fail."""
    root = pardec.folder / "long"
    shutil.copytree(SAMPLES, root)
    products = records("oa-mine")[:6]
    write_lines(root / "oa-mine" / "test.jsonl", [*products[:2], {**products[2], "input": "Tolvane " * 4000}, *products[3:]])
    args = ["run", "--decoder", "ar,hpd,ippd,skeleton-of-thought", "--arm", "keys=ar,forced_keys=true", "--arm", "sep=ar,ask=separately",
            "--dataset", "oa-mine", "--data-root", root, *SHORT]
    bare = pardec.folder / "no-weights"
    shutil.copytree(model, bare, ignore=shutil.ignore_patterns("*.safetensors"))
    plan = table(pardec, *args, "--model", bare, "--dry-run")
    planned = {r["arm"]: r["too_long"] for r in plan["rows"]}
    db = pardec.folder / "long.sqlite"
    ran = pardec(*args, "--model", model, "--db", db)
    check(ran.returncode == 3, f"a run with jobs that are too long: exit {ran.returncode}: {ran.stderr}")
    failed = {r["label"]: r["n"] for r in query(db, """SELECT label, sum(error LIKE '%context overflow%') AS n FROM job JOIN run ON run.id = run_id
                                                       GROUP BY run.id""")}
    check(planned == failed and all(n == 1 for n in failed.values()), f"planned {planned}, failed {failed}")
    check(all(r["positions"][0] <= r["positions"][1] > 4096 for r in plan["rows"]), f"positions: {plan['rows']}")
    check(note_about(plan, "oa-mine, ar: 1 of 6 jobs will overflow the context", "max_position_embeddings is 4096"), f"notes: {plan['notes']}")
    # Room for values counts, to the position.
    def room(k_max):
        return table(pardec, "run", "--model", model, "--decoder", "hpd", "--set", f"hpd.k_max={k_max}", "--set", "hpd.stack=1", "--dataset", "oa-mine", "--limit", 1,
                     "--dry-run", "--progress", "none")["rows"][0]
    small = room(1)
    values = room(2)["positions"][1] - small["positions"][1]
    most = 1 + (4096 - small["positions"][1]) // values
    check(values > 1 and room(most)["too_long"] == 0 and room(most + 1)["too_long"] > 0, f"K_max {most}: {room(most)}, {room(most + 1)}")
    wording = write_lines(pardec.folder / "wording.txt", ["[context]", "{text} {nothing}"])
    refused = table(pardec, *args, "--model", bare, "--prompt-file", wording, "--dry-run")
    of_ar = next(r for r in refused["rows"] if r["arm"] == "ar")
    check(of_ar["positions"] is None and note_about(refused, "oa-mine, ar: 6 of 6 jobs cannot be asked", "{nothing}"), f"a wording of an unknown slot: {refused}")
    unknown = table(pardec, "run", "--dry-run", "--model", "/nowhere", "--decoder", "ar", "--dataset", "oa-mine")["rows"][0]
    check(unknown["positions"] is None and unknown["too_long"] is None, f"without a network nothing is known: {unknown}")


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        model = pardec.synthesise("model", seed=2)
        stacks(check, pardec, model)
        blocks(check, pardec, model)
        overflows(check, pardec, model)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
