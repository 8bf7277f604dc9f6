#pragma once
#include <memory>

#include "decoders/ar/format.hpp"

namespace pardec {

/// Options of SPACE's training sequences (SAR-SFT; paper, section 3.1). These are AR's sequences,
/// but a share of them is cut within the answer and continued with k mask tokens. The targets of
/// the masks are the tokens that were cut off.
struct SpaceFormatOptions {
  ArFormatOptions ar;  ///< options of AR's sequences
  int k = 5;           ///< number of masks per group
  double p_ar = 0.5;   ///< share of the sequences that are AR's, without masks
  /// True: the answer is not cut; it is trained together with groups of masks.
  bool one_pass = false;
  int groups = 1;  ///< with one_pass: number of groups of masks per answer
  Token mask = 0;  ///< the mask token [M]
};

/// Cuts a sequence: the answer up to y_s, then k masks (Equation 2, s = m - 1). The target of y_s
/// is y_{s+1}; the target of mask j is y_{s+1+j} (Equation 3).
///   causal   prompt and answer y_1 .. y_N, made by `causal_sample`
///   REQUIRES 0 <= s and s + 1 + k <= N; otherwise std::logic_error.
///   first    index of y_1 among the targets; earlier targets belong to earlier turns, and are kept
TrainingSample sar_sample(const TrainingSample& causal, int s, int k, Token mask, int first = 0);

/// The same targets without cutting: for each s in `cuts`, a group of k masks is added to the
/// complete sequence. The group sees the prompt, y_1 .. y_s and itself; no other row sees it.
TrainingSample sar_one_pass(const TrainingSample& causal, const std::vector<int>& cuts, int k,
                            Token mask, int first = 0);

/// Creates the training format. `tokenizer` must outlive it. The seed of an example decides which
/// of its sequences get masks, and where. Answers with fewer than k + 1 tokens get none.
/// ConfigError: see make_ar_format.
std::unique_ptr<TrainingFormat> make_space_format(const SpaceFormatOptions& options,
                                                  const Tokenizer& tokenizer, int context_length);

/// SPACE's training formats, and their flags of `train`.
std::vector<FormatEntry> space_formats();
std::vector<TrainingOption> space_training_options();

}  // namespace pardec
