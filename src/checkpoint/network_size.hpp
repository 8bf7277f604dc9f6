#pragma once
#include "metrics/roofline.hpp"
#include "src/model/files/config.hpp"
#include "src/model/model.hpp"

namespace pardec {

/// The size of a network for the roofline. In layers with experts, only the weights that one row
/// uses are counted. Every pass reads at least these weights, so the time that the roofline gives
/// remains a lower bound. `dtype`: the type of the weights in memory.
NetworkSize network_size(const ModelConfig& config, Dtype dtype);

}  // namespace pardec
