#include "src/findings/claims.hpp"

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

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
  double balance() const override { return 18; }

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

/// A claim as a file has it.
Claim claim_of(const std::string& test, const std::string& expect = "confirmed") {
  const auto file = std::filesystem::temp_directory_path() /
                    ("pardec_claims_test_" + std::to_string(::getpid()) + ".json");
  std::ofstream(file) << R"({"name": "p-table1",
    "paper": {"id": "hpd", "item": "Table 1", "class": "A", "measures": "speed"},
    "published": {"unit": "ratio", "source": "printed", "setting": {}, "keys": ["method"],
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

TEST_CASE("Claims of all kinds are decided by what was measured", "[claims]") {
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

TEST_CASE("A claim may be of categories", "[claims]") {
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

TEST_CASE("An order that lacks a link is refuted by the others, or stays open", "[claims]") {
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

TEST_CASE("What lacks makes a claim not testable, by name", "[claims]") {
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

TEST_CASE("A verdict says what it rests on", "[claims]") {
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
