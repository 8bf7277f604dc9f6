#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "src/reproduction/evidence.hpp"
#include "src/reproduction/reproduce.hpp"
#include "src/runs/run_spec.hpp"
#include "src/support/json.hpp"

namespace pardec {

/// The part of a scale that can be run here, as an experiment file for `run -c`, and what is
/// missing for the other part.
struct Runnable {
  Json experiment;
  Lacking lacking;
  std::string data_root;  ///< folder of the datasets; empty: the project's samples
  /// whether there is a dataset, and at least two arms (or the only arm of the scale)
  bool any = false;
};

/// Finds the networks, control tokens and datasets of a scale. Generates stand-ins, in a folder
/// next to options.db, if the scale requests them. ConfigError: a network in options.models does
/// not exist. Other errors: see make_standins.
Runnable runnable_of(const Json& scale, const ReproduceOptions& options);

/// Whether a run is useful: the available arms are enough to test at least one claim at this scale,
/// or the item has no claims at this scale.
bool could_be_tested(const PaperItem& item, const std::string& scale, const Lacking& lacking);

/// Whether a service answers this arm of a scale. ConfigError: the arm has no known decoder.
bool is_served(const Json& arm);
/// A text that a service for the arm with this label is missing, for Lacking::arms.
std::string lacking_service(const std::string& label);

/// The settings of the run. `name`: the name of the experiment. `where`: the file of the scale, for
/// errors. ConfigError: the experiment is invalid.
RunSpec spec_of(const Runnable& runnable, const std::string& name,
                const std::filesystem::path& where, const ReproduceOptions& options);

/// The folder or file at path `named`, relative to the current folder or else to the project. None:
/// it does not exist.
std::optional<std::filesystem::path> folder_at(const std::string& named);

/// The folder of a network, found as by folder_at. None: the folder does not exist, or contains an
/// unfinished training.
std::optional<std::filesystem::path> network_at(const std::string& named);

/// The numeric settings of a training record (the content of training.json) by name. Items of a
/// list are NAME.1, NAME.2, ...; those of an object are NAME.KEY, e.g. medusa.heads. Settings that
/// were not set are left out. The number of updates (`steps`) is the actual one.
std::map<std::string, double> settings_of_training(const Json& record);

/// Sets the evidence and the differences of `result` for a scale without runs, from counts: `stats`
/// and `attention` of datasets, and the settings of a `training`.
void reproduce_counts(Reproduction& result, const Json& scale, const ReproduceOptions& options);

/// Sets the evidence and the differences of `result` for a scale with the key `bound`: bounds by
/// the roofline, from traced passes of some examples. The number of examples depends on the time in
/// options.effort. Passes in `bounds` are reused, and new ones are added to it.
void reproduce_bound(Reproduction& result, const ReproduceOptions& options, MadeBounds& bounds);

}  // namespace pardec
