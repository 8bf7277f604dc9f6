#include "metrics/decoding_metrics.hpp"

#include <algorithm>

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

}  // namespace pardec
