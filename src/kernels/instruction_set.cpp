#include "src/kernels/instruction_set.hpp"

#include <stdexcept>

#ifdef PARDEC_X86_KERNELS
#include <cpuid.h>
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif
#endif

namespace pardec {

#ifdef PARDEC_X86_KERNELS
namespace {

/// Checks AMX-TILE and AMX-BF16 itself, because not every compiler's cpuid check knows them.
bool has_tiles() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d >> 22 & 1U) != 0 && (d >> 24 & 1U) != 0;
}

/// Asks the system to save the tile registers of all threads of this process, which it does only on
/// request.
bool may_use_tiles() {
#ifdef __linux__
  constexpr long kRequest = 0x1023, kTiles = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequest, kTiles) == 0;
#else
  return false;
#endif
}

}  // namespace
#endif

namespace {

std::vector<InstructionSet> find_instruction_sets() {
  std::vector<InstructionSet> sets{InstructionSet::generic};
#ifdef PARDEC_X86_KERNELS
  // The compiler's cpuid check also asks whether the system saves the registers.
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    sets.push_back(InstructionSet::avx2);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bf16")) {
    sets.push_back(InstructionSet::avx512_bf16);
    if (has_tiles() && may_use_tiles()) sets.push_back(InstructionSet::amx_bf16);
  }
#endif
  return sets;
}

}  // namespace

std::string_view name(InstructionSet set) {
  switch (set) {
    case InstructionSet::generic:
      return "generic";
    case InstructionSet::avx2:
      return "avx2";
    case InstructionSet::avx512_bf16:
      return "avx512_bf16";
    case InstructionSet::amx_bf16:
      return "amx_bf16";
  }
  throw std::logic_error("unknown InstructionSet");
}

const std::vector<InstructionSet>& instruction_sets() {
  // Asked once: in a virtual machine, each cpuid is a call to the host, as slow as a small layer.
  static const std::vector<InstructionSet> kSets = find_instruction_sets();
  return kSets;
}

InstructionSet widest_instruction_set() { return instruction_sets().back(); }

}  // namespace pardec
