#include "src/cli/sweep_plan.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "src/checkpoint/memory_plan.hpp"
#include "src/cli/print_note.hpp"
#include "src/report/dataset_name.hpp"
#include "src/runs/prepare.hpp"
#include "src/runs/runner.hpp"
#include "src/store/store.hpp"
#include "src/support/error.hpp"
#include "src/support/number_text.hpp"
#include "src/support/progress.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

std::string shown_time(double seconds) {
  if (seconds < 100) return fixed(seconds, seconds < 10 ? 1 : 0) + " s";
  const auto minutes = static_cast<std::int64_t>(std::lround(seconds / 60));
  return minutes < 100 ? str(minutes, " min") : str(minutes / 60, " h ", minutes % 60, " min");
}

/// Whether a stored cell did the same work under the same conditions, as far as they affect time.
bool same_work(const RunRow& old, const RunRow& now) {
  return old.decoder == now.decoder && old.options == now.options &&
         old.batch_size == now.batch_size && old.model.hash == now.model.hash &&
         (old.draft ? old.draft->hash : "") == (now.draft ? now.draft->hash : "") &&
         old.dataset.sha256 == now.dataset.sha256 && old.device == now.device &&
         old.dtype == now.dtype && old.threads == now.threads && old.oracle == now.oracle &&
         old.config.value("cache_blocks", 0) == now.config.value("cache_blocks", 0) &&
         old.config.value("max_new_tokens", 0) == now.config.value("max_new_tokens", 0) &&
         old.config.value("per_field", 0) == now.config.value("per_field", 0);
}

/// `stored`: newest first.
std::optional<CellCost> stored_cost(const std::vector<RunSummary>& stored, const RunRow& now) {
  for (const RunSummary& old : stored)
    if (old.measured_examples > 0 && same_work(old.run, now))
      return CellCost{static_cast<double>(old.measured_wall_ns) * 1e-9 /
                          static_cast<double>(old.measured_examples),
                      old.totals.cached_peak};
  return std::nullopt;
}

/// Number of answers of the cell in this shard.
std::int64_t answers_of(const RunSpec& spec, const RunCell& cell) {
  std::int64_t answers = 0;
  for (size_t block = 0; block < cell.work->blocks.size(); ++block)
    if (spec.shard.has(block)) answers += std::ssize(cell.work->blocks[block].examples) * spec.runs;
  return answers;
}

}  // namespace

CellBytes cell_bytes(const RunSpec& spec, const Arm& arm, std::int64_t rows) {
  ModelOptions networks = networks_of(spec, arm);
  if (!networks.weights) return {};
  networks.memory_limit.clear();
  const CacheBudget cache = cache_of(spec, arm);
  std::int64_t in_flight = rows * arm.batch_size;
  if (cache.blocks > 0) in_flight = std::min(in_flight, cache.blocks * cache.block_rows);
  const MemoryPlan plan = plan_memory({networks}, cache.block_rows);
  return {plan.least(in_flight), plan.weight_bytes};
}

SweepPlan plan_sweep(const RunSpec& spec, const std::vector<Workload>& workloads,
                     ArmSessions& sessions) {
  std::vector<RunCell> cells = make_cells(spec, workloads, sessions);
  std::vector<RunSummary> stored;
  if (Store::exists(spec.db, {.create_folders = true})) {
    Store store(spec.db, {.read_only = true});
    prepare(spec, workloads, sessions, store, cells, print_note);
    stored = store.summaries({});
  }
  SweepPlan plan;
  Table& table = plan.table;
  table.title = "Sweep (nothing is stored)";
  table.columns = with_dataset({{"cell"},
                                {"in flight", Align::right, "in_flight"},
                                {"answers", Align::right},
                                {"blocks", Align::right},
                                {"time", Align::right, "seconds"},
                                {"memory", Align::right, "bytes"},
                                {"from"},
                                {"cannot run", Align::left, "cannot_run", /*data_only=*/true}});
  table.columns.back().messages = true;
  std::int64_t unknown = 0, done = 0, beside_weights = 0;
  {
    Progress progress(spec.progress, "cells", std::ssize(cells));
    for (const RunCell& cell : cells) {
      std::optional<CellCost> cost = stored_cost(stored, cell.row);
      const bool from_store = cost.has_value();
      const std::string who = str(cell.work->dataset.name, ", ", cell.arm->label);
      if (!cost) try {
          cost = measure_cost(spec, sessions, cell);
        } catch (const std::exception& error) {
          table.notes.push_back(str(who, ": not known, since ", reason_of(error)));
        }
      const std::int64_t answers = answers_of(spec, cell);
      const double seconds = cost ? cost->seconds * static_cast<double>(answers) : 0;
      const CellBytes bytes = cost ? cell_bytes(spec, *cell.arm, cost->rows) : CellBytes{};
      plan.seconds += seconds;
      plan.bytes = std::max(plan.bytes, bytes.all);
      beside_weights = std::max(beside_weights, bytes.all - bytes.weights);
      plan.cells.push_back(str(who, ": ", cost ? shown_time(seconds) : "time not known",
                               cost ? str(", ", shown_bytes(bytes.all)) : ""));
      unknown += !cost;
      std::int64_t blocks = 0;
      for (size_t block = 0; block < cell.work->blocks.size(); ++block)
        blocks += spec.shard.has(block);
      table.rows.push_back(with_dataset(
          dataset_cells(cell.work->dataset),
          {cell.arm->label, number_cell(std::int64_t{cell.arm->batch_size}), number_cell(answers),
           number_cell(blocks), cost ? Cell(shown_time(seconds), Json(seconds)) : no_cell(),
           cost ? Cell(shown_bytes(bytes.all), Json(bytes.all)) : no_cell(),
           !cost        ? no_cell()
           : from_store ? Cell("database")
                        : Cell("a batch"),
           no_cell()}));
      progress.update(++done, cell.arm->label);
    }
  }
  const auto refuse = [&](const Dataset& dataset, const std::string& label,
                          const std::string& reason) {
    table.rows.push_back(
        with_dataset(dataset_cells(dataset), {label, no_cell(), no_cell(), no_cell(),
                                              Cell("n/a", Json()), no_cell(), no_cell(), reason}));
    table.notes.push_back(str("n/a: ", dataset.name, ", ", label, ": ", reason));
  };
  for (const Workload& work : workloads) {
    for (size_t a = 0; a < spec.arms.size(); ++a)
      if (!work.runs(a)) refuse(work.dataset, spec.arms[a].label, work.not_applicable[a]);
    for (const RefusedArm& arm : spec.refused) refuse(work.dataset, arm.label, arm.reason);
  }
  table.notes.insert(
      table.notes.begin(),
      {str("in all about ", shown_time(plan.seconds),
           unknown ? str(" and ", counted(unknown, "cell"), " whose time is not known") : "",
           spec.target_ci > 0 ? ", less where --target-ci stops a cell" : "",
           "; without loading and preparing."),
       "time: database: from the time of a stored cell with the same settings; a batch: from one "
       "batch of the cell's first jobs, run now. memory: weights, program and the cache of all "
       "running jobs, if each of them holds as much as the largest job that was run."});
  if (several_networks(spec)) {  // they are in memory together
    std::vector<ModelOptions> networks = networks_of(spec);
    std::erase_if(networks, [](const ModelOptions& options) { return !options.weights; });
    for (ModelOptions& options : networks) options.memory_limit.clear();
    if (!networks.empty())
      plan.bytes = beside_weights + plan_memory(networks, spec.cache.block_rows).weight_bytes;
  }
  return plan;
}

}  // namespace pardec
