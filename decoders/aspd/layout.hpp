#pragma once
#include <functional>
#include <string>
#include <vector>

#include "src/model/visibility.hpp"

namespace pardec {

/// The positions of branches and of the text after them (paper, Eq. 4 and section 4.5.3). s is the
/// position of a block's first token, K the number of branches, L_k the length of branch k, and r
/// the index of a token within its branch. Token r of a branch is at s + r, except with Fix-N. Each
/// scheme gives the following position to </Para>.
enum class AspdScheme {
  same_seq,  ///< s + sum L_k
  same_max,  ///< s + max L_k
  same_re,   ///< s + sum L_k; the branches move apart when the block closes
  fix,       ///< Fix-N: branch k is at s + k N + r; </Para> at s + K N
};

struct AspdPositions {
  AspdScheme scheme = AspdScheme::same_seq;
  int n = 0;  ///< N of Fix-N
};
/// `same-seq`, `same-max`, `same-re` or `fix-N`. ConfigError: another text.
AspdPositions parse_aspd_positions(const std::string& text);
std::string name(const AspdPositions& positions);

/// Gives labels to the tokens of an answer: serial stages of the main branch, with blocks of
/// parallel branches between them. The caller says what kind of token comes next; the layout does
/// not know ids. Decoding asks for labels in the order in which tokens are generated, training in
/// flattened order.
///
/// The order is the decoding time t, which increases by one per token of the main branch. Token r
/// of each branch of a block has time (first time of the block) + r. Each serial stage and each
/// branch is a segment that sees all earlier stages (Eq. 2 and 3). With the shared mask, all
/// branches of a block are one segment. The order of a token is then 64 t + b, and its rank 64 t +
/// 63 - b, where b is the number of its branch (0: main; 64 is more than kMostSharedBranches). Thus
/// a token sees all tokens of earlier times, but no other token of its own time: of two tokens with
/// the same time, the one with the smaller order has the larger rank, so neither sees the other.
class AspdLayout {
 public:
  static constexpr int kMostSharedBranches = 63;
  /// Adds a segment that sees `sees`, and returns its number.
  using AddSegment = std::function<int(const std::vector<int>& sees)>;

  AspdLayout(const AspdPositions& positions, bool shared, AddSegment add_segment);

  /// The position of the next token of the main branch.
  int next_position() const { return position_; }
  /// Returns the label of the next token of the main branch, and advances.
  RowLabel main();

  /// Begins a block. REQUIRES: no block is open; `branches` is at least 1, and with the shared mask
  /// at most kMostSharedBranches; otherwise std::logic_error.
  void open(int branches);
  /// The label of token r of branch k of the open block; both count from 0.
  RowLabel branch(int k, int r) const;
  /// Ends the block. lengths[k] is L_k. REQUIRES: one length per branch; otherwise
  /// std::logic_error.
  void close(const std::vector<int>& lengths);
  /// Whether the block's tokens must be computed again with the labels of copy() (Same-Re).
  bool moves() const { return positions_.scheme == AspdScheme::same_re; }
  /// The label of the copy of token r of branch k, for the block that was closed last. Its position
  /// is s + (sum of L_m for m < k) + r. The copy sees earlier stages and its own branch. Later
  /// stages see the copy, not the original.
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
  int s_ = 0, block_t_ = 0;             // position and time of the block's first tokens
  std::vector<int> branches_, copies_;  // segments of the block
  std::vector<int> starts_;             // positions of the first tokens of the copies
};

}  // namespace pardec
