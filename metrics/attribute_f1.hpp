#pragma once
#include <optional>
#include <string>
#include <vector>

namespace pardec {

/// One predicted field of one product, with the data needed for counting.
struct AttributePrediction {
  std::string category, attribute;
  bool annotated = true;                ///< the annotators labelled this field, possibly with "n/a"
  std::vector<std::string> references;  ///< accepted values; empty, or "n/a" first: absent
  std::optional<std::string> prediction;  ///< empty, "n/a" or "None": absent
};

/// Counts with ExtractGPT's names. First letter: the reference; second letter: the prediction (n
/// none, v value, c correct, w wrong).
struct AttributeCounts {
  long nn = 0, nv = 0, vn = 0, vc = 0, vw = 0;
  double precision() const;  ///< vc / (nv + vc + vw); 0 if there are no predictions
  double recall() const;     ///< vc / (vn + vc + vw); 0 if there are no references
  double f1() const;         ///< harmonic mean of the two; 0 if both are 0
  AttributeCounts& operator+=(const AttributeCounts& other);
};

struct AttributeScores {
  /// Sum over the (category, attribute) pairs with at least one value on either side.
  AttributeCounts micro;
  double micro_precision, micro_recall, micro_f1;
  /// Plain means over the same pairs; 0 if there are none.
  double macro_precision, macro_recall, macro_f1;
};

/// The count of one field (`counts` contains a single 1), or the sum of several fields. Sufficient
/// to score a run again without its texts.
struct AttributeOutcome {
  std::string category, attribute;
  bool annotated = true;
  AttributeCounts counts;
};
AttributeOutcome outcome(const AttributePrediction& prediction);

/// The letters of a count with a single 1, e.g. "vc", and the reverse. ConfigError: other letters.
std::string letters(const AttributeCounts& one);
AttributeCounts counts_of(const std::string& letters);

/// Value F1 as counted by ExtractGPT (Brinkmann et al. 2024, its pieutils/evaluation.py), in 0..1:
/// exact string match with any accepted value; references are stripped, predictions are not; fields
/// without annotation are ignored. One difference: ExtractGPT rounds percentages to two digits at
/// each stage (per pair, then their mean; precision and recall before F1); these values are not
/// rounded. Its macro F1 is the mean of the pairs' F1, as here.
AttributeScores extractgpt_f1(const std::vector<AttributePrediction>& predictions);
AttributeScores extractgpt_f1(const std::vector<AttributeOutcome>& outcomes);

/// The strict variant: fields without annotation count as absent, so that an invented value is an
/// error.
AttributeScores strict_f1(const std::vector<AttributePrediction>& predictions);
AttributeScores strict_f1(const std::vector<AttributeOutcome>& outcomes);

/// The count of one prediction (one of the five members is 1). Without annotation, the reference
/// counts as absent.
AttributeCounts count(const AttributePrediction& prediction);

}  // namespace pardec
