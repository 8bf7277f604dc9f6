#pragma once
// The paragraph tree of APAR: what is written in parallel, and in which order it is read.
#include <string>
#include <utility>
#include <vector>

#include "src/tokenizer/tokenizer.hpp"

namespace pardec {

/// A paragraph node (section 2.2): one stretch of text, with 0 or 2 pointers; -1: none.
struct ParagraphNode {
  int parent = -1;  ///< the node whose [Fork] stands before this one
  int first_child = -1, next_sibling = -1;
  Tokens tokens;             ///< its own text: no [Fork], [Child] or end of sequence
  std::vector<int> choices;  ///< decoding: of each of these, its index among all choices
};

/// Nodes in order of creation, the root first.
class ParagraphTree {
 public:
  ParagraphTree() : nodes_(1) {}

  ParagraphNode& node(int index) { return nodes_[static_cast<size_t>(index)]; }
  const ParagraphNode& node(int index) const { return nodes_[static_cast<size_t>(index)]; }
  int size() const { return static_cast<int>(nodes_.size()); }

  /// `index` ends with [Fork]: makes the paragraph that goes on and the details that begin there.
  /// Returns (next_sibling, first_child).
  std::pair<int, int> fork(int index);
  /// The node's parent, its parent's parent, ... and the root. With the node itself it is all that
  /// a token of the node sees.
  std::vector<int> ancestors(int index) const;
  /// All nodes: own, first_child, next_sibling (Algorithm 1, RESTORE).
  std::vector<int> restore_order() const;

 private:
  std::vector<ParagraphNode> nodes_;
};

/// A tree as linear text, with the newlines that [Fork] took the place of: details without a
/// leading one get one where their paragraph holds a list number ("1. "), and a next sibling begins
/// with an empty line.
struct RestoredText {
  std::string bytes;
  std::vector<size_t> ends;  ///< where each token ends in it; tokens in restore order
};
RestoredText restore(const ParagraphTree& tree, const Tokenizer& tokenizer);

}  // namespace pardec
