#pragma once
#include <functional>
#include <string>
#include <vector>

#include "src/model/visibility.hpp"

namespace pardec {

/// Where branches and what follows them stand (paper, Eq. 4 and section 4.5.3). s: position of a
/// block's first token, L_k: length of branch k, r: index inside a branch. A branch's tokens stand
/// at s + r in every scheme but Fix-N; s + ... is where </Para> stands.
enum class AspdScheme {
  same_seq,  ///< s + sum L_k
  same_max,  ///< s + max L_k
  same_re,   ///< s + sum L_k, and branches move apart when the block closes
  fix,       ///< Fix-N: branch k stands at s + k N + r; s + K N
};

struct AspdPositions {
  AspdScheme scheme = AspdScheme::same_seq;
  int n = 0;  ///< N of Fix-N
};
/// `same-seq`, `same-max`, `same-re` or `fix-N`; anything else is a ConfigError.
AspdPositions parse_aspd_positions(const std::string& text);
std::string name(const AspdPositions& positions);

/// Labels of an answer's tokens: serial stages of one main branch, and blocks of parallel branches
/// between them. It is told what comes next, and knows no tokens; decoding asks in order of time,
/// training in flattened order.
///
/// Order is decode time t, one number a token of the main branch; the r-th token of every branch of
/// a block has t = the block's first + r. A stage is a visibility segment (each branch one of its
/// own) that sees all earlier stages: Eq. 2 and 3. With the shared mask the branches of a block are
/// one segment, order is 64 t + b and rank 64 t + 63 - b for branch b (0: main): what was decoded
/// earlier is seen, and of the same time oneself alone.
class AspdLayout {
 public:
  static constexpr int kMostSharedBranches = 63;
  /// Adds a segment that sees `sees`, and gives its number.
  using AddSegment = std::function<int(const std::vector<int>& sees)>;

  AspdLayout(const AspdPositions& positions, bool shared, AddSegment add_segment);

  /// Where the next token of the main branch will stand.
  int next_position() const { return position_; }
  /// The next token of the main branch.
  RowLabel main();

  /// A block of `branches` begins, one or more. REQUIRES: no block is open; with the shared mask at
  /// most kMostSharedBranches (std::logic_error).
  void open(int branches);
  /// Token r of branch k of the open block, both from 0.
  RowLabel branch(int k, int r) const;
  /// The block ends; lengths[k] = L_k, one a branch (std::logic_error).
  void close(const std::vector<int>& lengths);
  /// Whether the block's tokens must be fed again under `copy`: Same-Re.
  bool moves() const { return positions_.scheme == AspdScheme::same_re; }
  /// Token r of branch k of the block just closed, moved to s + (sum of L_m, m < k) + r. It sees
  /// earlier stages and its own branch; later stages see it in place of the one fed before.
  RowLabel copy(int k, int r) const;

 private:
  RowLabel label(int position, int t, int b, int segment) const;

  AspdPositions positions_;
  bool shared_;
  AddSegment add_segment_;
  std::vector<int> earlier_;  // segments that the running stage sees
  int trunk_ = 0;             // segment of the running serial stage
  int position_ = 0, t_ = 0;  // of the next token of the main branch
  bool open_ = false;
  int s_ = 0, block_t_ = 0;             // of the first tokens of the block
  std::vector<int> branches_, copies_;  // segments of the block
  std::vector<int> starts_;             // of the copies: positions of their first tokens
};

}  // namespace pardec
