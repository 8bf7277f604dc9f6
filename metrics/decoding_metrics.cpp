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
  struct Mean {
    double sum = 0;
    std::int64_t count = 0;
    void add(std::int64_t a, std::int64_t b, double unit = 1) {  // adds a / b unless b is 0
      if (b > 0) sum += unit * static_cast<double>(a) / static_cast<double>(b), ++count;
    }
    double value() const { return count > 0 ? sum / static_cast<double>(count) : 0; }
  };
  Mean dp, dp_all, abn, ppd, tps, p_tps;
  for (const ParallelCounts& answer : answers) {
    const bool parallel = answer.groups > 0;
    ppd.add(parallel, 1);
    dp_all.add(answer.branch_tokens, answer.generated);
    tps.add(answer.generated, answer.decode_ns, 1e9);
    if (!parallel) continue;
    dp.add(answer.branch_tokens, answer.generated);
    abn.add(answer.branches, answer.groups);
    p_tps.add(answer.branch_tokens, answer.parallel_ns, 1e9);
  }
  return {dp.value(), dp_all.value(), abn.value(), ppd.value(), tps.value(), p_tps.value()};
}

}  // namespace pardec
