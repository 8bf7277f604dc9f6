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

}  // namespace

std::vector<ArmAccount> accounts_of(const Figures& figures, std::optional<double> usd_per_hour) {
  std::vector<ArmAccount> accounts;
  for (const RunFigures& of_run : figures.runs) {
    const RunSummary& run = of_run.summary;
    const Counters& c = run.totals;
    ArmAccount& account = accounts.emplace_back(ArmAccount{
        run,
        c.forwards ? static_cast<double>(c.chosen) / static_cast<double>(c.forwards) : std::nan(""),
        c.fed + c.cached_sum, pads_of(of_run), std::nullopt});
    if (usd_per_hour)
      account.usd_per_thousand =
          usd_per_thousand(static_cast<double>(run.measured_examples) /
                               (static_cast<double>(run.measured_wall_ns) * 1e-9),
                           *usd_per_hour);
  }
  return accounts;
}

}  // namespace pardec
