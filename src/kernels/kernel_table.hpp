#pragma once
#include "src/kernels/kernels.hpp"

namespace pardec {

// The tables returned by `kernels(set)`. Without PARDEC_X86_KERNELS, only the first one exists.
const Kernels& generic_kernels();
const Kernels& avx2_kernels();
const Kernels& avx512_bf16_kernels();
const Kernels& amx_bf16_kernels();

}  // namespace pardec
