#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "src/model/files/config.hpp"

namespace pardec {

/// What a weight does. Which of these a family has, and where the norms stand, says its config.
enum class Role {
  embedding,
  input_norm,
  qkv,  ///< q, k and v above one another (Phi-3)
  q,
  k,
  v,
  o,  ///< writes attention's output into the residual stream
  q_norm,
  k_norm,
  post_attention_norm,
  gate_up,  ///< gate and up above one another (Phi-3)
  gate,
  up,
  down,  ///< writes the MLP's output into the residual stream
  post_mlp_norm,
  final_norm,
  head,
  extra_block,  ///< of an extra head
  extra_out,
};

/// One weight tensor, by the name it has in a Hugging Face checkpoint.
struct Parameter {
  std::string name;
  std::vector<std::int64_t> shape;  ///< matrices are [out, in], as torch's Linear stores them
  Role role = Role::embedding;
  int layer = -1;     ///< that it is of; -1: of none
  bool bias = false;  ///< of the matrix of that role

  std::int64_t elements() const;
  bool matrix() const { return shape.size() == 2; }
};

/// The name of a network's weight, `layer` as above.
std::string parameter_name(Role role, int layer = -1, bool bias = false);

/// The module of such a weight, after its layer's prefix: "lm_head", "self_attn.q_proj".
const char* module_name(Role role);

/// All weights of a network, in a fixed order: embedding, layers, final norm, and the head unless
/// it is tied.
std::vector<Parameter> parameters(const ModelConfig& config);

/// Heads besides the network's own: residual blocks z + SiLU(W z + b), then a matrix to the
/// vocabulary.
struct ExtraHeadShape {
  int heads = 0;
  int blocks = 1;  ///< of each
  /// They are their blocks alone, and end in the network's own head; else each in a matrix of its
  /// own. REQUIRES: a block.
  bool shares_head = false;
};
/// "4 of 1 block, each with a matrix to the vocabulary"
std::string shape_text(const ExtraHeadShape& shape);

/// Where a checkpoint folder has extra heads.
inline constexpr const char* kExtraHeadsFile = "medusa_heads.safetensors";

/// Names of extra head h's weights as Medusa's authors give them, h from 0:
/// `h.block.linear.weight` and `.bias`, and of its matrix, where it has one, `h.blocks.weight`.
std::string extra_block_name(int head, int block, bool bias = false);
std::string extra_out_name(int head, int blocks);

/// All weights of extra heads, in a fixed order.
std::vector<Parameter> extra_head_parameters(const ModelConfig& config,
                                             const ExtraHeadShape& shape);
/// Those of head `head`.
std::vector<Parameter> one_extra_head(const ModelConfig& config, int head,
                                      const ExtraHeadShape& shape);

/// `[2, 3]`
std::string shape_text(const std::vector<std::int64_t>& shape);

}  // namespace pardec
