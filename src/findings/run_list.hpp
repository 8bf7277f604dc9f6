#pragma once
#include <optional>
#include <string>
#include <vector>

#include "src/findings/comparison.hpp"
#include "src/store/store.hpp"

namespace pardec {

/// Which invocations `runs` lists; empty members match everything.
struct RunListFilter {
  std::string dataset;
  std::string model;    ///< part of its path, or the beginning of its hash
  std::string decoder;  ///< of one of its arms, or an arm's label
  std::string since;    ///< the beginning of an ISO 8601 date, UTC
};

/// One invocation in few words.
struct ListedRun {
  std::string invocation, name, note, started_utc, commit;
  RunStatus status = RunStatus::done;  ///< running if one of its runs is, else failed if one has
  std::vector<ModelRow> models;        ///< of its arms
  std::string dtype, shard;
  std::vector<std::string> arms;
  std::vector<DatasetRow> datasets;
  std::int64_t examples = 0;  ///< different ones, of all datasets
  std::int64_t failed = 0;    ///< answers
  bool untrained = false;     ///< the headline's network
  std::optional<std::string> oracle;
  /// Arm and dataset of the fastest headline; without one the first run.
  std::string arm, dataset;
  std::optional<double> speedup;      ///< the headline's
  std::vector<std::string> warnings;  ///< codes of those that this arm and its baseline have
  std::string_view score_name;        ///< the dataset's first, and what it is for this arm
  std::optional<double> score;
};

ListedRun listed_run(Store& store, const std::string& invocation);

struct RunList {
  std::vector<ListedRun> runs;  ///< newest first
  std::int64_t matching = 0;    ///< how many there are without the limit
};

/// At most `limit` of those that match, 0: all. ConfigError where `since` begins no date.
RunList list_runs(Store& store, const RunListFilter& filter, int limit);

/// One arm of one dataset in one of the invocations that are compared.
struct AcrossRow {
  size_t invocation;  ///< index
  const ArmFinding* arm;
  std::string_view score_name;         ///< the dataset's headline; empty: none
  std::optional<Interval> difference;  ///< of that score, from the first invocation's
  std::optional<double> identical;     ///< share of answers that equal the first's
};

/// The speedup of one arm over several invocations of one command: what another sitting might find.
struct Sittings {
  const ArmFinding* arm;  ///< as the first of them has it
  std::int64_t count;
  Interval speedup;  ///< over all sittings that there might be: random_effects of the logarithms
  double between;    ///< factor by which sittings typically lie apart, beyond their own intervals
};

/// Invocations row by row. Their speeds were not measured side by side.
struct AcrossRuns {
  std::vector<Comparison> invocations;
  std::vector<std::string> names;  ///< of each: its name, else how its id begins
  std::vector<AcrossRow> rows;     ///< by dataset and arm, then by invocation
  /// Of each arm that two or more invocations with the first one's settings measured, with an
  /// interval.
  std::vector<Sittings> sittings;
  /// Settings in which each invocation departs from the first, e.g. "threads: 1, now 2"; where not
  /// all arms do, with dataset and arm before it.
  std::vector<std::vector<std::string>> differences;
};

AcrossRuns compare_across(Store& store, const std::vector<std::string>& invocations,
                          double confidence);

}  // namespace pardec
