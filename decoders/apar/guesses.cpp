#include "decoders/apar/guesses.hpp"

#include <algorithm>

namespace pardec {

void Guesses::feed(Step& step, int position, int row, std::span<const int> segments) {
  root_ = row;
  if (tree_) feed_tree(step, *tree_, tokens_, position, segments);
}

std::optional<int> Guesses::accept(Token token) {
  if (!tree_) return std::nullopt;
  const int child = find_child(*tree_, tokens_, accepted_.empty() ? -1 : accepted_.back(), token);
  if (child < 0) return std::nullopt;
  accepted_.push_back(child);
  return child;
}

Tokens Guesses::first_line() const {
  return tree_ ? first_path(*tree_, tokens_, accepted_.empty() ? -1 : accepted_.back()) : Tokens{};
}

void Guesses::settle(Sequence& sequence) const {
  if (tokens_.empty()) return;
  std::vector<int> refused;
  for (int guess = 0; guess < count(); ++guess)
    if (!contains(accepted_, guess)) refused.push_back(row(guess));
  sequence.drop(refused);
  sequence.counters().count_draft(tree_->nodes[tokens_.size() - 1].depth,
                                  static_cast<int>(accepted_.size()));
}

void Guesser::open_node(const std::vector<int>& sees) {
  segments_.push_back(add_tree_segments(sequence_, tree_, sees));
}

std::vector<OutputRequest> Guesser::ask(int index, int room) const {
  return ask_heads(tree_, index, room, {never_});
}

Guesses Guesser::make(std::span<const RowLogits>& heads, int room) const {
  const auto count = static_cast<size_t>(std::min(room, tree_.depth()));
  Guesses guesses(tree_, fill_tree(tree_, heads.first(count)));
  heads = heads.subspan(count);
  return guesses;
}

void Guesser::feed(Step& step, Guesses& guesses, int position, int row, int node) const {
  guesses.feed(step, position, row, segments_[static_cast<size_t>(node)]);
}

}  // namespace pardec
