// Quantises a matrix like a network's weights, and writes the result, for the test that compares it
// with bitsandbytes.
//   quantise_dump int8|nf4 OUTPUTS INPUTS < [outputs, inputs] bf16 > [outputs, inputs] float32, for
//   each instruction set that this processor has, one after another
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "src/kernels/kernels.hpp"

int main(int argc, char** argv) {
  using namespace pardec;
  if (argc != 4) return 2;
  const WeightType type = argv[1] == std::string_view("int8") ? WeightType::int8 : WeightType::nf4;
  const std::int64_t outputs = std::atoll(argv[2]), inputs = std::atoll(argv[3]);
  std::vector<std::uint16_t> values(static_cast<size_t>(outputs * inputs));
  if (std::fread(values.data(), 2, values.size(), stdin) != values.size()) return 1;
  std::vector<std::byte> panels(static_cast<size_t>(packed_bytes(outputs, inputs, type)));
  const PackedMatrix matrix{panels.data(), outputs, inputs, type};
  std::vector<float> weights(static_cast<size_t>(inputs));
  for (const InstructionSet set : instruction_sets()) {
    for (std::int64_t p = 0; p < matrix.panel_count(); ++p) {
      const std::uint16_t* rows[kPanel];
      for (std::int64_t j = 0; j < kPanel; ++j)
        rows[j] = p * kPanel + j < outputs ? values.data() + (p * kPanel + j) * inputs : nullptr;
      kernels(set).pack_panel(type, rows, inputs, panels.data() + p * matrix.panel_bytes());
    }
    for (std::int64_t output = 0; output < outputs; ++output) {
      unpack_row(matrix, output, weights.data());
      std::fwrite(weights.data(), 4, weights.size(), stdout);
    }
  }
  return 0;
}
