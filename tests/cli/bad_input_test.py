"""Bad input: one line on stderr that says where, what was found and what was expected; exit 2 (1
where a run broke); nothing half-written.

A table of cases, each with the pieces that its message must hold. Every case runs with a snapshot
of the scratch folder: no file may come, go or change. `pytest -s` prints all messages, to be read
as a user would.
"""

import contextlib
import json
import os
import pathlib
import resource
import shutil
import signal
import sqlite3
import struct
import subprocess

import pytest
from harness import (
    SAMPLES, TINY, TOKENIZER, VOCABULARY, answers, job_count, query, records, write_lines,
)


class Case:
    """What is called, and what its message must say."""

    def __init__(self, what, args, *pieces, code=2, env=None, began=False):
        self.what, self.args, self.pieces, self.code, self.env, self.began = (
            what, args, pieces, code, env, began,
        )


def snapshot(folder):
    """Every file below with its size and time."""
    return {
        str(p.relative_to(folder)): (
            (p.stat().st_size, p.stat().st_mtime_ns) if p.is_file() else "folder"
        )
        for p in sorted(pathlib.Path(folder).rglob("*"))
        if not p.name.endswith(("-shm", "-wal"))
    }


def check_message(case, ran):
    """The shape of a message: exit code, nothing on stdout, one line that holds the pieces."""
    lines = ran.stderr.splitlines()
    said = f"{case.what}: exit {ran.returncode}, stdout {ran.stdout[:80]!r}, stderr {ran.stderr!r}"
    assert ran.returncode == case.code, f"expected exit {case.code}: {said}"
    assert not ran.stdout, f"expected nothing on stdout: {said}"
    assert lines, f"expected a line: {said}"
    assert lines[-1].startswith("pardec: "), said
    assert case.began or len(lines) == 1, f"expected one line: {said}"
    for piece in case.pieces:
        assert piece in lines[-1], f"expected '{piece}' in the message: {said}"
    for internal in ("internal error", "terminate", "c10"):
        assert internal not in lines[-1], f"an internal message came out: {said}"
    assert len(lines[-1]) < 600, f"too long to be read: {said}"


def check_case(pardec, case):
    """The message of a case; no file comes, goes or changes."""
    before = snapshot(pardec.folder)
    ran = pardec(*case.args, env=case.env)
    print(f"{case.what:45} {ran.returncode} {ran.stderr.strip()}")
    check_message(case, ran)
    after = snapshot(pardec.folder)
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    assert not changed, f"{case.what}: files came, went or changed"


def copy_model(model, name, **changes):
    """A copy of a checkpoint with files replaced (bytes) or removed (None)."""
    folder = model.parent / name
    shutil.copytree(model, folder)
    for file, content in changes.items():
        file = folder / file.replace("__", ".")
        (
            file.unlink()
            if content is None
            else file.write_bytes(content if isinstance(content, bytes) else content.encode())
        )
    return folder


def safetensors(header, data=b""):
    header = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(header)) + header + data


def models(model):
    """Checkpoints that are not what they say."""
    weights = (model / "model.safetensors").read_bytes()
    length = struct.unpack("<Q", weights[:8])[0]
    header = json.loads(weights[8 : 8 + length])
    data = weights[8 + length :]
    config = json.loads((model / "config.json").read_text())
    first = next(k for k in header if k != "__metadata__")
    config_with = lambda **changes: json.dumps({**config, **changes})
    tokenizer = json.loads(TOKENIZER.read_text())
    more = lambda number: json.dumps(
        {
            **tokenizer,
            "added_tokens": (
                tokenizer["added_tokens"]
                + [{**tokenizer["added_tokens"][0], "id": number, "content": "<far>"}]
            ),
        }
    )
    lying = lambda **changes: safetensors({**header, first: {**header[first], **changes}}, data)
    yield (
        "no such folder",
        model.parent / "nowhere",
        ["nowhere", "does not exist", "expected a Hugging Face checkpoint folder"],
    )
    yield "a file for a folder", model / "config.json", ["config.json", "is not a folder"]
    yield (
        "no config.json",
        copy_model(model, "m-config", config__json=None),
        ["m-config", "no config.json"],
    )
    yield (
        "no tokenizer.json",
        copy_model(model, "m-tok", tokenizer__json=None),
        ["m-tok", "no tokenizer.json"],
    )
    yield (
        "no weights",
        copy_model(model, "m-weights", model__safetensors=None),
        ["m-weights", "model.safetensors"],
    )
    yield (
        "config is no JSON",
        copy_model(model, "m-json", config__json='{"hidden_size": '),
        ["m-json/config.json", "not valid JSON"],
    )
    yield (
        "config is a list",
        copy_model(model, "m-list", config__json="[]"),
        ["m-list/config.json", "array", "object"],
    )
    yield (
        "unknown family",
        copy_model(
            model,
            "m-family",
            config__json=config_with(model_type="opt", architectures=["OPTForCausalLM"]),
        ),
        ["m-family/config.json", "opt", "supported"],
    )
    yield (
        "unknown rope",
        copy_model(
            model,
            "m-rope",
            config__json=config_with(rope_scaling={"rope_type": "spiral", "factor": 4.0}),
        ),
        ["rope_scaling", "spiral"],
    )
    yield (
        "a size of 0",
        copy_model(model, "m-zero", config__json=config_with(num_hidden_layers=0)),
        ["num_hidden_layers", "0", "expected"],
    )
    yield (
        "a size as text",
        copy_model(model, "m-text", config__json=config_with(hidden_size="64")),
        ["hidden_size", '"64"', "whole number"],
    )
    yield (
        "another shape",
        copy_model(model, "m-shape", config__json=config_with(hidden_size=128)),
        ["model.safetensors", "shape", "expected"],
    )
    yield (
        "a layer too many",
        copy_model(model, "m-layer", config__json=config_with(num_hidden_layers=3)),
        ["no tensor", "layers.2"],
    )
    yield (
        "truncated in the data",
        copy_model(model, "m-cut", model__safetensors=weights[:-100]),
        ["m-cut/model.safetensors", "only"],
    )
    yield (
        "truncated in the header",
        copy_model(model, "m-cut2", model__safetensors=weights[:200]),
        ["m-cut2/model.safetensors", "truncated", "only 192"],
    )
    yield (
        "empty weights",
        copy_model(model, "m-empty", model__safetensors=b""),
        ["m-empty/model.safetensors", "0 bytes", "expected"],
    )
    yield (
        "a lying header length",
        copy_model(model, "m-len", model__safetensors=struct.pack("<Q", 2**62) + weights[8:]),
        ["m-len/model.safetensors", "header"],
    )
    yield (
        "a header that is no JSON",
        copy_model(model, "m-head", model__safetensors=safetensors(b"{not json}", data)),
        ["m-head", "not valid JSON"],
    )
    yield (
        "a lying shape",
        copy_model(model, "m-lie", model__safetensors=lying(shape=[7, 7])),
        ["m-lie", first, "expected"],
    )
    yield (
        "lying offsets",
        copy_model(model, "m-off", model__safetensors=lying(data_offsets=[0, 2**40])),
        ["m-off", first, "byte 1099511627776"],
    )
    yield (
        "an unknown type",
        copy_model(model, "m-type", model__safetensors=lying(dtype="F8_E4M3")),
        ["m-type", "F8_E4M3", "expected BF16"],
    )
    yield (
        "a tokenizer with a far id",
        copy_model(model, "m-far", tokenizer__json=more(5000)),
        ["m-far/tokenizer.json", "'<far>'", "5000", "expected"],
    )
    yield (
        "a tokenizer that is no JSON",
        copy_model(model, "m-tjson", tokenizer__json="{"),
        ["m-tjson/tokenizer.json:1", "not valid JSON"],
    )
    yield (
        "an unknown tokenizer",
        copy_model(
            model,
            "m-wl",
            tokenizer__json=json.dumps({**tokenizer, "model": {"type": "WordLevel", "vocab": {}}}),
        ),
        ["m-wl/tokenizer.json", "WordLevel"],
    )
    yield (
        "a missing shard",
        copy_model(
            model,
            "m-shard",
            model__safetensors=None,
            **{
                "model__safetensors__index__json": json.dumps(
                    {"metadata": {}, "weight_map": {first: "model-00001-of-00002.safetensors"}}
                )
            },
        ),
        ["m-shard", "model-00001-of-00002.safetensors"],
    )


def model_cases(model, folder):
    for what, folder, pieces in models(model):
        yield Case(
            what,
            [
                "run", "--model", folder, "--decoder", "ar", "--dataset", "oa-mine", "--db",
                "new.sqlite",
            ],
            *pieces,
        )
    folder = model.parent
    yield Case(
        "the default database's folder",
        ["run", "--model", folder / "nowhere", "--decoder", "ar", "--dataset", "oa-mine"],
        "nowhere",
    )
    yield Case(
        "inspect: no folder",
        ["model", "inspect", folder / "nowhere"],
        "nowhere",
        "does not exist",
        "expected",
    )
    yield Case(
        "inspect: no config", ["model", "inspect", folder / "m-config"], "m-config", "config.json"
    )
    yield Case(
        "synth over somebody's weights",
        ["model", "synth", copy_model(model, "m-mine", pardec_synthesis__json=None)],
        "m-mine",
        "model.safetensors",
        "new folder",
    )
    yield Case(
        "synth with a bad config",
        ["model", "synth", folder / "new", "--config", folder / "m-zero" / "config.json"],
        "num_hidden_layers",
    )
    yield Case(
        "synth with no config",
        ["model", "synth", folder / "new", "--config", folder / "none.json"],
        "none.json",
        "No such file",
    )
    yield Case(
        "synth below a file",
        ["model", "synth", folder / "m-mine" / "config.json" / "new"],
        "config.json/new",
        "expected",
    )
    yield Case(
        "synth: vocabulary too small",
        [
            "model",
            "synth",
            folder / "new",
            "--config",
            write_lines(folder / "small.json", [{**TINY, "vocab_size": 100}]),
        ],
        "tokenizer.json",
        str(VOCABULARY - 1),
        "100",
        "expected",
    )
    yield Case("unknown action of model", ["model", "inspct", model], "'inspct'", "inspect")
    yield Case("unknown action without a folder", ["model", "list-familys"], "'list-familys'", "did you mean 'list-families'?")
    yield Case("fetch without a name", ["model", "fetch"], "model fetch: has no name, expected ORG/NAME")
    yield Case("compare by nothing", ["compare", "--by"], "--by", "category")
    yield Case("no action of model", ["model"], "model:", "action", "required")


def command_line_cases(model, folder):
    run = [
        "run", "--model", model, "--decoder", "ar,hpd", "--dataset", "oa-mine", "--db",
        "new.sqlite",
    ]
    one = ["run", "--model", model, "--db", "new.sqlite", "--dataset", "oa-mine"]
    generate = ["generate", "--model", model]
    (folder / "not.txt").write_text("1,2\n3,x\n")
    (folder / "ids.txt").write_text(f"1,2\n3,{VOCABULARY}\n")
    (folder / "empty.txt").write_text("")
    yield Case("unknown verb", ["rnu"], "'rnu'", "run")
    yield Case("unknown flag before a verb", ["--modle", "x"], "'--modle'", "--help")
    yield Case("unknown flag", [*run, "--batchsize", 3], "'--batchsize'", "'--batch-size'")
    yield Case(
        "a flag of another action", ["judge", "export", "--votes", 3], "--votes is a flag of judge run",
        "not of judge export",
    )  # fmt: skip
    yield Case("unknown flag with =", [*run, "--resum=1"], "'--resum", "'--resume'")
    yield Case("a stray word", [*run, "hpd"], "'hpd'", "unexpected")
    yield Case("no value", [*run[:-2], "--threads", 1, "--db"], "--db", "no value", "expected")
    yield Case(
        "a number as text",
        [*run, "--batch-size", "eight"],
        "--batch-size",
        "'eight'",
        "whole number",
    )
    yield Case(
        "a number too large",
        [*run, "--batch-size", "99999999999"],
        "--batch-size",
        "'99999999999'",
        "whole number",
    )
    yield Case("a fraction", [*run, "--limit", "1.5"], "--limit", "'1.5'", "whole number")
    yield Case(
        "a word for a number",
        [*run, "--temperature", "warm"],
        "--temperature",
        "'warm'",
        "a number",
    )
    yield Case(
        "from the environment", run, "PARDEC_LIMIT", "'ten'", "whole number",
        env={"PARDEC_LIMIT": "ten"},
    )
    yield Case(
        "no model",
        ["run", "--decoder", "ar", "--dataset", "oa-mine", "--db", "new.sqlite"],
        "--model",
        "synth",
    )
    yield Case("no decoder", one, "no decoder", "--decoder")
    yield Case(
        "no dataset",
        ["run", "--model", model, "--decoder", "ar", "--db", "new.sqlite"],
        "no dataset",
        "--dataset",
    )
    yield Case("unknown decoder", [*one, "--decoder", "hdp"], "'hdp'", "'hpd'")
    yield Case(
        "unknown dataset",
        ["run", "--model", model, "--decoder", "ar", "--dataset", "oamine", "--db", "new.sqlite"],
        "'oamine'",
        "'oa-mine'",
    )
    yield Case(
        "a dataset twice",
        [*run[:5], "--dataset", "oa-mine,oa-mine", *run[7:]],
        "'oa-mine'",
        "twice",
    )
    yield Case("a decoder twice", [*one, "--decoder", "ar,ar"], "'ar'", "--arm")
    yield Case("unknown split", [*run, "--split", "tset"], "'tset'", "'test'")
    yield Case(
        "--set without a value",
        [*run, "--set", "hpd.k_max"],
        "--set",
        "'hpd.k_max'",
        "option=value",
    )
    yield Case("--set of an unknown option", [*run, "--set", "hpd.kmax=3"], "hpd.kmax", "hpd.k_max")
    yield Case("--set of an unknown decoder", [*run, "--set", "hdp.k_max=3"], "'hdp'", "'hpd'")
    yield Case(
        "--set that no arm has",
        [*one, "--decoder", "ar", "--set", "hpd.k_max=3"],
        "--set hpd.k_max",
        "ar.ask",
    )
    yield Case("K_max 0", [*run, "--set", "hpd.k_max=0"], "hpd.k_max is 0", "expected 1 to 65536")
    yield Case(
        "K_max below 0", [*run, "--set", "hpd.k_max=-4"], "hpd.k_max is -4", "expected 1 to 65536"
    )
    yield Case(
        "K_max as text", [*run, "--set", "hpd.k_max=many"], "k_max", '"many"', "whole number"
    )
    yield Case(
        "K_max too large for a number",
        [*run, "--set", "hpd.k_max=99999999999"],
        "k_max",
        "99999999999",
        "at most",
    )
    yield Case("stack 0", [*run, "--set", "hpd.stack=0"], "hpd.stack is 0", "expected 1 to 1024")
    yield Case(
        "stack of ar 0", [*run, "--set", "ar.stack=0"], "ar.stack is 0", "expected 1 to 1024"
    )
    yield Case(
        "isolated what", [*run, "--set", "hpd.isolated=all"], "hpd.isolated", "'all'", "products"
    )
    yield Case("ask how", [*run, "--set", "ar.ask=politely"], "ar.ask", "'politely'", "separately")
    yield Case(
        "forced keys asked separately",
        [*run, "--set", "ar.ask=separately", "--set", "ar.forced_keys=true"],
        "forced_keys",
        "together",
    )
    yield Case(
        "forced keys maybe",
        [*run, "--set", "ar.forced_keys=maybe"],
        "forced_keys",
        '"maybe"',
        "true or false",
    )
    yield Case(
        "batch_size 0 of an arm", [*run, "--set", "batch_size=0"], "batch_size is 0", "from 1 to"
    )
    yield Case(
        "batch_size of an arm too large",
        [*run, "--set", "batch_size=99999999999"],
        "batch_size",
        "99999999999",
        "expected",
    )
    yield Case(
        "--arm without a name", [*one, "--arm", "hpd"], "--arm", "'hpd'", "expected LABEL=NAME"
    )
    yield Case("--arm with an unknown decoder", [*one, "--arm", "x=hpdd"], "'hpdd'", "'hpd'")
    yield Case(
        "--arm with an unknown option",
        [*one, "--arm", "x=hpd,kmax=3"],
        "--arm x",
        "'kmax'",
        "'k_max'",
    )
    yield Case(
        "--arm with half an option",
        [*one, "--arm", "x=hpd,k_max"],
        "--arm x",
        "'k_max'",
        "option=value",
    )
    yield Case("unknown baseline", [*run, "--baseline", "arr"], "--baseline", "'arr'", "'ar'")
    for shard in ("0/4294967297", "+1/2", "2/2", "1", "a/b", "-1/2", "0/0", "0/2x", "1/2/3"):
        yield Case(f"--shard {shard}", [*run, f"--shard={shard}"], "--shard", f"'{shard}'", "I/N")
    sweep = [
        "sweep", "--model", model, "--decoder", "ar,hpd", "--dataset", "oa-mine", "--db",
        "new.sqlite",
    ]
    for grid, *pieces in (
        ("hpd.k_max", "--grid is 'hpd.k_max'", "KEY=V1,V2"),
        ("=8", "--grid is '=8'", "KEY=V1,V2"),
        (".k_max=8", "'.k_max'", "DECODER.OPTION"),
        ("hpd.k_max=", "hpd.k_max is empty", "expected"),
        ("hpd.k_max=8,,16", "hpd.k_max is empty", "expected"),
        ("hpd.k_max=8,8", "value 8 twice", "once"),
        ("hpd.kmax=8", "'hpd.kmax'", "did you mean 'hpd.k_max'"),
        ("hdp.k_max=8", "'hdp.k_max'", "'hpd.k_max'"),
        ("limit=1,2", "no arm has an option 'limit'", "known"),
        ("batch_size=0", "no cell of the grid", "batch_size is 0", "from 1"),
        ("seed=" + ",".join(map(str, range(1001))), "more than 1000 cells", "fewer"),
        ("ar.seed=-1", "seed is -1", "from 0"),
    ):
        yield Case(
            f"--grid {grid[:20]}",
            (
                ["sweep", "--decoder", "ar", *sweep[5:], "--model", model, "--grid", grid]
                if grid[:3] in ("bat", "ar.")
                else [*sweep, "--grid", grid]
            ),
            *pieces,
        )
    yield Case(
        "--grid twice",
        [*sweep, "--grid", "seed=1", "--grid", "seed=2"],
        "--grid",
        "seed is given twice",
        "once",
    )
    yield Case(
        "--grid of an option that the arm has",
        [*sweep, "--arm", "h=hpd,k_max=4", "--grid", "h.k_max=4,8"],
        "h.k_max",
        "arm 'h' already",
        "leave one out",
    )
    yield Case("no grid", sweep, "no grid", "--grid KEY=V1", "pardec run")
    yield Case(
        "sweep: baseline",
        [*sweep, "--grid", "seed=1,2", "--baseline", "arr"],
        "--baseline",
        "'arr'",
        "'ar'",
    )
    for share in ("0", "2", "150%", "two", "-1%", "%", "2%%", "nan"):
        yield Case(
            f"--target-ci {share}",
            [*sweep, "--grid", "seed=1,2", f"--target-ci={share}"],
            "--target-ci",
            f"'{share}'",
            "2% or 0.02",
        )
    yield Case(
        "sweep: shard", [*sweep, "--grid", "seed=1,2", "--shard", "2/2"], "--shard", "'2/2'", "I/N"
    )
    yield Case(
        "sweep: fresh and again",
        [*sweep, "--grid", "seed=1,2", "--fresh", "--retry-errors"],
        "--retry-errors",
        "--fresh",
        "leave one out",
    )
    yield Case(
        "sweep: memory",
        [*sweep, "--grid", "seed=1,2", "--memory-limit", "2M"],
        "no cell of the grid",
        "--memory-limit is 2.0 MB",
        "at least",
    )
    yield Case("completion: shell", ["completion", "csh"], "'csh'", "zsh")
    yield Case(
        "export: format",
        ["export", "--db", "none.sqlite", "--format", "xlsx", "--out", "x"],
        "--format",
        "'xlsx'",
        "csv, jsonl, parquet",
    )
    yield Case("export: no folder", ["export", "--db", "none.sqlite"], "--out is required")
    yield Case(
        "export: no database",
        ["export", "--db", "none.sqlite", "--out", "x"],
        "none.sqlite",
        "no such file",
    )
    yield Case("--dtype", [*run, "--dtype", "fp8"], "dtype 'fp8'", "fp32")
    yield Case("--device unknown", [*run, "--device", "gpu"], "device 'gpu'", "cpu")
    yield Case("--threads -1", [*run, "--threads", "-1"], "--threads is -1", "expected")
    for flag, value, words in (
        ("--temperature", -1, "0 (greedy) or more"),
        ("--fail-on-error", -1, "share from 0 to 1"),
        ("--fail-on-error", 1.5, "share from 0 to 1"),
        ("--top-p", 0, "above 0"),
        ("--top-p", 1.5, "at most 1"),
        ("--top-k", -1, "0 (off) or more"),
        ("--max-new-tokens", 0, "at least 1"),
        ("--per-field", 0, "at least 1"),
        ("--batch-size", 0, "at least 1"),
        ("--limit", -1, "at least 0"),
        ("--offset", -1, "at least 0"),
        ("--runs", 0, "at least 1"),
        ("--warmup", -1, "at least 0"),
        ("--repair", -1, "at least 0"),
        ("--block", -1, "at least 0"),
    ):
        yield Case(f"{flag} {value}", [*run, f"{flag}={value}"], f"{flag} is {value}", words)
    for verb in (run, ["generate", "--prompt", "x"], ["model", "synth", "m"], ["report"]):
        yield Case(
            f"--seed -1 of {verb[0]}",
            [*verb, "--seed=-1"],
            "--seed is '-1'",
            "from 0 to 18446744073709551615",
        )
        yield Case(
            f"--seed beyond 64 bits of {verb[0]}",
            [*verb, "--seed", 2**64],
            f"--seed is '{2**64}'",
            "from 0 to 18446744073709551615",
        )
    yield Case(
        "PARDEC_SEED beyond 64 bits", run, f"PARDEC_SEED is '{2**70}'", env={"PARDEC_SEED": 2**70}
    )
    for flag, *values in (
        ("--temperature", "nan", "-nan", "inf", "1e999", "0x1p-2", ""),
        ("--top-p", "nan"),
        ("--fail-on-error", "nan", "inf"),
        ("--cache-watermark", "-inf"),
    ):
        for value in values:
            yield Case(
                f"{flag} {value}",
                [*run, f"{flag}={value}"],
                flag,
                f"'{value}'" if value else "",
                "expected a number",
            )
    for flag, *values in (
        ("--limit", "010", "0x10", "+5", " 5", "1e3", "99999999999999999999"),
        ("--cache-blocks", "9223372036854775808"),
        ("--seed", "010", "5.0"),
    ):
        for value in values:
            yield Case(
                f"{flag} {value}",
                [*run, f"{flag}={value}"],
                f"{flag} is '{value}'",
                "expected a whole number",
            )
    for arm in (
        "a=hpd,k_max=5,k_max=6", "a=hpd,k_max=5,hpd.k_max=5", "a=ar,batch_size=1,batch_size=2",
    ):
        yield Case(
            f"--arm {arm}",
            [*run, "--arm", arm],
            "--arm a",
            arm.split(",")[1].split("=")[0],
            "is given twice",
        )
    yield Case(
        "--set twice",
        [*run, "--set", "hpd.k_max=5", "--set", "hpd.k_max=6"],
        "--set hpd.k_max is given twice",
    )
    yield Case("--order", [*run, "--order", "random"], "--order", "'random'", "interleaved")
    yield Case("--format", [*run, "--format", "xml"], "--format", "'xml'", "csv")
    yield Case("--progress", [*run, "--progress", "loud"], "--progress", "'loud'", "plain")
    yield Case("--chat-template", [*run, "--chat-template", "chatlm"], "'chatlm'", "'chatml'")
    yield Case("--prompt-file", [*run, "--prompt-file", "none.txt"], "none.txt", "No such file")
    yield Case("--retry-errors alone", [*run, "--retry-errors"], "--retry-errors", "--resume")
    yield Case("--offset behind the end", [*run, "--offset", 1000], "oa-mine", "1000", "38")
    yield Case("--oracle accept", [*run, "--oracle", "accept:0.5"], "--oracle accept", "draft")
    for rate in ("2", "-0.1", "half", "nan", ""):
        yield Case(
            f"--oracle accept:{rate}",
            [*run, "--oracle", f"accept:{rate}"],
            "--oracle accept",
            f"'{rate}'",
            "0 to 1",
        )
    for length in ("0.5", "none", ""):
        yield Case(
            f"--oracle accept-length:{length}",
            [*run, "--oracle", f"accept-length:{length}"],
            "--oracle accept-length",
            f"'{length}'",
            "1 or more",
        )
    yield Case(
        "--oracle accept-curve without a network",
        [*run, "--oracle", "accept-curve:none.json"],
        "--oracle",
        "accept-curve:FILE:NETWORK",
    )
    yield Case(
        "--oracle accept-curve without a file",
        [*one, "--decoder", "space", "--oracle", "accept-curve:none.json:x"],
        "none.json",
        "No such file",
    )
    yield Case(
        "--oracle accept without a rate",
        [*run, "--oracle", "accept"],
        "--oracle",
        "'accept'",
        "accept:A",
    )
    yield Case(
        "--oracle recorded",
        [*run, "--oracle", "recorded:abc"],
        "--oracle recorded:abc",
        "new.sqlite does not exist",
        "expected",
    )
    yield Case(
        "--oracle recorded of nothing",
        [*run, "--oracle", "recorded:"],
        "--oracle",
        "'recorded:'",
        "recorded:RUN",
    )
    yield Case(
        "--oracle references for apar",
        [*run, "--decoder", "apar", "--oracle", "references"],
        "--oracle references",
        "'apar'",
        "ar, hpd",
    )
    yield Case(
        "--oracle unknown", [*run, "--oracle", "reference"], "--oracle", "'reference'", "references"
    )
    yield Case(
        "--oracle accept for hpd",
        [*one, "--decoder", "hpd", "--oracle", "accept:1"],
        "--oracle accept",
        "'hpd'",
        "prompt-lookup",
    )
    yield Case(
        "--oracle references for prompt-lookup",
        [*one, "--decoder", "prompt-lookup", "--oracle", "references"],
        "--oracle references",
        "'prompt-lookup'",
        "hpd",
    )
    draft = ["--draft-model"]
    yield Case(
        "speculative without a draft",
        [*one, "--decoder", "ar,speculative"],
        "speculative",
        "--draft-model",
    )
    yield Case(
        "a draft that nobody uses",
        [*run, *draft, model],
        "--draft-model",
        str(model),
        "speculative",
    )
    yield Case(
        "a draft that is not there",
        [*one, "--decoder", "speculative", *draft, folder / "nowhere"],
        "nowhere",
        "does not exist",
    )
    other = copy_model(model, "m-draft")
    edited = json.loads((other / "tokenizer.json").read_text())
    swapped = sorted(edited["model"]["vocab"], key=edited["model"]["vocab"].get)[400:402]
    for a, b in (swapped, swapped[::-1]):
        edited["model"]["vocab"][a] = json.loads((model / "tokenizer.json").read_text())["model"][
            "vocab"
        ][b]
    (other / "tokenizer.json").write_text(json.dumps(edited))
    for verb in (
        [*one, "--decoder", "speculative"],
        [*generate, "--decoder", "speculative", "--prompt-tokens", "1,2"],
    ):
        yield Case(
            f"{verb[0]}: a draft of another vocabulary",
            [*verb, *draft, other],
            "m-draft",
            "another vocabulary",
            "must share the tokenizer",
        )
    sized = copy_model(model, "m-sized")
    (sized / "tokenizer.json").unlink()
    config = json.loads((sized / "config.json").read_text())
    (sized / "config.json").write_text(json.dumps({**config, "vocab_size": VOCABULARY + 1}))
    yield Case(
        "a draft of another size",
        [*one, "--decoder", "speculative", *draft, sized],
        "m-sized",
        f"{VOCABULARY + 1} ids",
        f"has {VOCABULARY};",
        "must share",
    )
    yield Case(
        "generate: speculative without a draft",
        [*generate, "--decoder", "speculative", "--prompt", "x"],
        "speculative",
        "--draft-model",
    )
    yield Case(
        "generate: a draft for ar",
        [*generate, "--prompt", "x", *draft, model],
        "--draft-model",
        "speculative",
    )
    for option, words in (
        ("speculative.gamma=0", "expected 1 to 1024"),
        ("speculative.schedule=fast", "heuristic"),
        ("speculative.threshold=0.5", "dynamic"),
    ):
        yield Case(
            f"--set {option}",
            [*one, "--decoder", "speculative", *draft, model, "--set", option],
            option.split("=")[0],
            words,
        )
    yield Case(
        "skipped layers beyond",
        [*one, "--decoder", "self-speculative", "--set", "self-speculative.skip_mlp=0+7"],
        "skip_mlp",
        "'0+7'",
        "end at 1",
    )
    yield Case(
        "skipped layers as words",
        [*one, "--decoder", "self-speculative", "--set", "self-speculative.skip_mlp=some"],
        "skip_mlp",
        "'some'",
        "3+5-8",
    )
    yield Case(
        "--trace below nothing",
        [*run, "--trace", "nowhere/trace.jsonl"],
        "--trace",
        "nowhere/trace.jsonl",
        "there is no folder nowhere",
        "expected",
    )
    yield Case("--trace is a folder", [*run, "--trace", model], "--trace", "Is a directory")
    yield Case("a format of list", ["list", "--format", "yaml"], "'yaml'", "csv")
    yield Case("list of what", ["list", "decoder"], "'decoder'", "'decoders'")
    yield Case("generate: nothing", generate, "none", "--job", "--prompt")
    yield Case(
        "generate: two things",
        [*generate, "--prompt", "x", "--prompt-tokens", "1"],
        "more than one",
        "expected one",
    )
    yield Case(
        "generate: format",
        [*generate, "--prompt", "x", "--format", "md"],
        "--format",
        "'md'",
        "json",
    )
    yield Case(
        "generate: batch",
        [*generate, "--prompt", "x", "--batch-size", 0],
        "--batch-size is 0",
        "at least 1",
    )
    yield Case(
        "generate: a profile of fp32",
        [*generate, "--prompt-tokens", "1", "--profile"],
        "a profile needs",
        "--dtype bf16",
    )
    yield Case(
        "generate: hpd without a job",
        [*generate, "--decoder", "hpd", "--prompt", "x"],
        "hpd",
        "--job",
    )
    yield Case(
        "generate: an id beyond",
        [*generate, "--prompt-tokens", f"1,{VOCABULARY}"],
        "--prompt-tokens",
        str(VOCABULARY),
        str(VOCABULARY - 1),
    )
    yield Case(
        "generate: an id beyond, in a file",
        [*generate, "--prompt-tokens", f"@{folder}/ids.txt"],
        "--prompt-tokens line 2",
        str(VOCABULARY),
        str(VOCABULARY - 1),
    )
    yield Case(
        "generate: a word for an id",
        [*generate, "--prompt-tokens", "1,two"],
        "--prompt-tokens",
        "'two'",
        "expected ids",
    )
    yield Case(
        "generate: a word in a file",
        [*generate, "--prompt-tokens", f"@{folder}/not.txt"],
        "--prompt-tokens line 2",
        "'x'",
    )
    yield Case("generate: below 0", [*generate, "--prompt-tokens=-1"], "--prompt-tokens", "'-1'")
    yield Case(
        "generate: no such file",
        [*generate, "--prompt-tokens", "@none.txt"],
        "none.txt",
        "No such file",
    )
    yield Case(
        "generate: an empty file",
        [*generate, "--prompt-tokens", f"@{folder}/empty.txt"],
        "--prompt-tokens",
        "empty.txt",
        "expected",
    )
    yield Case(
        "generate: a trace nowhere",
        [*generate, "--prompt", "x", "--trace", "nowhere/t.jsonl"],
        "--trace",
        "nowhere/t.jsonl",
        "expected",
    )
    yield Case(
        "generate: a prompt too long",
        [*generate, "--prompt", "a b " * 5000],
        "prompt-1",
        "context overflow",
        "4096",
        "shorter",
    )
    yield Case(
        "compare: no database",
        ["compare", "--db", "none.sqlite"],
        "none.sqlite",
        "no such file",
        "expected a database",
    )
    yield Case(
        "compare: confidence",
        ["compare", "--db", "none.sqlite", "--confidence-level", 95],
        "--confidence-level is 95",
        "between 0 and 1",
    )
    yield Case(
        "compare: differences",
        ["compare", "--db", "none.sqlite", "--differences", "-3"],
        "--differences is -3",
        "at least 0",
    )


def job_cases(model, folder):
    product = {"text": "Nike Revolution 6", "fields": [{"name": "Brand"}]}
    texts = {
        "malformed": ('{"contexts": [', ":1", "not valid JSON"),
        "empty": ("", ":1", "not valid JSON"),
        "list": ("[]", "array", "expected an object"),
        "unknown key": (
            json.dumps({"contexts": [product], "contxts": []}),
            "unknown key 'contxts'",
            "'contexts'",
        ),
        "unknown key inside": (
            json.dumps({"contexts": [{**product, "txt": "x"}]}),
            "'contexts'[0]",
            "unknown key 'txt'",
            "'text'",
        ),
        "wrong type": (
            json.dumps({"contexts": [{**product, "text": 7}]}),
            "'contexts'[0]: 'text' is 7",
            "a string",
        ),
        "wrong type of all": (json.dumps({"contexts": product}), "'contexts'", "expected an array"),
        "no context": (json.dumps({"contexts": []}), "'contexts'", "at least one"),
        "no field": (
            json.dumps({"contexts": [{**product, "fields": []}]}),
            "fields",
            "at least one",
        ),
        "no text": (
            json.dumps({"contexts": [{"fields": [{"name": "Brand"}]}]}),
            "'contexts'[0]: 'text'",
            "missing",
        ),
        "field without a name": (
            json.dumps({"contexts": [{**product, "fields": [{}]}]}),
            "'name'",
            "'question'",
        ),
        "limit 0": (
            json.dumps({"contexts": [product], "limits": {"per_field": 0}}),
            "'limits': 'per_field' is 0",
            "at least 1",
        ),
        "temperature": (
            json.dumps({"contexts": [product], "sampling": {"temperature": -1}}),
            "temperature is -1",
            "0 (greedy)",
        ),
        "seed": (
            json.dumps({"contexts": [product], "seed": "one"}),
            "'seed'",
            '"one"',
            "whole number",
        ),
    }
    for i, (what, (text, *pieces)) in enumerate(texts.items()):
        file = folder / f"job{i}.json"
        file.write_text(text)
        yield Case(
            f"job: {what}",
            ["generate", "--model", model, "--job", file, "--format", "json"],
            str(file),
            *pieces,
        )
    lines = write_lines(
        folder / "jobs.jsonl", [{"contexts": [product]}, {"contexts": [{**product, "text": None}]}]
    )
    yield Case(
        "job: second line of a file",
        ["generate", "--model", model, "--job", lines],
        "jobs.jsonl:2",
        "'text'",
    )
    broken = write_lines(folder / "broken.jsonl", [{"contexts": [product]}, "{"])
    yield Case(
        "job: malformed second line",
        ["generate", "--model", model, "--job", broken],
        "broken.jsonl:2",
        "not valid JSON",
    )
    yield Case(
        "job: no such file",
        ["generate", "--model", model, "--job", "none.json"],
        "none.json",
        "No such file",
    )
    yield Case(
        "job: a folder",
        ["generate", "--model", model, "--job", model],
        "is a folder",
        "expected a file",
    )
    good = folder / "good.json"
    good.write_text(json.dumps({"id": "shoe", "contexts": [product]}))
    for k_max in (5000, 65536):
        yield Case(
            f"job: gaps of {k_max}",
            [
                "generate", "--model", model, "--decoder", "hpd", "--set", f"hpd.k_max={k_max}",
                "--job", good,
            ],
            "shoe",
            "context overflow",
            str(k_max),
            "4096",
            "smaller stack or K_max",
        )
    many = folder / "many.json"
    many.write_text(
        json.dumps(
            {
                "id": "crowd",
                "contexts": [{**product, "fields": [{"name": f"a{i}"} for i in range(20)]}] * 40,
            }
        )
    )
    yield Case(
        "job: many values of K_max 30",
        ["generate", "--model", model, "--decoder", "hpd", "--job", many],
        "crowd",
        "context overflow",
        "800 values",
    )
    yield Case(
        "job: many values, huge K_max",
        [
            "generate", "--model", model, "--decoder", "hpd", "--set", "hpd.k_max=65536", "--job",
            many,
        ],
        "crowd",
        "context overflow",
        "800 values",
    )
    long = folder / "long.json"
    long.write_text(json.dumps({"id": "tale", "contexts": [{**product, "text": "Nike " * 5000}]}))
    for decoder in ("ar", "hpd"):
        yield Case(
            f"job: a text too long for {decoder}",
            ["generate", "--model", model, "--decoder", decoder, "--job", long],
            "tale",
            "context overflow",
            "4096",
        )
    yield Case(
        "job: a text too long, asked separately",
        ["generate", "--model", model, "--set", "ar.ask=separately", "--job", long],
        "tale",
        "context overflow",
    )
    yield Case(
        "job: a text too long, forced keys",
        ["generate", "--model", model, "--set", "ar.forced_keys=true", "--job", long],
        "tale",
        "context overflow",
    )


def dataset_cases(model, folder):
    def root(name, lines, file="test.jsonl"):
        shutil.copytree(SAMPLES, folder / name)
        write_lines(folder / name / "oa-mine" / file, lines)
        return folder / name

    good = records("oa-mine")[:3]
    run = [
        "run", "--model", model, "--decoder", "ar", "--dataset", "oa-mine", "--db", "new.sqlite",
        "--data-root",
    ]
    line = json.dumps(good[1])
    for name, text, *pieces in (
        ("d-json", line[:-1], "not valid JSON"),
        ("d-list", "[1]", "array", "expected an object"),
        ("d-key", '{"input": "x", "category": "y"}', "target_scores"),
        ("d-type", json.dumps({**good[1], "input": 3}), "'input' is number", "a string"),
        (
            "d-score",
            json.dumps({**good[1], "target_scores": {"Brand": {"Nubbin": 0.5}}}),
            "Brand",
            "0.5",
            "expected 1",
        ),
        ("d-scores", json.dumps({**good[1], "target_scores": {}}), "target_scores", "at least one"),
        (
            "d-twice",
            '{"input": "x", "input": "y", "category": "c", "target_scores": {"a": {"b": 1}}}',
            "'input'",
            "twice",
        ),
        ("d-blank", json.dumps({**good[1], "input": " "}), "'input' is empty"),
    ):
        yield Case(
            f"dataset: {name}",
            [*run, root(name, [good[0], text, good[2]])],
            f"{name}/oa-mine/test.jsonl:2:",
            *pieces,
        )
    yield Case(
        "dataset: no record", [*run, root("d-none", [])], "d-none/oa-mine/test.jsonl", "no record"
    )
    yield Case(
        "dataset: bad train file",
        [*run, root("d-train", ["{"], "train.jsonl")],
        "d-train/oa-mine/train.jsonl:1",
        "not valid JSON",
    )
    (root("d-file", good) / "oa-mine" / "test.jsonl").unlink()
    yield Case(
        "dataset: no test file", [*run, folder / "d-file"], "d-file/oa-mine/test.jsonl", "missing"
    )
    yield Case(
        "dataset: no folder",
        [*run, folder / "nowhere"],
        "'oa-mine'",
        "nowhere/oa-mine",
        "data root",
    )
    yield Case(
        "dataset: dry run, no folder", [*run, folder / "nowhere", "--dry-run"], "nowhere/oa-mine"
    )


def experiment_cases(model, folder):
    base = {"name": "e", "model": str(model), "datasets": ["oa-mine"], "decoders": [{"name": "ar"}]}
    texts = {
        "malformed": ('{"name": ', ":1", "not valid JSON"),
        "list": ("[]", "array", "expected an object"),
        "unknown key": ({**base, "batchsize": 3}, "unknown key 'batchsize'", "'batch_size'"),
        "unknown key of a decoder": (
            {**base, "decoders": [{"nam": "ar"}]},
            "'decoders'[0]",
            "'name'",
        ),
        "unknown decoder": (
            {**base, "decoders": [{"name": "hdp"}]},
            ".json: 'decoders'[0]",
            "'hdp'",
            "'hpd'",
        ),
        "unknown option": (
            {**base, "decoders": [{"name": "hpd", "set": {"kmax": 3}}]},
            ".json: 'decoders'[0]: 'set'",
            "'kmax'",
            "'k_max'",
        ),
        "bad option": (
            {**base, "decoders": [{"name": "hpd", "set": {"k_max": 0}}]},
            "hpd.k_max is 0",
            "expected 1 to 65536",
        ),
        "set is a number": (
            {**base, "decoders": [{"name": "hpd", "set": 5}]},
            "'decoders'[0]",
            "'set' is 5",
            "expected an object",
        ),
        "set holds a list": (
            {**base, "decoders": [{"name": "hpd", "set": {"k_max": [8, 16]}}]},
            "'decoders'[0]",
            "'k_max' is [8,16]",
            "expected one",
        ),
        "a label with a comma": (
            {**base, "decoders": [{"label": "a,b", "name": "ar"}]},
            "'decoders'[0]",
            "a,b",
        ),
        "decoders is text": ({**base, "decoders": "ar"}, "'decoders' is string", "list"),
        "no decoders": ({**base, "decoders": []}, "'decoders'", "list"),
        "datasets is text": ({**base, "datasets": "oa-mine"}, "'datasets'", "array"),
        "unknown dataset": ({**base, "datasets": ["oa"]}, ".json: 'datasets'", "'oa'", "oa-mine"),
        "a number as text": ({**base, "limit": "ten"}, "'limit'", "'ten'", "whole number"),
        "a limit of null": ({**base, "limit": None}, "'limit' is null"),
        "an object for a value": ({**base, "baseline": {"x": 1}}, "'baseline'", "expected"),
        "batch size 0": ({**base, "batch_size": 0}, "'batch_size' is 0", "at least 1"),
        "a grid": ({**base, "grid": {"hpd.k_max": [8, 16]}}, "'grid'", "`pardec sweep`"),
        "models": (
            {**base, "models": ["a", "b"]},
            "'models' is array",
            "expected an object of names",
        ),
        "name is a number": ({**base, "name": 3}, "'name' is 3", "a string"),
    }
    for i, (what, (text, *pieces)) in enumerate(texts.items()):
        file = folder / f"experiment{i}.json"
        file.write_text(text if isinstance(text, str) else json.dumps(text))
        yield Case(f"experiment: {what}", ["run", "-c", file, "--db", "new.sqlite"], *pieces)
    yield Case(
        "experiment: no such file",
        ["run", "-c", "none.json", "--db", "new.sqlite"],
        "none.json",
        "No such file",
    )


def database_cases(model, folder):
    run = [
        "run", "--model", model, "--decoder", "ar", "--dataset", "oa-mine", "--limit", 2,
        "--max-new-tokens", 4, "--db",
    ]
    (folder / "notes.txt").write_text(
        "no database at all, but long enough to be read as the head of one: " * 8
    )
    with contextlib.closing(sqlite3.connect(folder / "foreign.sqlite")) as foreign, foreign:
        foreign.execute("CREATE TABLE recipe (name TEXT)")
    with contextlib.closing(sqlite3.connect(folder / "newer.sqlite")) as newer, newer:
        newer.execute("CREATE TABLE recipe (name TEXT)")
        newer.execute(f"PRAGMA application_id = {0x50415244}")
        newer.execute("PRAGMA user_version = 99")
    (folder / "empty.sqlite").write_text("")
    for verb in (run, ["compare", "--db"]):
        yield Case(
            f"database: {verb[0]}: no SQLite",
            [*verb, "notes.txt"],
            "notes.txt",
            "not an SQLite database",
            "expected one that pardec made",
        )
        yield Case(
            f"database: {verb[0]}: another application's",
            [*verb, "foreign.sqlite"],
            "foreign.sqlite",
            "another application",
            "expected",
        )
        yield Case(
            f"database: {verb[0]}: another schema's",
            [*verb, "newer.sqlite"],
            "newer.sqlite",
            "schema version 99, expected 1",
            "choose another database",
        )
        yield Case(
            f"database: {verb[0]}: a folder", [*verb, model], "is a folder", "expected a file"
        )
    yield Case(
        "database: compare: empty",
        ["compare", "--db", "empty.sqlite"],
        "empty.sqlite",
        "empty",
        "expected",
    )
    yield Case(
        "database: no folder",
        [*run, "nowhere/r.sqlite"],
        "nowhere/r.sqlite",
        "does not exist",
        "another database",
    )
    yield Case(
        "database: resume without one",
        [*run, "none.sqlite", "--resume"],
        "none.sqlite",
        "does not exist",
    )
    yield Case("database: /proc", [*run, "/proc/r.sqlite"], "/proc/r.sqlite", "another database")


@pytest.fixture(scope="module")
def model(pardec):
    """A network of random weights."""
    return pardec.synthesise("model")


@pytest.mark.parametrize(
    "cases",
    [model_cases, command_line_cases, job_cases, dataset_cases, experiment_cases, database_cases],
    ids=lambda cases: cases.__name__,
)
def test_bad_input_is_one_line_and_changes_no_file(pardec, model, subtests, cases):
    for case in list(cases(model, pardec.folder)):
        with subtests.test(case.what):
            check_case(pardec, case)


def test_device_cuda_of_a_build_without_cuda(pardec, model):
    if "cuda" in pardec.good("--version").lower():
        pytest.skip("not done here: --device cuda without CUDA (this build has it)")
    flags = ["--model", model, "--prompt", "x", "--device", "cuda"]
    check_case(
        pardec, Case("--device cuda", ["generate", *flags], "device 'cuda'", "CPU-only", "use cpu")
    )


@pytest.fixture
def mounted(pardec):
    """A file system of some size that is mounted at a name, and goes after the test; needs root."""
    mounts = []

    def mount(name, size):
        folder = pardec.folder / name
        folder.mkdir()
        call = ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder)]
        if subprocess.run(call, capture_output=True).returncode != 0:
            pytest.skip(f"not done here: {name} (nothing may be mounted)")
        mounts.append(folder)
        return folder

    yield mount
    for folder in mounts:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture(scope="module")
def short_run(model):
    return [
        "run", "--model", model, "--decoder", "ar", "--dataset", "oa-mine", "--limit", 2,
        "--max-new-tokens", 4,
    ]


def test_a_read_only_file_system_takes_no_run_and_can_be_compared(pardec, short_run, mounted):
    folder = mounted("locked", "8m")
    pardec.good(*short_run, "--db", folder / "r.sqlite")
    subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True, capture_output=True)
    for what, db in (("a database", folder / "r.sqlite"), ("a new one", folder / "new.sqlite")):
        case = Case(
            f"read-only file system, {what}", [], str(db), "may not be written", "another database"
        )
        check_message(case, pardec(*short_run, "--db", db))
    ran = pardec("compare", "--db", folder / "r.sqlite")
    assert ran.returncode == 0, ran.stderr
    assert "\nar " in ran.stdout


@pytest.mark.skipif(
    os.geteuid() == 0,
    reason="not done here: a file without leave to write (root may write what it may not)",
)
def test_a_file_without_leave_to_write(pardec, short_run):
    pardec.good(*short_run, "--db", "frozen.sqlite")
    (pardec.folder / "frozen.sqlite").chmod(0o444)
    case = Case("a file without leave to write", [], "frozen.sqlite", "may not be written", "--db")
    check_message(case, pardec(*short_run, "--db", "frozen.sqlite"))


@pytest.fixture(scope="module")
def long_run(model):
    return [
        "run", "--model", model, "--decoder", "ar,hpd", "--dataset", "oa-mine,ae-110k", "--set",
        "hpd.k_max=6", "--max-new-tokens", 24, "--runs", 3, "--progress", "none",
    ]


def test_a_run_that_fills_the_disk_goes_on_elsewhere(pardec, long_run, mounted):
    """Exit 1; what was committed stays."""
    folder = mounted("small-disk", "1m")
    db = folder / "r.sqlite"
    ran = pardec(*long_run, "--db", db)
    check_message(
        Case("full disk", [], str(db), "disk is full", "--resume", code=1, began=True), ran
    )
    assert all("internal" not in line for line in ran.stderr.splitlines()), (
        f"full disk: {ran.stderr}"
    )
    assert len(ran.stderr.splitlines()) <= 5
    shutil.copytree(folder, pardec.folder / "rescued")
    db = pardec.folder / "rescued" / "r.sqlite"
    there = job_count(db)
    assert there > 5, f"full disk: {there} jobs are stored"
    whole = query(
        db,
        "SELECT count(*) AS n FROM job WHERE NOT EXISTS (SELECT 1 FROM generation WHERE job_id ="
        " job.id)",
    )[0]["n"]
    # Full disk: the database is whole.
    assert whole == 0
    assert query(db, "PRAGMA integrity_check")[0]["integrity_check"] == "ok"
    ran = pardec(*long_run, "--db", db, "--resume")
    assert ran.returncode == 0, f"full disk: the run goes on where there is room: {ran.stderr}"
    assert len(answers(db)) == 3 * 2 * 74


def test_a_disk_without_room_for_a_database_a_trace_or_a_network(pardec, long_run, mounted):
    tiny = mounted("tiny-disk", "64k")
    check_message(
        Case(
            "a disk without room for a database",
            [],
            "tiny-disk/r.sqlite",
            "disk is full",
            code=1,
            began=True,
        ),
        pardec(*long_run, "--db", tiny / "r.sqlite"),
    )
    # A file without tables is a new database to the next run; it is not removed, since another
    # process may have it open.
    assert all(file.stat().st_size <= 4096 for file in tiny.iterdir()), (
        f"a disk without room for a database: {list(tiny.iterdir())} is left"
    )
    (tiny / "r.sqlite").unlink(missing_ok=True)
    check_message(
        Case("a trace on a full disk", [], "--trace", "tiny-disk/t.jsonl", code=1, began=True),
        pardec(*long_run[:-4], "--limit", 6, "--db", "traced.sqlite", "--trace", tiny / "t.jsonl"),
    )
    check_message(
        Case("a network on a full disk", [], "tiny-disk", "cannot be written", code=1),
        pardec("model", "synth", tiny / "m"),
    )
    assert not list(tiny.rglob("*.tmp")), (
        f"a network on a full disk: {list(tiny.rglob('*'))} is left"
    )


def test_a_file_that_may_not_grow(pardec, long_run):
    """To the program as a full disk, and needs no leave."""

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (800_000, 800_000))

    ran = pardec(*long_run, "--db", "short.sqlite", preexec_fn=limit)
    check_message(
        Case("a file that may not grow", [], "short.sqlite", "writing failed", code=1, began=True),
        ran,
    )
    assert job_count(pardec.folder / "short.sqlite") > 5, (
        "a file that may not grow: what was done is stored"
    )
