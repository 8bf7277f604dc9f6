#pragma once
#include <set>
#include <string>

#include "src/settings/setting.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace pardec {

/// Declares the flag for one setting: `batch_size` becomes --batch-size. Parsing the command line
/// writes the value to the variable that `setting` points to. The variable must still exist then.
CLI::Option* add_flag(CLI::App& app, const Setting& setting);
/// Calls add_flag for each setting.
void add_flags(CLI::App& app, const Settings& settings);

/// The names (with underscores and without dashes, e.g. `batch_size`) of the settings that the
/// command line or an environment variable sets. REQUIRES: the command line was parsed.
std::set<std::string> given_settings(const CLI::App& app);

}  // namespace pardec
