#pragma once
#include <string>
#include <vector>

#include "src/findings/comparison.hpp"
#include "src/report/figure.hpp"

namespace pardec {

struct NamedFigure {
  std::string heading, caption;
  Figure figure;
};

/// The figures of a comparison: speedup, quality over speed with its Pareto front, throughput,
/// tokens per forward pass and their histogram, and F1 of the most frequent attributes if there are
/// scores.
std::vector<NamedFigure> comparison_figures(const Comparison& comparison);

}  // namespace pardec
