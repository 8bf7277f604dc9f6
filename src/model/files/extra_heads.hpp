#pragma once
#include <filesystem>
#include <map>
#include <string>

#include "src/model/files/config.hpp"
#include "src/model/files/parameters.hpp"
#include "src/model/files/safetensors.hpp"

namespace pardec {

/// The stored tensors of extra heads. Their names and shapes have been checked: they are those of
/// `extra_head_parameters(config, shape)`.
struct StoredExtraHeads {
  ExtraHeadShape shape;
  std::map<std::string, StoredTensor> tensors;
};

/// Number of extra heads, derived from the tensors' names. ModelError, which starts with `where`:
/// no name belongs to a head.
int count_extra_heads(const std::map<std::string, StoredTensor>& tensors, const std::string& where);
/// The same for a file; 0 if the file does not exist.
int count_extra_heads(const std::filesystem::path& file);

/// The path of the file with a network's extra heads. If the adapter's folder contains this file,
/// it is that file, else the one in the checkpoint folder. `adapter`: empty if there is no adapter.
std::filesystem::path extra_heads_file(const std::filesystem::path& folder,
                                       const std::filesystem::path& adapter);

/// Derives the heads' shape from the tensors' names. If the first head has no matrix to the
/// vocabulary, all heads share the matrix of the network's own head. ModelError: a tensor is
/// missing, has a wrong shape, or belongs to no head.
StoredExtraHeads read_extra_heads(std::map<std::string, StoredTensor> tensors,
                                  const ModelConfig& config, const std::string& where);
/// The shape of the heads in a file, with the same checks.
ExtraHeadShape extra_head_shape(const std::filesystem::path& file, const ModelConfig& config);

}  // namespace pardec
