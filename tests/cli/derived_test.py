"""Checkpoints made of others: the first layers as a draft, and tokens that a network gets;
transformers reads both.
"""

import dataclasses
import json
import shutil

import pytest
from transformers import AutoModelForCausalLM, PreTrainedTokenizerFast

from harness import ROOT, query
from reference import torch

QUICK = ROOT / "experiments" / "quickstart" / "model"
PROMPT = "Dark roast ground coffee, 12 oz bag"
GENERATE = ["generate", "--prompt", PROMPT, "--max-new-tokens", 16, "--format", "json"]
SPECULATE = [*GENERATE, "--model", QUICK, "--decoder", "speculative"]


def weights(folder):
    return AutoModelForCausalLM.from_pretrained(
        folder, dtype=torch.float32, attn_implementation="eager"
    ).eval()


# The first layers as a draft ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def draft(pardec):
    """The first two layers of the network."""
    pardec.good("model", "draft", QUICK, "--layers", 2, "--out", "draft")
    return pardec.folder / "draft"


def test_a_draft_has_the_weights_and_logits_of_the_first_layers(draft):
    whole, part = weights(QUICK), weights(draft)
    assert part.config.num_hidden_layers == 2
    theirs = whole.state_dict()
    for name, tensor in part.state_dict().items():
        assert torch.equal(theirs[name], tensor), name
    ids = torch.tensor([[5, 9, 200, 31]])
    whole.model.layers = whole.model.layers[:2]
    with torch.inference_mode():
        want = whole(ids, use_cache=False).logits
        assert torch.equal(part(ids, use_cache=False).logits, want)


def test_speculation_with_the_draft_writes_the_same_ids(pardec, draft):
    plain = json.loads(pardec.good(*GENERATE, "--model", QUICK, "--decoder", "ar"))
    drafted = json.loads(pardec.good(*SPECULATE, "--draft-model", draft))
    assert drafted["tokens"] == plain["tokens"]


@pytest.mark.parametrize(
    "layers, out, said",
    [(0, "none", "--layers"), (99, "none", "expected 1 to"), (2, "draft", "holds a model")],
)
def test_a_draft_that_cannot_be_made_is_refused(pardec, draft, layers, out, said):
    ran = pardec("model", "draft", QUICK, "--layers", layers, "--out", out)
    assert ran.returncode == 2
    assert said in ran.stderr


# An adapter over the first layers drafts by itself as the network does that it is merged into -----


@pytest.fixture(scope="module")
def adapter(pardec, draft):
    pardec.good(
        "train", "--model", draft, "--dataset", "oa-mine", "--format", "ar", "--steps", 3,
        "--batch-tokens", 512, "--lora-rank", 4, "--lr", 0.05, "--warmup", 0, "--validation", 0,
        "--save-every", 3, "--out", "adapter", "--progress", "none",
    )
    return pardec.folder / "adapter"


@pytest.fixture(scope="module")
def merged(pardec, draft, adapter):
    pardec.good("model", "merge", draft, "--adapter", adapter, "--out", "merged")
    return pardec.folder / "merged"


def drafted(pardec, folder):
    """(ids, what was drafted for them)"""
    answer = json.loads(pardec.good(*SPECULATE, "--draft-model", folder, "--trace", "d.jsonl"))
    lines = (pardec.folder / "d.jsonl").read_text().splitlines()
    passes = [json.loads(line) for line in lines]
    return answer["tokens"], [t["predicts"] for t in passes if t.get("model") == "draft"]


def test_an_adapter_drafts_as_what_it_is_merged_into(pardec, adapter, merged):
    of_adapter = drafted(pardec, adapter)
    assert of_adapter == drafted(pardec, merged)
    assert of_adapter[1]


def test_an_adapter_changes_what_is_drafted_and_not_what_is_written(pardec, draft, adapter):
    plain, adapted = drafted(pardec, draft), drafted(pardec, adapter)
    assert adapted[0] == plain[0]
    assert adapted[1] != plain[1]


@pytest.fixture(scope="module")
def db(pardec, adapter, merged):
    """A run with both as drafts."""
    pardec.good(
        "run", "--model", QUICK, "--arm", "ar=ar", "--arm", f"a=speculative,draft={adapter}",
        "--arm", f"m=speculative,draft={merged}", "--dataset", "oa-mine", "--limit", 2,
        "--max-new-tokens", 16, "--db", "drafts.sqlite", "--progress", "none", "--hardware",
        "here,l40s", "--trace", "t.jsonl",
    )
    return pardec.folder / "drafts.sqlite"


def test_drafts_are_stored_with_their_shapes(db):
    rows = query(db, "SELECT label, shape FROM run JOIN model ON model.id = draft_model_id")
    shapes = {row["label"]: json.loads(row["shape"]) for row in rows}
    assert shapes["a"]["layers"] == shapes["m"]["layers"] == 2
    assert shapes["a"]["parameters"] == shapes["m"]["parameters"]


def test_as_many_guesses_of_an_adapter_are_accepted(db):
    jobs = query(
        db,
        "SELECT label, key, acceptance FROM job JOIN run ON run.id = run_id WHERE acceptance IS NOT"
        " NULL",
    )
    of = {"a": [], "m": []}
    for job in jobs:
        acceptance = json.loads(job["acceptance"])
        told = job["key"], acceptance["drafted"], acceptance["accepted"]
        of[job["label"]].append(told)
    assert sorted(of["a"]) == sorted(of["m"]) != []


def test_another_machine_allows_an_adapter_the_same_speedup(pardec, db):
    words = ["--db", db, "--trace", "t.jsonl", "--hardware", "l40s", "--format", "json"]
    rows = {row["arm"]: row for row in json.loads(pardec.good("compare", *words))["rows"]}
    assert rows["a"]["speedup_at_most_l40s"] is not None
    assert rows["a"]["speedup_at_most_l40s"] == rows["m"]["speedup_at_most_l40s"]


def test_an_adapter_over_more_layers_than_there_are_is_refused(pardec, adapter):
    pardec.good("model", "draft", QUICK, "--layers", 1, "--out", "one")
    words = ["--model", "one", "--decoder", "speculative", "--draft-model", adapter]
    ran = pardec(*GENERATE, *words)
    assert ran.returncode == 2
    assert "has 1 layer, expected 2 or more" in ran.stderr


def test_the_adapter_of_a_draft_is_none_of_the_whole_network(pardec, adapter):
    ran = pardec(*GENERATE, "--model", QUICK, "--adapter", adapter, "--decoder", "ar")
    assert ran.returncode == 2
    assert "is of a network of 2 layers" in ran.stderr
    assert "--draft-model" in ran.stderr


def test_an_adapter_without_its_weights_is_refused(pardec, adapter, tmp_path):
    shutil.copytree(adapter, tmp_path / "adapter")
    (tmp_path / "adapter" / "adapter_model.safetensors").unlink()
    ran = pardec(*SPECULATE, "--draft-model", tmp_path / "adapter")
    assert ran.returncode == 2
    assert "adapter_model.safetensors" in ran.stderr


# New tokens --------------------------------------------------------------------------------------


@dataclasses.dataclass
class Grown:
    """A network before and after it got tokens: folders, tokenizers, the new names, the special
    token that was renamed.
    """

    base: object
    out: object
    before: object
    after: object
    named: list
    special: str
    said: str

    @property
    def new(self):
        """The ids of the new tokens."""
        return list(range(len(self.before), len(self.before) + len(self.named)))


@pytest.fixture(scope="module")
def config():
    return json.loads((QUICK / "config.json").read_text())


@pytest.fixture(scope="module")
def grown(pardec, config):
    """Three more tokens than there are rows."""
    base, out = QUICK, pardec.folder / "more"
    before = PreTrainedTokenizerFast(tokenizer_file=str(base / "tokenizer.json"))
    named = [f"[new {i}]" for i in range(config["vocab_size"] - len(before) + 3)]
    ends = config.get("eos_token_id"), config.get("bos_token_id")
    special = next(
        token
        for token in before.all_special_tokens + list(before.get_added_vocab())
        if before.convert_tokens_to_ids(token) not in ends
    )
    words = ["--tokens", ",".join(named), "--rename", f"{special}=[M]", "--out", out]
    ran = pardec("model", "add-tokens", base, *words)
    assert ran.returncode == 0, ran.stderr
    after = PreTrainedTokenizerFast(tokenizer_file=str(out / "tokenizer.json"))
    return Grown(base, out, before, after, named, special, ran.stderr)


def test_the_last_new_token_is_told(grown):
    assert grown.named[-1] in grown.said


def test_a_new_token_is_made_once(pardec, grown):
    out = pardec.folder / "twice"
    for words in (["--tokens", "[x],[x]"], ["--tokens", "[x]", "--rename", f"{grown.special}=[x]"]):
        ran = pardec("model", "add-tokens", grown.base, *words, "--out", out)
        assert ran.returncode == 2
        assert "'[x]' is made twice" in ran.stderr
        assert not out.exists()


def test_new_tokens_stand_after_the_others(grown):
    assert grown.after.convert_tokens_to_ids(grown.named) == grown.new


def test_a_renamed_token_keeps_its_id(grown):
    was = grown.before.convert_tokens_to_ids(grown.special)
    assert grown.after.convert_tokens_to_ids("[M]") == was
    assert grown.special not in grown.after.get_vocab()


def test_texts_are_cut_as_before_and_new_tokens_whole(grown):
    added = grown.after.convert_tokens_to_ids(["[M]", grown.named[0]])
    ids = grown.after(f"{PROMPT}[M]{grown.named[0]}").input_ids
    assert ids == grown.before(PROMPT).input_ids + added


def test_the_vocabulary_has_three_rows_more(pardec, grown, config):
    ours = json.loads(pardec.good("model", "inspect", grown.out, "--format", "json"))
    vocabulary = json.loads((QUICK / "tokenizer.json").read_text())["model"]["vocab"]
    assert ours["vocabulary"] == config["vocab_size"] + 3
    assert max(vocabulary.values()) < ours["vocabulary"]


@pytest.mark.parametrize("names", ["", "[A],,[B]", " "])
def test_a_token_without_a_name_is_refused(pardec, names):
    ran = pardec("model", "add-tokens", QUICK, "--tokens", names, "--out", "nameless")
    assert ran.returncode == 2 and "is no name of a token" in ran.stderr, ran.stderr
    assert not (pardec.folder / "nameless").exists()


def test_rows_are_drawn_for_all_ids_that_the_network_lacks(pardec, config, grown):
    """Of a tokenizer that had two ids more than the network has rows."""
    base, out, rows = pardec.folder / "short", pardec.folder / "long", config["vocab_size"]
    shutil.copytree(QUICK, base)
    tokenizer = json.loads((base / "tokenizer.json").read_text())
    like = tokenizer["added_tokens"][0]
    for number in range(len(grown.before), rows + 2):
        tokenizer["added_tokens"].append({**like, "id": number, "content": f"[id {number}]"})
    (base / "tokenizer.json").write_text(json.dumps(tokenizer))
    pardec.good("model", "add-tokens", base, "--tokens", "[last]", "--out", out)
    old, new = (weights(folder).get_input_embeddings().weight for folder in (QUICK, out))
    assert torch.equal(new[:rows], old)
    assert new.shape[0] == rows + 3
    for row in new[rows:]:
        assert 0.01 < float(row.std()) < 0.03


def test_old_rows_stay_and_new_ones_are_drawn(grown):
    old, new = weights(grown.base).state_dict(), weights(grown.out).state_dict()
    for name, tensor in new.items():
        was = old[name]
        if tensor.shape == was.shape and "embed" not in name and "lm_head" not in name:
            assert torch.equal(tensor, was), name
            continue
        assert torch.equal(tensor[: grown.new[0]], was[: grown.new[0]]), name
        fresh = tensor[grown.new[0] : grown.new[-1] + 1]
        assert 0.015 < float(fresh.std()) < 0.025, name
        assert abs(float(fresh.mean())) < 0.005, name


@pytest.mark.parametrize("which", ["base", "out"])
def test_both_networks_are_run(pardec, grown, which):
    folder = getattr(grown, which)
    words = ["--decoder", "ar", "--prompt", PROMPT, "--max-new-tokens", 1]
    assert pardec.good("generate", "--model", folder, *words)


@pytest.mark.parametrize(
    "flags, out, said",
    [
        (["--tokens", "END"], "none", "already"),
        (["--rename", "nothing=[X]"], "none", "no special token"),
        (["--rename", "END=[X]"], "none", "ends sequences"),
        (["--rename", "x"], "none", "OLD=NEW"),
        ([], "none", "--tokens"),
        (["--tokens", "[X]"], "more", "holds a model"),
    ],
    ids=["a token that is there", "no special token", "the end", "no pair", "nothing", "twice"],
)
def test_tokens_that_cannot_be_added_are_refused(pardec, grown, config, flags, out, said):
    end = grown.before.convert_ids_to_tokens(config["eos_token_id"])
    flags = [flag.replace("END", end) for flag in flags]
    ran = pardec("model", "add-tokens", grown.base, *flags, "--out", out)
    assert ran.returncode == 2
    assert said in ran.stderr
