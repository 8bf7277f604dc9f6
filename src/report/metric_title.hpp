#pragma once
#include <string>
#include <string_view>

namespace pardec {

/// A metric's title for people. Datasets, experiment files, csv and json use its key
/// (MetricTotal::name). The title follows from the key: "f1_micro" is "F1 micro", "rouge_l" "ROUGE
/// L", "pass_at_1" "pass@1".
std::string metric_title(std::string_view key);

}  // namespace pardec
