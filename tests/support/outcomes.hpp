#pragma once
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <vector>

#include "src/engine/sampler.hpp"

namespace pardec::test {

/// Enumerates all outcomes of a computation with random decisions. The computation is run
/// repeatedly. Each time, this object makes the decisions of the next path, depth first, until
/// every sequence of decisions with a positive probability was taken. Thus the exact distribution
/// of the result is known. REQUIRES: nothing else in the computation is random.
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

  /// The probability of the decisions since the last call of next().
  double probability() const {
    double product = 1;
    for (const Decision& d : path_) product *= d.probabilities[d.taken];
    return product;
  }

  /// Moves to the next path. Returns false if all paths have been taken.
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

  /// Moves to the first outcome from `from` on with a positive probability. Returns false if there
  /// is none.
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

/// The exact distribution of the result of `compute`: result -> probability.
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

/// The total variation distance of two distributions: half the sum of |a - b|.
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

/// A Chance that forwards to another one, for code that needs to own a Chance. `to` must outlive
/// it.
class Borrowed final : public Chance {
 public:
  explicit Borrowed(Chance& to) : to_(to) {}
  Token draw(const std::vector<double>& probabilities) override { return to_.draw(probabilities); }
  bool happens(double probability) override { return to_.happens(probability); }

 private:
  Chance& to_;
};

}  // namespace pardec::test
