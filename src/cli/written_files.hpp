#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "src/cli/command_line.hpp"
#include "src/support/json.hpp"
#include "src/support/read_files.hpp"

// Prevents verbs from overwriting their input.
namespace pardec {

/// The files and checkpoint folders that the flags and arguments of a command line refer to, except
/// those for output. Includes paths within a value (`model=DIR`, `@FILE`). Folders of datasets are
/// left out, since their files are only known after reading. `config`: the object of -c, for flags
/// that the command line does not give.
ReadFiles files_read(const CLI::App& app, const Written& written, const Json& config = {});

/// ConfigError: an output is also an input, or is written by two flags. `config`: the object of -c,
/// whose texts may name further networks.
void check_written(const CLI::App& app, const Written& written, const Json& config = {});

}  // namespace pardec
