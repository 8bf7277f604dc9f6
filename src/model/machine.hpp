#pragma once
#include "src/model/model.hpp"

namespace pardec {

/// Peak speed of this processor with the current number of threads (device.hpp).
struct MachineSpeed {
  double bytes_per_second;  ///< reading memory that is in no processor cache
  double flop_per_second;   ///< matrix products in the given type, by libtorch
};
MachineSpeed measure_machine(Dtype dtype);

}  // namespace pardec
