#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "src/settings/training_settings.hpp"
#include "src/support/json.hpp"

/// Recipes: how to train the weights that claims are tested with.
namespace pardec {

/// A recipe file. Its schema is experiments/smollm2/recipe.schema.json.
struct Recipe {
  /// A checkpoint, and an adapter for it.
  struct Merge {
    std::string model, adapter;
  };

  std::filesystem::path file;
  std::string name, makes;
  std::string model;                ///< folder of the checkpoint that training begins with
  std::optional<Merge> merge;       ///< if set, `model` is made by merging these
  std::vector<std::string> before;  ///< otherwise: the commands that make `model`
  std::vector<std::string> datasets;
  /// folder of the data; `DATA` stands for the folder of the publishers' files
  std::string root;
  std::vector<std::string> made_by;  ///< commands that make the data
  Json flags;                        ///< of `train`
  std::uint64_t seed = 1;
  double minutes = 0;  ///< expected training time on one core
  /// loss at the end of a previous training; none: not trained yet
  std::optional<double> validation_loss;

  /// The folder for the trained weights: NAME, next to the folder of the recipe.
  std::filesystem::path out() const { return file.parent_path().parent_path() / name; }
};

/// ConfigError, with file and key.
Recipe read_recipe(const std::filesystem::path& file);

/// The recipe file for the network in a folder: FOLDER/../recipes/NAME.json. The network's folder
/// need not exist. None: there is no such recipe.
std::optional<std::filesystem::path> recipe_for(const std::string& network);

/// Settings of a training that are not in its recipe.
struct TrainingChoice {
  std::string data_root;  ///< stands for `DATA`
  std::string device;     ///< empty: that of the recipe
  double minutes = 0;     ///< as LoopOptions::minutes
};

/// The settings of the training. It continues from where an earlier training stopped. ConfigError.
TrainingSettings settings_of_recipe(const Recipe& recipe, const TrainingChoice& choice);

/// The same as a command line.
std::string command_of_recipe(const Recipe& recipe, const TrainingChoice& choice);

}  // namespace pardec
