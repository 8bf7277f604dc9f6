#pragma once
// A tree of guesses: extra heads of the network guess the tokens after one token, and one forward
// pass verifies all guesses. Used by `medusa`, and for the threads of `apar`. Source: Cai et al.
// 2024, arXiv:2401.10774, section 2.1 and appendix C.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "decoders/decoder.hpp"
#include "decoders/speculation/verification.hpp"

namespace pardec {

/// The shape of a tree of guesses after a token (the root). A node at depth d is one of the best
/// guesses of head d. Its parent is a guess of head d - 1, or the root.
struct MedusaTree {
  struct Node {
    int parent;  ///< index of the parent; -1: the root
    int depth;   ///< 1 for nodes directly after the root
    int rank;    ///< rank among the guesses of its head, from 0; siblings have ranks 0, 1, 2, ...
    bool operator==(const Node&) const = default;
  };
  std::string name;         ///< the text of the option
  std::vector<Node> nodes;  ///< sorted by depth, then by the ranks on the path; empty: no guesses

  /// The largest depth of a node: the number of heads that the tree needs. 0: no guesses.
  int depth() const { return nodes.empty() ? 0 : nodes.back().depth; }
  /// Number of guesses that the tree needs from the head for this depth (from 1).
  int width(int depth) const;
};

/// Parses a tree. `1x7x6` (the tree of Medusa-APAR) is the best 7 guesses of head 1, and after each
/// of them the best 6 guesses of head 2. `1x7x6.3.1` is 7 guesses of head 1, and then 6 guesses
/// after the best guess of head 1, 3 after the second best, 1 after the third best, and none after
/// the others. A single number, such as 6 in `1x7x6`, applies to all nodes of the level before. In
/// `1x7x6.0`, only the best guess of head 1 has 6 guesses after it. `sparse` is the tree with 63
/// nodes and depth 4 that Medusa's authors found best for Vicuna-7B. ConfigError, which names
/// `option`: the text has another form, or the tree has more than 1024 guesses.
MedusaTree parse_medusa_tree(const std::string& text, std::string_view option);

/// A tree, and its expected number of tokens per pass.
struct ExpectedTree {
  MedusaTree tree;
  double tokens_per_pass = 1;  ///< the network's own token and the accepted guesses
};

/// Finds the tree with at most `nodes` guesses (and at most 1024) that gives the most tokens per
/// pass (appendix C). Heads are assumed to be independent, so the probability of a node is the
/// product of the shares on its path. The most probable node is added repeatedly, until there are
/// `nodes` nodes, or all other nodes have probability 0.
///   measured  [head][rank]: the share of targets that equal the guess with this rank of this head.
///             If shares of a head increase with the rank, they are smoothed first.
ExpectedTree likeliest_tree(std::span<const std::vector<double>> measured, int nodes);

/// Describes the extra heads that the tree needs, e.g. "2 of 4 extra heads"; empty: the tree needs
/// none. ConfigError, which names `option`: the network has fewer extra heads than the tree needs,
/// or the network's vocabulary is smaller than the number of guesses of a head.
std::string needed_heads(const MedusaTree& tree, std::string_view option,
                         const ModelConfig& config);

/// Adds a segment to the sequence for each node. A node's segment sees the segments `sees`, and the
/// segments of the node's ancestors in the tree. Returns the segments, in the order of the nodes.
std::vector<int> add_tree_segments(Sequence& sequence, const MedusaTree& tree,
                                   const std::vector<int>& sees);

/// The outputs of extra heads to request for token `index` of a step: one per level of the tree,
/// but at most `depth`. The token that is chosen from the same row's own logits becomes the root.
/// fill_tree makes the guesses after this root from the requested outputs. Ids in `banned` are
/// never guessed.
std::vector<OutputRequest> ask_heads(const MedusaTree& tree, int index, int depth,
                                     const std::vector<Token>& banned = {});

/// The guesses at the nodes, in the order of the nodes.
///   heads  [depth]: results of the requests of ask_heads. Nodes at a larger depth have no guess,
///          so that the result may be shorter than the list of nodes.
Tokens fill_tree(const MedusaTree& tree, std::span<const RowLogits> heads);

/// Adds the guesses to a step. `tokens`: the result of fill_tree. `position`: position of the root.
/// `segments`: the result of add_tree_segments.
void feed_tree(Step& step, const MedusaTree& tree, const Tokens& tokens, int position,
               std::span<const int> segments);

/// The index of the child of `node` (-1: the root) whose guess is `token`; -1: there is no such
/// child. `tokens`: the result of fill_tree.
int find_child(const MedusaTree& tree, const Tokens& tokens, int node, Token token);
/// The guesses on the path of first children after `node` (-1: the root). `tokens`: the result of
/// fill_tree.
Tokens first_path(const MedusaTree& tree, const Tokens& tokens, int node);

/// The result of verifying a tree: the accepted nodes, and one token that the network chooses after
/// them.
struct TreeVerdict {
  std::vector<int> nodes;       ///< accepted nodes, from the root down
  std::vector<Choice> choices;  ///< [nodes + 1]: from the root's row, then from each node's row
};

/// Verifies a tree exactly. Beginning at the root, a row makes a choice, greedily or by drawing
/// from its distribution. If the choice equals one of the guesses after this row, this guess is
/// accepted, and its row makes the next choice. Thus all choices are the network's own. With
/// `forced`, the law decides at each row whether the best guess after it is accepted; the token
/// after the accepted guesses is the network's own choice. REQUIRES: the number of rows is the
/// number of tokens plus 1 (std::logic_error).
///   tokens  the guesses at the nodes (fill_tree)
///   rows    [tokens + 1]: the row of the root, then the rows of the nodes
TreeVerdict accept_exact(const MedusaTree& tree, const Tokens& tokens,
                         std::span<const RowLogits> rows, Chance& chance,
                         ForcedAcceptance forced = {});

/// Verifies a tree with typical acceptance (section 2.3.1). A guess x is good if p(x) > min(0.09,
/// 0.3 exp(-H(p))), where p is the distribution of its parent's row and H(p) its entropy. The
/// longest path of good guesses is accepted; of several longest paths, the first. The token after
/// this path is drawn from the network's distribution. The tokens as a whole do not have the
/// network's distribution. REQUIRES: the number of rows is the number of tokens plus 1
/// (std::logic_error).
///   rows  [tokens + 1]: the row of the root, then the rows of the nodes, all with probabilities
TreeVerdict accept_typical(const MedusaTree& tree, const Tokens& tokens,
                           std::span<const RowLogits> rows, Chance& chance);

}  // namespace pardec
