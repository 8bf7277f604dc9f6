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

/// Trains the networks that claims need, from recipes.
namespace pardec {

/// A missing network, and its recipe.
struct WantedNetwork {
  Recipe recipe;
  std::vector<std::string> claims;  ///< "aspd-table1 D1q"
  /// progress of an earlier training that was stopped; none: not started
  std::optional<TrainingProgress> begun;
  /// it is trained, but the checkpoint that it belongs to is missing
  bool trained = false;
  double minutes = 0;                 ///< remaining training time on one core
  std::vector<std::string> data;      ///< "jsonl train.jsonl, 1,200 examples"
  std::string command;                ///< the training as a command line
  std::string lacks;                  ///< why it cannot be trained; empty: it can
  std::vector<std::string> commands;  ///< the commands that make what is missing
};

/// The networks that the claims of these items need at the options' scale, if they have a recipe
/// and are missing or only partly trained. Each network is listed once: first those whose training
/// has begun, then those with the most claims per minute of training. Reads the training data of
/// each. ConfigError: an invalid recipe.
std::vector<WantedNetwork> wanted_networks(const std::vector<const PaperItem*>& items,
                                           const ReproduceOptions& options);

/// Total remaining training time, in minutes on one core, of the networks that can be trained.
double minutes_of(const std::vector<WantedNetwork>& wanted);

/// The commands that make what is missing, with the recipes that need them. Each command is listed
/// once, in an order in which they can be run.
std::vector<std::pair<std::string, std::vector<std::string>>> commands_of(
    const std::vector<WantedNetwork>& wanted);

/// The outcome for all networks.
struct TrainedNetworks {
  int finished = 0;
  int stopped = 0;  ///< stopped or not begun for lack of time; the same call continues them
  int refused = 0;  ///< something is missing, or the training failed
  double seconds = 0;
};

/// Trains the networks one after another, each in its own folder, and continues trainings that were
/// stopped. `seconds`: time limit for all networks together; none: no limit. Notes report what is
/// trained, what is refused, and why.
TrainedNetworks train_networks(const std::vector<WantedNetwork>& wanted,
                               std::optional<double> seconds, const ReproduceOptions& options);

}  // namespace pardec
