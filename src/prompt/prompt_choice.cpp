#include "src/prompt/prompt_choice.hpp"

#include "src/support/files.hpp"
#include "src/support/project_files.hpp"
#include "src/support/text.hpp"

namespace pardec {

PromptFile load_prompt(const std::string& name_or_path) {
  const bool is_path =
      name_or_path.find('/') != std::string::npos || name_or_path.find('.') != std::string::npos;
  const std::filesystem::path file =
      is_path ? std::filesystem::path(name_or_path)
              : project_file("datasets/prompts/" + name_or_path + ".txt");
  return parse_prompt_file(read_file(file), file.filename().string());
}

std::filesystem::path own_prompt(const std::filesystem::path& model, std::string_view name) {
  return model / "prompts" / str(name, ".txt");
}

PromptFile choose_prompt(const std::string& chosen, std::string_view name,
                         const std::filesystem::path& model) {
  if (!chosen.empty()) return load_prompt(chosen);
  const std::filesystem::path own = own_prompt(model, name);
  std::error_code ignored;
  return std::filesystem::exists(own, ignored) ? parse_prompt_file(read_file(own), own.string())
                                               : load_prompt(std::string(name));
}

}  // namespace pardec
