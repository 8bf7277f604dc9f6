#pragma once
#include <vector>

#include "src/model/torch.hpp"

#include "src/model/files/config.hpp"

namespace pardec {

/// The inverse frequencies of the rotary embeddings: for each entry of config.ropes(), one tensor
/// [rope.dims / 2] float32 on `device`. Element i is the angle in radians by which the i-th pair of
/// dimensions is rotated per position; 0 for RopeType::still. The frequencies are computed on the
/// CPU in the same steps as in transformers, so that the bits are equal. Sources of the kinds of
/// scaling: linear (Chen et al. 2023, arXiv:2306.15595), dynamic and yarn (Peng et al. 2023,
/// arXiv:2309.00071), longrope (Ding et al. 2024, arXiv:2402.13753), llama3 (Llama 3.1's release).
std::vector<at::Tensor> inverse_frequencies(const ModelConfig& config, at::Device device);

}  // namespace pardec
