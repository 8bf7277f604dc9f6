#pragma once
#include <filesystem>
#include <map>
#include <set>
#include <string>

namespace pardec {

/// Reads the index of a network's weights in several files, e.g. model.safetensors.index.json.
/// Returns the name of the file that has a tensor, by the tensor's name. DataError, which starts
/// with `index`: the file cannot be read or is not JSON (read_json), it has no `weight_map` of
/// tensors, or the file of a tensor is not a plain file name.
std::map<std::string, std::string> read_shard_index(const std::filesystem::path& index);
/// The files of such an index, each once.
std::set<std::string> shard_files(const std::map<std::string, std::string>& index);

}  // namespace pardec
