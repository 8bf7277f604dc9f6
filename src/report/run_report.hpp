#pragma once
#include <vector>

#include "src/findings/comparison.hpp"
#include "src/report/comparison_figures.hpp"
#include "src/report/report.hpp"
#include "src/report/run_examples.hpp"
#include "src/store/store.hpp"

namespace pardec {

/// Draws the figures and adds them to the page. If gnuplot is missing or cannot be started, adds a
/// message to the page instead, and prints it to stderr. RunError: gnuplot fails.
void add_figures(Report& report, const std::vector<NamedFigure>& figures);

/// Creates the page of one invocation. If gnuplot is missing, figures are left out (see
/// add_figures). REQUIRES: `comparison` was computed from `measured`, and has at least one arm.
/// `traces`: traces of the invocation's jobs, from which the page shows the pass of each token; may
/// be empty. RunError: gnuplot fails.
Report make_report(Store& store, const Measurements& measured, const Comparison& comparison,
                   const ExampleLimits& limits, const std::vector<Trace>& traces);

}  // namespace pardec
