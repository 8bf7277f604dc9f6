#pragma once
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <vector>

#include "src/engine/sampler.hpp"

namespace pardec::test {

/// A scripted generator: the same computation is run again and again, and led through every
/// sequence of random decisions that has a probability, depth first. So the exact distribution of
/// its result is known, instead of an estimate from samples.
class Outcomes final : public Chance {
 public:
  Token draw(const std::vector<double>& probabilities) override {
    return static_cast<Token>(decide(probabilities));
  }
  bool happens(double probability) override {
    if (probability >= 1) return true;
    if (probability <= 0) return false;
    return decide({1 - probability, probability}) == 1;
  }

  /// Probability of the decisions taken since the last `next`.
  double probability() const {
    double product = 1;
    for (const Decision& d : path_) product *= d.probabilities[d.taken];
    return product;
  }

  /// Turns to the next path; false if all have been enumerated.
  bool next() {
    while (!path_.empty()) {
      Decision& last = path_.back();
      if (advance(last, last.taken + 1)) {
        at_ = 0;
        return true;
      }
      path_.pop_back();
    }
    return false;
  }

 private:
  struct Decision {
    std::vector<double> probabilities;
    size_t taken;
  };

  /// To the first possible outcome from `from` on; false if there is none.
  static bool advance(Decision& decision, size_t from) {
    for (size_t i = from; i < decision.probabilities.size(); ++i)
      if (decision.probabilities[i] > 0) {
        decision.taken = i;
        return true;
      }
    return false;
  }

  size_t decide(const std::vector<double>& probabilities) {
    if (at_ == path_.size()) {
      path_.push_back({probabilities, 0});
      advance(path_.back(), 0);
    }
    return path_[at_++].taken;
  }

  std::vector<Decision> path_;
  size_t at_ = 0;
};

/// The exact distribution of the results of `compute`.
template <typename Result>
std::map<Result, double> law_of(const std::function<Result(Chance&)>& compute) {
  std::map<Result, double> law;
  Outcomes outcomes;
  do {
    const Result result = compute(outcomes);
    law[result] += outcomes.probability();
  } while (outcomes.next());
  return law;
}

/// The largest difference between two distributions in the probability of any set: half the sum of
/// |a - b|.
template <typename Result>
double total_variation(const std::map<Result, double>& a, const std::map<Result, double>& b) {
  double sum = 0;
  for (const auto& [result, p] : a) {
    const auto other = b.find(result);
    sum += std::abs(p - (other == b.end() ? 0 : other->second));
  }
  for (const auto& [result, p] : b)
    if (!a.contains(result)) sum += p;
  return sum / 2;
}

/// A Chance for owners that need one: forwards to another one, which outlives it.
class Borrowed final : public Chance {
 public:
  explicit Borrowed(Chance& to) : to_(to) {}
  Token draw(const std::vector<double>& probabilities) override { return to_.draw(probabilities); }
  bool happens(double probability) override { return to_.happens(probability); }

 private:
  Chance& to_;
};

}  // namespace pardec::test
