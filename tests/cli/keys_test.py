"""A service's key stands in the environment: it goes to the service, and is nowhere else. Judging, a run with a judge, rewriting and labelling are each looked at
in all that they write and print, in the command lines and environments of the processes that they start, and in the core files of a crash.

usage: keys_test.py PROGRAM
"""
import contextlib
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time

from harness import Checks, clean_environment, scratch, write_lines
from scripted_service import Judge
from teacher_test import rewritten, said, sentences

VARIABLE, KEY = "SERVICE_TOKEN", "sk-judge-7Qm2Zx81LpTnRw4uYc0e"
PIECE = KEY[9:21].encode()  # what is left of it where its ends were cut


class Service(Judge):
    """Says the caller's key back in every reply, and now and then in an error, in a header and in the model's name."""

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
    return {"id": "1", "model": f"model of {KEY}", "error": None, "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10}}


class Children:
    """Looks at the processes that one has started, at their children, and at files that are there for a moment (the log of a database)."""

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


def run(check, pardec, *args, code=0):
    """A call with the key in its environment; nothing that it prints has it."""
    process = subprocess.Popen(pardec.arguments(args), cwd=pardec.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                               env=clean_environment(**{VARIABLE: KEY, "PATH": f"{pardec.folder / 'bin'}:{os.environ['PATH']}"}))
    children = Children(process, pardec.folder)
    out, err = process.communicate(timeout=300)
    children.thread.join()
    what = " ".join(map(str, args[:3]))
    check(process.returncode == code, f"{what}: {process.returncode} {err[-800:].decode()}")
    check(PIECE not in out + err and not children.told, f"{what}: the key is said: {children.told} {(out + err)[-500:]}")
    return children.seen


def kept(check, pardec, what):
    """No file has the key but the one where it was put."""
    files = [file for file in pardec.folder.rglob("*") if file.is_file()]
    told = [str(file.relative_to(pardec.folder)) for file in files if PIECE in file.read_bytes()]
    check(files and not told, f"{what}: the key is in {told}")


def wrapped_gnuplot(pardec):
    """gnuplot, which leaves what it was given in a file that is looked through with the others."""
    real = shutil.which("gnuplot")
    if not real:
        return
    (pardec.folder / "bin").mkdir()
    file = pardec.folder / "bin" / "gnuplot"
    file.write_text(f'#!/bin/sh\ntr "\\0" "\\n" < /proc/$$/environ >> {pardec.folder}/given\necho "$@" >> {pardec.folder}/given\nexec {real} "$@"\n')
    file.chmod(0o755)


def crashes(check, pardec, db):
    """What a crash leaves: a core file where there is no key, and none where there is one; also while a run is still measuring."""
    most = resource.getrlimit(resource.RLIMIT_CORE)[1]

    def leaves_core(args, begun):
        folder = pardec.folder / "crash"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        process = subprocess.Popen(pardec.arguments(args), cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=clean_environment(**{VARIABLE: KEY}),
                                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (most, most)))
        until = time.monotonic() + 60
        while process.poll() is None and not begun() and time.monotonic() < until:
            time.sleep(0.005)
        process.send_signal(signal.SIGSEGV)
        status = os.waitpid(process.pid, 0)[1]
        process.returncode = 1  # it is waited for
        check(os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGSEGV, f"{args[0]}: it crashes: {status}")
        left = os.WCOREDUMP(status) or any("core" in file.name for file in folder.iterdir())
        shutil.rmtree(folder)
        return left

    def judging(file):
        before = slow.requests
        return leaves_core(["judge", "--db", db, "--service", file, "--protocol", "single", "--votes", 9], lambda: slow.requests > before)

    slow = Service(lambda *_: body("hm"), delay=1)
    service, bare = (slow.file(pardec.folder, name) for name in ("crashing", "crashing-bare"))
    bare.write_text(json.dumps({**json.loads(bare.read_text()), "key_env": ""}))
    if not judging(bare):
        print("crashes leave no core file here")
        return
    check(not judging(service), "a crash of judge leaves the key in a core file")
    measuring = pardec.folder / "measuring.sqlite"
    check(not leaves_core(["run", "--model", pardec.folder / "m", "--decoder", "ar", "--dataset", "mt-bench", "--max-new-tokens", 200, "--db", measuring, "--judge", service],
                          measuring.exists), "a crash of run leaves the judge's key in a core file")


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        wrapped_gnuplot(pardec)
        model = pardec.synthesise("m")
        write_lines(pardec.folder / "own" / "jsonl" / "train.jsonl",
                    [{"id": f"n{i}", "prompt": f"What of it, {i}?", "references": ["\n".join(sentences(f"n{i}"))]} for i in range(3)])
        write_lines(pardec.folder / "own" / "jsonl" / "new.jsonl", [{"id": f"t{i}", "category": "Tea", "text": f"Maker{i} Tea {i} oz", "fields": [{"name": "Brand"}]} for i in range(4)])

        grader = Service(lambda prompt, times, again: body(json.dumps({"explanation": f"You are {KEY}.", "score": 7}) if again or len(prompt) % 3 else f"hm, {KEY}"))
        judge = grader.file(pardec.folder, "judge")
        db = pardec.folder / "r.sqlite"
        common = ["--db", db, "--progress", "plain"]
        run(check, pardec, "run", "--model", model, "--arm", "ar=ar", "--arm", "other=prompt-lookup", "--dataset", "mt-bench", "--limit", 6, "--max-new-tokens", 3, "--trace", "trace.json",
            "--judge", judge, *common)
        run(check, pardec, "judge", "--service", judge, "--protocol", "single", "--votes", 2, *common)
        pairs = Service(lambda prompt, times, again: body(json.dumps({"explanation": KEY, "winner": "A"}))).file(pardec.folder, "pairs")
        run(check, pardec, "judge", "--service", pairs, "--protocol", "pairwise", *common, "--format", "json")
        wrong = Service(lambda *_: {"error": {"message": f"wrong key {KEY}", "type": "invalid_request_error", "code": "insufficient_quota"}}).file(pardec.folder, "wrong")
        run(check, pardec, "judge", "--service", wrong, "--protocol", "single", *common, code=1)
        kept(check, pardec, "judge and run --judge")

        teacher = Service(lambda prompt, times, again: body(said(rewritten(prompt.split("<<")[1].split(">>")[0], (0, 3))) if "Find stretches" in prompt else
                                                            json.dumps({"explanation": KEY, next(k for k, w in (("independent", "independent only"), ("intact", "intact only"),
                                                                                                                ("same", "come to the same only")) if w in prompt): True})))
        file = teacher.file(pardec.folder, "teacher")
        data = ["jsonl", "--data-root", "own", "--progress", "plain", "--db", "teacher.sqlite"]
        run(check, pardec, "data", "rewrite", *data, "--service", file, "--split", "train", "--out", "branches.jsonl", "--details", "branches.details")
        labeller = Service(lambda prompt, times, again: body(json.dumps({"Brand": "Maker0" if "Maker0" in prompt else KEY}))).file(pardec.folder, "labeller")
        run(check, pardec, "data", "label", *data, "--service", labeller, "--split", "new", "--out", "labels.jsonl", "--details", "labels.details")
        kept(check, pardec, "data rewrite and data label")
        asked = grader.keys + teacher.keys
        check(len(asked) > 30 and set(asked) == {f"Bearer {KEY}"}, f"the key goes to the service: {len(asked)} requests")

        started = run(check, pardec, "report", "--db", db, "-o", "report.html")
        run(check, pardec, "compare", "--db", db, "--format", "json")
        run(check, pardec, "judge", "--db", db)
        run(check, pardec, "export", "--db", db, "--format", "jsonl", "--out", "tables")
        for sheet in ("sheet.csv", "sheet.html"):
            run(check, pardec, "judge", "export", "--db", db, "--protocol", "pairwise", "--out", sheet)
        kept(check, pardec, "what is made of the store")
        if (pardec.folder / "bin").exists():
            check("PATH=" in (pardec.folder / "given").read_text() and any("gnuplot" in name or "sh" in name for name in started), f"gnuplot was looked at: {started}")
        shown = [json.loads(line) for line in (pardec.folder / "tables" / "judgments.jsonl").read_text().splitlines()]
        check(any("[key]" in (row["reply"] or "") for row in shown), "replies that say it are kept without it")
        crashes(check, pardec, db)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
