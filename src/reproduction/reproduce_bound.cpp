#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>

#include "src/findings/traces.hpp"
#include "src/reproduction/bound_evidence.hpp"
#include "src/reproduction/paper_differences.hpp"
#include "src/reproduction/scale_inputs.hpp"
#include "src/reproduction/scratch.hpp"
#include "src/runs/deadline.hpp"
#include "src/runs/execute.hpp"
#include "src/support/project_files.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace fs = std::filesystem;

namespace {

/// The type of a network's weights: one for all of them, or by network. Default: bf16.
std::string dtype_of(const Json& bound, const std::string& network) {
  const Json types = bound.value("dtype", Json("bf16"));
  return types.is_object() ? types.value(network, "bf16") : types.get<std::string>();
}

/// "bf16", or "bf16, qwen3-32b: nf4"
std::string dtypes_text(const Json& bound) {
  const Json types = bound.value("dtype", Json("bf16"));
  if (!types.is_object()) return types.get<std::string>();
  std::string text = "bf16";
  for (const auto& [network, type] : types.items())
    text += str(", ", network, ": ", type.get<std::string>());
  return text;
}

BoundSetting setting_of(const Json& bound) {
  BoundSetting setting;
  const fs::path networks = project_file("experiments/papers/networks");
  const auto size = [&](const Json& name) {
    const auto text = name.get<std::string>();
    return size_of_network(networks / (text + ".json"), parse_dtype(dtype_of(bound, text)));
  };
  for (const Json& name : bound.at("networks")) {
    auto& network = setting.networks.emplace_back(
        BoundSetting::Network{name.get<std::string>(), size(name), std::nullopt});
    if (bound.contains("draft")) network.draft = size(bound["draft"]);
  }
  for (const Json& name : bound.at("hardware"))
    setting.machines.push_back(read_hardware(name.get<std::string>(), parse_dtype("bf16")));
  const Json batches = bound.value("batch", Json::object());
  for (const auto& [arm, batch] : batches.items()) setting.batches[arm] = batch.get<int>();
  return setting;
}

/// Lets the arms answer a few examples of each dataset, and returns their passes. None: there was
/// no time, or the run was interrupted.
std::optional<BoundTraces> make_traces(const PaperItem& item, const Runnable& runnable,
                                       const ReproduceOptions& options) {
  const Scratch scratch("pardec-bound");
  const fs::path trace = scratch.folder() / "t.jsonl";
  BoundTraces made{.lacking = runnable.lacking};
  const Json& datasets = runnable.experiment["datasets"];
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t d = 0; d < datasets.size(); ++d) {
    Runnable one = runnable;
    one.experiment["datasets"] = Json::array({datasets[d]});
    one.experiment["trace"] = trace.string();
    one.experiment["warmup"] = 0;
    ReproduceOptions apart = options;
    apart.db = (scratch.folder() / "t.sqlite").string();
    const RunSpec spec = spec_of(one, "bound", item.file, apart);
    ArmSessions sessions(spec);
    std::optional<double> share;  // of the remaining time
    if (options.effort.seconds) {
      const std::chrono::duration<double> used = std::chrono::steady_clock::now() - begin;
      share = (*options.effort.seconds - used.count()) / static_cast<double>(datasets.size() - d);
    }
    const Deadline deadline(options.stop, share);
    const auto workloads = load_workloads(spec);
    const Execution done =
        execute(spec, workloads, sessions,
                {.stop = options.stop, .until = deadline.token(), .notes = options.notes});
    if (done.stopped || !done.store) return std::nullopt;
    const auto dataset = datasets[d].get<std::string>();
    if (deadline.token().stop_requested()) made.unfinished.push_back(dataset);
    made.made.push_back(overview(*done.store, done.invocation));
    made.traces[dataset] = read_traces(trace);
    fs::remove(trace);
  }
  return made;
}

/// Whether a difference concerns how the traced passes were computed, which does not affect a
/// bound.
bool of_computing(const Difference& difference) {
  using enum Difference::Of;
  return difference.of == type || difference.of == machine || difference.of == jobs;
}

}  // namespace

void reproduce_bound(Reproduction& result, const ReproduceOptions& options, MadeBounds& bounds) {
  const Json scale = result.item->scale(result.scale);
  const std::string work = work_of(*result.item, result.scale);
  auto made = bounds.find(work);
  if (made == bounds.end()) {
    const Runnable runnable = runnable_of(scale, options);
    if (!runnable.any || !could_be_tested(*result.item, result.scale, runnable.lacking)) {
      result.evidence = std::make_unique<NoEvidence>(runnable.lacking);
      return;
    }
    std::optional<BoundTraces> now;
    if (options.effort.runs) now = make_traces(*result.item, runnable, options);
    if (!now) {
      result.evidence = std::make_unique<NoEvidence>(Lacking{{}, {{"", "time"}}});
      return;
    }
    made = bounds.emplace(work, *std::move(now)).first;
  }
  const BoundTraces& of = made->second;
  const Json& bound = scale.at("bound");
  for (const std::string& dataset : of.unfinished)
    result.differs.push_back({Difference::Of::budget,
                              str("budget: its time for ", dataset, " ended before the run did")});
  for (const Overview& comparison : of.made)
    for (const Difference& one : differences_from(*result.item, comparison, {}))
      if (!of_computing(one) &&
          std::find(result.differs.begin(), result.differs.end(), one) == result.differs.end())
        result.differs.push_back(one);
  result.differs.push_back(
      {Difference::Of::bound, str("bound: of ", dtypes_text(bound), ", jobs in a pass: ",
                                  bound.contains("batch") ? dump(bound["batch"]) : "1")});
  BoundSetting setting = setting_of(bound);
  setting.baseline = result.baseline;
  const bool smaller = std::any_of(of.made.begin(), of.made.end(), [&](const Overview& comparison) {
    return is_smaller(*result.item, comparison);
  });
  result.evidence =
      std::make_unique<BoundEvidence>(of.traces, setting, of.lacking, of.made, smaller);
}

}  // namespace pardec
