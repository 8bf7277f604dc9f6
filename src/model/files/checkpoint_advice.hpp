#pragma once
#include <filesystem>
#include <string>

/// What to do where a checkpoint is in a form that is not read here.
namespace pardec {

/// What is wrong with a path that should be a checkpoint folder, in a sentence's part: it does not
/// exist, is a file, or has no config.json. Empty: nothing.
std::string why_no_checkpoint(const std::filesystem::path& path);

/// The same of a folder that has no safetensors that are read here.
std::string why_no_weights(const std::filesystem::path& folder);

/// What to do with a file that is not the safetensors that its name says; empty: nothing is known.
std::string why_no_safetensors(std::string_view beginning);

}  // namespace pardec
