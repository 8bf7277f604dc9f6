"""How answers are read: every case of results/answers.md, the patterns of lm-eval and inspect_ai,
and the cases that others had wrong.
"""

import ast
import itertools
import json
import re
import textwrap
import unicodedata

import pytest
from harness import DATA, ROOT
from probe import ask

CASES = DATA.parent / "cases"
CHOICES = ["red", "blue", "dark green"]
HEAD = 'def f(x: int) -> int:\n    """Twice x."""\n'


@pytest.fixture(scope="module")
def probe(program):
    return program("text_probe")


def table(title):
    """The rows of a section's table: (answer, what it is read as)."""
    section = (
        (ROOT / "results/answers.md")
        .read_text(encoding="utf-8")
        .split(f"\n## {title}\n")[1]
        .split("\n## ")[0]
    )
    rows = [
        line
        for line in section.splitlines()
        if line.startswith("| ") and not line.startswith("| answer")
    ]
    assert len(rows) > 30, f"{title}: {len(rows)} rows"
    for row in rows:
        cell, told = [part.strip() for part in row.strip("|").split(" | ")[:2]]
        span = re.fullmatch(r"(`+)(.*)\1", cell)
        text = span[2][1:-1] if len(span[1]) > 1 else span[2]
        yield text.replace("`` ``` ``", "```").replace("↵", "\n").replace("→", "\t"), told


def letters(probe, texts, choices):
    return ask(probe, [{"call": "letter", "text": text, "choices": choices} for text in texts])


def test_letters_are_read_as_the_page_says(probe):
    rows = list(table("Letters"))
    read = letters(probe, [text for text, _ in rows], CHOICES)
    assert [(text, letter or "-") for (text, _), letter in zip(rows, read)] == rows


# Patterns as the two tools have them, written anew. lm-eval: mmlu_pro's "custom-extract", and the
# filter "multi_choice_regex" of its flan prompts (a letter in brackets, else a choice's text, else
# a letter after a colon); inspect_ai: parse_answers of its solver multiple_choice.
LM_EVAL = re.compile(r"answer is \(?([A-J])\)?")
INSPECT = [
    re.compile(r"^ANSWER\s*:\s*([A-Za-z\d ,]+)\s*(?:$|\n|\.)", re.I | re.M),
    re.compile(r"ANSWER\s*:\s*([A-Za-z\d ,]+)(?:[^\w]|\n|$|\.)", re.I),
]
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


FOUR = ["a fox", "water", "seven", "Vitamin C"]
REASONS = [
    "",
    "Let us think step by step. Foxes are no liquid. ",
    "The text speaks of rain.\n\n",
    "A moment. ",
    "We can exclude that it flies.\n",
]
FORMS = [
    "answer is {}", "the answer is ({})", "The correct answer is {}.",
    "Therefore, the answer is ({}).",
]
ASKED = ["ANSWER: {}", "Answer: {}", "answer : {}", "ANSWER:{}", "ANSWER: {}.", "ANSWER: {}\n"]
BARE = ["({})", "So ({}).", "It is ({}) in the end.", "So: {}"]


def check_alike(probe, asked, reads):
    """Answers of (text, letter): a tool of others reads the letter, and so do we."""
    ours = letters(probe, [text for text, _ in asked], FOUR)
    for (text, letter), mine in zip(asked, ours):
        assert reads(text) == mine == letter, text


def test_answers_in_the_forms_of_lm_eval_are_read_alike(probe):
    asked = [
        (reason + form.format(letter), letter)
        for reason in REASONS
        for letter in "ABCD"
        for form in FORMS
    ]
    check_alike(probe, asked, lambda text: LM_EVAL.search(text)[1])


def test_answers_in_the_forms_of_inspect_ai_are_read_alike(probe):
    asked = [
        (reason + form.format(shown), letter)
        for reason in REASONS
        for letter in "ABCD"
        for form in ASKED
        for shown in (letter, letter.lower())
    ]
    check_alike(probe, asked, lambda text: inspect(text, FOUR))


def test_answers_that_the_filter_of_lm_eval_finds_are_read_alike(probe):
    asked = [
        (reason + form.format(letter), letter)
        for reason in REASONS
        for letter in "ABCD"
        for form in BARE
    ]
    asked += [
        (reason + choice, letter) for reason in REASONS for letter, choice in zip("ABCD", FOUR)
    ]
    check_alike(probe, asked, lambda text: lm_eval_filter(text, FOUR))


def test_answers_that_inspect_ai_refuses_are_refused(probe):
    check_alike(
        probe,
        [(text, None) for text in ("ANSWER: A, B", "ANSWER: AB", "ANSWER: E")],
        lambda text: inspect(text, FOUR),
    )


# Choices whose texts hold letters, many choices, numbers, and references.
LETTERS = [
    ("Vitamin C", ["Vitamin A", "Vitamin B", "Vitamin C", "Vitamin D"], "C"),
    ("Vitamin A", ["Vitamin C", "Vitamin A"], "B"),
    ("The answer is Plan B.", ["Plan B", "Plan A"], "A"),
    ("4", ["3", "4", "5"], "B"),
    ("It is 3.5", ["3", "5", "3.5"], "C"),
    ("1,000", ["1", "1,000"], "B"),
    ("I say B", list("KLMNOPQRST"), "B"),
    ("I", list("KLMNOPQRST"), "I"),
    ("I think that it is J.", list("KLMNOPQRST"), "J"),
    ("not blue but red", ["red", "blue"], "A"),
    ("no", ["yes", "no"], "B"),
    ("A cat", ["A dog", "A cat"], "B"),
    ("A. A dog", ["A dog", "A cat"], "A"),
    ("（Ｂ）", ["x", "y"], "B"),
    ("不是A，是B", ["x", "y"], "B"),
    ("It isn\u2019t A. It\u2019s B.", ["x", "y"], "B"),
    ("A and B are wrong; C is not asked.\nSo D", ["w", "x", "y", "z"], "D"),
    ("", ["x", "y"], None),
    ("B", [], None),
    ("\u00e9te\u0301", ["hiver", "e\u0301t\u00e9"], "B"),
    ("I say C. The answer is B", ["x", "y", "z"], "B"),
    ("Option 3", ["3", "4", "5"], "A"),
    ("Option 4", ["x", "y", "z"], None),
    ("the first one", ["x", "y"], "A"),
    ("The first one to come was D.", ["w", "x", "y", "z"], "D"),
    ("A. True\nB. True\nC. False", ["x", "y", "z"], None),
    ("𝐁𝐨𝐛 says 𝐁", ["x", "y"], "B"),
    ("ｂ", ["x", "y"], "B"),
    ("Question: x?\nAnswer: B", ["x", "y"], "B"),
    ("A不正确，B正确", ["x", "y"], "B"),
    ("排除A，B", ["x", "y"], "B"),
    ("应该选择B", ["x", "y"], "B"),
    ("A: x\nB: y\nC: z\nA", ["x", "y", "z"], "A"),
    ("A is not wrong", ["x", "y"], "A"),
    ("The letter is _B_.", ["x", "y"], "B"),
]
REFERENCES = [
    ("B", ["x", "y"], "B"),
    ("b", ["x", "y"], "B"),
    ("(B)", ["x", "y"], "B"),
    ("B.", ["x", "y"], "B"),
    ("y", ["x", "y"], "B"),
    (" Y ", ["x", "y"], "B"),
    ("B) y", ["x", "y"], "B"),
    ("C", ["x", "y"], None),
    ("z", ["x", "y"], None),
    ("", ["x", "y"], None),
    ("A", ["B", "A"], "A"),
    ("Vitamin A", ["Vitamin C", "Vitamin A"], "B"),
]


@pytest.mark.parametrize(
    "text, choices, letter", LETTERS, ids=[text or "-" for text, *_ in LETTERS]
)
def test_the_letter_of_an_answer(probe, text, choices, letter):
    assert letters(probe, [text], choices)[0] == letter


@pytest.mark.parametrize("reference, choices, letter", REFERENCES)
def test_the_letter_of_a_reference(probe, reference, choices, letter):
    asked = {"call": "reference_letter", "text": reference, "choices": choices}
    assert ask(probe, [asked])[0] == letter


def gives(program, name, calls):
    """Whether a program's function gives these values; nothing of it is the network's, so it
    runs here.
    """
    space = {"__name__": "answer"}
    try:
        exec(compile(program, "answer", "exec"), space)  # noqa: S102
        return all(space[name](argument) == value for argument, value in calls)
    except (Exception, SystemExit):  # noqa: BLE001
        return False


def programs(probe, head, answers):
    return ask(probe, [{"call": "program", "prompt": head, "text": answer} for answer in answers])


def test_code_is_read_as_the_page_says(probe):
    rows = list(table("Code"))
    got = programs(probe, HEAD, [text for text, _ in rows])
    for (text, told), program in zip(rows, got):
        right = gives(program, "f", [(3, 6), (0, 0), (-2, -4)])
        assert right == (told == "right"), f"{text!r}: the program is\n{program}"


CODE_HEAD = (
    'from typing import List\n\ndef helper(x):\n    return x\n\ndef f(x: int) -> int:\n    """Twice'
    ' x."""\n'
)
CODE_BODY = '    text = """\nnot indented\n"""\n    return helper(2 * x) if text else 0\n'
# Triple quotes at the left edge, Windows line ends, and more than one function.
ANSWERS = [
    CODE_BODY,
    f"```python\n{CODE_BODY}```",
    "def f(x):\r\n    return helper(x) * 2\r\n",
    "```python\r\ndef f(x):\r\n    return helper(x) * 2\r\n```\r\n",
    "So:\n\n@staticmethod\ndef f(x):\n    return helper(2 * x)\n",
    "```python\n# Twice.\ndef f(x):\n    return helper(x) + x\n\nprint(f(2))\n```",
    (
        "class Twice:\n    def of(self, x):\n        return 2 * x\n\ndef f(x):\n    return"
        " Twice().of(x)\n\nHere the class helps."
    ),
    "```return 2 * x```",
    "Write `x` twice:\n\n    return x + x\n",
    "async def g():\n    pass\n\ndef f(x):\n    return 2 * x\n",
]


@pytest.mark.parametrize("answer", ANSWERS, ids=range(len(ANSWERS)))
def test_the_program_of_an_answer(probe, answer):
    program = programs(probe, CODE_HEAD, [answer])[0]
    assert gives(program, "f", [(3, 6)]), program


def test_a_body_stays_as_it_is(probe):
    assert programs(probe, HEAD, [CODE_BODY])[0].endswith(HEAD + CODE_BODY.rstrip("\n") + "\n")


SHAPES = {
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
    "prose": lambda head, body: (
        f"Here is the function:\n\n{head}{body}\n\nIt follows the docstring."
    ),
    "list": lambda head, body: "1. It:\n\n" + textwrap.indent(f"```py\n{head}{body}```\n", "   "),
    "commands first": lambda head, body: (
        f"```bash\npython -m pytest\n```\n\n```python\n{head}{body}```"
    ),
    "example first": lambda head, body: f"```python\n>>> f(1)\n```\n\n```\n{head}{body}```",
}


def function(program, name):
    """The function of this name without its docstring, as a tree."""
    try:
        body = ast.parse(program).body
    except SyntaxError as error:
        return str(error)
    found = [node for node in body if isinstance(node, ast.FunctionDef) and node.name == name]
    if not found:
        return "none"
    kept = (
        n
        for n in found[-1].body
        if not (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant))
    )
    return ast.dump(ast.Module([*kept], []))


@pytest.mark.parametrize("shape", SHAPES)
def test_published_solutions_are_found_in_each_form(probe, published, shape):
    lines = (published("humaneval-x") / "python.jsonl").read_text().splitlines()
    tasks = [json.loads(line) for line in lines]
    asked = [
        {
            "call": "program",
            "prompt": t["prompt"],
            "text": SHAPES[shape](t["prompt"], t["canonical_solution"]),
        }
        for t in tasks
    ]
    for task, program in zip(tasks, ask(probe, asked)):
        name = re.findall(r"def (\w+)", task["prompt"])[-1]
        assert function(program, name) == function(
            task["prompt"] + task["canonical_solution"], name
        ), f"{task['task_id']}:\n{program}"


# ROUGE of all scripts ---------------------------------------------------------------------------


class Words:
    """The tokenizer of rouge_unicode, for rouge-score."""

    SPACELESS = (
        "CJK", "HIRAGANA", "KATAKANA", "HALFWIDTH KATAKANA", "HANGZHOU", "THAI", "LAO", "KHMER",
        "MYANMAR", "IDEOGRAPHIC",
    )

    def __init__(self, stem):
        porter = pytest.importorskip("nltk.stem.porter")
        self.stemmer = porter.PorterStemmer() if stem else None

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
        return [
            (
                self.stemmer.stem(w)
                if self.stemmer and len(w) > 3 and re.fullmatch("[a-z0-9]+", w)
                else w
            )
            for w in words
        ]


TEXTS = [
    "ｶﾀｶﾅ テスト", "カタカナテスト", "人々の〇〡〆", "二〇二四年", "Ἑλλάς καὶ ΟΔΥΣΣΕΎΣ", "Οδυσσεύς και ΕΛΛΑΣ",
    "السَّلامُ عليكم", "السلام عليكم", "cafe\u0301", "café", "İstanbul IŞIK ışık", "istanbul ışık",
    "１２３ ⅷ x² ½", "123 Ⅷ x2", "👩‍👩‍👧 family 1️⃣", "family", "می‌خواهم", "میخواهم", "בָּרוּךְ",
    "ברוך", "བོད་སྐད", "ລາວ", "𠮷野家", "吉野家", "Ａbc", "abc", "\u1112\u1161\u11ab 문장", "ǅ ﬁne",
    "ǆ fine", "\u0301x", "今天天气很好。", "今天天气不好", "Der Bär läuft über die Straße",
    "der Baer läuft u\u0308ber Straßen", "हिन्दी में लिखा", "हिन्दी लिखा", "ภาษาไทยไม่เว้นวรรค",
    "ภาษาไทย", "きょうは running", "today running runs", "سلام دنیا", "привет, мир!", "Привет мир",
    "naïve café", "3,5 %", "", "…", "한국어 문장", "한국어는 문장", "ဗမာ", "ខ្មែរ", "x_y", "٣ كتب",
]
PAIRS = list(itertools.product(TEXTS, TEXTS))


@pytest.mark.parametrize("stem", [True, False], ids=["stems", "words"])
def test_rouge_of_all_scripts_is_rouge_score_with_another_tokenizer(probe, stem):
    rouge_scorer = pytest.importorskip("rouge_score.rouge_scorer")
    scorer = rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL"], tokenizer=Words(stem))
    got = ask(
        probe,
        [{"call": "rouge_unicode", "text": p, "references": [r], "stem": stem} for p, r in PAIRS],
    )
    for (prediction, reference), ours in zip(PAIRS, got):
        theirs = scorer.score(reference, prediction)
        for name, mine in zip(("rouge1", "rouge2", "rougeL"), ours):
            assert all(abs(a - b) < 1e-12 for a, b in zip(mine, theirs[name])), (
                prediction, reference, name,
            )


def outside(probe, text):
    """Whether rouge-score cuts or leaves out a third of the words of a text."""
    return ask(probe, [{"call": "outside_rouge", "text": text}])[0]


def test_texts_that_rouge_score_cannot_read_are_told(probe):
    assert outside(probe, "今天天气很好。")
    assert outside(probe, "привет, мир!")
    assert not outside(probe, "3,5 %")
    assert not outside(probe, "")


# What a third of its words lack: rouge-score gives 1 to a text that is another one, or cuts words
# into pieces.
LACKING = [
    ("Python 3.11 发布", "Python 3.11 取消", True),
    ("ROUGE 今天天气", "ROUGE", True),
    ("Hôm nay trời rất đẹp", "", True),
    ("Žlutý kůň pěl ódy", "", True),
    ("e\u0301te\u0301", "", True),
    ("Beyoncé", "", True),
    ("١٢٣ books", "", True),
    ("Ὀδυσσεύς", "", True),
    ("שלום", "", True),
    ("ｶﾀｶﾅ", "", True),
    ("She ordered two coffees at the café near the station", "", False),
    ("Über den Wolken muss die Freiheit wohl grenzenlos sein", "", False),
    ("🎉 the party is on 🎉", "", False),
    ("x = 3.5 % - 2", "", False),
    ("…", "", False),
]


@pytest.mark.parametrize("text, other, many", LACKING)
def test_texts_of_which_rouge_score_reads_a_part(probe, text, other, many):
    assert outside(probe, text) == many
    if other:
        asked = {"text": other, "references": [text], "stem": True}
        official, ours = (
            ask(probe, [{"call": call, **asked}])[0] for call in ("rouge", "rouge_unicode")
        )
        assert official[0][2] == 1
        assert ours[0][2] < 1


# What others had wrong ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shared():
    """The folder of shared cases."""
    if not CASES.is_dir():
        pytest.skip(f"not done here: {CASES} is missing")
    return CASES


def test_code_that_others_read_wrong(probe, shared):
    """Thoughts are taken away before: cli_answers."""
    head = 'def count_vowels(text: str) -> int:\n    """How many vowels."""\n'
    for what, answer, _ in json.loads((shared / "18-code-of-an-answer/answers.json").read_text()):
        if "<think>" not in answer:
            program = programs(probe, head, [answer])[0]
            right = gives(program, "count_vowels", [("abc", 1), ("xyz", 0), ("AEiou", 5)])
            assert right == ("must fail" not in what), f"{what}\n{program}"


def test_letters_that_others_read_wrong(probe, shared):
    fields = {}
    for line in (shared / "19-letters/jsonl/test.jsonl").read_text().splitlines():
        record = json.loads(line)
        fields[record["id"]] = record["fields"][0]
    for key, answer, _ in json.loads((shared / "19-letters/answers.json").read_text()):
        if "<think>" not in answer:
            field = fields[key]
            right = ask(
                probe,
                [
                    {
                        "call": "reference_letter",
                        "text": field["references"][0],
                        "choices": field["choices"],
                    }
                ],
            )[0]
            assert letters(probe, [answer], field["choices"])[0] == right == "B", (key, answer)


def test_rouge_of_a_text_that_is_not_latin(probe, shared):
    text = json.loads((shared / "20-rouge-not-latin/jsonl/test.jsonl").read_text())["references"][0]
    asked = {"text": text, "references": [text], "stem": True}
    assert ask(probe, [{"call": "rouge", **asked}])[0] == [[0, 0, 0]] * 3
    assert ask(probe, [{"call": "rouge_unicode", **asked}])[0] == [[1, 1, 1]] * 3
