#pragma once
#include <vector>

#include "src/support/json.hpp"

namespace pardec {

/// For the record of a training of extra heads: the measured shares of correct guesses, and the
/// best trees for options medusa.tree and apar.medusa. Members: "head_ranks" [heads, ranks], the
/// last `heads` entries of `ranks`; "trees", for 16, 64 and 256 guesses the tree with the largest
/// expected number of tokens per pass. Larger sizes that give the same tree are left out.
OrderedJson likeliest_trees(const std::vector<std::vector<double>>& ranks, int heads);

}  // namespace pardec
