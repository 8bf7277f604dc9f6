"""Messages of the layers below name settings in backquotes: who reads the command line's output sees flags, and texts of datasets and networks as they are.

Usage: setting_names_test.py PROGRAM
"""
import html
import json
import re
import sys

from harness import SAMPLES, Checks, query, scratch, write_lines
from not_finite_test import spoil

NAMED = "`limit=3` and `batch_size`"  # as a message would name settings
RUN = ("--dataset", "oa-mine", "--max-new-tokens", 100, "--warmup", 0, "--progress", "none")


def texts(check, pardec):
    """Of a dataset and of answers: in the database, on the page, in exports and what generate prints."""
    products = [json.loads(line) for line in (SAMPLES / "oa-mine" / "test.jsonl").read_text().splitlines()[:2]]
    for product in products:
        first = next(iter(product["target_scores"]))
        product["input"] += " " + NAMED
        product["target_scores"][first] = {NAMED: 1}
    for split in ("train", "test"):
        write_lines(pardec.folder / "data" / "oa-mine" / f"{split}.jsonl", products)
    pardec.good("run", "--model", pardec.synthesise("m"), "--decoder", "ar,hpd", "--data-root", "data", "--oracle", "references", *RUN, "--db", "t.sqlite")
    stored = query(pardec.folder / "t.sqlite", "SELECT text FROM generation")
    check(len(stored) == 4 and all(NAMED in row["text"] for row in stored), f"stored answers: {stored}")
    pardec.good("report", "--db", "t.sqlite", "-o", "t.html")
    page = html.unescape((pardec.folder / "t.html").read_text())
    check(page.count(NAMED) >= 2 + 2 + 4, f"the page holds {page.count(NAMED)} of titles, references and answers")  # and tokens, gold, asked
    check("--limit 3" not in page and "--batch-size and" not in page, "the page has flags in texts of others")
    pardec.good("export", "--db", "t.sqlite", "--format", "jsonl", "--out", "t")
    exported = [json.loads(line) for line in (pardec.folder / "t" / "generations.jsonl").read_text().splitlines()]
    check(len(exported) == 4 and all(NAMED in row["text"] for row in exported), f"exported answers: {exported}")
    ran = pardec("run", "--model", "m", "--decoder", "ar", "--dataset", "`nope`", "--db", "t.sqlite")
    check(ran.returncode == 2 and "`nope`" in ran.stderr, ran.stderr)


def errors(check, pardec):
    """Stored as a setting, shown as a flag."""
    model = pardec.synthesise("sick")
    spoil(model, "model.layers.1.mlp.down_proj.weight", 5, 0x7FC0)
    pardec("run", "--model", model, "--decoder", "ar", "--limit", 2, *RUN, "--db", "e.sqlite")
    stored = query(pardec.folder / "e.sqlite", "SELECT error FROM generation")
    check(len(stored) == 2 and all("'pardec doctor `model=DIR`' looks" in row["error"] for row in stored), f"stored errors: {stored}")
    pardec.good("report", "--db", "e.sqlite", "-o", "e.html")
    page = html.unescape((pardec.folder / "e.html").read_text())
    check("'pardec doctor --model DIR' looks" in page and "`model=DIR`" not in page, re.findall("Failed: .{300}", page))
    ran = pardec("generate", "--model", model, "--prompt", "Orm", "--max-new-tokens", 4)
    check("'pardec doctor --model DIR' looks" in ran.stderr, ran.stderr)


def messages(check, pardec):
    """Of every layer that names a setting somewhere: errors, notes, tables' cells for programs."""
    for command, said in (
            (("run", "--model", "m", "--decoder", "ar", "--dataset", "oa-mine", "--runs", 0), "--runs is 0, expected at least 1"),
            (("run", "--decoder", "ar", "--dataset", "oa-mine", "--model", "nowhere"), "nowhere"),
            (("generate", "--model", "m", "--prompt", "a", "--temperature", -1), "--temperature is -1"),
            (("train", "--model", "m", "--dataset", "oa-mine", "--out", "o", "--stack", 0), "--stack is 0"),
            (("train", "--model", "m", "--dataset", "oa-mine", "--out", "o", "--format", "apar", "--fork-token", 99999), "--fork-token is id 99999"),
            (("compare", "--db", "t.sqlite", "--baseline", "x"), "--baseline: no arm is labelled 'x'"),
            (("compare", "--db", ""), "--db: is empty")):
        ran = pardec(*command)
        check(ran.returncode == 2 and said in ran.stderr and "`" not in ran.stderr, f"{command}: exit {ran.returncode}: {ran.stderr}")
    ran = pardec("sweep", "--model", "m", "--decoder", "ar,speculative", "--grid", "batch_size=1,2", "--dataset", "oa-mine", "--limit", 4, "--max-new-tokens", 8, "--dry-run", "--db", "s.sqlite",
                 "--progress", "none", "--format", "json")
    refused = [row["cannot_run"] for row in json.loads(ran.stdout)["rows"] if row["cannot_run"]]
    check(refused and all("--draft-model DIR" in reason and "`" not in reason for reason in refused), f"sweep: {refused}")


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        texts(check, pardec)
        errors(check, pardec)
        messages(check, pardec)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
