#pragma once
#include <filesystem>
#include <map>
#include <string>

#include "src/model/files/config.hpp"
#include "src/model/files/parameters.hpp"
#include "src/model/files/safetensors.hpp"

namespace pardec {

/// Extra heads as stored, checked against the network: the tensors and shapes are those of
/// `extra_head_parameters(config, shape)`.
struct StoredExtraHeads {
  ExtraHeadShape shape;
  std::map<std::string, StoredTensor> tensors;
};

/// Number of heads, from the tensors' names. ModelError, which starts with `where`: the names
/// contain no head.
int count_extra_heads(const std::map<std::string, StoredTensor>& tensors, const std::string& where);
/// The same for a file; 0 if the file does not exist.
int count_extra_heads(const std::filesystem::path& file);

/// The file with the extra heads of a network: in the adapter's folder (empty: no adapter) if it
/// has some, else in the checkpoint folder.
std::filesystem::path extra_heads_file(const std::filesystem::path& folder,
                                       const std::filesystem::path& adapter);

/// Derives the shape from the names: if the first head has no matrix, the heads share the network's
/// head. ModelError: a tensor is missing, has a wrong shape, or belongs to no head.
StoredExtraHeads read_extra_heads(std::map<std::string, StoredTensor> tensors,
                                  const ModelConfig& config, const std::string& where);
/// The shape of the heads in a file, with the same checks.
ExtraHeadShape extra_head_shape(const std::filesystem::path& file, const ModelConfig& config);

}  // namespace pardec
