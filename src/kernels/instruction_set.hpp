#pragma once
#include <string_view>
#include <vector>

namespace pardec {

/// The instruction sets for which the program has CPU kernels. Every kernel exists for each set.
/// The sets from avx512_bf16 on have instructions for bf16 products.
enum class InstructionSet {
  generic,      ///< plain C++
  avx2,         ///< x86-64 with AVX2 and FMA; bf16 is converted to float32
  avx512_bf16,  ///< x86-64 with AVX-512 F, BW, DQ, VL and BF16: dot products of bf16 pairs
  amx_bf16,     ///< avx512_bf16 with AMX-TILE and AMX-BF16: products of tiles; only on Linux
};
std::string_view name(InstructionSet set);

/// The instruction sets that this program, this processor and its operating system support, from
/// generic to the widest. The first call asks Linux to let this process use AMX tiles.
const std::vector<InstructionSet>& instruction_sets();
/// The last of instruction_sets().
InstructionSet widest_instruction_set();

}  // namespace pardec
