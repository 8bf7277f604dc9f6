"""Odd situations: runs removed under a process, two trainings in one folder, variables of the
environment, numbers, files.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import struct
import threading
import time

import pytest
from harness import change, job_count, query
from scripted_service import Judge

RUN = ["run", "--dataset", "oa-mine", "--max-new-tokens", 8, "--progress", "none"]
TRAIN = [
    "train", "--dataset", "oa-mine", "--format", "ar", "--context-length", 1024, "--progress",
    "none",
]


@pytest.fixture(scope="module")
def model(pardec):
    return pardec.synthesise("model")


@pytest.fixture(scope="module")
def stored(pardec, model):
    """A database of two arms; tests that change it take a copy."""
    db = pardec.folder / "r.sqlite"
    pardec.good(
        "run", "--model", model, "--decoder", "ar,prompt-lookup", "--dataset", "mt-bench",
        "--limit", 3, "--max-new-tokens", 4, "--db", db, "--progress", "none",
    )
    return db


@pytest.fixture
def db(stored, tmp_path):
    """A copy of that database."""
    return shutil.copy(stored, tmp_path / "r.sqlite")


def check_refused(ran, *words):
    """One line that holds the words."""
    assert ran.returncode == 2, ran.stderr
    for word in words:
        assert word in ran.stderr
    assert len(ran.stderr.strip().splitlines()) == 1
    assert "internal error" not in ran.stderr


def test_a_run_that_goes_on_is_not_removed_under_its_process(pardec, model, tmp_path):
    """Not even with --yes; one that was killed is removed."""
    db = tmp_path / "live.sqlite"
    process = pardec.start(*RUN, "--model", model, "--decoder", "ar,hpd", "--runs", 20, "--db", db)
    while process.poll() is None and (not db.exists() or job_count(db) < 2):
        time.sleep(0.01)
    process.send_signal(signal.SIGSTOP)
    invocation = query(db, "SELECT invocation FROM run")[0]["invocation"][:8]
    check_refused(
        pardec("runs", "rm", invocation, "--db", db, "--yes"),
        "may still run in process",
        str(process.pid),
    )
    process.send_signal(signal.SIGCONT)
    process.kill()
    process.communicate()
    pardec.good("runs", "rm", invocation, "--db", db, "--yes")
    assert not query(db, "SELECT * FROM run")


@pytest.fixture(scope="module")
def training(pardec, model):
    """The folder of a training that goes on, which a link names as well; its files stay."""
    os.symlink("tuned", pardec.folder / "other-name")
    process = pardec.start(*TRAIN, "--model", model, "--steps", 4000, "--out", "tuned")
    until = time.monotonic() + 60
    while (
        not (pardec.folder / "tuned" / "training.json").exists()
        and process.poll() is None
        and time.monotonic() < until
    ):
        time.sleep(0.02)
    process.send_signal(signal.SIGSTOP)
    before = {p.name for p in (pardec.folder / "tuned").iterdir()}
    yield
    process.kill()
    process.communicate()
    assert {p.name for p in (pardec.folder / "tuned").iterdir()} >= before


@pytest.mark.usefixtures("training")
@pytest.mark.parametrize(
    ("flags", "said"),
    [([], "holds a training run"), (["--resume"], "another process trains into")],
    ids=["begun", "resumed"],
)
@pytest.mark.parametrize("out", ["tuned", "other-name"])
def test_a_second_training_into_a_folder_is_refused(pardec, model, out, flags, said):
    ran = pardec(*TRAIN, "--model", model, "--steps", 4000, "--out", out, *flags)
    assert ran.returncode in (1, 2), ran.stderr
    assert said in ran.stderr


@pytest.mark.usefixtures("training")
def test_another_folder_is_free_beside_a_training(pardec, model):
    ran = pardec(
        *TRAIN, "--model", model, "--steps", 1, "--limit", 6, "--batch-tokens", 256, "--out", "free"
    )
    assert ran.returncode == 0, ran.stderr


def test_a_variable_of_the_environment_confirms_nothing(pardec, stored):
    invocation = query(stored, "SELECT invocation FROM run")[0]["invocation"][:8]
    ran = pardec("runs", "rm", invocation, "--db", stored, env={"PARDEC_YES": "true"})
    assert ran.returncode == 2, ran.stderr
    assert "--yes" in ran.stderr
    assert query(stored, "SELECT * FROM run")


def test_runs_lists_the_same_whichever_network_is_set(pardec, stored):
    settings = {
        "PARDEC_MODEL": pardec.folder / "model",
        "PARDEC_DATASET": "rotten",
        "PARDEC_DECODER": "hpd",
        "PARDEC_LIMIT": "1",
    }
    plain = pardec.good("runs", "--db", stored)
    assert pardec("runs", "--db", stored, env=settings).stdout == plain
    assert query(stored, "SELECT invocation FROM run")[0]["invocation"][:8] in plain


@pytest.mark.parametrize(
    "verb",
    [["score"], ["reproduce", "list"], ["compare"], ["report", "-o", "variables.html"]],
    ids=lambda verb: verb[0],
)
def test_verbs_without_a_network_accept_variables_of_run(pardec, model, db, verb):
    pardec.good(*verb, "--db", db, env={"PARDEC_MODEL": model, "PARDEC_TRACE": "t.jsonl"})


def test_run_reads_the_network_from_the_environment(pardec, model):
    pardec.good(
        *RUN, "--decoder", "ar", "--limit", 1, "--db", "by-variable.sqlite",
        env={"PARDEC_MODEL": model},
    )


@pytest.mark.parametrize("size", ["0x10G", "0x1p40", "1e999", "nan", "inf", "-1G", "1e999G"])
def test_a_size_that_is_no_decimal_number_is_refused(pardec, model, size):
    check_refused(
        pardec(
            *RUN, "--model", model, "--decoder", "ar", "--db", "n.sqlite", "--memory-limit", size
        ),
        "--memory-limit",
        "expected a size",
    )


@pytest.mark.parametrize("rate", ["0x1", "1e999", "nan", "0x0.8p0", "1e-999"])
def test_a_rate_that_is_no_decimal_number_is_refused(pardec, model, rate):
    check_refused(
        pardec(
            *RUN, "--model", model, "--decoder", "ar", "--db", "n.sqlite", "--oracle",
            f"accept:{rate}",
        ),
        "--oracle",
        "expected",
    )


@pytest.mark.parametrize(
    ("flag", "value"),
    [
        ("--temperature", "1e999"),
        ("--top-p", "1e999"),
        ("--limit", "0x10"),
        ("--cache-watermark", "1e999"),
        ("--fail-on-error", "1e999"),
        ("--seed", "1e999"),
        ("--max-new-tokens", "1e999"),
    ],
)
def test_a_number_that_is_no_decimal_one_or_too_large_is_refused(pardec, model, flag, value):
    check_refused(
        pardec(*RUN, "--model", model, "--decoder", "ar", "--db", "n.sqlite", flag, value),
        flag,
        "expected",
    )


@pytest.mark.parametrize("setting", ["hpd.k_max=1e999", "hpd.k_max=0x10"])
def test_a_setting_that_is_no_decimal_number_is_refused(pardec, model, setting):
    check_refused(
        pardec(*RUN, "--model", model, "--decoder", "hpd", "--db", "n.sqlite", "--set", setting),
        "k_max",
        "expected",
    )


def test_a_number_of_an_experiment_that_is_too_large_is_refused(pardec, model, tmp_path):
    file = tmp_path / "big.json"
    file.write_text(
        '{"datasets": ["oa-mine"], "decoders": [{"label": "ar", "name": "ar"}], "temperature":'
        " 1e999}"
    )
    check_refused(
        pardec("run", "-c", file, "--model", model, "--db", "n.sqlite"), "big.json", "number"
    )


@pytest.mark.parametrize("verb", ["runs", "compare", "judge", "model", "data"])
def test_a_flag_without_its_value_is_said_without_an_empty_kind(pardec, verb):
    """CLI11 would say `of kind` and nothing."""
    ran = pardec(verb, "--db")
    assert "kind  " not in ran.stderr
    assert not ran.stderr.rstrip().endswith("kind")
    assert "of kind \n" not in ran.stderr


def test_an_unknown_flag_is_said_without_an_empty_kind(pardec):
    ran = pardec("runs", "--arguments=", "--db", "x")
    assert "of kind  " not in ran.stderr
    assert "of kind (" not in ran.stderr


@pytest.fixture(scope="module")
def judged(pardec, stored):
    """A copy of the database that three judges judged."""
    db = pardec.folder / "judged.sqlite"
    shutil.copy(stored, db)
    change(
        db,
        "UPDATE generation SET fields = json_set(fields, '$[0].text', 'another answer') WHERE"
        " run_id = (SELECT id FROM run WHERE label <> 'ar')",
    )
    judge = Judge(lambda *_: '{"explanation": "", "score": 5}')
    pairs = Judge(lambda *_: '{"explanation": "", "winner": "A"}')
    for name, service, protocol in (
        ("single", judge, "single"),
        ("again", judge, "single"),
        ("pairs", pairs, "pairwise"),
    ):
        pardec.good(
            "judge", "--db", db, "--service", service.file(pardec.folder, name), "--protocol",
            protocol, "--progress", "none", "--format", "json",
        )
    return db


def test_judge_prints_one_json_document(pardec, judged):
    tables = json.loads(pardec.good("judge", "--db", judged, "--format", "json"))
    assert isinstance(tables, list)
    assert len(tables) > 1
    assert all("rows" in table for table in tables)


def test_list_prints_one_json_document(pardec):
    assert len(json.loads(pardec.good("list", "--format", "json"))) == 2
    assert isinstance(json.loads(pardec.good("list", "datasets", "--format", "json")), dict)


@pytest.mark.parametrize(
    "verb", [["compare"], ["report"], ["export", "--out", "tables"]], ids=lambda verb: verb[0]
)
def test_a_trace_file_without_a_trace_is_refused(pardec, stored, tmp_path, verb):
    file = tmp_path / "empty.jsonl"
    file.write_text("")
    check_refused(
        pardec(*verb, "--db", stored, "--hardware", "here", "--trace", file),
        "--trace",
        "empty.jsonl",
        "holds no trace",
    )


@pytest.mark.parametrize("header", [2**60, 2**40, 2**30, 99_000_000])
def test_a_header_of_weights_that_is_too_long_is_refused(pardec, model, tmp_path, header):
    folder = tmp_path / "long"
    shutil.copytree(model, folder)
    with (folder / "model.safetensors").open("wb") as file:
        file.write(struct.pack("<Q", header))
        file.truncate(8 + min(header, 99_000_000))
    ran = pardec("generate", "--model", folder, "--prompt", "x", "--max-new-tokens", 1)
    assert ran.returncode == 2, ran.stderr
    assert "header" in ran.stderr
    assert "memory" not in ran.stderr.lower()


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("run", "options", "[1]"),
        ("run", "config", "7"),
        ("run", "argv", "{}"),
        ("job", "tokens", '"x"'),
        ("generation", "fields", "{}"),
        ("generation", "fields", "[1]"),
        ("score", "details", "[]"),
        ("model", "shape", "[]"),
        ("sample", "fields", "5"),
        ("job", "branch_lengths", '["x"]'),
    ],
)
def test_json_of_another_kind_in_a_database_is_no_internal_error(
    pardec, db, tmp_path, table, column, value
):
    change(db, f"UPDATE {table} SET {column} = ?", value)
    for verb in (
        ["compare"],
        ["score"],
        ["report", "-o", tmp_path / "broken.html"],
        ["export", "--out", tmp_path / "tables"],
        ["runs"],
        ["compare", "--accounting"],
    ):
        ran = pardec(*verb, "--db", db)
        assert "internal error" not in ran.stderr, f"{verb}: {ran.stderr}"
        assert ran.returncode == 0 or "r.sqlite" in ran.stderr or "in the database" in ran.stderr, (
            f"{verb}: exit {ran.returncode}: {ran.stderr}"
        )


def test_a_key_that_an_adapter_has_twice_is_refused(pardec, model):
    pardec.good(
        *TRAIN, "--model", model, "--steps", 1, "--limit", 6, "--batch-tokens", 256, "--lora-rank",
        2, "--out", "adapter",
    )
    config = pardec.folder / "adapter" / "adapter_config.json"
    config.write_text(config.read_text().rstrip().removesuffix("}") + ', "r": 4}')
    check_refused(
        pardec(
            "generate", "--model", model, "--adapter", "adapter", "--prompt", "x",
            "--max-new-tokens", 1,
        ),
        "adapter_config.json",
        'has "r" twice',
    )


def test_labels_that_have_a_verdict_twice_are_refused(pardec, stored, tmp_path):
    pardec.good(
        "judge", "export", "--db", stored, "--protocol", "single", "--out", tmp_path / "sheet.csv"
    )
    item = (tmp_path / "sheet.csv").read_text().splitlines()[1].split(",")[0]
    (tmp_path / "labels.json").write_text(
        f'{{"protocol": "single", "labels": [{{"item": "{item}", "verdict": "3", "verdict":'
        ' "9"}]}'
    )
    imported = [
        "judge", "import", "--db", stored, "--protocol", "single", "--name", "A", "--labels",
    ]
    check_refused(
        pardec(*imported, tmp_path / "labels.json"), "labels.json", "'verdict' occurs twice"
    )
    (tmp_path / "labels.csv").write_text(f"item,verdict,verdict\n{item},3,9\n")
    check_refused(pardec(*imported, tmp_path / "labels.csv"), "labels.csv", "verdict", "twice")


def test_what_the_system_did_not_tell_of_a_measurement_is_none(pardec, db):
    """And not 0."""

    def disturbed():
        rows = json.loads(pardec.good("compare", "--db", db, "--format", "json"))["rows"]
        return {
            row["arm"]: (row["disturbed_measurements"], row["repaired_measurements"])
            for row in rows
        }

    told = disturbed()
    assert told["ar"] == (None, None)
    assert all(isinstance(n, int) for n in told["prompt-lookup"])
    change(db, "UPDATE block SET cpu_ns = NULL, waited_ns = NULL, stolen_ns = NULL, mhz = NULL")
    assert set(disturbed().values()) == {(None, None)}


def test_an_answer_of_a_service_whose_head_has_an_endless_line_is_said_to_have_one(
    pardec, db, tmp_path
):
    server = socket.create_server(("127.0.0.1", 0))

    def serve():
        while True:
            connection, _ = server.accept()
            connection.recv(1 << 20)
            with contextlib.suppress(OSError):
                connection.sendall(
                    b"HTTP/1.1 200 OK\r\nX-Long: "
                    + b"a" * 300_000
                    + b"\r\nContent-Length: 2\r\n\r\n{}"
                )
            connection.close()

    threading.Thread(target=serve, daemon=True).start()
    file = tmp_path / "long.json"
    file.write_text(
        json.dumps(
            {
                "interface": "openai-chat",
                "base_url": f"http://127.0.0.1:{server.getsockname()[1]}/v1",
                "model": "long",
                "retries": 0,
            }
        )
    )
    ran = pardec(
        "judge", "--db", db, "--service", file, "--protocol", "single", "--limit", 1, "--progress",
        "none",
    )
    assert ran.returncode in (1, 3)
    said = ran.stdout + ran.stderr
    assert "a line of the answer's head" in said
    assert "Out of memory" not in said


def test_judge_whose_database_vanishes_says_how_to_go_on(pardec, db, tmp_path):
    """--resume is advised to verbs that have it, and judge does not."""
    judge = Judge(lambda *_: '{"explanation": "", "score": 5}', delay=0.2)
    process = pardec.start(
        "judge",
        "--db",
        db,
        "--service",
        judge.file(tmp_path, "advice", concurrency=1),
        "--protocol",
        "single",
        "--progress",
        "none",
    )
    while not judge.asked and process.poll() is None:
        time.sleep(0.01)
    db.unlink()
    _, err = process.communicate(timeout=60)
    assert process.returncode == 1, err
    assert "--resume" not in err
    assert "continue with --db" in err
    assert "r.sqlite.recovered-1" in err
