"""`pardec model fetch` against a server in this file, and networks by their names in the cache.

The server has the paths and headers of huggingface.co. Truth: the bytes that the server has, the
requests that it saw, and huggingface_hub, which must find in the cache what was fetched.
"""

import contextlib
import hashlib
import http.server
import json
import os
import pathlib
import socket
import urllib.parse

import pytest
from listening import listening

COMMIT = "0123456789abcdef0123456789abcdef01234567"
OTHER = "fedcba9876543210fedcba9876543210fedcba98"
NAME = "some-org/Tiny-1.0"
TOKEN = "hf_secretSECRET"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), str(value))
        if "Content_Length" not in headers:
            self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        if self.command == "HEAD":
            return
        cut = self.server.cut.pop(0) if self.server.cut and status in (200, 206) else len(body)
        with contextlib.suppress(OSError):
            self.wfile.write(body[:cut])
            self.wfile.flush()
            if cut < len(body):
                self.connection.shutdown(socket.SHUT_RDWR)

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        server = self.server
        path = urllib.parse.unquote(self.path.split("?")[0])
        server.seen.append((self.command, self.path, dict(self.headers)))
        for prefix, statuses in server.faults.items():
            if path.startswith(prefix) and statuses:
                status = statuses.pop(0)
                if status is None:  # no answer at all
                    return self.connection.shutdown(socket.SHUT_RDWR)
                headers = {"Retry_After": "0"} if status in (429, 503) else {}
                if isinstance(status, tuple):
                    status, headers["X_Error_Code"] = status
                return self.answer(status, b"no", **headers)
        hub = server.hub
        if hub.private and self.headers.get("Authorization") != f"Bearer {TOKEN}":
            return self.answer(401, b"{}", X_Error_Code="RepoNotFound")
        if path.startswith("/api/models/"):
            name, _, revision = path.removeprefix("/api/models/").partition("/revision/")
            if name != NAME or revision not in (*hub.revisions, COMMIT):
                return self.answer(404, b"{}", X_Error_Code="RevisionNotFound")
            listed = [{"rfilename": file} for file in [*hub.files, *hub.others]]
            body = json.dumps({"id": name, "sha": COMMIT, "siblings": listed}).encode()
            return self.answer(200, body, Content_Type="application/json")
        name, _, rest = path.lstrip("/").partition("/resolve/")
        commit, _, file = rest.partition("/")
        if name != NAME or commit != COMMIT or file not in hub.files:
            return self.answer(404, b"", X_Error_Code="EntryNotFound")
        content = hub.files[file]
        common = {"X_Repo_Commit": COMMIT}
        if file in hub.large:  # lies on another host
            etag = hub.wrong.get(file, hashlib.sha256(content).hexdigest())
            return self.answer(
                302, b"", Location=f"{server.cdn.address}/blob/{file}?signature=x", **common,
                X_Linked_Etag=f'"{etag}"', X_Linked_Size=hub.sizes.get(file, len(content)),
            )  # fmt: skip
        if file in hub.moved:
            return self.answer(307, Location=f"/{NAME}/resolve/{COMMIT}/{hub.moved[file]}", **common)
        etag = f'"{hashlib.sha1(content).hexdigest()}"'
        self.send_content(content, etag, **common)

    def send_content(self, content, etag, **headers):
        asked = self.headers.get("Range")
        if asked and self.headers.get("If-Range") in (None, etag):
            first = int(asked.removeprefix("bytes=").removesuffix("-"))
            if first >= len(content):
                return self.answer(416)
            headers["Content_Range"] = f"bytes {first}-{len(content) - 1}/{len(content)}"
            return self.answer(206, content[first:], ETag=etag, **headers)
        self.answer(200, content, ETag=etag, **headers)


class Cdn(Handler):
    """Another host, which must not see the token."""

    def do_GET(self):
        server = self.server
        server.seen.append((self.command, self.path, dict(self.headers)))
        file = urllib.parse.unquote(self.path.split("?")[0]).removeprefix("/blob/")
        content = server.hub.files[file]
        self.send_content(server.hub.instead.get(file, content), f'"cdn {len(content)}"')


class Hub:
    """What the server has."""

    def __init__(self, files):
        self.files = files
        self.others = ["README.md", "model.onnx", "pytorch_model.bin", "original/consolidated.pth"]
        self.revisions = ["main", "v2", "refs/pr/1"]
        self.private = False
        self.large = {file for file in files if file.endswith((".safetensors", ".gguf"))}
        self.wrong, self.instead, self.moved, self.sizes = {}, {}, {}, {}


@pytest.fixture(scope="module")
def servers():
    with (
        listening(Cdn, seen=[], faults={}, cut=[]) as cdn,
        listening(Handler, seen=[], faults={}, cut=[]) as web,
    ):
        web.cdn = cdn
        yield web, cdn


@pytest.fixture(scope="module")
def network(pardec):
    """The files of a network: a real one, in two shards."""
    folder = pardec.synthesise(
        "tiny", hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=1,
    )  # fmt: skip
    files = {file.name: file.read_bytes() for file in pathlib.Path(folder).iterdir()}
    files.pop("pardec_synthesis.json")
    files["chat_template.jinja"] = b"{{ messages[0].content }}"
    files["additional_chat_templates/tool_use.jinja"] = b"tools"
    return {
        name: content
        for name, content in files.items()
        if name.endswith((".json", ".safetensors", ".jinja"))
    }


class Call:
    """Calls of the program with an empty cache."""

    def __init__(self, pardec, servers, folder):
        self.pardec, self.folder = pardec, folder
        self.web, self.cdn = servers
        self.cache = folder / "cache" / "hub"

    def environment(self, **more):
        return {
            "HF_ENDPOINT": self.web.address, "HF_HOME": self.folder / "cache", "HF_HUB_CACHE": "",
            "no_proxy": "*", "NO_PROXY": "*", "HF_TOKEN": "", **more,
        }  # fmt: skip

    def __call__(self, *words, token="", **options):
        return self.pardec(*words, env=self.environment(HF_TOKEN=token), **options)

    def fetch(self, *words, **options):
        return self(
            "model", "fetch", *(words or (NAME,)), "--progress", "none", "--format", "json",
            **options,
        )  # fmt: skip

    def good(self, *words, **options):
        ran = self.fetch(*words, **options)
        assert ran.returncode == 0, ran.stderr
        return {row["file"]: row for row in json.loads(ran.stdout)["rows"]}

    def bad(self, *words, said=(), code=1, **options):
        ran = self.fetch(*words, **options)
        assert ran.returncode == code and ran.stderr.count("\n") == 1, ran.stderr
        for piece in said:
            assert piece in ran.stderr, ran.stderr
        assert TOKEN not in ran.stderr
        return ran

    def snapshot(self):
        return self.cache / "models--some-org--Tiny-1.0" / "snapshots" / COMMIT


@pytest.fixture
def call(pardec_alone, servers, network, tmp_path):
    web, cdn = servers
    web.hub = cdn.hub = Hub(dict(network))
    for server in servers:
        server.seen.clear()
        server.faults.clear()
        server.cut.clear()
    return Call(pardec_alone, servers, tmp_path)


def asked(server, command="GET"):
    return [path for method, path, _ in server.seen if method == command]


def is_whole(folder, files):
    for name, content in files.items():
        assert (folder / name).read_bytes() == content, name
    there = {str(file.relative_to(folder)) for file in folder.rglob("*") if not file.is_dir()}
    assert there == set(files)


def test_a_network_comes_with_what_is_needed_and_no_more(call, network):
    rows = call.good()
    assert set(rows) == set(network)
    is_whole(call.snapshot(), network)
    assert {row["state"] for row in rows.values()} == {"fetched"}
    assert rows["model.safetensors"]["checked"] == "SHA-256"
    assert rows["config.json"]["bytes"] == len(network["config.json"])
    assert not any("pytorch" in path or "README" in path for path in asked(call.web))
    # Links to blobs, as huggingface_hub makes them.
    link = call.snapshot() / "model.safetensors"
    sha256 = hashlib.sha256(network["model.safetensors"]).hexdigest()
    assert os.readlink(link) == f"../../blobs/{sha256}"
    tool = call.snapshot() / "additional_chat_templates/tool_use.jinja"
    assert os.readlink(tool).startswith("../../../blobs/")
    repository = call.snapshot().parents[1]
    assert (repository / "refs/main").read_text() == COMMIT
    assert not [file for file in repository.rglob("*") if ".part" in file.name]


def test_huggingface_hub_finds_it(call, network):
    hub = pytest.importorskip("huggingface_hub")
    call.good()
    for file in network:
        found = hub.try_to_load_from_cache(NAME, file, cache_dir=call.cache)
        assert pathlib.Path(found).read_bytes() == network[file]
    found = hub.snapshot_download(NAME, cache_dir=call.cache, local_files_only=True)
    assert pathlib.Path(found) == call.snapshot()
    cache = hub.scan_cache_dir(call.cache)
    assert not cache.warnings
    (repo,) = cache.repos
    assert (repo.repo_id, repo.repo_type, repo.nb_files) == (NAME, "model", len(network))
    (revision,) = repo.revisions
    assert (revision.commit_hash, revision.refs) == (COMMIT, {"main"})


def test_the_cache_of_huggingface_hub_is_read(call, network):
    """Made as huggingface_hub makes it, with another branch and a file that was put there."""
    repository = call.cache / "models--some-org--Tiny-1.0"
    for place in ["blobs", "refs", f"snapshots/{OTHER}"]:
        (repository / place).mkdir(parents=True)
    for number, (name, content) in enumerate(network.items()):
        if "/" in name:
            continue
        (repository / "blobs" / str(number)).write_bytes(content)
        os.symlink(f"../../blobs/{number}", repository / "snapshots" / OTHER / name)
    (repository / "refs/dev").write_text(OTHER)
    said = call("model", "inspect", f"{NAME}@dev")
    assert said.returncode == 0, said.stderr
    assert call("model", "inspect", f"{NAME}@{OTHER}").stdout == said.stdout
    missing = call("model", "inspect", NAME)
    assert missing.returncode == 2
    for piece in [
        f"{NAME}: does not exist", "a network of the Hub", f"there is no {repository}/refs/main",
        f"'pardec model fetch {NAME}' fetches it",
    ]:  # fmt: skip
        assert piece in missing.stderr
    missing = call("model", "inspect", f"{NAME}@v9")
    assert f"'pardec model fetch {NAME}@v9' fetches it" in missing.stderr


def test_the_place_of_the_cache(pardec, call, network, tmp_path):
    call.good()
    home = tmp_path / "home"
    (home / ".cache/huggingface").mkdir(parents=True)
    os.symlink(call.cache, home / ".cache/huggingface/hub")
    os.symlink(call.cache, tmp_path / "other")
    places = [
        {"HF_HUB_CACHE": tmp_path / "other"},
        {"HF_HUB_CACHE": "$PLACE/other", "PLACE": tmp_path, "HF_HOME": "nowhere"},
        {"HF_HOME": tmp_path / "cache"},
        {"HF_HOME": "~/.cache/huggingface", "HOME": home},
        {"XDG_CACHE_HOME": home / ".cache"},
        {"HOME": home},
    ]
    empty = {"HF_HUB_CACHE": "", "HF_HOME": "", "XDG_CACHE_HOME": "", "HOME": tmp_path / "no"}
    for place in places:
        ran = pardec("model", "inspect", NAME, env={**empty, **place})
        assert ran.returncode == 0, (place, ran.stderr)
    assert pardec("model", "inspect", NAME, env=empty).returncode == 2


def test_a_path_goes_before_a_name(call, network, tmp_path):
    call.good()
    (call.pardec.folder / NAME).mkdir(parents=True)
    ran = call("model", "inspect", NAME)
    assert ran.returncode == 2 and f"{NAME}: has no config.json" in ran.stderr


def test_verbs_take_names(call, network):
    call.good()
    job = ["--prompt-tokens", "5,6,7", "--max-new-tokens", 4, "--ignore-eos", "--format", "json"]
    named = call("generate", "--model", NAME, *job)
    assert named.returncode == 0, named.stderr
    folder = call("generate", "--model", call.snapshot(), *job)
    tokens = [json.loads(ran.stdout)["tokens"] for ran in (named, folder)]
    assert tokens[0] == tokens[1]
    ran = call(
        "run", "--model", NAME, "--arm", f"own=ar,model={NAME}@main", "--decoder", "ar",
        "--dataset", "oa-mine", "--limit", 1, "--max-new-tokens", 2, "--db", "r.sqlite",
        "--chat-template", "plain",
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert f"{NAME}@{COMMIT[:8]}" in call("compare", "--db", "r.sqlite").stdout


def test_a_file_that_is_there_is_not_fetched_again(call, network):
    call.good()
    call.web.seen.clear()
    call.cdn.seen.clear()
    rows = call.good()
    assert {row["state"] for row in rows.values()} == {"already there"}
    assert not asked(call.cdn) and len(asked(call.web)) == 1  # the list


def test_a_part_is_continued(call, network):
    size = len(network["model.safetensors"])
    call.cdn.cut[:] = [size // 3] * 2
    call.bad("--retries", 0, NAME, said=["bytes kept for the next call"])
    assert not call.snapshot().joinpath("model.safetensors").exists()
    assert not (call.snapshot().parents[1] / "refs/main").exists()
    assert "fetch" in call("model", "inspect", NAME).stderr
    call.cdn.seen.clear()
    rows = call.good()
    assert rows["model.safetensors"]["state"] == "fetched, resumed"
    first, *_ = [headers for method, _, headers in call.cdn.seen if method == "GET"]
    assert first["Range"] == f"bytes={size // 3}-"
    is_whole(call.snapshot(), network)


def test_a_cut_connection_and_passing_errors_are_tried_again(call, network):
    call.cdn.cut[:] = [1000]
    call.web.faults["/api/"] = [503]
    call.web.faults[f"/{NAME}/resolve/{COMMIT}/config.json"] = [429]
    call.good()
    is_whole(call.snapshot(), network)


def test_a_connection_that_is_lost_before_the_answer_is_tried_again(call, network):
    call.web.faults["/api/"] = [None]
    call.web.faults[f"/{NAME}/resolve/{COMMIT}/config.json"] = [None]
    call.good()
    is_whole(call.snapshot(), network)
    assert not any(call.web.faults.values())


def test_other_bytes_are_refused(call, network):
    call.web.hub.wrong["model.safetensors"] = "0" * 64
    call.bad(said=["model.safetensors: ", "expected " + "0" * 64])
    assert not call.snapshot().joinpath("model.safetensors").exists()
    call.web.hub.wrong.clear()
    call.web.hub.instead["model.safetensors"] = bytes(len(network["model.safetensors"]))
    call.bad(said=["with SHA-256"])
    assert not list((call.snapshot().parents[1] / "blobs").glob("*.part"))
    assert not (call.snapshot().parents[1] / "refs/main").exists()


def test_a_shorter_file_is_refused(call, network):
    content = network["config.json"]
    call.web.hub.moved["config.json"] = "generation_config.json"
    call.web.hub.files["generation_config.json"] = content
    is_there = call.good()  # a redirect on the same host is followed
    assert is_there["config.json"]["bytes"] == len(content)


def test_too_little_room_is_found_before_a_download(call):
    call.web.hub.sizes["model.safetensors"] = 10**16
    call.bad(said=["needs 10000000000", "set HF_HOME to a folder on another disk"])
    assert not asked(call.cdn)
    call.web.hub.sizes["model.safetensors"] = 10**4  # not what comes
    call.bad(said=["model.safetensors: ", "bytes came, expected 10000"])


def test_the_token_is_for_the_hub_alone(call, network):
    call.web.hub.private = True
    call.bad(said=["401 (RepoNotFound)", "HF_TOKEN has no token"])
    call.bad(token="wrong", said=["the token of HF_TOKEN has no access"])
    call.good(token=TOKEN)
    for server, sent in [(call.web, True), (call.cdn, False)]:
        server.seen[:] = server.seen[-len(network) :]
        assert server.seen
        for _, path, headers in server.seen:
            assert (headers.get("Authorization") == f"Bearer {TOKEN}") == sent, path
    assert call.cdn.seen[-1][0] == "GET"


@pytest.mark.parametrize(
    "status, said",
    [
        ((401, "GatedRepo"), ["access must be granted at", NAME, "HF_TOKEN must have the token"]),
        (403, ["the server answered 403", "access must be granted"]),
        ((404, "RepoNotFound"), [f"there is no {NAME}", "404 (RepoNotFound)"]),
        (500, ["the server answered 500; given up after 1 attempt"]),
        (418, ["the server answered 418"]),
    ],
    ids=str,
)
def test_refusals_say_what_helps(call, status, said):
    call.web.faults["/api/"] = [status]
    call.bad("--retries", 0, NAME, said=said)
    assert not call.cache.exists()


def test_a_server_that_is_not_there(call):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    ran = call.pardec("model", "fetch", NAME, env=call.environment(HF_ENDPOINT=address))
    assert ran.returncode == 1 and "could not be reached" in ran.stderr
    ran = call.pardec("model", "fetch", NAME, env=call.environment(HF_ENDPOINT="hub"))
    assert ran.returncode == 2 and "HF_ENDPOINT is 'hub'" in ran.stderr


def test_an_offline_hub_is_not_asked(call):
    call.good()
    call.web.seen.clear()
    offline = call.environment(HF_HUB_OFFLINE="1")
    ran = call.pardec("model", "fetch", NAME, env=offline)
    assert ran.returncode == 2 and "HF_HUB_OFFLINE is set" in ran.stderr
    assert not asked(call.web)
    assert call.pardec("model", "inspect", NAME, env=offline).returncode == 0, "it is in the cache"


def test_revisions(call, network):
    call.good(NAME, "--revision", "refs/pr/1")
    repository = call.snapshot().parents[1]
    assert (repository / "refs/refs/pr/1").read_text() == COMMIT
    assert not (repository / "refs/main").exists()
    assert "/revision/refs%2Fpr%2F1" in asked(call.web)[0]
    call.good(f"{NAME}@v2")
    assert (repository / "refs/v2").read_text() == COMMIT
    call.good(NAME, "--revision", COMMIT)
    assert not (repository / "refs" / COMMIT).exists()
    call.bad(NAME, "--revision", "v3", said=[f"there is no {NAME} with revision v3"])
    for words, said in [
        ((NAME, "--revision", "../x"), "expected a branch, a tag or a commit"),
        ((f"{NAME}@v2", "--revision", "v2"), "expected one revision"),
        (("Tiny",), "expected ORG/NAME[@REVISION]"),
        (("a/b/c",), "expected ORG/NAME[@REVISION]"),
    ]:
        call.bad(*words, said=[said], code=2)


def test_shards_of_an_index(call, network):
    hub = call.web.hub
    weights = hub.files.pop("model.safetensors")
    shards = {f"model-0000{i}-of-00002.safetensors": weights[: i * 100] for i in (1, 2)}
    hub.files.update(shards)
    hub.large = set(shards)
    index = {"weight_map": dict(zip("ab", shards))}
    hub.files["model.safetensors.index.json"] = json.dumps(index).encode()
    hub.files["model-of-another.safetensors"] = b"not of this network"
    rows = call.good()
    assert set(shards) <= set(rows) and "model-of-another.safetensors" not in rows
    hub.files["model.safetensors.index.json"] = json.dumps({"weight_map": {"a": "x"}}).encode()
    call.bad(said=['names shard "x", expected a file of the network'])
    hub.files["model.safetensors.index.json"] = json.dumps({"weight_map": {"a": "../x"}}).encode()
    call.bad(said=['names shard "../x" for tensor "a", expected a file name'])


def test_gguf_and_pickled_weights(call):
    hub = call.web.hub
    hub.files = {"a-Q4_K_M.gguf": b"GGUF 4", "a-Q8_0.gguf": b"GGUF 8", "b c.gguf": b"GGUF s"}
    hub.others, hub.large = [], set(hub.files)
    call.bad(said=["has a-Q4_K_M.gguf, a-Q8_0.gguf, b c.gguf; name one with --file"])
    assert set(call.good(NAME, "--file", "b c.gguf")) == {"b c.gguf"}
    assert set(call.good(NAME, "--file", "a-Q8_0.gguf")) == {"a-Q8_0.gguf"}
    call.bad(NAME, "--file", "a-Q8.gguf", said=["has no file 'a-Q8.gguf'; did you mean"])
    hub.files = {"config.json": b"{}", "pytorch_model.bin": b"x", "tokenizer.model": b"y"}
    hub.large = {"pytorch_model.bin"}
    ran = call.fetch()
    assert ran.returncode == 0, ran.stderr
    assert f"'pardec model convert {NAME} --out OUT'" in ran.stdout
    assert set(hub.files) <= {row["file"] for row in json.loads(ran.stdout)["rows"]}
    hub.files = {"config.json": b"{}", "model.onnx": b"x"}
    call.bad(said=["has no weights in safetensors, GGUF or pytorch_model.bin"])


def test_a_list_that_is_no_list(call):
    call.web.faults["/api/"] = [200]
    call.bad(said=["/revision/main:"], code=2)


def test_progress_is_shown(call, network):
    ran = call("model", "fetch", NAME, "--progress", "plain")
    assert ran.returncode == 0 and "model.safetensors" in ran.stderr, ran.stderr
    assert f"commit {COMMIT}, revision main" in ran.stdout
    assert f"folder: {call.snapshot()}" in ran.stdout
