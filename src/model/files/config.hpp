#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/model/files/families.hpp"
#include "src/model/files/generation_rules.hpp"
#include "src/model/files/rope.hpp"
#include "src/support/gguf.hpp"
#include "src/support/json.hpp"
#include "src/support/types.hpp"

namespace pardec {

/// A mixture of experts (Shazeer et al. 2017, arXiv:1701.06538) replaces the MLP in some layers.
/// For each row, a router computes a probability for each expert. Only the MLPs of the row's most
/// probable experts compute the row. The row's output is the sum of their outputs, each multiplied
/// by the expert's probability. A shared expert (Qwen2-MoE) computes every row: the output of its
/// MLP, multiplied by the sigmoid of its own router, is added to the sum.
struct Experts {
  int count = 0;         ///< number of experts in a layer; 0: no layer has experts
  int used = 0;          ///< number of experts that compute each row
  int inner = 0;         ///< intermediate size of one expert's MLP
  int shared_inner = 0;  ///< intermediate size of the shared expert's MLP; 0: there is none
  /// whether the probabilities of the experts that compute a row are divided by their sum
  bool normalised = false;
  std::vector<bool> layers;  ///< per layer: whether it has experts; empty: no layer has experts
  /// Whether a layer has experts.
  bool in(size_t layer) const { return !layers.empty() && layers[layer]; }
};

/// Shape and options of a network, from the Hugging Face `config.json` of a supported family.
struct ModelConfig {
  const Family* family = nullptr;  ///< see families.hpp; never null once read
  int vocab_size = 0;
  int hidden_size = 0;
  int intermediate_size = 0;
  int layers = 0;
  int heads = 0;
  int kv_heads = 0;
  int head_dim = 0;
  int max_position = 0;  ///< max_position_embeddings
  double norm_eps = 1e-6;
  double initializer_range = 0.02;  ///< standard deviation of new weights; used only in training
  BlockSpec block;
  Rope rope;  ///< rotary embedding of all layers, or of the layers without a window
  /// Rotary embedding of the layers with a sliding window; none: `rope` is for all layers. Both
  /// rotate the same number of dimensions.
  std::optional<Rope> sliding_rope;
  /// In a layer with a sliding window, a row sees only keys that are less than this many positions
  /// back. 0: no layer has a window.
  int sliding_window = 0;
  std::vector<bool> slides;  ///< per layer: whether it has the window; empty: no layer has it
  /// The window of one layer; 0: none.
  int window(size_t layer) const { return !slides.empty() && slides[layer] ? sliding_window : 0; }
  /// The distinct values of `window` over all layers, ascending.
  std::vector<int> windows() const;
  /// Per layer: whether queries and keys are not rotated (NoPE); empty: all layers rotate.
  std::vector<bool> unrotated;
  /// The network's rotary embeddings: `rope`, then `sliding_rope` if it is set, then a Rope of type
  /// `still` if some layers are not rotated.
  std::vector<Rope> ropes() const;
  /// Index in `ropes` of the rotary embedding of a layer.
  size_t rope_kind(size_t layer) const {
    if (!unrotated.empty() && unrotated[layer]) return sliding_rope ? 2 : 1;
    return sliding_rope && window(layer) > 0 ? 1 : 0;
  }
  /// Whether the head is the embedding matrix: tie_word_embeddings is set, and the weights contain
  /// no separate head.
  bool tied_head = false;
  Experts experts;
  /// Only with an adapter: whether the head is a separate matrix that is initialised from the
  /// embedding.
  bool head_from_embedding = false;
  /// torch_dtype or dtype as written, e.g. "bfloat16"; empty: neither is given. For a GGUF file,
  /// this is the type of most numbers (main_type), with torch's name if there is one.
  std::string dtype;
  /// How a safetensors checkpoint stores its quantised weights, e.g. "GPTQ, 4 bits"; empty: they
  /// are not quantised.
  std::string quantised;
  /// Only for a GGUF file: maps the name of each weight that is stored in blocks to its type.
  std::map<std::string, const GgmlType*> blocks;
  std::optional<Token> bos;  ///< the id that begins a text; none: there is none
  /// The ids that end a text, from the first of these sources that exists: eos_token_id in
  /// generation_config.json, eos_token_id in config.json, the family's default. Ids outside the
  /// vocabulary are left out.
  std::vector<Token> eos;
  GenerationRules generation;  ///< from generation_config.json if it exists, else from config.json
  /// Number of extra heads (parameters.hpp), such as Medusa's. They have the same input as the
  /// network's own head.
  int extra_heads = 0;

  /// The number of valid positions: a position must be in [0, positions()). This is max_position.
  /// Exception: with `longrope`, the result is at most Rope::original_max_position, since a longer
  /// text would need other frequencies for all its keys.
  int positions() const;
  /// The key of config.json that determines the result of `positions`, for messages. If longrope
  /// reduces the number of positions, the text also says so.
  std::string positions_key() const;
};

/// The content of a checkpoint folder's config.json, or a config.json made from the metadata of a
/// GGUF file (gguf_config). ModelError: the file cannot be read, or a GGUF file describes an
/// unsupported network.
Json read_config_json(const std::filesystem::path& model);

/// Reads the config of a checkpoint folder or GGUF file (read_config_json), and
/// `generation_config.json` if present. Also finds out from the weights whether the head is tied,
/// and counts the extra heads. `adapter`: the folder of an adapter of the network; empty: none. The
/// adapter may untie the head, and its extra heads replace those of the checkpoint. ModelError: a
/// file is missing or invalid, or an architecture or option is not supported; in this case, the
/// message lists what is supported.
ModelConfig read_model_config(const std::filesystem::path& folder,
                              const std::filesystem::path& adapter = {});
/// Parses the content of a config.json. Members that come from other files keep their defaults:
/// `generation`, `head_from_embedding`, `extra_heads` and `blocks`. `tied_head` is the value of
/// tie_word_embeddings, regardless of the weights. `where`: the file's name for errors. ModelError:
/// a value is missing, invalid or not supported.
ModelConfig parse_model_config(const Json& json, const std::string& where);

/// The config with only the first `layers` layers; 0: all layers. ModelError, which names `folder`:
/// the network has fewer layers. REQUIRES: layers >= 0.
ModelConfig with_first_layers(ModelConfig config, int layers, const std::filesystem::path& folder);

/// Number of scalar parameters in the network, without extra heads. A tied head counts once.
std::int64_t parameter_count(const ModelConfig& config);

}  // namespace pardec
