#pragma once
#include "metrics/roofline.hpp"
#include "src/model/files/config.hpp"
#include "src/model/model.hpp"

namespace pardec {

/// A network of this shape and type as the roofline counts it.
NetworkSize network_size(const ModelConfig& config, Dtype dtype);

}  // namespace pardec
