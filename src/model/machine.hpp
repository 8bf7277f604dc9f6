#pragma once
#include "src/model/model.hpp"

namespace pardec {

/// What the processor here does at most, with the threads that are set (device.hpp): best of a few
/// short runs, about a second in all.
struct MachineSpeed {
  double bytes_per_second;  ///< reading memory that no cache holds
  double flop_per_second;   ///< matrix products of the type, by libtorch
};
MachineSpeed measure_machine(Dtype dtype);

}  // namespace pardec
