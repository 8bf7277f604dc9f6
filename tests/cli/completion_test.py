"""`pardec completion`: bash completes verbs, actions, flags and names; zsh, fish and the man page hold every verb and flag, and are well formed where their programs are here.

Usage: completion_test.py PROGRAM
"""
import pathlib
import re
import shutil
import subprocess
import sys

from harness import ROOT, Checks, scratch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "pages"))
from pages import help_of, verbs_of  # noqa: E402


def completed(script, *words):
    """What bash offers for the last of these words."""
    ask = f'source "{script}"; COMP_WORDS=({" ".join(repr(w) if w else chr(39) * 2 for w in words)}); COMP_CWORD={len(words) - 1}; _pardec; printf "%s\\n" "${{COMPREPLY[@]}}"'
    ran = subprocess.run(["bash", "--norc", "-c", ask], capture_output=True, text=True, timeout=60)
    offered = ran.stdout.split()
    if ran.stderr or len(offered) != len(set(offered)):
        return {ran.stderr or f"offered more than once: {sorted({word for word in offered if offered.count(word) > 1})}"}
    return set(offered)


def once(check, script):
    """Each place offers each of its words once, and no place stands twice."""
    text = script.read_text(encoding="utf-8")
    places = re.findall(r"^    (\S+)\) (?:printf '%s\\n' (.*) ;;$)?", text[:text.index("_pardec() {")], re.M)
    check(len(places) > 25 and max(len(words.split()) for _, words in places) > 100, f"{len(places)} places with words")
    for of, words in places:
        twice = sorted({word for word in words.split() if words.split().count(word) > 1})
        check(not twice, f"{of}: {twice} more than once")
    names = [name for of, _ in places for name in of.split("|")]
    check(len(names) == len(set(names)), f"places that stand twice: {sorted({n for n in names if names.count(n) > 1})}")


def known(pardec, *words):
    """The names that the program lists when it refuses a value."""
    ran = pardec(*words)
    found = re.search(r"(?:known: |expected )(.*?)(?:;|$)", ran.stderr.splitlines()[-1])
    return set(re.split(r", | or ", found[1])) if found else {ran.stderr}


def values(check, pardec, script):
    """Values of flags, and what stands after a word: those that the program itself names."""
    def offered(*words):
        return completed(script, "pardec", *words)

    network = ["--model", ROOT / "experiments/quickstart/model", "--dataset", "oa-mine", "--decoder", "ar"]
    check(offered("list", "--format", "") == known(pardec, "list", "--format", "zzzzzzzzz"), f"formats: {offered('list', '--format', '')}")
    check(offered("export", "--format", "") == known(pardec, "export", "--out", "x", "--format", "zzzzzzzzz"), "formats of export")
    check(offered("run", "--dtype", "") - {"auto"} < known(pardec, "run", *network, "--dtype", "zzzzzzz"), f"types: {offered('run', '--dtype', '')}")
    check(offered("run", "--thinking", "") == known(pardec, "run", *network, "--thinking", "zzz"), "thinking")
    check(offered("roofline", "--hardware", "h") == {"h100", "h200", "h800", "here"}, f"machines: {offered('roofline', '--hardware', 'h')}")
    check(offered("reproduce", "") == known(pardec, "reproduce", "zzzzzzzzz"), f"papers: {offered('reproduce', '')}")
    check(offered("reproduce", "hpd", "") == known(pardec, "reproduce", "hpd", "zzzzzzzzzzzzzzz"), f"items: {offered('reproduce', 'hpd', '')}")
    check({"small", "bound"} <= offered("reproduce", "--scale", ""), "scales")
    check(offered("run", "--set", "hpd.") >= {"hpd.k_max=", "hpd.isolated=values"}, f"options: {offered('run', '--set', 'hpd.')}")
    check(offered("run", "--set", "hpd.isolated", "=", "v") == {"values"}, "a value of an option, which bash cuts at =")
    check(offered("run", "--dtype", "=", "b") == {"bf16"} == offered("run", "--dtype=b"), "a value after =")
    check(offered("run", "--decoder", "ar,hp") == {"ar,hpd"}, f"the second of a list: {offered('run', '--decoder', 'ar,hp')}")
    check({"hpd.k_max=", "batch_size="} <= offered("sweep", "--grid", "") and not offered("sweep", "--grid", "zzz"), "what a grid varies")
    check({"hpd.k_max", "date"} <= offered("plot", "--x", "") and "hpd.isolated" not in offered("plot", "--x", ""), "what a figure is drawn over")
    check(offered("compare", "--columns", "arm,speedup_und") == {"arm,speedup_undisturbed", "arm,speedup_undisturbed_interval"}, "columns")
    check(offered("run", "--dry-run", "--batch-s") == {"--batch-size"}, "a flag after a switch")

    pardec.good("run", *network, "--limit", "2", "--max-new-tokens", "2", "--db", "c.sqlite", "--progress", "none")
    unknown = ("judge", "export", "--protocol", "zzzzzzzzzzz", "--out", "s.html", "--db", "c.sqlite")
    check(offered("judge", "--protocol", "") == known(pardec, *unknown), f"protocols: {offered('judge', '--protocol', '')}, {known(pardec, *unknown)}")
    run = pardec.good("completion", "runs", "c.sqlite").strip()
    check(re.fullmatch(r"[0-9a-f]{8}", run), f"ids of runs: {run}")
    ask = f'PATH="{pardec.folder}/bin:$PATH"; source "{script}"; '
    (pardec.folder / "bin").mkdir()
    (pardec.folder / "bin" / "pardec").symlink_to(pardec.path)

    def runs(*words):
        line = " ".join(f"'{w}'" for w in ("pardec", *words))
        ran = subprocess.run(["bash", "--norc", "-c", f'{ask}PARDEC_DB=c.sqlite; COMP_WORDS=({line}); COMP_CWORD={len(words)}; _pardec; printf "%s\n" "${{COMPREPLY[@]}}"'],
                             capture_output=True, text=True, timeout=60, cwd=pardec.folder)
        return ran.stdout.splitlines() if not ran.stderr else [ran.stderr]

    check(runs("compare", "--db", "c.sqlite", "--run", "") == [run] == runs("runs", "rm", run[:2]), f"runs: {runs('runs', 'rm', run[:2])}")
    pardec.good("runs", "name", run, "first try; $(touch bad)", "--db", "c.sqlite")
    named = runs("runs", "compare", "--db", "c.sqlite", "")
    check(len(named) == 1 and named[0].startswith("first\\ try") and not (pardec.folder / "bad").exists(), f"a name with spaces and signs is quoted: {named}")
    check(runs("compare", "--db", "missing.sqlite", "--run", "") == [""] and not (pardec.folder / "missing.sqlite").exists(), "a database that is missing stays so")

    refused = pardec("sweep", *network, "--arm", "a=hpd", "--arm", "b=hpd", "--grid", "hpd.kmax=8", "--db", "c.sqlite")
    check(refused.returncode == 2 and refused.stderr.count("'hpd.k_max'") == 1, f"a suggestion stands once: {refused.stderr}")


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
        values(check, pardec, script)
        once(check, script)
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
