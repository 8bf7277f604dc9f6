#include "src/runs/block_states.hpp"

#include <algorithm>

#include "src/support/machine_use.hpp"

namespace pardec {

std::vector<CellState> cell_states(Store& store, const std::vector<RunCell>& cells, int repeats,
                                   bool retry) {
  std::vector<RunRow> rows;
  for (const RunCell& cell : cells) rows.push_back(cell.row);
  const Figures figures = store.blocks(std::move(rows));
  std::vector<CellState> states;
  for (size_t c = 0; c < cells.size(); ++c) {
    CellState& state = states.emplace_back();
    state.finished.resize(static_cast<size_t>(repeats));
    state.failed.resize(static_cast<size_t>(repeats));
    for (const FinishedJob& job : store.finished_jobs(cells[c].row.id)) {
      if (job.repeat >= repeats || (job.failed && retry)) continue;
      state.finished[static_cast<size_t>(job.repeat)].insert(job.key);
      if (job.failed_whole) state.failed[static_cast<size_t>(job.repeat)].insert(job.key);
    }
    const MeasuredBlocks& measured = figures.runs[c].measured;
    for (const BlockFigures& block : measured.blocks) {
      const auto again = measured.repaired.find(block.id);
      state.measured.emplace(
          BlockPlace{block.repeat, static_cast<size_t>(block.position)},
          CellState::Measured{
              block.id, block.process, block.time,
              again == measured.repaired.end() ? std::nullopt : std::optional(again->second)});
    }
  }
  return states;
}

CellBlock block_state(const RunCell& cell, const CellState& state, const BlockPlace& place) {
  const auto repeat = static_cast<size_t>(place.first);
  const std::vector<JobPlan>& jobs = cell.jobs(place.second);
  std::int64_t finished = 0;
  for (const JobPlan& job : jobs) {
    if (state.failed[repeat].contains(job.key)) return CellBlock::failed;
    finished += state.finished[repeat].contains(job.key);
  }
  if (finished == 0) return CellBlock::fresh;
  const bool all =
      finished == std::ssize(jobs);  // otherwise a job is to be retried or has not been run
  return all && state.measured.contains(place) ? CellBlock::measured : CellBlock::begun;
}

std::vector<bool> cells_to_do(const std::vector<const RunCell*>& cells,
                              const std::vector<const CellState*>& states, const BlockPlace& place,
                              std::vector<bool> more) {
  bool together = true;
  std::optional<std::int32_t> process;
  std::vector<bool> failed(cells.size());
  for (size_t c = 0; c < cells.size(); ++c) {
    const CellBlock block = block_state(*cells[c], *states[c], place);
    more[c] = more[c] || block != CellBlock::fresh;
    failed[c] = block == CellBlock::failed;
    if (!more[c] || failed[c]) continue;
    if (block == CellBlock::measured) {
      const std::int32_t by = states[c]->measured.at(place).process;
      together = together && process.value_or(by) == by;
      process = by;
    } else {
      together = false;
    }
  }
  for (size_t c = 0; together && c < cells.size(); ++c) more[c] = failed[c];
  return more;
}

DisturbedBlocks disturbed_blocks(const std::vector<const RunCell*>& cells,
                                 const std::vector<const CellState*>& states) {
  std::set<BlockPlace> places;
  for (const CellState* state : states)
    for (const auto& [place, measured] : state->measured) places.insert(place);
  DisturbedBlocks out;
  for (const BlockPlace& place : places) {
    DisturbedBlock block{place, 0, {}};
    double again = 0;
    bool together = true, repaired = true;
    std::optional<std::int32_t> process, repair;
    const auto add = [](double& most, const BlockTime& time, const RunCell& cell) {
      const double taken = taken_share(time.use.machine, time.wall_ns, cell.row.threads);
      if (taken > most) most = taken;  // false for NaN, i.e. not known
    };
    for (size_t c = 0; c < cells.size(); ++c) {
      const auto found = states[c]->measured.find(place);
      if (found == states[c]->measured.end()) continue;
      const CellState::Measured& one = found->second;
      block.blocks[cells[c]] = one.block;
      together = together && process.value_or(one.process) == one.process;
      process = one.process;
      add(block.taken, one.time, *cells[c]);
      repaired = repaired && one.again && repair.value_or(one.again->process) == one.again->process;
      if (!one.again) continue;
      repair = one.again->process;
      add(again, one.again->time, *cells[c]);
    }
    if (!together || block.taken < kDisturbedShare) continue;
    if (repaired && again < kDisturbedShare) {
      ++out.quiet_again;
      continue;
    }
    if (repaired) block.taken = again;
    out.blocks.push_back(std::move(block));
  }
  std::stable_sort(out.blocks.begin(), out.blocks.end(),
                   [](const auto& a, const auto& b) { return a.taken > b.taken; });
  return out;
}

}  // namespace pardec
