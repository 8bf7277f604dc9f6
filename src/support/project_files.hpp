#pragma once
#include <filesystem>

namespace pardec {

/// A file or folder shipped with the project (prompts, samples, experiments): in $PARDEC_SHARE,
/// otherwise in the installation, otherwise in the source tree. ConfigError: it is in none of
/// these.
std::filesystem::path project_file(const std::filesystem::path& relative);

}  // namespace pardec
