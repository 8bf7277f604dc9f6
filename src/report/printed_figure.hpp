#pragma once
#include <string>
#include <vector>

#include "src/report/comparison_figures.hpp"
#include "src/reproduction/evidence.hpp"
#include "src/reproduction/paper_item.hpp"

namespace pardec {

/// The figures of an item in the form in which the paper prints them (PaperItem::figures), with the
/// measured values: one for each panel, metric and dataset. What is missing is named in the
/// caption. A figure without any value is left out. `scale`: the scale of the evidence.
std::vector<NamedFigure> printed_figures(const PaperItem& item, const std::string& scale,
                                         const Evidence& evidence);

}  // namespace pardec
