#pragma once
#include <vector>

#include "src/findings/comparison.hpp"
#include "src/report/comparison_figures.hpp"
#include "src/report/report.hpp"
#include "src/report/run_examples.hpp"
#include "src/store/store.hpp"

namespace pardec {

/// Draws; where nothing can, a word on stderr and in the page.
void add_figures(Report& report, const std::vector<NamedFigure>& figures);

/// The page of one invocation; figures are left out, with a word on stderr, where nothing can draw.
/// `measured`: what the comparison is made of. `traces`: of its jobs, for the passes that chose
/// their tokens; may be empty.
Report make_report(Store& store, const Measurements& measured, const Comparison& comparison,
                   const ExampleLimits& limits, const std::vector<Trace>& traces);

}  // namespace pardec
