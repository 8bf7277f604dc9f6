"""Our template interpreter against jinja2 as transformers sets it: what both write must be equal
to the byte.

Templates with the constructs of the families' (own writing, tests/jinja/templates) over random
conversations; then single constructs (constructs.txt) and random expressions, each a template of
its own. Where jinja2 refuses, ours must refuse too. Ours may refuse an expression as unsupported,
by name, which is counted and bounded; of the single constructs only those at the end of their list.
"""

import collections
import datetime
import functools
import json
import pathlib
import random
import subprocess
import warnings

import pytest
from harness import skip

try:
    from transformers.utils.chat_template_utils import _compile_jinja_template
except ImportError as missing:
    skip(missing)

TEMPLATES = pathlib.Path(__file__).parent / "templates"
CONSTRUCTS = pathlib.Path(__file__).parent / "constructs.txt"
REFUSED_HERE = "# Refused by name alone here"  # their section in constructs.txt
CONVERSATIONS = 150  # of each template
# Random templates; `-m whole` makes more of them.
COUNTS = {
    "expressions": 3000,
    "statements": 750,
    "more expressions": 12000,
    "more statements": 3000,
}
NOW = datetime.datetime(2026, 2, 3)
WORDS = [
    "",
    " ",
    "Hello",
    "Hello there ",
    "  lead",
    "two\nlines\n",
    "\n\n",
    "naïve café",
    "日本語 の文",
    "🙂 emoji 👩‍👩‍👧",
    "tab\there",
    "<think>\nhm\n</think>\n\nSo.",
    "{{ 1 }} {% x %} {# c #}",
    "say \"hi\" 'ho'",
    "back\\slash",
    "<b>&amp;</b>",
    "a\u00a0b\u2003",
    "x" * 60,
    "<tool_response>\n1\n</tool_response>",
    "\u2028sep",
    "[INST] no [/INST]",
    "tail \t",
    "\r\nwin\r\n",
    "ÀÉÎ ùç",
    "1 2 3",
    "A. one\nB. two",
    "\ufeffbom",
    "end</think>",
]
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "weather",
            "description": 'Says "sun" or <rain>',
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"type": "string"},
                    "days": {"type": "integer", "minimum": 1},
                },
                "required": ["city"],
            },
        },
    },
    {
        "type": "function",
        "function": {"name": "größe", "parameters": {}, "strict": True, "return": {"x": 1.5}},
    },
    {
        "type": "function",
        "function": {
            "name": "plan",
            "description": " Plans a trip.\n",
            "parameters": {
                "type": "object",
                "required": ["stops"],
                "properties": {
                    "stops": {
                        "type": "array",
                        "items": {"type": "string"},
                        "description": "Where to",
                    },
                    "by": {
                        "type": "string",
                        "enum": ["train", "bus"],
                        "default": "train",
                        "nullable": True,
                    },
                    "limits": {
                        "type": "object",
                        "properties": {
                            "cost": {"type": "number", "maximum": 99.5},
                            "slow": {"type": "boolean"},
                        },
                    },
                    "when": {"type": ["string", "null"]},
                    "other": {"oneOf": [{"type": "number"}, {"type": "array"}]},
                },
            },
        },
    },
]
DOCUMENTS = [
    {"title": "Bread", "text": "Flour and\nwater."},
    {"doc_id": 7, "title": "", "text": "日本"},
]
CALLS = [
    {"function": {"name": "weather", "arguments": {"city": "Rome", "days": "3"}}},
    {
        "type": "function",
        "id": "abc123xyz",
        "function": {"name": "plan", "arguments": {"stops": ["a", "b"], "limits": {"cost": 1.0}}},
    },
    {"id": "call_2", "function": {"name": "größe", "arguments": {}}},
]
FLAGS = {
    "enable_thinking": [True, False],
    "builtin_tools": [["weather", "code_interpreter", "search"]],
    "tools_first": [False],
    "date_string": ["1 May 2025"],
    "reasoning_effort": ["high"],
    "thinking_budget": [0, 512, 5000],
    "add_vision_id": [True],
    "strict": [True],
    "contexts": [[" one ", "two"]],
    "controls": [{"length": "short"}, {"citations": True}],
    "documents": [DOCUMENTS, DOCUMENTS[:1]],
    "tools": [TOOLS, TOOLS[:1], TOOLS[1:]],
}


def content(rng):
    if rng.random() < 0.03:
        return [{"type": "image"}, {"type": "text", "text": rng.choice(WORDS)}][: rng.randint(1, 2)]
    return rng.choice(WORDS)


def conversation(rng):
    messages = []
    if rng.random() < 0.4:
        messages.append({"role": "system", "content": rng.choice(WORDS)})
    answers = 1 if rng.random() < 0.5 else 0.75
    for _ in range(rng.randint(1, 5)):
        messages.append({"role": "user", "content": content(rng)})
        if rng.random() < 0.05:
            messages[-1]["name"] = "Ann"
        if rng.random() < answers:
            messages.append({"role": "assistant", "content": rng.choice(WORDS)})
            if rng.random() < 0.15:
                messages[-1]["reasoning_content"] = rng.choice(WORDS)
    if answers == 1 and rng.random() < 0.7 and messages[-1]["role"] == "assistant":
        messages.pop()
    if rng.random() < 0.1:
        rng.shuffle(messages)
    if rng.random() < 0.2:
        calls = [
            json.loads(json.dumps(call)) for call in rng.sample(CALLS, rng.choice([1, 1, 1, 2, 3]))
        ]
        calls[0]["function"]["arguments"]["city"] = rng.choice(WORDS)
        messages.append(
            {"role": "assistant", "content": rng.choice(["", "Let me see."]), "tool_calls": calls}
        )
        for call in calls:
            messages.append(
                {"role": "tool", "content": rng.choice(WORDS + [{"content": "rain", "t": 3}])}
            )
            if "id" in call:
                messages[-1]["tool_call_id"] = call["id"]
    variables = {
        "messages": messages,
        "add_generation_prompt": rng.random() < 0.6,
        "tools": None,
        "documents": None,
        "bos_token": "<s>",
        "eos_token": "</s>",
    }
    for name, values in FLAGS.items():
        if rng.random() < (0.25 if name == "tools" else 0.1):
            variables[name] = rng.choice(values)
    if rng.random() < 0.05:
        del variables["bos_token"]
    return variables


ROOT = {
    "s": "Hello World",
    "t": " pad\té\n",
    "e": "",
    "n": 7,
    "m": -3,
    "z": 0,
    "f": 2.5,
    "yes": True,
    "no": False,
    "none_given": None,
    "list": [3, 1, 2],
    "names": ["b", "A", "é", "a"],
    "mixed": [1, "x", None, [2]],
    "d": {"k": "v", "n": 1, "items": [1, 2], "deep": {"a": [{"b": 5}]}},
    "empty": [],
    "nothing": {},
    "turns": [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": ""},
        {"role": "user"},
    ],
}
NUMBERS = [
    "n", "m", "z", "f", "1", "2", "0", "1.5", "10", "list[0]", "s|length", "yes", "1e3",
    "100000000000000000",
]
TEXTS = [
    "s",
    "t",
    "e",
    "'abc'",
    '"it\'s"',
    "'a b  c'",
    "'\\n'",
    "d.k",
    "'é🙂'",
    "turns[0].content",
    "'-7'",
    "' 3.5 '",
]
LISTS = [
    "list", "names", "mixed", "empty", "[1, 'a', none]", "(1, 2)", "turns", "d.items()",
    "d['items']", "d.keys()", "range(4)", "('a',)", "turns|map(attribute='role')",
    "list|select('odd')",
]
OTHERS = [
    "none", "true", "false", "missing", "d.missing", "d", "nothing", "{'a': 1, 'b': [2]}",
    "none_given", "turns[2].content", "turns[9]", "d.deep.a[0].b", "missing.x",
]
TESTS = [
    "lower", "upper", "escaped", "filter", "test", "defined", "undefined", "none", "string",
    "number", "integer", "float", "boolean", "true", "false", "mapping", "iterable", "sequence",
    "even", "odd", "callable",
]


def expression(rng, depth):
    """A random expression, most of which make sense."""
    if depth == 0 or rng.random() < 0.1:
        return rng.choice(rng.choice([NUMBERS, TEXTS, LISTS, OTHERS]))
    e = lambda: expression(rng, depth - 1)
    text = lambda: (
        f"({text_expression(rng, depth - 1)})" if rng.random() < 0.5 else rng.choice(TEXTS)
    )
    kind = rng.randrange(26)
    if kind == 20:
        return percent(rng, e)
    if kind == 21:
        return braces(rng, e)
    if kind == 22:
        return (
            f"({e()}) is sameas({e()})"
            if rng.random() < 0.3
            else f"({rng.choice(LISTS)}).{rng.choice(['count', 'index'])}({e()})"
        )
    if kind == 23:
        return f"({e()}) | {rng.choice(MORE_CHAINS)}"
    if kind == 24:
        return f"(({rng.choice(LISTS)}) | {rng.choice(MORE_CHAINS)})"
    if kind == 25:
        chain = rng.choice(
            ["round", "round(1)", "round(2, 'ceil')", "filesizeformat", "float", "string", "e"]
        )
        return f"({rng.choice(NUMBERS)}) | {chain}"
    if kind == 0:
        return f"({e()} {rng.choice(['+', '-', '*', '/', '//', '%', '~'])} {e()})"
    if kind == 1:
        if rng.random() < 0.2:
            return f"{rng.choice(NUMBERS)} ** {rng.choice(['n', 'z', 'm', 'f', '2', 'yes'])}"
        return (
            f"{rng.choice(NUMBERS)} {rng.choice(['+', '-', '*', '/', '//', '%'])}"
            f" {rng.choice(NUMBERS)}"
        )
    if kind == 2:
        return f"({e()} {rng.choice(['==', '!=', '<', '<=', '>', '>=', 'in', 'not in'])} {e()})"
    if kind == 3:
        return f"({e()} {rng.choice(['and', 'or'])} {e()})"
    if kind == 4:
        return f"(not {e()})"
    if kind == 5:
        return f"({e()} if {e()} else {e()})" if rng.random() < 0.8 else f"({e()} if {e()})"
    if kind == 6:
        return f"({e()}) is {rng.choice(['', 'not '])}{rng.choice(TESTS)}"
    if kind == 7:
        test = rng.choice(["eq", "ne", "lt", "gt", "le", "ge", "in", "equalto", "divisibleby"])
        return f"({e()}) is {test}({e()})"
    if kind == 8:
        return text_expression(rng, depth)
    if kind == 9:
        sub = rng.choice(
            [
                "[0]", "[-1]", "[1:]", "[:-1]", "[::-1]", "[1:3]", "[::2]", "[-2:]", "[5]", ".k",
                "['k']", ".items", ".deep.a", "['n']", "[3:0:-1]",
            ]
        )
        return f"({e()}){sub}"
    if kind == 10:
        chain = rng.choice(
            [
                "length",
                "list",
                "first",
                "last",
                "reverse|list",
                "join(', ')",
                "join",
                "sort",
                "unique|list",
                "tojson",
                "string",
                "default('D')",
                "default('D', true)",
                "d(7)",
                "int",
                "int(5)",
                "float",
                "abs",
                "tojson(indent=2)",
                "map('string')|list",
                "map('upper')|join('-')",
                "select|list",
                "reject('none')|list",
                "select('string')|list",
                "items|list",
                "dictsort",
                "selectattr('role')|list",
                "selectattr('role', 'eq', 'user')|list",
                "rejectattr('content')|list",
                "map(attribute='role')|list",
                "map(attribute='content', default='?')|join(';')",
                "sort(reverse=true)",
                "dictsort(true, 'value')",
                "sort(attribute='role')",
                "tojson(ensure_ascii=true)",
                "tojson(separators=(',', ':'))",
                "count",
                "select('in', [1, 'a'])|list",
                "map('default', '-')|list",
                "first|length",
                "safe",
            ]
        )
        if chain == "safe":
            return f"{e()} | safe"
        return f"({e()}) | {chain}"
    if kind == 11:
        chain = rng.choice(
            ["length", "list", "first", "last", "sort", "join", "tojson", "map('string')|join('.')"]
        )
        return f"(({rng.choice(LISTS)}) | {chain})"
    if kind == 12:
        return f"[{e()}, {e()}]" if rng.random() < 0.5 else f"({e()}, {e()})"
    if kind == 13:
        return f"{{'k': {e()}, {text()}: {e()}}}"
    if kind == 14:
        return f"d.get({rng.choice(TEXTS)}{', ' + e() if rng.random() < 0.5 else ''})"
    if kind == 15:
        return f"{rng.choice(['-', '+', '--', '- '])}{rng.choice(NUMBERS)}"
    if kind == 16:
        return f"{e()} ~ {e()} ~ {text()}"
    if kind == 17:
        return f"{rng.choice(NUMBERS)} < {rng.choice(NUMBERS)} <= {rng.choice(NUMBERS)}"
    if kind == 18:
        return f"({e()}, {e()})[{rng.choice(['0', '1', '-1'])}]"
    return f"range({rng.choice(['3', 'n', '1, 5', '5, 0, -2', 'm', '0'])})|list"


MORE_CHAINS = [
    "batch(2)|list", "batch(3, 'x')|list", "slice(2)|list", "slice(3, 0)|list", "max", "min", "sum",
    "sum(start=1)", "round", "round(1)", "round(1, 'floor')", "round(0, 'ceil')",
    "attr('items') is defined", "attr('k')", "groupby('role')|list",
    "groupby('role', default='-')|list", "groupby(0)|list", "sort(attribute='role,content')|list",
    "max(attribute='content')", "min(true)", "unique(true)|list", "pprint", "e", "escape",
    "forceescape", "safe|upper", "e|length", "e|string", "urlencode", "xmlattr", "wordcount",
    "center(9)", "truncate(5, leeway=0)", "string|striptags", "filesizeformat", "int(base=16)",
    "int(3, 8)", "map('attr', 'upper')|list|length", "map('int')|sum", "map('round', 1)|list",
    "map('e')|list", "select('lower')|list", "sum(attribute='n')", "string|wordwrap(7)",
    "dictsort(by='value', reverse=true)", "join(', ')|title", "items|list|length", "format(1)",
    "format",
]
KINDS = "sssdddifgexXocraEGuF%y"


def percent(rng, e):
    """`%` of a text, mostly with as many values as it has places."""
    places = rng.randint(1, 3)
    spec = lambda: (
        "%"
        + "".join(rng.sample("-+ #0", rng.choice([0, 0, 1, 2])))
        + rng.choice(["", "", "5", "12", "*"])
        + rng.choice(["", "", ".0", ".2", ".7", "."])
        + rng.choice(KINDS)
    )
    text = "'" + rng.choice([" ", "|", "é"]).join(spec() for _ in range(places)) + "'"
    if rng.random() < 0.1:
        return f"{text.replace('%', '%(k)')} % d"
    values = [
        rng.choice([e(), rng.choice(NUMBERS), rng.choice(TEXTS)])
        for _ in range(places + text.count("*") + (rng.random() < 0.05))
    ]
    if rng.random() < 0.2:
        return f"{text} | format({', '.join(values)})"
    return (
        f"{text} % ({values[0]})"
        if len(values) == 1 and rng.random() < 0.5
        else f"{text} % ({', '.join(values)},)"
    )


def braces(rng, e):
    """`format` of a text, mostly with values for all of its places."""

    def spec():
        return (
            rng.choice(["", "", "*", "é", "0"])[:1] + rng.choice("<>^=") + part()
            if rng.random() < 0.3
            else part()
        )

    def part():
        return (
            rng.choice(["", "", "", "+", "-", " "])
            + rng.choice(["", "", "", "#"])
            + rng.choice(["", "", "0"])
            + rng.choice(["", "", "8", "15"])
            + rng.choice(["", "", "", ",", "_"])
            + rng.choice(["", "", ".0", ".2", ".6"])
            + rng.choice(
                ["", "", "s", "d", "d", "f", "e", "g", "G", "%", "x", "b", "o", "X", "c", "n"]
            )
        )

    places = [
        rng.choice(["", "", "", "0", "k", "0.k", "0[k]"])
        + rng.choice(["", "", "", "!r", "!s"])
        + (":" + spec() if rng.random() < 0.8 else "")
        for _ in range(rng.randint(1, 3))
    ]
    text = (
        "'"
        + rng.choice([" ", "{{", "}}", "-"])
        .join("{" + place + "}" for place in places)
        .replace("{{{", "{ {")
        .replace("}}}", "} }")
        + "'"
    )
    values = [
        rng.choice([e(), rng.choice(NUMBERS), rng.choice(NUMBERS), rng.choice(TEXTS), "d"])
        for _ in places
    ]
    return f"{text}.format({', '.join(values)}, k={rng.choice(NUMBERS)})"


def body(rng, depth, loops=0, blocks=None):
    """Random statements about a few names, most of which find something; `blocks` are the names
    of blocks so far.
    """
    blocks = [] if blocks is None else blocks
    inside = lambda more=0: body(rng, depth - 1, loops + more if more >= 0 else 0, blocks)
    name = lambda: rng.choice("abcnx")
    value = lambda: rng.choice(
        [
            "1", "'t'", "a", "b", "n", "x", "c", "list", "n + 1", "a ~ 'z'", "ns.v", "loop.index",
            "[a, b]", "a is defined", "s", "varargs", "kwargs",
        ]
    )
    made = []
    for _ in range(rng.randint(1, 4)):
        kind = rng.randrange(20 if depth > 0 else 6)
        if kind == 0:
            made.append(rng.choice([".", "\n", " \n  ", "-"]))
        elif kind <= 3:
            made.append("{{ " + value() + " }}")
        elif kind == 4:
            made.append(f"{{% set {name()} = {value()} %}}")
        elif kind == 5:
            made.append(
                f"{{% set ns.v = {value()} %}}"
                if rng.random() < 0.5
                else f"{{% set {name()}, {name()} = {value()}, {value()} %}}"
            )
        elif kind == 6:
            made.append(
                f"{{% if {value()} %}}{inside()}{{% elif {value()} %}}{inside()}{{% else"
                f" %}}{inside()}{{% endif %}}"
            )
        elif kind <= 8:
            leave = rng.choice(
                [
                    "",
                    "",
                    "",
                    f"{{% if {value()} %}}{{% break %}}{{% endif %}}",
                    "{% if loop.first %}{% continue %}{% endif %}",
                ]
            )
            condition = rng.choice(["", "", f" if {value()}"])
            made.append(
                f"{{% for {name()} in"
                f" {rng.choice(['list', 'names', '[[1], 2]', 'empty', 'a', 'd'])}{condition}"
                f" %}}{leave}{inside(1)}{rng.choice(['', '{% else %}' + inside()])}{{% endfor %}}"
            )
        elif kind == 9:
            made.append(
                "{% for x in [1, [2, [3, 4]], 5] recursive %}"
                + inside(1)
                + "{{ loop(x) if x is sequence else x }}{{ loop.depth }}{% endfor %}"
            )
        elif kind == 10:
            made.append(
                f"{{% with {name()} = {value()}, {name()} = {value()} %}}{inside()}{{% endwith %}}"
            )
        elif kind == 11:
            made.append(
                f"{{% macro m({rng.choice(['', 'a', 'a, b=n', 'a=1, b=a', 'b, c=ns.v'])})"
                f" %}}{inside(-1)}{{% endmacro %}}{{{{"
                f" m({rng.choice(['', '1', '1, 2', 'a=n', 'x, b=3'])}) }}}}"
            )
        elif kind == 12:
            made.append(
                f"{{% macro w(a) %}}<{inside(-1)}{{{{ caller({rng.choice(['', '', 'a'])}) }}}}>{{%"
                f" endmacro %}}{{% call{rng.choice(['', '(b)', '(c=2)'])} w({value()})"
                f" %}}{inside(-1)}{{% endcall %}}"
            )
        elif kind == 13:
            chain = rng.choice(["upper", "trim", "replace(1, 2)", "indent(2, true)", "length", "e"])
            made.append(f"{{% filter {chain} %}}{inside(-1)}{{% endfilter %}}")
        elif kind == 14:
            made.append(
                f"{{% set {name()}{rng.choice(['', ' | upper', ' | trim | length'])}"
                f" %}}{inside(-1)}{{% endset %}}"
            )
        elif kind == 15:
            blocks.append(f"block{len(blocks)}")
            made.append(
                f"{{% block {blocks[-1]}{rng.choice(['', ' scoped'])} %}}{inside(-1)}{{%"
                " endblock %}"
            )
        elif kind == 16:
            made.append(f"{{% generation %}}{inside(-1)}{{% endgeneration %}}")
        elif kind == 17:
            made.append(f"{{% print {value()}, {value()} %}}")
        elif kind == 18:
            made.append(
                rng.choice(["{%- if true %}", "{% if true -%}", "{%+ if true +%}"])
                + inside()
                + rng.choice(["{%- endif %}", "{% endif -%}", "{% endif +%}"])
            )
        else:
            made.append(
                "{% set c = cycler(1, 2) %}{{ c.next() }}{{ c.current }}{% set j ="
                f" joiner() %}}{{% for q in list %}}{{{{ j() }}}}{inside(1)}{{% endfor %}}"
            )
    return "".join(made)


def text_expression(rng, depth):
    if depth <= 0:
        return rng.choice(TEXTS)
    text = f"({text_expression(rng, depth - 1)})"
    other = rng.choice(TEXTS)
    method = rng.choice(
        [
            "strip()", "lstrip()", "rstrip()", f"strip({other})", f"startswith({other})",
            f"endswith({other})", "split()", f"split({other})", "split(' ', 1)", "rsplit(' ', 1)",
            "rsplit(none, 1)", "split(none, 1)", "upper()", "lower()", "capitalize()",
            "splitlines()", f"replace({other}, 'X')", "replace('', '-')", "replace('l', 'L', 1)",
            f"find({other})", "rfind('l')", f"count({other})", f"removeprefix({other})",
            f"removesuffix({other})", f"join({rng.choice(LISTS)})", "startswith(('H', 'a'))",
            "title()", "swapcase()", "casefold()", f"partition({other})", f"rpartition({other})",
            "center(9)", "ljust(8, '.')", "rjust(8)", "zfill(6)", "expandtabs(3)", "isalnum()",
            "isalpha()", "isdigit()", "isdecimal()", "islower()", "isupper()", "isspace()",
            "istitle()", "isascii()", "isprintable()", f"index({other})", f"rindex({other}, 1)",
            f"find({other}, 1, -1)", f"count({other}, 2)", f"startswith({other}, 1)",
            "splitlines(true)", "translate({108: 'L', 32: none})", f"endswith({other}, 0, 3)",
            "format(1)", "isidentifier()",
        ]
    )
    chain = rng.choice(
        [
            "trim", "upper", "lower", "title", "capitalize", "length", "list", "reverse", "int",
            "float", "tojson", "first", "last", f"replace({other}, '_')", "replace('l', 'L', 1)",
            "indent", "indent(2, true)", "indent('> ', blank=true)", "string", f"trim({other})",
            "join('.')", "d('x')", "center(11)", "truncate(6, true, '…', 0)",
            "truncate(7, leeway=1)", "wordcount", "wordwrap(4)", "wordwrap(5, false)", "striptags",
            "urlencode", "e", "e|trim", "batch(2)|list", "filesizeformat", "int(base=0)",
        ]
    )
    return rng.choice(
        [
            f"{text}.{method}",
            f"{text} | {chain}",
            f"{text} + {other}",
            f"{text} * 2",
            f"{text}[{rng.choice(['0', '-1', '1:', ':2', '::-1'])}]",
        ]
    )


compiled = functools.lru_cache(1)(_compile_jinja_template)


def truth(source, variables):
    try:
        return compiled(source).render(**variables, strftime_now=NOW.strftime), None
    except Exception as error:  # whatever Python raises
        return None, f"{type(error).__name__}: {error}"


def constructs():
    """The single constructs: each with whether ours alone may refuse it."""
    here = False
    for line in CONSTRUCTS.read_text(encoding="utf-8").splitlines():
        here |= line == REFUSED_HERE
        if line and not line.startswith("# "):
            yield line, here


def verdict(ours, text, error):
    """How an answer of ours stands to jinja2's text or error."""
    if "text" in ours:
        return "equal" if error is None and ours["text"] == text else "wrong"
    if error is not None:
        return "refused by both"
    if (
        "<generator" in text
        or " object at 0x" in text
        or "<function" in text
        or "<built-in" in text
    ):  # of no template, and ever another
        return "refused by both"
    assert ", line " in ours["error"], ours
    return "not supported" if "support" in ours["error"] or "closed" in ours["error"] else "wrong"


FILES = [file.name for file in sorted(TEMPLATES.glob("*.jinja"))]


def jobs_of(name):
    """(template, variables) of a template's file, of "constructs", "statements" or
    "expressions".
    """
    rng = random.Random(name)
    if name == "constructs":
        return [(source, ROOT) for source, _ in constructs()]
    if name.endswith("statements"):
        return [
            ("{% set ns = namespace(v=0) %}" + body(rng, rng.randint(1, 3)), ROOT)
            for _ in range(COUNTS[name])
        ]
    if name.endswith("expressions"):
        return [
            ("{{ " + expression(rng, rng.randint(1, 3)) + " }}", ROOT) for _ in range(COUNTS[name])
        ]
    source = (TEMPLATES / name).read_text(encoding="utf-8")
    # Also the same template with Windows line breaks.
    windows = source.replace("\n", "\r\n")
    return [(source, conversation(rng)) for _ in range(CONVERSATIONS)] + [
        (windows, conversation(rng)) for _ in range(5)
    ]


class Answer:
    """What ours makes of a template with variables, and how that stands to jinja2."""

    def __init__(self, source, variables, ours):
        self.source, self.variables, self.ours = source, variables, ours
        self.text, self.error = truth(source, variables)
        self.verdict = verdict(ours, self.text, self.error)

    def __str__(self):
        shown = self.source if self.variables is ROOT else json.dumps(self.variables)
        return f"{shown}\njinja2: {self.error or self.text!r}\nours:   {self.ours!r}"


@pytest.fixture(scope="module")
def answers(program):
    """All answers to the jobs of a name, once."""
    warnings.simplefilter("ignore", SyntaxWarning)  # of expressions without sense

    @functools.cache
    def of(name):
        jobs = jobs_of(name)
        lines = "".join(
            json.dumps({"template": source, "variables": variables}) + "\n"
            for source, variables in jobs
        )
        done = subprocess.run(
            [program("jinja_probe")], input=lines, text=True, check=True, stdout=subprocess.PIPE
        )
        return [
            Answer(*job, json.loads(line))
            for job, line in zip(jobs, done.stdout.split("\n")[:-1], strict=True)
        ]

    return of


def count_verdicts(answers):
    return collections.Counter(answer.verdict for answer in answers)


@pytest.mark.parametrize("name", FILES, ids=[name.removesuffix(".jinja") for name in FILES])
def test_a_template_writes_what_jinja2_writes(answers, name):
    for answer in answers(name):
        assert answer.verdict in ("equal", "refused by both"), str(answer)
    assert count_verdicts(answers(name))["refused by both"] < 0.7 * len(answers(name))


def test_most_conversations_are_written(answers):
    every = [answer for name in FILES for answer in answers(name)]
    assert count_verdicts(every)["refused by both"] < 0.2 * len(every)


def test_constructs_write_what_jinja2_writes_or_are_listed_as_refused(answers):
    listed = {source for source, here in constructs() if here}
    for answer in answers("constructs"):
        assert answer.verdict != "wrong", str(answer)
        refused = "error" in answer.ours
        assert refused if answer.source in listed else not refused or answer.error is not None, str(
            answer
        )


# Of how many, how often ours may say that it does not support what jinja2 writes.
@pytest.mark.parametrize(
    "name, unsupported",
    [
        ("expressions", 0.02),
        ("statements", 0.005),
        pytest.param("more expressions", 0.02, marks=pytest.mark.whole),
        pytest.param("more statements", 0.005, marks=pytest.mark.whole),
    ],
)
def test_random_templates_write_what_jinja2_writes(answers, name, unsupported):
    for answer in answers(name):
        assert answer.verdict != "wrong", str(answer)
    found = count_verdicts(answers(name))
    assert found["not supported"] < unsupported * len(answers(name))
    assert found["equal"] > 0.4 * len(answers(name))
