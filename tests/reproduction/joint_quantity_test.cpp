// Intervals of quantities that are computed from several measurements.
#include "src/reproduction/joint_quantity.hpp"

#include <cmath>
#include <string>

#include "src/support/rng.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

using Levels = std::vector<std::vector<UnitPart>>;

/// Answers of an arm with parallel stages and of a sequential one, whose speeds follow the law
/// except for `noise` in each measurement. The share of the answers with a stage is 0.6.
Levels answers(Rng& rng, int count, double noise) {
  Levels levels(6);
  for (int a = 0; a < count; ++a) {
    const std::string unit = std::to_string(a);
    const bool parallel = rng.uniform() < 0.6;
    const double dp = 0.5 + 0.3 * rng.uniform(), rate = 2 + rng.uniform();
    const auto measured = [&](double value) { return value * std::exp(noise * rng.normal()); };
    const double time = parallel ? 1 - dp * (1 - 1 / rate) : 1;
    levels[kTps].push_back({unit, measured(100 / time), 1});
    levels[kSequentialTps].push_back({unit, measured(100), 1});
    levels[kPpd].push_back({unit, parallel ? 1.0 : 0.0, 1});
    if (!parallel) continue;
    levels[kParallelTps].push_back({unit, measured(100 * rate), 1});
    levels[kDp].push_back({unit, dp, 1});
    levels[kAbn].push_back({unit, 4, 1});
  }
  return levels;
}

}  // namespace

TEST_CASE("the interval about a law includes the uncertainty of its prediction") {
  Rng rng(3);
  const Levels many = answers(rng, 400000, 0);
  const double truth = joint_quantity(many, false, law_of_stages).value.estimate;
  int joint = 0, of_speedup = 0;
  constexpr int kTrials = 1000;
  for (int i = 0; i < kTrials; ++i) {
    const Levels levels = answers(rng, 24, 0.05);
    const Measured law = joint_quantity(levels, false, law_of_stages);
    joint += law.value.low <= truth && truth <= law.value.high;
    // As if the prediction were known: the speedup's own interval, divided by it.
    const Measured speedup = joint_quantity(levels, false, [](std::span<const double> level) {
      return level[kTps] / level[kSequentialTps];
    });
    const double predicted = speedup.value.estimate / (law.value.estimate + 1);
    of_speedup +=
        speedup.value.low / predicted - 1 <= truth && truth <= speedup.value.high / predicted - 1;
  }
  INFO("joint " << joint << ", of the speedup alone " << of_speedup << " of " << kTrials);
  CHECK(joint > 0.92 * kTrials);
  CHECK(joint < 0.98 * kTrials);
  CHECK(std::abs(joint - 0.95 * kTrials) < std::abs(of_speedup - 0.95 * kTrials));
}

TEST_CASE("a joint quantity has the units of both arms") {
  Rng rng(5);
  Levels levels = answers(rng, 30, 0);
  const Measured both = joint_quantity(levels, true, stage_speedup_per_branch);
  CHECK(both.units == 30);
  CHECK(both.logarithmic);
  CHECK(both.value.estimate > 2.0 / 4);
  CHECK(both.value.estimate < 3.0 / 4);
  levels[kTps].push_back({"alone", 1e6, 1});
  levels[kParallelTps].push_back({"alone", 1e6, 1});
  const Measured same = joint_quantity(levels, true, stage_speedup_per_branch);
  CHECK(same.units == 30);
  CHECK(same.value.estimate == both.value.estimate);
  CHECK(same.value.high == both.value.high);
}

TEST_CASE("one answer with a parallel stage gives no interval") {
  Levels levels(6);
  for (const char* unit : {"a", "b", "c"}) {
    levels[kTps].push_back({unit, 100, 1});
    levels[kSequentialTps].push_back({unit, 90, 1});
    levels[kPpd].push_back({unit, 0, 1});
  }
  levels[kPpd].front().numerator = 1;
  levels[kParallelTps].push_back({"a", 200, 1});
  levels[kDp].push_back({"a", 0.5, 1});
  levels[kAbn].push_back({"a", 3, 1});
  const Measured law = joint_quantity(levels, false, law_of_stages);
  CHECK(std::isfinite(law.value.estimate));
  CHECK(std::isnan(law.value.low));
}
