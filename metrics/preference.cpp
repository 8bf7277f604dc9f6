#include "metrics/preference.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "metrics/ratio.hpp"

namespace pardec {

namespace {

constexpr double kUnbounded = std::numeric_limits<double>::quiet_NaN();
using Vector = std::vector<double>;

double logistic(double x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}

/// Solves a symmetric positive definite system in place (Cholesky); false: the matrix is not
/// positive definite.
bool solve(std::vector<Vector> a, Vector& b) {
  const size_t n = b.size();
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      double sum = a[i][j];
      for (size_t k = 0; k < j; ++k) sum -= a[i][k] * a[j][k];
      if (i != j) {
        a[i][j] = sum / a[j][j];
      } else if (sum > 0) {
        a[i][i] = std::sqrt(sum);
      } else {
        return false;
      }
    }
  }
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < i; ++k) b[i] -= a[i][k] * b[k];
    b[i] /= a[i][i];
  }
  for (size_t i = n; i-- > 0;) {
    for (size_t k = i + 1; k < n; ++k) b[i] -= a[k][i] * b[k];
    b[i] /= a[i][i];
  }
  return true;
}

/// One observation of a logistic regression.
struct Observation {
  Vector x;
  double y;  ///< 0 to 1
};

double log_likelihood(const std::vector<const Observation*>& data, const Vector& beta) {
  double sum = 0;
  for (const Observation* one : data) {
    const double eta = std::inner_product(beta.begin(), beta.end(), one->x.begin(), 0.0);
    sum += one->y * eta - (eta > 0 ? eta + std::log1p(std::exp(-eta)) : std::log1p(std::exp(eta)));
  }
  return sum;
}

/// Maximum-likelihood coefficients, by Newton's method with step halving. Empty: there is no finite
/// maximum (some direction separates the outcomes), or no unique one.
Vector logistic_regression(const std::vector<const Observation*>& data, size_t columns) {
  constexpr double kFar = 30;  // odds of 1e13: no data here has a finite optimum beyond
  Vector beta(columns);
  double likelihood = log_likelihood(data, beta);
  for (int round = 0; round < 100; ++round) {
    Vector step(columns);
    std::vector<Vector> information(columns, Vector(columns));
    for (const Observation* one : data) {
      const double p = logistic(std::inner_product(beta.begin(), beta.end(), one->x.begin(), 0.0));
      for (size_t i = 0; i < columns; ++i) {
        step[i] += one->x[i] * (one->y - p);
        for (size_t j = 0; j < columns; ++j)
          information[i][j] += p * (1 - p) * one->x[i] * one->x[j];
      }
    }
    if (!solve(std::move(information), step)) return {};
    double largest = 0;
    for (const double part : step) largest = std::max(largest, std::abs(part));
    if (largest < 1e-12) return beta;
    double scale = 1;
    Vector next(columns);
    for (int halving = 0; halving < 60; ++halving, scale /= 2) {
      for (size_t i = 0; i < columns; ++i) next[i] = beta[i] + scale * step[i];
      const double now = log_likelihood(data, next);
      if (now < likelihood - 1e-9 * (1 + std::abs(likelihood))) continue;
      likelihood = now;
      break;
    }
    beta = next;
    for (const double part : beta)
      if (!(std::abs(part) < kFar)) return {};
    if (largest < 1e-9 && round > 50) return beta;  // only rounding errors are left
  }
  return {};
}

/// `statistic` over all data, and with each cluster left out in turn. With more than kMostGroups
/// clusters, that many groups of clusters are left out instead (delete-a-group jackknife, Kott
/// 2001), because each needs a fit over the rest.
template <typename Data>
std::vector<Interval> jackknife_over(
    std::span<const Data> data, std::int32_t clusters, size_t size, double confidence,
    const std::function<Vector(const std::vector<const Data*>&)>& statistic) {
  constexpr std::int32_t kMostGroups = 200;
  const std::int32_t groups = std::clamp(clusters, 1, kMostGroups);
  const auto without = [&](std::int32_t left_out) {
    std::vector<const Data*> kept;
    for (const Data& one : data)
      if (one.cluster % groups != left_out) kept.push_back(&one);
    Vector values = statistic(kept);
    values.resize(size, kUnbounded);
    return values;
  };
  const Vector all = without(-1);
  std::vector<Vector> others;
  for (std::int32_t group = 0; group < groups; ++group) others.push_back(without(group));
  std::vector<Interval> out;
  for (size_t i = 0; i < size; ++i) {
    Vector values;
    for (const Vector& other : others) values.push_back(other[i]);
    out.push_back(jackknife_interval(all[i], values, confidence));
  }
  return out;
}

/// Whether every arm can be reached from every other arm by steps from losers of a point to
/// winners. All strengths are finite if and only if this holds.
bool strengths_are_bounded(const std::vector<const Game*>& games, int arms) {
  const auto reached = [&](bool backwards) {
    std::vector<bool> seen(static_cast<size_t>(arms));
    std::vector<int> open{0};
    seen[0] = true;
    while (!open.empty()) {
      const int at = open.back();
      open.pop_back();
      for (const Game* game : games)
        for (const bool of_a : {true, false}) {
          if ((of_a ? game->score : 1 - game->score) <= 0) continue;
          int from = of_a ? game->b : game->a, to = of_a ? game->a : game->b;
          if (backwards) std::swap(from, to);
          if (from != at || seen[static_cast<size_t>(to)]) continue;
          seen[static_cast<size_t>(to)] = true;
          open.push_back(to);
        }
    }
    return std::find(seen.begin(), seen.end(), false) == seen.end();
  };
  return reached(false) && reached(true);
}

}  // namespace

double Outcomes::win_rate() const {
  return ratio_or_nan(static_cast<double>(wins) + static_cast<double>(ties) / 2,
                      static_cast<double>(pairs()));
}

double Outcomes::hpd_ratio() const {
  return ratio_or_nan(static_cast<double>(wins + ties), static_cast<double>(ties + losses));
}

double Outcomes::hpd_ratio_normalised() const {
  return ratio_or_nan(static_cast<double>(wins + ties),
                      static_cast<double>(wins + 2 * ties + losses));
}

std::vector<Interval> bradley_terry(std::span<const Game> games, int arms, std::int32_t clusters,
                                    double confidence) {
  const auto strengths = [&](const std::vector<const Game*>& kept) -> Vector {
    if (!strengths_are_bounded(kept, arms)) return {};
    // The strength of arm 0 is fixed at 0; the others are coefficients.
    const auto columns = static_cast<size_t>(arms - 1);
    std::vector<Observation> data;
    for (const Game* game : kept) {
      Observation& one = data.emplace_back(Observation{Vector(columns), game->score});
      if (game->a > 0) one.x[static_cast<size_t>(game->a - 1)] = 1;
      if (game->b > 0) one.x[static_cast<size_t>(game->b - 1)] = -1;
    }
    std::vector<const Observation*> all;
    for (const Observation& one : data) all.push_back(&one);
    Vector values = logistic_regression(all, columns);
    if (values.size() != columns) return {};
    values.insert(values.begin(), 0.0);
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / arms;
    for (double& value : values) value -= mean;
    return values;
  };
  return jackknife_over<Game>(games, clusters, static_cast<size_t>(arms), confidence, strengths);
}

Interval length_adjusted_win_rate(std::span<const LengthPair> pairs, std::int32_t clusters,
                                  double confidence) {
  const auto log_odds = [](const std::vector<const LengthPair*>& kept) -> Vector {
    const auto n = static_cast<double>(kept.size());
    double mean = 0, variance = 0;
    for (const LengthPair* pair : kept) mean += pair->difference / n;
    for (const LengthPair* pair : kept)
      variance += (pair->difference - mean) * (pair->difference - mean) / n;
    const double deviation = std::sqrt(variance);
    // If all differences are equal, there is no slope.
    const size_t columns = deviation > 1e-9 * (1 + std::abs(mean)) ? 2 : 1;
    std::vector<Observation> data;
    for (const LengthPair* pair : kept) {
      Observation& one = data.emplace_back(Observation{Vector(columns, 1.0), pair->score});
      if (columns > 1) one.x[1] = std::tanh(pair->difference / deviation);
    }
    std::vector<const Observation*> all;
    for (const Observation& one : data) all.push_back(&one);
    const Vector beta = logistic_regression(all, columns);
    return beta.empty() ? Vector{} : Vector{beta.front()};
  };
  const Interval odds =
      jackknife_over<LengthPair>(pairs, clusters, 1, confidence, log_odds).front();
  return {logistic(odds.estimate), logistic(odds.low), logistic(odds.high)};
}

}  // namespace pardec
