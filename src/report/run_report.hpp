#pragma once
#include <vector>

#include "src/findings/comparison.hpp"
#include "src/report/comparison_figures.hpp"
#include "src/report/report.hpp"
#include "src/report/run_examples.hpp"
#include "src/store/store.hpp"

namespace pardec {

/// Draws the figures. If gnuplot is missing, prints a message to stderr and adds one to the page.
void add_figures(Report& report, const std::vector<NamedFigure>& figures);

/// The page of one invocation. If gnuplot is missing, figures are left out, with a message on
/// stderr. `measured`: the data of `comparison`. `traces`: the traces of its jobs, which tell in
/// which pass each token was generated; may be empty.
Report make_report(Store& store, const Measurements& measured, const Comparison& comparison,
                   const ExampleLimits& limits, const std::vector<Trace>& traces);

}  // namespace pardec
