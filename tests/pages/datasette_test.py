"""What results/datasette_metadata.py prints names tables and columns that a store has, all of its tables, and queries that run on one. results/database.md lists all views."""
import json
import re
import sqlite3
import subprocess
import sys

from pages import ROOT


def main():
    db = sqlite3.connect(":memory:")
    db.executescript((ROOT / "results" / "schema.sql").read_text(encoding="utf-8"))
    printed = subprocess.run([sys.executable, ROOT / "results" / "datasette_metadata.py"], capture_output=True, text=True, check=True).stdout
    told = json.loads(printed)["databases"]["pardec"]
    there = {name: kind for name, kind in db.execute("SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'view')")}
    faults = [f"no {name}" for name in told["tables"] if name not in there] + [f"{name} is not described" for name in there if name not in told["tables"]]
    for name, table in told["tables"].items():
        columns = {row[1] for row in db.execute(f"PRAGMA table_info({name})")}
        faults += [f"{name} has no column {column}" for column in table.get("columns", {}) if column not in columns]
    page = (ROOT / "results" / "database.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"`(\w+)`", " ".join(line.split("|")[1] for line in re.search(r"^## Views$(.*?)^## ", page, re.M | re.S)[1].splitlines() if line.startswith("| `"))))
    views = {name for name, kind in there.items() if kind == "view"}
    faults += [f"results/database.md lists the views {sorted(listed)}, the schema has {sorted(views)}"] * (listed != views)
    for query in told["queries"].values():
        db.execute(query["sql"]).fetchall()
    described = sum(len(table.get("columns", {})) for table in told["tables"].values())
    if len(told["queries"]) < 4 or described < 60:
        faults.append(f"{len(told['queries'])} queries and {described} columns were read of the pages")
    print("\n".join(faults) or f"{len(told['tables'])} tables, {described} columns, {len(told['queries'])} queries")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
