#pragma once
#include <span>
#include <vector>

#include "src/kernels/kernels.hpp"
#include "src/model/backend.hpp"
#include "src/model/network.hpp"
#include "src/model/plain/mask.hpp"

namespace pardec {

/// Attention of one pass of a packed network to the caches of its sequences, by the CPU's kernels.
/// Keys come in the order of slots: what sequences share is read in a
/// phase for all of them, the n-th shared rows in the n-th phase; then what is their own. (Cascade
/// inference; a query's result is the same as if nothing were shared.)
class PanelAttention {
 public:
  /// What `sequences` refer to outlives it.
  PanelAttention(const Model::Network& network, const Kernels& kernels,
                 std::span<const NewRows> sequences);

  /// Finds out who sees whom. Before the first `attend`.
  void prepare();

  size_t phases() const { return phases_.size(); }

  /// A phase in a layer: `mixed` [rows, heads * head_dim] bf16 are queries and, after the last
  /// phase, what they attend to.
  void attend(size_t layer, size_t phase, std::uint16_t* mixed);

 private:
  /// What each new row of a sequence sees, as bits: words of 32 keys.
  struct Masks {
    MaskRows rule;
    std::int64_t stride;               // words of a row
    std::vector<std::uint32_t> words;  // [rows, stride]
  };
  /// The new rows of one sequence, among all.
  struct Part {
    KvCache::Storage* cache;
    std::int64_t begin, count;
    std::vector<Masks> masks;  // by kind of layer
  };
  /// A query: a row of a part.
  struct Reader {
    size_t part;
    std::int64_t row;
  };
  /// Readers of the same keys, which share passes over them.
  struct Group {
    const SharedRows* shared;   // null: the own slots of the readers' cache
    std::int64_t first_slot;    // of these keys, in the sequence
    std::int64_t slots;         // how many there are
    std::int64_t begin, count;  // readers
    /// By kind of layer: blocks of 32 keys that one of them sees.
    std::vector<std::vector<std::int32_t>> blocks;
  };

  void plan();
  void add_groups(const std::vector<size_t>& parts, Group keys);
  void find_blocks(Group& group) const;
  std::int64_t group_readers() const;
  /// Pairs of a group and a key head of that phase that are a piece of work.
  std::int64_t grain(size_t phase) const;
  void attend_head(const Group& group, size_t layer, std::int64_t head, int member,
                   std::uint16_t* mixed);
  const std::uint32_t* mask(const Group& group, std::int64_t reader, size_t kind) const;

  const ModelConfig& config_;
  const Kernels& k_;
  const std::int64_t group_;  // heads that share keys
  std::vector<int> windows_;  // by kind of layer: without a window, with it; what some layer has
  std::vector<Part> parts_;
  std::vector<Reader> readers_;
  std::vector<Group> groups_;                      // phase after phase
  std::vector<std::pair<size_t, size_t>> phases_;  // [first, last) of the groups
  at::Tensor states_;   // between phases, by row and key head; one phase needs none
  at::Tensor scratch_;  // by member of the team
};

}  // namespace pardec
