#include "src/reproduction/pairing.hpp"

#include <cmath>

#include "tests/support/catch.hpp"

namespace pardec {

namespace {

/// Single examples, each in its own cluster, with a score each.
std::vector<QuantityPart> singles(const std::vector<std::pair<std::string, double>>& scores) {
  std::vector<QuantityPart> parts;
  for (const auto& [name, score] : scores) parts.push_back({{name}, {name}, "", score, 1});
  return parts;
}

}  // namespace

TEST_CASE("Examples of only one arm are left out of both", "[pairing]") {
  // Both arms are equal where both answered; only the other arm has two easy examples.
  const auto arm = singles({{"a", 1}, {"b", 0}, {"c", 1}});
  const auto other = singles({{"a", 1}, {"b", 0}, {"c", 1}, {"d", 1}, {"e", 1}});
  const PairedParts pair = paired(arm, other);
  CHECK(pair.answers == 3);
  CHECK(pair.left_out == 2);
  CHECK(pair.units == 3);
  CHECK(difference_of(arm, other, std::nullopt).value.estimate == 0);
  CHECK(ratio_of(arm, other, std::nullopt).value.estimate == 1);
  CHECK(level_of(other, std::nullopt).value.estimate == Approx(4.0 / 5));
}

TEST_CASE("Arms that share no answer give no comparison", "[pairing]") {
  const Measured none = difference_of(singles({{"a", 1}}), singles({{"b", 1}}), std::nullopt);
  CHECK(none.units == 0);
  CHECK(std::isnan(none.value.estimate));
  CHECK(std::isnan(ratio_of({}, singles({{"b", 1}}), std::nullopt).value.estimate));
}

TEST_CASE("A stack is in or out as a whole, and one unit of both arms", "[pairing]") {
  // Passes of jobs: the arm takes a and b together, and c and d; the other takes each alone,
  // without d.
  const std::vector<QuantityPart> arm = {{{"a", "b"}, {"a", "b"}, "", 12, 4},
                                         {{"c", "d"}, {"c", "d"}, "", 90, 1}};
  const auto other = singles({{"a", 3}, {"b", 3}, {"c", 50}});
  const PairedParts pair = paired(arm, other);
  CHECK(pair.answers == 2);
  CHECK(pair.left_out == 2);
  CHECK(pair.units == 1);
  CHECK(pair.arm.size() == 1);
  CHECK(pair.other.size() == 2);
  CHECK(ratio_of(arm, other, std::nullopt).value.estimate == Approx(12.0 / 4 / (6.0 / 2)));
}

TEST_CASE("Repeats of an answer count by their mean", "[pairing]") {
  const auto arm = singles({{"a", 1}, {"a", 0}, {"a", 0}, {"b", 1}});
  const auto other = singles({{"a", 0}, {"b", 1}});
  const PairedParts pair = paired(arm, other);
  CHECK(pair.arm.size() == 2);
  CHECK(difference_of(arm, other, std::nullopt).value.estimate == Approx(1.0 / 6));
}

TEST_CASE("Examples of one text are one unit", "[pairing]") {
  std::vector<QuantityPart> arm;
  for (int i = 0; i < 12; ++i)
    arm.push_back({{std::to_string(i)}, {std::to_string(i / 4)}, "", i % 3 == 0 ? 1.0 : 0.0, 1});
  CHECK(paired(arm, arm).units == 3);
  CHECK(level_of(arm, std::nullopt).units == 3);
}

}  // namespace pardec
