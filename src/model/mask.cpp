#include "src/model/mask.hpp"

#include <algorithm>
#include <limits>

namespace pardec {

MaskRows::MaskRows(std::span<const KvCache::Slot> slots, std::span<const RowLabel> labels,
                   const Segments& segments)
    : labels_(labels), segments_(segments) {
  const size_t keys = slots.size() + labels.size();
  order_.reserve(keys);
  rank_.reserve(keys);
  segment_.reserve(keys);
  const auto add = [&](const RowLabel& label, bool alive) {
    order_.push_back(label.order);
    rank_.push_back(label.rank);
    segment_.push_back(alive ? label.segment : -1);
  };
  for (const KvCache::Slot& slot : slots) add(slot.label, slot.alive);
  for (const RowLabel& label : labels) add(label, true);
  open_.resize(keys);
}

MaskRows::Summary MaskRows::write(int query, float* out) {
  const RowLabel& q = labels_[static_cast<size_t>(query)];
  const int count = keys();
  if (q.segment != open_for_) {  // queries of one segment stand together as a rule
    std::int32_t last = -1;
    std::int32_t last_open = 0;
    for (int k = 0; k < count; ++k) {
      if (segment_[static_cast<size_t>(k)] != last) {
        last = segment_[static_cast<size_t>(k)];
        last_open = last >= 0 && segments_.sees(q.segment, last);
      }
      open_[static_cast<size_t>(k)] = last_open;
    }
    open_for_ = q.segment;
  }
  const std::int32_t* order = order_.data();
  const std::int32_t* rank = rank_.data();
  const std::int32_t* open = open_.data();
  constexpr float kHidden = -std::numeric_limits<float>::infinity();
  std::int32_t visible = 0, end = 0;
  for (std::int32_t k = 0; k < count; ++k) {
    const std::int32_t sees = open[k] & static_cast<std::int32_t>(order[k] <= q.order) &
                              static_cast<std::int32_t>(rank[k] <= q.rank);
    out[k] = sees ? 0.0f : kHidden;
    visible += sees;
    end = std::max(end, sees * (k + 1));
  }
  return {visible, end};
}

}  // namespace pardec
