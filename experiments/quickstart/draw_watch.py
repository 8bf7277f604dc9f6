"""Draws what `generate --watch` shows: runs it on a terminal of its own, takes one picture of it, and writes that as an SVG.

Usage: draw_watch.py PROGRAM PICTURE FILE.svg     PICTURE: which one, from 0
"""
import fcntl
import html
import os
import pathlib
import pty
import re
import struct
import sys
import termios

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROWS, COLUMNS = 28, 88
SIZE, LINE, WIDTH = 14, 20, 8.43  # pixels: of letters, a line, a letter's width
COLOURS = {"36": "#56d4dd", "33": "#e3b341", "32": "#56d364", "35": "#db61a2", "34": "#6ca4f8", "31": "#ff7b72",
           "96": "#b3f0ff", "93": "#f8e3a1", "92": "#aff5b4", "95": "#ffadd8", "94": "#b6d5ff", "91": "#ffc4bf"}


def shown(program):
    """All that the program writes to a terminal of this size."""
    model = ROOT / "experiments" / "quickstart"
    child, terminal = pty.fork()
    if child == 0:
        os.environ["TERM"] = "xterm-256color"
        os.environ.pop("NO_COLOR", None)
        os.execv(program, [program, "generate", "--model", str(model / "model"), "--decoder", "hpd", "--job", str(model / "job.json"), "--watch", "--pace", "150", "--threads", "1"])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    written = b""
    while True:
        try:
            more = os.read(terminal, 65536)
        except OSError:  # the terminal is closed
            break
        if not more:
            break
        written += more
    os.waitpid(child, 0)
    return written.decode("utf-8").replace("\r\n", "\n")


def spans(line):
    """(text, its attributes) of a line with escape codes."""
    style = {}
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        code = re.fullmatch(r"\x1b\[([0-9;]*)m", part)
        if not code:
            if part:
                yield part, dict(style)
            continue
        for one in code[1].split(";"):
            if one in ("", "0"):
                style = {}
            elif one in COLOURS:
                style["fill"] = COLOURS[one]
            else:
                style.update({"1": {"font-weight": "bold"}, "2": {"fill": "#8b949e"}, "4": {"text-decoration": "underline"}, "9": {"text-decoration": "line-through"}}[one])


def svg(lines):
    width, height = WIDTH * COLUMNS + 24, LINE * len(lines) + 20
    body = []
    for n, line in enumerate(lines):
        words = "".join("<tspan" + "".join(f' {k}="{v}"' for k, v in style.items()) + f">{html.escape(text)}</tspan>" for text, style in spans(line))
        body.append(f'<text x="12" y="{LINE * n + 26}" xml:space="preserve">{words}</text>')
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" viewBox="0 0 {width:.0f} {height}" role="img" '
            f'font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="{SIZE}" fill="#e6edf3">\n'
            "<title>pardec generate --watch: HPD in the middle of a job</title>\n"
            '<rect width="100%" height="100%" rx="6" fill="#0d1117"/>\n' + "\n".join(body) + "\n</svg>\n")


def main():
    program, which, file = str(pathlib.Path(sys.argv[1]).resolve()), int(sys.argv[2]), pathlib.Path(sys.argv[3])
    pictures = re.split(r"\x1b\[\d+A\r\x1b\[J", shown(program))
    file.write_text(svg(pictures[which].rstrip("\n").split("\n")), encoding="utf-8")
    print(f"{file}: picture {which} of {len(pictures)}")


if __name__ == "__main__":
    main()
