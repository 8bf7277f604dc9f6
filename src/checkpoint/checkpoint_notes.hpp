#pragma once
#include <string>
#include <vector>

#include "src/checkpoint/checkpoint.hpp"

namespace pardec {

/// What the files of a checkpoint say otherwise than the network is computed, a line each, e.g.
/// weights that it does not use. Of the weights the names alone are read. `config`: of the folder
/// alone, without an adapter.
std::vector<std::string> checkpoint_notes(const std::filesystem::path& folder,
                                          const ModelConfig& config);
/// The same with the config that the folder has; empty where there is no such folder. ModelError.
std::vector<std::string> checkpoint_notes(const std::filesystem::path& folder);

/// Which ids of a tokenizer the network does not have, in a line; empty: it has all.
std::string foreign_ids(const Tokenizer& tokenizer, const ModelConfig& config);

}  // namespace pardec
