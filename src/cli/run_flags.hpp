#pragma once
#include <string>

#include "src/settings/run_settings.hpp"

namespace CLI {
class App;
}

namespace pardec {

/// The flags of `pardec run` or, if `settings.sweep` is set, of `pardec sweep`.
struct RunFlags {
  RunSettings settings;
  std::string config;  ///< the file of an experiment
  /// neither a flag nor the experiment names a database, so missing folders are created
  bool default_db = false;
  RunSpec spec;  ///< set by complete()
};

void add_flags(CLI::App& app, RunFlags& flags);

/// Adds the settings from an experiment file that the command line does not set, and makes the
/// complete spec. ConfigError, with the key or flag.
void complete(const CLI::App& app, RunFlags& flags);

}  // namespace pardec
