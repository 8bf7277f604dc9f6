#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "src/model/config.hpp"

namespace pardec {

/// One weight tensor, by the name it has in a Hugging Face checkpoint.
struct Parameter {
  std::string name;
  std::vector<std::int64_t> shape;  ///< matrices are [out, in], as torch's Linear stores them

  std::int64_t elements() const;
};

/// All weights of a network, in a fixed order: embedding, layers, final norm, and the head unless
/// it is tied.
std::vector<Parameter> parameters(const ModelConfig& config);

/// Where a checkpoint folder has extra heads.
inline constexpr const char* kExtraHeadsFile = "medusa_heads.safetensors";

/// All weights of extra heads of one depth, in a fixed order, by the names that Medusa's authors
/// give them: head h is `blocks` residual blocks z + SiLU(W z + b), `h.block.linear.weight` and
/// `.bias`, then a matrix to the vocabulary, `h.blocks.weight`; h counts from 0.
std::vector<Parameter> extra_head_parameters(const ModelConfig& config, int heads, int blocks);
/// Those of one of them.
std::vector<Parameter> one_extra_head(const ModelConfig& config, int head, int blocks);

/// `[2, 3]`
std::string shape_text(const std::vector<std::int64_t>& shape);

}  // namespace pardec
