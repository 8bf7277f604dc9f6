#pragma once
#include <optional>
#include <vector>

#include "src/model/model.hpp"
#include "src/support/rng.hpp"

namespace pardec {

/// Draws an index with the given probabilities: the first whose cumulative sum exceeds a uniform
/// random number. REQUIRES: not empty, sums to 1 up to rounding.
Token draw(const std::vector<double>& probabilities, Rng& rng);

/// The random decisions of one stream of choices. Each stream has its own, so that its answer does
/// not depend on other streams. Tests can enumerate all outcomes.
class Chance {
 public:
  virtual ~Chance() = default;
  /// Draws an index with the given probabilities. REQUIRES: not empty, sums to 1 up to rounding.
  virtual Token draw(const std::vector<double>& probabilities) = 0;
  /// True with this probability; always false for 0 or less, always true for 1 or more.
  virtual bool happens(double probability) = 0;
};

/// Uses its own random generator.
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
  Token token;     ///< the token that the stream continues with
  Token unforced;  ///< the network's own choice; differs from `token` only under an oracle
  float gap;       ///< best logit minus second best
};

/// The network's own choice: the best id, or when sampling a draw from the warped distribution.
Choice own_choice(const RowLogits& logits, Chance& chance);

/// Makes the choices of one stream: the network's own, or under an oracle the given ids in turn,
/// regardless of the logits. The network's own choices are recorded either way.
class Chooser {
 public:
  /// `chance` must outlive this object.
  explicit Chooser(Chance& chance, std::optional<Tokens> oracle = std::nullopt)
      : chance_(&chance), oracle_(std::move(oracle)) {}

  /// REQUIRES: an oracle has ids left; otherwise std::logic_error.
  Choice choose(const RowLogits& logits);

  const std::vector<Choice>& made() const { return made_; }
  bool forced() const { return oracle_.has_value(); }
  /// Whether an oracle has no ids left.
  bool used_up() const { return oracle_ && made_.size() >= oracle_->size(); }

 private:
  Chance* chance_;
  std::optional<Tokens> oracle_;
  std::vector<Choice> made_;
};

}  // namespace pardec
