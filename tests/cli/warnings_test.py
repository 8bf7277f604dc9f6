"""A number that should not be believed says so: in the table, in JSON, in the report, and by exit code 3 under --strict.

Usage: warnings_test.py PROGRAM
"""
import hashlib
import json
import multiprocessing
import os
import shutil
import signal
import sys
import time

from harness import ROOT, Checks, change, kill_after, query, scratch, signal_after, write_lines

QUICKSTART = ROOT / "experiments" / "quickstart" / "model"
PAIR = ["--arm", "ar=ar,batch_size=2", "--arm", "hpd=hpd,stack=2,k_max=30,batch_size=1"]


class Stories:
    """Each tells of one database: which warnings its arms have, everywhere that they are shown."""

    def __init__(self, check, pardec):
        self.check, self.pardec, self.seen = check, pardec, {}

    def run(self, name, *args, expect=0):
        db = self.pardec.folder / f"{name}.sqlite"
        ran = self.pardec("run", *args, "--db", db, "--progress", "none")
        self.check(ran.returncode == expect, f"{name}: exit {ran.returncode}: {ran.stderr}")
        return db

    def shown(self, db):
        """Everything that is said of a database as it is now: the JSON's warnings, table, LaTeX, page, and what --strict answers."""
        now = (db, hashlib.sha256(db.read_bytes()).digest())
        if now not in self.seen:
            good, page = self.pardec.good, self.pardec.folder / "page.html"
            strict = [self.pardec(*verb, "--db", db, "--strict") for verb in (["compare"], ["compare", "--format", "csv"], ["report", "-o", page])]
            self.seen[now] = (json.loads(good("compare", "--db", db, "--format", "json"))["warnings"], good("compare", "--db", db),
                              good("compare", "--db", db, "--format", "latex"), page.read_text(), strict)
        return self.seen[now]

    def has(self, db, code, arm, *words):
        """The warning stands in JSON, table, LaTeX and page, and --strict ends with 3."""
        warnings, table, latex, page, strict = self.shown(db)
        found = [w for w in warnings if w["code"] == code and w["arm"] == arm]
        told = f"{db.stem}: {code} of {arm}"
        if not self.check(len(found) == 1 and all(word in found[0]["text"] for word in words), f"{told} {words}: {found or warnings}"):
            return
        text, _, advice = found[0]["text"].partition("; ")
        lines = [line for line in table.splitlines() if line.startswith(f"- WARNING ({code}) ")]
        self.check(len([line for line in lines if text in line and (arm in line or "all arms" in line) and line.endswith(f"{advice or text}.")]) == 1, f"{told}: not below the table: {lines}")
        self.check(f"WARNING ({code})".replace("_", "\\_") in latex, f"{told}: not in LaTeX")
        for answer in strict:
            self.check(answer.returncode == 3 and "--strict" in answer.stderr, f"{told}: exit {answer.returncode} {answer.stderr}")
        self.check(text.replace("'", "&#39;").replace("<", "&lt;") in page or text in page, f"{told}: not on the page: {text}")

    def silent(self, db, code, arm=None):
        found = [w for w in self.shown(db)[0] if w["code"] == code and arm in (None, w["arm"])]
        self.check(not found, f"{db.stem}: {code} without reason: {found}")


def busy(stop):
    while not stop.is_set():
        sum(range(100000))


def broken_answers(tell, model):
    """A network that loops to its limit on every title: nothing is parsed, and no speedup is a headline."""
    db = tell.run("loops", "--model", model, "--decoder", "ar,hpd", "--set", "hpd.k_max=4", "--dataset", "oa-mine", "--limit", 8, "--max-new-tokens", 12, "--per-field", 4)
    for arm in ("ar", "hpd"):
        tell.has(db, "untrained", arm, "noise")
    tell.has(db, "broken", "ar", "8 of 8 answers")
    tell.has(db, "unparsed", "ar", "8 of 8")
    tell.has(db, "hit_limit", "ar", "8 of 8", "--max-new-tokens")
    shown = tell.pardec.good("compare", "--db", db)
    hpd = next(line for line in shown.splitlines() if line.startswith("hpd "))
    tell.check("(broken)" in hpd, f"a speedup over a broken baseline is marked: {hpd}")
    tell.check("class=\"headline\"" not in (tell.pardec.folder / "page.html").read_text() or "broken" in (tell.pardec.folder / "page.html").read_text(), "the page has no headline")
    row = next(r for r in json.loads(tell.pardec.good("compare", "--db", db, "--format", "json"))["rows"] if r["arm"] == "ar")
    tell.check([row[k] for k in ("unparsed", "hit_limit", "broken", "empty")] == [8, 8, 8, 0], f"counts: {row}")
    # No verdict on scores of broken answers, and a figure of them says what it is of.
    row = next(r for r in json.loads(tell.pardec.good("compare", "--db", db, "--format", "json"))["rows"] if r["arm"] == "hpd")
    tell.check(row["f1_micro_difference"]["verdict"] is None and "not worse" not in hpd and hpd.count("broken") == 2, f"no verdict: {hpd}")
    drawn = tell.pardec("plot", "--db", db, "--x", "hpd.k_max", "--y", "speedup", "--script")
    tell.check("WARNING" in drawn.stderr and "broken" in drawn.stderr and "broken" in drawn.stdout, f"a figure of broken answers: {drawn.stderr}")


def untaught(tell):
    """The quickstart model was taught stacks of 2 and K_max = 30."""
    db = tell.run("taught", "--model", QUICKSTART, *PAIR, "--dataset", "oa-mine", "--limit", 36, "--block", 6)
    for code in ("untaught", "short_stack", "few_blocks", "broken", "untrained", "departs", "failed", "unfinished", "traced", "lengths"):
        tell.silent(db, code)
    tell.check(tell.pardec("compare", "--db", db, "--strict").returncode in (0, 3), "a sound run")
    db = tell.run("stacked", "--model", QUICKSTART, "--arm", "ar=ar", "--arm", "hpd=hpd,stack=6,k_max=16", "--dataset", "oa-mine", "--limit", 12, "--chat-template", "chatml")
    tell.has(db, "untaught", "hpd", "stack 6, trained with 2", "k_max 16, trained with 30", "chat template plain")
    tell.has(db, "untaught", "ar", "chat template plain")
    tell.has(db, "few_blocks", "hpd", "no interval")
    # What nobody asked otherwise is as it was taught, and the table says so.
    db = tell.run("defaults", "--model", QUICKSTART, "--decoder", "ar,hpd", "--dataset", "oa-mine", "--limit", 12)
    tell.silent(db, "untaught")
    options = json.loads(query(db, "SELECT options FROM run WHERE label = 'hpd'")[0]["options"])
    shown = tell.pardec.good("compare", "--db", db)
    tell.check((options["stack"], options["k_max"]) == (2, 30) and "hpd: stack 2, as the network was trained" in shown, f"{options}: {shown}")
    tell.check("not compared, since" not in shown, "hpd has its baseline")
    # A network of which nothing says what it was taught, and an arm that is compared with nothing.
    unknown = tell.pardec.folder / "unknown"
    shutil.copytree(QUICKSTART, unknown, ignore=shutil.ignore_patterns("training.json"))
    db = tell.run("unknown", "--model", unknown, "--decoder", "hpd,prompt-lookup", "--dataset", "oa-mine", "--limit", 2)
    tell.has(db, "untaught", "hpd", "nothing says that it was trained for what hpd needs (no training.json)")
    tell.silent(db, "untaught", "prompt-lookup")
    shown = tell.pardec.good("compare", "--db", db)
    tell.check(shown.count("not compared, since") == 2 and "or name one with --baseline" in shown, f"no baseline: {shown}")
    # A stack that was asked for and not reached is none that the network met.
    db = tell.run("not-reached", "--model", QUICKSTART, "--arm", "ar=ar", "--arm", "hpd=hpd,stack=6", "--dataset", "oa-mine", "--limit", 2)
    most = max(len(json.loads(row["key"])) for row in query(db, "SELECT key FROM job"))
    if most == 2:
        tell.silent(db, "untaught")
    else:
        tell.has(db, "untaught", "hpd", f"stack {most}, trained with 2")


def side_by_side(tell):
    """Four products are no stack of six; blocks of two hold no batch of eight."""
    db = tell.run("lone", "--model", QUICKSTART, "--arm", "ar=ar", "--arm", "hpd=hpd,stack=6,k_max=30", "--arm", "eight=ar,batch_size=8", "--dataset", "oa-mine", "--limit", 4,
                  "--block", 2)
    tell.has(db, "short_batch", "eight", "of 8 jobs in flight")
    tell.has(db, "short_stack", "hpd", "of 6 examples in a job")
    tell.has(db, "few_blocks", "hpd", "different block")


def repeats(tell):
    """Three repeats of two blocks are two blocks, and 12 examples."""
    db = tell.run("repeats", "--model", QUICKSTART, *PAIR, "--dataset", "oa-mine", "--limit", 12, "--block", 6, "--runs", 3)
    rows = json.loads(tell.pardec.good("compare", "--db", db, "--format", "json"))["rows"]
    tell.check(all(r["n"] == 12 and r["repeats"] == 3 and r["blocks"] == 2 and r["speedup_interval"] is None for r in rows), f"repeats are no new examples: {rows}")
    change(db, "UPDATE block SET wall_ns = 10 * wall_ns WHERE repeat = 1 AND run_id = (SELECT id FROM run WHERE label = 'ar')")
    tell.has(db, "unsteady", "hpd", "ratios go from")
    change(db, "DELETE FROM generation WHERE id IN (SELECT generation.id FROM generation JOIN run ON run.id = run_id WHERE label = 'ar' AND repeat = 2 LIMIT 8)")
    shown = tell.pardec.good("compare", "--db", db, "--wide")
    tell.check("12 x 2 + 4 repeated " in shown and "12 x 3 " in shown, f"how often each was answered: {shown}")
    tell.check(len(rows[1]["speedup_of_repeats"]) == 3 and "12 x 3" in tell.pardec.good("compare", "--db", db, "--wide"), f"the spread over repeats: {rows[1]}")
    tell.has(db, "few_blocks", "hpd", "2 different blocks")


def noise(tell):
    """Two busy loops beside a run: it is marked, and --repair measures again; both are shown."""
    stop = multiprocessing.Event()
    loops = [multiprocessing.Process(target=busy, args=(stop,), daemon=True) for _ in range(os.cpu_count() or 1)]
    for loop in loops:
        loop.start()
    args = ["--model", QUICKSTART, *PAIR, "--dataset", "oa-mine", "--limit", 8, "--block", 2, "--warmup", 0, "--threads", os.cpu_count() or 1]
    db = tell.run("noise", *args, "--repair", 2)
    stop.set()
    for loop in loops:
        loop.join()
    tell.has(db, "disturbed", "hpd", "other programs used the machine", "2 measured again")
    tell.has(db, "disturbed", "ar", "other programs used the machine")
    tell.check("WARNING (disturbed)" in tell.pardec.good("compare", "--db", db, "--matrix"), "the matrix says it, too")
    row = json.loads(tell.pardec.good("compare", "--db", db, "--format", "json"))["rows"][1]
    tell.check(row["disturbed_measurements"] >= 3 and row["repaired_measurements"] == 2 and row["blocks"] == 4, f"counts: {row}")
    again = query(db, "SELECT label, count(*) AS n FROM block_repair JOIN block ON block.id = block_id JOIN run ON run.id = run_id GROUP BY label ORDER BY 1")
    tell.check([(r["label"], r["n"]) for r in again] == [("ar", 2), ("hpd", 2)], f"both arms are measured again: {again}")
    tell.check(len(query(db, "SELECT id FROM generation")) == 16, "what is measured again is not recorded again")
    # As if the rest had been quiet, and the repaired blocks too: the quiet ratio takes their second times.
    change(db, "UPDATE block SET waited_ns = 0, stolen_ns = 0, wall_ns = 2000000 WHERE id NOT IN (SELECT block_id FROM block_repair)")
    change(db, "UPDATE block SET wall_ns = 1000000 WHERE id NOT IN (SELECT block_id FROM block_repair) AND run_id = (SELECT id FROM run WHERE label = 'hpd')")
    change(db, "UPDATE block_repair SET waited_ns = 0, stolen_ns = 0, wall_ns = 3000000")
    row = json.loads(tell.pardec.good("compare", "--db", db, "--format", "json"))["rows"][1]
    tell.check(row["disturbed_measurements"] == 2 and abs(row["speedup_undisturbed"] - (2 * 2 + 2 * 3) / (2 * 1 + 2 * 3)) < 1e-12, f"undisturbed: {row}")
    tell.check(abs(row["speedup"] - row["speedup_undisturbed"]) > 1e-9, "and the measured one stands beside it")


    # What was measured again and disturbed that time, too, is no quiet time.
    change(db, "UPDATE block_repair SET waited_ns = wall_ns WHERE block_id = (SELECT min(block_id) FROM block_repair)")
    tell.has(db, "disturbed", "hpd", "2 measured again, 1 in vain", "run again when the machine is idle")
    change(db, "UPDATE block_repair SET waited_ns = wall_ns")
    tell.has(db, "disturbed", "hpd", "2 measured again, all in vain")
    row = json.loads(tell.pardec.good("compare", "--db", db, "--format", "json"))["rows"][1]
    tell.check(abs(row["speedup_undisturbed"] - 2) < 1e-12, f"without what was disturbed twice: {row}")


def stopped(tell):
    """A run that stands still for two seconds: the block that it was in is disturbed, by that long."""
    db = tell.pardec.folder / "stopped.sqlite"
    run = tell.pardec.start("run", "--model", QUICKSTART, *PAIR, "--dataset", "oa-mine", "--limit", 24, "--block", 12, "--db", db, "--progress", "none")
    signal_after(run, db, 4, signal.SIGSTOP)
    time.sleep(2)
    run.send_signal(signal.SIGCONT)
    tell.check(run.wait(120) == 0, "a stopped run goes on")
    block = query(db, "SELECT label, wall_ns, waited_ns FROM block JOIN run ON run.id = run_id ORDER BY waited_ns DESC LIMIT 1")[0]
    tell.check(1900000000 <= block["waited_ns"] <= block["wall_ns"], f"the block that it was stopped in: {block}")
    tell.has(db, "disturbed", block["label"], "other programs used the machine")


def killed(tell):
    """A run that was killed says so until --resume has ended it."""
    db = tell.pardec.folder / "killed.sqlite"
    args = ["run", "--model", QUICKSTART, *PAIR, "--dataset", "oa-mine", "--limit", 36, "--block", 6, "--db", db, "--progress", "none"]
    tell.check(kill_after(tell.pardec.start(*args), db, 4), "killed in time")
    tell.has(db, "unfinished", "hpd", "running or killed, its answers not compared yet", "run --resume ends it")
    tell.has(db, "unfinished", "ar", "running or killed")
    tell.check("Still running, or stopped: 2 of 2 arms" in (tell.pardec.folder / "page.html").read_text(), "the page says it first")
    tell.pardec.good(*args, "--resume")
    tell.silent(db, "unfinished")


def others(tell, model):
    """What else makes a number worth less."""
    small = ["--model", model, "--decoder", "ar,hpd", "--set", "hpd.k_max=4", "--dataset", "oa-mine", "--limit", 6, "--per-field", 4, "--max-new-tokens", 8]
    db = tell.run("traced", *small, "--trace", "trace.jsonl")
    tell.has(db, "traced", "hpd", "takes time")
    db = tell.run("threads", *small, "--threads", 2 * (os.cpu_count() or 1) + 1)
    tell.has(db, "oversubscribed", "ar", f"{2 * (os.cpu_count() or 1) + 1} threads")
    change(db, "UPDATE run SET status = 'running', build_type = 'Debug'")
    change(db, "UPDATE generation SET error = 'out of luck' WHERE id = 1")
    change(db, "UPDATE block SET wall_ns = NULL, process = NULL WHERE id = 1")
    tell.has(db, "unfinished", "hpd", "--resume")
    tell.has(db, "not_release", "hpd", "Debug")
    tell.has(db, "failed", "ar", "1 of 6")
    tell.silent(db, "unmeasured")  # it may come yet
    change(db, "UPDATE run SET status = 'done'")
    tell.has(db, "unmeasured", "ar", "no time of 1 of")
    # Open answers of other lengths, and empty ones; a decoder that should give ar's ids.
    db = tell.run("open", "--model", model, "--decoder", "ar,space,lookahead", "--dataset", "mt-bench", "--limit", 4, "--max-new-tokens", 8, "--set", "space.mask_token=5")
    change(db, "UPDATE job SET text_tokens = 3 WHERE run_id = (SELECT id FROM run WHERE label = 'space')")
    change(db, "UPDATE generation SET text = ' ' WHERE run_id = (SELECT id FROM run WHERE label = 'space')")
    change(db, "UPDATE generation SET identical = 0 WHERE run_id = (SELECT id FROM run WHERE label = 'lookahead')")
    tell.has(db, "lengths", "space", "by the token")
    tell.has(db, "empty", "space", "answers empty")
    tell.has(db, "broken", "space", "empty or cut")
    tell.has(db, "departs", "lookahead", "gives the baseline's ids")
    # Under an oracle answers are forced: how they end says nothing.
    db = tell.run("forced", *small, "--oracle", "references")
    for code in ("broken", "hit_limit", "unparsed"):
        tell.silent(db, code)
    strict = tell.pardec("run", *small, "--db", "strict.sqlite", "--strict", "--progress", "none")
    tell.check(strict.returncode == 3 and "WARNING" in strict.stdout, f"run --strict: {strict.returncode}")


def lower_is_better(tell, model):
    """Of a share of degenerate answers the lower one is the better: for verdict, headline and Pareto front."""
    db = tell.run("degenerate", "--model", model, "--decoder", "ar,lookahead", "--dataset", "mt-bench", "--data-root", "questions", "--block", 1, "--max-new-tokens", 4)
    change(db, "UPDATE run SET untrained = 0")
    change(db, "UPDATE generation SET identical = 0 WHERE identical = 1")  # else no score counts
    for value, verdict, front in ((9, "worse", ""), (1, "not worse", "lookahead")):
        change(db, "UPDATE score SET value = CASE label WHEN 'ar' THEN ? ELSE ? END FROM generation JOIN run ON run.id = run_id WHERE generation.id = generation_id AND "
                   "metric = 'repetition'", 10 - value, value)
        change(db, "UPDATE block SET wall_ns = CASE label WHEN 'ar' THEN 2000000 ELSE 1000000 END FROM run WHERE run.id = run_id")
        row = json.loads(tell.pardec.good("compare", "--db", db, "--format", "json"))["rows"][1]
        tell.check(row["degenerate"] == (value > 3.5) and row["degenerate_difference"]["verdict"] == verdict, f"{verdict}: {row['degenerate_difference']}")
        tell.pardec.good("report", "--db", db, "-o", "degenerate.html")
        page = (tell.pardec.folder / "degenerate.html").read_text()
        tell.check(("lookahead against ar" in page) == (verdict == "not worse"), f"{verdict}: the headline")
        if "<figcaption>" in page:
            tell.check("faster, lower is better" in page and f"in both: {front or 'ar, lookahead'}. Bars" in page, f"{verdict}: the front")


def margins(tell):
    """A difference is judged by its interval and the margin."""
    db = tell.pardec.folder / "taught.sqlite"
    verdict = lambda margin: json.loads(tell.pardec.good("compare", "--db", db, "--margin", margin, "--format", "json"))["rows"][1]["f1_micro_difference"]
    low, high = verdict(0)["interval"]
    tell.check(verdict(0.9)["verdict"] == "not worse" and verdict(abs(low) + 1e-6)["verdict"] == "not worse", f"{low}, {high}")
    tell.check(verdict(max(0, -low - 1e-6))["verdict"] == ("open" if low < 0 <= high else "not worse"), f"{low}, {high}: {verdict(max(0, -low - 1e-6))}")
    shown = tell.pardec.good("compare", "--db", db, "--margin", 0.9)
    for margin in (1, 5):  # 5 % perhaps
        ran = tell.pardec("compare", "--db", db, "--margin", margin)
        tell.check(ran.returncode == 2 and f"--margin is {margin}, expected less than 1, as these scores cannot differ by more" in ran.stderr, f"--margin {margin}: {ran.stdout}{ran.stderr}")
    for margin, said in ((0.005, "above -0.005 (--margin)"), (0, "above 0 (--margin)"), (0.05, "above -0.05 (--margin)")):
        text = " ".join(tell.pardec.good("compare", "--db", db, "--margin", margin).split())
        tell.check(said in text, f"--margin {margin}: {text}")
    tell.check("]  not worse " in shown and "(--margin)" in shown, f"one row says how much faster, and how good: {shown}")


def main(program):
    check = Checks()
    with scratch(program) as pardec:
        tell = Stories(check, pardec)
        model = pardec.synthesise("model", vocab_size=4096)
        shutil.copy(QUICKSTART / "tokenizer.json", model)
        broken_answers(tell, model)
        untaught(tell)
        side_by_side(tell)
        repeats(tell)
        noise(tell)
        stopped(tell)
        killed(tell)
        others(tell, model)
        margins(tell)
        write_lines(pardec.folder / "questions" / "mt_bench" / "question.jsonl", [{"question_id": i, "category": "writing", "turns": [f"Say {i} words."]} for i in range(8)])
        lower_is_better(tell, model)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
