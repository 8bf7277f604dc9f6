#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "src/model/files/checkpoint_files.hpp"
#include "src/support/json.hpp"

namespace pardec {

/// How a safetensors checkpoint stores its quantised weights, as `quantization_config` of its
/// config.json says. The number in row r and column c of a weight is
///   (q[r, c] - zero[r, g]) * scale[r, g],  where g is the group of column c.
/// Which weights are quantised, and how their scales are arranged, follows from the tensors.
struct Quantisation {
  enum class Method {
    fp8,         ///< `weight` in F8_E4M3 with `weight_scale_inv` (DeepSeek, Qwen) or `weight_scale`
    gptq,        ///< `qweight`, `qzeros`, `scales`, `g_idx`
    awq,         ///< `qweight`, `qzeros`, `scales` in the order of the GEMM kernel
    compressed,  ///< compressed-tensors: `weight` in F8_E4M3 or I8, or `weight_packed`
    /// OCP Microscaling: NAME_blocks [experts, rows, blocks, 16] with two FP4 numbers in each byte,
    /// and NAME_scales [experts, rows, blocks], for a stack of matrices NAME.
    mxfp4,
  };
  Method method = Method::fp8;
  std::string name;  ///< the method for messages, e.g. "GPTQ, 4 bits"
  /// The numbers of bits that the stored integers may have. If there is more than one, the shapes
  /// of a weight's tensors decide. Empty: no weights are stored as integers.
  std::set<int> bits;
  /// GPTQ and AWQ: number of columns in a group; 0: there is one group with all columns.
  std::int64_t group = 0;
  /// Height (rows) and width (columns) of the blocks of a matrix. The numbers in a block share one
  /// scale. 0: scales are not given for blocks.
  std::int64_t block_rows = 0, block_columns = 0;
  bool zero_less_one = false;  ///< GPTQ's first format, which stores zero points less 1
};

/// The quantisation of a checkpoint with this config.json; none: its weights are not quantised.
/// ModelError, which starts with `where`, and names method and key: the quantisation is not
/// supported.
std::optional<Quantisation> parse_quantisation(const Json& config, const std::string& where);

/// Replaces the tensors of each quantised weight by one tensor NAME.weight (NAME for mxfp4) of the
/// type StoredType::rows, whose numbers read_rows computes (gguf_weights.hpp). Scales of
/// activations are left out. ModelError, which names file and tensor: a tensor is missing, or has a
/// type or shape that does not fit. ModelError also if no tensor is quantised in this way.
void join_quantised(std::map<std::string, CheckpointFiles::Entry>& tensors,
                    const Quantisation& quantisation);

}  // namespace pardec
