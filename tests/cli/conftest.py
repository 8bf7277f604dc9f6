"""Fixtures of the tests of the command line."""

import pytest


@pytest.fixture(scope="module")
def model(pardec):
    """A network of one layer, for tests that need answers and no particular network."""
    return pardec.synthesise(
        "model", hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=1,
    )
