#include "src/cli/scale_inputs.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>

#include "datasets/dataset.hpp"
#include "src/checkpoint/checkpoint.hpp"
#include "src/cli/data.hpp"
#include "src/runs/prepare.hpp"
#include "src/runs/runner.hpp"
#include "src/support/error.hpp"
#include "src/support/project_files.hpp"
#include "src/support/text.hpp"
#include "src/tasks/checkpoint_fit.hpp"

namespace pardec {

namespace fs = std::filesystem;

namespace {

/// Keys of a scale that are no settings of a run.
constexpr std::array kScaleKeys{"standin", "shared", "traces", "bound"};

/// The networks of a scale by name: given ones first, else the first that is there.
Json networks_of_scale(const Json& scale, const ReproduceOptions& options,
                       std::map<std::string, std::string>& missing) {
  Json models = Json::object();
  const Json named_networks = scale.value("models", Json::object());
  for (const auto& [label, folders] : named_networks.items()) {
    std::vector<std::string> tried;
    for (const std::string& given : options.models)
      if (given.starts_with(label + "=")) tried = {given.substr(label.size() + 1)};
    const bool named = !tried.empty();
    if (!named) {
      if (folders.is_array())
        tried = folders.get<std::vector<std::string>>();
      else
        tried = {folders.get<std::string>()};
    }
    for (const std::string& folder : tried)
      if (const auto at = folder_at(folder); at && !models.contains(label))
        models[label] = at->string();
    if (models.contains(label)) continue;
    if (named) throw ConfigError(str("--model ", label, ": there is no ", tried.front()));
    missing[label] = str("network '", label, "' (", join(tried, " or "), ")");
  }
  return models;
}

/// Datasets that are not there are made where the scale wants stand-ins, else they lack.
void choose_datasets(const Json& scale, const ReproduceOptions& options, Runnable& runnable) {
  Json kept = Json::array();
  runnable.data_root = options.data_root;
  const bool standin = scale.value("standin", false);
  if (standin) runnable.data_root = options.db + ".standins";
  for (const Json& one : scale.value("datasets", Json::array())) {
    const auto name = one.get<std::string>();
    const DatasetEntry& entry = find_dataset(name);
    if (standin && !dataset_folder(entry, runnable.data_root)) {
      DataFlags flags;
      flags.datasets = {name};
      flags.data_root = runnable.data_root;
      flags.examples = std::max<std::int64_t>(options.limit.value_or(scale.value("limit", 24)), 24);
      fs::create_directories(flags.data_root);
      make_standins(flags);
    }
    if (runnable.data_root.empty() || dataset_folder(entry, runnable.data_root))
      kept.push_back(name);
    else
      runnable.lacking.datasets[name] = str("dataset ", name, " (no folder under --data-root)");
  }
  runnable.experiment["datasets"] = kept;
}

/// Arms whose networks or control tokens are not there lack.
void choose_arms(const Json& scale, const std::map<std::string, std::string>& missing,
                 const Json& models, Runnable& runnable) {
  Json kept = Json::array();
  const std::string main = scale.value("model", "main");
  for (const Json& arm : scale.value("decoders", Json::array())) {
    const std::string label = arm.value("label", arm.value("name", ""));
    std::string lacks;
    for (const std::string& network :
         {arm.value("model", main), arm.value("adapter", ""), arm.value("draft", "")})
      if (const auto found = missing.find(network); found != missing.end()) lacks = found->second;
    if (lacks.empty()) {
      try {
        const auto folder = [&](const std::string& network) {
          return network.empty() ? "" : models.value(network, network);
        };
        ModelOptions options;
        options.model = folder(arm.value("model", main));
        options.adapter = folder(arm.value("adapter", ""));
        const auto face = read_face(options);
        const Json set = arm.value("set", Json::object());
        Json own = Json::object();
        for (const auto& [option, value] : set.items())
          if (option != "batch_size" && option != "cascade") own[option] = value;
        const Needs needs = needs_of(*make_decoder(arm.value("name", ""), own),
                                     face ? &*face : nullptr, folder(arm.value("draft", "")));
        if (needs.lacking) lacks = str("for arm ", label, ": ", needs.text);
      } catch (const Error& error) {  // a folder that is there and holds no network
        lacks = str("for arm ", label, ": ", error.what());
      }
    }
    if (lacks.empty())
      kept.push_back(arm);
    else
      runnable.lacking.arms[label] = lacks;
  }
  runnable.experiment["decoders"] = kept;
}

}  // namespace

std::optional<fs::path> folder_at(const std::string& named) {
  std::error_code ignored;
  if (fs::exists(named, ignored)) return fs::path(named);
  try {
    return project_file(named);
  } catch (const ConfigError&) {
    return std::nullopt;
  }
}

Runnable runnable_of(const Json& scale, const ReproduceOptions& options) {
  Runnable runnable;
  runnable.experiment = scale;
  for (const char* key : kScaleKeys) runnable.experiment.erase(key);
  std::map<std::string, std::string> missing;
  const Json models = networks_of_scale(scale, options, missing);
  runnable.experiment["models"] = models;
  choose_datasets(scale, options, runnable);
  choose_arms(scale, missing, models, runnable);
  const std::string main = scale.value("model", "main");
  runnable.experiment["model"] = models.contains(main) ? main : "";
  if (options.limit) runnable.experiment["limit"] = *options.limit;
  if (!options.dtype.empty()) runnable.experiment["dtype"] = options.dtype;
  const auto& arms = runnable.experiment["decoders"];
  const std::string baseline = scale.value("baseline", "");
  if (std::none_of(arms.begin(), arms.end(), [&](const Json& arm) {
        return arm.value("label", arm.value("name", "")) == baseline;
      }))
    runnable.experiment.erase("baseline");
  // One arm alone says nothing beside a paper's several.
  const size_t wanted = std::min<size_t>(2, scale.value("decoders", Json::array()).size());
  runnable.any = arms.size() >= wanted && !arms.empty() && !runnable.experiment["datasets"].empty();
  return runnable;
}

RunFlags flags_of(const Runnable& runnable, const std::string& name, const fs::path& where,
                  const ReproduceOptions& options) {
  RunFlags flags;
  CLI::App app;
  add_flags(app, flags);
  read_experiment(app, runnable.experiment, where.string(), flags);
  flags.spec.name = name;
  flags.spec.db = options.db;
  flags.spec.data_root = runnable.data_root;
  flags.spec.model.threads = options.threads;
  flags.progress = options.progress;
  flags.spec.argv = options.argv;
  finish(flags);
  flags.spec.given["scale"] = runnable.experiment;
  flags.spec.given["scale"]["data_root"] = runnable.data_root;
  flags.spec.given["scale"]["threads"] = options.threads;
  return flags;
}

std::int64_t fitting_limit(const RunSpec& spec, ArmSessions& sessions, double seconds,
                           std::int64_t most) {
  using Steady = std::chrono::steady_clock;
  constexpr std::int64_t kFew = 6;
  const auto workloads = load_workloads(spec);
  const auto begin = Steady::now();
  const auto used = [&] { return std::chrono::duration<double>(Steady::now() - begin).count(); };
  const std::vector<RunCell> cells = make_cells(spec, workloads, sessions);
  const double to_measure = seconds / 4;
  double each = 0;
  size_t measured = 0;
  for (; measured < cells.size() && (measured == 0 || used() < to_measure); ++measured)
    each += spec.runs * measure_cost(spec, sessions, cells[measured], to_measure - used()).seconds;
  // Cells for which there is no time are taken to be as the others.
  each *= static_cast<double>(cells.size()) / static_cast<double>(std::max<size_t>(1, measured));
  const double left = seconds - used();
  const auto fit = each > 0 ? static_cast<std::int64_t>(left / each) : kFew;
  const std::int64_t limit = std::max(kFew, fit);
  return most > 0 ? std::min(limit, most) : limit;
}

}  // namespace pardec
