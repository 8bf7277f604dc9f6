#include "src/findings/accounting.hpp"

#include <cmath>

#include "metrics/decoding_metrics.hpp"

namespace pardec {

namespace {

std::int64_t pads_of(const RunFigures& run) {
  std::int64_t pads = 0;
  std::vector<BranchLengths> batch;
  const auto close_batch = [&] {
    pads += pad_columns(batch);
    batch.clear();
  };
  for (const JobFigures& job : run.jobs) {
    const auto first = run.branch_lengths.begin() + job.first_length;
    batch.emplace_back(first, first + job.lengths);
    if (static_cast<int>(batch.size()) == run.summary.run.batch_size) close_batch();
  }
  close_batch();
  return pads;
}

std::optional<double> price_of(const RunSummary& run, const UsdPrices& prices) {
  if (run.run.device != kService) {
    if (!prices.machine_hour) return std::nullopt;
    return usd_per_thousand(static_cast<double>(run.measured_examples) /
                                (static_cast<double>(run.measured_wall_ns) * 1e-9),
                            *prices.machine_hour);
  }
  if (!prices.service_million) return std::nullopt;
  const auto [input, output] = *prices.service_million;
  const double usd = (static_cast<double>(run.totals.prompt) * input +
                      static_cast<double>(run.totals.chosen) * output) *
                     1e-6;
  // The totals are of jobs without an error. An example has an answer for each repeat.
  return 1000 * usd / static_cast<double>(run.generations - run.failed_generations);
}

}  // namespace

std::vector<ArmAccount> accounts_of(const Figures& figures, const UsdPrices& prices) {
  std::vector<ArmAccount> accounts;
  for (const RunFigures& of_run : figures.runs) {
    const RunSummary& run = of_run.summary;
    const Counters& c = run.totals;
    ArmAccount& account = accounts.emplace_back(ArmAccount{
        run,
        c.forwards ? static_cast<double>(c.chosen) / static_cast<double>(c.forwards) : std::nan(""),
        c.fed + c.cached_sum, pads_of(of_run), std::nullopt});
    account.usd_per_thousand = price_of(run, prices);
  }
  return accounts;
}

}  // namespace pardec
