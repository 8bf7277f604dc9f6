#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "src/model/kv_cache.hpp"
#include "src/model/visibility.hpp"

namespace pardec {

/// The visibility rule of one sequence's step, ready to be written out row by row: the keys are the
/// cache's slots and then the new rows, the queries the new rows. Plain arrays, so that the
/// compiler vectorises the loop over keys.
class MaskRows {
 public:
  MaskRows(std::span<const KvCache::Slot> slots, std::span<const RowLabel> labels,
           const Segments& segments);

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
  std::vector<std::int32_t> order_, rank_, segment_;  // of each key; segment -1: dead
  std::vector<std::int32_t> open_;  // of each key, for segment open_for_: alive and in what it sees
  std::int32_t open_for_ = -1;
};

}  // namespace pardec
