#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "src/model/files/config.hpp"

namespace pardec {

/// The role of a weight in the network. A network has only some of these roles, depending on its
/// config.
enum class Role {
  embedding,
  input_norm,
  qkv,  ///< q, k and v stacked into one matrix (Phi-3)
  q,
  k,
  v,
  o,  ///< writes attention's output into the residual stream
  q_norm,
  k_norm,
  post_attention_norm,  ///< before the MLP; with Norms::after or both: after attention
  pre_mlp_norm,         ///< before the MLP, if the layer has norms before and after sublayers
  gate_up,              ///< gate and up stacked into one matrix (Phi-3)
  gate,
  up,
  down,         ///< writes the MLP's output into the residual stream
  router,       ///< gives each row a probability of each expert
  expert_gate,  ///< expert_gate, expert_up, expert_down: the MLP of one expert
  expert_up,
  expert_down,
  post_mlp_norm,
  final_norm,
  head,
  extra_block,  ///< a residual block of an extra head
  extra_out,
};

/// One weight tensor, named as in a Hugging Face checkpoint.
struct Parameter {
  std::string name;
  std::vector<std::int64_t> shape;  ///< matrices are [out, in], as torch's Linear stores them
  Role role = Role::embedding;
  int layer = -1;     ///< layer of the weight; -1: it belongs to no layer
  bool bias = false;  ///< the bias of the role's matrix
  int expert = -1;    ///< expert of the weight; -1: it belongs to no expert

  std::int64_t elements() const;
  bool matrix() const { return shape.size() == 2; }
};

/// The name of a weight in the checkpoint. `layer`, `bias` and `expert`: see Parameter.
std::string parameter_name(Role role, int layer = -1, bool bias = false, int expert = -1);

/// The name of a weight's module without the prefix for layer and expert, e.g. "lm_head",
/// "self_attn.q_proj" or "gate_proj".
const char* module_name(Role role);

/// All weights of a network, in a fixed order: embedding, layers, final norm, and the head unless
/// it is tied.
std::vector<Parameter> parameters(const ModelConfig& config);

/// Extra heads, as in Medusa: residual blocks z + SiLU(W z + b), then a matrix to the vocabulary.
struct ExtraHeadShape {
  int heads = 0;
  int blocks = 1;  ///< per head
  /// True: the heads consist only of blocks, and use the matrix of the network's own head. False:
  /// each head has its own matrix. REQUIRES, if true: at least one block.
  bool shares_head = false;
};
/// For example "4 of 1 block, each with a matrix to the vocabulary".
std::string shape_text(const ExtraHeadShape& shape);

/// The file of extra heads in a checkpoint folder.
inline constexpr const char* kExtraHeadsFile = "medusa_heads.safetensors";

/// Names of extra heads' weights, as in Medusa's original release. Block B of head H has
/// `H.B.linear.weight` and `H.B.linear.bias`. The matrix of head H with N blocks has `H.N.weight`.
/// H and B count from 0: `0.0.linear.weight`, `0.1.weight`.
std::string extra_block_name(int head, int block, bool bias = false);
std::string extra_out_name(int head, int blocks);

/// All weights of extra heads, in a fixed order.
std::vector<Parameter> extra_head_parameters(const ModelConfig& config,
                                             const ExtraHeadShape& shape);
/// The weights of the extra head `head`, counted from 0.
std::vector<Parameter> one_extra_head(const ModelConfig& config, int head,
                                      const ExtraHeadShape& shape);

/// For example `[2, 3]`.
std::string shape_text(const std::vector<std::int64_t>& shape);

}  // namespace pardec
