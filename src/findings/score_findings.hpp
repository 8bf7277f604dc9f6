#pragma once
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "src/findings/comparison.hpp"
#include "src/scoring/task_metrics.hpp"

namespace pardec {

// A total is one number for a whole run (MetricTotal).

/// The totals in the datasets' lists of scores that `run` computes from the text of answers (for
/// the metric value_f1: f1_micro, f1_macro and f1_strict). Each name occurs once. The names are in
/// the order of the runs, and within a run in the order of task_metrics().
std::vector<std::string_view> totals_from_text(const std::vector<RunSummary>& runs);

/// Adds the names of the totals of metrics that the verb `run` does not compute for the dataset of
/// `run`, but that have stored scores (from the verbs `score` and `judge`).
void add_asked_for(std::vector<std::string_view>& totals, const RunSummary& run,
                   const ScoreTable& scores);

/// The metrics in the datasets' lists of scores that are computed only on request (verbs `score`
/// and `judge`), and for which at least one arm with answers has no score yet. The metrics of a
/// dataset that need a judge form one entry; if an arm has a score of one of them, it lacks none.
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
