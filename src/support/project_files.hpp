#pragma once
#include <filesystem>

namespace pardec {

/// A file or folder shipped with the project (prompts, samples, experiments): in $PARDEC_SHARE,
/// otherwise in the source tree, otherwise in the configured installation, otherwise beside the
/// running program. ConfigError: it is in none of these.
std::filesystem::path project_file(const std::filesystem::path& relative);

}  // namespace pardec
