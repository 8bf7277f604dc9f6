#include "src/model/files/extra_heads.hpp"

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

std::filesystem::path extra_heads_file(const std::filesystem::path& folder,
                                       const std::filesystem::path& adapter) {
  std::error_code ignored;
  const std::filesystem::path own = adapter / kExtraHeadsFile;
  return !adapter.empty() && std::filesystem::exists(own, ignored) ? own : folder / kExtraHeadsFile;
}

int count_extra_heads(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) return 0;
  const MappedFile mapping(file);
  return count_extra_heads(parse_safetensors(mapping.bytes(), file.string()), file.string());
}

StoredExtraHeads read_extra_heads(std::map<std::string, StoredTensor> tensors,
                                  const ModelConfig& config, const std::string& where) {
  StoredExtraHeads found;
  ExtraHeadShape& shape = found.shape;
  shape.heads = count_extra_heads(tensors, where);
  shape.blocks = 0;
  while (tensors.contains(extra_block_name(0, shape.blocks))) ++shape.blocks;
  shape.shares_head = shape.blocks > 0 && !tensors.contains(extra_out_name(0, shape.blocks));
  // Head by head, because the names may claim many heads and many blocks.
  for (int head = 0; head < shape.heads; ++head)
    for (const Parameter& parameter : one_extra_head(config, head, shape)) {
      auto tensor = tensors.extract(parameter.name);
      if (tensor.empty())
        throw ModelError(where,
                         str("has no tensor '", parameter.name, "' of shape ",
                             shape_text(parameter.shape), "; its names say ", shape_text(shape)));
      if (tensor.mapped().shape != parameter.shape)
        throw ModelError(where, str("tensor '", parameter.name, "' has shape ",
                                    shape_text(tensor.mapped().shape), ", expected ",
                                    shape_text(parameter.shape), " from the config"));
      check_type(tensor.mapped(), parameter.name, where);
      found.tensors.insert(std::move(tensor));
    }
  if (!tensors.empty())
    throw ModelError(where, str("has tensor '", repair_utf8(tensors.begin()->first),
                                "', which extra heads (", shape_text(shape), ") do not have"));
  return found;
}

ExtraHeadShape extra_head_shape(const std::filesystem::path& file, const ModelConfig& config) {
  const MappedFile mapping(file);
  return read_extra_heads(parse_safetensors(mapping.bytes(), file.string()), config, file.string())
      .shape;
}

}  // namespace pardec
