"""What asking a judge may cost, tell and take away: budgets over processes, one asker a database,
keys, sheets of another wording, a judge that nobody reaches.
"""

import csv
import json
import os
import pathlib
import re
import shutil
import socket
import time

import pytest
from harness import query
from scripted_service import Judge

ASK = ["judge", "--protocol", "single", "--progress", "none"]
GOOD = '{"explanation": "fine", "score": 7}'


@pytest.fixture(scope="module")
def model(pardec):
    return pardec.synthesise("model")


@pytest.fixture(scope="module")
def unjudged(pardec, model):
    """A run that nobody judged."""
    pardec.good(
        "run", "--model", model, "--decoder", "ar,prompt-lookup", "--dataset", "mt-bench",
        "--limit", 4, "--max-new-tokens", 4, "--db", "r.sqlite", "--progress", "none",
    )
    return pardec.folder / "r.sqlite"


@pytest.fixture
def db(unjudged, tmp_path):
    """A copy of it for one test."""
    return pathlib.Path(shutil.copy(unjudged, tmp_path / "r.sqlite"))


# Sheets: labels go to the protocol of their sheet, whichever references it showed -----------------


def exported(pardec, db, when):
    """What the export of a sheet prints, and its rows."""
    out = pardec.folder / f"{when}.csv"
    said = pardec.good(
        "judge", "export", "--db", db, "--protocol", "single", "--references", when, "--out", out
    )
    return said, list(csv.DictReader(out.open()))


@pytest.fixture(scope="module")
def sheets(pardec, unjudged):
    """The three sheets, by when references are shown."""
    return {when: exported(pardec, unjudged, when) for when in ("auto", "always", "never")}


@pytest.mark.parametrize("when", ["auto", "always", "never"])
def test_an_export_says_the_command_that_imports_its_sheet(sheets, when):
    said = sheets[when][0]
    assert ("--references" in said) == (when != "auto")
    assert when == "auto" or f"--references {when}" in said


def test_ids_of_items_tell_the_wording(sheets):
    items = {when: {row["item"] for row in rows} for when, (_, rows) in sheets.items()}
    assert not items["auto"] & items["always"]
    assert not items["always"] & items["never"]
    assert len(items["auto"]) == len(items["always"]) > 0


@pytest.fixture
def labels(sheets, tmp_path):
    """A filled sheet that always showed references."""
    rows = [{**row, "verdict": "7"} for row in sheets["always"][1]]
    with (tmp_path / "labels.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return tmp_path / "labels.csv"


def test_labels_of_another_wording_are_refused(pardec, db, labels):
    words = ["--protocol", "single", "--labels", labels, "--name", "ANNA"]
    ran = pardec("judge", "import", "--db", db, *words)
    assert ran.returncode == 2
    assert "--references" in ran.stderr
    assert not query(db, "SELECT * FROM judgment")


def test_labels_are_stored_under_the_protocol_of_their_sheet(pardec, db, labels, sheets):
    words = ["--protocol", "single", "--references", "always", "--labels", labels]
    pardec.good("judge", "import", "--db", db, *words, "--name", "ANNA")
    assert len(query(db, "SELECT DISTINCT protocol_id FROM judgment")) == 1
    assert len(query(db, "SELECT * FROM judgment")) == len(sheets["always"][1])


# Budgets: a service that counts no tokens is charged what a reply may have taken -----------------


def uncounted(*_):
    message = {"role": "assistant", "content": GOOD}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return {"id": "1", "model": "m", "choices": [choice]}


@pytest.fixture
def judge():
    return Judge(uncounted)


@pytest.mark.parametrize(
    "limit, priced",
    [(["--token-budget", 9000], False), (["--budget", 0.015], True)],
    ids=["tokens", "money"],
)
def test_a_budget_holds_also_for_later_processes(pardec, db, judge, limit, priced):
    file = judge.file(pardec.folder, "uncounted", concurrency=1)
    if not priced:
        service = json.loads(file.read_text())
        del service["prices"]
        file.write_text(json.dumps(service))
    ran = pardec(*ASK, "--db", db, "--service", file, *limit)
    asked = sum(judge.asked.values())
    assert ran.returncode == 1, ran.stderr
    assert "budget is reached" in ran.stderr
    assert 1 <= asked <= 4
    for _ in range(2):
        again = pardec(*ASK, "--db", db, "--service", file, *limit)
        assert again.returncode == 1, again.stderr
        assert "budget is reached" in again.stderr
        assert sum(judge.asked.values()) == asked
    rows = query(db, "SELECT prompt_tokens, completion_tokens FROM judge_reply")
    assert rows
    for row in rows:  # what the service said
        assert row["prompt_tokens"] is None
        assert row["completion_tokens"] is None


@pytest.mark.parametrize("number", [9223372036854775807, 2**62, 10**12])
def test_more_tokens_than_can_be_counted_are_refused(pardec, db, judge, number):
    file = judge.file(pardec.folder, "uncounted")
    words = ["--token-budget", 10, "--max-tokens", number]
    ran = pardec(*ASK, "--db", db, "--service", file, *words)
    assert ran.returncode == 2
    assert "--max-tokens" in ran.stderr
    assert "at most" in ran.stderr


def test_a_reply_that_may_exceed_the_budget_is_not_asked_for(pardec, db, judge):
    file = judge.file(pardec.folder, "uncounted")
    words = ["--token-budget", 10, "--max-tokens", 10**9]
    ran = pardec(*ASK, "--db", db, "--service", file, *words)
    assert ran.returncode == 1, ran.stderr
    assert not judge.asked


# One asker a database ----------------------------------------------------------------------------


def test_another_name_of_the_database_is_no_way_around_the_one_who_asks(pardec, db, tmp_path):
    slow = Judge(lambda *_: GOOD, delay=0.5)
    service = slow.file(pardec.folder, "slow", concurrency=2)
    other = tmp_path / "elsewhere"
    other.mkdir()
    os.symlink(db, other / "link.sqlite")
    os.link(db, other / "hard.sqlite")
    os.symlink(tmp_path, other / "folder")
    first = pardec.start(*ASK, "--db", db, "--service", service)
    until = time.monotonic() + 60
    while not slow.asked and time.monotonic() < until:
        time.sleep(0.01)
    for name, code, said in (
        (other / "link.sqlite", 1, "another process asks"),
        (other / "folder" / db.name, 1, "another process asks"),
        (other / "hard.sqlite", 2, "another name"),
    ):
        second = pardec(*ASK, "--db", name, "--service", service)
        assert second.returncode == code, f"{name}: {second.stderr}"
        assert said in second.stderr
    _, err = first.communicate(timeout=120)
    assert first.returncode == 0, err
    assert set(slow.asked.values()) == {1}, "each is asked once"
    os.unlink(other / "hard.sqlite")
    assert pardec("compare", "--db", db).returncode == 0
    assert not list(tmp_path.glob("**/*-judge-*")), "a lock is left"


# A judge that nobody reaches ---------------------------------------------------------------------


@pytest.mark.parametrize("form", ["text", "json", "csv"])
def test_a_run_is_shown_whatever_its_judge_does(pardec, model, tmp_path, form):
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{nobody.getsockname()[1]}/v1"
        service = {"interface": "openai-chat", "base_url": url, "model": "nobody", "retries": 0}
        (tmp_path / "nobody.json").write_text(json.dumps(service))
        ran = pardec(
            "run", "--model", model, "--decoder", "ar", "--dataset", "mt-bench", "--limit", 2,
            "--max-new-tokens", 4, "--db", tmp_path / "r.sqlite", "--progress", "none", "--judge",
            tmp_path / "nobody.json", "--format", form,
        )
    assert ran.returncode == 1, ran.stderr
    assert "tokens" in ran.stdout
    assert "mt-bench" in ran.stdout
    assert "cannot be reached" in ran.stderr
    assert "the run is done and stored" in ran.stderr
    assert "sent in clear" not in ran.stderr, "to this machine nothing is sent over a network"


# Keys --------------------------------------------------------------------------------------------

KEY = 'sk/"ab\\cd/ef"gh\\ij-0123456789'  # with what JSON escapes
PIECES = [b"cd/ef", b"cd\\/ef", b"gh", b"ij-0123", b"sk/", b"sk\\/"]


def told(*_):
    """An error that says the key back, as text and as JSON."""
    nested = json.dumps({"error": json.dumps({"key": KEY})})
    message = f"what is {KEY} and {json.dumps(KEY)}? {nested}"
    return {"error": {"message": message, "type": "server_error"}, "key": KEY}


def test_a_key_that_is_said_back_is_stored_nowhere(pardec, db, tmp_path):
    file = Judge(told).file(pardec.folder, "echo", key_env="ECHO_KEY", retries=1, concurrency=1)
    asked = Judge(lambda *_: GOOD).file(pardec.folder, "asked")
    pardec.good(*ASK, "--db", db, "--service", asked, "--limit", 1)  # stores the protocol
    before = {piece: db.read_bytes().count(piece) for piece in PIECES}
    ran = pardec(*ASK, "--db", db, "--service", file, "--limit", 1, env={"ECHO_KEY": KEY})
    rows = query(
        db,
        "SELECT error, body FROM judge_attempt WHERE judge_id = (SELECT id FROM judge WHERE name ="
        " 'echo')",
    )
    assert rows, ran.stderr
    assert any(row["body"] and "[key]" in row["body"] for row in rows), "what came is kept"
    assert {piece for piece in PIECES if db.read_bytes().count(piece) > before[piece]} == set()
    shown = re.sub(r"\[key\]|right|light|might|high", "", ran.stderr + ran.stdout)
    assert "gh" not in shown
    pardec.good("export", "--db", db, "--out", tmp_path / "told")
    for file in (tmp_path / "told").iterdir():
        for piece in (b"ij-0123", b"cd/ef", b"cd\\/ef"):
            assert piece not in file.read_bytes(), file.name


@pytest.mark.parametrize(
    "url, warned",
    [
        ("http://192.0.2.1:9/v1", True),
        ("http://127.0.0.1:9/v1", False),
        ("http://[::1]:9/v1", False),
        ("http://localhost:9/v1", False),
        ("https://192.0.2.1:9/v1", False),
    ],
)
def test_a_key_that_goes_over_a_network_in_clear_is_warned_of(pardec, db, tmp_path, url, warned):
    service = {
        "interface": "openai-chat",
        "base_url": url,
        "model": "far",
        "retries": 0,
        "key_env": "ECHO_KEY",
        "deadlines": {"connect": 0.1},
    }
    (tmp_path / "far.json").write_text(json.dumps(service))
    ran = pardec(
        *ASK, "--db", db, "--service", tmp_path / "far.json", "--limit", 1,
        env={"ECHO_KEY": "sk-1234567890"},
    )
    assert ("sent in clear" in ran.stderr) == warned, ran.stderr
    assert ("the key and all texts" in ran.stderr) == warned
