#pragma once
#include <string>
#include <vector>

#include "src/report/comparison_figures.hpp"
#include "src/reproduction/evidence.hpp"
#include "src/reproduction/paper_item.hpp"

namespace pardec {

/// The figures of an item in the form in which the paper prints them (PaperItem::figures), with
/// measured values. Usually, there is one figure for each panel, metric and dataset. A panel shows
/// all datasets in one figure if PrintedFigure::along is "dataset", or if its form is `stacked`.
/// The caption of a figure lists what is missing for the values that are not drawn. A figure
/// without any value is left out. `scale`: the scale of the evidence. Errors: see PaperItem::scale.
std::vector<NamedFigure> printed_figures(const PaperItem& item, const std::string& scale,
                                         const Evidence& evidence);

}  // namespace pardec
