// What is said first of a dataset.
#include "src/findings/headlines.hpp"

#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

ArmFinding arm(const char* label, const char* decoder, const char* network, double speedup) {
  ArmFinding finding;
  finding.run.run.label = label;
  finding.run.run.decoder = decoder;
  finding.run.run.model.hash = network;
  finding.run.run.dataset.name = "oa-mine";
  if (speedup > 0) {
    finding.baseline = 0;
    finding.speedup = Speedup{.ratio = {.estimate = speedup}, .blocks = 6};
  }
  return finding;
}

}  // namespace

TEST_CASE("the baseline's decoder on another network is no faster decoder") {
  Comparison comparison;
  comparison.arms = {arm("ar", "ar", "a", 0), arm("tuned-ar", "ar", "b", 3)};
  CHECK(headlines_of(comparison).empty());
  comparison.arms.push_back(arm("hpd", "hpd", "b", 2));
  REQUIRE(headlines_of(comparison).size() == 1);
  CHECK(headlines_of(comparison).front().best == &comparison.arms[2]);
  comparison.arms.push_back(arm("ar-16", "ar", "a", 2.5));  // on the same one it may be faster
  CHECK(headlines_of(comparison).front().best == &comparison.arms[3]);
}
