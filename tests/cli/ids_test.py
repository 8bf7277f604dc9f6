"""Ids of examples may hold anything: jobs are told apart, resumed, recorded, traced, compared and
scored by the list of their ids.
"""

import json
import shutil
import signal

import pytest

from harness import answers, job_count, query, signal_after, write_lines

# Pairs of neighbours are the jobs of a stack of two: joined by '+', ',', or '","' some would be the
# same text.
IDS = [
    "a+b", "c", "a", "b+c", "a,b", "c ", 'a","b', "d", '["a","b"]', "e/0/0", "e", "/", "x/0/0", "x",
    "two\nlines", "tab\t\x1b[31m", "it's", "50% \\", "\U0001f600", "Größe, Farbe", "+", "++",
]

every_arm = pytest.mark.parametrize("arm", ["ar", "pairs", "alone"])


def command(db, *more):
    return [
        "run", "--model", "model", "--decoder", "ar", "--arm", "pairs=hpd,stack=2,k_max=6", "--arm",
        "alone=ar,ask=separately", "--dataset", "jsonl", "--data-root", "own", "--baseline", "ar",
        "--max-new-tokens", 8, "--per-field", 4, "--db", db, "--progress", "none", "--block", 4,
        *more,
    ]


@pytest.fixture(scope="module")
def data(pardec):
    """A network, and products with these ids."""
    pardec.synthesise("model")
    products = [
        {
            "id": name,
            "text": f"Orm Mug {i}, {300 + i} ml",
            "category": "Mug",
            "fields": [{"name": "Brand", "references": ["Orm"]}, {"name": "Size"}],
        }
        for i, name in enumerate(IDS)
    ]
    write_lines(pardec.folder / "own" / "jsonl" / "test.jsonl", products)


@pytest.fixture(scope="module")
def whole(pardec, data):
    """The database of a traced run."""
    pardec.good(*command("whole.sqlite", "--trace", "t.jsonl"))
    return pardec.folder / "whole.sqlite"


@pytest.fixture(scope="module")
def traces(pardec, whole):
    return [json.loads(line) for line in (pardec.folder / "t.jsonl").read_text().splitlines()]


def of_arm(traces, arm):
    return [trace for trace in traces if trace["arm"] == arm]


def stacks(db):
    """The ids of each job of a stack of two."""
    of_pairs = "JOIN run ON run.id = run_id WHERE label = 'pairs'"
    return sorted(json.loads(row["key"]) for row in query(db, f"SELECT key FROM job {of_pairs}"))


@every_arm
def test_every_example_has_an_answer(whole, arm):
    given = {key: value for key, value in answers(whole).items() if key[0] == arm}
    assert {key[2] for key in given} == set(IDS)
    assert {value[3] for value in given.values()} == {None}, "none failed"


def test_a_job_of_a_stack_is_the_list_of_its_ids(whole):
    assert stacks(whole) == sorted(IDS[i : i + 2] for i in range(0, len(IDS), 2))


def test_a_job_holds_the_answers_of_its_ids(whole):
    rows = query(
        whole,
        "SELECT job.key, json_group_array(sample.key) AS held FROM job JOIN generation ON job_id ="
        " job.id JOIN sample ON sample.id = sample_id GROUP BY job.id",
    )
    assert rows
    for row in rows:
        assert json.loads(row["key"]) == json.loads(row["held"])


def test_a_trace_says_which_examples_it_answers(whole, traces):
    """Whatever its name."""
    found = {
        arm: sorted(trace["examples"] for trace in of_arm(traces, arm))
        for arm in ("ar", "pairs", "alone")
    }
    assert found["ar"] == sorted([name] for name in IDS)
    assert found["pairs"] == stacks(whole)
    assert found["alone"] == sorted([name] for name in IDS for _ in range(2))


def test_a_job_of_one_example_is_named_by_its_id(traces):
    for trace in of_arm(traces, "ar"):
        if not trace["examples"][0].startswith("["):
            assert trace["request"] == trace["examples"][0]


@pytest.mark.parametrize("arm", ["ar", "pairs"])
def test_no_two_jobs_have_one_name(traces, arm):
    mine = of_arm(traces, arm)
    assert len({trace["request"] for trace in mine}) == len(mine)


def roofline(pardec, trace):
    words = ["--trace", trace, "--model", "model", "--hardware", "h100", "--format", "json"]
    return json.loads(pardec.good("roofline", *words))


def test_roofline_sees_the_same_examples_in_all_arms(pardec, whole):
    rows = roofline(pardec, "t.jsonl")["rows"]
    assert len(rows) == 3
    assert all(row["speedup"] is not None for row in rows), rows


def test_roofline_tells_ids_apart_that_agree_up_to_a_slash(pardec, traces):
    short = [
        trace
        for trace in traces
        if trace["arm"] == "ar" or not {"e", "x/0/0"} & set(trace["examples"])
    ]
    write_lines(pardec.folder / "short.jsonl", short)
    told = roofline(pardec, "short.jsonl")
    assert [row["speedup"] for row in told["rows"] if row["arm"] != "ar"] == [None, None]
    assert sum("other examples" in note for note in told["notes"]) == 2, told["notes"]


def test_every_answer_is_compared_with_its_baselines(whole):
    """Identity is found through the jobs."""
    rows = query(
        whole, "SELECT identical FROM generation JOIN run ON run.id = run_id WHERE label <> 'ar'"
    )
    assert rows
    assert all(row["identical"] is not None for row in rows)


@pytest.mark.parametrize(
    "verb",
    [
        ["compare", "--accounting"],
        ["compare", "--differences", 5],
        ["score"],
        ["report", "-o", "r.html"],
    ],
    ids=lambda verb: " ".join(map(str, verb[:2])),
)
def test_a_verb_reads_the_ids(pardec, whole, verb):
    ran = pardec(*verb, "--db", shutil.copy(whole, pardec.folder / "read.sqlite"))
    assert ran.returncode == 0, ran.stderr


def test_a_recording_gives_every_example_its_own_ids_again(pardec, whole):
    db = shutil.copy(whole, pardec.folder / "forced.sqlite")
    invocation = query(db, "SELECT invocation FROM run")[0]["invocation"]
    pardec.good(*command(db, "--oracle", f"recorded:{invocation}"))

    def chosen(where):
        rows = query(
            db,
            "SELECT label, sample.key, generation.tokens FROM generation JOIN run ON run.id ="
            f" run_id JOIN sample ON sample.id = sample_id WHERE {where}",
        )
        return {(row["label"], row["key"]): row["tokens"] for row in rows}

    assert chosen("oracle IS NULL") == chosen("oracle IS NOT NULL")


def test_a_stopped_run_goes_on_with_the_jobs_that_are_missing(pardec, whole):
    db = pardec.folder / "stopped.sqlite"
    process = pardec.start(*command(db))
    assert signal_after(process, db, 8, signal.SIGINT), "stopped in mid-run"
    process.communicate(timeout=120)
    before = job_count(db)
    ran = pardec(*command(db, "--resume"))
    assert ran.returncode == 0, ran.stderr
    assert 8 <= before < job_count(db)
    assert answers(db) == answers(whole)
    rows = json.loads(pardec.good("compare", "--db", db, "--format", "json"))["rows"]
    assert [row["n"] for row in rows] == [len(IDS)] * 3
