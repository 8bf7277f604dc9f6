#include "src/findings/roofline_share.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "src/checkpoint/network_size.hpp"
#include "src/findings/roofline.hpp"
#include "src/model/device.hpp"
#include "src/model/files/parameters.hpp"
#include "src/support/error.hpp"
#include "src/support/processor.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// The size of a network as used in a run; none: its folder is gone or contains another network.
std::optional<NetworkSize> size_of(const ModelRow& model, const std::string& dtype) {
  try {
    const std::filesystem::path folder = model.shape.value(kBaseFolder, model.path);
    const ModelConfig config =
        with_first_layers(read_model_config(folder), model.shape.value("layers", 0), folder);
    if (parameter_count(config) != model.shape.value("parameters", std::int64_t{0}))
      return std::nullopt;
    return network_size(config, parse_dtype(dtype));
  } catch (const Error&) {
    return std::nullopt;
  }
}

CountedWork work_of(const RunSummary& run) {
  return {run.measured.passes,   run.totals.fed,      run.totals.chosen,
          run.totals.cached_sum, run.totals.attended, run.measured.experts_read};
}

/// Whether the counted work accounts for all of the measured time.
bool is_whole(const ArmFinding& arm) {
  const RunSummary& run = arm.run;
  return run.blocks > 0 && run.measured_blocks == run.blocks && run.failed_jobs == 0 &&
         run.measured.passes > 0 && !run.run.draft &&
         !find_decoder(run.run.decoder).drafts_untraced;
}

void check_here(const RunRow& run) {
  if (run.device != "cpu")
    throw ConfigError(str("`hardware` here: arm ", run.label, " was measured on ", run.device,
                          ", expected the GPU's name or file"));
  const std::string then = run.environment.value("processor", ""), now = processor_name();
  if (then != now)
    throw ConfigError(str("`hardware` here: arm ", run.label, " was measured on '", then,
                          "', this is '", now, "'; expected that machine's name or file"));
}

/// The traces of an arm on one dataset.
struct TracedArm {
  std::optional<RooflineSetting> setting;  ///< none: some passes are of unknown networks
  std::vector<const TraceWork*> works;
  std::set<std::string> examples;
};

TracedArm traced_of(const std::vector<TraceWork>& all, const ArmFinding& arm) {
  const RunRow& run = arm.run.run;
  TracedArm traced;
  bool drafts = false;
  for (const TraceWork& work : all) {
    if (work.arm != run.label || (!work.dataset.empty() && work.dataset != run.dataset.name))
      continue;
    traced.works.push_back(&work);
    drafts = drafts || work.drafts;
    if (!work.drafts) traced.examples.insert(work.examples.begin(), work.examples.end());
  }
  const auto network = size_of(run.model, run.dtype);
  const auto draft = run.draft ? size_of(*run.draft, run.dtype) : std::nullopt;
  if (network && (draft || !drafts) && !find_decoder(run.decoder).drafts_untraced)
    traced.setting = RooflineSetting{*network, draft, run.batch_size, ""};
  return traced;
}

std::optional<Allowed> allowed_on(const std::vector<Hardware>& machines, const TracedArm& arm,
                                  const TracedArm& baseline) {
  if (!arm.setting || !baseline.setting || arm.examples.empty() ||
      arm.examples != baseline.examples)
    return std::nullopt;
  Allowed allowed{{}, std::ssize(arm.examples)};
  for (const Hardware& machine : machines)
    allowed.speedup.push_back(least_seconds(baseline.works, *baseline.setting, machine) /
                              least_seconds(arm.works, *arm.setting, machine));
  return allowed;
}

}  // namespace

double least_seconds(const CountedWork& work, const NetworkSize& network,
                     const Hardware& hardware) {
  const auto number = [](std::int64_t count) { return static_cast<double>(count); };
  // Each row that is read belongs to at least one counted pair, so `attended` is an upper bound.
  const double seen = number(std::min(work.cached, work.attended));
  const double weights = network.layer_weights * network.bytes_per_layer_weight +
                         network.head_weights * network.bytes_per_head_weight;
  // The weights of a pass have the experts of one row.
  const double more =
      std::max(0.0, number(work.experts) - number(work.passes) * network.experts_of_row);
  const double bytes =
      number(work.passes) * weights +
      more * network.expert_weights * network.bytes_per_layer_weight +
      network.bytes_per_value * (network.hidden * number(work.fed) + network.cached_per_row * seen);
  const double flops = 2 * network.layer_weights * number(work.fed) +
                       2 * network.head_weights * number(work.chosen) +
                       network.attention_flops * number(work.attended);
  const double devices = hardware.devices;
  const double seconds = std::max(bytes / devices / hardware.bytes_per_second,
                                  flops / devices / hardware.flop_per_second);
  if (hardware.devices == 1) return seconds;
  const double sent = 2 * (devices - 1) / devices * network.summed_per_row * number(work.fed) *
                      network.bytes_per_value;
  return std::max(seconds, sent / hardware.link_bytes_per_second);
}

void add_rooflines(Comparison& comparison, const CompareOptions& options) {
  std::map<std::string, std::vector<Hardware>> machines;  // by dtype
  const auto machines_of = [&](const RunRow& run) -> const std::vector<Hardware>& {
    for (const std::string& which : options.hardware)
      if (which == "here") check_here(run);
    auto [of_type, is_new] = machines.try_emplace(run.dtype);
    if (!is_new) return of_type->second;
    for (const std::string& which : options.hardware) {
      if (which == "here") set_threads(run.threads);
      of_type->second.push_back(read_hardware(which, parse_dtype(run.dtype)));
    }
    comparison.hardware.push_back(of_type->second.front());
    comparison.other_hardware.insert(comparison.other_hardware.end(), of_type->second.begin() + 1,
                                     of_type->second.end());
    return of_type->second;
  };
  for (size_t a = 0; a < comparison.arms.size(); ++a) {
    const ArmFinding& arm = comparison.arms[a];
    if (arm.run.run.device == kService) continue;
    ArmDetails& details = comparison.details[a];
    const std::vector<Hardware>& on = machines_of(arm.run.run);
    if (is_whole(arm))
      if (const auto network = size_of(arm.run.run.model, arm.run.run.dtype))
        details.speeds.roofline_share = least_seconds(work_of(arm.run), *network, on.front()) /
                                        (static_cast<double>(arm.run.measured_wall_ns) * 1e-9);
    if (const ArmFinding* baseline = comparison.baseline_of(arm))
      details.allowed =
          allowed_on(on, traced_of(options.traced, arm), traced_of(options.traced, *baseline));
    if (details.allowed) comparison.allowing = options.hardware;
  }
}

}  // namespace pardec
