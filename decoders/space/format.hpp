#pragma once
#include <memory>

#include "decoders/ar/format.hpp"

namespace pardec {

/// Options of SPACE's training sequences (SAR-SFT; paper, section 3.1). These are the training
/// sequences of ar, but a share of them is cut within the answer and continued with k mask tokens.
/// The targets of the masks are the tokens that were cut off.
struct SpaceFormatOptions {
  ArFormatOptions ar;  ///< options of ar's sequences
  int k = 5;           ///< number of masks per group
  double p_ar = 0.5;   ///< probability that a sequence of ar stays unchanged, without masks
  /// True: the answer is not cut; the sequence has the whole answer and groups of masks
  /// (sar_one_pass).
  bool one_pass = false;
  int groups = 1;  ///< with one_pass: number of groups of masks per answer
  Token mask = 0;  ///< the mask token [M]
};

/// Cuts a sequence: the answer up to y_s, then k masks (Equation 2, s = m - 1; with s = 0, the
/// masks follow the prompt). The target of y_s is y_{s+1}; the target of mask j is y_{s+1+j}
/// (Equation 3). REQUIRES: 0 <= s and s + 1 + k <= N; otherwise std::logic_error.
///   causal  prompt and answer y_1 .. y_N, made by `causal_sample` or `causal_turns`
///   first   index of y_1 among the targets; earlier targets belong to earlier turns, and are kept
TrainingSample sar_sample(const TrainingSample& causal, int s, int k, Token mask, int first = 0);

/// Adds masks without cutting: for each s in `cuts`, the complete sequence gets a group of k masks
/// with the targets of sar_sample. Each mask sees the prompt, y_1 .. y_s, the earlier masks of its
/// group and itself; no row outside of the group sees the masks. REQUIRES: see sar_sample, for each
/// s.
TrainingSample sar_one_pass(const TrainingSample& causal, const std::vector<int>& cuts, int k,
                            Token mask, int first = 0);

/// Creates the training format. `tokenizer` must outlive it. TrainingExample::seed decides which of
/// the example's sequences get masks, and where. Answers with fewer than k + 1 tokens get none. In
/// a conversation, one of the turns gets the masks, and later turns are left out. The format's
/// `samples` throws ConfigError: see make_ar_format.
std::unique_ptr<TrainingFormat> make_space_format(const SpaceFormatOptions& options,
                                                  const Tokenizer& tokenizer, int context_length);

/// SPACE's training formats, and their flags of `train`.
std::vector<FormatEntry> space_formats();
std::vector<TrainingOption> space_training_options();

}  // namespace pardec
