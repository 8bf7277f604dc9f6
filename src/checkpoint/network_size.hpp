#pragma once
#include "metrics/roofline.hpp"
#include "src/model/files/config.hpp"
#include "src/model/model.hpp"

namespace pardec {

/// The size of a network for the roofline. In layers with experts, only the number of experts that
/// one row uses is counted. A pass reads and computes at least this number, so the roofline's time
/// stays a lower bound.
NetworkSize network_size(const ModelConfig& config, Dtype dtype);

}  // namespace pardec
