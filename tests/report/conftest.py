"""What the tests of pages share with each other alone."""

import shutil

import pytest


@pytest.fixture(scope="session")
def browser():
    """The path of Chromium."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return shutil.which(name)
    pytest.skip("chromium is missing: the page was not opened")
