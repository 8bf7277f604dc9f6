#pragma once
#include <filesystem>
#include <string>
#include <string_view>

#include "src/prompt/prompt_file.hpp"

namespace pardec {

/// Loads a prompt file by name (datasets/prompts/NAME.txt) or by path. A text with `/` or `.` is a
/// path. DataError: the file cannot be read. ConfigError: the project has no prompt file of this
/// name; or see parse_prompt_file.
PromptFile load_prompt(const std::string& name_or_path);

/// The path of a checkpoint's own prompt file, MODEL/prompts/NAME.txt, which replaces the project's
/// file of this name. The file need not exist.
std::filesystem::path own_prompt(const std::filesystem::path& model, std::string_view name);

/// The prompt file for a task. `chosen`: a name or path that the user chose (see load_prompt). If
/// `chosen` is empty, the prompt file `name` is used: the checkpoint's own file if there is one,
/// otherwise the project's file. `model`: the checkpoint's folder. Errors: see load_prompt.
PromptFile choose_prompt(const std::string& chosen, std::string_view name,
                         const std::filesystem::path& model);

}  // namespace pardec
