#include "src/reproduction/verdicts.hpp"

#include "metrics/score_intervals.hpp"

#include <cmath>
#include <functional>
#include <map>

#include "src/support/error.hpp"
#include "src/support/rng.hpp"
#include "tests/support/catch.hpp"

namespace pardec {

namespace {

/// Speed of two arms over blocks of unequal length; the first is `ratio` times as fast.
Measured speed_ratio(Rng& rng, double ratio, int blocks = 16) {
  std::vector<BlockPair> pairs;
  for (int b = 0; b < blocks; ++b) {
    const double length = 1 + rng.uniform();
    pairs.push_back(
        {length * ratio * std::exp(0.05 * rng.normal()), length * std::exp(0.05 * rng.normal())});
  }
  return {ratio_of_totals(pairs), blocks, true, false};
}

/// A mean of examples.
Measured mean(Rng& rng, double level, int examples = 40) {
  std::vector<ScorePart> parts;
  for (int e = 0; e < examples; ++e) parts.push_back({e, 0, level + 0.2 * rng.normal(), 1});
  return {score_intervals({}, parts, examples, std::nullopt).method, examples, false, false};
}

/// The difference of two arms on the same examples, for a quantity without a range.
Measured difference(Rng& rng, double apart, int examples = 60) {
  std::vector<ScorePart> before, after;
  for (int e = 0; e < examples; ++e) {
    const double example = rng.uniform();
    before.push_back({e, 0, example + 0.03 * rng.normal(), 1});
    after.push_back({e, 0, example + apart + 0.03 * rng.normal(), 1});
  }
  return {score_intervals(before, after, examples, std::nullopt).difference, examples, false,
          false};
}

/// Speeds of points, each compared with each other one.
std::vector<std::vector<Measured>> optimum(Rng& rng, const std::vector<double>& own,
                                           const std::vector<double>& others) {
  std::vector<std::vector<Measured>> better;
  for (const double mine : own) {
    auto& row = better.emplace_back();
    for (const double other : others) row.push_back(speed_ratio(rng, mine / other));
  }
  return better;
}

using Trial = std::function<Decision(Rng&)>;

std::map<ClaimVerdict, double> shares(const Trial& trial, int trials = 300) {
  Rng rng(7);
  std::map<ClaimVerdict, double> counts;
  for (int i = 0; i < trials; ++i) counts[trial(rng).verdict] += 1.0 / trials;
  return counts;
}

/// On one side of the limit the claim is confirmed, on the other refuted. On the limit, neither
/// happens more often than the intervals err.
void check_sides(const Trial& right, const Trial& wrong, const Trial& even) {
  const auto yes = shares(right), no = shares(wrong), neither = shares(even);
  const auto of = [](const std::map<ClaimVerdict, double>& all, ClaimVerdict verdict) {
    return all.contains(verdict) ? all.at(verdict) : 0;
  };
  CHECK(of(yes, ClaimVerdict::confirmed) > 0.95);
  CHECK(of(yes, ClaimVerdict::refuted) == 0);
  CHECK(of(no, ClaimVerdict::refuted) > 0.95);
  CHECK(of(no, ClaimVerdict::confirmed) == 0);
  CHECK(of(neither, ClaimVerdict::open) > 0.9);
}

Limit limit(const char* op, double value) { return parse_limit(op, value, "test"); }

}  // namespace

TEST_CASE("A ratio is decided on either side of its limit", "[verdicts]") {
  const auto trial = [](double ratio) -> Trial {
    return [=](Rng& rng) {
      return decide(std::vector{speed_ratio(rng, ratio), speed_ratio(rng, ratio)}, limit(">", 1.5));
    };
  };
  check_sides(trial(1.7), trial(1.3), trial(1.5));
}

TEST_CASE("A bound is decided on either side of its limit", "[verdicts]") {
  const auto trial = [](double level) -> Trial {
    return [=](Rng& rng) { return decide(std::vector{mean(rng, level)}, limit(">=", 1.8)); };
  };
  check_sides(trial(2.0), trial(1.6), trial(1.8));
}

TEST_CASE("A difference is decided on either side of its limit", "[verdicts]") {
  const auto trial = [](const char* op, double than, double apart) -> Trial {
    return [=](Rng& rng) { return decide(std::vector{difference(rng, apart)}, limit(op, than)); };
  };
  check_sides(trial(">=", -0.02, 0.01), trial(">=", -0.02, -0.06), trial(">=", -0.02, -0.02));
  check_sides(trial("within", 0.03, 0.0), trial("within", 0.03, 0.07), trial("within", 0.03, 0.03));
  check_sides(trial("within", 0.03, 0.0), trial("within", 0.03, -0.07),
              trial("within", 0.03, -0.03));
}

TEST_CASE("Equal answers of few examples decide nothing about a score", "[verdicts]") {
  const auto equal = [](int examples) -> std::vector<Measured> {
    std::vector<ScorePart> parts;
    for (int e = 0; e < examples; ++e) parts.push_back({e, 0, 1, 1});
    return {{score_intervals(parts, parts, examples).difference, examples, false, false}};
  };
  for (const auto& [op, value] : {std::pair(">=", -0.05), std::pair("within", 0.05)})
    for (const int examples : {10, 24, 60, 75}) {
      INFO(op << " " << examples);
      CHECK(decide(equal(examples), limit(op, value)).verdict == ClaimVerdict::open);
    }
  CHECK(decide(equal(80), limit(">=", -0.05)).verdict == ClaimVerdict::confirmed);
}

TEST_CASE("Units that are all equal count as that many signs", "[verdicts]") {
  const auto alike = [](std::int64_t units) -> std::vector<Measured> {
    return {{{4, 4 - 1e-16, 4 + 1e-16}, units, true, false}};
  };
  VerdictRules rules;
  rules.fewest_units = 2;
  CHECK(decide(alike(5), limit(">", 3), rules).verdict == ClaimVerdict::open);  // 2 / 2^5 > .05
  CHECK(decide(alike(6), limit(">", 3), rules).verdict == ClaimVerdict::confirmed);
  CHECK(decide(alike(6), limit("<", 3), rules).verdict == ClaimVerdict::refuted);
  CHECK(decide(alike(6), limit(">=", 4), rules).verdict == ClaimVerdict::confirmed);
  const std::vector<Measured> computed = {{{4, 4, 4}, 0, true, true}};
  CHECK(decide(computed, limit(">", 3)).verdict == ClaimVerdict::confirmed);
}

TEST_CASE("An interval counts on the side of the limit", "[verdicts]") {
  const std::vector<Measured> wide_below = {{{0, -0.1, 0.01}, 50, false, false}};
  CHECK(decide(wide_below, limit(">=", -0.05)).verdict == ClaimVerdict::open);
  CHECK(decide(wide_below, limit("<=", 0.05)).verdict == ClaimVerdict::confirmed);
}

TEST_CASE("An order is decided on either side", "[verdicts]") {
  const auto trial = [](double a, double b, double c) -> Trial {
    return [=](Rng& rng) {
      return decide(std::vector{speed_ratio(rng, a / b), speed_ratio(rng, b / c)}, limit(">", 1));
    };
  };
  check_sides(trial(3, 2.5, 2), trial(3, 2, 2.5), trial(3, 2, 2));
}

TEST_CASE("A trend is decided on either side", "[verdicts]") {
  const auto trial = [](const std::vector<double>& speeds) -> Trial {
    return [=](Rng& rng) {
      std::vector<Measured> neighbours;
      for (size_t i = 0; i + 1 < speeds.size(); ++i)
        neighbours.push_back(speed_ratio(rng, speeds[i] / speeds[i + 1]));
      return decide(neighbours, limit(">", 1));
    };
  };
  check_sides(trial({2.4, 2.1, 1.8, 1.4}), trial({2.4, 2.1, 2.6, 1.4}),
              trial({2.4, 2.1, 1.8, 1.8}));
}

TEST_CASE("An optimum is decided on either side", "[verdicts]") {
  const auto trial = [](const std::vector<double>& own,
                        const std::vector<double>& others) -> Trial {
    return [=](Rng& rng) { return decide_optimum(optimum(rng, own, others)); };
  };
  check_sides(trial({2.0, 2.4}, {1.6, 2.1}), trial({2.0, 1.9}, {1.6, 2.4}),
              trial({2.4, 2}, {1.6, 2.4}));
}

TEST_CASE("An identity is refuted by one answer, except for ties", "[verdicts]") {
  const auto of = [](std::int64_t same, std::int64_t compared, std::int64_t ties) {
    return decide_identity(std::vector<IdentityCount>{{same, compared, ties}}).verdict;
  };
  CHECK(of(40, 40, 0) == ClaimVerdict::confirmed);
  CHECK(of(39, 40, 1) == ClaimVerdict::confirmed);
  CHECK(of(39, 40, 0) == ClaimVerdict::refuted);
  CHECK(of(9, 9, 0) == ClaimVerdict::open);
  CHECK(of(8, 9, 0) == ClaimVerdict::refuted);
  CHECK(decide_identity({}).verdict == ClaimVerdict::not_testable);
}

TEST_CASE("A bound refutes, and confirms nothing, whatever it is compared with", "[verdicts]") {
  using enum ClaimVerdict;
  const auto of = [](Standing standing, double bound, const char* op, double than) {
    const Measured part{{bound, bound - 0.01, bound + 0.01}, 20, false, false, standing};
    return decide(std::vector{part}, limit(op, than)).verdict;
  };
  const auto at_most = [&](double bound, const char* op, double than = 1) {
    return of(Standing::at_most, bound, op, than);
  };
  for (const char* more : {">", ">="}) {
    CHECK(at_most(4.88, more) == not_contradicted);
    CHECK(at_most(0.8, more) == refuted);
    CHECK(at_most(1, more) == open);
  }
  for (const char* less : {"<", "<="}) {
    CHECK(at_most(0.8, less) == not_contradicted);
    CHECK(at_most(4.88, less) == open);  // the quantity may be anywhere below
  }
  CHECK(at_most(0.8, "within", 1) == not_contradicted);
  CHECK(at_most(4.88, "within", 1) == open);
  for (const char* less : {"<", "<="}) {
    CHECK(of(Standing::at_least, 0.2, less, 1) == not_contradicted);
    CHECK(of(Standing::at_least, 4.88, less, 1) == refuted);
  }
  CHECK(of(Standing::at_least, 4.88, ">", 1) == not_contradicted);
  CHECK(of(Standing::at_least, 0.2, ">", 1) == open);
  CHECK(at_most(-4.88, "within", 1) == refuted);
  CHECK(of(Standing::at_least, 4.88, "within", 1) == refuted);
  CHECK(of(Standing::at_least, -4.88, "within", 1) == open);
  for (const char* op : {">", ">=", "<", "<=", "within"})
    for (const double bound : {0.2, 4.88}) CHECK(of(Standing::nothing, bound, op, 1) == open);
}

TEST_CASE("The joint verdict of bounded parts is that of the least certain one", "[verdicts]") {
  using enum ClaimVerdict;
  const auto part = [](double value, Standing standing) {
    return Measured{{value, value / 1.01, value * 1.01}, 20, true, false, standing};
  };
  const auto of = [&](const std::vector<Measured>& parts) {
    return decide(parts, limit(">", 1)).verdict;
  };
  const Measured sure = part(3, Standing::itself), room = part(3, Standing::at_most),
                 none = part(0.5, Standing::at_most), nothing = part(3, Standing::nothing);
  CHECK(of({sure, sure}) == confirmed);
  CHECK(of({sure, room}) == not_contradicted);
  CHECK(of({room, nothing}) == open);
  CHECK(of({sure, room, nothing, none}) == refuted);
  CHECK(decide_optimum({{nothing, nothing}, {nothing, nothing}}).verdict == open);
  CHECK(decide_optimum({{room, room}}).verdict == not_contradicted);
}

TEST_CASE("A quotient of two bounds bounds nothing", "[verdicts]") {
  const auto of = [](Standing a, Standing b) {
    return quotient({{2, 1.9, 2.1}, 20, true, false, a}, {{4, 3.9, 4.1}, 20, true, false, b})
        .standing;
  };
  using enum Standing;
  CHECK(of(itself, itself) == itself);
  CHECK(of(at_most, itself) == at_most);
  CHECK(of(itself, at_most) == at_least);
  CHECK(of(itself, at_least) == at_most);
  CHECK(of(at_most, at_most) == nothing);
  CHECK(of(at_most, at_least) == nothing);
  CHECK(of(itself, nothing) == nothing);
}

TEST_CASE("A verdict needs enough blocks", "[verdicts]") {
  Rng rng(3);
  const auto of = [&](int blocks) {
    return decide(std::vector{speed_ratio(rng, 3, blocks)}, limit(">", 1)).verdict;
  };
  CHECK(of(9) == ClaimVerdict::open);
  CHECK(of(10) == ClaimVerdict::confirmed);
  const Measured exact{{1.2, 1.2, 1.2}, 0, true, true};
  CHECK(decide(std::vector{exact}, limit(">", 1)).verdict == ClaimVerdict::confirmed);
  CHECK(decide(std::vector{exact}, limit("<", 1)).verdict == ClaimVerdict::refuted);
  CHECK(decide({}, limit(">", 1)).verdict == ClaimVerdict::not_testable);
  const Measured none{{std::nan(""), std::nan(""), std::nan("")}, 20, true, false};
  CHECK(decide(std::vector{none}, limit(">", 1)).verdict == ClaimVerdict::open);
}

TEST_CASE("One part decides as its interval does", "[verdicts]") {
  Rng rng(11);
  for (int i = 0; i < 200; ++i) {
    const Measured one = speed_ratio(rng, 1.06, 12);
    const ClaimVerdict verdict = decide(std::vector{one}, limit(">", 1)).verdict;
    CHECK((verdict == ClaimVerdict::confirmed) == (one.value.low > 1));
    CHECK((verdict == ClaimVerdict::refuted) == (one.value.high < 1));
  }
}

TEST_CASE("Holm keeps a true claim of many parts from being refuted by chance", "[verdicts]") {
  const auto refuted = shares([](Rng& rng) {
    std::vector<Measured> parts;
    for (int p = 0; p < 10; ++p) parts.push_back(speed_ratio(rng, 1, 12));
    return decide(parts, limit(">=", 1));
  });
  CHECK((refuted.contains(ClaimVerdict::refuted) ? refuted.at(ClaimVerdict::refuted) : 0) < 0.06);
}

TEST_CASE("A quotient of two separately measured numbers covers the truth", "[verdicts]") {
  Rng rng(5);
  int covered = 0;
  for (int i = 0; i < 500; ++i) {
    const Measured both = quotient(speed_ratio(rng, 3), speed_ratio(rng, 2));
    covered += both.value.low <= 1.5 && 1.5 <= both.value.high;
  }
  CHECK(covered > 0.92 * 500);
}

TEST_CASE("Intervals cover a known ratio, and an arm compared with itself shows no difference",
          "[verdicts]") {
  constexpr int kTrials = 2000;
  Rng rng(23);
  int covered = 0, same_speed = 0, same_score = 0;
  for (int i = 0; i < kTrials; ++i) {
    const Interval ratio = speed_ratio(rng, 2.5, 12).value;
    covered += ratio.low <= 2.5 && 2.5 <= ratio.high;
    const Interval itself = speed_ratio(rng, 1, 12).value;
    same_speed += itself.low <= 1 && 1 <= itself.high;
    const Interval score = difference(rng, 0, 30).value;
    same_score += score.low <= 0 && 0 <= score.high;
  }
  CHECK(covered >= 0.93 * kTrials);
  CHECK(covered <= 0.97 * kTrials);
  CHECK(same_speed >= 0.94 * kTrials);
  CHECK(same_score >= 0.94 * kTrials);
}

TEST_CASE("Relations are named as in the files", "[verdicts]") {
  CHECK_THROWS_AS(limit("=", 1), ConfigError);
  CHECK(limit("within", 0.1).holds(-0.1));
  CHECK(!limit(">", 1).holds(1));
  CHECK(limit(">=", 1).holds(1));
}

}  // namespace pardec
