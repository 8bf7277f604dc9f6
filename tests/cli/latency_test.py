"""A run of 1,000 prompts: the percentiles of latency and of the first token's time are numpy's over what the store holds.

Usage: latency_test.py PROGRAM
"""
import json
import sys

import numpy

from harness import TOKENIZER, VOCABULARY, Checks, query, scratch, write_lines

PROMPTS = 1000


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        model = pardec.synthesise("model", vocab_size=VOCABULARY, hidden_size=32, intermediate_size=48, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=1)
        (model / "tokenizer.json").write_bytes(TOKENIZER.read_bytes())
        write_lines(pardec.folder / "data" / "jsonl" / "test.jsonl", [{"id": f"p{i}", "prompt": f"Count on from {i}" + i % 7 * " and on"} for i in range(PROMPTS)])
        pardec.good("run", "--model", model, "--decoder", "ar,prompt-lookup", "--dataset", "jsonl", "--data-root", "data", "--max-new-tokens", 4, "--ignore-eos", "--batch-size", 2,
                    "--progress", "none", "--db", "r.sqlite")
        rows = json.loads(pardec.good("compare", "--db", "r.sqlite", "--format", "json"))["rows"]
        check([row["n"] for row in rows] == [PROMPTS, PROMPTS], f"all prompts: {[row['n'] for row in rows]}")
        for row in rows:
            jobs = query(pardec.folder / "r.sqlite", "SELECT total_ns, first_token_ns FROM job JOIN run ON run.id = run_id WHERE label = ?", row["arm"])
            check(len(jobs) == PROMPTS and len({job["total_ns"] for job in jobs}) > PROMPTS // 2, f"{row['arm']}: {len(jobs)} jobs, each with a time of its own")
            for key, column in (("latency", "total_ns"), ("first_token", "first_token_ns")):
                for p in (50, 95, 99):
                    expected = numpy.percentile([job[column] * 1e-9 for job in jobs], p)
                    shown = row[f"{key}_p{p}_s"]
                    check(abs(shown - expected) <= 1e-12 * expected, f"{row['arm']}: {key} p{p} is {shown}, numpy has {expected}")
        script = pardec.good("plot", "--db", "r.sqlite", "--x", "batch_size", "--y", "latency_p95_s", "--script")
        check(f"{rows[0]['latency_p95_s']:.4g}"[:4] in script, f"latencies are drawn: {script}")
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
