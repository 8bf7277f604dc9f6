#include "decoders/medusa/tree.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <queue>
#include <stdexcept>
#include <tuple>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

constexpr int kMostNodes = 1024;
// parameters of typical acceptance, with its authors' values
constexpr double kEpsilon = 0.09, kDelta = 0.3;

/// Builds a tree from the number of children of the root, then of each node in order; 0 if missing.
MedusaTree tree_of(std::string name, const std::vector<int>& children) {
  MedusaTree tree{.name = std::move(name), .nodes = {}};
  for (size_t i = 0; i < children.size(); ++i) {
    const int parent = static_cast<int>(i) - 1;
    const int depth = parent < 0 ? 1 : tree.nodes.at(i - 1).depth + 1;
    for (int rank = 0; rank < children[i]; ++rank) tree.nodes.push_back({parent, depth, rank});
  }
  return tree;
}

/// None if the text is not an integer of up to four digits.
std::optional<int> width_of(const std::string& text) {
  if (text.empty() || text.size() > 4 || text.find_first_not_of("0123456789") != std::string::npos)
    return std::nullopt;
  return std::stoi(text);
}

RowLabel node_label(const MedusaTree& tree, size_t node, int position,
                    std::span<const int> segments) {
  const int at = position + tree.nodes[node].depth;
  return {.position = at, .order = at, .segment = segments[node], .rank = 0};
}

const RowLogits& row_of(std::span<const RowLogits> rows, int node) {
  return rows[static_cast<size_t>(node + 1)];
}

void check_sizes(const Tokens& tokens, std::span<const RowLogits> rows) {
  if (rows.size() != tokens.size() + 1)
    throw std::logic_error(
        str("medusa: ", rows.size(), " rows for ", tokens.size(), " guesses, expected one more"));
}

/// Guesses with a larger probability are typical of p.
double typical_threshold(const std::vector<double>& p) {
  double entropy = 0;
  for (const double x : p)
    if (x > 0) entropy -= x * std::log(x);
  return std::min(kEpsilon, kDelta * std::exp(-entropy));
}

}  // namespace

int MedusaTree::width(int depth) const {
  int widest = 0;
  for (const Node& node : nodes)
    if (node.depth == depth) widest = std::max(widest, node.rank + 1);
  return widest;
}

MedusaTree parse_medusa_tree(const std::string& text, std::string_view option) {
  if (text == "sparse")
    return tree_of(text, {10,                             // after the root
                          10, 7, 3, 2, 1, 1, 1, 1, 1, 1,  // after guesses 0 to 9
                          10, 3, 2, 1, 1, 1, 1, 1, 0, 0,  // after 0,0 to 0,9
                          2,  0, 0, 0, 0, 0, 0, 1, 0, 0,  // after 1,0 to 1,6, then 2,0 to 2,2
                          0,  0, 0, 0, 0, 0, 0, 0, 2});   // after all others of depth 2; 0,0,0
  const auto unreadable = [&] {
    return ConfigError(str(option, " is '", text, "', expected sparse, or the widths of a tree of ",
                           kMostNodes, " guesses at most, such as 1x7x6 or 1x7x6.3.1"));
  };
  const std::vector<std::string> levels = split(text, 'x');
  if (levels.size() < 2 || levels.front() != "1") throw unreadable();
  std::vector<int> children;
  std::int64_t above = 1, all = 0;  // nodes of the previous level, and of all so far
  for (size_t level = 1; level < levels.size(); ++level) {
    std::vector<int> widths;
    for (const std::string& width : split(levels[level], '.')) {
      const auto number = width_of(width);
      if (!number) throw unreadable();
      widths.push_back(*number);
    }
    if (std::ssize(widths) > above) throw unreadable();
    widths.resize(static_cast<size_t>(above), widths.size() == 1 ? widths.front() : 0);
    above = std::accumulate(widths.begin(), widths.end(), std::int64_t{0});
    all += above;
    if (above == 0 || all > kMostNodes) throw unreadable();
    children.insert(children.end(), widths.begin(), widths.end());
  }
  return tree_of(text, children);
}

namespace {

/// Smooths shares so that they do not grow with the rank: neighbouring shares that grow, due to few
/// targets, get their mean (isotonic regression by pooling neighbours).
std::vector<double> falling(const std::vector<double>& shares) {
  struct Pool {
    double sum = 0;
    int ranks = 0;
    double mean() const { return sum / ranks; }
  };
  std::vector<Pool> pools;
  for (const double share : shares) {
    pools.push_back({share, 1});
    while (pools.size() > 1 && pools.back().mean() > pools[pools.size() - 2].mean()) {
      const Pool last = pools.back();
      pools.pop_back();
      pools.back() = {pools.back().sum + last.sum, pools.back().ranks + last.ranks};
    }
  }
  std::vector<double> smooth;
  for (const Pool& pool : pools)
    smooth.insert(smooth.end(), static_cast<size_t>(pool.ranks), pool.mean());
  return smooth;
}

}  // namespace

ExpectedTree likeliest_tree(std::span<const std::vector<double>> measured, int nodes) {
  std::vector<std::vector<double>> ranks;
  for (const std::vector<double>& of_head : measured) ranks.push_back(falling(of_head));
  struct Candidate {
    double right;  // probability of being right
    std::vector<int> path;
    /// Of equal ones, the shallower one comes first, then the one with better ranks.
    bool operator<(const Candidate& other) const {
      return std::tuple(right, other.path.size(), other.path) <
             std::tuple(other.right, path.size(), path);
    }
  };
  const auto share = [&](const std::vector<int>& path) {
    double right = 1;
    for (size_t head = 0; head < path.size(); ++head) {
      const auto rank = static_cast<size_t>(path[head]);
      right *= head < ranks.size() && rank < ranks[head].size() ? ranks[head][rank] : 0;
    }
    return right;
  };
  std::priority_queue<Candidate> next;
  const auto offer = [&](std::vector<int> path) {
    if (const double right = share(path); right > 0) next.push({right, std::move(path)});
  };
  std::map<std::vector<int>, int> children{{{}, 0}};  // of the root, and of each node
  ExpectedTree best;
  offer({0});
  for (int n = 0; n < std::min(nodes, kMostNodes) && !next.empty(); ++n) {
    Candidate node = next.top();
    next.pop();
    best.tokens_per_pass += node.right;
    std::vector<int> parent(node.path.begin(), node.path.end() - 1);
    ++children[parent];
    children[node.path] = 0;
    std::vector<int> child = node.path, sibling = node.path;
    child.push_back(0);
    ++sibling.back();
    offer(std::move(child));
    offer(std::move(sibling));
  }
  if (children.size() == 1) return best;
  std::vector<std::vector<int>> levels;  // numbers of children, in the order of paths
  for (const auto& [path, count] : children) {
    levels.resize(std::max(levels.size(), path.size() + 1));
    levels[path.size()].push_back(count);
  }
  std::string name = "1";
  for (std::vector<int>& widths : levels) {
    const bool alone = widths.size() == 1;
    while (!widths.empty() && widths.back() == 0) widths.pop_back();
    if (widths.empty()) break;
    if (widths.size() == 1 && !alone) widths.push_back(0);
    for (size_t i = 0; i < widths.size(); ++i) name += str(i == 0 ? "x" : ".", widths[i]);
  }
  best.tree = parse_medusa_tree(name, "");
  return best;
}

std::string needed_heads(const MedusaTree& tree, std::string_view option,
                         const ModelConfig& config) {
  if (config.extra_heads < tree.depth())
    throw ConfigError(
        str(option, "=", tree.name, " needs ", tree.depth(), " extra heads, the checkpoint has ",
            config.extra_heads,
            "; expected them in medusa_heads.safetensors beside it, or in an adapter's folder"));
  for (int depth = 1; depth <= tree.depth(); ++depth)
    if (tree.width(depth) > config.vocab_size)
      throw ConfigError(str(option, "=", tree.name, " takes ", tree.width(depth),
                            " guesses of a head, the vocabulary has ", config.vocab_size, " ids"));
  return tree.nodes.empty() ? "" : str(tree.depth(), " of ", config.extra_heads, " extra heads");
}

std::vector<int> add_tree_segments(Sequence& sequence, const MedusaTree& tree,
                                   const std::vector<int>& sees) {
  std::vector<int> segments;
  for (const MedusaTree::Node& node : tree.nodes) {
    std::vector<int> seen = sees;
    for (int a = node.parent; a >= 0; a = tree.nodes[static_cast<size_t>(a)].parent)
      seen.push_back(segments[static_cast<size_t>(a)]);
    segments.push_back(sequence.add_segment(seen));
  }
  return segments;
}

std::vector<OutputRequest> ask_heads(const MedusaTree& tree, int index, int depth,
                                     const std::vector<Token>& banned) {
  std::vector<OutputRequest> requests;
  for (int head = 1; head <= std::min(depth, tree.depth()); ++head) {
    OutputRequest& request = requests.emplace_back();
    request.index = index;
    request.head = head;
    request.top = tree.width(head);
    request.banned = banned;
  }
  return requests;
}

Tokens fill_tree(const MedusaTree& tree, std::span<const RowLogits> heads) {
  Tokens tokens;
  for (const MedusaTree::Node& node : tree.nodes) {
    if (node.depth > std::ssize(heads)) break;
    tokens.push_back(
        heads[static_cast<size_t>(node.depth) - 1].top.at(static_cast<size_t>(node.rank)));
  }
  return tokens;
}

void feed_tree(Step& step, const MedusaTree& tree, const Tokens& tokens, int position,
               std::span<const int> segments) {
  for (size_t i = 0; i < tokens.size(); ++i)
    step.add(tokens[i], node_label(tree, i, position, segments), Origin::draft);
}

int find_child(const MedusaTree& tree, const Tokens& tokens, int node, Token token) {
  for (size_t i = 0; i < tokens.size(); ++i)
    if (tree.nodes[i].parent == node && tokens[i] == token) return static_cast<int>(i);
  return -1;
}

Tokens first_path(const MedusaTree& tree, const Tokens& tokens, int node) {
  Tokens path;
  for (size_t i = 0; i < tokens.size(); ++i)
    if (tree.nodes[i].parent == node) {
      path.push_back(tokens[i]);
      node = static_cast<int>(i);
    }
  return path;
}

TreeVerdict accept_exact(const MedusaTree& tree, const Tokens& tokens,
                         std::span<const RowLogits> rows, Chance& chance, ForcedAcceptance forced) {
  check_sizes(tokens, rows);
  TreeVerdict verdict;
  for (int node = -1;;) {
    Choice& choice = verdict.choices.emplace_back(own_choice(row_of(rows, node), chance));
    if (forced) {
      int best = 0;  // the first child has rank 0
      while (best < std::ssize(tokens) && tree.nodes[static_cast<size_t>(best)].parent != node)
        ++best;
      node =
          best < std::ssize(tokens) && forced.accepts(static_cast<int>(std::ssize(verdict.nodes)))
              ? best
              : -1;
      if (node >= 0) choice.token = tokens[static_cast<size_t>(node)];
    } else {
      node = find_child(tree, tokens, node, choice.token);
    }
    if (node < 0) return verdict;
    verdict.nodes.push_back(node);
  }
}

TreeVerdict accept_typical(const MedusaTree& tree, const Tokens& tokens,
                           std::span<const RowLogits> rows, Chance& chance) {
  check_sizes(tokens, rows);
  const int count = static_cast<int>(tokens.size());
  std::vector<double> threshold;  // of the root's row, then of the nodes'
  for (const RowLogits& row : rows) threshold.push_back(typical_threshold(row.probabilities));
  std::vector<bool> good(tokens.size());
  int last = -1;  // last node of the longest path
  for (int node = 0; node < count; ++node) {
    const auto at = static_cast<size_t>(node);
    const int parent = tree.nodes[at].parent;
    const double p = row_of(rows, parent).probabilities.at(static_cast<size_t>(tokens[at]));
    good[at] = (parent < 0 || good[static_cast<size_t>(parent)]) &&
               p > threshold[static_cast<size_t>(parent + 1)];
    const int longest = last < 0 ? 0 : tree.nodes[static_cast<size_t>(last)].depth;
    if (good[at] && tree.nodes[at].depth > longest) last = node;
  }
  TreeVerdict verdict;
  for (int node = last; node >= 0; node = tree.nodes[static_cast<size_t>(node)].parent)
    verdict.nodes.insert(verdict.nodes.begin(), node);
  int parent = -1;
  for (const int node : verdict.nodes) {
    const RowLogits& row = row_of(rows, parent);
    const Token token = tokens[static_cast<size_t>(node)];
    verdict.choices.push_back({token, token, row.best_logit - row.second_logit});
    parent = node;
  }
  verdict.choices.push_back(own_choice(row_of(rows, parent), chance));
  return verdict;
}

}  // namespace pardec
