#pragma once
#include <vector>

#include "src/findings/comparison.hpp"
#include "src/report/comparison_figures.hpp"
#include "src/report/report.hpp"
#include "src/report/run_examples.hpp"
#include "src/store/store.hpp"

namespace pardec {

/// Draws the figures and adds them to the page. If gnuplot is missing or cannot be started, adds a
/// message to the page instead (Report::without_figures), and prints this message to stderr.
/// RunError: see draw.
void add_figures(Report& report, const std::vector<NamedFigure>& figures);

/// Creates the page of one invocation. `limits` and `traces`: see draw_examples. RunError: see
/// add_figures. StoreError and DataError: see store.hpp. REQUIRES: `comparison` was computed from
/// `measured`, which was read from `store`, and has at least one arm.
Report make_report(Store& store, const Measurements& measured, const Comparison& comparison,
                   const ExampleLimits& limits, const std::vector<Trace>& traces);

}  // namespace pardec
