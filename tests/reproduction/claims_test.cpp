#include "src/reproduction/claims.hpp"

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>

#include "src/reproduction/fitness.hpp"
#include "src/support/error.hpp"
#include "tests/support/catch.hpp"

namespace pardec {

namespace {

/// Arms of known levels, measured to 2 %.
class Simulated : public Evidence {
 public:
  std::map<std::string, double> levels{{"ar", 1}, {"a", 2}, {"b", 3}, {"c", 2.5}, {"wide", 0.5}};
  double on_race = 1;  ///< times as high there
  std::int64_t same = 40;
  std::string lacking;  ///< an arm

  std::vector<std::string> places() const override { return {"squad", "race"}; }
  std::vector<std::string> categories(const std::string&) const override {
    return {"code", "math"};
  }
  Found level(const Scope& place, const std::string& arm,
              const std::string& metric) const override {
    if (arm == lacking) return {std::nullopt, "network " + arm};
    if (metric == "rows_per_pass") return about(arm == "wide" ? 50 : 2);
    return about(value(place, arm));
  }
  Found ratio(const Scope& place, const std::string& arm, const std::string& other,
              const std::string&) const override {
    if (arm == lacking || other == lacking) return {std::nullopt, "network " + lacking};
    Found found = about(value(place, arm) / value(place, other));
    found.measured->logarithmic = true;
    return found;
  }
  Found difference(const Scope& place, const std::string& arm, const std::string& other,
                   const std::string&) const override {
    const double apart = value(place, arm) - value(place, other);
    return {Measured{{apart, apart - 0.02, apart + 0.02}, 20, false, false}, ""};
  }
  std::optional<IdentityCount> identity(const Scope&, const std::string&, const std::string&,
                                        const std::string&) const override {
    return IdentityCount{same, 40, 0};
  }
  Qualifiers qualifiers(const std::string& place) const override {
    return {.standin = place == "race", .scaled = true};
  }
  std::vector<Caveat> caveats(const std::string& place, const std::vector<std::string>& arms,
                              const std::string&) const override {
    std::vector<Caveat> all;
    for (const std::string& arm : arms)
      for (const auto& [code, effect] : warned)
        if (arm == warned_arm) all.push_back({code, place, arm, "found", effect});
    return all;
  }
  std::unique_ptr<Evidence> in_view(MeasuredView) const override {
    auto other = std::make_unique<Simulated>(*this);
    other->levels = levels_again;
    return levels_again.empty() ? nullptr : std::move(other);
  }
  double balance() const override { return 18; }

  std::map<std::string, Effect> warned;  ///< by code
  std::string warned_arm = "a";
  std::map<std::string, double> levels_again;  ///< the repeated measurements; empty: there are none

 private:
  double value(const Scope& place, const std::string& arm) const {
    const double category =
        !place.categories.empty() && place.categories.front() == "code" ? 1.5 : 1.0;
    return levels.at(arm) * category * (place.dataset == "race" && arm != "ar" ? on_race : 1);
  }
  static Found about(double value) {
    return {Measured{{value, value / 1.02, value * 1.02}, 20, false, false}, ""};
  }
};

/// A claim as in a file.
Claim claim_of(const std::string& test, const std::string& expect = "confirmed") {
  const auto file = std::filesystem::temp_directory_path() /
                    ("pardec_claims_test_" + std::to_string(::getpid()) + ".json");
  std::ofstream(file) << R"({"name": "p-table1",
    "paper": {"id": "hpd", "item": "Table 1", "class": "A", "measures": "speed"},
    "published": {"unit": "ratio", "source": "printed", "setting": {}, "keys": ["method"],
                  "datasets": {"SQuAD 2.0": "squad", "RACE": "race"},
                  "cells": [["x", 2.5]], "doubts": []},
    "match": {}, "scales": {"small": {}},
    "claims": [{"id": "X", "says": "so", "test": )"
                      << test << R"(, "scales": ["small"], "expect": ")" << expect << "\"}]}";
  try {
    const PaperItem item = read_paper_item(file);
    std::filesystem::remove(file);
    return item.claims.front();
  } catch (...) {
    std::filesystem::remove(file);
    throw;
  }
}

ClaimVerdict verdict_of(const std::string& test, const Simulated& evidence = {}) {
  const Claim claim = claim_of(test);
  return test_claim(claim, "small", evidence).verdict;
}

}  // namespace

TEST_CASE("Claims of all kinds are decided by the measurements", "[claims]") {
  const std::string ratio =
      R"({"kind": "ratio", "metric": "speed", "of": "a", "over": "ar", "op": ">", "than": )";
  CHECK(verdict_of(ratio + "1.5}") == ClaimVerdict::confirmed);
  CHECK(verdict_of(ratio + "2.5}") == ClaimVerdict::refuted);
  CHECK(verdict_of(ratio + "2}") == ClaimVerdict::open);
  const std::string bound =
      R"({"kind": "bound", "metric": "tokens_per_forward", "of": ["a", "b"], "op": ">=", "than": )";
  CHECK(verdict_of(bound + "1.8}") == ClaimVerdict::confirmed);
  CHECK(verdict_of(bound + "2.8}") == ClaimVerdict::refuted);
  CHECK(verdict_of(bound + "2.01}") == ClaimVerdict::open);
  const std::string difference =
      R"({"kind": "difference", "metric": "headline", "of": "b", "from": "c", "op": ">=", "than": )";
  CHECK(verdict_of(difference + "0.4}") == ClaimVerdict::confirmed);
  CHECK(verdict_of(difference + "0.6}") == ClaimVerdict::refuted);
  CHECK(verdict_of(difference + "0.5}") == ClaimVerdict::open);
  CHECK(verdict_of(R"({"kind": "order", "metric": "speed", "arms": ["b", "c", "a", "ar"]})") ==
        ClaimVerdict::confirmed);
  CHECK(verdict_of(R"({"kind": "order", "metric": "speed", "arms": ["b", "a", "c"]})") ==
        ClaimVerdict::refuted);
  CHECK(
      verdict_of(
          R"({"kind": "trend", "metric": "speed", "along": ["ar", "a", "c"], "direction": "rises"})") ==
      ClaimVerdict::confirmed);
  CHECK(
      verdict_of(
          R"({"kind": "trend", "metric": "speed", "along": ["ar", "a", "c"], "direction": "falls"})") ==
      ClaimVerdict::refuted);
  CHECK(
      verdict_of(
          R"({"kind": "trend", "metric": "speed", "along": [["b", "ar"], ["c", "ar"], ["a", "ar"]], "direction": "falls"})") ==
      ClaimVerdict::confirmed);
  CHECK(
      verdict_of(
          R"({"kind": "optimum", "metric": "speed", "along": ["a", "b", "c", "ar"], "among": ["b", "c"]})") ==
      ClaimVerdict::confirmed);
  CHECK(
      verdict_of(
          R"({"kind": "optimum", "metric": "speed", "along": ["a", "b", "c", "ar"], "among": ["a", "c"]})") ==
      ClaimVerdict::refuted);
  const std::string identity =
      R"({"kind": "identity", "metric": "identical", "of": "a", "from": "ar", "op": ">=", "than": )";
  Simulated other;
  CHECK(verdict_of(identity + "1}") == ClaimVerdict::confirmed);
  other.same = 39;
  CHECK(verdict_of(identity + "1}", other) == ClaimVerdict::refuted);
  other.same = 20;
  CHECK(verdict_of(identity + "0.9}", other) == ClaimVerdict::refuted);
  CHECK(verdict_of(identity + "0.3}", other) == ClaimVerdict::confirmed);
}

TEST_CASE("A claim holds on each dataset, or on those that it names", "[claims]") {
  Simulated evidence;
  evidence.on_race = 0.6;
  const std::string ratio =
      R"({"kind": "ratio", "metric": "speed", "of": "a", "over": "ar", "op": ">", "than": 1.5)";
  CHECK(verdict_of(ratio + "}", evidence) == ClaimVerdict::refuted);
  const Claim on_squad = claim_of(ratio + R"(, "in": ["squad"]})");
  const ClaimFinding squad = test_claim(on_squad, "small", evidence);
  CHECK(squad.verdict == ClaimVerdict::confirmed);
  CHECK(squad.qualifiers.text() == "scaled");
  const Claim on_both = claim_of(ratio + "}");
  const ClaimFinding both = test_claim(on_both, "small", evidence);
  CHECK(both.parts.size() == 2);
  CHECK(both.parts[0].verdict == ClaimVerdict::confirmed);
  CHECK(both.parts[1].verdict == ClaimVerdict::refuted);
  CHECK(both.qualifiers.text() == "stand-in, scaled");
  CHECK(both.unexpected());
  CHECK(!squad.unexpected());
  CHECK(
      verdict_of(
          R"({"kind": "order", "metric": "speed", "of": "a", "over": "ar", "datasets": ["squad", "race"]})",
          evidence) == ClaimVerdict::confirmed);
  CHECK(
      verdict_of(
          R"({"kind": "order", "metric": "speed", "of": "a", "over": "ar", "datasets": ["race", "squad"]})",
          evidence) == ClaimVerdict::refuted);
}

TEST_CASE("A claim may be about categories", "[claims]") {
  const Claim each = claim_of(
      R"({"kind": "bound", "metric": "threads", "of": "a", "each": "category", "in": ["squad"], "op": ">=", "than": 2.5})");
  const ClaimFinding finding = test_claim(each, "small", Simulated{});
  CHECK(finding.parts.size() == 2);
  CHECK(finding.parts[0].label == "squad, code");
  CHECK(finding.verdict == ClaimVerdict::refuted);
  CHECK(
      verdict_of(
          R"({"kind": "bound", "metric": "threads", "of": "a", "categories": [["code"]], "op": ">=", "than": 2.5})") ==
      ClaimVerdict::confirmed);
  CHECK(
      verdict_of(
          R"({"kind": "order", "metric": "threads", "of": "a", "categories": [["code"], ["math"]], "in": ["squad"]})") ==
      ClaimVerdict::confirmed);
  CHECK(
      verdict_of(
          R"({"kind": "order", "metric": "threads", "of": "a", "categories": [["math"], ["code"]], "in": ["squad"]})") ==
      ClaimVerdict::refuted);
}

TEST_CASE("An order with a missing link is refuted by the others, or stays open", "[claims]") {
  const Claim order = claim_of(
      R"({"kind": "order", "metric": "speed", "arms": ["b", "c", "a", "ar"], "in": ["squad"]})");
  Simulated evidence;
  CHECK(test_claim(order, "small", evidence).verdict == ClaimVerdict::confirmed);
  evidence.lacking = "c";
  const ClaimFinding between = test_claim(order, "small", evidence);
  CHECK(between.verdict == ClaimVerdict::open);
  REQUIRE(between.parts.size() == 2);
  CHECK(between.parts[0].label == "squad, b > a");
  CHECK(between.parts[1].label == "squad, a > ar");
  CHECK(between.why().find("lacks network c") != std::string::npos);
  evidence.levels["a"] = 4;
  CHECK(test_claim(order, "small", evidence).verdict == ClaimVerdict::refuted);
  evidence = {};
  for (const char* end : {"b", "ar"}) {
    evidence.lacking = end;
    const ClaimFinding finding = test_claim(order, "small", evidence);
    CHECK(finding.verdict == ClaimVerdict::open);
    CHECK(finding.parts.size() == 2);
  }
}

TEST_CASE("A missing measurement makes a claim not testable, and is named", "[claims]") {
  Simulated evidence;
  evidence.lacking = "a";
  const Claim claim = claim_of(
      R"({"kind": "ratio", "metric": "speed", "of": "a", "over": "ar", "op": ">", "than": 1})");
  const ClaimFinding finding = test_claim(claim, "small", evidence);
  CHECK(finding.verdict == ClaimVerdict::not_testable);
  CHECK(finding.lacks == std::vector<std::string>{"network a"});
  CHECK(!finding.unexpected());
  CHECK(finding.why() == "lacks network a");
  CHECK(verdict_of(R"({"kind": "optimum", "metric": "speed", "along": ["a", "b"], "among": ["a"]})",
                   evidence) == ClaimVerdict::not_testable);
}

TEST_CASE("A verdict says what it is based on", "[claims]") {
  const auto why = [](const char* test) {
    const Claim claim = claim_of(test);
    return test_claim(claim, "small", Simulated{}).why();
  };
  CHECK(
      why(R"({"kind": "ratio", "metric": "speed", "of": "a", "over": "ar", "op": ">", "than": 1.5})") ==
      "above 1.5: squad; race");
  CHECK(
      why(R"({"kind": "ratio", "metric": "speed", "of": "a", "over": "ar", "op": ">", "than": 2, "in": ["squad"]})") ==
      "may or may not be above 2: squad");
  CHECK(
      why(R"({"kind": "difference", "metric": "headline", "of": "a", "from": "ar", "op": "within", "than": 0.4})") ==
      "not within 0.4 of 0: squad; race");
}

TEST_CASE("A loss of time above the machine's balance refutes nothing", "[claims]") {
  const std::string test =
      R"({"kind": "ratio", "metric": "speed", "of": ["ARM"], "over": "ar", "op": ">", "than": 3)";
  const auto of = [&](std::string text, const char* arm, const char* end) {
    const Claim claim = claim_of(text.replace(text.find("ARM"), 3, arm) + end);
    return test_claim(claim, "small", Simulated{});
  };
  const char* when = R"(, "when": {"rows_per_pass": {"at_most": "balance"}}})";
  CHECK(of(test, "wide", "}").verdict == ClaimVerdict::refuted);
  const ClaimFinding open = of(test, "wide", when);
  CHECK(open.verdict == ClaimVerdict::open);
  CHECK(open.note.find("50 rows") != std::string::npos);
  CHECK(of(test, "a", when).verdict == ClaimVerdict::refuted);
  // It excuses itself, and no other arm.
  const ClaimFinding both = of(test, "wide\", \"a", when);
  CHECK(both.verdict == ClaimVerdict::refuted);
  CHECK(both.note.empty());
  const std::string best =
      R"({"kind": "optimum", "metric": "speed", "along": ["ARM", "ar"], "among": ["wide"])";
  CHECK(of(best, "wide", "}").verdict == ClaimVerdict::refuted);
  CHECK(of(best, "wide", when).verdict == ClaimVerdict::open);
}

TEST_CASE("A warning that makes a number unfit leaves the claim open, others are only shown",
          "[claims]") {
  const Claim claim = claim_of(
      R"({"kind": "ratio", "metric": "speed", "of": ["a", "b"], "over": "ar", "op": ">", "than": 1.5})");
  const auto of = [&](Effect effect, std::map<std::string, double> again = {}) {
    Simulated evidence;
    evidence.warned = {{"code", effect}};
    evidence.levels_again = std::move(again);
    return test_claim(claim, "small", evidence);
  };
  const ClaimFinding beside = of(Effect::beside);
  CHECK(beside.verdict == ClaimVerdict::confirmed);
  REQUIRE(beside.caveats.size() == 2);  // of each dataset
  CHECK(beside.caveats[0].code == "code");
  CHECK(beside.caveats[0].dataset == "squad");
  const ClaimFinding unfit = of(Effect::unfit);
  CHECK(unfit.verdict == ClaimVerdict::open);
  CHECK(unfit.why() ==
        "above 1.5: squad, b; race, b. unfit to decide it: code, a on squad: found; code, a on "
        "race: found");
  CHECK(of(Effect::undisturbed).verdict == ClaimVerdict::open);  // nothing else was measured
  CHECK(of(Effect::undisturbed, {{"ar", 1}, {"a", 1.9}, {"b", 3}}).verdict ==
        ClaimVerdict::confirmed);
  const ClaimFinding other = of(Effect::undisturbed, {{"ar", 1}, {"a", 1.5}, {"b", 3}});
  CHECK(other.verdict == ClaimVerdict::open);
  CHECK(other.why().find("the undisturbed measurements alone give 1.50 [1.47, 1.53]") !=
        std::string::npos);
  CHECK(of(Effect::by_token, {{"ar", 1}, {"a", 1.2}, {"b", 3}})
            .why()
            .find("per token, the ratio is") != std::string::npos);
  // A claim refuted by a fit number stays refuted, whatever else is unfit.
  Simulated slow;
  slow.warned = {{"code", Effect::unfit}};
  slow.levels["b"] = 1.2;
  CHECK(test_claim(claim, "small", slow).verdict == ClaimVerdict::refuted);
}

TEST_CASE("A best arm that a warning makes unfit leaves the claim open", "[claims]") {
  const Claim claim = claim_of(
      R"({"kind": "optimum", "metric": "speed", "along": ["a", "b", "ar"], "among": ["b"], "in": ["squad"]})");
  Simulated evidence;
  CHECK(test_claim(claim, "small", evidence).verdict == ClaimVerdict::confirmed);
  evidence.warned = {{"code", Effect::unfit}};
  CHECK(test_claim(claim, "small", evidence).verdict == ClaimVerdict::open);
  evidence.warned = {{"code", Effect::undisturbed}};
  evidence.levels_again = {{"ar", 1}, {"a", 2}, {"b", 2.8}};
  CHECK(test_claim(claim, "small", evidence).verdict == ClaimVerdict::confirmed);
  evidence.levels_again["a"] = 3;
  CHECK(test_claim(claim, "small", evidence).verdict == ClaimVerdict::open);
}

TEST_CASE("A claim that lacks a dataset is refuted or open, never confirmed", "[claims]") {
  const std::string test =
      R"({"kind": "ratio", "metric": "speed", "of": "a", "over": "ar", "op": ">", "in": ["squad", "xsum"], "than": )";
  class WithoutXsum : public Simulated {
    Found ratio(const Scope& place, const std::string& arm, const std::string& other,
                const std::string& metric) const override {
      if (place.dataset == "xsum") return {std::nullopt, "dataset xsum"};
      return Simulated::ratio(place, arm, other, metric);
    }
  };
  const Claim holds = claim_of(test + "1.5}"), fails = claim_of(test + "2.5}");
  const ClaimFinding open = test_claim(holds, "small", WithoutXsum{});
  CHECK(open.verdict == ClaimVerdict::open);
  CHECK(open.why() == "above 1.5: squad. lacks dataset xsum");
  CHECK(test_claim(fails, "small", WithoutXsum{}).verdict == ClaimVerdict::refuted);
}

TEST_CASE("A claim of several tests needs all of them", "[claims]") {
  const auto of = [](double most) {
    return claim_of(
        R"([{"label": "faster", "kind": "ratio", "metric": "speed", "of": "a", "over": "ar", "op": ">", "than": 1},)"
        R"( {"label": "by less", "kind": "ratio", "metric": "speed", "of": "a", "over": "ar", "op": "<", "than": )" +
        std::to_string(most) + "}]");
  };
  const Claim three = of(3), two = of(2), less = of(1.5);
  const ClaimFinding both = test_claim(three, "small", Simulated{});
  CHECK(both.verdict == ClaimVerdict::confirmed);
  REQUIRE(both.parts.size() == 4);
  CHECK(both.parts[0].label == "squad, faster");
  CHECK(both.parts[3].label == "race, by less");
  CHECK(both.why() ==
        "above 1: squad, faster; race, faster. below 3: squad, by less; race, by less");
  CHECK(test_claim(two, "small", Simulated{}).verdict == ClaimVerdict::open);
  CHECK(test_claim(less, "small", Simulated{}).verdict == ClaimVerdict::refuted);
  for (const char* label : {"", R"("label": "faster",)"})  // none, and that of another test
    CHECK_THROWS_AS(
        claim_of(
            R"([{"label": "faster", "kind": "bound", "metric": "speed", "of": "a", "op": ">", "than": 1}, {)" +
            std::string(label) +
            R"( "kind": "bound", "metric": "speed", "of": "a", "op": "<", "than": 9}])"),
        ConfigError);
}

TEST_CASE("An optimum is among the arms that it is searched along", "[claims]") {
  const auto among = [](const std::string& arms) {
    return R"({"kind": "optimum", "metric": "speed", "along": ["a", "b"], "among": )" + arms + "}";
  };
  CHECK_THROWS_WITH(claim_of(among(R"(["A"])")), Catch::Contains("has 'A', expected arms of"));
  CHECK_THROWS_WITH(claim_of(among("[]")), Catch::Contains("is empty, expected arms of 'along'"));
}

TEST_CASE("Claims that cannot fail are marked, and counted separately", "[claims]") {
  const std::string test =
      R"({"kind": "ratio", "metric": "speed", "of": "a", "over": "ar", "op": ">", "than": 1.5})";
  const Claim certain = claim_of(test, R"(confirmed", "by_construction": "it forks)");
  const Claim other =
      claim_of(test, R"(confirmed", "by_construction": {"shape": "it forks"}, "where": ")");
  const ClaimFinding cannot = test_claim(certain, "small", Simulated{}),
                     may = test_claim(other, "small", Simulated{});
  CHECK(cannot.by_construction() == "it forks");
  CHECK(cannot.why().ends_with("it cannot fail: it forks"));
  CHECK(may.by_construction().empty());
  CHECK(counts_text({&cannot, &may}) ==
        "claims: 1 confirmed; apart from these, that cannot fail: 1 confirmed");
  CHECK(counts_text({&may, &may}) == "claims: 2 confirmed");
  Simulated broken;
  broken.warned = {{"broken", Effect::unfit}};
  broken.warned_arm = "a";
  const ClaimFinding undecided = test_claim(certain, "small", broken);
  CHECK(undecided.verdict == ClaimVerdict::open);
  CHECK(undecided.why().ends_with("it is not decided yet, but it cannot fail: it forks"));
  CHECK(counts_text({}) == "nothing is claimed");
}

TEST_CASE("An identity says how many answers it covers, and by which rule", "[claims]") {
  Simulated evidence;
  const Claim claim = claim_of(
      R"({"kind": "identity", "metric": "identical", "of": ["a", "b"], "from": "ar", "op": ">=", "than": 1, "in": ["squad"]})");
  const ClaimFinding all = test_claim(claim, "small", evidence);
  CHECK(all.why() ==
        "the baseline's answers throughout, except for equal logits: squad, a; squad, b");
  REQUIRE(all.parts.size() == 2);
  CHECK(all.parts[0].identity->compared == 40);
  CHECK(all.parts[0].measured.value.low > 0.9);  // of Wilson's interval, which does not decide
  evidence.same = 39;
  CHECK(test_claim(claim, "small", evidence).why() ==
        "not the baseline's answers throughout, except for equal logits: squad, a; squad, b");
  const Claim most = claim_of(
      R"({"kind": "identity", "metric": "identical", "of": "a", "from": "ar", "op": ">=", "than": 0.5, "in": ["squad"]})");
  CHECK(test_claim(most, "small", evidence).why() ==
        "a share of at least 0.5 of the baseline's answers: squad");
}

TEST_CASE("An identity of answers that are mostly broken decides nothing", "[claims]") {
  const Claim claim = claim_of(
      R"({"kind": "identity", "metric": "identical", "of": "a", "from": "ar", "op": ">=", "than": 1, "in": ["squad"]})");
  for (const char* arm : {"a", "ar"}) {  // also those that it is compared with
    Simulated evidence;
    evidence.warned = {{"broken", Effect::unfit}};
    evidence.warned_arm = arm;
    const ClaimFinding finding = test_claim(claim, "small", evidence);
    CHECK(finding.verdict == ClaimVerdict::open);
    CHECK_THAT(finding.why(), Catch::Contains(std::string("unfit to decide it: broken, ") + arm));
  }
  CHECK(effect_of("broken", Quantity::identity) == Effect::unfit);
}

TEST_CASE("The verdict of a bound has the published numbers and the room that is left",
          "[claims]") {
  class Bounds : public Simulated {
   public:
    Standing standing = Standing::at_most;
    Found ratio(const Scope& place, const std::string& arm, const std::string& other,
                const std::string& metric) const override {
      Found found = Simulated::ratio(place, arm, other, metric);
      found.measured->standing = standing;
      return found;
    }
    Qualifiers qualifiers(const std::string&) const override { return {.bound = true}; }
  };
  const auto of = [](const char* published, Standing standing = Standing::at_most) {
    const Claim claim = claim_of(
        R"({"kind": "ratio", "metric": "speed", "of": "b", "over": "ar", "op": ">", "than": 1, "in": ["squad"]})",
        std::string("not contradicted\", \"published\": ") + published + ", \"where\": \"");
    Bounds bounds;
    bounds.standing = standing;
    const ClaimFinding finding = test_claim(claim, "small", bounds);
    CHECK(!finding.unexpected());
    CHECK(finding.qualifiers.text() == "bound");
    CHECK(finding.verdict ==
          (standing == Standing::at_most ? ClaimVerdict::not_contradicted : ClaimVerdict::open));
    return finding.why();
  };
  CHECK(of(R"({"least": 1.26, "most": 2.08})") ==
        "the bound allows a value above 1: squad. at most 3.00, published 1.26 to 2.08: the bound "
        "leaves room");
  CHECK(of(R"({"least": 2.2, "most": 8})").find("for only a part of that") != std::string::npos);
  CHECK(of(R"({"least": 5, "most": 8})").find("more than the bound leaves room for") !=
        std::string::npos);
  CHECK(of(R"({"least": 5, "most": 8})", Standing::nothing) ==
        "a ratio of two bounds is no bound: squad. the ratio of bounds is 3.00, published 5.00 to "
        "8.00");
}

TEST_CASE("Published numbers are those of the dataset and network that a claim is tested on",
          "[claims]") {
  const char* test =
      R"({"kind": "ratio", "metric": "speed", "of": "b", "over": "ar", "op": ">", "than": 1})";
  const auto with = [&](const std::string& published) {
    return claim_of(test, "confirmed\", \"published\": " + published + ", \"where\": \"");
  };
  Claim claim = with(R"({"by": {"squad": {"qwen3-8b": 4.35, "phi-4": 7.19, "qwen3-4b": 4.6}}})");
  using Numbers = std::vector<std::pair<std::string, Json>>;
  const auto of = [&](const Evidence& evidence) {
    return test_claim(claim, "small", evidence).published();
  };
  const Numbers all{{"squad", {{"least", 4.35}, {"most", 7.19}}}},
      one{{"squad", {{"least", 4.6}, {"most", 4.6}}}};
  CHECK(claim.datasets == std::set<std::string>{"squad"});
  CHECK(test_claim(claim, "small", Simulated()).qualifiers.other_data);  // it is on RACE, too
  CHECK(of(Simulated()) == all);
  claim.networks["small"] = "qwen3-4b";
  CHECK(of(Simulated()) == one);
  claim.networks["small"] = "another";
  CHECK(of(Simulated()) == all);
  CHECK(of(NoEvidence({{}, {{"squad", "it"}}})) == all);

  class Bounds : public Simulated {
   public:
    std::vector<std::string> places() const override {
      return {"squad, qwen3-8b", "squad, qwen3-4b"};
    }
    std::string dataset_of(const std::string& place) const override { return place.substr(0, 5); }
    std::string network_of(const std::string& place) const override { return place.substr(7); }
    Found ratio(const Scope& place, const std::string& arm, const std::string& other,
                const std::string& metric) const override {
      Found found = Simulated::ratio(place, arm, other, metric);
      found.measured->standing = Standing::at_most;
      return found;
    }
    Qualifiers qualifiers(const std::string&) const override { return {.bound = true}; }
  };
  CHECK(of(Bounds()) == Numbers{{"squad", {{"least", 4.35}, {"most", 4.6}}}});
  claim = with(R"({"by": {"squad": {"qwen3-8b": 2.2, "qwen3-4b": 4.6}}})");
  const std::string why = test_claim(claim, "small", Bounds()).why();
  CHECK(why.ends_with(
      "squad, qwen3-4b: at most 3.00, published 4.60: more than the bound leaves room for; other "
      "answers, or a baseline far from its roofline, give more. squad, qwen3-8b: at most 3.00, "
      "published 2.20: the bound leaves room"));
  for (const char* wrong : {R"({"by": {"squad": 2}})", R"({"by": {"squad": {"phi-4": "2"}}})",
                            R"({"by": {"narrativeqa": {"phi-4": 2}}})"})
    CHECK_THROWS_AS(with(wrong), ConfigError);
}

namespace {

/// Measures everything that is asked for.
class Everything : public Evidence {
 public:
  explicit Everything(std::vector<std::string> datasets) : datasets_(std::move(datasets)) {}
  std::vector<std::string> places() const override { return datasets_; }
  std::vector<std::string> categories(const std::string&) const override { return {"code", ""}; }
  Found level(const Scope&, const std::string&, const std::string&) const override {
    return {Measured{{2, 1.9, 2.1}, 20, false, false}, ""};
  }
  Found ratio(const Scope& place, const std::string& arm, const std::string&,
              const std::string& metric) const override {
    return level(place, arm, metric);
  }
  Found difference(const Scope& place, const std::string& arm, const std::string&,
                   const std::string& metric) const override {
    return level(place, arm, metric);
  }
  std::optional<IdentityCount> identity(const Scope&, const std::string&, const std::string&,
                                        const std::string&) const override {
    return IdentityCount{20, 20, 0};
  }
  Qualifiers qualifiers(const std::string&) const override { return {}; }
  double balance() const override { return std::nan(""); }

 private:
  std::vector<std::string> datasets_;
};

}  // namespace

TEST_CASE("Each part of each claim of the papers has its own label", "[claims]") {
  for (const PaperItem& item : read_papers().items)
    for (const Claim& claim : item.claims)
      for (const std::string& scale : claim.scales) {
        std::vector<std::string> datasets;
        const Json named = item.scale(scale).value("datasets", Json::array({"data"}));
        for (const Json& one : named) datasets.push_back(one.get<std::string>());
        const ClaimFinding finding = test_claim(claim, scale, Everything(datasets));
        INFO(item.name << ", " << claim.id << ", " << scale);
        CHECK(!finding.parts.empty());
        std::set<std::string> labels;
        for (const auto& part : finding.parts) {
          INFO(part.label);
          CHECK(!part.label.empty());
          CHECK(labels.insert(part.label).second);
        }
      }
}

TEST_CASE("A claim that cannot be tested is refused with what was expected", "[claims]") {
  for (const char* test :
       {R"({"kind": "ratios", "metric": "speed"})",
        R"({"kind": "ratio", "metric": "speed", "of": "a", "over": "ar", "op": "=", "than": 1})",
        R"({"kind": "ratio", "metric": "speed", "of": "a", "op": ">", "than": 1})",
        R"({"kind": "order", "metric": "speed", "arms": ["a"]})",
        R"({"kind": "trend", "metric": "speed", "along": ["a", "b"], "direction": "up"})",
        R"({"kind": "bound", "metric": "speed", "of": "a", "op": ">", "than": 1, "wen": 1})"})
    CHECK_THROWS_AS(claim_of(test), ConfigError);
}

TEST_CASE("The papers' files can be read, and name 78 tables and figures", "[claims]") {
  const PaperCatalogue papers = read_papers();
  CHECK(papers.items.size() == 58);
  CHECK(papers.pictures.size() == 20);
  CHECK(find_item(papers, "ippd", "t5").name == "ippd-table5");
  CHECK(find_item(papers, "space", "Figure 8").name == "space-figure8");
  CHECK_THROWS_AS(find_item(papers, "hpd", "figure1"), ConfigError);
  CHECK_THROWS_AS(find_item(papers, "hpd", "table9"), ConfigError);
  for (const PaperItem& item : papers.items)
    for (const auto& [scale, spec] : item.scales.items()) CHECK(item.scale(scale).is_object());
}

}  // namespace pardec
