#pragma once
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "src/findings/comparison.hpp"
#include "src/scoring/task_metrics.hpp"

namespace pardec {

/// The names of all totals of the metrics of these runs' datasets, headline scores first.
std::vector<std::string_view> judged_by(const std::vector<RunSummary>& runs);

/// Adds the names of totals of metrics that were computed on request (verb `score`) and are not
/// among the dataset's own metrics.
void add_asked_for(std::vector<std::string_view>& totals, const RunSummary& run,
                   const ScoreTable& scores);

/// The metrics of the arms' datasets that are computed only on request, and for which no answer has
/// a score yet.
std::vector<Uncomputed> uncomputed_in(const std::vector<ArmFinding>& arms);

/// The first name in the dataset's list of scores for which the arm has a score; empty: none.
std::string_view headline_score(const ArmFinding& arm);

/// All totals that can be computed from the stored scores of `method`. The totals in
/// `with_interval` get an interval and a difference from `baseline` (null: there is no baseline).
/// `margin` is used for ScoreFinding::would_do. The p-values are not adjusted. REQUIRES: both
/// tables are from one call of read_scores.
std::map<std::string_view, ScoreFinding> score_findings(
    const ScoreTable& method, const ScoreTable* baseline,
    const std::vector<std::string_view>& with_interval, double margin, double confidence);

/// Adjusts the p-values of all scores of all arms for multiple comparisons, with Holm's method.
void adjust_p_values(std::vector<ArmFinding>& arms);

}  // namespace pardec
