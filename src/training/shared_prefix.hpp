#pragma once
#include <vector>

#include "src/training/training_sample.hpp"

namespace pardec {

/// Joins up to `most` consecutive samples with a common beginning (usually the instruction) into
/// one. The beginning is computed once, in segment 0; the rest of each sample gets a segment that
/// sees segment 0. Positions, orders and ranks are unchanged, so every row sees the same tokens as
/// before, and loss and gradients equal those of the separate samples; only the cost is lower.
/// Samples with several segments are left unchanged, and so are samples with fewer than `least`
/// common tokens, or with more other tokens than common ones: there, attention over the longer
/// sequence would cost more than is saved.
std::vector<TrainingSample> share_prefixes(std::vector<TrainingSample> samples, int most,
                                           int least = 32);

}  // namespace pardec
