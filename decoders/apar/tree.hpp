#pragma once
// The paragraph tree of APAR: text that is written in parallel, and its reading order.
#include <string>
#include <utility>
#include <vector>

#include "src/tokenizer/tokenizer.hpp"

namespace pardec {

/// A paragraph node (section 2.2): a piece of text with 0 or 2 pointers; -1: none.
struct ParagraphNode {
  int parent = -1;  ///< the node whose [Fork] precedes this one
  int first_child = -1, next_sibling = -1;
  Tokens tokens;             ///< its own text, without [Fork], [Child] or end of sequence
  std::vector<int> choices;  ///< in decoding: for each token, its index among all choices
};

/// Nodes in order of creation, the root first.
class ParagraphTree {
 public:
  ParagraphTree() : nodes_(1) {}

  ParagraphNode& node(int index) { return nodes_[static_cast<size_t>(index)]; }
  const ParagraphNode& node(int index) const { return nodes_[static_cast<size_t>(index)]; }
  int size() const { return static_cast<int>(nodes_.size()); }

  /// Splits after node `index`, which ends with [Fork]: adds a paragraph that continues it, and the
  /// details that begin there. Returns (next_sibling, first_child).
  std::pair<int, int> fork(int index);
  /// The node's parent, grandparent, ... up to the root. These and the node itself are visible to a
  /// token of the node.
  std::vector<int> ancestors(int index) const;
  /// All nodes in reading order: own, first_child, next_sibling (Algorithm 1, RESTORE).
  std::vector<int> restore_order() const;

 private:
  std::vector<ParagraphNode> nodes_;
};

/// A tree as linear text, with the newlines that [Fork] replaces. Details without a leading newline
/// get one if their paragraph contains a list number ("1. "). A next sibling begins with an empty
/// line.
struct RestoredText {
  std::string bytes;
  std::vector<size_t> ends;  ///< end of each token in the text; tokens in reading order
};
RestoredText restore(const ParagraphTree& tree, const Tokenizer& tokenizer);

}  // namespace pardec
