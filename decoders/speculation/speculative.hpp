#pragma once
// Speculative decoding with a draft network (Leviathan et al. 2023, arXiv:2211.17192);
// decoders/speculation/speculative.md explains the method.
#include <algorithm>

#include "decoders/decoder.hpp"

namespace pardec {

/// How the number of guesses per draft changes.
enum class GammaSchedule {
  constant,  ///< always gamma
  /// gamma in the first draft; 2 more after a draft that was accepted completely, otherwise 1 less,
  /// but at least 1
  heuristic,
  /// at most gamma; a draft ends with the first guess whose probability is below the threshold
  dynamic,
};

/// The length of the drafts of one stream. Source: transformers, AssistedCandidateGenerator and
/// ConfidenceCriteria.
class DraftLength {
 public:
  /// `gamma`: maximum number of guesses in the first draft. `threshold`: used with
  /// GammaSchedule::dynamic only.
  DraftLength(GammaSchedule schedule, int gamma, double threshold)
      : schedule_(schedule), gamma_(gamma), threshold_(threshold) {}
  /// Maximum number of guesses in the next draft.
  int most() const { return gamma_; }
  /// Whether a draft ends with a guess that has this probability in the draft network.
  bool ends_with(double probability) const {
    return schedule_ == GammaSchedule::dynamic && probability < threshold_;
  }
  /// Changes most() by the schedule, after `accepted` of `drafted` guesses were accepted. A pass
  /// without guesses changes nothing.
  void learn(int drafted, int accepted) {
    if (drafted > 0 && schedule_ == GammaSchedule::heuristic)
      gamma_ = accepted == drafted ? gamma_ + 2 : std::max(1, gamma_ - 1);
  }

 private:
  GammaSchedule schedule_;
  int gamma_;
  double threshold_;
};

/// The decoder's entry in the registry (decoders()).
DecoderEntry speculative_entry();

}  // namespace pardec
