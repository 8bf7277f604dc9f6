#include "src/model/packed/panel_attention.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "src/kernels/team.hpp"
#include "src/model/device.hpp"
#include "src/model/packed/bfloat16_bits.hpp"

namespace pardec {

namespace {

constexpr std::int64_t kQueries = 28;  // queries that share a pass over the keys
constexpr std::int64_t kRows = 8;      // rows whose masks make one piece of work
constexpr std::int64_t kGroups = 4;    // groups whose blocks make one piece of work
constexpr std::int64_t kWork =
    40'000;  // per piece of work: numbers of keys that are multiplied with queries
constexpr std::int64_t kOfOneKey = 4;  // cost of reading one key, in the same unit

}  // namespace

PanelAttention::PanelAttention(const Model::Network& network, const Kernels& kernels,
                               std::span<const NewRows> sequences)
    : config_(network.config),
      k_(kernels),
      group_(config_.heads / config_.kv_heads),
      windows_(config_.windows()) {
  std::int64_t rows = 0;
  for (const NewRows& sequence : sequences) {
    parts_.push_back({sequence.cache, rows, std::ssize(sequence.tokens), {}});
    Part& part = parts_.back();
    for (const int window : windows_) {
      MaskRows rule(part.cache->slots, sequence.labels, *sequence.segments, window);
      const std::int64_t stride = (rule.keys() + kPanel - 1) / kPanel;
      part.masks.push_back({std::move(rule), stride,
                            std::vector<std::uint32_t>(static_cast<size_t>(part.count * stride))});
    }
    rows += part.count;
  }
  plan();
  const auto options = at::TensorOptions().dtype(at::kFloat);
  const std::int64_t dim = config_.head_dim;
  if (phases() > 1)
    states_ = at::empty({rows, config_.kv_heads, attention_state(group_, dim)}, options);
  scratch_ = at::empty({threads(), attention_scratch(group_readers(), group_, dim)}, options);
}

void PanelAttention::plan() {
  const auto end_phase = [&] {
    phases_.emplace_back(phases_.empty() ? 0 : phases_.back().second, groups_.size());
  };
  for (size_t level = 0;; ++level) {
    std::map<std::pair<const SharedRows*, std::int64_t>, std::vector<size_t>> sharing;
    for (size_t i = 0; i < parts_.size(); ++i)
      if (const auto& shared = parts_[i].cache->shared; level < shared.size())
        sharing[{shared[level].rows.get(), shared[level].slots}].push_back(i);
    if (sharing.empty()) break;
    for (const auto& [keys, parts] : sharing) {
      std::int64_t first_slot = 0;
      for (size_t before = 0; before < level; ++before)
        first_slot += parts_[parts.front()].cache->shared[before].slots;
      add_groups(parts, {.shared = keys.first, .first_slot = first_slot, .slots = keys.second});
    }
    end_phase();
  }
  for (size_t i = 0; i < parts_.size(); ++i) {
    const KvCache::Storage& cache = *parts_[i].cache;
    add_groups({i}, {.shared = nullptr,
                     .first_slot = cache.shared_slots,
                     .slots = cache.own() + parts_[i].count});
  }
  end_phase();
}

/// Adds groups for all queries of some parts, which read `keys`.
void PanelAttention::add_groups(const std::vector<size_t>& parts, Group keys) {
  const std::int64_t first = std::ssize(readers_), most = group_readers();
  for (const size_t part : parts)
    for (std::int64_t row = 0; row < parts_[part].count; ++row) readers_.push_back({part, row});
  for (keys.begin = first; keys.begin < std::ssize(readers_); keys.begin += most) {
    keys.count = std::min(most, std::ssize(readers_) - keys.begin);
    groups_.push_back(keys);
  }
}

std::int64_t PanelAttention::group_readers() const {
  return std::max<std::int64_t>(1, kQueries / group_);
}

void PanelAttention::prepare() {
  for (Part& part : parts_)
    team().run(part.count, kRows, [&](int, std::int64_t first, std::int64_t last) {
      for (Masks& masks : part.masks)
        for (std::int64_t row = first; row < last; ++row)
          masks.rule.write_bits(static_cast<int>(row), masks.words.data() + row * masks.stride);
    });
  team().run(std::ssize(groups_), kGroups, [&](int, std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) find_blocks(groups_[static_cast<size_t>(i)]);
  });
}

/// The mask of one of the group's readers, starting at the group's first key.
const std::uint32_t* PanelAttention::mask(const Group& group, std::int64_t reader,
                                          size_t kind) const {
  const Reader& at = readers_[static_cast<size_t>(group.begin + reader)];
  const Masks& masks = parts_[at.part].masks[kind];
  return masks.words.data() + at.row * masks.stride + group.first_slot / kPanel;
}

void PanelAttention::find_blocks(Group& group) const {
  for (size_t kind = 0; kind < windows_.size(); ++kind) {
    std::vector<std::uint32_t> any(static_cast<size_t>((group.slots + kPanel - 1) / kPanel));
    for (std::int64_t i = 0; i < group.count; ++i) {
      const std::uint32_t* words = mask(group, i, kind);
      for (size_t block = 0; block < any.size(); ++block) any[block] |= words[block];
    }
    std::vector<std::int32_t>& blocks = group.blocks.emplace_back();
    for (size_t block = 0; block < any.size(); ++block)
      if (any[block] != 0) blocks.push_back(static_cast<std::int32_t>(block));
  }
}

std::int64_t PanelAttention::grain(size_t phase) const {
  const auto [first, last] = phases_[phase];
  std::int64_t work = 0;
  for (size_t i = first; i < last; ++i)
    work += groups_[i].slots * config_.head_dim * (kOfOneKey + groups_[i].count * group_);
  const auto groups = static_cast<std::int64_t>(last - first);
  return std::max<std::int64_t>(1, kWork * groups / std::max<std::int64_t>(work, 1));
}

void PanelAttention::attend(size_t layer, size_t phase, const float* sinks, std::uint16_t* mixed) {
  const auto [first, last] = phases_[phase];
  const std::int64_t kv_heads = config_.kv_heads;
  team().run(static_cast<std::int64_t>(last - first) * kv_heads, grain(phase),
             [&, begin = first](int member, std::int64_t from, std::int64_t to) {
               for (std::int64_t task = from; task < to; ++task)
                 attend_head(groups_[begin + static_cast<size_t>(task / kv_heads)], layer,
                             task % kv_heads, member, sinks, mixed);
             });
}

void PanelAttention::attend_head(const Group& group, size_t layer, std::int64_t head, int member,
                                 const float* sinks, std::uint16_t* mixed) {
  const std::int64_t dim = config_.head_dim, heads = config_.heads, kv_heads = config_.kv_heads;
  const std::int64_t state = attention_state(group_, dim);
  const size_t kind = config_.window(layer) > 0 ? windows_.size() - 1 : 0;
  std::array<Attention::Token, kQueries> tokens;
  for (std::int64_t i = 0; i < group.count; ++i) {
    const Reader& reader = readers_[static_cast<size_t>(group.begin + i)];
    const std::int64_t row = parts_[reader.part].begin + reader.row;
    std::uint16_t* query = mixed + (row * heads + head * group_) * dim;
    tokens[static_cast<size_t>(i)] = {
        .query = query,
        .out = query,
        .mask = mask(group, i, kind),
        .state = states_.defined()
                     ? states_.mutable_data_ptr<float>() + (row * kv_heads + head) * state
                     : nullptr};
  }
  const KvCache::Storage& own = *parts_[readers_[static_cast<size_t>(group.begin)].part].cache;
  const at::Tensor& keys = (group.shared ? group.shared->keys : own.keys)[layer];
  const at::Tensor& values = (group.shared ? group.shared->values : own.values)[layer];
  k_.attend({.tokens = tokens.data(),
             .count = group.count,
             .group = group_,
             .dim = dim,
             .keys = bits(keys) + head * keys.stride(0),
             .values = bits(values) + head * values.stride(0),
             .end = group.slots,
             .blocks = group.blocks[kind].data(),
             .block_count = std::ssize(group.blocks[kind]),
             .scale = 1.0f / std::sqrt(static_cast<float>(config_.block.query_scalar)),
             .cap = static_cast<float>(config_.block.attention_cap),
             .sinks = sinks ? sinks + head * group_ : nullptr,
             .first = group.first_slot == 0,
             .last = !group.shared},
            scratch_.mutable_data_ptr<float>() + member * scratch_.stride(0));
}

}  // namespace pardec
