#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/finetune/finetune.hpp"
#include "src/reproduction/paper_item.hpp"
#include "src/reproduction/recipe.hpp"
#include "src/reproduction/reproduce.hpp"

/// Trains the networks that claims need, with recipes.
namespace pardec {

/// A missing network, and its recipe.
struct WantedNetwork {
  Recipe recipe;
  std::vector<std::string> claims;  ///< claims that need the network, e.g. "aspd-table1 D1q"
  /// progress of a training that was stopped; none: not started
  std::optional<TrainingProgress> begun;
  /// whether it is already trained, and only the checkpoint that it belongs to is missing
  bool trained = false;
  double minutes = 0;                 ///< remaining training time on one core
  std::vector<std::string> data;      ///< training data, e.g. "jsonl train.jsonl, 1,200 examples"
  std::string command;                ///< the training as a command line
  std::string lacks;                  ///< why it cannot be trained; empty: it can
  std::vector<std::string> commands;  ///< the commands that create missing files
};

/// The networks that claims of these items need at the options' scale, that have a recipe, and that
/// are missing or only partly trained, or whose merged checkpoint (Recipe::merge) is missing. Each
/// network is listed once. Networks whose training has begun come first, then those with the most
/// claims per minute of training. The training data of each network are read. ConfigError: a recipe
/// is invalid. DataError: a recipe cannot be read or is not JSON.
std::vector<WantedNetwork> wanted_networks(const std::vector<const PaperItem*>& items,
                                           const ReproduceOptions& options);

/// Total remaining training time, in minutes on one core, of the networks that can be trained.
double minutes_of(const std::vector<WantedNetwork>& wanted);

/// The commands that create missing files, in an order in which they can be run: (command, names of
/// the recipes that need it). Each command is listed once.
std::vector<std::pair<std::string, std::vector<std::string>>> commands_of(
    const std::vector<WantedNetwork>& wanted);

/// The number of networks by outcome.
struct TrainedNetworks {
  /// completely trained, or already trained and completed by the missing checkpoint
  int finished = 0;
  int stopped = 0;     ///< stopped, or not begun for lack of time; the same call continues them
  int refused = 0;     ///< something is missing, or the training failed
  double seconds = 0;  ///< total wall time
};

/// Trains the networks one after another, each in its own folder. A training that was stopped is
/// continued. `seconds`: time limit for all networks together; none: no limit. options.notes gets a
/// message for each network that is trained or refused. The errors of a training are reported in
/// options.notes, not thrown.
TrainedNetworks train_networks(const std::vector<WantedNetwork>& wanted,
                               std::optional<double> seconds, const ReproduceOptions& options);

}  // namespace pardec
