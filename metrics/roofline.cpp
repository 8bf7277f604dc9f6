#include "metrics/roofline.hpp"

namespace pardec {

PassWork& PassWork::operator+=(const PassWork& other) {
  rows += other.rows;
  head_rows += other.head_rows;
  cached += other.cached;
  pairs += other.pairs;
  return *this;
}

PassBound pass_bound(const PassWork& work, const NetworkSize& network, const Hardware& hardware) {
  const auto rows = static_cast<double>(work.rows), asked = static_cast<double>(work.head_rows);
  const double values =
      network.hidden * rows + network.cached_per_row * (static_cast<double>(work.cached) + rows);
  const double bytes = network.layer_weights * network.bytes_per_layer_weight +
                       (asked > 0 ? network.head_weights * network.bytes_per_head_weight : 0) +
                       values * network.bytes_per_value;
  const double flops = 2 * network.layer_weights * rows + 2 * network.head_weights * asked +
                       network.attention_flops * static_cast<double>(work.pairs);
  const double devices = hardware.devices;
  PassBound bound{bytes / devices / hardware.bytes_per_second,
                  flops / devices / hardware.flop_per_second, 0};
  if (hardware.devices > 1)
    bound.link_seconds = 2 * (devices - 1) / devices * network.summed_per_row * rows *
                         network.bytes_per_value / hardware.link_bytes_per_second;
  return bound;
}

}  // namespace pardec
