#pragma once
// The tree of guesses that extra heads of the network make after one token, and that one pass
// verifies. Used by `medusa`, and for the threads of `apar`. Source: Cai et al. 2024,
// arXiv:2401.10774, section 2.1 and appendix C.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "decoders/decoder.hpp"
#include "decoders/speculation/verification.hpp"

namespace pardec {

/// Guesses after a token, the root. A node at depth d is one of the best guesses of head d; its
/// parent is a guess of the previous head.
struct MedusaTree {
  struct Node {
    int parent;  ///< index of its parent; -1: the root
    int depth;   ///< 1 directly after the root
    int rank;    ///< among its head's guesses, 0 is the best; siblings have 0, 1, 2, ...
    bool operator==(const Node&) const = default;
  };
  std::string name;         ///< as given in the option
  std::vector<Node> nodes;  ///< by depth, then by the ranks of the path; empty: no guesses

  /// Number of heads that it needs.
  int depth() const { return nodes.empty() ? 0 : nodes.back().depth; }
  /// Number of guesses that it takes from the head of a depth.
  int width(int depth) const;
};

/// `1x7x6`: the best 7 guesses of head 1, and after each of them the best 6 of head 2 (APAR's).
/// `1x7x6.3.1`: 6 guesses after the best of head 1, 3 after its second, 1 after its third, none
/// after the others. A level with a single number applies to all nodes; `1x7x6.0` is 6 after the
/// best only. `sparse`: the 63 nodes with depth 4 that Medusa's authors found best for Vicuna-7B.
/// ConfigError, which names `option`.
MedusaTree parse_medusa_tree(const std::string& text, std::string_view option);

/// A tree, and its expected number of tokens per pass, if the heads are right as often as measured.
struct ExpectedTree {
  MedusaTree tree;
  double tokens_per_pass = 1;
};

/// The tree with at most `nodes` guesses that is most likely to be right, assuming that the heads
/// are right with the shares `measured` [heads, ranks], independently of each other (appendix C).
/// The probability of a node is the product over its path; the most probable node is added
/// repeatedly. Shares that grow with the rank are smoothed first. The tree has fewer than `nodes`
/// guesses if no other guess has a measured share above zero.
ExpectedTree likeliest_tree(std::span<const std::vector<double>> measured, int nodes);

/// The requirement on the network's extra heads, e.g. "2 of 4 extra heads"; empty: none.
/// ConfigError: the network has fewer heads, or a smaller vocabulary than a head has guesses.
std::string needed_heads(const MedusaTree& tree, std::string_view option,
                         const ModelConfig& config);

/// Adds a segment for each node, which sees `sees` and the node's ancestors in the tree.
std::vector<int> add_tree_segments(Sequence& sequence, const MedusaTree& tree,
                                   const std::vector<int>& sees);

/// The outputs of the heads to request at token `index` of the step. They fill the tree after the
/// next token, down to `depth`. Ids in `banned` are never guessed.
std::vector<OutputRequest> ask_heads(const MedusaTree& tree, int index, int depth,
                                     const std::vector<Token>& banned = {});

/// The tokens of the tree's nodes, in their order.
///   heads  [depth]: results of the requests of ask_heads
Tokens fill_tree(const MedusaTree& tree, std::span<const RowLogits> heads);

/// Adds filled nodes to a step, after a root at `position`.
void feed_tree(Step& step, const MedusaTree& tree, const Tokens& tokens, int position,
               std::span<const int> segments);

/// The child of `node` (-1: the root) with guess `token`; -1: none.
int find_child(const MedusaTree& tree, const Tokens& tokens, int node, Token token);
/// The guesses after `node` (-1: the root) on the path of first children; `tokens` as above.
Tokens first_path(const MedusaTree& tree, const Tokens& tokens, int node);

/// The network's verdict on a tree: the accepted nodes, and one token of its own after them.
struct TreeVerdict {
  std::vector<int> nodes;       ///< from the root down
  std::vector<Choice> choices;  ///< [nodes + 1]: made by the root's row, then by each node's
};

/// Each row chooses, greedily or by a draw from its distribution. If the choice equals one of the
/// row's guesses, that guess chooses next. The choices are the network's own in both cases. Forced:
/// the law decides whether the best guess is accepted.
///   rows  [tokens + 1]: the root's, then the nodes'
TreeVerdict accept_exact(const MedusaTree& tree, const Tokens& tokens,
                         std::span<const RowLogits> rows, Chance& chance,
                         ForcedAcceptance forced = {});

/// Typical acceptance (section 2.3.1): a guess x is good if p(x) > min(0.09, 0.3 exp(-H(p))), where
/// p is the distribution at its parent and H its entropy. The longest path of good guesses is
/// accepted; of several, the first. Then the network draws. The result does not follow the
/// network's distribution.
///   rows  as above, with probabilities
TreeVerdict accept_typical(const MedusaTree& tree, const Tokens& tokens,
                           std::span<const RowLogits> rows, Chance& chance);

}  // namespace pardec
