#pragma once
#include <string>
#include <vector>

#include "src/findings/comparison.hpp"
#include "src/report/figure.hpp"

namespace pardec {

/// A figure, the heading above it, and the caption below it.
struct NamedFigure {
  std::string heading, caption;
  Figure figure;
};

/// The figures of a comparison, in this order:
///   - the speedups
///   - for each baseline: the arms' headline scores against their speedups, with the Pareto front
///   - the throughput: examples per second
///   - the generated tokens per forward pass of a job
///   - for each dataset: a histogram of the tokens that a forward pass adds to an answer
///   - for each dataset with attributes: F1 of the most frequent attributes
/// Figures without data are left out. REQUIRES: the comparison has at least one arm.
std::vector<NamedFigure> comparison_figures(const Comparison& comparison);

}  // namespace pardec
