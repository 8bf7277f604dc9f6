#pragma once
#include "src/model/backend.hpp"

namespace pardec {

/// Computes with libtorch's operations, one after another, on any device and in any type.
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
