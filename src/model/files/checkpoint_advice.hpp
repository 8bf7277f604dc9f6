#pragma once
#include <filesystem>
#include <string>

/// Advice for checkpoints in unsupported forms.
namespace pardec {

/// Explains, as part of a sentence, why a path is neither a checkpoint folder nor a GGUF file: it
/// does not exist, is another kind of file, or has no config.json. Empty: the path is one of them.
std::string why_no_checkpoint(const std::filesystem::path& path);

/// Explains why a folder contains no supported safetensors files.
std::string why_no_weights(const std::filesystem::path& folder);

/// Advice for a file with the extension safetensors whose content has another format, recognised by
/// the file's first bytes. Empty: the format is unknown.
std::string why_no_safetensors(std::string_view beginning);

}  // namespace pardec
