#pragma once
#include <vector>

#include "src/support/json.hpp"

namespace pardec {

/// The shares of correct guesses per rank of the extra heads (`ranks` per loss, the heads' losses
/// last), and the trees of guesses that would be right most often (medusa.tree, apar.medusa), as
/// far as they differ.
OrderedJson likeliest_trees(const std::vector<std::vector<double>>& ranks, int heads);

}  // namespace pardec
