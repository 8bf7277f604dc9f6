#include "src/cli/network_size.hpp"

#include "src/model/parameters.hpp"

namespace pardec {

NetworkSize network_size(const ModelConfig& config, Dtype dtype) {
  const double hidden = config.hidden_size, layers = config.layers,
               head = hidden * config.vocab_size,
               outside = config.tied_head ? head : 2 * head;  // embedding and head
  return {.layer_weights = static_cast<double>(parameter_count(config)) - outside,
          .head_weights = head,
          .hidden = hidden,
          .cached_per_row = 2 * layers * config.kv_heads * config.head_dim,
          .attention_flops = 4 * layers * config.heads * config.head_dim,
          .bytes_per_value = dtype == Dtype::bf16   ? 2.0
                             : dtype == Dtype::fp32 ? 4.0
                                                    : 8.0};
}

}  // namespace pardec
