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

/// The figures of a comparison: speedup; for each baseline, quality over speed with the Pareto
/// front; throughput; tokens per forward pass, as means and, for each dataset, as a histogram; and,
/// for each dataset with attributes, F1 of the most frequent attributes. Figures without data are
/// left out. REQUIRES: the comparison has at least one arm.
std::vector<NamedFigure> comparison_figures(const Comparison& comparison);

}  // namespace pardec
