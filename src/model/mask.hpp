#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/model/kv_cache.hpp"
#include "src/model/visibility.hpp"

namespace pardec {

/// The visibility rule of one sequence's step, ready to be written out row by row: the keys are the
/// cache's slots and then the new rows, the queries the new rows. Plain arrays, so that the
/// compiler vectorises the loop over keys.
class MaskRows {
 public:
  /// In a layer with a sliding window a row sees, of these, the keys less than `window` positions
  /// back; 0: no window.
  MaskRows(std::span<const KvCache::Slot> slots, std::span<const RowLabel> labels,
           const Segments& segments, int window = 0);

  int keys() const { return static_cast<int>(order_.size()); }

  /// What row `query` of the new rows sees: 0 where it sees key k, else -infinity, into out[0 ..
  /// keys()).
  struct Summary {
    int visible;  ///< number of keys seen
    int end;      ///< the last key seen, plus one
  };
  Summary write(int query, float* out);

 private:
  std::span<const RowLabel> labels_;
  const Segments& segments_;
  int window_;
  std::vector<std::int32_t> order_, rank_, segment_, position_;  // of each key; segment -1: dead
  std::vector<std::int32_t> open_;  // of each key, for segment open_for_: alive and in what it sees
  std::int32_t open_for_ = -1;
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
