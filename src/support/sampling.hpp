#pragma once

namespace pardec {

/// How logits become a distribution: divided by temperature, cut to the top_k largest and to the
/// smallest set whose probability reaches top_p, in this order (as Hugging Face's warpers).
/// temperature 0 is greedy.
struct Sampling {
  double temperature = 0.0;
  int top_k = 0;       ///< 0: no cut
  double top_p = 1.0;  ///< 1: no cut
  bool operator==(const Sampling&) const = default;
};

}  // namespace pardec
