"""`cpack -G DEB`: the packages hold what `cmake --install` installs, depend on the Debian packages of what the program is linked to, and the unpacked
program answers as the built one.

Usage: package_test.py BUILD CPACK PROGRAM
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "cli"))
from harness import Checks

MODEL, JOB = (ROOT / "experiments" / "quickstart" / name for name in ("model", "job.json"))
TOOLS = ("dpkg-deb", "dpkg-shlibdeps", "dpkg-query", "file", "ldd")


def run(*command, env=None):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, env=env)


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


def whole(build, cpack, program, scratch):
    made = run(cpack, "-G", "DEB", "--config", build / "CPackConfig.cmake", "-B", scratch / "made")
    if not check(made.returncode == 0, f"cpack: {(made.stdout + made.stderr)[-900:]}"):
        return
    debs = {field(deb, "Package"): deb for deb in (scratch / "made").glob("*.deb")}
    if not check(set(debs) == {"pardec", "pardec-dev"}, f"packages: {debs}"):
        return
    version = re.search(r"project\(pardec VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
    for name, deb in debs.items():
        assert (field(deb, "Version") == version), (f"{name}: {run('dpkg-deb', '--field', deb).stdout}")
        assert ("pardec" in field(deb, "Description")), name
        unpacked = run("dpkg-deb", "--extract", deb, scratch / name)
        assert (unpacked.returncode == 0), (f"{name}: {unpacked.stderr}")
    root = scratch / "pardec" / "usr"
    files = {str(file.relative_to(root)) for file in root.rglob("*") if file.is_file()}
    # The program, and no results.
    assert ("bin/pardec" in files)
    assert (any(name.endswith(".sqlite") for name in files) is False)
    assert (not any(name.startswith(("lib/", "include/")) for name in files)), ("the libraries are in the other package")
    # Pardec-dev has the headers and find_package's files.
    assert ((scratch / "pardec-dev/usr/include/pardec/decoders/decoder.hpp").exists())
    assert (list((scratch / "pardec-dev").rglob("pardecConfig.cmake")))
    installed = root / "bin" / "pardec"
    depends = {re.split(r"[ :]", part.strip())[0] for part in field(debs["pardec"], "Depends").split(",")}
    owners = packages_of(installed)
    assert (len(owners) > 5), (f"it names libraries: {owners}")
    for library, owner in owners.items():
        own = re.match(r"lib(torch|c10|gomp)", library)
        assert (owner in depends or (own and owner not in depends)), (f"{library} of {owner} is in Depends: {depends}")
    assert ("not found" not in run("ldd", installed).stdout), (f"its libraries are found: {run('ldd', installed).stdout}")
    env = {**os.environ, "PARDEC_SHARE": str(root / "share" / "pardec")}
    for flags in (["generate", "--model", MODEL, "--decoder", "hpd", "--job", JOB], ["reproduce", "list"], ["list", "datasets"]):
        here, there = run(program, *flags), run(installed, *flags, env=env)
        assert (there.returncode == 0), (f"{flags}: {there.stderr or there.stdout}")
        assert (there.stdout), flags
        assert (there.stdout == here.stdout), flags


def main():
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        print(f"[skipped] no package is made without {', '.join(missing)}")
        return 77
    check = Checks()
    with tempfile.TemporaryDirectory() as scratch:
        whole(pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3], pathlib.Path(scratch))
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
