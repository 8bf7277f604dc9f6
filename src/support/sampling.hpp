#pragma once

namespace pardec {

/// How logits are converted to a distribution, in the steps of Hugging Face's logits warpers.
/// First, the logits are divided by the temperature. Second, only the top_k largest logits are
/// kept, and any other logits that equal the smallest of these. Third, of the kept ids, only the
/// most probable are kept: the smallest number of ids whose total probability is at least top_p.
/// Temperature 0 means greedy decoding, without these steps.
struct Sampling {
  double temperature = 0.0;
  int top_k = 0;       ///< 0: no cut
  double top_p = 1.0;  ///< 1: no cut
  bool operator==(const Sampling&) const = default;
};

}  // namespace pardec
