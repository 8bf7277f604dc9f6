#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "src/model/files/families.hpp"
#include "src/model/files/generation_rules.hpp"
#include "src/model/files/rope.hpp"
#include "src/support/json.hpp"
#include "src/support/types.hpp"

namespace pardec {

/// Layers whose MLP is a mixture of experts (Shazeer et al. 2017, arXiv:1701.06538): a router gives
/// each row a probability of each expert, and the row's output is the sum over its most probable
/// experts of probability times the expert's MLP.
struct Experts {
  int count = 0;             ///< per layer; 0: no layer has experts
  int used = 0;              ///< per row
  int inner = 0;             ///< as intermediate_size, of one expert
  bool normalised = false;   ///< the used probabilities are divided by their sum
  std::vector<bool> layers;  ///< per layer: whether it has experts; empty: none has
  bool in(size_t layer) const { return !layers.empty() && layers[layer]; }
};

/// Shape and options of a network, from the Hugging Face `config.json` of a supported family.
struct ModelConfig {
  const Family* family = nullptr;  ///< the row of its model_type; never null once read
  int vocab_size = 0;
  int hidden_size = 0;
  int intermediate_size = 0;
  int layers = 0;
  int heads = 0;
  int kv_heads = 0;
  int head_dim = 0;
  int max_position = 0;  ///< max_position_embeddings
  double rms_norm_eps = 1e-6;
  double initializer_range = 0.02;  ///< standard deviation of new weights; used only in training
  BlockSpec block;
  Rope rope;  ///< of all layers, or of those without the window
  /// If set: of the layers with the window. It rotates as many dimensions as `rope`.
  std::optional<Rope> sliding_rope;
  /// In a layer with a sliding window, a row sees the keys less than this many positions back. 0:
  /// no layer has a window.
  int sliding_window = 0;
  std::vector<bool> slides;  ///< per layer: whether it has the window; empty: none has
  /// The window of one layer; 0: none.
  int window(size_t layer) const { return !slides.empty() && slides[layer] ? sliding_window : 0; }
  /// The windows that occur, 0 (none) first.
  std::vector<int> windows() const;
  /// `rope`, then `sliding_rope` if it is set.
  std::vector<Rope> ropes() const;
  /// Index of one layer's rotary embedding in `ropes`.
  size_t rope_kind(size_t layer) const { return sliding_rope && window(layer) > 0 ? 1 : 0; }
  /// The head is the embedding matrix: tie_word_embeddings is set, and the weights contain no other
  /// head.
  bool tied_head = false;
  Experts experts;
  /// Only with an adapter: the head is a separate matrix, initialised from the embedding.
  bool head_from_embedding = false;
  std::string dtype;  ///< torch_dtype or dtype as written, e.g. "bfloat16"
  std::optional<Token> bos;
  /// eos_token_id of generation_config.json if that file exists, else of config.json
  std::vector<Token> eos;
  GenerationRules generation;  ///< from generation_config.json if it exists, else from config.json
  /// Number of heads besides the network's own, which read the same rows (parameters.hpp).
  int extra_heads = 0;

  /// Valid positions are 0 to this, exclusive. This is max_position, except for `longrope`, where
  /// it is the original length: beyond it, other frequencies would apply to all keys of the text.
  /// (`dynamic` always ends at max_position.)
  int positions() const;
  /// The key of config.json that `positions` comes from, for messages.
  std::string positions_key() const;
};

/// The config.json of a checkpoint folder, or the one that a GGUF file's metadata stand for.
/// ModelError.
Json read_config_json(const std::filesystem::path& model);

/// Reads the config of a checkpoint folder or GGUF file (read_config_json), and
/// `generation_config.json` if present. Also finds out from the weights whether the head is tied,
/// and counts the extra heads. `adapter`: the folder of an adapter over the network, or empty; it
/// may untie the head, and its extra heads take precedence. ModelError, which lists what is
/// supported: an unsupported architecture or option.
ModelConfig read_model_config(const std::filesystem::path& folder,
                              const std::filesystem::path& adapter = {});
/// The same from parsed JSON. `where` is its name in errors.
ModelConfig parse_model_config(const Json& json, const std::string& where);

/// The same network cut to its first `layers` layers; 0: all layers. ModelError, which names
/// `folder`: it has fewer layers.
ModelConfig with_first_layers(ModelConfig config, int layers, const std::filesystem::path& folder);

/// Number of parameters.
std::int64_t parameter_count(const ModelConfig& config);

}  // namespace pardec
