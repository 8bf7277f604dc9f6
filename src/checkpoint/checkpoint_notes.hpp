#pragma once
#include <string>
#include <vector>

#include "src/checkpoint/checkpoint.hpp"

namespace pardec {

/// Describes the differences between a checkpoint's files and the network as it is computed, e.g.
/// unused weights, in one line for each difference. Reads only the names of the weights, not their
/// values. `folder`: a checkpoint folder or a GGUF file. `config`: its config, without an adapter.
/// ModelError: a file is invalid.
std::vector<std::string> checkpoint_notes(const std::filesystem::path& folder,
                                          const ModelConfig& config);
/// As above, with the config in `folder`. Empty if `folder` is neither a folder nor a GGUF file.
/// ModelError: a file is invalid.
std::vector<std::string> checkpoint_notes(const std::filesystem::path& folder);

/// A line about the tokenizer's ids that are beyond the network's vocabulary. Empty: there are
/// none.
std::string foreign_ids(const Tokenizer& tokenizer, const ModelConfig& config);

}  // namespace pardec
