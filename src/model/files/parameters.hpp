#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/model/files/config.hpp"

namespace pardec {

/// One weight tensor, named as in a Hugging Face checkpoint.
struct Parameter {
  std::string name;                 ///< e.g. "model.layers.0.mlp.up_proj.weight"
  std::vector<std::int64_t> shape;  ///< matrices are [out, in], as torch's Linear stores them
  Role role = Role::embedding;
  int layer = -1;           ///< layer of the weight; -1: it belongs to no layer
  bool bias = false;        ///< whether this is the bias of the matrix or norm with this role
  int expert = -1;          ///< expert of the weight; -1: it belongs to no expert
  bool transposed = false;  ///< whether checkpoints store the matrix as [in, out] (GPT-2)
  /// A tensor of a checkpoint that contains this weight and the weights with the same role of the
  /// layer's other experts, and possibly weights with another role (gate and up). See stack_shape.
  /// `experts`: number of experts, the tensor's first dimension. `size`: the tensor's last
  /// dimension. This weight has the indices first, first + step, first + 2 * step, ... of the last
  /// dimension.
  struct Stack {
    std::string name;
    std::int64_t experts = 0, size = 0, first = 0, step = 1;
  };
  std::optional<Stack> stack = {};

  /// The weight's shape as a checkpoint stores it; for a weight in a stack, without the dimension
  /// of experts.
  std::vector<std::int64_t> stored_shape() const;
  /// The shape of the stack: `experts`, then stored_shape() with `size` as its last dimension.
  /// REQUIRES: `stack` is set.
  std::vector<std::int64_t> stack_shape() const;
  std::int64_t elements() const;  ///< number of elements
  bool matrix() const { return shape.size() == 2; }
};

/// The name of a weight in a checkpoint. `layer`, `bias` and `expert`: see Parameter.
/// std::logic_error: see module_name.
std::string parameter_name(const Family& family, Role role, int layer = -1, bool bias = false,
                           int expert = -1);

/// The name of a weight's module without the prefix for layer and expert, e.g. "lm_head",
/// "self_attn.q_proj" or "gate_proj". std::logic_error: the role has no name (extra heads).
const char* module_name(const Family& family, Role role);
/// The offset in `name` at which the layer's number begins, e.g. 13 in
/// "model.layers.2.mlp.up_proj". `name`: the name of a weight or module of any family; it may lack
/// its first part ("model."). 0: the weight or module belongs to no layer.
size_t layer_number_at(std::string_view name);
/// The last part of a module's name, e.g. "lm_head", "q_proj".
std::string last_part(const std::string& module);

/// All weights of a network, in a fixed order: embedding, learned rows of positions, layers, final
/// norm, head. The head's matrix is left out if the head is tied.
std::vector<Parameter> parameters(const ModelConfig& config);

/// Extra heads, as in Medusa: residual blocks z + SiLU(W z + b), then a matrix to the vocabulary.
struct ExtraHeadShape {
  int heads = 0;   ///< number of extra heads
  int blocks = 1;  ///< number of blocks of each head
  /// True: a head consists only of blocks, and uses the matrix of the network's own head; at least
  /// one block is required. False: each head has its own matrix.
  bool shares_head = false;
};
/// The shape as a text for messages, e.g. "4 of 1 block, each with a matrix to the vocabulary" or
/// "4 of 1 block, on the network's own head".
std::string shape_text(const ExtraHeadShape& shape);

/// The file of extra heads in a checkpoint folder.
inline constexpr const char* kExtraHeadsFile = "medusa_heads.safetensors";

/// Names of extra heads' weights, as in Medusa's original release. Block B of head H has
/// `H.B.linear.weight` and `H.B.linear.bias`. The matrix of head H with N blocks has `H.N.weight`.
/// H and B count from 0: `0.0.linear.weight`, `0.1.weight`.
std::string extra_block_name(int head, int block, bool bias = false);
/// The name of the head's matrix to the vocabulary. `blocks`: the number of blocks of the head.
std::string extra_out_name(int head, int blocks);

/// All weights of extra heads, in a fixed order.
std::vector<Parameter> extra_head_parameters(const ModelConfig& config,
                                             const ExtraHeadShape& shape);
/// The weights of the extra head `head`, counted from 0.
std::vector<Parameter> one_extra_head(const ModelConfig& config, int head,
                                      const ExtraHeadShape& shape);

/// The shape as a text for messages, e.g. "[2, 3]".
std::string shape_text(const std::vector<std::int64_t>& shape);

}  // namespace pardec
