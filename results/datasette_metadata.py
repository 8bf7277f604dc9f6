"""What Datasette says of a database, made from the comments of schema.sql and the queries of database.md beside this file.

Usage: datasette_metadata.py > metadata.json; datasette pardec.sqlite -m metadata.json
"""
import json
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent


def tables(schema):
    """(name, what stands above it, {column: what stands behind it}) of each table and view."""
    for match in re.finditer(r"((?:^-- [^\n]*\n)*)^CREATE (?:TABLE|VIEW) (\w+)(.*?)^(?:\) STRICT|SELECT)", schema, re.M | re.S):
        columns = dict(re.findall(r"^  (\w+) .*?-- ([^\n]*)$", match[3], re.M))
        yield match[2], " ".join(line.removeprefix("-- ") for line in match[1].splitlines()), columns


def queries(page):
    """(question, SQL) of the page's sql blocks."""
    for block in re.findall(r"^```sql\n(.*?)^```", page, re.M | re.S):
        yield from re.findall(r"^-- ([^\n]*)\n(.*?;)$", block, re.M | re.S)


def metadata():
    schema = (HERE / "schema.sql").read_text(encoding="utf-8")
    page = (HERE / "database.md").read_text(encoding="utf-8")
    described = {name: {**({"description": text} if text else {}), **({"columns": columns} if columns else {})} for name, text, columns in tables(schema)}
    asked = {re.sub(r"\W+", "-", question.lower()).strip("-"): {"title": question, "sql": sql} for question, sql in queries(page)}
    return {"title": "pardec", "description": "Runs of parallel decoders: each generation, its job, its block's time, its scores. Times are nanoseconds.",
            "databases": {"pardec": {"tables": described, "queries": asked}}}


if __name__ == "__main__":
    print(json.dumps(metadata(), indent=2, ensure_ascii=False))
