#pragma once
#include <filesystem>
#include <string>

#include "src/prompt/prompt_file.hpp"

namespace pardec {

/// A file or folder that the project ships (prompts, samples, experiments): under $PARDEC_SHARE,
/// else where it was installed, else in the source tree. ConfigError when it is in none.
std::filesystem::path project_file(const std::filesystem::path& relative);

/// The prompt file of that name (datasets/prompts/NAME.txt), or the file at that path.
PromptFile load_prompt(const std::string& name_or_path);

}  // namespace pardec
