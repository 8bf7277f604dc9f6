#pragma once
#include <array>
#include <span>
#include <string>

#include "src/support/types.hpp"

namespace pardec {

/// Where a layer has norms: before its two sublayers, after them (before the residual sums), or
/// both.
enum class Norms { before, after, both };
/// RMS norms of queries and keys, before rotation: of each head, or of all heads together.
enum class QkNorm { none, heads, whole };
/// The activation of the gate: silu(x), or gelu(x) with tanh, i.e. x / (1 + e^-2u) with
/// u = sqrt(2 / pi) * (x + 0.044715 x^3).
enum class Activation { silu, gelu_tanh };

/// What the layers of a network compute, and what is around them. Which layers have a sliding
/// window, and how positions turn into angles, is in ModelConfig.
struct BlockSpec {
  Norms norms = Norms::before;
  QkNorm qk_norm = QkNorm::none;
  /// Every norm multiplies by 1 + weight, in the wide type, instead of by its weight.
  bool norm_adds_one = false;
  Activation activation = Activation::silu;
  bool fused_qkv = false;       ///< the file stores q, k, v as one matrix
  bool fused_gate_up = false;   ///< the file stores gate, up as one matrix
  bool attention_bias = false;  ///< bias on q, k, v
  bool output_bias = false;     ///< bias on o
  bool mlp_bias = false;        ///< bias on gate, up, down
  double query_scalar = 0;      ///< scores are products of queries and keys / sqrt(query_scalar)
  double attention_cap = 0;     ///< a score s becomes cap * tanh(s / cap); 0: no cap
  double logit_cap = 0;         ///< the same for the logits of all heads
  double embedding_scale = 1;   ///< factor of the embedding's rows, rounded to the network's type
  double residual_scale = 1;    ///< factor of a sublayer's output before it is added
  double logit_divisor = 1;     ///< the logits of all heads are divided by it
  /// Rotation turns neighbouring dimensions of a head together (2i and 2i + 1) instead of i and
  /// i + rope.dims / 2.
  bool neighbours_turn = false;
};

/// The role of a weight. The config says which roles a family has, and where its norms are.
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
  after_attention_norm,  ///< of attention's output
  mlp_norm,              ///< of the MLP's input
  gate_up,               ///< gate and up stacked into one matrix
  gate,
  up,
  down,         ///< writes the MLP's output into the residual stream
  router,       ///< gives a row's probabilities of experts
  expert_gate,  ///< of one expert, like expert_up and expert_down
  expert_up,
  expert_down,
  shared_router,  ///< gives the share of the expert that each row uses
  shared_gate,    ///< of that expert, like shared_up and shared_down
  shared_up,
  shared_down,
  after_mlp_norm,  ///< of the MLP's output
  final_norm,
  head,
  extra_block,  ///< belongs to an extra head, like extra_out
  extra_out,
};

/// The module of a weight in a checkpoint, without the prefix of its layer or expert.
struct RoleName {
  Role role;
  const char* module;
};

/// Which layers have a sliding window unless `layer_types` names others.
enum class Windows {
  none,
  every_layer,
  if_used,       ///< every layer, but only with `use_sliding_window`
  later_layers,  ///< only with `use_sliding_window`: those from `max_window_layers` on
  all_but_nth,   ///< all but each n-th
};

/// How config.json writes the rotary embedding (rope.hpp).
enum class RopeForm { common, phi3, by_layer };

/// A key of config.json that adds biases to matrices of every layer.
struct BiasKey {
  const char* key;
  bool fallback = false;                     ///< the value if the key is missing
  bool qkv = false, o = false, mlp = false;  ///< which matrices: of q, k, v; of o; of the MLP
};

/// The experts of a family, with the values for keys missing in config.json.
struct ExpertKeys {
  int count = 0;  ///< `num_experts`, or `num_local_experts`; 0: the family has no experts
  int used = 0;   ///< `num_experts_per_tok`
  const char* inner_key = "moe_intermediate_size";
  int inner = 0;            ///< the value of `inner_key`
  bool normalised = false;  ///< always, without a key `norm_topk_prob`
  bool some_layers =
      false;  ///< keys say which layers have experts: decoder_sparse_step, mlp_only_layers
  int shared_inner = 0;  ///< `shared_expert_intermediate_size`; 0: no expert is shared
};

/// One supported `model_type`: a row of the table. Defaults are those of transformers'
/// configuration class for keys missing in config.json.
struct Family {
  const char* model_type;
  const char* architecture;
  const char* other_architecture = nullptr;  ///< what transformers writes instead, if it does
  int head_dim = 0;                          ///< 0: hidden_size / heads
  int kv_heads = 0;                          ///< 0: heads
  int max_position = 2048;
  double rms_norm_eps = 1e-6;
  bool tied = false;  ///< tie_word_embeddings
  Token bos = 0;      ///< 0: none
  /// 0: none. transformers' default for llama and mistral is 2, which is an arbitrary token with
  /// other tokenizers than their original ones.
  std::array<Token, 3> eos = {};

  BlockSpec block = {};  ///< before the options of config.json
  std::span<const BiasKey> biases = {};
  const char* activation_key = "hidden_act";  ///< the key that names `block.activation`
  bool query_scalar = false;                  ///< there is a key `query_pre_attn_scalar`
  bool attention_cap = false;                 ///< there is a key `attn_logit_softcapping`
  bool logit_cap = false;                     ///< there is a key `final_logit_softcapping`
  bool scaled_embedding = false;              ///< the embedding is scaled by sqrt(hidden_size)
  /// There are keys `embedding_multiplier`, `attention_multiplier`, `residual_multiplier` and
  /// `logits_scaling`.
  bool multipliers = false;
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
  /// The share of a head's dimensions that is rotated unless `partial_rotary_factor` says
  /// otherwise; 0: all, and no other value is supported.
  double rotated = 0;
  /// Each n-th layer does not rotate, unless `no_rope_layer_interval` (n) or `no_rope_layers` says
  /// otherwise; 0: all layers rotate.
  int unrotated_nth = 0;
  ExpertKeys experts = {};
  std::span<const RoleName> names = {};  ///< weights that are not named as llama's
  const char* expert_prefix = "mlp.experts.";
};

/// All rows, by `model_type`.
std::span<const Family> families();
/// The row of a `model_type`; null: it is not supported.
const Family* find_family(const std::string& model_type);
/// The row of an entry of `architectures`; null: it is not supported.
const Family* find_architecture(const std::string& architecture);
/// "supported are llama, ..."
std::string supported_families();

}  // namespace pardec
