#pragma once
#include <string>

#include "src/settings/run_settings.hpp"

namespace CLI {
class App;
}

namespace pardec {

/// The flags of `pardec run` and, where `settings.sweep` is set, of `pardec sweep`.
struct RunFlags {
  RunSettings settings;
  std::string config;       ///< file of an experiment
  bool default_db = false;  ///< neither flag nor experiment names a database: folders are made
  RunSpec spec;             ///< by complete()
};

void add_flags(CLI::App& app, RunFlags& flags);

/// Fills in what an experiment file says and the command line does not, and makes the whole spec.
/// ConfigError, with the key or flag.
void complete(const CLI::App& app, RunFlags& flags);

}  // namespace pardec
