"""Flags that an error advises are flags of the verb that was called, or of the verb that the
advice names.
"""

import functools
import json
import re

import pytest

from harness import ROOT, TOKENIZER, whole_except

MODEL = ROOT / "experiments/quickstart/model"
NETWORK, DB = ("--model", MODEL), ("--db", "some.sqlite")
DECODE = ("--decoder", "ar", "--dataset", "oa-mine", "--limit", 1, "--max-new-tokens", 4)
SHORT = ("--dataset", "oa-mine", "--limit", 4, "--steps", 1)  # a training, if it does not fail
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]+")
# Of other programs, as their commands are quoted whole.
OTHERS = re.compile(r"'(hf|git|pip|python3?|gnuplot) [^']*'|\b(hf|git) [^;]*")


class Helps:
    def __init__(self, pardec):
        self.pardec, self.known = pardec, {}
        self.verbs = sorted(
            set(re.findall(r"^  ([a-z]+)  ", pardec.good("--help"), re.M)) - {"pardec"}
        )
        # each with its actions
        self.actions = {verb: self.actions_of(verb) for verb in self.verbs}

    def actions_of(self, verb):
        line = re.search(
            r"^ +action TEXT[A-Z ]* +(.*(?:\n {20,}.*)*)", self.pardec.good(verb, "--help"), re.M
        )
        listed = {
            "judge": ["run", "export", "import"],
            "runs": ["list", "compare", "name", "note", "rm"],
        }  # with what each takes, in prose
        return listed.get(verb) or (
            re.findall(r"[a-z-]{2,}", re.split(r"[;:(]", line.group(1))[0].replace(" or ", ", "))
            if line
            else []
        )

    def of(self, *words):
        """Flags in the help of a verb, or of a verb's action."""
        if words not in self.known:
            self.known[words] = set(FLAG.findall(self.pardec.good(*words, "--help")))
        return self.known[words]

    def everywhere(self, verb):
        return set().union(self.of(verb), *(self.of(verb, action) for action in self.actions[verb]))

    def foreign(self, called, text):
        """Flags of `text` that neither the call has nor a verb that is named before them in
        their clause.
        """
        text = OTHERS.sub("", text)
        wrong = []
        own = self.of(*called)
        for found in FLAG.finditer(text):
            before = re.split(r"[;:(]|\. ", text[: found.start()])[-1]
            named = [verb for verb in self.verbs if re.search(rf"\b{verb}\b", before)]
            if found.group() not in own and not any(
                found.group() in self.everywhere(verb) for verb in named
            ):
                wrong.append(found.group())
        return wrong


@pytest.fixture(scope="module")
def folder(pardec):
    """The scratch folder with the faulty files, a database and networks that the calls name."""
    folder = pardec.folder
    (folder / "empty").mkdir()
    (folder / "not-json.json").write_text("{")
    (folder / "text.txt").write_text("no database")
    (folder / "list.json").write_text("[]")
    (folder / "bad.jsonl").write_text('{"prompt": 3}\n')
    (folder / "bare").mkdir()  # a network without a tokenizer
    for part in MODEL.iterdir():
        if part.name != "tokenizer.json" and part.is_file():
            (folder / "bare" / part.name).symlink_to(part)
    pardec.good("run", *NETWORK, *DECODE, *DB)
    pardec.good("model", "add-tokens", MODEL, "--tokens", "[M]", "--out", "more")
    plain = json.loads(TOKENIZER.read_text(encoding="utf-8"))
    control = re.compile(
        r"[\[<]\|?/?(M|MASK|mask|Fork|fork|SplitMask|Child|child|SplitSop|Title|title|Branch|branch"
        r"|Para|para)\|?[\]>]"
    )
    plain["added_tokens"] = [
        token for token in plain["added_tokens"] if not control.fullmatch(token["content"])
    ]
    plain["model"]["vocab"] = {
        text: i for text, i in plain["model"]["vocab"].items() if not control.fullmatch(text)
    }
    (folder / "plain").mkdir()
    (folder / "plain" / "tokenizer.json").write_text(json.dumps(plain), encoding="utf-8")
    return folder


def networks():
    """Networks that cannot be read."""
    models = [
        (),
        ("--model", "nowhere"),
        ("--model", "org/name"),
        ("--model", "empty"),
        ("--model", "text.txt"),
        ("--model", "bare"),
        (*NETWORK, "--adapter", "empty"),
        (*NETWORK, "--dtype", "fp7"),
        (*NETWORK, "--device", "tpu"),
        (*NETWORK, "--device", "cuda:99"),
        (*NETWORK, "--dtype", "nf4", "--device", "cuda"),
        (*NETWORK, "--memory-limit", "1K"),
        (*NETWORK, "--memory-limit", "lots"),
    ]
    prompt = ("--prompt", "x", "--max-new-tokens", 2)
    for model in models:
        yield ("generate",), (*model, *prompt)
        yield ("run",), (*model, *DECODE, "--db", "new.sqlite")
        yield ("sweep",), (*model, *DECODE, "--db", "new.sqlite")
        yield (
            ("train",),
            (*model[:4], "--dataset", "oa-mine", "--format", "ar", "--steps", 1, "--out", "out"),
        )
        yield ("doctor",), model
        yield ("score",), (*model[:2], "--metric", "likelihood", *DB)
        yield ("roofline",), (*model, "--trace", "text.txt")


def decoders():
    """Decoders that lack something, or options that are none."""
    prompt = ("--prompt", "x", "--max-new-tokens", 2)
    for decoder in (
        "speculative", "medusa", "space", "apar", "aspd", "hpd", "ippd", "nothing",
        "self-speculative", "skeleton-of-thought",
    ):
        for options in (
            (),
            ("--set", f"{decoder}.nothing=1"),
            ("--dtype", "int8", "--adapter", MODEL),
        ):
            yield ("generate",), (*NETWORK, "--decoder", decoder, *prompt, *options)
            yield (
                ("run",),
                (
                    *NETWORK, "--decoder", decoder, "--dataset", "oa-mine", "--limit", 1,
                    "--max-new-tokens", 4, "--warmup", 0, "--db", "new.sqlite", *options,
                ),
            )


def prompts():
    """Prompts of `generate`."""
    for bad in (
        (),
        ("--job", "not-json.json"),
        ("--prompt-tokens", "x"),
        ("--prompt-tokens", "9999999"),
        ("--prompt", "x", "--job", "list.json"),
        ("--prompt", "x", "--pace", 5),
        ("--prompt", "x", "--profile"),
        ("--prompt", "x", "--chat-template", "no"),
        ("--prompt", "x", "--thinking", "off", "--max-new-tokens", 2),
        ("--prompt", "x", "--chat-set", "a=1"),
        ("--from-trace", "text.txt", "--watch"),
        ("--prompt", "x", "--eos", "no token"),
        ("--job", ROOT / "experiments/quickstart/job.json", "--prompt-file", "nowhere"),
        ("--prompt", "x" * 30000),
        ("--prompt", "x", "--resume"),
    ):
        yield ("generate",), (*NETWORK, *bad)


def runs():
    """Settings of runs and sweeps."""
    for bad in (
        ("--dataset", "nothing"),
        ("--dataset", "squad"),
        ("--resume", "--db", "nowhere.sqlite"),
        ("--retry-errors",),
        ("--shots", 99999),
        ("--shard", "3/2"),
        ("--judge", "no.json"),
        ("--split", "no"),
        ("--unseen",),
        ("--arm", "a=nothing"),
        ("--set", "x=1"),
        ("--set", "ar.stack=900"),
        ("--oracle", "no"),
        ("--judge", "no.json", "--oracle", "accept-length:2"),
        ("--prompt-file", "nowhere"),
        ("--columns", "no"),
        ("--wide", "--columns", "ar"),
        ("--data-root", "empty"),
        ("--cache-blocks", 1),
        ("--config", "not-json.json"),
        ("--chat-template", "checkpoint:no"),
        ("--block", 0),
        ("--dataset", "mine=bad.jsonl"),
    ):
        for verb, more in (("run", ()), ("sweep", ("--grid", "batch_size=1,2"))):
            yield (verb,), (*NETWORK, *DECODE, *more, "--db", "new.sqlite", *bad)


def files():
    """Databases that are none."""
    for file in ("nowhere.sqlite", "text.txt", "empty", "/dev/null", "nowhere/x.sqlite"):
        for verb, more in (
            ("run", (*NETWORK, *DECODE)),
            ("compare", ()),
            ("score", ()),
            ("report", ("--output", "r.html")),
            ("plot", ("--x", "speedup", "--y", "f1_micro", "--output", "p.svg")),
            ("export", ("--out", "e")),
            ("judge", ("--protocol", "five-class", "--service", "no.json")),
            ("judge", ("import",)),
            ("judge", ("export", "--out", "a.csv")),
            ("runs", ()),
            ("runs", ("name", "x", "y")),
            ("runs", ("rm", "x")),
            ("doctor", ()),
            (
                "train",
                (
                    *NETWORK, "--dataset", "oa-mine", "--format", "ar", "--from-run", "x", "--out",
                    "out",
                ),
            ),
            ("data", ("rewrite", "--service", "no.json", "--out", "o")),
        ):
            yield (
                (
                    verb,
                    *(
                        (more[0],)
                        if more
                        and not str(more[0]).startswith("--")
                        and verb in ("judge", "runs", "data")
                        else ()
                    ),
                ),
                (
                    *(
                        more[1:]
                        if more
                        and not str(more[0]).startswith("--")
                        and verb in ("judge", "runs", "data")
                        else more
                    ),
                    "--db",
                    file,
                ),
            )
        yield ("merge",), (file, "some.sqlite")
        yield ("merge",), ("merged.sqlite", "some.sqlite", file)


def databases():
    """Questions to a database."""
    for bad in (
        (),
        ("--run", "no"),
        ("--baseline", "no"),
        ("--columns", "no"),
        ("--wide", "--columns", "arm"),
        ("--usd-per-hour", 3),
        ("--accounting", "--usd-per-million", "2;8"),
        ("--format", "no"),
        ("--matrix",),
        ("--trace", "text.txt"),
        ("--metric", "rouge"),
        ("--model", MODEL),
    ):
        for verb in ("compare", "score", "report", "plot", "export", "runs", "judge"):
            yield (verb,), (*DB, *bad)


def training():
    """Settings of `train`."""
    out = ("--out", "out")
    for bad in (
        ("--format", "no"),
        ("--format", "space"),
        ("--format", "apar"),
        ("--format", "aspd"),
        ("--format", "hpd", "--k-max", 900),
        ("--format", "ar", "--ar-stack", 999),
        ("--format", "space", "--mask-token", "no"),
        ("--mask-groups", 3),
        ("--resume", "--out", "more"),
        ("--out", "more"),
        ("--medusa-share-head",),
        ("--lora-targets", "q_proj"),
        ("--lora-rank", 2, "--lora-tokens", "no token"),
        ("--start-adapter", "empty"),
        ("--start-adapter", "empty", "--lora-rank", 2),
        ("--patience", 3, "--validation", 0),
        ("--from-arm", "a"),
        ("--extra", "nowhere"),
        ("--validation", 0.999),
        ("--dtype", "nf4"),
        ("--process-timeout", 0),
        ("--unannotated", "1,1"),
        ("--dataset", "squad"),
        ("--dataset", "nothing"),
        ("--format", "hpd", "--dataset", "vicuna-bench"),
        ("--medusa-heads", 2, "--format", "hpd"),
        ("--chat-template", "no"),
        ("--data-root", "empty"),
        ("--minutes", -1),
        ("--lr", 0),
    ):
        yield ("train",), (*NETWORK, *SHORT, *out, *bad)


def tokens():
    """A tokenizer without any control token, and none in the network."""
    for name in ("space", "space-value", "apar", "apar-unrolled", "aspd", "aspd-value"):
        yield (
            ("train",),
            (
                *NETWORK, "--tokenizer", "plain", *SHORT, "--format", name, "--out", "out",
            ),
        )
    yield (
        ("train",),
        (
            *NETWORK, *SHORT, "--format", "aspd", "--aspd-tokens", "1,2", "--out", "out",
        ),
    )


def actions():
    """Actions of `model` and `data`, and papers."""
    for action, bad in (
        ("synth", ()),
        ("synth", ("x", "--config", "not-json.json")),
        ("inspect", ()),
        ("inspect", ("empty",)),
        ("merge", (MODEL,)),
        ("merge", (MODEL, "--adapter", "empty", "--out", "o")),
        ("draft", (MODEL,)),
        ("draft", (MODEL, "--layers", 99, "--out", "o")),
        ("add-tokens", (MODEL,)),
        ("add-tokens", ("bare", "--tokens", "[X]", "--out", "o")),
    ):
        yield ("model", action), bad
    for action in ("fetch", "list", "stats", "check", "standin", "prompts", "rewrite", "label"):
        for bad in (
            (),
            ("oa-mine",),
            ("squad", "--data-root", "empty"),
            ("nothing",),
            ("bad.jsonl",),
            ("--service", "no.json"),
            ("--data-root", "empty"),
            ("oa-mine", "--data-root", "empty", "--split", "no"),
        ):
            yield ("data", action), bad
    for bad in (
        ("nothing",),
        ("nothing", "--db", "text.txt"),
        ("hpd", "--dtype", "fp7"),
        ("hpd", "--model", "nowhere"),
    ):
        yield ("reproduce",), bad


# Each yields (words of the verb, its arguments) of calls that fail, most with advice.
GROUPS = [networks, decoders, prompts, runs, files, databases, training, tokens, actions]


@pytest.fixture(scope="module")
def helps(pardec):
    return Helps(pardec)


@pytest.fixture(scope="module")
def failed(pardec, folder):
    """The calls of a group that failed, made once: (words, arguments, error)."""

    @functools.cache
    def of(group):
        found = []
        for words, arguments in group():
            ran = pardec(*words, *arguments, timeout=120)
            if ran.returncode != 0:
                lines = ran.stderr.splitlines()
                error = "\n".join(line for line in lines if line.startswith("pardec: "))
                # What was given is not advice.
                text = (error or ran.stderr).replace(str(folder), "")
                found.append((words, [*map(str, arguments)], text))
        return found

    return of


every_group = pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.__name__)


def test_helps_are_read(helps):
    assert {"run", "train", "data", "compare"} <= {*helps.verbs}
    assert "--minutes" in helps.of("train")
    assert "--steps" not in helps.of("run")


def test_foreign_flags_are_seen(helps):
    assert helps.foreign(("runs",), "x: is there; give another --steps") == ["--steps"]
    assert not helps.foreign(("runs",), "'pardec train --steps 3' makes one")


@every_group
def test_what_is_called_is_a_verb(helps, group):
    for words, _ in group():
        assert words[0] in helps.verbs
        assert len(words) == 1 or words[1] in helps.actions[words[0]], words


@pytest.mark.parametrize("group", whole_except([runs, training, actions], GROUPS), ids=lambda group: group.__name__)
def test_an_error_advises_flags_of_its_verb_alone(helps, failed, group):
    for words, arguments, text in failed(group):
        if "unknown flag" not in text:  # which lists the verb's own
            wrong = [flag for flag in helps.foreign(words, text) if flag not in arguments]
            assert wrong == [], f"{' '.join([*words, *arguments])}: {text}"


def test_many_calls_fail_and_many_errors_name_flags(failed):
    calls = [call for group in GROUPS for call in failed(group)]
    assert len(calls) > 250
    advised = [
        set(FLAG.findall(text)) - {"--help", *arguments}
        for _, arguments, text in calls
        if "unknown flag" not in text
    ]
    assert sum(map(bool, advised)) > 60
