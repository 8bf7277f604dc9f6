#pragma once
#include <set>
#include <string>

#include "src/settings/setting.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace pardec {

/// Declares the flag of a row of settings: `batch_size` is --batch-size. What the row points to
/// outlives the parsing, and gets what the flag says.
CLI::Option* add_flag(CLI::App& app, const Setting& setting);
void add_flags(CLI::App& app, const Settings& settings);

/// The names of settings that the command line or the environment gave.
std::set<std::string> given_settings(const CLI::App& app);

}  // namespace pardec
