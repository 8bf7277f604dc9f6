"""Records of a user's own in a run: system messages, further columns, files beside datasets,
limits of their own, tables, worked examples, Hugging Face's exports.
"""

import csv
import json
import shutil

import pytest
from harness import DATA, ROOT, change, query, write_lines

SHORT = ["--decoder", "ar", "--max-new-tokens", 5, "--progress", "none", "--warmup", 0]
# What a template shows of a conversation, and refuses to be rendered without a system message.
SHOWS_SYSTEM = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}</{{ m.role }}>\n{% endfor %}{% if"
    " add_generation_prompt %}<assistant>{% endif %}"
)


@pytest.fixture(scope="module")
def model(pardec):
    """A random network whose chat template shows system messages."""
    folder = pardec.synthesise("model")
    (folder / "tokenizer.json").write_text(
        (ROOT / "experiments/quickstart/tokenizer.json").read_text()
    )
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": SHOWS_SYSTEM}))
    return folder


@pytest.fixture(scope="module")
def tokenizer(model):
    """The network's tokenizer in the package tokenizers."""
    return pytest.importorskip("tokenizers").Tokenizer.from_file(str(model / "tokenizer.json"))


def first_fields(db):
    """The first field of each example."""
    return [json.loads(r["fields"])[0] for r in query(db, "SELECT fields FROM sample ORDER BY id")]


def check_refused(ran, *words):
    assert ran.returncode == 2, ran.stderr
    for word in words:
        assert word in ran.stderr


USER, TOLD = "Name a colour.", "Be brief."
OF_USER, OF_SYSTEM = {"role": "user", "content": USER}, {"role": "system", "content": TOLD}
# Records, and what the template shows of their system message.
SYSTEMS = {
    "messages": ({"messages": [OF_SYSTEM, OF_USER]}, TOLD),
    "beside a prompt": ({"prompt": USER, "system": TOLD}, TOLD),
    "parts": (
        {"messages": [{"role": "system", "content": [{"type": "text", "text": TOLD}]}, OF_USER]},
        TOLD,
    ),
    "an empty text": ({"messages": [{"role": "system", "content": ""}, OF_USER]}, ""),
    "an empty key": ({"prompt": USER, "system": ""}, None),
    "conversations with roles": ({"conversations": [OF_SYSTEM, OF_USER]}, TOLD),
    "a list of messages as a prompt": ({"prompt": [OF_SYSTEM, OF_USER]}, TOLD),
    "developer": ({"messages": [{"role": "developer", "content": TOLD}, OF_USER]}, TOLD),
    "ShareGPT": (
        {"conversations": [{"from": "system", "value": TOLD}, {"from": "human", "value": USER}]},
        TOLD,
    ),
    "none": ({"prompt": USER}, None),
}


@pytest.mark.parametrize(("record", "told"), SYSTEMS.values(), ids=SYSTEMS)
def test_a_system_message_goes_to_the_template(pardec_alone, model, tokenizer, record, told):
    """The prompt has as many ids as transformers' template and tokenizer give."""
    write_lines(pardec_alone.folder / "s.jsonl", [record])
    pardec_alone.good(
        "run", "--model", model, "--dataset", "mine=s.jsonl", "--db", "s.sqlite", *SHORT
    )
    text = (
        "" if told is None else f"<system>{told}</system>\n"
    ) + f"<user>{USER}</user>\n<assistant>"
    wanted = len(tokenizer.encode(text, add_special_tokens=False).ids)
    assert (
        query(pardec_alone.folder / "s.sqlite", "SELECT prompt_tokens FROM job")[0]["prompt_tokens"]
        == wanted
    )


# A template that puts the system's words into the last turn, as Mistral-Nemo's does.
MOVES_SYSTEM = (
    "{% if messages[0].role == 'system' %}{% set told = messages[0].content %}{% set messages ="
    " messages[1:] %}{% endif %}{% for m in messages %}{% if m.role == 'user' %}[INST] {% if"
    " loop.last and told is defined %}{{ told }}\n\n{% endif %}{{ m.content }}[/INST]{% else %}{{"
    " m.content }}</s>{% endif %}{% endfor %}"
)
TURNS = [
    OF_USER,
    {"role": "assistant", "content": "Blue."},
    {"role": "user", "content": "Another?"},
]


@pytest.fixture(scope="module")
def moving(pardec, model):
    """A network with that template."""
    folder = pardec.folder / "moving"
    shutil.copytree(model, folder)
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": MOVES_SYSTEM}))
    return folder


@pytest.mark.parametrize("messages", [[OF_SYSTEM, OF_USER], TURNS], ids=["one-turn", "no-system"])
def test_a_template_that_moves_the_system_message_answers_one_turn_or_no_system(
    pardec_alone, moving, messages
):
    write_lines(pardec_alone.folder / "moved.jsonl", [{"messages": messages}])
    pardec_alone.good(
        "run", "--model", moving, "--dataset", "mine=moved.jsonl", "--db", "moved.sqlite", *SHORT
    )
    assert (
        query(pardec_alone.folder / "moved.sqlite", "SELECT job.error FROM job")[0]["error"] is None
    )


def test_a_template_that_moves_the_system_message_fails_on_later_turns(pardec_alone, moving):
    """What comes before a later turn would not be what was said."""
    write_lines(pardec_alone.folder / "moved.jsonl", [{"messages": [OF_SYSTEM, *TURNS]}])
    ran = pardec_alone(
        "run", "--model", moving, "--dataset", "mine=moved.jsonl", "--db", "moved.sqlite", *SHORT
    )
    assert ran.returncode == 3, ran.stderr
    error = query(pardec_alone.folder / "moved.sqlite", "SELECT job.error FROM job")[0]["error"]
    assert "writes a turn differently when another one follows it" in error


def test_examples_that_one_job_asks_for_together_have_one_system_message(
    pardec_alone, model, tokenizer
):
    """And it is in the prompt."""
    fields = [{"name": "Brand"}, {"name": "Colour"}]
    systems = ["", TOLD, TOLD, "", "Be exact.", TOLD]
    write_lines(
        pardec_alone.folder / "stack.jsonl",
        [
            {"text": f"Mug {n}", "fields": fields, **({"system": told} if told else {})}
            for n, told in enumerate(systems)
        ],
    )
    pardec_alone.good(
        "run", "--model", model, "--decoder", "hpd", "--dataset", "mine=stack.jsonl", "--set",
        "hpd.k_max=3", "--db", "stack.sqlite", "--max-new-tokens", 20, "--progress", "none",
        "--warmup", 0, "--trace", "stack.trace",
    )
    jobs = [
        json.loads(r["key"]) if r["key"].startswith("[") else [r["key"]]
        for r in query(pardec_alone.folder / "stack.sqlite", "SELECT key FROM job ORDER BY id")
    ]
    assert sorted(map(sorted, jobs)) == [
        ["test-0", "test-3"],
        ["test-1", "test-2", "test-5"],
        ["test-4"],
    ]
    traces = [
        json.loads(line) for line in (pardec_alone.folder / "stack.trace").read_text().splitlines()
    ]
    prompts = [
        tokenizer.decode(
            [t for t, step in zip(trace["tokens"], trace["step"]) if step == 0],
            skip_special_tokens=False,
        )
        for trace in traces
    ]
    for told in (TOLD, "Be exact.", "from them with care."):
        assert sum(told in prompt for prompt in prompts) == 1, told


@pytest.fixture(scope="module")
def further(pardec, model):
    """A run on records with further columns: its arguments up to the database."""
    write_lines(
        pardec.folder / "c/jsonl/test.jsonl",
        [{"prompt": "a", "source": "mine"}, {"prompt": "b", "n": 1, "id": 5}],
    )
    return [
        "run", "--model", model, "--dataset", "jsonl", "--data-root", pardec.folder / "c", *SHORT,
    ]


def test_columns_that_are_not_read_are_named(pardec, further):
    """Also in the plan. A whole number is an id."""
    ran = pardec(*further, "--db", "c.sqlite")
    assert ran.returncode == 0, ran.stderr
    assert "jsonl: columns that are not read: source (1 record), n (1 record)" in ran.stderr
    assert [
        r["key"] for r in query(pardec.folder / "c.sqlite", "SELECT key FROM sample ORDER BY id")
    ] == ["test-0", "5"]
    assert "columns that are not read" in pardec.good(*further, "--dry-run")


def test_strict_columns_refuse_further_ones(pardec, further):
    check_refused(
        pardec(*further, "--db", "c2.sqlite", "--strict-columns"),
        "test.jsonl:1: unknown key 'source'; known: id, category",
    )


TABLES = {
    "a.tsv": (
        'id, too\tprompt\tanswer\n1\tSay "a", then b.\tb "c" d\n2\t"Say\tc\nand ""d""."\te\n',
        "\t",
    ),
    "b.CSV": ('prompt,n\nHe said "no".,1\n"x, ""y""",2\n', ","),
    "c.csv": ("prompt;n\na, b;1\n", ";"),
}


@pytest.mark.parametrize("file", TABLES)
def test_tables_are_read_as_python_reads_them(pardec_alone, model, file):
    """Quotes inside fields, tabs, and endings in capitals."""
    text, delimiter = TABLES[file]
    (pardec_alone.folder / file).write_text(text)
    rows = [*csv.DictReader(text.splitlines(keepends=True), delimiter=delimiter)]
    answer = ":answer" if "answer" in rows[0] else ""
    pardec_alone.good(
        "run", "--model", model, "--dataset", f"mine={file}:prompt{answer}", "--db", "t.sqlite",
        *SHORT,
    )
    asked = first_fields(pardec_alone.folder / "t.sqlite")
    assert [a["question"] for a in asked] == [row["prompt"] for row in rows]
    if answer:
        assert [a["references"] for a in asked] == [[row["answer"]] for row in rows]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("d.json", '{"prompt": "a"}\n{"prompt": "b"}\n'),
        ("e.jsonl", '\n [{"prompt": "a"},\n{"prompt": "b"}]'),
        ("f.JSON", '[{"prompt": "a"}, {"prompt": "b"}]'),
        ("g.ndjson", '\ufeff{"prompt": "a"}\r\n\r\n{"prompt": "b"}'),
    ],
    ids=["lines", "array", "capitals", "byte-order-mark"],
)
def test_json_is_read_by_what_it_holds(pardec_alone, model, file, text):
    """A list or one record a line, whatever the file's ending."""
    (pardec_alone.folder / file).write_text(text, newline="")
    told = json.loads(
        pardec_alone.good(
            "run", "--model", model, "--dataset", f"mine={file}", *SHORT, "--dry-run", "--format",
            "json",
        )
    )
    assert told["rows"][0]["examples"] == 2


@pytest.mark.parametrize("file", ["i.jsonl", "i.json"])
def test_columns_of_json_are_chosen_by_name(pardec_alone, model, file):
    rows = [
        {"question": "Two and two?", "answer": "4", "id": 7, "prompt": "not this"},
        {"question": "And three?", "answer": 7, "prompt": "nor this"},
        {"question": "Of what?", "answer": None, "source": "x"},
    ]
    if file == "i.json":
        (pardec_alone.folder / file).write_text(json.dumps(rows))
    else:
        write_lines(pardec_alone.folder / file, rows)
    ran = pardec_alone(
        "run", "--model", model, "--dataset", f"mine={file}:question:answer", "--db", "i.sqlite",
        *SHORT,
    )
    assert ran.returncode == 0, ran.stderr
    found = [
        (f["question"], f.get("references", []))
        for f in first_fields(pardec_alone.folder / "i.sqlite")
    ]
    assert found == [(r["question"], [str(r["answer"])] if r["answer"] else []) for r in rows]
    assert "not read: prompt (2 records), source (1 record)" in ran.stderr


def test_choices_may_have_labels_of_their_own(pardec_alone, model):
    choice = {
        "text": "t",
        "fields": [
            {
                "question": "Q",
                "choices": {"label": ["1", "2"], "text": ["red", "blue"]},
                "references": "2",
            },
            {"question": "R", "choices": {"A": "x", "B": "y"}, "references": ["y"]},
            {"question": "S", "choices": [5, 2.5], "references": [2.5]},
        ],
    }
    write_lines(pardec_alone.folder / "h.jsonl", [choice])
    pardec_alone.good(
        "run", "--model", model, "--dataset", "mine=h.jsonl", "--db", "h.sqlite", *SHORT
    )
    fields = json.loads(
        query(pardec_alone.folder / "h.sqlite", "SELECT fields FROM sample")[0]["fields"]
    )
    assert [(f["choices"], f["references"]) for f in fields] == [
        (["red", "blue"], ["B"]),
        (["x", "y"], ["B"]),
        (["5", "2.5"], ["B"]),
    ]


@pytest.fixture(scope="module")
def files(pardec, model):
    """Three files of a user's own."""
    write_lines(
        pardec.folder / "short.jsonl",
        [{"prompt": f"Say {n}.", "references": ["x"]} for n in range(3)],
    )
    (pardec.folder / "long.csv").write_text('question,answer\n"Say ""a"", b",y\nSay c,z\n')
    (pardec.folder / "list.json").write_text(
        json.dumps(
            [
                {
                    "text": "The sky.",
                    "fields": [
                        {"question": "Colour?", "choices": ["red", "blue"], "references": ["blue"]}
                    ],
                }
            ]
        )
    )


@pytest.fixture(scope="module")
def several(pardec, model, files):
    """The database of a run on these files and on a dataset, two of the files with a limit of
    their own.
    """
    db = pardec.folder / "several.sqlite"
    pardec.good(
        "run",
        "--model",
        model,
        "--dataset",
        "short=short.jsonl,long=long.csv:question:answer,list=list.json,math500",
        "--limit",
        3,
        "--db",
        db,
        *SHORT,
        "--ignore-eos",
        "--answer-tokens",
        "short=2",
        "--answer-tokens",
        "long=7",
    )
    return db


def test_each_file_beside_a_dataset_has_its_limit(several):
    rows = query(
        several,
        "SELECT dataset.name, max(json_array_length(generation.tokens)) AS ids, count(*) AS n FROM"
        " generation JOIN run ON run.id = run_id JOIN dataset ON dataset.id = dataset_id GROUP"
        " BY 1",
    )
    found = {row["name"]: (row["ids"], row["n"]) for row in rows}
    assert {k: v for k, v in found.items() if k != "math500"} == {
        "short": (2, 3),
        "long": (7, 2),
        "list": (5, 1),
    }
    assert found["math500"][0] == 5


def test_stored_runs_are_listed_compared_and_scored_under_the_names_of_files(pardec, several):
    names = {
        row["dataset"].split()[0]
        for row in json.loads(pardec.good("compare", "--db", several, "--format", "json"))["rows"]
    }
    assert names == {"short", "long", "list", "math500"}
    assert "short" in pardec.good("score", "--db", several)
    assert "short" in pardec.good("runs", "--db", several, "--dataset", "short")
    pardec.good("report", "--db", several, "-o", pardec.folder / "r.html")


def test_a_choice_is_scored_by_its_letter(pardec, several):
    rows = json.loads(
        pardec.good("score", "--db", several, "--metric", "accuracy", "--format", "json")
    )["rows"]
    assert [row["dataset"].split()[0] for row in rows] == ["list"]


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (["--dataset", "a=none.jsonl"], "none.jsonl is missing"),
        (["--dataset", "a=short.jsonl,a=list.json"], "names 'a' twice"),
        (["--dataset", "squad=short.jsonl"], "expected another name"),
        (["--dataset", "a=long.csv"], "has no column 'prompt'; known: question, answer"),
        (["--dataset", "a=short.jsonl", "--answer-tokens", "b=3"], "--dataset does not name b"),
        (["--dataset", "a=short.jsonl", "--answer-tokens", "a=0"], "expected NAME=N"),
        (["--dataset", "a=short.jsonl:a:b:c"], "expected NAME=FILE.jsonl"),
        (["--dataset", "a=short.jsonl:question"], "has no 'question'; known: prompt, references"),
        (["--dataset", "a=x.parquet"], "x.parquet is missing"),
        (["--dataset", "a=x.parquet:question"], "x.parquet is missing"),
    ],
    ids=lambda value: " ".join(value[1:]) if isinstance(value, list) else None,
)
def test_what_is_wrong_in_a_dataset_is_said(pardec, model, tmp_path, flags, says):
    db = tmp_path / "e.sqlite"
    check_refused(pardec("run", "--model", model, *flags, "--db", db, *SHORT), says)
    assert not db.exists()


@pytest.fixture(scope="module")
def shots(pardec):
    """A file of three examples."""
    return write_lines(
        pardec.folder / "shots.jsonl",
        [{"prompt": f"Say {n}.", "references": [f"It is {n}."]} for n in ("one", "two", "three")],
    )


def test_worked_examples_are_earlier_turns_before_an_open_prompt_and_are_not_asked(
    pardec, model, tokenizer, shots
):
    """They are of the evaluated split where there is no other."""
    db = pardec.folder / "shots.sqlite"
    pardec.good(
        "run", "--model", model, "--dataset", f"mine={shots}", "--db", db, *SHORT, "--shots", 2
    )
    rows = query(
        db,
        "SELECT sample.fields, job.prompt_tokens FROM generation JOIN sample ON sample.id ="
        " sample_id JOIN job ON job.id = job_id",
    )
    assert len(rows) == 1
    assert json.loads(query(db, "SELECT config FROM run")[0]["config"])["shots"] == 2
    asked = json.loads(rows[0]["fields"])[0]["question"]
    others = [n for n in ("one", "two", "three") if n not in asked]
    lengths = set()
    for a, b in (others, others[::-1]):
        text = (
            "".join(f"<user>Say {n}.</user>\n<assistant>It is {n}.</assistant>\n" for n in (a, b))
            + f"<user>{asked}</user>\n<assistant>"
        )
        lengths.add(len(tokenizer.encode(text, add_special_tokens=False).ids))
    assert rows[0]["prompt_tokens"] in lengths


def test_worked_examples_of_fields_are_not_asked(pardec_alone, model):
    write_lines(
        pardec_alone.folder / "q.jsonl",
        [
            {"text": f"Text {n}.", "fields": [{"question": "Which?", "references": [str(n)]}]}
            for n in range(4)
        ],
    )
    told = json.loads(
        pardec_alone.good(
            "run", "--model", model, "--decoder", "ippd", "--dataset", "mine=q.jsonl", "--shots", 3,
            "--dry-run", "--format", "json",
        )
    )
    assert any("3 worked examples" in note for note in told["notes"]), told["notes"]
    assert told["rows"][0]["examples"] == 1


def test_more_worked_examples_than_there_are_are_refused(pardec, model, shots):
    ran = pardec(
        "run", "--model", model, "--dataset", f"mine={shots}", "--db", "e.sqlite", *SHORT,
        "--shots", 9,
    )
    check_refused(ran, "dataset mine: its prompt shows 9 worked examples")


SQUAD = [
    {
        "id": "1",
        "title": "T",
        "context": "A crow.",
        "question": "Who?",
        "answers": {"text": ["A crow"], "answer_start": [0]},
    },
    {
        "id": "2",
        "title": "T",
        "context": "A crow.",
        "question": "When?",
        "answers": {"text": [], "answer_start": []},
    },
]


@pytest.fixture(scope="module")
def write_parquet():
    """Writes rows into a Parquet file."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    return lambda file, rows: parquet.write_table(pyarrow.Table.from_pylist(rows), file)


def check_squad(pardec, model):
    """One example has both questions."""
    pardec.good(
        "run", "--model", model, "--dataset", "squad", "--data-root", ".", *SHORT, "--db",
        "hf.sqlite",
    )
    fields = json.loads(
        query(pardec.folder / "hf.sqlite", "SELECT fields FROM sample")[0]["fields"]
    )
    assert [f["references"] for f in fields] == [["A crow"], []]


def test_an_export_of_hugging_face_is_read_from_json_lines(pardec_alone, model):
    write_lines(pardec_alone.folder / "squad/validation.jsonl", SQUAD)
    check_squad(pardec_alone, model)


def test_an_export_of_hugging_face_is_read_from_shards_of_parquet(
    pardec_alone, model, write_parquet
):
    (pardec_alone.folder / "squad").mkdir()
    for shard, row in enumerate(SQUAD):
        write_parquet(pardec_alone.folder / f"squad/validation-0000{shard}-of-00002.parquet", [row])
    check_squad(pardec_alone, model)


@pytest.fixture
def own_parquet(pardec_alone, write_parquet):
    write_parquet(
        pardec_alone.folder / "own.parquet",
        [{"ask": "Say a word", "gold": "word"}, {"ask": "Another one", "gold": "one"}],
    )


@pytest.mark.usefixtures("own_parquet")
@pytest.mark.parametrize("columns", ["ask:gold", "ask"])
def test_columns_of_a_parquet_file_are_chosen_by_name(pardec_alone, model, columns):
    pardec_alone.good(
        "run", "--model", model, "--dataset", f"mine=own.parquet:{columns}", *SHORT, "--db",
        "own.sqlite",
    )
    assert [field["question"] for field in first_fields(pardec_alone.folder / "own.sqlite")] == [
        "Say a word",
        "Another one",
    ]


@pytest.mark.usefixtures("own_parquet")
def test_a_column_that_a_parquet_file_lacks_is_refused(pardec_alone, model):
    check_refused(
        pardec_alone(
            "run", "--model", model, "--dataset", "mine=own.parquet:no:gold", *SHORT, "--db",
            "own.sqlite",
        ),
        "has no 'no'",
    )


def case_folder(case):
    """A case that another reader of records refused."""
    folder = DATA.parent / "cases" / case
    if not folder.is_dir():
        pytest.skip(f"not done here: {folder} is missing")
    return folder


@pytest.mark.parametrize("case", ["15-system-message", "16-extra-column", "19-letters"])
def test_shared_cases_are_answered(pardec_alone, model, case):
    pardec_alone.good(
        "run", "--model", model, "--dataset", "jsonl", "--data-root", case_folder(case), "--db",
        "case.sqlite", *SHORT,
    )


def test_rouge_of_other_letters_is_scored_by_rouge_unicode_and_warned_of(pardec_alone, model):
    folder, db = case_folder("20-rouge-not-latin"), pardec_alone.folder / "case.sqlite"
    pardec_alone.good(
        "run", "--model", model, "--dataset", "jsonl", "--data-root", folder, "--db", db, *SHORT
    )
    reference = json.loads((folder / "jsonl/test.jsonl").read_text())["references"][0]
    change(db, "UPDATE generation SET fields = json_set(fields, '$[0].text', ?)", reference)
    told = json.loads(
        pardec_alone.good(
            "score", "--db", db, "--metric", "rouge,rouge_unicode", "--format", "json"
        )
    )
    scores = {row["metric"]: row["score"] for row in told["rows"]}
    assert scores["rouge_l"] == 0
    assert scores["rouge_l_unicode"] == 1
    assert any(
        "outside a-z and 0-9" in note and "rouge_unicode" in note for note in told["notes"]
    ), told["notes"]
    warnings = json.loads(pardec_alone.good("compare", "--db", db, "--format", "json"))["warnings"]
    assert any(w["code"] == "rouge_letters" for w in warnings), warnings
