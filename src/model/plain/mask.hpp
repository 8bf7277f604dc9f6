#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/model/kv_cache.hpp"
#include "src/model/visibility.hpp"

namespace pardec {

/// Evaluates the visibility rule row by row for one step of a sequence. The queries are the new
/// rows. The keys are the cache's slots, followed by the new rows. A row costs time proportional to
/// the keys that it sees, not to all keys; this matters with thousands of branches that do not see
/// each other.
class MaskRows {
 public:
  /// In a layer with a sliding window, a row sees only the keys less than `window` positions back;
  /// 0: no window. `labels` and `segments` must outlive this object.
  MaskRows(std::span<const KvCache::Slot> slots, std::span<const RowLabel> labels,
           const Segments& segments, int window = 0);

  int keys() const { return keys_; }

  struct Summary {
    int visible = 0;  ///< number of visible keys
    int end = 0;      ///< index of the last visible key, plus one
  };
  /// Visibility for row `query` of the new rows, written to out[0 .. keys()): 0 for visible keys,
  /// -infinity for others.
  Summary write(int query, float* out) const;
  /// The same as bits: key k is bit k % 32 of word k / 32. REQUIRES: the words are zero.
  Summary write_bits(int query, std::uint32_t* words) const;
  /// Number of keys visible to a row with this label. The time depends on the number of visible
  /// stretches, not of keys.
  int count_seen_by(const RowLabel& row) const;

 private:
  /// Consecutive keys of one segment and rank. Order and position rise by one from key to key.
  struct Run {
    std::int32_t segment, rank;
    std::int32_t begin, count;     // keys
    std::int32_t order, position;  // of the first key
  };
  /// Calls take(begin, end) for each stretch of keys visible to row `q`, in no particular order.
  template <typename Take>
  Summary each_stretch(const RowLabel& q, Take&& take) const;

  std::span<const RowLabel> labels_;
  const Segments& segments_;
  int window_, keys_;
  std::vector<Run> runs_;  // sorted by segment
  // index of each segment's first run; at the end, the number of runs
  std::vector<size_t> first_run_;
};

/// Checks that a sliding window does not hide keys because of gaps in positions. A window counts
/// positions. In training, texts had no gaps, so the window hid a key only if there were `window`
/// nearer rows. With gaps between positions (K_max), or with hidden or dropped rows, a window can
/// hide a key although fewer than `window` visible rows are inside; the network would then lose
/// keys that the decoder's mask shows. ModelError, which starts with `where`: this is the case for
/// a new row. Does nothing if `window` is 0.
void check_window(const std::string& where, int window, std::span<const KvCache::Slot> slots,
                  std::span<const RowLabel> labels, const Segments& segments);

}  // namespace pardec
