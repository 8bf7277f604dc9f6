#pragma once
#include <span>
#include <vector>

#include "src/kernels/kernels.hpp"
#include "src/model/backend.hpp"
#include "src/model/network.hpp"
#include "src/model/plain/mask.hpp"

namespace pardec {

/// Attention of one forward pass over the caches of several sequences, with the CPU kernels. Keys
/// are read in the order of slots, in phases. Phase n reads the n-th shared part of each sequence,
/// once for all sequences that have this part in common. The last phase reads the sequences' own
/// memory. (This is cascade inference. The result is the same as without sharing.)
class PanelAttention {
 public:
  /// `network`, `kernels` and the objects that `sequences` refers to must outlive this object.
  PanelAttention(const Model::Network& network, const Kernels& kernels,
                 std::span<const NewRows> sequences);

  /// Evaluates visibility. Call once, before the first `attend`.
  void prepare();

  /// Number of phases, at least 1.
  size_t phases() const { return phases_.size(); }

  /// Computes one phase of a layer. `mixed` [rows, heads * head_dim] bf16 contains the queries; the
  /// last phase replaces them with the outputs of attention. REQUIRES: prepare() was called; the
  /// layer's keys and values of the new rows are in the caches; the phases of a layer are computed
  /// in ascending order. `sinks`: [heads] (BlockSpec::sinks), or null.
  void attend(size_t layer, size_t phase, const float* sinks, std::uint16_t* mixed);

 private:
  /// The keys visible to each new row of a sequence: one bit per key, 32 keys per word.
  struct Masks {
    MaskRows rule;
    std::int64_t stride;               // words per row
    std::vector<std::uint32_t> words;  // [rows, stride]
  };
  /// The new rows of one sequence, as a range of all rows of the pass.
  struct Part {
    KvCache::Storage* cache;
    std::int64_t begin, count;
    std::vector<Masks> masks;  // one per entry of windows_
  };
  /// A query: one row of a part.
  struct Reader {
    size_t part;
    std::int64_t row;
  };
  /// Readers of the same keys. The kernels read these keys once for several readers.
  struct Group {
    const SharedRows* shared;   // null: the keys are in the cache's own memory
    std::int64_t first_slot;    // index of the first of these keys in the sequence
    std::int64_t slots;         // number of these keys
    std::int64_t begin, count;  // the range of readers
    /// Per entry of windows_: the blocks of 32 keys that at least one reader sees.
    std::vector<std::vector<std::int32_t>> blocks;
  };

  void plan();
  void add_groups(const std::vector<size_t>& parts, Group keys);
  void find_blocks(Group& group) const;
  std::int64_t group_readers() const;
  /// Size of one piece of work in this phase, in (group, key head) pairs.
  std::int64_t grain(size_t phase) const;
  void attend_head(const Group& group, size_t layer, std::int64_t head, int member,
                   const float* sinks, std::uint16_t* mixed);
  const std::uint32_t* mask(const Group& group, std::int64_t reader, size_t kind) const;

  const ModelConfig& config_;
  const Kernels& k_;
  const std::int64_t group_;  // number of query heads that share a key head
  std::vector<int> windows_;  // ModelConfig::windows(): the kinds of layers
  std::vector<Part> parts_;
  std::vector<Reader> readers_;
  std::vector<Group> groups_;                      // in the order of phases
  std::vector<std::pair<size_t, size_t>> phases_;  // [first, last) of the groups
  at::Tensor states_;   // results between phases, by row and key head; undefined with one phase
  at::Tensor scratch_;  // one per member of the team
};

}  // namespace pardec
