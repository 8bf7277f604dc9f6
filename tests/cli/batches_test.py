"""Blocks, batches and stacks: what is asked for is planned, what was reached is told, and what does
not fit is counted before a run.
"""

import collections
import json
import shutil

import pytest
from harness import SAMPLES, query, records, write_lines

SHORT = [
    "--max-new-tokens", 24, "--per-field", 4, "--set", "hpd.k_max=6", "--set", "hpd.stack=3",
    "--progress", "none",
]


def table(pardec, *args):
    return json.loads(pardec.good(*args, "--format", "json"))


def by_arm(found):
    return {row["arm"]: row for row in found["rows"]}


def note_about(found, *words):
    said = found["notes"] + [
        f"{warning['dataset']} {warning['arm']}: {warning['text']}" for warning in found["warnings"]
    ]
    return any(all(word in note for word in words) for note in said)


@pytest.fixture(scope="module")
def model(pardec):
    return pardec.synthesise("model", seed=2)


# Stacks: ippd's prompt takes contexts of any article; hpd's products share their category's fields


@pytest.fixture(scope="module")
def of_articles(pardec, model):
    """The words of a run over eight articles."""
    root = pardec.folder / "articles"
    (root / "squad").mkdir(parents=True)
    articles = []
    for i in range(8):
        questions = [
            {
                "id": f"{i}-{q}",
                "question": question,
                "is_impossible": False,
                "answers": [{"text": str(i + 3), "answer_start": 24}],
            }
            for q, question in enumerate(("How many bells are there?", "Where are the bells?"))
        ]
        context = f"The tower of town {i} has {i + 3} bells."
        paragraph = {"context": context, "qas": questions}
        articles.append({"title": f"Article {i}", "paragraphs": [paragraph]})
    file = root / "squad" / "dev-v2.0.json"
    file.write_text(json.dumps({"version": "v2.0", "data": articles}))
    return [
        "run", "--model", model, "--dataset", "squad", "--data-root", root, "--arm",
        "sep=ar,ask=separately,batch_size=2", "--arm", "ippd=ippd,contexts=6,batch_size=1",
        *SHORT[:4], "--progress", "none",
    ]


@pytest.fixture(scope="module")
def articles(pardec, of_articles):
    """The table of that run, and its database."""
    db = pardec.folder / "articles.sqlite"
    return table(pardec, *of_articles, "--db", db), db


def test_a_stack_over_articles_is_planned(pardec, of_articles):
    planned = by_arm(table(pardec, *of_articles, "--dry-run"))
    assert planned["ippd"]["jobs"] == 2
    assert planned["sep"]["jobs"] == 8


def test_a_stack_takes_contexts_of_any_article(articles):
    jobs = query(
        articles[1],
        "SELECT count(generation.id) AS n FROM generation JOIN job ON job.id = job_id JOIN run ON"
        " run.id = job.run_id WHERE decoder = 'ippd' GROUP BY job.id ORDER BY job.id",
    )
    assert [job["n"] for job in jobs] == [6, 2]


def test_a_stack_over_articles_equals_independent_decoding(articles):
    assert by_arm(articles[0])["ippd"]["em"] == 1


def test_the_table_has_the_stacks_that_were_reached_and_asked_for(articles):
    rows = by_arm(articles[0])
    assert rows["ippd"]["stack"] == [4, 6]
    assert rows["sep"]["stack"] == [1, 1]


def test_a_stack_that_is_not_full_is_noted(pardec, articles):
    assert note_about(articles[0], "squad ippd: 4.0 of 6 examples"), articles[0]["warnings"]
    assert "4.0 of 6" in pardec.good("compare", "--db", articles[1])


def test_products_are_stacked_within_a_category(pardec):
    """Their instructions name category and attributes, so ippd stacks as hpd does."""
    of = collections.Counter(record["category"] for record in records("oa-mine"))
    words = ["--dataset", "oa-mine", "--decoder", "hpd,ippd", "--set", "hpd.stack=6"]
    rows = by_arm(table(pardec, "run", "--dry-run", *words))
    expected = sum(-(-count // 6) for count in of.values())
    assert rows["hpd"]["jobs"] == rows["ippd"]["jobs"] == expected


# Blocks: fifteen examples, eight at a time: one block fills the batch, blocks of two do not -------


@pytest.fixture(scope="module")
def blocks(model):
    """The words of the run."""
    return [
        "run", "--model", model, "--arm", "one=ar,batch_size=1", "--arm", "eight=ar,batch_size=8",
        "--arm", "hpd=hpd,batch_size=1", "--arm", "ippd=ippd,contexts=2,batch_size=1", "--arm",
        "sep=ar,ask=separately,batch_size=2", "--baseline", "one", "--dataset", "oa-mine",
        "--limit", 15, *SHORT,
    ]


@pytest.fixture(scope="module")
def reached(pardec, blocks):
    """The table and the database of the run, by how it was cut into blocks."""
    found = {}
    for name, more in (("whole", []), ("cut", ["--block", 2])):
        db = pardec.folder / f"{name}.sqlite"
        found[name] = table(pardec, *blocks, *more, "--db", db), db
    return found


both_cuts = pytest.mark.parametrize("name", ["whole", "cut"])


def in_flight(reached, name):
    return by_arm(reached[name][0])["eight"]["in_flight"][0]


def test_the_default_block_fills_the_batch(pardec, blocks):
    planned = table(pardec, *blocks, "--dry-run")
    rows = by_arm(planned)
    assert rows["eight"]["blocks"] == 1
    assert rows["eight"]["examples_per_block"] == 15
    assert rows["eight"]["full"] == pytest.approx(8 / 15, abs=1e-12)
    assert rows["one"]["full"] == 1
    assert note_about(planned, "1 block", "interval needs 6"), planned["notes"]


def test_a_plan_says_which_batches_short_blocks_leave_empty(pardec, blocks):
    short = table(pardec, *blocks, "--dry-run", "--block", 2)
    assert note_about(short, "oa-mine, eight: its batch of 8 is full for 0 %"), short["notes"]
    assert not note_about(short, "oa-mine, one: its batch")


@both_cuts
def test_the_table_has_the_jobs_in_flight(reached, name):
    rows = by_arm(reached[name][0])
    assert rows["one"]["in_flight"] == [1, 1]
    assert rows["eight"]["in_flight"][1] == 8


@both_cuts
def test_few_blocks_have_no_interval(reached, name):
    for row in reached[name][0]["rows"]:
        none = row["blocks"] < 6 or row["arm"] == "one"
        assert (row["speedup_interval"] is None) == none, row["arm"]
        assert row["speedup"] > 0, row["arm"]


@both_cuts
def test_a_batch_that_was_not_full_is_noted(reached, name):
    noted = note_about(reached[name][0], "oa-mine eight:", "jobs in flight")
    assert noted == (in_flight(reached, name) < 6.4), reached[name][0]["warnings"]


@both_cuts
def test_only_a_job_of_several_streams_has_more_streams_than_jobs(reached, name):
    rows = by_arm(reached[name][0])
    assert rows["ippd"]["streams"] > rows["ippd"]["in_flight"][0]
    assert rows["eight"]["streams"] == rows["eight"]["in_flight"][0]


@both_cuts
def test_what_was_in_flight_follows_from_the_counts_of_the_jobs(reached, name):
    """One id a stream and pass."""
    stored = query(
        reached[name][1],
        "SELECT label, block.*, (SELECT sum(forwards) FROM job WHERE block_id = block.id) AS"
        " forwards, (SELECT sum(chosen) FROM job WHERE block_id = block.id) AS chosen, (SELECT"
        " max(forwards) FROM job WHERE block_id = block.id) AS longest FROM block JOIN run ON"
        " run.id = run_id",
    )
    assert stored
    for block in stored:
        assert block["stream_passes"] == block["chosen"]
        # Fields of one job may enter in different passes, of which its own count knows the longest
        # field's.
        if block["label"] == "sep":
            assert block["job_passes"] >= block["forwards"]
        else:
            assert block["job_passes"] == block["forwards"]
        assert block["longest"] <= block["passes"] <= block["job_passes"]


@both_cuts
def test_the_means_of_the_table_follow_from_the_blocks(reached, name):
    rows = by_arm(reached[name][0])
    for run in query(
        reached[name][1],
        "SELECT label, 1.0 * sum(job_passes) / sum(passes) AS jobs, 1.0 * sum(stream_passes) /"
        " sum(passes) AS streams FROM block JOIN run ON run.id = run_id GROUP BY run.id",
    ):
        row = rows[run["label"]]
        assert row["in_flight"][0] == pytest.approx(run["jobs"], abs=1e-9, rel=0)
        assert row["streams"] == pytest.approx(run["streams"], abs=1e-9, rel=0)


def test_the_experts_that_passes_read_are_stored_and_shown(pardec, tmp_path):
    """Of a mixture with 6 experts in 2 of 3 layers, of which a token uses 2."""
    mixture = pardec.synthesise(
        "mixture", seed=2, model_type="qwen3_moe", architectures=["Qwen3MoeForCausalLM"],
        num_hidden_layers=3, num_experts=6, num_experts_per_tok=2, moe_intermediate_size=32,
        mlp_only_layers=[1], norm_topk_prob=True,
    )
    db = tmp_path / "mixture.sqlite"
    pardec.good(
        "run", "--model", mixture, "--dataset", "oa-mine", "--data-root", SAMPLES, "--limit", 4,
        "--arm", "ar=ar,batch_size=1", "--arm", "hpd=hpd,batch_size=1", *SHORT, "--db", db,
    )
    stored = query(
        db,
        "SELECT label, sum(experts_read) AS experts, sum(passes) AS passes, (SELECT"
        " sum(fed) FROM job WHERE run_id = run.id) AS fed, model.shape FROM block JOIN run ON"
        " run.id = run_id JOIN model ON model.id = model_id GROUP BY run.id",
    )
    rows = by_arm(table(pardec, "compare", "--db", db))
    for run in stored:
        shape = json.loads(run["shape"])
        assert (shape["experts"], shape["experts_used"], shape["expert_layers"]) == (6, 2, 2)
        mean = run["experts"] / run["passes"] / 2
        assert rows[run["label"]]["experts_read_per_pass"] == pytest.approx(mean, abs=1e-9, rel=0)
        assert 2 * run["passes"] * 2 <= run["experts"] <= min(6 * run["passes"], 2 * run["fed"]) * 2
    # A pass of ar after the first has one row, which uses 2 experts; one of hpd has several.
    by_label = {run["label"]: run for run in stored}
    ar = by_label["ar"]
    assert ar["experts"] <= 2 * (2 * ar["passes"] + 4 * 4)  # four prompts read up to four more
    assert rows["hpd"]["experts_read_per_pass"] > rows["ar"]["experts_read_per_pass"] > 2
    assert "experts read a pass" in pardec.good("compare", "--db", db)


def test_the_load_of_a_block_is_stored_over_its_time(reached):
    """Tokens and time add up to those of the block; jobs wait while others have their places."""
    stored = query(
        reached["cut"][1],
        "SELECT load, wall_ns, run.batch_size, (SELECT count(*) FROM job WHERE"
        " block_id = block.id) AS jobs, (SELECT"
        " sum(chosen) FROM job WHERE block_id = block.id) AS chosen, (SELECT max(cached_peak) FROM"
        " job WHERE block_id = block.id) AS peak FROM block JOIN run ON run.id = run_id",
    )
    assert stored
    for block in stored:
        windows = json.loads(block["load"])
        assert sum(tokens for _, _, tokens, _ in windows) == block["chosen"]
        assert sum(ns for ns, *_ in windows) == pytest.approx(block["wall_ns"], rel=0.1, abs=5e6)
        assert [ns for ns, *_ in windows[:-1]] == [500_000_000] * (len(windows) - 1)
        most = block["peak"] * min(block["batch_size"], block["jobs"])
        assert all(0 <= rows <= most + 0.1 for _, rows, _, _ in windows)
        assert max(rows for _, rows, _, _ in windows) > 0
        waited = sum(waiting for *_, waiting in windows)
        assert (waited > 0) == (block["jobs"] > block["batch_size"])


def test_short_blocks_hold_fewer_jobs_in_flight(reached):
    assert in_flight(reached, "cut") <= 3
    assert in_flight(reached, "whole") > 5


def test_the_report_says_what_was_in_flight(pardec, reached):
    page = pardec.folder / "cut.html"
    pardec.good("report", "--db", reached["cut"][1], "-o", page)
    assert f"{in_flight(reached, 'cut'):.1f} of 8" in page.read_text()


# Overflows: --dry-run counts the jobs that will fail for want of positions: those that do fail ----


@pytest.fixture(scope="module")
def long(pardec):
    """The words of a run on six products, of which one is too long."""
    root = pardec.folder / "long"
    shutil.copytree(SAMPLES, root)
    products = records("oa-mine")[:6]
    products[2] = {**products[2], "input": "Tolvane " * 4000}
    write_lines(root / "oa-mine" / "test.jsonl", products)
    return [
        "run", "--decoder", "ar,hpd,ippd,skeleton-of-thought", "--arm", "keys=ar,forced_keys=true",
        "--arm", "sep=ar,ask=separately", "--dataset", "oa-mine", "--data-root", root, *SHORT,
    ]


@pytest.fixture(scope="module")
def bare(pardec, model):
    """The network without its weights."""
    folder = pardec.folder / "no-weights"
    return shutil.copytree(model, folder, ignore=shutil.ignore_patterns("*.safetensors"))


@pytest.fixture(scope="module")
def plan(pardec, long, bare):
    return table(pardec, *long, "--model", bare, "--dry-run")


def test_the_jobs_that_are_planned_to_overflow_do(pardec, long, model, plan):
    ran = pardec(*long, "--model", model, "--db", "long.sqlite")
    assert ran.returncode == 3, ran.stderr
    failed = query(
        pardec.folder / "long.sqlite",
        "SELECT label, sum(error LIKE '%context overflow%') AS n FROM job JOIN run ON run.id ="
        " run_id GROUP BY run.id",
    )
    assert {row["arm"]: row["too_long"] for row in plan["rows"]} == {
        row["label"]: row["n"] for row in failed
    }
    assert {row["n"] for row in failed} == {1}


def test_a_plan_has_the_positions_of_its_jobs(plan):
    for row in plan["rows"]:
        assert row["positions"][0] <= row["positions"][1] > 4096, row["arm"]


def test_a_plan_notes_what_will_overflow(plan):
    said = "oa-mine, ar: 1 of 6 jobs will overflow the context"
    assert note_about(plan, said, "max_position_embeddings is 4096"), plan["notes"]


def test_room_for_values_counts_to_the_position(pardec, model):
    def room(k_max):
        return table(
            pardec, "run", "--model", model, "--decoder", "hpd", "--set", f"hpd.k_max={k_max}",
            "--set", "hpd.stack=1", "--dataset", "oa-mine", "--limit", 1, "--dry-run", "--progress",
            "none",
        )["rows"][0]

    small = room(1)
    values = room(2)["positions"][1] - small["positions"][1]
    most = 1 + (4096 - small["positions"][1]) // values
    assert values > 1
    assert room(most)["too_long"] == 0
    assert room(most + 1)["too_long"] > 0


def test_jobs_of_a_wording_with_an_unknown_slot_cannot_be_asked(pardec, long, bare):
    wording = write_lines(pardec.folder / "wording.txt", ["[context]", "{text} {nothing}"])
    refused = table(pardec, *long, "--model", bare, "--prompt-file", wording, "--dry-run")
    assert by_arm(refused)["ar"]["positions"] is None
    said = "oa-mine, ar: 6 of 6 jobs cannot be asked"
    assert note_about(refused, said, "{nothing}"), refused["notes"]


def test_without_a_network_nothing_is_known_of_positions(pardec):
    words = ["--model", "/nowhere", "--decoder", "ar", "--dataset", "oa-mine"]
    row = table(pardec, "run", "--dry-run", *words)["rows"][0]
    assert row["positions"] is None
    assert row["too_long"] is None
