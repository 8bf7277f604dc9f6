#pragma once
#include <functional>
#include <string>
#include <vector>

#include "src/model/visibility.hpp"

namespace pardec {

/// The positions of branches and of the text after them (paper, Eq. 4 and section 4.5.3). s is the
/// position of a block's first token, K the number of branches, L_k the length of branch k, and r
/// the index of a token within its branch. Token r of a branch is at s + r, except with Fix-N.
enum class AspdScheme {
  same_seq,  ///< </Para> is at s + sum L_k
  same_max,  ///< </Para> is at s + max L_k
  /// </Para> is at s + sum L_k; when the block closes, the branches move to consecutive positions
  same_re,
  fix,  ///< Fix-N: token r of branch k is at s + k N + r; </Para> is at s + K N
};

/// A scheme of positions, with its parameter.
struct AspdPositions {
  AspdScheme scheme = AspdScheme::same_seq;
  int n = 0;  ///< N of Fix-N
};
/// Parses `same-seq`, `same-max`, `same-re` or `fix-N`, where N is 1 to kMostGap. ConfigError:
/// another text.
AspdPositions parse_aspd_positions(const std::string& text);
/// The text that parse_aspd_positions parses.
std::string name(const AspdPositions& positions);

/// Gives labels to the tokens of a prompt and of its answer. The prompt comes first: main() is
/// called for each of its tokens, and the first one has position 0. The answer has serial stages of
/// the main branch, with blocks of parallel branches between them. The caller decides what kind of
/// token comes next, by the function that it calls; the layout does not know ids. Decoding asks for
/// labels in the order in which tokens are generated, and training in flattened order (branch after
/// branch).
///
/// Each token has a decoding time t, which increases by one per token of the main branch. Token r
/// of each branch of a block has time (first time of the block) + r. The main branch continues at
/// (first time of the block) + max L_k. Each serial stage and each branch is a segment that sees
/// all earlier stages (Eq. 2 and 3). A token's order is t, and its rank is 0.
///
/// With the shared mask, all branches of a block are one segment. The order of a token is 64 t + b,
/// and its rank is 64 t + 63 - b, where b is the number of its branch (0: the main branch; 64 is
/// more than kMostSharedBranches). Thus a token sees all tokens of earlier times, but no other
/// token of its own time: of two tokens with the same time, the one with the smaller order has the
/// larger rank, so neither sees the other.
class AspdLayout {
 public:
  static constexpr int kMostSharedBranches = 63;
  /// Adds a segment that sees `sees`, and returns its number.
  using AddSegment = std::function<int(const std::vector<int>& sees)>;

  /// `shared`: whether the mask is shared. `add_segment`: adds the segments of the answer.
  AspdLayout(const AspdPositions& positions, bool shared, AddSegment add_segment);

  /// The position of the next token of the main branch.
  int next_position() const { return position_; }
  /// Returns the label of the next token of the main branch, and moves on to the token after it.
  /// REQUIRES: no block is open.
  RowLabel main();

  /// Begins a block. REQUIRES: no block is open; `branches` is at least 1, and with the shared mask
  /// at most kMostSharedBranches; otherwise std::logic_error.
  void open(int branches);
  /// The label of token r of branch k of the open block; k and r count from 0. REQUIRES: k is below
  /// the number of branches.
  RowLabel branch(int k, int r) const;
  /// Ends the block. lengths[k] is L_k. REQUIRES: a block is open, and there is one length per
  /// branch; otherwise std::logic_error.
  void close(const std::vector<int>& lengths);
  /// Whether the tokens of each closed block must be computed again, with the labels of copy()
  /// (Same-Re).
  bool moves() const { return positions_.scheme == AspdScheme::same_re; }
  /// The label of the copy of token r of branch k, for the block that was closed last. Its position
  /// is s + (sum of L_m for m < k) + r. A copied token sees earlier stages and the copies of its
  /// own branch. Later stages see the copies, not the originals. REQUIRES: moves().
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
