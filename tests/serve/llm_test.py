"""The unmodified `llm` command as a client: a prompt, and a schema that HPD fills."""

import json

import pytest
from clients import installed, run_page
from harness import ROOT
from server import serving

QUICKSTART = ROOT / "experiments" / "quickstart"


@pytest.fixture(scope="module")
def printed(pardec, tmp_path_factory):
    installed("llm", "llm")
    with serving(
        pardec, "--model", QUICKSTART / "model", "--draft-model", QUICKSTART / "draft", "--decoder",
        "ar,hpd,speculative",
    ) as server:
        return run_page("llm", "llm", server, tmp_path_factory.mktemp("llm"))


def test_a_prompt_is_answered_as_by_generate(pardec, printed):
    want = json.loads(
        pardec.good(
            "generate", "--model", QUICKSTART / "model", "--prompt", "Blue shoes for men",
            "--max-new-tokens", 20, "--format", "json",
        )
    )
    assert printed.startswith(want["text"] + "\n")


def test_a_schema_is_filled(printed):
    assert json.loads(printed.splitlines()[-1]) == {
        "Brand": "Pinafell",
        "Flavor": "Chai",
        "Specialty": "Organic",
    }
