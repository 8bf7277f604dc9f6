#pragma once
#include "metrics/roofline.hpp"
#include "src/model/files/config.hpp"
#include "src/model/model.hpp"

namespace pardec {

/// The size of a network of this shape and type for the roofline.
NetworkSize network_size(const ModelConfig& config, Dtype dtype);

}  // namespace pardec
