#include "src/training/adamw.hpp"

#include <c10/core/GradMode.h>

#include <cmath>

namespace pardec {

AdamW::AdamW(const std::vector<Master>& masters, const AdamWOptions& options) : options_(options) {
  for (const auto& [name, weight, decays] : masters)
    slots_.push_back({name, weight, at::zeros_like(weight), at::zeros_like(weight), decays});
}

void AdamW::step(const std::vector<at::Tensor>& gradients, double learning_rate) {
  const c10::NoGradGuard no_grad;
  ++steps_;
  const auto t = static_cast<double>(steps_);
  const double first_bias = 1 - std::pow(options_.beta1, t);
  const double second_bias = 1 - std::pow(options_.beta2, t);
  for (size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    const at::Tensor& gradient = gradients[i];
    if (slot.decays) slot.weight.mul_(1 - learning_rate * options_.weight_decay);
    slot.first.lerp_(gradient, 1 - options_.beta1);
    slot.second.mul_(options_.beta2).addcmul_(gradient, gradient, 1 - options_.beta2);
    const at::Tensor scale = slot.second.sqrt().div_(std::sqrt(second_bias)).add_(options_.epsilon);
    slot.weight.addcdiv_(slot.first, scale, -learning_rate / first_bias);
  }
}

bool decays(const Parameter& parameter) {
  return parameter.matrix() && parameter.role != Role::embedding;
}

double clip_by_global_norm(std::vector<at::Tensor>& gradients, double limit) {
  const c10::NoGradGuard no_grad;
  double squares = 0;
  for (const at::Tensor& gradient : gradients) {
    const double norm = gradient.norm().item<double>();
    squares += norm * norm;
  }
  const double norm = std::sqrt(squares);
  if (const double factor = limit / (norm + 1e-6); limit > 0 && factor < 1)
    for (at::Tensor& gradient : gradients) gradient.mul_(factor);
  return norm;
}

}  // namespace pardec
