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
  std::string decoder;  ///< name of an arm's decoder, or label of an arm
  /// Only runs that started at this time or later match. The text is the beginning of an ISO 8601
  /// time in UTC, from the year on, e.g. 2026-01-31 or 2026-01-31T18:00.
  std::string since;
};

/// A short description of one invocation. Here, a run is one arm on one dataset.
struct ListedRun {
  /// invocation: its id. name, note: given by the user; may be empty. started_utc: ISO 8601 time.
  std::string invocation, name, note, started_utc, commit;
  /// `running` if a run of the invocation is running; otherwise `failed` if a run failed
  RunStatus status = RunStatus::done;
  std::vector<ModelRow> models;   ///< the distinct networks of the arms
  std::string dtype, shard;       ///< of the first run
  std::vector<std::string> arms;  ///< labels
  std::vector<DatasetRow> datasets;
  std::int64_t examples = 0;          ///< number of distinct examples, over all datasets
  std::int64_t failed = 0;            ///< number of failed answers
  bool untrained = false;             ///< whether the network of `arm` is untrained
  std::optional<std::string> oracle;  ///< of the first run; none: the first run has no oracle
  /// The arm with the largest speedup among the best arms of the headlines (Headline::best), and
  /// its dataset. If no headline has a best arm: arm and dataset of the first run.
  std::string arm, dataset;
  std::optional<double> speedup;      ///< speedup of `arm`; none: no headline has a best arm
  std::vector<std::string> warnings;  ///< codes of the warnings about `arm` and its baseline
  /// name of the first score of `dataset` that `arm` has (headline_score); empty: `arm` has none of
  /// these scores, or has an oracle
  std::string_view score_name;
  std::optional<double> score;  ///< value of this score for `arm`; none: not known
};

/// Describes one invocation. `invocation`: its whole id. ConfigError: there is no such invocation.
/// StoreError and DataError, for all functions with a Store: see store.hpp.
ListedRun listed_run(Store& store, const std::string& invocation);

/// A list of invocations.
struct RunList {
  std::vector<ListedRun> runs;  ///< newest first
  std::int64_t matching = 0;    ///< number of all matching invocations, also beyond the limit
};

/// The newest `limit` invocations that have a run for which all members of `filter` match. `limit`
/// 0: all of them. ConfigError: `filter.since` is not the beginning of an ISO 8601 time, or neither
/// the registry of datasets nor the store has a dataset with the name `filter.dataset`.
RunList list_runs(Store& store, const RunListFilter& filter, int limit);

/// One arm on one dataset in one of the compared invocations.
struct AcrossRow {
  size_t invocation;  ///< index in AcrossRuns::invocations
  const ArmFinding* arm;
  std::string_view score_name;  ///< name of the arm's first score (headline_score); empty: none
  /// This score minus the score of the same arm in the first invocation. None: this is the first
  /// invocation, the first invocation lacks the arm or the score, or the dataset's files differ.
  std::optional<Interval> difference;
  /// Share of the answers that equal the answers of the same arm in the first invocation. Failed
  /// answers do not count. None: this is the first invocation, or the first invocation has no
  /// answers to the same examples.
  std::optional<double> identical;
};

/// The speedup of one arm, combined over several sittings: invocations of the same command at
/// different times.
struct Sittings {
  const ArmFinding* arm;  ///< the arm in the first of these invocations
  std::int64_t count;     ///< number of invocations that are combined
  /// the mean over all possible sittings (random_effects of the logarithms)
  Interval speedup;
  /// typical factor by which the speedup of one sitting differs from the mean, beyond what the
  /// intervals of the sittings explain; 1: no such difference
  double between;
};

/// A comparison of several invocations. Their arms did not take turns, so differences in speed can
/// come from the machine.
struct AcrossRuns {
  std::vector<Comparison> invocations;  ///< in the order of the call
  /// for each invocation: its name; if it has no name, the first 8 characters of its id
  std::vector<std::string> names;
  /// Sorted by dataset and arm (in the order of their first occurrence), then by invocation. The
  /// rows and `sittings` have pointers into `invocations`.
  std::vector<AcrossRow> rows;
  /// One entry for each arm that has a speedup with an interval in at least two invocations. Only
  /// invocations without `differences` are combined.
  std::vector<Sittings> sittings;
  /// For each invocation: a list of texts about the differences in settings and machines between
  /// the first invocation and this invocation, e.g. "threads: 1, now 2". If only some arms differ,
  /// the text begins with the datasets and labels of these arms.
  std::vector<std::vector<std::string>> differences;
};

/// Compares the invocations with the first one. `invocations`: their whole ids. `confidence`: of
/// all intervals, between 0 and 1. ConfigError: there is no such invocation. REQUIRES:
/// `invocations` is not empty.
AcrossRuns compare_across(Store& store, const std::vector<std::string>& invocations,
                          double confidence);

}  // namespace pardec
