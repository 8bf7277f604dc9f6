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
  /// Set by complete(). True: the command line, the environment and the experiment file name no
  /// database. The verb then also creates the folder of the default database.
  bool default_db = false;
  RunSpec spec;  ///< set by complete()
};

/// Declares the flags. Parsing the command line writes to `flags`, which must still exist then.
void add_flags(CLI::App& app, RunFlags& flags);

/// To be called after the command line was parsed. Takes from the experiment file the settings that
/// neither the command line nor an environment variable sets. Then sets flags.spec and
/// flags.default_db. ConfigError, which names the key or flag: a setting is invalid, or the run
/// would overwrite one of its inputs. DataError: the experiment file cannot be read or is not JSON.
/// Other errors: see make_run_spec. REQUIRES: `app` is the app that run_command_line passed to
/// Verb::add.
void complete(const CLI::App& app, RunFlags& flags);

}  // namespace pardec
