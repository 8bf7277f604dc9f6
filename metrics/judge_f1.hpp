#pragma once

namespace pardec {

/// How often a judge assigned each class to a value (HPD paper, appendix E and Figure 11). If the
/// value can be inferred from the text: correct, incorrect or missing. Otherwise: correctly absent,
/// or invented.
struct JudgeCounts {
  long correct = 0, incorrect = 0, missing = 0;  ///< C, I, M
  long correct_null = 0, hallucination = 0;      ///< CN, H
  /// LLM-P = (C + CN) / (C + CN + H + I), LLM-R = (C + CN) / (C + CN + M + I), LLM-F1 their
  /// harmonic mean; 0 if the divisor is 0.
  double precision() const;
  double recall() const;
  double f1() const;
};

}  // namespace pardec
