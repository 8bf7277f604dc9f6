#pragma once
#include <array>
#include <span>
#include <string>

#include "src/support/types.hpp"

namespace pardec {

/// Where a layer has norms: before its two sublayers, after them (before the residual sums), or
/// both.
enum class Norms { before, after, both };
/// Norms of queries and keys before the rotary embedding: over each head, or over all heads
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
  /// Norms are layer norms (mean subtracted), instead of RMS norms.
  bool layer_norm = false;
  bool norm_bias = false;  ///< norms have a bias
  /// Attention and the MLP both read the layer's input, after one norm (input_norm).
  bool parallel = false;
  Activation activation = Activation::silu;
  bool gated = true;            ///< down(act(gate x) * up x); otherwise down(act(up x))
  bool fused_qkv = false;       ///< the file stores q, k, v as one matrix
  bool fused_gate_up = false;   ///< the file stores gate, up as one matrix
  bool attention_bias = false;  ///< bias on q, k, v
  bool output_bias = false;     ///< bias on o
  bool mlp_bias = false;        ///< bias on gate, up, down
  bool head_bias = false;       ///< bias on the head
  double query_scalar = 0;      ///< attention scores are q k / sqrt(query_scalar)
  double attention_cap = 0;     ///< an attention score s becomes cap * tanh(s / cap); 0: no cap
  double logit_cap = 0;         ///< the same for output logits, also those of extra heads
  double embedding_scale = 1;   ///< factor of the embedding's rows; rounded to the network's dtype
  double residual_scale = 1;    ///< factor of a sublayer's output before it is added
  double logit_divisor = 1;     ///< output logits are divided by it, also those of extra heads
  /// Rotary embedding rotates dimension 2i of a head together with dimension 2i + 1, instead of
  /// dimension i with dimension i + rope.dims / 2.
  bool neighbours_turn = false;
};

/// The role of a weight in the network. A network has only some of these roles, depending on its
/// config.
enum class Role {
  embedding,
  input_norm,
  qkv,  ///< q, k and v stacked into one matrix
  q,
  k,
  v,
  o,  ///< writes attention's output into the residual stream
  q_norm,
  k_norm,
  after_attention_norm,  ///< norm of attention's output
  mlp_norm,              ///< norm of the MLP's input
  gate_up,               ///< gate and up stacked into one matrix
  gate,
  up,
  down,         ///< writes the MLP's output into the residual stream
  router,       ///< gives each row a probability of each expert
  expert_gate,  ///< expert_gate, expert_up, expert_down: the MLP of one expert
  expert_up,
  expert_down,
  shared_router,  ///< gives each row the factor of the shared expert
  shared_gate,    ///< shared_gate, shared_up, shared_down: the MLP of the shared expert
  shared_up,
  shared_down,
  after_mlp_norm,  ///< norm of the MLP's output
  final_norm,
  head,
  extra_block,  ///< a residual block of an extra head
  extra_out,
};

/// The name of a weight's module in a checkpoint, without the prefix for layer and expert.
struct RoleName {
  Role role;
  const char* module;
};

/// The layers with a sliding window. The key `layer_types` of config.json overrides this.
enum class Windows {
  none,
  every_layer,
  if_used,       ///< every layer, but only with `use_sliding_window`
  later_layers,  ///< only with `use_sliding_window`: the layers from `max_window_layers` on
  even_layers,   ///< only with `use_sliding_window`: layers 0, 2, ... below `max_window_layers`
  all_but_nth,   ///< all except every n-th layer
};

/// The form in which config.json describes the rotary embedding (rope.hpp).
enum class RopeForm { common, phi3, by_layer };

/// A key of config.json that adds biases to matrices of every layer.
struct BiasKey {
  const char* key;
  bool fallback = false;  ///< the value if the key is missing
  bool qkv = false;       ///< it adds biases to q, k and v
  bool o = false;         ///< it adds a bias to o
  bool mlp = false;       ///< it adds biases to the matrices of the MLP
};

/// Defaults of the keys about experts in config.json. A number is the value if its key is missing.
struct ExpertKeys {
  int count = 0;  ///< of `num_experts` or `num_local_experts`; 0: the family has no experts
  int used = 0;   ///< of `num_experts_per_tok`
  const char* inner_key = "moe_intermediate_size";
  int inner = 0;  ///< of `inner_key`
  /// The probabilities of a row's experts are always divided by their sum; false: if
  /// `norm_topk_prob` is true.
  bool normalised = false;
  bool some_layers = false;  ///< `decoder_sparse_step` and `mlp_only_layers` select the layers
  int shared_inner = 0;      ///< of `shared_expert_intermediate_size`; 0: no shared expert
};

/// One supported `model_type`. Values here are used for keys that config.json lacks; they are the
/// defaults of transformers' configuration class.
struct Family {
  const char* model_type;
  const char* architecture;
  const char* other_architecture = nullptr;  ///< what transformers writes instead, if it does
  int head_dim = 0;                          ///< 0: hidden_size / heads
  int kv_heads = 0;                          ///< 0: heads
  int max_position = 2048;
  double norm_eps = 1e-6;
  const char* eps_key = "rms_norm_eps";  ///< the key of `norm_eps`
  bool tied = false;                     ///< tie_word_embeddings
  Token bos = 0;                         ///< 0: none
  /// Unused places are 0. llama and mistral have none, although transformers' default is 2, because
  /// id 2 is an arbitrary token in tokenizers other than the families' original ones.
  std::array<Token, 3> eos = {};

  BlockSpec block = {};  ///< the family's architecture; options in config.json modify it
  std::span<const BiasKey> biases = {};
  const char* activation_key = "hidden_act";  ///< the key that names `block.activation`
  bool query_scalar = false;                  ///< there is a key `query_pre_attn_scalar`
  bool attention_cap = false;                 ///< there is a key `attn_logit_softcapping`
  bool logit_cap = false;                     ///< there is a key `final_logit_softcapping`
  bool scaled_embedding = false;              ///< the embedding is scaled by sqrt(hidden_size)
  /// There are keys `embedding_multiplier`, `attention_multiplier`, `residual_multiplier` and
  /// `logits_scaling`.
  bool multipliers = false;
  bool parallel_key = false;  ///< there is a key `use_parallel_residual`
  double logit_scale = 0;     ///< default of `logit_scale`, a factor of the logits; 0: no such key
  /// Layers without the sliding window do not rotate.
  bool full_layers_unrotated = false;
  /// There is a key `use_bidirectional_attention`, which must be false. Other families ignore it.
  bool bidirectional_key = false;
  /// There is a key `clip_qkv`, which must be null. Other families ignore it.
  bool clip_key = false;
  Windows windows = Windows::none;
  int window = 4096;                  ///< default of `sliding_window`; 0: none
  int window_pattern = 0;             ///< n of `all_but_nth`
  const char* pattern_key = nullptr;  ///< the key for n, if there is one
  RopeForm rope = RopeForm::common;
  double rope_theta = 10000;
  /// Default of `partial_rotary_factor`, the share of a head's dimensions that is rotated; 0: all
  /// dimensions, and no other share is supported.
  double rotated = 0;
  /// Default of `no_rope_layer_interval`: every n-th layer does not rotate, unless `no_rope_layers`
  /// lists the layers. 0: all layers rotate.
  int unrotated_nth = 0;
  ExpertKeys experts = {};
  std::span<const RoleName> names = {};  ///< modules whose names differ from llama's
  const char* expert_prefix = "mlp.experts.";
};

/// All families, ordered by `model_type`.
std::span<const Family> families();
/// The family with this `model_type`; null: it is not supported.
const Family* find_family(const std::string& model_type);
/// The family with this name in `architectures`; null: it is not supported.
const Family* find_architecture(const std::string& architecture);
/// Text for error messages: "supported are llama, mistral, ..."
std::string supported_families();

}  // namespace pardec
