#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "src/prompt/prompt_file.hpp"

namespace pardec {

/// Loads a prompt file by name (datasets/prompts/NAME.txt) or by path. A text with `/` or `.` is a
/// path. DataError: the file cannot be read. ConfigError: see parse_prompt_file.
PromptFile load_prompt(const std::string& name_or_path);

/// The path in a checkpoint for its own prompt file, which replaces the project's file of this
/// name.
std::filesystem::path own_prompt(const std::filesystem::path& model, std::string_view name);

/// The prompt file for a task. `chosen`: a name or path that the user chose. If it is empty, the
/// prompt file `name` is used: the checkpoint's own if there is one, otherwise the project's.
/// `model`: the checkpoint's folder. Errors: see load_prompt.
PromptFile choose_prompt(const std::string& chosen, std::string_view name,
                         const std::filesystem::path& model);

}  // namespace pardec
