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
  std::string config;  ///< path of the experiment file (-c)
  /// True: neither a flag nor the experiment file names a database, so the folder of the default
  /// database is created.
  bool default_db = false;
  RunSpec spec;  ///< set by complete()
};

void add_flags(CLI::App& app, RunFlags& flags);

/// Adds settings from the experiment file that the command line does not set, and sets flags.spec.
/// ConfigError, which names the key or flag: a setting is invalid, or the run would overwrite
/// one of its inputs. DataError: the experiment file cannot be read or is not JSON.
void complete(const CLI::App& app, RunFlags& flags);

}  // namespace pardec
