#pragma once
#include <string>
#include <string_view>

namespace pardec {

/// The title of a metric in texts for readers, derived from the metric's key (MetricTotal::name):
/// "f1_micro" becomes "F1 micro", "rouge_l" becomes "ROUGE L", and "pass_at_1" becomes "pass@1".
/// The names of scores of single answers (ScoreRow::metric) are accepted too. Datasets, experiment
/// files, csv and json use the key.
std::string metric_title(std::string_view key);

}  // namespace pardec
