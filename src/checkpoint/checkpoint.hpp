#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/model/model.hpp"
#include "src/tokenizer/tokenizer.hpp"

namespace pardec {

/// Which network to use, and how it computes.
struct ModelOptions {
  std::string model;  ///< a checkpoint folder, or a GGUF file (gguf_file)
  std::string draft_model, dtype = "fp32", device = "cpu", memory_limit;
  std::string adapter;  ///< folder with a low-rank adapter or extra heads for `model`; empty: none
  int layers = 0;       ///< use only the first `layers` layers; 0: all layers
  int threads = 0;
  bool no_cuda_graphs = false;
  bool weights = true;  ///< false: only the small files are read (config, tokenizer)
};

/// The type selected by --dtype. `auto`: bf16 if the checkpoint contains bf16 or fp16 and the
/// device computes bf16 fast, otherwise fp32. ConfigError. ModelError: the config cannot be read.
Dtype chosen_dtype(const ModelOptions& options);

/// A loaded checkpoint: a folder, or a GGUF file.
struct Checkpoint {
  std::filesystem::path folder;                ///< from texts_folder
  std::vector<std::filesystem::path> weights;  ///< folders of the network and of its adapter
  std::string note;  ///< a message for the user, e.g. that weights are random; may be empty
  std::vector<std::string> file_notes;  ///< from checkpoint_notes
  bool untrained = false;
  /// formats that pardec trained it on; none: not known
  std::optional<std::vector<std::string>> formats;
  std::optional<Tokenizer> tokenizer;
  Model model;
};

/// The folder with wordings and the training record: the adapter's if it has a record or a
/// tokenizer (as `train` writes them), otherwise the network's.
std::filesystem::path texts_folder(const ModelOptions& options);
/// The folder with tokenizer and chat template: texts_folder, or the network's if there is no
/// tokenizer.
std::filesystem::path tokenizer_folder(const ModelOptions& options);

/// Loads the network and, with `with_tokenizer`, its tokenizer.json. ModelError.
Checkpoint load_checkpoint(const ModelOptions& options, bool with_tokenizer);

/// Shares loaded networks. Each distinct network, identified by folder and type, is loaded once
/// while it is in use.
class Checkpoints {
 public:
  /// The network of `options.model`, loaded if necessary. Errors as load_checkpoint.
  std::shared_ptr<Checkpoint> get(const ModelOptions& options, bool with_tokenizer);
  /// Null: it is not in use.
  std::shared_ptr<Checkpoint> held(const ModelOptions& options) const;

 private:
  std::map<std::string, std::weak_ptr<Checkpoint>> loaded_;  // by network_key
};

/// Identifies the network of `options.model`: its folder, its adapter's folder, and its compute
/// type.
std::string network_key(const ModelOptions& options);

/// The properties of a checkpoint that are known without its weights.
struct CheckpointFace {
  ModelConfig config;
  std::optional<Tokenizer> tokenizer;  ///< none: there is no tokenizer.json
};
/// None: no model is named, or it does not exist. ModelError: invalid files.
std::optional<CheckpointFace> read_face(const std::string& model);
/// The same, but the adapter's tokenizer and extra heads take precedence if it has them.
std::optional<CheckpointFace> read_face(const ModelOptions& options);

/// The options of the network of --draft-model. If that folder contains an adapter but no network,
/// the draft network consists of the first layers of the target network, up to the last one changed
/// by the adapter, with the adapter applied. ModelError: as adapted_layers.
ModelOptions draft_options(const ModelOptions& options);

/// Loads the draft network. ModelError: the two networks have different vocabularies.
std::shared_ptr<Checkpoint> load_draft(const ModelOptions& options, const Checkpoint& target,
                                       Checkpoints& loaded);

/// Loads only the tokenizer. ModelError. (It may have ids that are not in the network's vocabulary:
/// foreign_ids.)
Tokenizer load_tokenizer(const std::filesystem::path& folder);

/// A file that `model synth` writes next to the weights: the weights are random.
inline constexpr const char* kSynthesisNote = "pardec_synthesis.json";

/// A file that `train` writes next to the weights.
inline constexpr const char* kTrainingRecord = "training.json";

/// The record of the prompts with which a network was trained; empty members: not recorded.
struct TrainingRecord {
  /// Names of the decoders' formats. None: not known, e.g. for extra heads of a network that has
  /// its own record.
  std::optional<std::vector<std::string>> formats;
  std::string chat_template, chat_template_sha256, prompt_sha256;
  Json settings = Json::object();  ///< all settings
};
/// Empty if the folder has no record. ModelError: the file is not a record of `train`.
TrainingRecord read_training_record(const std::filesystem::path& folder);

}  // namespace pardec
