#pragma once
#include <string>
#include <vector>

#include "src/checkpoint/checkpoint.hpp"

namespace pardec {

/// What the files of a checkpoint, and of its adapter, say otherwise than the network is computed,
/// a line each, e.g. weights that it does not use. Weights are not read, but for their names. Empty
/// where there is no such folder. ModelError.
std::vector<std::string> checkpoint_notes(const ModelOptions& options);

/// Which ids of a tokenizer the network does not have, in a line; empty: it has all.
std::string foreign_ids(const Tokenizer& tokenizer, const ModelConfig& config);

}  // namespace pardec
