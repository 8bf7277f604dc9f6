#pragma once
#include <string>
#include <vector>

#include "src/checkpoint/checkpoint.hpp"

namespace pardec {

/// Differences between a checkpoint's files and the network as it is computed, e.g. unused weights,
/// one line each. Of the weights, only the names are read. `config`: the folder's config, without
/// an adapter.
std::vector<std::string> checkpoint_notes(const std::filesystem::path& folder,
                                          const ModelConfig& config);
/// The same, with the config read from the folder. Empty if the folder does not exist. ModelError:
/// the config is invalid.
std::vector<std::string> checkpoint_notes(const std::filesystem::path& folder);

/// A line about ids of the tokenizer that are not in the network's vocabulary. Empty: all are.
std::string foreign_ids(const Tokenizer& tokenizer, const ModelConfig& config);

}  // namespace pardec
