"""Draws who sees whom: one SVG a decoder, `mask.svg` beside its page (decoders/README.md says how to read them).

Decoders whose page has a worked example with a mask are drawn from that example, which tests/decoders/pages_test.cpp makes from the code. The others are drawn from
the trace of a real answer: of the quickstart model, and for skeleton-of-thought of SmolLM2, where scripts/fetch-smollm2 has made it.

Usage: draw.py PROGRAM [--write]     PROGRAM: build/release/pardec; --write: writes the files, without it they are compared
"""
import html
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
QUICKSTART = ROOT / "experiments" / "quickstart" / "model"
SMOLLM2 = ROOT / "build" / "models" / "smollm2-135m-instruct"
CELL, TOP, LETTER = 16, 48, 7.3  # pixels; a letter's width
SEEN, OWN, DROPPED = "#9ecae1", "#08519c", "#de2d26"

# Of a page: which position column is drawn, and what the picture shows.
PAGES = {
    "ar": ("ar/README.md", "position", "each token sees all tokens before it"),
    "hpd": ("hpd/README.md", "position", "values are written side by side in the gaps of the skeleton"),
    "ippd": ("ippd/README.md", "position", "two contexts with their questions in one prompt"),
    "space": ("space/README.md", "position", "candidates, and masks that guess after each of them"),
    "apar": ("apar/README.md", "position", "threads fork from the text, and do not see one another"),
    "aspd": ("aspd/README.md", "same-seq", "two branches at the same positions (same-seq)"),
    "medusa": ("medusa/README.md", "position", "a tree of guesses after the newest token"),
    "lookahead": ("speculation/lookahead.md", "position", "a window of guesses after the prompt"),
}
MUG = ["--chat-template", "plain", "--prompt", "Red mug, red mug, red", "--max-new-tokens", "6"]
TRACES = {
    "speculative": ("speculation", ["--draft-model", str(ROOT / "experiments" / "quickstart" / "draft"), *MUG], "guesses of a draft network, checked in one pass; red: rejected"),
    "prompt-lookup": ("speculation", MUG, "guesses copied from the text, checked in one pass; red: rejected"),
    "self-speculative": ("speculation", MUG, "guesses of the network without some layers, checked in one pass; red: rejected"),
}


def page_rows(page, column):
    """(token, position, sees) of the first mask of a page."""
    for block in re.findall(r"^```text\n(.*?)^```", (HERE / page).read_text(encoding="utf-8"), re.M | re.S):
        names, *rows = [line.split() for line in block.splitlines()]
        if "sees" in names:
            return [(row[0], row[names.index(column)], [c == "1" for c in row[names.index("sees")]], False) for row in rows]
    raise SystemExit(f"{page}: no worked example with a mask")


def seen_rows(folded, count):
    seen = [False] * count
    for part in folded:
        begin, end = part if isinstance(part, list) else (part, part + 1)
        seen[begin:end] = [True] * (end - begin)
    return seen


def texts():
    """Tokens of the quickstart tokenizer as text, by id."""
    stored = json.loads((ROOT / "experiments" / "quickstart" / "tokenizer.json").read_text(encoding="utf-8"))
    named = {i: t for t, i in stored["model"]["vocab"].items()} | {t["id"]: t["content"] for t in stored["added_tokens"]}
    return {i: t.replace("Ġ", "_").replace("Ċ", "\\n") for i, t in named.items()}


def traced(program, model, decoder, flags):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "trace.jsonl"
        subprocess.run([program, "generate", "--model", model, "--decoder", decoder, "--threads", "1", "--dtype", "fp32", "--trace", file, *flags],
                       check=True, capture_output=True)
        return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def trace_rows(trace):
    count, text = len(trace["tokens"]), texts()
    return [(text[trace["tokens"][q]], str(trace["position"][q]), seen_rows(trace["visible"][q], count), trace["dropped_at"][q] is not None) for q in range(count)]


def svg(width, height, title, body):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}" role="img" '
            f'font-family="DejaVu Sans Mono, monospace" font-size="12">\n<title>{html.escape(title)}</title>\n<rect width="100%" height="100%" fill="white"/>\n'
            + "\n".join(body) + "\n</svg>\n")


def runs(sees):
    """[begin, end) of each run of cells that are seen."""
    edges = [k for k in range(len(sees) + 1) if (k < len(sees) and sees[k]) != (k > 0 and sees[k - 1])]
    return list(zip(edges[::2], edges[1::2]))


def mask_picture(decoder, rows, says):
    """A row of cells a token: filled where it sees the token of that column."""
    words = max(len("token"), *(len(row[0]) for row in rows)) * LETTER
    left = 8 + words + 12 + len("position") * LETTER + 10
    title = f"{decoder}: {says}"
    width = max(left + CELL * len(rows) + 8, 16 + len(title) * LETTER)
    body = [f'<text x="8" y="18">{html.escape(title)}</text>', f'<text x="8" y="{TOP - 6}" fill="#666">token</text>',
            f'<rect x="{left:.0f}" y="{TOP}" width="{CELL * len(rows)}" height="{CELL * len(rows)}" fill="#f0f0f0"/>',
            f'<text x="{left - 10:.0f}" y="{TOP - 6}" fill="#666" text-anchor="end">position</text>']
    for q, (token, position, sees, dropped) in enumerate(rows):
        y = TOP + CELL * q
        ink = DROPPED if dropped else "black"
        body += [f'<text x="8" y="{y + 12}" fill="{ink}">{html.escape(token)}</text>', f'<text x="{left - 10:.0f}" y="{y + 12}" text-anchor="end">{position}</text>']
        for begin, end in runs(sees):
            body.append(f'<rect x="{left + CELL * begin:.0f}" y="{y}" width="{CELL * (end - begin)}" height="{CELL}" fill="{SEEN}"/>')
        body.append(f'<rect x="{left + CELL * q:.0f}" y="{y}" width="{CELL}" height="{CELL}" fill="{DROPPED if dropped else OWN}"/>')
    side = CELL * len(rows)
    lines = "".join(f"M{left + CELL * k:.0f},{TOP}v{side}M{left:.0f},{TOP + CELL * k}h{side}" for k in range(len(rows) + 1))
    body.append(f'<path d="{lines}" stroke="white" fill="none"/>')
    return svg(width, TOP + CELL * len(rows) + 8, title, body)


def skeleton_picture(traces):
    """The requests of one question: a bar each over its positions, light where it shares the rows of another one."""
    says = "skeleton-of-thought: first a plan, then all its points side by side"
    order = sorted(traces, key=lambda t: t["request"])
    last = max(t["position"][-1] for t in traces)
    scale, left, width = 440 / (last + 1), 110, 110 + 440 + 60
    body = [f'<text x="8" y="18">{says}</text>', f'<text x="{left}" y="38" fill="#666">position 0</text>', f'<text x="{left + 440}" y="38" fill="#666" text-anchor="end">{last}</text>']
    for n, trace in enumerate([t for t in order if t["request"].endswith("skeleton")] + [t for t in order if "point" in t["request"]]):
        shared, end, y = trace.get("inherited", 0), trace["position"][-1] + 1, 46 + 26 * n
        asked = next((q for q, row in enumerate(trace["from"]) if row is not None), end)
        parts = [(0, shared, "#d9d9d9", "shared"), (shared, asked, SEEN, "asked"), (asked, end, OWN, "written")]
        body.append(f'<text x="8" y="{y + 14}">{html.escape(trace["request"].split("/")[-1])}</text>')
        body += [f'<rect x="{left + b * scale:.1f}" y="{y}" width="{(e - b) * scale:.1f}" height="20" fill="{fill}"><title>{what}: positions {b} to {e - 1}</title></rect>'
                 for b, e, fill, what in parts if e > b]
        body.append(f'<text x="{left + end * scale + 5:.1f}" y="{y + 14}" fill="#666">{end}</text>')
    y = 46 + 26 * len(traces) + 14
    for n, (fill, what) in enumerate([("#d9d9d9", "shared rows"), (SEEN, "computed"), (OWN, "chosen")]):
        body += [f'<rect x="{left + 150 * n}" y="{y - 11}" width="14" height="14" fill="{fill}"/>', f'<text x="{left + 20 + 150 * n}" y="{y}">{what}</text>']
    return svg(width, y + 12, says, body)


def pictures(program):
    """(file, what it holds) of each decoder."""
    for decoder, (page, column, says) in PAGES.items():
        name = "mask.svg" if page.endswith("README.md") else f"{decoder}.svg"
        yield HERE / pathlib.Path(page).parent / name, mask_picture(decoder, page_rows(page, column), says)
    for decoder, (folder, flags, says) in TRACES.items():
        trace = next(t for t in traced(program, QUICKSTART, decoder, flags) if t.get("model") != "draft")
        yield HERE / folder / f"{decoder}.svg", mask_picture(decoder, trace_rows(trace), says)
    if SMOLLM2.is_dir():
        flags = ["--set", "skeleton-of-thought.shared_prefix=true", "--prompt", "What are the benefits of tea?", "--max-new-tokens", "32"]
        yield HERE / "skeleton_of_thought" / "mask.svg", skeleton_picture(traced(program, SMOLLM2, "skeleton-of-thought", flags))


def main():
    program, write, wrong, count = str(pathlib.Path(sys.argv[1]).resolve()), "--write" in sys.argv, [], 0
    for file, drawn in pictures(program):
        count += 1
        if write:
            file.write_text(drawn, encoding="utf-8")
        elif not file.is_file() or file.read_text(encoding="utf-8") != drawn:
            wrong.append(str(file.relative_to(ROOT)))
    for name in wrong:
        print(f"{name} is not what decoders/draw.py draws now; where that is meant: .venv/bin/python decoders/draw.py build/release/pardec --write")
    print(f"{count - len(wrong)} passed, {len(wrong)} failed")
    return 1 if wrong or count < 11 else 0


if __name__ == "__main__":
    sys.exit(main())
