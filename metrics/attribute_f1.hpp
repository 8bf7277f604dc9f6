#pragma once
#include <optional>
#include <string>
#include <vector>

namespace pardec {

/// The prediction for one attribute of one product.
struct AttributePrediction {
  std::string category, attribute;
  bool annotated = true;  ///< annotators labelled this attribute, possibly with "n/a"
  /// accepted values; absent: the list is empty, or its first value is "n/a"
  std::vector<std::string> references;
  std::optional<std::string> prediction;  ///< no value, or the text "n/a" or "None": absent
};

/// Counts of predictions, with ExtractGPT's names. The first letter is about the reference (n:
/// absent, v: a value), the second about the prediction (n: absent, v: a value, c: a correct value,
/// w: a wrong value).
struct AttributeCounts {
  long nn = 0, nv = 0, vn = 0, vc = 0, vw = 0;
  double precision() const;  ///< vc / (nv + vc + vw); 0 without predicted values
  double recall() const;     ///< vc / (vn + vc + vw); 0 without reference values
  double f1() const;         ///< harmonic mean of precision and recall; 0 if both are 0
  AttributeCounts& operator+=(const AttributeCounts& other);
};

/// The scores of a set of predictions, from 0 to 1.
struct AttributeScores {
  /// Sum over all (category, attribute) pairs with at least one reference value or predicted value.
  AttributeCounts micro;
  double micro_precision, micro_recall, micro_f1;
  /// Means over the same pairs; 0 if there are none.
  double macro_precision, macro_recall, macro_f1;
};

/// The counts of one prediction, or sums of several predictions with the same category, attribute
/// and `annotated`. Scores can be computed from outcomes, without the texts.
struct AttributeOutcome {
  std::string category, attribute;
  bool annotated = true;  ///< AttributePrediction::annotated
  AttributeCounts counts;
};
/// The outcome of one prediction.
AttributeOutcome outcome(const AttributePrediction& prediction);

/// The name of the count that is 1 in the counts of one prediction, e.g. "vc".
std::string letters(const AttributeCounts& one);
/// The counts of one prediction, from the name of the count that is 1. ConfigError: `letters` is no
/// name of a count.
AttributeCounts counts_of(const std::string& letters);

/// Value F1 as in ExtractGPT (Brinkmann et al. 2024, pieutils/evaluation.py), from 0 to 1. A
/// prediction is correct if it equals an accepted value. References are stripped, predictions are
/// not. Predictions for attributes without annotation are ignored. Macro F1 is the mean of the F1
/// of the (category, attribute) pairs. There is one difference: ExtractGPT rounds percentages to
/// two digits at each stage (for each pair, then the means; precision and recall before F1). This
/// function rounds nothing.
AttributeScores extractgpt_f1(const std::vector<AttributePrediction>& predictions);
AttributeScores extractgpt_f1(const std::vector<AttributeOutcome>& outcomes);

/// The strict variant: attributes without annotation count as absent, so that an invented value is
/// an error.
AttributeScores strict_f1(const std::vector<AttributePrediction>& predictions);
AttributeScores strict_f1(const std::vector<AttributeOutcome>& outcomes);

/// The counts of one prediction: one of the five members is 1, the others are 0. Without
/// annotation, the reference counts as absent.
AttributeCounts count(const AttributePrediction& prediction);

}  // namespace pardec
