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

/// The numbers of stored runs, for statistics. Texts and token ids are left out, because the texts
/// of a large run would not fit into memory. Each table is read once, regardless of the number of
/// runs.
namespace pardec {

/// A run and its totals, as in the view run_summary. `totals` includes only jobs without an error.
/// `measured` and the members `measured_*` include only jobs of measured blocks: one process
/// measured the block as a whole, and no job of it failed. Each repeat of a block counts as a
/// separate block.
struct RunSummary {
  RunRow run;
  std::int64_t jobs = 0, failed_jobs = 0;
  std::int64_t generations = 0, failed_generations = 0;  ///< numbers of answers
  std::int64_t examples = 0;  ///< number of distinct examples; repeats do not count
  /// compared: number of answers that were compared with the baseline's answers. identical: number
  /// of these that equal the baseline's.
  std::int64_t compared = 0, identical = 0;
  std::int64_t blocks = 0, measured_blocks = 0;  ///< number of all blocks, and of measured blocks
  /// sums over measured blocks: their times, examples, fields, generated tokens, and tokens of text
  /// (Counts::text)
  std::int64_t measured_wall_ns = 0, measured_examples = 0, measured_fields = 0;
  std::int64_t measured_chosen = 0, measured_text_tokens = 0;
  BlockOccupancy measured;  ///< summed over measured blocks
  /// the counters of all jobs, combined as kCounters says (Counter::after), without branch_lengths
  Counters totals;
  /// Number of passes that verified guesses. This equals the number of first guesses, since every
  /// such pass has exactly one first guess.
  std::int64_t checking_passes() const { return totals.drafted.empty() ? 0 : totals.drafted[0]; }
  /// Accepted length: mean number of tokens per pass that verified guesses, i.e. the accepted
  /// guesses and the network's own token. NaN: no pass verified guesses.
  double accept_length() const {
    if (checking_passes() == 0) return std::numeric_limits<double>::quiet_NaN();
    const auto accepted =
        std::accumulate(totals.accepted.begin(), totals.accepted.end(), std::int64_t{0});
    return 1 + static_cast<double>(accepted) / static_cast<double>(checking_passes());
  }
};

/// The time of a block, and the conditions of its measurement.
struct BlockTime {
  std::int64_t wall_ns;
  BlockUse use;
};

/// A block that one process measured as a whole, and in which no job failed.
struct BlockFigures {
  RowId id;
  std::int32_t key, process;  ///< indices into ExampleNames::block_keys and processes
  int repeat, position;       ///< as in BlockRow
  std::int64_t examples;      ///< number of examples in the block
  BlockTime time;
};

/// A second measurement of a disturbed block.
struct BlockRepair {
  std::int32_t process;  ///< index into ExampleNames::processes
  BlockTime time;
};

/// The measurements of a run.
struct MeasuredBlocks {
  std::vector<BlockFigures> blocks;       ///< sorted by repeat and position
  std::map<RowId, BlockRepair> repaired;  ///< maps BlockFigures::id to the second measurement
};

/// A block that one process measured as a whole for both arms.
struct BlockPairRow {
  std::int32_t key;  ///< index into ExampleNames::block_keys
  int repeat;
  std::int64_t examples;  ///< number of examples in the block
  BlockTime baseline, method;
  /// The second measurements (baseline, method), which one process made because the first
  /// measurements were disturbed. None: the block was not measured again for both arms by one
  /// process.
  std::optional<std::pair<BlockTime, BlockTime>> repaired;
};

/// The counters of one job.
struct JobFigures : Counts {
  RowId id = 0, block = 0;  ///< block is 0 if the job belongs to no block
  int repeat = 0;
  bool failed = false;
  /// the job's range in RunFigures::branch_lengths: index of its first entry, and number of entries
  std::int32_t first_length = 0, lengths = 0;
  std::vector<Counts> turns;  ///< see JobRow::turns
};

/// The numbers of one answer.
struct AnswerFigures {
  RowId id = 0;
  std::int32_t example = 0, job = 0;  ///< indices in Figures::examples and RunFigures::jobs
  std::int32_t repeat = 0;
  /// fields: number of fields. fields_at_limit: number of fields that ended at a token limit or at
  /// the end of the network's context, or with unfinished thinking.
  std::int32_t fields = 0, fields_at_limit = 0;
  bool at_limit = false;               ///< whether the answer as a whole ended at a limit
  std::int64_t thought = 0;            ///< number of thinking tokens, over all fields
  bool failed = false, empty = false;  ///< empty: the text is only white space
  std::optional<bool> identical;       ///< see Identity::identical; none: not compared
  std::optional<double> gap;           ///< see Identity::gap
};

/// All numbers of one run.
struct RunFigures {
  RunSummary summary;
  MeasuredBlocks measured;
  std::vector<JobFigures> jobs;  ///< sorted by repeat and id
  /// Counters::branch_lengths of all jobs, joined into one list (see JobFigures::first_length)
  std::vector<std::int32_t> branch_lengths;
  std::vector<AnswerFigures> answers;  ///< sorted by repeat and id
};

/// The names to which the numbers in Figures refer. All runs that were read together share them.
struct ExampleNames {
  std::vector<std::string> keys;        ///< keys of Figures::examples, in the same order
  std::vector<std::string> block_keys;  ///< sorted; BlockFigures::key is the index
  NameNumbers clusters, categories, fields, processes;
};

/// An example that has at least one answer.
struct ExampleFigures {
  RowId id;
  std::int32_t cluster, category;  ///< numbers in ExampleNames::clusters and categories
};

/// The numbers of several runs.
struct Figures {
  /// Sets RunSummary::run for each row; all other members are empty.
  explicit Figures(std::vector<RunRow> rows) : runs(rows.size()) {
    for (std::size_t r = 0; r < rows.size(); ++r) runs[r].summary.run = std::move(rows[r]);
  }

  std::vector<RunFigures> runs;          ///< in the order of the constructor's rows
  std::vector<ExampleFigures> examples;  ///< sorted by id
  std::shared_ptr<ExampleNames> names = std::make_shared<ExampleNames>();
};

/// The blocks that both arms measured: pairs with equal key, repeat and process, in the order of
/// the method's blocks.
std::vector<BlockPairRow> block_pairs(const MeasuredBlocks& baseline, const MeasuredBlocks& method);

/// Finds values by row id. Searches are fastest in ascending order of ids.
template <typename Value>
class RowPlaces {
 public:
  void add(RowId id, Value value) { places_.emplace_back(id, std::move(value)); }
  /// Call this after the last add() and before the first find().
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
  // The smallest and the largest id. REQUIRES for both: sorted, and not empty.
  RowId first() const { return places_.front().first; }
  RowId last() const { return places_.back().first; }

 private:
  std::vector<std::pair<RowId, Value>> places_;
  std::size_t at_ = 0;
};

/// Finds the answers of a run by example and repeat. The run must outlive this object.
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
