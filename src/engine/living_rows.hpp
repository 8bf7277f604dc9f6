#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "src/model/kv_cache.hpp"
#include "src/model/visibility.hpp"

namespace pardec {

/// Indexes a sequence's live rows by segment. A sequence can have thousands of branches; the index
/// avoids comparing each row with the rows of every other branch.
class LivingRows {
 public:
  /// `slots` and `segments` must outlive this object, and must not change meanwhile.
  LivingRows(std::span<const KvCache::Slot> slots, const Segments& segments) : segments_(segments) {
    const auto count = static_cast<size_t>(segments.count());
    begin_.resize(count + 1);
    for (const KvCache::Slot& slot : slots)
      if (slot.alive) ++begin_[static_cast<size_t>(slot.label.segment) + 1];
    for (size_t s = 0; s < count; ++s) {
      if (begin_[s + 1] > 0) inhabited_.push_back(static_cast<int>(s));
      begin_[s + 1] += begin_[s];
    }
    rows_.resize(begin_.back());
    std::vector<size_t> next(begin_.begin(), begin_.end() - 1);
    for (const KvCache::Slot& slot : slots)
      if (slot.alive) rows_[next[static_cast<size_t>(slot.label.segment)]++] = &slot;
  }

  /// Calls `found` for each live slot that is visible to a row with this label, one segment after
  /// another.
  template <typename Found>
  void seen_by(const RowLabel& row, const Found& found) const {
    for (const int segment : inhabited_) {
      if (!segments_.sees(row.segment, segment)) continue;
      const auto s = static_cast<size_t>(segment);
      for (size_t i = begin_[s]; i < begin_[s + 1]; ++i)
        if (visible(row, rows_[i]->label, segments_)) found(*rows_[i]);
    }
  }

 private:
  const Segments& segments_;
  std::vector<int> inhabited_;  // segments with rows
  std::vector<size_t> begin_;  // start index of each segment's rows; at the end, the number of rows
  std::vector<const KvCache::Slot*> rows_;
};

}  // namespace pardec
