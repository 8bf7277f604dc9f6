#include "src/store/figures.hpp"

#include <charconv>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_set>

#include "src/store/store.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

bool is_limit(std::string_view stop) { return stop == "limit" || stop == "context"; }

template <typename Row>
void sort_by_repeat(std::vector<Row>& rows) {  // they come by id
  const auto less = [](const Row& a, const Row& b) { return a.repeat < b.repeat; };
  if (!std::is_sorted(rows.begin(), rows.end(), less))
    std::stable_sort(rows.begin(), rows.end(), less);
}

bool holds(std::string_view text, std::string_view part) {
  return memmem(text.data(), text.size(), part.data(), part.size()) != nullptr;
}

/// The whole numbers of a JSON list.
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
    while (jobs.step())
      if (jobs.integer(3) != 0) failed_blocks_.insert(jobs.integer(2));
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

  /// Rows of a table from the first to the last of these runs, by id; others may lie between. Twice
  /// as fast as by the index of runs, which finds each row by itself.
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
    Statement rows =
        rows_of("job",
                "coalesce(block_id, 0), repeat, error IS NOT NULL, prompt_tokens, chosen, "
                "forced, fed, text_tokens, forwards, prefill_ns, decode_ns, total_ns, "
                "cached_peak, cached_sum, attended, scratch, branches, parallel_ratio, "
                "text_attended, parallel, first_token_ns, turns, branch_lengths, acceptance");
    while (rows.step()) {
      RunFigures* run = run_of(rows.integer(0));
      if (!run) continue;
      JobFigures& job = run->jobs.emplace_back();
      job.id = rows.integer(1);
      job.block = rows.integer(2);
      job.repeat = static_cast<int>(rows.integer(3));
      job.failed = rows.integer(4) != 0;
      int column = 5;
      for (std::int64_t* value :
           {&job.prompt_tokens, &job.chosen, &job.forced, &job.fed, &job.text_tokens, &job.forwards,
            &job.prefill_ns, &job.decode_ns, &job.total_ns, &job.cached_peak, &job.cached_sum,
            &job.attended, &job.scratch, &job.branches})
        *value = rows.integer(column++);
      job.parallel_ratio = rows.maybe_real(19);
      job.text_attended = rows.integer(20);
      job.parallel = rows.maybe_json(21);
      job.first_token_ns = rows.maybe_integer(22);
      job.turns = rows.maybe_json(23);
      job.first_length = static_cast<std::int32_t>(run->branch_lengths.size());
      add_numbers(rows.view(24), run->branch_lengths);
      job.lengths = static_cast<std::int32_t>(run->branch_lengths.size()) - job.first_length;
      if (job.failed)
        failed_blocks_.insert(job.block);
      else if (const Json acceptance = rows.maybe_json(25); !acceptance.is_null())
        count_guesses(acceptance, run->summary);
    }
    for (auto& [id, run] : runs_) {
      sort_by_repeat(run->jobs);
      for (size_t i = 0; i < run->jobs.size(); ++i)
        jobs_.add(run->jobs[i].id, {run, static_cast<std::int32_t>(i)});
    }
    jobs_.sort();
  }

  static void count_guesses(const Json& acceptance, RunSummary& sums) {
    sums.checking_passes += acceptance.at("drafted").at(0).get<std::int64_t>();
    for (const Json& of_place : acceptance.at("accepted"))
      sums.accepted += of_place.get<std::int64_t>();
  }

  void read_histogram() {
    if (jobs_.empty()) return;
    Statement rows(db_,
                   "SELECT job_id, emitted, forwards FROM step_histogram WHERE job_id BETWEEN ? "
                   "AND ? ORDER BY job_id");
    rows.bind(jobs_.first(), jobs_.last());
    while (rows.step()) {
      const JobPlace* place = jobs_.find(rows.integer(0));
      if (place && !job_at(*place).failed)
        place->run->summary.totals.emitted[rows.integer(1)] += rows.integer(2);
    }
  }

  void read_blocks() {
    Statement rows =
        rows_of("block",
                "block_key, process, repeat, position, example_count, wall_ns, cpu_ns, waited_ns, "
                "stolen_ns, mhz, traced, passes, job_passes, stream_passes");
    NameNumbers keys;
    while (rows.step()) {
      RunFigures* run = run_of(rows.integer(0));
      if (!run) continue;
      RunSummary& sums = run->summary;
      ++sums.blocks;
      const RowId id = rows.integer(1);
      if (rows.null(7) || failed_blocks_.contains(id)) continue;
      const BlockFigures& block = run->measured.blocks.emplace_back(
          BlockFigures{id, keys.of(rows.view(2)), out_.names->processes.of(rows.view(3)),
                       static_cast<int>(rows.integer(4)), static_cast<int>(rows.integer(5)),
                       rows.integer(6), time_at(rows, 7, 12)});
      measured_blocks_.insert(id);
      ++sums.measured_blocks;
      sums.measured_wall_ns += block.time.wall_ns;
      sums.measured_examples += block.examples;
      sums.measured.passes += rows.integer(13);
      sums.measured.job_passes += rows.integer(14);
      sums.measured.stream_passes += rows.integer(15);
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
    while (repairs.step())
      if (RunFigures* const* run = places.find(repairs.integer(0)))
        (*run)->measured.repaired.emplace(repairs.integer(0),
                                          BlockRepair{out_.names->processes.of(repairs.view(1)),
                                                      time_at(repairs, 2, std::nullopt)});
  }

  /// Numbers in the order of the names, which become the block keys.
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

  static BlockTime time_at(const Statement& row, int column, std::optional<int> traced) {
    return {row.integer(column),
            {{row.maybe_integer(column + 1), row.maybe_integer(column + 2),
              row.maybe_integer(column + 3), row.maybe_real(column + 4)},
             traced && row.integer(*traced) != 0}};
  }

  void read_answers() {
    Statement rows =
        rows_of("generation",
                "sample_id, repeat, job_id, error IS NOT NULL, text, fields, field_count, stop, "
                "identical, gap_at_difference");
    while (rows.step()) {
      RunFigures* run = run_of(rows.integer(0));
      if (!run) continue;
      AnswerFigures& answer = run->answers.emplace_back();
      answer.id = rows.integer(1);
      samples_.push_back(rows.integer(2));
      answer.example = static_cast<std::int32_t>(samples_.size() - 1);  // see read_examples
      answer.repeat = static_cast<int>(rows.integer(3));
      answer.job = jobs_.find(rows.integer(4))->index;
      answer.failed = rows.integer(5) != 0;
      answer.empty = strip(rows.view(6)).empty();
      answer.fields = static_cast<std::int32_t>(rows.integer(8));
      read_ends(rows.view(7), answer);
      answer.at_limit = is_limit(rows.view(9));
      if (!rows.null(10)) answer.identical = rows.integer(10) != 0;
      answer.gap = rows.maybe_real(11);
    }
    for (auto& [id, run] : runs_) sort_by_repeat(run->answers);
  }

  /// How the fields of an answer ended, and their thoughts.
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

  /// Gives answers the index of their example in place of that of its id.
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
      if (rows.integer(0) != ids[out_.examples.size()]) continue;
      places.add(rows.integer(0), static_cast<std::int32_t>(out_.examples.size()));
      out_.examples.push_back(
          {rows.integer(0), names.clusters.of(rows.view(2)), names.categories.of(rows.view(3))});
      names.keys.push_back(rows.text(1));
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
    JobCounters& totals = sums.totals;
    double ratios = 0, with_ratio = 0;
    for (const JobFigures& job : run.jobs) {
      ++sums.jobs;
      sums.failed_jobs += job.failed;
      if (measured_blocks_.contains(job.block)) {
        sums.measured_chosen += job.chosen;
        sums.measured_text_tokens += job.text_tokens;
      }
      if (job.failed) continue;
      for (const auto number :
           {&JobNumbers::prompt_tokens, &JobNumbers::chosen, &JobNumbers::forced, &JobNumbers::fed,
            &JobNumbers::text_tokens, &JobNumbers::forwards, &JobNumbers::prefill_ns,
            &JobNumbers::decode_ns, &JobNumbers::total_ns, &JobNumbers::cached_sum,
            &JobNumbers::attended, &JobNumbers::scratch, &JobNumbers::branches})
        totals.*number += job.*number;
      totals.cached_peak = std::max(totals.cached_peak, job.cached_peak);
      if (job.parallel_ratio) ratios += *job.parallel_ratio, ++with_ratio;
    }
    if (with_ratio > 0) totals.parallel_ratio = ratios / with_ratio;
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
  std::vector<RowId> samples_;  // of answers as they were read
};

}  // namespace

Figures Store::figures(std::vector<RunRow> runs) {
  const Snapshot snapshot(db_);  // a job that comes meanwhile would have answers without it
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
