#pragma once
#include <filesystem>
#include <map>
#include <string>

#include "src/model/config.hpp"
#include "src/model/safetensors.hpp"

namespace pardec {

/// Extra heads as their file has them, checked against the network: the tensors are those of
/// `extra_head_parameters(config, heads, blocks)`, in their shapes.
struct StoredExtraHeads {
  int heads = 0, blocks = 0;
  std::map<std::string, StoredTensor> tensors;
};

/// Heads that the names of the tensors tell of. ModelError, which begins with `where`: none.
int count_extra_heads(const std::map<std::string, StoredTensor>& tensors, const std::string& where);
/// The same of a checkpoint's kExtraHeadsFile; 0 where there is none.
int count_extra_heads(const std::filesystem::path& folder);

/// The number of blocks is read from the names. ModelError: a tensor that is missing, has another
/// shape or belongs to no head.
StoredExtraHeads read_extra_heads(std::map<std::string, StoredTensor> tensors,
                                  const ModelConfig& config, const std::string& where);

}  // namespace pardec
