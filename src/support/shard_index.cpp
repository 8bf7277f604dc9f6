#include "src/support/shard_index.hpp"

#include "src/support/error.hpp"
#include "src/support/json.hpp"
#include "src/support/text.hpp"

namespace pardec {

std::map<std::string, std::string> read_shard_index(const std::filesystem::path& index) {
  const Json json = read_json(index);
  const Json map = json.is_object() ? json.value("weight_map", Json()) : Json();
  if (!map.is_object() || map.empty())
    throw DataError(index.string(), 0,
                    "has no 'weight_map', expected an object of tensor names and shard files");
  std::map<std::string, std::string> files;
  for (const auto& [tensor, shard] : map.items()) {
    const std::string file = shard.is_string() ? shard.get<std::string>() : "";
    // Shards must be in the same folder as their index; a path could point anywhere.
    if (file.empty() || file == "." || file == ".." || file.find('/') != std::string::npos)
      throw DataError(
          index.string(), 0,
          str("names shard ", repair_utf8(shortened(dump(shard), 80)), " for tensor ",
              repair_utf8(shortened(dump(Json(tensor)), 80)), ", expected a file name"));
    files.emplace(tensor, file);
  }
  return files;
}

std::set<std::string> shard_files(const std::map<std::string, std::string>& index) {
  std::set<std::string> files;
  for (const auto& [tensor, file] : index) files.insert(file);
  return files;
}

}  // namespace pardec
