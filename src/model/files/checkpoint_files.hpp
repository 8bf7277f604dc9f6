#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "src/model/files/parameters.hpp"
#include "src/model/files/safetensors.hpp"

namespace pardec {

/// Reads the index of a checkpoint's shards. Returns a map from the name of each tensor to the name
/// of the shard that contains the tensor. ModelError: the index is invalid (see read_shard_index),
/// or a shard is not in the folder of the index.
std::map<std::string, std::string> shards_by_tensor(const std::filesystem::path& index);

/// The tensors of a checkpoint: of a GGUF file, of model.safetensors, or of the shards that
/// model.safetensors.index.json names. As in transformers, the name of a weight in the files may
/// lack the leading `model.`, or may have an additional `model.` before it. The tensors of a
/// quantised weight (quantised_weights.hpp) are one tensor here.
class CheckpointFiles {
 public:
  /// Reads the headers of the files. `folder`: a checkpoint folder or a GGUF file. ModelError: the
  /// folder has no weights, the index is invalid, a shard is missing, a file is truncated or
  /// inconsistent, two shards have the same tensor, a tensor is not in the shard that the index
  /// names, the weights are quantised in a form that is not supported, config.json exists and is
  /// invalid, or a GGUF file describes an unsupported network.
  explicit CheckpointFiles(const std::filesystem::path& folder);
  /// Whether there is a GGUF file, model.safetensors or model.safetensors.index.json.
  static bool there(const std::filesystem::path& folder);

  /// A tensor, with the file that contains it.
  struct Entry {
    StoredTensor tensor;
    std::shared_ptr<const MappedFile> mapping;  ///< keeps the bytes alive
    std::string file;                           ///< path of this file, for errors
  };
  /// All tensors, by their names in the files (in a GGUF file: by the names that transformers
  /// uses).
  const std::map<std::string, Entry>& tensors() const { return tensors_; }
  /// The stored tensor of a weight, with the shape Parameter::stored_shape(). (A matrix for which
  /// is_turned is true has the shape [out, in] instead.) If the files store the weight in a stack
  /// (Parameter::Stack), the result is the weight's part of the stack. If the head is tied to the
  /// embedding or initialised from the embedding, a matrix that is stored under only one of the two
  /// names is used for both. ModelError: the weight is missing, has a wrong shape or an unsupported
  /// type, or is stored under two names with different values.
  Entry find(const Parameter& parameter, const ModelConfig& config) const;
  /// Whether the files contain both a head and an embedding, with different bytes.
  bool has_own_head(const Family& family) const;
  /// The names of the tensors that a network of `config` does not use, as in `tensors`, in
  /// ascending order.
  std::vector<std::string> unused(const ModelConfig& config) const;
  /// The path of the file that lists the tensors (the index, the safetensors file or the GGUF
  /// file), for errors.
  const std::string& where() const { return where_; }

 private:
  void add_file(const std::filesystem::path& file);
  void add_gguf(const std::filesystem::path& file);
  /// Joins the tensors of quantised weights if the folder's config.json says that there are any.
  void join_quantised_of(const std::filesystem::path& folder);
  void add(std::string name, StoredTensor tensor, const std::shared_ptr<const MappedFile>& mapping,
           const std::filesystem::path& file);
  /// The names under which the files store a weight.
  std::vector<std::string> names_of(const std::string& weight) const;

  std::map<std::string, Entry> tensors_;
  std::string where_;
};

/// A short text that lists tensor names, for messages. Names that differ only in the layer are
/// joined. All tensors of one layer are joined if the network does not have this layer (`layers` is
/// the network's number of layers). Other names are joined by their first part. After six entries,
/// the text only counts the rest. Example: "model.layers.*.self_attn.q_proj.bias (2),
/// model.layers.2.* (9), visual.* (312)".
std::string summary_of_tensors(const std::vector<std::string>& names, int layers);

}  // namespace pardec
