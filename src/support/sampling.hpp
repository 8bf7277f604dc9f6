#pragma once

namespace pardec {

/// How logits are converted to a distribution, as by Hugging Face's logits warpers: divide by the
/// temperature, keep the top_k largest (and all that equal the smallest of them), and of these keep
/// the smallest set with a total probability of at least top_p. Temperature 0 is greedy decoding.
struct Sampling {
  double temperature = 0.0;
  int top_k = 0;       ///< 0: no cut
  double top_p = 1.0;  ///< 1: no cut
  bool operator==(const Sampling&) const = default;
};

}  // namespace pardec
