#include "src/runs/runner.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "src/group/group.hpp"
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

/// One dataset's part of a run.
struct Part {
  const Workload* work;
  std::vector<const RunCell*> cells;
  std::vector<const CellState*> states;  ///< state of each cell at the start
  std::set<BlockPlace> rerun;            ///< blocks begun by an earlier process and run again
};

/// The time of a block's jobs, run together as far as the batch size allows.
struct Pass {
  std::int64_t wall;
  MachineUse use;
  bool whole = true;  ///< every job succeeded, and repeated ones gave the stored answers
};

/// The states of a subset of the cells, in its order.
std::vector<const CellState*> states_of(const std::vector<const RunCell*>& some,
                                        const std::vector<RunCell>& cells,
                                        const std::vector<CellState>& states) {
  std::vector<const CellState*> of_some;
  for (const RunCell* cell : some)
    of_some.push_back(&states[static_cast<size_t>(cell - cells.data())]);
  return of_some;
}

/// The turns that this process of a group takes, of those that rank 0 finds to do.
class Share {
 public:
  Share(Group& group, const std::string& to_do) : to_do_(group.broadcast(to_do)), dealer_(group) {}

  /// REQUIRES: called for each turn once, in order.
  bool takes() {
    if (to_do_[at_++] == '0') return false;
    const std::int64_t number = passed_++;
    if (!own_) own_ = dealer_.next();
    if (*own_ != number) return false;
    own_.reset();
    return true;
  }
  /// The number of turns before the last one of takes(). Processes have done them, or do them now.
  std::int64_t given() const { return static_cast<std::int64_t>(at_) - 1; }

 private:
  const std::string to_do_;
  Dealer dealer_;
  size_t at_ = 0;
  std::int64_t passed_ = 0;  ///< number of turns to do before this one
  std::optional<std::int64_t> own_;
};

class Runner {
 public:
  Runner(const RunSpec& spec, ArmSessions& sessions, Recorder& recorder, std::stop_token stop,
         const std::function<bool(const RunCell&)>& enough, Progress& progress, Group* group)
      : spec_(spec),
        sessions_(sessions),
        recorder_(recorder),
        stop_(stop),
        enough_(enough),
        progress_(progress),
        group_(group) {}

  void run(const std::vector<RunCell>& cells, std::vector<Part> parts);

 private:
  /// Indices of the arms in the order in which they run a block.
  std::vector<size_t> arm_order(const BlockTurn& turn, int repeat) const;
  /// Runs the block for the cells of one arm that are in `to_do`.
  void run_arm(Part& part, size_t arm, const BlockTurn& turn, int repeat,
               const std::vector<bool>& to_do);
  /// Runs all jobs of a block together to measure its time, and stores the new results. If a failed
  /// job makes a time impossible, only runs jobs without a stored result.
  void run_block(Part& part, size_t cell_index, const BlockTurn& turn, int repeat);
  /// Measures the jobs. `open`: which jobs' answers to store in the `block`; answers of the others
  /// are stored already, and are compared.
  Pass run_jobs(const RunCell& cell, const std::vector<const JobPlan*>& jobs,
                const std::vector<bool>& open, RowId block, int repeat);
  /// For each repeat and turn '1' if a cell needs its block, otherwise '0'.
  std::string turns_to_do(const std::vector<Part>& parts,
                          const std::vector<BlockTurn>& turns) const;
  /// Whether each cell needs another block.
  std::vector<bool> needing_more(const std::vector<const RunCell*>& cells) const;
  /// Measures the most disturbed blocks again, at most --repair per dataset, with all arms that
  /// measured them.
  void repair(const std::vector<RunCell>& cells, const std::vector<Part>& parts,
              const std::vector<BlockTurn>& turns);
  /// Counts the rerun blocks, and those of them that still have no time.
  void count_rerun(const std::vector<RunCell>& cells, const std::vector<Part>& parts);
  /// Calls ArmSessions::run.
  std::int64_t run_engine(const Arm& arm, size_t count, const std::function<Task<void>(int)>& start,
                          const std::function<void(const Ended&)>& done);
  /// Same, measuring time and machine use, excluding work outside of decoding.
  std::pair<std::int64_t, MachineUse> measure(const Arm& arm, size_t count,
                                              const std::function<Task<void>(int)>& start,
                                              const std::function<void(const Ended&)>& done);
  /// Plans the remaining work of the parts, by cell.
  void plan_time(const std::vector<Part>& parts);
  void warm_up(const RunCell& cell);
  void warm_up(size_t arm, const std::vector<Part>& parts) {
    for (const Part& part : parts)
      for (const RunCell* cell : part.cells)
        if (cell->index == arm && !stop_.stop_requested()) warm_up(*cell);
  }
  /// `begun`: whether counted work has begun.
  void show(const std::string& doing, bool begun = true) const;

  const RunSpec& spec_;
  ArmSessions& sessions_;
  Recorder& recorder_;
  std::stop_token stop_;
  const std::function<bool(const RunCell&)>& enough_;
  Progress& progress_;
  Group* group_;
  std::int64_t given_ = 0;                  ///< turns that the processes of the group have taken
  std::map<const RunCell*, size_t> kinds_;  // indices in left_
  TimeLeft left_{std::vector<TimeLeft::Kind>{}};
};

std::vector<size_t> Runner::arm_order(const BlockTurn& turn, int repeat) const {
  std::vector<size_t> order(spec_.arms.size());
  std::iota(order.begin(), order.end(), size_t{0});
  // Alternates the direction, so that drift of the machine's speed affects all arms alike.
  if (spec_.order == "interleaved" && (turn.number + static_cast<size_t>(repeat)) % 2)
    std::reverse(order.begin(), order.end());
  return order;
}

std::int64_t Runner::run_engine(const Arm& arm, size_t count,
                                const std::function<Task<void>(int)>& start,
                                const std::function<void(const Ended&)>& done) {
  return sessions_.run(arm, static_cast<int>(count), start, done);
}

std::pair<std::int64_t, MachineUse> Runner::measure(const Arm& arm, size_t count,
                                                    const std::function<Task<void>(int)>& start,
                                                    const std::function<void(const Ended&)>& done) {
  const SteadyClock& clock = sessions_.of(arm).clock;
  const TeamMeter meter;
  const std::int64_t begin = clock.now_ns();
  const std::int64_t outside = run_engine(arm, count, start, done);
  const std::int64_t wall = clock.now_ns() - begin - outside;
  // Whether others took cores from a service is not known.
  if (arm.algorithm->elsewhere()) return {wall, MachineUse()};
  // While a GPU computes, the process may sleep.
  return {wall, meter.read(spec_.model.device == "cpu" ? outside : outside + wall)};
}

void Runner::warm_up(const RunCell& cell) {
  Session& session = sessions_.of(*cell.arm);
  session.engine.set_trace_sink({});  // only recorded jobs are traced
  const auto& jobs = cell.jobs(0);
  const size_t count = std::min(static_cast<size_t>(spec_.warmup), jobs.size());
  std::vector<Request> requests;
  for (size_t i = 0; i < count; ++i) try {
      requests.push_back(make_request(spec_, cell, jobs[i], 0, sessions_));
    } catch (const std::exception&) {  // reported when the job itself is run
    }
  const auto start = [&](int i) -> Task<void> {
    co_await decode_request(cell.decoder(), requests[static_cast<size_t>(i)], session.context);
  };
  show(cell.arm->label + ", to warm up", false);
  const std::int64_t begin = session.clock.now_ns();
  run_engine(*cell.arm, requests.size(), start, [](const Ended&) {});
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
      const RunCell& cell = *part.cells[c];
      kinds_[&cell] = kinds.size();
      TimeLeft::Kind& kind = kinds.emplace_back();
      kind.group = cell.index;
      for (size_t position = 0; position < part.work->blocks.size(); ++position) {
        if (!spec_.shard.has(position)) continue;
        for (int repeat = 0; repeat < spec_.runs; ++repeat) {
          const CellBlock block = block_state(cell, *part.states[c], {repeat, position});
          const auto& finished = part.states[c]->finished[static_cast<size_t>(repeat)];
          if (block == CellBlock::measured) continue;
          for (const JobPlan& job : cell.jobs(position))
            if (block != CellBlock::failed || !finished.contains(job.key))
              kind.units += static_cast<double>(job.examples.size());
        }
      }
    }
  left_ = TimeLeft(std::move(kinds));
}

void Runner::show(const std::string& doing, bool begun) const {
  const RunCounts& counts = std::as_const(recorder_).counts();
  const std::string note =
      str(counts.failed ? str(counts.failed, " failed", doing.empty() ? "" : " · ") : "", doing);
  if (group_)  // blocks of all processes
    progress_.update(given_, note);
  else
    progress_.update(counts.finished, note, begun ? text_of(left_.left()) : "");
}

void Runner::run_arm(Part& part, size_t arm, const BlockTurn& turn, int repeat,
                     const std::vector<bool>& to_do) {
  if (stop_.stop_requested()) return;
  for (size_t c = 0; c < part.cells.size(); ++c)
    if (part.cells[c]->index == arm && to_do[c]) run_block(part, c, turn, repeat);
}

void Runner::run_block(Part& part, size_t cell_index, const BlockTurn& turn, int repeat) {
  const RunCell& cell = *part.cells[cell_index];
  const CellState& state = *part.states[cell_index];
  const BlockPlace place{repeat, turn.position};
  const std::set<JobKey>& finished = state.finished[static_cast<size_t>(repeat)];
  const bool without_time = block_state(cell, state, place) == CellBlock::failed;
  std::vector<const JobPlan*> jobs;
  std::vector<bool> open;
  for (const JobPlan& job : cell.jobs(turn.position)) {
    const bool is_open = !finished.contains(job.key);
    if (without_time && !is_open) continue;
    jobs.push_back(&job);
    open.push_back(is_open);
  }
  if (jobs.empty()) return;

  BlockRow row;
  row.run = cell.row.id;
  row.repeat = repeat;
  row.position = static_cast<int>(turn.position);
  for (const int index : cell.work->blocks[turn.position].examples)
    row.samples.push_back(cell.work->examples[static_cast<size_t>(index)].id);
  for (const size_t a : arm_order(turn, repeat)) row.arm_order.push_back(spec_.arms[a].label);
  const RowId block = recorder_.begin_block(row);
  const Pass pass = run_jobs(cell, jobs, open, block, repeat);
  if (pass.whole && !without_time)
    recorder_.finish_block(
        block, pass.wall,
        cell.decoder().elsewhere() ? Occupancy() : sessions_.of(*cell.arm).engine.occupancy(),
        pass.use);
}

Pass Runner::run_jobs(const RunCell& cell, const std::vector<const JobPlan*>& jobs,
                      const std::vector<bool>& open, RowId block, int repeat) {
  Session& session = sessions_.of(*cell.arm);
  const std::int64_t begin = session.clock.now_ns();
  const auto seconds = [&] { return static_cast<double>(session.clock.now_ns() - begin) * 1e-9; };
  double all_units = 0, units = 0;  // number of examples
  for (const JobPlan* job : jobs) all_units += static_cast<double>(job->examples.size());
  size_t jobs_done = 0;
  // Prompts of all arms are rendered and tokenized before the clock starts.
  std::vector<std::optional<Request>> requests(jobs.size());
  std::vector<std::string> errors(jobs.size());
  for (size_t i = 0; i < jobs.size(); ++i) try {
      requests[i] = make_request(spec_, cell, *jobs[i], repeat, sessions_);
    } catch (const std::exception& error) {
      errors[i] = reason_of(error);
    }
  std::vector<Answers> answers(jobs.size());
  const auto start = [&](int i) -> Task<void> {
    const auto index = static_cast<size_t>(i);
    if (stop_.stop_requested()) throw Stopped{};
    if (!requests[index]) throw RunError(errors[index]);
    answers[index] = co_await decode_request(cell.decoder(), *requests[index], session.context);
  };
  Pass pass{};
  const auto done = [&](const Ended& end) {
    const auto index = static_cast<size_t>(end.job);
    std::optional<std::string> reason;
    try {
      end.rethrow();
      if (!open[index] && !recorder_.same_answers(cell, repeat, *jobs[index], answers[index]))
        pass.whole = false;
    } catch (const Stopped&) {
      pass.whole = false;
      return;
    } catch (const std::exception& error) {
      reason = reason_of(error);
      pass.whole = false;
    }
    if (ServiceArm* const service = sessions_.service(*cell.arm))
      service->add_block_guesses(answers[index].counters);
    if (open[index] && reason)
      recorder_.fail(cell, block, repeat, *jobs[index], *reason);
    else if (open[index])
      recorder_.finish(cell, block, repeat, *jobs[index], *requests[index], answers[index],
                       *session.tokenizer());
    answers[index] = {};
    units += static_cast<double>(jobs[index]->examples.size());
    const auto in_flight =
        std::min(static_cast<size_t>(cell.arm->batch_size - 1), jobs.size() - ++jobs_done);
    left_.is_at(kinds_.at(&cell), units,
                static_cast<double>(in_flight) * all_units / static_cast<double>(jobs.size()),
                seconds());
    show(open[index] ? cell.arm->label : cell.arm->label + ", measured again");
  };
  std::vector<JobKey> keys;
  for (size_t i = 0; i < jobs.size(); ++i) keys.push_back(open[i] ? jobs[i]->key : JobKey());
  const bool any_open = std::find(open.begin(), open.end(), true) != open.end();
  session.engine.set_trace_sink(any_open ? recorder_.trace_sink(cell, std::move(keys))
                                         : std::function<void(Trace)>());
  std::tie(pass.wall, pass.use) = measure(*cell.arm, jobs.size(), start, done);
  left_.finished(kinds_.at(&cell), units, seconds());
  return pass;
}

void Runner::repair(const std::vector<RunCell>& cells, const std::vector<Part>& parts,
                    const std::vector<BlockTurn>& turns) {
  if (spec_.repair == 0) return;
  const auto states = recorder_.states();
  struct Worst {
    const Part* part;
    BlockTurn turn;
    DisturbedBlock block;
    size_t passes = 0;  // number of whole passes
    double taken = 0;   // maximum over the passes
  };
  std::vector<Worst> worst;
  std::vector<RepairCounts> counts;
  for (const Part& part : parts) {
    DisturbedBlocks found = disturbed_blocks(part.cells, states_of(part.cells, cells, states));
    counts.push_back({part.work->dataset.name, std::ssize(found.blocks), 0, 0, found.quiet_again});
    found.blocks.resize(std::min(found.blocks.size(), static_cast<size_t>(spec_.repair)));
    for (DisturbedBlock& block : found.blocks)
      for (const BlockTurn& turn : turns)
        if (&parts[turn.dataset] == &part && turn.position == block.place.second) {
          worst.push_back({&part, turn, std::move(block)});
          break;
        }
  }
  const auto again = [&](Worst& one, size_t arm) {
    for (const auto& [cell, block] : one.block.blocks) {
      if (cell->index != arm || stop_.stop_requested()) continue;
      std::vector<const JobPlan*> jobs;
      for (const JobPlan& job : cell->jobs(one.turn.position)) jobs.push_back(&job);
      const int repeat = one.block.place.first;
      const Pass pass = run_jobs(*cell, jobs, std::vector<bool>(jobs.size()), block, repeat);
      if (!pass.whole) continue;
      recorder_.repair_block(block, pass.wall, pass.use);
      ++one.passes;
      const double taken = taken_share(pass.use, pass.wall, cell->row.threads);
      if (taken > one.taken) one.taken = taken;
    }
  };
  if (sessions_.take_turns()) {
    for (size_t arm = 0; !worst.empty() && arm < spec_.arms.size(); ++arm) {
      warm_up(arm, parts);
      for (Worst& one : worst) again(one, arm);
    }
  } else {
    for (Worst& one : worst)
      for (const size_t arm : arm_order(one.turn, one.block.place.first)) again(one, arm);
  }
  for (const Worst& one : worst) {
    if (one.passes < one.block.blocks.size()) continue;  // stopped, or the answers differed
    RepairCounts& of_part = counts[static_cast<size_t>(one.part - parts.data())];
    ++of_part.again;
    of_part.quiet += one.taken < kDisturbedShare;
  }
  recorder_.counts().repairs = std::move(counts);
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

void Runner::count_rerun(const std::vector<RunCell>& cells, const std::vector<Part>& parts) {
  if (stop_.stop_requested()) return;  // the next process runs them again
  if (std::all_of(parts.begin(), parts.end(), [](const Part& part) { return part.rerun.empty(); }))
    return;
  const auto states = recorder_.states();
  for (const Part& part : parts)
    for (const BlockPlace& place : part.rerun) {
      const auto left = cells_to_do(part.cells, states_of(part.cells, cells, states), place,
                                    std::vector<bool>(part.cells.size()));
      ++recorder_.counts().rerun;
      recorder_.counts().still_unmeasured +=
          std::find(left.begin(), left.end(), true) != left.end();
    }
}

std::string Runner::turns_to_do(const std::vector<Part>& parts,
                                const std::vector<BlockTurn>& turns) const {
  std::string to_do;
  for (int repeat = 0; repeat < spec_.runs; ++repeat)
    for (const BlockTurn& turn : turns) {
      const Part& part = parts[turn.dataset];
      const auto cells =
          cells_to_do(part.cells, part.states, {repeat, turn.position}, needing_more(part.cells));
      to_do += std::find(cells.begin(), cells.end(), true) == cells.end() ? '0' : '1';
    }
  return to_do;
}

void Runner::run(const std::vector<RunCell>& cells, std::vector<Part> parts) {
  recorder_.count_finished(/*before=*/true);
  const std::vector<CellState> states = recorder_.states();
  std::vector<size_t> blocks;
  for (Part& part : parts) {
    part.states = states_of(part.cells, cells, states);
    blocks.push_back(part.work->blocks.size());
  }
  plan_time(parts);
  const std::vector<BlockTurn> turns = block_turns(blocks, spec_.shard);
  const bool blocked = spec_.order == "blocked", one_by_one = sessions_.take_turns();
  for (size_t arm = 0; !one_by_one && arm < spec_.arms.size(); ++arm) warm_up(arm, parts);
  std::optional<Share> share;  // of this process
  if (group_) share.emplace(*group_, turns_to_do(parts, turns));
  const SteadyClock clock;
  const std::int64_t begin = clock.now_ns();
  std::int64_t& busy = recorder_.counts().busy_ns;
  const auto each_turn = [&](const auto& arms_of) {
    for (int repeat = 0; repeat < spec_.runs; ++repeat)
      for (const BlockTurn& turn : turns) {
        if (stop_.stop_requested()) return;
        if (share && !share->takes()) continue;
        if (share) given_ = share->given();
        Part& part = parts[turn.dataset];
        const BlockPlace place{repeat, turn.position};
        // Whole blocks, so that measurements are paired.
        const std::vector<bool> to_do =
            cells_to_do(part.cells, part.states, place, needing_more(part.cells));
        for (size_t c = 0; c < part.cells.size(); ++c)
          if (to_do[c] && block_state(*part.cells[c], *part.states[c], place) != CellBlock::fresh)
            part.rerun.insert(place);
        const std::int64_t began = clock.now_ns();
        for (const size_t arm : arms_of(turn, repeat)) run_arm(part, arm, turn, repeat, to_do);
        busy += clock.now_ns() - began;
      }
  };
  if (!blocked)
    each_turn([&](const BlockTurn& turn, int repeat) { return arm_order(turn, repeat); });
  for (size_t arm = 0; blocked && arm < spec_.arms.size() && !stop_.stop_requested(); ++arm) {
    if (one_by_one) warm_up(arm, parts);  // its networks were loaded again
    each_turn([&](const BlockTurn&, int) { return std::vector<size_t>{arm}; });
  }
  share.reset();  // rank 0 waits for all
  if (group_ && !stop_.stop_requested())
    given_ = static_cast<std::int64_t>(turns.size()) * spec_.runs;
  recorder_.counts().blocks_ns = clock.now_ns() - begin;
  count_rerun(cells, parts);
  repair(cells, parts, turns);
  show("");
}

}  // namespace

void run_cells(const RunSpec& spec, const std::vector<Workload>& workloads, ArmSessions& sessions,
               const std::vector<RunCell>& cells, Recorder& recorder, std::stop_token stop,
               const std::function<bool(const RunCell&)>& enough, Group* group) {
  std::int64_t total = 0, turns = 0;
  for (const Workload& work : workloads) turns += std::ssize(work.blocks) * spec.runs;
  for (const RunCell& cell : cells)
    for (size_t position = 0; position < cell.work->blocks.size(); ++position)
      if (spec.shard.has(position))
        total += std::ssize(cell.work->blocks[position].examples) * spec.runs;
  {
    Progress progress(spec.progress, group ? "blocks" : "examples", group ? turns : total);
    Runner runner(spec, sessions, recorder, stop, enough, progress, group);
    std::vector<Part> parts;
    for (const Workload& work : workloads) {
      Part& part = parts.emplace_back(Part{&work, {}, {}, {}});
      for (const RunCell& cell : cells)
        if (cell.work == &work) part.cells.push_back(&cell);
    }
    runner.run(cells, std::move(parts));
  }
  recorder.close();
}

CellCost measure_cost(const RunSpec& spec, ArmSessions& sessions, const RunCell& cell,
                      double most_seconds) {
  Session& session = sessions.of(*cell.arm);
  session.engine.set_trace_sink({});
  const auto& jobs = cell.jobs(0);
  const size_t count = std::min(static_cast<size_t>(cell.arm->batch_size), jobs.size());
  std::vector<Request> requests;
  for (size_t i = 0; i < count; ++i)
    requests.push_back(make_request(spec, cell, jobs[i], 0, sessions));
  CellCost cost;
  const auto decode = [&](size_t many) {
    const auto start = [&](int i) -> Task<void> {
      const Answers answers = co_await decode_request(
          cell.decoder(), requests[static_cast<size_t>(i)], session.context);
      cost.rows = std::max(cost.rows, answers.counters.cached_peak);
    };
    return sessions.run(*cell.arm, static_cast<int>(many), start,
                        [](const Ended& end) { end.rethrow(); });
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
