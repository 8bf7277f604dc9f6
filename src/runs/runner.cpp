#include "src/runs/runner.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "src/model/team_meter.hpp"
#include "src/runs/arms.hpp"
#include "src/runs/time_left.hpp"
#include "src/support/error.hpp"
#include "src/support/machine_use.hpp"
#include "src/support/text.hpp"
#include "src/tasks/conversation.hpp"
#include "src/tasks/request.hpp"

namespace pardec {

namespace {

struct Stopped {};

/// A block as it was measured, and what others had of the machine meanwhile.
struct MeasuredBlock {
  BlockTurn turn;
  int repeat;
  double taken;                         // share, at most over its arms
  std::map<const RunCell*, RowId> ids;  // of the arms that it was measured by
};

/// One dataset's part of a run.
struct Part {
  const Workload* work;
  std::vector<const RunCell*> cells;
  std::vector<std::vector<std::set<JobKey>>> finished;       ///< [cell][repeat], before this began
  std::map<std::pair<int, size_t>, MeasuredBlock> measured;  ///< by repeat and position
};

class Runner {
 public:
  Runner(const RunSpec& spec, ArmSessions& sessions, Recorder& recorder, std::stop_token stop,
         const std::function<bool(const RunCell&)>& enough, Progress& progress)
      : spec_(spec),
        sessions_(sessions),
        recorder_(recorder),
        stop_(stop),
        enough_(enough),
        progress_(progress) {}

  void run(std::vector<Part> parts);

 private:
  /// Indices of the arms in the order in which they do a block.
  std::vector<size_t> arm_order(const BlockTurn& turn, int repeat) const;
  /// The cells of one arm do a block, but those that need no `more`.
  void run_arm(Part& part, size_t arm, const BlockTurn& turn, int repeat,
               const std::vector<bool>& more);
  void run_block(Part& part, size_t cell_index, const BlockTurn& turn, int repeat);
  /// The cells that need another block, by index.
  std::vector<bool> needing_more(const std::vector<const RunCell*>& cells) const;
  /// The blocks of which others had most of the machine, at most --repair of them, are measured
  /// once more by all arms that they were measured by. What is answered is not recorded.
  void repair(const std::vector<Part>& parts);
  void measure_again(const RunCell& cell, const MeasuredBlock& block);
  /// Engine::run as the arm wants it.
  std::int64_t run_engine(const Arm& arm, size_t count, const std::function<Task<void>(int)>& start,
                          const std::function<void(int, Task<void>&)>& done);
  /// The same by the clock, without what was done outside of decoding.
  std::pair<std::int64_t, MachineUse> measure(const Arm& arm, size_t count,
                                              const std::function<Task<void>(int)>& start,
                                              const std::function<void(int, Task<void>&)>& done);
  /// What of the parts is still to be done, by cell.
  void plan_time(const std::vector<Part>& parts);
  void warm_up(const RunCell& cell);
  void warm_up(size_t arm, const std::vector<Part>& parts) {
    for (const Part& part : parts)
      for (const RunCell* cell : part.cells)
        if (cell->index == arm && !stop_.stop_requested()) warm_up(*cell);
  }
  /// `begun`: something that is counted was.
  void show(const std::string& arm, bool begun = true) const;

  const RunSpec& spec_;
  ArmSessions& sessions_;
  Recorder& recorder_;
  std::stop_token stop_;
  const std::function<bool(const RunCell&)>& enough_;
  Progress& progress_;
  std::map<const RunCell*, size_t> kinds_;  // of left_
  TimeLeft left_{std::vector<TimeLeft::Kind>{}};
};

std::vector<size_t> Runner::arm_order(const BlockTurn& turn, int repeat) const {
  std::vector<size_t> order(spec_.arms.size());
  std::iota(order.begin(), order.end(), size_t{0});
  // There and back again, so that a drift of the machine's speed meets all arms alike.
  if (spec_.order == "interleaved" && (turn.number + static_cast<size_t>(repeat)) % 2)
    std::reverse(order.begin(), order.end());
  return order;
}

std::int64_t Runner::run_engine(const Arm& arm, size_t count,
                                const std::function<Task<void>(int)>& start,
                                const std::function<void(int, Task<void>&)>& done) {
  Engine& engine = sessions_.of(arm).engine;
  engine.set_cascade(arm.cascade);
  return engine.run(static_cast<int>(count), arm.batch_size, start, done);
}

std::pair<std::int64_t, MachineUse> Runner::measure(
    const Arm& arm, size_t count, const std::function<Task<void>(int)>& start,
    const std::function<void(int, Task<void>&)>& done) {
  const SteadyClock& clock = sessions_.of(arm).clock;
  const TeamMeter meter;
  const std::int64_t begin = clock.now_ns();
  const std::int64_t outside = run_engine(arm, count, start, done);
  const std::int64_t wall = clock.now_ns() - begin - outside;
  // While a GPU computes, the process may sleep.
  return {wall, meter.read(spec_.model.device == "cpu" ? outside : outside + wall)};
}

void Runner::warm_up(const RunCell& cell) {
  Session& session = sessions_.of(*cell.arm);
  session.engine.set_trace_sink({});  // what is not recorded is not traced
  const auto& jobs = cell.jobs(0);
  const size_t count = std::min(static_cast<size_t>(spec_.warmup), jobs.size());
  std::vector<Request> requests;
  for (size_t i = 0; i < count; ++i) try {
      requests.push_back(make_request(spec_, cell, jobs[i], 0, session));
    } catch (const std::exception&) {  // the job's own turn tells
    }
  const auto start = [&](int i) -> Task<void> {
    co_await decode_request(cell.decoder(), requests[static_cast<size_t>(i)], session.context);
  };
  show(cell.arm->label + ", to warm up", false);
  const std::int64_t begin = session.clock.now_ns();
  run_engine(*cell.arm, requests.size(), start, [](int, Task<void>&) {});
  std::int64_t examples = 0;
  for (size_t i = 0; i < count; ++i) examples += std::ssize(jobs[i].examples);
  if (requests.size() == count)
    left_.tried(kinds_.at(&cell), static_cast<double>(examples),
                static_cast<double>(session.clock.now_ns() - begin) * 1e-9);
}

void Runner::plan_time(const std::vector<Part>& parts) {
  std::vector<TimeLeft::Kind> kinds;
  for (const Part& part : parts)
    for (size_t c = 0; c < part.cells.size(); ++c) {
      kinds_[part.cells[c]] = kinds.size();
      TimeLeft::Kind& kind = kinds.emplace_back();
      kind.group = part.cells[c]->index;
      for (size_t position = 0; position < part.work->blocks.size(); ++position)
        for (const JobPlan& job : part.cells[c]->jobs(position))
          for (const auto& finished : part.finished[c])
            if (spec_.shard.has(position) && !finished.contains(job.key))
              kind.units += static_cast<double>(job.examples.size());
    }
  left_ = TimeLeft(std::move(kinds));
}

void Runner::show(const std::string& arm, bool begun) const {
  const RunCounts& counts = recorder_.counts();
  progress_.update(
      counts.finished,
      str(counts.failed ? str(counts.failed, " failed", arm.empty() ? "" : " · ") : "", arm),
      begun ? text_of(left_.left()) : "");
}

void Runner::run_arm(Part& part, size_t arm, const BlockTurn& turn, int repeat,
                     const std::vector<bool>& more) {
  if (stop_.stop_requested()) return;
  for (size_t c = 0; c < part.cells.size(); ++c)
    if (part.cells[c]->index == arm && more[c]) run_block(part, c, turn, repeat);
}

void Runner::run_block(Part& part, size_t cell_index, const BlockTurn& turn, int repeat) {
  const size_t position = turn.position;
  const RunCell& cell = *part.cells[cell_index];
  const std::set<JobKey>& finished = part.finished[cell_index][static_cast<size_t>(repeat)];
  const BlockPlan& block = cell.work->blocks[position];
  std::vector<const JobPlan*> open;
  for (const auto& job : cell.jobs(position))
    if (!finished.contains(job.key)) open.push_back(&job);
  if (open.empty()) return;
  Session& session = sessions_.of(*cell.arm);

  BlockRow row;
  row.run = cell.row.id;
  row.repeat = repeat;
  row.position = static_cast<int>(position);
  for (const int index : block.examples)
    row.samples.push_back(cell.work->examples[static_cast<size_t>(index)].id);
  for (const size_t a : arm_order(turn, repeat)) row.arm_order.push_back(spec_.arms[a].label);
  const RowId block_id = recorder_.begin_block(row);
  const std::int64_t begin = session.clock.now_ns();
  const auto seconds = [&] { return static_cast<double>(session.clock.now_ns() - begin) * 1e-9; };
  double all_units = 0, units = 0;  // examples
  for (const JobPlan* job : open) all_units += static_cast<double>(job->examples.size());
  size_t jobs_done = 0;

  // Prompts are rendered and tokenized before the clock starts, for every arm.
  std::vector<std::optional<Request>> requests(open.size());
  std::vector<std::string> errors(open.size());
  for (size_t i = 0; i < open.size(); ++i) try {
      requests[i] = make_request(spec_, cell, *open[i], repeat, session);
    } catch (const std::exception& error) {
      errors[i] = reason_of(error);
    }
  std::vector<Answers> answers(open.size());
  const auto start = [&](int i) -> Task<void> {
    const auto index = static_cast<size_t>(i);
    if (stop_.stop_requested()) throw Stopped{};
    if (!requests[index]) throw RunError(errors[index]);
    answers[index] = co_await decode_request(cell.decoder(), *requests[index], session.context);
  };
  const auto done = [&](int i, Task<void>& task) {
    const auto index = static_cast<size_t>(i);
    std::optional<std::string> reason;
    try {
      task.result();
    } catch (const Stopped&) {
      return;
    } catch (const std::exception& error) {
      reason = reason_of(error);
    }
    if (reason)
      recorder_.fail(cell, block_id, repeat, *open[index], *reason);
    else
      recorder_.finish(cell, block_id, repeat, *open[index], *requests[index], answers[index],
                       *session.tokenizer());
    answers[index] = {};
    units += static_cast<double>(open[index]->examples.size());
    const auto in_flight =
        std::min(static_cast<size_t>(cell.arm->batch_size - 1), open.size() - ++jobs_done);
    left_.is_at(kinds_.at(&cell), units,
                static_cast<double>(in_flight) * all_units / static_cast<double>(open.size()),
                seconds());
    show(cell.arm->label);
  };
  std::vector<JobKey> keys;
  for (const JobPlan* job : open) keys.push_back(job->key);
  session.engine.set_trace_sink(recorder_.trace_sink(cell, std::move(keys)));
  const auto [wall, use] = measure(*cell.arm, open.size(), start, done);
  left_.finished(kinds_.at(&cell), units, seconds());
  if (!recorder_.finish_block(block_id, wall, session.engine.occupancy(), use)) return;
  MeasuredBlock& one =
      part.measured.try_emplace({repeat, position}, MeasuredBlock{turn, repeat, 0, {}})
          .first->second;
  const double taken = taken_share(use, wall, cell.row.threads);
  if (taken > one.taken) one.taken = taken;
  one.ids[&cell] = block_id;
}

void Runner::measure_again(const RunCell& cell, const MeasuredBlock& block) {
  Session& session = sessions_.of(*cell.arm);
  session.engine.set_trace_sink({});
  std::vector<Request> requests;
  for (const JobPlan& job : cell.jobs(block.turn.position))
    requests.push_back(make_request(spec_, cell, job, block.repeat, session));
  const auto start = [&](int i) -> Task<void> {
    if (stop_.stop_requested()) throw Stopped{};
    co_await decode_request(cell.decoder(), requests[static_cast<size_t>(i)], session.context);
  };
  bool whole = true;
  const auto done = [&](int, Task<void>& task) {
    try {
      task.result();
    } catch (...) {  // stopped, or failed where it went well before
      whole = false;
    }
  };
  const auto [wall, use] = measure(*cell.arm, requests.size(), start, done);
  if (whole) recorder_.repair_block(block.ids.at(&cell), wall, use);
}

void Runner::repair(const std::vector<Part>& parts) {
  std::vector<const MeasuredBlock*> worst;
  for (const Part& part : parts) {
    std::vector<const MeasuredBlock*> of_part;
    for (const auto& [key, block] : part.measured)
      if (block.taken >= kDisturbedShare) of_part.push_back(&block);
    std::stable_sort(
        of_part.begin(), of_part.end(),
        [](const MeasuredBlock* a, const MeasuredBlock* b) { return a->taken > b->taken; });
    of_part.resize(std::min(of_part.size(), static_cast<size_t>(spec_.repair)));
    worst.insert(worst.end(), of_part.begin(), of_part.end());
  }
  const auto again = [&](const MeasuredBlock& block, size_t arm) {
    for (const auto& [cell, id] : block.ids)
      if (cell->index == arm && !stop_.stop_requested()) measure_again(*cell, block);
  };
  if (!sessions_.take_turns()) {
    for (const MeasuredBlock* block : worst)
      for (const size_t arm : arm_order(block->turn, block->repeat)) again(*block, arm);
    return;
  }
  for (size_t arm = 0; !worst.empty() && arm < spec_.arms.size(); ++arm) {
    warm_up(arm, parts);
    for (const MeasuredBlock* block : worst) again(*block, arm);
  }
}

std::vector<bool> Runner::needing_more(const std::vector<const RunCell*>& cells) const {
  std::vector<bool> more(cells.size(), true);
  if (!enough_) return more;
  for (size_t c = 0; c < cells.size(); ++c) more[c] = !enough_(*cells[c]);
  for (size_t c = 0; c < cells.size(); ++c)
    for (size_t other = 0; other < cells.size(); ++other)
      if (more[other] && cells[other]->row.baseline == cells[c]->row.label) more[c] = true;
  return more;
}

void Runner::run(std::vector<Part> parts) {
  std::vector<size_t> blocks;
  for (Part& part : parts) {
    for (const RunCell* cell : part.cells)
      part.finished.push_back(recorder_.finished_before(*cell));
    blocks.push_back(part.work->blocks.size());
  }
  plan_time(parts);
  const std::vector<BlockTurn> turns = block_turns(blocks, spec_.shard);
  const bool blocked = spec_.order == "blocked", one_by_one = sessions_.take_turns();
  for (size_t arm = 0; !one_by_one && arm < spec_.arms.size(); ++arm) warm_up(arm, parts);
  const auto each_turn = [&](const auto& arms_of) {
    for (int repeat = 0; repeat < spec_.runs; ++repeat)
      for (const BlockTurn& turn : turns) {
        Part& part = parts[turn.dataset];
        const std::vector<bool> more = needing_more(part.cells);  // whole blocks, so pairs are
        for (const size_t arm : arms_of(turn, repeat)) run_arm(part, arm, turn, repeat, more);
      }
  };
  if (!blocked)
    each_turn([&](const BlockTurn& turn, int repeat) { return arm_order(turn, repeat); });
  for (size_t arm = 0; blocked && arm < spec_.arms.size() && !stop_.stop_requested(); ++arm) {
    if (one_by_one) warm_up(arm, parts);  // its networks come anew
    each_turn([&](const BlockTurn&, int) { return std::vector<size_t>{arm}; });
  }
  repair(parts);
  show("");
}

}  // namespace

RunCounts run_cells(const RunSpec& spec, const std::vector<Workload>& workloads,
                    ArmSessions& sessions, const std::vector<RunCell>& cells, Recorder& recorder,
                    std::stop_token stop, const std::function<bool(const RunCell&)>& enough) {
  std::int64_t total = 0;
  for (const RunCell& cell : cells)
    for (size_t position = 0; position < cell.work->blocks.size(); ++position)
      if (spec.shard.has(position))
        total += std::ssize(cell.work->blocks[position].examples) * spec.runs;
  {
    Progress progress(spec.progress, "examples", total);
    Runner runner(spec, sessions, recorder, stop, enough, progress);
    std::vector<Part> parts;
    for (const Workload& work : workloads) {
      Part& part = parts.emplace_back(Part{&work, {}, {}, {}});
      for (const RunCell& cell : cells)
        if (cell.work == &work) part.cells.push_back(&cell);
    }
    runner.run(std::move(parts));
  }
  recorder.close();
  recorder.finish_runs(stop.stop_requested());
  return recorder.counts();
}

CellCost measure_cost(const RunSpec& spec, ArmSessions& sessions, const RunCell& cell,
                      double most_seconds) {
  Session& session = sessions.of(*cell.arm);
  session.engine.set_trace_sink({});
  session.engine.set_cascade(cell.arm->cascade);
  const auto& jobs = cell.jobs(0);
  const size_t count = std::min(static_cast<size_t>(cell.arm->batch_size), jobs.size());
  std::vector<Request> requests;
  for (size_t i = 0; i < count; ++i)
    requests.push_back(make_request(spec, cell, jobs[i], 0, session));
  CellCost cost;
  const auto decode = [&](size_t many) {
    const auto start = [&](int i) -> Task<void> {
      const Answers answers = co_await decode_request(
          cell.decoder(), requests[static_cast<size_t>(i)], session.context);
      cost.rows = std::max(cost.rows, answers.counters.cached_peak);
    };
    return session.engine.run(static_cast<int>(many), cell.arm->batch_size, start,
                              [](int, Task<void>& task) { task.result(); });
  };
  const auto measure = [&](size_t many) {
    const std::int64_t begin = session.clock.now_ns(), outside = decode(many);
    std::int64_t examples = 0;
    for (size_t i = 0; i < many; ++i) examples += std::ssize(jobs[i].examples);
    cost.seconds = static_cast<double>(session.clock.now_ns() - begin - outside) * 1e-9 /
                   static_cast<double>(examples);
    return cost.seconds * static_cast<double>(examples);
  };
  const double one = measure(1);
  if (one * static_cast<double>(count) <= most_seconds) measure(count);
  return cost;
}

}  // namespace pardec
