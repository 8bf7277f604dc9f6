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

/// Weights that claims need and that recipes make.
namespace pardec {

/// A network that lacks, and its recipe.
struct WantedNetwork {
  Recipe recipe;
  std::vector<std::string> claims;        ///< "aspd-table1 D1q"
  std::optional<TrainingProgress> begun;  ///< an earlier training that was stopped
  bool trained = false;                   ///< only the checkpoint that it belongs to lacks
  double minutes = 0;                     ///< of one core, that its training still takes
  std::vector<std::string> data;          ///< "jsonl train.jsonl, 1,200 examples"
  std::string command;                    ///< the training as a command line
  std::string lacks;                      ///< why it cannot be trained; empty: it can
  std::vector<std::string> commands;      ///< that make what lacks
};

/// The networks that the claims of these items need at the options' scale, that are not there, or
/// whose training was stopped, and that have a recipe. Each once; those first whose training has
/// begun, then those of the most claims a minute. Reads the data of each. ConfigError: a recipe is
/// not of its form.
std::vector<WantedNetwork> wanted_networks(const std::vector<const PaperItem*>& items,
                                           const ReproduceOptions& options);

/// The minutes of all that can be trained.
double minutes_of(const std::vector<WantedNetwork>& wanted);

/// The commands that make what lacks, each once, in an order in which they can be called, and the
/// recipes that need it.
std::vector<std::pair<std::string, std::vector<std::string>>> commands_of(
    const std::vector<WantedNetwork>& wanted);

/// What became of the networks.
struct TrainedNetworks {
  int finished = 0;
  int stopped = 0;  ///< or not begun, for lack of time; the same call goes on
  int refused = 0;  ///< something lacks, or the training failed
  double seconds = 0;
};

/// Trains them one after the other, in their own folders, each from where it was stopped.
/// `seconds`: limit of time for all; none: no limit. Notes say what is trained, what is refused,
/// and why.
TrainedNetworks train_networks(const std::vector<WantedNetwork>& wanted,
                               std::optional<double> seconds, const ReproduceOptions& options);

}  // namespace pardec
