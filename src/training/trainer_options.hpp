#pragma once
#include <cstdint>
#include <string>

#include "src/model/model.hpp"

namespace pardec {

/// Options of AdamW.
struct AdamWOptions {
  double beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8;
  /// Decoupled from the gradients: each update multiplies a weight by 1 - learning rate *
  /// weight_decay.
  double weight_decay = 0.1;
};

/// Options of Trainer.
struct TrainerOptions {
  /// type of forward and backward passes: fp32, bf16 or fp64; with fp64, also of master weights
  Dtype dtype = Dtype::fp32;
  std::string device = "cpu";  ///< device of weights, passes and optimiser: cpu, cuda or cuda:I
  AdamWOptions adamw;
  double clip = 1.0;  ///< maximum global norm of the gradients; 0: no limit
  /// Approximate number of tokens per forward pass, at least 1. The gradients of the passes of an
  /// update are summed.
  std::int64_t micro_tokens = 2048;
  int workers = 1;  ///< number of threads that each compute forward passes, at least 1
  /// If true, only the layers' inputs are kept, and the layers are computed again for their
  /// gradients. This takes about 50 % more time, and needs only a fraction of the memory.
  bool checkpoint_activations = false;
  std::uint64_t seed = 1;  ///< seed of the dropout
};

}  // namespace pardec
