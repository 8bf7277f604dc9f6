#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/model/kv_cache.hpp"
#include "src/model/visibility.hpp"

namespace pardec {

/// Evaluates the visibility rule row by row for one step of a sequence. The queries are the new
/// rows. The keys are the cache's slots, followed by the new rows. The time to evaluate the rule
/// for a row is proportional to the number of keys that the row sees, not to the number of all
/// keys. This matters with thousands of branches that do not see each other.
class MaskRows {
 public:
  /// `slots`: the slots of the cache. `labels`: the labels of the new rows. `window`: sliding
  /// window of the layer; a row sees only keys that are less than `window` positions back. 0: no
  /// window. `labels` and `segments` must outlive this object.
  MaskRows(std::span<const KvCache::Slot> slots, std::span<const RowLabel> labels,
           const Segments& segments, int window = 0);

  int keys() const { return keys_; }  ///< number of keys, including dropped slots

  /// The keys that one row sees.
  struct Summary {
    int visible = 0;  ///< number of visible keys
    int end = 0;      ///< index of the last visible key, plus one; 0: no key is visible
  };
  /// Writes the mask of new row `query` (an index in `labels`) to out[0], ..., out[keys() - 1]: 0
  /// for visible keys, -infinity for all others.
  Summary write(int query, float* out) const;
  /// Sets the bits of the keys visible to new row `query`: bit k % 32 of word k / 32 for key k.
  /// REQUIRES: all words are zero.
  Summary write_bits(int query, std::uint32_t* words) const;
  /// Number of keys visible to a row with this label, which need not be a new row. This is fast,
  /// because the function adds up the lengths of stretches of consecutive keys and does not visit
  /// single keys.
  int count_seen_by(const RowLabel& row) const;

 private:
  /// Consecutive keys with the same segment and rank. Order and position increase by one from key
  /// to key.
  struct Run {
    std::int32_t segment, rank;
    std::int32_t begin, count;     // keys
    std::int32_t order, position;  // of the first key
  };
  /// Calls take(begin, end) for each stretch [begin, end) of keys visible to row `q`, in no
  /// particular order.
  template <typename Take>
  Summary each_stretch(const RowLabel& q, Take&& take) const;

  std::span<const RowLabel> labels_;
  const Segments& segments_;
  int window_, keys_;
  std::vector<Run> runs_;  // sorted by segment
  // index of each segment's first run; at the end, the number of runs
  std::vector<size_t> first_run_;
};

/// Checks each new row: if the sliding window hides a key that `visible` permits, at least `window`
/// permitted keys must be inside the window. This was so when the network was trained, because
/// positions had no gaps. A decoder may leave gaps between positions (K_max of hpd), and may hide
/// or drop rows. Then the window could hide a key although fewer than `window` keys are nearer, a
/// case that the network has never seen. ModelError, which starts with `where`: a new row fails the
/// check. If `window` is 0, nothing is checked.
void check_window(const std::string& where, int window, std::span<const KvCache::Slot> slots,
                  std::span<const RowLabel> labels, const Segments& segments);

}  // namespace pardec
