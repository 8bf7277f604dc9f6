#pragma once
#include <set>
#include <string>

#include "src/settings/setting.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace pardec {

/// Declares the flag of a row of settings: `batch_size` becomes --batch-size. Parsing writes the
/// value to the variable that the row points to, which must live until then.
CLI::Option* add_flag(CLI::App& app, const Setting& setting);
void add_flags(CLI::App& app, const Settings& settings);

/// The names of settings given on the command line or in the environment.
std::set<std::string> given_settings(const CLI::App& app);

}  // namespace pardec
