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

/// The figures of a comparison: speedup; quality over speed with the Pareto front; throughput;
/// tokens per forward pass, as means and as a histogram; and, if there are scores, F1 of the most
/// frequent attributes.
std::vector<NamedFigure> comparison_figures(const Comparison& comparison);

}  // namespace pardec
