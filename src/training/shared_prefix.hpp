#pragma once
#include <vector>

#include "src/training/training_sample.hpp"

namespace pardec {

/// Joins up to `most` consecutive samples that begin alike into one: the common beginning (the
/// instruction, as a rule) is fed once, in segment 0, and what follows of each sample stands in a
/// segment of its own that sees it. Positions, orders and ranks stay, so every row sees the tokens
/// that it saw before, and loss and gradients are those of the samples apart; only the cost falls.
/// Samples with segments of their own stay as they are, and so do those with fewer than `least`
/// tokens in common, or with more behind them than in common: attention over the longer sequence
/// would cost more than is saved.
std::vector<TrainingSample> share_prefixes(std::vector<TrainingSample> samples, int most,
                                           int least = 32);

}  // namespace pardec
