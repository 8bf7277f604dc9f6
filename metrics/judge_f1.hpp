#pragma once

namespace pardec {

/// How often a judge gave each of five labels (HPD paper, appendix E and Figure 11). If the value
/// can be inferred from the text, the answer is correct, incorrect or missing. Otherwise it is
/// correctly absent (correct_null), or invented (hallucination).
struct JudgeCounts {
  long correct = 0, incorrect = 0, missing = 0;  ///< C, I, M
  long correct_null = 0, hallucination = 0;      ///< CN, H
  /// LLM-P = (C + CN) / (C + CN + H + I), LLM-R = (C + CN) / (C + CN + M + I), and LLM-F1, which is
  /// their harmonic mean. 0 if the divisor is 0.
  double precision() const;
  double recall() const;
  double f1() const;
};

}  // namespace pardec
