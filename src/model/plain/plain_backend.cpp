#include "src/model/plain/plain_backend.hpp"

#include "src/model/plain/attention.hpp"
#include "src/model/plain/layers.hpp"

namespace pardec {

at::Tensor PlainBackend::layers(const Model::Network& network, std::span<const NewRows> sequences,
                                const SkippedSublayers& skipped) {
  RowInputs rows;
  for (const NewRows& sequence : sequences) rows.add(sequence.tokens, sequence.labels);
  CachedAttention attention(network, sequences);
  return apply_layers(network, on_device(network, rows.ids), on_device(network, rows.positions),
                      attention, skipped, &experts_read_);
}

at::Tensor PlainBackend::final_norm(const Model::Network& network, const at::Tensor& rows) const {
  return normed(rows, network.final_norm, network.config);
}

at::Tensor PlainBackend::residual(const Model::Network& network, const at::Tensor& normed,
                                  int head) const {
  return head == 0 ? normed : network.extra_heads[static_cast<size_t>(head) - 1].residual(normed);
}

at::Tensor PlainBackend::logits(const Model::Network& network, const at::Tensor& rows,
                                int head) const {
  return products(
      {head == 0 ? &network.head : &network.extra_heads[static_cast<size_t>(head) - 1].out},
      rows)[0];
}

}  // namespace pardec
