"""`pardec data rewrite` and `data label` over a teacher whose replies are planted: good rewrites become training data that `train` reads, each bad one falls for
its own reason; killed and resumed, nothing that was answered is asked again, and what is written is the same.

usage: teacher_test.py PROGRAM
"""
import collections
import json
import re
import sys

from tokenizers import Tokenizer

from harness import TOKENIZER, Checks, change, query, scratch
from scripted_service import Judge, killed_at_random, tables

IDS = Tokenizer.from_file(str(TOKENIZER))
CONTROL = "20,21,22,23,24,25"


def sentences(name):
    """Six lines of one answer, which name it."""
    return [f"Line {i} of <<{name}>> says what somebody who asks about subject number {i} of {name} has to know before anything else is done with it." for i in range(6)]


def group(titles, parts):
    return "".join(f"<Title>{t}</Title>" for t in titles) + "<Para>" + "".join(f"<Branch>{t}: {p}</Branch>" for t, p in zip(titles, parts)) + "</Para>"


def rewritten(name, *groups):
    """The answer with lines [begin, end) of each group as branches."""
    lines, text, at = sentences(name), "", 0
    for begin, end in groups:
        text += "".join(line + "\n" for line in lines[at:begin]) + group([f"no {i}" for i in range(begin, end)], lines[begin:end]) + ("\n" if end < 6 else "")
        at = end
    return text + "\n".join(lines[at:])


def restored(markup):
    """As the paper puts an answer together again."""
    def block(match):
        return "\n".join(re.sub(r"^[^:]*: ", "", part) for part in re.findall(r"<Branch>(.*?)</Branch>", match[0], re.S))
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
    return {"dp": inside / (inside + outside), "abn": branches / groups, "efficiency": (inside - titles) / inside}


def said(markup):
    return json.dumps({"parallel": True, "answer": markup})


# What the teacher makes of each answer, candidate by candidate.
REWRITES = {
    "good": [rewritten("good", (1, 3)), rewritten("good", (1, 5)), rewritten("good", (1, 4))],
    "half": [rewritten("half", (0, 2), (3, 6))] * 3,
    "broken": ["<Title>a</Title><Para><Branch>a: never closed", rewritten("broken", (0, 3)).replace("<Branch>no 1", "<Branch>no one"),
               rewritten("broken", (0, 3)).replace("</Branch><Branch>", "</Branch> and <Branch>", 1)],
    "rules": [rewritten("rules", (0, 3)).replace("no 1", "no 0"), rewritten("rules", (0, 3)).replace("no 1", "a title that is long"),
              group(["a", "b"], ["short", sentences("rules")[0]]) + "\n".join(sentences("rules")[1:])],
    "changed": [rewritten("changed", (0, 6)).replace("has to know before anything else", "never needs")] * 2 + [rewritten("changed", (0, 2))[:-300]],
    "dependent": [rewritten("dependent", (0, 6))] * 3,
    "two": [rewritten("two", (0, 6))] * 3,
    "form": [rewritten("form", (0, 6)).replace("Line 5", "Line five"), rewritten("form", (1, 3)), rewritten("form", (1, 4))],
    "same": [rewritten("same", (0, 6))] * 3,
    "again": [rewritten("again", (0, 6))] * 3,
    "refused": [None] * 3,
    "serial": [""] * 3,
    "single": [group(["one"], sentences("single")[:1]) + "\n" + "\n".join(sentences("single")[1:])] * 3,
    "leaked": ["</Para>" + rewritten("leaked", (0, 3))] + ["hm"] * 2,
}
# What becomes of it, and why each rewrite fell.
ENDS = {
    "good": ("parallel", {"chosen": 1, "not needed": 2}), "half": ("parallel", {"chosen": 1, "not needed": 2}), "broken": ("serial", {"markup": 3}),
    "rules": ("serial", {"titles": 2, "branches": 1}), "changed": ("serial", {"text": 3}), "dependent": ("serial", {"dependent": 3}),
    "two": ("serial", {"dependent": 3}), "form": ("parallel", {"form": 1, "chosen": 1, "not needed": 1}), "same": ("serial", {"content": 3}),
    "again": ("parallel", {"chosen": 1, "not needed": 2}), "refused": ("serial", {"refused": 3}), "serial": ("serial", {"not parallel": 3}),
    "single": ("serial", {"not parallel": 3}), "leaked": ("serial", {"markup": 1, "unreadable": 2}),
    "short": ("serial", {}), "long": ("serial", {}), "turns": ("left out", {}), "tagged": ("left out", {}), "empty": ("left out", {}),
}


def check_of(prompt):
    return next(kind for words, kind in (("Find stretches", "rewrite"), ("independent only", "independent"), ("intact only", "intact"), ("come to the same only", "same"))
                if words in prompt)


def teach(prompt, times, again):
    name, kind = re.search(r"<<(\w+)>>", prompt)[1], check_of(prompt)
    if kind == "rewrite":
        markup = REWRITES[name][(times - 1) % 3]
        if markup is None:
            return {"id": "1", "model": "teacher-1", "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": None, "refusal": "I cannot"}}],
                    "usage": {"prompt_tokens": 1, "completion_tokens": 1}}
        return markup if markup == "hm" else json.dumps({"parallel": False, "answer": ""}) if not markup else said(markup)
    if name == "again" and not again:
        return "yes"
    group_at_end = "no 5:" in prompt
    good = {"independent": not (name == "dependent" or (name == "half" and group_at_end) or (name == "two" and times == 2)),
            "intact": "Line five" not in prompt,
            "same": name != "same"}[kind]
    return json.dumps({"explanation": "", kind: good})


def answers(pardec):
    """The answers that are rewritten, as a dataset of prompts."""
    folder = pardec.folder / "own" / "jsonl"
    folder.mkdir(parents=True)
    rows = [{"id": name, "category": "talk", "prompt": f"What is to be known of {name}?", "references": ["\n".join(sentences(name))]} for name in REWRITES]
    rows += [{"id": "short", "prompt": "Hm?", "references": ["No. <<short>>"]}, {"id": "long", "prompt": "Say much.", "references": ["<<long>> " + "many words " * 9000]},
             {"id": "turns", "turns": ["One?", "Two?"]}, {"id": "tagged", "prompt": "Tags?", "references": ["<Title> " + "\n".join(sentences("tagged"))]},
             {"id": "empty", "prompt": "Nothing?", "references": []}]
    (folder / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return {row["id"]: row for row in rows}


def rewrites(check, pardec, given):
    teacher = Judge(teach)
    service = teacher.file(pardec.folder, "teacher")
    out = pardec.folder / "own" / "jsonl" / "branches.jsonl"
    command = ["data", "rewrite", "jsonl", "--data-root", "own", "--split", "train", "--service", service, "--db", "teacher.sqlite", "--progress", "none", "--format", "json"]
    plan = tables(pardec.good(*command, "--dry-run"))["What would be asked"][0]
    check(plan["calls"] == 3 * len(REWRITES) and plan["price"] > 0, f"dry run: {plan}")
    check(not (pardec.folder / "teacher.sqlite").exists() and not teacher.asked, "a dry run asks and writes nothing")
    found = tables(pardec.good(*command, "--out", out, "--details", "details.jsonl"))
    details = {row["id"]: row for row in map(json.loads, (pardec.folder / "details.jsonl").read_text().splitlines())}
    for name, (state, why) in ENDS.items():
        row = details[name]
        kinds = collections.Counter(reason.split(":")[0] for reason in row.get("rewrites", []))
        check((row["state"], kinds) == (state, why), f"{name}: {row}")
    written = {row["id"]: row for row in map(json.loads, out.read_text().splitlines())}
    check(set(written) == {name for name, (state, _) in ENDS.items() if state != "left out"}, f"written: {sorted(written)}")
    for name, row in written.items():
        text = row["references"][0]
        check(row["prompt"] == given[name]["prompt"] and restored(text) == given[name]["references"][0], f"{name}: the text is another: {text}")
        check(("<Para>" in text) == (ENDS[name][0] == "parallel"), f"{name}: {text[:80]}")
    chosen = {"good": rewritten("good", (1, 5)), "half": rewritten("half", (0, 2)), "form": rewritten("form", (1, 4)), "again": rewritten("again", (0, 6))}
    for name, markup in chosen.items():
        check(written[name]["references"] == [markup], f"{name}: {written[name]['references'][0]}")
        check(all(abs(details[name][key] - value) < 1e-12 for key, value in parallel(markup).items()), f"{name}: {details[name]}, counted {parallel(markup)}")
    stages = {row["stage"]: (row["passed"], row["of"]) for row in found["Rewriting"]}
    n = len(REWRITES)
    check(stages["answers to rewrite"] == (n, len(given)) and stages["rewrites received"] == (3 * n - 5, 3 * n), f"stages: {stages}")
    check(stages["answers in parallel"] == (4, n), f"stages: {stages}")
    fell = {row["reason"]: row["count"] for row in found["Rewrites"]}
    check(fell == dict(sum((collections.Counter(why) for _, why in ENDS.values()), collections.Counter())), f"rewrites: {fell}")
    asked = sum(teacher.asked.values())
    check(tables(pardec.good(*command, "--dry-run"))["What would be asked"][0]["calls"] == 0, "all is stored")
    check(pardec.good(*command, "--out", "again.jsonl") and (pardec.folder / "again.jsonl").read_bytes() == out.read_bytes() and sum(teacher.asked.values()) == asked,
          "the same once more, and nothing is asked")
    learned(check, pardec)


def of_a_run(check, pardec):
    """A run's answers in place of references, those alone that it ended itself."""
    pardec.good("run", "--model", pardec.folder / "net", "--data-root", "own", "--dataset", "jsonl", "--split", "train", "--decoder", "ar", "--max-new-tokens", 2,
                "--progress", "none", "--db", "run.sqlite")
    db = pardec.folder / "run.sqlite"
    for row in query(db, "SELECT generation.id, sample.key, generation.fields FROM generation JOIN sample ON sample.id = sample_id"):
        fields = json.loads(row["fields"])
        if row["key"] in ("good", "dependent", "short"):
            fields[0].update(text="\n".join(sentences({"short": "again"}.get(row["key"], row["key"]))), stop="eos")
        change(db, "UPDATE generation SET fields = ?, error = NULL WHERE id = ?", json.dumps(fields), row["id"])
    run = query(db, "SELECT invocation FROM run")[0]["invocation"]
    teacher = Judge(teach)
    pardec.good("data", "rewrite", "jsonl", "--data-root", "own", "--split", "train", "--from-run", run, "--db", db, "--service", teacher.file(pardec.folder, "of-a-run"),
                "--out", "of-a-run.jsonl", "--progress", "none")
    written = {row["id"]: row["references"] for row in map(json.loads, (pardec.folder / "of-a-run.jsonl").read_text().splitlines())}
    check(written == {"good": [rewritten("good", (1, 5))], "dependent": ["\n".join(sentences("dependent"))], "short": [rewritten("again", (0, 6))]}, f"of a run: {written}")


def learned(check, pardec):
    """What was written is what `train --format aspd` reads: one update of a small network."""
    config = pardec.synthesise("net") / "config.json"
    ran = pardec("train", "--model", config, "--tokenizer", TOKENIZER, "--dataset", "jsonl", "--data-root", "own", "--split", "branches", "--format", "aspd", "--aspd-tokens",
                 CONTROL, "--validation", 0, "--steps", 1, "--batch-tokens", 1024, "--threads", 1, "--out", "trained")
    check(ran.returncode == 0 and (pardec.folder / "trained" / "model.safetensors").exists(), f"train: {ran.returncode} {ran.stderr}")


def killed(check, pardec):
    """Killed at random and resumed: what was answered and stored is not asked again, and the files are those of a teaching that nobody killed."""
    folder = pardec.folder / "many" / "jsonl"
    folder.mkdir(parents=True)
    (folder / "train.jsonl").write_text("".join(json.dumps({"prompt": f"What of it, {i}?", "references": ["\n".join(sentences(f"n{i}"))]}) + "\n" for i in range(12)))

    def say(prompt, times, again):
        name, kind = re.search(r"<<(\w+)>>", prompt)[1], check_of(prompt)
        if kind == "rewrite":
            return said(rewritten(name, (0, 3), (4, 6)))
        return json.dumps({"explanation": "", kind: int(name[1:]) % 4 != 1 or kind != "independent"})

    def made(teacher, out, db):
        return ["data", "rewrite", "jsonl", "--data-root", "many", "--split", "train", "--service", teacher.file(pardec.folder, "killed"), "--db", db, "--out", out,
                "--details", out + ".details", "--progress", "none"]

    straight, teacher = Judge(say), Judge(say, delay=0.01)
    pardec.good(*made(straight, "straight.jsonl", "straight.sqlite"))
    code, _, errors, kills = killed_at_random(teacher, lambda: pardec.start(*made(teacher, "killed.jsonl", "killed.sqlite")), kills=8, most=40, seed=5)
    check(code == 0, f"resumed: {code} {errors}")
    for end in ("", ".details"):
        check((pardec.folder / f"straight.jsonl{end}").read_bytes() == (pardec.folder / f"killed.jsonl{end}").read_bytes(), f"another file{end} than without kills")
    db = pardec.folder / "killed.sqlite"
    twice = query(db, "SELECT count(*) AS n FROM (SELECT call_key FROM judge_reply GROUP BY call_key HAVING count(*) > 1)")[0]["n"]
    late = query(db, "SELECT count(*) AS n FROM judge_attempt AS a JOIN judge_reply AS r USING (call_key) WHERE a.id > (SELECT max(b.id) FROM judge_attempt AS b "
                     "WHERE b.call_key = r.call_key AND b.process = r.process)")[0]["n"]
    check(twice == 0 and late == 0, f"{twice} calls were answered twice, {late} asked behind their answer")
    replies = query(db, "SELECT count(*) AS n FROM judge_reply")[0]["n"]
    check(replies == sum(straight.asked.values()) <= sum(teacher.asked.values()) <= replies + 4 * kills, f"{replies} replies, {sum(teacher.asked.values())} requests, {kills} kills")
    check(kills >= 5, f"{kills} kills came in time")


def failing(check, pardec):
    """A service that fails leaves answers undecided, which are asked for again; a budget stops, and what was paid for stays."""
    broken = [True]

    def say(prompt, times, again):
        if broken[0] and check_of(prompt) == "same":
            return {"error": {"message": "not now", "type": "server_error"}}
        return teach(prompt, times, again)

    teacher = Judge(say)
    service = teacher.file(pardec.folder, "failing", retries=0)
    command = ["data", "rewrite", "jsonl", "--data-root", "own", "--split", "train", "--service", service, "--db", "failing.sqlite", "--out", "failing.jsonl", "--progress", "none"]
    poor = pardec(*command, "--budget", 0.05)
    check(poor.returncode == 1 and "budget" in poor.stderr and not (pardec.folder / "failing.jsonl").exists(), f"budget: {poor.returncode} {poor.stderr}")
    ran = pardec(*command)
    check(ran.returncode == 3 and "undecided" in ran.stderr, f"failed calls: {ran.returncode} {ran.stderr}")
    before = len((pardec.folder / "failing.jsonl").read_text().splitlines())
    broken[0] = False
    pardec.good(*command)
    check(len((pardec.folder / "failing.jsonl").read_text().splitlines()) > before, "what was undecided is there")
    check(sum(count for count in teacher.asked.values()) < 400, "asked again and again")
    for flag, value, words in (("--db", "failing.jsonl", "is the database"), ("--out", "own/jsonl/train.jsonl", "read by"), ("--service", "none.json", "none.json")):
        wrong = list(command)
        wrong[wrong.index(flag) + 1] = value
        ran = pardec(*wrong)
        check(ran.returncode == 2 and words in ran.stderr, f"{flag}: {ran.returncode} {ran.stderr}")
    for args, words in (([], "--service"), (["--service", service], "--out"), (["race", "--service", service], "one dataset")):
        ran = pardec("data", "rewrite", "jsonl", *args)
        check(ran.returncode == 2 and words in ran.stderr, f"{args}: {ran.returncode} {ran.stderr}")
    ran = pardec("data", "rewrite", "oa-mine", "--service", service, "--out", "x.jsonl")
    check(ran.returncode == 2 and "open prompts" in ran.stderr, f"fields: {ran.stderr}")


def labels(check, pardec):
    """A teacher's values: pieces of the text or none, choices, asked about once more; what is written is a dataset that is learned."""
    folder = pardec.folder / "titles" / "jsonl"
    folder.mkdir(parents=True)
    rows = [{"id": f"t{i}", "category": "Tea", "text": f"Maker{i} Green Tea {i} oz loose <<t{i}>>", "fields": [{"name": "Brand"}, {"name": "Size"}]} for i in range(20)]
    (folder / "new.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    bad = {"t3": "once", "t4": "always", "t5": "refused", "t6": "talk"}

    def say(prompt, times, again):
        name = re.search(r"<<(\w+)>>", prompt)[1]
        kind, i = bad.get(name), name[1:]
        if kind == "refused":
            return {"id": "1", "model": "teacher-1", "choices": [{"index": 0, "finish_reason": "content_filter", "message": {"role": "assistant", "content": None}}],
                    "usage": {"prompt_tokens": 1, "completion_tokens": 1}}
        if kind == "talk" or (kind == "once" and not again):
            return json.dumps({"Brand": "Nobody", "Size": "none"}) if kind == "once" else "I see tea."
        return json.dumps({"Brand": f"maker{i}" if kind == "always" else f"Maker{i}", "Size": "none" if int(i) % 2 else f" {i} oz"})

    teacher = Judge(say, delay=0.01)
    service = teacher.file(pardec.folder, "labels")
    out = folder / "labelled.jsonl"
    command = ["data", "label", "jsonl", "--data-root", "titles", "--split", "new", "--service", service, "--db", "labels.sqlite", "--progress", "none", "--format", "json"]
    plan = tables(pardec.good(*command, "--dry-run"))["What would be asked"][0]
    code, text, errors, kills = killed_at_random(teacher, lambda: pardec.start(*command, "--out", out, "--details", "labels.details"), kills=2, most=12, seed=7)
    check(code == 0, f"labels: {code} {errors}")
    replies = query(pardec.folder / "labels.sqlite", "SELECT count(*) AS n, count(DISTINCT call_key) AS different FROM judge_reply")[0]
    check(plan["calls"] == 20 and replies["n"] == replies["different"] == 23, f"dry run {plan}, replies {replies}")
    row = tables(text)["Labelling"][0]
    check([row[key] for key in ("examples", "labelled", "unreadable", "refused", "left out", "undecided", "values", "none")] == [20, 17, 2, 1, 0, 0, 25, 9], f"labels: {row}")
    details = {row["id"]: row for row in map(json.loads, (pardec.folder / "labels.details").read_text().splitlines())}
    check("letter by letter" in details["t4"]["reason"] and "pardec:verdict" in details["t6"]["reason"], f"reasons: {details['t4']} {details['t6']}")
    written = [json.loads(line) for line in out.read_text().splitlines()]
    for row in written:
        i = int(row["id"][1:])
        check([field["references"] for field in row["fields"]] == [[f"Maker{i}"], [] if i % 2 else [f"{i} oz"]], f"labels of {row}")
    rows = [{"text": f"<<q{i}>> Rain fell.", "fields": [{"question": "What fell?", "choices": ["Rain", "Snow"]}, {"question": "When?"}]} for i in range(2)]
    (folder / "asked.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    chooser = Judge(lambda prompt, times, again: json.dumps({"q1": "Rain" if again or "<<q0>>" in prompt else "Hail", "q2": "none"}))
    pardec.good("data", "label", "jsonl", "--data-root", "titles", "--split", "asked", "--service", chooser.file(pardec.folder, "chooser"), "--db", "labels.sqlite",
                "--progress", "none", "--out", folder / "chosen.jsonl")
    fields = [json.loads(line)["fields"] for line in (folder / "chosen.jsonl").read_text().splitlines()]
    check([[f["references"] for f in of] for of in fields] == [[["Rain"], []]] * 2 and sum(chooser.asked.values()) == 3, f"choices: {fields}")
    config = pardec.folder / "net" / "config.json"
    ran = pardec("train", "--model", config, "--tokenizer", TOKENIZER, "--dataset", "jsonl", "--data-root", "titles", "--split", "labelled", "--format", "hpd", "--stack", 1,
                 "--validation", 0, "--steps", 1, "--batch-tokens", 512, "--threads", 1, "--out", "labelled-net")
    check(ran.returncode == 0, f"train on labels: {ran.returncode} {ran.stderr}")


def nothing(check, pardec):
    """Where a teacher's replies are of no use the file is said to be empty, the words of a refusal are a reason, and it is no success."""
    refusal = {"id": "1", "model": "teacher-1", "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": None, "refusal": "I never label tea"}}]}
    service = Judge(lambda *_: refusal).file(pardec.folder, "refuses")
    ran = pardec("data", "label", "jsonl", "--data-root", "titles", "--split", "new", "--limit", 3, "--service", service, "--db", "nothing.sqlite", "--out", "none.jsonl", "--progress", "none")
    check(ran.returncode == 3 and "none.jsonl is empty" in ran.stdout and "what is labelled" not in ran.stdout and "no example gave a result" in ran.stderr, f"nothing labelled: {ran.returncode} {ran.stdout}")
    check("refused: refused: I never label tea" in ran.stdout, f"a refusal's words: {ran.stdout}")
    ran = pardec("data", "rewrite", "jsonl", "--data-root", "own", "--split", "train", "--service", service, "--db", "nothing.sqlite", "--out", "none.jsonl", "--progress", "none")
    check(ran.returncode == 3 and "no example gave a result" in ran.stderr, f"no rewrite came: {ran.returncode} {ran.stdout} {ran.stderr}")
    ran = pardec("data", "label", "oa-mine", "--service", service, "--limit", 2, "--dry-run", "--db", "nothing.sqlite")
    check(ran.returncode == 0 and "oa-mine: no --data-root, so the project's own sample of 38 examples is used" in ran.stderr, f"an own sample is said to be one: {ran.stderr}")
    folder = pardec.folder / "bare" / "jsonl"
    folder.mkdir(parents=True)
    (folder / "train.jsonl").write_text('{"prompt": "Nothing?", "references": []}\n')
    ran = pardec("data", "rewrite", "jsonl", "--data-root", "bare", "--split", "train", "--service", service, "--db", "nothing.sqlite", "--out", "none.jsonl", "--progress", "none")
    check(ran.returncode == 3 and "0 in parallel, 0 serial" in ran.stdout and "It is empty" in ran.stdout and "nan" not in ran.stdout, f"nothing rewritten: {ran.returncode} {ran.stdout}")


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        given = answers(pardec)
        rewrites(check, pardec, given)
        of_a_run(check, pardec)
        killed(check, pardec)
        failing(check, pardec)
        labels(check, pardec)
        nothing(check, pardec)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
