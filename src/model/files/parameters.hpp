#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "src/model/files/config.hpp"

namespace pardec {

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

/// The name of a network's weight; `layer` and `expert` as in Parameter.
std::string parameter_name(const Family& family, Role role, int layer = -1, bool bias = false,
                           int expert = -1);

/// The module of such a weight, without the prefix of its layer and expert: "lm_head",
/// "self_attn.q_proj", "gate_proj".
const char* module_name(const Family& family, Role role);

/// All weights of a network, in a fixed order: embedding, layers, final norm, and the head unless
/// it is tied.
std::vector<Parameter> parameters(const ModelConfig& config);

/// Heads besides the network's own: residual blocks z + SiLU(W z + b), then a matrix to the
/// vocabulary.
struct ExtraHeadShape {
  int heads = 0;
  int blocks = 1;  ///< per head
  /// The heads consist only of their blocks, and use the matrix of the network's own head.
  /// Otherwise each has its own matrix. REQUIRES: at least one block.
  bool shares_head = false;
};
/// "4 of 1 block, each with a matrix to the vocabulary"
std::string shape_text(const ExtraHeadShape& shape);

/// The file of extra heads in a checkpoint folder.
inline constexpr const char* kExtraHeadsFile = "medusa_heads.safetensors";

/// Names of extra head h's weights as in Medusa's original release, h from 0:
/// H.B.linear.weight and .bias for block B of head H; H.N.weight for the head's own matrix, where N
/// is its number of blocks. H and B count from 0: `0.0.linear.weight`, `0.1.weight`.
std::string extra_block_name(int head, int block, bool bias = false);
std::string extra_out_name(int head, int blocks);

/// All weights of extra heads, in a fixed order.
std::vector<Parameter> extra_head_parameters(const ModelConfig& config,
                                             const ExtraHeadShape& shape);
/// The weights of head `head`.
std::vector<Parameter> one_extra_head(const ModelConfig& config, int head,
                                      const ExtraHeadShape& shape);

/// `[2, 3]`
std::string shape_text(const std::vector<std::int64_t>& shape);

}  // namespace pardec
