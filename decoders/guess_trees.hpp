#pragma once
#include <vector>

#include "src/support/json.hpp"

namespace pardec {

/// Makes the entry about guesses for the training record of extra heads: the measured shares of
/// correct guesses, and the best trees for the options medusa.tree and apar.medusa. The result has
/// two members. "head_ranks" has the shares of the extra heads as a list [head][rank]. "trees" has
/// the best tree with at most 16 guesses, the best tree with at most 64, and the best tree with at
/// most 256. The best tree is the tree with the largest expected number of tokens per pass. A tree
/// is an object with "nodes" (number of guesses), "tokens_per_pass" and "tree" (the value of the
/// option). If the best tree has fewer guesses than its limit, larger limits would give the
/// same tree, and are left out. "trees" is empty if no guess was ever correct.
///
/// `ranks`: [head][rank], the share of targets that equal the guess with this rank of this head.
/// The extra heads are the last `heads` entries. REQUIRES: there are at least `heads` entries.
OrderedJson likeliest_trees(const std::vector<std::vector<double>>& ranks, int heads);

}  // namespace pardec
