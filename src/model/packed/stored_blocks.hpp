#pragma once
#include <stdexcept>

#include "src/kernels/packed_matrix.hpp"
#include "src/model/torch.hpp"

namespace pardec {

// A matrix that keeps the blocks of a GGUF file is a tensor of bytes before it is packed:
// [rows, blocks of a row, bytes of a block].

/// Whether a matrix is stored in this form, and not as numbers [rows, inputs].
inline bool is_blocks(const at::Tensor& matrix) { return matrix.dim() == 3; }

/// The type of the blocks. std::logic_error: no supported type has blocks of this size. REQUIRES:
/// is_blocks(matrix).
inline WeightType blocks_type(const at::Tensor& matrix) {
  for (const WeightType type :
       {WeightType::q4_0, WeightType::q4_1, WeightType::q4_k, WeightType::q8_0})
    if (file_block(type).bytes == matrix.size(2)) return type;
  throw std::logic_error("blocks of an unknown type");
}

/// Number of inputs of a matrix in either form.
inline std::int64_t inputs_of(const at::Tensor& matrix) {
  return is_blocks(matrix) ? matrix.size(1) * file_block(blocks_type(matrix)).inputs
                           : matrix.size(1);
}

}  // namespace pardec
