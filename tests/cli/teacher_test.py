"""`pardec data rewrite` and `data label` over a teacher whose replies are planted: good rewrites
become training data that `train` reads, each bad one is dropped for its own reason; killed and
resumed, nothing that was answered is asked again, and what is written is the same.
"""

import collections
import json
import re

import pytest
from harness import TOKENIZER, change, query
from scripted_service import Judge, killed_at_random, tables
from tokenizers import Tokenizer

IDS = Tokenizer.from_file(str(TOKENIZER))
CONTROL = "20,21,22,23,24,25"


def sentences(name):
    """Six lines of one answer, which name it."""
    return [
        f"Line {i} of <<{name}>> says what somebody who asks about subject number {i} of {name} has"
        " to know before anything else is done with it."
        for i in range(6)
    ]


def group(titles, parts):
    return (
        "".join(f"<Title>{t}</Title>" for t in titles)
        + "<Para>"
        + "".join(f"<Branch>{t}: {p}</Branch>" for t, p in zip(titles, parts))
        + "</Para>"
    )


def rewritten(name, *groups):
    """The answer with lines [begin, end) of each group as branches."""
    lines, text, at = sentences(name), "", 0
    for begin, end in groups:
        text += (
            "".join(line + "\n" for line in lines[at:begin])
            + group([f"no {i}" for i in range(begin, end)], lines[begin:end])
            + ("\n" if end < 6 else "")
        )
        at = end
    return text + "\n".join(lines[at:])


def restored(markup):
    """As the paper puts an answer together again."""

    def block(match):
        return "\n".join(
            re.sub(r"^[^:]*: ", "", part)
            for part in re.findall(r"<Branch>(.*?)</Branch>", match[0], re.S)
        )

    return re.sub(r"<Title>.*?</Para>", block, markup, flags=re.S)


def parallel(markup):
    """DP, ABN by the paper's counts."""

    def ids(text):
        return len(IDS.encode(text, add_special_tokens=False).ids)

    inside = outside = titles = branches = groups = 0
    for part in re.split(r"(<Title>.*?</Para>)", markup, flags=re.S):
        if not part.startswith("<Title>"):
            outside += ids(part) if part else 0
            continue
        groups += 1
        outside += 2
        for title in re.findall(r"<Title>(.*?)</Title>", part):
            outside += ids(title) + 2
            titles += ids(title)
        for title, content in re.findall(r"<Branch>(.*?):(.*?)</Branch>", part, re.S):
            inside += 2 + ids(title) + ids(":") + ids(content)
            branches += 1
    return {
        "dp": inside / (inside + outside),
        "abn": branches / groups,
        "efficiency": (inside - titles) / inside,
    }


def said(markup):
    return json.dumps({"parallel": True, "answer": markup})


# What the teacher makes of each answer, candidate by candidate.
REWRITES = {
    "good": [rewritten("good", (1, 3)), rewritten("good", (1, 5)), rewritten("good", (1, 4))],
    "half": [rewritten("half", (0, 2), (3, 6))] * 3,
    "broken": [
        "<Title>a</Title><Para><Branch>a: never closed",
        rewritten("broken", (0, 3)).replace("<Branch>no 1", "<Branch>no one"),
        rewritten("broken", (0, 3)).replace("</Branch><Branch>", "</Branch> and <Branch>", 1),
    ],
    "rules": [
        rewritten("rules", (0, 3)).replace("no 1", "no 0"),
        rewritten("rules", (0, 3)).replace("no 1", "a title that is long"),
        group(["a", "b"], ["short", sentences("rules")[0]]) + "\n".join(sentences("rules")[1:]),
    ],
    "changed": (
        [rewritten("changed", (0, 6)).replace("has to know before anything else", "never needs")]
        * 2
        + [rewritten("changed", (0, 2))[:-300]]
    ),
    "dependent": [rewritten("dependent", (0, 6))] * 3,
    "two": [rewritten("two", (0, 6))] * 3,
    "form": [
        rewritten("form", (0, 6)).replace("Line 5", "Line five"),
        rewritten("form", (1, 3)),
        rewritten("form", (1, 4)),
    ],
    "same": [rewritten("same", (0, 6))] * 3,
    "again": [rewritten("again", (0, 6))] * 3,
    "refused": [None] * 3,
    "serial": [""] * 3,
    "single": (
        [group(["one"], sentences("single")[:1]) + "\n" + "\n".join(sentences("single")[1:])] * 3
    ),
    "leaked": ["</Para>" + rewritten("leaked", (0, 3))] + ["hm"] * 2,
}
# What becomes of it, and why each rewrite was dropped.
ENDS = {
    "good": ("parallel", {"chosen": 1, "not needed": 2}),
    "half": ("parallel", {"chosen": 1, "not needed": 2}),
    "broken": ("serial", {"markup": 3}),
    "rules": ("serial", {"titles": 2, "branches": 1}),
    "changed": ("serial", {"text": 3}),
    "dependent": ("serial", {"dependent": 3}),
    "two": ("serial", {"dependent": 3}),
    "form": ("parallel", {"form": 1, "chosen": 1, "not needed": 1}),
    "same": ("serial", {"content": 3}),
    "again": ("parallel", {"chosen": 1, "not needed": 2}),
    "refused": ("serial", {"refused": 3}),
    "serial": ("serial", {"not parallel": 3}),
    "single": ("serial", {"not parallel": 3}),
    "leaked": ("serial", {"markup": 1, "unreadable": 2}),
    "short": ("serial", {}),
    "long": ("serial", {}),
    "turns": ("left out", {}),
    "tagged": ("left out", {}),
    "empty": ("left out", {}),
}


def check_of(prompt):
    return next(
        kind
        for words, kind in (
            ("Find stretches", "rewrite"),
            ("independent only", "independent"),
            ("intact only", "intact"),
            ("come to the same only", "same"),
        )
        if words in prompt
    )


def teach(prompt, times, again):
    name, kind = re.search(r"<<(\w+)>>", prompt)[1], check_of(prompt)
    if kind == "rewrite":
        markup = REWRITES[name][(times - 1) % 3]
        if markup is None:
            return {
                "id": "1",
                "model": "teacher-1",
                "choices": [
                    {
                        "index": 0,
                        "finish_reason": "stop",
                        "message": {"role": "assistant", "content": None, "refusal": "I cannot"},
                    }
                ],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1},
            }
        return (
            markup
            if markup == "hm"
            else json.dumps({"parallel": False, "answer": ""})
            if not markup
            else said(markup)
        )
    if name == "again" and not again:
        return "yes"
    group_at_end = "no 5:" in prompt
    good = {
        "independent": not (
            name == "dependent"
            or (name == "half" and group_at_end)
            or (name == "two" and times == 2)
        ),
        "intact": "Line five" not in prompt,
        "same": name != "same",
    }[kind]
    return json.dumps({"explanation": "", kind: good})


REWRITE = [
    "data", "rewrite", "jsonl", "--data-root", "own", "--split", "train", "--progress", "none",
]
TRAIN = [
    "--tokenizer", TOKENIZER, "--dataset", "jsonl", "--validation", 0, "--steps", 1, "--threads", 1,
]


@pytest.fixture(scope="module")
def given(pardec):
    """The answers that are rewritten, as a dataset of prompts: its rows by id."""
    folder = pardec.folder / "own" / "jsonl"
    folder.mkdir(parents=True)
    rows = [
        {
            "id": name,
            "category": "talk",
            "prompt": f"What is to be known of {name}?",
            "references": ["\n".join(sentences(name))],
        }
        for name in REWRITES
    ]
    rows += [
        {"id": "short", "prompt": "Hm?", "references": ["No. <<short>>"]},
        {"id": "long", "prompt": "Say much.", "references": ["<<long>> " + "many words " * 9000]},
        {"id": "turns", "turns": ["One?", "Two?"]},
        {
            "id": "tagged",
            "prompt": "Tags?",
            "references": ["<Title> " + "\n".join(sentences("tagged"))],
        },
        {"id": "empty", "prompt": "Nothing?", "references": []},
    ]
    (folder / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return {row["id"]: row for row in rows}


class Rewritten:
    """What `data rewrite` made of them: its tables, the file, its rows and the details by id."""

    def __init__(self, pardec):
        self.teacher = Judge(teach)
        self.out = pardec.folder / "own" / "jsonl" / "branches.jsonl"
        self.command = [
            *REWRITE, "--service", self.teacher.file(pardec.folder, "teacher"), "--db",
            "teacher.sqlite", "--format", "json",
        ]
        self.plan = tables(pardec.good(*self.command, "--dry-run"))["What would be asked"][0]
        self.untouched = not (pardec.folder / "teacher.sqlite").exists() and not self.teacher.asked
        self.tables = tables(
            pardec.good(*self.command, "--out", self.out, "--details", "details.jsonl")
        )
        self.details = {
            row["id"]: row
            for row in map(json.loads, (pardec.folder / "details.jsonl").read_text().splitlines())
        }
        self.written = {
            row["id"]: row for row in map(json.loads, self.out.read_text().splitlines())
        }


@pytest.fixture(scope="module")
def rewrites(pardec, given):
    return Rewritten(pardec)


def test_a_dry_run_asks_and_writes_nothing(rewrites):
    assert rewrites.plan["calls"] == 3 * len(REWRITES)
    assert rewrites.plan["price"] > 0
    assert rewrites.untouched


def test_each_bad_rewrite_is_dropped_for_its_own_reason(rewrites):
    details = rewrites.details
    for name, (state, why) in ENDS.items():
        row = details[name]
        kinds = collections.Counter(reason.split(":")[0] for reason in row.get("rewrites", []))
        assert (row["state"], kinds) == (state, why), f"{name}: {row}"


def test_a_rewritten_answer_has_the_same_text(rewrites, given):
    written = rewrites.written
    assert set(written) == {name for name, (state, _) in ENDS.items() if state != "left out"}
    for name, row in written.items():
        text = row["references"][0]
        assert row["prompt"] == given[name]["prompt"], f"{name}: the text is another: {text}"
        assert restored(text) == given[name]["references"][0], name
        assert ("<Para>" in text) == (ENDS[name][0] == "parallel"), f"{name}: {text[:80]}"


def test_the_first_good_rewrite_is_chosen(rewrites):
    """Its counts are the paper's."""
    written, details = rewrites.written, rewrites.details
    chosen = {
        "good": rewritten("good", (1, 5)),
        "half": rewritten("half", (0, 2)),
        "form": rewritten("form", (1, 4)),
        "again": rewritten("again", (0, 6)),
    }
    for name, markup in chosen.items():
        assert written[name]["references"] == [markup], f"{name}: {written[name]['references'][0]}"
        assert all(
            abs(details[name][key] - value) < 1e-12 for key, value in parallel(markup).items()
        ), f"{name}: {details[name]}, counted {parallel(markup)}"


def test_the_stages_are_counted(rewrites, given):
    found = rewrites.tables
    stages = {row["stage"]: (row["passed"], row["of"]) for row in found["Rewriting"]}
    n = len(REWRITES)
    assert stages["answers to rewrite"] == (n, len(given))
    assert stages["rewrites received"] == (3 * n - 5, 3 * n)
    assert stages["answers in parallel"] == (4, n)
    fell = {row["reason"]: row["count"] for row in found["Rewrites"]}
    assert fell == dict(
        sum((collections.Counter(why) for _, why in ENDS.values()), collections.Counter())
    )


def test_the_same_once_more_asks_nothing(pardec, rewrites):
    asked = sum(rewrites.teacher.asked.values())
    assert (
        tables(pardec.good(*rewrites.command, "--dry-run"))["What would be asked"][0]["calls"] == 0
    )
    pardec.good(*rewrites.command, "--out", "again.jsonl")
    assert (pardec.folder / "again.jsonl").read_bytes() == rewrites.out.read_bytes()
    assert sum(rewrites.teacher.asked.values()) == asked


@pytest.fixture(scope="module")
def net(pardec):
    """A small network."""
    return pardec.synthesise(
        "net", hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=1,
    )


def test_what_was_written_can_be_trained_on(pardec, rewrites, net):
    ran = pardec(
        "train", "--model", net / "config.json", *TRAIN, "--data-root", "own", "--split",
        "branches", "--format", "aspd", "--aspd-tokens", CONTROL, "--batch-tokens", 1024, "--out",
        "trained",
    )
    assert ran.returncode == 0, ran.stderr
    assert (pardec.folder / "trained" / "model.safetensors").exists()


def test_the_answers_of_a_run_are_rewritten(pardec, given, net):
    """Only those that ended by themselves."""
    pardec.good(
        "run", "--model", net, "--data-root", "own", "--dataset", "jsonl", "--split", "train",
        "--decoder", "ar", "--max-new-tokens", 2, "--progress", "none", "--db", "run.sqlite",
    )
    db = pardec.folder / "run.sqlite"
    for row in query(
        db,
        "SELECT generation.id, sample.key, generation.fields FROM generation JOIN sample ON"
        " sample.id = sample_id",
    ):
        fields = json.loads(row["fields"])
        if row["key"] in ("good", "dependent", "short"):
            fields[0].update(
                text="\n".join(sentences({"short": "again"}.get(row["key"], row["key"]))),
                stop="eos",
            )
        change(
            db,
            "UPDATE generation SET fields = ?, error = NULL WHERE id = ?",
            json.dumps(fields),
            row["id"],
        )
    run = query(db, "SELECT invocation FROM run")[0]["invocation"]
    teacher = Judge(teach)
    pardec.good(
        *REWRITE, "--from-run", run, "--db", db, "--service",
        teacher.file(pardec.folder, "of-a-run"), "--out", "of-a-run.jsonl",
    )
    written = {
        row["id"]: row["references"]
        for row in map(json.loads, (pardec.folder / "of-a-run.jsonl").read_text().splitlines())
    }
    assert written == {
        "good": [rewritten("good", (1, 5))],
        "dependent": ["\n".join(sentences("dependent"))],
        "short": [rewritten("again", (0, 6))],
    }


def test_what_was_answered_before_a_kill_is_not_asked_again(pardec):
    """The files are those of a call that nothing killed."""
    folder = pardec.folder / "many" / "jsonl"
    folder.mkdir(parents=True)
    (folder / "train.jsonl").write_text(
        "".join(
            json.dumps(
                {"prompt": f"What of it, {i}?", "references": ["\n".join(sentences(f"n{i}"))]}
            )
            + "\n"
            for i in range(12)
        )
    )

    def say(prompt, times, again):
        name, kind = re.search(r"<<(\w+)>>", prompt)[1], check_of(prompt)
        if kind == "rewrite":
            return said(rewritten(name, (0, 3), (4, 6)))
        return json.dumps(
            {"explanation": "", kind: int(name[1:]) % 4 != 1 or kind != "independent"}
        )

    def made(teacher, out, db):
        return [
            "data", "rewrite", "jsonl", "--data-root", "many", "--split", "train", "--service",
            teacher.file(pardec.folder, "killed"), "--db", db, "--out", out, "--details",
            out + ".details", "--progress", "none",
        ]

    straight, teacher = Judge(say), Judge(say, delay=0.01)
    pardec.good(*made(straight, "straight.jsonl", "straight.sqlite"))
    code, _, errors, kills = killed_at_random(
        teacher,
        lambda: pardec.start(*made(teacher, "killed.jsonl", "killed.sqlite")),
        kills=6,
        most=40,
        seed=5,
    )
    assert code == 0
    for end in ("", ".details"):
        assert (pardec.folder / f"straight.jsonl{end}").read_bytes() == (
            pardec.folder / f"killed.jsonl{end}"
        ).read_bytes(), f"another file{end} than without kills"
    db = pardec.folder / "killed.sqlite"
    twice = query(
        db,
        "SELECT count(*) AS n FROM (SELECT call_key FROM judge_reply GROUP BY call_key HAVING"
        " count(*) > 1)",
    )[0]["n"]
    late = query(
        db,
        "SELECT count(*) AS n FROM judge_attempt AS a JOIN judge_reply AS r USING (call_key) WHERE"
        " a.id > (SELECT max(b.id) FROM judge_attempt AS b WHERE b.call_key = r.call_key AND"
        " b.process = r.process)",
    )[0]["n"]
    assert twice == 0
    assert late == 0
    replies = query(db, "SELECT count(*) AS n FROM judge_reply")[0]["n"]
    assert (
        replies
        == sum(straight.asked.values())
        <= sum(teacher.asked.values())
        <= replies + 4 * kills
    )
    assert kills >= 4


@pytest.fixture(scope="module")
def command(pardec, given):
    """Arguments that name the teacher of every answer."""
    return [
        *REWRITE, "--service", Judge(teach).file(pardec.folder, "plain"), "--db", "plain.sqlite",
        "--out", "plain.jsonl",
    ]


def test_a_budget_stops(pardec, command):
    poor = pardec(*command, "--budget", 0.005)
    assert poor.returncode == 1, poor.stderr
    assert "budget" in poor.stderr
    assert not (pardec.folder / "plain.jsonl").exists()


def test_failed_calls_are_asked_again(pardec, given):
    """A service that fails leaves answers undecided; what was paid for stays."""
    broken = [True]

    def say(prompt, times, again):
        if broken[0] and check_of(prompt) == "same":
            return {"error": {"message": "not now", "type": "server_error"}}
        return teach(prompt, times, again)

    teacher = Judge(say)
    service = teacher.file(pardec.folder, "failing", retries=0)
    command = [*REWRITE, "--service", service, "--db", "failing.sqlite", "--out", "failing.jsonl"]
    ran = pardec(*command)
    assert ran.returncode == 3, ran.stderr
    assert "undecided" in ran.stderr
    before = len((pardec.folder / "failing.jsonl").read_text().splitlines())
    broken[0] = False
    pardec.good(*command)
    assert len((pardec.folder / "failing.jsonl").read_text().splitlines()) > before
    assert sum(count for count in teacher.asked.values()) < 400


@pytest.mark.parametrize(
    "flag, value, words",
    [
        ("--db", "plain.jsonl", "is the database"),
        ("--out", "own/jsonl/train.jsonl", "read by"),
        ("--service", "none.json", "none.json"),
    ],
)
def test_a_file_in_the_wrong_place_is_refused(pardec, command, flag, value, words):
    wrong = list(command)
    wrong[wrong.index(flag) + 1] = value
    ran = pardec(*wrong)
    assert ran.returncode == 2, ran.stderr
    assert words in ran.stderr


@pytest.mark.parametrize(
    "flags, words",
    [((), "--service"), (("--service",), "--out"), (("race", "--service"), "one dataset")],
    ids=["no service", "no out", "two datasets"],
)
def test_what_is_missing_is_named(pardec, command, flags, words):
    service = command[command.index("--service") + 1]
    ran = pardec("data", "rewrite", "jsonl", *flags, *([service] if flags else []))
    assert ran.returncode == 2, ran.stderr
    assert words in ran.stderr


def test_a_dataset_of_fields_is_not_rewritten(pardec, command):
    ran = pardec(
        "data", "rewrite", "oa-mine", "--service", command[command.index("--service") + 1], "--out",
        "x.jsonl",
    )
    assert ran.returncode == 2, ran.stderr
    assert "open prompts" in ran.stderr


@pytest.fixture(scope="module")
def titles(pardec):
    """The folder of a dataset of titles without values."""
    folder = pardec.folder / "titles" / "jsonl"
    folder.mkdir(parents=True)
    rows = [
        {
            "id": f"t{i}",
            "category": "Tea",
            "text": f"Maker{i} Green Tea {i} oz loose <<t{i}>>",
            "fields": [{"name": "Brand"}, {"name": "Size"}],
        }
        for i in range(20)
    ]
    (folder / "new.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


LABEL = ["data", "label", "jsonl", "--data-root", "titles", "--progress", "none"]


class Labelled:
    """What `data label` made of them, killed twice: its plan, tables, file, database and
    details.
    """

    def __init__(self, pardec, titles):
        self.out, self.db = titles / "labelled.jsonl", pardec.folder / "labels.sqlite"
        teacher = Judge(name_values, delay=0.01)
        command = [
            *LABEL, "--split", "new", "--service", teacher.file(pardec.folder, "labels"), "--db",
            self.db, "--format", "json",
        ]
        self.plan = tables(pardec.good(*command, "--dry-run"))["What would be asked"][0]
        code, text, errors, _ = killed_at_random(
            teacher,
            lambda: pardec.start(*command, "--out", self.out, "--details", "labels.details"),
            kills=2,
            most=12,
            seed=7,
        )
        assert code == 0
        self.row = tables(text)["Labelling"][0]
        self.details = {
            row["id"]: row
            for row in map(json.loads, (pardec.folder / "labels.details").read_text().splitlines())
        }


@pytest.fixture(scope="module")
def labels(pardec, titles):
    return Labelled(pardec, titles)


def name_values(prompt, times, again):
    """A teacher's values: pieces of the text or none; some replies are of no use."""
    bad = {"t3": "once", "t4": "always", "t5": "refused", "t6": "talk"}
    name = re.search(r"<<(\w+)>>", prompt)[1]
    kind, i = bad.get(name), name[1:]
    if kind == "refused":
        return {
            "id": "1",
            "model": "teacher-1",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "content_filter",
                    "message": {"role": "assistant", "content": None},
                }
            ],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1},
        }
    if kind == "talk" or (kind == "once" and not again):
        return json.dumps({"Brand": "Nobody", "Size": "none"}) if kind == "once" else "I see tea."
    return json.dumps(
        {
            "Brand": f"maker{i}" if kind == "always" else f"Maker{i}",
            "Size": "none" if int(i) % 2 else f" {i} oz",
        }
    )


def test_a_label_call_that_was_killed_asks_each_title_once(labels):
    replies = query(
        labels.db, "SELECT count(*) AS n, count(DISTINCT call_key) AS different FROM judge_reply"
    )[0]
    assert labels.plan["calls"] == 20
    assert replies["n"] == replies["different"] == 23


def test_labels_are_counted_and_bad_ones_have_a_reason(labels):
    wanted = {
        "examples": 20,
        "labelled": 17,
        "unreadable": 2,
        "refused": 1,
        "left out": 0,
        "undecided": 0,
        "values": 25,
        "none": 9,
    }
    assert {key: labels.row[key] for key in wanted} == wanted
    assert "letter by letter" in labels.details["t4"]["reason"]
    assert "pardec:verdict" in labels.details["t6"]["reason"]


def test_labels_are_the_values_of_the_teacher(labels):
    for row in map(json.loads, labels.out.read_text().splitlines()):
        i = int(row["id"][1:])
        assert [field["references"] for field in row["fields"]] == [
            [f"Maker{i}"],
            [] if i % 2 else [f"{i} oz"],
        ], row


def test_choices_are_asked_about_once_more(pardec, titles):
    folder = titles
    rows = [
        {
            "text": f"<<q{i}>> Rain fell.",
            "fields": [
                {"question": "What fell?", "choices": ["Rain", "Snow"]},
                {"question": "When?"},
            ],
        }
        for i in range(2)
    ]
    (folder / "asked.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    chooser = Judge(
        lambda prompt, times, again: json.dumps(
            {"q1": "Rain" if again or "<<q0>>" in prompt else "Hail", "q2": "none"}
        )
    )
    pardec.good(
        *LABEL, "--split", "asked", "--service", chooser.file(pardec.folder, "chooser"), "--db",
        "chosen.sqlite", "--out", folder / "chosen.jsonl",
    )
    fields = [
        json.loads(line)["fields"] for line in (folder / "chosen.jsonl").read_text().splitlines()
    ]
    assert [[f["references"] for f in of] for of in fields] == [[["Rain"], []]] * 2
    assert sum(chooser.asked.values()) == 3


def test_labels_can_be_trained_on(pardec, labels, net):
    ran = pardec(
        "train", "--model", net / "config.json", *TRAIN, "--data-root", "titles", "--split",
        "labelled", "--format", "hpd", "--stack", 1, "--batch-tokens", 512, "--out", "labelled-net",
    )
    assert ran.returncode == 0, ran.stderr


@pytest.fixture(scope="module")
def refuses(pardec):
    """A teacher that refuses everything."""
    refusal = {
        "id": "1",
        "model": "teacher-1",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": None, "refusal": "I never label tea"},
            }
        ],
    }
    return Judge(lambda *_: refusal).file(pardec.folder, "refuses")


def test_a_teacher_that_refuses_gives_no_label(pardec, titles, refuses):
    """The file is said to be empty, the words of a refusal are a reason, and it is no success."""
    service = refuses
    ran = pardec(
        "data", "label", "jsonl", "--data-root", "titles", "--split", "new", "--limit", 3,
        "--service", service, "--db", "nothing.sqlite", "--out", "none.jsonl", "--progress", "none",
    )
    assert ran.returncode == 3, f"nothing labelled: {ran.returncode} {ran.stdout}"
    assert "none.jsonl is empty" in ran.stdout
    assert "what is labelled" not in ran.stdout
    assert "no example gave a result" in ran.stderr
    assert "refused: refused: I never label tea" in ran.stdout


def test_a_teacher_that_refuses_gives_no_rewrite(pardec, given, refuses):
    ran = pardec(*REWRITE, "--service", refuses, "--db", "nothing.sqlite", "--out", "none.jsonl")
    assert ran.returncode == 3, ran.stderr
    assert "no example gave a result" in ran.stderr


def test_an_own_sample_is_said_to_be_one(pardec, refuses):
    ran = pardec(
        "data", "label", "oa-mine", "--service", refuses, "--limit", 2, "--dry-run", "--db",
        "nothing.sqlite",
    )
    assert ran.returncode == 0, ran.stderr
    assert (
        "oa-mine: no --data-root, so the project's own sample of 38 examples is used" in ran.stderr
    )


def test_a_dataset_without_answers_is_no_success(pardec, refuses):
    folder = pardec.folder / "bare" / "jsonl"
    folder.mkdir(parents=True)
    (folder / "train.jsonl").write_text('{"prompt": "Nothing?", "references": []}\n')
    ran = pardec(
        "data", "rewrite", "jsonl", "--data-root", "bare", "--split", "train", "--service", refuses,
        "--db", "nothing.sqlite", "--out", "none.jsonl", "--progress", "none",
    )
    assert ran.returncode == 3, f"nothing rewritten: {ran.returncode} {ran.stdout}"
    assert "0 in parallel, 0 serial" in ran.stdout
    assert "It is empty" in ran.stdout
    assert "nan" not in ran.stdout
