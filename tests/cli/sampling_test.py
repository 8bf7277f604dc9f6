"""Seeds of sampled answers: repeats of a run, and prompts of a list, draw ids of their own; the first ones are those of a single run."""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from harness import Checks, answers, kill_after, scratch  # noqa: E402

RUN = ("--decoder", "ar,hpd,ippd", "--dataset", "oa-mine", "--limit", 6, "--max-new-tokens", 12, "--per-field", 4, "--set", "hpd.k_max=4",
       "--warmup", 0, "--temperature", 1, "--progress", "none")


def repeats(check, pardec, model):
    """--runs 3: three answers to a question; the first is that of --runs 1, and --resume keeps them."""
    one, three = pardec.folder / "one.sqlite", pardec.folder / "three.sqlite"
    pardec.good("run", "--model", model, *RUN, "--db", one)
    pardec.good("run", "--model", model, *RUN, "--runs", 3, "--db", three)
    first, all_ = answers(one), answers(three)
    check(len(first) == 24 and len(all_) == 72,  # with the baseline that ippd needs
          f"{len(first)} and {len(all_)} answers")
    check(all(all_[key] == value for key, value in first.items()), "repeat 0 is not the run without repeats")
    for label in ("ar", "hpd", "ippd"):
        keys = [key[:3] for key in first if key[0] == label]
        distinct = [len({all_[(*key, repeat)][1] for repeat in range(3)}) for key in keys]
        check(distinct == [3] * len(keys), f"{label}: distinct answers of three: {distinct}")
    killed = pardec.folder / "killed.sqlite"
    died = kill_after(pardec.start("run", "--model", model, *RUN, "--runs", 3, "--db", killed), killed, 16)
    before = len(answers(killed))
    pardec.good("run", "--model", model, *RUN, "--runs", 3, "--db", killed, "--resume")
    check(died and before < 54 and answers(killed) == all_, f"killed after {before} answers and resumed: others came")


def prompts(check, pardec, model):
    """--prompt-tokens @FILE: equal prompts get other answers, the first that of the prompt alone; greedy ones are equal."""
    (pardec.folder / "prompts").write_text("5,6,7\n5,6,7\n5,6,7\n")

    def ids(given, *more):
        said = pardec.good("generate", "--model", model, "--prompt-tokens", given, "--max-new-tokens", 8, "--format", "json", *more)
        return [json.loads(line)["tokens"] for line in said.splitlines()]

    drawn = ids("@prompts", "--temperature", 1)
    check(len({tuple(t) for t in drawn}) == 3, f"one seed for all: {drawn}")
    check(ids("5,6,7", "--temperature", 1) == drawn[:1], "the first prompt of a list is not the prompt alone")
    check(ids("@prompts", "--temperature", 1, "--batch-size", 3) == drawn, "the batch decides what is drawn")
    check(len({tuple(t) for t in ids("@prompts")}) == 1, "greedy answers to one prompt differ")


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        model = pardec.synthesise("random")
        repeats(check, pardec, model)
        prompts(check, pardec, model)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
