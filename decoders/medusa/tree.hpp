#pragma once
// The tree of guesses that extra heads of the network make behind one token, and that one pass
// checks: for `medusa`, and for the threads of `apar`.
// Source: Cai et al. 2024, arXiv:2401.10774, section 2.1 and appendix C.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "decoders/decoder.hpp"
#include "decoders/speculation/verification.hpp"

namespace pardec {

/// Guesses behind a token, the root. A node at depth d is one of the best guesses of head d; it
/// hangs from a guess of the head before.
struct MedusaTree {
  struct Node {
    int parent;  ///< index of the node that it hangs from; -1: the root
    int depth;   ///< 1 behind the root
    int rank;    ///< of its head's guesses, 0 the best; siblings have 0, 1, 2, ...
    bool operator==(const Node&) const = default;
  };
  std::string name;         ///< as the option says it
  std::vector<Node> nodes;  ///< by depth, then by the ranks of the path; empty: nothing is guessed

  /// Heads that it needs.
  int depth() const { return nodes.empty() ? 0 : nodes.back().depth; }
  /// How many guesses it takes from the head of a depth.
  int width(int depth) const;
};

/// `1x7x6`: all of the best 7 guesses of head 1, behind each all of the best 6 of head 2 (APAR's).
/// `1x7x6.3.1`: 6 behind the best of head 1, 3 behind its second, 1 behind its third, none behind
/// the others; one number alone is all of a level (`1x7x6.0`: 6 behind the best). `sparse`: the 63
/// nodes, 4 deep, that Medusa's authors found best for Vicuna-7B. ConfigError, which names
/// `option`.
MedusaTree parse_medusa_tree(const std::string& text, std::string_view option);

/// A tree, and how many tokens a pass it gives where its heads are right as was measured.
struct ExpectedTree {
  MedusaTree tree;
  double tokens_per_pass = 1;
};

/// The tree of that many guesses at most that is likeliest to be right, where a head is right with
/// the shares `measured` [heads, ranks] whatever the heads before it guessed (appendix C): a node
/// is right as often as all guesses on its path, and the best node is added until there are enough.
/// Shares that grow with the rank are smoothed before. Fewer guesses, where the others would never
/// be right or have no share.
ExpectedTree likeliest_tree(std::span<const std::vector<double>> measured, int nodes);

/// What it needs of the network's extra heads, e.g. "2 of 4 extra heads"; empty: nothing.
/// ConfigError where the network has fewer, or a smaller vocabulary than a head has guesses.
std::string needed_heads(const MedusaTree& tree, std::string_view option,
                         const ModelConfig& config);

/// A segment for each node, which sees `sees` and the node's ancestors in the tree.
std::vector<int> add_tree_segments(Sequence& sequence, const MedusaTree& tree,
                                   const std::vector<int>& sees);

/// What is wanted of the heads at the step's token `index`, to fill the tree down to `depth` behind
/// the next token; none of `banned`.
std::vector<OutputRequest> ask_heads(const MedusaTree& tree, int index, int depth,
                                     const std::vector<Token>& banned = {});

/// The tokens of the tree's nodes, in their order.
///   heads  [depth]: what the heads answered to ask_heads
Tokens fill_tree(const MedusaTree& tree, std::span<const RowLogits> heads);

/// Adds filled nodes behind a root at `position`.
void feed_tree(Step& step, const MedusaTree& tree, const Tokens& tokens, int position,
               std::span<const int> segments);

/// The child of `node` (-1: the root) that guesses `token`; -1: none.
int find_child(const MedusaTree& tree, const Tokens& tokens, int node, Token token);
/// The guesses behind `node` (-1: the root), down its first children; `tokens` as above.
Tokens first_path(const MedusaTree& tree, const Tokens& tokens, int node);

/// What the network made of a tree: the accepted nodes, and one token of its own behind them.
struct TreeVerdict {
  std::vector<int> nodes;       ///< from the root down
  std::vector<Choice> choices;  ///< [nodes + 1]: made by the root's row, then by each node's
};

/// Each row chooses, greedily or by a draw from its distribution; where one of its guesses is that
/// choice, this guess chooses next. Exact in both cases: the choices are the network's. Forced: the
/// law says whether the best guess is accepted.
///   rows  [tokens + 1]: the root's, then the nodes'
TreeVerdict accept_exact(const MedusaTree& tree, const Tokens& tokens,
                         std::span<const RowLogits> rows, Chance& chance,
                         ForcedAcceptance forced = {});

/// Typical acceptance (section 2.3.1): a guess x is good where p(x) > min(0.09, 0.3 exp(-H(p))), p
/// being its parent's distribution and H its entropy; the longest path of good guesses is accepted,
/// the first of several. Then the network draws. Not the network's distribution.
///   rows  as above, with probabilities
TreeVerdict accept_typical(const MedusaTree& tree, const Tokens& tokens,
                           std::span<const RowLogits> rows, Chance& chance);

}  // namespace pardec
