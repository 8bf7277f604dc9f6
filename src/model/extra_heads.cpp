#include "src/model/extra_heads.hpp"

#include "src/model/parameters.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

int count_extra_heads(const std::map<std::string, StoredTensor>& tensors,
                      const std::string& where) {
  const auto has = [&](int head) {
    const auto found = tensors.lower_bound(str(head, "."));
    return found != tensors.end() && found->first.starts_with(str(head, "."));
  };
  int heads = 0;
  while (has(heads)) ++heads;
  if (heads == 0)
    throw ModelError(where,
                     str("has no tensor of a head 0, expected '", extra_block_name(0, 0), "' ..."));
  return heads;
}

int count_extra_heads(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / kExtraHeadsFile;
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return 0;
  const MappedFile mapping(file);
  return count_extra_heads(parse_safetensors(mapping.bytes(), file.string()), file.string());
}

StoredExtraHeads read_extra_heads(std::map<std::string, StoredTensor> tensors,
                                  const ModelConfig& config, const std::string& where) {
  StoredExtraHeads found;
  found.heads = count_extra_heads(tensors, where);
  while (tensors.contains(extra_block_name(0, found.blocks))) ++found.blocks;
  // Head by head: the file may name many heads, and many blocks of one.
  for (int head = 0; head < found.heads; ++head)
    for (const Parameter& parameter : one_extra_head(config, head, found.blocks)) {
      auto tensor = tensors.extract(parameter.name);
      if (tensor.empty())
        throw ModelError(where, str("has no tensor '", parameter.name, "' of shape ",
                                    shape_text(parameter.shape), "; its names say ", found.heads,
                                    " heads of ", found.blocks, " blocks each"));
      if (tensor.mapped().shape != parameter.shape)
        throw ModelError(where, str("tensor '", parameter.name, "' has shape ",
                                    shape_text(tensor.mapped().shape), ", expected ",
                                    shape_text(parameter.shape), " from the config"));
      found.tensors.insert(std::move(tensor));
    }
  if (!tensors.empty())
    throw ModelError(where, str("has tensor '", repair_utf8(tensors.begin()->first), "', which ",
                                found.heads, " heads of ", found.blocks, " blocks have not"));
  return found;
}

}  // namespace pardec
