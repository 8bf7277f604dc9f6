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

/// A network that is missing or not completely trained, and its recipe.
struct WantedNetwork {
  Recipe recipe;
  std::vector<std::string> claims;  ///< claims that need the network, e.g. "aspd-table1 D1q"
  /// progress of a training run that was stopped; none: training has not begun
  std::optional<TrainingProgress> begun;
  /// true: the network is already trained, and only the checkpoint to which its weights belong is
  /// missing (Recipe::model, the result of Recipe::merge)
  bool trained = false;
  double minutes = 0;             ///< remaining training time on one core, an estimate
  std::vector<std::string> data;  ///< training data, e.g. "jsonl train.jsonl, 1,200 examples"
  std::string command;            ///< the training run as a command line
  std::string lacks;              ///< what is missing before the training can start; empty: nothing
  /// the commands that create what is missing, in the order in which they must be run
  std::vector<std::string> commands;
};

/// The networks that claims of these items need at the scale in `options`, and that have a recipe.
/// A network is listed (only once) if it is missing or not completely trained, or if its merged
/// checkpoint (Recipe::merge) is missing. Networks whose training has begun come before the other
/// networks. Within both groups, networks that serve more claims per minute of training come first.
/// The training data of each network are read. ConfigError: a recipe is invalid. DataError: a
/// recipe cannot be read or is not JSON. Other errors: see PaperItem::scale.
std::vector<WantedNetwork> wanted_networks(const std::vector<const PaperItem*>& items,
                                           const ReproduceOptions& options);

/// The total remaining training time, in minutes on one core, of the networks for which nothing is
/// missing (WantedNetwork::lacks).
double minutes_of(const std::vector<WantedNetwork>& wanted);

/// The commands that create what is missing, in an order in which they can be run. Each pair is
/// (command, names of the recipes that need the command). Each command is listed once.
std::vector<std::pair<std::string, std::vector<std::string>>> commands_of(
    const std::vector<WantedNetwork>& wanted);

/// The number of networks with each outcome.
struct TrainedNetworks {
  /// completely trained now, or already trained (WantedNetwork::trained), so that only the missing
  /// checkpoint was made
  int finished = 0;
  int stopped = 0;     ///< not finished, or not begun for lack of time; a further call continues
  int refused = 0;     ///< something is missing, or the training failed
  double seconds = 0;  ///< total wall time
};

/// Trains the networks one after another, each in its own folder (Recipe::out). A training run that
/// was stopped is continued. `seconds`: time limit for all networks together; none: no limit.
/// options.notes receives a message for each network that is trained or refused, and the commands
/// that create what is missing. An Error of a training run is reported in options.notes, not
/// thrown.
TrainedNetworks train_networks(const std::vector<WantedNetwork>& wanted,
                               std::optional<double> seconds, const ReproduceOptions& options);

}  // namespace pardec
