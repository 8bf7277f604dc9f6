#pragma once
// `--oracle accept...`: a law says which guesses are accepted, whatever the network says. So the
// speed of a decoder can be measured at an acceptance that was published for other weights.
#include <vector>

#include "src/engine/sampler.hpp"

namespace pardec {

/// How many of the guesses of a pass are accepted.
struct AcceptanceLaw {
  /// By place in the pass, [1 or more]: the probability that the guess there is accepted where all
  /// before it are. Later places take the last one. Not read where `length` is given.
  std::vector<double> rates;
  /// L, the mean number of tokens of a pass that checks guesses: those accepted and the network's
  /// own after them. Each such pass gives floor(L) or ceil(L), or as many as it has guesses for.
  /// 0: by `rates`.
  double length = 0;
};

/// The decisions of such a law over one stream; without one, none is made.
class ForcedAcceptance {
 public:
  ForcedAcceptance() = default;
  /// `coins` outlives it.
  ForcedAcceptance(AcceptanceLaw law, Chance& coins) : law_(std::move(law)), coins_(&coins) {}

  explicit operator bool() const { return coins_ != nullptr; }
  /// Whether the guess at this place (the first of a pass is 0) is accepted. Asked in order, up to
  /// the first refusal.
  bool accepts(int place);

 private:
  AcceptanceLaw law_;
  Chance* coins_ = nullptr;
  int accepted_ = 0;  ///< by length: guesses of this pass
};

}  // namespace pardec
