#pragma once
#include "src/kernels/kernels.hpp"

namespace pardec {

// The tables that kernels(set) returns. Without PARDEC_X86_KERNELS, only generic_kernels is
// defined.
const Kernels& generic_kernels();
const Kernels& avx2_kernels();
const Kernels& avx512_bf16_kernels();
const Kernels& amx_bf16_kernels();

}  // namespace pardec
