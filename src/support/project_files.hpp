#pragma once
#include <filesystem>

namespace pardec {

/// A file or folder that the project ships (prompts, samples, experiments): under $PARDEC_SHARE,
/// else where it was installed, else in the source tree. ConfigError when it is in none.
std::filesystem::path project_file(const std::filesystem::path& relative);

}  // namespace pardec
