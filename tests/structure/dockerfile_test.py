"""scripts/Dockerfile, which is built nowhere in CI, takes the steps of scripts/setup and
scripts/demo: as far as its text tells.
"""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts"


def stages(text):
    """Of each stage its image and its instructions, lines joined."""
    lines = re.sub(r"\\\n", " ", re.sub(r"(?m)^#.*\n", "", text)).splitlines()
    found = []
    for line in filter(None, map(str.strip, lines)):
        word, rest = line.split(maxsplit=1)
        if word == "FROM":
            found.append((rest.split()[0], []))
        else:
            found[-1][1].append((word, rest))
    return found


def faults(text, setup, demo, package, readme):
    """What the Dockerfile does otherwise."""
    images = stages(text)
    debian = re.search(r"fresh Debian (\d+)", readme)[1]
    yield from (
        f"image {image}, README has Debian {debian}"
        for image, _ in images
        if image != f"debian:{debian}"
    )
    if len(images) != 2:
        yield f"{len(images)} stages, expected one that builds and one that runs"
        return
    (_, build), (_, run) = images
    commands = [rest for word, rest in build if word == "RUN"]
    usage = "".join(line for line in setup.splitlines(True) if line.startswith("#"))
    calls = [command for command in commands if "scripts/setup" in command]
    if len(calls) != 1:
        yield "scripts/setup is called once"
    for command in commands:
        if re.search(r"\b(apt-get|apt|pip|curl|wget)\b", command):
            yield f"'{command}' installs what scripts/setup does not"
    for name in re.findall(r"(?<!\$)\b(PARDEC_\w+)=|(--[a-z]+)", " ".join(calls)):
        if not any(part and part in usage for part in name):
            yield f"scripts/setup has no {''.join(name)}"
    for word, rest in build:
        if word == "ARG" and rest.split("=")[0] not in usage:
            yield f"scripts/setup reads no {rest}"
    steps = [line.split(">")[0].strip() for line in demo.splitlines() if line.startswith("cmake ")]
    if [command for command in commands if command.startswith("cmake ")] != steps:
        yield f"it does not build as scripts/demo: {steps}"
    if not any("cpack -G DEB" in command for command in commands):
        yield "no package is made"
    installed = [
        word
        for _, rest in run
        for part in re.findall(r"apt-get install ([^&]*)", rest)
        for word in part.split()
        if not word.startswith("-")
    ]
    recommended = re.search(r'PACKAGE_RECOMMENDS "([^"]*)"', package)[1].split(", ")
    if sorted(word for word in installed if not word.endswith(".deb")) != sorted(recommended):
        yield (
            f"{installed} are installed where it runs, expected the package and what it recommends:"
            f" {recommended}"
        )
    if not any(word.endswith(".deb") for word in installed):
        yield "the package is not installed"


TEXT, *OTHERS = (
    (SCRIPTS / name).read_text(encoding="utf-8") for name in ("Dockerfile", "setup", "demo")
)
OTHERS += [
    (ROOT / name).read_text(encoding="utf-8") for name in ("src/cmake/package.cmake", "README.md")
]


def test_the_dockerfile_takes_the_steps_of_setup_and_demo():
    assert list(faults(TEXT, *OTHERS)) == []


@pytest.mark.parametrize(
    "old, new",
    [
        ("FROM debian:12 AS", "FROM debian:11 AS"),
        ("scripts/setup --package", "apt-get install g++"),
        ("--package", "--everything"),
        ("cmake --build --preset release", "cmake --build build"),
        ("cpack -G DEB", "cpack"),
        ("gnuplot-nox", "gnuplot"),
        ("PARDEC_TORCH_INDEX", "PARDEC_INDEX"),
    ],
)
def test_another_step_is_seen(old, new):
    assert old in TEXT
    assert list(faults(TEXT.replace(old, new), *OTHERS))
