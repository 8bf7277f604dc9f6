#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "src/prompt/prompt_file.hpp"

namespace pardec {

/// Loads the prompt file of that name (datasets/prompts/NAME.txt), or the file at that path.
PromptFile load_prompt(const std::string& name_or_path);

/// The path of a checkpoint's own wording, which replaces the project's prompt file of that name.
std::filesystem::path own_prompt(const std::filesystem::path& model, std::string_view name);

/// The wording for a task whose prompt file is `name`: `chosen` (a name or path) unless empty, else
/// the checkpoint's own, else the project's.
PromptFile choose_prompt(const std::string& chosen, std::string_view name,
                         const std::filesystem::path& model);

}  // namespace pardec
