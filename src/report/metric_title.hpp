#pragma once
#include <string>
#include <string_view>

namespace pardec {

/// What people read for a metric. Its key (MetricTotal::name) is what datasets, experiment files,
/// csv and json name it by; the title follows from it: "f1_micro" is "F1 micro", "rouge_l"
/// "ROUGE L", "pass_at_1" "pass@1".
std::string metric_title(std::string_view key);

}  // namespace pardec
