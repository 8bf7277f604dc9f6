#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "src/model/files/parameters.hpp"
#include "src/model/files/safetensors.hpp"

namespace pardec {

/// The tensors of a checkpoint folder: model.safetensors, or the shards that
/// model.safetensors.index.json names. As in transformers a weight may stand in them without the
/// `model.` that its name begins with, or with one more.
class CheckpointFiles {
 public:
  /// ModelError: no weights there, a shard is missing, a tensor is not in the shard that the index
  /// names.
  explicit CheckpointFiles(const std::filesystem::path& folder);
  /// Whether the folder has one of these files.
  static bool there(const std::filesystem::path& folder);

  struct Entry {
    StoredTensor tensor;
    std::shared_ptr<const MappedFile> mapping;  ///< keeps the bytes alive
    std::string file;                           ///< for errors
  };
  const std::map<std::string, Entry>& tensors() const { return tensors_; }
  /// A weight of the network. Where the head is the embedding, a file that has it as the head alone
  /// has the embedding, too. ModelError where it is missing, has another shape or no type of a
  /// weight, or stands there under two names with different numbers.
  const Entry& find(const Parameter& parameter, const ModelConfig& config) const;
  /// Whether there is a head that is not, byte by byte, the embedding.
  bool has_own_head() const;
  /// The names of what a network of `config` does not use.
  std::vector<std::string> unused(const ModelConfig& config) const;
  /// The file that says which tensors there are.
  const std::string& where() const { return where_; }

 private:
  void add_file(const std::filesystem::path& file);
  /// The names under which a weight stands in the files.
  std::vector<std::string> names_of(const std::string& weight) const;

  std::map<std::string, Entry> tensors_;
  std::string where_;
};

/// Names of tensors in few words: those of all layers, of a layer beyond the network's `layers`,
/// and of a part that the network does not have stand as one, e.g.
/// "model.layers.*.self_attn.q_proj.bias (2), model.layers.2.* (9), visual.* (312)".
std::string summary_of_tensors(const std::vector<std::string>& names, int layers);

}  // namespace pardec
