#pragma once
#include <filesystem>
#include <string>

/// Advice for checkpoints in unsupported forms.
namespace pardec {

/// Part of a sentence that says why a path is neither a checkpoint folder nor a GGUF file: it does
/// not exist, is another file, or has no config.json. Empty: it is one of them.
std::string why_no_checkpoint(const std::filesystem::path& path);

/// The same for a folder without supported safetensors files.
std::string why_no_weights(const std::filesystem::path& folder);

/// Advice for a file that is named safetensors but is not one, from its first bytes. Empty: unknown
/// content.
std::string why_no_safetensors(std::string_view beginning);

}  // namespace pardec
