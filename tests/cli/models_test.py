"""Arms with networks of their own: each answers as it does alone on its network, and tables,
store and memory say so.
"""

import json
import shutil

import pytest
from harness import ROOT, answers, query

# Open prompts: whatever a random network writes is an answer.
RUN = ("--limit", 6, "--max-new-tokens", 8, "--progress", "none")
QUICKSTART = ROOT / "experiments" / "quickstart" / "model"


def run(pardec, db, *flags):
    given = [part for pair in zip(RUN[::2], RUN[1::2]) if pair[0] not in flags for part in pair]
    return pardec(
        "run",
        *flags,
        *(() if "--dataset" in flags else ("--dataset", "vicuna-bench")),
        *given,
        "--db",
        pardec.folder / db,
    )


def ran_well(pardec, db, *flags):
    """A run that must succeed; returns its database."""
    ran = run(pardec, db, *flags)
    assert ran.returncode == 0, ran.stderr
    return pardec.folder / db


def check_refused(ran, *words):
    assert ran.returncode == 2, ran.stderr
    for word in words:
        assert word in ran.stderr


def by_label(db, column="model_id"):
    return {
        row["label"]: row["path"]
        for row in query(db, f"SELECT label, path FROM run JOIN model ON model.id = {column}")
    }


def baselines(db):
    return {row["label"]: row["baseline"] for row in query(db, "SELECT label, baseline FROM run")}


def texts(db, *labels):
    """The text of each sample, by arm."""
    return {
        label: {key[2]: answer[0] for key, answer in answers(db, f"run.label = '{label}'").items()}
        for label in labels
    }


@pytest.fixture(scope="module")
def a(pardec):
    return pardec.synthesise("A")


@pytest.fixture(scope="module")
def b(pardec):
    return pardec.synthesise("B", seed=2)


@pytest.fixture(scope="module")
def other(pardec, b):
    """A network with another tokenizer: two words of its vocabulary have changed places."""
    folder = pardec.folder / "other"
    shutil.copytree(b, folder)
    tokenizer = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    vocabulary = tokenizer["model"]["vocab"]
    x, y = [token for token in vocabulary if token.isalpha() and len(token) > 3][:2]
    vocabulary[x], vocabulary[y] = vocabulary[y], vocabulary[x]
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def alone(pardec, a, b):
    """The answers of each network in a run of its own."""
    found = {}
    for name, folder in (("", a), ("B", b)):
        pardec.good(
            "run", "--model", folder, "--arm", f"ar{name}=ar", "--arm", f"look{name}=prompt-lookup",
            "--dataset", "vicuna-bench", *RUN, "--db", f"alone{name}.sqlite",
        )
        found.update(answers(pardec.folder / f"alone{name}.sqlite"))
    return found


@pytest.fixture(scope="module")
def arms(b):
    return (
        "--arm", "ar=ar", "--arm", f"arB=ar,model={b}", "--arm", f"lookB=prompt-lookup,model={b}",
        "--arm", "look=prompt-lookup",
    )


@pytest.fixture(scope="module", params=["interleaved", "blocked"])
def together(request, pardec, a, arms):
    """A run of four arms on two networks: its order, its database, and what it prints."""
    db = f"{request.param}.sqlite"
    ran = run(pardec, db, "--model", a, *arms, "--order", request.param, "--runs", 1)
    assert ran.returncode == 0, ran.stderr
    return request.param, pardec.folder / db, ran.stdout


def test_arms_answer_as_they_do_alone_on_their_network(together, alone, a, b):
    _, db, _ = together
    assert answers(db) == alone
    assert by_label(db) == {"ar": str(a), "look": str(a), "arB": str(b), "lookB": str(b)}


def test_each_arm_is_compared_with_ar_on_its_own_network(together):
    assert baselines(together[1]) == {"ar": None, "look": "ar", "arB": "ar", "lookB": "arB"}


def test_tables_say_which_network_an_arm_runs_on(pardec, together, a, b):
    _, db, printed = together
    table = json.loads(pardec.good("compare", "--db", db, "--format", "json"))
    said = {
        row["arm"]: (row["model"], row["identical"], row["tokens_per_second"])
        for row in table["rows"]
    }
    assert [said[arm][0] for arm in ("ar", "arB", "lookB")] == [str(a), str(b), str(b)]
    assert said["lookB"][1] == said["look"][1] == 1
    assert said["lookB"][2]
    assert said["arB"][1] < 1
    assert not said["arB"][2]
    notes = " ".join(table["notes"])
    assert notes.count("on another network than the baseline: arB (ar);") == 1
    assert "lookB (" not in notes
    assert "arB on B" in printed
    assert "several networks" in printed


def test_lists_and_pages_say_that_there_are_several_networks(pardec, together):
    db = together[1]
    assert "A, B" in pardec.good("runs", "--wide", "--db", db)
    assert "several networks" in pardec.good("compare", "--db", db, "--matrix")
    pardec.good("report", "--db", db, "-o", pardec.folder / "r.html", "--examples", 0)
    page = (pardec.folder / "r.html").read_text()
    assert "several networks" in page
    assert "lookB: prompt-lookup" in page


@pytest.mark.usefixtures("alone")
def test_one_network_needs_no_note(pardec):
    one = pardec.good("compare", "--db", "alone.sqlite")
    assert "networks: " not in one
    assert "several" not in one


def test_a_run_is_not_resumed_on_another_network(pardec, together, arms, b):
    order, db, _ = together
    check_refused(
        run(pardec, db, "--model", b, *arms, "--order", order, "--runs", 1, "--resume"),
        "model hash",
    )


class Plans:
    """The plans of three arms on two networks, in both orders, and the arms."""

    def __init__(self, pardec, a, b):
        self.arms = (
            "--arm", f"a=ar,model={a}", "--arm", f"b=ar,model={b}", "--arm",
            f"look=prompt-lookup,model={b}", "--dry-run",
        )
        self.both = run(pardec, "no.sqlite", *self.arms).stdout
        self.one = run(pardec, "no.sqlite", *self.arms, "--order", "blocked").stdout
        self.sizes = [
            float(text.split("weights ")[1].replace("of 2 networks ", "").split(" MB")[0])
            for text in (self.both, self.one)
        ]


@pytest.fixture(scope="module")
def plans(pardec, a, b):
    return Plans(pardec, a, b)


def test_a_plan_counts_each_of_two_equal_networks_once(plans):
    assert "weights of 2 networks" in plans.both
    assert "weights of" not in plans.one
    assert abs(plans.sizes[0] - 2 * plans.sizes[1]) < 0.2


def test_networks_that_do_not_fit_together_fit_one_at_a_time(pardec, plans):
    limit = f"{160 + 1.05 * 1.5 * plans.sizes[1]:.0f}M"
    refused = run(pardec, "no.sqlite", *plans.arms, "--memory-limit", limit)
    check_refused(
        refused, "of 2 networks", "--order blocked holds the networks of one arm at a time"
    )
    ran_well(pardec, "no.sqlite", *plans.arms, "--memory-limit", limit, "--order", "blocked")


@pytest.fixture(scope="module")
def drafts(pardec, a, b):
    """A run whose arms have drafts of their own."""
    return ran_well(
        pardec, "drafts.sqlite", "--model", a, "--arm", "ar=ar", "--arm",
        f"s1=speculative,draft={b}", "--arm", f"self=speculative,draft={a}", "--arm",
        f"s2=speculative,model={b}", "--draft-model", a,
    )


def test_the_database_names_each_arms_draft(drafts, a, b):
    assert by_label(drafts, "draft_model_id") == {"s1": str(b), "self": str(a), "s2": str(a)}


def test_speculation_on_one_network_writes_the_ids_of_ar_whoever_drafts(drafts):
    same = {
        row["label"]: row["same"]
        for row in query(
            drafts,
            "SELECT label, sum(identical) AS same FROM run JOIN generation ON run_id = run.id GROUP"
            " BY label",
        )
    }
    count = len({row["key"] for row in query(drafts, "SELECT key FROM sample")})
    assert same["s1"] == same["self"] == count > same["s2"]


def test_a_network_accepts_all_of_its_own_drafts(drafts):
    accepted = query(
        drafts,
        "SELECT acceptance FROM run JOIN job ON run_id = run.id WHERE acceptance IS NOT NULL AND"
        " label = 'self'",
    )
    for row in accepted:
        own = json.loads(row["acceptance"])
        assert own["drafted"] == own["accepted"]
    assert accepted


def test_a_draft_of_another_tokenizer_is_refused(pardec, a, other):
    check_refused(
        run(pardec, "no.sqlite", "--model", a, "--arm", f"s=speculative,draft={other}"),
        "another vocabulary",
    )


def test_a_draft_network_that_no_arm_uses_is_refused(pardec, a, b):
    check_refused(
        run(
            pardec, "no.sqlite", "--model", a, "--arm", f"s=speculative,draft={b}", "--draft-model",
            a,
        ),
        "--draft-model",
    )


@pytest.fixture(scope="module")
def foreign(pardec, a, other):
    """A run of two arms with different tokenizers."""
    return ran_well(
        pardec, "other.sqlite", "--model", a, "--arm", "ar=ar,ask=separately", "--arm",
        f"o=ar,ask=separately,model={other}", "--dataset", "oa-mine", "--baseline", "ar", "--limit",
        2,
    )


def test_answers_of_another_tokenizer_are_compared_as_texts(pardec, foreign):
    """And not id by id; a warning says so."""
    table = json.loads(pardec.good("compare", "--db", foreign, "--format", "json"))
    codes = [(warning["arm"], warning["code"]) for warning in table["warnings"]]
    assert ("o", "other_tokenizer") in codes
    assert ("ar", "other_tokenizer") not in codes
    row = next(row for row in table["rows"] if row["arm"] == "o")
    assert row["identical"] is not None
    assert row.get("em") is None
    for found in query(
        foreign,
        "SELECT identical, first_difference, gap_at_difference FROM generation JOIN run ON run.id ="
        " run_id WHERE label = 'o'",
    ):
        assert found["identical"] is not None
        assert found["first_difference"] is None
        assert found["gap_at_difference"] is None


def test_ids_of_another_tokenizer_are_not_forced(pardec, foreign, other):
    recorded = query(foreign, "SELECT uuid FROM run WHERE label = 'ar'")[0]["uuid"]
    forced = run(
        pardec, foreign, "--arm", f"ar=ar,ask=separately,model={other}", "--dataset", "oa-mine",
        "--oracle", f"recorded:{recorded}",
    )
    check_refused(forced, "another tokenizer")


def train(pardec, out, *flags):
    pardec.good(
        "train", "--model", QUICKSTART, "--dataset", "oa-mine", "--limit", 12, "--batch-tokens",
        512, "--progress", "none", "--out", out, *flags,
    )
    return out


@pytest.fixture(scope="module")
def adapter(pardec):
    """An adapter over the quickstart's network."""
    return train(pardec, pardec.folder / "adapter", "--lora-rank", 4, "--steps", 6, "--lr", 0.02)


@pytest.fixture(scope="module")
def merged(pardec, adapter):
    """What `model merge` makes of the two."""
    folder = pardec.folder / "merged"
    pardec.good("model", "merge", QUICKSTART, "--adapter", adapter, "--out", folder)
    return folder


@pytest.fixture(scope="module")
def adapted(pardec, adapter, merged):
    """A run of arms with the adapter and of one on the merged network, in the type that both are
    rounded to.
    """
    return ran_well(
        pardec, "adapters.sqlite", "--model", QUICKSTART, "--arm", "ar=ar", "--arm",
        f"ad=ar,adapter={adapter}", "--arm", f"look=prompt-lookup,adapter={adapter}", "--arm",
        f"me=ar,model={merged}", "--dataset", "oa-mine", "--limit", 3, "--max-new-tokens", 48,
        "--dtype", "bf16",
    )


def test_an_adapters_answers_are_those_of_the_merged_network(adapted, adapter, merged):
    assert by_label(adapted) == {
        "ar": str(QUICKSTART),
        "ad": str(adapter),
        "look": str(adapter),
        "me": str(merged),
    }
    text = texts(adapted, "ar", "ad", "look", "me")
    assert text["ad"] == text["me"] == text["look"] != text["ar"]
    assert baselines(adapted) == {"ar": None, "ad": "ar", "look": "ad", "me": "ar"}
    assert len({row["hash"] for row in query(adapted, "SELECT hash FROM model")}) == 3


def test_generate_with_an_adapter_answers_as_the_merged_network(pardec, adapter, merged):
    calls = {
        "base": ["--model", QUICKSTART],
        "over": ["--model", QUICKSTART, "--adapter", adapter],
        "merged": ["--model", merged],
    }
    said = {
        name: pardec.good(
            "generate", "--decoder", "ar", "--prompt", "Dark roast ground coffee",
            "--max-new-tokens", 12, *flags,
        )
        for name, flags in calls.items()
    }
    assert said["over"] == said["merged"] != said["base"]


def test_an_adapter_of_the_whole_run_is_that_of_arms_without_a_network(pardec, adapter):
    db = ran_well(
        pardec, "whole.sqlite", "--model", QUICKSTART, "--adapter", adapter, "--arm", "ar=ar",
        "--arm", f"base=ar,model={QUICKSTART}", "--limit", 2,
    )
    assert by_label(db) == {"ar": str(adapter), "base": str(QUICKSTART)}


def test_an_adapters_network_has_a_size(pardec, adapted):
    (pardec.folder / "machine.json").write_text(
        json.dumps({"name": "a machine", "bandwidth_gb_s": 30, "tflop_s": {"fp32": 1, "bf16": 1}})
    )
    rows = json.loads(
        pardec.good("compare", "--db", adapted, "--hardware", "machine.json", "--format", "json")
    )["rows"]
    assert all(row["roofline_share"] and row["roofline_share"] > 0 for row in rows), rows


def test_a_plan_names_an_adapter(pardec, adapter):
    planned = run(
        pardec, "no.sqlite", "--model", QUICKSTART, "--arm", "ar=ar", "--arm",
        f"ad=ar,adapter={adapter}", "--dry-run",
    ).stdout
    assert "weights of 2 networks" in planned
    assert f"with adapter {adapter}" in planned


def test_an_adapter_without_texts_has_those_of_the_network_and_its_own_tokens(pardec):
    """It still says on which tokens it was trained."""
    bare = train(
        pardec, pardec.folder / "bare", "--lora-rank", 4, "--format", "ar,space", "--mask-token", 3,
        "--steps", 1,
    )
    for file in bare.iterdir():
        if file.is_file() and file.name not in (
            "training.json", "adapter_config.json", "adapter_model.safetensors",
        ):
            file.unlink()
    db = ran_well(
        pardec, "bare.sqlite", "--model", QUICKSTART, "--arm", f"ar=ar,adapter={bare}", "--arm",
        f"mask=space,adapter={bare}", "--dataset", "oa-mine", "--limit", 2, "--max-new-tokens", 16,
    )
    rows = {
        row["label"]: json.loads(row["options"])
        for row in query(db, "SELECT label, options FROM run")
    }
    assert str(rows["mask"]["mask_token"]) == "3"


def test_an_adapter_that_does_not_exist_is_refused(pardec):
    check_refused(
        run(pardec, "no.sqlite", "--model", QUICKSTART, "--arm", "ad=ar,adapter=nowhere"), "nowhere"
    )


@pytest.fixture(scope="module")
def heads(pardec):
    """Extra heads in a folder of their own."""
    return train(
        pardec, pardec.folder / "heads", "--medusa-heads", 2, "--medusa-share-head", "--steps", 4
    )


@pytest.fixture(scope="module")
def with_heads(heads):
    """The arguments of a run with and without heads."""
    return (
        "--model", QUICKSTART, "--arm", "plain=ar", "--arm", f"ar=ar,adapter={heads}", "--arm",
        f"me=medusa,adapter={heads}", "--dataset", "oa-mine", "--limit", 3, "--max-new-tokens", 48,
    )


def test_extra_heads_change_no_answer_and_save_passes(pardec, heads, with_heads):
    db = ran_well(pardec, "heads.sqlite", *with_heads)
    assert by_label(db) == {"plain": str(QUICKSTART), "ar": str(heads), "me": str(heads)}
    text = texts(db, "plain", "ar", "me")
    assert text["plain"] == text["ar"] == text["me"]
    assert baselines(db) == {"plain": None, "ar": "plain", "me": "ar"}
    passes = {
        row["label"]: row["n"]
        for row in query(
            db,
            "SELECT sum(forwards) AS n, label FROM job JOIN run ON run.id = run_id GROUP BY label",
        )
    }
    assert passes["me"] < passes["ar"] == passes["plain"]


def test_a_plan_names_extra_heads(pardec, with_heads):
    planned = run(pardec, "no.sqlite", *with_heads, "--dry-run").stdout
    assert "weights of 2 networks" in planned
    assert "with extra heads of" in planned
    assert "2 of 2 extra heads" in planned


def test_a_checkpoints_own_wording_is_for_the_arms_on_it(pardec, a, tmp_path):
    own = tmp_path / "worded"
    shutil.copytree(a, own)
    (own / "prompts").mkdir()
    (own / "prompts" / "attributes.txt").write_text("[context]\n{text}\n\n[field]\n{name}:\n")
    db = ran_well(
        pardec, "worded.sqlite", "--model", a, "--arm", "ar=ar", "--arm", f"own=ar,model={own}",
        "--dataset", "oa-mine", "--limit", 2,
    )
    hashes = {
        row["label"]: row["prompt_hash"] for row in query(db, "SELECT label, prompt_hash FROM run")
    }
    assert hashes["ar"] != hashes["own"]


def test_an_experiment_file_names_networks(pardec, a, b, tmp_path):
    file, db = tmp_path / "e.json", tmp_path / "e.sqlite"
    file.write_text(
        json.dumps(
            {
                "name": "two",
                "model": "base",
                "models": {"base": str(a), "mine": str(b)},
                "datasets": ["vicuna-bench"],
                "limit": 2,
                "max_new_tokens": 8,
                "decoders": [
                    {"name": "ar"},
                    {"label": "arB", "name": "ar", "model": "mine"},
                    {"label": "s", "name": "speculative", "draft": "mine"},
                ],
            }
        )
    )
    pardec.good("run", "-c", file, "--db", db, "--progress", "none")
    assert by_label(db) == {"ar": str(a), "arB": str(b), "s": str(a)}
    assert by_label(db, "draft_model_id") == {"s": str(b)}


@pytest.mark.parametrize(
    ("models", "said"),
    [([], "'models' is array"), ({"base": 3}, "'models': 'base' is 3")],
    ids=["array", "number"],
)
def test_networks_of_an_experiment_file_are_an_object_of_folders(pardec, tmp_path, models, said):
    file = tmp_path / "e.json"
    file.write_text(
        json.dumps(
            {
                "model": "base",
                "models": models,
                "datasets": ["oa-mine"],
                "decoders": [{"name": "ar"}],
            }
        )
    )
    check_refused(pardec("run", "-c", file, "--db", "no.sqlite"), said)


@pytest.mark.parametrize(
    ("arm", "said"),
    [
        ("x=ar,draft=A", "has no option 'draft'"),
        ("x=ar,model=", "model is empty"),
        ("x=ar,model=nowhere", "nowhere: does not exist"),
        ("x=speculative", "needs a draft network"),
    ],
)
def test_an_arm_with_a_wrong_network_is_refused(pardec, a, tmp_path, arm, said):
    db = tmp_path / "no.sqlite"
    check_refused(run(pardec, db, "--model", a, "--arm", "ar=ar", "--arm", arm), said)
    assert not db.exists()


def test_an_arm_without_a_network_is_refused(pardec, a):
    check_refused(
        run(pardec, "no.sqlite", "--arm", f"a=ar,model={a}", "--arm", "b=prompt-lookup"),
        "no model was named",
    )


def test_the_option_draft_of_prompt_lookup_is_a_number(pardec, a):
    ran_well(
        pardec, "lookup.sqlite", "--model", a, "--arm", "p=prompt-lookup,draft=3", "--limit", 2
    )
