"""experiments/papers/ITEMS.md: for each item of the papers, what stands beside its printed numbers,
made from the items' files. golden_test.py holds the page to them; scripts/approve writes it anew.
"""

import json
import pathlib
import subprocess

from pages import ROOT

PAPERS = ROOT / "experiments" / "papers"
HEAD = """# What stands beside which printed number

One row for each table or figure that has numbers or claims ([their files](README.md#files)). This page is made from these files;
`scripts/approve` writes it.

- **Beside**: how many of the printed numbers have a counterpart at the scale, what it is (arms and measures), and on which network and
  data. A counterpart is of the same dataset, in the paper's unit.
- **Not beside**: which printed numbers have none, by the keys of the table. Their cells stay empty.
- Claims are decided at these scales too, and each verdict says how its measurement differs from the paper's.

| item | paper: network, data, unit | scale | beside | not beside |
|---|---|---|---|---|
"""


def read():
    """All items, by "PAPER/ITEM"."""
    files = sorted(PAPERS.glob("[a-z]*/[tf]*.json"), key=lambda f: (f.parent.name, order(f.stem)))
    return {
        f"{file.parent.name}/{file.stem}": json.loads(file.read_text(encoding="utf-8"))
        for file in files
    }


def order(stem):
    kind = stem.rstrip("0123456789")
    return kind != "table", int(stem[len(kind) :])


def whole_scale(items, name, which):
    """A scale with what it takes of another one."""
    own = dict(items[name]["scales"][which])
    other, _, theirs = own.pop("like", "").rpartition("#")
    return {**whole_scale(items, other or name, theirs), **own} if theirs else own


def labels(scale):
    return [arm.get("label", arm["name"]) for arm in scale.get("decoders", [])]


DIFFERENCE = " (difference)"
ROLES = ("arm", "over", "metric", "category")


def counterpart(published, match, cell):
    """(datasets, arms, measure) of a printed number; none: why it has none. As
    src/reproduction/counterpart.cpp finds it.
    """
    keys = published["keys"]
    values = dict(zip(keys, (str(value) for value in cell), strict=False))
    roles, own = {}, {}
    for key, value in list(values.items()):
        here = match.get(key)
        if isinstance(here, str) and here != value:
            return None, f"{key} is not {here}"
        if isinstance(here, dict) and value not in here:
            return None, f"{key} {value}"
        named = here[value] if isinstance(here, dict) else value
        if isinstance(named, dict):
            own.update(named)
            continue
        values[key] = named
        if role := "arm" if key == "method" else key if key in ("metric", "category") else None:
            roles[role] = named
    theirs = published["datasets"]
    named = dict(zip(keys, map(str, cell), strict=False)).get("dataset")
    named = named or (next(iter(theirs)) if len(theirs) == 1 else None)
    for role in ROLES:
        said = match.get(role) if role not in keys else None
        roles.update(said if isinstance(said, dict) else {role: said} if said else {})
    roles.update(own)
    if "lacks" in roles:
        return None, f"lacks {roles['lacks']}"
    datasets = roles.get("mean_of", [theirs[named]] if theirs.get(named) else [])
    if not datasets:
        return None, f"dataset {named} is none here" if named else "of several datasets"

    def filled(text):
        for slot, value in values.items():
            text = text.replace(f"{{{slot}}}", str(value))
        return text

    several = roles.get("least_of", roles.get("most_of", "categories"))
    other = roles.get("from", roles.get("over", ""))
    pairs = [[roles.get("arm", ""), other]] if several == "categories" else several
    arms = [
        [filled(arm) for arm in ([pair] if isinstance(pair, str) else pair) if arm]
        for pair in pairs
    ]
    metric = filled(roles.get("metric", ""))
    if "from" in roles:
        metric += DIFFERENCE
    if not all(arms) or not metric:
        return None, "no arm or measure is its like"
    return (datasets, arms, metric), ""


def recorded(folder):
    """The names of the numbers that a record of training has, as src/reproduction/reproduce_counts.cpp
    names them. None: the record is no file of the project, a training by its recipe makes it.
    """
    files = [f"{folder}/{name}" for name in ("training.json", "heads_training.json")]
    listed = subprocess.run(
        ["git", "ls-files", *files], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    if not listed:
        return None
    record = json.loads((ROOT / listed[0]).read_text(encoding="utf-8"))
    unset_at_0 = (
        "steps", "batch_sequences", "batch_tokens", "context_length", "patience", "limit",
    )

    def names(name, value):
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return {name}
        inner = enumerate(value, 1) if isinstance(value, list) else ()
        inner = value.items() if isinstance(value, dict) else inner
        return {one for key, part in inner for one in names(f"{name}.{key}", part)}

    settings = record["settings"].items()
    found = {
        one for key, value in settings if value or key not in unset_at_0 for one in names(key, value)
    }
    return found | ({"steps"} if "steps" in record.get("result", {}) else set())


def listed(texts, most=6):
    texts = list(dict.fromkeys(texts))
    more = [f"and {len(texts) - most} more"] if len(texts) > most else []
    return ", ".join(texts[:most] + more)


def networks_of(scale):
    arms = scale.get("decoders", [])
    if arms and all(arm["name"] == "service" for arm in arms):
        return "its own network"
    shapes = scale.get("shapes", {})
    folders = scale.get("models", {})
    if shapes:
        return listed(shapes.values())
    firsts = (folder[0] if isinstance(folder, list) else folder for folder in folders.values())
    return listed(str(folder).rsplit("/", 1)[-1] for folder in firsts)


def row_of_scale(item, scale):
    """What is beside at a scale, and why numbers are not."""
    published, match = item["published"], dict(item["match"])
    for key, value in scale.get("match", {}).items():
        both = isinstance(value, dict) and isinstance(match.get(key), dict)
        match[key] = {**match[key], **value} if both else value
    beside, lacking = [], []
    for cell in published["cells"]:
        found, why = counterpart(published, match, cell)
        absent = [
            arm
            for pair in (found[1] if found and "decoders" in scale else [])
            for arm in pair
            if arm not in labels(scale)
        ]
        if absent:
            found, why = None, f"arm {absent[0]} is not run"
        unrun = [one for one in found[0] if one not in scale.get("datasets", [one])] if found else []
        if unrun:
            found, why = None, f"{unrun[0]} is not run"
        names = recorded(scale["training"]) if found and "training" in scale else None
        if found and "training" in scale and names is None:
            found, why = None, f"the recipe {pathlib.Path(scale['training']).name} has not been run"
        elif names is not None and found[2] not in names:
            found, why = None, f"{found[2]} is not set"
        if found:
            beside.append(found)
        else:
            lacking.append(why)
    count = f"{len(beside)} of {len(published['cells'])}"
    if beside:
        served = {
            arm.get("label") for arm in scale.get("decoders", []) if arm["name"] == "service"
        }
        arms = [
            (" minus " if metric.endswith(DIFFERENCE) else " over ").join(
                f"{arm} (a service)" if arm in served else arm for arm in pair
            )
            for _, pairs, metric in beside
            for pair in pairs
        ]
        count += (
            f": {listed(arms)} by {listed(metric for *_, metric in beside)}, "
            f"{networks_of(scale) or 'no network'}, {listed(one for data, *_ in beside for one in data)}"
        )
    return count, listed(lacking, most=4) or "-"


def written():
    items, page = read(), HEAD
    for name, item in items.items():
        setting = item["published"]["setting"]
        paper = "; ".join(
            str(part)
            for part in (setting.get("network"), setting.get("data"), item["published"]["unit"])
            if part
        )
        scales = [s for s in item["scales"] if s == "small" or s.startswith("paper")]
        cells = [("-", "0 of " + str(len(item["published"]["cells"])), item.get("lacks", "-"))]
        if scales:
            cells = [(s, *row_of_scale(item, whole_scale(items, name, s))) for s in scales]
        for scale in item["scales"]:
            claims = [claim["id"] for claim in item["claims"] if scale in claim["scales"]]
            if claims and scale not in scales:
                cells.append((scale, f"claims alone: {listed(claims)}", "-"))
        columns = [
            f"[{name}]({name}.json)",
            paper,
            *("<br>".join(column) for column in zip(*cells, strict=True)),
        ]
        page += "| " + " | ".join(column.replace("|", "\\|") for column in columns) + " |\n"
    return page
