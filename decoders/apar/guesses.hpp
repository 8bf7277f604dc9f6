#pragma once
// Medusa-APAR (arXiv:2401.06761, section 3.1): guesses behind the last tokens of threads, made by
// extra heads, which one forward pass checks with them. They see what their thread sees.
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "decoders/medusa/tree.hpp"

namespace pardec {

/// The guesses behind the last token of one thread, as they were fed. None at first.
class Guesses {
 public:
  Guesses() = default;
  /// `tree` outlives this; `tokens` are of its first nodes.
  Guesses(const MedusaTree& tree, Tokens tokens) : tree_(&tree), tokens_(std::move(tokens)) {}

  int count() const { return static_cast<int>(tokens_.size()); }
  /// Adds them to a step behind a token at `position`, which will be row `row` of its sequence;
  /// `segments`: of the tree's nodes.
  void feed(Step& step, int position, int row, std::span<const int> segments);
  /// The guess behind the last one accepted (at first behind the thread's own token) that is
  /// `token`: its index is accepted, and given. None: no guess is.
  std::optional<int> accept(Token token);
  /// The first guesses, one after another, behind the last one accepted.
  Tokens first_line() const;
  /// The row that a guess was fed as.
  int row(int guess) const { return root_ + 1 + guess; }
  /// No more is accepted: the rows of the others go, and the draft is counted.
  void settle(Sequence& sequence) const;

 private:
  const MedusaTree* tree_ = nullptr;
  Tokens tokens_;
  int root_ = 0;  // row of the thread's own token
  std::vector<int> accepted_;
};

/// Makes the guesses of all threads of a sequence; with an empty tree, none.
class Guesser {
 public:
  /// `never`: what no guess may be. `sequence` outlives this.
  Guesser(MedusaTree tree, Token never, Sequence& sequence)
      : tree_(std::move(tree)), never_(never), sequence_(sequence) {}
  Guesser(const Guesser&) = delete;
  Guesser& operator=(const Guesser&) = delete;

  bool guesses() const { return tree_.depth() > 0; }
  /// The next node of the paragraph tree, from 0: a thread there sees the segments `sees`.
  void open_node(const std::vector<int>& sees);
  /// What is wanted of the heads at the step's token `index`, where at most `room` guesses in a row
  /// could still enter.
  std::vector<OutputRequest> ask(int index, int room) const;
  /// The guesses that these answers make. Takes them from the beginning of `heads`.
  Guesses make(std::span<const RowLogits>& heads, int room) const;
  void feed(Step& step, Guesses& guesses, int position, int row, int node) const;

 private:
  MedusaTree tree_;
  Token never_;
  Sequence& sequence_;
  std::vector<std::vector<int>> segments_;  // [node]: of the guesses behind its tokens
};

}  // namespace pardec
