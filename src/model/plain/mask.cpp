#include "src/model/plain/mask.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

MaskRows::MaskRows(std::span<const KvCache::Slot> slots, std::span<const RowLabel> labels,
                   const Segments& segments, int window)
    : labels_(labels),
      segments_(segments),
      window_(window),
      keys_(static_cast<int>(slots.size() + labels.size())) {
  std::vector<Run> runs;  // in the order of keys
  const auto add = [&](const RowLabel& label, std::int32_t key) {
    if (!runs.empty()) {
      Run& last = runs.back();
      if (last.begin + last.count == key && last.segment == label.segment &&
          last.rank == label.rank && last.order + last.count == label.order &&
          last.position + last.count == label.position) {
        ++last.count;
        return;
      }
    }
    runs.push_back({label.segment, label.rank, key, 1, label.order, label.position});
  };
  std::int32_t key = 0;
  for (const KvCache::Slot& slot : slots) {
    if (slot.alive) add(slot.label, key);
    ++key;
  }
  for (const RowLabel& label : labels) add(label, key++);

  first_run_.resize(static_cast<size_t>(segments.count()) + 1);
  for (const Run& run : runs) ++first_run_[static_cast<size_t>(run.segment) + 1];
  std::partial_sum(first_run_.begin(), first_run_.end(), first_run_.begin());
  std::vector<size_t> next = first_run_;
  runs_.resize(runs.size());
  for (const Run& run : runs) runs_[next[static_cast<size_t>(run.segment)]++] = run;
}

template <typename Take>
MaskRows::Summary MaskRows::each_stretch(const RowLabel& q, Take&& take) const {
  const auto part = [](std::int64_t keys, const Run& run) {
    return static_cast<int>(std::clamp<std::int64_t>(keys, 0, run.count));
  };
  Summary summary;
  const std::span<const std::uint64_t> seen = segments_.seen_by(q.segment);
  for (size_t word = 0; word < seen.size(); ++word)
    for (std::uint64_t left = seen[word]; left != 0; left &= left - 1) {
      const size_t segment = 64 * word + static_cast<size_t>(std::countr_zero(left));
      for (size_t i = first_run_[segment]; i < first_run_[segment + 1]; ++i) {
        const Run& run = runs_[i];
        if (run.rank > q.rank) continue;
        const int end = part(std::int64_t{q.order} - run.order + 1, run);
        const int begin =
            window_ > 0 ? part(std::int64_t{q.position} - window_ - run.position + 1, run) : 0;
        if (begin >= end) continue;
        take(run.begin + begin, run.begin + end);
        summary.visible += end - begin;
        summary.end = std::max(summary.end, run.begin + end);
      }
    }
  return summary;
}

MaskRows::Summary MaskRows::write(int query, float* out) const {
  std::fill(out, out + keys_, -std::numeric_limits<float>::infinity());
  return each_stretch(labels_[static_cast<size_t>(query)],
                      [&](int begin, int end) { std::fill(out + begin, out + end, 0.0f); });
}

MaskRows::Summary MaskRows::write_bits(int query, std::uint32_t* words) const {
  return each_stretch(labels_[static_cast<size_t>(query)], [&](int begin, int end) {
    for (int word = begin / 32; word * 32 < end; ++word) {
      const int first = std::max(begin - word * 32, 0), last = std::min(end - word * 32, 32);
      words[word] |= ~std::uint32_t{0} >> (32 - (last - first)) << first;
    }
  });
}

int MaskRows::count_seen_by(const RowLabel& row) const {
  return each_stretch(row, [](int, int) {}).visible;
}

void check_window(const std::string& where, int window, std::span<const KvCache::Slot> slots,
                  std::span<const RowLabel> labels, const Segments& segments) {
  if (window == 0) return;
  for (const RowLabel& q : labels) {
    std::int32_t inside = 0, farthest = 0;
    const auto look = [&](const RowLabel& key) {
      if (!visible(q, key, segments)) return;
      inside += q.position - key.position < window;
      farthest = std::max(farthest, q.position - key.position);
    };
    for (const KvCache::Slot& slot : slots)
      if (slot.alive) look(slot.label);
    for (const RowLabel& key : labels) look(key);
    if (farthest >= window && inside < window)
      throw ModelError(
          where,
          str("the sliding window of ", window, " positions would hide a row ", farthest,
              " positions back that position ", q.position, " is to see, though only ", inside,
              " rows lie nearer: the layout has gaps; expected gaps inside the "
              "window; use a smaller K_max or stack, a shorter prompt, or a network "
              "without a sliding window"));
  }
}

}  // namespace pardec
