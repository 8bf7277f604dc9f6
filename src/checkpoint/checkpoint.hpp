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

/// Which network, and how it computes.
struct ModelOptions {
  std::string model, draft_model, dtype = "fp32", device = "cpu", memory_limit;
  std::string adapter;  ///< folder with a low-rank adapter or extra heads over `model`; empty: none
  int layers = 0;       ///< the first so many of the network's layers alone; 0: all
  int threads = 0;
  bool no_cuda_graphs = false;
};

/// The type that --dtype names; `auto`: bf16 where the checkpoint holds bf16 and the device
/// computes it fast, else fp32. ConfigError; ModelError: a config that cannot be read.
Dtype chosen_dtype(const ModelOptions& options);

/// A checkpoint folder, loaded.
struct Checkpoint {
  std::filesystem::path folder;                ///< texts_folder
  std::vector<std::filesystem::path> weights;  ///< folders of the network, and of its adapter
  std::string
      note;  ///< what a reader of the run should know, e.g. that weights are random; may be empty
  std::vector<std::string> file_notes;  ///< checkpoint_notes
  bool untrained = false;
  std::optional<std::vector<std::string>> formats;  ///< that pardec taught it; none: not known
  std::optional<Tokenizer> tokenizer;
  Model model;
};

/// Where wordings and the record of training stand: beside the adapter where that has a record or a
/// tokenizer, as those that `train` writes, else beside the network.
std::filesystem::path texts_folder(const ModelOptions& options);
/// Where tokenizer and chat template stand: there, or beside the network where there is none.
std::filesystem::path tokenizer_folder(const ModelOptions& options);

/// Loads the network, and its tokenizer.json unless told not to. ModelError.
Checkpoint load_checkpoint(const ModelOptions& options, bool with_tokenizer);

/// Networks that are loaded: each distinct one, by folder and type, once while somebody holds it.
class Checkpoints {
 public:
  /// That of `options.model`; loaded where nobody holds it. As load_checkpoint.
  std::shared_ptr<Checkpoint> get(const ModelOptions& options, bool with_tokenizer);
  /// Null: nobody holds it.
  std::shared_ptr<Checkpoint> held(const ModelOptions& options) const;

 private:
  std::map<std::string, std::weak_ptr<Checkpoint>> loaded_;  // by network_key
};

/// What tells the network of `options.model` from others: its folder, its adapter's, and the type
/// it computes in.
std::string network_key(const ModelOptions& options);

/// What can be seen of a checkpoint without its weights.
struct CheckpointFace {
  ModelConfig config;
  std::optional<Tokenizer> tokenizer;  ///< none: it has no tokenizer.json
};
/// None where no model is named, or its folder is not there. ModelError for files that are wrong.
std::optional<CheckpointFace> read_face(const std::string& model);
/// The same with an adapter's tokenizer and extra heads, where it has some.
std::optional<CheckpointFace> read_face(const ModelOptions& options);

/// The options of the network of --draft-model beside the one that it drafts for. Where that folder
/// holds an adapter and no network, it is the first layers of the one it drafts for, up to the last
/// that the adapter changes, with the adapter over them. ModelError: as adapted_layers.
ModelOptions draft_options(const ModelOptions& options);

/// Loads that network. ModelError where the two have not the same vocabulary.
std::shared_ptr<Checkpoint> load_draft(const ModelOptions& options, const Checkpoint& target,
                                       Checkpoints& loaded);

/// The tokenizer alone. ModelError. (It may have ids beyond the network's vocabulary: foreign_ids.)
Tokenizer load_tokenizer(const std::filesystem::path& folder);

/// A file beside the weights that `model synth` writes: these weights are random.
inline constexpr const char* kSynthesisNote = "pardec_synthesis.json";

/// What `train` writes beside the weights that it made.
inline constexpr const char* kTrainingRecord = "training.json";

/// What that record says of the prompts that a network was taught with; empty: it does not say.
struct TrainingRecord {
  /// Names of the decoders' formats. None: not known, as for extra heads over a network with a
  /// record of its own.
  std::optional<std::vector<std::string>> formats;
  std::string chat_template, chat_template_sha256, prompt_sha256;
  Json settings = Json::object();  ///< all of them
};
/// Empty where the folder has none. ModelError where it is no record of `train`.
TrainingRecord read_training_record(const std::filesystem::path& folder);

}  // namespace pardec
