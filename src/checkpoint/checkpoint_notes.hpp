#pragma once
#include <string>
#include <vector>

#include "src/checkpoint/checkpoint.hpp"

namespace pardec {

/// Properties in a checkpoint's files that differ from how the network is computed, one line each,
/// e.g. unused weights. Only the names of weights are read. `config`: of the folder itself, without
/// an adapter.
std::vector<std::string> checkpoint_notes(const std::filesystem::path& folder,
                                          const ModelConfig& config);
/// Same, with the folder's own config; empty: there is no such folder. ModelError.
std::vector<std::string> checkpoint_notes(const std::filesystem::path& folder);

/// A line about the tokenizer's ids that the network does not have; empty: it has all of them.
std::string foreign_ids(const Tokenizer& tokenizer, const ModelConfig& config);

}  // namespace pardec
