#pragma once
#include <filesystem>
#include <string>

/// Advice for checkpoints in unsupported forms.
namespace pardec {

/// Explains, as part of a sentence, why a path is not a checkpoint folder: it does not exist, is a
/// file, or has no config.json. Empty: the path is a checkpoint folder.
std::string why_no_checkpoint(const std::filesystem::path& path);

/// Explains why a folder contains no supported safetensors files.
std::string why_no_weights(const std::filesystem::path& folder);

/// Advice for a file with the extension safetensors whose content has another format, recognised by
/// the file's first bytes. Empty: the format is unknown.
std::string why_no_safetensors(std::string_view beginning);

}  // namespace pardec
