#pragma once
#include "metrics/roofline.hpp"
#include "src/model/files/config.hpp"
#include "src/model/model.hpp"

namespace pardec {

/// The size of a network of this shape and type for the roofline. Of experts, only as many count as
/// one row uses: that is the least that a pass reads and computes per row, so that the time of the
/// roofline stays a lower bound.
NetworkSize network_size(const ModelConfig& config, Dtype dtype);

}  // namespace pardec
