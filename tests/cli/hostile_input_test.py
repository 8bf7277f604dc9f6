"""Input made to do harm: without end, nested, or growing without bound, and controls for the
terminal.

Each call ends by itself, in little memory, with an error that names the place; a job that fails so
is a row, and the run goes on.
"""

import errno
import json
import os
import pty
import resource
import shutil

import pytest
from harness import SAMPLES, TOKENIZER, clean_environment, query, records, write_lines

SECONDS = 120  # far beyond what any call takes
MEMORY = 6 << 30
DEEP = 200_000


@pytest.fixture(scope="module", autouse=True)
def bounded(pardec):
    """Bounds the memory of every call, unless the program cannot start with the bound (a
    sanitizer's shadow is larger).
    """
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, before[1]))
    if pardec("--version").returncode != 0:
        resource.setrlimit(resource.RLIMIT_AS, before)
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.fixture(scope="module")
def model(bounded, pardec):
    return pardec.synthesise("model")


def check_refused(ran, *pieces):
    """One line on stderr that holds the pieces."""
    last = (ran.stderr.splitlines() or [""])[-1]
    assert ran.returncode == 2, ran.stderr[-400:]
    assert not ran.stdout
    for piece in pieces:
        assert piece in last
    assert "internal error" not in last


def copied(model, folder):
    """A copy of the network."""
    shutil.copytree(model, folder)
    return folder


def data_root(root, lines=None):
    """A data root whose oa-mine has these lines, or no test file."""
    (root / "oa-mine").mkdir(parents=True)
    shutil.copy(SAMPLES / "oa-mine" / "train.jsonl", root / "oa-mine")
    if lines is not None:
        write_lines(root / "oa-mine" / "test.jsonl", lines)
    return root


def run_on(root, model, db="new.sqlite", dataset="oa-mine"):
    """The arguments of a run on a data root."""
    return [
        "run", "--model", model, "--decoder", "ar", "--dataset", dataset, "--data-root", root,
        "--db", db, "--max-new-tokens", 4, "--progress", "none",
    ]


def readers(folder, model, make):
    """(what is read, arguments) of every kind of file that is read, with `make(file, original)`
    in its place.
    """
    for name in (
        "config.json", "tokenizer.json", "chat_template.jinja", "generation_config.json",
        "tokenizer_config.json", "training.json", "medusa_heads.safetensors", "model.safetensors",
    ):
        network = copied(model, folder / name)
        (network / name).unlink(missing_ok=True)
        make(network / name)
        yield name, ["generate", "--prompt", "x", "--max-new-tokens", 1, "--model", network]
    for name in (
        "job.json", "jobs.jsonl", "ids.txt", "trace.jsonl", "experiment.json", "prompt.txt",
    ):
        make(folder / name)
    asked = ["--model", model]
    yield "a job", ["generate", *asked, "--job", folder / "job.json"]
    yield "jobs", ["generate", *asked, "--job", folder / "jobs.jsonl"]
    yield "an experiment", ["run", "-c", folder / "experiment.json"]
    yield "a stored trace", ["generate", "--watch", "--from-trace", folder / "trace.jsonl"]
    yield (
        "a trace to judge",
        ["roofline", *asked, "--trace", folder / "trace.jsonl", "--hardware", "h100"],
    )
    root = data_root(folder / "data")
    make(root / "oa-mine" / "test.jsonl")
    yield "a dataset", run_on(root, model)
    (root / "squad").mkdir()
    make(root / "squad" / "dev-v2.0.json")
    yield "a dataset of one value", run_on(root, model, dataset="squad")
    yield "token ids", ["generate", *asked, "--prompt-tokens", f"@{folder / 'ids.txt'}"]
    yield "a wording", ["generate", *asked, "--prompt", "x", "--prompt-file", folder / "prompt.txt"]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        pytest.param(os.mkfifo, "FIFO", id="a-FIFO-that-nobody-writes-to"),
        pytest.param(
            lambda file: file.symlink_to("/dev/zero"), "device", id="a-device-that-never-ends"
        ),
    ],
)
def test_files_without_an_end_are_refused(subtests, pardec, model, tmp_path, make, said):
    for what, args in readers(tmp_path, model, make):
        with subtests.test(what):
            check_refused(
                pardec(*args, timeout=SECONDS),
                (
                    "not a regular file"
                    if "safetensors" in what
                    else f"is a {said}, expected a regular file"
                ),
            )


def nested(file):
    """JSON in JSON in JSON."""
    if file.suffix == ".safetensors":
        header = b'{"a":' + b"[" * DEEP + b"]" * DEEP + b"}"
        file.write_bytes(len(header).to_bytes(8, "little") + header)
    else:
        file.write_text('{"a":' * DEEP + "1" + "}" * DEEP)


def test_files_of_deeply_nested_json_are_refused(subtests, pardec, model, tmp_path):
    for what, args in readers(tmp_path, model, nested):
        if what not in ("chat_template.jinja", "token ids", "a wording"):
            with subtests.test(what):
                check_refused(pardec(*args, timeout=SECONDS), "nested")


def test_a_deeply_nested_variable_of_a_chat_template_is_refused(pardec, model):
    ran = pardec(
        "generate", "--model", model, "--prompt", "x", "--chat-set",
        "x=" + "[" * 60000 + "]" * 60000, timeout=SECONDS,
    )
    check_refused(ran, "--chat-set: 'x' is nested")


@pytest.fixture(scope="module")
def slow_tokenizer(pardec, model):
    """A network whose tokenizer takes exponentially many steps on one text, and a record with
    that text.
    """
    tokenizer = json.loads(TOKENIZER.read_text())
    split = {"type": "Split", "pattern": {"Regex": "(a+)+$"}, "behavior": "Isolated"}
    tokenizer["pre_tokenizer"] = {
        "type": "Sequence",
        "pretokenizers": [split, tokenizer["pre_tokenizer"]],
    }
    folder = copied(model, pardec.folder / "evil-tokenizer")
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    return folder, {**records("oa-mine")[0], "input": "b " + "a" * 60 + "!"}


def test_a_text_that_a_tokenizer_cannot_split_in_its_steps_is_a_row_with_a_reason(
    pardec, slow_tokenizer, tmp_path
):
    folder, evil = slow_tokenizer
    db = tmp_path / "evil.sqlite"
    # The evil text comes first, also in the warm-up.
    ran = pardec(
        *run_on(data_root(tmp_path / "data", [evil, *records("oa-mine")[1:3]]), folder, db),
        timeout=SECONDS,
    )
    assert ran.returncode == 3, ran.stderr
    rows = query(db, "SELECT error FROM generation ORDER BY id")
    assert len(rows) == 3
    errors = [row["error"] for row in rows if row["error"]]
    assert len(errors) == 1
    assert "evil-tokenizer/tokenizer.json: regular expression '(a+)+$' fails at byte" in errors[0]


def test_a_job_that_a_tokenizer_cannot_split_fails_beside_a_good_one(
    pardec, slow_tokenizer, tmp_path
):
    folder, evil = slow_tokenizer
    jobs = write_lines(
        tmp_path / "jobs.jsonl",
        [
            {"contexts": [{"text": r["input"], "fields": [{"name": "Brand"}]}]}
            for r in (evil, records("oa-mine")[1])
        ],
    )
    ran = pardec(
        "generate", "--model", folder, "--job", jobs, "--max-new-tokens", 2, "--format", "json",
        timeout=SECONDS,
    )
    assert ran.returncode == 3, ran.stderr
    assert len(ran.stdout.splitlines()) == 1
    assert "regular expression" in ran.stderr


@pytest.fixture(scope="module")
def slow_template(pardec, model):
    """A network whose chat template has loops in loops."""
    folder = copied(model, pardec.folder / "evil-template")
    (folder / "chat_template.jinja").write_text(
        "{{ messages[0].content }}\n{% for i in range(100000) %}{% for j in range(100000) %}{%"
        " endfor %}{% endfor %}"
    )
    return folder


def test_a_chat_template_that_takes_too_many_steps_is_refused(pardec, slow_template):
    ran = pardec("generate", "--model", slow_template, "--prompt", "x", timeout=SECONDS)
    check_refused(ran, "evil-template/chat_template.jinja, line 2", "steps")


def test_each_example_of_a_template_that_takes_too_many_steps_is_a_row_with_the_line(
    pardec, slow_template, tmp_path
):
    db = tmp_path / "template.sqlite"
    ran = pardec(
        *run_on(data_root(tmp_path / "data", records("oa-mine")[:2]), slow_template, db),
        "--warmup",
        0,
        timeout=SECONDS,
    )
    assert ran.returncode == 3, ran.stderr
    rows = query(db, "SELECT error FROM generation")
    assert len(rows) == 2
    assert all("line 2" in row["error"] for row in rows)


TRACE = {
    "request": "r",
    "decoder": "ar",
    "tokens": [1, 2],
    "position": [0, 1],
    "step": [0, 1],
    "visible": [[0], [[0, 2]]],
    "predicts": [2, 3],
    "from": [None, 0],
    "banned": [None, None],
    "dropped_at": [None, None],
    "emitted": [0, 1],
}


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("visible", [[0], [[0, 2**31 - 1]]]),
        ("visible", [[0], [[1, 2], [0, 1]]]),
        ("visible", [[0], [[-5, 1]]]),
        ("visible", [[0], [2**40]]),
        ("step", [0, 2**31 - 1]),
        ("position", [0, 2**31 - 1]),
        ("emitted", [2**32]),
    ],
    ids=str,
)
def test_rows_and_passes_that_a_trace_lacks_are_refused(pardec, model, tmp_path, column, value):
    file = write_lines(tmp_path / "trace.jsonl", [{**TRACE, column: value}])
    for verb in (
        ["generate", "--watch", "--from-trace", file],
        ["roofline", "--model", model, "--hardware", "h100", "--trace", file],
    ):
        check_refused(pardec(*verb, timeout=SECONDS), "trace.jsonl:1:", "expected")


def test_passes_that_are_far_apart_are_two(pardec, model, tmp_path):
    file = write_lines(tmp_path / "far.jsonl", [{**TRACE, "step": [0, 2**31 - 2]}])
    ran = pardec(
        "roofline", "--model", model, "--hardware", "h100", "--trace", file, timeout=SECONDS
    )
    assert ran.returncode == 0, ran.stderr
    ran = pardec("generate", "--watch", "--from-trace", file, timeout=SECONDS)
    assert ran.returncode == 0, ran.stderr
    assert " 2 tokens in " in ran.stderr


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


RUDE = "a\x1b[2J\x07\u009b31mb"


def check_no_controls(shown):
    """A terminal gets no control of the texts."""
    for piece in (b"\x1b[2J", b"\x07", b"\xc2\x9b", b"\x00"):
        assert piece not in shown


@pytest.fixture(scope="module")
def rude_run(pardec, model):
    """A database whose label and whose ids have controls."""
    db, root = pardec.folder / "rude.sqlite", pardec.folder / "rude-data"
    write_lines(
        root / "jsonl" / "test.jsonl",
        [{"id": f"x{RUDE}\0{i}", "prompt": f"What is {i}?"} for i in range(2)],
    )
    pardec.good(
        "run", "--model", model, "--arm", f"{RUDE}=ar", "--arm", "b=prompt-lookup", "--dataset",
        "jsonl", "--data-root", root, "--db", db, "--max-new-tokens", 4, "--progress", "none",
        "--warmup", 0,
    )
    return db


@pytest.mark.parametrize(
    "flags",
    [
        [],
        ["--format", "csv"],
        ["--format", "json"],
        ["--format", "latex"],
        ["--differences", 5],
        ["--differences", 5, "--format", "csv"],
    ],
    ids=str,
)
def test_no_control_of_a_label_or_an_id_reaches_a_terminal(pardec, rude_run, flags):
    check_no_controls(on_a_terminal(pardec, "compare", "--db", rude_run, *flags))


def test_tables_have_signs_in_the_place_of_controls(pardec, rude_run):
    assert "a·[2J··31mb" in pardec.good("compare", "--db", rude_run)


def test_csv_in_a_pipe_has_a_label_as_it_is(pardec, rude_run):
    assert "\x1b[2J" in pardec.good("compare", "--db", rude_run, "--format", "csv")


def test_no_control_of_a_jobs_id_is_in_an_error(pardec, model, tmp_path):
    """Neither on a terminal nor in a pipe."""
    job = tmp_path / "rude.json"
    job.write_text(
        json.dumps(
            {"id": RUDE, "contexts": [{"text": "Nike " * 5000, "fields": [{"name": "Brand"}]}]}
        )
    )
    check_no_controls(on_a_terminal(pardec, "generate", "--model", model, "--job", job))
    assert "\x1b" not in pardec("generate", "--model", model, "--job", job).stderr


@pytest.fixture(scope="module")
def rude_answer(pardec, model):
    """A call whose answer has controls: its tokenizer decodes to them."""
    tokenizer = json.loads(TOKENIZER.read_text())
    tokenizer["decoder"] = {
        "type": "Sequence",
        "decoders": [
            tokenizer["decoder"],
            {"type": "Replace", "pattern": {"Regex": "."}, "content": "\x1b[2J\0"},
        ],
    }
    folder = copied(model, pardec.folder / "rude-model")
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    return ["generate", "--model", folder, "--prompt", "x", "--max-new-tokens", 8, "--ignore-eos"]


def test_no_control_of_an_answer_reaches_a_terminal(pardec, rude_answer):
    text = on_a_terminal(pardec, *rude_answer)
    assert "·[2J·".encode() in text
    assert b"\x1b[2J" not in text
    check_no_controls(on_a_terminal(pardec, *rude_answer, "--format", "json"))


def test_an_answer_in_a_pipe_is_what_it_is(pardec, rude_answer):
    assert "\x1b[2J\0" in pardec.good(*rude_answer)
