"""A service's key stands in the environment: it goes to the service, and is nowhere else.
Judging, a run with a judge, rewriting and labelling are each looked at in all that they write
and print, in the command lines and environments of the processes that they start, and in the
core files of a crash.
"""

import contextlib
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import threading
import time

import pytest
from harness import clean_environment, write_lines
from scripted_service import Judge
from teacher_test import rewritten, said, sentences

VARIABLE, KEY = "SERVICE_TOKEN", "sk-judge-7Qm2Zx81LpTnRw4uYc0e"
PIECE = KEY[9:21].encode()  # what is left of it where its ends were cut


class Service(Judge):
    """Says the caller's key back in every reply, and now and then in an error, in a header and
    in the model's name.
    """

    def __init__(self, say, delay=0.0):
        super().__init__(say, delay)
        self.keys, service = [], self
        self.requests = 0

        class Echo(self.server.RequestHandlerClass):
            def do_POST(self):
                service.keys.append(self.headers["Authorization"])
                service.requests += 1
                self.fault = service.requests % 7 == 0
                super().do_POST()

            def send_response(self, status):
                super().send_response(429 if self.fault else status)
                self.send_header("X-Request-Id", f"req-{KEY}")
                if self.fault:
                    self.send_header("Retry-After-Ms", "1")

            def log_message(self, *_):
                pass

        self.server.RequestHandlerClass = Echo

    def file(self, folder, name, **more):
        return super().file(folder, name, key_env=VARIABLE, formats=["text"], **more)


def body(text):
    return {
        "id": "1",
        "model": f"model of {KEY}",
        "error": None,
        "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10},
    }


class Children:
    """Looks at the processes that one has started, at their children, and at files that are
    there for a moment (the log of a database).
    """

    def __init__(self, process, folder):
        self.process, self.folder, self.seen, self.told = process, folder, set(), set()
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()

    def below(self, pid):
        with contextlib.suppress(OSError):
            for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
                yield child
                yield from self.below(child)

    @staticmethod
    def read(pid, what):
        try:
            return pathlib.Path(f"/proc/{pid}/{what}").read_bytes()
        except OSError:
            return b""

    def look(self):
        own = self.read(self.process.pid, "cmdline")
        if PIECE in own:
            self.told.add("the command line")
        for pid in self.below(self.process.pid):
            command = self.read(pid, "cmdline")
            if command in (own, b""):
                continue  # a copy of the program, a moment before it becomes another one; or gone
            self.seen.add(command.split(b"\0")[0].decode())
            if PIECE in command + self.read(pid, "environ"):
                self.told.add(f"{command} ({pid})")
        for file in self.folder.glob("*-wal"):
            with contextlib.suppress(OSError):
                if PIECE in file.read_bytes():
                    self.told.add(file.name)

    def watch(self):
        while self.process.poll() is None:
            self.look()
            time.sleep(0.02)


def run(pardec, *args, code=0):
    """A call with the key in its environment; nothing that it prints has it. Returns the
    programs that it starts.
    """
    process = subprocess.Popen(
        pardec.arguments(args),
        cwd=pardec.folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        env=clean_environment(
            **{VARIABLE: KEY, "PATH": f"{pardec.folder / 'bin'}:{os.environ['PATH']}"}
        ),
    )
    children = Children(process, pardec.folder)
    out, err = process.communicate(timeout=300)
    children.thread.join()
    assert process.returncode == code, err[-800:].decode()
    assert PIECE not in out + err
    assert not children.told
    return children.seen


def check_kept(folder):
    """No file has the key."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    assert files
    assert not [str(file.relative_to(folder)) for file in files if PIECE in file.read_bytes()]


@pytest.fixture(scope="module")
def model(pardec):
    return pardec.synthesise("m")


class Judged:
    """A database that a run with a judge, single and pairwise judges, and one whose service
    refuses every request worked on.
    """

    def __init__(self, pardec, model):
        self.db = pardec.folder / "r.sqlite"
        common = ["--db", self.db, "--progress", "plain"]
        self.grader = Service(
            lambda prompt, times, again: body(
                json.dumps({"explanation": f"You are {KEY}.", "score": 7})
                if again or len(prompt) % 3
                else f"hm, {KEY}"
            )
        )
        judge = self.grader.file(pardec.folder, "judge")
        run(
            pardec, "run", "--model", model, "--arm", "ar=ar", "--arm", "other=prompt-lookup",
            "--dataset", "mt-bench", "--limit", 6, "--max-new-tokens", 3, "--trace", "trace.json",
            "--judge", judge, *common,
        )
        run(pardec, "judge", "--service", judge, "--protocol", "single", "--votes", 2, *common)
        pairs = Service(lambda *_: body(json.dumps({"explanation": KEY, "winner": "A"}))).file(
            pardec.folder, "pairs"
        )
        run(
            pardec, "judge", "--service", pairs, "--protocol", "pairwise", *common, "--format",
            "json",
        )
        wrong = Service(
            lambda *_: {
                "error": {
                    "message": f"wrong key {KEY}",
                    "type": "invalid_request_error",
                    "code": "insufficient_quota",
                }
            }
        ).file(pardec.folder, "wrong")
        run(pardec, "judge", "--service", wrong, "--protocol", "single", *common, code=1)


@pytest.fixture(scope="module")
def judged(pardec, model):
    return Judged(pardec, model)


@pytest.fixture
def stored(judged):
    """The database."""
    return judged.db


def check_sent(keys, least):
    """The key goes to the service."""
    assert len(keys) > least
    assert set(keys) == {f"Bearer {KEY}"}


def test_judges_get_the_key_and_keep_it_nowhere(pardec, judged):
    check_sent(judged.grader.keys, 20)
    check_kept(pardec.folder)


def answer(prompt):
    """What a teacher answers to each kind of request; its explanations have the key."""
    if "Find stretches" in prompt:
        return said(rewritten(prompt.split("<<")[1].split(">>")[0], (0, 3)))
    asked = (
        ("independent", "independent only"),
        ("intact", "intact only"),
        ("same", "come to the same only"),
    )
    return json.dumps({"explanation": KEY, next(k for k, words in asked if words in prompt): True})


def test_rewriting_and_labelling_send_the_key_and_keep_it_nowhere(pardec, tmp_path):
    pardec = pardec.at(tmp_path)
    write_lines(
        tmp_path / "own" / "jsonl" / "train.jsonl",
        [
            {
                "id": f"n{i}",
                "prompt": f"What of it, {i}?",
                "references": ["\n".join(sentences(f"n{i}"))],
            }
            for i in range(3)
        ],
    )
    write_lines(
        tmp_path / "own" / "jsonl" / "new.jsonl",
        [
            {
                "id": f"t{i}",
                "category": "Tea",
                "text": f"Maker{i} Tea {i} oz",
                "fields": [{"name": "Brand"}],
            }
            for i in range(4)
        ],
    )
    data = ["jsonl", "--data-root", "own", "--progress", "plain", "--db", "teacher.sqlite"]
    teacher = Service(lambda prompt, times, again: body(answer(prompt)))
    run(
        pardec, "data", "rewrite", *data, "--service", teacher.file(tmp_path, "teacher"), "--split",
        "train", "--out", "branches.jsonl", "--details", "branches.details",
    )
    labeller = Service(
        lambda prompt, times, again: body(
            json.dumps({"Brand": "Maker0" if "Maker0" in prompt else KEY})
        )
    )
    run(
        pardec, "data", "label", *data, "--service", labeller.file(tmp_path, "labeller"), "--split",
        "new", "--out", "labels.jsonl", "--details", "labels.details",
    )
    check_kept(tmp_path)
    check_sent(teacher.keys, 5)
    check_sent(labeller.keys, 3)


def test_gnuplot_is_not_given_the_key(pardec, stored, tmp_path):
    """gnuplot leaves what it was given in a file."""
    real = shutil.which("gnuplot") or pytest.skip("not done here: gnuplot is missing")
    (tmp_path / "bin").mkdir()
    file = tmp_path / "bin" / "gnuplot"
    file.write_text(
        f'#!/bin/sh\ntr "\\0" "\\n" < /proc/$$/environ >> {tmp_path}/given\necho "$@" >>'
        f' {tmp_path}/given\nexec {real} "$@"\n'
    )
    file.chmod(0o755)
    started = run(pardec.at(tmp_path), "report", "--db", stored, "-o", "report.html")
    assert "PATH=" in (tmp_path / "given").read_text()
    assert any("gnuplot" in name or "sh" in name for name in started)
    check_kept(tmp_path)


def test_what_is_made_of_a_database_has_no_key(pardec, stored, tmp_path):
    pardec = pardec.at(tmp_path)
    run(pardec, "compare", "--db", stored, "--format", "json")
    run(pardec, "judge", "--db", stored)
    run(pardec, "export", "--db", stored, "--format", "jsonl", "--out", "tables")
    for sheet in ("sheet.csv", "sheet.html"):
        run(pardec, "judge", "export", "--db", stored, "--protocol", "pairwise", "--out", sheet)
    check_kept(tmp_path)
    shown = [
        json.loads(line)
        for line in (tmp_path / "tables" / "judgments.jsonl").read_text().splitlines()
    ]
    assert any("[key]" in (row["reply"] or "") for row in shown), (
        "replies that say it are kept without it"
    )


def leaves_core(pardec, args, begun):
    """Whether a crash leaves a core file, once `begun()`."""
    most = resource.getrlimit(resource.RLIMIT_CORE)[1]
    folder = pardec.folder / "crash"
    folder.mkdir()
    process = subprocess.Popen(
        pardec.arguments(args),
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=clean_environment(**{VARIABLE: KEY}),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (most, most)),
    )
    until = time.monotonic() + 60
    while process.poll() is None and not begun() and time.monotonic() < until:
        time.sleep(0.005)
    process.send_signal(signal.SIGSEGV)
    status = os.waitpid(process.pid, 0)[1]
    process.returncode = 1  # it is waited for
    assert os.WIFSIGNALED(status)
    assert os.WTERMSIG(status) == signal.SIGSEGV
    left = os.WCOREDUMP(status) or any("core" in file.name for file in folder.iterdir())
    shutil.rmtree(folder)
    return left


class Slow:
    """A service that takes a second for a reply, and files that name it with the key and
    without.
    """

    def __init__(self, folder):
        self.service = Service(lambda *_: body("hm"), delay=1)
        self.file, self.bare = (
            self.service.file(folder, name) for name in ("crashing", "crashing-bare")
        )
        self.bare.write_text(json.dumps({**json.loads(self.bare.read_text()), "key_env": ""}))

    def judging_leaves_core(self, pardec, db, file):
        before = self.service.requests
        return leaves_core(
            pardec,
            ["judge", "--db", db, "--service", file, "--protocol", "single", "--votes", 9],
            lambda: self.service.requests > before,
        )


@pytest.fixture
def slow(pardec_alone, stored):
    """A slow service, on a machine where a crash without a key leaves a core file."""
    found = Slow(pardec_alone.folder)
    if not found.judging_leaves_core(pardec_alone, stored, found.bare):
        pytest.skip("not done here: crashes leave no core file")
    return found


def test_a_crash_of_judge_leaves_no_core_file_with_the_key(pardec_alone, stored, slow):
    assert not slow.judging_leaves_core(pardec_alone, stored, slow.file)


def test_a_crash_of_a_run_with_a_judge_leaves_no_core_file_with_the_key(pardec_alone, model, slow):
    """Also while it is still measuring."""
    db = pardec_alone.folder / "measuring.sqlite"
    args = [
        "run", "--model", model, "--decoder", "ar", "--dataset", "mt-bench", "--max-new-tokens",
        200, "--db", db, "--judge", slow.file,
    ]
    assert not leaves_core(pardec_alone, args, db.exists)
