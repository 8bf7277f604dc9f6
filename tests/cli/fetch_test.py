"""`pardec data fetch` against a server in this file: resume, redirect, wrong hash, refusals, full
disk, no network.

Truth: the bytes that the server has, and the requests that it saw. --mirror names the server.
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
import signal
import socket
import subprocess
import tarfile
import threading
import time

import pytest
from harness import SAMPLES
from listening import listening

DIRECT = {"no_proxy": "*", "NO_PROXY": "*"}


class File:
    """What the server says to one path, request by request."""

    def __init__(
        self,
        content=b"",
        etag='"one"',
        modified=None,
        ranges=True,
        length=True,
        cut=(),
        status=(),
        headers=None,
        stall=None,
        lie=0,
        hollow=False,
    ):
        self.content, self.etag, self.modified, self.ranges, self.length = (
            content, etag, modified, ranges, length,
        )
        self.cut = list(cut)  # how many bytes the next answers have before the line is cut
        self.status = list(status)  # of the next answers
        self.headers = headers or {}
        self.stall = stall  # bytes after which nothing comes
        self.lie = lie  # how far from what was asked for a partial answer begins
        self.hollow = hollow  # a partial answer has no bytes


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        server = self.server
        server.seen.append((self.path, dict(self.headers)))
        path = self.path.split("://", 1)[-1]
        path = path[path.index("/") :]  # of a request to a proxy: the whole address
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
            body = b"" if file.hollow else body
            self.send_header("Content-Range", f"bytes {first}-{len(content) - 1}/{len(content)}")
        for name, value in (
            ("ETag", file.etag),
            ("Last-Modified", file.modified),
            *file.headers.items(),
        ):
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
    with listening(Handler, files={}, seen=[], release=threading.Event()) as web:
        try:
            yield web
        finally:
            web.release.set()


def bytes_of(count, seed=1):
    """Bytes of which no part resembles another."""
    return b"".join(
        hashlib.sha256(f"{seed} {i}".encode()).digest() for i in range(count // 32 + 1)
    )[:count]


class Fetch:
    """Calls of `data fetch`, each into its own folder unless one is named."""

    def __init__(self, pardec, web):
        self.pardec, self.web, self.count = pardec, web, 0

    def root(self):
        self.count += 1
        return self.pardec.folder / f"root-{self.count}"

    def arguments(self, *names, root, extra=()):
        return [
            "data", "fetch", *names, "--data-root", root, "--mirror", self.web.address,
            "--progress", "none", "--format", "json", *extra,
        ]

    def __call__(self, *names, root, extra=(), env=DIRECT, **options):
        ran = self.pardec(*self.arguments(*names, root=root, extra=extra), env=env, **options)
        rows = {r["file"]: r for r in json.loads(ran.stdout)["rows"]} if ran.stdout else {}
        return ran, rows

    def good(self, *names, **options):
        ran, rows = self(*names, **options)
        assert ran.returncode == 0, ran.stderr
        return rows

    def bad(self, *names, pieces, **options):
        ran, rows = self(*names, **options)
        assert ran.returncode == 1, ran.stderr
        for piece in pieces:
            assert piece in ran.stderr
        assert any(r["state"] == "FAILED" for r in rows.values()), (
            f"{names}: the table says what failed: {rows}"
        )
        return ran


def files_below(folder):
    return sorted(
        str(f.relative_to(folder)) for f in pathlib.Path(folder).rglob("*") if f.is_file()
    )


@pytest.fixture(scope="module")
def web():
    with server() as web:
        yield web


@pytest.fixture
def fetch(pardec_alone, web):
    """Calls against the server, which has no file yet and saw no request."""
    web.files.clear()
    web.seen.clear()
    return Fetch(pardec_alone, web)


NAME = "/math500/test.jsonl"


def test_a_file_comes_whole_and_is_asked_for_anew_only_with_force(fetch):
    content = (SAMPLES / "math500/test.jsonl").read_bytes()
    fetch.web.files["/math500/test.jsonl"] = File(content)
    root = fetch.root()
    rows = fetch.good("math500", root=root)
    assert rows["test.jsonl"]["state"] == "fetched"
    assert rows["test.jsonl"]["bytes"] == len(content)
    assert rows["test.jsonl"]["sha256"] == hashlib.sha256(content).hexdigest()
    assert (root / "math500/test.jsonl").read_bytes() == content
    assert files_below(root) == ["math500/test.jsonl"]
    # A whole file is asked for.
    assert "User-Agent" in fetch.web.seen[-1][1]
    assert "Range" not in fetch.web.seen[-1][1]
    before = len(fetch.web.seen)
    # What is there is not asked for.
    assert fetch.good("math500", root=root)["test.jsonl"]["state"] == "already there"
    assert len(fetch.web.seen) == before
    fetch.web.files["/math500/test.jsonl"] = File(content + b"\n")
    assert fetch.good("math500", root=root, extra=["--force"])["test.jsonl"]["state"] == "fetched"
    assert (root / "math500/test.jsonl").read_bytes() == content + b"\n"
    assert fetch.pardec("data", "check", "--data-root", root).returncode == 0


def test_an_empty_answer_is_refused_and_an_empty_file_fetched_anew(fetch):
    content = (SAMPLES / "math500/test.jsonl").read_bytes()
    fetch.web.files["/math500/test.jsonl"] = File(b"")
    root = fetch.root()
    fetch.bad("math500", root=root, pieces=["math500/test.jsonl", "an empty answer came"])
    assert files_below(root) == []
    (root / "math500").mkdir(exist_ok=True)
    (root / "math500/test.jsonl").write_bytes(b"")
    fetch.web.files["/math500/test.jsonl"] = File(content)
    assert fetch.good("math500", root=root)["test.jsonl"]["state"] == "fetched"


def test_a_folder_with_its_other_name_is_used(fetch):
    folder = fetch.root()
    (folder / "LongHealth").mkdir(parents=True)
    fetch.web.files["/longhealth/benchmark_v5.json"] = File(
        (SAMPLES / "longhealth/benchmark_v5.json").read_bytes()
    )
    fetch.good("longhealth", root=folder)
    assert files_below(folder) == ["LongHealth/benchmark_v5.json"]


GZIP = "/humaneval-x/humaneval_python.jsonl.gz"
SPLITS = "/xsum/XSum-TRAINING-DEV-TEST-SPLIT-90-5-5.json"
TAR = "/xsum/XSUM-EMNLP18-Summary-Data-Original.tar.gz"


def test_gzip_is_unpacked(fetch):
    content = (SAMPLES / "humaneval-x/python.jsonl").read_bytes()
    fetch.web.files["/humaneval-x/humaneval_python.jsonl.gz"] = File(gzip.compress(content))
    root = fetch.root()
    fetch.good("humaneval-x", root=root)
    assert files_below(root) == ["humaneval-x/python.jsonl"]
    assert (root / "humaneval-x/python.jsonl").read_bytes() == content


def test_a_part_of_a_dataset_is_unpacked(fetch):
    root = fetch.root()
    fetch.web.files["/amazon-reviews/meta_Lamps.jsonl.gz"] = File(
        gzip.compress((SAMPLES / "amazon-reviews/meta_Lamps.jsonl").read_bytes())
    )
    fetch.good("amazon-reviews", root=root, extra=["--part", "Lamps"])
    assert "amazon-reviews/meta_Lamps.jsonl" in files_below(root)


@pytest.fixture
def archive(web, fetch):
    """An archive of XSum, which the server has beside the file of its splits."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        for file in sorted((SAMPLES / "xsum/bbc-summary-data").iterdir()):
            tar.add(file, f"bbc-summary-data/{file.name}")
    web.files[SPLITS] = File((SAMPLES / SPLITS[1:]).read_bytes())
    web.files[TAR] = File(archive.getvalue())
    return archive.getvalue()


def test_tar_is_unpacked_and_not_fetched_again(fetch, archive):
    root = fetch.root()
    fetch.good("xsum", root=root)
    assert files_below(root / "xsum") == files_below(SAMPLES / "xsum")
    assert fetch.pardec("data", "check", "xsum", "--data-root", root).returncode == 0
    before = len(fetch.web.seen)
    rows = fetch.good("xsum", root=root)
    assert len(fetch.web.seen) == before
    assert all(r["state"] == "already there" for r in rows.values())


@pytest.mark.parametrize(
    "damage",
    [lambda archive: archive[:-200], lambda _: b"no archive at all" * 100],
    ids=["cut", "no archive"],
)
def test_a_damaged_archive_leaves_nothing_half_made(fetch, archive, damage):
    fetch.web.files[TAR] = File(damage(archive))
    root = fetch.root()
    fetch.bad("xsum", root=root, pieces=["XSUM-EMNLP18", "by hand: download", "tar -xf"])
    assert not (root / "xsum/bbc-summary-data").exists()
    assert not (root / "xsum/.unpacking").exists()
    assert not (root / TAR[1:]).exists()  # it is thrown away
    fetch.web.files[TAR] = File(archive)
    fetch.good("xsum", root=root)


@pytest.mark.parametrize("empty", [b"", gzip.compress(b"")], ids=["no byte", "of nothing"])
def test_an_empty_archive_is_refused(fetch, empty):
    fetch.web.files[GZIP] = File(empty)
    root = fetch.root()
    fetch.bad("humaneval-x", root=root, pieces=["was deleted" if empty else "empty"])
    assert files_below(root) == []


def test_an_archive_that_the_user_put_there_is_unpacked_and_not_fetched(fetch, archive):
    root = fetch.root()
    (root / "xsum").mkdir(parents=True)
    (root / TAR[1:]).write_bytes(archive)
    before = len(fetch.web.seen)
    fetch.good("xsum", root=root)
    # An archive that was put there by hand is unpacked, not fetched.
    assert len(fetch.web.seen) == before + 1
    assert (root / "xsum/bbc-summary-data").is_dir()


CONTENT, OTHER = bytes_of(300_000), bytes_of(310_000, seed=2)


def asked(fetch):
    """The ranges that the server was asked for."""
    return [(h.get("Range"), h.get("If-Range")) for _, h in fetch.web.seen]


def cut(fetch, root, **options):
    """A call that gets 100,000 bytes and is cut."""
    fetch.web.files[NAME] = File(CONTENT, cut=[100_000], **options)
    fetch.bad(
        "math500",
        root=root,
        extra=["--retries", 0],
        pieces=["100000 bytes kept", "given up after 1 attempt"],
    )
    assert files_below(root) == ["math500/test.jsonl.part", "math500/test.jsonl.part.json"]
    fetch.web.seen.clear()


def test_a_call_that_is_cut_goes_on_by_itself(fetch):
    fetch.web.files[NAME] = File(CONTENT, cut=[100_000, 50_000])
    fetch.web.seen.clear()
    root = fetch.root()
    fetch.good("math500", root=root)
    assert asked(fetch) == [(None, None), ("bytes=100000-", '"one"'), ("bytes=150000-", '"one"')]
    # It comes whole.
    assert (root / "math500/test.jsonl").read_bytes() == CONTENT
    assert len(files_below(root)) == 1


DATE = "Sat, 01 Jan 2022 00:00:00 GMT"
# How the server answers before the cut and after it, what it has then, and what is asked for.
CHANGES = {
    "ETag": ({}, {}, CONTENT, [("bytes=100000-", '"one"')]),
    "date": (
        {"etag": None, "modified": DATE},
        {"etag": None, "modified": DATE},
        CONTENT,
        [("bytes=100000-", DATE)],
    ),
    "weak ETag": ({"etag": 'W/"one"'}, {"etag": 'W/"one"'}, CONTENT, [("bytes=100000-", None)]),
    "length alone": ({"etag": None}, {"etag": None}, CONTENT, [("bytes=100000-", None)]),
    "another ETag": ({}, {"etag": '"two"'}, OTHER, [("bytes=100000-", '"one"')]),
    "another length": (
        {"etag": None},
        {"etag": None},
        OTHER,
        [("bytes=100000-", None), (None, None)],
    ),
    "a file that is shorter than the part": (
        {"etag": None},
        {"etag": None},
        OTHER[:5000],
        [("bytes=100000-", None), (None, None)],
    ),
    "a server without ranges": ({}, {"ranges": False}, CONTENT, [("bytes=100000-", '"one"')]),
}


@pytest.mark.parametrize("what", list(CHANGES))
def test_a_cut_file_goes_on_or_begins_anew(fetch, what):
    before, after, now, wanted = CHANGES[what]
    root = fetch.root()
    cut(fetch, root, **before)
    fetch.web.files[NAME] = File(now, **after)
    rows = fetch.good("math500", root=root)
    assert (root / "math500/test.jsonl").read_bytes() == now
    assert asked(fetch) == wanted
    assert files_below(root) == ["math500/test.jsonl"]
    if what == "ETag":
        assert rows["test.jsonl"]["state"] == "fetched, resumed"


@pytest.mark.parametrize("hollow", [False, True])
def test_another_piece_than_asked_for_is_not_taken(fetch, hollow):
    root = fetch.root()
    cut(fetch, root)
    fetch.web.files[NAME] = File(CONTENT, lie=7, hollow=hollow)
    fetch.good("math500", root=root)
    assert (root / "math500/test.jsonl").read_bytes() == CONTENT
    assert asked(fetch) == [("bytes=100000-", '"one"'), (None, None)]


def test_a_part_without_notes_begins_anew(fetch):
    root = fetch.root()
    cut(fetch, root)
    (root / "math500/test.jsonl.part.json").write_text("{")
    fetch.web.files[NAME] = File(CONTENT)
    fetch.good("math500", root=root)
    assert asked(fetch) == [(None, None)]
    assert (root / "math500/test.jsonl").read_bytes() == CONTENT


def test_a_call_goes_on_after_kill_9(fetch):
    root = fetch.root()
    fetch.web.files[NAME] = File(CONTENT, stall=120_000)
    process = fetch.pardec.start(*fetch.arguments("math500", root=root))
    part = root / "math500/test.jsonl.part"
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and not (part.exists() and part.stat().st_size == 120_000):
        time.sleep(0.01)
    second, _ = fetch("math500", root=root)
    assert second.returncode == 1, second.stderr
    assert "another call" in second.stderr
    process.send_signal(signal.SIGKILL)
    process.communicate()
    fetch.web.seen.clear()
    fetch.web.files[NAME] = File(CONTENT)
    fetch.good("math500", root=root)
    assert asked(fetch) == [("bytes=120000-", '"one"')]
    assert (root / "math500/test.jsonl").read_bytes() == CONTENT


def test_other_bytes_than_the_published_ones_are_refused(fetch):
    fetch.web.files["/race/RACE.tar.gz"] = File(bytes_of(20_000))
    root = fetch.root()
    fetch.bad(
        "race",
        root=root,
        pieces=["RACE.tar.gz", hashlib.sha256(bytes_of(20_000)).hexdigest(), "expected b2769cc9"],
    )
    assert files_below(root) == []
    (root / "race").mkdir(exist_ok=True)
    (root / "race/RACE.tar.gz").write_bytes(b"something else")
    before = len(fetch.web.seen)
    fetch.bad("race", root=root, pieces=["expected b2769cc9"])
    assert len(fetch.web.seen) == before + 1


@pytest.fixture
def real(fetch, published):
    """Published files on the server, by dataset; the folder of published data."""
    data = published("oa-mine").parent
    named = {
        "mt-bench": ("mt_bench", ["question.jsonl"]),
        "vicuna-bench": ("vicuna_bench", ["question.jsonl"]),
        "oa-mine": ("oa-mine", ["train.jsonl", "test.jsonl"]),
        "ae-110k": ("ae-110k", ["train.jsonl", "test.jsonl"]),
    }
    for dataset, (folder, names) in named.items():
        for name in names:
            fetch.web.files[f"/{dataset}/{name}"] = File((data / folder / name).read_bytes())
    fetch.web.files["/mt-bench/gpt-4.jsonl"] = File(
        (data / "mt_bench/reference_answer.jsonl").read_bytes()
    )
    fetch.web.files["/vicuna-bench/gpt-4.jsonl"] = File(
        (data / "vicuna_bench/reference_answer.jsonl").read_bytes()
    )
    return named, data


def test_published_files_have_the_published_hashes(fetch, real):
    named, data = real
    root = fetch.root()
    ran, _ = fetch(*named, root=root)
    rows = json.loads(ran.stdout)["rows"]
    assert ran.returncode == 0, ran.stderr
    assert len(rows) == 8
    assert sum(r["checked"] == "as published" for r in rows) == 7
    assert fetch.pardec("data", "check", "--data-root", root).returncode == 0


def test_force_fetches_a_file_that_went_bad(fetch, real):
    _, data = real
    root = fetch.root()
    (root / "oa-mine").mkdir(parents=True)
    (root / "oa-mine/test.jsonl").write_text("{}\n")
    fetch.bad("oa-mine", root=root, pieces=["test.jsonl: is there with SHA-256", "--force"])
    fetch.good("oa-mine", root=root, extra=["--force", "--split", "test"])
    assert (root / "oa-mine/test.jsonl").read_bytes() == (data / "oa-mine/test.jsonl").read_bytes()


def test_a_part_that_went_bad_is_fetched_anew(fetch, real):
    _, data = real
    root = fetch.root()
    fetch.web.files["/oa-mine/test.jsonl"].cut = [1000]
    fetch("oa-mine", root=root, extra=["--retries", 0])
    part = root / "oa-mine/test.jsonl.part"
    part.write_bytes(b"x" * part.stat().st_size)
    fetch.good("oa-mine", root=root)
    assert (root / "oa-mine/test.jsonl").read_bytes() == (data / "oa-mine/test.jsonl").read_bytes()


FEW = bytes_of(5000)


def tries(fetch):
    return sum(path == NAME for path, _ in fetch.web.seen)


def test_redirects_are_followed(fetch):
    fetch.web.files["/elsewhere"] = File(FEW)
    for target in ("/elsewhere", f"{fetch.web.address}/elsewhere"):
        fetch.web.files[NAME] = File(status=[302], headers={"Location": target})
        root = fetch.root()
        fetch.good("math500", root=root)
        assert (root / "math500/test.jsonl").read_bytes() == FEW, f"redirect to {target}"


def test_a_cut_after_a_redirect_goes_on(fetch):
    fetch.web.files["/elsewhere"] = File(FEW, cut=[2000])
    fetch.web.files[NAME] = File(status=[302] * 2, headers={"Location": "/elsewhere"})
    root = fetch.root()
    fetch.good("math500", root=root)
    assert (root / "math500/test.jsonl").read_bytes() == FEW


REFUSALS = {
    "a loop": (lambda: File(status=[302] * 50, headers={"Location": NAME}), ["redirect"]),
    "a redirect to a file of this machine": (
        lambda: File(status=[302], headers={"Location": "file:///etc/hostname"}),
        ["rotocol"],
    ),
    "404": (lambda: None, ["404", "no such file", "by hand: download", "put it at"]),
    "403": (lambda: File(status=[403]), ["403"]),
    "416": (lambda: File(status=[416] * 5), ["another piece"]),
}


@pytest.mark.parametrize("what", list(REFUSALS))
def test_a_refusal_says_where_to_put_the_file(fetch, what):
    file, pieces = REFUSALS[what]
    fetch.web.files[NAME] = file()
    root = fetch.root()
    ran = fetch.bad("math500", root=root, pieces=pieces)
    assert files_below(root) == []
    assert str(root / "math500/test.jsonl") in ran.stderr


def test_503_and_429_are_asked_again(fetch):
    fetch.web.files[NAME] = File(FEW, status=[503, 429], headers={"Retry-After": "1"})
    fetch.web.seen.clear()
    fetch.good("math500", root=fetch.root())
    assert tries(fetch) == 3


def test_retries_are_counted(fetch):
    fetch.web.files[NAME] = File(FEW, status=[500] * 9)
    fetch.web.seen.clear()
    fetch.bad("math500", root=fetch.root(), extra=["--retries", 1], pieces=["500", "2 attempts"])
    assert tries(fetch) == 2


def test_a_server_that_goes_silent_is_given_up(fetch):
    fetch.web.files[NAME] = File(FEW, stall=1000)
    began = time.monotonic()
    fetch.bad(
        "math500", root=fetch.root(), extra=["--retries", 0, "--timeout", 1],
        pieces=["1000 bytes kept"],
    )
    assert time.monotonic() - began < 20


def test_other_datasets_are_fetched_where_one_fails(fetch):
    fetch.web.files["/longhealth/benchmark_v5.json"] = File(b"{}")
    fetch.web.files[NAME] = None
    ran, rows = fetch("math500", "longhealth", root=fetch.root())
    assert ran.returncode == 1, f"the others are fetched: {rows}"
    assert rows["benchmark_v5.json"]["state"] == "fetched"
    assert rows["test.jsonl"]["state"] == "FAILED"


@pytest.fixture
def nobody():
    """An address on this machine where no server answers."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{closed.getsockname()[1]}"


def test_without_a_network_files_are_to_be_fetched_by_hand(fetch, nobody):
    """What to download, and where to put it."""
    for address in (nobody, "http://pardec.invalid"):
        root = fetch.root()
        ran = fetch.pardec(
            "data", "fetch", "squad", "--data-root", root, "--mirror", address, "--progress",
            "none", env=DIRECT,
        )
        lines = [line for line in ran.stderr.splitlines() if "by hand" in line]
        assert ran.returncode == 1, f"{address}: exit {ran.returncode}: {ran.stderr}"
        assert ran.stderr.count("could not be reached") == 4, address
        assert files_below(root) == [], address
        assert len(lines) == 4, f"by hand: {lines}"
        assert all(
            f"download {address}/squad/{n}" in ran.stderr and str(root / "squad" / n) in ran.stderr
            for n in ("dev-v2.0.json", "train-v1.1.json")
        ), f"by hand: {lines}"


def test_split_names_the_files_of_a_split(fetch, nobody):
    ran = fetch.pardec(
        "data", "fetch", "squad", "--split", "dev", "--data-root", fetch.root(), "--mirror", nobody,
        "--progress", "none", env=DIRECT,
    )
    assert ran.stderr.count("by hand") == 2


def test_without_a_mirror_the_publisher_is_asked(fetch, nobody):
    for variables in ({"http_proxy": nobody, "https_proxy": nobody}, {"ALL_PROXY": nobody}):
        ran = fetch.pardec(
            "data",
            "fetch",
            "race",
            "--data-root",
            fetch.root(),
            "--progress",
            "none",
            env={**variables, "no_proxy": "", "NO_PROXY": ""},
        )
        assert ran.returncode == 1, f"the publisher's address: {ran.stderr}\n{ran.stdout}"
        assert "http://www.cs.cmu.edu/~glai1/data/race/RACE.tar.gz" in ran.stderr, (
            f"the publisher's address: {ran.stderr}\n{ran.stdout}"
        )
        assert "unverified" in ran.stdout, f"the publisher's address: {ran.stderr}\n{ran.stdout}"


def test_a_proxy_is_asked_as_curl_asks_it(fetch):
    fetch.web.files["/math500/test.jsonl"] = File(FEW)
    root = fetch.root()
    ran = fetch.pardec(
        "data",
        "fetch",
        "math500",
        "--data-root",
        root,
        "--mirror",
        "http://pardec.invalid",
        "--progress",
        "none",
        env={"http_proxy": fetch.web.address, "no_proxy": "", "NO_PROXY": ""},
    )
    assert ran.returncode == 0, ran.stderr
    assert fetch.web.seen[0][0] == "http://pardec.invalid/math500/test.jsonl"


LARGE = bytes_of(60_000) * 100


@pytest.fixture
def disk(tmp_path):
    """A folder that takes four megabytes."""
    disk = tmp_path / "small-disk"
    disk.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "none", str(disk)], capture_output=True
    ).returncode:
        pytest.skip("not done here: a full disk (nothing may be mounted)")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_what_has_no_room_is_not_begun(fetch, disk):
    fetch.web.files[NAME] = File(LARGE)
    fetch.bad("math500", root=disk, pieces=["needs 6000000 bytes", "free", "make room"])
    assert files_below(disk) == []


def test_a_disk_that_fills_keeps_no_half_file(fetch, disk):
    fetch.web.files[NAME] = File(LARGE, length=False)
    fetch.bad("math500", root=disk, pieces=["test.jsonl.part", "No space left", "make room"])
    assert not (disk / "math500/test.jsonl").exists(), "a disk that fills: no half file"


def test_an_archive_without_room_is_not_unpacked(fetch, disk):
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        for i in range(8):
            entry = tarfile.TarInfo(f"bbc-summary-data/{i}.summary")
            entry.size = 1_000_000  # some forty times its packed size
            tar.addfile(entry, io.BytesIO(bytes_of(25_000, seed=i) * 40))
    fetch.web.files[SPLITS] = File(b"{}")
    fetch.web.files[TAR] = File(archive.getvalue())
    fetch.bad("xsum", root=disk, pieces=["No space left"])
    assert not (disk / "xsum/bbc-summary-data").exists(), (
        f"an archive without room: {files_below(disk)}"
    )
    assert not (disk / "xsum/.unpacking").exists()


def test_a_file_that_may_not_grow_goes_on_when_there_is_room(fetch):
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))

    root = fetch.root()
    fetch.web.files[NAME] = File(LARGE)
    fetch.bad("math500", root=root, pieces=["test.jsonl.part", "make room"], preexec_fn=limit)
    assert (root / "math500/test.jsonl.part").stat().st_size == 1_000_000
    rows = fetch.good("math500", root=root)
    assert rows["test.jsonl"]["state"] == "fetched, resumed"
    assert (root / "math500/test.jsonl").read_bytes() == LARGE


def test_a_folder_that_cannot_be_written_is_an_error(fetch):
    if os.geteuid() == 0:
        pytest.skip("not done here: a locked folder (root writes everywhere)")
    locked = fetch.root()
    locked.mkdir(mode=0o555)
    fetch.bad("math500", root=locked, pieces=["cannot be made"])


def test_a_file_in_the_way_is_an_error(fetch):
    (fetch.pardec.folder / "a-file").write_text("")
    fetch.bad("math500", root=fetch.pardec.folder / "a-file", pieces=["cannot be made"])


# Arguments, and what the error says.
USAGE = [
    ([], ["no dataset was named", "squad"]),
    (["squad"], ["--data-root"]),
    (["jsonl", "--data-root", "x"], ["your own"]),
    (["cip", "--data-root", "x"], ["Parquet", "huggingface"]),
    (["amazon-reviews", "--data-root", "x"], ["--part", "All_Beauty"]),
    (["squad", "--data-root", "x", "--part", "Y"], ["--part"]),
    (["squat", "--data-root", "x"], ["squad"]),
    (["amazon-reviews", "--data-root", "x", "--part", "../y"], ["--part"]),
    (["squad", "--data-root", "x", "--mirror", "ftp://y"], ["--mirror", "http://"]),
    (["squad", "--data-root", "x", "--retries", "-1"], ["--retries"]),
    (["squad", "--data-root", "x", "--timeout", "0"], ["--timeout"]),
    (["squad", "--data-root", "x", "--progress", "loud"], ["--progress"]),
]


@pytest.mark.parametrize(
    "arguments, pieces", USAGE, ids=[" ".join(arguments) or "nothing" for arguments, _ in USAGE]
)
def test_usage_errors_say_what_is_wrong(fetch, arguments, pieces):
    ran = fetch.pardec("data", "fetch", *arguments)
    assert ran.returncode == 2, ran.stderr
    for piece in pieces:
        assert piece in ran.stderr
    assert not (fetch.pardec.folder / "x").exists()


def test_list_has_the_addresses_of_all_files(pardec):
    rows = json.loads(pardec.good("data", "list", "--addresses", "--format", "json"))["rows"]
    assert len({r["dataset"] for r in rows}) == 12
    assert all(r["state"] == "unverified" and r["address"].startswith("http") for r in rows)


def test_list_says_what_can_be_fetched(pardec):
    listed = {
        r["dataset"]: r["fetch"]
        for r in json.loads(pardec.good("data", "list", "--format", "json"))["rows"]
    }
    assert listed["squad"] == "4 files, unverified"
    assert listed["cip"] == "by hand"
    assert listed["jsonl"] is None


def test_a_missing_dataset_says_how_to_get_it(fetch):
    ran = fetch.pardec("data", "check", "squad", "--data-root", fetch.pardec.folder)
    assert ran.returncode == 2, ran.stderr
    assert "pardec data fetch squad" in ran.stderr


def test_progress_is_shown(fetch):
    fetch.web.files["/math500/test.jsonl"] = File(bytes_of(9000))
    ran = fetch.pardec(
        "data", "fetch", "math500", "--data-root", fetch.root(), "--mirror", fetch.web.address,
        "--progress", "plain", env=DIRECT,
    )
    assert "math500/test.jsonl 9000/9000" in ran.stderr
