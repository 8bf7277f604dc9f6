#pragma once
#include <string>
#include <vector>

#include "src/findings/comparison.hpp"
#include "src/reproduction/paper_item.hpp"

namespace pardec {

/// Whether the networks are smaller than the paper's, or only some of the examples were run.
bool is_smaller(const PaperItem& item, const Comparison& comparison);

/// In what a run differs from what a paper's numbers hold for, one line each: networks and their
/// training, type, machine, data, batch, oracle; and the doubts about those numbers.
std::vector<std::string> differences_from(const PaperItem& item, const Comparison& comparison);

}  // namespace pardec
