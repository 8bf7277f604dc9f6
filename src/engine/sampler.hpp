#pragma once
#include <optional>
#include <vector>

#include "src/model/model.hpp"
#include "src/support/rng.hpp"

namespace pardec {

/// Draws an index with the given probabilities: the first index at which the cumulative sum of
/// `probabilities` is above a uniform random number from [0, 1). REQUIRES: `probabilities` is not
/// empty, and sums to 1 up to rounding.
Token draw(const std::vector<double>& probabilities, Rng& rng);

/// The source of random decisions for one stream. Each stream has its own source, so that its
/// choices do not depend on the choices of other streams. Tests implement this class to enumerate
/// all outcomes.
class Chance {
 public:
  virtual ~Chance() = default;
  /// Draws an index with the given probabilities. REQUIRES: `probabilities` is not empty, and sums
  /// to 1 up to rounding.
  virtual Token draw(const std::vector<double>& probabilities) = 0;
  /// Returns true with this probability: never for 0 or less, always for 1 or more.
  virtual bool happens(double probability) = 0;
};

/// Random decisions from a seeded generator.
class SeededChance final : public Chance {
 public:
  explicit SeededChance(std::uint64_t seed) : rng_(seed) {}
  Token draw(const std::vector<double>& probabilities) override {
    return pardec::draw(probabilities, rng_);
  }
  bool happens(double probability) override { return rng_.uniform() < probability; }

 private:
  Rng rng_;
};

/// A token chosen from one row of logits.
struct Choice {
  Token token;     ///< the next token of the stream
  Token unforced;  ///< the network's own choice; differs from `token` only under an oracle
  float gap;       ///< largest logit minus second largest logit
};

/// The network's own choice: the best id if the row has no `probabilities` (greedy), otherwise an
/// id drawn from `probabilities`. REQUIRES: logits.finite().
Choice own_choice(const RowLogits& logits, Chance& chance);

/// Makes the choices of one stream. Without an oracle, these are the network's own choices. With an
/// oracle, they are the oracle's ids, one after another, regardless of the logits. In both cases,
/// Choice::unforced records the network's own choice.
class Chooser {
 public:
  /// `oracle`: the ids to choose, in order; none: there is no oracle. `chance` must outlive this
  /// object.
  explicit Chooser(Chance& chance, std::optional<Tokens> oracle = std::nullopt)
      : chance_(&chance), oracle_(std::move(oracle)) {}

  /// Makes the next choice, from one row of logits. REQUIRES: logits.finite(); !used_up(),
  /// otherwise std::logic_error.
  Choice choose(const RowLogits& logits);

  /// All choices so far.
  const std::vector<Choice>& made() const { return made_; }
  /// Whether there is an oracle.
  bool forced() const { return oracle_.has_value(); }
  /// Whether there is an oracle, and all of its ids have been chosen.
  bool used_up() const { return oracle_ && made_.size() >= oracle_->size(); }

 private:
  Chance* chance_;
  std::optional<Tokens> oracle_;
  std::vector<Choice> made_;
};

}  // namespace pardec
