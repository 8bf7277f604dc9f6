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

/// The value of ModelOptions::parallel for computing each network with several processes together.
inline constexpr const char* kTensorParallel = "tensor";

/// Which network is used, and how it is computed.
struct ModelOptions {
  std::string model;           ///< a checkpoint folder, or a GGUF file (gguf_file)
  std::string draft_model;     ///< the draft network (see draft_options); empty: none
  std::string dtype = "fp32";  ///< see chosen_dtype
  std::string device = "cpu";  ///< e.g. cpu or cuda:0
  std::string memory_limit;    ///< a size such as 4G (parse_bytes); empty: no limit
  std::string adapter;         ///< folder with a low-rank adapter, extra heads or both; empty: none
  int layers = 0;              ///< use only the first `layers` layers; 0: all layers
  int threads = 0;             ///< number of CPU threads; 0: all cores
  bool no_cuda_graphs = false;  ///< see Model::Options::cuda_graphs
  bool weights = true;          ///< false: only the small files are read (config, tokenizer)
  /// What is divided among the processes that mpirun starts: the blocks of a run ("blocks"), or
  /// each network (kTensorParallel). The verbs read this member, and set `ranks` accordingly; the
  /// functions below only use `ranks`.
  std::string parallel = "blocks";
  Ranks* ranks = nullptr;  ///< see Model::Options::ranks
};

/// The type that options.dtype selects. `auto` selects the first of these types whose condition
/// holds:
/// - gguf: the model is a GGUF file, a kernel can compute with the file's form of at least one
///   weight (packed_type), the device is the CPU, and there is no adapter.
/// - bf16: the device computes bf16 fast, and the checkpoint's type is bf16, fp16, or a GGUF type
///   with fewer bits than fp32.
/// - fp32: always, also if there is no checkpoint.
/// ConfigError: options.dtype is not the name of a type. ModelError: the config cannot be read.
Dtype chosen_dtype(const ModelOptions& options);

/// A loaded checkpoint: a folder, or a GGUF file.
struct Checkpoint {
  std::filesystem::path folder;  ///< texts_folder of the options with which it was loaded
  /// the folder or GGUF file of the network, then the folder of its adapter if it has one
  std::vector<std::filesystem::path> weights;
  std::string note;  ///< a message for the user, e.g. that weights are random; may be empty
  std::vector<std::string> file_notes;  ///< see checkpoint_notes
  bool untrained = false;               ///< the weights are random (kSynthesisNote)
  /// training formats that `train` used; none: not known
  std::optional<std::vector<std::string>> formats;
  std::optional<Tokenizer> tokenizer;  ///< none: not loaded
  Model model;
};

/// The folder with wordings and the training record: the adapter's folder if it has a record or a
/// tokenizer (`train` writes both), otherwise the network's folder or GGUF file.
std::filesystem::path texts_folder(const ModelOptions& options);
/// The folder with tokenizer and chat template: texts_folder, or the network's folder or GGUF file
/// if texts_folder has no tokenizer.
std::filesystem::path tokenizer_folder(const ModelOptions& options);

/// Loads the network and, if `with_tokenizer` is true, its tokenizer. Sets the number of threads of
/// this process (options.threads). ConfigError: no model is named, or an option is invalid.
/// ModelError: a file is missing or invalid, or an option is not supported. DataError: see
/// read_training_record. RunError and c10::Error: see Model::load.
Checkpoint load_checkpoint(const ModelOptions& options, bool with_tokenizer);

/// Shares loaded networks. A network is in use as long as a caller keeps a pointer that `get` or
/// `held` returned. A network in use is not loaded again.
class Checkpoints {
 public:
  /// The network of options.model, which is loaded if it is not in use. If `with_tokenizer` is
  /// true, the tokenizer is loaded too, unless the network in use has it already. Errors: see
  /// load_checkpoint.
  std::shared_ptr<Checkpoint> get(const ModelOptions& options, bool with_tokenizer);
  /// The network of options.model if it is in use; otherwise null. Errors: see network_key.
  std::shared_ptr<Checkpoint> held(const ModelOptions& options) const;

 private:
  std::map<std::string, std::weak_ptr<Checkpoint>> loaded_;  // the keys are those of network_key()
};

/// Identifies the network of options.model: its folder, its adapter's folder, its number of layers,
/// its dtype, and whether its weights are loaded. The device and the threads are not part of the
/// key: within a process, all networks use the same device and the same threads. Errors: see
/// chosen_dtype.
std::string network_key(const ModelOptions& options);

/// The properties of a checkpoint that can be read without its weights.
struct CheckpointFace {
  ModelConfig config;
  std::optional<Tokenizer> tokenizer;  ///< none: the checkpoint has no tokenizer
};
/// Reads the properties of a checkpoint folder or GGUF file. None: `model` is neither of these.
/// ModelError: a file is invalid.
std::optional<CheckpointFace> read_face(const std::string& model);
/// Reads the properties of options.model with options.adapter: the adapter's tokenizer and extra
/// heads, if there are any, replace those of the network. None: options.model is no checkpoint.
/// ModelError: a file is invalid.
std::optional<CheckpointFace> read_face(const ModelOptions& options);

/// The options of the draft network (--draft-model). If options.draft_model is a folder with an
/// adapter and without a network, the draft network consists of the first layers of the target
/// network with this adapter, up to the last layer that the adapter changes. The draft network has
/// the dtype of the target network. Exception: gguf becomes bf16 if the draft network is not a GGUF
/// file or has an adapter. Errors: see adapted_layers and chosen_dtype. REQUIRES:
/// options.draft_model is not empty.
ModelOptions draft_options(const ModelOptions& options);

/// Loads the draft network of `options`, without a tokenizer, or takes it from `loaded` if it is in
/// use. `target`: the loaded network of options.model. ModelError: the two networks have different
/// tokens. If one of the networks has no tokenizer, only the sizes of the vocabularies are
/// compared. DataError: a tokenizer cannot be read. Other errors: see draft_options and
/// load_checkpoint. REQUIRES: options.draft_model is not empty.
std::shared_ptr<Checkpoint> load_draft(const ModelOptions& options, const Checkpoint& target,
                                       Checkpoints& loaded);

/// Loads only the tokenizer, which may have ids that the network does not have (foreign_ids).
/// `folder`: a checkpoint folder or a GGUF file. ModelError: there is no tokenizer. Other errors:
/// see Tokenizer::load.
Tokenizer load_tokenizer(const std::filesystem::path& folder);

/// The name of the file that `model synth` writes next to random weights.
inline constexpr const char* kSynthesisNote = "pardec_synthesis.json";

/// The name of the file that `train` writes next to the weights (TrainingRecord).
inline constexpr const char* kTrainingRecord = "training.json";

/// The record of the prompts that a network was trained on. Empty members were not recorded.
struct TrainingRecord {
  /// Names of the training formats. None: not known, e.g. in the record of extra heads, whose
  /// network may have a separate record.
  std::optional<std::vector<std::string>> formats;
  /// `chat_template`: the setting, e.g. a name. `chat_template_sha256`: hash of the template's
  /// text. `prompt_sha256`: hash of the prompt file; empty also if there was more than one prompt
  /// file.
  std::string chat_template, chat_template_sha256, prompt_sha256;
  Json settings = Json::object();  ///< all settings of the training run
  /// Number of updates with which the folder's weights were trained. None: the record does not say.
  std::optional<std::int64_t> updates = {};
};
/// Reads the record in `folder`. If there is none, all members are empty. ModelError: the file is
/// not a record of `train`. DataError: the file cannot be read or is not JSON.
TrainingRecord read_training_record(const std::filesystem::path& folder);

}  // namespace pardec
