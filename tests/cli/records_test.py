"""Records of a user's own in a run: system messages, further columns, files beside datasets, limits of their own, tables, worked examples, Hugging Face's exports."""
import json
import pathlib
import shutil
import sys

from harness import DATA, ROOT, Checks, query, scratch, write_lines

SHORT = ["--decoder", "ar", "--max-new-tokens", 5, "--progress", "none", "--warmup", 0]
# What a template shows of a conversation, and refuses to be rendered without a system message.
SHOWS_SYSTEM = "{% for m in messages %}<{{ m.role }}>{{ m.content }}</{{ m.role }}>\n{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"


def system(check, pardec, model):
    """The system's text goes to the template: the prompt is as much longer as its text, by transformers' ids."""
    from tokenizers import Tokenizer
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    user, told = "Name a colour.", "Be brief."
    shapes = {"messages": {"messages": [{"role": "system", "content": told}, {"role": "user", "content": user}]}, "beside a prompt": {"prompt": user, "system": told},
              "parts": {"messages": [{"role": "system", "content": [{"type": "text", "text": told}]}, {"role": "user", "content": user}]},
              "of an empty text": {"messages": [{"role": "system", "content": ""}, {"role": "user", "content": user}]}, "key, empty": {"prompt": user, "system": ""},
              "conversations with roles": {"conversations": [{"role": "system", "content": told}, {"role": "user", "content": user}]}, "list of messages as a prompt": {"prompt": [{"role": "system", "content": told}, {"role": "user", "content": user}]},
              "developer": {"messages": [{"role": "developer", "content": told}, {"role": "user", "content": user}]},
              "ShareGPT": {"conversations": [{"from": "system", "value": told}, {"from": "human", "value": user}]}, "none": {"prompt": user}}
    for name, record in shapes.items():
        write_lines(pardec.folder / "s.jsonl", [record])
        db = pardec.folder / f"system-{name.split()[0]}.sqlite"
        pardec.good("run", "--model", model, "--dataset", "mine=s.jsonl", "--db", db, *SHORT)
        text = ("" if name in ("none", "key, empty") else f"<system>{'' if name == 'of an empty text' else told}</system>\n") + f"<user>{user}</user>\n<assistant>"
        wanted = len(tokenizer.encode(text, add_special_tokens=False).ids)
        check(query(db, "SELECT prompt_tokens FROM job")[0]["prompt_tokens"] == wanted, f"{name}: {query(db, 'SELECT prompt_tokens FROM job')}, expected {wanted}")


def moved_system(check, pardec, model):
    """A template that puts the system's words into the last turn (Mistral-Nemo's does): what a later turn would be asked behind is not what was said, and no answer is made of it."""
    moving = pardec.folder / "moving"
    shutil.copytree(model, moving)
    (moving / "tokenizer_config.json").write_text(json.dumps({"chat_template": "{% if messages[0].role == 'system' %}{% set told = messages[0].content %}{% set messages = messages[1:] %}{% endif %}{% for m in messages %}"
                                                              "{% if m.role == 'user' %}[INST] {% if loop.last and told is defined %}{{ told }}\n\n{% endif %}{{ m.content }}[/INST]{% else %}{{ m.content }}</s>{% endif %}{% endfor %}"}))
    turns = [{"role": "user", "content": "Name a colour."}, {"role": "assistant", "content": "Blue."}, {"role": "user", "content": "Another?"}]
    told = [{"role": "system", "content": "Be brief."}]
    for name, messages, good in (("one turn", told + turns[:1], True), ("no system", turns, True), ("both", told + turns, False)):
        write_lines(pardec.folder / "moved.jsonl", [{"messages": messages}])
        db = pardec.folder / f"moved-{name}.sqlite"
        ran = pardec("run", "--model", moving, "--dataset", "mine=moved.jsonl", "--db", db, *SHORT)
        row = query(db, "SELECT job.error FROM job")[0]
        check((ran.returncode == 0 and row["error"] is None) if good else (ran.returncode == 3 and "writes a turn differently when another one follows it" in row["error"]), f"{name}: exit {ran.returncode}, {row}")


def stacked_systems(check, pardec, model):
    """Examples that one job asks for together have one system message, and it is in the prompt."""
    fields = [{"name": "Brand"}, {"name": "Colour"}]
    write_lines(pardec.folder / "stack.jsonl", [{"text": f"Mug {n}", "fields": fields, **({"system": told} if told else {})} for n, told in enumerate(["", "Be brief.", "Be brief.", "", "Be exact.", "Be brief."])])
    db = pardec.folder / "stack.sqlite"
    pardec.good("run", "--model", model, "--decoder", "hpd", "--dataset", "mine=stack.jsonl", "--set", "hpd.k_max=3", "--db", db, "--max-new-tokens", 20, "--progress", "none", "--warmup", 0, "--trace", "stack.trace")
    jobs = [json.loads(r["key"]) if r["key"].startswith("[") else [r["key"]] for r in query(db, "SELECT key FROM job ORDER BY id")]
    check(sorted(map(sorted, jobs)) == [["test-0", "test-3"], ["test-1", "test-2", "test-5"], ["test-4"]], f"jobs by system message: {jobs}")
    from tokenizers import Tokenizer
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    traces = [json.loads(line) for line in (pardec.folder / "stack.trace").read_text().splitlines()]
    prompts = [tokenizer.decode([t for t, step in zip(trace["tokens"], trace["step"]) if step == 0], skip_special_tokens=False) for trace in traces]
    for told, n in (("Be brief.", 1), ("Be exact.", 1), ("from them with care.", 1)):
        check(sum(told in prompt for prompt in prompts) == n, f"{told} stands in {n} prompts: {prompts}")


def columns(check, pardec, model):
    write_lines(pardec.folder / "c/jsonl/test.jsonl", [{"prompt": "a", "source": "mine"}, {"prompt": "b", "n": 1, "id": 5}])
    run = ["run", "--model", model, "--dataset", "jsonl", "--data-root", "c", *SHORT]
    ran = pardec(*run, "--db", "c.sqlite")
    check(ran.returncode == 0 and "jsonl: columns that are not read: source (1 record), n (1 record)" in ran.stderr, f"further columns: {ran.stderr}")
    check([r["key"] for r in query(pardec.folder / "c.sqlite", "SELECT key FROM sample ORDER BY id")] == ["test-0", "5"], "a whole number is an id")
    check("columns that are not read" in pardec.good(*run, "--dry-run"), "the plan says so")
    ran = pardec(*run, "--db", "c2.sqlite", "--strict-columns")
    check(ran.returncode == 2 and "test.jsonl:1: unknown key 'source'; known: id, category" in ran.stderr, f"--strict-columns: {ran.stderr}")


def tables(check, pardec, model):
    """Files as pandas and Python's csv read them: quotes inside fields, tabs, JSON by what it holds, endings in capitals."""
    import csv
    files = {"a.tsv": 'id, too\tprompt\tanswer\n1\tSay "a", then b.\tb "c" d\n2\t"Say\tc\nand ""d""."\te\n', "b.CSV": 'prompt,n\nHe said "no".,1\n"x, ""y""",2\n', "c.csv": "prompt;n\na, b;1\n"}
    for file, text in files.items():
        (pardec.folder / file).write_text(text)
        column = "prompt"
        rows = list(csv.DictReader(text.splitlines(keepends=True), delimiter={"a.tsv": "\t", "c.csv": ";"}.get(file, ",")))
        db = pardec.folder / f"{file}.sqlite"
        pardec.good("run", "--model", model, "--dataset", f"mine={file}:{column}" + (":answer" if file == "a.tsv" else ""), "--db", db, *SHORT)
        asked = [json.loads(r["fields"])[0] for r in query(db, "SELECT fields FROM sample ORDER BY id")]
        check([a["question"] for a in asked] == [row[column] for row in rows], f"{file}: {asked}, expected {rows}")
        check(file != "a.tsv" or [a["references"] for a in asked] == [[row["answer"]] for row in rows], f"{file}: references {asked}")
    for file, text in {"d.json": '{"prompt": "a"}\n{"prompt": "b"}\n', "e.jsonl": '\n [{"prompt": "a"},\n{"prompt": "b"}]', "f.JSON": '[{"prompt": "a"}, {"prompt": "b"}]', "g.ndjson": '\ufeff{"prompt": "a"}\r\n\r\n{"prompt": "b"}'}.items():
        (pardec.folder / file).write_text(text, newline="")
        told = json.loads(pardec.good("run", "--model", model, "--dataset", f"mine={file}", *SHORT, "--dry-run", "--format", "json"))
        check(told["rows"][0]["examples"] == 2, f"{file}: {told}")
    rows = [{"question": "Two and two?", "answer": "4", "id": 7, "prompt": "not this"}, {"question": "And three?", "answer": 7, "prompt": "nor this"}, {"question": "Of what?", "answer": None, "source": "x"}]
    write_lines(pardec.folder / "i.jsonl", rows)
    (pardec.folder / "i.json").write_text(json.dumps(rows))
    for file in ("i.jsonl", "i.json"):
        ran = pardec("run", "--model", model, "--dataset", f"mine={file}:question:answer", "--db", f"{file}.sqlite", *SHORT)
        fields = [json.loads(r["fields"])[0] for r in query(pardec.folder / f"{file}.sqlite", "SELECT fields FROM sample ORDER BY id")]
        check([(f["question"], f.get("references", [])) for f in fields] == [(r["question"], [str(r["answer"])] if r["answer"] else []) for r in rows], f"{file}, columns by name: {fields}; {ran.stderr}")
        check("not read: prompt (2 records), source (1 record)" in ran.stderr, f"{file}: {ran.stderr}")
    choice = {"text": "t", "fields": [{"question": "Q", "choices": {"label": ["1", "2"], "text": ["red", "blue"]}, "references": "2"}, {"question": "R", "choices": {"A": "x", "B": "y"}, "references": ["y"]}, {"question": "S", "choices": [5, 2.5], "references": [2.5]}]}
    write_lines(pardec.folder / "h.jsonl", [choice])
    pardec.good("run", "--model", model, "--dataset", "mine=h.jsonl", "--db", "h.sqlite", *SHORT)
    fields = json.loads(query(pardec.folder / "h.sqlite", "SELECT fields FROM sample")[0]["fields"])
    check([(f["choices"], f["references"]) for f in fields] == [(["red", "blue"], ["B"]), (["x", "y"], ["B"]), (["5", "2.5"], ["B"])], f"choices with labels of their own: {fields}")


def several(check, pardec, model):
    """Files of one's own beside a dataset, each with its limit; stored runs are compared, scored and exported under their names."""
    write_lines(pardec.folder / "short.jsonl", [{"prompt": f"Say {n}.", "references": ["x"]} for n in range(3)])
    (pardec.folder / "long.csv").write_text('question,answer\n"Say ""a"", b",y\nSay c,z\n')
    (pardec.folder / "list.json").write_text(json.dumps([{"text": "The sky.", "fields": [{"question": "Colour?", "choices": ["red", "blue"], "references": ["blue"]}]}]))
    db = pardec.folder / "several.sqlite"
    sets = "short=short.jsonl,long=long.csv:question:answer,list=list.json,math500"
    pardec.good("run", "--model", model, "--dataset", sets, "--db", db, *SHORT, "--ignore-eos", "--answer-tokens", "short=2", "--answer-tokens", "long=7")
    rows = query(db, "SELECT dataset.name, max(json_array_length(generation.tokens)) AS ids, count(*) AS n FROM generation JOIN run ON run.id = run_id JOIN dataset ON dataset.id = dataset_id GROUP BY 1")
    found = {row["name"]: (row["ids"], row["n"]) for row in rows}
    check({k: v for k, v in found.items() if k != "math500"} == {"short": (2, 3), "long": (7, 2), "list": (5, 1)} and found["math500"][0] == 5, f"each has its limit: {found}")
    names = {row["dataset"].split()[0] for row in json.loads(pardec.good("compare", "--db", db, "--format", "json"))["rows"]}
    check(names == {"short", "long", "list", "math500"}, f"compare names them: {names}")
    check("short" in pardec.good("score", "--db", db) and "short" in pardec.good("runs", "--db", db, "--dataset", "short"), "score and runs do")
    pardec.good("report", "--db", db, "-o", pardec.folder / "r.html")
    rows = json.loads(pardec.good("score", "--db", db, "--metric", "accuracy", "--format", "json"))["rows"]
    check([row["dataset"].split()[0] for row in rows] == ["list"], f"a choice's text is its letter: {rows}")
    for flags, says in ((["--dataset", "a=none.jsonl"], "none.jsonl is missing"), (["--dataset", "a=short.jsonl,a=list.json"], "names 'a' twice"),
                        (["--dataset", "squad=short.jsonl"], "expected another name"), (["--dataset", "a=long.csv"], "has no column 'prompt'; known: question, answer"),
                        (["--dataset", "a=short.jsonl", "--answer-tokens", "b=3"], "--dataset does not name b"), (["--dataset", "a=short.jsonl", "--answer-tokens", "a=0"], "expected NAME=N"),
                        (["--dataset", "a=short.jsonl:a:b:c"], "expected NAME=FILE.jsonl"), (["--dataset", "a=short.jsonl:question"], "has no 'question'; known: prompt, references"), (["--dataset", "a=x.parquet"], "x.parquet is missing"), (["--dataset", "a=x.parquet:question"], "x.parquet is missing")):
        ran = pardec("run", "--model", model, *flags, "--db", "e.sqlite", *SHORT)
        check(ran.returncode == 2 and says in ran.stderr and not (pardec.folder / "e.sqlite").exists(), f"{flags}: {ran.stderr}")


def shown(check, pardec, model):
    """Worked examples: as earlier turns before open prompts, of the evaluated split where there is no other, and not evaluated."""
    from tokenizers import Tokenizer
    write_lines(pardec.folder / "shots.jsonl", [{"prompt": f"Say {n}.", "references": [f"It is {n}."]} for n in ("one", "two", "three")])
    db = pardec.folder / "shots.sqlite"
    pardec.good("run", "--model", model, "--dataset", "mine=shots.jsonl", "--db", db, *SHORT, "--shots", 2)
    rows = query(db, "SELECT sample.fields, job.prompt_tokens FROM generation JOIN sample ON sample.id = sample_id JOIN job ON job.id = job_id")
    check(len(rows) == 1 and json.loads(query(db, "SELECT config FROM run")[0]["config"])["shots"] == 2, f"one of three is asked: {rows}")
    asked = json.loads(rows[0]["fields"])[0]["question"]
    others = [n for n in ("one", "two", "three") if n not in asked]
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    lengths = set()
    for a, b in (others, others[::-1]):
        text = "".join(f"<user>Say {n}.</user>\n<assistant>It is {n}.</assistant>\n" for n in (a, b)) + f"<user>{asked}</user>\n<assistant>"
        lengths.add(len(tokenizer.encode(text, add_special_tokens=False).ids))
    check(rows[0]["prompt_tokens"] in lengths, f"as turns before it: {rows[0]['prompt_tokens']}, expected {lengths}")
    write_lines(pardec.folder / "q.jsonl", [{"text": f"Text {n}.", "fields": [{"question": "Which?", "references": [str(n)]}]} for n in range(4)])
    told = json.loads(pardec.good("run", "--model", model, "--decoder", "ippd", "--dataset", "mine=q.jsonl", "--shots", 3, "--dry-run", "--format", "json"))
    check(any("3 worked examples" in note for note in told["notes"]) and told["rows"][0]["examples"] == 1, f"asked field by field: {told}")
    ran = pardec("run", "--model", model, "--dataset", "mine=shots.jsonl", "--db", "e.sqlite", *SHORT, "--shots", 9)
    check(ran.returncode == 2 and "dataset mine: its prompt shows 9 worked examples" in ran.stderr, f"too many: {ran.stderr}")


def exports(check, pardec, model):
    """Hugging Face's exports, Parquet in shards among them."""
    rows = [{"id": "1", "title": "T", "context": "A crow.", "question": "Who?", "answers": {"text": ["A crow"], "answer_start": [0]}},
            {"id": "2", "title": "T", "context": "A crow.", "question": "When?", "answers": {"text": [], "answer_start": []}}]
    folder = pardec.folder / "hf/squad"
    folder.mkdir(parents=True)
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        print("[skipped] pyarrow is missing")
        write_lines(folder / "validation.jsonl", rows)
    else:
        for shard, row in enumerate(rows):
            pyarrow.parquet.write_table(pyarrow.Table.from_pylist([row]), folder / f"validation-0000{shard}-of-00002.parquet")
        table = pyarrow.Table.from_pylist([{"ask": "Say a word", "gold": "word"}, {"ask": "Another one", "gold": "one"}])
        pyarrow.parquet.write_table(table, pardec.folder / "own.parquet")
        for what in ("own.parquet:ask:gold", "own.parquet:ask"):
            pardec.good("run", "--model", model, "--dataset", f"mine={what}", *SHORT, "--db", "own.sqlite")
            texts = [json.loads(row["fields"])[0]["question"] for row in query(pardec.folder / "own.sqlite", "SELECT fields FROM sample ORDER BY id")]
            check(texts[:2] == ["Say a word", "Another one"], f"a Parquet file of one's own: {texts}")
            (pardec.folder / "own.sqlite").unlink()
        ran = pardec("run", "--model", model, "--dataset", "mine=own.parquet:no:gold", *SHORT, "--db", "own.sqlite")
        check(ran.returncode == 2 and "has no 'no'" in ran.stderr, f"a column that is not there: {ran.stderr}")
    pardec.good("run", "--model", model, "--dataset", "squad", "--data-root", "hf", *SHORT, "--db", "hf.sqlite")
    fields = json.loads(query(pardec.folder / "hf.sqlite", "SELECT fields FROM sample")[0]["fields"])
    check([f["references"] for f in fields] == [["A crow"], []], f"one example with both questions: {fields}")


def cases(check, pardec, model):
    """What others had refused."""
    folder = DATA.parent / "cases"
    for case in ("15-system-message", "16-extra-column", "19-letters", "20-rouge-not-latin"):
        if not (folder / case).is_dir():
            print(f"not tried: no folder {folder / case}")
            continue
        db = pardec.folder / f"{case}.sqlite"
        ran = pardec("run", "--model", model, "--dataset", "jsonl", "--data-root", folder / case, "--db", db, *SHORT)
        check(ran.returncode == 0, f"{case}: {ran.stderr}")
        if case.startswith("20"):
            reference = json.loads((folder / case / "jsonl/test.jsonl").read_text())["references"][0]
            import sqlite3
            with sqlite3.connect(db) as connection:
                connection.execute("UPDATE generation SET fields = json_set(fields, '$[0].text', ?)", (reference,))
            told = json.loads(pardec.good("score", "--db", db, "--metric", "rouge,rouge_unicode", "--format", "json"))
            scores = {row["metric"]: row["score"] for row in told["rows"]}
            check(scores["rouge_l"] == 0 and scores["rouge_l_unicode"] == 1 and any("outside a-z and 0-9" in note and "rouge_unicode" in note for note in told["notes"]), f"{case}: {told}")
            warnings = json.loads(pardec.good("compare", "--db", db, "--format", "json"))["warnings"]
            check(any(w["code"] == "rouge_letters" for w in warnings), f"{case}: the table warns, too: {warnings}")


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        model = pardec.synthesise("model")
        (model / "tokenizer.json").write_text((ROOT / "experiments/quickstart/tokenizer.json").read_text())
        (model / "tokenizer_config.json").write_text(json.dumps({"chat_template": SHOWS_SYSTEM}))
        for part in (system, moved_system, stacked_systems, tables, columns, several, shown, exports, cases):
            part(check, pardec, pathlib.Path(model))
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
