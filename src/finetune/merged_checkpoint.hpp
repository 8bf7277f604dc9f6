#pragma once
#include <filesystem>
#include <set>
#include <string>

namespace pardec {

/// Makes `out` a checkpoint: the network in `base` as the adapter in `adapter` changes it, with the
/// files that stand beside the adapter (tokenizer, chat template, wordings, record of its
/// training), else those beside the network. ConfigError: `out` holds something already;
/// ModelError, RunError.
void merge_checkpoint(const std::filesystem::path& base, const std::filesystem::path& adapter,
                      const std::filesystem::path& out);

/// Copies a checkpoint's JSON files, chat template and wordings, but for those named, over what is
/// there. RunError.
void copy_beside_weights(const std::filesystem::path& from, const std::filesystem::path& to,
                         const std::set<std::string>& but);

}  // namespace pardec
