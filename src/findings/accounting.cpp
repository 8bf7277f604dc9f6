#include "src/findings/accounting.hpp"

#include <cmath>

#include "metrics/decoding_metrics.hpp"
#include "src/store/invocations.hpp"
#include "src/store/sqlite.hpp"

namespace pardec {

namespace {

std::int64_t pads_of(Store& store, const RunRow& run) {
  std::int64_t pads = 0;
  std::vector<BranchLengths> batch;
  const auto close_batch = [&] {
    pads += pad_columns(batch);
    batch.clear();
  };
  Statement jobs(store.database(),
                 "SELECT branch_lengths FROM job WHERE run_id = ? ORDER BY repeat, id");
  jobs.bind(run.id);
  while (jobs.step()) {
    batch.push_back(
        parse_json(jobs.text(0), store.path().string(), 0).get<std::vector<std::int64_t>>());
    if (static_cast<int>(batch.size()) == run.batch_size) close_batch();
  }
  close_batch();
  return pads;
}

}  // namespace

std::vector<ArmAccount> accounts_of(Store& store, const std::string& invocation,
                                    std::optional<double> usd_per_hour) {
  std::vector<ArmAccount> accounts;
  for (const auto& run : runs_of(store, invocation)) {
    const JobCounters& c = run.totals;
    ArmAccount& account = accounts.emplace_back(ArmAccount{
        run,
        c.forwards ? static_cast<double>(c.chosen) / static_cast<double>(c.forwards) : std::nan(""),
        c.fed + c.cached_sum, pads_of(store, run.run), std::nullopt});
    if (usd_per_hour)
      account.usd_per_thousand =
          usd_per_thousand(static_cast<double>(run.measured_examples) /
                               (static_cast<double>(run.measured_wall_ns) * 1e-9),
                           *usd_per_hour);
  }
  return accounts;
}

}  // namespace pardec
