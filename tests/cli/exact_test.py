"""The table says of answers that depart in bf16 whether their decoder is exact in fp32."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from harness import Checks, change, scratch  # noqa: E402

NOTE = "exact only in fp32: here attention is summed in another order"


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        model = pardec.synthesise("random")
        for dtype in ("fp32", "bf16"):
            db = pardec.folder / f"{dtype}.sqlite"
            pardec.good("run", "--model", model, "--decoder", "ar,prompt-lookup,hpd", "--dataset", "oa-mine", "--limit", 4, "--max-new-tokens", 8,
                        "--set", "hpd.k_max=4", "--dtype", dtype, "--db", db, "--progress", "none")
            change(db, "UPDATE generation SET identical = 0, first_difference = 0, gap_at_difference = 0.01 WHERE identical IS NOT NULL")
            notes = [line for line in pardec.good("compare", "--wide", "--db", db).splitlines() if "differ from the baseline's" in line]
            check(len(notes) == 2, f"{dtype}: {notes}")
            for line in notes:
                check((NOTE in line) == (dtype == "bf16" and "prompt-lookup" in line), f"{dtype}: {line}")
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
