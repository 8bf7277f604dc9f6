#pragma once
#include <optional>
#include <string>
#include <vector>

namespace pardec {

/// One predicted field of one product, as the counting needs it.
struct AttributePrediction {
  std::string category, attribute;
  bool annotated = true;                    ///< the annotators said something of it, if only "n/a"
  std::vector<std::string> references;      ///< accepted values; empty: absent
  std::optional<std::string> prediction;    ///< empty: absent
};

/// Counts as ExtractGPT names them: first letter the reference, second the prediction (n none, v value, c correct, w wrong).
struct AttributeCounts {
  long nn = 0, nv = 0, vn = 0, vc = 0, vw = 0;
  double precision() const;  ///< vc / (nv + vc + vw), 0 where nothing was predicted
  double recall() const;     ///< vc / (vn + vc + vw), 0 where nothing was to be found
  double f1() const;
  AttributeCounts& operator+=(const AttributeCounts& other);
};

struct AttributeScores {
  AttributeCounts micro;
  double micro_precision, micro_recall, micro_f1;
  double macro_precision, macro_recall, macro_f1;  ///< plain means over (category, attribute) pairs with at least one value on either side
};

/// Value F1 as ExtractGPT counts it (Brinkmann et al. 2024, its pieutils/evaluation.py), in 0..1 and unrounded: exact string match with any accepted value,
/// references stripped; fields without annotation are not counted.
AttributeScores extractgpt_f1(const std::vector<AttributePrediction>& predictions);

/// The strict variant: fields without annotation count as absent, so a value invented for them is an error.
AttributeScores strict_f1(const std::vector<AttributePrediction>& predictions);

/// The count that one prediction adds (one of the five is 1).
AttributeCounts count(const AttributePrediction& prediction);

}  // namespace pardec
