#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "src/settings/training_settings.hpp"
#include "src/support/json.hpp"

/// Recipes: files that describe how to train the networks that claims need.
namespace pardec {

/// The content of a recipe file (experiments/smollm2/recipe.schema.json). Relative paths are found
/// as by folder_at (scale_inputs.hpp).
struct Recipe {
  /// Folders of a checkpoint and of an adapter that is merged into it.
  struct Merge {
    std::string model, adapter;
  };

  std::filesystem::path file;
  std::string name;            ///< name of the network and of its folder
  std::string makes;           ///< a description of the trained network, for readers
  std::string model;           ///< folder of the checkpoint from which training starts
  std::optional<Merge> merge;  ///< if set, `model` is the result of this merge
  /// the commands that create `model` or, if `merge` is set, the two folders of `merge`
  std::vector<std::string> before;
  std::vector<std::string> datasets;  ///< names of the datasets to train on
  /// folder of the data; the text "DATA" means the folder of the publishers' files
  /// (TrainingChoice::data_root)
  std::string root;
  std::vector<std::string> made_by;  ///< commands that create the data
  /// further flags of `train`: a JSON object that maps names (without --) to values; true: a flag
  /// without a value
  Json flags;
  std::uint64_t seed = 1;
  double minutes = 0;  ///< expected training time on one core
  /// validation loss at the end of an earlier training run with this recipe; none: not known
  std::optional<double> validation_loss;

  /// The folder for the trained weights: for FOLDER/recipes/NAME.json, this is FOLDER/NAME.
  std::filesystem::path out() const { return file.parent_path().parent_path() / name; }
};

/// Reads a recipe file. ConfigError, which names file and key: the file is invalid. DataError: it
/// cannot be read or is not JSON.
Recipe read_recipe(const std::filesystem::path& file);

/// The recipe file for the network in the folder `network`: for FOLDER/NAME, this is
/// FOLDER/recipes/NAME.json. The folder `network` need not exist. None: there is no such recipe.
std::optional<std::filesystem::path> recipe_for(const std::string& network);

/// The settings of a training run that a recipe leaves open.
struct TrainingChoice {
  std::string data_root;  ///< folder of the publishers' files, "DATA" in Recipe::root
  std::string device;     ///< empty: the recipe's device
  double minutes = 0;     ///< time limit (LoopOptions::minutes); 0: no limit
};

/// The settings of a training run with this recipe. If an earlier run was stopped, the new run
/// continues its training. ConfigError: the recipe's flags are invalid.
TrainingSettings settings_of_recipe(const Recipe& recipe, const TrainingChoice& choice);

/// The same training run as a command line, without the flags that continue an earlier run and
/// limit the time.
std::string command_of_recipe(const Recipe& recipe, const TrainingChoice& choice);

}  // namespace pardec
