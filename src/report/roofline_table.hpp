#pragma once
#include <string>
#include <vector>

#include "src/findings/roofline.hpp"
#include "src/report/table.hpp"

namespace pardec {

/// Describes a machine, e.g. "20.4 GB/s, 0.31 TFLOP/s (measured now)". If the machine has several
/// devices, these are the numbers of one device, and the text also has the speed of the link.
std::string machine_text(const Hardware& machine);

/// A table with the bounds of each arm on each machine (ArmRoofline). `machines`: the machines for
/// which `roofline` was computed, in the same order. `baseline`: RooflineSetting::baseline, which
/// the notes name.
Table roofline_table(const Roofline& roofline, const std::vector<Hardware>& machines,
                     const std::string& title, const std::string& baseline);

/// A table with one row for each of `passes` (passes_of_request). `request` and `machine`, from
/// which `passes` were computed, are named in the title.
Table pass_table(const std::vector<TracedPass>& passes, const std::string& request,
                 const Hardware& machine);

}  // namespace pardec
