"""What is printed or written arrives, or the exit code says so: full disks, closed streams, links,
devices, pipes.
"""

import os
import pathlib
import shutil
import stat
import subprocess

import pytest
from harness import clean_environment, query

SHORT = ["--dataset", "oa-mine", "--limit", 2, "--max-new-tokens", 8, "--progress", "none"]
RUN = ["run", "--model", "model", "--decoder", "ar,hpd", *SHORT]
GENERATE = [
    "generate", "--model", "model", "--decoder", "ar", "--prompt", "Orm Mug", "--max-new-tokens", 8,
]
# A command of each verb that prints, and one of each way to print.
PRINTING = {
    "run": [*RUN, "--db", "other.sqlite"],
    "run --dry-run": [*RUN, "--dry-run"],
    "generate": GENERATE,
    "generate as json": [*GENERATE, "--format", "json"],
    "compare": ["compare", "--db", "r.sqlite"],
    "compare as json": ["compare", "--db", "r.sqlite", "--format", "json"],
    "compare --differences": ["compare", "--db", "r.sqlite", "--differences", 3],
    "score": ["score", "--db", "r.sqlite"],
    "report": ["report", "--db", "r.sqlite", "-o", "r.html"],
    "plot --script": [
        "plot", "--db", "r.sqlite", "--x", "batch_size", "--y", "tokens_per_forward", "--script",
    ],
    "roofline": ["roofline", "--trace", "t.jsonl", "--model", "model", "--hardware", "h100"],
    "data list": ["data", "list"],
    "model inspect": ["model", "inspect", "model"],
    "list": ["list", "decoders"],
    "doctor": ["doctor"],
    "--help": ["--help"],
    "run --help": ["run", "--help"],
    "--version": ["--version"],
}


@pytest.fixture(scope="module")
def db(pardec):
    """The database of a traced run of a network, which lies beside it."""
    pardec.synthesise("model")
    pardec.good(*RUN, "--db", "r.sqlite", "--trace", "t.jsonl")
    return pardec.folder / "r.sqlite"


# Streams -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", PRINTING.values(), ids=PRINTING)
def test_nothing_that_is_printed_gets_lost_with_exit_0(pardec, db, command):
    good = pardec(*command)
    assert good.returncode == 0, good.stderr
    assert good.stdout
    full = pardec.forked(pardec.arguments(command), clean_environment(), 300, "/dev/full")
    if full is None:
        with open("/dev/full", "w") as nowhere:
            full = subprocess.run(
                pardec.arguments(command), cwd=pardec.folder, stdout=nowhere,
                stderr=subprocess.PIPE, text=True, env=clean_environment(),
            )
    assert full.returncode == 1
    said = "pardec: what was printed could not all be written to stdout"
    assert full.stderr.splitlines()[-1].startswith(said)


@pytest.mark.parametrize("closed", [(1,), (0, 1), (2,), (0, 1, 2)], ids=str)
def test_a_closed_stream_is_no_place_to_print_to(pardec, db, tmp_path, closed):
    """And no file gets its number."""
    stored, trace = tmp_path / "closed.sqlite", tmp_path / "closed.jsonl"
    ran = subprocess.run(
        pardec.arguments(
            ["run", "--model", "model", "--decoder", "ar", *SHORT, "--db", stored, "--trace", trace]
        ),
        cwd=pardec.folder,
        env=clean_environment(),
        preexec_fn=lambda: [os.close(descriptor) for descriptor in closed],
    )
    assert ran.returncode == (1 if 1 in closed else 0)
    lines = trace.read_text().splitlines()
    assert lines
    assert all(line.startswith('{"request"') for line in lines), "the trace holds traces alone"
    assert query(stored, "SELECT count(*) AS n FROM generation")[0]["n"] == 2
    assert query(stored, "PRAGMA integrity_check")[0]["integrity_check"] == "ok"


# -o FILE: through links, into plain files alone, whole or not at all -----------------------------


@pytest.fixture(params=["report", "plot"])
def writer(request, db):
    """The words of a verb that writes a file, up to the file's name, and the ending of the name."""
    if request.param == "report":
        return ["report", "--db", db, "-o"], ".html"
    if not shutil.which("gnuplot"):
        pytest.skip("not done here: gnuplot is missing")
    return ["plot", "--db", db, "--x", "batch_size", "--y", "tokens_per_forward", "-o"], ".svg"


@pytest.mark.parametrize("mode", [None, 0o640], ids=["new", "old"])
def test_a_file_is_written_through_links_and_keeps_its_mode(pardec, writer, tmp_path, mode):
    words, end = writer
    plain, link, chain = (tmp_path / f"{name}{end}" for name in ("plain", "link", "chain"))
    if mode:
        plain.write_text("old")
        plain.chmod(mode)
    os.symlink(f"../{tmp_path.name}/plain{end}", link)
    os.symlink(link, chain)
    ran = pardec(*words, chain)
    assert ran.returncode == 0, ran.stderr
    assert link.is_symlink()
    assert chain.is_symlink()
    assert not plain.is_symlink()
    assert len(plain.read_text()) > 1000
    assert not mode or stat.S_IMODE(plain.stat().st_mode) == mode
    assert sorted(tmp_path.iterdir()) == sorted([plain, link, chain])


DEVICE = "is a device, pipe or socket"


def test_only_plain_files_are_written(pardec, writer, tmp_path):
    words, end = writer
    os.mkfifo(tmp_path / f"pipe{end}")
    os.symlink("/dev/full", tmp_path / f"full{end}")
    os.symlink(f"turn{end}", tmp_path / f"turn{end}")
    os.symlink("/dev/stdout", tmp_path / f"stdout{end}")
    (tmp_path / f"folder{end}").mkdir()
    before = {path: path.lstat().st_ino for path in tmp_path.iterdir()}
    kinds = [
        (f"pipe{end}", DEVICE),
        (f"full{end}", DEVICE),
        (f"stdout{end}", DEVICE),
        (f"folder{end}", "is a folder"),
        (f"turn{end}", "leads to itself"),
    ]
    if end == ".html":
        kinds += [("/dev/null", DEVICE), ("/dev/stdout", DEVICE), ("/dev/fd/1", DEVICE)]
    for name, said in kinds:
        ran = pardec(*words, tmp_path / name, timeout=60, start_new_session=True)
        assert ran.returncode == 1, name
        assert said in ran.stderr
        assert name in ran.stderr
        if "std" in name or "fd" in name:
            # Stdout may be a plain file, which is not one to rename over.
            file = tmp_path.parent / f"{tmp_path.name}-redirected"
            with open(file, "w") as redirected:
                ran = subprocess.run(
                    pardec.arguments([*words, tmp_path / name]), stdout=redirected,
                    stderr=subprocess.PIPE, text=True, timeout=60, env=clean_environment(),
                    cwd=pardec.folder,
                )
            file.unlink()
            assert ran.returncode == 1, name
            assert said in ran.stderr
            assert name in ran.stderr
    assert {path: path.lstat().st_ino for path in tmp_path.iterdir()} == before
    assert pathlib.Path("/dev/null").is_char_device()


def test_a_pipe_of_the_temporary_files_name_is_not_written_to(pardec, writer, tmp_path):
    """A run that was killed while it wrote left it."""
    words, end = writer
    os.mkfifo(tmp_path / f"plain{end}.tmp")
    ran = pardec(*words, tmp_path / f"plain{end}", timeout=60)
    assert ran.returncode == 0, ran.stderr
    assert len((tmp_path / f"plain{end}").read_text()) > 1000
    assert not (tmp_path / f"plain{end}.tmp").exists()


ONE = ["run", "--model", "model", "--decoder", "ar", "--dataset", "oa-mine", "--limit", 1]


@pytest.mark.parametrize(
    "command",
    [
        ["report", "--db", "r.sqlite", "-o", "r.sqlite"],
        ["report", "--db", "r.sqlite", "-o", "r.sqlite-wal"],
        ["report", "--db", "r.sqlite", "-o", "LINK.html"],
        ["plot", "--db", "r.sqlite", "-o", "LINK.svg"],
        [*ONE, "--db", "r.sqlite", "--trace", "./r.sqlite"],
        [*ONE, "--db", "fresh.sqlite", "--trace", "FOLDER/fresh.sqlite"],
    ],
    ids=["report", "report on the log", "report by a link", "plot by a link", "trace", "fresh"],
)
def test_the_database_is_not_written_over(pardec, db, tmp_path, command):
    held = db.read_bytes()
    for end in ("html", "svg"):
        os.symlink(db, tmp_path / f"db.{end}")
    link, folder = str(tmp_path / "db"), str(pardec.folder)
    ran = pardec(*(str(a).replace("LINK", link).replace("FOLDER", folder) for a in command))
    assert ran.returncode == 2, ran.stderr
    assert "is the database" in ran.stderr
    assert db.read_bytes() == held
    assert not (pardec.folder / "fresh.sqlite").exists()
