#!/usr/bin/env python3
"""JSON lines of a Parquet file, as datasets are published on the Hugging Face Hub; needs pyarrow.

usage: from_parquet.py FILE.parquet... > FILE.jsonl
"""
import json
import sys


def main(files):
    if not files or "-h" in files or "--help" in files:
        print(__doc__, file=sys.stderr)
        return 0 if files else 2
    try:
        import pyarrow.parquet
    except ImportError:
        print("from_parquet.py: pyarrow is missing; pip install pyarrow gets it", file=sys.stderr)
        return 2
    for file in files:
        try:
            for batch in pyarrow.parquet.ParquetFile(file).iter_batches():
                for row in batch.to_pylist():
                    print(json.dumps(row, ensure_ascii=False, default=str))
        except (OSError, pyarrow.ArrowException) as error:
            print(f"from_parquet.py: {file}: {error}", file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
