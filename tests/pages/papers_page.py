"""experiments/papers/ITEMS.md: for each item of the papers, what stands beside its printed numbers,
made from the items' files. golden_test.py holds the page to them; scripts/approve writes it anew.
"""

import json

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


def counterpart(published, match, cell):
    """(dataset, arm, measure) of a printed number; none: why it has none."""
    values = dict(zip(published["keys"], map(str, cell), strict=False))
    for key, value in list(values.items()):
        here = match.get(key)
        if isinstance(here, str) and here != value:
            return None, f"{key} is not {here}"
        if isinstance(here, dict) and "metric" not in here:
            if value not in here:
                return None, f"{key} {value}"
            values[key] = here[value]
    theirs = published["datasets"]
    named = dict(zip(published["keys"], map(str, cell), strict=False)).get("dataset")
    named = named or (next(iter(theirs)) if len(theirs) == 1 else None)
    if not theirs.get(named):
        return None, f"dataset {named} is none here" if named else "of several datasets"

    def role(name, key):
        text = values.get(key, "")
        said = match.get(name)
        if said and (isinstance(said, str) or "metric" in said) and (name != key or not text):
            text = said
        text = text["metric"] if isinstance(text, dict) else text
        for slot, value in values.items():
            text = text.replace(f"{{{slot}}}", str(value))
        return text

    arm, metric = role("arm", "method"), role("metric", "metric")
    if not arm or not metric:
        return None, "no arm or measure is its like"
    return (theirs[named], arm, metric), ""


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
        if found and "decoders" in scale and found[1] not in labels(scale):
            found, why = None, f"arm {found[1]} is not run"
        if found and found[0] not in scale.get("datasets", [found[0]]):
            found, why = None, f"{found[0]} is not run"
        if found:
            beside.append(found)
        else:
            lacking.append(why)
    count = f"{len(beside)} of {len(published['cells'])}"
    if beside:
        served = {
            arm.get("label") for arm in scale.get("decoders", []) if arm["name"] == "service"
        }
        arms = [f"{arm} (a service)" if arm in served else arm for _, arm, _ in beside]
        count += (
            f": {listed(arms)} by {listed(metric for *_, metric in beside)}, "
            f"{networks_of(scale) or 'no network'}, {listed(data for data, *_ in beside)}"
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
        columns = [
            f"[{name}]({name}.json)",
            paper,
            *("<br>".join(column) for column in zip(*cells, strict=True)),
        ]
        page += "| " + " | ".join(column.replace("|", "\\|") for column in columns) + " |\n"
    return page
