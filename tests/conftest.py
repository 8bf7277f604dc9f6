"""What all tests of pytest share: the programs of the build, a scratch folder, and how a skip is
shown.

`--build DIR` is the folder of the build; by default build/release.
"""

import gc
import os
import pathlib
import shutil
import tempfile

import pytest

pytest.register_assert_rewrite("harness", "cases", "pages", "browser")

from harness import DATA, ROOT, ModelDump, scratch  # noqa: E402

# Otherwise a fifth of the time is spent on looking through the objects of transformers for cycles.
gc.set_threshold(100_000, 50, 100)

CHECKS = pytest.StashKey[int]()


def pytest_addoption(parser):
    parser.addoption(
        "--build",
        type=pathlib.Path,
        default=ROOT / "build" / "release",
        help="folder of the build whose programs are tested",
    )
    parser.addoption(
        "--keep", type=pathlib.Path, help="folder to keep pages and screenshots in, to be looked at"
    )
    parser.addoption(
        "--model", type=pathlib.Path, help="folder of a network for cli/forced_test.py"
    )


@pytest.fixture(scope="session")
def build(request):
    """The folder of the build."""
    return request.config.getoption("--build").resolve()


@pytest.fixture(scope="session")
def program(build):
    """Finds a program of the build by its name: `program("model_dump")`."""

    def find(name):
        found = [file for file in (build / name, *build.glob(f"tests/*/{name}")) if file.is_file()]
        assert found, f"{build} has no program {name}; `cmake --build --preset release` builds it"
        return found[0]

    return find


@pytest.fixture(scope="session")
def loaded(program):
    """The program, which is loaded once; `pardec` calls it in another folder."""
    with scratch(program("pardec")) as pardec:
        yield pardec


@pytest.fixture(scope="module")
def pardec(loaded):
    """The program in a scratch folder that all tests of a file share."""
    with tempfile.TemporaryDirectory(prefix="pardec-cli-") as folder:
        yield loaded.at(folder)


@pytest.fixture
def pardec_alone(pardec, tmp_path):
    """The program in a scratch folder of one test."""
    return pardec.at(tmp_path)


@pytest.fixture(scope="session")
def model_dump(program):
    """Values that networks compute: `model_dump(folder, "fp32", cases)`."""
    dump = ModelDump(program("model_dump"))
    yield dump
    dump.end()


@pytest.fixture(scope="session")
def browser():
    """The path of Chromium."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return shutil.which(name)
    pytest.skip("chromium is missing: the page was not opened")


@pytest.fixture(scope="session")
def quickstart():
    """The small trained network of the quickstart."""
    return ROOT / "experiments" / "quickstart" / "model"


@pytest.fixture(scope="session")
def published():
    """The folder of a published dataset or tokenizer, by name; skips where the folder is
    missing.
    """

    def find(name):
        if not (DATA / name).exists():
            missing = f"{DATA / name} is missing"
            (pytest.fail if "PARDEC_TEST_DATA" in os.environ else pytest.skip)(missing)
        return DATA / name

    return find


def pytest_assertion_pass(item):
    """Counts asserts, with `-o enable_assertion_pass_hook=true` alone."""
    item.config.stash[CHECKS] = item.config.stash.get(CHECKS, 0) + 1


def pytest_terminal_summary(terminalreporter, config):
    """Says what was missing, in the words that ctest reads as a skip; a failure is never hidden."""
    if CHECKS in config.stash:
        terminalreporter.write_line(f"{config.stash[CHECKS]} checks")
    seen = terminalreporter.stats
    if not seen.get("failed") and not seen.get("error"):
        reasons = [report.longrepr[2] for report in seen.get("skipped", [])]
        for reason in dict.fromkeys(reason.removeprefix("Skipped: ") for reason in reasons):
            # What needs another machine, root say, is no fault of the set-up.
            prefix = "" if reason.startswith("not done here") else "[skipped] "
            terminalreporter.write_line(prefix + reason)


def pytest_sessionfinish(session, exitstatus):
    """77, ctest's code of a skip, where no test ran because of what is missing."""
    seen = session.config.pluginmanager.get_plugin("terminalreporter").stats
    empty = exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    if empty and seen.get("skipped") and not seen.get("passed"):
        session.exitstatus = 77
