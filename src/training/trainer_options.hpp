#pragma once
#include <cstdint>
#include <string>

#include "src/model/model.hpp"

namespace pardec {

struct AdamWOptions {
  double beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8;
  double weight_decay = 0.1;  ///< decoupled: the weight shrinks by learning rate times this
};

struct TrainerOptions {
  Dtype dtype = Dtype::fp32;   ///< of forward and backward passes; fp64 also has fp64 masters
  std::string device = "cpu";  ///< of weights, passes and optimiser: cpu, cuda or cuda:I
  AdamWOptions adamw;
  double clip = 1.0;  ///< limit of the gradients' global norm; 0: none
  /// approximate number of tokens per forward pass; gradients are summed
  std::int64_t micro_tokens = 2048;
  int workers = 1;  ///< number of concurrent forward passes, each on its own thread
  /// Layers keep only their inputs and are computed again for their gradients: half as much more
  /// work, and a fraction of the memory.
  bool checkpoint_activations = false;
  std::uint64_t seed = 1;  ///< seed of the dropout
};

}  // namespace pardec
