// statistics_probe < calls
// One JSON object a line, {"call": NAME, arguments}; answers with one JSON value a line.
#include <string>

#include "metrics/statistics.hpp"
#include "src/support/json.hpp"
#include "tests/metrics/probe.hpp"

namespace {

using namespace pardec;

Json answer(const Json& request) {
  const auto call = request.at("call").get<std::string>();
  if (call == "quantile") return quantile(request.at("samples"), request.at("q"));
  if (call == "mcnemar") return mcnemar_exact(request.at("b"), request.at("c"));
  if (call == "holm") return holm(request.at("p").get<std::vector<double>>());
  std::vector<BlockPair> blocks;
  for (const auto& block : request.at("blocks")) blocks.push_back({block.at(0), block.at(1)});
  if (call == "geometric_mean") return geometric_mean_ratio(blocks);
  if (call == "median") return median_ratio(blocks);
  return ratio_of_totals(blocks).estimate;
}

}  // namespace

int main() { return test::answer_lines(answer); }
