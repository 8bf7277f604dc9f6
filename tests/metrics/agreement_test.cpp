#include "metrics/agreement.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include "metrics/preference.hpp"
#include "src/support/rng.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

TEST_CASE("a pair is a tie unless both orders name the same winner") {
  using enum Winner;
  CHECK(PairVerdict{method, method}.winner() == method);
  CHECK(PairVerdict{baseline, baseline}.winner() == baseline);
  CHECK(PairVerdict{tie, tie}.winner() == tie);
  CHECK(PairVerdict{method, baseline}.winner() == tie);
  CHECK(PairVerdict{method, tie}.winner() == tie);
  CHECK_FALSE(PairVerdict{method, std::nullopt}.winner());
}

TEST_CASE("position bias: each kind of pair counts once") {
  using enum Winner;
  const std::vector<PairVerdict> pairs{
      {method, method},   {tie, tie},             // consistent
      {method, baseline},                         // the first place twice
      {method, tie},                              // first, and a tie
      {tie, baseline},                            // a tie, and first
      {baseline, method},                         // the second place twice
      {tie, method},      {method, std::nullopt}  // a tie, and second; missing
  };
  const PositionBias bias = position_bias(pairs);
  CHECK(bias.consistent == 2.0 / 8);
  CHECK(bias.first == 3.0 / 8);
  CHECK(bias.second == 2.0 / 8);
  CHECK(bias.missing == 1.0 / 8);
  CHECK(bias.pairs == 8);
  CHECK(std::isnan(position_bias({}).consistent));
}

TEST_CASE("agreement on all pairs, and on those that both decided") {
  using enum Winner;
  const std::vector<std::pair<Winner, Winner>> pairs{
      {method, method}, {baseline, baseline}, {tie, tie}, {tie, method}, {method, baseline}};
  const PairAgreement agreement = pair_agreement(pairs);
  CHECK(agreement.all == 3.0 / 5);
  CHECK(agreement.pairs == 5);
  CHECK(agreement.decided == 2.0 / 3);
  CHECK(agreement.decided_pairs == 3);
  CHECK(agreement.kappa == Approx((0.6 - 0.32) / 0.68));
}

TEST_CASE("win rate and HPD's ratio, from its published outcomes") {
  const Outcomes outcomes{287, 515, 198};  // HPD against GPT-4.1, in tenths of a per cent
  CHECK(outcomes.win_rate() == Approx(0.5445));
  CHECK(outcomes.hpd_ratio() == Approx(802.0 / 713));
  CHECK(outcomes.hpd_ratio_normalised() ==
        Approx(outcomes.hpd_ratio() / (1 + outcomes.hpd_ratio())));
  CHECK(std::isnan(Outcomes{}.win_rate()));
  CHECK(std::isnan(Outcomes{3, 0, 0}.hpd_ratio()));
  CHECK(Outcomes{3, 0, 0}.hpd_ratio_normalised() == 1);
}

TEST_CASE(
    "strengths and adjusted rates of many clusters have the interval ends of few, in linear time") {
  Rng rng(1);
  std::vector<Game> games;
  std::vector<LengthPair> pairs;
  double points = 0;
  constexpr std::int32_t kClusters = 4000;
  for (std::int32_t cluster = 0; cluster < kClusters; ++cluster) {
    const double score = rng.uniform() < 0.6 ? 1 : 0;
    points += score;
    games.push_back({0, 1, score, cluster});
    pairs.push_back({score, 0, cluster});
  }
  // The standard error of log odds, and of a difference from their mean, which is half of it.
  const double p = points / kClusters, error = std::sqrt(1 / (kClusters * p * (1 - p)));
  const double odds = std::log(p / (1 - p));
  const Interval strength = bradley_terry(games, 2, kClusters).front();
  CHECK(strength.estimate == Approx(odds / 2));
  CHECK(strength.high - strength.low == Approx(1.96 * error).epsilon(0.15));
  const Interval rate = length_adjusted_win_rate(pairs, kClusters);
  CHECK(rate.estimate == Approx(p));
  CHECK(rate.high - rate.low == Approx(2 * 1.96 * error * p * (1 - p)).epsilon(0.15));
}
