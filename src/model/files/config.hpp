#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "src/model/files/generation_rules.hpp"
#include "src/model/files/rope.hpp"
#include "src/support/json.hpp"
#include "src/support/types.hpp"

namespace pardec {

enum class Family { llama, mistral, olmo2, phi3, qwen2, qwen3 };
/// As config.json writes them: "llama", "LlamaForCausalLM".
std::string model_type(Family family);
std::string architecture(Family family);
/// Whether layers of the family can have a sliding window.
bool has_windows(Family family);

/// Shape and options of a network: a Hugging Face `config.json` of a supported family.
struct ModelConfig {
  Family family = Family::llama;
  int vocab_size = 0;
  int hidden_size = 0;
  int intermediate_size = 0;
  int layers = 0;
  int heads = 0;
  int kv_heads = 0;
  int head_dim = 0;
  int max_position = 0;  ///< max_position_embeddings
  double rms_norm_eps = 1e-6;
  double initializer_range = 0.02;  ///< standard deviation of new weights; training alone reads it
  Rope rope;
  /// Keys that a row sees in a layer with a sliding window: those less than so many positions
  /// back. 0: no layer has one.
  int sliding_window = 0;
  std::vector<bool> slides;  ///< by layer: whether it has the window; empty where none has
  /// Of a layer; 0: none.
  int window(size_t layer) const { return !slides.empty() && slides[layer] ? sliding_window : 0; }
  /// Of the kinds of layers that there are: without a window, with it.
  std::vector<int> windows() const;
  /// The head is the embedding matrix: tie_word_embeddings, where the weights have no other head.
  bool tied_head = false;
  /// They are two with an adapter alone: the head begins as the embedding.
  bool head_from_embedding = false;
  bool qk_norm = false;  ///< RMS norm over head_dim on queries and keys, before rotation (Qwen3)
  bool qk_norm_whole = false;  ///< the same over all heads together (OLMo-2)
  /// Norms stand behind attention and MLP, before their sums, instead of in front of them (OLMo-2).
  bool post_norms = false;
  bool fused = false;           ///< q, k, v are one matrix in the file, gate and up another (Phi-3)
  bool attention_bias = false;  ///< bias on q, k, v (Qwen2; an option of Llama, OLMo-2, Qwen3)
  bool output_bias = false;     ///< bias on o (with that option)
  bool mlp_bias = false;        ///< bias on gate, up, down (Llama option)
  std::string dtype;            ///< torch_dtype or dtype as written, e.g. "bfloat16"
  std::optional<Token> bos;
  std::vector<Token>
      eos;  ///< eos_token_id of generation_config.json where it is, else of config.json
  GenerationRules generation;  ///< of generation_config.json, else of config.json
  /// Heads besides the network's own, which read the same rows (parameters.hpp).
  int extra_heads = 0;

  /// Positions go from 0 to this, exclusive: max_position, or with `longrope` the original length,
  /// since beyond it other frequencies hold, for all keys of the text (`dynamic` ends at
  /// max_position in any case).
  int positions() const;
  /// Where `positions` stands in config.json, for messages.
  std::string positions_key() const;
};

/// Reads `config.json` (and `generation_config.json` where it is) of a checkpoint folder, looks
/// whether its weights have a head of their own, or the adapter over it (a folder; empty: none)
/// makes one, and counts its extra heads, or the adapter's where that has some. An architecture or
/// option that is not supported is a ModelError that says which, and what is.
ModelConfig read_model_config(const std::filesystem::path& folder,
                              const std::filesystem::path& adapter = {});
/// The same from parsed JSON; `where` names it in errors.
ModelConfig parse_model_config(const Json& json, const std::string& where);

/// The same network with its first `layers` layers alone; 0: with all. ModelError, which names
/// `folder`: it has fewer.
ModelConfig with_first_layers(ModelConfig config, int layers, const std::filesystem::path& folder);

/// Number of parameters of the shape.
std::int64_t parameter_count(const ModelConfig& config);

}  // namespace pardec
