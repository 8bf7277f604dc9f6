#include "metrics/decoding_metrics.hpp"

#include <algorithm>
#include <set>

#include "metrics/python_text.hpp"

namespace pardec {

std::int64_t pad_columns(std::span<const BranchLengths> batch) {
  std::int64_t longest = 0, pads = 0;
  for (const auto& lengths : batch)
    for (const std::int64_t length : lengths) longest = std::max(longest, length);
  for (std::int64_t t = 2; t <= longest; ++t) {
    std::int64_t widest = 0, open_in_all = 0;
    for (const auto& lengths : batch) {
      const auto open = std::count_if(lengths.begin(), lengths.end(),
                                      [&](std::int64_t length) { return t <= length; });
      widest = std::max<std::int64_t>(widest, open);
      open_in_all += open;
    }
    pads += static_cast<std::int64_t>(batch.size()) * widest - open_in_all;
  }
  return pads;
}

double usd_per_thousand(double examples_per_second, double usd_per_hour) {
  return 1000 * usd_per_hour / (3600 * examples_per_second);
}

double repetition(std::string_view text) {
  const auto words = python_split(text);
  const std::set<std::string> different(words.begin(), words.end());
  return words.empty() ? 0
                       : static_cast<double>(words.size()) / static_cast<double>(different.size());
}

ParallelMetrics parallel_metrics(std::span<const ParallelCounts> answers) {
  const auto ratio = [](std::int64_t a, std::int64_t b) {
    return b > 0 ? static_cast<double>(a) / static_cast<double>(b) : 0.0;
  };
  ParallelMetrics sum;
  std::int64_t parallel = 0;
  for (const ParallelCounts& answer : answers) {
    sum.dp_all += ratio(answer.branch_tokens, answer.generated);
    sum.tps += 1e9 * ratio(answer.generated, answer.decode_ns);
    if (answer.groups == 0) continue;
    ++parallel;
    sum.dp += ratio(answer.branch_tokens, answer.generated);
    sum.abn += ratio(answer.branches, answer.groups);
    sum.p_tps += 1e9 * ratio(answer.branch_tokens, answer.parallel_ns);
  }
  const auto all = static_cast<double>(answers.empty() ? 1 : answers.size());
  const auto with_group = static_cast<double>(parallel > 0 ? parallel : 1);
  return {sum.dp / with_group,  sum.dp_all / all,
          sum.abn / with_group, static_cast<double>(parallel) / all,
          sum.tps / all,        sum.p_tps / with_group};
}

}  // namespace pardec
