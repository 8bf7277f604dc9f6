#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "src/settings/training_settings.hpp"
#include "src/support/json.hpp"

/// Recipes: how weights that claims need are trained.
namespace pardec {

/// A file of the form of experiments/smollm2/recipe.schema.json.
struct Recipe {
  /// A checkpoint, and an adapter of it.
  struct Merge {
    std::string model, adapter;
  };

  std::filesystem::path file;
  std::string name, makes;
  std::string model;                ///< folder of the checkpoint that training begins with
  std::optional<Merge> merge;       ///< it is made of these
  std::vector<std::string> before;  ///< otherwise: commands that make it
  std::vector<std::string> datasets;
  std::string root;                  ///< folder of the data; `DATA`: that of the publishers' files
  std::vector<std::string> made_by;  ///< commands that make the data
  Json flags;                        ///< of `train`
  std::uint64_t seed = 1;
  double minutes = 0;                     ///< of one core, for the training
  std::optional<double> validation_loss;  ///< what it ended at; none: nobody has trained it yet

  /// The folder of the trained weights: NAME beside the folder of the recipe.
  std::filesystem::path out() const { return file.parent_path().parent_path() / name; }
};

/// ConfigError, with file and key.
Recipe read_recipe(const std::filesystem::path& file);

/// The file of the recipe for the network in a folder that need not exist:
/// FOLDER/../recipes/NAME.json. None: there is no recipe for it.
std::optional<std::filesystem::path> recipe_for(const std::string& network);

/// What a training is told beyond its recipe.
struct TrainingChoice {
  std::string data_root;  ///< stands for `DATA`
  std::string device;     ///< empty: that of the recipe
  double minutes = 0;     ///< as LoopOptions::minutes
};

/// The settings of the training, which goes on where an earlier one stopped. ConfigError.
TrainingSettings settings_of_recipe(const Recipe& recipe, const TrainingChoice& choice);

/// The same as a command line.
std::string command_of_recipe(const Recipe& recipe, const TrainingChoice& choice);

}  // namespace pardec
