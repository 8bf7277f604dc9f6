#pragma once
#include <vector>

#include "tests/support/slow_transformer.hpp"

namespace pardec::test {

/// A path of a tree from the root down: the rank of each head's guess.
using RankPath = std::vector<int>;

/// All paths of APAR's dense trees, `1x7x6` being {7, 6}; also those to inner nodes, by length,
/// then by ranks.
std::vector<RankPath> dense_paths(const std::vector<int>& widths);
/// The 63 of the sparse tree, in the same order.
std::vector<RankPath> sparse_paths();

/// Medusa, written only from the paper, on plain lists of tokens that are computed again: which
/// guesses each pass checks, and how many of them agree with greedy decoding.
struct SlowMedusa {
  Tokens tokens;              ///< `limit` of them
  std::vector<int> accepted;  ///< by pass after the prompt's
  std::vector<int> deepest;   ///< by pass: guesses on its longest path
};
SlowMedusa slow_medusa(const SlowTransformer& theta, const Tokens& prompt,
                       const std::vector<RankPath>& paths, int limit);

}  // namespace pardec::test
