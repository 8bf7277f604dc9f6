#pragma once
#include <optional>
#include <string>
#include <vector>

namespace pardec {

/// One predicted field of one product, as the counting needs it.
struct AttributePrediction {
  std::string category, attribute;
  bool annotated = true;                  ///< the annotators said something of it, if only "n/a"
  std::vector<std::string> references;    ///< accepted values; empty, or "n/a" first: absent
  std::optional<std::string> prediction;  ///< empty, "n/a" or "None": absent
};

/// Counts as ExtractGPT names them: first letter the reference, second the prediction (n none, v
/// value, c correct, w wrong).
struct AttributeCounts {
  long nn = 0, nv = 0, vn = 0, vc = 0, vw = 0;
  double precision() const;  ///< vc / (nv + vc + vw), 0 where nothing was predicted
  double recall() const;     ///< vc / (vn + vc + vw), 0 where nothing was to be found
  double f1() const;         ///< harmonic mean of the two, 0 where both are 0
  AttributeCounts& operator+=(const AttributeCounts& other);
};

struct AttributeScores {
  /// Sum over the (category, attribute) pairs with at least one value on either side.
  AttributeCounts micro;
  double micro_precision, micro_recall, micro_f1;
  /// Plain means over the same pairs; 0 where there is none.
  double macro_precision, macro_recall, macro_f1;
};

/// What one field counted as (`counts` has a single 1), or several in sum. Enough to score a run
/// again without its texts.
struct AttributeOutcome {
  std::string category, attribute;
  bool annotated = true;
  AttributeCounts counts;
};
AttributeOutcome outcome(const AttributePrediction& prediction);

/// The letters of a count with a single 1 ("vc"), and back. ConfigError for other letters.
std::string letters(const AttributeCounts& one);
AttributeCounts counts_of(const std::string& letters);

/// Value F1 as ExtractGPT counts it (Brinkmann et al. 2024, its pieutils/evaluation.py), in 0..1:
/// exact string match with any accepted value, references stripped and predictions not; fields
/// without annotation are not counted. Differs from it: it rounds percentages to two digits at each
/// stage (per pair, then their mean; precision and recall before F1), these are unrounded. Its
/// macro F1 is the mean of the pairs' F1, as here.
AttributeScores extractgpt_f1(const std::vector<AttributePrediction>& predictions);
AttributeScores extractgpt_f1(const std::vector<AttributeOutcome>& outcomes);

/// The strict variant: fields without annotation count as absent, so a value invented for them is
/// an error.
AttributeScores strict_f1(const std::vector<AttributePrediction>& predictions);
AttributeScores strict_f1(const std::vector<AttributeOutcome>& outcomes);

/// The count that one prediction adds (one of the five is 1). No annotation: the reference is that
/// it is absent.
AttributeCounts count(const AttributePrediction& prediction);

}  // namespace pardec
