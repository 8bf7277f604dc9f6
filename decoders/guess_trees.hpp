#pragma once
#include <vector>

#include "src/support/json.hpp"

namespace pardec {

/// For the record of a training of extra heads: the measured shares of correct guesses, and the
/// best trees for options medusa.tree and apar.medusa. The result has two members. "head_ranks"
/// [heads, ranks] has the last `heads` entries of `ranks`. "trees" has, for 16, 64 and 256 guesses,
/// the tree with the largest expected number of tokens per pass; a size is left out if it gives the
/// same tree as the size before.
OrderedJson likeliest_trees(const std::vector<std::vector<double>>& ranks, int heads);

}  // namespace pardec
