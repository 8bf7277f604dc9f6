#pragma once
#include <algorithm>

#include "decoders/decoder.hpp"

namespace pardec {

/// How the number of guesses per draft is chosen.
enum class GammaSchedule {
  constant,   ///< gamma
  heuristic,  ///< starts at gamma; + 2 if all guesses were accepted, otherwise - 1, at least 1
  dynamic,    ///< up to gamma; ends with the first guess less probable than the threshold
};

/// The schedule of one stream. Source: transformers, AssistedCandidateGenerator and
/// ConfidenceCriteria.
class DraftLength {
 public:
  DraftLength(GammaSchedule schedule, int gamma, double threshold)
      : schedule_(schedule), gamma_(gamma), threshold_(threshold) {}
  /// Maximum number of guesses of the next draft.
  int most() const { return gamma_; }
  /// Whether a draft ends with a guess that has this probability in the draft network.
  bool ends_with(double probability) const {
    return schedule_ == GammaSchedule::dynamic && probability < threshold_;
  }
  void learn(int drafted, int accepted) {
    if (schedule_ == GammaSchedule::heuristic)
      gamma_ = accepted == drafted ? gamma_ + 2 : std::max(1, gamma_ - 1);
  }

 private:
  GammaSchedule schedule_;
  int gamma_;
  double threshold_;
};

DecoderEntry speculative_entry();

}  // namespace pardec
