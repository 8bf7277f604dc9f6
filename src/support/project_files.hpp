#pragma once
#include <filesystem>

namespace pardec {

/// Finds a file or folder of the project, e.g. prompts, samples or experiments. It is searched for
/// in $PARDEC_SHARE, the source tree, the configured installation, and next to the running program,
/// in this order. ConfigError: it is in none of these places.
std::filesystem::path project_file(const std::filesystem::path& relative);

}  // namespace pardec
