#pragma once
#include <string>
#include <vector>

#include "src/findings/roofline.hpp"
#include "src/report/table.hpp"

namespace pardec {

/// "20.4 GB/s, 0.31 TFLOP/s (measured now)"
std::string machine_text(const Hardware& machine);

/// The least time of each arm on each machine. `baseline`: as requested by the user.
Table roofline_table(const Roofline& roofline, const std::vector<Hardware>& machines,
                     const std::string& title, const std::string& baseline);

/// The passes of one request on one machine.
Table pass_table(const std::vector<TracedPass>& passes, const std::string& request,
                 const Hardware& machine);

}  // namespace pardec
