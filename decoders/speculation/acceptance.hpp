#pragma once
// `--oracle accept...`: a law decides which guesses are accepted, regardless of the logits. Thus
// the speed of a decoder can be measured at an acceptance rate that was published for other
// weights.
#include <vector>

#include "src/engine/sampler.hpp"

namespace pardec {

/// Decides how many of the guesses of a pass are accepted.
struct AcceptanceLaw {
  /// By place in the pass, [1 or more]: the probability that the guess is accepted, given that all
  /// guesses before it are. Later places use the last value. Not used if `length` is given.
  std::vector<double> rates;
  /// L, the mean number of tokens of a pass with guesses: accepted guesses and the network's own
  /// token after them. Each such pass gives floor(L) or ceil(L) tokens, or as many as its guesses
  /// allow. 0: `rates` are used.
  double length = 0;
};

/// The decisions of a law over one stream. Without a law, it makes no decisions.
class ForcedAcceptance {
 public:
  ForcedAcceptance() = default;
  /// `coins` must outlive this object.
  ForcedAcceptance(AcceptanceLaw law, Chance& coins) : law_(std::move(law)), coins_(&coins) {}

  explicit operator bool() const { return coins_ != nullptr; }
  /// Whether the guess at this place (0 is the first of a pass) is accepted. Called in order, up to
  /// the first rejection.
  bool accepts(int place);

 private:
  AcceptanceLaw law_;
  Chance* coins_ = nullptr;
  int accepted_ = 0;  ///< with `length`: number of guesses accepted in this pass
};

}  // namespace pardec
