#pragma once
#include <string_view>
#include <vector>

namespace pardec {

/// What the CPU kernels are written for. Each is a whole set of kernels; none falls back on
/// another. Sets from avx512_bf16 on multiply bf16 as fast as the processor can.
enum class InstructionSet {
  generic,      ///< plain C++
  avx2,         ///< x86-64 with AVX2 and FMA: bf16 is widened to float32
  avx512_bf16,  ///< x86-64 with AVX-512 F, BW, DQ, VL and BF16: products of bf16 pairs
  amx_bf16,     ///< these with AMX-TILE and AMX-BF16: products of tiles, on Linux
};
std::string_view name(InstructionSet set);

/// Those that this binary has and this processor runs, the widest last. Never empty.
std::vector<InstructionSet> instruction_sets();
InstructionSet widest_instruction_set();

}  // namespace pardec
