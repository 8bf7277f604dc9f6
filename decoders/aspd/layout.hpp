#pragma once
#include <functional>
#include <string>
#include <vector>

#include "src/model/visibility.hpp"

namespace pardec {

/// The positions of branches and of the text after them (paper, Eq. 4 and section 4.5.3). s:
/// position of a block's first token; K: number of branches; L_k: length of branch k; r: index
/// inside a branch. Token r of a branch is at s + r, except in Fix-N. The values below are the
/// position of </Para>.
enum class AspdScheme {
  same_seq,  ///< s + sum L_k
  same_max,  ///< s + max L_k
  same_re,   ///< s + sum L_k, and branches move apart when the block closes
  fix,       ///< Fix-N: branch k is at s + k N + r; </Para> at s + K N
};

struct AspdPositions {
  AspdScheme scheme = AspdScheme::same_seq;
  int n = 0;  ///< N of Fix-N
};
/// `same-seq`, `same-max`, `same-re` or `fix-N`. ConfigError: another text.
AspdPositions parse_aspd_positions(const std::string& text);
std::string name(const AspdPositions& positions);

/// Labels of an answer's tokens: serial stages of one main branch, with blocks of parallel branches
/// between them. The caller announces what comes next; the layout does not know tokens. Decoding
/// requests labels in the order in which tokens are generated, training in flattened order.
///
/// Order is the decoding time t, which increases by one per token of the main branch. The r-th
/// token of each branch of a block has t = (first t of the block) + r. Each stage is a visibility
/// segment (each branch has its own) that sees all earlier stages: Eq. 2 and 3. With the shared
/// mask, the branches of a block are one segment; order is 64 t + b and rank is 64 t + 63 - b for
/// branch b (0: main). Thus a token sees all tokens of earlier times, and no other token of its own
/// time: of two tokens at one time, the one with the smaller order has the larger rank, so neither
/// sees the other. 64 is more than kMostSharedBranches.
class AspdLayout {
 public:
  static constexpr int kMostSharedBranches = 63;
  /// Adds a segment that sees `sees`, and returns its number.
  using AddSegment = std::function<int(const std::vector<int>& sees)>;

  AspdLayout(const AspdPositions& positions, bool shared, AddSegment add_segment);

  /// Position of the next token of the main branch.
  int next_position() const { return position_; }
  /// Label of the next token of the main branch.
  RowLabel main();

  /// Begins a block of `branches` branches, at least one. REQUIRES: no block is open; with the
  /// shared mask at most kMostSharedBranches (otherwise std::logic_error).
  void open(int branches);
  /// Label of token r of branch k of the open block, both from 0.
  RowLabel branch(int k, int r) const;
  /// Ends the block. lengths[k] = L_k, one per branch (otherwise std::logic_error).
  void close(const std::vector<int>& lengths);
  /// Whether the block's tokens must be computed again with the labels of `copy`: Same-Re.
  bool moves() const { return positions_.scheme == AspdScheme::same_re; }
  /// Label of token r of branch k of the block just closed, moved to s + (sum of L_m, m < k) + r.
  /// The copy sees earlier stages and its own branch. Later stages see the copy instead of the
  /// original.
  RowLabel copy(int k, int r) const;

 private:
  RowLabel label(int position, int t, int b, int segment) const;

  AspdPositions positions_;
  bool shared_;
  AddSegment add_segment_;
  std::vector<int> earlier_;  // segments visible to the current stage
  int trunk_ = 0;             // segment of the current serial stage
  int position_ = 0, t_ = 0;  // of the next token of the main branch
  bool open_ = false;
  int s_ = 0, block_t_ = 0;             // of the first tokens of the block
  std::vector<int> branches_, copies_;  // segments of the block
  std::vector<int> starts_;             // positions of the first tokens of the copies
};

}  // namespace pardec
