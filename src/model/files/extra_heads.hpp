#pragma once
#include <filesystem>
#include <map>
#include <string>

#include "src/model/files/config.hpp"
#include "src/model/files/parameters.hpp"
#include "src/model/files/safetensors.hpp"

namespace pardec {

/// Extra heads as their file has them, checked against the network: the tensors are those of
/// `extra_head_parameters(config, shape)`, in their shapes.
struct StoredExtraHeads {
  ExtraHeadShape shape;
  std::map<std::string, StoredTensor> tensors;
};

/// Heads that the names of the tensors tell of. ModelError, which begins with `where`: none.
int count_extra_heads(const std::map<std::string, StoredTensor>& tensors, const std::string& where);
/// The same of a file; 0 where there is none.
int count_extra_heads(const std::filesystem::path& file);

/// Where the extra heads of a network are: beside its adapter (a folder; empty: none) where that
/// has some, else beside its weights.
std::filesystem::path extra_heads_file(const std::filesystem::path& folder,
                                       const std::filesystem::path& adapter);

/// The shape is read from the names: heads of which the first has no matrix share the network's
/// head. ModelError: a tensor that is missing, has another shape or belongs to no head.
StoredExtraHeads read_extra_heads(std::map<std::string, StoredTensor> tensors,
                                  const ModelConfig& config, const std::string& where);
/// The shape of those in a file, as strictly.
ExtraHeadShape extra_head_shape(const std::filesystem::path& file, const ModelConfig& config);

}  // namespace pardec
