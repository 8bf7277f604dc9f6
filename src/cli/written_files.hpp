#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "src/cli/command_line.hpp"
#include "src/support/json.hpp"
#include "src/support/read_files.hpp"

// No verb writes over what it reads.
namespace pardec {

/// What the flags and arguments of a command line lead to, but for those that name files to be
/// written: files and checkpoint folders, also those named within a value (`model=DIR`, `@FILE`).
/// A folder of datasets is left out: what is read of it is known when it was read. `config`: the
/// object of -c, for the flags that the command line does not give.
ReadFiles files_read(const CLI::App& app, const Written& written, const Json& config = {});

/// ConfigError where what is to be written is read, or written by two flags. `config`: of -c, whose
/// texts may name further networks.
void check_written(const CLI::App& app, const Written& written, const Json& config = {});

}  // namespace pardec
