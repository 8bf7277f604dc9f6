#include "src/checkpoint/network_size.hpp"

#include <algorithm>

#include "src/model/files/parameters.hpp"

namespace pardec {

NetworkSize network_size(const ModelConfig& config, Dtype dtype) {
  const double hidden = config.hidden_size, layers = config.layers,
               head = hidden * config.vocab_size,
               positions = config.block.learned_positions ? hidden * config.max_position : 0,
               outside = (config.tied_head ? head : 2 * head) + positions;  // and the embedding
  const double count = static_cast<double>(parameter_count(config)),
               layer_weights = count - outside;
  // A pass of one row reads only the experts that the row uses; a pass of more rows reads more.
  const Experts& experts = config.experts;
  const auto mixtures =
      static_cast<double>(std::count(experts.layers.begin(), experts.layers.end(), true));
  const double expert =
      3 * hidden * experts.inner + (config.block.mlp_bias ? 2 * experts.inner + hidden : 0);
  const double unread = mixtures * (experts.count - experts.used) * expert;
  const double value = static_cast<double>(weight_bytes(config, computing(dtype))) / count;
  double outside_bytes = 0, head_bytes = 0;
  for (const Parameter& parameter : parameters(config)) {
    if (!parameter.matrix() || parameter.layer >= 0) continue;
    const auto bytes = static_cast<double>(weight_bytes(parameter, config, dtype));
    outside_bytes += bytes;
    // The head comes last, if it is not the embedding.
    if (parameter.role != Role::positions) head_bytes = bytes;
  }
  return {.layer_weights = layer_weights - unread,
          .head_weights = head,
          .hidden = hidden,
          .cached_per_row = 2 * layers * config.kv_heads * config.head_dim,
          .attention_flops = 4 * layers * config.heads * config.head_dim,
          .bytes_per_value = value,
          .bytes_per_layer_weight =
              (static_cast<double>(weight_bytes(config, dtype)) - outside_bytes) / layer_weights,
          .bytes_per_head_weight = head_bytes / head,
          .summed_per_row = 2 * layers * hidden,
          .expert_weights = expert,
          .experts_of_row = mixtures * experts.used};
}

}  // namespace pardec
