#pragma once
#include "src/kernels/kernels.hpp"

namespace pardec {

// The tables behind `kernels(set)`; where PARDEC_X86_KERNELS is not defined there is the first
// alone.
const Kernels& generic_kernels();
const Kernels& avx2_kernels();
const Kernels& avx512_bf16_kernels();
const Kernels& amx_bf16_kernels();

}  // namespace pardec
