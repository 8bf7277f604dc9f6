#pragma once
#include <filesystem>
#include <map>
#include <string>

#include "src/model/files/config.hpp"
#include "src/model/files/parameters.hpp"
#include "src/model/files/safetensors.hpp"

namespace pardec {

/// The stored tensors of extra heads. The tensors have the names and shapes of
/// `extra_head_parameters(config, shape)`, which has been checked.
struct StoredExtraHeads {
  ExtraHeadShape shape;
  std::map<std::string, StoredTensor> tensors;
};

/// Number of extra heads, derived from the tensors' names (extra_block_name). ModelError, which
/// starts with `where`: no name belongs to head 0.
int count_extra_heads(const std::map<std::string, StoredTensor>& tensors, const std::string& where);
/// The number of extra heads in a file; 0 if the file does not exist. ModelError: the file is
/// invalid, or has no tensor of head 0.
int count_extra_heads(const std::filesystem::path& file);

/// The path of kExtraHeadsFile for a network: in the folder `adapter` if that folder contains the
/// file, otherwise in the checkpoint folder `folder`, where the file may be missing. `adapter`:
/// empty if there is no adapter.
std::filesystem::path extra_heads_file(const std::filesystem::path& folder,
                                       const std::filesystem::path& adapter);

/// Derives the heads' shape from the tensors' names, and checks all tensors. If the first head has
/// blocks but no matrix to the vocabulary, all heads share the matrix of the network's own head.
/// ModelError, which starts with `where`: a tensor is missing, has a wrong shape or an unsupported
/// type, or belongs to no head.
StoredExtraHeads read_extra_heads(std::map<std::string, StoredTensor> tensors,
                                  const ModelConfig& config, const std::string& where);
/// The shape of the heads in a file. ModelError: the file cannot be read, or see read_extra_heads.
ExtraHeadShape extra_head_shape(const std::filesystem::path& file, const ModelConfig& config);

}  // namespace pardec
