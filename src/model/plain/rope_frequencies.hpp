#pragma once
#include "src/model/torch.hpp"

#include "src/model/files/config.hpp"

namespace pardec {

/// Angle of one position for each pair of a head's dimensions that turn, [rope.dims / 2] float32 on
/// the CPU: step by step as transformers computes them, so that they have the same bits. Sources:
/// linear (Chen et al. 2023, arXiv:2306.15595), dynamic and yarn (Peng et al. 2023,
/// arXiv:2309.00071), longrope (Ding et al. 2024, arXiv:2402.13753), llama3 (Llama 3.1's release).
at::Tensor inverse_frequencies(const ModelConfig& config);

}  // namespace pardec
