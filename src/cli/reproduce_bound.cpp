#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>

#include "src/cli/deadline.hpp"
#include "src/cli/execute.hpp"
#include "src/cli/scale_inputs.hpp"
#include "src/findings/bound_evidence.hpp"
#include "src/findings/paper_differences.hpp"
#include "src/findings/traces.hpp"
#include "src/support/project_files.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace fs = std::filesystem;

namespace {

/// A folder for files that nobody needs afterwards.
struct Scratch {
  fs::path folder = fs::temp_directory_path() / str("pardec-bound-", ::getpid());
  Scratch() { fs::create_directories(folder); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }
};

}  // namespace

void reproduce_bound(Reproduction& result, const Json& scale, const ReproduceOptions& options,
                     std::optional<double> seconds, const SignalStop& stop) {
  const Json& of = scale.at("bound");
  Runnable runnable = runnable_of(scale, options);
  if (!runnable.any) {
    result.evidence = std::make_unique<NoEvidence>(runnable.lacking);
    return;
  }
  BoundSetting setting;
  const fs::path networks = project_file("experiments/papers/networks");
  const auto size = [&](const std::string& name) {
    return size_of_network(networks / (name + ".json"), parse_dtype(of.value("dtype", "bf16")));
  };
  for (const Json& name : of.at("networks")) {
    auto& network = setting.networks.emplace_back(BoundSetting::Network{
        name.get<std::string>(), size(name.get<std::string>()), std::nullopt});
    if (of.contains("draft")) network.draft = size(of["draft"].get<std::string>());
  }
  for (const Json& name : of.at("hardware"))
    setting.machines.push_back(read_hardware(name.get<std::string>(), parse_dtype("bf16")));
  const Json batches = of.value("batch", Json::object());
  for (const auto& [arm, batch] : batches.items()) setting.batches[arm] = batch.get<int>();
  std::map<std::string, std::vector<Trace>> traces;
  const Json datasets = runnable.experiment["datasets"];
  if (seconds && *seconds <= 0) {
    result.evidence = std::make_unique<NoEvidence>(Lacking{{}, {{"", "time"}}});
    return;
  }
  const Scratch scratch;
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t d = 0; d < datasets.size(); ++d) {
    if (stop.signal()) break;
    const Json& dataset = datasets[d];
    Runnable one = runnable;
    one.experiment["datasets"] = Json::array({dataset});
    one.experiment["trace"] = (scratch.folder / "t.jsonl").string();
    one.experiment["warmup"] = 0;
    ReproduceOptions apart = options;
    apart.db = (scratch.folder / "t.sqlite").string();
    RunFlags flags = flags_of(one, "bound", result.item->file, apart);
    ArmSessions sessions(flags.spec);
    std::optional<double> share;  // of the time that is left
    if (seconds) {
      const std::chrono::duration<double> used = std::chrono::steady_clock::now() - begin;
      share = (*seconds - used.count()) / static_cast<double>(datasets.size() - d);
    }
    const Deadline deadline(stop.token(), share);
    const auto workloads = load_workloads(flags.spec);
    const Execution done =
        execute(flags.spec, workloads, sessions, stop, /*create_folders=*/false, deadline.token());
    if (done.signal) break;
    if (!done.store) {
      result.evidence = std::make_unique<NoEvidence>(Lacking{{}, {{"", "time"}}});
      return;
    }
    if (deadline.token().stop_requested())
      result.differs.push_back(
          str("budget: its time for ", dataset.get<std::string>(), " ended before the run did"));
    // How the traces were made is not what the bound is of.
    for (const std::string& line :
         differences_from(*result.item, compare(*done.store, done.invocation, {.brief = true})))
      if (!line.starts_with("differs: type") && !line.starts_with("differs: machine") &&
          !line.starts_with("differs: jobs") &&
          std::find(result.differs.begin(), result.differs.end(), line) == result.differs.end())
        result.differs.push_back(line);
    traces[dataset.get<std::string>()] = read_traces(scratch.folder / "t.jsonl");
    fs::remove(scratch.folder / "t.jsonl");
  }
  result.differs.push_back(str("bound: of ", of.value("dtype", "bf16"),
                               ", jobs side by side: ", batches.empty() ? "1" : dump(batches)));
  result.evidence = std::make_unique<BoundEvidence>(traces, setting, runnable.lacking);
}

}  // namespace pardec
