#pragma once
#include <algorithm>

#include "decoders/decoder.hpp"

namespace pardec {

/// How many tokens the draft network guesses at a time.
enum class GammaSchedule {
  constant,   ///< gamma
  heuristic,  ///< begins at gamma; + 2 when all were accepted, else - 1, at least 1
  dynamic,    ///< up to gamma; the first guess less probable than the threshold is the last
};

/// The schedule of one stream.
/// Source: transformers, AssistedCandidateGenerator and ConfidenceCriteria.
class DraftLength {
 public:
  DraftLength(GammaSchedule schedule, int gamma, double threshold)
      : schedule_(schedule), gamma_(gamma), threshold_(threshold) {}
  /// Guesses that the next draft has at most.
  int most() const { return gamma_; }
  /// Whether a draft ends with a guess that the draft network gave this probability.
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
