#pragma once
#include <filesystem>

namespace pardec {

/// Finds a file or folder of the project, e.g. prompts, samples or experiments, and returns its
/// path. `relative`: its path from the root of the source tree, e.g. "datasets/prompts". If the
/// environment variable PARDEC_SHARE is set, the file is searched for in that folder only.
/// Otherwise, it is searched for in the source tree, then in the folder for which the build was
/// configured to install, then in PREFIX/share/pardec if the running program is PREFIX/bin/pardec.
/// ConfigError: the file is not found.
std::filesystem::path project_file(const std::filesystem::path& relative);

/// The file of the running program; empty if the system does not tell.
std::filesystem::path program_file();

}  // namespace pardec
