#pragma once
#include "src/kernels/team.hpp"
#include "src/model/device.hpp"
#include "src/support/machine_use.hpp"

namespace pardec {

/// Measures the machine use (MachineMeter) of the program's team of threads, from construction on.
/// The team leaves out threads whose cores other programs use (Attendance). This class adds the
/// time for which threads are left out to MachineUse::waited_ns. A thread that waits for another
/// thread of the team counts as busy.
class TeamMeter {
 public:
  TeamMeter()
      : meter_(threads()), left_out_ns_(team().left_out_ns()), slept_ns_(team().slept_ns()) {}

  /// The machine use so far. `idle_ns`: see MachineMeter::read.
  MachineUse read(std::int64_t idle_ns = 0) const {
    MachineUse use = meter_.read(idle_ns + team().slept_ns() - slept_ns_);
    const std::int64_t left_out = team().left_out_ns() - left_out_ns_;
    if (use.waited_ns || left_out > 0) use.waited_ns = use.waited_ns.value_or(0) + left_out;
    return use;
  }

 private:
  MachineMeter meter_;
  std::int64_t left_out_ns_, slept_ns_;
};

}  // namespace pardec
