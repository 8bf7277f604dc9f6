#pragma once
#include <cstdint>

#include "src/model/model.hpp"

namespace pardec {

struct AdamWOptions {
  double beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8;
  double weight_decay = 0.1;  ///< decoupled: the weight shrinks by learning rate times this
};

struct TrainerOptions {
  Dtype dtype = Dtype::fp32;  ///< of forward and backward; fp64 keeps fp64 masters
  AdamWOptions adamw;
  double clip = 1.0;                 ///< limit of the gradients' global norm; 0: none
  std::int64_t micro_tokens = 2048;  ///< about so many in one forward; gradients are summed
  int workers = 1;                   ///< forwards computed at once, each by a thread of its own
  /// Layers keep their inputs alone and are computed again for their gradients: half as much work
  /// more, for a fraction of the memory.
  bool checkpoint_activations = false;
  std::uint64_t seed = 1;  ///< of dropout
};

}  // namespace pardec
