#pragma once
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "src/findings/comparison.hpp"
#include "src/scoring/task_metrics.hpp"

namespace pardec {

/// The totals of the metrics of these runs' datasets, headline scores first.
std::vector<std::string_view> judged_by(const std::vector<RunSummary>& runs);

/// Adds the totals of metrics that were computed on request (`score`) and are not the dataset's
/// own.
void add_asked_for(std::vector<std::string_view>& totals, const RunSummary& run,
                   const ScoreTable& scores);

/// Metrics of the arms' datasets for which no answer has a score, among the metrics that are only
/// computed on request.
std::vector<Uncomputed> uncomputed_in(const std::vector<ArmFinding>& arms);

/// The first score of the arm's dataset that the arm has; empty: none.
std::string_view headline_score(const ArmFinding& arm);

/// All totals that can be computed from the stored scores. Totals in `with_interval` get an
/// interval and a difference from `baseline`. Null: there is no baseline. REQUIRES: both tables are
/// from one call of read_scores. `would_do` refers to `margin`. p-values are not adjusted.
std::map<std::string_view, ScoreFinding> score_findings(
    const ScoreTable& method, const ScoreTable* baseline,
    const std::vector<std::string_view>& with_interval, double margin, double confidence);

/// Adjusts the p-values of all arms for multiple comparisons.
void adjust_p_values(std::vector<ArmFinding>& arms);

}  // namespace pardec
