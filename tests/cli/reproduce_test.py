"""`reproduce`: what it lists, runs and decides; that it goes on, names what is missing, and ends
with 4 where a claim is decided otherwise than expected.
"""

import json
import math
import re
import shutil
import signal
import time

import pytest
from harness import ROOT, change, query

QUICKSTART = ROOT / "experiments" / "quickstart" / "model"


def claims(tables):
    """The last table's rows by their claim."""
    return {row["claim"]: row for row in tables[-1]["rows"]}


def share_with(folder, change):
    """The project's files with one item changed, for PARDEC_SHARE."""
    share = folder / "share"
    share.mkdir()
    for entry in ("datasets", "experiments", "judges"):
        shutil.copytree(
            ROOT / entry, share / entry, ignore=shutil.ignore_patterns("*.cpp", "*.hpp", "smollm2")
        )
    file = share / "experiments" / "papers" / "hpd" / "table3.json"
    item = json.loads(file.read_text())
    change(item)
    file.write_text(json.dumps(item))
    return share


@pytest.fixture(scope="module")
def reproduce(pardec):
    """Calls the verb; returns what ran."""

    def call(*args, code=0, env=None, db="r.sqlite"):
        ran = pardec("reproduce", *args, "--threads", 1, "--progress", "none", "--db", db, env=env)
        assert ran.returncode == code, f"reproduce {args}: {ran.stderr}"
        return ran

    return call


@pytest.fixture(scope="module")
def tables(reproduce):
    """The tables that the verb prints."""
    return lambda *args, **options: json.loads(
        reproduce(*args, "--format", "json", **options).stdout
    )


@pytest.fixture(scope="module")
def listed(tables):
    """What the list says of Table 3 of HPD."""

    def find(**options):
        return {
            (row["paper"], row["item"]): row["verdicts"]
            for row in tables("list", **options)["rows"]
        }["hpd", "Table 3"]

    return find


@pytest.fixture(scope="module")
def table3(tables):
    """The published and measured values, and the decided claims, of a run of Table 3 of HPD; it
    is in r.sqlite.
    """
    return tables("hpd", "t3", "--limit", 12)


@pytest.fixture
def stored(pardec, table3, tmp_path):
    """A copy of the database with that run."""
    return shutil.copy(pardec.folder / "r.sqlite", tmp_path / "r.sqlite")


def test_the_list_has_every_item_and_no_verdict_without_a_database(tables):
    rows = tables("list", db="none.sqlite")["rows"]
    assert len(rows) == 78
    assert sum(row["class"] == "E" for row in rows) == 20
    assert all(row["verdicts"] == "-" for row in rows)


def test_nothing_is_measured_beside_a_published_value_of_other_data(table3):
    """The paper's numbers are of Amazon Reviews, and OA-Mine was run; verdicts say so."""
    published, decided = table3
    cell = {(row["method"], row["metric"]): row for row in published["rows"]}
    assert cell["HPD", "speedup"]["published"] == 10.78
    for row in published["rows"]:
        assert row["measured"] is None
        assert row["measured_on"] is None
    assert any("hpd on amazon-reviews" in note for note in published["notes"]), published["notes"]
    assert any(note.startswith("differs: network: ") for note in published["notes"]), published[
        "notes"
    ]
    for row in decided["rows"]:
        assert row["qualified"] == "stand-in, other data, scaled"
        assert row["measured_unit"] == "ratio of products/s"


def test_six_blocks_decide_nothing(table3):
    assert {row["claim"]: row["verdict"] for row in table3[1]["rows"]} == {
        "H5a": "open",
        "H5b": "open",
    }


def test_what_is_stored_is_not_run_again(pardec, tables, table3):
    before = (pardec.folder / "r.sqlite").stat().st_mtime_ns
    assert tables("hpd", "table3", "--limit", 12)[1] == table3[1]
    assert (pardec.folder / "r.sqlite").stat().st_mtime_ns == before


def test_the_list_has_the_stored_verdicts(listed, table3):
    assert listed() == "; ".join(
        f"{row['claim']} {row['verdict']} ({row['qualified']})" for row in table3[1]["rows"]
    )


def test_what_compare_warns_of_is_beside_the_verdict(table3):
    """HPD's network was not trained on a stack of one."""
    warned = {
        (w["code"], w["arm"], w["effect"])
        for row in table3[1]["rows"]
        for w in row["warnings"]
        if row["claim"] == "H5a"
    }
    assert ("untaught", "hpd", "beside") in warned


def test_a_run_that_measured_nothing_hides_no_stored_one(tables, listed, stored):
    before = listed(db=stored)
    tables("hpd", "t3", "--limit", 2, db=stored)
    change(
        stored,
        "DELETE FROM block WHERE run_id IN (SELECT id FROM run WHERE invocation <> (SELECT"
        " invocation FROM run ORDER BY id LIMIT 1))",
    )
    assert (
        "a block that"
        in claims(tables("hpd", "t3", "--limit", 2, "--budget", "0.001s", db=stored))["H5a"]["why"]
    )
    assert listed(db=stored) == before


def test_a_claim_that_is_decided_otherwise_than_expected_ends_with_4(reproduce, stored, tmp_path):
    """Enough blocks decide: HPD chooses more tokens a pass than AR."""

    def sure(item):
        test = {"kind": "ratio", "metric": "tokens_per_forward", "op": ">", "than": 1}
        item["claims"] = [
            {
                "id": "C",
                "says": "HPD chooses more tokens a pass than AR",
                "scales": ["small"],
                "expect": "confirmed",
                "test": {**test, "of": "hpd", "over": "ar"},
            },
            {
                "id": "W",
                "says": "AR does",
                "scales": ["small"],
                "expect": "confirmed",
                "test": {**test, "of": "ar", "over": "hpd"},
            },
        ]

    wrong = reproduce(
        "hpd",
        "t3",
        "--limit",
        12,
        "--format",
        "json",
        code=4,
        env={"PARDEC_SHARE": share_with(tmp_path, sure)},
        db=stored,
    )
    found = claims(json.loads(wrong.stdout))
    assert found["C"]["verdict"] == "confirmed"
    assert found["C"]["qualified"] == "stand-in, other data, scaled"
    assert found["W"]["verdict"] == "refuted"
    assert found["W"]["expected"] == "confirmed (!)"
    assert "otherwise than expected" in wrong.stderr


@pytest.fixture(scope="module")
def bound(tables):
    """Table 3 of HPD by rooflines alone."""
    return tables("hpd", "t3", "--scale", "bound", "--limit", 12, db="bound.sqlite")


def test_bounds_are_of_the_papers_machine(bound):
    bounds, decided = bound
    assert {row["arm"] for row in bounds["rows"]} == {"ar", "spec", "hpd"}
    assert all("NVIDIA L40S" in row["place"] for row in bounds["rows"]), bounds["rows"]
    assert all(row["qualified"].startswith("bound, ") for row in decided["rows"]), decided["rows"]


def test_a_bound_confirms_nothing(bound):
    row = claims(bound)["H5b"]
    part = row["measured"][0]
    assert row["verdict"] == "not contradicted"
    assert part["value"] > 2.08
    assert part["bound"] == "at most"
    assert f"at most {part['value']:.2f}, published 2.08: the bound leaves room" in row["why"]
    notes = bound[1]["notes"]
    assert any(note.startswith("not contradicted: a bound leaves room for it") for note in notes), (
        notes
    )
    assert notes[0] == "claims: 1 not contradicted."


@pytest.mark.skipif(
    (ROOT / "experiments" / "smollm2" / "apar").exists(), reason="not done here: the adapter exists"
)
def test_claims_without_an_adapter_are_not_testable(tables):
    for row in claims(tables("apar", "t9")).values():
        assert row["verdict"] == "not testable"
        assert "experiments/smollm2/apar" in row["why"]


def test_claims_without_a_dataset_are_not_testable(tables, tmp_path):
    row = claims(tables("hpd", "t1", "--limit", 2, "--data-root", tmp_path))["H1"]
    assert "dataset oa-mine" in row["why"]
    assert row["verdict"] == "not testable"


@pytest.mark.parametrize("format", ["md", "csv", "latex", "jsonl"])
def test_every_format_has_arms_and_claims(reproduce, format):
    shown = reproduce(
        "ippd", "figure3", "--limit", 2, "--model", f"main={QUICKSTART}", "--format", format,
        db="formats.sqlite",
    ).stdout
    assert "ippd" in shown
    assert "I2" in shown


def arms(item):
    """Published cells of the data that are run, and an arm whose network is missing."""
    item["published"]["datasets"] = {"Amazon Reviews 2023": "oa-mine"}
    item["match"]["metric"]["products/s"] = {"metric": "examples_per_second", "times": 1000}
    small = item["scales"]["small"]
    small["models"]["seq"] = "experiments/smollm2/missing"
    small["decoders"].append(
        {"label": "seq", "name": "ar", "adapter": "seq", "set": {"batch_size": 1}}
    )
    test = {"kind": "ratio", "of": "hpd", "op": ">", "than": 0}
    item["claims"] = [
        {
            "id": "S",
            "says": "over Seq",
            "scales": ["small"],
            "test": {**test, "metric": "speed", "over": "seq"},
        },
        {
            "id": "A",
            "says": "over AR, by the token",
            "scales": ["small"],
            "test": {**test, "metric": "tokens_per_second", "over": "ar"},
        },
        {
            "id": "B",
            "says": "the same by the example",
            "scales": ["small"],
            "test": {**test, "metric": "speed", "over": "ar"},
        },
        {
            "id": "N",
            "says": "tokens",
            "scales": ["small"],
            "test": {**test, "metric": "tokens_per_example", "over": "ar"},
        },
    ]


def arms_without_baseline(item):
    """The same, compared with the arm that is missing."""
    arms(item)
    item["scales"]["small"]["baseline"] = "seq"


def tables_of_arms(tables, folder, change):
    """The published and measured values, and the decided claims, of such an item."""
    share = share_with(folder, change)
    recipes = share / "experiments" / "smollm2" / "recipes"
    recipes.mkdir(parents=True)
    recipe = json.loads((ROOT / "experiments/smollm2/recipes/aspd-seq.json").read_text())
    (recipes / "missing.json").write_text(json.dumps({**recipe, "name": "missing"}))
    found = tables("hpd", "t3", "--limit", 6, env={"PARDEC_SHARE": share}, db="arms.sqlite")
    return found[0], found[-1]


@pytest.fixture(scope="module")
def of_arms(tables, tmp_path_factory):
    return tables_of_arms(tables, tmp_path_factory.mktemp("arms"), arms)


def test_cells_stand_beside_their_own_dataset_in_the_papers_unit(of_arms):
    cell = {(row["method"], row["metric"]): row for row in of_arms[0]["rows"]}
    assert cell["HPD", "products/s"]["measured"] > 100
    assert cell["HPD", "speedup"]["measured"] > 1
    assert cell["HPD", "speedup"]["measured_on"] == "oa-mine, stand-in"
    assert cell["8B Spec.", "speedup"]["measured"] is None


def test_a_network_that_is_missing_is_named_with_its_recipe(of_arms):
    """No other arm stands for it."""
    row = claims(of_arms)["S"]
    assert row["verdict"] == "not testable"
    assert (
        "experiments/smollm2/missing, recipe experiments/smollm2/recipes/missing.json"
        in row["why"]
    )


def test_speed_by_the_token_is_that_by_the_example_times_tokens(of_arms):
    found = claims(of_arms)
    value = {claim: row["measured"][0]["value"] for claim, row in found.items() if row["measured"]}
    assert math.isclose(value["A"], value["B"] * value["N"], rel_tol=1e-6)
    assert found["A"]["measured_unit"] == "ratio of tokens/s"
    assert found["B"]["measured_unit"] == "ratio of products/s"


@pytest.mark.usefixtures("of_arms")
def test_a_speedup_over_an_arm_that_is_not_the_baseline_is_not_measured(tables, tmp_path):
    published, _ = tables_of_arms(tables, tmp_path, arms_without_baseline)
    speedups = [row for row in published["rows"] if row["metric"] == "speedup"]
    assert speedups
    assert all(row["measured"] is None for row in speedups)


def test_a_dataset_in_match_is_refused(reproduce, tmp_path):
    share = share_with(tmp_path, lambda item: item["match"].update(dataset="oa-mine"))
    assert (
        "published.datasets" in reproduce("hpd", "t3", env={"PARDEC_SHARE": share}, code=2).stderr
    )


def test_an_item_that_is_not_measured_shows_what_is_published_and_what_is_missing(reproduce):
    shown = reproduce("space", "table5").stdout
    assert "measures nothing of it" in shown
    assert "48818" in shown
    assert "for lack of: the publishers' files of the six open datasets" in " ".join(shown.split())


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("hpd", "figure1"), "nothing is measured"),
        (("hpd", "table9"), "no item"),
        (("hdp",), "unknown paper"),
        (("hpd", "t3", "--scale", "smal"), "has no scale"),
        (("all", "--budget", "soon"), "--budget"),
        (("hpd", "t3", "--model", "main"), "LABEL=DIR"),
        (("hpd", "t3", "--model", "main=nowhere"), "there is no nowhere"),
        (("hpd", "t3", "--model", f"mian={QUICKSTART}"), "did you mean 'main'"),
        (("hpd", "t2", "--data-root", "nowhere"), "nowhere is no folder"),
        (("hpd", "t2", "--dtype", "fp7"), "fp7"),
        (("all", "t1"), "takes no item"),
        (("list", "t1"), "takes no item"),
    ],
    ids=lambda value: " ".join(value).replace(str(ROOT), "") if isinstance(value, tuple) else None,
)
def test_what_is_wrong_in_a_call_is_said(reproduce, args, said):
    assert said in reproduce(*args, code=2).stderr


def fast(item):
    """Claims on speed, on what cannot fail, and on a dataset that is missing."""
    small = item["scales"]["small"]
    small.update(limit=12, block=1, decoders=small["decoders"][:2])
    bound = {"kind": "bound", "metric": "tokens_per_forward", "of": "ar"}
    item["claims"] = [
        {
            "id": "F",
            "says": "speculative decoding is no slower by a factor of a thousand",
            "scales": ["small"],
            "test": {
                "kind": "ratio",
                "metric": "speed",
                "of": "spec",
                "over": "ar",
                "op": ">",
                "than": 1e-3,
            },
        },
        {
            "id": "T",
            "says": "as many tokens a pass",
            "scales": ["small"],
            "by_construction": "so it is",
            "test": {**bound, "op": ">=", "than": 1},
        },
        {
            "id": "D",
            "says": "on a dataset that lacks",
            "scales": ["small"],
            "test": {**bound, "in": ["oa-mine", "race"], "op": ">", "than": 0},
        },
    ]


@pytest.fixture(scope="module")
def speeds(pardec, tables, tmp_path_factory):
    """A database of twelve blocks that nothing disturbed, and the calls' environment with these
    claims.
    """
    db, env = (
        pardec.folder / "fast.sqlite",
        {"PARDEC_SHARE": share_with(tmp_path_factory.mktemp("fast"), fast)},
    )
    tables("hpd", "t3", env=env, db=db)
    change(db, "UPDATE block SET waited_ns = 0, stolen_ns = 0")
    return db, env


def test_undisturbed_blocks_decide_a_claim_on_speed(reproduce, tables, listed, speeds):
    db, env = speeds
    found = claims(tables("hpd", "t3", env=env, db=db))
    assert found["F"]["verdict"] == "confirmed"
    assert found["F"]["measured"][0]["units"] == 12
    assert found["T"]["verdict"] == "confirmed"
    assert found["T"]["qualified"].startswith("by construction, ")
    assert "it cannot fail: so it is" in found["T"]["why"]
    assert found["T"]["by_construction"] == "so it is"
    assert found["F"]["by_construction"] is None
    assert found["D"]["verdict"] == "open"
    assert "lacks" in found["D"]["why"]
    assert "race" in found["D"]["why"]
    said = listed(env=env, db=db)
    assert "D open" in said
    assert "F confirmed" in said
    assert "T confirmed (by construction, " in said
    assert (
        "claims: 1 confirmed, 1 open; apart from these, that cannot fail: 1 confirmed"
        in reproduce("hpd", "t3", env=env, db=db).stdout
    )


@pytest.mark.parametrize(("disturbed", "verdict"), [(2, "confirmed"), (3, "open")])
def test_blocks_that_other_programs_disturbed_are_not_counted_for_speed(
    tables, speeds, tmp_path, disturbed, verdict
):
    """Of twelve blocks ten decide, and nine do not."""
    db, env = shutil.copy(speeds[0], tmp_path / "fast.sqlite"), speeds[1]
    change(db, f"UPDATE block SET waited_ns = wall_ns WHERE position < {disturbed}")
    found = claims(tables("hpd", "t3", env=env, db=db))
    assert found["F"]["verdict"] == verdict
    assert {w["code"] for w in found["F"]["warnings"]} >= {"disturbed"}
    assert found["T"]["verdict"] == "confirmed"
    assert "disturbed" not in {w["code"] for w in found["T"]["warnings"]}
    if verdict == "open":
        assert "unfit to decide it: disturbed" in found["F"]["why"]
        assert "the undisturbed measurements alone give" in found["F"]["why"]


@pytest.mark.parametrize(
    ("item", "sections"),
    [
        (("hpd", "table2"), ["published"]),
        (("aspd", "table7", "--scale", "paper"), ["verdicts", "published"]),
        (("space", "table5"), ["published"]),
    ],
    ids=["table2", "table7", "table5"],
)
def test_a_page_has_no_section_with_nothing_in_it(pardec, reproduce, item, sections):
    reproduce(*item, "--report", "empty.html", db="none.sqlite")
    page = (pardec.folder / "empty.html").read_text()
    heads = re.findall(r'<h2 id="(\w+)"', page)
    assert set(sections) <= set(heads)
    assert sorted(heads) == sorted(re.findall(r'<a href="#(\w+)"', page.split("</header>")[0]))
    assert not re.search(
        r"<tbody>\s*</tbody>|<dl>\s*</dl>|class=\"(facts|figures)\">\s*</div>", page
    ), "something is empty"


def turns(item):
    """Claims on each of the measures that conversations have turn by turn."""
    test = {"kind": "bound", "of": "ar", "in": ["mt-bench"], "op": "<=", "than": 1}
    item["scales"]["small"].update(
        datasets=["mt-bench"], max_new_tokens=8, decoders=[{"name": "ar", "set": {"batch_size": 2}}]
    )
    item["claims"] = [
        {"id": metric, "says": metric, "scales": ["small"], "test": {**test, "metric": metric}}
        for metric in (
            "threads", "length", "max_cached", "max_cached_flat", "max_cached_saved",
            "attended_saved", "parallel_share", "tps",
        )
    ]


class Conversations:
    """The claims on a run of conversations, its database, the calls' environment, and all turns
    as the database has them.
    """

    def __init__(self, pardec, tables, share):
        self.db, self.env = pardec.folder / "turns.sqlite", {"PARDEC_SHARE": share}
        self.claims = claims(tables("hpd", "t3", env=self.env, db=self.db))
        self.jobs = query(
            self.db,
            "SELECT turns, prompt_tokens, chosen, text_tokens, decode_ns, cached_peak,"
            " text_attended FROM job",
        )
        self.turns = [turn for job in self.jobs for turn in json.loads(job["turns"])]

    def mean(self, key):
        return sum(turn[key] for turn in self.turns) / len(self.turns)


@pytest.fixture(scope="module")
def conversations(pardec, tables, tmp_path_factory):
    return Conversations(pardec, tables, share_with(tmp_path_factory.mktemp("turns"), turns))


def test_the_turns_of_a_conversation_add_up_to_it(conversations):
    assert len(conversations.turns) > len(conversations.jobs)
    for job in conversations.jobs:
        for key in ("prompt_tokens", "chosen", "text_tokens", "text_attended", "decode_ns"):
            assert sum(turn[key] for turn in json.loads(job["turns"])) == job[key], key


def test_a_turn_of_ar_is_one_sequence_whose_last_id_is_not_fed(conversations):
    for turn in conversations.turns:
        assert 0 <= turn["prompt_tokens"] + turn["text_tokens"] - turn["cached_peak"] <= 1
        assert turn["branches"] == 1


def test_a_conversation_counts_turn_by_turn(conversations):
    found, mean = conversations.claims, conversations.mean
    wanted = {
        "threads": 1,
        "length": mean("text_tokens"),
        "max_cached": mean("cached_peak"),
        "max_cached_flat": mean("prompt_tokens") + mean("text_tokens"),
        "attended_saved": 0,
        "parallel_share": 0,
        "tps": (
            sum(1e9 * t["chosen"] / t["decode_ns"] for t in conversations.turns)
            / len(conversations.turns)
        ),
    }
    for metric, value in wanted.items():
        assert math.isclose(
            found[metric]["measured"][0]["value"], value, rel_tol=1e-9, abs_tol=1e-9
        ), f"{value}: {found[metric]}"
    assert 0 <= found["max_cached_saved"]["measured"][0]["value"] < 0.05, "AR saves nothing"


def test_compare_counts_turn_by_turn_as_well(pardec, conversations, tmp_path):
    """As if ASPD had answered each first turn alone in parallel."""
    forked = shutil.copy(conversations.db, tmp_path / "forked.sqlite")

    def stages(turn, groups):
        parallel = {
            "generated": 10,
            "branch_tokens": 6 * groups,
            "groups": groups,
            "group_branches": 3 * groups,
            "parallel_ns": 10**9 * groups,
        }
        return json.dumps({**turn, "branches": 1 + 3 * groups, "parallel": parallel})

    for job in query(forked, "SELECT id, turns FROM job ORDER BY id"):
        both = ",".join(
            stages(turn, int(at == 0)) for at, turn in enumerate(json.loads(job["turns"]))
        )
        change(forked, f"UPDATE job SET turns = '[{both}]' WHERE id = {job['id']}")
    columns = {
        "aspd": {"ppd": 0.5, "dp": 0.6, "abn": 3, "p_tps": 6},
        "apar": {
            "parallel_share": 0.5,
            "threads_per_answer": 2.5,
            "max_cached": conversations.mean("cached_peak"),
        },
    }
    for decoder, wanted in columns.items():
        change(forked, f"UPDATE run SET decoder = '{decoder}'")
        row = json.loads(pardec.good("compare", "--db", forked, "--format", "json"))["rows"][0]
        for key, value in wanted.items():
            assert math.isclose(row[key], value, rel_tol=1e-9), f"{decoder} {key}: {row}"


def test_what_turns_would_be_in_one_sequence_each_is_not_guessed_from_their_sums(
    tables, conversations, tmp_path
):
    db = shutil.copy(conversations.db, tmp_path / "sums.sqlite")
    change(db, "UPDATE job SET turns = NULL")
    found = claims(tables("hpd", "t3", env=conversations.env, db=db))
    for metric in ("max_cached_flat", "max_cached_saved", "attended_saved", "parallel_share"):
        assert found[metric]["verdict"] == "not testable", metric
        assert "turns or fields are counted together" in found[metric]["why"], metric


def test_a_budget_is_named_unless_all_examples_fit_it(tables):
    notes = tables("hpd", "t3", "--budget", "1s", db="b.sqlite")[0]["notes"]
    assert any(note.startswith("budget: ") or "38 examples" in note for note in notes), notes


# Training what claims lack ------------------------------------------------------------------------

TRAINED = "experiments/smollm2/tiny"


def tiny_recipe(data, **more):
    """A recipe of the quickstart network with a hundred updates of a sequence each."""
    return {
        "name": "tiny",
        "makes": "a network for a test",
        "source": "the test",
        "model": "experiments/quickstart/model",
        "data": {
            "datasets": ["jsonl"],
            "root": str(data),
            "made_by": ["pardec data prompts --data-root own"],
        },
        "flags": {
            "format": "ar",
            "lora-rank": 2,
            "lr": 1e-6,
            "steps": 100,
            "batch-sequences": 1,
            "save-every": 1,
            "threads": 1,
            "validation": 0,
        },
        "seed": 1,
        "minutes": 2,
        "validation_loss": None,
        **more,
    }


def of_tiny(item):
    """A claim that needs the network of that recipe."""
    small = item["scales"]["small"]
    small["models"]["tiny"] = TRAINED
    small["decoders"].append(
        {"label": "tiny", "name": "ar", "adapter": "tiny", "set": {"batch_size": 1}}
    )
    item["claims"] = [
        {
            "id": "T",
            "says": "as many tokens a pass",
            "scales": ["small"],
            "test": {
                "kind": "bound",
                "metric": "forwards_per_job",
                "of": "tiny",
                "op": ">=",
                "than": 1,
            },
        }
    ]


@pytest.fixture
def training(tmp_path):
    """The project's files with such a claim and its recipe."""
    share = share_with(tmp_path, of_tiny)
    data = tmp_path / "data"
    (data / "jsonl").mkdir(parents=True)
    records = [
        {"id": str(i), "prompt": f"Count to {i}.", "references": [" ".join("1" * i)]}
        for i in range(1, 9)
    ]
    (data / "jsonl" / "train.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
    recipes = share / "experiments" / "smollm2" / "recipes"
    recipes.mkdir(parents=True)
    (recipes / "tiny.json").write_text(json.dumps(tiny_recipe(data)))
    return share


TRAIN = ("hpd", "t3", "--limit", 2, "--train")


def updates(share):
    log = share / TRAINED / "loss.csv"
    return len(log.read_text().splitlines()) - 1 if log.is_file() else 0


@pytest.mark.whole
def test_a_training_that_is_killed_goes_on_and_is_then_measured(
    pardec_alone, reproduce, tables, training
):
    env = {"PARDEC_SHARE": training}
    (planned,) = tables(*TRAIN, "--dry-run", env=env)
    assert [row["network"].endswith(TRAINED) for row in planned["rows"]] == [True]
    assert planned["rows"][0]["minutes"] == 2
    assert not (training / TRAINED).exists()

    running = pardec_alone.start(
        "reproduce", *TRAIN, "--threads", 1, "--progress", "none", "--db", "k.sqlite", env=env
    )
    begin = time.monotonic()
    while updates(training) < 3:
        assert time.monotonic() - begin < 120
        assert running.poll() is None
        time.sleep(0.02)
    running.send_signal(signal.SIGKILL)
    running.wait()
    done = updates(training)
    assert 3 <= done < 100, "it was killed in mid-training"
    record = json.loads((training / TRAINED / "training.json").read_text())
    assert not record["finished"]

    (planned,) = tables(*TRAIN, "--dry-run", env=env)
    assert planned["rows"][0]["done"] == f"{done} of 100 updates"
    ran = reproduce(*TRAIN, "--format", "json", env=env, db="train.sqlite")
    assert "--train: 1 network, about" in ran.stderr
    assert f"from update {done} on" in ran.stderr
    assert json.loads((training / TRAINED / "training.json").read_text())["finished"]
    assert updates(training) == 100
    # It was measured, however poor its answers are: nothing about a missing network is said.
    assert "network" not in claims(json.loads(ran.stdout))["T"]["why"]

    again = reproduce(*TRAIN, env=env, db="train.sqlite")
    assert "the claims lack no network that a recipe makes" in again.stderr


def test_a_recipe_without_its_data_is_refused_with_the_commands(reproduce, training, tmp_path):
    recipe = training / "experiments" / "smollm2" / "recipes" / "tiny.json"
    recipe.write_text(json.dumps(tiny_recipe(tmp_path / "nowhere")))
    env = {"PARDEC_SHARE": training}
    ran = reproduce(*TRAIN, "--format", "json", env=env, db="none.sqlite", code=1)
    assert "tiny: is not trained: " in ran.stderr
    assert "\n  pardec data prompts --data-root own\n" in ran.stderr.replace("pardec:   ", "  ")
    assert claims(json.loads(ran.stdout))["T"]["verdict"] == "not testable"
    assert not (training / TRAINED).exists()


def test_a_dry_run_of_the_papers_scale_keeps_nothing(pardec, tables):
    (dry,) = tables("hpd", "t3", "--scale", "paper", "--dry-run", db="dry.sqlite")
    assert {row["arm"] for row in dry["rows"]} == {"ar", "spec", "spec-4b", "spec-8b", "hpd"}
    assert all(row["answers"] == 2 and row["failed"] == 0 for row in dry["rows"]), dry["rows"]
    assert any("32.8 B parameters, 20.7 GB" in note for note in dry["notes"]), dry["notes"]
    assert not (pardec.folder / "dry.sqlite").exists()


def test_the_page_of_results_is_written_with_its_export(pardec, reproduce, table3):
    ran = reproduce("hpd", "t3", "--limit", 12, "--results", "RESULTS.md")
    page = (pardec.folder / "RESULTS.md").read_text()
    exported = json.loads((pardec.folder / "RESULTS.json").read_text())
    assert "RESULTS.md" in ran.stderr
    assert [row["claim"] for row in exported["rows"]] == list(claims(table3))
    assert exported["command"].startswith("pardec reproduce hpd t3 --limit 12")
    assert "## Open" in page
    assert all(row["measured"] in page for row in exported["rows"])
    assert "expected the name of a page" in reproduce("hpd", "t3", "--results", "x", code=2).stderr
