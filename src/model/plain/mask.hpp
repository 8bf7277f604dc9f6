#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/model/kv_cache.hpp"
#include "src/model/visibility.hpp"

namespace pardec {

/// The visibility rule of one sequence's step, ready to be evaluated for row after row: the keys
/// are the cache's slots and then the new rows, the queries the new rows. It costs what a row sees,
/// not what there is: a thousand branches know nothing of one another.
class MaskRows {
 public:
  /// In a layer with a sliding window a row sees, of these, the keys less than `window` positions
  /// back; 0: no window. `labels` and `segments` outlive it.
  MaskRows(std::span<const KvCache::Slot> slots, std::span<const RowLabel> labels,
           const Segments& segments, int window = 0);

  int keys() const { return keys_; }

  struct Summary {
    int visible = 0;  ///< number of keys seen
    int end = 0;      ///< the last key seen, plus one
  };
  /// What row `query` of the new rows sees: 0 where it sees key k, else -infinity, into out[0 ..
  /// keys()).
  Summary write(int query, float* out) const;
  /// The same as bits: key k is bit k % 32 of word k / 32; the words are zero before.
  Summary write_bits(int query, std::uint32_t* words) const;
  /// How many of the keys any row of this label sees; costs the stretches that it sees, not keys.
  int count_seen_by(const RowLabel& row) const;

 private:
  /// Keys that follow one another in a segment: order and position rise by one from each to the
  /// next.
  struct Run {
    std::int32_t segment, rank;
    std::int32_t begin, count;     // keys
    std::int32_t order, position;  // of the first
  };
  /// Calls take(begin, end) for each stretch of keys that row `q` sees, in no order.
  template <typename Take>
  Summary each_stretch(const RowLabel& q, Take&& take) const;

  std::span<const RowLabel> labels_;
  const Segments& segments_;
  int window_, keys_;
  std::vector<Run> runs_;          // by segment
  std::vector<size_t> first_run_;  // of each segment, and the number of all
};

/// A sliding window counts positions, and was trained on texts without gaps, where it cuts a key
/// off only behind `window` nearer rows. So a new row is an error (ModelError, which starts with
/// `where`) when the window cuts off a key that the rule shows it while fewer than `window` rows
/// that it sees lie inside: gaps between positions (K_max), or hidden and dropped rows, then stand
/// in for text, and the network would forget what the decoder's mask shows. Says nothing where
/// `window` is 0.
void check_window(const std::string& where, int window, std::span<const KvCache::Slot> slots,
                  std::span<const RowLabel> labels, const Segments& segments);

}  // namespace pardec
