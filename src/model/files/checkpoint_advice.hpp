#pragma once
#include <filesystem>
#include <string>

/// Advice for checkpoints in unsupported forms.
namespace pardec {

/// Explains why a path is neither a checkpoint folder nor a GGUF file: it does not exist, is
/// another kind of file, or is a folder without config.json. The text continues a sentence whose
/// subject is the path. Empty: the path is a checkpoint folder or a GGUF file.
std::string why_no_checkpoint(const std::filesystem::path& path);

/// Explains why a folder contains no supported safetensors files. The text continues a sentence
/// whose subject is the folder.
std::string why_no_weights(const std::filesystem::path& folder);

/// Explains why a file with the extension safetensors cannot be read. `beginning`: the first bytes
/// of the file, from which the function recognises other formats. The text continues a sentence
/// whose subject is the file. Empty: no other format was recognised.
std::string why_no_safetensors(std::string_view beginning);

}  // namespace pardec
