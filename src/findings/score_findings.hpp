#pragma once
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "src/findings/comparison.hpp"
#include "src/scoring/task_metrics.hpp"

namespace pardec {

/// The totals that the datasets of these runs are judged by, headlines first.
std::vector<std::string_view> judged_by(const std::vector<RunSummary>& runs);

/// Adds the totals of other metrics than the dataset's own that somebody had computed (`score`).
void add_asked_for(std::vector<std::string_view>& totals, const RunSummary& run,
                   const ScoreTable& scores);

/// Metrics of the arms' datasets that no answer has a score of, of those that are not computed
/// unasked.
std::vector<Uncomputed> uncomputed_in(const std::vector<ArmFinding>& arms);

/// The first score that its dataset is judged by and that the arm has; empty: none.
std::string_view headline_score(const ArmFinding& arm);

/// All totals that the stored scores come to. An interval and a difference from `baseline` (null:
/// none; else read together with `method`) have those of `with_interval`; `would_do` is of
/// `margin`; p-values are raw.
std::map<std::string_view, ScoreFinding> score_findings(
    const ScoreTable& method, const ScoreTable* baseline,
    const std::vector<std::string_view>& with_interval, double margin, double confidence);

/// Adjusts the p-values of all arms for their number.
void adjust_p_values(std::vector<ArmFinding>& arms);

}  // namespace pardec
