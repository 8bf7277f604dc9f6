#pragma once
#include <string>

#include "src/support/types.hpp"

namespace pardec {

/// Where a layer has norms: before its two sublayers, after them (before the residual sums), or
/// both.
enum class Norms { before, after, both };
/// RMS norms of queries and keys before the rotary embedding: over each head, or over all heads
/// together.
enum class QkNorm { none, heads, whole };
/// The activation of the gate: silu(x), or gelu(x) with tanh, i.e. x / (1 + e^-2u) with
/// u = sqrt(2 / pi) * (x + 0.044715 x^3).
enum class Activation { silu, gelu_tanh };

/// The architecture of a network's layers, embedding and head. ModelConfig adds the layers' sliding
/// windows and the rotary embeddings.
struct BlockSpec {
  Norms norms = Norms::before;
  QkNorm qk_norm = QkNorm::none;
  /// Every norm multiplies by 1 + weight, instead of by the weight. The sum is computed in float32
  /// (float64 for fp64 networks).
  bool norm_adds_one = false;
  Activation activation = Activation::silu;
  bool fused = false;           ///< the file stores q, k, v as one matrix, and gate, up as another
  bool attention_bias = false;  ///< bias on q, k, v
  bool output_bias = false;     ///< bias on o
  bool mlp_bias = false;        ///< bias on gate, up, down
  double query_scalar = 0;      ///< attention scores are q k / sqrt(query_scalar)
  double attention_cap = 0;     ///< an attention score s becomes cap * tanh(s / cap); 0: no cap
  double logit_cap = 0;         ///< the same for the logits of all heads
  double embedding_scale = 1;   ///< factor of the embedding's rows; rounded to the network's dtype
};

/// The layers with a sliding window. The key `layer_types` of config.json overrides this.
enum class Windows {
  none,
  every_layer,
  if_used,       ///< every layer, but only with `use_sliding_window`
  later_layers,  ///< only with `use_sliding_window`: the layers from `max_window_layers` on
  all_but_nth,   ///< all except every n-th layer
};

/// The form in which config.json describes the rotary embedding (rope.hpp).
enum class RopeForm { common, phi3, by_layer };

/// One supported `model_type`. Values here are used for keys that config.json lacks; they are the
/// defaults of transformers' configuration class.
struct Family {
  const char* model_type;
  const char* architecture;
  int head_dim = 0;  ///< 0: hidden_size / heads
  int kv_heads = 0;  ///< 0: heads
  int max_position = 2048;
  double rms_norm_eps = 1e-6;
  bool tied = false;  ///< tie_word_embeddings
  Token bos = 0;      ///< 0: none
  /// 0: none. It is 0 even where transformers' default is 2 (llama, mistral), because id 2 is an
  /// arbitrary token in tokenizers other than the families' original ones.
  Token eos = 0;

  BlockSpec block = {};         ///< the family's architecture; options in config.json modify it
  bool attention_bias = false;  ///< the key `attention_bias` adds biases on q, k, v, o
  bool mlp_bias = false;        ///< there is a key `mlp_bias`
  const char* activation_key = "hidden_act";  ///< the key that names `block.activation`
  bool query_scalar = false;                  ///< there is a key `query_pre_attn_scalar`
  bool attention_cap = false;                 ///< there is a key `attn_logit_softcapping`
  bool logit_cap = false;                     ///< there is a key `final_logit_softcapping`
  bool scaled_embedding = false;              ///< the embedding is scaled by sqrt(hidden_size)
  /// There is a key `use_bidirectional_attention`, which must be false. Other families ignore it.
  bool bidirectional_key = false;
  Windows windows = Windows::none;
  int window = 4096;                  ///< default of `sliding_window`; 0: none
  int window_pattern = 0;             ///< n of `all_but_nth`
  const char* pattern_key = nullptr;  ///< the key for n, if there is one
  RopeForm rope = RopeForm::common;
  /// Default of `num_experts`, the number of experts per layer; 0: the family has no experts.
  int experts = 0;
};

/// The family with this `model_type`; null: it is not supported.
const Family* find_family(const std::string& model_type);
/// The family with this name in `architectures`; null: it is not supported.
const Family* find_architecture(const std::string& architecture);
/// Text for error messages: "supported are llama (LlamaForCausalLM), ..."
std::string supported_families();

}  // namespace pardec
