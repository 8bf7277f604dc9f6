#include "src/reproduction/recipe.hpp"

#include <algorithm>

#include "src/reproduction/scale_inputs.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace fs = std::filesystem;

namespace {

constexpr const char* kPublishersFiles = "DATA";

std::string data_root_of(const Recipe& recipe, const TrainingChoice& choice) {
  return recipe.root == kPublishersFiles ? choice.data_root : recipe.root;
}

/// The recipe's own flags, and those that follow from it, by their names.
OrderedJson all_flags(const Recipe& recipe, const TrainingChoice& choice) {
  OrderedJson flags = {{"model", recipe.model}, {"dataset", join(recipe.datasets, ",")}};
  if (const std::string root = data_root_of(recipe, choice); !root.empty())
    flags["data-root"] = root;
  for (const auto& [flag, value] : recipe.flags.items()) flags[flag] = value;
  if (!choice.device.empty()) flags["device"] = choice.device;
  flags["seed"] = recipe.seed;
  flags["out"] = recipe.out().string();
  return flags;
}

}  // namespace

Recipe read_recipe(const fs::path& file) {
  const Json json = read_json(file);
  JsonReader read(json, file.string());
  Recipe recipe{.file = file};
  recipe.name = read.required<std::string>("name");
  recipe.makes = read.required<std::string>("makes");
  read.required<std::string>("source");
  recipe.model = read.required<std::string>("model");
  recipe.before = read.optional<std::vector<std::string>>("before", {});
  if (read.has("merge")) {
    const Json merge = read.any("merge");
    JsonReader of_merge(merge, read.where("merge"));
    recipe.merge = Recipe::Merge{of_merge.required<std::string>("model"),
                                 of_merge.required<std::string>("adapter")};
    of_merge.finish();
  }
  const Json data = read.any("data");
  JsonReader of_data(data, read.where("data"));
  recipe.datasets = of_data.required<std::vector<std::string>>("datasets");
  recipe.root = of_data.required<std::string>("root");
  recipe.made_by = of_data.required<std::vector<std::string>>("made_by");
  of_data.finish();
  recipe.flags = read.any("flags");
  recipe.seed = read.required<std::uint64_t>("seed");
  recipe.minutes = read.required<double>("minutes");
  recipe.validation_loss = read.maybe<double>("validation_loss");
  read.finish();
  return recipe;
}

std::optional<fs::path> recipe_for(const std::string& network) {
  const fs::path folder = fs::path(network).lexically_normal();
  const std::string name = (folder.has_filename() ? folder : folder.parent_path()).filename();
  return folder_at((folder.parent_path() / "recipes" / (name + ".json")).string());
}

TrainingSettings settings_of_recipe(const Recipe& recipe, const TrainingChoice& choice) {
  Json settings = all_flags(recipe, choice);
  if (const auto model = folder_at(recipe.model)) settings["model"] = model->string();
  settings["resume"] = true;
  settings["minutes"] = choice.minutes;
  return read_training_settings(settings, recipe.file.string());
}

std::string command_of_recipe(const Recipe& recipe, const TrainingChoice& choice) {
  std::string command = "pardec train";
  const OrderedJson flags = all_flags(recipe, choice);
  for (const auto& [flag, value] : flags.items()) {
    if (value == false) continue;
    command += " --" + flag;
    if (value != true)
      command += " " + (value.is_string() ? value.get<std::string>() : dump(value));
  }
  return command;
}

}  // namespace pardec
