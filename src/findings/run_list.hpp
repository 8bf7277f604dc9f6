#pragma once
#include <optional>
#include <string>
#include <vector>

#include "src/findings/comparison.hpp"
#include "src/store/store.hpp"

namespace pardec {

/// Selects invocations for `runs`; empty members match everything.
struct RunListFilter {
  std::string dataset;
  std::string model;    ///< part of its path, or a prefix of its hash
  std::string decoder;  ///< the decoder or the label of one of its arms
  std::string since;    ///< a prefix of an ISO 8601 date, UTC
};

/// A short description of one invocation.
struct ListedRun {
  std::string invocation, name, note, started_utc, commit;
  /// running if one of its runs is; otherwise failed if one has failed
  RunStatus status = RunStatus::done;
  std::vector<ModelRow> models;  ///< of its arms
  std::string dtype, shard;
  std::vector<std::string> arms;
  std::vector<DatasetRow> datasets;
  std::int64_t examples = 0;  ///< distinct examples, over all datasets
  std::int64_t failed = 0;    ///< number of failed answers
  bool untrained = false;     ///< whether the headline's network is untrained
  std::optional<std::string> oracle;
  /// Arm and dataset of the fastest headline; without a headline, those of the first run.
  std::string arm, dataset;
  std::optional<double> speedup;      ///< the headline's speedup
  std::vector<std::string> warnings;  ///< codes of the warnings about this arm and its baseline
  /// the first score of the dataset; `score` is its value for this arm
  std::string_view score_name;
  std::optional<double> score;
};

ListedRun listed_run(Store& store, const std::string& invocation);

struct RunList {
  std::vector<ListedRun> runs;  ///< newest first
  std::int64_t matching = 0;    ///< number of matching runs without the limit
};

/// At most `limit` matching invocations; 0: all. ConfigError: `since` is not a prefix of a date.
RunList list_runs(Store& store, const RunListFilter& filter, int limit);

/// One arm on one dataset in one of the compared invocations.
struct AcrossRow {
  size_t invocation;  ///< index
  const ArmFinding* arm;
  std::string_view score_name;         ///< the dataset's headline score; empty: none
  std::optional<Interval> difference;  ///< difference of that score from the first invocation's
  std::optional<double> identical;     ///< share of answers that equal the first invocation's
};

/// The speedup of one arm, combined over several invocations of the same command (sittings).
struct Sittings {
  const ArmFinding* arm;  ///< from the first of these invocations
  std::int64_t count;
  Interval speedup;  ///< expected over further invocations: random_effects of the logarithms
  double between;    ///< typical factor between invocations, beyond their own intervals
};

/// A comparison of invocations. Their speeds were not measured in alternation.
struct AcrossRuns {
  std::vector<Comparison> invocations;
  std::vector<std::string> names;  ///< for each: its name, otherwise the beginning of its id
  std::vector<AcrossRow> rows;     ///< by dataset and arm, then by invocation
  /// For each arm with an interval in at least two invocations that have the same settings as the
  /// first.
  std::vector<Sittings> sittings;
  /// Settings in which each invocation differs from the first, e.g. "threads: 1, now 2"; preceded
  /// by dataset and arm if not all arms differ.
  std::vector<std::vector<std::string>> differences;
};

AcrossRuns compare_across(Store& store, const std::vector<std::string>& invocations,
                          double confidence);

}  // namespace pardec
