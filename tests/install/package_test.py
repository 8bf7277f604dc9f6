"""`cpack -G DEB`: the packages hold what `cmake --install` installs, depend on the Debian packages
of what the program is linked to, and the unpacked program answers as the built one.
"""

import os
import re
import shutil

import pytest
from harness import ROOT, skip
from install_test import JOB, MODEL, cmake_of, run

TOOLS = ("dpkg-deb", "dpkg-shlibdeps", "dpkg-query", "file", "ldd")
MISSING = [tool for tool in TOOLS if not shutil.which(tool)]
if MISSING:
    skip(f"no package is made without {', '.join(MISSING)}")


def field(deb, name):
    return run("dpkg-deb", "--field", deb, name).stdout.strip()


def packages_of(program):
    """The Debian packages of the libraries that the program itself names; libtorch is in none."""
    needed = re.findall(r"NEEDED\s+(\S+)", run("objdump", "-p", program).stdout)
    places = dict(re.findall(r"(\S+) => (\S+)", run("ldd", program).stdout))
    found = {}
    for library in needed:
        place = os.path.realpath(places.get(library, ""))
        owner = run("dpkg-query", "--search", place)
        if owner.returncode:  # a merged /usr: packages name the other of the two paths
            owner = run("dpkg-query", "--search", re.sub("^/usr/lib", "/lib", place))
        found[library] = owner.stdout.split(":")[0] if owner.returncode == 0 else None
    return found


@pytest.fixture(scope="module")
def debs(build, tmp_path_factory):
    """The packages by their names; `unpacked` unpacks them beside."""
    folder = tmp_path_factory.mktemp("package") / "made"
    cpack = shutil.which("cpack", path=os.path.dirname(cmake_of(build)))
    made = run(
        cpack, "-G", "DEB", "--config", build / "CPackConfig.cmake", "-B", folder,
        "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=none",  # half of the time
    )
    assert made.returncode == 0, made.stdout + made.stderr
    debs = {field(deb, "Package"): deb for deb in folder.glob("*.deb")}
    assert set(debs) == {"pardec", "pardec-dev"}
    return debs


@pytest.fixture(scope="module")
def unpacked(debs):
    """The folder with the content of each package in a folder of its name."""
    folder = debs["pardec"].parents[1]
    for name, deb in debs.items():
        ran = run("dpkg-deb", "--extract", deb, folder / name)
        assert ran.returncode == 0, ran.stderr
    return folder


@pytest.fixture(scope="module")
def installed(unpacked):
    """The unpacked program."""
    return unpacked / "pardec" / "usr" / "bin" / "pardec"


def test_packages_have_the_projects_version_and_a_description(debs):
    version = re.search(r"project\(pardec VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
    for name, deb in debs.items():
        assert field(deb, "Version") == version, name
        assert "pardec" in field(deb, "Description"), name


def test_pardec_has_the_program_and_no_results_or_libraries(unpacked):
    root = unpacked / "pardec" / "usr"
    files = {str(file.relative_to(root)) for file in root.rglob("*") if file.is_file()}
    assert "bin/pardec" in files
    assert [name for name in files if name.endswith(".sqlite")] == []
    assert [name for name in files if name.startswith(("lib/", "include/"))] == []


def test_pardec_dev_has_the_headers_and_the_files_of_find_package(unpacked):
    assert (unpacked / "pardec-dev/usr/include/pardec/decoders/decoder.hpp").exists()
    assert list((unpacked / "pardec-dev").rglob("pardecConfig.cmake"))


def test_the_package_depends_on_what_the_program_is_linked_to(debs, installed):
    parts = field(debs["pardec"], "Depends").split(",")
    depends = {re.split(r"[ :]", part.strip())[0] for part in parts}
    owners = packages_of(installed)
    assert len(owners) > 5
    for library, owner in owners.items():
        own = re.match(r"lib(torch|c10|gomp)", library)
        assert owner in depends or (own and owner not in depends), f"{library} of {owner}"


def test_the_libraries_of_the_unpacked_program_are_found(installed):
    assert "not found" not in run("ldd", installed).stdout


@pytest.mark.parametrize(
    "flags",
    [
        ["generate", "--model", MODEL, "--decoder", "hpd", "--job", JOB],
        ["reproduce", "list"],
        ["list", "datasets"],
    ],
    ids=["generate", "reproduce", "list"],
)
def test_the_unpacked_program_answers_as_the_built_one(program, installed, flags):
    env = {**os.environ, "PARDEC_SHARE": str(installed.parents[1] / "share" / "pardec")}
    here, there = run(program("pardec"), *flags), run(installed, *flags, env=env)
    assert there.returncode == 0, there.stderr
    assert there.stdout
    assert there.stdout == here.stdout
