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

/// What stored runs come to, in plain numbers: without the texts and ids of jobs and answers, for
/// which a large run leaves no room. Each table is read once, whatever the number of runs.
namespace pardec {

/// A run with its totals (view run_summary). Sums are over jobs without error; `measured_*` over
/// the jobs of blocks that one process measured whole and in which no job failed.
struct RunSummary {
  RunRow run;
  std::int64_t jobs = 0, failed_jobs = 0;
  std::int64_t generations = 0, failed_generations = 0;
  std::int64_t examples = 0;                 ///< different ones: repeats are no new examples
  std::int64_t compared = 0, identical = 0;  ///< generations compared with the baseline's
  std::int64_t blocks = 0, measured_blocks = 0;
  std::int64_t measured_wall_ns = 0, measured_examples = 0, measured_fields = 0;
  std::int64_t measured_chosen = 0, measured_text_tokens = 0;
  BlockOccupancy measured;
  Counters totals;  ///< one job added after the other, without branch_lengths
  /// Passes that checked guesses: all of them have a first one.
  std::int64_t checking_passes() const { return totals.drafted.empty() ? 0 : totals.drafted[0]; }
  /// Mean tokens of a pass that checked guesses: those that entered, and the network's own. NaN:
  /// there is none.
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

/// A block that one process measured whole, and in which no job failed.
struct BlockFigures {
  RowId id;
  std::int32_t key, process;  ///< in ExampleNames
  int repeat, position;
  std::int64_t examples;
  BlockTime time;
};

/// A block measured once more.
struct BlockRepair {
  std::int32_t process;  ///< in ExampleNames
  BlockTime time;
};

/// What was measured of a run.
struct MeasuredBlocks {
  std::vector<BlockFigures> blocks;       ///< by repeat and position
  std::map<RowId, BlockRepair> repaired;  ///< by BlockFigures::id
};

/// One block measured whole by both arms in one process.
struct BlockPairRow {
  std::int32_t key;  ///< in ExampleNames
  int repeat;
  std::int64_t examples;
  BlockTime baseline, method;
  /// Both once more, in one process, since the first time was disturbed.
  std::optional<std::pair<BlockTime, BlockTime>> repaired;
};

struct JobFigures : Counts {
  RowId id = 0, block = 0;  ///< block 0: in none
  int repeat = 0;
  bool failed = false;
  std::int32_t first_length = 0, lengths = 0;  ///< its part of RunFigures::branch_lengths
  std::vector<Counts> turns;                   ///< as JobRow's
};

struct AnswerFigures {
  RowId id = 0;
  std::int32_t example = 0, job = 0;  ///< indices in Figures::examples and RunFigures::jobs
  std::int32_t repeat = 0;
  std::int32_t fields = 0, fields_at_limit = 0;  ///< all; whose stop is limit or context,
                                                 ///< or whose thought has no end
  bool at_limit = false;                         ///< its own stop is one of these
  std::int64_t thought = 0;                      ///< ids of thought, over its fields
  bool failed = false, empty = false;            ///< empty: of white space alone
  std::optional<bool> identical;                 ///< to the baseline's
  std::optional<double> gap;                     ///< as Identity's
};

struct RunFigures {
  RunSummary summary;
  MeasuredBlocks measured;
  std::vector<JobFigures> jobs;              ///< by repeat and id
  std::vector<std::int32_t> branch_lengths;  ///< of all jobs
  std::vector<AnswerFigures> answers;        ///< by repeat and id
};

/// What numbers stand for: one numbering for all runs that were read together.
struct ExampleNames {
  std::vector<std::string> keys;        ///< of Figures::examples
  std::vector<std::string> block_keys;  ///< in their order
  NameNumbers clusters, categories, fields, processes;
};

/// An example that has an answer.
struct ExampleFigures {
  RowId id;
  std::int32_t cluster, category;  ///< by number
};

struct Figures {
  explicit Figures(std::vector<RunRow> rows) : runs(rows.size()) {
    for (std::size_t r = 0; r < rows.size(); ++r) runs[r].summary.run = std::move(rows[r]);
  }

  std::vector<RunFigures> runs;
  std::vector<ExampleFigures> examples;  ///< by id
  std::shared_ptr<ExampleNames> names = std::make_shared<ExampleNames>();
};

/// Paired by block key, repeat and process; in the order of the method's.
std::vector<BlockPairRow> block_pairs(const MeasuredBlocks& baseline, const MeasuredBlocks& method);

/// Finds what belongs to a row by the row's id; fast where one asks in the order of ids.
template <typename Value>
class RowPlaces {
 public:
  void add(RowId id, Value value) { places_.emplace_back(id, std::move(value)); }
  /// Before the first search.
  void sort() {
    const auto less = [](const auto& a, const auto& b) { return a.first < b.first; };
    if (!std::is_sorted(places_.begin(), places_.end(), less))
      std::sort(places_.begin(), places_.end(), less);
  }
  /// Null: there is no such row.
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

/// Finds the answers of a run, which outlives it.
class AnswerPlaces {
 public:
  explicit AnswerPlaces(const RunFigures& run) {
    for (const AnswerFigures& answer : run.answers)
      places_.add(place(answer.example, answer.repeat), &answer);
    places_.sort();
  }
  /// Null: there is none.
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
