#include "metrics/attribute_f1.hpp"

#include "src/support/error.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;
using Predictions = std::vector<AttributePrediction>;

namespace {

std::vector<long> five(const AttributeCounts& c) { return {c.nn, c.nv, c.vn, c.vc, c.vw}; }

std::vector<long> five(std::vector<std::string> references, std::optional<std::string> prediction) {
  return five(count({"Mug", "Color", true, std::move(references), std::move(prediction)}));
}

const std::vector<long> kNN{1, 0, 0, 0, 0}, kNV{0, 1, 0, 0, 0}, kVN{0, 0, 1, 0, 0},
    kVC{0, 0, 0, 1, 0}, kVW{0, 0, 0, 0, 1};

}  // namespace

TEST_CASE("one prediction falls in one of the five counts", "[metrics]") {
  CHECK(five({}, std::nullopt) == kNN);
  CHECK(five({}, "Red") == kNV);
  CHECK(five({"Red"}, std::nullopt) == kVN);
  CHECK(five({"Red"}, "Red") == kVC);
  CHECK(five({"Red"}, "Blue") == kVW);
  CHECK(five({"Red", "Blue"}, "Blue") == kVC);
}

TEST_CASE("strings are compared as ExtractGPT compares them", "[metrics]") {
  CHECK(five({" Red "}, "Red") == kVC);  // references are stripped,
  CHECK(five({"Red"}, " Red") == kVW);   // predictions are not,
  CHECK(five({"Red"}, "red") == kVW);    // and case counts
  CHECK(five({"Red"}, "") == kVW);       // the reader of the answer has already made "" absent
  CHECK(five({}, "") == kNV);
  CHECK(five({"Red"}, "n/a") == kVN);
  CHECK(five({"Red"}, "None") == kVN);
  CHECK(five({}, "n/a") == kNN);
  CHECK(five({"Red"}, "N/A") == kVW);
  CHECK(five({"Red"}, "none") == kVW);
  CHECK(five({"n/a"}, std::nullopt) == kNN);
  CHECK(five({"n/a", "Red"}, "Red") == kNV);  // the first reference decides
  CHECK(five({"Red", "n/a"}, std::nullopt) == kVN);
  CHECK(five({"Red", "n/a"}, "Red") == kVC);
}

TEST_CASE("precision, recall and F1 of counts", "[metrics]") {
  const AttributeCounts counts{.nn = 50, .nv = 2, .vn = 3, .vc = 6, .vw = 1};
  CHECK(counts.precision() == Approx(6.0 / 9).epsilon(1e-15));
  CHECK(counts.recall() == Approx(6.0 / 10).epsilon(1e-15));
  CHECK(counts.f1() == Approx(12.0 / 19).epsilon(1e-15));
  CHECK(AttributeCounts{.nn = 4}.f1() == 0);
  CHECK(AttributeCounts{.vn = 4}.precision() == 0);
  CHECK(AttributeCounts{.nv = 4}.recall() == 0);
  CHECK(AttributeCounts{.nv = 1, .vn = 4}.f1() == 0);
}

TEST_CASE("micro sums over pairs, macro is their plain mean, pairs without any value are skipped",
          "[metrics]") {
  const Predictions predictions = {
      {"Mug", "Color", true, {"Red"}, "Red"},   {"Mug", "Color", true, {"Blue"}, "Blue"},
      {"Mug", "Color", true, {"Teal"}, "Red"},  {"Lamp", "Color", true, {"Red"}, std::nullopt},
      {"Mug", "Brand", true, {}, std::nullopt}, {"Mug", "Volume", false, {}, "1 l"},
  };
  const AttributeScores scores = extractgpt_f1(predictions);
  CHECK(five(scores.micro) ==
        std::vector<long>{0, 0, 1, 2, 1});  // Brand, with only nn, is not in it
  CHECK(scores.micro_precision == Approx(2.0 / 3).epsilon(1e-15));
  CHECK(scores.micro_recall == Approx(2.0 / 4).epsilon(1e-15));
  CHECK(scores.micro_f1 == Approx(4.0 / 7).epsilon(1e-15));
  CHECK(scores.macro_precision ==
        Approx((2.0 / 3 + 0) / 2).epsilon(1e-15));  // (Mug, Color) and (Lamp, Color)
  CHECK(scores.macro_recall == Approx((2.0 / 3 + 0) / 2).epsilon(1e-15));
  CHECK(scores.macro_f1 == Approx((2.0 / 3 + 0) / 2).epsilon(1e-15));
}

TEST_CASE("strict: unannotated values are absent", "[metrics]") {
  const Predictions predictions = {
      {"Mug", "Color", true, {"Red"}, "Red"},
      {"Mug", "Color", false, {}, "Red"},
      {"Mug", "Volume", false, {}, "1 l"},
      {"Mug", "Brand", false, {}, "n/a"},
      {"Mug",
       "Handle",
       false,
       {"Two"},
       std::nullopt},  // references without annotation do not count
  };
  CHECK(five(extractgpt_f1(predictions).micro) == kVC);
  const AttributeScores strict = strict_f1(predictions);
  CHECK(five(strict.micro) == std::vector<long>{0, 2, 0, 1, 0});
  CHECK(strict.micro_precision == Approx(1.0 / 3).epsilon(1e-15));
  CHECK(strict.micro_recall == 1);
  CHECK(strict.macro_precision == Approx((0.5 + 0) / 2).epsilon(1e-15));
  CHECK(strict.macro_recall == Approx(0.5).epsilon(1e-15));
  CHECK(strict.macro_f1 == Approx((2.0 / 3 + 0) / 2).epsilon(1e-15));
}

TEST_CASE("outcomes stored as letters give the same scores without the texts", "[metrics]") {
  const Predictions predictions = {
      {"Mug", "Color", true, {"Red"}, "Red"},    {"Mug", "Color", true, {"Red"}, "Blue"},
      {"Mug", "Brand", true, {}, "Orm"},         {"Mug", "Brand", true, {"Orm"}, std::nullopt},
      {"Lamp", "Color", true, {}, std::nullopt}, {"Lamp", "Color", false, {}, "Red"},
  };
  std::vector<AttributeOutcome> outcomes;
  std::vector<std::string> kept;
  for (const auto& prediction : predictions) {
    const AttributeOutcome one = outcome(prediction);
    kept.push_back(letters(one.counts));
    outcomes.push_back({one.category, one.attribute, one.annotated, counts_of(kept.back())});
  }
  CHECK(kept == std::vector<std::string>{"vc", "vw", "nv", "vn", "nn", "nv"});
  CHECK(five(extractgpt_f1(outcomes).micro) == five(extractgpt_f1(predictions).micro));
  CHECK(five(extractgpt_f1(outcomes).micro) == std::vector<long>{0, 1, 1, 1, 1});
  CHECK(five(strict_f1(outcomes).micro) == std::vector<long>{1, 2, 1, 1, 1});
  CHECK(strict_f1(outcomes).macro_f1 == strict_f1(predictions).macro_f1);
  CHECK_THROWS_AS(counts_of("cv"), ConfigError);
}

TEST_CASE("nothing to score gives zeros", "[metrics]") {
  CHECK(extractgpt_f1(Predictions{}).macro_f1 == 0);
  CHECK(extractgpt_f1(Predictions{}).micro_f1 == 0);
  CHECK(extractgpt_f1(Predictions{{"Mug", "Color", true, {}, std::nullopt}}).macro_precision == 0);
}
