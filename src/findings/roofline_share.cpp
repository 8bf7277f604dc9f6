#include "src/findings/roofline_share.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "src/checkpoint/network_size.hpp"
#include "src/findings/roofline.hpp"
#include "src/model/device.hpp"
#include "src/model/parameters.hpp"
#include "src/support/error.hpp"
#include "src/support/processor.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// The network of an arm as it was run; none where its folder is gone or holds another one.
std::optional<NetworkSize> network_of(const RunRow& run) {
  try {
    const ModelConfig config = read_model_config(run.model.path);
    if (parameter_count(config) != run.model.shape.value("parameters", std::int64_t{0}))
      return std::nullopt;
    return network_size(config, parse_dtype(run.dtype));
  } catch (const Error&) {
    return std::nullopt;
  }
}

CountedWork work_of(const RunSummary& run) {
  return {run.measured.passes, run.totals.fed, run.totals.chosen, run.totals.cached_sum,
          run.totals.attended};
}

/// Whether what is counted is all that its time was spent on.
bool is_whole(const ArmFinding& arm) {
  const RunSummary& run = arm.run;
  return run.blocks > 0 && run.measured_blocks == run.blocks && run.failed_jobs == 0 &&
         run.measured.passes > 0 && !run.run.draft &&
         !find_decoder(run.run.decoder).drafts_untraced;
}

void check_here(const RunRow& run) {
  if (run.device != "cpu")
    throw ConfigError(str("--hardware here: arm ", run.label, " was measured on ", run.device,
                          ", expected the GPU's name or file"));
  const std::string then = run.environment.value("processor", ""), now = processor_name();
  if (then != now)
    throw ConfigError(str("--hardware here: arm ", run.label, " was measured on '", then,
                          "', this is '", now, "'; expected that machine's name or file"));
}

}  // namespace

double least_seconds(const CountedWork& work, const NetworkSize& network,
                     const Hardware& hardware) {
  const auto number = [](std::int64_t count) { return static_cast<double>(count); };
  // A row that is seen is one of a pair, whether others live beside it or not.
  const double seen = number(std::min(work.cached, work.attended));
  const double weights = network.layer_weights * network.bytes_per_layer_weight +
                         network.head_weights * network.bytes_per_value;
  const double bytes =
      number(work.passes) * weights +
      network.bytes_per_value * (network.hidden * number(work.fed) + network.cached_per_row * seen);
  const double flops = 2 * network.layer_weights * number(work.fed) +
                       2 * network.head_weights * number(work.chosen) +
                       network.attention_flops * number(work.attended);
  return std::max(bytes / hardware.bytes_per_second, flops / hardware.flop_per_second);
}

void add_roofline_shares(Comparison& comparison, const std::string& which) {
  std::map<std::string, Hardware> machines;  // by type
  for (ArmFinding& arm : comparison.arms) {
    const RunRow& run = arm.run.run;
    if (which == "here") check_here(run);
    if (!machines.contains(run.dtype)) {
      if (which == "here") set_threads(run.threads);
      machines[run.dtype] = read_hardware(which, parse_dtype(run.dtype));
      comparison.machines.push_back(machines[run.dtype]);
    }
    if (!is_whole(arm)) continue;
    if (const auto network = network_of(run))
      arm.speeds.roofline_share = least_seconds(work_of(arm.run), *network, machines[run.dtype]) /
                                  (static_cast<double>(arm.run.measured_wall_ns) * 1e-9);
  }
}

}  // namespace pardec
