#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "src/reproduction/evidence.hpp"
#include "src/reproduction/reproduce.hpp"
#include "src/runs/run_spec.hpp"
#include "src/support/json.hpp"

namespace pardec {

/// The part of a scale that can be run here, as an experiment in the form of `run -c`, and what is
/// missing for the rest.
struct Runnable {
  Json experiment;
  Lacking lacking;
  std::string data_root;
  bool any = false;
};

/// Looks for the networks, control tokens and datasets of a scale. Makes stand-ins if the scale
/// requests them. ConfigError: a given network does not exist.
Runnable runnable_of(const Json& scale, const ReproduceOptions& options);

/// Whether the arms that are there are enough to test one of the item's claims at this scale, or
/// nothing is claimed. Otherwise a run decides nothing.
bool could_be_tested(const PaperItem& item, const std::string& scale, const Lacking& lacking);

/// Whether a service answers this arm of a scale, and what is missing if none is given for its
/// label.
bool is_served(const Json& arm);
std::string lacking_service(const std::string& label);

/// As a run with this name. `where`: the file of the scale. ConfigError.
RunSpec spec_of(const Runnable& runnable, const std::string& name,
                const std::filesystem::path& where, const ReproduceOptions& options);

/// The folder or file at this path, otherwise within the project; none: it is in neither place.
std::optional<std::filesystem::path> folder_at(const std::string& named);

/// As folder_at(). None also if a training into this folder was stopped before its end.
std::optional<std::filesystem::path> network_at(const std::string& named);

/// The numeric settings of a training by name, from its record: items of a list are NAME.1, NAME.2
/// ..., those of an object NAME.KEY, e.g. medusa.heads. Settings that were not set are left out.
/// The number of updates is the actual one.
std::map<std::string, double> settings_of_training(const Json& record);

/// Computes the evidence of a scale that counts: `stats` and `attention` of datasets, and the
/// settings of a `training`.
void reproduce_counts(Reproduction& result, const Json& scale, const ReproduceOptions& options);

/// Computes the evidence of scale `bound`: bounds by the roofline for the passes of a few examples,
/// as many as the effort leaves time for. Passes in `bounds` are reused.
void reproduce_bound(Reproduction& result, const ReproduceOptions& options, MadeBounds& bounds);

}  // namespace pardec
