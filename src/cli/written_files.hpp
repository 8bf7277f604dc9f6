#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "src/cli/command_line.hpp"
#include "src/support/json.hpp"
#include "src/support/read_files.hpp"

// Prevents verbs from overwriting their input.
namespace pardec {

/// The files and checkpoint folders that a command reads, according to its flags and arguments.
/// Paths inside a value are included (`model=DIR`, `@FILE`). --data-root is left out, because the
/// files of datasets are known only after the datasets are read. `written`: the flags for output,
/// which are left out too. `config`: the content of the `-c` file, for flags that are not on the
/// command line.
ReadFiles files_read(const CLI::App& app, const Written& written, const Json& config = {});

/// Checks the outputs of a command before the command does any work. ConfigError: the folder of an
/// output file is missing, a file is both input and output, an output folder is an input
/// (ReadFiles::check_folder), or two flags name the same output file. `config`: the content of the
/// `-c` file, which may name more inputs and outputs.
void check_written(const CLI::App& app, const Written& written, const Json& config = {});

}  // namespace pardec
