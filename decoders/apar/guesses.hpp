#pragma once
// Medusa-APAR (arXiv:2401.06761, section 3.1): extra heads make guesses after the last token of
// each thread, and one forward pass verifies all of them. A guess sees the rows that its thread
// sees, and the guesses before it on its path in the tree of guesses.
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "decoders/medusa/tree.hpp"

namespace pardec {

/// The guesses after the last token of one thread, in the order of their rows. A
/// default-constructed object has no guesses.
class Guesses {
 public:
  Guesses() = default;
  /// `tokens`: the result of fill_tree; tokens[i] is the guess at node i of `tree`. `tree` must
  /// outlive this object.
  Guesses(const MedusaTree& tree, Tokens tokens) : tree_(&tree), tokens_(std::move(tokens)) {}

  int count() const { return static_cast<int>(tokens_.size()); }
  /// Adds the guesses to a step, after the thread's last token, which has position `position` and
  /// row number `row` in the sequence. segments[i]: segment of the guess at node i. REQUIRES: the
  /// thread's last token is the last token of the step; at least count() segments.
  void feed(Step& step, int position, int row, std::span<const int> segments);
  /// Accepts the guess `token` after the last accepted guess (at first, after the thread's last
  /// token), and returns the index of the guess's node. None: no guess at this place is `token`.
  std::optional<int> accept(Token token);
  /// The tokens on the path of first children (the best guesses) after the last accepted guess.
  Tokens first_line() const;
  /// The row number of the guess at node `guess`. REQUIRES: feed() was called.
  int row(int guess) const { return root_ + 1 + guess; }
  /// Call this after the last accept(). Drops the rows of the guesses that were not accepted, and
  /// counts guesses and accepted guesses in the sequence's counters (Counters::count_draft).
  void settle(Sequence& sequence) const;

 private:
  const MedusaTree* tree_ = nullptr;
  Tokens tokens_;
  int root_ = 0;  // row of the thread's last token
  std::vector<int> accepted_;
};

/// Makes the guesses for all threads of a sequence. With an empty tree, there are no guesses.
class Guesser {
 public:
  /// `never`: an id that is never guessed. `sequence` must outlive this object.
  Guesser(MedusaTree tree, Token never, Sequence& sequence)
      : tree_(std::move(tree)), never_(never), sequence_(sequence) {}
  Guesser(const Guesser&) = delete;
  Guesser& operator=(const Guesser&) = delete;

  /// Whether the tree is not empty, so that there are guesses.
  bool guesses() const { return tree_.depth() > 0; }
  /// Adds the segments of the guesses that follow the tokens of a node of the paragraph tree
  /// (decoders/apar/tree.hpp). Call this once for each node, in the order of the nodes' indices.
  /// `sees`: the segments that the tokens of this node see, including their own segment.
  void open_node(const std::vector<int>& sees);
  /// The outputs of extra heads to request for token `index` of the step: one per level of the
  /// tree, but at most `room`. `room`: maximum number of consecutive guesses that can still be
  /// accepted.
  std::vector<OutputRequest> ask(int index, int room) const;
  /// Makes guesses from the results of `ask` with the same `room`. These results are the first
  /// elements of `heads`; the function removes them from the span. REQUIRES: `heads` has all of
  /// these results; this object outlives the guesses.
  Guesses make(std::span<const RowLogits>& heads, int room) const;
  /// Adds guesses to a step, after a token of node `node` of the paragraph tree. `position`, `row`:
  /// see Guesses::feed. REQUIRES: see Guesses::feed; open_node() was called for this node.
  void feed(Step& step, Guesses& guesses, int position, int row, int node) const;

 private:
  MedusaTree tree_;
  Token never_;
  Sequence& sequence_;
  // [node]: segments of the guesses after the node's tokens
  std::vector<std::vector<int>> segments_;
};

}  // namespace pardec
