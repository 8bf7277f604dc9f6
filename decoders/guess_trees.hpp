#pragma once
#include <vector>

#include "src/support/json.hpp"

namespace pardec {

/// For the training record of extra heads: the measured shares of correct guesses, and the best
/// trees for the options medusa.tree and apar.medusa. The result has two members. "head_ranks" has
/// the shares of the extra heads as a list [head][rank]. "trees" has, for at most 16, 64 and 256
/// guesses, the tree with the largest expected number of tokens per pass: an object with "nodes"
/// (number of guesses), "tokens_per_pass" and "tree" (the value of the option). If the best tree
/// has fewer guesses than its size allows, larger sizes would give the same tree, and are left out.
/// "trees" is empty if no guess was ever correct.
///
/// `ranks`: [head][rank], the share of targets that equal the guess with this rank of this head.
/// The extra heads are the last `heads` entries. REQUIRES: there are at least `heads` entries.
OrderedJson likeliest_trees(const std::vector<std::vector<double>>& ranks, int heads);

}  // namespace pardec
