#pragma once
#include "src/model/model.hpp"

namespace pardec {

/// Peak speed of this processor with the current number of threads (device.hpp).
struct MachineSpeed {
  double bytes_per_second;  ///< reading memory that is not in a processor cache
  double flop_per_second;   ///< matrix products in the given type, by libtorch
};
/// Measures both speeds, each as the fastest of five runs. `dtype`: the type of the matrix
/// products; for int8, nf4 and gguf it is bf16 (`computing`). Uses 256 MiB of memory. RunError:
/// this memory cannot be allocated.
MachineSpeed measure_machine(Dtype dtype);

}  // namespace pardec
