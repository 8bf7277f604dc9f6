#pragma once
#include <string>
#include <vector>

#include "src/findings/roofline.hpp"
#include "src/report/table.hpp"

namespace pardec {

/// Describes a machine, e.g. "20.4 GB/s, 0.31 TFLOP/s (measured now)". If the machine has several
/// devices, these numbers are those of each device, and the text has the speed of the link too.
std::string machine_text(const Hardware& machine);

/// A table with the least time of each arm on each machine. `machines`: those of the roofline, in
/// the same order. `baseline`: the label of the baseline that the user requested, for notes.
Table roofline_table(const Roofline& roofline, const std::vector<Hardware>& machines,
                     const std::string& title, const std::string& baseline);

/// A table with the passes of one request on one machine.
Table pass_table(const std::vector<TracedPass>& passes, const std::string& request,
                 const Hardware& machine);

}  // namespace pardec
