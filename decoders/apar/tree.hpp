#pragma once
// APAR's paragraph tree: text that is generated in parallel, and its reading order.
#include <string>
#include <utility>
#include <vector>

#include "src/tokenizer/tokenizer.hpp"

namespace pardec {

/// A paragraph node (section 2.2 of the APAR paper). The links to other nodes are indices in the
/// tree; -1: there is no such node.
struct ParagraphNode {
  int parent = -1;        ///< the node whose [Fork] created this one
  int first_child = -1;   ///< the paragraph's details; set if and only if next_sibling is set
  int next_sibling = -1;  ///< the next paragraph
  Tokens tokens;          ///< the node's text, without [Fork], [Child] and end of sequence
  /// in decoding: for each token, its index in the answer's list of chosen tokens, which all
  /// threads share (Stream::tokens, free_running.hpp)
  std::vector<int> choices;
};

/// A tree of paragraphs. The indices of nodes are in the order of creation; node 0 is the root.
class ParagraphTree {
 public:
  ParagraphTree() : nodes_(1) {}

  ParagraphNode& node(int index) { return nodes_[static_cast<size_t>(index)]; }
  const ParagraphNode& node(int index) const { return nodes_[static_cast<size_t>(index)]; }
  int size() const { return static_cast<int>(nodes_.size()); }

  /// Forks at the end of node `index`: adds the next paragraph and the details. Returns their
  /// indices (next_sibling, first_child). REQUIRES: the node has not forked yet.
  std::pair<int, int> fork(int index);
  /// The node's parent, grandparent, ... up to the root. A token of the node sees these nodes and
  /// the node itself.
  std::vector<int> ancestors(int index) const;
  /// All nodes in reading order: a node, then its first_child, then its next_sibling (Algorithm 1,
  /// RESTORE).
  std::vector<int> restore_order() const;

 private:
  std::vector<ParagraphNode> nodes_;
};

/// The text of a tree, and the places of its tokens.
struct RestoredText {
  std::string bytes;
  std::vector<size_t> ends;  ///< end of each token in `bytes`; tokens in reading order
};
/// Joins the texts of all nodes in reading order, and inserts the line breaks that [Fork] replaced:
/// two line breaks before a next paragraph, and one line break before details if the paragraph to
/// which the details belong contains a list number ("1. "). Line breaks that are already there are
/// not inserted again, and none are inserted before empty text.
RestoredText restore(const ParagraphTree& tree, const Tokenizer& tokenizer);

}  // namespace pardec
