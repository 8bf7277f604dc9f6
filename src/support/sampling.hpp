#pragma once

namespace pardec {

/// How logits become a distribution: divided by the temperature, then cut to the top_k largest,
/// then to the smallest set whose probability reaches top_p (as Hugging Face's warpers).
/// Temperature 0 is greedy.
struct Sampling {
  double temperature = 0.0;
  int top_k = 0;       ///< 0: no cut
  double top_p = 1.0;  ///< 1: no cut
  bool operator==(const Sampling&) const = default;
};

}  // namespace pardec
