#pragma once
#include <array>
#include <span>
#include <string>
#include <string_view>

#include "src/support/types.hpp"

namespace pardec {

/// Where a layer has norms: before its two sublayers, after them (before the residual sums), or
/// both.
enum class Norms { before, after, both };
/// Norms of queries and keys before the rotary embedding: none, one over each head (`heads`), or
/// one over all heads together (`whole`).
enum class QkNorm { none, heads, whole };
/// The activation in the MLP: silu(x); gelu(x) = x * Phi(x), with the distribution function of the
/// normal distribution; or gelu(x) with tanh, i.e. x / (1 + e^-2u) with
/// u = sqrt(2 / pi) * (x + 0.044715 x^3).
enum class Activation { silu, gelu, gelu_tanh };
/// How a checkpoint stores q, k and v. `apart`: as three matrices. `stacked`: as one matrix with
/// all rows of q, then all rows of k, then all rows of v. `by_key_head`: as one matrix that has for
/// each key head, one after another, the q rows of all query heads that use the key head, then its
/// k rows, then its v rows.
enum class Qkv { apart, stacked, by_key_head };

/// The architecture of a network's layers, embedding and head. ModelConfig adds the layers' sliding
/// windows and the rotary embeddings. The comment of a bool describes the case in which the bool is
/// true.
struct BlockSpec {
  Norms norms = Norms::before;
  QkNorm qk_norm = QkNorm::none;
  /// Every norm multiplies by 1 + weight instead of by weight. 1 + weight is computed in float32
  /// (float64 for fp64 networks).
  bool norm_adds_one = false;
  /// Norms are layer norms, which subtract the mean, instead of RMS norms.
  bool layer_norm = false;
  bool norm_bias = false;  ///< norms have a bias
  /// Attention and the MLP both read the layer's input.
  bool parallel = false;
  /// Only with `parallel`: attention reads the input after input_norm, the MLP after mlp_norm.
  /// False: both read it after input_norm.
  bool two_norms = false;
  /// Each position has a learned row, which is added to the embedding.
  bool learned_positions = false;
  Activation activation = Activation::silu;
  bool gated = true;  ///< the MLP computes down(act(gate x) * up x); false: down(act(up x))
  /// If not 0, an MLP with a gate computes g' * sigmoid(swiglu_slope * g') * (u' + 1) instead of
  /// act(g) * u. Here g' = min(g, limit), u' is u clamped to [-limit, limit], and limit is this
  /// number.
  double swiglu_limit = 0;
  double swiglu_slope = 1;
  Qkv qkv = Qkv::apart;         ///< how the file stores q, k, v
  bool fused_gate_up = false;   ///< the file stores gate, up as one matrix
  bool attention_bias = false;  ///< bias on q, k, v
  bool output_bias = false;     ///< bias on o
  bool mlp_bias = false;        ///< bias on gate, up, down, also of experts
  bool head_bias = false;       ///< bias on the head
  bool router_bias = false;     ///< bias on the router of experts
  /// Each query head has a learned score, which counts in the softmax of its scores like a key
  /// without a value (Role::sinks).
  bool sinks = false;
  /// Attention scores are q k / sqrt(query_scalar). In Family::block, this is the default of the
  /// config's key `query_pre_attn_scalar`; 0: the family does not have this key. For such a family,
  /// the value in ModelConfig::block is head_dim, or, with Family::multipliers,
  /// 1 / attention_multiplier^2.
  double query_scalar = 0;
  double attention_cap = 0;    ///< an attention score s becomes cap * tanh(s / cap); 0: no cap
  double logit_cap = 0;        ///< cap of output logits, also those of extra heads; 0: no cap
  double embedding_scale = 1;  ///< factor of the embedding's rows; rounded to the network's dtype
  double residual_scale = 1;   ///< factor of a sublayer's output before it is added
  double logit_divisor = 1;    ///< divisor of output logits, also those of extra heads
  /// The rotary embedding rotates dimension 2i of a head together with dimension 2i + 1. False: it
  /// rotates dimension i together with dimension i + rope.dims / 2.
  bool neighbours_turn = false;
};

/// The role of a weight in the network. A network has only some of these roles, depending on its
/// config.
enum class Role {
  embedding,
  positions,  ///< rows that are added to the embedding, one for each position
  input_norm,
  qkv,  ///< q, k and v in one matrix (Qkv)
  q,
  k,
  v,
  o,      ///< writes attention's output into the residual stream
  sinks,  ///< one number for each query head (BlockSpec::sinks)
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
  extra_out,    ///< matrix to the vocabulary of an extra head
};

/// The name of a weight's module in a checkpoint, without the prefix for layer and expert.
struct RoleName {
  Role role;
  const char* module;
};

/// The layers that have a sliding window if config.json has no key `layer_types`. If config.json
/// has this key: for the last three kinds, the key selects the layers; for the first three kinds,
/// the key must name the same layers as the kind.
enum class Windows {
  none,
  every_layer,
  if_used,       ///< every layer, but only with `use_sliding_window`
  later_layers,  ///< only with `use_sliding_window`: the layers from `max_window_layers` on
  even_layers,   ///< only with `use_sliding_window`: layers 0, 2, ... below `max_window_layers`
  all_but_nth,   ///< all except every n-th layer (Family::window_pattern)
};

/// The form in which config.json describes the rotary embedding. `common`: as for most families
/// (read_rope). `phi3`: with the older names of Phi-3 (RopeDefaults::phi3). `by_layer`: once for
/// each kind of layer (read_layer_ropes). `none`: there is no rotary embedding.
enum class RopeForm { common, phi3, by_layer, none };

/// A key of config.json for which a family has its own name. The family accepts both names, but not
/// with different values. With `own` null, the usual name is ignored in this family. A family that
/// has its own name for a key and ignores the usual name has two rows for the key: first the row
/// with `own` null, then the row with the family's name.
struct KeyName {
  const char* usual;  ///< the key's name in most families
  const char* own;    ///< the key's name in this family, or null
};

/// A key of config.json that must have the given value, or be missing.
struct NeutralKey {
  const char* key;
  const char* value;  ///< as JSON
};

/// A boolean key of config.json. If its value is true, the matrices named by `qkv`, `o` and `mlp`
/// have biases in every layer.
struct BiasKey {
  const char* key;
  bool fallback = false;  ///< the value if the key is missing
  bool qkv = false;       ///< q, k and v have biases
  bool o = false;         ///< o has a bias
  bool mlp = false;       ///< the matrices of the MLP have biases
};

/// The keys about experts in config.json. Each number is the default of a key: the value that
/// counts if the key is missing.
struct ExpertKeys {
  int count = 0;  ///< default of `num_experts` or `num_local_experts`; 0: no experts in the family
  int used = 0;   ///< default of `num_experts_per_tok`
  const char* inner_key = "moe_intermediate_size";  ///< the key for Experts::inner
  int inner = 0;                                    ///< default of `inner_key`
  /// Whether the probabilities of a row's experts are always divided by their sum. False: the key
  /// `norm_topk_prob` decides.
  bool normalised = false;
  /// Whether the keys `decoder_sparse_step` and `mlp_only_layers` select the layers with experts.
  /// False: all layers have experts.
  bool some_layers = false;
  int shared_inner = 0;  ///< default of `shared_expert_intermediate_size`; 0: no shared expert
};

/// One supported `model_type`: the architecture of its networks, and the keys of its config.json. A
/// default is the value that counts if config.json does not have the key. The defaults are those of
/// transformers' configuration class.
struct Family {
  const char* model_type;    ///< the value of `model_type` in config.json
  const char* architecture;  ///< the entry of `architectures` in config.json
  /// Another accepted entry of `architectures`; null: none.
  const char* other_architecture = nullptr;
  int head_dim = 0;  ///< default of `head_dim`; 0: hidden_size / heads
  int kv_heads = 0;  ///< default of `num_key_value_heads`; 0: heads
  /// Default of `intermediate_size`, as a multiple of hidden_size; 0: the key is required.
  int inner_factor = 0;
  int max_position = 2048;               ///< default of `max_position_embeddings`
  double norm_eps = 1e-6;                ///< default of `eps_key`
  const char* eps_key = "rms_norm_eps";  ///< the key for ModelConfig::norm_eps
  bool tied = false;                     ///< default of `tie_word_embeddings`
  Token bos = 0;                         ///< default of `bos_token_id`; 0: none
  /// Default of `eos_token_id`; unused places are 0. llama and mistral have no default here,
  /// although transformers' default is 2, because id 2 is an arbitrary token in tokenizers other
  /// than the original tokenizers of these families.
  std::array<Token, 3> eos = {};

  BlockSpec block = {};  ///< the family's architecture; options in config.json modify it
  std::span<const BiasKey> biases = {};       ///< keys that add biases to the block
  const char* activation_key = "hidden_act";  ///< the key that names `block.activation`
  bool query_scalar = false;                  ///< there is a key `query_pre_attn_scalar`
  bool attention_cap = false;                 ///< there is a key `attn_logit_softcapping`
  bool logit_cap = false;                     ///< there is a key `final_logit_softcapping`
  bool scaled_embedding = false;              ///< the embedding is scaled by sqrt(hidden_size)
  /// There are keys `embedding_multiplier`, `attention_multiplier`, `residual_multiplier` and
  /// `logits_scaling`. The default of each is 1.
  bool multipliers = false;
  /// There are keys `scale_emb`, `scale_depth` and `dim_model_base`.
  bool mup_keys = false;
  bool swiglu_keys = false;   ///< there are keys `swiglu_limit` and `swiglu_alpha`
  bool parallel_key = false;  ///< there is a key `use_parallel_residual`
  /// There are keys `new_decoder_architecture`, `multi_query`, `parallel_attn` and
  /// `num_ln_in_parallel_attn`.
  bool kind_keys = false;
  double logit_scale = 0;  ///< default of the key `logit_scale`, a factor of the logits; 0: no key
  /// Layers without the sliding window do not rotate.
  bool full_layers_unrotated = false;
  /// Keys of which only one value is supported. Any other value would change the network, and is
  /// refused. Families that do not list a key here ignore it.
  std::span<const NeutralKey> neutral = {};
  std::span<const KeyName> keys = {};  ///< keys that have another name in this family
  Windows windows = Windows::none;     ///< which layers have a sliding window
  /// Default of `sliding_window`; 0: no window. If the key is null, there is no window either.
  int window = 4096;
  int window_pattern = 0;             ///< default of n in Windows::all_but_nth
  const char* pattern_key = nullptr;  ///< the key for n; null: there is no key
  RopeForm rope = RopeForm::common;
  double rope_theta = 10000;  ///< default of `rope_theta`
  /// Default of `rope_scaling`, as JSON; null: none.
  const char* rope_scaling = nullptr;
  /// Default of `partial_rotary_factor`, the share of a head's dimensions that is rotated; 0: all
  /// dimensions, and no other share is supported.
  double rotated = 0;
  /// Default of `no_rope_layer_interval`: every n-th layer does not rotate, unless `no_rope_layers`
  /// lists the layers. 0: all layers rotate.
  int unrotated_nth = 0;
  ExpertKeys experts = {};
  std::span<const RoleName> names = {};  ///< modules whose names differ from llama's
  /// Modules whose names differ from these if BlockSpec::two_norms is set.
  std::span<const RoleName> two_norm_names = {};
  const char* layer_prefix = "model.layers.";  ///< comes before a layer's number in names
  const char* expert_prefix = "mlp.experts.";  ///< comes before an expert's number in names
  /// The file stores the layers' matrices as [in, out].
  bool transposed = false;
  /// The file has two tensors [experts, in, out] for the experts of a layer (Parameter::Stack):
  /// `down_proj`, and `gate_up_proj` with gate and up. Column 2i of `gate_up_proj` is output i of
  /// gate, and column 2i + 1 is output i of up. If the MLP has biases, the file has
  /// `down_proj_bias` and `gate_up_proj_bias` in the same form.
  bool stacked_experts = false;

  /// The family's name for a key of config.json that is called `usual` in most families; `usual`
  /// itself if the family has no other name.
  const char* key(const char* usual) const;
  /// Whether the family accepts a key under its usual name `name` (KeyName).
  bool has_usual(std::string_view name) const;
};

/// All families, ordered by `model_type`.
std::span<const Family> families();
/// The family with this `model_type`; null: it is not supported.
const Family* find_family(const std::string& model_type);
/// The family whose `architecture` is this name; null: it is not supported.
const Family* find_architecture(const std::string& architecture);
/// Why the networks of this `model_type` cannot be computed, for error messages; empty: no reason
/// is known, or the `model_type` is supported.
std::string why_unsupported(const std::string& model_type);
/// Text for error messages: "supported are llama, mistral, ..."
std::string supported_families();

}  // namespace pardec
