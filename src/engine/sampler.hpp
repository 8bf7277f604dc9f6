#pragma once
#include <optional>
#include <vector>

#include "src/model/model.hpp"
#include "src/support/rng.hpp"

namespace pardec {

/// Draws an index with the given probabilities: the first whose cumulative sum exceeds a uniform
/// number. REQUIRES: not empty, sums to 1 up to rounding.
Token draw(const std::vector<double>& probabilities, Rng& rng);

/// The random decisions of one stream of choices. They belong to the stream, so that its answer
/// does not depend on what else runs; a test can take every way through them in turn.
class Chance {
 public:
  virtual ~Chance() = default;
  /// An index with the given probabilities. REQUIRES: not empty, sums to 1 up to rounding.
  virtual Token draw(const std::vector<double>& probabilities) = 0;
  /// True with this probability; 0 or less: never, 1 or more: always.
  virtual bool happens(double probability) = 0;
};

/// By a generator of its own.
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

/// What was chosen from one row of logits.
struct Choice {
  Token token;     ///< what goes on
  Token unforced;  ///< what the network itself chose; differs from `token` only under an oracle
  float gap;       ///< best logit minus second best
};

/// The network's own choice: the best, or a draw from the warped distribution where there is one.
Choice own_choice(const RowLogits& logits, Chance& chance);

/// One stream of choices: the network's own. Under an oracle the given ids are chosen in turn,
/// whatever the network says; its own choices are kept beside them.
class Chooser {
 public:
  /// `chance` outlives this.
  explicit Chooser(Chance& chance, std::optional<Tokens> oracle = std::nullopt)
      : chance_(&chance), oracle_(std::move(oracle)) {}

  /// REQUIRES: an oracle is not used up (std::logic_error).
  Choice choose(const RowLogits& logits);

  const std::vector<Choice>& made() const { return made_; }
  bool forced() const { return oracle_.has_value(); }
  /// True when an oracle has no more ids to give.
  bool used_up() const { return oracle_ && made_.size() >= oracle_->size(); }

 private:
  Chance* chance_;
  std::optional<Tokens> oracle_;
  std::vector<Choice> made_;
};

}  // namespace pardec
