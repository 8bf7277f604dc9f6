#include "src/reproduction/scale_inputs.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <optional>

#include "datasets/dataset.hpp"
#include "src/checkpoint/checkpoint.hpp"
#include "src/finetune/finetune.hpp"
#include "src/reproduction/recipe.hpp"
#include "src/reproduction/standins.hpp"
#include "src/runs/prepare.hpp"
#include "src/settings/run_settings.hpp"
#include "src/support/error.hpp"
#include "src/support/project_files.hpp"
#include "src/support/text.hpp"
#include "src/tasks/checkpoint_fit.hpp"

namespace pardec {

namespace fs = std::filesystem;

namespace {

/// Keys of a scale that are not settings of a run.
constexpr std::array kScaleKeys{"standin", "shared", "traces", "bound", "shapes", "match", "meant"};

std::optional<std::string> given_folder(const ReproduceOptions& options, const std::string& label) {
  for (const GivenNetwork& given : options.models)
    if (given.label == label) return given.folder;
  return std::nullopt;
}

/// The folders of a network: one, or several alternatives, where null stands for no network.
Json alternatives(const Json& folders) { return folders.is_array() ? folders : Json{folders}; }

/// The index of the alternative used for all networks: the first for which all of them exist,
/// otherwise the last. Also the last if the user gives a network, since the other networks of an
/// alternative were made for one another.
size_t chosen_alternative(const Json& networks, const ReproduceOptions& options) {
  size_t most = 1;
  for (const auto& [label, folders] : networks.items()) {
    most = std::max(most, alternatives(folders).size());
    if (folders.is_array() && given_folder(options, label)) return folders.size() - 1;
  }
  for (size_t i = 0; i + 1 < most; ++i) {
    const auto there = [&](const Json& folders) {
      return !folders.is_array() || i >= folders.size() || folders[i].is_null() ||
             network_at(folders[i].get<std::string>());
    };
    if (std::all_of(networks.begin(), networks.end(), there)) return i;
  }
  return most - 1;
}

/// The network that lacks, and the recipe by which it can be trained, if there is one.
std::string lacking_weights(const std::string& label, const std::string& folder) {
  const fs::path at = folder;
  return str(
      "network '", label, "' (", folder,
      folder_at(folder) ? ", whose training was stopped before its end" : "",
      recipe_for(folder)
          ? str(", recipe ", (at.parent_path() / "recipes" / at.filename()).string(), ".json")
          : "",
      ")");
}

/// The networks of a scale by name: given ones, otherwise those of the chosen alternative. ""
/// stands for no network.
Json networks_of_scale(const Json& scale, const ReproduceOptions& options,
                       std::map<std::string, std::string>& missing) {
  Json models = Json::object();
  const Json networks = scale.value("models", Json::object());
  const size_t chosen = chosen_alternative(networks, options);
  for (const auto& [label, folders] : networks.items()) {
    const auto given = given_folder(options, label);
    const Json all = alternatives(folders);
    const Json named = given ? Json(*given) : all[std::min(chosen, all.size() - 1)];
    if (named.is_null()) {
      models[label] = "";
      continue;
    }
    const auto text = named.get<std::string>();
    if (const auto at = given ? folder_at(text) : network_at(text))
      models[label] = at->string();
    else if (given)
      throw ConfigError(str("`model` ", label, ": there is no ", *given));
    else
      missing[label] = lacking_weights(label, text);
  }
  return models;
}

/// Removes entries for no network, and such adapters of arms.
void leave_none_away(Json& experiment) {
  Json& models = experiment["models"];
  for (Json& arm : experiment["decoders"])
    if (models.value(arm.value("adapter", ""), "-").empty()) arm.erase("adapter");
  for (auto network = models.begin(); network != models.end();)
    network =
        network->get_ref<const std::string&>().empty() ? models.erase(network) : std::next(network);
}

/// Makes missing datasets if the scale requests stand-ins; otherwise reports them as missing.
void choose_datasets(const Json& scale, const ReproduceOptions& options, Runnable& runnable) {
  Json kept = Json::array();
  runnable.data_root = options.data_root;
  const bool standin = scale.value("standin", false);
  // Stand-ins of different sizes have different examples in a category, so each has its folder.
  const std::int64_t limit = options.limit.value_or(scale.value("limit", 24));
  const std::int64_t examples = limit == 0 ? 0 : std::max<std::int64_t>(limit, 24);
  if (standin)
    runnable.data_root =
        str(options.db, ".standins/", examples == 0 ? "published" : std::to_string(examples));
  for (const Json& one : scale.value("datasets", Json::array())) {
    const auto name = one.get<std::string>();
    const DatasetEntry& entry = find_dataset(name);
    if (standin && !dataset_folder(entry, runnable.data_root)) {
      fs::create_directories(runnable.data_root);
      make_standins({.datasets = {name}, .data_root = runnable.data_root, .examples = examples});
    }
    if (runnable.data_root.empty() || dataset_folder(entry, runnable.data_root))
      kept.push_back(name);
    else
      runnable.lacking.datasets[name] = str("dataset ", name, " (no folder under `data_root`)");
  }
  runnable.experiment["datasets"] = kept;
}

/// Reports arms as missing if their networks or control tokens do not exist.
void choose_arms(const std::map<std::string, std::string>& missing, const ReproduceOptions& options,
                 Runnable& runnable) {
  Json kept = Json::array();
  const Json& models = runnable.experiment["models"];
  const std::string main = runnable.experiment.value("model", "main");
  for (Json arm : runnable.experiment.value("decoders", Json::array())) {
    const std::string label = arm.value("label", arm.value("name", ""));
    std::string lacks;
    if (is_served(arm)) {
      const auto given =
          std::find_if(options.services.begin(), options.services.end(),
                       [&](const GivenService& service) { return service.label == label; });
      if (given == options.services.end())
        lacks = lacking_service(label);
      else
        arm["set"]["file"] = given->file;
    }
    for (const std::string& network :
         {arm.value("model", main), arm.value("adapter", ""), arm.value("draft", "")})
      if (const auto found = missing.find(network); found != missing.end()) lacks = found->second;
    if (lacks.empty()) {
      try {
        Arm made =
            make_arms({}, arms_of_experiment(Json::array({arm}), models, "a scale"), {}, 1).front();
        if (made.algorithm->elsewhere())
          if (const auto file = made.algorithm->options().value("file", "");
              !file.empty() && !fs::exists(file))
            lacks = str("for arm ", label, ": the description of a service, ", file);
        ModelOptions networks;
        networks.model = made.model.empty() ? models.value(main, main) : made.model;
        networks.adapter = made.adapter;
        take_trained_options(made, read_training_record(texts_folder(networks)).settings);
        const auto face = read_face(networks);
        const Needs needs = needs_of(*made.algorithm, face ? &*face : nullptr, made.draft_model);
        if (needs.lacking) lacks = str("for arm ", label, ": ", needs.text);
      } catch (const Error& error) {  // the folder exists but contains no network
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

bool is_served(const Json& arm) { return find_decoder(arm.value("name", "")).elsewhere; }

std::string lacking_service(const std::string& label) {
  return str("a service that answers arm ", label, " (`service` ", label, "=FILE)");
}

std::optional<fs::path> folder_at(const std::string& named) {
  std::error_code ignored;
  if (fs::exists(named, ignored)) return fs::path(named);
  try {
    return project_file(named);
  } catch (const ConfigError&) {
    return std::nullopt;
  }
}

std::optional<fs::path> network_at(const std::string& named) {
  const auto folder = folder_at(named);
  if (!folder) return std::nullopt;
  const auto training = training_progress(*folder);
  return training && !training->finished ? std::nullopt : folder;
}

Runnable runnable_of(const Json& scale, const ReproduceOptions& options) {
  Runnable runnable;
  runnable.experiment = scale;
  for (const char* key : kScaleKeys) runnable.experiment.erase(key);
  std::map<std::string, std::string> missing;
  const Json models = networks_of_scale(scale, options, missing);
  runnable.experiment["models"] = models;
  choose_datasets(scale, options, runnable);
  leave_none_away(runnable.experiment);
  choose_arms(missing, options, runnable);
  const std::string main = scale.value("model", "main");
  runnable.experiment["model"] = models.contains(main) ? main : "";
  if (options.limit) runnable.experiment["limit"] = *options.limit;
  if (!options.dtype.empty()) runnable.experiment["dtype"] = options.dtype;
  if (!options.device.empty()) runnable.experiment["device"] = options.device;
  const auto& arms = runnable.experiment["decoders"];
  const std::string baseline = scale.value("baseline", "");
  if (std::none_of(arms.begin(), arms.end(), [&](const Json& arm) {
        return arm.value("label", arm.value("name", "")) == baseline;
      })) {
    runnable.experiment.erase("baseline");
    if (const auto lacks = runnable.lacking.arms.find(baseline);
        lacks != runnable.lacking.arms.end())
      runnable.lacking.baseline = lacks->second;
  }
  // A single arm cannot be compared with a paper's several arms.
  const size_t wanted = std::min<size_t>(2, scale.value("decoders", Json::array()).size());
  runnable.any = arms.size() >= wanted && !arms.empty() && !runnable.experiment["datasets"].empty();
  return runnable;
}

bool could_be_tested(const PaperItem& item, const std::string& scale, const Lacking& lacking) {
  const auto can_run = [&](const ClaimTest& test) {
    const auto there =
        std::count_if(test.points.begin(), test.points.end(), [&](const Point& point) {
          return !lacking.arms.contains(point.arm) && !lacking.arms.contains(point.over);
        });
    return there >=
           (test.kind >= ClaimTest::Kind::order && test.kind <= ClaimTest::Kind::optimum ? 2 : 1);
  };
  bool any = false;
  for (const Claim& claim : item.claims) {
    if (!claim.tested_at(scale)) continue;
    any = true;
    if (std::any_of(claim.tests.begin(), claim.tests.end(), can_run)) return true;
  }
  return !any;
}

RunSpec spec_of(const Runnable& runnable, const std::string& name, const fs::path& where,
                const ReproduceOptions& options) {
  RunSettings settings = read_run_settings(runnable.experiment, where.string());
  settings.spec.name = name;
  settings.spec.db = options.db;
  settings.spec.data_root = runnable.data_root;
  settings.spec.model.threads = options.threads;
  settings.add_baselines = false;  // a paper's item has its own arms
  RunSpec spec = make_run_spec(settings);
  spec.progress = options.progress;
  spec.argv = options.argv;
  spec.given["scale"] = runnable.experiment;
  spec.given["scale"]["data_root"] = runnable.data_root;
  spec.given["scale"]["threads"] = options.threads;
  return spec;
}

}  // namespace pardec
