#pragma once
#include <string_view>
#include <vector>

namespace pardec {

/// Instruction sets that the CPU kernels are written for. Each has a complete set of kernels
/// without fallback to another. From avx512_bf16 on, bf16 products have the processor's full speed.
enum class InstructionSet {
  generic,      ///< plain C++
  avx2,         ///< x86-64 with AVX2 and FMA: bf16 is widened to float32
  avx512_bf16,  ///< x86-64 with AVX-512 F, BW, DQ, VL and BF16: products of bf16 pairs
  amx_bf16,     ///< avx512_bf16 with AMX-TILE and AMX-BF16: products of tiles, on Linux
};
std::string_view name(InstructionSet set);

/// The sets that this binary contains and this processor supports, the widest last. Never empty.
const std::vector<InstructionSet>& instruction_sets();
InstructionSet widest_instruction_set();

}  // namespace pardec
