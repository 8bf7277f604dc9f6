"""What is printed or written arrives, or the exit code says so: full disks, closed streams, links, devices, pipes.

Usage: output_test.py PROGRAM
"""
import os
import pathlib
import shutil
import stat
import subprocess
import sys

from harness import Checks, clean_environment, query, scratch


def printing(pardec, model, db):
    """A command of each verb that prints, and one of each way to print."""
    run = ["run", "--model", model, "--decoder", "ar,hpd", "--dataset", "oa-mine", "--limit", 2, "--max-new-tokens", 8, "--progress", "none"]
    yield run + ["--db", "other.sqlite"]
    yield run + ["--dry-run"]
    yield ["generate", "--model", model, "--decoder", "ar", "--prompt", "Orm Mug", "--max-new-tokens", 8]
    yield ["generate", "--model", model, "--decoder", "ar", "--prompt", "Orm Mug", "--max-new-tokens", 8, "--format", "json"]
    yield ["compare", "--db", db]
    yield ["compare", "--db", db, "--format", "json"]
    yield ["compare", "--db", db, "--differences", 3]
    yield ["score", "--db", db]
    yield ["report", "--db", db, "-o", "r.html"]
    yield ["plot", "--db", db, "--x", "batch_size", "--y", "tokens_per_forward", "--script"]
    yield ["roofline", "--trace", "t.jsonl", "--model", model, "--hardware", "h100"]
    yield ["data", "list"]
    yield ["model", "inspect", model]
    yield ["list", "decoders"]
    yield ["doctor"]
    yield ["--help"]
    yield ["run", "--help"]
    yield ["--version"]


def full(check, pardec, model, db):
    """Nothing that is printed gets lost with exit 0."""
    for command in printing(pardec, model, db):
        good = pardec(*command)
        if not check(good.returncode == 0 and good.stdout, f"{command}: exit {good.returncode}: {good.stderr}"):
            continue
        with open("/dev/full", "w") as nowhere:
            ran = subprocess.run(pardec.arguments(command), cwd=pardec.folder, stdout=nowhere, stderr=subprocess.PIPE, text=True, env=clean_environment())
        check(ran.returncode == 1 and ran.stderr.splitlines()[-1].startswith("pardec: what was printed could not all be written to stdout"),
              f"{command} > a full disk: exit {ran.returncode}: {ran.stderr}")
    # A closed stdout is no place to print to, and no file gets its number.
    command = pardec.arguments(["run", "--model", model, "--decoder", "ar", "--dataset", "oa-mine", "--limit", 2, "--max-new-tokens", 8, "--progress", "none", "--db",
                                "closed.sqlite", "--trace", "closed.jsonl"])
    for closed in ((1,), (0, 1), (2,), (0, 1, 2)):
        ran = subprocess.run(command, cwd=pardec.folder, env=clean_environment(), preexec_fn=lambda: [os.close(fd) for fd in closed])
        check(ran.returncode == (1 if 1 in closed else 0), f"streams {closed} are closed: exit {ran.returncode}")
        check(all(line.startswith('{"request"') for line in (pardec.folder / "closed.jsonl").read_text().splitlines()), f"streams {closed} are closed: the trace holds traces alone")
    check(query(pardec.folder / "closed.sqlite", "SELECT count(*) AS n FROM generation")[0]["n"] == 8 and
          query(pardec.folder / "closed.sqlite", "PRAGMA integrity_check")[0]["integrity_check"] == "ok", "the database is whole")


def files(check, pardec, db):
    """-o FILE: through links, into plain files alone, whole or not at all."""
    folder = pardec.folder / "out"
    folder.mkdir()
    writers = [["report", "--db", db, "-o"]]
    if shutil.which("gnuplot"):
        writers.append(["plot", "--db", db, "--x", "batch_size", "--y", "tokens_per_forward", "-o"])
    for writer in writers:
        end = ".html" if writer[0] == "report" else ".svg"
        plain, link, chain = (folder / f"{name}{end}" for name in ("plain", "link", "chain"))
        for old in (None, 0o640):
            if old:
                plain.write_text("old")
                plain.chmod(old)
            for path in (plain, link, chain):
                path.unlink(missing_ok=True) if path != plain else None
            os.symlink(f"../out/plain{end}", link)
            os.symlink(link, chain)
            ran = pardec(*writer, chain)
            check(ran.returncode == 0 and link.is_symlink() and chain.is_symlink() and not plain.is_symlink() and len(plain.read_text()) > 1000,
                  f"{writer[0]} through links: exit {ran.returncode}: {ran.stderr}")
            check(not old or stat.S_IMODE(plain.stat().st_mode) == old, f"{writer[0]}: a file keeps its mode")
            check(not [p for p in folder.iterdir() if p.suffix == ".tmp"], f"{writer[0]}: nothing is left beside")
        os.mkfifo(folder / f"pipe{end}")
        os.symlink("/dev/full", folder / f"full{end}")
        os.symlink(f"turn{end}", folder / f"turn{end}")
        os.symlink("/dev/stdout", folder / f"stdout{end}")
        (folder / f"folder{end}").mkdir()
        before = {p: p.lstat().st_ino for p in folder.iterdir()}
        kinds = [(f"pipe{end}", "is a device, pipe or socket"), (f"full{end}", "is a device, pipe or socket"), (f"stdout{end}", "is a device, pipe or socket"),
                 (f"folder{end}", "is a folder"), (f"turn{end}", "leads to itself")]
        if writer[0] == "report":
            kinds += [("/dev/null", "is a device, pipe or socket"), ("/dev/stdout", "is a device, pipe or socket"), ("/dev/fd/1", "is a device, pipe or socket")]
        for name, said in kinds:
            # A link to stdout may lead to a plain file, which is not one to rename over.
            for to in (subprocess.PIPE, open(folder / "redirected", "w")) if "std" in name or "fd" in name else (subprocess.PIPE,):
                ran = subprocess.run(pardec.arguments([*writer, folder / name]), stdout=to, stderr=subprocess.PIPE, text=True, timeout=60, env=clean_environment(),
                                     cwd=pardec.folder)
                check(ran.returncode == 1 and said in ran.stderr and name in ran.stderr, f"{writer[0]} -o {name}: exit {ran.returncode}: {ran.stderr}")
        (folder / "redirected").unlink(missing_ok=True)
        check({p: p.lstat().st_ino for p in folder.iterdir()} == before and pathlib.Path("/dev/null").is_char_device(), f"{writer[0]}: what is refused stays as it was")
        # A run that was killed while it wrote left this behind; it is no place to write to.
        os.mkfifo(folder / f"plain{end}.tmp")
        ran = pardec(*writer, plain, timeout=60)
        check(ran.returncode == 0 and len(plain.read_text()) > 1000, f"{writer[0]}: a pipe of the temporary file's name: {ran.stderr}")
        check(not (folder / f"plain{end}.tmp").exists(), f"{writer[0]}: it is gone")
    held = db.read_bytes()
    os.symlink(db, folder / "db.svg")
    os.symlink(db, folder / "db.html")
    refused = [["report", "--db", db, "-o", db.name], ["report", "--db", db, "-o", f"{db.name}-wal"], ["report", "--db", db, "-o", folder / "db.html"],
               ["plot", "--db", db, "-o", folder / "db.svg"],
               ["run", "--model", "model", "--decoder", "ar", "--dataset", "oa-mine", "--limit", 1, "--db", db, "--trace", f"./{db.name}"],
               ["run", "--model", "model", "--decoder", "ar", "--dataset", "oa-mine", "--limit", 1, "--db", "fresh.sqlite", "--trace", pardec.folder / "fresh.sqlite"]]
    for command in refused:
        ran = pardec(*command)
        check(ran.returncode == 2 and "is the database" in ran.stderr and db.read_bytes() == held, f"{command}: exit {ran.returncode}: {ran.stderr}")
    check(not (pardec.folder / "fresh.sqlite").exists(), "a refused run makes no database")


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        model = pardec.synthesise("model")
        db = pardec.folder / "r.sqlite"
        pardec.good("run", "--model", model, "--decoder", "ar,hpd", "--dataset", "oa-mine", "--limit", 2, "--max-new-tokens", 8, "--db", db, "--trace", "t.jsonl",
                    "--progress", "none")
        full(check, pardec, model, db)
        files(check, pardec, db)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
