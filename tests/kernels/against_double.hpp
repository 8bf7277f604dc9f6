#pragma once
// Tests compare each kernel of each instruction set with the same sum in double. Tolerances: a
// float32 sum of n terms has an error of at most n 2^-24 times the sum of their magnitudes (in any
// order, to first order). A result in bf16 has an additional relative error of 2^-8.
#include <cmath>
#include <vector>

#include "src/kernels/bf16.hpp"
#include "src/kernels/kernels.hpp"
#include "src/support/rng.hpp"
#include "tests/support/catch.hpp"

namespace pardec::test {

constexpr double kFloat = 0x1p-24, kBf16 = 0x1p-8;
constexpr double kSmallest = 0x1p-120;  // bf16 products below this may be flushed to zero

inline std::vector<std::uint16_t> random_bf16(Rng& rng, std::int64_t count) {
  std::vector<std::uint16_t> values;
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(narrow(static_cast<float>(rng.normal())));
  return values;
}
inline std::vector<float> random_floats(Rng& rng, std::int64_t count) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(rng.normal()));
  return values;
}

/// A sum in double, and the sum of the magnitudes of its terms (`sizes`).
struct Sum {
  double value = 0, sizes = 0;
  void add(double term) { value += term, sizes += std::abs(term); }
};

/// Calls test(kernels) in a section for each instruction set of this machine.
template <typename Test>
void with_each_set(Test&& test) {
  for (const InstructionSet set : instruction_sets()) DYNAMIC_SECTION(name(set)) {
      test(kernels(set));
    }
}

}  // namespace pardec::test
