#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "src/reproduction/evidence.hpp"
#include "src/reproduction/reproduce.hpp"
#include "src/runs/run_spec.hpp"
#include "src/support/json.hpp"

/// What a scale of an item needs: networks, datasets and settings.
namespace pardec {

/// The part of a scale that can be run here, and what is missing for the other part.
struct Runnable {
  Json experiment;  ///< as in an experiment file for `run -c`
  Lacking lacking;
  std::string data_root;  ///< folder of the datasets; empty: the project's samples
  /// whether there is something to run: at least one dataset, and at least two arms or the scale's
  /// only arm
  bool any = false;
};

/// Finds the networks, control tokens and datasets of a scale. Generates missing stand-ins, in a
/// folder next to options.db, if the scale requests them. `scale`: see PaperItem::scale.
/// ConfigError: a network in options.models does not exist, or a dataset is unknown. Other errors:
/// see make_standins.
Runnable runnable_of(const Json& scale, const ReproduceOptions& options);

/// Whether a run is useful: the arms that are not in `lacking` are enough to test at least one
/// claim at this scale, or the item has no claims at this scale.
bool could_be_tested(const PaperItem& item, const std::string& scale, const Lacking& lacking);

/// Whether a service answers this arm of a scale. ConfigError: the arm has no known decoder.
bool is_served(const Json& arm);
/// The text for Lacking::arms if there is no service for the arm with this label.
std::string lacking_service(const std::string& label);

/// The settings of the run. `name`: the name of the experiment (work_of). `where`: the file of the
/// scale, for errors. ConfigError: the experiment is invalid.
RunSpec spec_of(const Runnable& runnable, const std::string& name,
                const std::filesystem::path& where, const ReproduceOptions& options);

/// Looks for the folder or file `named`, first relative to the current folder, then relative to the
/// project's folder. None: there is no such folder or file.
std::optional<std::filesystem::path> folder_at(const std::string& named);

/// The folder of a network, found as by folder_at. None: the folder does not exist, or its network
/// is not completely trained.
std::optional<std::filesystem::path> network_at(const std::string& named);

/// The numeric settings of a training record (the content of training.json): name -> value. Items
/// of a list are named NAME.1, NAME.2, ...; values of an object are named NAME.KEY, e.g.
/// medusa.heads. Settings that were not set are left out. `steps` is the number of updates that
/// were made, if the record has it.
std::map<std::string, double> settings_of_training(const Json& record);

/// Sets the evidence and the differences of `result` for a scale without runs: counts in datasets
/// (key `stats`), the cost of attention for the lengths in datasets (key `attention`), or the
/// settings of a training run (key `training`). Errors: see load_splits, protocol_of, stats_of and
/// attention_of.
void reproduce_counts(Reproduction& result, const Json& scale, const ReproduceOptions& options);

/// Sets the evidence and the differences of `result` for a scale with the key `bound`: bounds by
/// the roofline, from traced passes of some examples. The number of examples depends on the time in
/// options.effort. Traces in `bounds` are reused, and new traces are added to it. Errors: see
/// runnable_of, spec_of, execute(), size_of_network and read_hardware.
void reproduce_bound(Reproduction& result, const ReproduceOptions& options, MadeBounds& bounds);

}  // namespace pardec
