#pragma once
#include <vector>

#include "src/training/training_sample.hpp"

namespace pardec {

/// Joins up to `most` consecutive samples with a common prefix (usually the instruction) into one
/// sample. The prefix is in segment 0 and is computed once. It ends before the first row with a
/// target. The rest of each sample is in a separate segment, whose rows attend to the prefix.
/// Positions, orders and ranks are unchanged. Therefore every row attends to the same tokens as in
/// its separate sample. Loss and gradients equal those of the separate samples; only the cost is
/// lower. Samples with several segments are not joined. Samples are not joined either if their
/// common prefix has fewer than `least` tokens, or less than half of the tokens of one of the
/// samples, because attention over the longer sequence would cost more than is saved. A joined
/// sample does not keep TrainingSample::cut.
std::vector<TrainingSample> share_prefixes(std::vector<TrainingSample> samples, int most,
                                           int least = 32);

}  // namespace pardec
