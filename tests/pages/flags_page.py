"""src/cli/flags.md: every verb with its flags, made from the program's own help. golden_test.py
holds the page to it; scripts/approve writes it anew.
"""

import re

from pages import help_of, verbs_of

HEAD = """# All verbs and their flags

This page is made from `pardec VERB --help`; `scripts/approve` writes it. A flag takes precedence over its environment variable, the variable
over the `-c` file, and the file over the default. The variable is the flag in capitals, with `PARDEC_` in front and `_` for `-`:
`--batch-size` is `PARDEC_BATCH_SIZE`. Flags marked * have none.

"""


def entries(text):
    """[group, flag or argument with its kind, meaning] of each line of a help, in its order."""
    group, found = "", []
    for line in text.splitlines():
        title, entry = (
            re.fullmatch(r"(\S[^:]*):", line),
            # two spaces before the meaning, or one after a variable that reaches its column
            re.fullmatch(r"  (\S.*?)(?:(?:  +|(?<=\)) )(\S.*))?", line),
        )
        if title:
            group = title[1]
        elif entry and group != "Example":
            found.append([group, entry[1], entry[2] or ""])
        elif found and group != "Example" and line.startswith("    "):
            found[-1][2] += (" " if found[-1][2] else "") + line.strip()
    return [entry for entry in found if "--help" not in entry[1]]


def row(head, meaning):
    """A row of the table."""
    name, _, value = re.sub(r" ?\(Env:\w+\)", "", head).partition(" ")
    value, default = value.removesuffix(" ...").removesuffix(" ..."), ""
    if found := re.fullmatch(r"([A-Z,]+)=(\[?[a-z0-9.].*)", value):  # N=8; KEY=VALUE is no default
        value, default = found[1], found[2].strip("[]")
    star = "*" if name.startswith("-") and "(Env:" not in head else ""
    cells = [
        f"`{name}`{star}",
        value and f"`{value}`",
        default and f"`{default}`",
        meaning.replace("|", "\\|").replace("<", "&lt;"),
    ]
    return "| " + " | ".join(cells) + " |\n"


def written(pardec):
    page = HEAD
    for verb in verbs_of(pardec):
        text, group = help_of(pardec, verb), ""
        page += f"## {verb}\n\n{text.splitlines()[0]}\n"
        for of, head, meaning in entries(text):
            if of != group:
                page += f"\n{of}:\n\n| name | value | default | meaning |\n|---|---|---|---|\n"
                group = of
            page += row(head, meaning)
        examples = [
            line.strip() for line in text.split("Example:\n")[1].splitlines() if line.strip()
        ]
        page += "\n```\n" + "\n".join(examples) + "\n```\n\n"
    return page.rstrip() + "\n"
