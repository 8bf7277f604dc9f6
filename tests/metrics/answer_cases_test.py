"""How answers are read: every case of results/answers.md, the patterns of lm-eval and inspect_ai, and the cases that others had wrong.

usage: answer_cases_test.py PROBE
"""
import ast
import itertools
import json
import os
import pathlib
import re
import sys
import textwrap

from probe import ask

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = pathlib.Path(os.environ.get("PARDEC_TEST_DATA") or ROOT.parent / "shared" / "data")
CASES = DATA.parent / "cases"
CHOICES = ["red", "blue", "dark green"]
HEAD = 'def f(x: int) -> int:\n    """Twice x."""\n'


def table(title):
    """The rows of a section's table: (answer, what it is read as)."""
    section = (ROOT / "results/answers.md").read_text(encoding="utf-8").split(f"\n## {title}\n")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ") and not line.startswith("| answer")]
    assert len(rows) > 30, f"{title}: {len(rows)} rows"
    for row in rows:
        cell, told = [part.strip() for part in row.strip("|").split(" | ")[:2]]
        span = re.fullmatch(r"(`+)(.*)\1", cell)
        text = span[2][1:-1] if len(span[1]) > 1 else span[2]
        yield text.replace("`` ``` ``", "```").replace("↵", "\n").replace("→", "\t"), told


def letters(probe, texts, choices):
    return ask(probe, [{"call": "letter", "text": text, "choices": choices} for text in texts])


def letter_table(probe):
    rows = list(table("Letters"))
    wrong = [(text, got, told) for (text, told), got in zip(rows, letters(probe, [text for text, _ in rows], CHOICES)) if (got or "-") != told]
    assert not wrong, wrong
    print(f"{len(rows)} answers with letters as the table says")


# Patterns as the two tools have them, written anew. lm-eval: mmlu_pro's "custom-extract", and the filter "multi_choice_regex" of its flan prompts (a letter in brackets, else a choice's text, else a
# letter after a colon); inspect_ai: parse_answers of its solver multiple_choice.
LM_EVAL = re.compile(r"answer is \(?([A-J])\)?")
INSPECT = [re.compile(r"^ANSWER\s*:\s*([A-Za-z\d ,]+)\s*(?:$|\n|\.)", re.I | re.M), re.compile(r"ANSWER\s*:\s*([A-Za-z\d ,]+)(?:[^\w]|\n|$|\.)", re.I)]
PUNCTUATION = str.maketrans("", "", "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


def lm_eval_filter(text, choices):
    found = re.findall(r"(\([A-Z]\))", text)
    if found:
        return found[0][1]

    def plain(t):
        return t.lower().translate(PUNCTUATION)

    by_text = {plain(choice): chr(ord("A") + i) for i, choice in enumerate(choices)}
    found = re.findall("|".join(map(re.escape, by_text)), plain(text))
    if found:
        return by_text[found[0]]
    found = re.findall(rf":[\s]*({'|'.join(sorted(by_text.values()))})", text)
    return found[0] if found else None


def inspect(text, choices):
    for pattern in INSPECT:
        if found := pattern.search(text):
            letter = found[1].strip().rstrip(".").upper()
            return letter if letter in [chr(ord("A") + i) for i in range(len(choices))] else None
    return None


def official(probe):
    """On answers in the forms that these tools ask for, theirs and ours are one."""
    choices = ["a fox", "water", "seven", "Vitamin C"]
    reasons = ["", "Let us think step by step. Foxes are no liquid. ", "The text speaks of rain.\n\n", "A moment. ", "We can exclude that it flies.\n"]
    forms = {"answer is {}": LM_EVAL, "the answer is ({})": LM_EVAL, "The correct answer is {}.": LM_EVAL, "Therefore, the answer is ({}).": LM_EVAL}
    tried = 0
    for reason, letter in itertools.product(reasons, "ABCD"):
        for form, pattern in forms.items():
            text = reason + form.format(letter)
            assert pattern.search(text)[1] == letters(probe, [text], choices)[0] == letter, text
            tried += 1
        for form in ("ANSWER: {}", "Answer: {}", "answer : {}", "ANSWER:{}", "ANSWER: {}.", "ANSWER: {}\n"):
            for shown in (letter, letter.lower()):
                text = reason + form.format(shown)
                assert inspect(text, choices) == letters(probe, [text], choices)[0] == letter, text
                tried += 1
        for form in ("({})", "So ({}).", "It is ({}) in the end.", "So: {}"):
            text = reason + form.format(letter)
            assert lm_eval_filter(text, choices) == letters(probe, [text], choices)[0] == letter, text
            tried += 1
        text = reason + choices[ord(letter) - ord("A")]
        assert lm_eval_filter(text, choices) == letters(probe, [text], choices)[0] == letter, text
    for text in ("ANSWER: A, B", "ANSWER: AB", "ANSWER: E"):
        assert inspect(text, choices) is letters(probe, [text], choices)[0] is None, text
    print(f"{tried} answers in the forms of lm-eval and inspect_ai alike")


def further_letters(probe):
    """Choices whose texts hold letters, many choices, numbers, and references."""
    for text, choices, letter in [
            ("Vitamin C", ["Vitamin A", "Vitamin B", "Vitamin C", "Vitamin D"], "C"), ("Vitamin A", ["Vitamin C", "Vitamin A"], "B"),
            ("The answer is Plan B.", ["Plan B", "Plan A"], "A"), ("4", ["3", "4", "5"], "B"), ("It is 3.5", ["3", "5", "3.5"], "C"), ("1,000", ["1", "1,000"], "B"),
            ("I say B", list("KLMNOPQRST"), "B"), ("I", list("KLMNOPQRST"), "I"), ("I think that it is J.", list("KLMNOPQRST"), "J"), ("not blue but red", ["red", "blue"], "A"),
            ("no", ["yes", "no"], "B"), ("A cat", ["A dog", "A cat"], "B"), ("A. A dog", ["A dog", "A cat"], "A"), ("（Ｂ）", ["x", "y"], "B"), ("不是A，是B", ["x", "y"], "B"),
            ("It isn\u2019t A. It\u2019s B.", ["x", "y"], "B"), ("A and B are wrong; C is not asked.\nSo D", ["w", "x", "y", "z"], "D"), ("", ["x", "y"], None), ("B", [], None),
            ("\u00e9te\u0301", ["hiver", "e\u0301t\u00e9"], "B"), ("I say C. The answer is B", ["x", "y", "z"], "B"), ("Option 3", ["3", "4", "5"], "A"), ("Option 4", ["x", "y", "z"], None), ("the first one", ["x", "y"], "A"), ("The first one to come was D.", ["w", "x", "y", "z"], "D"),
            ("A. True\nB. True\nC. False", ["x", "y", "z"], None), ("𝐁𝐨𝐛 says 𝐁", ["x", "y"], "B"), ("ｂ", ["x", "y"], "B"), ("Question: x?\nAnswer: B", ["x", "y"], "B"),
            ("A不正确，B正确", ["x", "y"], "B"), ("排除A，B", ["x", "y"], "B"), ("应该选择B", ["x", "y"], "B"), ("A: x\nB: y\nC: z\nA", ["x", "y", "z"], "A"),
            ("A is not wrong", ["x", "y"], "A"), ("The letter is _B_.", ["x", "y"], "B")]:
        assert letters(probe, [text], choices)[0] == letter, (text, letters(probe, [text], choices)[0], letter)
    for reference, choices, letter in [
            ("B", ["x", "y"], "B"), ("b", ["x", "y"], "B"), ("(B)", ["x", "y"], "B"), ("B.", ["x", "y"], "B"), ("y", ["x", "y"], "B"), (" Y ", ["x", "y"], "B"), ("B) y", ["x", "y"], "B"),
            ("C", ["x", "y"], None), ("z", ["x", "y"], None), ("", ["x", "y"], None), ("A", ["B", "A"], "A"), ("Vitamin A", ["Vitamin C", "Vitamin A"], "B")]:
        got = ask(probe, [{"call": "reference_letter", "text": reference, "choices": choices}])[0]
        assert got == letter, (reference, choices, got, letter)


def gives(program, name, calls):
    """Whether a program's function gives these values; nothing of it is the network's, so it runs here."""
    space = {"__name__": "answer"}
    try:
        exec(compile(program, "answer", "exec"), space)  # noqa: S102
        return all(space[name](argument) == value for argument, value in calls)
    except (Exception, SystemExit):  # noqa: BLE001
        return False


def programs(probe, head, answers):
    return ask(probe, [{"call": "program", "prompt": head, "text": answer} for answer in answers])


def code_table(probe):
    rows = list(table("Code"))
    got = programs(probe, HEAD, [text for text, _ in rows])
    wrong = [(text, program, told) for (text, told), program in zip(rows, got) if gives(program, "f", [(3, 6), (0, 0), (-2, -4)]) != (told == "right")]
    assert not wrong, "\n".join(f"{text!r}: expected {told}, the program is\n{program}" for text, program, told in wrong)
    print(f"{len(rows)} programs as the table says")


def further_code(probe):
    """A head with a helper, texts of three quotes at the left edge, Windows line ends; bodies as they are stay as they are."""
    head = 'from typing import List\n\ndef helper(x):\n    return x\n\ndef f(x: int) -> int:\n    """Twice x."""\n'
    body = '    text = """\nnot indented\n"""\n    return helper(2 * x) if text else 0\n'
    for answer in (body, f"```python\n{body}```", "def f(x):\r\n    return helper(x) * 2\r\n", "```python\r\ndef f(x):\r\n    return helper(x) * 2\r\n```\r\n",
                   "So:\n\n@staticmethod\ndef f(x):\n    return helper(2 * x)\n", "```python\n# Twice.\ndef f(x):\n    return helper(x) + x\n\nprint(f(2))\n```",
                   "class Twice:\n    def of(self, x):\n        return 2 * x\n\ndef f(x):\n    return Twice().of(x)\n\nHere the class helps.",
                   "```return 2 * x```", "Write `x` twice:\n\n    return x + x\n", "async def g():\n    pass\n\ndef f(x):\n    return 2 * x\n"):
        program = programs(probe, head, [answer])[0]
        assert gives(program, "f", [(3, 6)]), f"{answer!r}\n{program}"
    assert programs(probe, HEAD, [body])[0].endswith(HEAD + body.rstrip("\n") + "\n")


def published(probe):
    """The solutions of HumanEval-X in every form: the program has their function."""
    file = DATA / "humaneval-x/python.jsonl"
    if not file.exists():
        print(f"not tried: no file {file}")
        return
    forms = {
        "body": lambda head, body: body,
        "stripped": lambda head, body: body.strip(),
        "no indent": lambda head, body: textwrap.dedent(body),
        "two more": lambda head, body: textwrap.indent(body, "  "),
        "body in a fence": lambda head, body: f"```python\n{body}```",
        "body in prose": lambda head, body: f"Complete it so:\n\n{body}\nThis follows the docstring.",
        "fence closed": lambda head, body: f"{body}```\n\nIt follows the docstring.",
        "whole": lambda head, body: head + body,
        "fence": lambda head, body: f"Sure!\n```Python\n{head}{body}```\nDone.",
        "tildes": lambda head, body: f"~~~~\n{head}{body}~~~~",
        "prose": lambda head, body: f"Here is the function:\n\n{head}{body}\n\nIt follows the docstring.",
        "list": lambda head, body: f"1. It:\n\n" + textwrap.indent(f"```py\n{head}{body}```\n", "   "),
        "commands first": lambda head, body: f"```bash\npython -m pytest\n```\n\n```python\n{head}{body}```",
        "example first": lambda head, body: f"```python\n>>> f(1)\n```\n\n```\n{head}{body}```",
    }

    def function(program, name):
        try:
            found = [node for node in ast.parse(program).body if isinstance(node, ast.FunctionDef) and node.name == name]
        except SyntaxError as error:
            return str(error)
        return ast.dump(ast.Module([*(n for n in found[-1].body if not (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant)))], [])) if found else "none"

    tasks = [json.loads(line) for line in file.read_text().splitlines()]
    wrong = []
    for form, make in forms.items():
        answers = ask(probe, [{"call": "program", "prompt": t["prompt"], "text": make(t["prompt"], t["canonical_solution"])} for t in tasks])
        for task, program in zip(tasks, answers):
            name = re.findall(r"def (\w+)", task["prompt"])[-1]
            if function(program, name) != function(task["prompt"] + task["canonical_solution"], name):
                wrong.append(f"{form} of {task['task_id']}:\n{program}")
    assert not wrong, f"{len(wrong)} of {len(forms) * len(tasks)} are others:\n" + "\n".join(wrong[:5])
    print(f"{len(tasks)} published solutions in {len(forms)} forms alike")


def rouge_of_all_scripts(probe):
    """rouge_unicode is rouge-score with another tokenizer."""
    import unicodedata

    from nltk.stem.porter import PorterStemmer
    from rouge_score import rouge_scorer, tokenizers

    class Words(tokenizers.Tokenizer):
        SPACELESS = ("CJK", "HIRAGANA", "KATAKANA", "HALFWIDTH KATAKANA", "HANGZHOU", "THAI", "LAO", "KHMER", "MYANMAR", "IDEOGRAPHIC")

        def __init__(self, stem):
            self.stemmer = PorterStemmer() if stem else None

        def tokenize(self, text):
            words, last = [], None  # what stood before: "word", "character", or nothing
            for c in unicodedata.normalize("NFC", text.lower()):
                category = unicodedata.category(c)[0]
                if category not in "LMN":
                    last = None
                    continue
                alone = category != "M" and unicodedata.name(c, "").startswith(self.SPACELESS)
                if alone or last is None or (last == "character" and category != "M"):
                    words.append("")
                words[-1] += c
                if category != "M" or last is None:
                    last = "character" if alone else "word"
            return [self.stemmer.stem(w) if self.stemmer and len(w) > 3 and re.fullmatch("[a-z0-9]+", w) else w for w in words]

    texts = ["ｶﾀｶﾅ テスト", "カタカナテスト", "人々の〇〡〆", "二〇二四年", "Ἑλλάς καὶ ΟΔΥΣΣΕΎΣ", "Οδυσσεύς και ΕΛΛΑΣ", "السَّلامُ عليكم", "السلام عليكم", "cafe\u0301", "café", "İstanbul IŞIK ışık", "istanbul ışık", "１２３ ⅷ x² ½", "123 Ⅷ x2",
             "👩‍👩‍👧 family 1️⃣", "family", "می‌خواهم", "میخواهم", "בָּרוּךְ", "ברוך", "བོད་སྐད", "ລາວ", "𠮷野家", "吉野家", "Ａbc", "abc", "\u1112\u1161\u11ab 문장", "ǅ ﬁne", "ǆ fine", "\u0301x", "今天天气很好。", "今天天气不好", "Der Bär läuft über die Straße", "der Baer läuft u\u0308ber Straßen", "हिन्दी में लिखा", "हिन्दी लिखा", "ภาษาไทยไม่เว้นวรรค", "ภาษาไทย", "きょうは running", "today running runs",
             "سلام دنیا", "привет, мир!", "Привет мир", "naïve café", "3,5 %", "", "…", "한국어 문장", "한국어는 문장", "ဗမာ", "ខ្មែរ", "x_y", "٣ كتب"]
    pairs = list(itertools.product(texts, texts))
    for stem in (True, False):
        scorer = rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL"], tokenizer=Words(stem))
        got = ask(probe, [{"call": "rouge_unicode", "text": p, "references": [r], "stem": stem} for p, r in pairs])
        for (prediction, reference), ours in zip(pairs, got):
            theirs = scorer.score(reference, prediction)
            for name, mine in zip(("rouge1", "rouge2", "rougeL"), ours):
                assert all(abs(a - b) < 1e-12 for a, b in zip(mine, theirs[name])), (prediction, reference, name, mine, theirs[name])
    outside = dict(zip(texts, ask(probe, [{"call": "outside_rouge", "text": t} for t in texts])))
    assert outside["今天天气很好。"] and outside["привет, мир!"] and not outside["3,5 %"] and not outside[""], outside
    # What a third of its words lack: rouge-score gives 1 to a text that is another one, or cuts words into pieces.
    for text, other, many in (("Python 3.11 发布", "Python 3.11 取消", True), ("ROUGE 今天天气", "ROUGE", True), ("Hôm nay trời rất đẹp", "", True), ("Žlutý kůň pěl ódy", "", True),
                              ("e\u0301te\u0301", "", True), ("Beyoncé", "", True), ("١٢٣ books", "", True), ("Ὀδυσσεύς", "", True), ("שלום", "", True), ("ｶﾀｶﾅ", "", True),
                              ("She ordered two coffees at the café near the station", "", False), ("Über den Wolken muss die Freiheit wohl grenzenlos sein", "", False),
                              ("🎉 the party is on 🎉", "", False), ("x = 3.5 % - 2", "", False), ("…", "", False)):
        assert ask(probe, [{"call": "outside_rouge", "text": text}])[0] == many, text
        if other:
            assert ask(probe, [{"call": "rouge", "text": other, "references": [text], "stem": True}])[0][0][2] == 1, text
            assert ask(probe, [{"call": "rouge_unicode", "text": other, "references": [text], "stem": True}])[0][0][2] < 1, text
    print(f"{len(pairs)} pairs of all scripts alike")


def cases(probe):
    """What others had wrong."""
    if not CASES.is_dir():
        print(f"not tried: no folder {CASES}")
        return
    head = 'def count_vowels(text: str) -> int:\n    """How many vowels."""\n'
    for what, answer, _ in json.loads((CASES / "18-code-of-an-answer/answers.json").read_text()):
        if "<think>" in answer:
            continue  # what stands in a thought is taken away before: cli_answers
        program = programs(probe, head, [answer])[0]
        assert gives(program, "count_vowels", [("abc", 1), ("xyz", 0), ("AEiou", 5)]) == ("must fail" not in what), f"{what}\n{program}"
    fields = {}
    for line in (CASES / "19-letters/jsonl/test.jsonl").read_text().splitlines():
        record = json.loads(line)
        fields[record["id"]] = record["fields"][0]
    for key, answer, _ in json.loads((CASES / "19-letters/answers.json").read_text()):
        if "<think>" in answer:
            continue
        field = fields[key]
        right = ask(probe, [{"call": "reference_letter", "text": field["references"][0], "choices": field["choices"]}])[0]
        assert letters(probe, [answer], field["choices"])[0] == right == "B", (key, answer)
    text = json.loads((CASES / "20-rouge-not-latin/jsonl/test.jsonl").read_text())["references"][0]
    official, ours = [ask(probe, [{"call": call, "text": text, "references": [text], "stem": True}])[0] for call in ("rouge", "rouge_unicode")]
    assert official == [[0, 0, 0]] * 3 and ours == [[1, 1, 1]] * 3, (official, ours)


def main():
    for part in (letter_table, official, further_letters, code_table, further_code, published, rouge_of_all_scripts, cases):
        part(sys.argv[1])


if __name__ == "__main__":
    main()
