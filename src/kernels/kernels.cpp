#include "src/kernels/kernels.hpp"

#include <algorithm>
#include <stdexcept>

#include "src/kernels/kernel_table.hpp"

namespace pardec {

std::int64_t attention_scratch(std::int64_t tokens, std::int64_t group, std::int64_t dim) {
  const std::int64_t rows = tokens * group, panels = (dim + kPanel - 1) / kPanel;
  return panels * rows * kPanel        // mixed
         + rows * kPanel               // scores
         + rows * dim / 2 + 2 * rows;  // queries, largest, total
}

std::int64_t attention_state(std::int64_t group, std::int64_t dim) {
  return group * ((dim + kPanel - 1) / kPanel * kPanel + 2);  // mixed; largest, total
}

const Kernels& kernels(InstructionSet set) {
  const auto& sets = instruction_sets();
  if (std::find(sets.begin(), sets.end(), set) == sets.end())
    throw std::logic_error("kernels: this processor or binary lacks the instruction set");
  switch (set) {
#ifdef PARDEC_X86_KERNELS
    case InstructionSet::amx_bf16:
      return amx_bf16_kernels();
    case InstructionSet::avx512_bf16:
      return avx512_bf16_kernels();
    case InstructionSet::avx2:
      return avx2_kernels();
#endif
    default:
      return generic_kernels();
  }
}

}  // namespace pardec
