#pragma once
#include <optional>
#include <vector>

#include "src/model/model.hpp"
#include "src/support/rng.hpp"

namespace pardec {

/// What was chosen from one row of logits.
struct Choice {
  Token token;     ///< what goes on
  Token unforced;  ///< what the network itself chose; differs from `token` only under an oracle
  float gap;       ///< best logit minus second best
};

/// One stream of choices: greedy at temperature 0, else drawn from the warped distribution. Under
/// an oracle the given ids are chosen in turn, whatever the network says; its own choices are kept
/// beside them.
class Chooser {
 public:
  /// `rng` belongs to the request and outlives this.
  explicit Chooser(Rng& rng, std::optional<Tokens> oracle = std::nullopt)
      : rng_(&rng), oracle_(std::move(oracle)) {}

  /// REQUIRES: an oracle is not used up (std::logic_error).
  Choice choose(const RowLogits& logits);

  const std::vector<Choice>& made() const { return made_; }
  bool forced() const { return oracle_.has_value(); }
  /// True when an oracle has no more ids to give.
  bool used_up() const { return oracle_ && made_.size() >= oracle_->size(); }

 private:
  Rng* rng_;
  std::optional<Tokens> oracle_;
  std::vector<Choice> made_;
};

/// Draws an index with the given probabilities: the first whose cumulative sum exceeds a uniform
/// number. REQUIRES: not empty, sums to 1 up to rounding.
Token draw(const std::vector<double>& probabilities, Rng& rng);

}  // namespace pardec
