"""Input made to do harm: without end, nested, or growing without bound, and controls for the terminal.

Usage: hostile_input_test.py PROGRAM

Each call ends by itself, in little memory, with an error that names the place; a job that fails so is a row, and the run goes on.
"""
import errno
import json
import os
import pty
import resource
import shutil
import sys

from harness import SAMPLES, TOKENIZER, Checks, clean_environment, query, records, scratch, write_lines

SECONDS = 120  # far beyond what any call takes
MEMORY = 6 << 30
DEEP = 200_000


def bound(pardec):
    """Bounds the memory of all that is called from now on, where the program can start at all then (a sanitizer's shadow is larger)."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, before[1]))
    if pardec("--version").returncode != 0:
        resource.setrlimit(resource.RLIMIT_AS, before)


class Hostile:
    def __init__(self, check, pardec, model):
        self.check, self.pardec, self.model, self.folder = check, pardec, model, pardec.folder

    def refused(self, what, args, *pieces, code=2):
        """One line on stderr that holds the pieces."""
        ran = self.pardec(*args, timeout=SECONDS)
        last = (ran.stderr.splitlines() or [""])[-1]
        good = ran.returncode == code and not ran.stdout and all(piece in last for piece in pieces) and "internal error" not in last
        self.check(good, f"{what}: exit {ran.returncode}, expected {code} and {pieces}: {ran.stdout[:80]!r} {ran.stderr[-400:]!r}")

    def copy(self, name):
        folder = self.folder / name
        shutil.copytree(self.model, folder)
        return folder

    def data(self, name, lines=None):
        """A data root whose oa-mine has these lines, or no test file."""
        root = self.folder / name
        (root / "oa-mine").mkdir(parents=True)
        shutil.copy(SAMPLES / "oa-mine" / "train.jsonl", root / "oa-mine")
        if lines is not None:
            write_lines(root / "oa-mine" / "test.jsonl", lines)
        return root

    def run(self, root, model=None, db="new.sqlite", dataset="oa-mine"):
        return ["run", "--model", model or self.model, "--decoder", "ar", "--dataset", dataset, "--data-root", root, "--db", db, "--max-new-tokens", 4,
                "--progress", "none"]

    def readers(self, place, where, make):
        """Every kind of file that is read, with `make(file)` in its place."""
        generate = ["generate", "--prompt", "x", "--max-new-tokens", 1, "--model"]
        for name in ("config.json", "tokenizer.json", "chat_template.jinja", "generation_config.json", "tokenizer_config.json", "training.json",
                     "medusa_heads.safetensors", "model.safetensors"):
            folder = self.copy(f"{place}-{name}")
            (folder / name).unlink(missing_ok=True)
            make(folder / name, self.model / name)
            yield f"{name}: {place}", [*generate, folder]
        odd = self.folder / f"{place}-files"
        odd.mkdir()
        for name in ("job.json", "jobs.jsonl", "ids.txt", "trace.jsonl", "experiment.json", "prompt.txt"):
            make(odd / name, None)
        model = ["--model", self.model]
        yield f"a job: {place}", ["generate", *model, "--job", odd / "job.json"]
        yield f"jobs: {place}", ["generate", *model, "--job", odd / "jobs.jsonl"]
        yield f"an experiment: {place}", ["run", "-c", odd / "experiment.json"]
        yield f"a stored trace: {place}", ["generate", "--watch", "--from-trace", odd / "trace.jsonl"]
        yield f"a trace to judge: {place}", ["roofline", *model, "--trace", odd / "trace.jsonl", "--hardware", "h100"]
        root = self.data(f"{place}-data")
        make(root / "oa-mine" / "test.jsonl", None)
        yield f"a dataset: {place}", self.run(root)
        (root / "squad").mkdir()
        make(root / "squad" / "dev-v2.0.json", None)
        yield f"a dataset of one value: {place}", self.run(root, dataset="squad")
        if where == "no file":
            yield f"token ids: {place}", ["generate", *model, "--prompt-tokens", f"@{odd / 'ids.txt'}"]
            yield f"a wording: {place}", ["generate", *model, "--prompt", "x", "--prompt-file", odd / "prompt.txt"]


def endless(hostile):
    """A FIFO that nobody writes to, and a device that never ends."""
    for place, make, said in (("fifo", lambda file, _: os.mkfifo(file), "FIFO"), ("device", lambda file, _: file.symlink_to("/dev/zero"), "device")):
        for what, args in hostile.readers(place, "no file", make):
            pieces = ["not a regular file"] if "safetensors" in what else [f"is a {said}, expected a regular file"]
            hostile.refused(what, args, *pieces)


def nested(hostile):
    """JSON in JSON in JSON."""
    def deep(file, _):
        if file.suffix == ".safetensors":
            header = (b'{"a":' + b"[" * DEEP + b"]" * DEEP + b"}")
            file.write_bytes(len(header).to_bytes(8, "little") + header)
        else:
            file.write_text('{"a":' * DEEP + "1" + "}" * DEEP)

    for what, args in hostile.readers("nested", "file", deep):
        if "chat_template" not in what:
            hostile.refused(what, args, "nested")
    hostile.refused("a variable of a chat template", ["generate", "--model", hostile.model, "--prompt", "x", "--chat-set", "x=" + "[" * 60000 + "]" * 60000],
                    "--chat-set: 'x' is nested")


def one_job(hostile):
    """A text that a tokenizer, or a template, cannot do in its steps: a row with a reason beside good ones."""
    check, pardec = hostile.check, hostile.pardec
    good = records("oa-mine")[:3]
    evil = {**good[0], "input": "b " + "a" * 60 + "!"}
    tokenizer = json.loads(TOKENIZER.read_text())
    tokenizer["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [
        {"type": "Split", "pattern": {"Regex": "(a+)+$"}, "behavior": "Isolated"}, tokenizer["pre_tokenizer"]]}
    model = hostile.copy("evil-tokenizer")
    (model / "tokenizer.json").write_text(json.dumps(tokenizer))
    db = hostile.folder / "evil.sqlite"
    # The evil one comes first, in warm-up too.
    ran = pardec(*hostile.run(hostile.data("evil-data", [evil, *good[1:]]), model, db), timeout=SECONDS)
    rows = query(db, "SELECT error FROM generation ORDER BY id")
    errors = [row["error"] for row in rows if row["error"]]
    check(ran.returncode == 3 and len(rows) == 3 and len(errors) == 1, f"a run with an evil text: exit {ran.returncode}: {rows} {ran.stderr}")
    check(errors and "evil-tokenizer/tokenizer.json: regular expression '(a+)+$' fails at byte" in errors[0], f"its reason: {errors}")

    jobs = write_lines(hostile.folder / "evil-jobs.jsonl", [{"contexts": [{"text": r["input"], "fields": [{"name": "Brand"}]}]} for r in (evil, good[1])])
    ran = pardec("generate", "--model", model, "--job", jobs, "--max-new-tokens", 2, "--format", "json", timeout=SECONDS)
    check(ran.returncode == 3 and len(ran.stdout.splitlines()) == 1 and "regular expression" in ran.stderr, f"jobs with an evil text: {ran}")

    model = hostile.copy("evil-template")
    (model / "chat_template.jinja").write_text("{{ messages[0].content }}\n{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}")
    hostile.refused("an evil template", ["generate", "--model", model, "--prompt", "x"], "evil-template/chat_template.jinja, line 2", "steps")
    db = hostile.folder / "template.sqlite"
    ran = pardec(*hostile.run(hostile.data("template-data", good), model, db), timeout=SECONDS)
    rows = query(db, "SELECT error FROM generation")
    check(ran.returncode == 3 and len(rows) == 3 and all("line 2" in row["error"] for row in rows), f"a run with an evil template: {rows} {ran.stderr}")


def traces(hostile):
    """Rows and passes that a trace does not have."""
    base = {"request": "r", "decoder": "ar", "tokens": [1, 2], "position": [0, 1], "step": [0, 1], "visible": [[0], [[0, 2]]], "predicts": [2, 3],
            "from": [None, 0], "banned": [None, None], "dropped_at": [None, None], "emitted": [0, 1]}
    for i, (column, value) in enumerate((("visible", [[0], [[0, 2**31 - 1]]]), ("visible", [[0], [[1, 2], [0, 1]]]), ("visible", [[0], [[-5, 1]]]),
                                         ("visible", [[0], [2**40]]), ("step", [0, 2**31 - 1]), ("position", [0, 2**31 - 1]), ("emitted", [2**32]))):
        file = write_lines(hostile.folder / f"trace-{i}.jsonl", [{**base, column: value}])
        for verb in (["generate", "--watch", "--from-trace", file], ["roofline", "--model", hostile.model, "--hardware", "h100", "--trace", file]):
            hostile.refused(f"a trace with {column} {value}: {verb[0]}", verb, f"trace-{i}.jsonl:1:", "expected")
    # Passes that are far apart are two all the same.
    file = write_lines(hostile.folder / "far.jsonl", [{**base, "step": [0, 2**31 - 2]}])
    ran = hostile.pardec("roofline", "--model", hostile.model, "--hardware", "h100", "--trace", file, timeout=SECONDS)
    hostile.check(ran.returncode == 0, f"passes far apart, roofline: {ran.stderr}")
    ran = hostile.pardec("generate", "--watch", "--from-trace", file, timeout=SECONDS)
    hostile.check(ran.returncode == 0 and " 2 tokens in " in ran.stderr, f"passes far apart, watch: {ran.stderr}")


def on_a_terminal(pardec, *args):
    """What a terminal gets of both streams."""
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(pardec.folder)
        command = pardec.arguments(args)
        os.execvpe(command[0], command, {**clean_environment(), "TERM": "xterm"})
    shown = b""
    while True:
        try:
            part = os.read(terminal, 1 << 16)
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            break
        if not part:
            break
        shown += part
    os.close(terminal)
    os.waitpid(process, 0)
    return shown


def controls(hostile):
    """No control reaches a terminal from ids, labels and answers; elsewhere every byte is as it was."""
    check, pardec = hostile.check, hostile.pardec
    rude = "a\x1b[2J\x07\u009b31mb"
    bad = [b"\x1b[2J", b"\x07", b"\xc2\x9b", b"\x00"]
    shown = lambda *args: [piece for piece in bad if piece in on_a_terminal(pardec, *args)]
    db = hostile.folder / "rude.sqlite"
    root = hostile.folder / "rude-data"
    write_lines(root / "jsonl" / "test.jsonl", [{"id": f"x{rude}\0{i}", "prompt": f"What is {i}?"} for i in range(2)])
    pardec.good("run", "--model", hostile.model, "--arm", f"{rude}=ar", "--arm", "b=prompt-lookup", "--dataset", "jsonl", "--data-root", root, "--db", db,
                "--max-new-tokens", 4)
    for extra in ([], ["--format", "csv"], ["--format", "json"], ["--format", "latex"], ["--differences", 5], ["--differences", 5, "--format", "csv"]):
        check(not shown("compare", "--db", db, *extra), f"compare {extra}: {shown('compare', '--db', db, *extra)} on a terminal")
    check("a·[2J··31mb" in pardec.good("compare", "--db", db), "a table has signs in their place")
    check("\x1b[2J" in pardec.good("compare", "--db", db, "--format", "csv"), "csv in a pipe has the label as it is")
    job = hostile.folder / "rude.json"
    job.write_text(json.dumps({"id": rude, "contexts": [{"text": "Nike " * 5000, "fields": [{"name": "Brand"}]}]}))
    check(not shown("generate", "--model", hostile.model, "--job", job), "an error on a terminal")
    check("\x1b" not in pardec("generate", "--model", hostile.model, "--job", job).stderr, "an error in a pipe")

    tokenizer = json.loads(TOKENIZER.read_text())
    tokenizer["decoder"] = {"type": "Sequence", "decoders": [
        tokenizer["decoder"], {"type": "Replace", "pattern": {"Regex": "."}, "content": "\x1b[2J\0"}]}
    model = hostile.copy("rude-model")
    (model / "tokenizer.json").write_text(json.dumps(tokenizer))
    generate = ["generate", "--model", model, "--prompt", "x", "--max-new-tokens", 8, "--ignore-eos"]
    text = on_a_terminal(pardec, *generate)
    check("·[2J·".encode() in text and b"\x1b[2J" not in text, f"an answer on a terminal: {text[-200:]}")
    check("\x1b[2J\0" in pardec.good(*generate), "an answer in a pipe is what it is")
    check(not shown(*generate, "--format", "json"), "an answer as JSON on a terminal")


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        bound(pardec)
        hostile = Hostile(check, pardec, pardec.synthesise("model"))
        for part in (endless, nested, one_job, traces, controls):
            part(hostile)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
