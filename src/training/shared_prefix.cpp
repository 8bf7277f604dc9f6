#include "src/training/shared_prefix.hpp"

#include <algorithm>

namespace pardec {

namespace {

/// Number of rows before the first row with a target.
size_t unasked(const TrainingSample& sample) {
  size_t first = sample.tokens.size();
  for (const auto& [row, target] : sample.targets)
    first = std::min(first, static_cast<size_t>(row));
  return first;
}

/// Length of the common prefix of tokens with labels, at most `most`.
size_t common(const TrainingSample& a, const TrainingSample& b, size_t most) {
  size_t n = 0;
  most = std::min({most, a.tokens.size(), b.tokens.size()});
  while (n < most && a.tokens[n] == b.tokens[n] && a.labels[n] == b.labels[n]) ++n;
  return n;
}

/// Whether all rows are in segment 0, so that the rest can move to a new segment.
bool plain(const TrainingSample& sample) { return sample.segments.count() == 1; }

TrainingSample join(const std::vector<TrainingSample>& samples, size_t begin, size_t end,
                    size_t prefix) {
  TrainingSample joined;
  for (size_t row = 0; row < prefix; ++row)
    joined.add(samples[begin].tokens[row], samples[begin].labels[row]);
  for (size_t i = begin; i < end; ++i) {
    const TrainingSample& sample = samples[i];
    const int segment = joined.segments.add({0});
    const int shift = static_cast<int>(joined.tokens.size()) - static_cast<int>(prefix);
    for (size_t row = prefix; row < sample.tokens.size(); ++row) {
      RowLabel label = sample.labels[row];
      label.segment = segment;
      joined.add(sample.tokens[row], label);
    }
    for (const auto& [row, target] : sample.targets)
      joined.targets.emplace_back(row + shift, target);
  }
  return joined;
}

}  // namespace

std::vector<TrainingSample> share_prefixes(std::vector<TrainingSample> samples, int most,
                                           int least) {
  std::vector<TrainingSample> out;
  for (size_t begin = 0; begin < samples.size();) {
    size_t end = begin + 1, prefix = unasked(samples[begin]);
    while (end < samples.size() && static_cast<int>(end - begin) < most && plain(samples[begin]) &&
           plain(samples[end])) {
      const size_t shared =
          common(samples[begin], samples[end], std::min(prefix, unasked(samples[end])));
      if (shared < static_cast<size_t>(least) ||
          2 * shared < std::max(samples[begin].tokens.size(), samples[end].tokens.size()))
        break;
      prefix = shared;
      ++end;
    }
    if (end == begin + 1)
      out.push_back(std::move(samples[begin]));
    else
      out.push_back(join(samples, begin, end, prefix));
    begin = end;
  }
  return out;
}

}  // namespace pardec
