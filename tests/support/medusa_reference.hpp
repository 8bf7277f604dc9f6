#pragma once
#include <vector>

#include "tests/support/slow_transformer.hpp"

namespace pardec::test {

/// A path in a tree of guesses, from the root down: the rank of the guess of each head.
using RankPath = std::vector<int>;

/// All paths of a dense tree as in APAR, including those to inner nodes, sorted by length, then
/// ranks. `widths`: {7, 6} for `1x7x6`.
std::vector<RankPath> dense_paths(const std::vector<int>& widths);
/// The 63 paths of the sparse tree, also sorted by length, then ranks.
std::vector<RankPath> sparse_paths();

/// A slow reference of Medusa, written from the paper only. The list of tokens is computed again
/// for every token. It shows which guesses each pass verifies, and how many of them agree with
/// greedy decoding.
struct SlowMedusa {
  Tokens tokens;              ///< the first `limit` tokens
  std::vector<int> accepted;  ///< per pass after the prompt's: number of accepted guesses
  std::vector<int> deepest;   ///< per pass: number of guesses on the longest path
};
SlowMedusa slow_medusa(const SlowTransformer& theta, const Tokens& prompt,
                       const std::vector<RankPath>& paths, int limit);

}  // namespace pardec::test
