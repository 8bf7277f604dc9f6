#pragma once
#include "src/model/backend.hpp"

namespace pardec {

/// The backend that computes with libtorch's operations only. Supports every device. Weights stay
/// in the network's type: they are neither quantised (int8, nf4) nor kept in a GGUF file's blocks.
class PlainBackend : public Backend {
 public:
  at::Tensor layers(const Model::Network& network, std::span<const NewRows> sequences,
                    const SkippedSublayers& skipped) override;
  at::Tensor final_norm(const Model::Network& network, const at::Tensor& rows) const override;
  at::Tensor residual(const Model::Network& network, const at::Tensor& normed,
                      int head) const override;
  at::Tensor logits(const Model::Network& network, const at::Tensor& rows, int head) const override;
};

}  // namespace pardec
