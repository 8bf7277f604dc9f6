#include "src/model/mask.hpp"

#include <algorithm>
#include <limits>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

MaskRows::MaskRows(std::span<const KvCache::Slot> slots, std::span<const RowLabel> labels,
                   const Segments& segments, int window)
    : labels_(labels), segments_(segments), window_(window) {
  const size_t keys = slots.size() + labels.size();
  order_.reserve(keys);
  rank_.reserve(keys);
  segment_.reserve(keys);
  position_.reserve(keys);
  const auto add = [&](const RowLabel& label, bool alive) {
    order_.push_back(label.order);
    rank_.push_back(label.rank);
    segment_.push_back(alive ? label.segment : -1);
    position_.push_back(label.position);
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
  const std::int32_t* position = position_.data();
  const std::int32_t nearest = window_ > 0 ? q.position - window_ : -1;  // hidden, as all before
  constexpr float kHidden = -std::numeric_limits<float>::infinity();
  std::int32_t visible = 0, end = 0;
  for (std::int32_t k = 0; k < count; ++k) {
    const std::int32_t sees = open[k] & static_cast<std::int32_t>(order[k] <= q.order) &
                              static_cast<std::int32_t>(rank[k] <= q.rank) &
                              static_cast<std::int32_t>(position[k] > nearest);
    out[k] = sees ? 0.0f : kHidden;
    visible += sees;
    end = std::max(end, sees * (k + 1));
  }
  return {visible, end};
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
