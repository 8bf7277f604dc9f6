"""The table says of answers that depart in bf16 whether their decoder is exact in fp32."""

import pytest

from harness import change

NOTE = "exact only in fp32: here attention is summed in another order"


@pytest.fixture(scope="module")
def model(pardec):
    return pardec.synthesise("random")


@pytest.mark.parametrize("dtype, noted", [("fp32", []), ("bf16", ["prompt-lookup"])])
def test_only_a_decoder_that_is_exact_in_fp32_is_said_to_be(pardec, model, dtype, noted):
    db = pardec.folder / f"{dtype}.sqlite"
    pardec.good(
        "run", "--model", model, "--decoder", "ar,prompt-lookup,hpd", "--dataset", "oa-mine",
        "--limit", 4, "--max-new-tokens", 8, "--set", "hpd.k_max=4", "--dtype", dtype, "--db", db,
        "--progress", "none",
    )
    change(
        db,
        "UPDATE generation SET identical = 0, first_difference = 0, gap_at_difference = 0.01 WHERE"
        " identical IS NOT NULL",
    )
    shown = pardec.good("compare", "--wide", "--db", db).splitlines()
    notes = [line for line in shown if "differ from the baseline's" in line]
    assert len(notes) == 2
    for line in notes:
        assert (NOTE in line) == any(arm in line for arm in noted), line
