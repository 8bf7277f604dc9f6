"""Makes parquet files of the JSON lines that `pardec export` wrote: each NAME.jsonl becomes NAME.parquet beside it, a part of its lines at a time.

Reads from stdin {"tables": [{"file": NAME.jsonl, "columns": [[name, integer | number | text]]}]}. Needs pyarrow.
"""
import itertools
import json
import os
import sys

ROWS = 10_000  # of a row group


def main():
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        sys.exit(f"{sys.executable}: {error}")
    types = {"integer": pyarrow.int64(), "number": pyarrow.float64(), "text": pyarrow.string(), "boolean": pyarrow.bool_()}
    for table in json.load(sys.stdin)["tables"]:
        schema = pyarrow.schema([(name, types[kind]) for name, kind in table["columns"]])
        target = os.path.splitext(table["file"])[0] + ".parquet"
        with open(table["file"], encoding="utf-8") as lines, pyarrow.parquet.ParquetWriter(target + ".tmp", schema, compression="zstd") as writer:
            while rows := [json.loads(line) for line in itertools.islice(lines, ROWS)]:
                writer.write_table(pyarrow.Table.from_pylist(rows, schema=schema))
        os.replace(target + ".tmp", target)


if __name__ == "__main__":
    main()
