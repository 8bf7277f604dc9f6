#pragma once
#include <string>
#include <string_view>

namespace pardec {

/// The title of a metric in texts for readers. `key`: the name of a total (MetricTotal::name) or of
/// the score of a single answer (ScoreRow::metric). "f1_micro" becomes "F1 micro", "rouge_l"
/// becomes "ROUGE L", and "pass_at_1" becomes "pass@1". Datasets, experiment files, csv and json
/// use the key.
std::string metric_title(std::string_view key);

}  // namespace pardec
