#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "metrics/statistics.hpp"
#include "src/report/table.hpp"
#include "src/store/store.hpp"

namespace CLI {
class App;
}

namespace pardec {

/// The database to be compared, read only. Shards of one run are one run in it; `run`, which begins
/// the id of an invocation or run, becomes its invocation's.
std::unique_ptr<Store> open_to_compare(const std::string& db, std::string& run);

/// Which shards a table is of, listed as Store::join_shards does, and whether some are missing.
std::string shard_note(const std::string& shards);

/// What is compared: the flags that `compare` and `report` share.
struct ComparisonFlags {
  std::string db = "results/pardec.sqlite", run, baseline;
  double confidence = 0.95;
  void add_to(CLI::App& app);
};

/// An interval over fewer blocks says nothing: of two equal arms half would seem to differ with
/// two.
inline constexpr std::int64_t kFewestBlocks = 6;

/// ratio_of_totals over blocks; without ends (NaN) where there are fewer than kFewestBlocks.
Interval interval_over(const std::vector<BlockPair>& blocks, double confidence);

/// Notes for every method of an invocation how its answers compare with its baseline's: identical
/// field by field?, else the first token at which a value departs from the baseline's, and how
/// close the two best logits were there.
void mark_identities(Store& store, const std::string& invocation);

/// The arms of one invocation side by side, one row an arm of a dataset: what was in flight, speed
/// over the blocks that were measured whole, ratio of totals to the baseline with its paired
/// bootstrap interval, tokens per forward, share of identical answers (under an oracle: of the
/// network's own choices), value F1. `baseline` empty: each run's own. ConfigError when there is no
/// such invocation or arm.
Table compare_runs(Store& store, const std::string& invocation, const std::string& baseline,
                   double confidence);

/// The same as one row an arm and one column a dataset, each cell the dataset's headline score, the
/// speedup over the baseline and the tokens per forward; "n/a" where the arm could not be run, with
/// the reason in a note.
Table matrix_of_runs(Store& store, const std::string& invocation, const std::string& baseline,
                     double confidence);

/// What stands as the speedup of an arm that others are compared with.
inline constexpr const char* kBaselineSpeedup = "1 (baseline)";

/// Key in the experiment's record (`ExperimentRow::json`): arms that do not run on a dataset, as a
/// list of {"dataset", "arm", "reason"}.
inline constexpr const char* kNotApplicable = "not_applicable";

/// The invocation with the newest run, of a dataset if one is named. ConfigError when the store is
/// empty.
std::string latest_invocation(Store& store);

/// The invocation of which `prefix` begins the id, or the id of one of its runs; empty: the newest.
/// ConfigError when there is none.
std::string find_invocation(Store& store, const std::string& prefix);

/// Which arms' answers are noise, and why; empty: none are.
std::string untrained_note(const std::vector<RunSummary>& runs);

/// ConfigError for a --confidence-level that is none.
void check_confidence(double confidence);

/// What was in flight in an arm's forward passes, mean over the blocks that were measured whole.
struct InFlight {
  double jobs, streams;  ///< NaN: not known
};
InFlight in_flight(const RunSummary& run);
/// "7.4 of 8": jobs reached, of those that were asked for.
std::string shown_in_flight(const RunSummary& run);

/// The runs of an invocation in the order of their ids, which is the order of compare_runs' rows.
/// ConfigError when there are none.
std::vector<RunSummary> runs_of(Store& store, const std::string& invocation);

/// The run that `method` is compared with: the arm of that label on the same dataset, `baseline`
/// empty: its own. Null where there is none, or it is the method itself.
const RunSummary* find_baseline(const std::vector<RunSummary>& runs, const RunSummary& method,
                                const std::string& baseline);

/// What each arm of an invocation fed, chose and cached, with the papers' own counts: parallelism
/// (chosen ids per forward pass), the dummy tokens that a padded batch would have fed, and, where
/// an hourly price is given, the price of 1,000 examples.
Table accounting_table(Store& store, const std::string& invocation,
                       std::optional<double> usd_per_hour);

/// Where answers of a method depart from its baseline's: one row a generation, those with the
/// smallest logit gap first.
Table differences_table(Store& store, const std::string& invocation, int limit);

}  // namespace pardec
