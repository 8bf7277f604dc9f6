#pragma once
#include <filesystem>
#include <map>
#include <set>
#include <string>

namespace pardec {

/// Reads the index of a checkpoint whose weights are in more than one file, e.g.
/// model.safetensors.index.json. Returns a map from the name of each tensor to the name of the file
/// that contains the tensor. DataError, which starts with `index`: the index cannot be read or is
/// not JSON (read_json), it has no `weight_map` of tensors, or the file of a tensor is not a plain
/// file name.
std::map<std::string, std::string> read_shard_index(const std::filesystem::path& index);
/// The names of the files in an index from read_shard_index, each once.
std::set<std::string> shard_files(const std::map<std::string, std::string>& index);

}  // namespace pardec
