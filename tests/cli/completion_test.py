"""`pardec completion`: bash completes verbs, actions, flags and names; zsh, fish and the man page hold every verb and flag, and are well formed where their programs are here.

Usage: completion_test.py PROGRAM
"""
import pathlib
import re
import shutil
import subprocess
import sys

from harness import Checks, scratch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "pages"))
from pages import help_of, verbs_of  # noqa: E402


def completed(script, *words):
    """What bash offers for the last of these words."""
    ask = f'source "{script}"; COMP_WORDS=({" ".join(repr(w) if w else chr(39) * 2 for w in words)}); COMP_CWORD={len(words) - 1}; _pardec; printf "%s\\n" "${{COMPREPLY[@]}}"'
    ran = subprocess.run(["bash", "--norc", "-c", ask], capture_output=True, text=True, timeout=60)
    return set(ran.stdout.split()) if not ran.stderr else {ran.stderr}


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        said = {}
        for kind in ("bash", "zsh", "fish", "man"):
            said[kind] = pardec.good("completion", kind)
            (pardec.folder / kind).write_text(said[kind])
        script, verbs = pardec.folder / "bash", set(verbs_of(pardec.path))
        check({"run", "sweep", "completion"} <= verbs and completed(script, "pardec", "") == verbs | {"--help", "--version"}, f"verbs: {completed(script, 'pardec', '')}")
        check(completed(script, "pardec", "comp") == {"compare", "completion"}, "verbs that begin so")
        check(completed(script, "pardec", "runs", "") == {"list", "compare", "name", "note", "rm"}, f"actions: {completed(script, 'pardec', 'runs', '')}")
        check(completed(script, "pardec", "run", "--batch-s") == {"--batch-size"}, "a flag")
        check({"ar", "hpd", "ippd"} <= completed(script, "pardec", "run", "--decoder", ""), "names of decoders")
        check(completed(script, "pardec", "sweep", "--dataset", "oa") == {"oa-mine"}, "names of datasets")
        check(completed(script, "pardec", "compare", "--db", "") == set(), "files are bash's own")
        for verb in verbs - {"completion"}:
            flags = set(re.findall(r"^  (?:-\w,)?(--[a-z-]+)", help_of(pardec.path, verb), re.M))
            check(completed(script, "pardec", verb, "--") == flags, f"{verb}: bash has {completed(script, 'pardec', verb, '--') ^ flags} too much or too little")
            for kind, of in (("zsh", re.search(rf"^    {verb}\) (.*)$", said["zsh"], re.M)[1]), ("fish", "".join(re.findall(rf"seen_subcommand_from {verb}'.*\n", said["fish"]))),
                             ("man", re.search(rf"^\.SS {verb}\n(.*?)(?=^\.S[SH] )", said["man"], re.M | re.S)[1])):
                lacking = {f for f in flags if {"zsh": f"'{f}:", "fish": f" -l {f[2:]} ", "man": f.replace("-", "\\-") + "\\fR"}[kind] not in of}
                check(not lacking, f"{verb}: {kind} lacks {lacking}")
        for shell in ("bash", "zsh", "fish"):
            if shutil.which(shell):
                ran = subprocess.run([shell, "-n", pardec.folder / shell], capture_output=True, text=True)
                check(ran.returncode == 0 and not ran.stderr, f"{shell} -n: {ran.stderr}")
        if shutil.which("groff"):
            ran = subprocess.run(["groff", "-man", "-ww", "-Tutf8", pardec.folder / "man"], capture_output=True, text=True)
            check(ran.returncode == 0 and not ran.stderr and "--grid" in re.sub(r".\x08|\x1b\[[0-9;]*m", "", ran.stdout).replace("−", "-").replace("‐", "-"), f"groff: {ran.stderr}")
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
