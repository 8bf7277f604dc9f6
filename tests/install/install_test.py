"""`cmake --install`, then a project of its own that finds the libraries there: it builds and
answers as the program does.
"""

import os
import re
import subprocess

import pytest
from harness import ROOT

MODEL, JOB = (ROOT / "experiments" / "quickstart" / name for name in ("model", "job.json"))


def run(*command, env=None):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, env=env)


@pytest.fixture(scope="module")
def prefix(build, tmp_path_factory):
    """The folder that the build is installed in."""
    prefix = tmp_path_factory.mktemp("install") / "prefix"
    installed = run(cmake_of(build), "--install", build, "--prefix", prefix)
    assert installed.returncode == 0, installed.stderr
    return prefix


def cmake_of(build):
    """The cmake that configured the build."""
    cache = (build / "CMakeCache.txt").read_text()
    return re.search(r"^CMAKE_COMMAND:INTERNAL=(.*)$", cache, re.M)[1]


@pytest.fixture(scope="module")
def example(build, prefix):
    """The build of a project that finds pardec in that folder."""
    example, cmake = prefix.parent / "example", cmake_of(build)
    configured = run(
        cmake, "-S", ROOT / "tests" / "install" / "example", "-B", example, "-G", "Ninja",
        f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Release",
    )
    assert configured.returncode == 0, configured.stderr
    built = run(cmake, "--build", example)
    assert built.returncode == 0, built.stdout
    return example


@pytest.fixture(scope="module")
def environment(prefix):
    """What the installed program runs with: its own data."""
    return {**os.environ, "PARDEC_SHARE": str(prefix / "share" / "pardec")}


@pytest.fixture(scope="module")
def answered(example, environment):
    """What the example says of a job."""
    ran = run(example / "decode_job", MODEL, JOB, env=environment)
    assert ran.returncode == 0, ran.stderr
    return ran


def test_the_example_includes_nothing_of_the_sources(example):
    commands = (example / "build.ninja").read_text()
    assert str(ROOT / "src") not in commands.replace(str(ROOT / "tests"), "")


@pytest.mark.parametrize("decoder", ["hpd", "ar"])
def test_the_example_answers_as_the_installed_program(prefix, answered, environment, decoder):
    said = run(
        prefix / "bin" / "pardec", "generate", "--model", MODEL, "--decoder", decoder, "--job", JOB,
        env=environment,
    )
    assert said.returncode == 0, said.stderr
    assert said.stdout
    assert f"passes:\n{said.stdout}" in answered.stdout


def test_no_word_of_the_version_is_unknown(answered):
    assert "unknown" not in answered.stderr


def test_without_arguments_the_example_says_how_it_is_used(example):
    assert run(example / "decode_job").returncode == 2


def test_errors_are_exceptions(example, environment, tmp_path):
    missing = run(example / "decode_job", tmp_path, JOB, env=environment)
    assert missing.returncode == 1
    assert "config.json" in missing.stderr
