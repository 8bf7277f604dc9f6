#include "src/reproduction/weights.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>

#include "datasets/dataset.hpp"
#include "src/checkpoint/derived_checkpoint.hpp"
#include "src/finetune/training_start.hpp"
#include "src/model/device.hpp"
#include "src/reproduction/scale_inputs.hpp"
#include "src/support/error.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace fs = std::filesystem;

namespace {

/// The labels of arms that a claim compares.
std::set<std::string> arms_of(const Claim& claim) {
  std::set<std::string> labels;
  for (const ClaimTest& test : claim.tests)
    for (const Point& point : test.points) labels.insert({point.arm, point.over});
  return labels;
}

/// The networks (labels) of these arms.
std::set<std::string> networks_of_arms(const Json& scale, const std::set<std::string>& arms) {
  std::set<std::string> labels;
  for (const Json& arm : scale.value("decoders", Json::array()))
    if (arms.contains(arm.value("label", arm.value("name", ""))))
      for (const char* key : {"model", "adapter", "draft"}) labels.insert(arm.value(key, ""));
  return labels;
}

/// The folders of a scale's networks, by label: of the first alternative of which each network is
/// there or has a recipe, otherwise of the last. Without those that the user gives.
std::map<std::string, std::string> folders_of(const Json& scale, const ReproduceOptions& options) {
  const Json networks = scale.value("models", Json::object());
  std::size_t most = 1;
  for (const Json& folders : networks)
    if (folders.is_array()) most = std::max(most, folders.size());
  const auto at = [](const Json& folders, std::size_t i) {
    const Json& one = folders.is_array() ? folders[std::min(i, folders.size() - 1)] : folders;
    return one.is_null() ? std::string() : one.get<std::string>();
  };
  const auto could_be = [&](std::size_t i) {
    return std::all_of(networks.begin(), networks.end(), [&](const Json& folders) {
      const std::string folder = at(folders, i);
      return !folders.is_array() || folder.empty() || network_at(folder) || recipe_for(folder);
    });
  };
  std::size_t chosen = 0;
  while (chosen + 1 < most && !could_be(chosen)) ++chosen;
  std::map<std::string, std::string> found;
  for (const auto& [label, folders] : networks.items())
    if (const std::string folder = at(folders, chosen);
        !folder.empty() &&
        std::none_of(options.models.begin(), options.models.end(),
                     [&label = label](const GivenNetwork& given) { return given.label == label; }))
      found[label] = folder;
  return found;
}

TrainingChoice choice_of(const ReproduceOptions& options, double minutes = 0) {
  return {.data_root = options.data_root, .device = options.device, .minutes = minutes};
}

/// Fills in what lacks, or the data that are there.
void look_at_inputs(WantedNetwork& wanted, const ReproduceOptions& options) {
  const Recipe& recipe = wanted.recipe;
  if (!folder_at(recipe.model)) {
    const auto parts_lack = [&] {
      if (!recipe.merge) return std::string();
      for (const std::string& part : {recipe.merge->model, recipe.merge->adapter})
        if (!folder_at(part)) return part;
      return std::string();
    }();
    if (!recipe.merge || !parts_lack.empty()) {
      wanted.lacks = str("there is no ", recipe.merge ? parts_lack : recipe.model,
                         ", with which its training begins");
      wanted.commands = recipe.before;
      return;
    }
  }
  if (wanted.trained) return;
  const TrainingChoice choice = choice_of(options);
  if (recipe.root == "DATA" && choice.data_root.empty()) {
    wanted.lacks = str("`data_root` is not given, expected a folder with the publishers' files of ",
                       join(recipe.datasets, " and "));
    wanted.commands = {str("pardec data fetch ", join(recipe.datasets, " "), " `data_root=DATA`")};
    return;
  }
  try {
    TrainingSettings settings = settings_of_recipe(recipe, choice);
    const TrainingData data = read_data(settings.spec);
    for (const auto& file : data.files)
      wanted.data.push_back(str(file["dataset"].get<std::string>(), " ",
                                file["file"].get<std::string>(), ", ",
                                counted(file["examples"].get<std::int64_t>(), "example")));
  } catch (const Error& error) {
    wanted.lacks = error.what();
    wanted.commands = recipe.made_by;
  }
}

/// The minutes of one core that remain.
double minutes_left(const Recipe& recipe, const std::optional<TrainingProgress>& begun) {
  if (!begun || begun->steps == 0 || begun->planned == 0) return recipe.minutes;
  const double left = static_cast<double>(begun->planned - begun->steps);
  return begun->seconds / 60 * left / static_cast<double>(begun->steps);
}

/// Makes the checkpoint that training begins with, if it is a merge and not there.
void make_checkpoint(const Recipe& recipe, const Notes& notes) {
  if (!recipe.merge || folder_at(recipe.model)) return;
  const fs::path part = recipe.model + ".part";
  fs::remove_all(part);  // of a program that was killed
  fs::create_directories(part.parent_path());
  merge_checkpoint(*folder_at(recipe.merge->model), *folder_at(recipe.merge->adapter), part);
  fs::rename(part, recipe.model);
  tell(notes, str(recipe.model, ": ", recipe.merge->model, " with ", recipe.merge->adapter,
                  " merged into it"));
}

}  // namespace

std::vector<WantedNetwork> wanted_networks(const std::vector<const PaperItem*>& items,
                                           const ReproduceOptions& options) {
  std::map<std::string, WantedNetwork> found;  // by file of the recipe
  for (const PaperItem* item : items) {
    if (!item->scales.contains(options.scale)) continue;
    const Json scale = item->scale(options.scale);
    const auto folders = folders_of(scale, options);
    const auto want = [&](const fs::path& file, const Claim& claim, bool trained) {
      auto [at, first] = found.try_emplace(file.string());
      WantedNetwork& wanted = at->second;
      if (first) wanted.recipe = read_recipe(file);
      if (first) wanted.trained = trained;
      wanted.trained = wanted.trained && trained;
      const std::string name = str(item->name, " ", claim.id);
      if (std::find(wanted.claims.begin(), wanted.claims.end(), name) == wanted.claims.end())
        wanted.claims.push_back(name);
    };
    for (const Claim& claim : item->claims) {
      if (!claim.tested_at(options.scale)) continue;
      std::set<std::string> arms = arms_of(claim);
      arms.insert(scale.value("baseline", ""));
      for (const std::string& label : networks_of_arms(scale, arms)) {
        const auto folder = folders.find(label);
        if (folder == folders.end()) continue;
        const auto file = recipe_for(folder->second);
        if (!file) continue;
        if (!network_at(folder->second)) {
          want(*file, claim, false);
          continue;
        }
        // Its weights may be there, and the checkpoint that they belong to may not.
        const Recipe recipe = read_recipe(*file);
        if (recipe.merge && !folder_at(recipe.model)) want(*file, claim, true);
      }
    }
  }
  std::vector<WantedNetwork> all;
  for (auto& [file, wanted] : found) {
    if (!wanted.trained) {
      wanted.begun = training_progress(wanted.recipe.out());
      wanted.minutes = minutes_left(wanted.recipe, wanted.begun);
    }
    wanted.command = command_of_recipe(wanted.recipe, choice_of(options));
    look_at_inputs(wanted, options);
    all.push_back(std::move(wanted));
  }
  const auto worth = [](const WantedNetwork& one) {
    return static_cast<double>(one.claims.size()) / std::max(one.minutes, 1e-3);
  };
  std::stable_sort(all.begin(), all.end(), [&](const WantedNetwork& a, const WantedNetwork& b) {
    if (a.begun.has_value() != b.begun.has_value()) return a.begun.has_value();
    return worth(a) > worth(b);
  });
  return all;
}

double minutes_of(const std::vector<WantedNetwork>& wanted) {
  double minutes = 0;
  for (const WantedNetwork& one : wanted)
    if (one.lacks.empty()) minutes += one.minutes;
  return minutes;
}

std::vector<std::pair<std::string, std::vector<std::string>>> commands_of(
    const std::vector<WantedNetwork>& wanted) {
  std::vector<std::pair<std::string, std::vector<std::string>>> all;
  for (const WantedNetwork& one : wanted) {
    auto after = all.begin();  // the place of a command follows those that this recipe calls before
    for (const std::string& command : one.commands) {
      auto found = std::find_if(all.begin(), all.end(),
                                [&](const auto& known) { return known.first == command; });
      if (found == all.end()) found = all.insert(after, {command, std::vector<std::string>()});
      found->second.push_back(one.recipe.name);
      after = std::next(found);
    }
  }
  return all;
}

TrainedNetworks train_networks(const std::vector<WantedNetwork>& wanted,
                               std::optional<double> seconds, const ReproduceOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  const auto used = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  TrainedNetworks result;
  const int threads_before = threads();
  for (const WantedNetwork& one : wanted) {
    const Recipe& recipe = one.recipe;
    if (!one.lacks.empty()) {
      ++result.refused;
      tell(options.notes, str(recipe.name, ": is not trained: ", one.lacks));
      continue;
    }
    const double left = seconds ? *seconds - used() : 0;
    if (seconds && left <= 0) {
      ++result.stopped;
      tell(options.notes, str(recipe.name, ": is not trained: the time is over"));
      continue;
    }
    try {
      make_checkpoint(recipe, options.notes);
      if (one.trained) {
        ++result.finished;
        continue;
      }
      const TrainingChoice choice = choice_of(options, left / 60);
      TrainingSpec spec = make_training_spec(settings_of_recipe(recipe, choice));
      spec.command = command_of_recipe(recipe, choice);
      spec.progress = options.progress;
      tell(options.notes, str(recipe.name, ": ", recipe.makes, "; about ",
                              duration(static_cast<std::int64_t>(one.minutes * 60)), " of one core",
                              one.begun ? str(", from update ", one.begun->steps, " on") : "",
                              "; stopped, it goes on from its last checkpoint"));
      set_threads(1);  // batches are divided among workers
      finetune(spec, options.notes);
      const auto state = training_progress(recipe.out());
      ++(state && state->finished ? result.finished : result.stopped);
      if (state && state->finished && recipe.validation_loss)
        tell(options.notes,
             str(recipe.name, ": the recipe ended at validation loss ", *recipe.validation_loss));
    } catch (const Error& error) {  // the other networks can be trained nevertheless
      ++result.refused;
      tell(options.notes, str(recipe.name, ": is not trained: ", error.what()));
    }
  }
  set_threads(threads_before);
  if (const auto commands = commands_of(wanted); !commands.empty()) {
    tell(options.notes, "these commands make what is missing, in this order:");
    for (const auto& [command, recipes] : commands) tell(options.notes, str("  ", command));
  }
  result.seconds = used();
  return result;
}

}  // namespace pardec
