#pragma once
#include <cstdint>

#include "src/model/torch.hpp"

namespace pardec {

/// The elements of a bf16 tensor as bit patterns, for the kernels, which have no torch types. The
/// pointer is valid as long as the tensor's memory.
inline const std::uint16_t* bits(const at::Tensor& tensor) {
  return reinterpret_cast<const std::uint16_t*>(tensor.const_data_ptr<at::BFloat16>());
}
/// The elements of a bf16 tensor as bit patterns that can be changed. The pointer is valid as long
/// as the tensor's memory.
inline std::uint16_t* mutable_bits(const at::Tensor& tensor) {
  return reinterpret_cast<std::uint16_t*>(tensor.mutable_data_ptr<at::BFloat16>());
}

}  // namespace pardec
