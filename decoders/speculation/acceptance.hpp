#pragma once
// `--oracle accept...`: a law decides which guesses are accepted, regardless of the logits. With
// such a law, the speed of a decoder can be measured at an acceptance rate that was published for
// another network.
#include <vector>

#include "src/engine/sampler.hpp"

namespace pardec {

/// Decides how many of the guesses of a pass are accepted.
struct AcceptanceLaw {
  /// rates[i]: the probability that guess i of a pass is accepted, if all earlier guesses of the
  /// pass were accepted. The last rate also applies to all later guesses. Not used if `length` is
  /// not 0. REQUIRES: not empty if `length` is 0.
  std::vector<double> rates;
  /// L, the mean number of tokens per pass with guesses: the accepted guesses and the network's own
  /// token. Each pass gives floor(L) or ceil(L) tokens, or fewer if it has fewer guesses. 0:
  /// `rates` are used.
  double length = 0;
};

/// Makes the decisions of a law for one stream. An object is true as a condition if it has a law.
class ForcedAcceptance {
 public:
  /// Without a law: the network's logits decide.
  ForcedAcceptance() = default;
  /// `coins`: the source of random decisions, which must outlive this object.
  ForcedAcceptance(AcceptanceLaw law, Chance& coins) : law_(std::move(law)), coins_(&coins) {}

  explicit operator bool() const { return coins_ != nullptr; }
  /// Decides whether the guess at this place is accepted (0: the first guess of a pass). Call this
  /// function for places 0, 1, ... of a pass, up to the first rejection. REQUIRES: there is a law.
  bool accepts(int place);

 private:
  AcceptanceLaw law_;
  Chance* coins_ = nullptr;
  int accepted_ = 0;  ///< with `length`: number of guesses accepted in this pass
};

}  // namespace pardec
