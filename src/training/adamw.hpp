#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "src/model/files/parameters.hpp"
#include "src/model/network.hpp"
#include "src/training/trainer_options.hpp"

namespace pardec {

/// The optimiser AdamW, over master weights. Source: Loshchilov and Hutter 2019, arXiv:1711.05101,
/// Algorithm 2. Computes the same as torch.optim.AdamW.
class AdamW {
 public:
  /// A trained weight with its state.
  struct Slot {
    std::string name;
    at::Tensor weight;         ///< master weight: float32 (float64 in tests), changed in place
    at::Tensor first, second;  ///< first and second moment, with the weight's shape and type
    bool decays = true;        ///< whether weight decay applies
  };

  /// A weight to train; the members are as in Slot.
  struct Master {
    std::string name;
    at::Tensor weight;
    bool decays = true;
  };
  /// The moments begin at 0. Each slot shares the memory of its master weight. The slots have the
  /// order of `masters`.
  AdamW(const std::vector<Master>& masters, const AdamWOptions& options);

  /// Updates all weights once, in place. `gradients`: one per slot, in the order of the slots, with
  /// the weight's shape and type.
  void step(const std::vector<at::Tensor>& gradients, double learning_rate);

  const std::vector<Slot>& slots() const { return slots_; }
  /// The number of updates so far.
  std::int64_t steps() const { return steps_; }
  /// For resuming: sets the number of updates so far.
  void set_steps(std::int64_t steps) { steps_ = steps; }

 private:
  AdamWOptions options_;
  std::vector<Slot> slots_;
  std::int64_t steps_ = 0;
};

/// Whether weight decay applies to a weight. It applies to matrices, but not to norms, biases and
/// the embedding (even if the embedding is also the head).
bool decays(const Parameter& parameter);

/// Scales all gradients in place so that their joint 2-norm is at most `limit` (0: no limit), as
/// torch.nn.utils.clip_grad_norm_ does. Returns the norm before scaling.
double clip_by_global_norm(std::vector<at::Tensor>& gradients, double limit);

}  // namespace pardec
