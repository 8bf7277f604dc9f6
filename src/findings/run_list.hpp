#pragma once
#include <optional>
#include <string>
#include <vector>

#include "src/findings/comparison.hpp"
#include "src/store/store.hpp"

namespace pardec {

/// Selects invocations for the verb `runs`. An empty member matches everything.
struct RunListFilter {
  std::string dataset;
  std::string model;    ///< a part of the network's path, or a prefix of its hash
  std::string decoder;  ///< the decoder or the label of an arm
  /// Runs that started at this time or later. An ISO 8601 time in UTC, which may end after the year
  /// or any later part, e.g. 2026-01-31 or 2026-01-31T18:00.
  std::string since;
};

/// A short description of one invocation.
struct ListedRun {
  std::string invocation, name, note, started_utc, commit;
  /// running if one of its runs is running; otherwise failed if one of its runs failed
  RunStatus status = RunStatus::done;
  std::vector<ModelRow> models;  ///< networks of its arms
  std::string dtype, shard;      ///< of the first run
  std::vector<std::string> arms;
  std::vector<DatasetRow> datasets;
  std::int64_t examples = 0;          ///< distinct examples, over all datasets
  std::int64_t failed = 0;            ///< number of failed answers
  bool untrained = false;             ///< whether the network of `arm` is untrained
  std::optional<std::string> oracle;  ///< of the first run; none: it has no oracle
  /// Arm and dataset of the headline whose best arm (Headline::best) has the largest speedup. If no
  /// headline has a best arm: those of the first run.
  std::string arm, dataset;
  std::optional<double> speedup;      ///< the best arm's speedup; none: there is no best arm
  std::vector<std::string> warnings;  ///< codes of the warnings about `arm` and its baseline
  /// name of the first score of `dataset` that `arm` has; empty: it has none, or it has an oracle
  std::string_view score_name;
  std::optional<double> score;  ///< its value for `arm`; none: not known
};

/// Describes one invocation. ConfigError: there is no such invocation.
ListedRun listed_run(Store& store, const std::string& invocation);

struct RunList {
  std::vector<ListedRun> runs;  ///< newest first
  std::int64_t matching = 0;    ///< number of matching invocations, also beyond the limit
};

/// The newest `limit` matching invocations; 0: all of them. ConfigError: filter.since is not a
/// time in this form, or there is no dataset with the name filter.dataset.
RunList list_runs(Store& store, const RunListFilter& filter, int limit);

/// One arm on one dataset in one of the compared invocations.
struct AcrossRow {
  size_t invocation;  ///< index in AcrossRuns::invocations
  const ArmFinding* arm;
  std::string_view score_name;  ///< the dataset's headline score; empty: none
  /// difference of this score from the first invocation's; none: not known, or this is the first
  std::optional<Interval> difference;
  /// share of answers that equal the first invocation's; none: not known, or this is the first
  std::optional<double> identical;
};

/// The speedup of one arm, combined over several sittings: invocations of the same command at
/// different times.
struct Sittings {
  const ArmFinding* arm;  ///< the arm in the first of these invocations
  std::int64_t count;     ///< number of invocations that are combined
  Interval speedup;       ///< interval for further invocations: random_effects of the logarithms
  /// typical factor by which the speedup of one invocation differs from the mean, beyond what the
  /// intervals of the invocations explain; 1: no such difference
  double between;
};

/// A comparison of several invocations. Their arms did not take turns, so differences in speed can
/// come from the machine.
struct AcrossRuns {
  std::vector<Comparison> invocations;
  /// for each invocation: its name, or without a name the beginning of its id
  std::vector<std::string> names;
  /// by dataset and arm in the order of their first occurrence, then by invocation
  std::vector<AcrossRow> rows;
  /// One entry for each arm with an interval in at least two invocations that have the settings of
  /// the first.
  std::vector<Sittings> sittings;
  /// For each invocation: the settings that differ from the first invocation's, e.g. "threads: 1,
  /// now 2". If only some arms differ, dataset and arm come first.
  std::vector<std::vector<std::string>> differences;
};

/// Compares the invocations with the first one. `invocations`: their whole ids. ConfigError: there
/// is no such invocation. REQUIRES: `invocations` is not empty.
AcrossRuns compare_across(Store& store, const std::vector<std::string>& invocations,
                          double confidence);

}  // namespace pardec
