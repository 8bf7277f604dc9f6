"""`pardec data fetch` against a server of the test's own: resume, redirect, wrong hash, refusals, full disk, no network.

Usage: fetch_test.py PROGRAM

Truth: the bytes that the server holds, and the requests that it saw. The program is pointed at it by --mirror.
"""
import contextlib
import gzip
import hashlib
import http.server
import io
import json
import os
import pathlib
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import threading
import time

from harness import DATA, SAMPLES, Checks, scratch

DIRECT = {"no_proxy": "*", "NO_PROXY": "*"}


class File:
    """What the server says to one path, request by request."""

    def __init__(self, content=b"", etag='"one"', modified=None, ranges=True, length=True, cut=(), status=(), headers=None, stall=None, lie=0):
        self.content, self.etag, self.modified, self.ranges, self.length = content, etag, modified, ranges, length
        self.cut = list(cut)  # how many bytes the next answers have before the line is cut
        self.status = list(status)  # of the next answers
        self.headers = headers or {}
        self.stall = stall  # bytes after which nothing comes
        self.lie = lie  # how far a partial answer begins beside what was asked for


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        server = self.server
        server.seen.append((self.path, dict(self.headers)))
        path = self.path.split("://", 1)[-1]
        path = path[path.index("/"):]  # of a request to a proxy: the whole address
        file = server.files.get(path)
        if file is None:
            file = File(b"not here", status=[404])
        status = file.status.pop(0) if file.status else 200
        content, first = file.content, 0
        asked = self.headers.get("Range")
        same = self.headers.get("If-Range") in (None, file.etag, file.modified)
        if status == 200 and asked and file.ranges and same:
            first = int(asked.removeprefix("bytes=").removesuffix("-")) + file.lie
            status = 206 if first < len(content) else 416
        self.send_response(status)
        body = content[first:] if status in (200, 206) else b"an answer that is no file"
        if status == 206:
            self.send_header("Content-Range", f"bytes {first}-{len(content) - 1}/{len(content)}")
        for name, value in (("ETag", file.etag), ("Last-Modified", file.modified), *file.headers.items()):
            if value:
                self.send_header(name, value)
        if file.length:
            self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        whole = len(body)
        if file.cut and status in (200, 206):
            whole = min(whole, file.cut.pop(0))
        if file.stall is not None:
            whole = min(whole, file.stall)
        with contextlib.suppress(OSError):
            self.wfile.write(body[:whole])
            self.wfile.flush()
            if file.stall is not None:
                server.release.wait(60)
            elif whole < len(body):
                self.connection.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def server():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http_server:
        http_server.daemon_threads = True
        http_server.files, http_server.seen, http_server.release = {}, [], threading.Event()
        http_server.address = f"http://127.0.0.1:{http_server.server_port}"
        thread = threading.Thread(target=http_server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield http_server
        finally:
            http_server.release.set()
            http_server.shutdown()
            thread.join()


def bytes_of(count, seed=1):
    """Bytes that no part of them resembles another."""
    return b"".join(hashlib.sha256(f"{seed} {i}".encode()).digest() for i in range(count // 32 + 1))[:count]


class Fetch:
    """Calls of `data fetch`, each into a folder of its own unless one is named."""

    def __init__(self, check, pardec, web):
        self.check, self.pardec, self.web, self.count = check, pardec, web, 0

    def root(self):
        self.count += 1
        return self.pardec.folder / f"root-{self.count}"

    def arguments(self, *names, root, extra=()):
        return ["data", "fetch", *names, "--data-root", root, "--mirror", self.web.address, "--progress", "none", "--format", "json", *extra]

    def __call__(self, *names, root, extra=(), env=DIRECT, **options):
        ran = self.pardec(*self.arguments(*names, root=root, extra=extra), env=env, **options)
        rows = {r["file"]: r for r in json.loads(ran.stdout)["rows"]} if ran.stdout else {}
        return ran, rows

    def good(self, *names, **options):
        ran, rows = self(*names, **options)
        self.check(ran.returncode == 0, f"{names}, {options}: exit {ran.returncode}: {ran.stderr}")
        return rows

    def bad(self, *names, pieces, **options):
        ran, rows = self(*names, **options)
        self.check(ran.returncode == 1 and all(p in ran.stderr for p in pieces), f"{names}, {options}: exit {ran.returncode}, expected {pieces}: {ran.stderr}")
        self.check(any(r["state"] == "FAILED" for r in rows.values()), f"{names}: the table says what failed: {rows}")
        return ran


def files_below(folder):
    return sorted(str(f.relative_to(folder)) for f in pathlib.Path(folder).rglob("*") if f.is_file())


def plain(check, fetch):
    """A file comes whole, stays, and is asked for anew only with --force."""
    content = (SAMPLES / "math500/test.jsonl").read_bytes()
    fetch.web.files["/math500/test.jsonl"] = File(content)
    root = fetch.root()
    rows = fetch.good("math500", root=root)
    check(rows["test.jsonl"]["state"] == "fetched" and rows["test.jsonl"]["bytes"] == len(content), f"fetched: {rows}")
    check(rows["test.jsonl"]["sha256"] == hashlib.sha256(content).hexdigest(), f"its hash: {rows}")
    check((root / "math500/test.jsonl").read_bytes() == content and files_below(root) == ["math500/test.jsonl"], f"what lies there: {files_below(root)}")
    check("User-Agent" in fetch.web.seen[-1][1] and "Range" not in fetch.web.seen[-1][1], "a whole file is asked for")
    before = len(fetch.web.seen)
    check(fetch.good("math500", root=root)["test.jsonl"]["state"] == "already there" and len(fetch.web.seen) == before, "what is there is not asked for")
    fetch.web.files["/math500/test.jsonl"] = File(content + b"\n")
    check(fetch.good("math500", root=root, extra=["--force"])["test.jsonl"]["state"] == "fetched", "--force asks again")
    check((root / "math500/test.jsonl").read_bytes() == content + b"\n", "--force replaces")
    check(fetch.pardec("data", "check", "--data-root", root).returncode == 0, "what came can be read")
    fetch.web.files["/math500/test.jsonl"] = File(b"")
    root = fetch.root()
    fetch.bad("math500", root=root, pieces=["math500/test.jsonl", "an empty answer came"])
    check(files_below(root) == [], f"an empty answer: {files_below(root)} stays")
    (root / "math500").mkdir(exist_ok=True)
    (root / "math500/test.jsonl").write_bytes(b"")
    fetch.web.files["/math500/test.jsonl"] = File(content)
    check(fetch.good("math500", root=root)["test.jsonl"]["state"] == "fetched", "an empty file is fetched anew")
    folder = fetch.root()
    (folder / "LongHealth").mkdir(parents=True)
    fetch.web.files["/longhealth/benchmark_v5.json"] = File((SAMPLES / "longhealth/benchmark_v5.json").read_bytes())
    fetch.good("longhealth", root=folder)
    check(files_below(folder) == ["LongHealth/benchmark_v5.json"], f"a folder that is there under its other name is used: {files_below(folder)}")


def packed(check, fetch):
    """gzip and tar are unpacked; a damaged archive leaves nothing half-made."""
    content = (SAMPLES / "humaneval-x/python.jsonl").read_bytes()
    fetch.web.files["/humaneval-x/humaneval_python.jsonl.gz"] = File(gzip.compress(content))
    root = fetch.root()
    fetch.good("humaneval-x", root=root)
    check(files_below(root) == ["humaneval-x/python.jsonl"] and (root / "humaneval-x/python.jsonl").read_bytes() == content, f"gzip: {files_below(root)}")
    fetch.web.files["/amazon-reviews/meta_Lamps.jsonl.gz"] = File(gzip.compress((SAMPLES / "amazon-reviews/meta_Lamps.jsonl").read_bytes()))
    fetch.good("amazon-reviews", root=root, extra=["--part", "Lamps"])
    check("amazon-reviews/meta_Lamps.jsonl" in files_below(root), f"a part: {files_below(root)}")

    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        for file in sorted((SAMPLES / "xsum/bbc-summary-data").iterdir()):
            tar.add(file, f"bbc-summary-data/{file.name}")
    split = SAMPLES / "xsum/XSum-TRAINING-DEV-TEST-SPLIT-90-5-5.json"
    fetch.web.files[f"/xsum/{split.name}"] = File(split.read_bytes())
    name = "/xsum/XSUM-EMNLP18-Summary-Data-Original.tar.gz"
    fetch.web.files[name] = File(archive.getvalue())
    fetch.good("xsum", root=root)
    check(files_below(root / "xsum") == files_below(SAMPLES / "xsum"), f"tar: {files_below(root / 'xsum')}")
    check(fetch.pardec("data", "check", "xsum", "--data-root", root).returncode == 0, "what was unpacked can be read")
    before = len(fetch.web.seen)
    rows = fetch.good("xsum", root=root)
    check(len(fetch.web.seen) == before and all(r["state"] == "already there" for r in rows.values()), f"an archive that was unpacked is there: {rows}")
    for damaged in (archive.getvalue()[:-200], b"no archive at all" * 100):
        fetch.web.files[name] = File(damaged)
        root = fetch.root()
        fetch.bad("xsum", root=root, pieces=["XSUM-EMNLP18", "by hand: download", "tar -xf"])
        check(not (root / "xsum/bbc-summary-data").exists() and not (root / "xsum/.unpacking").exists(), f"a damaged archive: {files_below(root)}")
        check(not (root / name[1:]).exists(), f"a damaged archive is thrown away: {files_below(root)}")
        fetch.web.files[name] = File(archive.getvalue())
        fetch.good("xsum", root=root)
    for empty in (b"", gzip.compress(b"")):
        fetch.web.files["/humaneval-x/humaneval_python.jsonl.gz"] = File(empty)
        root = fetch.root()
        fetch.bad("humaneval-x", root=root, pieces=["was deleted" if empty else "empty"])
        check(files_below(root) == [], f"an empty archive: {files_below(root)} stays")
    root = fetch.root()
    (root / "xsum").mkdir(parents=True)
    (root / "xsum" / pathlib.Path(name).name).write_bytes(archive.getvalue())
    before = len(fetch.web.seen)
    fetch.good("xsum", root=root)
    check(len(fetch.web.seen) == before + 1 and (root / "xsum/bbc-summary-data").is_dir(), "an archive that was put there by hand is unpacked, not fetched")


def resuming(check, fetch):
    """What was cut goes on where it stopped, and begins anew where the file changed."""
    content, other = bytes_of(300_000), bytes_of(310_000, seed=2)
    name = "/math500/test.jsonl"

    def asked():
        return [(h.get("Range"), h.get("If-Range")) for _, h in fetch.web.seen]

    def cut(root, **options):
        """A call that gets 100,000 bytes and is cut."""
        fetch.web.files[name] = File(content, cut=[100_000], **options)
        fetch.bad("math500", root=root, extra=["--retries", 0], pieces=["100000 bytes kept", "given up after 1 attempt"])
        check(files_below(root) == ["math500/test.jsonl.part", "math500/test.jsonl.part.json"], f"after a cut: {files_below(root)}")
        fetch.web.seen.clear()

    fetch.web.files[name] = File(content, cut=[100_000, 50_000])
    fetch.web.seen.clear()
    root = fetch.root()
    fetch.good("math500", root=root)
    check(asked() == [(None, None), ("bytes=100000-", '"one"'), ("bytes=150000-", '"one"')], f"one call goes on by itself: {asked()}")
    check((root / "math500/test.jsonl").read_bytes() == content and len(files_below(root)) == 1, "it comes whole")

    for what, before, after, now, wanted in (
            ("ETag", {}, {}, content, [("bytes=100000-", '"one"')]),
            ("date", {"etag": None, "modified": "Sat, 01 Jan 2022 00:00:00 GMT"}, {"etag": None, "modified": "Sat, 01 Jan 2022 00:00:00 GMT"}, content,
             [("bytes=100000-", "Sat, 01 Jan 2022 00:00:00 GMT")]),
            ("weak ETag", {"etag": 'W/"one"'}, {"etag": 'W/"one"'}, content, [("bytes=100000-", None)]),
            ("length alone", {"etag": None}, {"etag": None}, content, [("bytes=100000-", None)]),
            ("another ETag", {}, {"etag": '"two"'}, other, [("bytes=100000-", '"one"')]),
            ("another length", {"etag": None}, {"etag": None}, other, [("bytes=100000-", None), (None, None)]),
            ("a file that is shorter than the part", {"etag": None}, {"etag": None}, other[:5000], [("bytes=100000-", None), (None, None)]),
            ("a server without ranges", {}, {"ranges": False}, content, [("bytes=100000-", '"one"')])):
        root = fetch.root()
        cut(root, **before)
        fetch.web.files[name] = File(now, **after)
        rows = fetch.good("math500", root=root)
        check((root / "math500/test.jsonl").read_bytes() == now, f"{what}: the file is the server's")
        check(asked() == wanted, f"{what}: asked {asked()}, expected {wanted}")
        check(files_below(root) == ["math500/test.jsonl"], f"{what}: {files_below(root)}")
        check(what != "ETag" or rows["test.jsonl"]["state"] == "fetched, resumed", f"{what}: {rows}")

    root = fetch.root()
    cut(root)
    fetch.web.files[name] = File(content, lie=7)
    fetch.good("math500", root=root)
    check((root / "math500/test.jsonl").read_bytes() == content and asked() == [("bytes=100000-", '"one"'), (None, None)], f"a server that sends another piece: {asked()}")

    root = fetch.root()  # what was kept is not trusted without its notes
    cut(root)
    (root / "math500/test.jsonl.part.json").write_text("{")
    fetch.web.files[name] = File(content)
    fetch.good("math500", root=root)
    check(asked() == [(None, None)] and (root / "math500/test.jsonl").read_bytes() == content, f"a part without notes begins anew: {asked()}")

    root = fetch.root()  # kill -9 in mid-file
    fetch.web.files[name] = File(content, stall=120_000)
    process = fetch.pardec.start(*fetch.arguments("math500", root=root))
    part = root / "math500/test.jsonl.part"
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and not (part.exists() and part.stat().st_size == 120_000):
        time.sleep(0.01)
    second, _ = fetch("math500", root=root)
    check(second.returncode == 1 and "another call" in second.stderr, f"two calls at once: exit {second.returncode}: {second.stderr}")
    process.send_signal(signal.SIGKILL)
    process.communicate()
    fetch.web.seen.clear()
    fetch.web.files[name] = File(content)
    fetch.good("math500", root=root)
    check(asked() == [("bytes=120000-", '"one"')] and (root / "math500/test.jsonl").read_bytes() == content, f"after kill -9: {asked()}")


def hashes(check, fetch):
    """Where the publisher's file is known, other bytes are refused, and nothing of them stays."""
    fetch.web.files["/race/RACE.tar.gz"] = File(bytes_of(20_000))
    root = fetch.root()
    fetch.bad("race", root=root, pieces=["RACE.tar.gz", hashlib.sha256(bytes_of(20_000)).hexdigest(), "expected b2769cc9"])
    check(files_below(root) == [], f"wrong hash: {files_below(root)} stays")
    (root / "race").mkdir(exist_ok=True)
    (root / "race/RACE.tar.gz").write_bytes(b"something else")
    before = len(fetch.web.seen)
    fetch.bad("race", root=root, pieces=["expected b2769cc9"])
    check(len(fetch.web.seen) == before + 1, "an archive that is another is fetched anew")
    if not (DATA / "oa-mine").is_dir():
        print(f"[skipped] {DATA / 'oa-mine'} is missing")
        return
    named = {"mt-bench": ("mt_bench", ["question.jsonl"]), "vicuna-bench": ("vicuna_bench", ["question.jsonl"]),
             "oa-mine": ("oa-mine", ["train.jsonl", "test.jsonl"]), "ae-110k": ("ae-110k", ["train.jsonl", "test.jsonl"])}
    for dataset, (folder, names) in named.items():
        for name in names:
            fetch.web.files[f"/{dataset}/{name}"] = File((DATA / folder / name).read_bytes())
    fetch.web.files["/mt-bench/gpt-4.jsonl"] = File((DATA / "mt_bench/reference_answer.jsonl").read_bytes())
    fetch.web.files["/vicuna-bench/gpt-4.jsonl"] = File((DATA / "vicuna_bench/reference_answer.jsonl").read_bytes())
    root = fetch.root()
    ran, _ = fetch(*named, root=root)
    rows = json.loads(ran.stdout)["rows"]
    check(ran.returncode == 0 and len(rows) == 8, f"several datasets at once: {ran.stderr}")
    check(sum(r["checked"] == "as published" for r in rows) == 7, f"hashes that are known: {[(r['dataset'], r['file'], r['checked']) for r in rows]}")
    check(fetch.pardec("data", "check", "--data-root", root).returncode == 0, "and all can be read")
    (root / "oa-mine/test.jsonl").write_text("{}\n")
    fetch.bad("oa-mine", root=root, pieces=["test.jsonl: is there with SHA-256", "--force"])
    fetch.good("oa-mine", root=root, extra=["--force", "--split", "test"])
    check((root / "oa-mine/test.jsonl").read_bytes() == (DATA / "oa-mine/test.jsonl").read_bytes(), "--force mends it")
    fetch.web.files["/oa-mine/test.jsonl"].cut = [1000]
    (root / "oa-mine/test.jsonl").unlink()
    fetch("oa-mine", root=root, extra=["--retries", 0])
    part = root / "oa-mine/test.jsonl.part"
    part.write_bytes(b"x" * part.stat().st_size)
    rows = fetch.good("oa-mine", root=root)
    check((root / "oa-mine/test.jsonl").read_bytes() == (DATA / "oa-mine/test.jsonl").read_bytes(), f"a part that went bad is fetched anew: {rows}")


def answers(check, fetch):
    """Redirects are followed; refusals are said; what may pass is tried again."""
    content = bytes_of(5000)
    name = "/math500/test.jsonl"

    def tries():
        return sum(path == name for path, _ in fetch.web.seen)

    fetch.web.files["/elsewhere"] = File(content)
    for target in ("/elsewhere", f"{fetch.web.address}/elsewhere"):
        fetch.web.files[name] = File(status=[302], headers={"Location": target})
        root = fetch.root()
        fetch.good("math500", root=root)
        check((root / "math500/test.jsonl").read_bytes() == content, f"redirect to {target}")
    fetch.web.files["/elsewhere"] = File(content, cut=[2000])
    fetch.web.files[name] = File(status=[302] * 2, headers={"Location": "/elsewhere"})
    root = fetch.root()
    fetch.good("math500", root=root)
    check((root / "math500/test.jsonl").read_bytes() == content, "a cut behind a redirect")
    for what, file, pieces in (("a loop", File(status=[302] * 50, headers={"Location": name}), ["redirect"]),
                               ("to a file of this machine", File(status=[302], headers={"Location": "file:///etc/hostname"}), ["rotocol"]),
                               ("404", None, ["404", "no such file", "by hand: download", "put it at"]), ("403", File(status=[403]), ["403"]),
                               ("416", File(status=[416] * 5), ["another piece"])):
        fetch.web.files[name] = file
        root = fetch.root()
        ran = fetch.bad("math500", root=root, pieces=pieces)
        check(files_below(root) == [], f"{what}: {files_below(root)} stays")
        check(str(root / "math500/test.jsonl") in ran.stderr, f"{what}: where to put it: {ran.stderr}")
    fetch.web.files[name] = File(content, status=[503, 429], headers={"Retry-After": "1"})
    fetch.web.seen.clear()
    fetch.good("math500", root=fetch.root())
    check(tries() == 3, f"503 and 429 are asked again: {tries()} times")
    fetch.web.files[name] = File(content, status=[500] * 9)
    fetch.web.seen.clear()
    fetch.bad("math500", root=fetch.root(), extra=["--retries", 1], pieces=["500", "2 attempts"])
    check(tries() == 2, f"--retries 1: {tries()} times")
    fetch.web.files[name] = File(content, stall=1000)
    began = time.monotonic()
    fetch.bad("math500", root=fetch.root(), extra=["--retries", 0, "--timeout", 1], pieces=["1000 bytes kept"])
    check(time.monotonic() - began < 20, f"a server that goes silent: {time.monotonic() - began:.0f} s")
    fetch.web.files["/longhealth/benchmark_v5.json"] = File(b"{}")
    fetch.web.files[name] = None
    ran, rows = fetch("math500", "longhealth", root=fetch.root())
    check(ran.returncode == 1 and rows["benchmark_v5.json"]["state"] == "fetched" and rows["test.jsonl"]["state"] == "FAILED", f"the others are fetched: {rows}")


def network(check, fetch):
    """No network: what to download by hand, and where to put it. Proxies as curl has them."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{closed.getsockname()[1]}"
        for address in (nobody, "http://pardec.invalid"):
            root = fetch.root()
            ran = fetch.pardec("data", "fetch", "squad", "--data-root", root, "--mirror", address, "--progress", "none", env=DIRECT)
            lines = [line for line in ran.stderr.splitlines() if "by hand" in line]
            check(ran.returncode == 1 and ran.stderr.count("could not be reached") == 4 and files_below(root) == [], f"{address}: exit {ran.returncode}: {ran.stderr}")
            check(len(lines) == 4 and all(f"download {address}/squad/{n}" in ran.stderr and str(root / "squad" / n) in ran.stderr
                                          for n in ("dev-v2.0.json", "train-v1.1.json")), f"by hand: {lines}")
        ran = fetch.pardec("data", "fetch", "squad", "--split", "dev", "--data-root", fetch.root(), "--mirror", nobody, "--progress", "none", env=DIRECT)
        check(ran.stderr.count("by hand") == 2, f"--split names the files: {ran.stderr}")
        for variables in ({"http_proxy": nobody, "https_proxy": nobody}, {"ALL_PROXY": nobody}):
            ran = fetch.pardec("data", "fetch", "race", "--data-root", fetch.root(), "--progress", "none", env={**variables, "no_proxy": "", "NO_PROXY": ""})
            check(ran.returncode == 1 and "http://www.cs.cmu.edu/~glai1/data/race/RACE.tar.gz" in ran.stderr and "unverified" in ran.stdout,
                  f"the publisher's address: {ran.stderr}\n{ran.stdout}")
    content = bytes_of(4000)
    fetch.web.files["/math500/test.jsonl"] = File(content)
    fetch.web.seen.clear()
    root = fetch.root()
    ran = fetch.pardec("data", "fetch", "math500", "--data-root", root, "--mirror", "http://pardec.invalid", "--progress", "none",
                       env={"http_proxy": fetch.web.address, "no_proxy": "", "NO_PROXY": ""})
    check(ran.returncode == 0 and fetch.web.seen[0][0] == "http://pardec.invalid/math500/test.jsonl", f"through a proxy: {ran.stderr} {fetch.web.seen}")


def full_disk(check, fetch):
    """What has no room is not begun; what stops midway goes on when there is room."""
    content = bytes_of(6_000_000)
    name = "/math500/test.jsonl"
    disk = fetch.pardec.folder / "small-disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", str(disk)], capture_output=True).returncode == 0:
        try:
            fetch.web.files[name] = File(content)
            fetch.bad("math500", root=disk, pieces=["needs 6000000 bytes", "free", "make room"])
            check(files_below(disk) == [], f"without room: {files_below(disk)}")
            fetch.web.files[name] = File(content, length=False)
            fetch.bad("math500", root=disk, pieces=["test.jsonl.part", "No space left", "make room"])
            check(not (disk / "math500/test.jsonl").exists(), "a disk that fills: no half file")
            shutil.rmtree(disk / "math500")
            archive = io.BytesIO()
            with tarfile.open(fileobj=archive, mode="w:gz") as tar:
                for i in range(8):
                    entry = tarfile.TarInfo(f"bbc-summary-data/{i}.summary")
                    entry.size = 1_000_000
                    tar.addfile(entry, io.BytesIO(bytes(entry.size)))
            fetch.web.files["/xsum/XSUM-EMNLP18-Summary-Data-Original.tar.gz"] = File(archive.getvalue())
            fetch.bad("xsum", root=disk, pieces=["No space left"])
            check(not (disk / "xsum/bbc-summary-data").exists() and not (disk / "xsum/.unpacking").exists(), f"an archive without room: {files_below(disk)}")
        finally:
            subprocess.run(["umount", str(disk)], check=True)
    else:
        print("not done here: a full disk (nothing may be mounted)")

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))

    root = fetch.root()
    fetch.web.files[name] = File(content)
    fetch.bad("math500", root=root, pieces=["test.jsonl.part", "make room"], preexec_fn=limit)
    check((root / "math500/test.jsonl.part").stat().st_size == 1_000_000, f"a file that may not grow: {files_below(root)}")
    rows = fetch.good("math500", root=root)
    check(rows["test.jsonl"]["state"] == "fetched, resumed" and (root / "math500/test.jsonl").read_bytes() == content, f"with room it goes on: {rows}")
    if os.geteuid() != 0:
        locked = fetch.root()
        locked.mkdir(mode=0o555)
        fetch.bad("math500", root=locked, pieces=["cannot be made"])
    (fetch.pardec.folder / "a-file").write_text("")
    fetch.bad("math500", root=fetch.pardec.folder / "a-file", pieces=["cannot be made"])


def flags(check, fetch):
    """Usage errors, and the list of addresses."""
    for arguments, pieces in (([], ["no dataset was named", "squad"]), (["squad"], ["--data-root"]), (["jsonl", "--data-root", "x"], ["your own"]),
                              (["cip", "--data-root", "x"], ["Parquet", "huggingface"]), (["amazon-reviews", "--data-root", "x"], ["--part", "All_Beauty"]),
                              (["squad", "--data-root", "x", "--part", "Y"], ["--part"]), (["squat", "--data-root", "x"], ["squad"]),
                              (["amazon-reviews", "--data-root", "x", "--part", "../y"], ["--part"]),
                              (["squad", "--data-root", "x", "--mirror", "ftp://y"], ["--mirror", "http://"]),
                              (["squad", "--data-root", "x", "--retries", "-1"], ["--retries"]), (["squad", "--data-root", "x", "--timeout", "0"], ["--timeout"]),
                              (["squad", "--data-root", "x", "--progress", "loud"], ["--progress"])):
        ran = fetch.pardec("data", "fetch", *arguments)
        check(ran.returncode == 2 and all(p in ran.stderr for p in pieces), f"data fetch {arguments}: exit {ran.returncode}: {ran.stderr}")
    check(not (fetch.pardec.folder / "x").exists(), "a usage error makes no folder")
    rows = json.loads(fetch.pardec.good("data", "list", "--addresses", "--format", "json"))["rows"]
    check(len({r["dataset"] for r in rows}) == 12 and all(r["state"] == "unverified" and r["address"].startswith("http") for r in rows), f"addresses: {rows}")
    listed = {r["dataset"]: r["fetch"] for r in json.loads(fetch.pardec.good("data", "list", "--format", "json"))["rows"]}
    check(listed["squad"] == "4 files, unverified" and listed["cip"] == "by hand" and listed["jsonl"] is None, f"data list: {listed}")
    ran = fetch.pardec("data", "check", "squad", "--data-root", fetch.pardec.folder)
    check(ran.returncode == 2 and "pardec data fetch squad" in ran.stderr, f"a missing dataset says how to get it: {ran.stderr}")
    fetch.web.files["/math500/test.jsonl"] = File(bytes_of(9000))
    ran = fetch.pardec("data", "fetch", "math500", "--data-root", fetch.root(), "--mirror", fetch.web.address, "--progress", "plain", env=DIRECT)
    check("math500/test.jsonl 9000/9000" in ran.stderr, f"progress: {ran.stderr}")


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec, server() as web:
        fetch = Fetch(check, pardec, web)
        for part in (plain, packed, resuming, hashes, answers, network, full_disk, flags):
            part(check, fetch)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
