#pragma once
// Medusa-APAR (arXiv:2401.06761, section 3.1): extra heads make guesses after the last tokens of
// threads, and one forward pass verifies them. A guess sees the rows that its thread sees.
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "decoders/medusa/tree.hpp"

namespace pardec {

/// The guesses after the last token of one thread, in the order of their rows. Initially empty.
class Guesses {
 public:
  Guesses() = default;
  /// `tree` must outlive this object; tokens[i] is the guess at its node i.
  Guesses(const MedusaTree& tree, Tokens tokens) : tree_(&tree), tokens_(std::move(tokens)) {}

  int count() const { return static_cast<int>(tokens_.size()); }
  /// Adds the guesses to a step after a token at `position`, which will be row `row` of its
  /// sequence. segments[i]: segment of the guess at node i, at least `count()`.
  void feed(Step& step, int position, int row, std::span<const int> segments);
  /// Accepts the guess that equals `token` and follows the last accepted guess (at first, the
  /// thread's own token), and returns its index. None: there is no such guess.
  std::optional<int> accept(Token token);
  /// The guesses after the last accepted guess, following first children.
  Tokens first_line() const;
  /// The row of a guess.
  int row(int guess) const { return root_ + 1 + guess; }
  /// Ends the acceptance: drops the rows of the other guesses, and counts the draft.
  void settle(Sequence& sequence) const;

 private:
  const MedusaTree* tree_ = nullptr;
  Tokens tokens_;
  int root_ = 0;  // row of the thread's own token
  std::vector<int> accepted_;
};

/// Makes the guesses of all threads of a sequence; none with an empty tree.
class Guesser {
 public:
  /// `never`: an id that is never guessed. `sequence` must outlive this object.
  Guesser(MedusaTree tree, Token never, Sequence& sequence)
      : tree_(std::move(tree)), never_(never), sequence_(sequence) {}
  Guesser(const Guesser&) = delete;
  Guesser& operator=(const Guesser&) = delete;

  bool guesses() const { return tree_.depth() > 0; }
  /// Adds the next node of the paragraph tree, numbered from 0. The tokens of this node see the
  /// segments `sees`.
  void open_node(const std::vector<int>& sees);
  /// The outputs to request from the heads at token `index` of the step. `room`: the maximum number
  /// of consecutive guesses that can still be accepted.
  std::vector<OutputRequest> ask(int index, int room) const;
  /// Makes guesses from the results of `ask`, which are the first elements of `heads`. Removes
  /// these elements from the span.
  Guesses make(std::span<const RowLogits>& heads, int room) const;
  /// Adds the guesses after a token of the paragraph tree's node `node` to a step; `position` and
  /// `row` as in Guesses::feed.
  void feed(Step& step, Guesses& guesses, int position, int row, int node) const;

 private:
  MedusaTree tree_;
  Token never_;
  Sequence& sequence_;
  std::vector<std::vector<int>> segments_;  // [node]: segments of the guesses after its tokens
};

}  // namespace pardec
