#include "src/store/figures.hpp"

#include <charconv>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_set>

#include "src/store/counter_columns.hpp"
#include "src/store/store.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

bool is_limit(std::string_view stop) { return stop == "limit" || stop == "context"; }

template <typename Row>
void sort_by_repeat(std::vector<Row>& rows) {  // they are read in the order of id
  const auto less = [](const Row& a, const Row& b) { return a.repeat < b.repeat; };
  if (!std::is_sorted(rows.begin(), rows.end(), less))
    std::stable_sort(rows.begin(), rows.end(), less);
}

bool holds(std::string_view text, std::string_view part) {
  return memmem(text.data(), text.size(), part.data(), part.size()) != nullptr;
}

/// Parses a JSON list of integers.
void add_numbers(std::string_view list, std::vector<std::int32_t>& out) {
  for (const char *at = list.data(), *end = at + list.size(); at < end; ++at) {
    std::int32_t number = 0;
    const auto [behind, error] = std::from_chars(at, end, number);
    if (error != std::errc()) continue;
    out.push_back(number);
    at = behind;
  }
}

class FigureReader {
 public:
  FigureReader(Database& db, Figures& out) : db_(db), out_(out) {
    for (RunFigures& run : out.runs) runs_[run.summary.run.id] = &run;
  }

  void read() {
    read_jobs();
    read_histogram();
    read_blocks();
    read_answers();
    read_examples();
    for (auto& [id, run] : runs_) sum_up(*run);
  }

  void read_blocks_alone() {
    Statement jobs = rows_of("job", "block_id, error IS NOT NULL");
    while (jobs.step()) {
      RowReader job(jobs);
      job.skip(2);
      const RowId block = job.integer();
      if (job.flag()) failed_blocks_.insert(block);
    }
    read_blocks();
  }

 private:
  struct JobPlace {
    RunFigures* run;
    std::int32_t index;
  };

  RunFigures* run_of(RowId id) {
    if (id == last_id_) return last_;
    const auto found = runs_.find(id);
    last_id_ = id;
    return last_ = found == runs_.end() ? nullptr : found->second;
  }

  /// Rows of a table from the first to the last id of these runs; rows of other runs may be among
  /// them. Twice as fast as the index on runs, which looks up each row separately.
  Statement rows_of(const std::string& table, const std::string& columns) {
    RowId first = std::numeric_limits<RowId>::max(), last = 0;
    Statement range(db_, str("SELECT min(id), max(id) FROM ", table, " WHERE run_id = ?"));
    for (const auto& [id, run] : runs_)
      if (range.bind(id).step() && !range.null(0)) {
        first = std::min(first, range.integer(0));
        last = std::max(last, range.integer(1));
      }
    Statement rows(db_, str("SELECT run_id, id, ", columns, " FROM ", table,
                            " WHERE id BETWEEN ? AND ? ORDER BY id"));
    rows.bind(first, last);
    return rows;
  }

  void read_jobs() {
    Statement rows = rows_of("job", str("coalesce(block_id, 0), repeat, error IS NOT NULL, ",
                                        counter_names(/*lists=*/false), ", branch_lengths, turns"));
    Counters counters;
    while (rows.step()) {
      RowReader row(rows);
      RunFigures* run = run_of(row.integer());
      if (!run) continue;
      JobFigures& job = run->jobs.emplace_back();
      job.id = row.integer();
      job.block = row.integer();
      job.repeat = row.small();
      job.failed = row.flag();
      read_counters(row, counters, /*lists=*/false);
      static_cast<Counts&>(job) = counters;
      job.first_length = static_cast<std::int32_t>(run->branch_lengths.size());
      add_numbers(row.view(), run->branch_lengths);
      job.lengths = static_cast<std::int32_t>(run->branch_lengths.size()) - job.first_length;
      for (const Json& turn : row.maybe_json()) job.turns.push_back(turn_counts(turn));
      if (job.failed)
        failed_blocks_.insert(job.block);
      else
        run->summary.totals.add_after(counters);
    }
    for (auto& [id, run] : runs_) {
      sort_by_repeat(run->jobs);
      for (size_t i = 0; i < run->jobs.size(); ++i)
        jobs_.add(run->jobs[i].id, {run, static_cast<std::int32_t>(i)});
    }
    jobs_.sort();
  }

  void read_histogram() {
    if (jobs_.empty()) return;
    Statement rows(db_,
                   "SELECT job_id, emitted, forwards FROM step_histogram WHERE job_id BETWEEN ? "
                   "AND ? ORDER BY job_id");
    rows.bind(jobs_.first(), jobs_.last());
    while (rows.step()) {
      RowReader bar(rows);
      const JobPlace* place = jobs_.find(bar.integer());
      const std::int64_t emitted = bar.integer();
      if (place && !job_at(*place).failed)
        place->run->summary.totals.emitted[emitted] += bar.integer();
    }
  }

  void read_blocks() {
    Statement rows = rows_of(
        "block",
        "wall_ns, cpu_ns, waited_ns, stolen_ns, mhz, traced, block_key, process, repeat, position, "
        "example_count, passes, job_passes, stream_passes, experts_read");
    NameNumbers keys;
    while (rows.step()) {
      RowReader row(rows);
      RunFigures* run = run_of(row.integer());
      if (!run) continue;
      RunSummary& sums = run->summary;
      ++sums.blocks;
      const RowId id = row.integer();
      if (row.null() || failed_blocks_.contains(id)) continue;
      BlockTime time = next_time(row);
      time.use.traced = row.flag();
      const BlockFigures& block = run->measured.blocks.emplace_back(
          BlockFigures{id, keys.of(row.view()), out_.names->processes.of(row.view()), row.small(),
                       row.small(), row.integer(), time});
      measured_blocks_.insert(id);
      ++sums.measured_blocks;
      sums.measured_wall_ns += block.time.wall_ns;
      sums.measured_examples += block.examples;
      sums.measured.passes += row.integer();
      sums.measured.job_passes += row.integer();
      sums.measured.stream_passes += row.integer();
      sums.measured.experts_read += row.integer();
    }
    const auto ranks = ranks_of(keys);
    RowPlaces<RunFigures*> places;
    for (auto& [id, run] : runs_) {
      for (BlockFigures& block : run->measured.blocks) {
        block.key = ranks[static_cast<size_t>(block.key)];
        places.add(block.id, run);
      }
      std::sort(run->measured.blocks.begin(), run->measured.blocks.end(),
                [](const BlockFigures& a, const BlockFigures& b) {
                  return std::pair(a.repeat, a.position) < std::pair(b.repeat, b.position);
                });
    }
    if (places.empty()) return;
    places.sort();
    Statement repairs(db_,
                      "SELECT block_id, process, wall_ns, cpu_ns, waited_ns, stolen_ns, mhz FROM "
                      "block_repair WHERE block_id BETWEEN ? AND ? ORDER BY block_id");
    repairs.bind(places.first(), places.last());
    while (repairs.step()) {
      RowReader row(repairs);
      const RowId block = row.integer();
      if (RunFigures* const* run = places.find(block))
        (*run)->measured.repaired.emplace(
            block, BlockRepair{out_.names->processes.of(row.view()), next_time(row)});
    }
  }

  /// Ranks of the names in sorted order. The names become the block keys.
  std::vector<std::int32_t> ranks_of(const NameNumbers& keys) {
    std::vector<std::int32_t> order(static_cast<size_t>(keys.size())), ranks(order.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(),
              [&](std::int32_t a, std::int32_t b) { return keys.name(a) < keys.name(b); });
    for (const std::int32_t number : order) {
      ranks[static_cast<size_t>(number)] = static_cast<std::int32_t>(out_.names->block_keys.size());
      out_.names->block_keys.push_back(keys.name(number));
    }
    return ranks;
  }

  /// Reads wall_ns, cpu_ns, waited_ns, stolen_ns, mhz.
  static BlockTime next_time(RowReader& row) {
    return {row.integer(),
            {{row.maybe_integer(), row.maybe_integer(), row.maybe_integer(), row.maybe_real()}}};
  }

  void read_answers() {
    Statement rows =
        rows_of("generation",
                "sample_id, repeat, job_id, error IS NOT NULL, text, fields, field_count, stop, "
                "identical, gap_at_difference");
    while (rows.step()) {
      RowReader row(rows);
      RunFigures* run = run_of(row.integer());
      if (!run) continue;
      AnswerFigures& answer = run->answers.emplace_back();
      answer.id = row.integer();
      samples_.push_back(row.integer());
      answer.example = static_cast<std::int32_t>(samples_.size() - 1);  // replaced in read_examples
      answer.repeat = row.small();
      answer.job = jobs_.find(row.integer())->index;
      answer.failed = row.flag();
      answer.empty = strip(row.view()).empty();
      const std::string_view fields = row.view();
      answer.fields = row.small();
      read_ends(fields, answer);
      answer.at_limit = is_limit(row.view());
      if (row.null())
        row.skip();
      else
        answer.identical = row.flag();
      answer.gap = row.maybe_real();
    }
    for (auto& [id, run] : runs_) sort_by_repeat(run->answers);
  }

  /// Counts fields that ended at a limit, and ids of thoughts.
  void read_ends(std::string_view fields, AnswerFigures& answer) const {
    if (!holds(fields, "\"limit\"") && !holds(fields, "\"context\"") &&
        !holds(fields, "\"thought\""))
      return;
    for (const Json& field : parse_json(fields, db_.path().string(), 0)) {
      const Json thought = field.value("thought", Json::object());
      answer.fields_at_limit +=
          is_limit(field.at("stop").get_ref<const std::string&>()) || thought.value("open", false);
      answer.thought += thought.value("tokens", std::int64_t{0});
    }
  }

  /// Sets the example of each answer to its index, instead of its place in samples_.
  void read_examples() {
    std::vector<RowId> ids = samples_;
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    if (ids.empty()) return;
    Statement rows(db_,
                   "SELECT id, key, cluster, category FROM sample WHERE id BETWEEN ? AND ? ORDER "
                   "BY id");
    rows.bind(ids.front(), ids.back());
    ExampleNames& names = *out_.names;
    RowPlaces<std::int32_t> places;
    out_.examples.reserve(ids.size());
    names.keys.reserve(ids.size());
    names.clusters.reserve(ids.size());
    while (rows.step() && out_.examples.size() < ids.size()) {
      RowReader row(rows);
      const RowId id = row.integer();
      if (id != ids[out_.examples.size()]) continue;
      places.add(id, static_cast<std::int32_t>(out_.examples.size()));
      names.keys.push_back(row.text());
      out_.examples.push_back({id, names.clusters.of(row.view()), names.categories.of(row.view())});
    }
    for (auto& [id, run] : runs_)
      for (AnswerFigures& answer : run->answers)
        answer.example = *places.find(samples_[static_cast<size_t>(answer.example)]);
  }

  static const JobFigures& job_at(const JobPlace& place) {
    return place.run->jobs[static_cast<size_t>(place.index)];
  }

  void sum_up(RunFigures& run) const {
    RunSummary& sums = run.summary;
    for (const JobFigures& job : run.jobs) {
      ++sums.jobs;
      sums.failed_jobs += job.failed;
      if (measured_blocks_.contains(job.block)) {
        sums.measured_chosen += job.chosen;
        sums.measured_text_tokens += job.text;
      }
    }
    std::vector<bool> answered(out_.examples.size());
    for (const AnswerFigures& answer : run.answers) {
      ++sums.generations;
      sums.failed_generations += answer.failed;
      sums.compared += answer.identical.has_value();
      sums.identical += answer.identical.value_or(false);
      if (measured_blocks_.contains(run.jobs[static_cast<size_t>(answer.job)].block))
        sums.measured_fields += answer.fields;
      const auto example = static_cast<size_t>(answer.example);
      sums.examples += !answered[example];
      answered[example] = true;
    }
  }

  Database& db_;
  Figures& out_;
  std::map<RowId, RunFigures*> runs_;
  RowId last_id_ = 0;
  RunFigures* last_ = nullptr;
  RowPlaces<JobPlace> jobs_;
  std::unordered_set<RowId> failed_blocks_, measured_blocks_;
  std::vector<RowId> samples_;  // sample ids of the answers, in the order of reading
};

}  // namespace

Figures Store::figures(std::vector<RunRow> runs) {
  const Snapshot snapshot(db_);  // otherwise a job stored meanwhile would have answers but no row
  Figures figures(std::move(runs));
  FigureReader(db_, figures).read();
  return figures;
}

Figures Store::blocks(std::vector<RunRow> runs) {
  const Snapshot snapshot(db_);
  Figures figures(std::move(runs));
  FigureReader(db_, figures).read_blocks_alone();
  return figures;
}

std::vector<RunSummary> Store::summaries(const RunFilter& filter) {
  std::vector<RunSummary> out;
  for (RunFigures& run : figures(find_runs(filter)).runs) out.push_back(std::move(run.summary));
  return out;
}

std::vector<BlockPairRow> block_pairs(const MeasuredBlocks& baseline,
                                      const MeasuredBlocks& method) {
  using Place = std::tuple<std::int32_t, int, std::int32_t>;
  const auto place = [](const BlockFigures& block) {
    return Place{block.key, block.repeat, block.process};
  };
  const auto repair = [](const MeasuredBlocks& of, const BlockFigures& block) {
    const auto found = of.repaired.find(block.id);
    return found == of.repaired.end() ? nullptr : &found->second;
  };
  std::map<Place, const BlockFigures*> places;
  for (const BlockFigures& block : baseline.blocks) places.emplace(place(block), &block);
  std::vector<BlockPairRow> pairs;
  for (const BlockFigures& ours : method.blocks) {
    const auto found = places.find(place(ours));
    if (found == places.end()) continue;
    const BlockFigures& theirs = *found->second;
    BlockPairRow& pair = pairs.emplace_back(
        BlockPairRow{ours.key, ours.repeat, ours.examples, theirs.time, ours.time, std::nullopt});
    const BlockRepair *before = repair(baseline, theirs), *after = repair(method, ours);
    if (before && after && before->process == after->process)
      pair.repaired.emplace(before->time, after->time);
  }
  return pairs;
}

}  // namespace pardec
