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

/// What a comparison looks like: speedup, quality over speed with its Pareto front, throughput,
/// tokens per forward and their histogram, F1 of the commonest attributes where there are scores.
std::vector<NamedFigure> comparison_figures(const Comparison& comparison);

}  // namespace pardec
