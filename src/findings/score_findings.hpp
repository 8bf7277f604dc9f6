#pragma once
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "src/findings/comparison.hpp"
#include "src/scoring/task_metrics.hpp"

namespace pardec {

// A total is one number for a whole run (MetricTotal).

/// The names of the totals that `run` computes from the text of answers, and that are in the
/// datasets' lists of scores (DatasetEntry::metrics). For the metric value_f1, these are always
/// f1_micro, f1_macro and f1_strict. Each name occurs once. The names are in the order of the runs,
/// and within a run in the order of metrics_of().
std::vector<std::string_view> totals_from_text(const std::vector<RunSummary>& runs);

/// Appends to `totals` the names of the totals that were computed on request (verbs `score` and
/// `judge`). These are the totals in `scores` whose metrics the verb `run` does not compute for the
/// dataset of `run`. `scores`: the stored scores of `run`.
void add_asked_for(std::vector<std::string_view>& totals, const RunSummary& run,
                   const ScoreTable& scores);

/// The metrics for which at least one arm with answers has no score yet. Only metrics in a
/// dataset's list of scores that the verbs `judge` and `score` compute are considered: metrics that
/// need a judge, and metrics that run the code in an answer. All metrics of a dataset that need a
/// judge form one entry. This entry is left out if each arm has a score of at least one of these
/// metrics.
std::vector<Uncomputed> uncomputed_in(const std::vector<ArmFinding>& arms);

/// The first name in the dataset's list of scores for which the arm has a score; empty: none.
std::string_view headline_score(const ArmFinding& arm);

/// All totals that can be computed from the stored scores of `method`: name -> finding. The totals
/// in `with_interval` get an interval and a difference from `baseline` (null: there is no
/// baseline). `margin` is used for ScoreFinding::would_do. The p-values are not adjusted. REQUIRES:
/// both tables are from one call of read_scores.
std::map<std::string_view, ScoreFinding> score_findings(
    const ScoreTable& method, const ScoreTable* baseline,
    const std::vector<std::string_view>& with_interval, double margin, double confidence);

/// Adjusts the p-values of all scores of all arms for multiple tests (holm).
void adjust_p_values(std::vector<ArmFinding>& arms);

}  // namespace pardec
