#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/store/names.hpp"
#include "src/store/rows.hpp"

/// Figures of stored runs, as plain numbers. Texts and ids of jobs and answers are left out, since
/// those of a large run do not fit in memory. Each table is read once, whatever the number of runs.
namespace pardec {

/// A run with its totals (view run_summary). Sums cover jobs without an error. `measured_*` cover
/// the jobs of blocks that one process measured as a whole and in which no job failed.
struct RunSummary {
  RunRow run;
  std::int64_t jobs = 0, failed_jobs = 0;
  std::int64_t generations = 0, failed_generations = 0;
  std::int64_t examples = 0;                 ///< distinct examples; repeats do not count
  std::int64_t compared = 0, identical = 0;  ///< generations compared with the baseline's
  std::int64_t blocks = 0, measured_blocks = 0;
  std::int64_t measured_wall_ns = 0, measured_examples = 0, measured_fields = 0;
  std::int64_t measured_chosen = 0, measured_text_tokens = 0;
  BlockOccupancy measured;
  Counters totals;  ///< the sum over jobs, without branch_lengths
  /// Number of passes that verified guesses. Every such pass has a first guess, so this is the
  /// number of first guesses.
  std::int64_t checking_passes() const { return totals.drafted.empty() ? 0 : totals.drafted[0]; }
  /// Mean number of tokens per pass that verified guesses: the accepted guesses and the network's
  /// own token. NaN: there is no such pass.
  double accept_length() const {
    if (checking_passes() == 0) return std::numeric_limits<double>::quiet_NaN();
    const auto accepted =
        std::accumulate(totals.accepted.begin(), totals.accepted.end(), std::int64_t{0});
    return 1 + static_cast<double>(accepted) / static_cast<double>(checking_passes());
  }
};

/// A block's time, and how it was measured.
struct BlockTime {
  std::int64_t wall_ns;
  BlockUse use;
};

/// A block that one process measured as a whole, and in which no job failed.
struct BlockFigures {
  RowId id;
  std::int32_t key, process;  ///< numbers in ExampleNames
  int repeat, position;
  std::int64_t examples;
  BlockTime time;
};

/// A repeated measurement of a block.
struct BlockRepair {
  std::int32_t process;  ///< number in ExampleNames
  BlockTime time;
};

/// The measurements of a run.
struct MeasuredBlocks {
  std::vector<BlockFigures> blocks;       ///< by repeat and position
  std::map<RowId, BlockRepair> repaired;  ///< by BlockFigures::id
};

/// One block measured as a whole by both arms in one process.
struct BlockPairRow {
  std::int32_t key;  ///< number in ExampleNames
  int repeat;
  std::int64_t examples;
  BlockTime baseline, method;
  /// Repeated measurements of both arms, in one process, because the first one was disturbed.
  std::optional<std::pair<BlockTime, BlockTime>> repaired;
};

struct JobFigures : Counts {
  RowId id = 0, block = 0;  ///< block 0: the job is in no block
  int repeat = 0;
  bool failed = false;
  /// the range of the job in RunFigures::branch_lengths
  std::int32_t first_length = 0, lengths = 0;
  std::vector<Counts> turns;  ///< as in JobRow
};

struct AnswerFigures {
  RowId id = 0;
  std::int32_t example = 0, job = 0;  ///< indices in Figures::examples and RunFigures::jobs
  std::int32_t repeat = 0;
  /// number of fields; number of those that ended at a token limit or at the end of the network's
  /// context, or whose reasoning has no end
  std::int32_t fields = 0, fields_at_limit = 0;
  bool at_limit = false;               ///< whether the answer's own stop is limit or context
  std::int64_t thought = 0;            ///< number of reasoning tokens, over all fields
  bool failed = false, empty = false;  ///< empty: only white space
  std::optional<bool> identical;       ///< whether it equals the baseline's answer
  std::optional<double> gap;           ///< as in Identity
};

struct RunFigures {
  RunSummary summary;
  MeasuredBlocks measured;
  std::vector<JobFigures> jobs;              ///< by repeat and id
  std::vector<std::int32_t> branch_lengths;  ///< of all jobs
  std::vector<AnswerFigures> answers;        ///< by repeat and id
};

/// The names that the numbers refer to: one numbering for all runs that were read together.
struct ExampleNames {
  std::vector<std::string> keys;        ///< keys of Figures::examples, in the same order
  std::vector<std::string> block_keys;  ///< sorted; BlockFigures::key is the index
  NameNumbers clusters, categories, fields, processes;
};

/// An example with at least one answer.
struct ExampleFigures {
  RowId id;
  std::int32_t cluster, category;  ///< numbers in ExampleNames
};

struct Figures {
  explicit Figures(std::vector<RunRow> rows) : runs(rows.size()) {
    for (std::size_t r = 0; r < rows.size(); ++r) runs[r].summary.run = std::move(rows[r]);
  }

  std::vector<RunFigures> runs;
  std::vector<ExampleFigures> examples;  ///< by id
  std::shared_ptr<ExampleNames> names = std::make_shared<ExampleNames>();
};

/// Pairs blocks by key, repeat and process, in the order of the method's blocks.
std::vector<BlockPairRow> block_pairs(const MeasuredBlocks& baseline, const MeasuredBlocks& method);

/// Finds values by the id of their row. Fast if searches come in the order of ids.
template <typename Value>
class RowPlaces {
 public:
  void add(RowId id, Value value) { places_.emplace_back(id, std::move(value)); }
  /// Call before the first search.
  void sort() {
    const auto less = [](const auto& a, const auto& b) { return a.first < b.first; };
    if (!std::is_sorted(places_.begin(), places_.end(), less))
      std::sort(places_.begin(), places_.end(), less);
  }
  /// Null: there is no value for this id.
  const Value* find(RowId id) {
    if (at_ < places_.size() && places_[at_].first < id) ++at_;
    if (at_ >= places_.size() || places_[at_].first != id)
      at_ = static_cast<std::size_t>(
          std::lower_bound(places_.begin(), places_.end(), id,
                           [](const auto& place, RowId wanted) { return place.first < wanted; }) -
          places_.begin());
    return at_ < places_.size() && places_[at_].first == id ? &places_[at_].second : nullptr;
  }
  bool empty() const { return places_.empty(); }
  std::int64_t size() const { return std::ssize(places_); }
  RowId first() const { return places_.front().first; }
  RowId last() const { return places_.back().first; }

 private:
  std::vector<std::pair<RowId, Value>> places_;
  std::size_t at_ = 0;
};

/// Finds the answers of a run. The run must outlive this object.
class AnswerPlaces {
 public:
  explicit AnswerPlaces(const RunFigures& run) {
    for (const AnswerFigures& answer : run.answers)
      places_.add(place(answer.example, answer.repeat), &answer);
    places_.sort();
  }
  /// Null: there is no such answer.
  const AnswerFigures* find(std::int32_t example, std::int32_t repeat) {
    const AnswerFigures* const* found = places_.find(place(example, repeat));
    return found ? *found : nullptr;
  }

 private:
  static std::int64_t place(std::int32_t example, std::int32_t repeat) {
    return (static_cast<std::int64_t>(repeat) << 32) + example;
  }
  RowPlaces<const AnswerFigures*> places_;
};

}  // namespace pardec
