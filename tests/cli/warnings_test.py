"""A number that should not be believed says so: in the table, in JSON, in the report, and by exit
code 3 under --strict.
"""

import hashlib
import json
import multiprocessing
import os
import pathlib
import shutil
import signal
import time

import pytest
from harness import ROOT, change, kill_after, query, signal_after, write_lines

QUICKSTART = ROOT / "experiments" / "quickstart" / "model"
PAIR = ["--arm", "ar=ar,batch_size=2", "--arm", "hpd=hpd,stack=2,k_max=30,batch_size=1"]


SMALL = [
    "--decoder", "ar,hpd", "--set", "hpd.k_max=4", "--dataset", "oa-mine", "--limit", 6,
    "--per-field", 2, "--max-new-tokens", 4, "--warmup", 0,
]


class Stories:
    """Makes databases, and says which warnings their arms have, wherever these are shown."""

    def __init__(self, pardec):
        self.pardec, self.seen = pardec, {}

    def run(self, name, *args):
        db = self.pardec.folder / f"{name}.sqlite"
        self.pardec.good("run", *args, "--db", db, "--progress", "none")
        return db

    def said(self, db, *how):
        """What `compare` says of a database as it is now; asked once."""
        key = (db, hashlib.sha256(db.read_bytes()).digest(), *how)
        if key not in self.seen:
            self.seen[key] = self.pardec.good("compare", "--db", db, *how)
        return self.seen[key]

    def json(self, db):
        return json.loads(self.said(db, "--format", "json"))

    def page(self, db):
        """The report of a database as it is now, and what it answers under --strict; made once."""
        key = (db, hashlib.sha256(db.read_bytes()).digest(), "page")
        if key not in self.seen:
            page = self.pardec.folder / "page.html"
            strict = self.pardec("report", "-o", page, "--db", db, "--strict")
            self.seen[key] = page.read_text(), strict
        return self.seen[key]

    def strict(self, db, *how):
        key = (db, hashlib.sha256(db.read_bytes()).digest(), "strict", *how)
        if key not in self.seen:
            self.seen[key] = self.pardec("compare", *how, "--db", db, "--strict")
        return self.seen[key]

    def has(self, db, code, arm, *words):
        """The warning is in JSON, table, LaTeX and page, and --strict ends with 3."""
        found = [w for w in self.json(db)["warnings"] if w["code"] == code and w["arm"] == arm]
        assert len(found) == 1
        for word in words:
            assert word in found[0]["text"]
        text, _, advice = found[0]["text"].partition("; ")
        lines = [
            line for line in self.said(db).splitlines() if line.startswith(f"- WARNING ({code}) ")
        ]
        assert (
            len(
                [
                    line
                    for line in lines
                    if text in line
                    and (arm in line or "all arms" in line)
                    and line.endswith(f"{advice or text}.")
                ]
            )
            == 1
        )
        assert f"WARNING ({code})".replace("_", "\\_") in self.said(db, "--format", "latex")
        page, strict = self.page(db)
        assert text.replace("'", "&#39;").replace("<", "&lt;") in page or text in page, (
            f"{text} is not on the page"
        )
        for answer in (self.strict(db), self.strict(db, "--format", "csv"), strict):
            assert answer.returncode == 3, answer.stderr
            assert "--strict" in answer.stderr

    def silent(self, db, code, arm=None):
        assert not [
            w for w in self.json(db)["warnings"] if w["code"] == code and arm in (None, w["arm"])
        ]


@pytest.fixture(scope="module")
def tell(pardec):
    return Stories(pardec)


@pytest.fixture(scope="module")
def model(pardec):
    """A network of random weights with the quickstart's tokenizer."""
    folder = pardec.synthesise("model", vocab_size=4096)
    shutil.copy(QUICKSTART / "tokenizer.json", folder)
    return folder


def busy(stop):
    while not stop.is_set():
        sum(range(100000))


@pytest.fixture(scope="module")
def loops(tell, model):
    """A network that loops to its limit on every title."""
    return tell.run("loops", "--model", model, *SMALL)


def test_broken_answers_have_their_warnings(tell, loops):
    db = loops
    for arm in ("ar", "hpd"):
        tell.has(db, "untrained", arm, "noise")
    tell.has(db, "broken", "ar", "6 of 6 answers")
    tell.has(db, "unparsed", "ar", "6 of 6")
    tell.has(db, "hit_limit", "ar", "6 of 6", "--max-new-tokens")


def test_broken_answers_have_neither_headline_nor_verdict(tell, loops):
    db = loops
    shown = tell.said(db)
    hpd = next(line for line in shown.splitlines() if line.startswith("hpd "))
    assert "(broken)" in hpd
    page = tell.page(db)[0]
    assert 'class="headline"' not in page or "broken" in page
    row = next(r for r in tell.json(db)["rows"] if r["arm"] == "ar")
    assert [row[k] for k in ("unparsed", "hit_limit", "broken", "empty")] == [6, 6, 6, 0]
    row = next(r for r in tell.json(db)["rows"] if r["arm"] == "hpd")
    assert row["f1_micro_difference"]["verdict"] is None
    assert "not worse" not in hpd
    assert hpd.count("broken") == 2


def test_a_figure_of_broken_answers_says_so(tell, loops):
    db = loops
    drawn = tell.pardec("plot", "--db", db, "--x", "hpd.k_max", "--y", "speedup", "--script")
    assert "WARNING" in drawn.stderr
    assert "broken" in drawn.stderr
    assert "broken" in drawn.stdout


@pytest.fixture(scope="module")
def taught(tell):
    """The quickstart model as it was trained: stacks of 2, and K_max = 30."""
    return tell.run(
        "taught", "--model", QUICKSTART, *PAIR, "--dataset", "oa-mine", "--limit", 16, "--block", 2
    )


def test_a_sound_run_has_no_warning(tell, taught):
    db = taught
    for code in (
        "untaught", "short_stack", "few_blocks", "broken", "untrained", "departs", "failed",
        "unfinished", "traced", "lengths",
    ):
        tell.silent(db, code)
    assert tell.strict(db).returncode in (0, 3)


@pytest.mark.whole
def test_what_a_network_was_not_trained_for_is_said(tell):
    db = tell.run(
        "stacked", "--model", QUICKSTART, "--arm", "ar=ar", "--arm", "hpd=hpd,stack=6,k_max=16",
        "--dataset", "oa-mine", "--limit", 6, "--chat-template", "chatml",
    )
    tell.has(
        db, "untaught", "hpd", "stack 6, trained with 2", "k_max 16, trained with 30", "chat template plain"
    )
    tell.has(db, "untaught", "ar", "chat template plain")
    tell.has(db, "few_blocks", "hpd", "no interval")


@pytest.mark.whole
def test_defaults_are_those_of_the_training(tell):
    """The table says so."""
    db = tell.run(
        "defaults", "--model", QUICKSTART, "--decoder", "ar,hpd", "--dataset", "oa-mine", "--limit",
        4,
    )
    tell.silent(db, "untaught")
    options = json.loads(query(db, "SELECT options FROM run WHERE label = 'hpd'")[0]["options"])
    shown = tell.said(db)
    assert (options["stack"], options["k_max"]) == (2, 30)
    assert "hpd: stack 2, as the network was trained" in shown
    assert "not compared, since" not in shown


def test_a_network_without_a_record_of_its_training_has_a_warning(tell):
    """hpd and prompt-lookup are compared with nothing: the run has no ar."""
    unknown = tell.pardec.folder / "unknown"
    shutil.copytree(QUICKSTART, unknown, ignore=shutil.ignore_patterns("training.json"))
    db = tell.run(
        "unknown", "--model", unknown, "--decoder", "hpd,prompt-lookup", "--dataset", "oa-mine",
        "--limit", 2,
    )
    tell.has(
        db,
        "untaught",
        "hpd",
        "nothing says that it was trained for what hpd needs (no training.json)",
    )
    tell.silent(db, "untaught", "prompt-lookup")
    shown = tell.said(db)
    assert shown.count("not compared, since") == 2
    assert "or name one with --baseline" in shown


def test_a_stack_that_was_not_reached_has_no_warning(tell):
    db = tell.run(
        "not-reached", "--model", QUICKSTART, "--arm", "ar=ar", "--arm", "hpd=hpd,stack=6",
        "--dataset", "oa-mine", "--limit", 2,
    )
    most = max(len(json.loads(row["key"])) for row in query(db, "SELECT key FROM job"))
    if most == 2:
        tell.silent(db, "untaught")
    else:
        tell.has(db, "untaught", "hpd", f"stack {most}, trained with 2")


@pytest.mark.whole
def test_four_products_are_no_stack_of_six_and_blocks_of_two_no_batch_of_eight(tell):
    db = tell.run(
        "lone", "--model", QUICKSTART, "--arm", "ar=ar", "--arm", "hpd=hpd,stack=6,k_max=30",
        "--arm", "eight=ar,batch_size=8", "--dataset", "oa-mine", "--limit", 4, "--block", 2,
    )
    tell.has(db, "short_batch", "eight", "of 8 jobs in flight")
    tell.has(db, "short_stack", "hpd", "of 6 examples in a job")
    tell.has(db, "few_blocks", "hpd", "different block")


@pytest.mark.whole
def test_three_repeats_of_two_blocks_are_two_blocks(tell):
    db = tell.run(
        "repeats", "--model", QUICKSTART, *PAIR, "--dataset", "oa-mine", "--limit", 4, "--block", 2,
        "--runs", 3,
    )
    rows = tell.json(db)["rows"]
    assert all(
        r["n"] == 4 and r["repeats"] == 3 and r["blocks"] == 2 and r["speedup_interval"] is None
        for r in rows
    ), f"repeats are no new examples: {rows}"
    change(
        db,
        "UPDATE block SET wall_ns = 10 * wall_ns WHERE repeat = 1 AND run_id = (SELECT id FROM run"
        " WHERE label = 'ar')",
    )
    tell.has(db, "unsteady", "hpd", "ratios go from")
    change(
        db,
        "DELETE FROM generation WHERE id IN (SELECT generation.id FROM generation JOIN run ON"
        " run.id = run_id WHERE label = 'ar' AND repeat = 2 LIMIT 3)",
    )
    shown = tell.said(db, "--wide")
    assert "4 x 2 + 1 repeated " in shown
    assert "4 x 3 " in shown
    assert len(rows[1]["speedup_of_repeats"]) == 3
    tell.has(db, "few_blocks", "hpd", "2 different blocks")


@pytest.fixture(scope="module")
def noise(tell):
    """A run beside as many busy loops as there are cores, whose worst blocks were measured
    again.
    """
    stop = multiprocessing.Event()
    loops = [
        multiprocessing.Process(target=busy, args=(stop,), daemon=True)
        for _ in range(os.cpu_count() or 1)
    ]
    for loop in loops:
        loop.start()
    args = [
        "--model", QUICKSTART, *PAIR, "--dataset", "oa-mine", "--limit", 8, "--block", 2,
        "--warmup", 0, "--threads", os.cpu_count() or 1,
    ]
    db = tell.run("noise", *args, "--repair", 2)
    stop.set()
    for loop in loops:
        loop.join()
    return db


def test_a_run_beside_others_is_marked_and_repaired(tell, noise):
    db = noise
    tell.has(db, "disturbed", "hpd", "other programs used the machine", "2 measured again")
    tell.has(db, "disturbed", "ar", "other programs used the machine")
    assert "WARNING (disturbed)" in tell.said(db, "--matrix")
    row = tell.json(db)["rows"][1]
    assert row["disturbed_measurements"] >= 3
    assert row["repaired_measurements"] == 2
    assert row["blocks"] == 4
    again = query(
        db,
        "SELECT label, count(*) AS n FROM block_repair JOIN block ON block.id = block_id JOIN run"
        " ON run.id = run_id GROUP BY label ORDER BY 1",
    )
    assert [(r["label"], r["n"]) for r in again] == [("ar", 2), ("hpd", 2)]
    assert len(query(db, "SELECT id FROM generation")) == 16


@pytest.fixture
def quiet_repair(noise, tmp_path):
    """A copy as if the rest had been quiet, and the repaired blocks too."""
    db = pathlib.Path(shutil.copy(noise, tmp_path / "quiet.sqlite"))
    change(
        db,
        "UPDATE block SET waited_ns = 0, stolen_ns = 0, wall_ns = 2000000 WHERE id NOT IN (SELECT"
        " block_id FROM block_repair)",
    )
    change(
        db,
        "UPDATE block SET wall_ns = 1000000 WHERE id NOT IN (SELECT block_id FROM block_repair) AND"
        " run_id = (SELECT id FROM run WHERE label = 'hpd')",
    )
    change(db, "UPDATE block_repair SET waited_ns = 0, stolen_ns = 0, wall_ns = 3000000")
    return db


def test_the_undisturbed_speedup_takes_the_second_times(tell, quiet_repair):
    db = quiet_repair
    row = tell.json(db)["rows"][1]
    assert row["disturbed_measurements"] == 2
    assert abs(row["speedup_undisturbed"] - (2 * 2 + 2 * 3) / (2 * 1 + 2 * 3)) < 1e-12
    assert abs(row["speedup"] - row["speedup_undisturbed"]) > 1e-9


def test_a_time_that_was_disturbed_twice_is_not_quiet(tell, quiet_repair):
    db = quiet_repair
    change(
        db,
        "UPDATE block_repair SET waited_ns = wall_ns WHERE block_id = (SELECT min(block_id) FROM"
        " block_repair)",
    )
    tell.has(
        db, "disturbed", "hpd", "2 measured again, 1 disturbed again", "run again when the machine is idle"
    )
    change(db, "UPDATE block_repair SET waited_ns = wall_ns")
    tell.has(db, "disturbed", "hpd", "2 measured again, all disturbed again")
    row = tell.json(db)["rows"][1]
    assert abs(row["speedup_undisturbed"] - 2) < 1e-12


@pytest.mark.whole
def test_a_block_in_which_the_run_was_stopped_is_disturbed(tell):
    """For as long as the run was stopped."""
    db = tell.pardec.folder / "stopped.sqlite"
    run = tell.pardec.start(
        "run", "--model", QUICKSTART, *PAIR, "--dataset", "oa-mine", "--limit", 12, "--block", 6,
        "--db", db, "--progress", "none",
    )
    assert signal_after(run, db, 2, signal.SIGSTOP)
    time.sleep(0.6)
    run.send_signal(signal.SIGCONT)
    assert run.wait(120) == 0
    block = query(
        db,
        "SELECT label, wall_ns, waited_ns FROM block JOIN run ON run.id = run_id ORDER BY waited_ns"
        " DESC LIMIT 1",
    )[0]
    assert 500_000_000 <= block["waited_ns"] <= block["wall_ns"]
    tell.has(db, "disturbed", block["label"], "other programs used the machine")


def test_a_killed_run_says_so_until_it_is_resumed(tell):
    db = tell.pardec.folder / "killed.sqlite"
    args = [
        "run", "--model", QUICKSTART, *PAIR, "--dataset", "oa-mine", "--limit", 16, "--block", 4,
        "--db", db, "--progress", "none",
    ]
    assert kill_after(tell.pardec.start(*args), db, 4), "killed in time"
    tell.has(
        db,
        "unfinished",
        "hpd",
        "running or killed, its answers not compared yet",
        "run --resume finishes it",
    )
    tell.has(db, "unfinished", "ar", "running or killed")
    assert "Still running, or stopped: 2 of 2 arms" in tell.page(db)[0]
    tell.pardec.good(*args, "--resume")
    tell.silent(db, "unfinished")


def test_a_trace_takes_time(tell, model):
    db = tell.run("traced", "--model", model, *SMALL, "--trace", "trace.jsonl")
    tell.has(db, "traced", "hpd", "takes time")


def test_more_threads_than_cores_are_said(tell, model):
    db = tell.run("threads", "--model", model, *SMALL, "--threads", 2 * (os.cpu_count() or 1) + 1)
    tell.has(db, "oversubscribed", "ar", f"{2 * (os.cpu_count() or 1) + 1} threads")


def test_failures_and_missing_times_are_said(tell, loops, tmp_path):
    db = pathlib.Path(shutil.copy(loops, tmp_path / "failures.sqlite"))
    change(db, "UPDATE run SET status = 'running', build_type = 'Debug'")
    change(db, "UPDATE generation SET error = 'out of luck' WHERE id = 1")
    change(db, "UPDATE block SET wall_ns = NULL, process = NULL WHERE id = 1")
    tell.has(db, "unfinished", "hpd", "--resume")
    tell.has(db, "not_release", "hpd", "Debug")
    tell.has(db, "failed", "ar", "1 of 6")
    tell.silent(db, "unmeasured")  # it may come yet
    change(db, "UPDATE run SET status = 'done'")
    tell.has(db, "unmeasured", "ar", "no measured time for 1 of")


def test_open_answers_of_other_lengths_and_ids_are_said(tell, model):
    """Also empty ones, and a decoder that should give the ids of ar."""
    db = tell.run(
        "open", "--model", model, "--decoder", "ar,space,lookahead", "--dataset", "mt-bench",
        "--limit", 4, "--max-new-tokens", 4, "--warmup", 0, "--set", "space.mask_token=5",
    )
    change(
        db,
        "UPDATE job SET text_tokens = 3 WHERE run_id = (SELECT id FROM run WHERE label = 'space')",
    )
    change(
        db,
        "UPDATE generation SET text = ' ' WHERE run_id = (SELECT id FROM run WHERE label ="
        " 'space')",
    )
    change(
        db,
        "UPDATE generation SET identical = 0 WHERE run_id = (SELECT id FROM run WHERE label ="
        " 'lookahead')",
    )
    tell.has(db, "lengths", "space", "per token")
    tell.has(db, "empty", "space", "answers empty")
    tell.has(db, "broken", "space", "empty or cut")
    tell.has(db, "departs", "lookahead", "gives the baseline's tokens")


def test_forced_answers_have_no_warning_of_how_they_end(tell, model):
    db = tell.run("forced", "--model", model, *SMALL, "--oracle", "references")
    for code in ("broken", "hit_limit", "unparsed"):
        tell.silent(db, code)


def test_a_strict_run_ends_with_3(tell, model):
    strict = tell.pardec(
        "run", "--model", model, *SMALL, "--db", "strict.sqlite", "--strict", "--progress", "none"
    )
    assert strict.returncode == 3, f"run --strict: {strict.returncode}"
    assert "WARNING" in strict.stdout


@pytest.fixture(scope="module")
def degenerate(tell, model):
    """A run whose scores and times the tests set."""
    write_lines(
        tell.pardec.folder / "questions" / "mt_bench" / "question.jsonl",
        [{"question_id": i, "category": "writing", "turns": [f"Say {i} words."]} for i in range(8)],
    )
    db = tell.run(
        "degenerate", "--model", model, "--decoder", "ar,lookahead", "--dataset", "mt-bench",
        "--data-root", "questions", "--block", 1, "--max-new-tokens", 4, "--warmup", 0,
    )
    change(db, "UPDATE run SET untrained = 0")
    change(db, "UPDATE generation SET identical = 0 WHERE identical = 1")  # else no score counts
    return db


@pytest.mark.parametrize(
    "value, verdict, front",
    [(9, "worse", ""), (1, "not worse", "lookahead")],
    ids=["worse", "better"],
)
def test_a_lower_share_of_degenerate_answers_is_better(tell, degenerate, value, verdict, front):
    """For verdict, headline and Pareto front."""
    db = degenerate
    change(
        db,
        "UPDATE score SET value = CASE label WHEN 'ar' THEN ? ELSE ? END FROM generation JOIN run"
        " ON run.id = run_id WHERE generation.id = generation_id AND metric = 'repetition'",
        10 - value,
        value,
    )
    change(
        db,
        "UPDATE block SET wall_ns = CASE label WHEN 'ar' THEN 2000000 ELSE 1000000 END FROM run"
        " WHERE run.id = run_id",
    )
    row = tell.json(db)["rows"][1]
    assert row["degenerate"] == (value > 3.5)
    assert row["degenerate_difference"]["verdict"] == verdict
    tell.pardec.good("report", "--db", db, "-o", "degenerate.html")
    page = (tell.pardec.folder / "degenerate.html").read_text()
    assert ("lookahead against ar" in page) == (verdict == "not worse")
    if "<figcaption>" in page:
        assert "faster, lower is better" in page
        assert f"one of these: {front or 'ar, lookahead'}. Bars" in page


def test_a_difference_is_judged_by_its_interval_and_the_margin(tell, taught):
    db = taught
    verdict = lambda margin: json.loads(
        tell.pardec.good("compare", "--db", db, "--margin", margin, "--format", "json")
    )["rows"][1]["f1_micro_difference"]
    low, high = verdict(0)["interval"]
    assert verdict(0.9)["verdict"] == "not worse"
    assert verdict(abs(low) + 1e-6)["verdict"] == "not worse"
    assert verdict(max(0, -low - 1e-6))["verdict"] == ("open" if low < 0 <= high else "not worse")
    shown = tell.pardec.good("compare", "--db", db, "--margin", 0.9)
    for margin in (1, 5):  # 5 % perhaps
        ran = tell.pardec("compare", "--db", db, "--margin", margin)
        assert ran.returncode == 2, f"--margin {margin}: {ran.stdout}{ran.stderr}"
        assert (
            f"--margin is {margin}, expected less than 1, as these scores cannot differ by more"
            in ran.stderr
        ), f"--margin {margin}: {ran.stdout}{ran.stderr}"
    for margin, said in (
        (0.005, "above -0.005 (--margin)"),
        (0, "above 0 (--margin)"),
        (0.05, "above -0.05 (--margin)"),
    ):
        text = " ".join(tell.pardec.good("compare", "--db", db, "--margin", margin).split())
        assert said in text, f"--margin {margin}: {text}"
    assert "]  not worse " in shown
    assert "(--margin)" in shown
