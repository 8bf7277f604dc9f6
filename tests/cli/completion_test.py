"""`pardec completion`: bash completes verbs, actions, flags and names; zsh, fish and the man page
hold every verb and flag, and are well formed where their programs are here.
"""

import pathlib
import re
import shutil
import subprocess
import sys

import pytest
from harness import ROOT

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "pages"))
from pages import help_of, verbs_of  # noqa: E402

NETWORK = [
    "--model", ROOT / "experiments/quickstart/model", "--dataset", "oa-mine", "--decoder", "ar",
]
KINDS = ("bash", "zsh", "fish", "man")


def quoted(word):
    return repr(word) if word else "''"


def bash(commands, folder):
    """Lines that bash prints, or what it complains of."""
    ran = subprocess.run(
        ["bash", "--norc", "-c", commands], capture_output=True, text=True, timeout=60, cwd=folder
    )
    return ran.stdout.splitlines() if not ran.stderr else [ran.stderr]


def twice(words):
    return sorted({word for word in words if words.count(word) > 1})


def completion(words):
    """Commands that print what `_pardec` offers for the last of these words."""
    return (
        f"COMP_WORDS=({' '.join(map(quoted, words))}); COMP_CWORD={len(words) - 1}; _pardec; "
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )


@pytest.fixture(scope="module")
def printed(pardec):
    """What `completion` prints, by kind; each is also a file."""
    printed = {kind: pardec.good("completion", kind) for kind in KINDS}
    for kind, text in printed.items():
        (pardec.folder / kind).write_text(text)
    return printed


@pytest.fixture(scope="module")
def offered(pardec, printed):
    """What bash offers for the last of some words after `pardec`."""

    def of(*words):
        script = f'source "{pardec.folder / "bash"}"; '
        found = bash(script + completion(["pardec", *words]), pardec.folder)
        offered = [word for line in found for word in line.split()]
        assert twice(offered) == [], words
        return set(offered)

    return of


@pytest.fixture(scope="module")
def verbs(pardec):
    return set(verbs_of(pardec.path))


def known(pardec, *words):
    """The names that the program lists when it refuses a value."""
    ran = pardec(*words)
    found = re.search(r"(?:known: |expected )(.*?)(?:;|$)", ran.stderr.splitlines()[-1])
    return set(re.split(r", | or ", found[1])) if found else {ran.stderr}


def test_each_place_offers_each_word_once(printed):
    functions = printed["bash"][: printed["bash"].index("_pardec() {")]
    places = re.findall(r"^    (\S+)\) (?:printf '%s\\n' (.*) ;;$)?", functions, re.M)
    assert len(places) > 25
    assert max(len(words.split()) for _, words in places) > 100
    for of, words in places:
        assert twice(words.split()) == [], of
    assert twice([name for of, _ in places for name in of.split("|")]) == []


# Verbs, actions, flags, names --------------------------------------------------------------------


def test_bash_completes_verbs(offered, verbs):
    assert {"run", "sweep", "completion"} <= verbs
    assert offered("") == verbs | {"--help", "--version"}


@pytest.mark.parametrize(
    "words, found",
    [
        (["comp"], {"compare", "completion"}),
        (["runs", ""], {"list", "compare", "name", "note", "rm"}),
        (["run", "--batch-s"], {"--batch-size"}),
        (["run", "--dry-run", "--batch-s"], {"--batch-size"}),
        (["sweep", "--dataset", "oa"], {"oa-mine"}),
        (["compare", "--db", ""], set()),  # files are bash's own
        (["roofline", "--hardware", "h"], {"h100", "h200", "h800", "here"}),
        (["run", "--set", "hpd.isolated", "=", "v"], {"values"}),  # bash cuts words at =
        (["run", "--dtype", "=", "b"], {"bf16"}),
        (["run", "--dtype=b"], {"bf16"}),
        (["run", "--decoder", "ar,hp"], {"ar,hpd"}),
        (["sweep", "--grid", "zzz"], set()),
        (
            ["compare", "--columns", "arm,speedup_und"],
            {"arm,speedup_undisturbed", "arm,speedup_undisturbed_interval"},
        ),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, list) else "",
)
def test_bash_completes(offered, words, found):
    assert offered(*words) == found


@pytest.mark.parametrize(
    "words, some",
    [
        (["run", "--decoder", ""], {"ar", "hpd", "ippd"}),
        (["reproduce", "--scale", ""], {"small", "bound"}),
        (["run", "--set", "hpd."], {"hpd.k_max=", "hpd.isolated=values"}),
        (["sweep", "--grid", ""], {"hpd.k_max=", "batch_size="}),
        (["plot", "--x", ""], {"hpd.k_max", "date"}),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, list) else "",
)
def test_bash_offers_among_others(offered, words, some):
    assert some <= offered(*words)


def test_a_figure_is_not_drawn_over_a_word(offered):
    assert "hpd.isolated" not in offered("plot", "--x", "")


@pytest.mark.parametrize(
    "words, refused",
    [
        (["list", "--format", ""], ["list", "--format", "zzzzzzzzz"]),
        (["export", "--format", ""], ["export", "--out", "x", "--format", "zzzzzzzzz"]),
        (["run", "--thinking", ""], ["run", *NETWORK, "--thinking", "zzz"]),
        (["reproduce", ""], ["reproduce", "zzzzzzzzz"]),
        (["reproduce", "hpd", ""], ["reproduce", "hpd", "zzzzzzzzzzzzzzz"]),
    ],
    ids=lambda words: " ".join(map(str, words[:2])),
)
def test_bash_offers_the_values_that_the_program_names(pardec, offered, words, refused):
    assert offered(*words) == known(pardec, *refused)


def test_bash_offers_the_types_that_the_program_names(pardec, offered):
    """A network that is on a disk has one type less."""
    types = known(pardec, "run", *NETWORK, "--dtype", "zzzzzzz")
    assert offered("run", "--dtype", "") - {"auto"} < types


# Names that a database holds ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def run(pardec):
    """The id of a run in c.sqlite."""
    words = ["--limit", 2, "--max-new-tokens", 2, "--db", "c.sqlite", "--progress", "none"]
    pardec.good("run", *NETWORK, *words)
    return pardec.good("completion", "runs", "c.sqlite").strip()


@pytest.fixture(scope="module")
def runs(pardec, printed):
    """What bash offers where PARDEC_DB is c.sqlite and the program is on PATH."""
    (pardec.folder / "bin").mkdir()
    (pardec.folder / "bin" / "pardec").symlink_to(pardec.path)
    start = f'PATH="{pardec.folder}/bin:$PATH"; source "{pardec.folder / "bash"}"; '
    start += "PARDEC_DB=c.sqlite; "
    return lambda *words: bash(start + completion(["pardec", *words]), pardec.folder)


def test_bash_offers_the_protocols_that_the_program_names(pardec, offered, run):
    words = ["--protocol", "zzzzzzzzzzz", "--out", "s.html", "--db", "c.sqlite"]
    assert offered("judge", "--protocol", "") == known(pardec, "judge", "export", *words)


def test_bash_offers_the_ids_of_runs(run, runs):
    assert re.fullmatch(r"[0-9a-f]{8}", run)
    assert runs("compare", "--db", "c.sqlite", "--run", "") == [run]
    assert runs("runs", "rm", run[:2]) == [run]


def test_a_name_with_spaces_and_signs_is_quoted(pardec, run, runs):
    pardec.good("runs", "name", run, "first try; $(touch bad)", "--db", "c.sqlite")
    named = runs("runs", "compare", "--db", "c.sqlite", "")
    pardec.good("runs", "name", run, "", "--db", "c.sqlite")
    assert len(named) == 1
    assert named[0].startswith("first\\ try")
    assert not (pardec.folder / "bad").exists()


def test_a_database_that_is_missing_stays_so(pardec, runs):
    assert runs("compare", "--db", "missing.sqlite", "--run", "") == [""]
    assert not (pardec.folder / "missing.sqlite").exists()


def test_a_suggestion_stands_once(pardec):
    arms = ["--arm", "a=hpd", "--arm", "b=hpd", "--grid", "hpd.kmax=8", "--db", "c.sqlite"]
    refused = pardec("sweep", *NETWORK, *arms)
    assert refused.returncode == 2
    assert refused.stderr.count("'hpd.k_max'") == 1


# Every flag of every verb ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def flags(pardec, verbs):
    """The flags of each verb."""
    flag = re.compile(r"^  (?:-\w,)?(--[a-z-]+)", re.M)
    return {verb: set(flag.findall(help_of(pardec.path, verb))) for verb in verbs - {"completion"}}


def test_bash_offers_every_flag_of_every_verb(offered, flags):
    for verb, known_flags in flags.items():
        assert offered(verb, "--") == known_flags, verb


# Where a kind has the flags of a verb, and how it writes one.
PLACES = {
    "zsh": (r"^    {verb}\) (.*)$", lambda flag: f"'{flag}:"),
    "fish": (r"(seen_subcommand_from {verb}'.*)$", lambda flag: f" -l {flag[2:]} "),
    "man": (
        r"^\.SS {verb}\n((?:(?!\.S[SH] ).*\n)*)",
        lambda flag: flag.replace("-", "\\-") + "\\fR",
    ),
}


@pytest.mark.parametrize("kind", PLACES)
def test_every_flag_of_every_verb_is_written_for(printed, flags, kind):
    place, written = PLACES[kind]
    for verb, known_flags in flags.items():
        of = "".join(re.findall(place.replace("{verb}", verb), printed[kind], re.M))
        assert {flag for flag in known_flags if written(flag) not in of} == set(), verb


# Well formed -------------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_reads_its_script(pardec, printed, shell):
    if not shutil.which(shell):
        pytest.skip(f"not done here: {shell} is missing")
    ran = subprocess.run([shell, "-n", pardec.folder / shell], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert not ran.stderr


def test_groff_reads_the_man_page(pardec, printed):
    if not shutil.which("groff"):
        pytest.skip("not done here: groff is missing")
    words = ["groff", "-man", "-ww", "-Tutf8", pardec.folder / "man"]
    ran = subprocess.run(words, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert not ran.stderr
    shown = re.sub(r".\x08|\x1b\[[0-9;]*m", "", ran.stdout)
    assert "--grid" in shown.replace("−", "-").replace("‐", "-")
