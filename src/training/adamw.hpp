#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "src/model/files/parameters.hpp"
#include "src/model/network.hpp"
#include "src/training/trainer_options.hpp"

namespace pardec {

/// AdamW over master weights. Source: Loshchilov and Hutter 2019, arXiv:1711.05101, Algorithm 2, as
/// computed by torch.optim.AdamW.
class AdamW {
 public:
  struct Slot {
    std::string name;
    at::Tensor weight;         ///< float32 (float64 in tests), changed in place
    at::Tensor first, second;  ///< moments, with the weight's shape and type
    bool decays = true;
  };

  struct Master {
    std::string name;
    at::Tensor weight;
    bool decays = true;
  };
  AdamW(const std::vector<Master>& masters, const AdamWOptions& options);

  /// One update. `gradients` are in the order of the slots, with the weights' types.
  void step(const std::vector<at::Tensor>& gradients, double learning_rate);

  const std::vector<Slot>& slots() const { return slots_; }
  std::int64_t steps() const { return steps_; }
  /// For resuming: the number of updates included in the moments.
  void set_steps(std::int64_t steps) { steps_ = steps; }

 private:
  AdamWOptions options_;
  std::vector<Slot> slots_;
  std::int64_t steps_ = 0;
};

/// Whether weight decay applies: to matrices; not to norms, biases and the embedding (including a
/// tied head).
bool decays(const Parameter& parameter);

/// Scales all gradients in place so that their joint 2-norm is at most `limit` (0: no limit).
/// Returns the norm before scaling. As torch.nn.utils.clip_grad_norm_.
double clip_by_global_norm(std::vector<at::Tensor>& gradients, double limit);

}  // namespace pardec
