#include "decoders/guess_trees.hpp"

#include "decoders/medusa/tree.hpp"

namespace pardec {

OrderedJson likeliest_trees(const std::vector<std::vector<double>>& ranks, int heads) {
  const std::vector<std::vector<double>> of_heads(ranks.end() - heads, ranks.end());
  OrderedJson json = {{"head_ranks", of_heads}, {"trees", OrderedJson::array()}};
  for (const int nodes : {16, 64, 256}) {
    const ExpectedTree best = likeliest_tree(of_heads, nodes);
    if (best.tree.nodes.empty()) break;
    if (!json["trees"].empty() && json["trees"].back()["nodes"] == best.tree.nodes.size()) break;
    json["trees"].push_back({{"nodes", best.tree.nodes.size()},
                             {"tokens_per_pass", best.tokens_per_pass},
                             {"tree", best.tree.name}});
    if (std::ssize(best.tree.nodes) < nodes) break;
  }
  return json;
}

}  // namespace pardec
