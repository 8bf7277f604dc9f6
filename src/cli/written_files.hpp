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
/// Paths inside a value are included (DIR in `model=DIR`, FILE in `@FILE`). --data-root is left
/// out, because the files of datasets are known only after the datasets are read. `written`: the
/// flags for outputs, which are left out too. `config`: the content of the `-c` file, which has the
/// values of flags that are not on the command line. REQUIRES: the command line was parsed.
ReadFiles files_read(const CLI::App& app, const Written& written, const Json& config = {});

/// Checks the outputs of a command. To be called before the command does any work. `written`: the
/// flags for outputs. `config`: the content of the `-c` file, which may name more inputs and
/// outputs. ConfigError: the folder of an output file does not exist, a file is both input and
/// output, an output folder is an input (ReadFiles::check_folder), or two flags name the same
/// output file. REQUIRES: the command line was parsed.
void check_written(const CLI::App& app, const Written& written, const Json& config = {});

}  // namespace pardec
