"""Shared by the tests of the command line: the program, tiny networks, the database."""

import base64
import contextlib
import copy
import hashlib
import json
import os
import pathlib
import re
import select
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "datasets" / "samples"
TOKENIZER = ROOT / "experiments" / "quickstart" / "tokenizer.json"
VOCABULARY = 1 + max([*json.loads(TOKENIZER.read_text())["model"]["vocab"].values()])
# made by scripts/fetch-smollm2
SMOLLM2 = ROOT / "build" / "models" / "smollm2-135m-instruct"
DATA = pathlib.Path(os.environ.get("PARDEC_TEST_DATA") or ROOT.parent / "shared" / "data")


def skip(reason):
    """Skips a whole module while it is imported. A script ends with ctest's code of a skip."""
    if "pytest" in sys.modules:
        sys.modules["pytest"].skip(str(reason), allow_module_level=True)
    print(f"[skipped] {reason}")
    sys.exit(77)


def whole_except(quick, cases):
    """Parameters of a test: those that `quick` does not hold are left to `-m whole`."""
    import pytest

    marks = [() if case in quick else pytest.mark.whole for case in cases]
    return [pytest.param(case, marks=mark) for case, mark in zip(cases, marks)]


# A network that a test has in a moment; enough positions for a prompt and six products.
TINY = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_act": "silu",
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "max_position_embeddings": 4096,
    "rms_norm_eps": 1e-6,
    "rope_theta": 10000.0,
    "tie_word_embeddings": False,
}


# Columns that only csv and json have, not the table of --wide: of a comparison, intervals, the
# differences of all scores except a dataset's first, and most measures of speed; of claims, scale,
# unit and by_construction.
FOR_PROGRAMS = re.compile(
    r".*_difference$|.*_interval$|score(_name)?$|dataset_is_|"
    r"(forwards|prompt_tokens)_per_second$|roofline_share$|latency_p9[59]|first_token|"
    r".*_measurements$|speedup_(un|of)|"
    r"(repeats|unparsed|empty|hit_limit|broken|tokens_per_answer)$|"
    r"scale$|measured_unit$|by_construction$"
)


def for_people(key, headers):
    """Whether --wide with these headers has the column of this key. A difference is shown if one of
    the headers is "SCORE - baseline's".
    """
    differences = {
        header.removesuffix(" - baseline's").lower().replace(" ", "_")
        for header in headers
        if header.endswith(" - baseline's")
    }
    return not FOR_PROGRAMS.match(key) or (
        key.endswith("_difference") and key.removesuffix("_difference") in differences
    )


def with_script(page, element):
    """A copy of a page with a <script> of the test at its end, whose hash its policy allows."""
    script = re.search(r"<script>(.*?)</script>", element, re.S)[1]
    source = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return page.replace("script-src ", f"script-src 'sha256-{source}' ", 1).replace(
        "</body>", element + "</body>", 1
    )


def clean_environment(**extra):
    """The environment without what would change the program's defaults."""
    kept = {
        k: v
        for k, v in os.environ.items()
        if not k.startswith("PARDEC_") and k not in ("NO_COLOR", "TERM")
    }
    # One line a note, whatever is printed.
    return {
        **kept,
        "OMP_NUM_THREADS": "1",
        "COLUMNS": "100000",
        **{k: str(v) for k, v in extra.items()},
    }


class ForkServer:
    """The program, loaded once: each call is a fork of it (fork_server.cpp)."""

    def __init__(self, path):
        self.path = path
        self.process = None

    def begin(self, arguments, folder, environment, out, err):
        """Begins a call that writes to these files."""
        if self.process is None:
            self.process = subprocess.Popen(
                [self.path],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=clean_environment(),
                start_new_session=True,
            )
        call = {
            "arguments": arguments,
            "folder": str(folder),
            "environment": environment,
            "stdout": out,
            "stderr": err,
        }
        self.process.stdin.write(json.dumps(call) + "\n")
        self.process.stdin.flush()

    def ended(self, timeout):
        """Whether the call ends within so many seconds."""
        return bool(select.select([self.process.stdout], [], [], timeout)[0])

    def code(self):
        """The exit code of the call that has ended."""
        return int(self.process.stdout.readline())

    def __call__(self, arguments, folder, environment, timeout, stdout=None):
        """As `subprocess.run` with captured text; `stdout`: a file or terminal to write to."""
        with tempfile.NamedTemporaryFile("r", encoding="utf-8") as out, tempfile.NamedTemporaryFile(
            "r", encoding="utf-8"
        ) as err:
            self.begin(arguments, folder, environment, stdout or out.name, err.name)
            if not self.ended(timeout):
                self.end()
                raise subprocess.TimeoutExpired(arguments, timeout)
            return subprocess.CompletedProcess(arguments, self.code(), out.read(), err.read())

    def end(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()
        self.process = None


class ModelDump:
    """`model_dump`, started once: values that a network computes, as the bytes of float64."""

    def __init__(self, path):
        self.process = subprocess.Popen(
            [path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=clean_environment(OMP_NUM_THREADS=2),
        )

    def __call__(self, model, dtype, cases, segments=(), adapter=""):
        """The values of `cases` (model_dump.cpp has their format), one after another."""
        request = {
            "model": str(model),
            "dtype": dtype,
            "adapter": str(adapter),
            "segments": segments,
            "cases": cases,
        }
        self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        count = self.process.stdout.read(8)
        assert len(count) == 8, self.process.stderr.read().decode()
        return bytearray(self.process.stdout.read(8 * int.from_bytes(count, sys.byteorder)))

    def end(self):
        self.process.communicate()


class Running:
    """A call in a fork of a loaded program that a test does not wait for: what tests use of
    `subprocess.Popen`. Its server, when the call has ended, is for the next one.
    """

    def __init__(self, servers, server, arguments, folder, environment, stdout, stderr):
        self.servers, self.server, self.args, self.returncode = servers, server, arguments, None
        self.files = [tempfile.NamedTemporaryFile("r", encoding="utf-8") for _ in range(2)]
        out, err = (str(to or file.name) for to, file in zip((stdout, stderr), self.files))
        server.begin(arguments, folder, environment, out, err)
        children = pathlib.Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children")
        self.pid = None
        while self.pid is None and self.poll() is None:
            self.pid = next(map(int, children.read_text().split()), None)

    def poll(self, timeout=0):
        if self.returncode is None and self.server.ended(timeout):
            self.returncode = self.server.code()
            self.servers.append(self.server)
        return self.returncode

    def wait(self, timeout=None):
        if self.poll(timeout) is None:
            raise subprocess.TimeoutExpired(self.args, timeout)
        return self.returncode

    def communicate(self, timeout=None):
        self.wait(timeout)
        return tuple(file.read() for file in self.files)

    def send_signal(self, number):
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self):
        self.send_signal(signal.SIGKILL)

    def terminate(self):
        self.send_signal(signal.SIGTERM)


class Program:
    """`pardec`, always called in one scratch folder."""

    def __init__(self, path, folder):
        self.path = str(pathlib.Path(path).resolve())
        self.folder = pathlib.Path(folder)
        forks = pathlib.Path(self.path).parent / "tests" / "cli" / "fork_server"
        self.forks = (
            forks
            if forks.exists() and forks.stat().st_mtime >= pathlib.Path(self.path).stat().st_mtime
            else None
        )
        self.servers = threading.local()  # a server takes one call at a time
        self.free = []  # servers of calls that `start` began and that have ended

    def forks_for(self, arguments, environment):
        """Whether a fork of a loaded program can do a call; otherwise it needs a new process."""
        return (
            self.forks
            and environment.get("OMP_NUM_THREADS") == "1"
            and all(a.isprintable() for a in arguments)
        )

    def forked(self, arguments, environment, timeout, stdout=None):
        """A call in a fork of a loaded program; None where the call needs a start of its own."""
        if not self.forks_for(arguments, environment):
            return None
        if not hasattr(self.servers, "mine"):
            self.servers.mine = ForkServer(self.forks)
        return self.servers.mine(arguments, self.folder, environment, timeout, stdout)

    def arguments(self, args):
        """The whole command line; verbs that compute get one thread."""
        args = [str(a) for a in args]
        if (
            args
            and args[0] in ("run", "sweep", "generate")
            and "--threads" not in args
            and "--help" not in args
        ):
            args += ["--threads", "1"]
        return [self.path, *args]

    def __call__(self, *args, timeout=300, env=None, **options):
        arguments, environment = self.arguments(args), clean_environment(**(env or {}))
        ran = None if options else self.forked(arguments, environment, timeout)
        return ran or subprocess.run(
            arguments,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=timeout,
            env=environment,
            stdin=subprocess.DEVNULL,
            **options,
        )

    def start(self, *args, stdout=None, stderr=None, env=None, **options):
        """The same without waiting for its end. `stdout`, `stderr`: the path of a terminal or file
        that is written to; without one, `communicate` returns what was written.
        """
        arguments, environment = self.arguments(args), clean_environment(**(env or {}))
        if not options and self.forks_for(arguments, environment):
            server = self.free.pop() if self.free else ForkServer(self.forks)
            return Running(self.free, server, arguments, self.folder, environment, stdout, stderr)
        with contextlib.ExitStack() as files:
            out, err = (
                files.enter_context(open(to, "a")) if to else subprocess.PIPE
                for to in (stdout, stderr)
            )
            return subprocess.Popen(
                arguments,
                cwd=self.folder,
                stdout=out,
                stderr=err,
                text=True,
                env=environment,
                stdin=subprocess.DEVNULL,
                **options,
            )

    def at(self, folder):
        """The same program, called in another folder."""
        other = copy.copy(self)
        other.folder = pathlib.Path(folder)
        return other

    def good(self, *args, **options):
        """A call that the test cannot go on without; returns what it printed."""
        ran = self(*args, **options)
        called = " ".join(map(str, args))
        assert ran.returncode == 0, f"pardec {called}: exit {ran.returncode}: {ran.stderr}"
        return ran.stdout

    def synthesise(self, name, seed=1, **changes):
        """A network of random weights in the scratch folder; returns its folder."""
        config = self.folder / f"{name}.config.json"
        config.write_text(json.dumps({**TINY, **changes}))
        self.good("model", "synth", self.folder / name, "--config", config, "--seed", seed)
        return self.folder / name


# What experiments/quickstart/job.json asks for; its other fields are absent.
JOB_ANSWER = {
    "Brand": "Pinafell",
    "Item form": "Bags",
    "Flavor": "Chai",
    "Net content": "100 Count",
    "Specialty": "Organic",
    "Tea variety": "Black Tea",
    "Pack size": "Pack of 2",
    "Caffeine content": "Caffeine Free",
}


def check_first_answer(pardec, decoder, *flags):
    """The answer that a reader of README.md sees first is right, value by value."""
    answer = json.loads(
        pardec.good(
            "generate",
            *flags,
            "--decoder",
            decoder,
            "--job",
            ROOT / "experiments/quickstart/job.json",
            "--format",
            "json",
        )
    )
    values = {field["field"]: field["text"] for field in answer["answers"]}
    assert len(values) == 11
    assert {name: text for name, text in values.items() if text is not None} == JOB_ANSWER
    said = json.loads(answer["text"].removeprefix("<result>").removesuffix("</result>"))
    assert {name: text for name, text in said["1"].items() if text != "n/a"} == JOB_ANSWER


@contextlib.contextmanager
def scratch(program):
    """A `Program` with a scratch folder that goes away."""
    with tempfile.TemporaryDirectory(prefix="pardec-cli-") as folder:
        yield Program(program, folder)


def query(db, sql, *parameters):
    """All rows, as dictionaries."""
    with contextlib.closing(
        sqlite3.connect(f"file:{db}?mode=ro", uri=True, timeout=30)
    ) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(sql, parameters)]


def change(db, sql, *parameters):
    """Changes a database without the program."""
    with contextlib.closing(sqlite3.connect(db, timeout=30)) as connection, connection:
        return connection.execute(sql, parameters).rowcount


def job_count(db):
    """How many jobs are committed; 0 while there is no database yet."""
    try:
        return query(db, "SELECT count(*) AS n FROM job")[0]["n"]
    except sqlite3.Error:
        return 0


def answers(db, where="1"):
    """Every answer by arm, dataset, sample and repeat: text, ids, fields, error and stop reason."""
    rows = query(
        db,
        f"""SELECT run.label, dataset.name, sample.key, generation.repeat, generation.text,
                   generation.tokens, generation.fields, generation.error, generation.stop
            FROM generation
            JOIN run ON run.id = generation.run_id
            JOIN sample ON sample.id = generation.sample_id
            JOIN dataset ON dataset.id = run.dataset_id
            WHERE {where}""",
    )
    found = {}
    for row in rows:
        key = (row["label"], row["name"], row["key"], row["repeat"])
        assert key not in found, f"{db}: {key} stands twice"
        found[key] = (row["text"], row["tokens"], row["fields"], row["error"], row["stop"])
    return found


def signal_after(process, db, jobs, number, pause=0.0):
    """Sends a signal once `jobs` jobs are committed; returns whether the process still ran then."""
    while process.poll() is None and job_count(db) < jobs:
        time.sleep(0.002)
    time.sleep(pause)
    if process.poll() is not None:
        return False
    process.send_signal(number)
    return True


def kill_after(process, db, jobs, pause=0.0):
    """kill -9 once `jobs` jobs are committed; returns whether it died of it."""
    signal_after(process, db, jobs, signal.SIGKILL, pause)
    process.communicate(timeout=120)
    return process.returncode == -signal.SIGKILL


def records(dataset, split="test", root=SAMPLES):
    """A dataset's file, one dictionary a product."""
    with open(pathlib.Path(root) / dataset / f"{split}.jsonl", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


def write_lines(file, lines):
    """A JSON-lines file of dictionaries, or of texts as they are."""
    file = pathlib.Path(file)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(
        "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines),
        encoding="utf-8",
    )
    return file
