#pragma once
#include <memory>

#include "decoders/ar/format.hpp"

namespace pardec {

/// SPACE's training sequences (SAR-SFT: paper, section 3.1): AR's sequences. A share of them is cut
/// inside the answer, and continues with k masks. The targets of the masks are the tokens that were
/// cut off.
struct SpaceFormatOptions {
  ArFormatOptions ar;  ///< options of the underlying AR sequences
  int k = 5;           ///< number of masks in a group
  double p_ar = 0.5;   ///< share of sequences that stay AR's
  /// the answer is not cut; it is trained together with the masks
  bool one_pass = false;
  int groups = 1;  ///< number of groups of masks per such answer, each after a different place
  Token mask = 0;  ///< [M]
};

/// The answer up to y_s, then M^k (Equation 2, s = m - 1). The target of y_s is y_{s+1}, the target
/// of mask j is y_{s+1+j} (Equation 3); the rest is cut off.
///   causal   prompt and answer y_1 .. y_N, made by `causal_sample`
///   REQUIRES 0 <= s and s + 1 + k <= N (std::logic_error).
///   first    index of y_1 among the targets; earlier targets belong to earlier turns, and are kept
TrainingSample sar_sample(const TrainingSample& causal, int s, int k, Token mask, int first = 0);

/// The same targets with a complete answer: for each s of `cuts`, M^k is added, which sees the
/// prompt, y_1 .. y_s and itself, and is not seen by other rows.
TrainingSample sar_one_pass(const TrainingSample& causal, const std::vector<int>& cuts, int k,
                            Token mask, int first = 0);

/// The format based on `tokenizer`, which must outlive it. The example's seed decides which
/// sequences get masks, and where; answers shorter than k + 1 tokens get none. ConfigError as in
/// AR's format.
std::unique_ptr<TrainingFormat> make_space_format(const SpaceFormatOptions& options,
                                                  const Tokenizer& tokenizer, int context_length);

/// The entries of `train`'s formats, and their flags.
std::vector<FormatEntry> space_formats();
std::vector<TrainingOption> space_training_options();

}  // namespace pardec
