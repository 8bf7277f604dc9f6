#pragma once
#include <memory>

#include "decoders/ar/format.hpp"

namespace pardec {

/// SPACE's training sequences (SAR-SFT: paper, section 3.1): AR's, of which a share is cut inside
/// the answer and goes on with k masks, which should guess what was cut off.
struct SpaceFormatOptions {
  ArFormatOptions ar;     ///< what AR's sequences look like
  int k = 5;              ///< masks in a group
  double p_ar = 0.5;      ///< share of sequences that stay AR's
  bool one_pass = false;  ///< the answer is kept whole beside the masks: the same targets and more
  int groups = 1;         ///< of masks beside such an answer, each behind a place of its own
  Token mask = 0;         ///< [M]
};

/// The answer up to y_s, then M^k (Equation 2, s = m - 1): the row of y_s should choose y_{s+1},
/// mask j y_{s+1+j} (Equation 3); what follows is cut off.
///   causal   prompt and answer y_1 .. y_N as `causal_sample` makes them
///   REQUIRES 0 <= s and s + 1 + k <= N (std::logic_error).
///   first    index of y_1 among the targets: those before are of earlier turns, and stay
TrainingSample sar_sample(const TrainingSample& causal, int s, int k, Token mask, int first = 0);

/// The same targets with what follows kept: the answer is whole, and each s of `cuts` has M^k
/// beside it, which sees the prompt, y_1 .. y_s and itself, and is seen by nothing else.
TrainingSample sar_one_pass(const TrainingSample& causal, const std::vector<int>& cuts, int k,
                            Token mask, int first = 0);

/// The format over `tokenizer`, which outlives it. It draws by the example's seed which sequences
/// get masks, and where; answers shorter than k + 1 tokens get none. ConfigError as AR's format.
std::unique_ptr<TrainingFormat> make_space_format(const SpaceFormatOptions& options,
                                                  const Tokenizer& tokenizer, int context_length);

/// What `train` calls them, and their flags.
std::vector<FormatEntry> space_formats();
std::vector<TrainingOption> space_training_options();

}  // namespace pardec
