// ASPD's own metrics (section 4.1): degree of parallelism, branches, tokens per second. AR, its
// baseline, only has tokens per second.
#include <limits>

#include "decoders/aspd/aspd.hpp"
#include "decoders/decoder.hpp"

namespace pardec {

namespace {

std::vector<double> aspd_values(std::string_view decoder,
                                std::span<const ResponseCounts> responses) {
  constexpr double kNoMetric = std::numeric_limits<double>::quiet_NaN();
  const bool plain = decoder == kPlainDecoder;
  std::vector<ParallelCounts> counts;
  for (const ResponseCounts& response : responses)
    if (response.generated > 0 || plain) counts.push_back(response.stages());
  if (counts.empty()) return std::vector<double>(5, kNoMetric);
  const ParallelMetrics of = parallel_metrics(counts);
  const bool any = of.ppd > 0;
  return {any ? of.dp : kNoMetric, any ? of.abn : kNoMetric, plain ? kNoMetric : of.ppd, of.tps,
          any ? of.p_tps : kNoMetric};
}

}  // namespace

OwnColumns aspd_columns() {
  return {.columns = {{.header = "DP", .key = "dp", .percent = true},
                      {.header = "ABN", .key = "abn", .decimals = 2},
                      {.header = "PPD", .key = "ppd", .percent = true},
                      {.header = "TPS", .key = "tps", .decimals = 1},
                      {.header = "P-TPS", .key = "p_tps", .decimals = 1}},
          .note =
              "DP, ABN, PPD, TPS, P-TPS as ASPD counts them (section 4.1), over answers (of a "
              "conversation: over its turns): share of the answer in branches and branches in a "
              "stage, if there are any; share of answers that have some; tokens/s of an answer, "
              "and of its branches in parallel stages, without prefill.",
          .values = aspd_values};
}

}  // namespace pardec
