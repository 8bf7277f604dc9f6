"""`reproduce`: what it lists, runs and decides; that it goes on, names what lacks, and ends with 4 where a claim is decided otherwise than expected.

Usage: reproduce_test.py PROGRAM
"""
import json
import math
import re
import shutil
import sys

from harness import ROOT, Checks, change, query, scratch


QUICKSTART = ROOT / "experiments" / "quickstart" / "model"


def read(text):
    return json.loads(text)


def claims(tables):
    return {row["claim"]: row for row in tables[-1]["rows"]}


def share_with(folder, change):
    """The project's files with one item changed, for PARDEC_SHARE."""
    share = folder / "share"
    share.mkdir()
    for entry in ("datasets", "experiments", "judges"):
        shutil.copytree(ROOT / entry, share / entry, ignore=shutil.ignore_patterns("*.cpp", "*.hpp", "smollm2"))
    file = share / "experiments" / "papers" / "hpd" / "table3.json"
    item = json.loads(file.read_text())
    change(item)
    file.write_text(json.dumps(item))
    return share


def main():
    check = Checks()
    with scratch(sys.argv[1]) as pardec:
        def reproduce(*args, code=0, env=None, db="r.sqlite"):
            ran = pardec("reproduce", *args, "--threads", 1, "--progress", "none", "--db", db, env=env)
            check(ran.returncode == code, f"reproduce {args}: exit {ran.returncode}: {ran.stderr}")
            return ran

        rows = read(reproduce("list", "--format", "json").stdout)["rows"]
        check(len(rows) == 78 and sum(row["class"] == "E" for row in rows) == 20, f"{len(rows)} rows")
        check(all(row["verdicts"] == "-" for row in rows), "verdicts without a database")

        # A run, its table and its claims; then the same from the database, and the list that knows of it.
        begun = reproduce("hpd", "t3", "--limit", 12, "--format", "json")
        published, decided = read(begun.stdout)
        cell = {(row["method"], row["metric"]): row for row in published["rows"]}
        # The paper's numbers are of Amazon Reviews, and OA-Mine was run: nothing stands beside them, and verdicts say that the data are others.
        check(cell["HPD", "speedup"]["published"] == 10.78 and all(row["measured"] is None and row["measured_on"] is None for row in published["rows"]), f"{published['rows']}")
        check(any("hpd on amazon-reviews" in note for note in published["notes"]), f"{published['notes']}")
        check(all(row["qualified"] == "stand-in, other data, scaled" and row["measured_unit"] == "ratio of products/s" for row in decided["rows"]), f"{decided['rows']}")
        check(any(note.startswith("differs: network: ") for note in published["notes"]), f"{published['notes']}")
        verdicts = {row["claim"]: f"{row['verdict']} ({row['qualified']})" for row in decided["rows"]}
        check(set(verdicts) == {"H5a", "H5b"} and all("open" in v for v in verdicts.values()), f"6 blocks decide nothing: {verdicts}")
        before = (pardec.folder / "r.sqlite").stat().st_mtime_ns
        again = reproduce("hpd", "table3", "--limit", 12, "--format", "json")
        check(read(again.stdout)[1] == decided and (pardec.folder / "r.sqlite").stat().st_mtime_ns == before, "what is stored is run again")
        listed = {(row["paper"], row["item"]): row["verdicts"] for row in read(reproduce("list", "--format", "json").stdout)["rows"]}
        check(listed["hpd", "Table 3"] == f"H5a {verdicts['H5a']}; H5b {verdicts['H5b']}", f"list says {listed['hpd', 'Table 3']}")

        # What `compare` warns of stands beside the verdict, also where the store alone is asked: HPD's stack of one was not taught.
        warned = {(w["code"], w["arm"], w["effect"]) for row in decided["rows"] for w in row["warnings"] if row["claim"] == "H5a"}
        check(("untaught", "hpd", "beside") in warned, f"H5a: {warned}")

        # A run that measured nothing hides none of it.
        reproduce("hpd", "t3", "--limit", 13)
        change(pardec.folder / "r.sqlite", "DELETE FROM block WHERE run_id IN (SELECT id FROM run WHERE invocation <> (SELECT invocation FROM run ORDER BY id LIMIT 1))")
        check("a block that" in claims(read(reproduce("hpd", "t3", "--limit", 13, "--budget", "0.001s", "--format", "json").stdout))["H5a"]["why"], "blocks are left")
        relisted = {(row["paper"], row["item"]): row["verdicts"] for row in read(reproduce("list", "--format", "json").stdout)["rows"]}
        check(relisted == listed, f"list says {relisted['hpd', 'Table 3']}")

        # Enough blocks decide: HPD is more than twice as fast as speculative decoding in rows a pass alone.
        def sure(item):
            item["claims"] = [{"id": "C", "says": "HPD chooses more tokens a pass than AR", "scales": ["small"], "expect": "confirmed",
                               "test": {"kind": "ratio", "metric": "tokens_per_forward", "of": "hpd", "over": "ar", "op": ">", "than": 1}},
                              {"id": "W", "says": "AR does", "scales": ["small"], "expect": "confirmed",
                               "test": {"kind": "ratio", "metric": "tokens_per_forward", "of": "ar", "over": "hpd", "op": ">", "than": 1}}]

        share = share_with(pardec.folder, sure)
        wrong = reproduce("hpd", "t3", "--limit", 12, "--format", "json", code=4, env={"PARDEC_SHARE": share})
        found = claims(read(wrong.stdout))
        check(found["C"]["verdict"] == "confirmed" and found["C"]["qualified"] == "stand-in, other data, scaled" and found["W"]["verdict"] == "refuted", f"{found}")
        check(found["W"]["expected"] == "confirmed (!)" and "otherwise than expected" in wrong.stderr, f"{found['W']}")

        # Rooflines, and what lacks by name.
        bounds, decided = read(reproduce("hpd", "t3", "--scale", "bound", "--limit", 2, "--format", "json").stdout)
        check({row["arm"] for row in bounds["rows"]} == {"ar", "spec", "hpd"} and all("NVIDIA L40S" in row["place"] for row in bounds["rows"]), f"{bounds['rows']}")
        check(all(row["qualified"].startswith("bound, ") for row in decided["rows"]), f"{decided['rows']}")
        # A bound confirms nothing, whatever it leaves room for, and a ratio of two of them says nothing at all.
        decided = read(reproduce("hpd", "t3", "--scale", "bound", "--limit", 12, "--format", "json").stdout)[1]
        row = claims([decided])
        part = row["H5b"]["measured"][0]
        check(row["H5b"]["verdict"] == "not contradicted" and part["value"] > 2.08 and part["bound"] == "at most", f"{row['H5b']}")
        check(f"at most {part['value']:.2f}, published 1.26 to 2.08: the bound leaves room" in row["H5b"]["why"], row["H5b"]["why"])
        check(row["H5a"]["verdict"] == "open" and row["H5a"]["measured"][0]["bound"] == "of bounds" and "a ratio of two bounds bounds nothing" in row["H5a"]["why"] and ", published 5.18 to 8.56" in row["H5a"]["why"], f"{row['H5a']}")
        check(any(note.startswith("not contradicted: a bound leaves room for it") for note in decided["notes"]) and decided["notes"][0] == "claims: 1 not contradicted, 1 open.", f"{decided['notes']}")
        if not (ROOT / "experiments" / "smollm2" / "apar").exists():
            lacks = claims(read(reproduce("apar", "t9", "--format", "json").stdout))
            check(all(row["verdict"] == "not testable" and "experiments/smollm2/apar" in row["why"] for row in lacks.values()), f"{lacks}")
        (pardec.folder / "empty").mkdir()
        judged = claims(read(reproduce("hpd", "t1", "--limit", 2, "--data-root", pardec.folder / "empty", "--format", "json").stdout))
        check("dataset oa-mine" in judged["H1"]["why"] and judged["H1"]["verdict"] == "not testable", f"{judged['H1']}")
        for format in ("md", "csv", "latex", "jsonl"):
            shown = reproduce("ippd", "figure3", "--limit", 2, "--model", f"main={QUICKSTART}", "--format", format).stdout
            check("ippd" in shown and "I2" in shown, f"{format}: {shown[:300]}")

        # Cells stand beside their own dataset, in the paper's unit; a network that lacks is named with its recipe, and no other arm stands for it.
        def arms(item):
            item["published"]["datasets"] = {"Amazon Reviews 2023": "oa-mine"}
            item["match"]["metric"]["products/s"] = {"metric": "examples_per_second", "times": 1000}
            small = item["scales"]["small"]
            small["models"]["seq"] = "experiments/smollm2/aspd-seq"
            small["decoders"].append({"label": "seq", "name": "ar", "adapter": "seq", "set": {"batch_size": 1}})
            test = {"kind": "ratio", "of": "hpd", "op": ">", "than": 0}
            item["claims"] = [{"id": "S", "says": "over Seq", "scales": ["small"], "test": {**test, "metric": "speed", "over": "seq"}},
                              {"id": "A", "says": "over AR, by the token", "scales": ["small"], "test": {**test, "metric": "tokens_per_second", "over": "ar"}},
                              {"id": "B", "says": "the same by the example", "scales": ["small"], "test": {**test, "metric": "speed", "over": "ar"}},
                              {"id": "N", "says": "tokens", "scales": ["small"], "test": {**test, "metric": "tokens_per_example", "over": "ar"}}]

        shutil.rmtree(share)
        share = share_with(pardec.folder, arms)
        shutil.copytree(ROOT / "experiments" / "smollm2" / "recipes", share / "experiments" / "smollm2" / "recipes")
        of_arms = lambda: [read(reproduce("hpd", "t3", "--limit", 12, "--format", "json", env={"PARDEC_SHARE": share}, db="arms.sqlite").stdout)[i] for i in (0, -1)]
        published, decided = of_arms()
        cell = {(row["method"], row["metric"]): row for row in published["rows"]}
        check(cell["HPD", "products/s"]["measured"] > 100 and cell["HPD", "speedup"]["measured"] > 1 and cell["HPD", "speedup"]["measured_on"] == "oa-mine, stand-in", f"{cell}")
        check(cell["8B Spec.", "speedup"]["measured"] is None, f"{cell}")
        found = claims([decided])
        if not (ROOT / "experiments" / "smollm2" / "aspd-seq").exists():
            check(found["S"]["verdict"] == "not testable" and "experiments/smollm2/aspd-seq, recipe experiments/smollm2/recipes/aspd-seq.json" in found["S"]["why"], f"{found['S']}")
        value = {claim: row["measured"][0]["value"] for claim, row in found.items() if row["measured"]}
        check(math.isclose(value["A"], value["B"] * value["N"], rel_tol=1e-6) and found["A"]["measured_unit"] == "ratio of tokens/s" and found["B"]["measured_unit"] == "ratio of products/s", f"{value}")
        shutil.rmtree(share)

        def without_baseline(item):
            arms(item)
            item["scales"]["small"]["baseline"] = "seq"

        share = share_with(pardec.folder, without_baseline)
        published, decided = of_arms()
        check(all(row["measured"] is None for row in published["rows"] if row["metric"] == "speedup"), f"a speedup over an arm that is not the baseline: {published['rows']}")
        shutil.rmtree(share)
        share = share_with(pardec.folder, lambda item: item["match"].update(dataset="oa-mine"))
        check("published.datasets" in reproduce("hpd", "t3", env={"PARDEC_SHARE": share}, code=2).stderr, "a dataset in match")

        unmeasured = reproduce("space", "table5").stdout
        check("nothing of it is measured" in unmeasured and "48818" in unmeasured and "for lack of: the six open sets" in " ".join(unmeasured.split()), unmeasured[:300])

        for args, says in ((("hpd", "figure1"), "nothing is measured"), (("hpd", "table9"), "no item"), (("hdp",), "unknown paper"), (("hpd", "t3", "--scale", "smal"), "has no scale"),
                           (("all", "--budget", "soon"), "--budget"), (("hpd", "t3", "--model", "main"), "LABEL=DIR"), (("hpd", "t3", "--model", "main=nowhere"), "there is no nowhere"),
                           (("hpd", "t3", "--model", f"mian={QUICKSTART}"), "did you mean 'main'"), (("hpd", "t2", "--data-root", "nowhere"), "nowhere is no folder"),
                           (("hpd", "t2", "--dtype", "fp7"), "fp7"), (("all", "t1"), "takes no item"), (("list", "t1"), "takes no item")):
            check(says in reproduce(*args, code=2).stderr, f"{args} does not say '{says}'")

        # Speeds of the same store, told that other programs used the machine in some blocks: decided where the rest decides the same.
        def fast(item):
            item["scales"]["small"].update(limit=24)
            item["claims"] = [{"id": "F", "says": "HPD is faster", "scales": ["small"], "test": {"kind": "ratio", "metric": "speed", "of": "spec", "over": "ar", "op": ">", "than": 1e-3}},
                              {"id": "T", "says": "as many tokens a pass", "scales": ["small"], "by_construction": "so it is", "test": {"kind": "bound", "metric": "tokens_per_forward", "of": "ar", "op": ">=", "than": 1}},
                              {"id": "D", "says": "on a dataset that lacks", "scales": ["small"], "test": {"kind": "bound", "metric": "tokens_per_forward", "of": "ar", "in": ["oa-mine", "race"], "op": ">", "than": 0}}]

        shutil.rmtree(share)
        share = share_with(pardec.folder, fast)
        db = pardec.folder / "fast.sqlite"
        fast_claims = lambda: claims(read(reproduce("hpd", "t3", "--format", "json", env={"PARDEC_SHARE": share}, db=db).stdout))
        fast_claims()
        change(db, "UPDATE block SET waited_ns = 0, stolen_ns = 0")
        found = fast_claims()
        check(found["F"]["verdict"] == "confirmed" and found["F"]["measured"][0]["units"] == 12, f"{found['F']}")
        check(found["T"]["verdict"] == "confirmed" and found["T"]["qualified"].startswith("by construction, ") and "it cannot fail: so it is" in found["T"]["why"], f"{found['T']}")
        check(found["T"]["by_construction"] == "so it is" and found["F"]["by_construction"] is None, f"{found['T']}")
        check(found["D"]["verdict"] == "open" and "lacks" in found["D"]["why"] and "race" in found["D"]["why"], f"{found['D']}")
        listed = {(row["paper"], row["item"]): row["verdicts"] for row in read(reproduce("list", "--format", "json", env={"PARDEC_SHARE": share}, db=db).stdout)["rows"]}["hpd", "Table 3"]
        check("D open" in listed and "F confirmed" in listed and "T confirmed (by construction, " in listed, f"list says {listed}")
        shown = reproduce("hpd", "t3", env={"PARDEC_SHARE": share}, db=db).stdout
        check("claims: 1 confirmed, 1 open; apart from these, that cannot fail: 1 confirmed" in shown, shown[-900:])
        for disturbed, verdict in ((2, "confirmed"), (3, "open")):  # of twelve: 10 decide, 9 do not
            change(db, f"UPDATE block SET waited_ns = wall_ns WHERE position < {disturbed}")
            found = fast_claims()
            check(found["F"]["verdict"] == verdict and {w["code"] for w in found["F"]["warnings"]} >= {"disturbed"}, f"{disturbed} disturbed: {found['F']}")
            check(found["T"]["verdict"] == "confirmed" and "disturbed" not in {w["code"] for w in found["T"]["warnings"]}, f"{found['T']}")
        check("unfit to decide it: disturbed" in found["F"]["why"] and "the undisturbed measurements alone give" in found["F"]["why"], f"{found['F']['why']}")

        # A page has no section with nothing in it.
        for item, sections in ((("hpd", "table2"), ["published"]), (("aspd", "table7"), ["verdicts", "published"]), (("space", "table5"), ["published"])):
            reproduce(*item, "--report", "empty.html", db="none.sqlite")
            page = (pardec.folder / "empty.html").read_text()
            heads = [head for head in re.findall(r'<h2 id="(\w+)"', page)]
            links = re.findall(r'<a href="#(\w+)"', page.split("</header>")[0])
            check(set(sections) <= set(heads) and sorted(heads) == sorted(links), f"{item}: sections {heads}, links {links}")
            check(not re.search(r"<tbody>\s*</tbody>|<dl>\s*</dl>|class=\"(facts|figures)\">\s*</div>", page), f"{item}: something is empty")

        # A conversation counts turn by turn; what its turns would be in one sequence each is not guessed of their sums.
        def turns(item):
            test = {"kind": "bound", "of": "ar", "in": ["mt-bench"], "op": "<=", "than": 1}
            item["scales"]["small"].update(datasets=["mt-bench"], max_new_tokens=8, decoders=[{"name": "ar", "set": {"batch_size": 2}}])
            item["claims"] = [{"id": metric, "says": metric, "scales": ["small"], "test": {**test, "metric": metric}} for metric in
                              ("threads", "length", "max_cached", "max_cached_flat", "max_cached_saved", "attended_saved", "parallel_share", "tps")]

        shutil.rmtree(share)
        share = share_with(pardec.folder, turns)
        db = pardec.folder / "turns.sqlite"
        found = claims(read(reproduce("hpd", "t3", "--format", "json", env={"PARDEC_SHARE": share}, db=db).stdout))
        jobs = query(db, "SELECT turns, prompt_tokens, chosen, text_tokens, decode_ns, cached_peak, text_attended FROM job")
        each = [turn for job in jobs for turn in read(job["turns"])]
        check(len(each) > len(jobs) and all(sum(t[key] for t in read(job["turns"])) == job[key] for job in jobs for key in ("prompt_tokens", "chosen", "text_tokens", "text_attended", "decode_ns")), f"{jobs}")
        # What AR writes is one sequence, whose last id is chosen and not fed.
        check(all(0 <= t["prompt_tokens"] + t["text_tokens"] - t["cached_peak"] <= 1 and t["branches"] == 1 for t in each), f"{each}")
        mean = lambda key: sum(t[key] for t in each) / len(each)
        wanted = {"threads": 1, "length": mean("text_tokens"), "max_cached": mean("cached_peak"), "max_cached_flat": mean("prompt_tokens") + mean("text_tokens"),
                  "attended_saved": 0, "parallel_share": 0, "tps": sum(1e9 * t["chosen"] / t["decode_ns"] for t in each) / len(each)}
        for metric, value in wanted.items():
            check(math.isclose(found[metric]["measured"][0]["value"], value, rel_tol=1e-9, abs_tol=1e-9), f"{value}: {found[metric]}")
        check(0 <= found["max_cached_saved"]["measured"][0]["value"] < 0.05, f"AR saves nothing: {found['max_cached_saved']}")
        # So does `compare`: as if ASPD had answered each first turn alone in parallel.
        forked = pardec.folder / "forked.sqlite"
        shutil.copy(db, forked)
        stages = lambda turn, groups: json.dumps({**turn, "branches": 1 + 3 * groups, "parallel": {"generated": 10, "branch_tokens": 6 * groups, "groups": groups, "group_branches": 3 * groups,
                                                                                                  "parallel_ns": 10**9 * groups}})
        for i, job in enumerate(query(forked, "SELECT id, turns FROM job ORDER BY id")):
            both = ",".join(stages(turn, int(at == 0)) for at, turn in enumerate(read(job["turns"])))
            change(forked, f"UPDATE job SET turns = '[{both}]' WHERE id = {job['id']}")
        for decoder, columns in (("aspd", {"ppd": 0.5, "dp": 0.6, "abn": 3, "p_tps": 6}), ("apar", {"parallel_share": 0.5, "threads_per_answer": 2.5, "max_cached": mean("cached_peak")})):
            change(forked, f"UPDATE run SET decoder = '{decoder}'")
            row = read(pardec.good("compare", "--db", forked, "--format", "json"))["rows"][0]
            check(all(math.isclose(row[key], value, rel_tol=1e-9) for key, value in columns.items()), f"{decoder}: {row}")
        change(db, "UPDATE job SET turns = NULL")
        found = claims(read(reproduce("hpd", "t3", "--format", "json", env={"PARDEC_SHARE": share}, db=db).stdout))
        for metric in ("max_cached_flat", "max_cached_saved", "attended_saved", "parallel_share"):
            check(found[metric]["verdict"] == "not testable" and "turns or fields are counted together" in found[metric]["why"], f"{found[metric]}")

        # Within a budget.
        budget = reproduce("hpd", "t3", "--budget", "30s", "--format", "json", db="b.sqlite")
        check(any(note.startswith("budget: ") or "38 examples" in note for note in read(budget.stdout)[0]["notes"]), f"{read(budget.stdout)[0]['notes']}")
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
