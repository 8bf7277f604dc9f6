"""What results/datasette_metadata.py prints names tables and columns that a store has, all of
its tables, and queries that run on one. results/database.md lists all views.
"""

import json
import re
import sqlite3
import subprocess
import sys

import pytest
from pages import ROOT


@pytest.fixture(scope="module")
def told():
    """What is printed."""
    ran = subprocess.run(
        [sys.executable, ROOT / "results" / "datasette_metadata.py"],
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(ran.stdout)["databases"]["pardec"]


@pytest.fixture(scope="module")
def db():
    """An empty store."""
    db = sqlite3.connect(":memory:")
    db.executescript((ROOT / "results" / "schema.sql").read_text(encoding="utf-8"))
    return db


def test_all_tables_and_views_of_a_store_are_described_and_no_others(told, db):
    there = {
        name
        for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')")
    }
    assert there == set(told["tables"])


def test_the_columns_are_those_of_a_store(told, db):
    described = 0
    for name, table in told["tables"].items():
        columns = {row[1] for row in db.execute(f"PRAGMA table_info({name})")}
        described += len(table.get("columns", {}))
        assert set(table.get("columns", {})) <= columns, name
    assert described >= 60


def test_the_queries_run(told, db):
    assert len(told["queries"]) >= 4
    for query in told["queries"].values():
        db.execute(query["sql"]).fetchall()


def test_the_page_of_the_database_lists_all_views(db):
    page = (ROOT / "results" / "database.md").read_text(encoding="utf-8")
    section = re.search(r"^## Views$(.*?)^## ", page, re.M | re.S)[1]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    views = {name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'view'")}
    assert set(re.findall(r"`(\w+)`", " ".join(rows))) == views
