#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "src/reproduction/evidence.hpp"
#include "src/reproduction/reproduce.hpp"
#include "src/runs/run_spec.hpp"
#include "src/support/json.hpp"

namespace pardec {

/// What of a scale can be run here: an experiment as `run -c` reads one, and what lacks for the
/// rest of it.
struct Runnable {
  Json experiment;
  Lacking lacking;
  std::string data_root;
  bool any = false;
};

/// Looks for the networks, control tokens and datasets of a scale; stand-ins are made where it
/// wants some. ConfigError for a given network that is not there.
Runnable runnable_of(const Json& scale, const ReproduceOptions& options);

/// As a run of this name; `where` the file of the scale is. ConfigError.
RunSpec spec_of(const Runnable& runnable, const std::string& name,
                const std::filesystem::path& where, const ReproduceOptions& options);

/// A folder or file as it is named, else among the project's; none: it is in neither.
std::optional<std::filesystem::path> folder_at(const std::string& named);

/// Makes the evidence of a scale that counts: `stats` and `attention` of datasets, and the settings
/// of a `training`.
void reproduce_counts(Reproduction& result, const Json& scale, const ReproduceOptions& options);

/// Makes the evidence of scale `bound`: what hardware allows the passes of a few examples, of those
/// that the effort leaves time for. Passes that `bounds` has are not made again.
void reproduce_bound(Reproduction& result, const ReproduceOptions& options, MadeBounds& bounds);

}  // namespace pardec
