#pragma once
#include <cstdint>
#include <span>

namespace pardec {

// Weights as the kernels stream them: panels of 32 outputs, inputs in pairs.
//   panel p, pair k:  { w[32 p][2 k], w[32 p][2 k + 1],  w[32 p + 1][2 k], w[32 p + 1][2 k + 1],
//   ... }
// 128 bytes a pair, one after another: a product reads memory from front to back, and two registers
// of 16 outputs take a pair each. Rows and inputs that fill up the last panel and pair are zero.

inline constexpr std::int64_t kPanel = 32;  ///< outputs of a panel

/// Weights of a linear map, packed; the memory is another's. bf16 is the upper half of a float32.
struct PackedMatrix {
  const std::uint16_t* panels = nullptr;
  std::int64_t outputs = 0, inputs = 0;

  std::int64_t panel_count() const { return (outputs + kPanel - 1) / kPanel; }
  std::int64_t pairs() const { return (inputs + 1) / 2; }
  /// bf16 values of a panel.
  std::int64_t panel_size() const { return pairs() * 2 * kPanel; }
  const std::uint16_t* panel(std::int64_t p) const { return panels + p * panel_size(); }
};

/// bf16 values that a packed matrix has.
std::int64_t packed_size(std::int64_t outputs, std::int64_t inputs);

/// Row `output` of the matrix, out of the panels, widened: [inputs]. REQUIRES: 0 <= output <
/// outputs.
void unpack_row(const PackedMatrix& matrix, std::int64_t output, float* row);

}  // namespace pardec
